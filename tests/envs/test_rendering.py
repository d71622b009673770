"""Render modes of the environments: what each library expects of them, from whose seat, and at the end."""

from __future__ import annotations

import pickle
from xml.etree import ElementTree

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import render_test

from pigenv import pig10_v0, registry
from pigenv.envs.aec import PigAECEnv
from pigenv.envs.pictures import RENDER_MODES
from pigenv.envs.seat import SeatEnv
from pigenv.envs.vector import SeatVectorEnv
from pigenv.errors import UsageError
from pigenv.records import play_games, replay
from pigenv.table import Table

pytest.importorskip("pygame")
pytest.importorskip("PIL")


@pytest.fixture(autouse=True)
def no_screen(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are opened on SDL's dummy screen."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def is_svg(picture: object) -> bool:
    return ElementTree.fromstring(str(picture)).tag.endswith("svg")


@pytest.mark.parametrize("name", registry.names())
def test_passes_pettingzoo_render_test(name: str) -> None:
    """PettingZoo's render test passes for every game and mode, with `svg` giving an SVG document."""
    render_test(lambda render_mode=None: PigAECEnv(name, render_mode=render_mode), {"svg": is_svg})


@pytest.mark.parametrize("mode", ["ansi", "rgb_array"])
def test_passes_gymnasiums_render_check(mode: str) -> None:
    """Gymnasium's checker, which renders, passes without a warning about pictures."""
    env = gymnasium.make("pigenv/Pig10-v0", render_mode=mode).unwrapped
    check_env(env)


def test_recorded_by_gymnasium() -> None:
    """Gymnasium's `RenderCollection` gathers a picture of each position."""
    env = gymnasium.wrappers.RenderCollection(SeatEnv("pig10", render_mode="rgb_array"))
    _, info = env.reset(seed=1)
    env.step(int(np.argmax(info["action_mask"])))
    pictures = env.render()
    assert [picture.shape for picture in pictures] == [(600, 800, 3)] * 2
    assert not np.array_equal(*pictures)


@pytest.mark.parametrize("mode", RENDER_MODES)
def test_the_final_position_is_drawn(mode: str) -> None:
    """After the last step `render` still gives a picture, another one than before."""
    env = pig10_v0.env(num_players=2, preset="mini", render_mode=mode if mode != "human" else "rgb_array")
    env.reset(seed=3)
    before = env.render()
    while not all(env.terminations.values()):
        env.step(int(np.argmax(env.observe(env.agent_selection)["action_mask"])))
    after = env.render()
    assert not np.array_equal(before, after)
    if mode in ("ansi", "svg"):
        assert "the game is over" in after


def test_human_opens_a_window_and_closes_it() -> None:
    """With "human" steps are shown without a call, `render` returns None, and `close` closes the window."""
    import pygame

    for env in (SeatEnv("pig10", preset="mini", render_mode="human"), SeatVectorEnv("pig10", 2, render_mode="human")):
        env.reset(seed=1)
        assert pygame.display.get_surface().get_size() == (800, 600)
        assert env.render() is None
        shown = pygame.surfarray.array3d(pygame.display.get_surface())
        assert shown.max() > 200
        env.close()
        assert not pygame.display.get_init()


def test_a_window_closed_by_hand_does_not_stop_the_game() -> None:
    """Closing the window ends the pictures, not the game."""
    import pygame

    env = pig10_v0.env(preset="mini", render_mode="human")
    env.reset(seed=1)
    pygame.event.post(pygame.event.Event(pygame.QUIT))
    while not all(env.terminations.values()):
        env.step(int(np.argmax(env.observe(env.agent_selection)["action_mask"])))
    assert not pygame.display.get_init()
    env.close()


def test_one_seat_sees_its_own_hand_alone() -> None:
    """The one-seat environments draw the table as the learner sees it."""
    env = SeatEnv("pig10", learner_seat=1, render_mode="svg")
    env.reset(seed=1)
    table = Table(env.game)
    table.restore({**table.save(), "started": True})
    table.states[:] = env.learners.states
    from pigenv.render.svg import draw_svg

    assert env.render() == draw_svg(table.scene(1), "pig10") != draw_svg(table.scene(0), "pig10")
    assert env._repr_html_() == env.render()


@pytest.mark.parametrize("mode", ["ansi", "svg", "rgb_array"])
def test_vector_gives_a_picture_of_each_table(mode: str) -> None:
    """A vector environment's `render` is a tuple with what the one-seat environment of each table draws."""
    tables = SeatVectorEnv("pig10", 3, render_mode=mode)
    with pytest.raises(UsageError, match="reset"):
        tables.render()
    tables.reset(seed=5)
    pictures = tables.render()
    assert pictures is not None
    for i, picture in enumerate(pictures):
        single = SeatEnv("pig10", render_mode=mode)
        single.reset(seed=5 + i)
        assert np.array_equal(picture, single.render())


def test_parallel_draws_what_aec_draws() -> None:
    """The parallel view draws the same open table."""
    parallel, aec = pig10_v0.parallel_env(render_mode="svg"), pig10_v0.env(render_mode="svg")
    parallel.reset(seed=2)
    aec.reset(seed=2)
    assert parallel.render() == aec.render() == aec._repr_html_() == parallel._repr_html_()
    with pytest.raises(UsageError, match="reset"):
        pig10_v0.env(render_mode="svg").render()


def test_copies_have_windows_of_their_own() -> None:
    """An environment with an open window can be pickled; the copy plays on and draws."""
    env = pig10_v0.env(preset="mini", render_mode="human")
    env.reset(seed=1)
    copy = pickle.loads(pickle.dumps(env))
    env.close()
    copy.step(int(np.argmax(copy.observe(copy.agent_selection)["action_mask"])))
    copy.close()


def test_notebooks_show_tables_and_records() -> None:
    """A table, a record and a step of one show themselves as a picture of the position."""
    table = Table(registry.make("pig10", 3))
    assert "<svg" not in table._repr_html_()
    table.start(1)
    assert is_svg(table._repr_html_())
    (record,) = play_games(table.game, ["uniform"], 1, 1)
    html = record._repr_html_()
    assert html.count("<svg") == 1
    assert html.count("<li>") == 80
    assert "the game is over" in html
    assert is_svg(next(replay(record))._repr_html_())

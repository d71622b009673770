"""Minari: data sets from records hold what each seat saw, did and was paid."""

from __future__ import annotations

import numpy as np
import pytest

minari = pytest.importorskip("minari")
pytest.importorskip("h5py")

from pigenv import registry
from pigenv.adapters.minari import create_dataset, episodes_of
from pigenv.errors import OptionError
from pigenv.records import play_games
from tests.adapters.reference import CUT, ROUNDS, SMALL, TINY, credited, replayed


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))


def records(settings, games=10, seed=3, agents=("uniform",)):
    return list(play_games(registry.make(**settings), list(agents), seed, games))


def actions_of(record):
    texts = record.table_game().action_texts
    return [texts.index(step["action"]) for each in record.rounds for step in each["steps"]]


def test_masks_are_obeyed_for_1000_games():
    """In 1,000 recorded games every action is one of its mask, read back from the data set."""
    dataset = create_dataset("pigenv/masks-v0", records(TINY, 1000))
    assert dataset.total_episodes == 2000
    for episode in dataset.iterate_episodes():
        masks = episode.infos["action_mask"]
        assert len(masks) == len(episode.observations) == len(episode.actions) + 1
        assert (masks[np.arange(len(episode.actions)), episode.actions] == 1).all()
        assert (masks[-1] == 1).all()


@pytest.mark.parametrize("settings", [TINY, SMALL, ROUNDS], ids=lambda settings: settings["game"])
def test_returns_go_to_the_right_seat(settings):
    """An episode's rewards add up to what the record says that its seat was paid."""
    for record in records(settings):
        for episode in episodes_of(record):
            seat = int(episode.infos["seat"][0])
            assert sum(episode.rewards) == pytest.approx(record.returns[seat], abs=1e-5)


def test_rewards_on_others_turns_are_kept():
    """Each decision is credited with what its seat is paid up to its next one, whoever moves then."""
    late = 0
    for number, record in enumerate(records(ROUNDS, 5)):
        replay = replayed(ROUNDS, 3, actions_of(record), number)
        for episode in episodes_of(record):
            seat = int(episode.infos["seat"][0])
            np.testing.assert_allclose(episode.rewards, credited(replay, seat), atol=1e-6)
            own = sum(replay.rewards[step, seat] for step, mover in enumerate(replay.seats) if mover == seat)
            late += bool(abs(own - sum(episode.rewards)) > 1e-3)
    assert late


def test_seeds_reproduce():
    """The same records give the same data set; those of another seed another."""

    def observations(seed, name):
        dataset = create_dataset(name, records(SMALL, 3, seed))
        return [episode.observations.tolist() for episode in dataset.iterate_episodes()]

    assert observations(1, "pigenv/a-v0") == observations(1, "pigenv/b-v0")
    assert observations(2, "pigenv/c-v0") != observations(1, "pigenv/d-v0")


def test_cut_games_are_truncated_and_not_terminated():
    """An episode of a game cut short is truncated, one of a game that ended terminated."""
    for settings, cut in ((CUT, True), (TINY, False)):
        for record in records(settings, 3):
            for episode in episodes_of(record):
                assert episode.truncations[-1] is cut
                assert episode.terminations[-1] is not cut
                assert not any(episode.truncations[:-1] + episode.terminations[:-1])


def test_seats_of_one_agent_alone():
    """With `agents` the data set has the seats of those agents only; nobody by that name is said."""
    games = records(SMALL, 4, agents=("uniform", "pig10/careful", "uniform"))
    assert create_dataset("pigenv/one-v0", games, agents=["pig10/careful"]).total_episodes == 4
    with pytest.raises(OptionError, match="counting"):
        create_dataset("pigenv/none-v0", games, agents=["pig10/counting"])
    with pytest.raises(OptionError, match="one shape"):
        create_dataset("pigenv/two-v0", [*games, *records(TINY, 1)])

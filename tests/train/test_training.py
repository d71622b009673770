"""Training runs: settings, folder, checkpoint, and that something is learned."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

from pigenv import registry
from pigenv.agent import find_agent
from pigenv.agents.checkpoint import load_checkpoint
from pigenv.cli import app
from pigenv.errors import CheckpointError, OptionError, SeedError, UnknownNameError
from pigenv.evaluate.evaluation import evaluate
from pigenv.train.compare import curve_of, draw
from pigenv.train.config import composed, recipes
from pigenv.train.demo import demo
from pigenv.train.run import run
from pigenv.train.ship import ship

ROOT = Path(__file__).resolve().parents[2]

SHORT = [
    "algo=maskable_ppo",
    "game.preset=small",
    "algo.eval_every=50_000",
    "algo.eval_deals=50",
    "algo.num_envs=64",
    "algo.n_steps=32",
    "algo.batch_size=512",
    "algo.hidden=[64,64]",
    "algo.torch_threads=1",
]


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A run of a few seconds on the small game."""
    out = tmp_path_factory.mktemp("run") / "here"
    return run(composed([*SHORT, "algo.total_steps=200_000", "seed=3", f"out='{out}'"]))


def test_a_short_run_beats_uniform(trained):
    """After seconds on the small game the agent beats `uniform`, its interval clear of chance."""
    _, checkpoint = trained
    game = registry.make("pig10", preset="small")
    entry = evaluate(find_agent(checkpoint, game), game, against="uniform", deals=400, seed=1)["results"][0]
    assert entry["win_share_ci"][0] > entry["chance"]
    assert entry["illegal"] == 0


def test_the_folder_says_how_the_run_came_about(trained):
    """The folder holds settings, versions, seed, digest, metrics, curve, TensorBoard events and checkpoint."""
    folder, checkpoint = trained
    about = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    game = registry.make("pig10", preset="small")
    assert about["digest"] == game.digest
    assert about["settings"]["seed"] == 3
    assert about["game"]["rules"] == game.rules.to_json()
    assert {"torch", "numpy", "pigenv", "python"} <= set(about["versions"])
    rows = [json.loads(line) for line in (folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["steps"] for row in rows] == sorted(row["steps"] for row in rows)
    values = [row["value"] for row in rows if "value" in row]
    assert values[-1] > values[0]
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    assert list((folder / "tensorboard").iterdir())
    assert Path(checkpoint).is_file()
    assert not [path for path in folder.iterdir() if ".part" in path.name]


def test_the_checkpoint_acts_as_the_model_it_came_from(trained):
    """With NumPy alone the checkpoint chooses what SB3's model chooses, on decisions of real games."""
    from sb3_contrib import MaskablePPO

    from pigenv.envs.learner import Learners

    folder, checkpoint = trained
    game = registry.make("pig10", preset="small")
    model, agent = MaskablePPO.load(folder / "model.zip", device="cpu"), load_checkpoint(checkpoint, game)
    tables = Learners(game, 300, "uniform")
    tables.seed(range(300))
    tables.start(np.ones(300, bool))
    agreed = 0
    for _ in range(4):
        ours = agent.act(tables.decisions(np.arange(300)))
        theirs, _ = model.predict(tables.observations, action_masks=tables.masks == 1, deterministic=True)
        agreed += int((ours == theirs).sum())
        tables.step(theirs, same_step=True)
        tables.over[:] = 0
    # A tie in the last bit may fall either way.
    assert agreed >= 4 * 300 - 2


def test_a_checkpoint_of_other_rules_is_refused(trained):
    """The checkpoint names the first rule that differs from the game that it is to play."""
    _, checkpoint = trained
    with pytest.raises(CheckpointError, match="deck_counts"):
        load_checkpoint(checkpoint, registry.make("pig10", num_players=3))


def test_the_same_seed_gives_the_same_run(tmp_path):
    """Two runs of one seed on one thread leave the same weights; another seed leaves others."""
    weights = []
    for number, seed in enumerate((1, 1, 2)):
        settings = [*SHORT, "algo.total_steps=4096", f"seed={seed}", f"out='{tmp_path / str(number)}'"]
        agent = load_checkpoint(run(composed(settings))[1])
        weights.append(agent.logits(np.eye(agent.game.layout.size, dtype=np.float32)))
    assert (weights[0] == weights[1]).all()
    assert (weights[0] != weights[2]).any()


def test_the_clock_ends_a_run(tmp_path):
    """`algo.max_seconds` ends a run in time, checkpoint and all."""
    settings = [*SHORT, "algo.total_steps=1_000_000_000", "algo.max_seconds=2", f"out='{tmp_path / 'run'}'"]
    folder, checkpoint = run(composed(settings))
    last = json.loads((folder / "metrics.jsonl").read_text(encoding="utf-8").splitlines()[-1])
    assert last["seconds"] < 10
    assert Path(checkpoint).is_file()


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        (["algo.learningrate=1"], "learning_rate"),
        (["algo=maskabel_ppo"], "maskable_ppo"),
        (["gmae.name=pig10"], "game"),
        (["algo.num_tables=many"], "algo.num_tables"),
        (["algo.num_tables="], "algo.num_tables"),
        (["algo.num_envs=4"], "num_envs"),
        (["algo.epsilon=0.1", "algo=ppo"], "epsilon"),
        (["recipe=pig01"], "pig10"),
        (["algo.learning_rate=0"], "greater than 0"),
        (["algo.gamma=1.5"], "algo.gamma must be 0 … 1"),
        (["algo.learning_rate=.nan"], "algo.learning_rate"),
        (["algo.hidden=[16,0]"], "algo.hidden must be 1 or more"),
        (["algo.critic=ful"], "did you mean 'full'"),
        (["algo=dmc", "algo.num_tables=0"], "algo.num_tables must be 1 or more"),
        (["=3"], "key=value"),
        (["nonsense"], "key=value"),
        (["seeds=3"], "seed"),
    ],
)
def test_a_wrong_setting_names_the_right_one(overrides, named):
    """An unknown key, a wrong value or no setting at all is one sentence that helps."""
    with pytest.raises(OptionError, match=named):
        composed(overrides)


@pytest.mark.parametrize(
    ("overrides", "error"),
    [
        (["algo=maskable_ppo", "algo.batch_size=1000"], OptionError),
        (["game.name=pig11"], UnknownNameError),
        (["game.rules={target: 12}"], OptionError),
        (["algo=maskable_ppo", "algo.opponents=[pig10/carefull]"], UnknownNameError),
        (["algo.opponents=[pig10/carefull]", "algo.opponent_share=0.1"], UnknownNameError),
        (["algo.opponents=[uniform]"], OptionError),
        (["game.max_players=8", "algo.num_tables=3"], OptionError),
        (["algo.eval_against=pig10/carful"], UnknownNameError),
        (["algo.device=nowhere"], OptionError),
        (["seed=-1"], SeedError),
        (["out=/proc/nowhere"], OptionError),
    ],
)
def test_settings_that_cannot_be_are_refused_before_anything_is_trained(overrides, error, tmp_path, monkeypatch):
    """What the settings' types allow and the game or the algorithm does not is refused in our words."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(error):
        run(composed(overrides))


def test_train_on_the_command_line(tmp_path, monkeypatch):
    """`pigenv train` takes our options and Hydra's overrides; a mistake is one sentence and exit status 2."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["train", "pig10", "algo.n_steps=8", "--preset", "small", "--seed", "5", "--show"])
    shown = json.loads(done.stdout)
    assert shown["algo"]["n_steps"] == 8
    assert (shown["game"]["preset"], shown["seed"]) == ("small", 5)
    done = CliRunner().invoke(app, ["train", "pig10", "algo.nsteps=8"])
    assert done.exit_code == 2
    assert "n_steps" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_wrong_uses_of_train_are_one_sentence(tmp_path, monkeypatch):
    """No game, --resume with other settings, a folder that is no run's: exit status 2, and nothing is left behind."""
    monkeypatch.chdir(tmp_path)
    for arguments, named in (
        ([], "name the game"),
        (["pig10", "--resume", "x"], "no other settings"),
        (["--resume", "x"], "not the folder of a run"),
        (["pig10", "--multirun", "--show"], "--multirun takes no"),
        (["pig10", "--multirun", "algo.gama=0.9,1"], "gamma"),
    ):
        done = CliRunner().invoke(app, ["train", *arguments])
        assert done.exit_code == 2, arguments
        assert named in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_sweep_is_a_run_for_each_combination(tmp_path):
    """`--multirun` leaves a folder with its own settings and checkpoint for every choice."""
    settings = [
        "algo.total_steps=500", "algo.num_tables=8", "algo.n_steps=8", "algo.eval_deals=2", "algo.threads=1",
        "algo.hidden=[8]", "algo.learning_rate=1e-3,1e-4", "algo=ppo,dmc",
    ]  # fmt: skip
    command = [sys.executable, "-m", "pigenv.cli", "train", "pig10", "--preset", "small", *settings, "--multirun"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = set()
    for path in tmp_path.glob("runs/*/*/run.json"):
        about = json.loads(path.read_text(encoding="utf-8"))
        seen.add((about["settings"]["algo"]["name"], about["settings"]["algo"]["learning_rate"]))
        load_checkpoint(path.with_name("policy.safetensors"))
    assert seen == {(name, rate) for name in ("ppo", "dmc") for rate in (1e-3, 1e-4)}


def test_every_recipe_is_one():
    """The settings that the shipped policies were trained with compose, for a game that there is or that will be."""
    for name in recipes():
        config = composed([f"recipe={name}"])
        assert config.game.max_players


def test_the_demo_leaves_everything_it_names(tmp_path):
    """The demo prints the table and says where checkpoint, evaluation, records, curve and page are; all are there."""
    console = Console(record=True, width=100, file=(tmp_path / "shown").open("w", encoding="utf-8"))
    document = demo(tmp_path / "run", 1, 3, 20, console)
    shown = console.export_text()
    for path in document["files"].values():
        assert Path(path).is_file()
        assert path in shown
    assert "chance" in shown
    page = Path(document["files"]["report"]).read_text(encoding="utf-8")
    assert "pig10/counting" in page
    against = [entry["against"] for entry in document["results"]]
    assert against == ["uniform", "pig10/greedy", "pig10/careful", "pig10/counting", "pig10/trained", "all"]


def test_algorithms_are_drawn_against_the_clock(trained, tmp_path):
    """The picture takes its points from the runs' metrics; runs of different games are not mixed."""
    folder, _ = trained
    name, curve = curve_of(folder)
    assert name == "maskable_ppo"
    assert [seconds for seconds, _ in curve] == sorted(seconds for seconds, _ in curve)
    assert all(0 <= value <= 1 for _, value in curve)
    draw([folder, folder], tmp_path / "compare.png")
    assert (tmp_path / "compare.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(OptionError, match="none"):
        draw([], tmp_path / "none.png")


def test_a_run_is_shipped_with_its_card(tmp_path):
    """The policy is copied as it is, and the card has command, seed and a result for every table size."""
    settings = [
        "algo=dmc", "game.preset=small", "game.num_players=2", "game.max_players=3", "algo.total_steps=500",
        "algo.num_tables=8", "algo.n_steps=8", "algo.eval_deals=2", "algo.threads=1", "algo.hidden=[8]",
    ]  # fmt: skip
    folder, checkpoint = run(composed([*settings, "seed=9", f"out='{tmp_path / 'run'}'"]))
    card = ship(folder, 5, tmp_path / "shipped")
    assert (tmp_path / "shipped" / "pig10_v0.safetensors").read_bytes() == Path(checkpoint).read_bytes()
    assert json.loads((tmp_path / "shipped" / "pig10_v0.json").read_text(encoding="utf-8")) == card
    assert card["seed"] == 9
    assert str(tmp_path) not in card["command"]
    assert [entry["num_players"] for entry in card["results"]] == [2, 3]
    assert all(entry["deals"] == 5 for entry in card["results"])

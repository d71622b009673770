"""A game from somebody else's package goes through everything the suite has, with no code of its own anywhere."""

from __future__ import annotations

import json
from pathlib import Path

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import api_test, parallel_api_test
from typer.testing import CliRunner

from pigenv import registry
from pigenv.adapters.sb3 import SeatVecEnv
from pigenv.agent import find_agent
from pigenv.cli import app
from pigenv.envs.aec import PigAECEnv, PigParallelEnv
from pigenv.envs.seat import SeatEnv
from pigenv.envs.selfplay import SelfPlay
from pigenv.envs.vector import SeatVectorEnv
from pigenv.evaluate.evaluation import evaluate
from pigenv.game import RUNNING
from pigenv.records import play_games, read_records, replay, verify, write_records
from pigenv.train.config import composed
from pigenv.train.run import run

pytestmark = pytest.mark.usefixtures("toy")


def test_environments(toy: str) -> None:
    """PettingZoo's and Gymnasium's own checks pass for every environment of it."""
    api_test(PigAECEnv(toy, num_players=3, render_mode="ansi"), num_cycles=100)
    parallel_api_test(PigParallelEnv(toy, num_players=4), num_cycles=100)
    check_env(SeatEnv(toy, num_players=3), skip_render_check=True)
    vector = SeatVectorEnv(toy, num_envs=5, num_players=2)
    observations, infos = vector.reset(seed=3)
    assert observations in vector.observation_space
    for _ in range(20):
        actions = np.array([np.flatnonzero(mask)[0] for mask in infos["action_mask"]])
        observations, _, _, _, infos = vector.step(actions)
    assert observations in vector.observation_space
    assert isinstance(vector, gym.vector.VectorEnv)


def test_learners_tables(toy: str) -> None:
    """Many of its tables run side by side, each game ending, and SB3's view of them gives masks."""
    tables = SelfPlay(registry.make(toy, 3), 16)
    tables.reset(1)
    ended = 0
    for _ in range(30):
        tables.step(tables.sample())
        ended += int((tables.over != RUNNING).sum())
    assert ended >= 16 * 2  # nine dice at three seats: each table has ended three times
    env = SeatVecEnv(toy, 8, num_players=3, seed=0)
    env.reset()
    assert env.action_masks().any(axis=1).all()


def test_records(toy: str, tmp_path: Path) -> None:
    """Its games are written, read, replayed with words and pictures, and verified."""
    path = tmp_path / "games.jsonl"
    assert write_records(path, play_games(registry.make(toy, 3), ["uniform"], seed=5, games=4, legal=True)) == 4
    for record in read_records(path):
        assert verify(record) == 9
        assert all(step.scene.num_players == 3 for step in replay(record))


def test_training_and_evaluation(toy: str, tmp_path: Path) -> None:
    """A policy is trained on it, saved, loaded and scored."""
    out = tmp_path / "run"
    settings = ["algo.num_envs=16", "algo.n_steps=16", "algo.batch_size=256", "algo.total_steps=512"]
    _, checkpoint = run(composed([f"game.name={toy}", "algo=maskable_ppo", *settings, f"out='{out}'"]))
    game = registry.make(toy)
    entry = evaluate(find_agent(checkpoint, game), game, against="uniform", deals=20, seed=1, workers=1)["results"][0]
    assert entry["games"] == 20 * game.num_players
    assert entry["illegal"] == 0


def test_command_line(toy: str, tmp_path: Path) -> None:
    """The commands know it: list, info, record, replay, evaluate, bench."""
    runner, path = CliRunner(), str(tmp_path / "games.jsonl")
    commands = {
        "list": "odd_dice",
        f"info {toy}": "double",
        f"record {toy} --games 2 --out {path}": "2 games",
        f"replay {path} --verify": "2 records",
        f"replay {path}": "Odd Dice",
        f"evaluate uniform {toy} --against uniform --deals 5 --workers 1": "uniform",
    }
    for command, expected in commands.items():
        result = runner.invoke(app, command.split())
        assert result.exit_code in (0, 1), (command, result.output)
        assert expected in result.output, command
    result = runner.invoke(app, ["bench", "playout", "--game", toy, "--repeats", "1", "--json"])
    assert json.loads(result.stdout)["results"][0]["game"] == toy

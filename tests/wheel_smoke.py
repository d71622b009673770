"""What must work with the installed wheel and nothing but the light core; run by .ci/run in a venv of its own."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import gymnasium
import numpy as np

import pigenv
from pigenv import pig10_v0


def main() -> None:
    """Play with each kind of environment, use the command line, and see that no extra was needed."""
    assert "site-packages" in str(Path(pigenv.__file__)), pigenv.__file__
    for absent in ("torch", "stable_baselines3", "matplotlib", "hydra", "starlette", "pygame", "PIL"):
        assert importlib.util.find_spec(absent) is None, f"{absent} must not come with the core"
    env = pig10_v0.env(num_players=4)
    env.reset(seed=1)
    for agent in env.agent_iter():
        observation, _, terminated, truncated, _ = env.last()
        over = terminated or truncated
        env.step(None if over else env.action_space(agent).sample(observation["action_mask"]))
    seat = gymnasium.make("pigenv/Pig10-v0", opponents="pig10/careful")
    _, info = seat.reset(seed=1)
    seat.step(int(np.argmax(info["action_mask"])))
    tables = gymnasium.make_vec("pigenv/Pig10-v0", num_envs=64)
    _, infos = tables.reset(seed=1)
    tables.step(infos["action_mask"].argmax(axis=1))
    pigenv_command = Path(sys.executable).with_name("pigenv")
    for arguments in (["--version"], ["list"], ["info", "pig10"], ["evaluate", "uniform", "pig10", "--deals", "5"]):
        done = subprocess.run([pigenv_command, *arguments], capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
    # Without its extra, training says in one sentence what to install.
    done = subprocess.run([pigenv_command, "train", "pig10"], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "pigenv[train]" in done.stderr, done.stderr
    done = subprocess.run([pigenv_command, "play", "pig10"], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done.stderr
    assert "pigenv[play]" in done.stderr, done.stderr
    drawn = pig10_v0.env(render_mode="svg")
    drawn.reset(seed=1)
    assert drawn.render().startswith("<svg")
    assert Path(pigenv.__file__).with_name("web").joinpath("page", "page.js").is_file()
    print("1 passed: the wheel works without extras")  # noqa: T201


main()

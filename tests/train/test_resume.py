"""A run that is stopped, killed or out of disk goes on from its last save as if nothing had been."""

import json
import multiprocessing
import os
import random
import resource
import signal
import threading
import time

import numpy as np
import pytest
import safetensors.numpy

from pigenv.agents.checkpoint import load_checkpoint
from pigenv.errors import OptionError, TrainingError
from pigenv.train.config import composed
from pigenv.train.run import resume, run
from pigenv.train.run_folder import ABOUT, METRICS, POLICY, STATE
from tests.hostile import Held, damaged, damaged_bytes, line_of

KILLS = 20

# Past selves, an opponent, two table sizes: everything that has to come back.
SETTINGS = {
    "ppo": [
        "algo=ppo", "algo.past_share=0.3", "algo.past_every=3", "algo.past_size=2", "algo.opponents=[pig10/greedy]",
        "algo.opponent_share=0.2", "algo.critic=full",
    ],
    "dmc": ["algo=dmc", "algo.past_share=0.3", "algo.past_every=3", "algo.past_size=2"],
}  # fmt: skip
COMMON = [
    "game.preset=small", "game.num_players=2", "game.max_players=3", "algo.num_tables=20", "algo.n_steps=12",
    "algo.batch_size=64", "algo.hidden=[16]", "algo.threads=1", "algo.device=cpu", "algo.checkpoint_seconds=0",
    "algo.eval_deals=3", "algo.eval_every=2000", "seed=11",
]  # fmt: skip


def settings(algorithm, out, steps):
    return composed([*COMMON, *SETTINGS[algorithm], f"algo.total_steps={steps}", f"out='{out}'"])


def weights(folder):
    agent = load_checkpoint(folder / POLICY)
    return agent.logits(np.eye(agent.game.layout.size, dtype=np.float32))


def curve(folder):
    """The metrics without what the clock says."""
    rows = [json.loads(line) for line in (folder / METRICS).read_text(encoding="utf-8").splitlines()]
    return [{name: v for name, v in row.items() if name not in ("seconds", "steps_per_second")} for row in rows]


def same(one, other):
    """Whether two runs left the same state, bit for bit, and the same curve."""
    a, b = (safetensors.numpy.load_file(folder / STATE) for folder in (one, other))
    assert set(a) == set(b)
    for name in a:
        assert a[name].tobytes() == b[name].tobytes(), name
    assert curve(one) == curve(other)
    assert (weights(one) == weights(other)).all()


def begin_or_resume(algorithm, out, steps):
    """What a child process does: the run from its beginning, or from where it stands."""
    if (out / "run.json").exists():
        resume(out)
    else:
        run(settings(algorithm, out, steps))


@pytest.fixture(scope="module")
def processes():
    """Children that need no second to start: forked from a server that has imported everything."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pigenv.train.ppo", "pigenv.train.dmc", "tests.train.test_resume"])
    return context


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_a_seed_gives_the_same_weights_bit_for_bit(algorithm, tmp_path):
    """Two runs of one seed on one thread leave the same state, and another seed leaves another."""
    for name in ("one", "two"):
        run(settings(algorithm, tmp_path / name, 1500))
    same(tmp_path / "one", tmp_path / "two")
    other = settings(algorithm, tmp_path / "three", 1500)
    other.seed = 12
    run(other)
    assert (weights(tmp_path / "one") != weights(tmp_path / "three")).any()


@pytest.mark.parametrize("algorithm", SETTINGS)
def test_killed_at_random_moments_a_run_comes_out_the_same(algorithm, tmp_path, processes):
    """Killed outright twenty times, at random moments, and resumed, it ends as the run that was left alone."""
    steps, chance = 25_000, random.Random(5)
    begin = time.perf_counter()
    run(settings(algorithm, tmp_path / "whole", steps))
    length = time.perf_counter() - begin
    killed, runs = 0, 1
    while killed < KILLS // 2:  # ten for each of the two algorithms
        out = tmp_path / f"killed_{runs}"
        child = processes.Process(target=begin_or_resume, args=(algorithm, out, steps))
        child.start()
        child.join(chance.uniform(0, 2 * length / KILLS) + 0.1)
        if child.exitcode is None:
            os.kill(child.pid, signal.SIGKILL)
        child.join()
        if child.exitcode == 0:
            same(tmp_path / "whole", out)
            runs += 1
        else:
            assert child.exitcode == -signal.SIGKILL
            killed += 1
    out = tmp_path / f"killed_{runs}"
    begin_or_resume(algorithm, out, steps)
    same(tmp_path / "whole", out)


def fill_disk_and_run(out, answer):
    """A run that may write no large file any more once it has saved for the first time: a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

    def fill():
        # The policy is written after the state, so a whole save is there.
        while not (out / POLICY).exists():
            time.sleep(0.01)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2000, resource.RLIM_INFINITY))

    threading.Thread(target=fill).start()
    try:
        run(settings("dmc", out, 20_000))
    except TrainingError as error:
        answer.put(str(error))


def test_a_full_disk_is_one_sentence_and_the_last_save_is_whole(tmp_path, processes):
    """The error names the file and the way on; with room again the run ends as if nothing had been."""
    # First, so that the kernels are compiled and kept: the full disk has no room for those either.
    run(settings("dmc", tmp_path / "whole", 20_000))
    answer = processes.Queue()
    child = processes.Process(target=fill_disk_and_run, args=(tmp_path / "full", answer))
    child.start()
    message = answer.get(timeout=120)
    child.join()
    assert "cannot write" in message
    assert "--resume" in message
    load_checkpoint(tmp_path / "full" / POLICY)
    resume(tmp_path / "full")
    same(tmp_path / "whole", tmp_path / "full")


def test_a_run_that_breaks_off_keeps_its_last_save(tmp_path, monkeypatch):
    """A loss that is no number ends the run with an error; the last good state is there and the run goes on from it."""
    from pigenv.train.ppo import PPO

    real = PPO.gradients
    count = [0]

    def spoilt(self, *args):
        gradient, figures = real(self, *args)
        count[0] += 1
        return ([each * np.nan for each in gradient] if count[0] > 40 else gradient), figures

    monkeypatch.setattr(PPO, "gradients", spoilt)
    with pytest.raises(TrainingError, match="no finite number"):
        run(settings("ppo", tmp_path / "nan", 3000))
    load_checkpoint(tmp_path / "nan" / POLICY)
    monkeypatch.setattr(PPO, "gradients", real)
    resume(tmp_path / "nan")
    run(settings("ppo", tmp_path / "whole", 3000))
    same(tmp_path / "whole", tmp_path / "nan")


def test_a_finished_run_stays_as_it_is(tmp_path):
    """To resume it learns nothing more, and adds nothing to its curve."""
    run(settings("dmc", tmp_path / "run", 1500))
    before, rows = weights(tmp_path / "run"), curve(tmp_path / "run")
    resume(tmp_path / "run")
    assert (weights(tmp_path / "run") == before).all()
    assert curve(tmp_path / "run") == rows
    assert len(json.loads((tmp_path / "run" / "run.json").read_text())["resumed"]) == 1


def test_what_cannot_be_resumed_says_why(tmp_path):
    """No folder of a run, a damaged state, a folder that holds a run already: one sentence each."""
    with pytest.raises(TrainingError, match="not the folder of a run"):
        resume(tmp_path / "nowhere")
    run(settings("dmc", tmp_path / "run", 700))
    with pytest.raises(OptionError, match="holds a run already"):
        run(settings("dmc", tmp_path / "run", 700))
    state = tmp_path / "run" / STATE
    state.write_bytes(state.read_bytes()[:-9])
    with pytest.raises(TrainingError, match="cannot be read"):
        resume(tmp_path / "run")


def test_whatever_was_done_to_a_run_it_goes_on_or_says_why(tmp_path):
    """A state with any bytes changed is refused and the metrics stay; so are settings that are none any more."""
    folder, held, generator = tmp_path / "run", Held(), random.Random(17)
    run(settings("ppo", folder, 700))
    state, about, metrics = folder / STATE, folder / ABOUT, folder / METRICS
    whole, described, measured = state.read_bytes(), about.read_bytes(), metrics.read_bytes()
    for _ in range(40):
        state.write_bytes(damaged_bytes(generator, whole))
        assert held("state", lambda: resume(folder)) is None
        assert metrics.read_bytes() == measured
    assert held.refused == {"TrainingError": 40}
    for _ in range(40):
        # A state that was made for other settings, but is whole.
        state.write_bytes(whole)
        given = json.loads(described)
        given["settings"]["algo"] = damaged(generator, given["settings"]["algo"])
        given["settings"]["algo"] |= {
            "total_steps": 1,
            "num_tables": 20,
            "eval_deals": 1,
            "device": "cpu",
            "threads": 1,
        }
        about.write_text(line_of(given), encoding="utf-8")
        held(given["settings"]["algo"], lambda: resume(folder))
    for damage in (b"", b"{}", b"[" * 100_000, described[:-30], b'{"format": "pigenv.run/1"}'):
        about.write_bytes(damage)
        assert held(damage[:40], lambda: resume(folder)) is None
    assert set(held.refused) <= {"TrainingError", "OptionError", "UnknownNameError", "AgentError"}


def test_maskable_ppo_goes_on_learning(tmp_path):
    """Stopped by the clock and resumed, it learns on from the steps and the weights that it had."""
    overrides = [
        "algo=maskable_ppo", "game.preset=small", "algo.num_envs=16", "algo.n_steps=16", "algo.batch_size=128",
        "algo.hidden=[16]", "algo.torch_threads=1", "algo.eval_deals=3", "algo.eval_every=256",
        "algo.total_steps=2048", f"out='{tmp_path / 'run'}'",
    ]  # fmt: skip
    config = composed([*overrides, "algo.max_seconds=0.0001"])
    folder, _ = run(config)
    about = json.loads((folder / "run.json").read_text())
    stopped = curve(folder)[-1]["steps"]
    assert stopped < 2048
    about["settings"]["algo"]["max_seconds"] = None
    (folder / "run.json").write_text(json.dumps(about))
    before = weights(folder)
    resume(folder)
    steps = [row["steps"] for row in curve(folder)]
    assert steps == sorted(steps)
    assert steps[-1] >= 2048
    assert (weights(folder) != before).any()

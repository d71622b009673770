"""Random numbers against an independent reckoning, and the cache of compiled kernels."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import config
from scipy import stats

from pigenv import kernel as kernels
from pigenv.kernel import COMPILED, below, draw, kernel, mix, seed_keys, shuffle, specialize

BITS = 2**64 - 1
LEAST = 1e-4

compiled_only = pytest.mark.skipif(not COMPILED, reason="nothing is compiled or cached")


# --- random numbers ---------------------------------------------------------------------------------------------------


def splitmix64(seed: int, count: int) -> list[int]:
    """The first outputs of splitmix64 from a seed, in plain integers."""
    out = []
    for _ in range(count):
        seed = (seed + 0x9E3779B97F4A7C15) & BITS
        z = seed
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & BITS
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & BITS
        out.append(z ^ (z >> 31))
    return out


def test_independent_reckoning() -> None:
    """The reckoning used here gives the outputs published for seed 1234567."""
    assert splitmix64(1234567, 5) == [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]


@pytest.mark.parametrize("seed", [0, 1, 42, 1234567, 2**63, 2**64 - 1])
def test_draw_is_splitmix64(seed: int) -> None:
    """The i-th number of a key is the i-th output of splitmix64 seeded with the key, whatever was asked before."""
    wanted = splitmix64(seed, 200)
    for counter in [*range(200), 5, 0, 199]:
        assert int(draw(np.uint64(seed), counter)) == wanted[counter]


def test_mix_is_one_to_one() -> None:
    """Scrambling maps no two of many inputs to one output."""
    inputs = [*range(5_000), *(1 << k for k in range(64)), *(BITS - k for k in range(5_000))]
    assert len({int(mix(np.uint64(each))) for each in inputs}) == len(set(inputs))


def number_below(key: int, counter: int, n: int) -> int:
    """The `counter`-th number below n of a key."""
    # A compiled function gives Python's integers back, which are signed to numba.
    return int(below(np.uint64(draw(np.uint64(key), counter)), n))


def test_below_stays_below() -> None:
    """A number below n is in 0 … n−1 for the least and the greatest bits."""
    for n in (1, 2, 3, 7, 80, 120, 10_000):
        assert int(below(np.uint64(0), n)) == 0
        assert int(below(np.uint64(BITS), n)) == n - 1
        assert int(below(np.uint64(2**63), n)) == n // 2


@pytest.mark.parametrize("n", [2, 3, 6, 11, 80])
def test_below_is_even(n: int) -> None:
    """Numbers below n come equally often."""
    drawn = Counter(number_below(n, counter, n) for counter in range(20_000))
    assert stats.chisquare([drawn[each] for each in range(n)]).pvalue > LEAST


def test_neighbouring_keys_are_independent() -> None:
    """Pairs of first numbers of keys k and k+1 fill a table evenly."""
    pairs = Counter((number_below(k, 0, 5), number_below(k + 1, 0, 5)) for k in range(0, 40_000, 2))
    assert stats.chisquare([pairs[i, j] for i in range(5) for j in range(5)]).pvalue > LEAST


def test_shuffle_is_even() -> None:
    """All orders of five cards come equally often."""
    orders: Counter[tuple[int, ...]] = Counter()
    for key in range(24_000):
        cards = np.arange(5, dtype=np.int8)
        shuffle(cards, 0, 5, np.uint64(key))
        orders[tuple(cards.tolist())] += 1
    assert stats.chisquare([orders[order] for order in itertools.permutations(range(5))]).pvalue > LEAST


def test_shuffle_of_a_part() -> None:
    """Only the cards from start to stop are moved, none is lost, and the key alone decides."""
    for key in range(200):
        cards = np.arange(20, dtype=np.int8)
        shuffle(cards, 5, 13, np.uint64(key))
        assert cards[:5].tolist() == list(range(5))
        assert cards[13:].tolist() == list(range(13, 20))
        assert sorted(cards[5:13].tolist()) == list(range(5, 13))
        again = np.arange(20, dtype=np.int8)
        shuffle(again, 5, 13, np.uint64(key))
        assert again.tolist() == cards.tolist()
    for start, stop in [(3, 3), (3, 4), (5, 3)]:
        cards = np.arange(6, dtype=np.int8)
        shuffle(cards, start, stop, np.uint64(1))
        assert cards.tolist() == list(range(6))


def test_seed_keys_are_all_different() -> None:
    """The keys for the cards and for the agents differ from each other and from those of every other seed."""
    seeds = [*range(1_000), *(1 << k for k in range(10, 64)), *(BITS - k for k in range(1_000))]
    keys = [int(key) for seed in seeds for key in seed_keys(seed)]
    assert len(set(keys)) == len(keys)
    assert seed_keys(5) == seed_keys(5)


# --- compiling and the cache ------------------------------------------------------------------------------------------


@numba.njit(cache=True)
def somebody_elses(x: int) -> int:
    """A numba function of the user's own."""
    return x + 1


@kernel
def doubled(x: int) -> int:
    """A kernel outside the project's folders."""
    return 2 * x


def tripled(x: int) -> int:
    """An ordinary function."""
    return 3 * x


def both(x: int) -> int:
    """A template."""
    return one(x) + other(x)  # noqa: F821


def test_the_users_cache_setting_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Compiling a kernel leaves numba's cache folder as the user set it."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    kernel(tripled)
    specialize(both, {"one": doubled, "other": doubled}, "settings")
    assert str(tmp_path) == config.CACHE_DIR


@compiled_only
def test_the_users_functions_are_not_in_our_folder() -> None:
    """A numba function of the user's is cached where numba would put it, ours in our own folder."""
    ours = Path(doubled.stats.cache_path)
    assert ours.is_relative_to(kernels._cache_root())
    assert not Path(somebody_elses.stats.cache_path).is_relative_to(kernels._cache_root())


def test_specialize() -> None:
    """A copy calls what the names stand for; the template and other copies are untouched."""
    made = specialize(both, {"one": doubled, "other": kernel(tripled)}, "two and three")
    twice = specialize(both, {"one": doubled, "other": doubled}, "two and two")
    assert (made(7), twice(7)) == (35, 28)
    assert made.__doc__ == both.__doc__
    assert "one" not in both.__globals__


def test_cache_folder_follows_the_sources(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The cache folder changes when a source is changed, added, renamed or removed, or a flag set; and comes back."""
    monkeypatch.setenv("PIGENV_CACHE_DIR", str(tmp_path / "cache"))
    source = tmp_path / "game"
    source.mkdir()
    (source / "rules.py").write_text("A = 1\n")
    (source / "notes.txt").write_text("one\n")

    def folder() -> Path:
        for cached in (kernels._own_digest, kernels._outside_digest, kernels._cache_folder):
            cached.cache_clear()
        return kernels._cache_folder(frozenset([source]))

    try:
        first = folder()
        assert first.is_dir()
        assert first.parent == tmp_path / "cache"
        found = [first]
        (source / "rules.py").write_text("A = 2\n")
        found.append(folder())
        (source / "more.py").write_text("")
        found.append(folder())
        (source / "more.py").rename(source / "most.py")
        found.append(folder())
        monkeypatch.setenv("NUMBA_OPT", "1")
        found.append(folder())
        assert len(set(found)) == len(found)
        monkeypatch.delenv("NUMBA_OPT")
        (source / "most.py").unlink()
        (source / "rules.py").write_text("A = 1\n")
        (source / "notes.txt").write_text("two\n")
        assert folder() == first
        own = kernels._own_digest()
        monkeypatch.setattr(kernels, "_OWN_FOLDERS", (*kernels._OWN_FOLDERS, source))
        assert folder() != first
        assert kernels._own_digest() != own
    finally:
        monkeypatch.undo()
        for cached in (kernels._own_digest, kernels._outside_digest, kernels._cache_folder):
            cached.cache_clear()


def test_old_cache_folders_are_cleared(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Folders that nobody used for a long time are removed, recent ones are kept, and files are left alone."""
    monkeypatch.setenv("PIGENV_CACHE_DIR", str(tmp_path))
    for name, days in [("old", 30), ("recent", 1)]:
        (tmp_path / name).mkdir()
        then = (tmp_path / name).stat().st_mtime - days * 86_400
        os.utime(tmp_path / name, (then, then))
    (tmp_path / "file").write_text("")
    kernels._cache_folder.cache_clear()
    try:
        kernels._cache_folder(frozenset())
    finally:
        kernels._cache_folder.cache_clear()
    assert not (tmp_path / "old").exists()
    assert (tmp_path / "recent").exists()
    assert (tmp_path / "file").exists()


def test_unwritable_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Where the cache folder cannot be made, another one is found and nothing fails."""
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("PIGENV_CACHE_DIR", str(tmp_path / "file" / "below"))
    monkeypatch.setattr(kernels.tempfile, "gettempdir", lambda: str(tmp_path))
    kernels._cache_folder.cache_clear()
    try:
        assert kernels._cache_folder(frozenset()).is_dir()
    finally:
        kernels._cache_folder.cache_clear()


PLAYS = """
import sys
from pigenv import registry
from pigenv.table import Table, loops

table = Table(registry.make("{game}"))
table.start(1)
while table.over == 0:
    table.step(table.legal_actions()[0])
stats = loops(table.game.definition).step_table.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


def cache_use(game: str, cache: Path, *folders: Path) -> tuple[int, int]:
    """Hits and misses of the specialised loop in a process of its own."""
    paths = os.pathsep.join(map(str, folders))
    environment = {**os.environ, "PIGENV_CACHE_DIR": str(cache), "PYTHONPATH": paths}
    environment.pop("NUMBA_DISABLE_JIT", None)
    done = subprocess.run(
        [sys.executable, "-c", PLAYS.format(game=game)], env=environment, capture_output=True, text=True, check=True
    )
    hits, misses = done.stdout.split()
    return int(hits), int(misses)


@compiled_only
def test_second_process_finds_the_loops(tmp_path: Path) -> None:
    """A specialised loop that one process compiled is found in the cache by the next."""
    assert cache_use("pig10", tmp_path) == (0, 1)
    assert cache_use("pig10", tmp_path) == (1, 0)


@compiled_only
def test_edited_game_elsewhere_is_compiled_anew(tmp_path: Path) -> None:
    """A game in another package is cached too, and an edit of its source is never answered with the old loop."""
    from tests.toy_game import SOURCE

    package, cache = tmp_path / "package", tmp_path / "cache"
    package.mkdir()
    module, offered = package / "odd_dice_elsewhere.py", package / "odd_dice-1.dist-info"
    module.write_text(SOURCE)
    offered.mkdir()
    (offered / "METADATA").write_text("Metadata-Version: 2.1\nName: odd-dice\nVersion: 1\n")
    (offered / "entry_points.txt").write_text("[pigenv.games]\nodd_dice_v0 = odd_dice_elsewhere:DEFINITION\n")
    assert cache_use("odd_dice", cache, package) == (0, 1)
    assert cache_use("odd_dice", cache, package) == (1, 0)
    module.write_text(SOURCE.replace("die % 2 == 1", "die % 2 == 0"))
    shutil.rmtree(package / "__pycache__", ignore_errors=True)
    assert cache_use("odd_dice", cache, package) == (0, 1)

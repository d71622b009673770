"""Compiled functions and random numbers: the one module that imports numba.

`kernel` marks a function to be compiled, `specialize` makes a compiled copy of a generic loop for one game, and the
functions below them are the suite's only source of chance inside compiled code.

Why a cache of our own: numba keys a cached function on the file it stands in, not on the files it was inlined from,
so an edit of a rule would leave a stale batch loop behind. All kernels therefore live in a folder that is named after
a digest of every source they may have been built from, and of the flags that change what is built.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
import types
from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, ParamSpec, TypeAlias, TypeVar

import numba
import numpy as np
from numba.core import types as numba_types

__all__ = [
    "COMPILED",
    "Row",
    "below",
    "draw",
    "kernel",
    "load",
    "mix",
    "seed_keys",
    "shuffle",
    "specialize",
    "store",
]

P = ParamSpec("P")
R = TypeVar("R")

Row: TypeAlias = Any
"""One record of a structured array: a state, a view or a row of rules (`np.void`; its items are of any type)."""

_CONFIG: Any = import_module("numba.core.config")  # its settings are made at run time
_NJIT: Any = numba.njit
_INTRINSIC: Any = import_module("numba.extending").intrinsic
COMPILED: bool = not _CONFIG.DISABLE_JIT
"""Whether kernels are compiled; with `NUMBA_DISABLE_JIT=1` they run as plain Python."""
_PACKAGE = Path(__file__).resolve().parent
_OWN_FOLDERS = tuple((_PACKAGE / name).resolve() for name in ("", "games", "agents"))
_FLAGS = ("NUMBA_BOUNDSCHECK", "NUMBA_OPT", "NUMBA_DEBUG", "NUMBA_FASTMATH")
_DAYS_KEPT = 7


def _sources(folder: Path) -> bytes:
    """Digest of the names and contents of the Python files that stand directly in a folder."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.digest()


@cache
def _own_digest() -> bytes:
    """Digest of all of this project's kernels, of numba and of the flags that change what it builds."""
    digest = hashlib.sha256()
    for folder in _OWN_FOLDERS:
        digest.update(_sources(folder))
    digest.update(repr([numba.__version__, sys.version_info[:2], *(os.environ.get(f, "") for f in _FLAGS)]).encode())
    return digest.digest()


@cache
def _outside_digest(folder: Path) -> bytes:
    """Digest of somebody else's folder of kernels: a game that lives in another package."""
    return _sources(folder)


def _cache_root() -> Path:
    """The folder that holds all cache folders: `PIGENV_CACHE_DIR`, or the user's cache folder of the platform."""
    if given := os.environ.get("PIGENV_CACHE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "pigenv" / "kernels"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "pigenv" / "kernels"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "pigenv" / "kernels"


@cache
def _cache_folder(outside: frozenset[Path]) -> Path:
    """The folder for kernels built from our sources and from those in the folders given."""
    digest = hashlib.sha256(_own_digest())
    for folder in sorted(outside):
        digest.update(_outside_digest(folder))
    name = digest.hexdigest()[:16]
    try:
        root = _cache_root()
        folder = root / name
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        # Folders of sources that are gone would pile up for ever; one in use by another process is never this old.
        for other in root.iterdir():
            if other.is_dir() and time.time() - other.stat().st_mtime > _DAYS_KEPT * 86_400:
                shutil.rmtree(other, ignore_errors=True)
    except OSError:
        # A home folder that cannot be written (a container, a read-only image) only costs the compile time.
        folder = Path(tempfile.gettempdir()) / f"pigenv-{os.getuid() if hasattr(os, 'getuid') else 'user'}" / name
        folder.mkdir(parents=True, exist_ok=True)
    return folder


def _folder_of(function: Callable[..., Any]) -> Path:
    return Path(function.__code__.co_filename).resolve().parent


def _compile(function: Callable[P, R], used: frozenset[Path], **flags: bool) -> Callable[P, R]:
    """Compile a function with the project's flags into the project's cache."""
    if not COMPILED:
        # Plain NumPy warns where a 64-bit product wraps around, which the random numbers do on purpose.
        return np.errstate(over="ignore")(function)
    outside = used.difference(_OWN_FOLDERS)
    before = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(_cache_folder(outside))
    try:
        compiled: Callable[P, R] = _NJIT(cache=True, error_model="numpy", **flags)(function)
    finally:
        # The setting is the user's; their own functions must not end up in our folder.
        _CONFIG.CACHE_DIR = before
    return compiled


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Mark a function as a kernel: compiled at its first call and cached on disk.

    A kernel takes rows and arrays, changes them in place and never raises for a user's mistake. It allocates nothing:
    compiled without numba's counting of references, which for each row of an array is atomic and would take a third of
    the time of a step. With the environment variable `NUMBA_DISABLE_JIT=1` it runs as plain Python, for coverage and
    readable tracebacks.
    """
    return _compile(function, frozenset([_folder_of(function)]), _nrt=False)


def specialize(template: Callable[P, R], names: Mapping[str, Any], tag: str) -> Callable[P, R]:
    """Compile a copy of a generic function in which free global names stand for the kernels given.

    A loop that takes a kernel as an argument, or closes over one, is never found in numba's cache; a copy whose
    globals hold the kernel is.

    Args:
        template: A plain function, not a kernel, which calls other kernels by global names and allocates nothing.
        names: The kernels those names stand for, and constants such as a record's dtype.
        tag: What the copy is for, unique for the contents of `names` (a game's id, its agents); part of the cache key.

    Returns:
        The compiled function, with the template's signature.
    """
    code = template.__code__
    copy = types.FunctionType(
        code, {**template.__globals__, **names}, template.__name__, template.__defaults__, template.__closure__
    )
    # It becomes a file's name in the cache, and a tag may be long and hold any character.
    mark = hashlib.sha256(tag.encode()).hexdigest()[:12]
    copy.__qualname__ = f"{template.__qualname__}_{mark}"
    copy.__module__ = template.__module__
    copy.__doc__ = template.__doc__
    kernels = [each for each in names.values() if callable(each)]
    copy.__dict__["_used"] = used = frozenset([_folder_of(template)]).union(*(_used_by(each) for each in kernels))
    # Without Python's lock, so that threads can share the tables of a loop.
    return _compile(copy, used, _nrt=False, nogil=True)


def _used_by(function: Callable[..., Any]) -> frozenset[Path]:
    """The folders whose sources a kernel was built from."""
    plain: Any = getattr(function, "py_func", None) or getattr(function, "__wrapped__", function)
    known: frozenset[Path] | None = getattr(plain, "_used", None)
    return known if known is not None else frozenset([_folder_of(plain)])


# --- random numbers ---------------------------------------------------------------------------------------------------
#
# Counter-based: the i-th number of a key is a function of the key and of i and of nothing else, so what was drawn
# before, by whom, and in which batch cannot matter. `mix` is the output function of splitmix64 (Steele, Lea and Flood,
# "Fast splittable pseudorandom number generators", OOPSLA 2014).

_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)


@kernel
def mix(x: np.uint64) -> np.uint64:
    """Scramble 64 bits, one to one."""
    x = (x ^ (x >> _S30)) * _MIX_1
    x = (x ^ (x >> _S27)) * _MIX_2
    return x ^ (x >> _S31)


@kernel
def draw(key: np.uint64, counter: int) -> np.uint64:
    """The `counter`-th 64 random bits of a key; also the way to derive one key from another."""
    return mix(key + _GAMMA * (np.uint64(counter) + np.uint64(1)))


@kernel
def below(bits: np.uint64, n: int) -> int:
    """A number in 0 … n−1 from 64 random bits; the bias of a number is below n / 2^32 of its probability."""
    return np.int64(((bits >> _S32) * np.uint64(n)) >> _S32)  # type: ignore[return-value]


@kernel
def shuffle(cards: np.ndarray, start: int, stop: int, key: np.uint64) -> None:
    """Bring `cards[start:stop]` into a uniformly random order (Fisher and Yates), decided by the key alone."""
    for left in range(stop - start, 1, -1):
        last = start + left - 1
        other = start + below(draw(key, left), left)
        held = cards[last]
        cards[last] = cards[other]
        cards[other] = held


def seed_keys(seed: int) -> tuple[np.uint64, np.uint64]:
    """The two keys of a seed: one for the cards, one for the agents' own chance.

    They come from a one-way hash, so that an agent that is given random numbers of its own cannot work its way back
    to the order of the stock.
    """
    digest = hashlib.blake2b(seed.to_bytes(8, "little"), digest_size=16, person=b"pigenv").digest()
    deal_key, agent_key = (int.from_bytes(digest[at : at + 8], "little") for at in (0, 8))
    return np.uint64(deal_key), np.uint64(agent_key)


# --- words between threads --------------------------------------------------------------------------------------------
#
# What another thread writes while a compiled loop runs: an ordinary read may be kept in a register for ever. Both are
# sequentially consistent, so that of two threads that each write a word and then read the other's, one sees the other.


def _load(_typing: Any, words: Any, _place: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_address(context, builder, words, arguments), "seq_cst", 8)

    return numba_types.int64(words, numba_types.intp), generate


def _store(_typing: Any, words: Any, _place: Any, _value: Any) -> Any:
    def generate(context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        builder.store_atomic(arguments[2], _address(context, builder, words, arguments), "seq_cst", 8)
        return context.get_dummy_value()

    return numba_types.void(words, numba_types.intp, numba_types.int64), generate


load: Callable[[np.ndarray, int], int] = _INTRINSIC(_load)
"""`words[place]` (int64) as it is in memory at this moment; only in compiled code."""

store: Callable[[np.ndarray, int, int], None] = _INTRINSIC(_store)
"""Sets `words[place]` (int64) to a value for all threads to see; only in compiled code."""


def _address(context: Any, builder: Any, words: Any, arguments: Any) -> Any:
    return builder.gep(context.make_array(words)(context, builder, arguments[0]).data, [arguments[1]])

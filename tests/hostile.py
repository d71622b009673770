"""What somebody careless or hostile may hand us, drawn at random: values, texts, bytes, damaged documents."""

from __future__ import annotations

import copy
import json
import random
import warnings
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from pigenv.errors import PigenvError

JSON_JUNK: Final[list[Any]] = [
    None, True, False, 0, 1, -1, 2, 3, 5, 7, 12, 13, 127, 128, 255, 256, 2**31 - 1, 2**31, 2**32, 2**63, 2**64, 10**30,
    -128, -(2**63), 0.0, -0.0, 0.5, 1.0, 1e300, -1e-300, float("nan"), float("inf"), "", " ", "0", "4", "5-", "W", "9H",
    "X", "flip", "random", "uniform", "win", "jp", "None", "true", "é", "\u2028", "\ud800", "\0", "A\nB", "x" * 300,
    [], [1], [0] * 11, [1] * 200, [None], [[]], [[1, 2], [3]], ["A"], {}, {"a": 1}, {"": None}, {"deal": []},
]  # fmt: skip
"""Of the kinds that a file, a request or a command line can hold."""

PYTHON_JUNK: Final[list[Any]] = [
    np.int8(3), np.int64(-1), np.uint64(2**64 - 1), np.float32(2), np.float64("nan"), np.bool_(True), np.str_("win"),
    np.array(3), np.array([1, 2, 3]), np.array([[1.5]]), np.zeros(0), np.array(["pig10"]), np.array([None, {}], object),
    b"win", bytearray(b"x"), (), (1,), (1, 2, 3, 4), {1, 2}, frozenset(), range(4), 1j, object(), Ellipsis, int, len,
    NotImplemented, memoryview(b"abc"), np.datetime64("2020-01-01"), np.zeros(2, [("a", np.int8)]), np.ma.masked,
]  # fmt: skip
"""What only a program can hand over."""


def junk(generator: random.Random, python: bool = False, depth: int = 2) -> Any:
    """Any value; nested lists and objects of such values too."""
    kind = generator.random()
    if depth and kind < 0.1:
        return [junk(generator, python, depth - 1) for _ in range(generator.randrange(5))]
    if depth and kind < 0.17:
        return {text(generator): junk(generator, python, depth - 1) for _ in range(generator.randrange(4))}
    if kind < 0.25:
        return generator.randint(-3, 20)
    if kind < 0.3:
        return text(generator)
    if python and kind < 0.6:
        return generator.choice(PYTHON_JUNK)
    return copy.copy(generator.choice(JSON_JUNK))


ALPHABET: Final = "abcdefgh_-+=:;,./\\ \t'\"[]{}()<>*?$%#@!~|^&0123456789éß漢\u202e\x00\x1b\ud800"


def text(generator: random.Random, most: int = 12) -> str:
    """Any text."""
    return "".join(generator.choices(ALPHABET, k=generator.randrange(most)))


def damaged_text(generator: random.Random, whole: str) -> str:
    """A text with some characters taken out, put in, changed or swapped, or cut off."""
    for _ in range(generator.randint(1, 3)):
        at = generator.randrange(len(whole) + 1)
        kind = generator.randrange(5)
        if kind == 0:
            whole = whole[:at]
        elif kind == 1:
            whole = whole[:at] + generator.choice(["", "0", "9", "-", '"', "{", "]", ",", "\0", "é", "1e999", "NaN"])
            whole += generator.choice(["", "}", "]"])
        elif kind == 2:
            whole = whole[:at] + generator.choice(ALPHABET) + whole[at:]
        elif kind == 3:
            whole = whole[:at] + whole[at + generator.randint(1, 9) :]
        else:
            other = generator.randrange(len(whole) + 1)
            whole = whole[:at] + whole[other : other + 20] + whole[at:]
    return whole


def damaged_bytes(generator: random.Random, whole: bytes) -> bytes:
    """Bytes of which some are changed, taken out, put in, repeated or cut off; never the same bytes."""
    data = bytearray(whole)
    while bytes(data) == whole:
        at = generator.randrange(len(data)) if data else 0
        kind = generator.randrange(5)
        if kind == 0 and data:
            data[at] ^= 1 << generator.randrange(8)
        elif kind == 1:
            del data[at:]
        elif kind == 2:
            data[at:at] = generator.randbytes(generator.randint(1, 9))
        elif kind == 3:
            del data[at : at + generator.randint(1, 9)]
        else:
            other = generator.randrange(len(data)) if data else 0
            data[at:at] = data[other : other + 40]
    return bytes(data)


def places(document: Any) -> list[tuple[Any, Any]]:
    """Every place within a JSON document: the list or object that holds it, and its index or key there."""
    inside = list(document.items()) if isinstance(document, dict) else []
    inside = list(enumerate(document)) if isinstance(document, list) else inside
    return [place for key, each in inside for place in [(document, key), *places(each)]]


def damaged(generator: random.Random, document: Any, python: bool = False) -> Any:
    """A copy of a JSON document with one to three values replaced, left out, repeated, swapped or put in."""
    changed = copy.deepcopy(document)
    for _ in range(generator.choice([1, 1, 1, 2, 3])):
        found = places(changed)
        if not found:
            return junk(generator, python)
        holder, key = generator.choice(found)
        kind = generator.randrange(6)
        if kind == 0:
            del holder[key]
        elif kind == 1 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(generator.choice(holder)))
        elif kind == 2 and isinstance(holder, dict):
            holder[text(generator)] = junk(generator, python)
        elif kind == 3:
            other, place = generator.choice(found)
            holder[key] = other[place] if not isinstance(other[place], dict | list) else None
        else:
            holder[key] = junk(generator, python)
    return changed


class Held:
    """Counts what was refused and what was accepted, and lets nothing else pass.

    Attributes:
        tried: How many inputs there were.
        refused: How many of each error there were.
        was_refused: Whether the last one was.
    """

    def __init__(self) -> None:
        self.tried = 0
        self.refused: Counter[str] = Counter()
        self.was_refused = False

    def __call__(self, given: object, call: Callable[[], Any]) -> Any:
        """What a call with this input gives; None where it was refused with a sentence of ours.

        A warning is no answer either: it would be printed in the middle of what somebody reads.
        """
        self.tried += 1
        self.was_refused = False
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                return call()
        except PigenvError as error:
            self.refused[type(error).__name__] += 1
            self.was_refused = True
            sentence = str(error)
            assert len(sentence) > 10, (given, sentence)
            assert " " in sentence, (given, sentence)
            assert "Traceback" not in sentence, (given, sentence)
            return None
        except BaseException as error:
            error.add_note(f"input {self.tried}: {given!r}"[:2000])
            raise


def line_of(document: Any) -> str:
    """A document as JSON, in whatever words for it that can be had."""
    return json.dumps(document, default=repr)

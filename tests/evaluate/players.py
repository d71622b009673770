"""Agents for the tests of matches: compiled ones, and others that answer well, badly or not at all."""

from __future__ import annotations

import numpy as np

from pigenv import registry
from pigenv.agent import Decisions, KernelAgent
from pigenv.agents.uniform import UNIFORM
from pigenv.kernel import Row, kernel

PIG10 = registry.make("pig10")


@kernel
def first_legal(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    for action in range(len(mask)):
        if mask[action] == 1:
            return action
    return -1


@kernel
def last_legal(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    for action in range(len(mask) - 1, -1, -1):
        if mask[action] == 1:
            return action
    return -1


@kernel
def never_legal(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    return len(mask)


@kernel
def raises_on_tens(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    if view["hand"][view["seat"], 0] == 10:
        raise ZeroDivisionError("a ten")
    return first_legal(view, rules, mask, key)


FIRST = KernelAgent("first", first_legal)
LAST = KernelAgent("last", last_legal)
NEVER = KernelAgent("never", never_legal)
BENCH = (FIRST, LAST, NEVER, UNIFORM)
"""All compiled agents of these tests: with the same bench every match uses the same compiled loops."""


class Wrapped:
    """A compiled agent in Python clothes, so that the match has to ask it."""

    def __init__(self, agent: KernelAgent) -> None:
        self.agent, self.name, self.seeds = agent, agent.name, []

    def reset(self, seed: int) -> None:
        self.seeds.append(seed)

    def act(self, decisions: Decisions) -> np.ndarray:
        return self.agent.act(decisions)


class OwnChance:
    """An agent that draws from a generator of its own."""

    name = "own chance"

    def reset(self, seed: int) -> None:
        self.generator = np.random.default_rng(seed)

    def act(self, decisions: Decisions) -> np.ndarray:
        odds = self.generator.random(decisions.action_masks.shape) * decisions.action_masks
        return odds.argmax(axis=1)


class Answers:
    """An agent whose answer is made by a function, from decisions and the legal actions that it would have played."""

    def __init__(self, name, answer, reset=None) -> None:
        self.name, self.answer, self.refuse = name, answer, reset

    def reset(self, seed: int) -> None:
        self.seed = seed
        if self.refuse is not None:
            raise self.refuse

    def act(self, decisions: Decisions):
        return self.answer(decisions, decisions.action_masks.argmax(axis=1))

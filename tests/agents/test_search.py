"""Search: what it is given, that it repeats itself, its bounds, its names, and that it thinks."""

from __future__ import annotations

import copy
import pickle
from typing import Any, get_type_hints

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions, find_agent
from pigenv.agents import search as searching
from pigenv.agents import tree as trees
from pigenv.agents.pig10 import SEARCH_DEPTH
from pigenv.agents.search import Analysis, Search
from pigenv.agents.tree import MOST_BYTES, tree_for
from pigenv.errors import AgentError, UnknownNameError
from pigenv.evaluate.match import play_match
from pigenv.game import RUNNING, Game
from pigenv.records import play_games
from pigenv.table import Table

SEARCHES = ("search:sims=60", "search:sims=60;playout=uniform;others=playout", "flat:sims=60", "flat:sims=60;depth=3")


def decisions_of(game: Game, count: int, seed: int = 0) -> Decisions:
    """Decisions at random positions of random games, those with one legal action among them."""
    generator = np.random.default_rng(seed)
    table, found = Table(game), []
    while len(found) < count:
        table.start(int(generator.integers(2**63)))
        for _ in range(int(generator.integers(0, 80))):
            if table.over == RUNNING:
                table.step(generator.choice(table.legal_actions()))
        if table.over == RUNNING:
            found.append((table.view(table.seat), table.seat, table.masks.copy()))
    views, seats, masks = zip(*found, strict=True)
    keys = generator.integers(1, 2**64, count, dtype=np.uint64)
    return Decisions(game, np.concatenate(views), np.array(seats, np.int8), np.concatenate(masks), keys)


def part_of(decisions: Decisions, rows: Any) -> Decisions:
    fields = (decisions.views, decisions.seats, decisions.action_masks, decisions.keys)
    return Decisions(decisions.game, *(each[rows] for each in fields))


def same(one: Analysis, other: Analysis) -> bool:
    return all(np.array_equal(getattr(one, name), getattr(other, name)) for name in ("visits", "worths", "simulations"))


@pytest.fixture(scope="module")
def pig10() -> Game:
    return registry.make("pig10")


# --- what it is given -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
def test_two_truths_one_choice(pig10: Game, name: str) -> None:
    """A view made from two different truths gets the same search to the last count."""
    agent, table, other = find_agent(name, pig10), Table(pig10), Table(pig10)
    assert isinstance(agent, Search)
    differed = 0
    for number in range(10):
        table.start(3, number)
        for _ in range(4 * (number % 5)):
            table.step(table.legal_actions()[0])
        other = table.clone()
        seat, key = table.seat, np.array([number + 1], np.uint64)
        other.loops.determinize_views(other.states, pig10.row, key)
        # `determinize` starts from what anybody could know; here from what this seat knows.
        world = table.view(seat)
        other.loops.determinize_views(world, pig10.row, key)
        other.states[:] = world
        differed += other.states["hand"].tobytes() != table.states["hand"].tobytes()
        found = [
            agent.analyse(Decisions(pig10, each.view(seat), np.array([seat], np.int8), table.masks.copy(), key))
            for each in (table, other)
        ]
        assert same(*found)
    assert differed > 5


def test_only_views_come_in() -> None:
    """What a search takes is `Decisions`, which hold views, seats, masks and keys, and no states."""
    for method in (Search.act, Search.analyse):
        assert {name: kind for name, kind in get_type_hints(method).items() if name != "return"} == {
            "decisions": Decisions
        }
    assert set(get_type_hints(Decisions)) == {"game", "views", "seats", "action_masks", "keys"}


# --- what it answers --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SEARCHES)
def test_same_whatever_batch_and_threads(pig10: Game, name: str) -> None:
    """A search is the same alone, in a batch, in another order, on two threads, and in a copy of the agent."""
    decisions = decisions_of(pig10, 12)
    agent = find_agent(f"{name};threads=1", pig10)
    assert isinstance(agent, Search)
    whole = agent.analyse(decisions)
    backwards = agent.analyse(part_of(decisions, slice(None, None, -1)))
    assert np.array_equal(backwards.visits[::-1], whole.visits)
    for i in range(12):
        alone = agent.analyse(part_of(decisions, slice(i, i + 1)))
        assert np.array_equal(alone.visits[0], whole.visits[i])
        assert np.array_equal(alone.worths[0], whole.worths[i])
    for other in (find_agent(f"{name};threads=2", pig10), copy.deepcopy(agent), pickle.loads(pickle.dumps(agent))):
        assert isinstance(other, Search)
        assert same(other.analyse(decisions), whole)
        assert np.array_equal(other.act(decisions), agent.act(decisions))


@pytest.mark.parametrize("settings", [(d.id, p) for d in registry.definitions() for p in d.presets], ids="-".join)
def test_plays_every_preset(settings: tuple[str, str]) -> None:
    """Search and flat Monte-Carlo play whole games of every preset without a fault, and each against the other."""
    game = registry.make(settings[0], None, settings[1])
    line_up = [find_agent(("search:sims=8", "flat:sims=8")[seat % 2], game) for seat in range(game.num_players)]
    assert play_match(game, line_up, 1, 3).faults == ()


@pytest.mark.parametrize("reward", ["win", "rank", "score"])
def test_plays_a_game_from_elsewhere(toy: str, reward: str) -> None:
    """A game from another package, in which the fewest points win, is searched better than played by chance."""
    game = registry.make(toy, 3, reward=reward)
    line_up = [find_agent("search:sims=150", game), find_agent("uniform"), find_agent("uniform")]
    games = play_match(game, line_up, 25, 1)
    assert games.faults == ()
    assert games.win_shares[..., 0].mean() > 1 / 3
    assert games.scores[..., 0].mean() < games.scores[..., 1:].mean()


def test_no_search_without_a_choice(pig10: Game) -> None:
    """Where one action is legal it is played without a simulation; elsewhere the budget is spent to the last one."""
    decisions = decisions_of(pig10, 60, seed=4)
    choices = decisions.action_masks.sum(axis=1)
    assert (choices == 1).any()
    for name in ("search:sims=70", "flat:sims=70"):
        agent = find_agent(name, pig10)
        assert isinstance(agent, Search)
        found = agent.analyse(decisions)
        assert np.array_equal(found.simulations, np.where(choices > 1, 70, 0))
        assert np.array_equal(found.visits.sum(axis=1), found.simulations)
        assert (found.visits[decisions.action_masks == 0] == 0).all()
        actions = agent.act(decisions)
        assert decisions.action_masks[np.arange(60), actions].all()
        assert agent.act(part_of(decisions, slice(0, 0))).shape == (0,)


def test_flat_tries_all_equally(pig10: Game) -> None:
    """Flat Monte-Carlo tries each legal action equally often, give or take one."""
    decisions = decisions_of(pig10, 20)
    agent = find_agent("flat:sims=101", pig10)
    assert isinstance(agent, Search)
    for visits, mask in zip(agent.analyse(decisions).visits, decisions.action_masks, strict=True):
        if mask.sum() > 1:
            assert np.ptp(visits[mask == 1]) <= 1


def test_budget_in_time(pig10: Game) -> None:
    """A search with a budget in time makes simulations and answers with a legal action."""
    decisions = decisions_of(pig10, 3)
    agent = find_agent("search:20ms;threads=1", pig10)
    assert isinstance(agent, Search)
    choices = decisions.action_masks.sum(axis=1)
    assert ((agent.analyse(decisions).simulations > 0) == (choices > 1)).all()


def test_takes_the_winning_pile() -> None:
    """With an exact ten in hand and the last cards on the table, both searches take the pile."""
    deal = {"first_player": 0, "hands": [[4, 3], [2, 6]], "stock": []}
    counts = [0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0]
    game = registry.make("pig10", 2, rules={"deck_counts": counts, "hand_size": 2})
    table = Table(game)
    table.start(0, 0, [deal])
    for text in ("4",):
        table.step(game.action_number(text))
    # Pile value 4: the 6 makes ten, the 2 leaves six to an opponent who holds a 3.
    for name in ("search:sims=50", "flat:sims=50"):
        agent = find_agent(name, game)
        chosen = agent.act(
            Decisions(game, table.view(1), np.array([1], np.int8), table.masks.copy(), np.array([5], np.uint64))
        )
        assert game.action_texts[chosen[0]] == "6"


def test_stronger_than_uniform_and_than_less_of_itself(pig10: Game) -> None:
    """At Pig 10, search with uniform playouts wins far more than its share against greedy players."""
    line_up = [find_agent("search:sims=300;playout=uniform", pig10), *[find_agent("pig10/greedy")] * 3]
    assert play_match(pig10, line_up, 12, 5).win_shares[..., 0].mean() > 0.3


# --- memory -----------------------------------------------------------------------------------------------------------


def test_a_tree_is_bounded(pig10: Game) -> None:
    """However many simulations there may be, the nodes of a tree take at most what is stated."""
    for budget in (10**9, None):
        for with_prior in (False, True):
            tree = tree_for(pig10, budget, with_prior)
            by_node = (tree.visits, tree.available, tree.worth, tree.prior, tree.path, tree.slots, tree.places)
            assert 0.4 * MOST_BYTES < sum(each.nbytes for each in by_node) <= MOST_BYTES
    assert len(tree_for(pig10, 100).visits) == 101


def test_a_full_tree_is_searched_on(pig10: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tree without room for another node still makes all simulations and answers."""
    monkeypatch.setattr(trees, "MOST_BYTES", 5_000)
    decisions = decisions_of(pig10, 10)
    assert len(tree_for(pig10, 1000).visits) < 20
    agent = find_agent("search:sims=1000", pig10)
    assert isinstance(agent, Search)
    found = agent.analyse(decisions)
    assert np.array_equal(found.visits.sum(axis=1), np.where(decisions.action_masks.sum(axis=1) > 1, 1000, 0))


# --- leaves judged by a network ---------------------------------------------------------------------------------------


def test_an_evaluator_judges_all_leaves_together(pig10: Game) -> None:
    """An evaluator is given the leaves of all decisions of a batch at once, legal positions all, and decides."""
    decisions = decisions_of(pig10, 8)
    many = decisions.action_masks.sum(axis=1) > 1
    sizes = []

    def judge(leaves: Decisions) -> tuple[np.ndarray, None]:
        sizes.append(len(leaves))
        assert leaves.action_masks.any(axis=1).all()
        assert np.array_equal(leaves.seats, leaves.views["seat"])
        assert (leaves.views["key"] == 0).all()
        # What was taken counts, and nothing else.
        taken = leaves.views["taken"][:, :4].astype(float)
        return (taken - taken.mean(axis=1, keepdims=True)) / 20, None

    agent = Search(sims=200, evaluator=judge)
    found = agent.analyse(decisions)
    assert sizes[0] == many.sum()
    assert max(sizes) == many.sum()
    assert np.array_equal(found.simulations, np.where(many, 200, 0))
    # The first simulation judges the root itself, without a choice.
    assert np.array_equal(found.visits.sum(axis=1), np.where(many, 199, 0))
    assert same(agent.analyse(decisions), found)


def test_an_evaluators_weights_lead_the_search(pig10: Game) -> None:
    """Where all values are equal, the action with nearly all the weight is tried most."""
    decisions = decisions_of(pig10, 6)
    favourite = decisions.action_masks[:, ::-1].argmax(axis=1)

    def judge(leaves: Decisions) -> tuple[np.ndarray, np.ndarray]:
        weights = np.full((len(leaves), pig10.num_actions), 1e-3)
        weights[:, ::-1] *= np.linspace(1, 0.5, pig10.num_actions)
        weights += np.linspace(0, 1, pig10.num_actions) ** 20
        return np.random.default_rng(0).normal(0, 1e-6, (len(leaves), 4)), weights

    found = Search(sims=100, evaluator=judge).act(decisions)
    assert np.array_equal(found, pig10.num_actions - 1 - favourite)


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ((np.zeros((1, 3)), None), "values must be finite, of shape"),
        ((np.full((1, 4), np.nan), None), "values must be finite"),
        ((np.zeros((1, 4)), np.ones((1, 2))), "weights must be finite, of shape"),
        ((np.zeros((1, 4)), -np.ones((1, 21))), "weights must be 0 or more"),
    ],
)
def test_an_evaluators_answer_is_checked(pig10: Game, answer: Any, sentence: str) -> None:
    """Values or weights of another shape, not finite or negative, are refused."""
    decisions = decisions_of(pig10, 30)
    one = part_of(decisions, [int(np.flatnonzero(decisions.action_masks.sum(axis=1) > 1)[0])])
    with pytest.raises(AgentError, match=sentence):
        Search(sims=3, evaluator=lambda leaves: answer).act(one)


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("search", {"kind": "search", "sims": 1000, "seconds": None, "others": "search", "depth": None}),
        ("flat", {"kind": "flat", "sims": 1000}),
        ("search:sims=5", {"sims": 5}),
        ("search:200ms", {"sims": None, "seconds": 0.2}),
        ("search:1.5s;c=2", {"seconds": 1.5, "exploration": 2.0}),
        ("flat:sims=7;depth=9;threads=2", {"kind": "flat", "sims": 7, "depth": 9, "threads": 2}),
        ("search:others=playout;sims=1", {"others": "playout", "sims": 1}),
    ],
)
def test_names(name: str, wanted: dict[str, Any]) -> None:
    """A name says the settings of a search, in any order, and is kept as its name."""
    agent = find_agent(name)
    assert isinstance(agent, Search)
    assert agent.name == name
    assert {key: getattr(agent, key) for key in wanted} == wanted


def test_defaults_of_a_game(pig10: Game) -> None:
    """A search without a playout takes the game's best player and depth, as if they were named."""
    decisions = decisions_of(pig10, 10)
    bare, named, deep = (
        find_agent(name, pig10)
        for name in (
            "search:sims=40", f"search:sims=40;playout=pig10/counting;depth={SEARCH_DEPTH}", "search:sims=40;depth=0",
        )
    )  # fmt: skip
    assert isinstance(bare, Search)
    assert isinstance(named, Search)
    assert isinstance(deep, Search)
    assert same(bare.analyse(decisions), named.analyse(decisions))
    assert not same(bare.analyse(decisions), deep.analyse(decisions))


def test_playout_by_name(pig10: Game) -> None:
    """The playout is found like any player; that of another game is refused at the name or at the table."""
    agent = find_agent("search:sims=5;playout=pig10/careful", pig10)
    assert isinstance(agent, Search)
    assert agent.playout is find_agent("pig10/careful")


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("search:sim=5", "'sim=5' is no setting; did you mean 'sims'"),
        ("search:", None),
        ("search:sims", "'sims' is no setting"),
        ("search:sims=0", "sims must be an integer 1 …"),
        ("search:sims=1.5", "sims must be an integer"),
        ("search:sims=x", "sims must be an integer .* got 'x'"),
        ("search:0ms", "a duration must be above 0"),
        ("search:sims=5;sims=6", "sims is given after sims"),
        ("search:sims=5;20ms", "seconds is given after sims"),
        ("search:c=-1", "c must be a number 0"),
        ("search:c=nan", "c must be a number"),
        ("search:threads=0", "threads must be an integer"),
        ("search:depth=-1", "depth must be an integer"),
        ("search:others=me", "others must be search or playout"),
        ("search:;", "'' is no setting"),
        ("flat:c=1", "'c=1' is no setting"),
        ("flat:others=playout", "'others=playout' is no setting"),
        ("search:playout=search", "playout must be a compiled player"),
        ("search:playout=pig10/carefull", "did you mean 'pig10/careful'"),
        ("searching", "there is no agent 'searching'"),
    ],
)
def test_wrong_names(name: str, sentence: str | None) -> None:
    """A wrong setting is named in the error, with what it may be."""
    if sentence is None:
        assert isinstance(find_agent(name), Search)
        return
    with pytest.raises((AgentError, UnknownNameError), match=sentence):
        find_agent(name)


def test_contradicting_settings() -> None:
    """A search has one budget, and an evaluator only goes with a tree and a number of simulations."""
    for settings, sentence in [
        ({"sims": 5, "seconds": 1.0}, "sims or seconds"),
        ({"sims": None}, "sims or seconds"),
        ({"kind": "deep"}, "there is no search 'deep'"),
        ({"others": "nobody"}, "others must be"),
        ({"kind": "flat", "evaluator": lambda leaves: (leaves, None)}, "an evaluator judges"),
        ({"sims": None, "seconds": 1.0, "evaluator": lambda leaves: (leaves, None)}, "an evaluator judges"),
    ]:
        with pytest.raises(AgentError, match=sentence):
            Search(**settings)  # type: ignore[arg-type]


def test_a_players_game_is_checked_at_the_table(toy: str) -> None:
    """A playout of another game than the table's is refused with a sentence."""
    agent = Search(sims=5, playout=find_agent("pig10/greedy"))  # type: ignore[arg-type]
    with pytest.raises(AgentError, match="its playout plays pig10, not odd_dice"):
        agent.act(decisions_of(registry.make(toy), 3))


def test_records_of_search_repeat(pig10: Game) -> None:
    """Two records of games that search played are the same."""
    games = [list(play_games(pig10, ["search:sims=20", "flat:sims=20"], 4, 2)) for _ in range(2)]
    assert games[0] == games[1]
    assert games[0][0].agents[:2] == ["search:sims=20", "flat:sims=20"]


def test_the_module_lists_what_it_takes() -> None:
    """Every setting of a name is explained at the top of the module."""
    for key in {key for keys in searching._KEYS.values() for key in keys}:
        assert f"`{key}" in (searching.__doc__ or ""), key

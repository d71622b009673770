"""A person's game: what its page is told, that it goes on where it was, and what its record says."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pigenv import registry
from pigenv.agent import Decisions
from pigenv.errors import AgentError, IllegalActionError, OptionError, PigenvError, RecordError, UsageError
from pigenv.game import Definition, Game
from pigenv.records import verify
from pigenv.web.advice import ASKED, advise
from pigenv.web.moves import described, why_not
from pigenv.web.session import PERSON, Session
from tests.render import scenes


def sit_down(seat: int = 0, num_players: int = 4, seed: int = 5, **settings: Any) -> Session:
    """A person among players of Pig 10."""
    names = ["pig10/careful", "uniform", "pig10/counting"]
    agents = [PERSON if place == seat else names[place % 3] for place in range(num_players)]
    return Session(registry.make("pig10", num_players, **settings), agents, seed)


def first_move(session: Session) -> None:
    """The person plays its first legal move, or the others go on."""
    if session.my_turn:
        session.play(session.legal_moves()[0].action)
    else:
        session.advance()


def without_names(session: Session) -> str:
    """What the page is sent, but for what names the session."""
    return json.dumps({key: value for key, value in session.view().items() if key not in ("id", "version")})


@pytest.mark.parametrize("seat", range(3))
def test_a_whole_game_is_recorded(seat: int) -> None:
    """A game played to the end gives a record that verifies, with the person named at its seat."""
    session = sit_down(seat, 3)
    while not session.over:
        first_move(session)
    record = session.record()
    assert verify(record) == 80
    assert record.agents[seat] == PERSON
    assert (record.seed, record.episode) == (5, 0)
    result = session.view()["result"]
    assert result["scores"] == record.scores
    assert result["places"] == [1 + sum(other > own for other in record.scores) for own in record.scores]


def test_the_page_is_told_only_what_its_seat_knows() -> None:
    """At every step of a game, another deal that the seat cannot tell from the true one sends the same message."""
    session = sit_down(1)
    differed = 0
    while not session.over:
        other = Session.from_json(session.to_json())
        view = session.table.view(1)
        other.table.loops.determinize_views(view, session.game.row, np.full(1, 3 + len(session.moves), np.uint64))
        differed += view.tobytes() != other.table.states.tobytes()
        other.table.states[:] = view
        assert without_names(other) == without_names(session)
        first_move(session)
    assert differed > 60


def test_it_goes_on_from_what_was_kept() -> None:
    """Written down at any moment and read again, a session says the same and plays on the same."""
    session = sit_down(2)
    for _ in range(30):
        first_move(session)
    again = Session.from_json(json.loads(json.dumps(session.to_json())))
    assert again.view() == session.view()
    while not session.over:
        first_move(session)
        first_move(again)
        assert again.view() == session.view()
    assert again.record() == session.record()


def test_taking_back() -> None:
    """Undo leads to the person's last own decision, as it was; without one it is refused."""
    session = sit_down(0)
    while not session.my_turn:
        session.advance()
    with pytest.raises(UsageError, match="no move of yours"):
        session.undo()
    before = without_names(session)
    session.play(session.legal_moves()[-1].action)
    for _ in range(2):
        session.advance()
    version = session.version
    session.undo()
    assert without_names(session) == before
    assert session.version > version


def test_wrong_moves_change_nothing() -> None:
    """What is not legal, or not now, is refused with a sentence."""
    session = sit_down(0)
    while not session.my_turn:
        with pytest.raises(UsageError, match=r"it is seat \d's turn"):
            session.play("4")
        session.advance()
    before = session.view()
    with pytest.raises(IllegalActionError, match="legal: "):
        session.play("99")
    with pytest.raises(UsageError, match="no agent"):
        session.advance()
    assert session.view() == before
    with pytest.raises(OptionError, match="need one 'person'"):
        Session(session.game, ["uniform"] * 4, 1)
    kept = session.to_json()
    with pytest.raises(RecordError, match="move 0"):
        Session.from_json({**kept, "moves": [{"seat": 0, "action": "99"}]})
    with pytest.raises(RecordError, match="must be"):
        Session.from_json({**kept, "format": "other"})


def test_moves_have_words_and_calls() -> None:
    """Each legal move is offered with its words, its card, and what it would be called out as."""
    session = sit_down(0)
    heard = {}
    while not session.over:
        if session.my_turn:
            moves = session.view()["moves"]
            assert [move["action"] for move in moves] == [
                session.game.action_texts[each] for each in session.table.legal_actions()
            ]
            assert all(move["targets"] == (("hand", True, move["action"].strip("-=")),) for move in moves)
            heard = {move["action"]: move["call"] for move in moves}
        own = session.my_turn
        first_move(session)
        if own:
            assert session.log[-1]["called"] == heard[session.log[-1]["action"]] != ""


# --- advice -----------------------------------------------------------------------------------------------------------


def test_hints_are_the_agents_own_ranking() -> None:
    """A hint ranks every legal move; a player without a policy is asked often, `uniform` favours none."""
    session = sit_down(0)
    while not session.my_turn:
        session.advance()
    legal = {move.action for move in session.legal_moves()}
    for name in ("uniform", "pig10/counting"):
        hint = session.hint(name)
        shares = [each["probability"] for each in hint["ranking"]]
        assert {each["action"] for each in hint["ranking"]} == legal
        assert sum(shares) == pytest.approx(1, abs=1e-3)
        assert shares == sorted(shares, reverse=True)
        assert (hint["asked"], hint["value"], hint["notes"]) == (ASKED, None, [])
    assert session.hint("uniform")["ranking"][0]["probability"] < 0.75
    assert session.hint("pig10/counting")["ranking"][0]["probability"] > 0.9
    with pytest.raises(PigenvError, match="no agent"):
        session.hint("pig10/nobody")


class Told:
    """An agent that says what it thinks."""

    name = "told"

    def reset(self, seed: int) -> None:
        pass

    def act(self, decisions: Decisions) -> np.ndarray:
        return self.policy(decisions).argmax(axis=1)

    def policy(self, decisions: Decisions) -> np.ndarray:
        weights = decisions.action_masks * np.arange(1, decisions.game.num_actions + 1)
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def value(self, decisions: Decisions) -> np.ndarray:
        return np.full(len(decisions), 0.25)


def test_an_agents_policy_is_taken_at_its_word() -> None:
    """An agent with `policy` and `value` is not asked again and again: its own numbers are shown."""
    table = sit_down(0).table
    advice = advise(table, Told())
    legal = np.array(table.legal_actions())
    assert advice.ranking[0][0] == table.game.action_texts[legal[-1]]
    assert advice.ranking[0][1] == pytest.approx((legal[-1] + 1) / (legal + 1).sum())
    assert (advice.value, advice.asked) == (0.25, 0)


class Searching(Told):
    """A search that says how often it tried each action and what that was worth."""

    policy = value = None  # type: ignore[assignment]

    def analyse(self, decisions: Decisions) -> Any:
        visits = decisions.action_masks * np.arange(1, decisions.game.num_actions + 1)
        return SimpleNamespace(visits=visits, worths=visits / 100)


def test_a_search_shows_its_visits() -> None:
    """Of a search count the shares of its visits, and the worth of the action visited most."""
    table = sit_down(0).table
    legal = np.array(table.legal_actions())
    advice = advise(table, Searching())
    assert advice.ranking[0] == (table.game.action_texts[legal[-1]], pytest.approx((legal[-1] + 1) / (legal + 1).sum()))
    assert (advice.value, advice.asked) == ((legal[-1] + 1) / 100, 0)


class Broken(Told):
    """An agent that fails."""

    def act(self, decisions: Decisions) -> np.ndarray:
        raise ZeroDivisionError(len(decisions))

    policy = None  # type: ignore[assignment]


class Lying(Broken):
    """An agent that answers with what is not legal."""

    def act(self, decisions: Decisions) -> np.ndarray:
        return np.full(len(decisions), decisions.game.num_actions)


@pytest.mark.parametrize(("agent", "words"), [(Broken(), "ZeroDivisionError"), (Lying(), "not legal")])
def test_agents_that_fail_are_named(agent: Told, words: str) -> None:
    """Whatever somebody's agent does wrong ends in a sentence that names it."""
    with pytest.raises(AgentError, match=f"told.*{words}"):
        advise(sit_down(0).table, agent)


# --- a game of reflexes -----------------------------------------------------------------------------------------------


def slapping(definition: Definition, seat: int = 1, seed: int = 3) -> Session:
    agents = ["uniform"] * 3
    agents[seat] = PERSON
    return Session(Game(definition), agents, seed)


def up_to_the_card(session: Session) -> None:
    """Go on until the person is to react to a card."""
    while not session.reflex:
        first_move(session)


def test_secret_choices_stay_secret(slap: Definition) -> None:
    """What others commit before the card is shown is not told; what everybody sees is."""
    session = slapping(slap, seat=2)
    up_to_the_card(session)
    assert [each["action"] for each in session.log] == ["flip", None, None]
    assert "wait" not in json.dumps([session.view()["log"], session.view()["scene"]])


def test_a_persons_reaction_counts(slap: Definition) -> None:
    """The measured time is played instead of the model's: late is slowest, never is slowest too, a foul takes."""
    session = slapping(slap)
    late = 0
    while not session.over:
        up_to_the_card(session)
        card = session.reveal()["card"]
        assert card == str(session.table.states["ring"][0][session.table.states["left"][0] - 1])
        before = session.view()["scene"]["scores"][1]
        session.react(29_999 if int(card) % 2 == 0 and late % 2 == 0 else None)
        late += int(card) % 2 == 0
        gained = session.view()["scene"]["scores"][1] - before
        # Slowest on every even card, whether late or not at all; on an odd one the hand stayed up.
        assert gained == (1 if int(card) % 2 == 0 else 0)
        while not session.over and not session.my_turn:
            session.advance()
    assert late == 6


def test_a_hand_on_an_odd_card_is_a_foul(slap: Definition) -> None:
    """Who slaps at the wrong card before anybody else takes it; the record says that it anticipated."""
    session = slapping(slap)
    up_to_the_card(session)
    while int(session.reveal()["card"]) % 2 == 0:
        session.react(1)
        up_to_the_card(session)
    before = session.view()["scene"]["scores"][1]
    session.react(1)
    assert session.view()["scene"]["scores"][1] == before + 1
    own = [move for move in session.moves if move["seat"] == 1 and move["action"] != "flip"]
    assert own[-1]["action"] == "anticipate"


def test_reactions_are_kept_and_recorded(slap: Definition, monkeypatch: pytest.MonkeyPatch) -> None:
    """A game with a person's reactions goes on from what was kept, and its record carries them and has no seed."""
    monkeypatch.setattr(registry, "definition", lambda name: slap)
    session = slapping(slap)
    while not session.over:
        up_to_the_card(session)
        session.react(333)
        again = Session.from_json(json.loads(json.dumps(session.to_json())))
        assert again.view() == session.view()
        while not session.over and not session.my_turn:
            session.advance()
    record = session.record()
    assert (record.seed, record.episode) == (None, None)
    reactions = [step["reactions"] for step in record.rounds[0]["steps"] if "reactions" in step]
    assert len(reactions) == 12
    assert {each[1] for each in reactions} == {333}
    assert verify(record) == 12 * 4


def test_reactions_that_are_none(slap: Definition) -> None:
    """Only a number of milliseconds, and only when a card is about to be shown."""
    session = slapping(slap)
    with pytest.raises(UsageError, match="no card"):
        session.reveal()
    up_to_the_card(session)
    for wrong in (0, -1, 1.5, True, "400", 10**9):
        with pytest.raises(OptionError, match="milliseconds"):
            session.react(wrong)  # type: ignore[arg-type]


def test_the_games_own_hints(slap: Definition) -> None:
    """Where a game's scene has hints, a hint brings them, and no other message does."""
    session = slapping(slap)
    while not session.my_turn:
        session.advance()
    assert "are left" not in json.dumps(session.view())
    assert session.hint("uniform")["notes"] == ["12 cards are left in the ring"]


# --- words ------------------------------------------------------------------------------------------------------------

WORDS = [
    ("pig10", "10", "Play 10", {("hand", "10")}),
    ("pig10", "5-", "Subtract 5", {("hand", "5")}),
    ("pig10", "4=", "Make the pile value 4", {("hand", "4")}),
    ("pig_pile", "show 7", "Lay 7 face up", {("hand", "7")}),
    ("pig_pile", "5x2", "Play two 5s", {("hand", "5"), ("face_up", "5")}),
    ("pig_pile", "1x1", "Play 1", {("hand", "1")}),
    ("pig_pile", "Wx1", "Play Hog Wild", {("hand", "W"), ("face_up", "W")}),
    ("pig_pile", "2x1+Wx1", "Play 2 on Hog Wild", {("hand", "2"), ("hand", "W")}),
    ("pig_pile", "pickup", "Take the pile", {("pile", None)}),
    ("pig_pile", "pickup+8", "Take the pile and your face-up 8", {("face_up", "8")}),
    ("pig_pile", "flip", "Turn a face-down card", {("face_down", None)}),
    ("pigs_tail", "flip", "Turn a card of the ring", {("ring", None)}),
    ("pigs_tail", "suit S", "Name spades", set()),
    ("pigs_tail", "return 9H", "Put the hand back, 9 of hearts on top", {("hand", "9H")}),
    ("pigs_tail", "keep", "Keep the hand", set()),
    ("pigs_tail", "anticipate", "Slap whatever comes", set()),
    ("other", "dance", "dance", set()),
]


@pytest.mark.parametrize(("game", "action", "label", "targets"), WORDS)
def test_actions_have_words(game: str, action: str, label: str, targets: set[tuple[str, str | None]]) -> None:
    """Every kind of action that records know has words and the cards to touch for it."""
    scene = {"pig_pile": scenes.pig_pile(hand=9), "pigs_tail": scenes.pigs_tail()}.get(game, scenes.pig10())
    move = described(action, scene, game)
    assert move.label == label
    assert {(zone, card) for zone, _, card in move.targets} == targets


def test_reasons() -> None:
    """A card that cannot be played says why."""
    scene = scenes.pig_pile(looking=2)  # seat 2 looks and is to move; the pile's top is an 11
    hand, face_up, face_down = (zone for zone in scene.zones if zone.seat == 2)
    moves = [described("Wx1", scene, "pig_pile")]
    assert why_not(scene, hand, "9", "pig_pile", moves) == "9 is lower than the 11, Ewe-Turn on the pile."
    assert "hand must be played first" in why_not(scene, face_up, "4", "pig_pile", moves)
    assert "turned last" in why_not(scene, face_down, None, "pig_pile", moves)
    choosing = [described("show 1", scene, "pig_pile")]
    assert "lay face up" in why_not(scene, face_up, "4", "pig_pile", choosing)
    waiting = scenes.pig_pile(looking=0)
    assert why_not(waiting, hand, "9", "pig_pile", []) == "It is seat 2's turn."
    tail = scenes.pigs_tail(over=True)
    assert why_not(tail, tail.zones[2], "9H", "pigs_tail", []) == "The game is over."

"""One person's game against agents: what is played, what that person is told of it, and how it is kept.

A session is written down as the choices that led to it: settings, seed or deals, and every move. Whatever else there is
follows from them, so a game goes on where it was when the server is started again, and an undone move leaves no trace.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any, Final

import numpy as np

from pigenv import registry
from pigenv.agent import Agent, find_agent
from pigenv.errors import IllegalActionError, OptionError, PigenvError, RecordError, UsageError
from pigenv.game import ANYBODY, RUNNING, TRUNCATED, Game
from pigenv.records import Record, Recorder
from pigenv.scene import Scene
from pigenv.table import Table
from pigenv.web.advice import advise, decide
from pigenv.web.moves import COMMITMENTS, Move, described, why_not

__all__ = ["PERSON", "Session", "scene_document"]

PERSON: Final = "person"
FORMAT: Final = "pigenv.session/1"
LATEST_MS: Final = 30_000  # later than any hand comes down
_WORLDS: Final = 8  # deals in which is looked for another move that would have looked the same
_LOG: Final = 60  # calls that a page is told of


def scene_document(scene: Scene) -> dict[str, Any]:
    """A scene as JSON, without its hints, which are shown on demand."""
    document = asdict(scene)
    del document["hints"]
    return document


class Session:
    """A person at a table.

    Args:
        game: The game.
        agents: Who plays, by seat; that of the person is `PERSON`.
        seed: Where deals and the agents' chance come from.
        episode: Which episode of the seed.
        deals: Deals of the first rounds given by hand.
        moves: What was played so far: `seat`, `action`, and what chance decided in it.
        name: The session's own name; a new one where empty. Who knows it may play.

    Raises:
        OptionError: There is not exactly one person.
        UnknownNameError, AgentError: An agent cannot be found or cannot play this game.
        RecordError: A move is not legal where it stands.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[str],
        seed: int,
        episode: int = 0,
        deals: Sequence[Mapping[str, Any]] = (),
        moves: Sequence[Mapping[str, Any]] = (),
        name: str = "",
    ) -> None:
        if list(agents).count(PERSON) != 1 or len(agents) != game.num_players:
            raise OptionError(f"{game.num_players} seats need one {PERSON!r} and agents; got {list(agents)}")
        self.game: Game = game
        self.agents: list[str] = list(agents)
        self.name: str = name or secrets.token_urlsafe(18)
        self.seed: int = seed
        self.episode: int = episode
        self.deals: list[dict[str, Any]] = [dict(deal) for deal in deals]
        self.seat: int = self.agents.index(PERSON)
        self._players: dict[int, Agent] = {
            seat: find_agent(each, game) for seat, each in enumerate(self.agents) if seat != self.seat
        }
        for place, player in self._players.items():
            player.reset(int(np.random.SeedSequence([seed, place]).generate_state(1, np.uint64)[0]))
        self.version: int = 0  # grows with every change, an undone move too
        self._begin(moves)

    # --- playing ------------------------------------------------------------------------------------------------------

    def _begin(self, moves: Sequence[Mapping[str, Any]]) -> None:
        """Deal, and play what was played before."""
        self.table: Table = Table(self.game)
        self.table.start(self.seed, self.episode, self.deals)
        self.moves: list[dict[str, Any]] = []
        self.log: list[dict[str, Any]] = []
        by_hand = bool(self.deals) or any("reactions" in move for move in moves)
        seed, episode = (None, None) if by_hand else (self.seed, self.episode)
        self._recorder = Recorder(self.game, self.agents, seed, episode, self.table.states[0])
        for place, move in enumerate(moves):
            number = self.game.action_number(move.get("action"))
            if number is None or self.table.over != RUNNING or not self.table.masks[0, number]:
                raise RecordError(f"move {place}: {move.get('action')!r} is not legal there")
            chance = {key: value for key, value in move.items() if key not in ("seat", "action")}
            self._play(number, chance)

    def _play(self, number: int, chance: Mapping[str, Any]) -> None:
        """Play an action for the seat to move, and write down what the person may hear of it."""
        table, definition = self.table, self.game.definition
        seat, round_number, text = table.seat, table.round, self.game.action_texts[number]
        before, person = table.states.copy(), table.view(self.seat)
        if chance and definition.give_chance is not None:
            definition.give_chance(table.states[0], self.game.row[0], chance)
        table.step(number)
        after = table.states[0]
        self._recorder.step(seat, number, after)
        found = definition.read_chance(after, self.game.row[0]) if definition.give_chance is not None else None
        self.moves.append({"seat": seat, "action": text, **((chance and found) or {})})
        secret = seat != self.seat and self._secret(before, person, number)
        called = "" if secret else definition.call_out(before[0], after, self.game.row[0], text)
        self.log.append(
            {
                "step": len(self.moves) - 1,
                "round": round_number,
                "seat": seat,
                "action": None if secret else text,
                "called": called,
            }
        )
        self.version += 1

    def _secret(self, before: np.ndarray, person: np.ndarray, number: int) -> bool:
        """Whether another move would have shown the person the same.

        Where the seat had only this move, that is looked for in deals which the person cannot tell from the true one:
        to know that there was no other would be to know its cards.
        """
        game = self.game
        row, shown = game.row[0], self.table.view(self.seat).tobytes()
        mask = np.zeros(game.num_actions, np.int8)
        worlds = before
        if game.definition.legal(before[0], row, mask) == 1:
            worlds = person.repeat(_WORLDS)
            keys = np.frombuffer(secrets.token_bytes(8 * _WORLDS), np.uint64)
            self.table.loops.determinize_views(worlds, game.row, keys)
        for i in range(len(worlds)):
            game.definition.legal(worlds[i], row, mask)
            for other in np.flatnonzero(mask):
                if other == number:
                    continue
                trial = worlds[i : i + 1].copy()
                game.definition.step(trial[0], row, int(other))
                trial["key"] = 0
                game.definition.hide(trial[0], row, self.seat)
                if trial.tobytes() == shown:
                    return True
        return False

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self.table.over != RUNNING

    @property
    def my_turn(self) -> bool:
        """Whether the person is to move."""
        return not self.over and self.table.seat == self.seat

    def play(self, action: str) -> None:
        """Play the person's action, by its text.

        Raises:
            UsageError: It is not the person's turn.
            IllegalActionError: The action is not legal; nothing has changed.
        """
        if not self.my_turn:
            raise UsageError("the game is over" if self.over else f"it is seat {self.table.seat}'s turn")
        number = self.game.action_number(action)
        if number is None or not self.table.masks[0, number]:
            legal = ", ".join(self.game.action_texts[each] for each in self.table.legal_actions())
            raise IllegalActionError(f"{action!r} cannot be played now; legal: {legal}")
        self._play(number, {})

    def advance(self) -> None:
        """Let the agent to move make its move.

        Raises:
            UsageError: It is the person's turn, or the game is over.
            AgentError: The agent failed.
        """
        if self.over or self.my_turn:
            raise UsageError("no agent is to move")
        self._play(decide(self.table, self._players[self.table.seat]), {})

    def undo(self) -> None:
        """Take everything back to the person's last own decision.

        Raises:
            UsageError: The person has not played yet.
        """
        own = [place for place, move in enumerate(self.moves) if move["seat"] == self.seat]
        if not own:
            raise UsageError("there is no move of yours to take back")
        version = self.version
        self._begin(self.moves[: own[-1]])
        self.version = version + 1

    # --- a person's reflexes ------------------------------------------------------------------------------------------

    @property
    def reflex(self) -> bool:
        """Whether the person is to say how it will react to a card; a page measures that instead of asking."""
        return self.my_turn and {self.game.action_texts[each] for each in self.table.legal_actions()} <= COMMITMENTS

    def reveal(self) -> dict[str, Any]:
        """What the card about to be shown will be, for a page that shows it and waits for the person's hand.

        Returns:
            `card`, its text.

        Raises:
            UsageError: No card is about to be shown.
        """
        return {"card": self._shown_next()[0]}

    def react(self, milliseconds: int | None) -> None:
        """Play how the person reacted to the card shown; the others commit, and react as the model of the rules says.

        Args:
            milliseconds: After how long the hand came down; None where it did not.

        Raises:
            UsageError: No card was about to be shown.
            OptionError: No number of milliseconds.
        """
        if milliseconds is not None and (type(milliseconds) is not int or not 1 <= milliseconds <= LATEST_MS):
            raise OptionError(f"a reaction must be 1 … {LATEST_MS} milliseconds or null; got {milliseconds!r}")
        _, trigger, commitments = self._shown_next()
        own = "anticipate" if milliseconds is not None and not trigger else "wait"
        texts = [own, *commitments[1:]]
        legal = [self.game.action_texts[each] for each in self.table.legal_actions()]
        if own not in legal:
            texts[0], milliseconds = legal[0], None
        trial = self.table.clone()
        for text in texts:
            trial.step(self.game.action_number(text))
        model = self.game.definition.read_chance(trial.states[0], self.game.row[0]) or {}
        reactions = list(model.get("reactions", []))
        if reactions:
            reactions[self.seat] = milliseconds
        for place, text in enumerate(texts):
            number = self.game.action_number(text)
            assert number is not None
            last = place == len(texts) - 1
            self._play(number, {"reactions": reactions} if last and reactions else {})
        self._recorder.seed = self._recorder.episode = None

    def _shown_next(self) -> tuple[str | None, bool, list[str]]:
        """The card about to be shown, whether everybody slaps at it, and what each seat that is left commits."""
        if not self.reflex:
            raise UsageError("no card is about to be shown")
        trial = self.table.clone()
        commitments: list[str] = []
        known = _open_cards(trial.scene(ANYBODY))
        while trial.over == RUNNING:
            legal = {self.game.action_texts[each] for each in trial.legal_actions()}
            if commitments and (not legal <= COMMITMENTS or self._chance(trial) is not None):
                break
            if trial.seat == self.seat:
                text = "wait" if "wait" in legal else sorted(legal)[0]
            else:
                text = self.game.action_texts[decide(trial, self._players[trial.seat])]
            commitments.append(text)
            trial.step(self.game.action_number(text))
        reactions = (self._chance(trial) or {}).get("reactions", [])
        trigger = bool(reactions) and reactions[self.seat] is not None
        new = list(_open_cards(trial.scene(ANYBODY)) - known)
        played = next((move["action"] for move in reversed(self.moves) if move["action"] not in COMMITMENTS), None)
        return (new[0] if new else played), trigger, commitments

    def _chance(self, table: Table) -> dict[str, Any] | None:
        return self.game.definition.read_chance(table.states[0], self.game.row[0])

    # --- what the person is told --------------------------------------------------------------------------------------

    def scene(self) -> Scene:
        """The table as the person sees it."""
        return self.table.scene(self.seat)

    def legal_moves(self) -> list[Move]:
        """What the person may play; nothing while others move."""
        if not self.my_turn:
            return []
        scene, base = self.scene(), self.game.definition.base
        return [described(self.game.action_texts[each], scene, base) for each in self.table.legal_actions()]

    def view(self) -> dict[str, Any]:
        """All that the person's page is sent: never anything that the seat may not know."""
        scene, moves = self.scene(), self.legal_moves()
        base = self.game.definition.base
        touched = {target for move in moves for target in move.targets}
        reasons = {}
        for zone in scene.zones:
            if zone.seat == self.seat:
                for card in set(zone.cards):
                    if not {(zone.name, True, card), (zone.name, True, None)} & touched:
                        reasons[f"{zone.name} {card or ''}".strip()] = why_not(scene, zone, card, base, moves)
        calls = self._calls(moves)
        return {
            "id": self.name,
            "version": self.version,
            "step": len(self.moves),
            "round": self.table.round,
            "game": base,
            "title": self.game.definition.name,
            "agents": self.agents,
            "seat": self.seat,
            "my_turn": self.my_turn,
            "reflex": self.reflex,
            "over": self.over,
            "scene": scene_document(scene),
            "moves": [{**asdict(move), "call": calls.get(move.action, "")} for move in moves],
            "reasons": reasons,
            "log": self.log[-_LOG:],
            "can_undo": any(move["seat"] == self.seat for move in self.moves),
            "rules": {name: value for name, default, value, *_ in self.game.options() if value != default},
            "sheet": [each["scores"] for each in self._recorder.rounds if each["scores"]],
            "lowest_wins": self.game.definition.lowest_wins(self.game.rules),
            "result": self._result(),
        }

    def _calls(self, moves: Sequence[Move]) -> dict[str, str]:
        """What each move would be called out as, as far as that is the same in whatever deal it is."""
        if not moves:
            return {}
        game, kernels = self.game, self.table.loops
        worlds = self.table.view(self.seat).repeat(2)
        kernels.determinize_views(worlds, game.row, np.frombuffer(secrets.token_bytes(16), np.uint64))
        calls = {}
        for move in moves:
            number = game.action_number(move.action)
            # What is turned over or shown later is not known yet.
            if number is None or move.action == "flip" or move.action in COMMITMENTS:
                continue
            heard = set()
            for i in range(len(worlds)):
                before, after = worlds[i : i + 1], worlds[i : i + 1].copy()
                game.definition.step(after[0], game.row[0], number)
                heard.add(game.definition.call_out(before[0], after[0], game.row[0], move.action))
            if len(heard) == 1:
                calls[move.action] = heard.pop()
        return calls

    def _result(self) -> dict[str, Any] | None:
        if not self.over:
            return None
        record, sign = self.record(), 1 if self.game.definition.lowest_wins(self.game.rules) else -1
        places = [1 + sum(sign * other < sign * own for other in record.scores) for own in record.scores]
        return {
            "scores": record.scores,
            "places": places,
            "returns": record.returns,
            "outcome": "truncated" if self.table.over == TRUNCATED else "terminated",
        }

    def hint(self, agent: str) -> dict[str, Any]:
        """How an agent ranks the person's moves, and what the game has to say.

        Args:
            agent: Whom to ask.

        Raises:
            UsageError: It is not the person's turn.
            UnknownNameError, AgentError: The agent cannot be found, or cannot play this game.
        """
        if not self.my_turn:
            raise UsageError("hints are for your own moves")
        advice = advise(self.table, find_agent(agent, self.game)).to_json()
        labels = {move.action: move.label for move in self.legal_moves()}
        for each in advice["ranking"]:
            each["label"] = labels[each["action"]]
        return {**advice, "notes": list(self.scene().hints)}

    def record(self) -> Record:
        """The record of the finished game.

        Raises:
            RecordError: The game is still going on.
        """
        return self._recorder.record()

    # --- keeping ------------------------------------------------------------------------------------------------------

    def to_json(self) -> dict[str, Any]:
        """Everything that `from_json` needs."""
        return {
            "format": FORMAT,
            "name": self.name,
            "settings": {**self.game.settings(), "preset": self.game.preset},
            "agents": self.agents,
            "seed": str(self.seed),
            "episode": self.episode,
            "deals": self.deals,
            "moves": self.moves,
            "version": self.version,
        }

    @classmethod
    def from_json(cls, found: Any) -> Session:
        """A session that was kept.

        Raises:
            RecordError: It is not one of this version.
        """
        if not isinstance(found, dict) or found.get("format") != FORMAT:
            raise RecordError(f"a session must be an object of the format {FORMAT!r}")
        try:
            session = cls(
                registry.make(**found["settings"]),
                found["agents"],
                int(found["seed"]),
                found["episode"],
                found["deals"],
                found["moves"],
                found["name"],
            )
            session.version = max(session.version, int(found.get("version", 0)))
        except PigenvError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise RecordError(f"a session lacks something or has something of the wrong kind: {error}") from None
        return session


def _open_cards(scene: Scene) -> Counter[str]:
    """Every card that lies open, except in the ring, how often."""
    return Counter(card for zone in scene.zones if zone.name != "ring" for card in zone.cards if card is not None)

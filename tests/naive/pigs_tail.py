"""A slow and obvious Pig's Tail, made of lists and dicts, to hold against the fast one.

A card is a text: rank letter and suit ("9H", "TC"), or "X" for a joker. A card is "a pick-up" when laying it now makes
somebody take the pile: without slapping the seat that laid it, with slapping (option ``attack``) who loses the slap.
Where the rulebook leaves something open, this twin does the following.

Turns

1. A turn is one card laid, from the ring or from hand, with everything that hangs on it: the commitments before it,
   the slaps, naming a suit, returning the hand. ``turn`` and ``max_turns`` count turns, never single steps.
2. Everything a turn asks is answered before anything ends: first who takes the pile, then the suit or the return (both
   asked of the seat that laid the joker), then the end of the round, then ``max_turns``, then the next mover.
3. A round ends with the turn that laid the last ring card. If the same turn reaches ``max_turns``, the round has ended
   by the rules. A round that is cut ends the match; it scores as it stands.
4. The next mover is the left neighbour of the mover, whoever took the pile.
5. Between rounds all hands and the pile are put away, owed turns are forgotten, and ``turn`` starts again from 0. Each
   deal says who goes first in its round, whatever option ``first_player`` says; ``next_first_player`` tells who that
   has to be where a later deal is drawn.

Matching

6. A joker on top of the pile matches nothing, except that after ``choose_suit`` a card of the named suit does. With a
   named suit only suits count, whatever ``match`` says. The name holds for the next card alone: it is gone as soon as
   any card is laid, the pile is taken, or the round ends. A joker laid on a named joker matches nothing and asks anew.
7. With ranks as ``trigger`` these ranks replace the match rule altogether, slapping or not, on an empty pile too. A
   suit is still named, without any effect.
8. A joker of role ``pickup`` or ``attack`` is always a pick-up, from the ring or from hand, on an empty pile, and with
   any trigger; so it is never safe in hand. A joker of role ``choose_suit`` or ``return_hand`` never is one and is
   always safe in hand.
9. Only suits of the pack (option ``suits``) can be named.

Hand cards

10. Optional: flip, and every safe card; every card with ``allow_matching_hand_play``. Forced: while cards are in hand
    no flip, but every safe card; every card with ``allow_matching_hand_play``; if none is safe, every card (fallback
    ``play``) or only the flip (fallback ``flip``). Off: only the flip.
11. All of that is the same with slapping. A hand card that is a pick-up (so only by ``allow_matching_hand_play`` or by
    the fallback) then is a trigger like any other.
12. ``return_hand`` asks only after a flip, only with cards in hand, and the whole hand goes back on top of the joker.
    Any returned card but a joker may be on top; a joker only where there is nothing else. The cards between lie in
    the order of their texts. Returned cards are compared with nothing and trigger nothing.

Slapping

13. Every seat commits in every turn, from the mover clockwise, seats that owe a turn too. What the mover decided stays
    in ring or hand until the last commitment.
14. A mover that may not slap (``flipper_slaps`` off) can only commit ``wait``, has no time, and never takes or fouls.
15. On a trigger every able seat may have a time, whatever it committed, and takes part: no time is slower than any
    time. Without a trigger exactly the able seats that anticipated have a time, and all of these foul.
16. Equal times, and no times on both sides: the seat nearer to the mover clockwise, the mover itself first, was faster.
    If nobody slaps, the farthest able seat is slowest and the nearest is fastest.
17. With ``foul`` set to ``take`` the earliest foul takes the whole pile with the card just laid. With ``skip`` the pile
    stays and every fouling seat owes one turn more.
18. Owed turns are paid when the next mover is looked for: a seat that owes is passed over and owes one less, round and
    round the table until a seat owes nothing. A turn passed over is not a turn for ``max_turns``. A fouling mover can
    owe too.
"""

from typing import Any

RED = ("D", "H")
BLACK = ("C", "S")


def pack(rules: dict[str, Any]) -> list[str]:
    """Return all the cards a round is played with, unshuffled."""
    cards: list[str] = []
    for _ in range(rules["num_decks"]):
        cards += [rank + suit for suit in rules["suits"] for rank in rules["ranks"]]
        cards += ["X" for _ in range(rules["num_jokers"])]
    return cards


def color(suit: str) -> str:
    """Return "red" or "black"."""
    if suit in RED:
        return "red"
    if suit in BLACK:
        return "black"
    raise ValueError(f"unknown suit {suit!r}")


class NaivePigsTail:
    """One match of Pig's Tail.

    Attributes:
        seat: Whose decision it is. Of no meaning once the match is over.
        mover: Whose turn it is. Of no meaning once the match is over.
        phase: "play", "commit" (only with slapping), "name_suit" or "return".
        hands: Cards in hand, a list a seat.
        ring: Face-down cards, next card first.
        pile: Cards in the middle, bottom to top.
        named_suit: What the next card is compared with, None unless a joker on top has a suit named.
        decision: With slapping: what the mover does in this turn while the others commit, else None.
        commitments: With slapping: what has been committed in this turn, by seat.
        owed_turns: How many turns each seat must still sit out.
        round: Which round is played, from 0.
        first_player: Who went first in this round.
        turn: Turns made in this round.
        round_scores: Cards held at the end of each finished round, a list a round.
        over: None while the match runs, then "terminated" or "truncated".
    """

    def __init__(self, num_players: int, rules: dict[str, Any], deals: list[dict[str, Any]]) -> None:
        """Set up the table for the first round.

        Args:
            num_players: How many sit at the table.
            rules: Every rule option with its value.
            deals: One a round: "first_player" and "ring" (next card first).

        Raises:
            ValueError: Too few deals, or jokers that are slapped in a game without slapping.
        """
        if len(deals) < rules["rounds"]:
            raise ValueError(f"{rules['rounds']} rounds need as many deals; got {len(deals)}")
        if rules["joker_role"] == "attack" and not rules["attack"]:
            raise ValueError("joker_role 'attack' needs attack")
        self.num_players = num_players
        self.rules = dict(rules)
        self.deals = list(deals)
        self.round: int = 0
        self.round_scores: list[list[int]] = []
        self.over: str | None = None
        self.start_round()

    def start_round(self) -> None:
        """Lay out the ring of the current round; nobody holds a card."""
        deal = self.deals[self.round]
        self.first_player: int = deal["first_player"]
        self.ring: list[str] = list(deal["ring"])
        self.pile: list[str] = []
        self.hands: list[list[str]] = [[] for _ in range(self.num_players)]
        self.named_suit: str | None = None
        self.owed_turns: list[int] = [0 for _ in range(self.num_players)]
        self.turn: int = 0
        self.start_turn(self.first_player)

    def start_turn(self, mover: int) -> None:
        """Let a seat begin its turn."""
        self.mover: int = mover
        self.seat: int = mover
        self.phase: str = "play"
        self.decision: str | None = None
        self.commitments: dict[int, str] = {}

    # --- which cards make somebody take the pile ----------------------------------------------------------------------

    def trigger_ranks(self) -> list[str] | None:
        """Return the ranks that alone decide about a pick-up, or None where cards are compared."""
        if self.rules["trigger"] == "match":
            return None
        ranks: list[str] = []
        for letter in self.rules["trigger"]:
            if letter == "1":
                ranks.append("A")
            else:
                ranks.append(letter)
        return ranks

    def is_pickup(self, card: str) -> bool:
        """Tell whether laying a card on the pile as it is makes somebody take the pile."""
        if card == "X":
            return self.rules["joker_role"] in ("pickup", "attack")
        ranks = self.trigger_ranks()
        if ranks is not None:
            return card[0] in ranks
        if len(self.pile) == 0:
            return False
        top = self.pile[-1]
        if top == "X":
            return card[1] == self.named_suit
        return self.is_match(top, card)

    def is_match(self, top: str, card: str) -> bool:
        """Tell whether two cards match, neither of them a joker."""
        same_rank = top[0] == card[0]
        same_suit = top[1] == card[1]
        same_color = color(top[1]) == color(card[1])
        rule = self.rules["match"]
        if rule == "suit_or_rank":
            return same_suit or same_rank
        if rule == "suit":
            return same_suit
        if rule == "color_or_rank":
            return same_color or same_rank
        if rule == "rank":
            return same_rank
        if rule == "color":
            return same_color
        raise ValueError(f"unknown match {rule!r}")

    def safe_cards(self, seat: int) -> list[str]:
        """Return the hand cards of a seat that are no pick-up now, sorted, equal cards as often as held."""
        return sorted(card for card in self.hands[seat] if not self.is_pickup(card))

    def pickup_cards(self, seat: int) -> int:
        """Return how many of the ring cards, unseen by a seat, would be a pick-up if flipped now."""
        count = 0
        for card, copies in self.known_to(seat)["unseen"].items():
            if self.is_pickup(card):
                count += copies
        return count

    # --- what may be done ---------------------------------------------------------------------------------------------

    def legal(self) -> list[str]:
        """Return the texts of all legal actions, sorted as text; none once the match is over."""
        if self.over is not None:
            return []
        if self.phase == "play":
            return sorted(self.plays())
        if self.phase == "commit":
            if self.is_able(self.seat):
                return ["anticipate", "wait"]
            return ["wait"]
        if self.phase == "name_suit":
            return sorted("suit " + suit for suit in self.rules["suits"])
        if self.phase == "return":
            tops = {card for card in self.hands[self.seat] if card != "X"}
            if len(tops) == 0:
                tops = {"X"}
            return ["keep", *sorted("return " + card for card in tops)]
        raise ValueError(f"unknown phase {self.phase!r}")

    def plays(self) -> set[str]:
        """Return what the mover may do with its turn: flip, or cards from hand."""
        hand = set(self.hands[self.mover])
        safe = set(self.safe_cards(self.mover))
        playable = safe
        if self.rules["allow_matching_hand_play"]:
            playable = hand
        rule = self.rules["hand_play"]
        if rule == "off" or len(hand) == 0:
            return {"flip"}
        if rule == "optional":
            return {"flip"} | playable
        if rule == "forced":
            if len(playable) > 0:
                return playable
            if self.rules["forced_fallback"] == "play":
                return hand
            if self.rules["forced_fallback"] == "flip":
                return {"flip"}
            raise ValueError(f"unknown forced_fallback {self.rules['forced_fallback']!r}")
        raise ValueError(f"unknown hand_play {rule!r}")

    def is_able(self, seat: int) -> bool:
        """Tell whether a seat may slap in this turn."""
        return seat != self.mover or self.rules["flipper_slaps"]

    def able_seats(self) -> list[int]:
        """Return all seats that may slap in this turn, from the mover clockwise."""
        around = [(self.mover + distance) % self.num_players for distance in range(self.num_players)]
        return [seat for seat in around if self.is_able(seat)]

    # --- one step -----------------------------------------------------------------------------------------------------

    def needs_reactions(self) -> bool:
        """Tell whether the step about to be made is the last commitment of a turn, so that slaps come with it."""
        return self.over is None and self.phase == "commit" and len(self.commitments) == self.num_players - 1

    def slappers(self, action: str) -> list[int]:
        """Tell who may slap, before the last commitment of a turn is made.

        Args:
            action: What the last seat commits.

        Returns:
            The seats, ascending, that may have a time if the card is a trigger, and that must have one if it is not.

        Raises:
            ValueError: The step about to be made is not the last commitment, or the action is not legal.
        """
        if not self.needs_reactions():
            raise ValueError("nobody slaps before the last commitment of a turn")
        self.check_legal(action)
        commitments = {**self.commitments, self.seat: action}
        if self.is_pickup(self.card_decided()):
            return sorted(self.able_seats())
        return sorted(seat for seat in self.able_seats() if commitments[seat] == "anticipate")

    def card_decided(self) -> str:
        """Return the card that the mover's decision brings onto the pile."""
        if self.decision is None:
            raise ValueError("the mover has not decided yet")
        if self.decision == "flip":
            return self.ring[0]
        return self.decision

    def check_legal(self, action: str) -> None:
        """Raise a ValueError if an action is not legal."""
        if action not in self.legal():
            raise ValueError(f"action {action!r} is not legal for seat {self.seat}; legal: {self.legal()}")

    def check_reactions(self, action: str, reactions: list[int | None] | None) -> None:
        """Raise a ValueError if reactions are missing, unasked for, or those of the wrong seats."""
        if not self.needs_reactions():
            if reactions is not None:
                raise ValueError("reactions belong to the last commitment of a turn only")
            return
        if reactions is None:
            raise ValueError("the last commitment of a turn needs reactions")
        if len(reactions) != self.num_players:
            raise ValueError(f"reactions must be one a seat; got {len(reactions)}")
        for time in reactions:
            if time is not None and (type(time) is not int or time < 0):
                raise ValueError(f"a reaction is a whole number of milliseconds or None; got {time!r}")
        slappers = self.slappers(action)
        with_time = [seat for seat in range(self.num_players) if reactions[seat] is not None]
        if self.is_pickup(self.card_decided()):
            strangers = [seat for seat in with_time if seat not in slappers]
            if len(strangers) > 0:
                raise ValueError(f"only the seats {slappers} may slap; got times of {strangers} too")
        elif with_time != slappers:
            raise ValueError(f"exactly the seats {slappers} slap; got times of {with_time}")

    def step(self, action: str, reactions: list[int | None] | None = None) -> None:
        """Make one decision.

        Args:
            action: A text such as "flip", "9H", "wait", "suit S", "return 9H" or "keep".
            reactions: With the last commitment of a turn only: after how many milliseconds each seat slapped, None
                where it did not.

        Raises:
            ValueError: The action is not legal now, or the reactions do not fit.
        """
        self.check_legal(action)
        self.check_reactions(action, reactions)
        if self.phase == "play":
            self.decision = action
            if self.rules["attack"]:
                self.phase = "commit"
            else:
                self.lay_card_without_slapping()
        elif self.phase == "commit":
            self.commitments[self.seat] = action
            self.seat = (self.seat + 1) % self.num_players
            if reactions is not None:
                self.seat = self.mover
                self.lay_card_with_slapping(reactions)
        elif self.phase == "name_suit":
            self.named_suit = action.removeprefix("suit ")
            self.end_turn()
        elif self.phase == "return":
            if action != "keep":
                self.return_hand(action.removeprefix("return "))
            self.end_turn()

    def lay_card(self, card: str) -> None:
        """Move the card decided upon to the top of the pile."""
        if self.decision == "flip":
            self.ring.pop(0)
        else:
            self.hands[self.mover].remove(card)
        self.pile.append(card)
        self.named_suit = None

    def take_pile(self, seat: int) -> None:
        """Give the whole pile to a seat."""
        self.hands[seat].extend(self.pile)
        self.pile = []

    def lay_card_without_slapping(self) -> None:
        """Lay the card; the mover takes the pile if it is a pick-up."""
        card = self.card_decided()
        pickup = self.is_pickup(card)
        self.lay_card(card)
        if pickup:
            self.take_pile(self.mover)
        self.ask_joker(card)

    def lay_card_with_slapping(self, reactions: list[int | None]) -> None:
        """Show the card; who loses the slap takes the pile, or who slapped without a reason is punished."""
        card = self.card_decided()
        trigger = self.is_pickup(card)
        self.lay_card(card)
        fastest_first = self.fastest_first(reactions)
        if trigger:
            if self.rules["taker"] == "slowest":
                self.take_pile(fastest_first[-1])
            elif self.rules["taker"] == "fastest":
                self.take_pile(fastest_first[0])
            else:
                raise ValueError(f"unknown taker {self.rules['taker']!r}")
        else:
            fouls = [seat for seat in fastest_first if reactions[seat] is not None]
            if self.rules["foul"] == "take":
                if len(fouls) > 0:
                    self.take_pile(fouls[0])
            elif self.rules["foul"] == "skip":
                for seat in fouls:
                    self.owed_turns[seat] += 1
            else:
                raise ValueError(f"unknown foul {self.rules['foul']!r}")
        self.ask_joker(card)

    def fastest_first(self, reactions: list[int | None]) -> list[int]:
        """Return all able seats, the fastest first and those without a time last; of equals, the mover's side first."""
        seats: list[int] = []
        # The able seats come from the mover clockwise, so those of one time stay in that order.
        for time in sorted({time for time in reactions if time is not None}):
            seats += [seat for seat in self.able_seats() if reactions[seat] == time]
        seats += [seat for seat in self.able_seats() if reactions[seat] is None]
        return seats

    def ask_joker(self, card: str) -> None:
        """Ask the mover what its joker asks for, if it still lies on the pile; else the turn is over."""
        joker_lies = card == "X" and len(self.pile) > 0
        role = self.rules["joker_role"]
        if joker_lies and role == "choose_suit":
            self.phase = "name_suit"
        elif joker_lies and role == "return_hand" and self.decision == "flip" and len(self.hands[self.mover]) > 0:
            self.phase = "return"
        else:
            self.end_turn()

    def return_hand(self, top: str) -> None:
        """Put the mover's whole hand back on the pile."""
        hand = sorted(self.hands[self.mover])
        hand.remove(top)
        self.pile.extend(hand)
        self.pile.append(top)
        self.hands[self.mover] = []

    # --- ends ---------------------------------------------------------------------------------------------------------

    def end_turn(self) -> None:
        """Count the turn, and find out whether the round is over or who is next."""
        self.turn += 1
        if len(self.ring) == 0:
            self.end_round()
        elif self.turn >= self.rules["max_turns"]:
            self.round_scores.append(self.cards_held())
            self.over = "truncated"
        else:
            self.start_turn(self.next_mover())

    def next_mover(self) -> int:
        """Return the next seat that owes no turn; the seats passed over owe one less afterwards."""
        seat = (self.mover + 1) % self.num_players
        while self.owed_turns[seat] > 0:
            self.owed_turns[seat] -= 1
            seat = (seat + 1) % self.num_players
        return seat

    def end_round(self) -> None:
        """Score the round and begin the next one, if there is one."""
        self.round_scores.append(self.cards_held())
        if len(self.round_scores) == self.rules["rounds"]:
            self.over = "terminated"
        else:
            self.round += 1
            self.start_round()

    def next_first_player(self) -> int:
        """Return who has to go first in the round after this one: the left neighbour of who did in this one."""
        return (self.first_player + 1) % self.num_players

    # --- scores -------------------------------------------------------------------------------------------------------

    def cards_held(self) -> list[int]:
        """Return how many cards each seat holds."""
        return [len(hand) for hand in self.hands]

    def all_round_scores(self) -> list[list[int]]:
        """Return the scores of all finished rounds and of the running one as it stands."""
        if self.over is None:
            return [*self.round_scores, self.cards_held()]
        return list(self.round_scores)

    def scores(self) -> list[int]:
        """Return the cards held at the end of each round, summed over the rounds; a running one as it stands."""
        return [sum(scores[seat] for scores in self.all_round_scores()) for seat in range(self.num_players)]

    def goodness(self, scores: list[int]) -> list[int]:
        """Return scores so that more is better."""
        if self.rules["most_wins"]:
            return list(scores)
        return [-score for score in scores]

    def ranks(self) -> list[int]:
        """Return the place of each seat, 1 for the best; equal seats share the best of their places."""
        goodness = self.goodness(self.scores())
        return [1 + len([other for other in goodness if other > mine]) for mine in goodness]

    def returns(self, reward: str, score_scale: float = 1.0) -> list[float]:
        """Return what the match as it stands pays each seat.

        Args:
            reward: "win", "rank" or "score".
            score_scale: What one unit of "score" is divided by.

        Raises:
            ValueError: No such reward.
        """
        n = self.num_players
        goodness = self.goodness(self.scores())
        result: list[float] = []
        for seat, mine in enumerate(goodness):
            if reward == "win":
                winners = goodness.count(max(goodness))
                share = 1 / winners if mine == max(goodness) else 0.0
                result.append((n * share - 1) / (n - 1))
            elif reward == "rank":
                better = len([other for other in goodness if other > mine])
                equal = len([other for other in goodness if other == mine])
                # The tied seats hold the places better + 1 to better + equal.
                place = (better + 1 + better + equal) / 2
                result.append((n + 1 - 2 * place) / (n - 1))
            elif reward == "score":
                paid = 0.0
                for scores in self.all_round_scores():
                    good = self.goodness(scores)
                    paid += (good[seat] - sum(good) / n) / score_scale
                result.append(paid)
            else:
                raise ValueError(f"unknown reward {reward!r}; there are 'win', 'rank' and 'score'")
        return result

    # --- who knows what -----------------------------------------------------------------------------------------------

    def known_to(self, seat: int) -> dict[str, Any]:
        """Return all that a seat with a perfect memory knows.

        Every card in a hand was taken face up, so all hands are known. What nobody knows is the order of the ring,
        and, until the last commitment of a turn, what the others decided and committed.

        Args:
            seat: Who looks.

        Returns:
            All hands (sorted), the pile, all sizes, how many of each card are still in the ring, whose turn and whose
            decision it is, the named suit, the owed turns and the finished rounds' scores. Of what is not shown yet
            only its own: "decision" (None unless it is the mover) and "commitment" (None if it made none yet).
        """
        unseen: dict[str, int] = {}
        for card in sorted(self.ring):
            unseen[card] = unseen.get(card, 0) + 1
        return {
            "hands": [sorted(hand) for hand in self.hands],
            "hand_sizes": self.cards_held(),
            "pile": list(self.pile),
            "ring_size": len(self.ring),
            "unseen": unseen,
            "named_suit": self.named_suit,
            "seat": self.seat,
            "mover": self.mover,
            "phase": self.phase,
            "owed_turns": list(self.owed_turns),
            "round": self.round,
            "first_player": self.first_player,
            "turn": self.turn,
            "round_scores": [list(scores) for scores in self.round_scores],
            "decision": self.decision if seat == self.mover and self.phase == "commit" else None,
            "commitment": self.commitments.get(seat) if self.phase == "commit" else None,
        }

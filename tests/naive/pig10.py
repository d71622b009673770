"""A slow and obvious Pig 10, made of lists and dicts, to hold against the fast one.

Where the rulebook leaves something open, this twin does the following:

- Players without cards are passed over clockwise.
- A game that ends by the rules may give the cards left in the middle to somebody (option ``leftover``); those cards
  then leave the middle. A game cut short gives them to nobody.
- "The same card as the player before" is the card on top of the pile, whoever laid it.
"""

from typing import Any


class NaivePig10:
    """One game of Pig 10.

    Attributes:
        seat: Whose turn it is. After a finished game: who would have been next.
        hands: Cards in hand, a list a seat.
        stock: Cards to draw, next card first.
        pile: Cards in the middle, bottom to top.
        value: Pile value, None while the middle is empty.
        taken: Number of cards won, a seat each.
        over: None while the game runs, then "terminated" or "truncated".
        turn: Steps made so far.
        last_winner: Who took a pile last, None if nobody yet.
        played: Every card ever played, in order.
    """

    def __init__(self, num_players: int, rules: dict[str, Any], deal: dict[str, Any]) -> None:
        """Set up the table.

        Args:
            num_players: How many sit at the table.
            rules: Every rule option with its value.
            deal: "first_player", "hands" (a list a seat) and "stock" (next card first).
        """
        self.num_players = num_players
        self.rules = dict(rules)
        self.seat: int = deal["first_player"]
        self.hands: list[list[int]] = [list(hand) for hand in deal["hands"]]
        self.stock: list[int] = list(deal["stock"])
        self.pile: list[int] = []
        self.value: int | None = None
        self.taken: list[int] = [0 for _ in range(num_players)]
        self.over: str | None = None
        self.turn: int = 0
        self.last_winner: int | None = None
        self.played: list[int] = []

    def ways(self, card: int) -> dict[str, int]:
        """Return every legal way to play a card: action text to new pile value."""
        name = str(card)
        if self.value is None:
            return {name: card}
        if card == 0:
            return {name: 0}

        candidates: list[tuple[str, int]] = []
        # Add.
        candidates.append((name, self.value + card))
        # Subtract.
        if card == 5:
            if self.value >= 5:
                candidates.append((name + "-", self.value - 5))
            elif self.rules["five_clamp"]:
                candidates.append((name + "-", 0))
        # Set.
        if self.is_same(card):
            candidates.append((name + "=", card))

        # Of several ways to the same pile value only the first is kept.
        ways: dict[str, int] = {}
        for text, new_value in candidates:
            if new_value not in ways.values():
                ways[text] = new_value
        return ways

    def is_same(self, card: int) -> bool:
        """Tell whether a card for a middle with cards counts as "same card, same number"."""
        same_as_value = card == self.value
        same_as_previous = card == self.pile[-1]
        rule = self.rules["same_rule"]
        if rule == "both":
            return same_as_value or same_as_previous
        if rule == "value":
            return same_as_value
        if rule == "previous":
            return same_as_previous
        if rule == "off":
            return False
        raise ValueError(f"unknown same_rule {rule!r}")

    def legal(self) -> list[str]:
        """Return the texts of all legal actions, sorted as text; none once the game is over."""
        if self.over is not None:
            return []
        texts: set[str] = set()
        for card in self.hands[self.seat]:
            for text in self.ways(card):
                texts.add(text)
        return sorted(texts)

    def step(self, action: str) -> None:
        """Let the seat to move play one action.

        Args:
            action: A text such as "4", "5-" or "4=".

        Raises:
            ValueError: The action is not legal now.
        """
        if action not in self.legal():
            raise ValueError(f"action {action!r} is not legal for seat {self.seat}; legal: {self.legal()}")
        mover = self.seat
        card = int(action.rstrip("-="))
        new_value = self.ways(card)[action]

        # Play the card.
        self.hands[mover].remove(card)
        self.pile.append(card)
        self.played.append(card)
        self.value = new_value
        self.turn += 1

        # See who takes the pile.
        taker: int | None = None
        if new_value == self.rules["target"]:
            taker = mover
        elif new_value > self.rules["target"]:
            taker = (mover - 1) % self.num_players
        if taker is not None:
            self.give_pile(taker)
            self.last_winner = taker

        # Draw a card.
        if len(self.stock) > 0:
            self.hands[mover].append(self.stock.pop(0))

        # Find out who is next.
        self.seat = (mover + 1) % self.num_players
        if taker is not None and self.rules["winner_leads"]:
            self.seat = taker
        cards_in_hands = sum(len(hand) for hand in self.hands)
        if cards_in_hands > 0:
            while len(self.hands[self.seat]) == 0:
                self.seat = (self.seat + 1) % self.num_players

        # Find out whether the game is over.
        if cards_in_hands == 0:
            self.over = "terminated"
            self.give_leftover(mover)
        elif self.turn >= self.rules["max_turns"]:
            self.over = "truncated"

    def give_pile(self, seat: int) -> None:
        """Give all cards in the middle to a seat."""
        self.taken[seat] += len(self.pile)
        self.pile = []
        self.value = None

    def give_leftover(self, last_player: int) -> None:
        """Give the cards left in the middle at the end to whom the rules name."""
        leftover = self.rules["leftover"]
        if leftover not in ("none", "last_player", "last_winner"):
            raise ValueError(f"unknown leftover {leftover!r}")
        if len(self.pile) == 0:
            return
        if leftover == "last_player":
            self.give_pile(last_player)
        if leftover == "last_winner" and self.last_winner is not None:
            self.give_pile(self.last_winner)

    def scores(self) -> list[int]:
        """Return the number of cards won by each seat."""
        return list(self.taken)

    def returns(self, reward: str, score_scale: float = 1.0) -> list[float]:
        """Return what the game as it stands pays each seat.

        Args:
            reward: "win", "rank" or "score".
            score_scale: What one unit of "score" is divided by.

        Raises:
            ValueError: No such reward.
        """
        n = self.num_players
        scores = self.scores()
        result: list[float] = []
        for score in scores:
            if reward == "win":
                winners = scores.count(max(scores))
                share = 1 / winners if score == max(scores) else 0.0
                result.append((n * share - 1) / (n - 1))
            elif reward == "rank":
                better = len([other for other in scores if other > score])
                equal = len([other for other in scores if other == score])
                # The tied seats hold the places better + 1 to better + equal.
                place = (better + 1 + better + equal) / 2
                result.append((n + 1 - 2 * place) / (n - 1))
            elif reward == "score":
                mean = sum(scores) / n
                result.append((score - mean) / score_scale)
            else:
                raise ValueError(f"unknown reward {reward!r}; there are 'win', 'rank' and 'score'")
        return result

    def known_to(self, seat: int) -> dict[str, Any]:
        """Return all that a seat with a perfect memory knows.

        Args:
            seat: Who looks.

        Returns:
            Its own hand, what lies open, all sizes, and for each card value how many are still unseen.
        """
        unseen: dict[int, int] = {}
        for card, count in enumerate(self.rules["deck_counts"]):
            unseen[card] = count - self.hands[seat].count(card) - self.played.count(card)
        return {
            "hand": sorted(self.hands[seat]),
            "pile": list(self.pile),
            "value": self.value,
            "taken": list(self.taken),
            "hand_sizes": [len(hand) for hand in self.hands],
            "stock_size": len(self.stock),
            "seat": self.seat,
            "unseen": unseen,
        }

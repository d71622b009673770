"""A slow and obvious Pig Pile, made of lists and dicts, to hold against the fast one.

Where the rulebook leaves something open, this twin does the following.

The choice of face-up cards

1. It takes one step a card: the dealer makes all its steps, then the seat to its left, and so on. A card shown leaves
   the hand at once. With ``table_cards`` 0 there is no choice. After it the dealer plays first.
2. With ``show_in_order`` cards may only be shown in rising order, 1 to 12 and then W, equal cards one after another. A
   card is legal only if enough cards at or above it remain to finish the choice, so nobody is ever stuck.

What may be played

3. A play is always from one zone: the hand while it holds a card, else the face-up cards. Any number of equal cards may
   be played, up to all of them. Hog Wilds alone may always be played, in any number.
4. The Hog Wilds of a mixed play lie underneath and do not help it: its number is held against the old top.
5. ``cross_zone``: the stock is empty, the hand is not, and the play uses up the whole hand and at least one face-up
   card. Hand and face-up cards together must be one play as it could be made from one zone: equal cards, or with
   ``wild_in_play`` one number and Hog Wilds, wherever each lies (hand W and face-up 5 is "5x1+Wx1"). The action text
   names totals; the cards of the hand always come first.
6. ``eight_always`` frees plays of 8s (with Hog Wilds too) and a flipped 8 from the comparison with the top.

Picking up

7. Without ``voluntary_pickup`` a pick-up is legal just where no play is. On an empty pile, or a Hog Wild, every card
   can be played, so nobody ever picks up there by force.
8. With ``voluntary_pickup`` it is legal next to the plays, unless the pile is empty; a Hog Wild on top is no hindrance.
   Where a card is to be flipped, flipping is the only action.
9. From the face-up cards it is "pickup+C", once for each different face-up card C, which may be W or a playable card if
   the pick-up is voluntary. Without ``face_up_penalty`` it is a plain "pickup" and the face-up cards stay.
10. A flip below the top sends pile and card to the hand. After it and after a pick-up: no refill, next seat in turn.

Washing

11. Without ``wild_in_run`` the run is made of the cards on top which equal the top card, a W only equals a W. With it
    the run is the longest end of the pile whose numbers are all one, so W, W and any number wash, and so do 5, W, W.
12. Three cards in a row which are not on top (three Hog Wilds under a number) wash nothing without ``wild_in_run``.
13. An 8 always washes, flipped too. A wash ignores 4 and 11. The mover goes on unless it is out.

Refill, going out, whose turn

14. After a play: cards to the pile, wash, refill, and only then it is seen whether the mover is out. So nobody goes out
    by a play that is followed by a refill from a stock with cards.
15. ``refill_after_wash`` False: no refill after a wash, so a seat may be out with cards left in the stock. Its bonus
    turn may be made from the face-up cards or by a flip; if that does not wash, the refill follows as usual.
16. A mover who is out by a wash: the next active seat in the direction of play starts on the empty pile.
17. Direction turns first, then the turn moves on. A turn moves over active seats one by one, 1 + skips of them; the
    mover, if not out, counts when it comes round. So with two active seats one skip brings the mover again, two skips
    bring the other seat.
18. ``per_card`` counts the 4s (11s) of the play, not Hog Wilds. Cards below in the pile never count.

Rounds and pigs

19. A round ends when two seats are out, with two players when one is. With two players: 3 and 0.
20. ``three_player_third_scores`` concerns three players only.
21. Pigs are paid from what is left: seats that are out in their order, then the others by fewest cards, then by seat
    number. If fewer are left than due, that seat gets what is left. If none are left the match is over.
22. A round cut by ``max_turns`` is paid from the same supply: 3 to a seat that is out, 0 to all with the most cards, 1
    to the rest (two players: 1 and 0, or 0 and 0). The match is then over as "truncated". A step that ends the round by
    the rules is never a cut. ``max_turns`` counts all steps after the choice, each round anew.
23. Each round's deal names its dealer; ``deal_faults`` tells whether the dealers move on to the left as they should.
24. A pack by ``reduce_deck`` for two players is the one for three and four. ``copies`` and ``num_wilds`` each replace
    only their own part of it.
25. Reward "score" only counts rounds that are over, cut ones too. "win" and "rank" look at the sums.
26. Once the match is over, ``seat`` and ``direction`` have no meaning; hands and table stay as they were.
"""

from typing import Any

CARDS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "W"]
"""All card texts, in the order in which lists of cards are sorted."""


def sorted_cards(cards: list[str]) -> list[str]:
    """Sort cards from 1 to 12, then W."""
    return sorted(cards, key=CARDS.index)


def pack(num_players: int, rules: dict[str, Any]) -> dict[str, int]:
    """Return how many of each card a game is played with."""
    copies, wilds = 6, 8
    if rules["reduce_deck"] and num_players <= 4:
        copies, wilds = 4, 6
    if rules["reduce_deck"] and num_players == 5:
        copies, wilds = 5, 7
    if rules["copies"] is not None:
        copies = rules["copies"]
    if rules["num_wilds"] is not None:
        wilds = rules["num_wilds"]
    counts = dict.fromkeys(CARDS, 0)
    for number in rules["ranks"]:
        counts[str(number)] = copies
    counts["W"] = wilds
    return counts


def dealt_open(rules: dict[str, Any], round_number: int) -> bool:
    """Tell whether the face-up cards of a round (0 is the first) are dealt at random, not chosen."""
    face_up = rules["face_up"]
    if face_up == "random":
        return True
    if face_up == "greased":
        return round_number == 0
    if face_up == "choose":
        return False
    raise ValueError(f"unknown face_up {face_up!r}")


def deal_faults(num_players: int, rules: dict[str, Any], deals: list[dict[str, Any]]) -> list[str]:
    """Return what is wrong with the deals of a match that chance is said to have dealt; nothing if all is well."""
    faults: list[str] = []
    for round_number, deal in enumerate(deals):
        where = f"round {round_number}: "
        # The dealer.
        if round_number > 0:
            due = (deals[round_number - 1]["dealer"] + 1) % num_players
            if deal["dealer"] != due:
                faults.append(where + f"dealer {deal['dealer']}, not {due}")
        elif rules["first_dealer"] == "random":
            if deal["dealer"] not in range(num_players):
                faults.append(where + f"dealer {deal['dealer']}")
        elif deal["dealer"] != rules["first_dealer"]:
            faults.append(where + f"dealer {deal['dealer']}, not {rules['first_dealer']}")
        # How many cards lie where.
        sizes = {"face_down": rules["table_cards"], "hands": rules["hand_size"]}
        if dealt_open(rules, round_number):
            sizes["face_up"] = rules["table_cards"]
        else:
            sizes["hands"] += rules["table_cards"]
            if deal.get("face_up") is not None:
                faults.append(where + "face_up is dealt, though it is chosen")
        cards: list[str] = list(deal["stock"])
        for zone, size in sizes.items():
            if [len(part) for part in deal[zone]] != [size] * num_players:
                faults.append(where + f"{zone} are not {size} cards for each seat")
            for part in deal[zone]:
                cards += part
        # Which cards there are.
        for card, count in pack(num_players, rules).items():
            if cards.count(card) != count:
                faults.append(where + f"{cards.count(card)} cards {card}, not {count}")
    return faults


class NaivePigPile:
    """One match of Pig Pile.

    Attributes:
        seat: Whose decision it is. Of no meaning once the match is over.
        phase: "show" while face-up cards are chosen, then "play".
        direction: +1 clockwise, -1 the other way.
        hands: Cards in hand, a list a seat.
        face_up: Face-up cards, a list a seat, in the order shown; a secret of the seat while ``phase`` is "show".
        face_down: Face-down cards, a list a seat, the next one flipped first.
        stock: Cards to draw, next card first.
        pile: Cards in the middle, bottom to top.
        washed: Cards set aside in this round.
        out: Seats without cards, in finishing order.
        round: The round that is played, 0 is the first.
        dealer: Who dealt this round.
        pigs: Pigs nobody has won yet.
        over: None while the match runs, then "terminated" or "truncated".
        turn: Steps made in this round after the choice of face-up cards.
        round_scores: Pigs of each finished round, a list a round.
        known: For each seat, cards everybody knows to be in its hand: they went there openly and were not played yet.
        proved: For each seat, what forced pick-ups told of other cards in its hand: pairs of a number of cards and the
            cards each of those may be.
    """

    def __init__(self, num_players: int, rules: dict[str, Any], deals: list[dict[str, Any]]) -> None:
        """Set up the table for the first round.

        Args:
            num_players: How many sit at the table.
            rules: Every rule option with its value.
            deals: One a round: "dealer", "face_down" (a list a seat, first = next one flipped), "face_up" (only where
                the rules deal it open), "hands" (as dealt, before any choice), "stock" (next card first).
        """
        self.num_players = num_players
        self.rules = dict(rules)
        self.deals = list(deals)
        self.pigs: int = rules["pig_supply"]
        self.round_scores: list[list[int]] = []
        self.over: str | None = None
        self.start_round(0)

    def start_round(self, number: int) -> None:
        """Deal a round.

        Raises:
            LookupError: There is no deal for it.
        """
        if number >= len(self.deals):
            raise LookupError(f"no deal was given for round {number}")
        deal = self.deals[number]
        n = self.num_players
        self.round: int = number
        self.dealer: int = deal["dealer"]
        self.seat: int = self.dealer
        self.direction: int = 1
        self.hands: list[list[str]] = [list(hand) for hand in deal["hands"]]
        self.face_down: list[list[str]] = [list(cards) for cards in deal["face_down"]]
        self.face_up: list[list[str]] = [[] for _ in range(n)]
        self.stock: list[str] = list(deal["stock"])
        self.pile: list[str] = []
        self.washed: list[str] = []
        self.out: list[int] = []
        self.turn: int = 0
        self.known: list[list[str]] = [[] for _ in range(n)]
        self.proved: list[list[tuple[int, list[str]]]] = [[] for _ in range(n)]
        self.phase: str = "show"
        if dealt_open(self.rules, number):
            self.face_up = [list(cards) for cards in deal["face_up"]]
            self.phase = "play"
        elif self.rules["table_cards"] == 0:
            self.phase = "play"

    # --- what may be done ---------------------------------------------------------------------------------------------

    def legal(self) -> list[str]:
        """Return the texts of all legal actions, sorted as text; none once the match is over."""
        if self.over is not None:
            return []
        if self.phase == "show":
            return sorted(self.shows())
        return sorted(self.plays() | self.pickups() | self.flips())

    def shows(self) -> set[str]:
        """Return the texts of all cards the seat may lay face up."""
        hand = self.hands[self.seat]
        chosen = self.face_up[self.seat]
        texts: set[str] = set()
        for card in hand:
            if self.rules["show_in_order"]:
                if len(chosen) > 0 and CARDS.index(card) < CARDS.index(chosen[-1]):
                    continue
                at_or_above = [other for other in hand if CARDS.index(other) >= CARDS.index(card)]
                if len(at_or_above) < self.rules["table_cards"] - len(chosen):
                    continue
            texts.add(f"show {card}")
        return texts

    def zone(self) -> str:
        """Return from where the seat plays: "hand", "face_up" or "face_down"."""
        if len(self.hands[self.seat]) > 0:
            return "hand"
        if len(self.face_up[self.seat]) > 0:
            return "face_up"
        return "face_down"

    def top(self) -> int:
        """Return the number to reach: 0 if the pile is empty or has a Hog Wild on top."""
        if len(self.pile) == 0 or self.pile[-1] == "W":
            return 0
        return int(self.pile[-1])

    def goes(self, card: str) -> bool:
        """Tell whether a card may be laid on the pile as it is."""
        if card == "W":
            return True
        if card == "8" and self.rules["eight_always"]:
            return True
        return int(card) >= self.top()

    def plays(self) -> set[str]:
        """Return the texts of all plays from the hand or the face-up cards."""
        hand = self.hands[self.seat]
        face_up = self.face_up[self.seat]
        texts: set[str] = set()
        if self.zone() == "hand":
            texts |= self.plays_from(hand)
        if self.zone() == "face_up":
            texts |= self.plays_from(face_up)
        if self.zone() == "hand" and self.rules["cross_zone"] and len(self.stock) == 0:
            for text in self.plays_from(hand + face_up):
                # Does the play use up the whole hand and more?
                rest = cards_of(text)
                all_there = True
                for card in hand:
                    if card in rest:
                        rest.remove(card)
                    else:
                        all_there = False
                if all_there and len(rest) > 0:
                    texts.add(text)
        return texts

    def plays_from(self, cards: list[str]) -> set[str]:
        """Return the texts of all plays that can be made of some cards lying together."""
        texts: set[str] = set()
        wilds = cards.count("W")
        for wild_count in range(1, wilds + 1):
            texts.add(f"Wx{wild_count}")
        for card in cards:
            if card == "W" or not self.goes(card):
                continue
            for count in range(1, cards.count(card) + 1):
                texts.add(f"{card}x{count}")
                if self.rules["wild_in_play"]:
                    for wild_count in range(1, wilds + 1):
                        texts.add(f"{card}x{count}+Wx{wild_count}")
        return texts

    def pickups(self) -> set[str]:
        """Return the texts of all ways to take the pile."""
        if len(self.pile) == 0 or self.zone() == "face_down":
            return set()
        if len(self.plays()) > 0 and not self.rules["voluntary_pickup"]:
            return set()
        if self.zone() == "face_up" and self.rules["face_up_penalty"]:
            return {f"pickup+{card}" for card in self.face_up[self.seat]}
        return {"pickup"}

    def flips(self) -> set[str]:
        """Return the text for turning a face-down card, if it is time for that."""
        if self.zone() == "face_down":
            return {"flip"}
        return set()

    # --- what happens -------------------------------------------------------------------------------------------------

    def step(self, action: str) -> None:
        """Let the seat to decide do one action.

        Args:
            action: A text such as "show 7", "5x2", "Wx1", "5x2+Wx1", "pickup", "pickup+7" or "flip".

        Raises:
            ValueError: The action is not legal now.
        """
        if action not in self.legal():
            raise ValueError(f"action {action!r} is not legal for seat {self.seat}; legal: {self.legal()}")
        if action.startswith("show "):
            self.show(action.removeprefix("show "))
            return
        self.turn += 1
        if action == "flip":
            self.flip()
        elif action.startswith("pickup"):
            self.pick_up(action)
        else:
            self.play(cards_of(action))

        # Find out whether the round or the match is over.
        enough_out = 1 if self.num_players == 2 else 2
        if len(self.out) == enough_out:
            self.finish_round(self.round_pigs())
            if self.pigs == 0 or len(self.round_scores) == self.last_round():
                self.over = "terminated"
            else:
                self.start_round(self.round + 1)
        elif self.turn >= self.rules["max_turns"]:
            self.finish_round(self.cut_round_pigs())
            self.over = "truncated"

    def show(self, card: str) -> None:
        """Let the seat choose one of its face-up cards."""
        self.hands[self.seat].remove(card)
        self.face_up[self.seat].append(card)
        if len(self.face_up[self.seat]) < self.rules["table_cards"]:
            return
        self.seat = (self.seat + 1) % self.num_players
        if self.seat == self.dealer:
            self.phase = "play"

    def pick_up(self, action: str) -> None:
        """Let the seat take the pile, and the face-up card named if one is."""
        mover = self.seat
        if not self.rules["voluntary_pickup"]:
            # Nobody does this but by force: no card in this hand can be played.
            self.prove(mover)
        if "+" in action:
            card = action.split("+")[1]
            self.face_up[mover].remove(card)
            self.take_openly(mover, [card])
        self.take_openly(mover, self.pile)
        self.pile = []
        self.pass_turn(0)

    def flip(self) -> None:
        """Let the seat turn its next face-down card."""
        mover = self.seat
        card = self.face_down[mover].pop(0)
        if self.goes(card):
            self.lay([card])
            return
        self.take_openly(mover, [*self.pile, card])
        self.pile = []
        self.pass_turn(0)

    def play(self, cards: list[str]) -> None:
        """Let the seat play cards from its hand and, where they are not in hand, from its face-up cards."""
        mover = self.seat
        for card in cards:
            if card in self.hands[mover]:
                self.forget(mover, card)
                self.hands[mover].remove(card)
            else:
                self.face_up[mover].remove(card)
        self.lay(cards)

    def lay(self, cards: list[str]) -> None:
        """Put cards on the pile which left the mover's hand or table, and do all that follows from it."""
        mover = self.seat
        self.pile += cards

        # Wash the pile.
        wash = "8" in cards or self.run() >= 3
        if wash:
            self.washed += self.pile
            self.pile = []

        # Refill the hand.
        if not wash or self.rules["refill_after_wash"]:
            self.refill(mover)

        # Go out.
        if self.cards_left(mover) == 0:
            self.out.append(mover)

        # Find out who is next.
        if wash:
            if mover in self.out:
                self.pass_turn(0)
            return
        fours = cards.count("4")
        elevens = cards.count("11")
        if self.rules["skip_stacking"] == "one":
            fours = min(fours, 1)
        if self.rules["reverse_stacking"] == "once":
            elevens = min(elevens, 1)
        for _ in range(elevens):
            self.direction = -self.direction
        self.pass_turn(fours)

    def run(self) -> int:
        """Return how many cards on top of the pile are in a row of the same number."""
        length = 0
        number: str | None = None
        for card in reversed(self.pile):
            if self.rules["wild_in_run"] and card == "W":
                length += 1
            elif number is None or card == number:
                number = card
                length += 1
            else:
                break
        return length

    def refill(self, seat: int) -> None:
        """Let a seat draw what it has to draw after a play, as far as there are cards."""
        if self.rules["refill"] == "one":
            if len(self.stock) > 0:
                self.hands[seat].append(self.stock.pop(0))
        elif self.rules["refill"] == "to_hand_size":
            while len(self.stock) > 0 and len(self.hands[seat]) < self.rules["hand_size"]:
                self.hands[seat].append(self.stock.pop(0))
        else:
            raise ValueError(f"unknown refill {self.rules['refill']!r}")

    def pass_turn(self, skips: int) -> None:
        """Move the turn on to the next active seat, past so many others."""
        if len(self.out) == self.num_players:
            return
        for _ in range(1 + skips):
            self.seat = (self.seat + self.direction) % self.num_players
            while self.seat in self.out:
                self.seat = (self.seat + self.direction) % self.num_players

    def cards_left(self, seat: int) -> int:
        """Return how many cards a seat still has, in hand and on the table."""
        return len(self.hands[seat]) + len(self.face_up[seat]) + len(self.face_down[seat])

    # --- pigs ---------------------------------------------------------------------------------------------------------

    def last_round(self) -> int | None:
        """Return after how many rounds the match ends; None if only the pigs limit it."""
        rounds = self.rules["rounds"]
        if rounds == "until_empty":
            return None
        if rounds == "per_player":
            return self.num_players
        return int(rounds)

    def most_cards(self) -> int:
        """Return how many cards the seat with the most cards has."""
        return max(self.cards_left(seat) for seat in range(self.num_players))

    def round_pigs(self) -> list[int]:
        """Return the pigs due to each seat after a round that ended by the rules."""
        n = self.num_players
        due: list[int] = []
        for seat in range(n):
            if seat == self.out[0]:
                due.append(3)
            elif seat in self.out:
                due.append(2)
            elif n == 3 and self.rules["three_player_third_scores"]:
                due.append(1)
            elif self.cards_left(seat) == self.most_cards():
                due.append(0)
            else:
                due.append(1)
        return due

    def cut_round_pigs(self) -> list[int]:
        """Return the pigs due to each seat after a round that was cut short."""
        due: list[int] = []
        for seat in range(self.num_players):
            if seat in self.out:
                due.append(3)
            elif self.cards_left(seat) == self.most_cards():
                due.append(0)
            else:
                due.append(1)
        return due

    def finish_round(self, due: list[int]) -> None:
        """Pay the pigs due, as far as there are pigs."""
        others = [seat for seat in range(self.num_players) if seat not in self.out]
        others.sort(key=lambda seat: (self.cards_left(seat), seat))
        paid = [0 for _ in range(self.num_players)]
        for seat in self.out + others:
            paid[seat] = min(due[seat], self.pigs)
            self.pigs -= paid[seat]
        self.round_scores.append(paid)

    def scores(self) -> list[int]:
        """Return the pigs won by each seat in all rounds that are over."""
        return [sum(scores[seat] for scores in self.round_scores) for seat in range(self.num_players)]

    def returns(self, reward: str, score_scale: float = 1.0) -> list[float]:
        """Return what the match as it stands pays each seat.

        Args:
            reward: "win", "rank" or "score".
            score_scale: What one unit of "score" is divided by.

        Raises:
            ValueError: No such reward.
        """
        n = self.num_players
        scores = self.scores()
        result: list[float] = []
        for seat, score in enumerate(scores):
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
                paid = 0.0
                for round_scores in self.round_scores:
                    mean = sum(round_scores) / n
                    paid += (round_scores[seat] - mean) / score_scale
                result.append(paid)
            else:
                raise ValueError(f"unknown reward {reward!r}; there are 'win', 'rank' and 'score'")
        return result

    # --- what is known ------------------------------------------------------------------------------------------------

    def take_openly(self, seat: int, cards: list[str]) -> None:
        """Put cards everybody has seen into a hand."""
        self.hands[seat] += cards
        self.known[seat] += cards

    def forget(self, seat: int, card: str) -> None:
        """Note that a seat played a card from its hand.

        Equal cards cannot be told apart, so a hand is the known cards and some others; which of two 5s was played makes
        no difference to what is left. So a played card is a known one if there is one: the others stay what they were.

        If there is none it was one of the others. Where pick-ups proved something of several of these, it may have been
        any of those that could be this card. All those proofs are "below some number", so each list of cards is part of
        every longer one. Taking the card from the shortest list that has it leaves all the hands possible that any
        other choice leaves, and no more: a card of the short list also fits where a longer one is asked for.
        """
        if card in self.known[seat]:
            self.known[seat].remove(card)
            return
        for place, (count, cards) in enumerate(self.proved[seat]):
            if card in cards:
                self.proved[seat][place] = (count - 1, cards)
                break
        self.proved[seat] = [(count, cards) for count, cards in self.proved[seat] if count > 0]

    def prove(self, seat: int) -> None:
        """Note that no card now in a hand can be played."""
        unplayable = [str(number) for number in self.rules["ranks"] if not self.goes(str(number))]
        unplayable = sorted_cards(unplayable)
        groups = [*self.proved[seat], (self.unknown(seat), unplayable)]
        # Each card is now among the old list and among the new one.
        sizes: dict[tuple[str, ...], int] = {}
        for count, cards in groups:
            both = tuple(card for card in cards if card in unplayable)
            sizes[both] = sizes.get(both, 0) + count
        self.proved[seat] = [(sizes[both], list(both)) for both in sorted(sizes, key=len) if sizes[both] > 0]

    def unknown(self, seat: int) -> int:
        """Return of how many cards in a hand nothing is known at all."""
        return len(self.hands[seat]) - len(self.known[seat]) - sum(count for count, _ in self.proved[seat])

    def known_to(self, seat: int) -> dict[str, Any]:
        """Return all that a seat with a perfect memory knows of this round.

        Args:
            seat: Who looks.

        Returns:
            A dict with the following keys. "A list a seat" starts with seat 0; cards are sorted from 1 to 12, then W.

            - "round", "dealer", "phase", "seat" (whose decision it is), "direction", "turn", "pigs", "scores", "out";
            - "hand": the own hand;
            - "hand_sizes", "face_up_sizes", "face_down_sizes": a number a seat;
            - "known": a list of cards a seat, surely in its hand; the whole hand for the own seat;
            - "unknown": a number a seat, of the other cards in its hand, so that known and unknown make up its hand;
            - "proved": a list a seat of pairs (count, cards): so many of its unknown cards are each one of these cards,
              shortest list of cards first; the pairs are about different cards;
            - "face_up": a list of cards a seat; empty for other seats as long as anybody still chooses;
            - "pile": bottom to top;
            - "washed": the cards set aside;
            - "stock_size";
            - "pack", "removed": for each card how many the pack has and how many of the full 80 were left out;
            - "unseen": for each card how many are in places unknown: other hands, face-down cards, stock and, as long
              as anybody still chooses, the other seats' chosen cards.
        """
        seats = range(self.num_players)
        known: list[list[str]] = []
        unknown: list[int] = []
        proved: list[list[tuple[int, list[str]]]] = []
        face_up: list[list[str]] = []
        for other in seats:
            if other == seat:
                known.append(sorted_cards(self.hands[other]))
                proved.append([])
            else:
                known.append(sorted_cards(self.known[other]))
                proved.append([(count, list(cards)) for count, cards in self.proved[other]])
            unknown.append(len(self.hands[other]) - len(known[other]))
            if other == seat or self.phase == "play":
                face_up.append(sorted_cards(self.face_up[other]))
            else:
                face_up.append([])

        seen: list[str] = self.pile + self.washed
        for other in seats:
            seen += known[other] + face_up[other]
        counts = pack(self.num_players, self.rules)
        full = {card: 8 if card == "W" else 6 for card in CARDS}
        return {
            "round": self.round,
            "dealer": self.dealer,
            "phase": self.phase,
            "seat": self.seat,
            "direction": self.direction,
            "turn": self.turn,
            "pigs": self.pigs,
            "scores": self.scores(),
            "out": list(self.out),
            "hand": sorted_cards(self.hands[seat]),
            "hand_sizes": [len(self.hands[other]) for other in seats],
            "face_up_sizes": [len(self.face_up[other]) for other in seats],
            "face_down_sizes": [len(self.face_down[other]) for other in seats],
            "known": known,
            "unknown": unknown,
            "proved": proved,
            "face_up": face_up,
            "pile": list(self.pile),
            "washed": sorted_cards(self.washed),
            "stock_size": len(self.stock),
            "pack": counts,
            "removed": {card: max(0, full[card] - counts[card]) for card in CARDS},
            "unseen": {card: counts[card] - seen.count(card) for card in CARDS},
        }


def cards_of(text: str) -> list[str]:
    """Return the cards of a play such as "5x2+Wx1", in the order in which they go to the pile: W, 5, 5."""
    cards: list[str] = []
    for part in reversed(text.split("+")):
        card, count = part.split("x")
        cards += [card] * int(count)
    return cards

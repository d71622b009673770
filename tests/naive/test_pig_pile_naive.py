"""The naive Pig Pile against the rulebook's cases and against situations worked out by hand."""

import itertools
import random
from collections import Counter
from typing import Any

import pytest

from tests.naive.pig_pile import CARDS, NaivePigPile, cards_of, deal_faults, pack, sorted_cards
from tests.naive.pig_pile_cases import CASES, DECKS, JP, PRESETS, Case, Deck, pack_of


def table(
    hands: list[str],
    *,
    pile: str = "",
    stock: str = "",
    up: list[str] | None = None,
    down: list[str] | None = None,
    seat: int = 0,
    out: list[int] | None = None,
    **options: Any,
) -> NaivePigPile:
    """Set up a position from texts, clockwise, after the choice of face-up cards, in a match of one round."""
    nothing = ["" for _ in hands]
    deal = {
        "dealer": seat,
        "hands": [hand.split() for hand in hands],
        "face_up": [cards.split() for cards in up or nothing],
        "face_down": [cards.split() for cards in down or nothing],
        "stock": stock.split(),
    }
    game = NaivePigPile(len(hands), {**JP, "face_up": "random", "rounds": 1, **options}, [deal])
    game.pile = pile.split()
    game.out = list(out or [])
    return game


def play(game: NaivePigPile, *actions: str) -> NaivePigPile:
    """Play some actions one after another."""
    for action in actions:
        game.step(action)
    return game


def legal(pile: str, hand: str, **options: Any) -> list[str]:
    """Return what seat 0 of three may do with this hand on this pile."""
    return table([hand, "1 2 3", "1 2 3"], pile=pile, **options).legal()


def text(cards: list[str]) -> str:
    """Write cards, sorted, with spaces between them."""
    return " ".join(sorted_cards(cards))


def quick_deal(hands: list[str], dealer: int) -> dict[str, Any]:
    """A round without table cards and stock."""
    return {"dealer": dealer, "hands": [hand.split() for hand in hands], "face_down": [[] for _ in hands], "stock": []}


def quick_match(deals: list[dict[str, Any]], **options: Any) -> NaivePigPile:
    """A match of rounds without table cards."""
    return NaivePigPile(len(deals[0]["hands"]), {**JP, "table_cards": 0, **options}, deals)


def random_deals(
    generator: random.Random, num_players: int, rules: dict[str, Any], rounds: int
) -> list[dict[str, Any]]:
    """Shuffle and deal so many rounds."""
    first = rules["first_dealer"]
    dealer = generator.randrange(num_players) if first == "random" else first
    deals: list[dict[str, Any]] = []
    for number in range(rounds):
        deck = pack_of(num_players, rules)
        generator.shuffle(deck)
        seats = range(num_players)
        shown = rules["table_cards"]
        deal: dict[str, Any] = {"dealer": (dealer + number) % num_players}
        deal["face_down"] = [[deck.pop() for _ in range(shown)] for _ in seats]
        in_hand = rules["hand_size"] + shown
        if rules["face_up"] == "random" or (rules["face_up"] == "greased" and number == 0):
            deal["face_up"] = [[deck.pop() for _ in range(shown)] for _ in seats]
            in_hand -= shown
        deal["hands"] = [[deck.pop() for _ in range(in_hand)] for _ in seats]
        deal["stock"] = deck
        deals.append(deal)
    return deals


def random_rules(generator: random.Random) -> dict[str, Any]:
    """Draw a value for nearly every option."""
    preset = generator.choice(list(PRESETS))
    return {
        **PRESETS[preset],
        "refill_after_wash": generator.choice([True, False]),
        "wild_in_play": generator.choice([True, False]),
        "wild_in_run": generator.choice([True, False]),
        "skip_stacking": generator.choice(["one", "per_card"]),
        "reverse_stacking": generator.choice(["once", "per_card"]),
        "eight_always": generator.choice([True, False]),
        "voluntary_pickup": generator.choice([True, False, False]),
        "face_up_penalty": generator.choice([True, False]),
        "cross_zone": generator.choice([True, False]),
        "three_player_third_scores": generator.choice([True, False]),
        "rounds": generator.choice([1, 2, "per_player", "until_empty"]),
        "pig_supply": generator.choice([40, 7, 1]),
        "show_in_order": generator.choice([True, False]),
        "max_turns": generator.choice([2000, 2000, 50]),
    }


# --- the rulebook's cases ---------------------------------------------------------------------------------------------


def set_up(case: Case) -> NaivePigPile:
    """Set up the position of a case in a match of one round."""
    deal = {
        "dealer": case.dealer,
        "hands": case.hands,
        "face_up": case.face_up,
        "face_down": case.face_down,
        "stock": case.stock,
    }
    game = NaivePigPile(case.num_players, {**case.all_rules(), "face_up": "random", "rounds": 1}, [deal])
    game.seat = case.mover
    game.direction = case.direction
    game.pile = list(case.pile)
    game.washed = list(case.washed)
    game.out = list(case.out)
    return game


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rulebook_case(case: Case) -> None:
    """Every case of the rulebook ends as the rulebook says."""
    game = set_up(case)
    expected = dict(case.expected)
    if "legal" in expected:
        assert game.legal() == expected.pop("legal")
    assert set(expected.pop("legal has", [])) <= set(game.legal())
    assert not set(expected.pop("legal lacks", [])) & set(game.legal())
    play(game, *case.steps)
    if "scores" in expected:
        assert game.round_scores == [expected.pop("scores")]
    assert set(expected.pop("next legal has", [])) <= set(game.legal())
    assert not set(expected.pop("next legal lacks", [])) & set(game.legal())
    found = {
        "pile": game.pile,
        "set aside": sorted_cards(game.washed[len(case.washed) :]),
        "hand": sorted_cards(game.hands[case.mover]),
        "face_up": sorted_cards(game.face_up[case.mover]),
        "face_down": game.face_down[case.mover],
        "hand size": len(game.hands[case.mover]),
        "stock size": len(game.stock),
        "next seat": game.seat,
        "direction": game.direction,
        "out": game.out,
    }
    assert {key: found[key] for key in expected} == expected


@pytest.mark.parametrize("deck", DECKS, ids=[deck.id for deck in DECKS])
def test_deck(deck: Deck) -> None:
    """PP-27: each pack has the size and the cards the rulebook says, and so many are left after the deal."""
    rules = PRESETS[deck.preset]
    counts = pack(deck.num_players, rules)
    assert sum(counts.values()) == deck.size
    assert counts == {card: deck.wilds if card == "W" else deck.copies for card in CARDS}
    deal = random_deals(random.Random(0), deck.num_players, rules, 1)[0]
    assert len(deal["stock"]) == deck.stock


def test_case_table() -> None:
    """All rows have a case, no two share an id, and every position holds just its pack."""
    ids = [case.id for case in CASES] + [deck.id for deck in DECKS]
    assert len(ids) == len(set(ids))
    assert {case_id.split()[0] for case_id in ids} == {f"PP-{row}" for row in range(1, 28)}
    for case in CASES:
        cards = case.stock + case.pile + case.washed
        for part in case.hands + case.face_up + case.face_down:
            cards = cards + part
        assert Counter(cards) == Counter(pack_of(case.num_players, case.all_rules())), case.id


def test_packs_of_other_sizes() -> None:
    """Two players have the pack of three; copies, num_wilds and ranks each replace their own part."""
    assert sum(pack(2, JP).values()) == 54
    counts = pack(3, {**JP, "copies": 2, "ranks": [1, 8]})
    assert {card: count for card, count in counts.items() if count > 0} == {"1": 2, "8": 2, "W": 6}
    counts = pack(5, {**JP, "num_wilds": 0})
    assert (counts["W"], counts["1"], sum(counts.values())) == (0, 5, 60)


# --- the choice of face-up cards --------------------------------------------------------------------------------------


def show_deal() -> dict[str, Any]:
    """Three seats with four cards each, two of which are to be shown; seat 1 deals."""
    return {
        "dealer": 1,
        "hands": [["1", "2", "3", "W"], ["5", "5", "7", "W"], ["9", "10", "12", "9"]],
        "face_down": [["6", "6"], ["6", "7"], ["10", "10"]],
        "stock": ["1", "2"],
    }


def test_show() -> None:
    """All cards of one seat are chosen in any order, then those of its left neighbour; equal cards are one action."""
    game = NaivePigPile(3, {**JP, "table_cards": 2, "hand_size": 2}, [show_deal()])
    seats: list[int] = []
    for action in ("show W", "show 5", "show 9", "show 9", "show 3", "show 1"):
        assert game.phase == "show"
        assert game.turn == 0
        seats.append(game.seat)
        game.step(action)
    assert seats == [1, 1, 2, 2, 0, 0]
    assert (game.phase, game.seat, game.turn, game.direction) == ("play", 1, 0, 1)
    assert game.face_up == [["3", "1"], ["W", "5"], ["9", "9"]]
    assert game.hands == [["2", "W"], ["5", "7"], ["10", "12"]]
    assert game.stock == ["1", "2"]
    assert game.legal() == ["5x1", "7x1"]


def test_show_legal() -> None:
    """What may be shown are the cards still in hand."""
    game = NaivePigPile(3, {**JP, "table_cards": 2, "hand_size": 2}, [show_deal()])
    assert game.legal() == ["show 5", "show 7", "show W"]
    game.step("show 7")
    assert game.legal() == ["show 5", "show W"]
    with pytest.raises(ValueError, match="not legal"):
        game.step("show 7")
    with pytest.raises(ValueError, match="not legal"):
        game.step("5x1")


def test_show_is_secret() -> None:
    """As long as anybody chooses, a seat knows its own choice and how many cards others have chosen."""
    rules = {
        **JP,
        "table_cards": 2,
        "hand_size": 2,
        "copies": 3,
        "num_wilds": 2,
        "ranks": [1, 2, 3, 5, 6, 7, 9, 10, 12],
    }
    game = NaivePigPile(3, rules, [show_deal()])
    play(game, "show W", "show 5", "show 9")
    view = game.known_to(1)
    assert view["phase"] == "show"
    assert view["hand"] == ["5", "7"]
    assert view["face_up"] == [[], ["5", "W"], []]
    assert view["face_up_sizes"] == [0, 2, 1]
    assert view["hand_sizes"] == [4, 2, 3]
    assert (view["known"], view["unknown"]) == ([[], ["5", "7"], []], [4, 0, 3])
    # Three 9s, one of them shown in secret.
    assert (view["unseen"]["9"], view["unseen"]["5"], view["unseen"]["W"]) == (3, 1, 1)
    assert game.known_to(2)["unseen"]["9"] == 1
    assert game.known_to(2)["unseen"]["W"] == 2
    play(game, "show 9", "show 3", "show 1")
    view = game.known_to(1)
    assert view["face_up"] == [["1", "3"], ["5", "W"], ["9", "9"]]
    assert view["unseen"]["9"] == 1


@pytest.mark.parametrize(
    ("hand", "shown", "expected"),
    [
        # Two of four cards: after the highest no second card could follow.
        ("1 5 7 9", "", ["show 1", "show 5", "show 7"]),
        ("1 5 7 9", "5", ["show 7", "show 9"]),
        ("5 5 7", "", ["show 5"]),
        ("5 5 7", "5", ["show 5", "show 7"]),
        # A Hog Wild is the highest, and 10 is above 9.
        ("W 1 W", "", ["show 1", "show W"]),
        ("W 1 W", "W", ["show W"]),
        ("9 10 1", "", ["show 1", "show 9"]),
    ],
)
def test_show_in_order(hand: str, shown: str, expected: list[str]) -> None:
    """With show_in_order cards are shown in rising order, and never so that the choice cannot be finished."""
    rules = {**JP, "table_cards": 2, "show_in_order": True}
    game = NaivePigPile(2, rules, [quick_deal([hand, "1 2 3"], 0)])
    for card in shown.split():
        game.step(f"show {card}")
    assert game.legal() == expected


@pytest.mark.parametrize("hand", ["1 2 3 4 5 6", "1 1 1 1 2 2", "9 10 W W 10 4"])
def test_show_in_order_has_each_choice_once(hand: str) -> None:
    """With show_in_order each choice of three cards out of six is just one history; without, each of its orders is."""
    choices = {tuple(sorted_cards(list(choice))) for choice in itertools.combinations(hand.split(), 3)}
    for in_order in (True, False):
        histories: list[list[str]] = [[]]
        for _ in range(3):
            longer: list[list[str]] = []
            for history in histories:
                game = NaivePigPile(2, {**JP, "show_in_order": in_order}, [quick_deal([hand, "1 2 3 4 5 6"], 0)])
                longer += [[*history, action] for action in play(game, *history).legal()]
            histories = longer
        found = [tuple(sorted_cards([action.removeprefix("show ") for action in history])) for history in histories]
        assert set(found) == choices
        assert (len(found) == len(choices)) == in_order


def test_face_up_random_and_greased() -> None:
    """Cards dealt open need no choice: in every round with "random", in the first one with "greased"."""
    open_deal = {**quick_deal(["9", "10", "1"], 0), "face_up": [["1"], ["2"], ["3"]]}
    chosen_deal = quick_deal(["9 1", "10 1", "1 1"], 1)
    for face_up, phases in (("random", ["play", "play"]), ("greased", ["play", "show"])):
        second = {**open_deal, "dealer": 1} if face_up == "random" else chosen_deal
        game = NaivePigPile(3, {**JP, "face_up": face_up, "table_cards": 1}, [open_deal, second])
        assert game.phase == phases[0]
        assert game.face_up == [["1"], ["2"], ["3"]]
        # Seat 0: 9, seat 1: 10, seat 2 picks up, then seat 0 and seat 1 go out with a 1 and a 2.
        play(game, "9x1", "10x1", "pickup", "1x1", "2x1")
        assert game.round == 1
        assert game.phase == phases[1]
        assert game.seat == 1
    with pytest.raises(ValueError, match="unknown face_up"):
        NaivePigPile(3, {**JP, "face_up": "never"}, [open_deal])


def test_dealt_face_up_is_not_read_where_it_is_chosen() -> None:
    """Without table cards there is nothing to choose, and the dealer plays at once."""
    game = quick_match([quick_deal(["9", "10", "1"], 2)])
    assert (game.phase, game.seat, game.legal()) == ("play", 2, ["1x1"])


# --- what may be played -----------------------------------------------------------------------------------------------


def test_legal_counts_and_order() -> None:
    """Any number of equal cards may be played, at or above the top; texts are sorted as text."""
    assert legal("", "5 5 12 W W") == ["12x1", "5x1", "5x2", "Wx1", "Wx2"]
    assert legal("6", "5 5 6 12 W W") == ["12x1", "6x1", "Wx1", "Wx2"]
    assert legal("6 W", "1 1 6") == ["1x1", "1x2", "6x1"]
    assert legal("12", "1 6 W") == ["Wx1"]
    assert legal("12", "1 6 11") == ["pickup"]


def test_zones() -> None:
    """Cards are played from the hand, then the face-up cards, then face-down ones."""
    game = table(["5", "9", "9"], up=["5 6", "", ""], down=["7", "", ""])
    assert game.legal() == ["5x1"]
    game.hands[0] = []
    assert game.legal() == ["5x1", "6x1"]
    game.face_up[0] = []
    assert game.legal() == ["flip"]


def test_illegal_actions() -> None:
    """What is not offered is refused and changes nothing, and so is any step after the end."""
    game = table(["5 5", "9", "9"], up=["7", "", ""], pile="3")
    for action in ("5x3", "7x1", "pickup", "pickup+7", "flip", "show 5", "5", "5x1+Wx1", "", "x"):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)
    assert (game.turn, game.pile, game.hands[0]) == (0, ["3"], ["5", "5"])
    game = play(table(["5", "9", "9"]), "5x1", "9x1")
    assert (game.over, game.legal()) == ("terminated", [])
    with pytest.raises(ValueError, match="not legal"):
        game.step("9x1")


def test_eight_always() -> None:
    """With eight_always an 8 goes on anything, by itself, on a Hog Wild it comes with, and as a flip."""
    assert legal("9", "8 8 1") == ["pickup"]
    assert legal("9", "8 8 1", eight_always=True) == ["8x1", "8x2"]
    assert legal("9", "8 W", eight_always=True, wild_in_play=True) == ["8x1", "8x1+Wx1", "Wx1"]
    assert legal("9", "8 W", wild_in_play=True) == ["Wx1"]
    game = play(table(["8 1", "9", "9"], pile="3 12", eight_always=True), "8x1")
    assert (game.pile, text(game.washed), game.seat) == ([], "3 8 12", 0)
    game = play(table(["", "9", "9"], down=["8 1", "", ""], pile="12", eight_always=True), "flip")
    assert (game.pile, text(game.washed), game.seat) == ([], "8 12", 0)
    game = play(table(["", "9", "9"], down=["8 1", "", ""], pile="12"), "flip")
    assert (game.pile, text(game.hands[0]), game.washed, game.seat) == ([], "8 12", [], 1)


def test_wild_in_play() -> None:
    """A mixed play has its Hog Wilds underneath, and its number must reach the old top."""
    assert legal("6", "5 6 6 W", wild_in_play=True) == ["6x1", "6x1+Wx1", "6x2", "6x2+Wx1", "Wx1"]
    assert legal("", "5 W W", wild_in_play=True) == ["5x1", "5x1+Wx1", "5x1+Wx2", "Wx1", "Wx2"]
    assert cards_of("5x2+Wx1") == ["W", "5", "5"]
    game = play(table(["6 6 W 1", "9", "9"], pile="6", wild_in_play=True), "6x2+Wx1")
    assert (game.pile, game.hands[0], game.seat) == (["6", "W", "6", "6"], ["1"], 1)
    # From the face-up cards just as well.
    game = table(["", "9", "9"], up=["6 W", "", ""], pile="6", wild_in_play=True)
    assert game.legal() == ["6x1", "6x1+Wx1", "Wx1"]


@pytest.mark.parametrize(
    ("pile", "action", "plain_washes", "wild_washes"),
    [
        # Equal numbers in a row wash either way, whoever laid them; below the top three nothing counts.
        ("6 6", "6x1", True, True),
        ("6 5", "6x2", False, False),
        ("6 6 5", "6x1", False, False),
        ("W W", "Wx1", True, True),
        ("", "Wx3", True, True),
        ("", "6x3", True, True),
        # A Hog Wild between, below or above numbers.
        ("6 W", "6x1", False, True),
        ("W W", "6x1", False, True),
        ("W", "6x2", False, True),
        ("6", "Wx2", False, True),
        ("6 6", "Wx1", False, True),
        ("9 6", "Wx1", False, False),
        ("5 W", "6x1", False, False),
        ("5 6 W", "6x1", False, True),
        # A mixed play.
        ("6", "6x1+Wx1", False, True),
        ("5", "6x1+Wx1", False, False),
        ("5", "6x2+Wx1", False, True),
        ("W", "6x1+Wx1", False, True),
        ("6 6", "6x1+Wx1", False, True),
        # Three Hog Wilds in a row, yet not on top.
        ("6", "6x1+Wx3", False, True),
        ("W W", "6x1+Wx1", False, True),
        # An eight among the cards.
        ("5", "8x1+Wx1", True, True),
    ],
)
def test_washes(pile: str, action: str, plain_washes: bool, wild_washes: bool) -> None:
    """A play washes by an 8 or by three cards in a row on top, where a Hog Wild may or may not fit any row."""
    for wild_in_run, washes in ((False, plain_washes), (True, wild_washes)):
        hand = "6 6 6 8 W W W 1"
        game = table([hand, "9 9", "9 9"], pile=pile, wild_in_play=True, wild_in_run=wild_in_run)
        everything = pile.split() + cards_of(action)
        game.step(action)
        if washes:
            assert (game.pile, game.washed, game.seat) == ([], everything, 0)
        else:
            assert (game.pile, game.washed, game.seat) == (everything, [], 1)


def test_wash_across_seats_and_after_a_pick_up() -> None:
    """Cards of several seats make a row; a pick-up starts anew."""
    game = play(table(["5 1 1", "5 1 1", "5 5 1"]), "5x1", "5x1")
    play(game, "5x1")
    assert (game.pile, game.washed, game.seat) == ([], ["5", "5", "5"], 2)
    game = play(table(["5 1 1", "5 1 1", "1 1"]), "5x1", "5x1", "pickup")
    assert (game.pile, text(game.hands[2]), game.seat) == ([], "1 1 5 5", 0)


def test_cross_zone() -> None:
    """With cross_zone the last hand cards may take equal face-up cards along, once the stock is gone."""
    hands = ["5 5", "9 9", "9 9"]
    up = ["5 7 W", "", ""]
    assert table(hands, up=up).legal() == ["5x1", "5x2"]
    assert table(hands, up=up, cross_zone=True, stock="1").legal() == ["5x1", "5x2"]
    game = table(hands, up=up, cross_zone=True)
    assert game.legal() == ["5x1", "5x2", "5x3"]
    game.step("5x3")
    assert (game.hands[0], game.face_up[0], game.washed, game.seat) == ([], ["7", "W"], ["5", "5", "5"], 0)
    # Not the whole hand, or too low.
    assert table(["5 6", "9", "9"], up=["5 7 W", "", ""], cross_zone=True).legal() == ["5x1", "6x1"]
    assert table(hands, up=up, pile="6", cross_zone=True).legal() == ["pickup"]
    # Hog Wilds are equal cards too.
    game = table(["W", "9", "9"], up=["5 W W", "", ""], pile="6", cross_zone=True)
    assert game.legal() == ["Wx1", "Wx2", "Wx3"]
    game.step("Wx2")
    assert (game.hands[0], game.face_up[0], game.pile) == ([], ["5", "W"], ["6", "W", "W"])
    # A play of fewer cards stays within the hand.
    game = play(table(hands, up=up, cross_zone=True), "5x1")
    assert (game.hands[0], game.face_up[0]) == (["5"], ["5", "7", "W"])


def test_cross_zone_with_wild_in_play() -> None:
    """With wild_in_play Hog Wilds of hand and table join in, as long as the whole hand is used up."""
    game = table(["5 W", "9", "9"], up=["5 7 W", "", ""], cross_zone=True, wild_in_play=True)
    inside = ["5x1", "5x1+Wx1", "Wx1"]
    assert game.legal() == sorted([*inside, "5x1+Wx2", "5x2+Wx1", "5x2+Wx2"])
    game.step("5x2+Wx1")
    assert (game.pile, game.hands[0], game.face_up[0]) == (["W", "5", "5"], [], ["7", "W"])
    # The hand is a number, the table has Hog Wilds, or the other way round.
    game = table(["5", "9", "9"], up=["7 W", "", ""], cross_zone=True, wild_in_play=True)
    assert game.legal() == ["5x1", "5x1+Wx1"]
    game = table(["W", "9", "9"], up=["5 7", "", ""], pile="6", cross_zone=True, wild_in_play=True)
    assert game.legal() == ["7x1+Wx1", "Wx1"]
    # Two numbers never go together.
    game = table(["5 6 W", "9", "9"], up=["5", "", ""], cross_zone=True, wild_in_play=True)
    assert game.legal() == ["5x1", "5x1+Wx1", "6x1", "6x1+Wx1", "Wx1"]


# --- picking up -------------------------------------------------------------------------------------------------------


def test_pickup_from_hand() -> None:
    """Who cannot play takes the pile, does not refill, and the next seat starts anew."""
    game = play(table(["3 6", "9 1", "9 1"], pile="2 W 9", stock="1 2 3"), "pickup")
    assert (text(game.hands[0]), game.pile, game.stock, game.seat) == ("2 3 6 9 W", [], ["1", "2", "3"], 1)
    assert game.legal() == ["1x1", "9x1"]
    # Against the clock.
    game = table(["3 6", "9 1", "9 1"], pile="9")
    game.direction = -1
    assert play(game, "pickup").seat == 2


def test_face_up_penalty() -> None:
    """Who cannot play from the table takes one face-up card along, unless the rules spare it."""
    game = table(["", "9 1", "9 1"], up=["2 2 3", "", ""], pile="10")
    assert game.legal() == ["pickup+2", "pickup+3"]
    game.step("pickup+2")
    assert (text(game.hands[0]), game.face_up[0], game.seat) == ("2 10", ["2", "3"], 1)
    # With a hand again the table is closed.
    play(game, "9x1", "9x1")
    assert game.legal() == ["10x1"]
    game = table(["", "9 1", "9 1"], up=["2 2 3", "", ""], pile="10", face_up_penalty=False)
    assert game.legal() == ["pickup"]
    game.step("pickup")
    assert (game.hands[0], game.face_up[0], game.seat) == (["10"], ["2", "2", "3"], 1)


def test_voluntary_pickup() -> None:
    """With voluntary_pickup the pile may be taken instead of a play, yet not an empty one and not instead of a flip."""
    assert legal("3", "5 6") == ["5x1", "6x1"]
    assert legal("3", "5 6", voluntary_pickup=True) == ["5x1", "6x1", "pickup"]
    assert legal("W", "5 6", voluntary_pickup=True) == ["5x1", "6x1", "pickup"]
    assert legal("9", "5 6", voluntary_pickup=True) == ["pickup"]
    assert legal("", "5 6", voluntary_pickup=True) == ["5x1", "6x1"]
    game = table(["", "9", "9"], up=["5 W", "", ""], pile="3", voluntary_pickup=True)
    assert game.legal() == ["5x1", "Wx1", "pickup+5", "pickup+W"]
    game.step("pickup+W")
    assert (text(game.hands[0]), game.face_up[0], game.pile, game.seat) == ("3 W", ["5"], [], 1)
    game = table(["", "9", "9"], up=["5 W", "", ""], pile="3", voluntary_pickup=True, face_up_penalty=False)
    assert game.legal() == ["5x1", "Wx1", "pickup"]
    game = table(["", "9", "9"], down=["5 W", "", ""], pile="3", voluntary_pickup=True)
    assert game.legal() == ["flip"]


# --- effects ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("action", "skip_stacking", "next_seat"),
    [
        ("4x1", "one", 2),
        ("4x1", "per_card", 2),
        ("4x2", "one", 2),
        ("4x2", "per_card", 3),
        ("4x1+Wx2", "per_card", 2),
        ("4x2+Wx2", "per_card", 3),
        ("4x2+Wx2", "one", 2),
    ],
)
def test_skip_stacking(action: str, skip_stacking: str, next_seat: int) -> None:
    """Several 4s at once skip one seat or a seat each; Hog Wilds under them skip nobody."""
    game = table(["4 4 W W 1", "9 1", "9 1", "9 1"], wild_in_play=True, skip_stacking=skip_stacking)
    assert play(game, action).seat == next_seat


def test_skip_counts_only_the_own_4s() -> None:
    """A 4 on a 4 is two plays of one 4 each."""
    game = play(table(["4 1", "4 1", "4 1", "4 1"], skip_stacking="per_card"), "4x1", "4x1")
    assert game.seat == 0


@pytest.mark.parametrize(
    ("action", "reverse_stacking", "direction"),
    [
        ("11x1", "once", -1),
        ("11x1", "per_card", -1),
        ("11x2", "once", -1),
        ("11x2", "per_card", 1),
        ("11x1+Wx2", "per_card", -1),
        ("11x2+Wx1", "per_card", 1),
        ("11x2+Wx1", "once", -1),
    ],
)
def test_reverse_stacking(action: str, reverse_stacking: str, direction: int) -> None:
    """Two 11s at once turn the direction once or twice; then the turn passes in the new direction."""
    game = table(["11 11 W W 1", "9 1", "9 1", "9 1"], wild_in_play=True, reverse_stacking=reverse_stacking)
    play(game, action)
    assert (game.direction, game.seat) == (direction, direction % 4)


def test_effects_against_the_clock() -> None:
    """A 4 skips in the direction of play, an 11 turns it back."""
    game = table(["4 1", "9 1", "9 1", "9 1"])
    game.direction = -1
    assert play(game, "4x1").seat == 2
    game = table(["11 1", "9 1", "9 1", "9 1"])
    game.direction = -1
    play(game, "11x1")
    assert (game.direction, game.seat) == (1, 1)


def test_effects_pass_over_seats_that_are_out() -> None:
    """Seats that are out are neither skipped nor next."""
    # Seat 1 is out: seat 2 is skipped.
    assert play(table(["4 1", "", "9 1", "9 1"], out=[1]), "4x1").seat == 3
    # Seat 2 is out: seat 1 is skipped.
    assert play(table(["4 1", "9 1", "", "9 1"], out=[2]), "4x1").seat == 3
    # Two 4s skip seats 1 and 3, so the mover is next.
    assert play(table(["4 4 1", "9 1", "", "9 1"], out=[2], skip_stacking="per_card"), "4x2").seat == 0
    # Seat 3 is out, and an 11 gives the turn to seat 2.
    assert play(table(["11 1", "9 1", "9 1", ""], out=[3]), "11x1").seat == 2


def test_two_active_seats() -> None:
    """With two active seats a skip brings the mover again, two skips the other; an 11 brings the other."""
    for hands, out in ((["4 4 11", "9 1"], []), (["4 4 11", "", "9 1"], [1])):
        other = len(hands) - 1
        assert play(table(hands, out=out), "4x1").seat == 0
        assert play(table(hands, out=out), "4x2").seat == 0
        assert play(table(hands, out=out, skip_stacking="per_card"), "4x2").seat == other
        assert play(table(hands, out=out), "11x1").seat == other


def test_out_with_a_4_or_an_11() -> None:
    """The last card still has its effect."""
    game = play(table(["4", "9 1", "9 1", "9 1"]), "4x1")
    assert (game.out, game.seat) == ([0], 2)
    game = play(table(["11", "9 1", "9 1", "9 1"]), "11x1")
    assert (game.out, game.direction, game.seat) == ([0], -1, 3)
    # Two seats are left: one is skipped, the other plays; skipping both brings the first.
    game = play(table(["4 4", "9 1", "9 1"]), "4x2")
    assert (game.out, game.seat) == ([0], 2)
    game = play(table(["4 4", "9 1", "9 1"], skip_stacking="per_card"), "4x2")
    assert (game.out, game.seat) == ([0], 1)


def test_out_with_a_wash() -> None:
    """Who is out by a wash has no bonus turn: the next seat in turn starts on the empty pile; 4 and 11 are ignored."""
    game = play(table(["8", "9 1", "9 1", "9 1"], pile="5"), "8x1")
    assert (game.out, game.pile, game.seat) == ([0], [], 1)
    game = play(table(["4", "9 1", "9 1", "9 1"], pile="4 4"), "4x1")
    assert (game.out, game.pile, game.seat) == ([0], [], 1)
    game = play(table(["11", "9 1", "9 1", "9 1"], pile="11 11"), "11x1")
    assert (game.out, game.pile, game.direction, game.seat) == ([0], [], 1, 1)
    game = table(["8", "9 1", "9 1", ""], pile="5", out=[3])
    game.direction = -1
    play(game, "8x1")
    assert (game.over, game.round_scores) == ("terminated", [[2, 0, 0, 3]])


def test_wash_ignores_4_and_11() -> None:
    """A play that washes neither skips nor turns, and the mover goes on."""
    for card in ("4", "11"):
        game = play(table([f"{card} {card} 1", "9 1", "9 1"], pile=card), f"{card}x2")
        assert (game.pile, game.direction, game.seat) == ([], 1, 0)


@pytest.mark.parametrize(
    ("card", "pile", "new_pile", "washed", "seat", "direction"),
    [
        ("W", "12", "12 W", "", 1, 1),
        ("W", "W W", "", "W W W", 0, 1),
        ("4", "3", "3 4", "", 2, 1),
        ("4", "4 4", "", "4 4 4", 0, 1),
        ("8", "8", "", "8 8", 0, 1),
        ("8", "", "", "8", 0, 1),
        ("11", "9", "9 11", "", 3, -1),
        ("11", "11 11", "", "11 11 11", 0, 1),
        ("5", "5 5", "", "5 5 5", 0, 1),
    ],
)
def test_flip_effects(card: str, pile: str, new_pile: str, washed: str, seat: int, direction: int) -> None:
    """A card that was turned and goes has all the effects of a play."""
    game = play(table(["", "9 1", "9 1", "9 1"], down=[f"{card} 1", "", "", ""], pile=pile), "flip")
    assert (" ".join(game.pile), text(game.washed), game.seat, game.direction) == (new_pile, washed, seat, direction)
    assert (game.hands[0], game.face_down[0]) == ([], ["1"])


@pytest.mark.parametrize("card", ["4", "8", "11"])
def test_flip_below_the_top(card: str) -> None:
    """A card that was turned and does not go has no effect: pile and card go to the hand."""
    game = play(table(["", "9 1", "9 1", "9 1"], down=[f"{card} 1", "", "", ""], pile="3 12", stock="1 1"), "flip")
    assert (text(game.hands[0]), game.pile, game.seat, game.direction) == (text(["3", "12", card]), [], 1, 1)
    assert (game.face_down[0], game.stock) == (["1"], ["1", "1"])


def test_flip_the_first_and_go_out() -> None:
    """The first face-down card is the next one turned, and the last one may be the way out."""
    game = table(["", "12 1", "12 1"], down=["5 6", "", ""])
    play(game, "flip")
    assert (game.pile, game.face_down[0], game.out) == (["5"], ["6"], [])
    play(game, "12x1", "12x1")
    play(game, "flip")
    assert (text(game.hands[0]), game.face_down[0], game.out, game.seat) == ("5 6 12 12", [], [], 1)
    game = play(table(["", "12 1", "12 1"], down=["5", "", ""]), "flip")
    assert (game.out, game.seat) == ([0], 1)


# --- refilling --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("refill", "hand", "action", "stock", "hand_after", "stock_after"),
    [
        ("to_hand_size", "1 1 9", "1x2", "2 3 6", "2 3 9", "6"),
        ("to_hand_size", "1 1 9", "1x2", "2", "2 9", ""),
        ("to_hand_size", "1 6 6 9", "1x1", "2 3", "6 6 9", "2 3"),
        ("to_hand_size", "1 6 6 9 9", "1x1", "2 3", "6 6 9 9", "2 3"),
        ("one", "1 1 9", "1x2", "2 3 6", "2 9", "3 6"),
        ("one", "1 6 6 9 9", "1x1", "2 3", "2 6 6 9 9", "3"),
        ("one", "1 9", "1x1", "", "9", ""),
    ],
)
def test_refill(refill: str, hand: str, action: str, stock: str, hand_after: str, stock_after: str) -> None:
    """After a play the hand is filled up to its size, or one card is drawn, as far as there are cards."""
    game = play(table([hand, "9 1", "9 1"], stock=stock, refill=refill), action)
    assert (text(game.hands[0]), " ".join(game.stock)) == (hand_after, stock_after)
    with pytest.raises(ValueError, match="unknown refill"):
        table(["1 1", "1 1"], stock="1", refill="never").step("1x1")


def test_refill_after_wash() -> None:
    """After a wash the hand is refilled before the bonus turn, unless the rules put it off."""
    game = play(table(["8 1", "9 1", "9 1"], stock="2 3"), "8x1")
    assert (text(game.hands[0]), game.seat) == ("1 2 3", 0)
    game = play(table(["8 1", "9 1", "9 1"], stock="2 3", refill="one"), "8x1")
    assert (text(game.hands[0]), game.seat) == ("1 2", 0)
    game = play(table(["8 1", "9 1", "9 1"], stock="2 3", refill_after_wash=False), "8x1")
    assert (text(game.hands[0]), game.stock, game.seat) == ("1", ["2", "3"], 0)
    # The refill of the bonus turn is a usual one.
    play(game, "1x1")
    assert (text(game.hands[0]), game.stock, game.seat) == ("2 3", [], 1)


def test_refill_after_wash_with_the_hand_used_up() -> None:
    """Without a refill after the wash the bonus turn is made from the table, and the refill follows that one."""
    options: dict[str, Any] = {"stock": "2 3 6 7", "refill_after_wash": False}
    game = play(table(["8", "9 1", "9 1"], up=["5 5 6", "", ""], down=["1", "", ""], **options), "8x1")
    assert game.legal() == ["5x1", "5x2", "6x1"]
    play(game, "5x2")
    assert (text(game.hands[0]), game.face_up[0], game.pile, game.seat) == ("2 3 6", ["6"], ["5", "5"], 1)
    # From the face-down cards.
    game = play(table(["8", "9 1", "9 1"], down=["1 7", "", ""], **options), "8x1")
    assert game.legal() == ["flip"]
    play(game, "flip")
    assert (text(game.hands[0]), game.face_down[0], game.pile, game.seat) == ("2 3 6", ["7"], ["1"], 1)
    # The last card of all, without a wash: the refill keeps the seat in.
    game = play(table(["8", "9 1", "9 1"], down=["1", "", ""], **options), "8x1", "flip")
    assert (text(game.hands[0]), game.out, game.seat) == ("2 3 6", [], 1)
    # The last card of all, with a wash: the seat is out though there are cards to draw.
    game = play(table(["8", "9 1", "9 1"], down=["8", "", ""], **options), "8x1", "flip")
    assert (game.hands[0], game.out, game.stock, game.seat) == ([], [0], ["2", "3", "6", "7"], 1)
    # With a refill it is not out.
    game = play(table(["8", "9 1", "9 1"], stock="2 3"), "8x1")
    assert (text(game.hands[0]), game.out, game.seat) == ("2 3", [], 0)


# --- rounds and pigs --------------------------------------------------------------------------------------------------


def test_the_round_ends_with_the_second_out() -> None:
    """The first out gets 3 pigs, the second 2; others 1, but for those with the most cards."""
    game = play(table(["5", "9 9", "6", "1"]), "5x1", "9x1", "pickup")
    assert (game.over, game.round_scores) == (None, [])
    # Seat 3 leads its 1 and is second. Seat 1 has one card, seat 2 three.
    play(game, "1x1")
    assert game.round_scores == [[3, 1, 0, 2]]
    assert (game.scores(), game.pigs, game.over) == ([3, 1, 0, 2], 34, "terminated")


def test_table_cards_count_for_the_most_cards() -> None:
    """Face-up and face-down cards count like those in hand."""
    game = table(["9", "1 2 3", "1", ""], up=["", "", "1", ""], down=["", "", "1 2", ""], out=[3])
    assert play(game, "9x1").round_scores == [[2, 1, 0, 3]]
    game = table(["9", "1 2 3", "1", ""], up=["", "", "1", ""], down=["", "", "2", ""], out=[3])
    assert play(game, "9x1").round_scores == [[2, 0, 0, 3]]


@pytest.mark.parametrize(("third_scores", "scores"), [(False, [3, 2, 0]), (True, [3, 2, 1])])
def test_three_player_third_scores(third_scores: bool, scores: list[int]) -> None:
    """The last of three has the most cards; a pig for it is an option."""
    game = table(["5", "9", "1"], three_player_third_scores=third_scores)
    assert play(game, "5x1", "9x1").round_scores == [scores]


@pytest.mark.parametrize("third_scores", [False, True])
def test_third_scores_only_with_three(third_scores: bool) -> None:
    """The option concerns neither two nor four players."""
    game = table(["5 ", "9"], three_player_third_scores=third_scores)
    assert play(game, "5x1").round_scores == [[3, 0]]
    game = table(["5", "9", "1", "1"], three_player_third_scores=third_scores)
    assert play(game, "5x1", "9x1").round_scores == [[3, 2, 0, 0]]


def test_two_players() -> None:
    """With two players the first out ends the round, 3 pigs to 0; a reversal gives the turn to the other."""
    game = play(table(["11 5", "12 1"]), "11x1")
    assert (game.direction, game.seat) == (-1, 1)
    play(game, "12x1", "pickup")
    assert (text(game.hands[0]), game.seat) == ("5 11 12", 1)
    play(game, "1x1")
    assert (game.out, game.round_scores, game.over) == ([1], [[0, 3]], "terminated")


def test_rounds_and_dealers() -> None:
    """After the given number of rounds the match is over; each dealer starts a round anew, clockwise."""
    deals = [
        quick_deal(["11", "12", "1 2"], 0),
        quick_deal(["1 2", "5", "6"], 1),
        quick_deal(["6", "1 2", "5"], 2),
    ]
    game = quick_match(deals, rounds=2)
    # Seat 0 goes out with an 11, seat 2 is next and picks up, then seat 1 is out.
    play(game, "11x1")
    assert (game.direction, game.seat, game.turn, game.dealer, game.round) == (-1, 2, 1, 0, 0)
    play(game, "pickup", "12x1")
    assert (game.round, game.dealer, game.seat, game.direction, game.turn) == (1, 1, 1, 1, 0)
    assert (game.pile, game.out, game.hands) == ([], [], [["1", "2"], ["5"], ["6"]])
    assert game.round_scores == [[3, 2, 0]]
    play(game, "5x1")
    assert (game.over, game.round) == (None, 1)
    play(game, "6x1")
    assert (game.over, game.round) == ("terminated", 1)
    assert game.round_scores == [[3, 2, 0], [0, 3, 2]]
    assert (game.scores(), game.pigs) == ([3, 5, 2], 30)


def test_washed_cards_and_knowledge_end_with_the_round() -> None:
    """A new round starts with nothing set aside and nothing known."""
    deals = [quick_deal(["8 5", "9", "1 2"], 0), quick_deal(["5", "9", "1 2"], 1)]
    game = play(quick_match(deals), "8x1", "5x1")
    assert game.washed == ["8"]
    play(game, "9x1")
    assert (game.washed, game.known, game.proved) == ([], [[], [], []], [[], [], []])


def test_rounds_per_player() -> None:
    """With "per_player" there are as many rounds as players, or fewer if the pigs are gone."""
    deals = [quick_deal(["5", "6", "1 2"], 0) for _ in range(4)]
    game = quick_match(deals, rounds="per_player")
    for number in range(3):
        assert (game.over, game.round) == (None, number)
        play(game, "5x1", "6x1")
    assert (game.over, len(game.round_scores)) == ("terminated", 3)
    game = quick_match(deals, rounds="per_player", pig_supply=10)
    play(game, "5x1", "6x1", "5x1", "6x1")
    assert (game.over, game.pigs, game.scores()) == ("terminated", 0, [6, 4, 0])


def test_rounds_until_empty() -> None:
    """With "until_empty" only the pigs count."""
    deals = [quick_deal(["5", "6", "1 2"], 0) for _ in range(8)]
    game = play(quick_match(deals, rounds="until_empty"), *["5x1", "6x1"] * 7)
    # Five pigs a round: 35 are gone.
    assert (game.over, game.pigs, game.scores()) == (None, 5, [21, 14, 0])
    play(game, "5x1", "6x1")
    assert (game.over, game.pigs, game.scores()) == ("terminated", 0, [24, 16, 0])


def test_no_deal_for_a_round() -> None:
    """A round without a deal cannot be played."""
    game = quick_match([quick_deal(["5", "6", "1 2"], 0)])
    game.step("5x1")
    with pytest.raises(LookupError, match="round 1"):
        game.step("6x1")


@pytest.mark.parametrize(
    ("pig_supply", "scores"),
    [
        # Due: seat 5 3, seat 0 2, seats 2 and 3 (two cards each) 1, seat 1 (three cards) 1, seat 4 (four) 0.
        (9, [2, 1, 1, 1, 0, 3]),
        (8, [2, 1, 1, 1, 0, 3]),
        (7, [2, 0, 1, 1, 0, 3]),
        (6, [2, 0, 1, 0, 0, 3]),
        (5, [2, 0, 0, 0, 0, 3]),
        (4, [1, 0, 0, 0, 0, 3]),
        (2, [0, 0, 0, 0, 0, 2]),
    ],
)
@pytest.mark.parametrize("rounds", [5, "per_player", "until_empty"])
def test_pig_supply_runs_short(pig_supply: int, scores: list[int], rounds: int | str) -> None:
    """Pigs are paid in finishing order, then by fewest cards, then by seat; without pigs the match is over."""
    deals = [quick_deal(["9", "1 1 1", "1 1", "1 1", "1 1 1 1", "5"], 5), quick_deal(["1"] * 6, 0)]
    game = play(quick_match(deals, pig_supply=pig_supply, rounds=rounds), "5x1", "9x1")
    assert game.round_scores == [scores]
    assert game.pigs == max(0, pig_supply - 8)
    assert game.over == ("terminated" if pig_supply <= 8 else None)


def test_pigs_run_short_in_seat_order() -> None:
    """Among equal seats seat 0 comes first, wherever the dealer sits."""
    deals = [quick_deal(["1", "5", "9", "1 1", "1"], 1)]
    game = play(quick_match(deals, pig_supply=6), "5x1", "9x1")
    assert game.round_scores == [[1, 3, 2, 0, 0]]


def test_max_turns() -> None:
    """A round is cut after so many steps, choices not counted; bonus turns and pick-ups are."""
    deal = {
        "dealer": 0,
        "hands": [["8", "5", "1"], ["1", "2", "3"], ["9", "9", "1"]],
        "face_down": [[], [], []],
        "stock": [],
    }
    game = NaivePigPile(3, {**JP, "table_cards": 1, "hand_size": 2, "max_turns": 4}, [deal, deal])
    play(game, "show 1", "show 1", "show 1")
    assert game.turn == 0
    play(game, "8x1", "5x1", "pickup")
    assert (game.turn, game.over) == (3, None)
    play(game, "9x1")
    assert (game.turn, game.over, game.legal()) == (4, "truncated", [])
    # Seat 0 has one card, seat 1 four, seat 2 two: 1, 0 and 1.
    assert (game.round_scores, game.pigs) == ([[1, 0, 1]], 38)


@pytest.mark.parametrize(
    ("hands", "out", "scores"),
    [
        (["9 1", "1 2", "1 2 3", "1"], [], [1, 1, 0, 1]),
        (["9 1 1", "1 2", "1 2", "1"], [], [0, 0, 0, 1]),
        (["9 1", "1", "1", "1"], [], [0, 0, 0, 0]),
        (["9", "1 2", "1 2 3", "1"], [], [3, 1, 0, 1]),
        (["9 1", "", "1 2 3", "1"], [1], [1, 3, 0, 1]),
        (["9 1", "1 1", ""], [2], [1, 0, 3]),
        (["9 1", "1", ""], [2], [0, 0, 3]),
        (["9 1", "1 1"], [], [1, 0]),
        (["9 1", "1"], [], [0, 0]),
    ],
)
@pytest.mark.parametrize("third_scores", [False, True])
def test_scores_of_a_cut_round(hands: list[str], out: list[int], scores: list[int], third_scores: bool) -> None:
    """A round that is cut gives 3 pigs to a seat that is out, 0 to all with the most cards and 1 to the rest."""
    game = table(hands, out=out, max_turns=1, three_player_third_scores=third_scores)
    play(game, "9x1")
    assert (game.over, game.round_scores) == ("truncated", [scores])


def test_cut_round_with_few_pigs() -> None:
    """A cut round is paid from what is left, too."""
    game = play(table(["9", "1 2", "1 2 3", "1"], max_turns=1, pig_supply=4), "9x1")
    assert (game.over, game.round_scores, game.pigs) == ("truncated", [[3, 0, 0, 1]], 0)


def test_max_turns_on_the_last_step() -> None:
    """A round that ends by the rules on the step of the cut is no cut; each round counts anew."""
    deals = [quick_deal(["5", "6", "1 2"], 0), quick_deal(["5", "6", "1 2"], 1), quick_deal(["5", "6", "1 2"], 2)]
    game = play(quick_match(deals, max_turns=2), "5x1", "6x1")
    assert (game.over, game.round, game.turn) == (None, 1, 0)
    # In the second round seat 2 picks up: that is the cut, and the match is over.
    play(game, "6x1", "pickup")
    assert (game.over, game.round) == ("truncated", 1)
    assert game.round_scores == [[3, 2, 0], [1, 3, 0]]


@pytest.mark.parametrize(
    ("rounds", "win", "rank", "score"),
    [
        # Sums 6, 3, 1, 2; mean 3.
        ([[3, 2, 0, 1], [3, 1, 1, 1]], [1, -1 / 3, -1 / 3, -1 / 3], [1, 1 / 3, -1, -1 / 3], [1.5, 0, -1, -0.5]),
        # Sums 5, 5, 1, 1: two winners share, (4 / 2 - 1) / 3; places 1.5 and 3.5.
        ([[3, 2, 1, 0], [2, 3, 0, 1]], [1 / 3, 1 / 3, -1 / 3, -1 / 3], [2 / 3, 2 / 3, -2 / 3, -2 / 3], [1, 1, -1, -1]),
        # Nothing played yet.
        ([], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]),
    ],
)
def test_returns(rounds: list[list[int]], win: list[float], rank: list[float], score: list[float]) -> None:
    """Winners share the win, tied places their mean, and each round's pigs are paid against their mean."""
    game = table(["1", "1", "1", "1"])
    game.round_scores = rounds
    assert game.returns("win") == pytest.approx(win)
    assert game.returns("rank") == pytest.approx(rank)
    assert game.returns("score", 2.0) == pytest.approx(score)
    with pytest.raises(ValueError, match="unknown reward"):
        game.returns("luck")


def test_deal_faults() -> None:
    """Deals by chance are told from deals with a wrong dealer, size or pack."""
    generator = random.Random(1)
    for preset, rules in PRESETS.items():
        for num_players in range(3, 7):
            assert deal_faults(num_players, rules, random_deals(generator, num_players, rules, 4)) == [], preset
    rules = {**JP, "first_dealer": 2}
    deals = random_deals(generator, 3, rules, 3)
    assert [deal["dealer"] for deal in deals] == [2, 0, 1]
    assert deal_faults(3, rules, deals) == []
    assert deal_faults(3, {**rules, "first_dealer": 1}, deals) == ["round 0: dealer 2, not 1"]
    assert deal_faults(3, rules, [deals[0], deals[2]]) == ["round 1: dealer 1, not 0"]
    deals[0]["stock"][0] = "W" if deals[0]["stock"][0] != "W" else "1"
    assert len(deal_faults(3, rules, deals)) == 2
    deals[1]["face_up"] = [[], [], []]
    assert len(deal_faults(3, rules, deals)) == 3
    assert "round 2: hands are not 7 cards for each seat" in deal_faults(3, {**rules, "hand_size": 4}, deals)


# --- what is known ----------------------------------------------------------------------------------------------------


def test_known_to() -> None:
    """A seat knows its hand, what lies open, what was taken openly, and what a forced pick-up shows."""
    rules: dict[str, Any] = {"copies": 2, "num_wilds": 1, "ranks": [1, 2, 3, 5, 9], "table_cards": 1, "hand_size": 2}
    game = table(
        ["9 W", "3 5", "1 1"],
        up=["2", "3", "5"],
        down=["9", "2", ""],
        **rules,
    )
    game.washed = []
    # Seat 0 plays a 9; seat 1 cannot and takes it.
    play(game, "9x1", "pickup")
    view = game.known_to(0)
    assert view == {
        "round": 0,
        "dealer": 0,
        "phase": "play",
        "seat": 2,
        "direction": 1,
        "turn": 2,
        "pigs": 40,
        "scores": [0, 0, 0],
        "out": [],
        "hand": ["W"],
        "hand_sizes": [1, 3, 2],
        "face_up_sizes": [1, 1, 1],
        "face_down_sizes": [1, 1, 0],
        "known": [["W"], ["9"], []],
        "unknown": [0, 2, 2],
        "proved": [[], [(2, ["1", "2", "3", "5"])], []],
        "face_up": [["2"], ["3"], ["5"]],
        "pile": [],
        "washed": [],
        "stock_size": 0,
        "pack": {**dict.fromkeys(CARDS, 0), "1": 2, "2": 2, "3": 2, "5": 2, "9": 2, "W": 1},
        "removed": {**dict.fromkeys(CARDS, 6), "1": 4, "2": 4, "3": 4, "5": 4, "9": 4, "W": 7},
        "unseen": {**dict.fromkeys(CARDS, 0), "1": 2, "2": 1, "3": 1, "5": 1, "9": 1},
    }
    # Seat 1 itself sees the same, and its own hand in full.
    assert game.known_to(1)["known"] == [[], ["3", "5", "9"], []]
    assert game.known_to(1)["unknown"] == [1, 0, 2]
    assert game.known_to(1)["proved"] == [[], [], []]
    # Seat 2 plays a 1, seat 0 the W, seat 1 the 9 everybody knows of: the other two stay below 9.
    play(game, "1x1", "Wx1", "9x1")
    assert game.known_to(0)["known"][1] == []
    assert game.known_to(0)["proved"][1] == [(2, ["1", "2", "3", "5"])]
    # Seat 2 cannot play on the 9 and takes 1, W, 9; its last 1 is below 9, too.
    play(game, "pickup")
    assert game.known_to(0)["known"][2] == ["1", "9", "W"]
    assert game.known_to(0)["proved"][2] == [(1, ["1", "2", "3", "5"])]
    # A 1 of seat 2 is the known one as far as anybody can tell.
    play(game, "2x1", "3x1", "9x1")
    assert (game.known_to(0)["known"][2], game.known_to(0)["unknown"][2]) == (["1", "W"], 1)


def test_known_cards_are_played_first() -> None:
    """Of a known and an unknown equal card it is no matter which is played; what goes beyond was unknown."""
    game = table(["6 6 1 2", "5 12 1", "5 5 5"], pile="6 7")
    game.known[0] = ["6", "2"]
    game.proved[0] = []
    game.pile = []
    play(game, "6x1")
    assert (game.known_to(1)["known"][0], game.known_to(1)["unknown"][0]) == (["2"], 2)
    play(game, "12x1", "pickup", "2x1")
    assert (game.known_to(1)["known"][0], game.known_to(1)["unknown"][0]) == ([], 2)
    game = table(["6 6 6 1 2", "5 12 1", "5 5 5"])
    game.known[0] = ["6", "2"]
    play(game, "6x2")
    assert (game.known_to(1)["known"][0], game.known_to(1)["unknown"][0]) == (["2"], 2)


def test_proofs() -> None:
    """Proofs grow sharper, loosen with cards played and drawn, and leave out 8 where it always goes."""
    game = table(["1 3 3 6", "9 1", "9 1"], pile="9", eight_always=True)
    play(game, "pickup")
    assert game.known_to(1)["proved"][0] == [(4, ["1", "2", "3", "4", "5", "6", "7"])]
    game = table(["1 3 3 6", "9 1", "9 1"], pile="9")
    play(game, "pickup", "1x1")
    assert game.known_to(1)["proved"][0] == [(4, ["1", "2", "3", "4", "5", "6", "7", "8"])]
    play(game, "1x1")
    # A 6 of seat 0 was one of those below 9; a card drawn then may be anything.
    game.stock = ["2", "2"]
    game.rules["hand_size"] = 5
    play(game, "6x1")
    assert (game.known_to(1)["proved"][0], game.known_to(1)["unknown"][0]) == (
        [(3, ["1", "2", "3", "4", "5", "6", "7", "8"])],
        4,
    )
    # On a 7 again: all four are below 7, and below 9 is no news.
    game.pile = ["7"]
    game.seat = 0
    game.hands[0].remove("9")
    game.known[0] = []
    play(game, "pickup")
    assert game.known_to(1)["proved"][0] == [(4, ["1", "2", "3", "4", "5", "6"])]
    # A pick-up somebody may have chosen tells nothing, nor does one from the face-up cards.
    game = play(table(["1 3 3 6", "9 1", "9 1"], pile="9", voluntary_pickup=True), "pickup")
    assert game.known_to(1)["proved"][0] == []
    game = play(table(["", "9 1", "9 1"], up=["1 3", "", ""], pile="9"), "pickup+3")
    assert (game.known_to(1)["proved"][0], game.known_to(1)["known"][0]) == ([], ["3", "9"])


def test_a_flip_that_fails_is_known() -> None:
    """Pile and turned card are known cards of the hand."""
    game = play(table(["", "9 1", "9 1"], down=["3 10", "", ""], pile="W 7"), "flip")
    assert game.known_to(1)["known"][0] == ["3", "7", "W"]
    assert game.known_to(1)["unknown"][0] == 0


def hands_of_view(view: dict[str, Any], seat: int, kinds: list[str]) -> set[tuple[str, ...]]:
    """Return every hand a view allows a seat, going by what is known and proved, not by what is unseen."""
    choices: list[list[str]] = [[card] for card in view["known"][seat]]
    for count, cards in view["proved"][seat]:
        choices += [[card for card in cards if card in kinds]] * count
    choices += [kinds] * (view["hand_sizes"][seat] - len(choices))
    return {tuple(sorted(hand)) for hand in itertools.product(*choices)}


def without(hand: tuple[str, ...], cards: list[str]) -> tuple[str, ...] | None:
    """Return a hand without some cards, None if it does not hold them."""
    left = list(hand)
    for card in cards:
        if card not in left:
            return None
        left.remove(card)
    return tuple(left)


def can_play(hand: tuple[str, ...], pile: list[str], eight_always: bool) -> bool:
    """Tell whether any card of a hand goes on a pile."""
    top = int(pile[-1]) if len(pile) > 0 and pile[-1] != "W" else 0
    return any(card == "W" or int(card) >= top or (card == "8" and eight_always) for card in hand)


@pytest.mark.parametrize("number", range(60))
def test_knowledge_is_exact(number: int) -> None:
    """The hands a view allows are just those that fit all that was seen, tried out one by one."""
    generator = random.Random(number)
    kinds = ["3", "5", "8", "9", "W"]
    rules = {
        **JP,
        "table_cards": 0,
        "ranks": [3, 5, 8, 9],
        "copies": 4,
        "num_wilds": 1,
        "eight_always": generator.choice([True, False]),
        "refill": generator.choice(["one", "to_hand_size"]),
        "max_turns": 40,
        "rounds": 1,
    }
    game = NaivePigPile(3, rules, random_deals(generator, 3, rules, 1))
    hands = {tuple(sorted(hand)) for hand in itertools.product(kinds, repeat=3)}
    while game.over is None and len(game.hands[0]) <= 7:
        mover = game.seat
        pile = list(game.pile)
        stock_size = len(game.stock)
        action = generator.choice(game.legal())
        game.step(action)
        if game.over is not None:
            break
        if mover == 0 and action == "pickup":
            stuck = [hand for hand in hands if not can_play(hand, pile, rules["eight_always"])]
            hands = {tuple(sorted([*hand, *pile])) for hand in stuck}
        elif mover == 0:
            rests = [without(hand, cards_of(action)) for hand in hands]
            hands = {rest for rest in rests if rest is not None}
            for _ in range(stock_size - len(game.stock)):
                hands = {tuple(sorted([*hand, card])) for hand in hands for card in kinds}
        assert hands_of_view(game.known_to(1), 0, kinds) == hands


# --- whole games ------------------------------------------------------------------------------------------------------


def check_view(game: NaivePigPile, seat: int) -> None:
    """What a seat is said to know is true and adds up."""
    view = game.known_to(seat)
    hidden: list[str] = list(game.stock)
    for other in range(game.num_players):
        unknown = list(game.hands[other])
        for card in view["known"][other]:
            unknown.remove(card)
        assert len(unknown) == view["unknown"][other]
        # The proofs about the shortest lists first: each needs cards of its own.
        needed = 0
        for count, cards in view["proved"][other]:
            needed += count
            assert len([card for card in unknown if card in cards]) >= needed
        hidden += unknown + game.face_down[other]
        if other != seat and game.phase == "show":
            hidden += game.face_up[other]
            assert view["face_up"][other] == []
        else:
            assert view["face_up"][other] == sorted_cards(game.face_up[other])
    assert view["unseen"] == {card: hidden.count(card) for card in CARDS}


def check_position(game: NaivePigPile) -> None:
    """No card is lost, nothing that washes is left lying, and there is always something to do."""
    cards = game.stock + game.pile + game.washed
    for part in game.hands + game.face_up + game.face_down:
        cards = cards + part
    assert Counter(cards) == Counter(pack_of(game.num_players, game.rules))
    assert "8" not in game.pile
    assert len(game.pile) < 3 or len(set(game.pile[-3:])) > 1
    assert game.seat not in game.out
    for seat in range(game.num_players):
        assert (game.cards_left(seat) == 0) == (seat in game.out)
    actions = game.legal()
    assert len(actions) > 0
    assert len(set(actions)) == len(actions)
    assert actions == sorted(actions)
    pickups = [action for action in actions if action.startswith("pickup")]
    if len(game.pile) == 0:
        assert pickups == []
    if not game.rules["voluntary_pickup"]:
        assert len(pickups) in (0, len(actions))
    if game.rules["refill_after_wash"] and game.phase == "play" and len(game.stock) > 0:
        # Nobody reaches the table before the stock is gone.
        assert all(len(hand) > 0 for hand in game.hands)


@pytest.mark.parametrize("number", range(80))
def test_random_matches(number: int) -> None:
    """Matches with options drawn at random keep all cards, tell only what is true, and pay what the rules say."""
    generator = random.Random(number)
    num_players = generator.randint(2, 6)
    rules = random_rules(generator)
    deals = random_deals(generator, num_players, rules, 14)
    assert deal_faults(num_players, rules, deals) == []
    game = NaivePigPile(num_players, rules, deals)
    while game.over is None:
        check_position(game)
        if generator.random() < 0.2:
            check_view(game, generator.randrange(num_players))
        game.step(generator.choice(game.legal()))
    assert game.legal() == []
    rounds = len(game.round_scores)
    assert rounds == game.round + 1
    assert sum(game.scores()) + game.pigs == rules["pig_supply"]
    if game.over == "terminated":
        limit = {"per_player": num_players, "until_empty": 99}.get(str(rules["rounds"]), rules["rounds"])
        assert game.pigs == 0 or rounds == limit
    else:
        assert game.turn == rules["max_turns"]
    for reward in ("win", "rank", "score"):
        assert sum(game.returns(reward)) == pytest.approx(0.0)
    mean = sum(game.scores()) / num_players
    assert game.returns("score") == pytest.approx([score - mean for score in game.scores()])


@pytest.mark.parametrize("preset", ["jp", "en"])
def test_length_of_rounds(preset: str) -> None:
    """Rounds played at random last about as long as in earlier trials: some 160 to 280 steps on average."""
    for num_players in range(3, 7):
        turns: list[int] = []
        for number in range(15):
            generator = random.Random(1000 * num_players + number)
            rules = {**PRESETS[preset], "rounds": 1}
            game = NaivePigPile(num_players, rules, random_deals(generator, num_players, rules, 1))
            while game.over is None:
                game.step(generator.choice(game.legal()))
            turns.append(game.turn)
        assert 100 < sum(turns) / len(turns) < 400
        assert max(turns) < 2000


def test_arguments_are_not_changed() -> None:
    """Playing leaves the rules and the deals that were handed over as they were."""
    deals = [show_deal()]
    rules = {**JP, "table_cards": 2, "hand_size": 2, "rounds": 1}
    game = NaivePigPile(3, rules, deals)
    play(game, "show W", "show 5", "show 9", "show 9", "show 3", "show 1", "5x1")
    assert deals == [show_deal()]
    assert rules == {**JP, "table_cards": 2, "hand_size": 2, "rounds": 1}

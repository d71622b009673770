"""The naive Pig 10 against the rulebook's cases and against games worked out by hand."""

import random
from typing import Any

import pytest

from tests.naive.pig10 import NaivePig10
from tests.naive.pig10_cases import CASES, Case

DEFAULT_RULES: dict[str, Any] = {
    "deck_counts": [7, 8, 8, 8, 8, 5, 8, 8, 8, 8, 4],
    "hand_size": 3,
    "target": 10,
    "winner_leads": False,
    "leftover": "none",
    "five_clamp": False,
    "same_rule": "both",
    "tie_break": "shared",
    "first_player": "random",
    "max_turns": 1000,
}


def make_game(hands: list[list[int]], stock: list[int], first_player: int = 0, **options: Any) -> NaivePig10:
    """Set up a game from given hands; the pack holds just the cards given."""
    cards = [card for hand in hands for card in hand] + stock
    rules = {**DEFAULT_RULES, "deck_counts": [cards.count(card) for card in range(11)], **options}
    return NaivePig10(len(hands), rules, {"first_player": first_player, "hands": hands, "stock": stock})


def make_position(pile: list[int], value: int, hand: list[int], **options: Any) -> NaivePig10:
    """Set up three players with seat 0 to move in the middle of a pile."""
    game = make_game([hand, [1, 2, 3], [1, 2, 3]], [1, 1, 1], **options)
    game.pile = list(pile)
    game.value = value
    return game


def play(game: NaivePig10, *actions: str) -> None:
    """Play some actions one after another."""
    for action in actions:
        game.step(action)


def random_deal(generator: random.Random, num_players: int) -> dict[str, Any]:
    """Shuffle the full pack and deal three cards a seat."""
    deck = [card for card, count in enumerate(DEFAULT_RULES["deck_counts"]) for _ in range(count)]
    generator.shuffle(deck)
    hands = [deck[3 * seat : 3 * seat + 3] for seat in range(num_players)]
    first_player = generator.randrange(num_players)
    return {"first_player": first_player, "hands": hands, "stock": deck[3 * num_players :]}


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rulebook_case(case: Case) -> None:
    """Every case of the rulebook ends as the rulebook says."""
    hands = [[1, 2, 3] for _ in range(case.num_players)]
    for seat, hand in case.other_hands.items():
        hands[seat] = hand
    hands[case.mover] = case.hand
    game = make_game(hands, case.stock, case.mover, **case.rules)
    game.pile = list(case.pile)
    game.value = case.value
    expected = case.expected

    if "legal" in expected:
        assert game.legal() == expected["legal"]
    for card, texts in expected.get("legal_for_card", {}).items():
        assert [text for text in game.legal() if text.rstrip("-=") == str(card)] == texts
    play(game, *case.steps)
    if "pile" in expected:
        assert game.pile == expected["pile"]
    if "value" in expected:
        assert game.value == expected["value"]
    if "taken" in expected:
        assert game.taken == [expected["taken"].get(seat, 0) for seat in range(case.num_players)]
    if "next seat" in expected:
        assert game.seat == expected["next seat"]
    if "hand size" in expected:
        assert len(game.hands[case.mover]) == expected["hand size"]


def test_case_ids() -> None:
    """The rows P10-1 to P10-18 all have a case, and no two cases share an id."""
    ids = [case.id for case in CASES]
    assert len(ids) == len(set(ids))
    assert {case_id.split()[0] for case_id in ids} == {f"P10-{row}" for row in range(1, 19)}


@pytest.mark.parametrize("num_players", range(2, 9))
def test_p10_19_random_games(num_players: int) -> None:
    """P10-19: a game lasts exactly 80 steps, turns go round, and won cards plus the middle make 80."""
    for number in range(43):
        generator = random.Random(1000 * num_players + number)
        deal = random_deal(generator, num_players)
        game = NaivePig10(num_players, DEFAULT_RULES, deal)
        while game.over is None:
            assert game.seat == (deal["first_player"] + game.turn) % num_players
            assert game.value is None or 0 <= game.value < 10
            assert (game.value is None) == (game.pile == [])
            assert 1 <= len(game.legal()) <= 6
            held = sum(len(hand) for hand in game.hands) + len(game.stock)
            assert held + sum(game.taken) + len(game.pile) == 80
            unseen = game.known_to(game.seat)["unseen"]
            hidden = [card for seat, hand in enumerate(game.hands) if seat != game.seat for card in hand] + game.stock
            assert unseen == {card: hidden.count(card) for card in range(11)}
            game.step(generator.choice(game.legal()))
        assert game.over == "terminated"
        assert game.turn == 80
        assert sum(game.scores()) + len(game.pile) == 80
        assert game.legal() == []
        for reward in ("win", "rank", "score"):
            assert sum(game.returns(reward)) == pytest.approx(0.0)


def test_random_games_with_all_options() -> None:
    """With any options no card is lost, 80 steps are played, and every card in hand may be played plainly."""
    for number in range(300):
        generator = random.Random(number)
        num_players = generator.randint(2, 8)
        rules = {
            **DEFAULT_RULES,
            "target": generator.choice([10, 12, 15]),
            "winner_leads": generator.choice([False, True]),
            "leftover": generator.choice(["none", "last_player", "last_winner"]),
            "five_clamp": generator.choice([False, True]),
            "same_rule": generator.choice(["both", "value", "previous", "off"]),
        }
        game = NaivePig10(num_players, rules, random_deal(generator, num_players))
        while game.over is None:
            for card in game.hands[game.seat]:
                assert str(card) in game.legal()
            game.step(generator.choice(game.legal()))
        assert game.turn == 80
        assert sum(game.scores()) + len(game.pile) == 80
        assert (game.value is None) == (game.pile == [])


def test_illegal_actions() -> None:
    """A card not in hand, a way not allowed, a text without meaning and any step after the end are refused."""
    game = make_game([[5], [2]], [])
    for action in ("2", "5-", "5=", "", "x"):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)
    assert game.turn == 0
    play(game, "5", "2")
    assert game.over == "terminated"
    with pytest.raises(ValueError, match="not legal"):
        game.step("5")


def test_legal_is_sorted_as_text() -> None:
    """Legal actions are sorted as text, so a ten stands before a two, and equal cards are one action."""
    assert make_position([5], 5, [5, 2, 10]).legal() == ["10", "2", "5", "5-", "5="]
    assert make_position([5], 5, [2, 2, 2]).legal() == ["2"]


def test_draw_and_order_of_stock() -> None:
    """After each step the mover draws the next card of the stock, also after taking the pile."""
    game = make_game([[4, 1, 1], [6, 1, 1]], [7, 8])
    game.step("4")
    assert game.hands[0] == [1, 1, 7]
    game.step("6")
    assert game.hands[1] == [1, 1, 8]
    assert game.taken == [0, 2]
    assert game.stock == []
    game.step("1")
    assert game.hands[0] == [1, 7]


def test_frog_on_a_frog() -> None:
    """A frog only ever has one way, also on another frog."""
    game = make_position([0], 0, [0, 0, 0])
    assert game.legal() == ["0"]
    game.step("0")
    assert (game.pile, game.value) == ([0, 0], 0)


def test_winner_leads_off_next_in_turn() -> None:
    """By default the left neighbour of the mover goes on, whoever took the pile."""
    game = make_game([[9, 1], [9, 1], [9, 1]], [])
    play(game, "9", "9")
    assert game.taken == [2, 0, 0]
    assert game.seat == 2


def test_winner_leads_after_a_win() -> None:
    """With winner_leads the player who reaches ten plays the next card as well."""
    game = make_game([[9, 3], [1, 4], [2, 2]], [], winner_leads=True)
    play(game, "9", "1")
    assert game.taken == [0, 2, 0]
    assert game.seat == 1
    game.step("4")
    assert game.seat == 2


def test_winner_leads_after_a_bust() -> None:
    """With winner_leads the right neighbour who won a bust plays the next card."""
    game = make_game([[9, 3], [9, 4], [2, 2]], [], winner_leads=True)
    play(game, "9", "9")
    assert game.taken == [2, 0, 0]
    assert game.seat == 0


def test_winner_leads_uneven_hands() -> None:
    """With winner_leads empty seats are passed over, yet a bust still goes to the seat on the right."""
    game = make_game([[9, 9], [1, 9], [1, 8]], [], winner_leads=True)
    # Seat 0: 9. Seat 1: 9 + 1 = 10, takes 2 cards and leads.
    play(game, "9", "1")
    assert (game.taken, game.seat) == ([0, 2, 0], 1)
    # Seat 1 leads its last card, 9. Seat 2: 9 + 1 = 10, takes 2 cards and leads its last card, 8.
    play(game, "9", "1", "8")
    assert (game.taken, game.seat) == ([0, 2, 2], 0)
    assert game.hands == [[9], [], []]
    # Seat 0: 8 + 9 = 17, so seat 2 on the right takes 2 cards though it holds none.
    game.step("9")
    assert game.scores() == [0, 2, 4]
    assert game.over == "terminated"
    assert game.last_winner == 2


def test_winner_leads_passes_over_a_winner_without_cards() -> None:
    """With winner_leads a winner who has no cards left is passed over clockwise."""
    game = make_game([[9, 9], [1], [7, 7]], [], winner_leads=True)
    # Seat 0: 9. Seat 1: 9 + 1 = 10 with its last card; seat 2 leads instead.
    play(game, "9", "1")
    assert (game.taken, game.seat) == ([0, 2, 0], 2)
    # Seat 2: 7. Seat 0: 7 + 9 = 16 is for seat 2, which leads; seats 0 and 1 are empty.
    play(game, "7", "9")
    assert (game.taken, game.seat) == ([0, 2, 2], 2)
    # Seat 2 leads its last card, and the game is over.
    game.step("7")
    assert (game.taken, game.pile, game.over) == ([0, 2, 2], [7], "terminated")


def test_winner_leads_bust_to_a_seat_passed_over() -> None:
    """With winner_leads a bust goes to the empty seat on the right, and the next seat with cards leads."""
    game = make_game([[9, 3, 3], [1], [8, 2]], [], winner_leads=True)
    # Seat 0: 9. Seat 1: 10 with its last card. Seat 2 leads 8. Seat 0: 8 + 3 = 11, for seat 2, which leads 2.
    play(game, "9", "1", "8", "3", "2")
    assert (game.taken, game.seat) == ([0, 2, 2], 0)
    game = make_game([[9, 8], [1], [9, 2, 2]], [], winner_leads=True)
    # Seat 0: 9. Seat 1: 10 with its last card. Seat 2: 2. Seat 0: 2 + 8 = 10 with its last card. Seat 2 goes on.
    play(game, "9", "1", "2", "8")
    assert (game.taken, game.seat) == ([2, 2, 0], 2)
    # Seat 2: 2, and again its own turn: 2 + 9 = 11 goes to seat 1 on the right, which has no cards.
    play(game, "2", "9")
    assert (game.taken, game.over) == ([2, 4, 0], "terminated")


@pytest.mark.parametrize(
    ("leftover", "scores", "pile"),
    [("none", [0, 2, 0], [3, 4]), ("last_player", [0, 2, 2], []), ("last_winner", [0, 4, 0], [])],
)
def test_leftover(leftover: str, scores: list[int], pile: list[int]) -> None:
    """The cards left in the middle go to nobody, to who played last, or to who took the last pile."""
    game = make_game([[9], [1], [3, 4]], [], leftover=leftover)
    # Seat 0: 9. Seat 1: 9 + 1 = 10, takes 2 cards. Seat 2: 3, then, alone with cards, 3 + 4 = 7.
    play(game, "9", "1", "3", "4")
    assert game.over == "terminated"
    assert game.scores() == scores
    assert game.pile == pile
    assert game.value == (7 if pile else None)


@pytest.mark.parametrize(("leftover", "scores"), [("none", [0, 0]), ("last_player", [0, 2]), ("last_winner", [0, 0])])
def test_leftover_without_a_winner(leftover: str, scores: list[int]) -> None:
    """Where no pile was ever taken there is no last winner, so last_winner leaves the cards to nobody."""
    game = make_game([[3], [4]], [], leftover=leftover)
    play(game, "3", "4")
    assert game.scores() == scores


@pytest.mark.parametrize("leftover", ["none", "last_player", "last_winner"])
def test_leftover_after_a_last_bust(leftover: str) -> None:
    """Where the last card takes the pile nothing is left over."""
    game = make_game([[3], [9]], [], leftover=leftover)
    play(game, "3", "9")
    assert game.scores() == [2, 0]


def test_five_clamp() -> None:
    """With five_clamp a five on a value below five may give zero; on an empty middle it may not."""
    assert make_position([2], 2, [5, 5, 5]).legal() == ["5"]
    game = make_position([2], 2, [5, 5, 5], five_clamp=True)
    assert game.legal() == ["5", "5-"]
    game.step("5-")
    assert (game.pile, game.value) == ([2, 5], 0)
    # On a frog: 0 + 5 = 5 or 0.
    assert make_position([0], 0, [5, 5, 5], five_clamp=True).legal() == ["5", "5-"]
    # On a five worth 0: add and set both give 5, so only add stays, and 0.
    assert make_position([5, 5], 0, [5, 5, 5], five_clamp=True).legal() == ["5", "5-"]
    # On a five worth 4: 9, 0 and 5 are three values.
    assert make_position([9, 5, 5], 4, [5, 5, 5], five_clamp=True).legal() == ["5", "5-", "5="]
    # From five up nothing changes.
    game = make_position([7], 7, [5, 5, 5], five_clamp=True)
    assert game.legal() == ["5", "5-"]
    game.step("5-")
    assert game.value == 2
    assert make_game([[5], [1]], [], five_clamp=True).legal() == ["5"]


@pytest.mark.parametrize(
    ("same_rule", "as_value", "as_previous", "as_neither"),
    [
        ("both", ["7", "7="], ["4", "4="], ["2"]),
        ("value", ["7", "7="], ["4"], ["2"]),
        ("previous", ["7"], ["4", "4="], ["2"]),
        ("off", ["7"], ["4"], ["2"]),
    ],
)
def test_same_rule(same_rule: str, as_value: list[str], as_previous: list[str], as_neither: list[str]) -> None:
    """Setting the value is offered for the pile value, the previous card, both or never."""
    # The pile 3, 4 is worth 7 and has a 4 on top.
    assert make_position([3, 4], 7, [7, 7, 7], same_rule=same_rule).legal() == as_value
    assert make_position([3, 4], 7, [4, 4, 4], same_rule=same_rule).legal() == as_previous
    assert make_position([3, 4], 7, [2, 2, 2], same_rule=same_rule).legal() == as_neither


def test_target() -> None:
    """Another target is reached, passed and missed just as ten is."""
    # Target 6: 2 + 4 = 6 wins two cards for seat 1.
    game = make_game([[2, 1], [4, 1], [1, 1]], [], target=6)
    play(game, "2", "4")
    assert (game.taken, game.value) == ([0, 2, 0], None)
    # Target 6: 4 + 4 = 8 is too much, two cards for seat 0.
    game = make_game([[4, 1], [4, 1], [1, 1]], [], target=6)
    play(game, "4", "4")
    assert (game.taken, game.value) == ([2, 0, 0], None)
    # Target 6: 2 + 3 = 5 stays.
    game = make_game([[2, 1], [3, 1], [1, 1]], [], target=6)
    play(game, "2", "3")
    assert (game.taken, game.value) == ([0, 0, 0], 5)
    # Target 6: a six on an empty middle wins itself.
    game = make_game([[6, 1], [3, 1], [1, 1]], [], target=6)
    game.step("6")
    assert (game.taken, game.value) == ([1, 0, 0], None)
    # Target 12: 4 + 6 = 10 stays, and a ten then may add up to 20 or leave the value at 10.
    game = make_game([[4, 1], [6, 1], [10, 10]], [], target=12)
    play(game, "4", "6")
    assert (game.taken, game.value) == ([0, 0, 0], 10)
    assert game.legal() == ["10", "10="]


def test_max_turns() -> None:
    """The game is cut after max_turns steps, scored as it stands, and the left cards go to nobody."""
    game = make_game([[9, 2], [1, 2], [3, 2]], [], max_turns=3, leftover="last_player")
    play(game, "9", "1")
    assert game.over is None
    game.step("3")
    assert game.over == "truncated"
    assert game.turn == 3
    assert game.scores() == [0, 2, 0]
    assert game.pile == [3]
    assert game.legal() == []


def test_max_turns_on_the_last_step() -> None:
    """A game whose last card falls on the step of the cut ends by the rules."""
    game = make_game([[3], [4]], [], max_turns=2, leftover="last_player")
    play(game, "3", "4")
    assert game.over == "terminated"
    assert game.scores() == [0, 2]
    game = make_game([[3], [4]], [], max_turns=1)
    game.step("3")
    assert game.over == "truncated"


@pytest.mark.parametrize(
    ("scores", "win", "rank", "score"),
    [
        # Mean 20; places 3, 1, 4, 2.
        ([15, 30, 10, 25], [-1 / 3, 1.0, -1 / 3, -1 / 3], [-1 / 3, 1.0, -1.0, 1 / 3], [-0.5, 1.0, -1.0, 0.5]),
        # Mean 20; two winners share: (4 / 2 - 1) / 3; places 1.5, 1.5, 3, 4.
        ([30, 30, 15, 5], [1 / 3, 1 / 3, -1 / 3, -1 / 3], [2 / 3, 2 / 3, -1 / 3, -1.0], [1.0, 1.0, -0.5, -1.5]),
        # All equal: everybody gets nothing.
        ([20, 20, 20, 20], [0.0] * 4, [0.0] * 4, [0.0] * 4),
    ],
)
def test_returns(scores: list[int], win: list[float], rank: list[float], score: list[float]) -> None:
    """Winners share the win, tied places their mean, and scores are paid against the mean."""
    game = make_game([[1], [1], [1], [1]], [])
    game.taken = scores
    assert game.returns("win") == pytest.approx(win)
    assert game.returns("rank") == pytest.approx(rank)
    assert game.returns("score", 10.0) == pytest.approx(score)
    with pytest.raises(ValueError, match="unknown reward"):
        game.returns("luck")


def test_known_to() -> None:
    """A seat knows its own hand, all that was played and all sizes, and so what is still unseen."""
    game = make_game([[9, 4, 1], [6, 1, 2]], [7, 7, 0])
    play(game, "4", "6", "9")
    # Seat 0 holds 1, 7, 0; seat 1 holds 1, 2, 7; the stock is used up.
    assert game.known_to(0) == {
        "hand": [0, 1, 7],
        "pile": [9],
        "value": 9,
        "taken": [0, 2],
        "hand_sizes": [3, 3],
        "stock_size": 0,
        "seat": 1,
        "unseen": {0: 0, 1: 1, 2: 1, 3: 0, 4: 0, 5: 0, 6: 0, 7: 1, 8: 0, 9: 0, 10: 0},
    }
    assert game.known_to(1)["hand"] == [1, 2, 7]
    assert game.known_to(1)["unseen"] == {0: 1, 1: 1, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 1, 8: 0, 9: 0, 10: 0}


def test_arguments_are_not_changed() -> None:
    """Playing leaves the rules and the deal that were handed over as they were."""
    deal: dict[str, Any] = {"first_player": 1, "hands": [[1, 2, 3], [4, 5, 6]], "stock": [7]}
    game = NaivePig10(2, DEFAULT_RULES, deal)
    game.step("4")
    assert deal == {"first_player": 1, "hands": [[1, 2, 3], [4, 5, 6]], "stock": [7]}

"""The naive Pig's Tail against the rulebook's cases and against games worked out by hand."""

import random
from collections import Counter
from typing import Any

import pytest

from tests.naive.pigs_tail import NaivePigsTail, pack
from tests.naive.pigs_tail_cases import CASES, Case

DEFAULT_RULES: dict[str, Any] = {
    "match": "suit_or_rank",
    "hand_play": "optional",
    "forced_fallback": "play",
    "allow_matching_hand_play": False,
    "first_player": "random",
    "num_decks": 1,
    "ranks": "A23456789TJQK",
    "suits": "CDHS",
    "num_jokers": 0,
    "joker_role": "pickup",
    "attack": False,
    "trigger": "match",
    "taker": "slowest",
    "foul": "take",
    "multi_foul": "earliest",
    "flipper_slaps": True,
    "flipper_delay_ms": 150,
    "wait_ms": 450,
    "anticipate_ms": 200,
    "reaction_std_ms": 80,
    "rounds": 1,
    "most_wins": False,
    "tie_break": "shared",
    "max_turns": 6000,
}
"""Written from the rule book's tables, not read from the code."""

Times = list[int | None]


def make_game(
    ring: str, pile: str = "", hands: dict[int, str] | None = None, num_players: int = 4, mover: int = 0, **options: Any
) -> NaivePigsTail:
    """Set up a position from texts of cards with spaces between them; the pack holds just the cards given."""
    rules = {**DEFAULT_RULES, **options}
    game = NaivePigsTail(num_players, rules, [{"first_player": mover, "ring": ring.split()}] * rules["rounds"])
    game.pile = pile.split()
    for seat, hand in (hands or {}).items():
        game.hands[seat] = hand.split()
    return game


def play(game: NaivePigsTail, *actions: str) -> None:
    """Make some decisions one after another, none of them the last commitment of a turn."""
    for action in actions:
        game.step(action)


def slap(game: NaivePigsTail, decision: str, commitments: str, times: Times) -> None:
    """Make one turn with slapping: a letter of ``commitments`` for each seat from the mover on, w(ait) or a(nticipate).

    Args:
        game: A game in which a seat is about to begin its turn.
        decision: What the mover does.
        commitments: One letter a seat, from the mover clockwise.
        times: The reactions, by seat.
    """
    words = [{"w": "wait", "a": "anticipate"}[letter] for letter in commitments]
    play(game, decision, *words[:-1])
    game.step(words[-1], times)


def held(game: NaivePigsTail) -> list[int]:
    """Return how many cards each seat holds."""
    return [len(hand) for hand in game.hands]


# --- the rulebook's cases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", CASES, ids=[case.id for case in CASES])
def test_rulebook_case(case: Case) -> None:
    """Every case of the rulebook ends as the rulebook says."""
    rules = {**DEFAULT_RULES, **case.rules}
    game = NaivePigsTail(case.num_players, rules, [{"first_player": case.mover, "ring": case.ring}])
    game.pile = list(case.pile)
    for seat, hand in case.hands.items():
        game.hands[seat] = list(hand)
    expected = case.expected

    if "legal" in expected:
        assert game.legal() == expected["legal"]
    for step in case.steps:
        if isinstance(step, str):
            assert not game.needs_reactions()
            game.step(step)
        else:
            assert game.needs_reactions()
            game.step(*step)
    if "pile" in expected:
        assert game.pile == expected["pile"]
    if "hands" in expected:
        assert [sorted(hand) for hand in game.hands] == [
            expected["hands"].get(seat, []) for seat in range(case.num_players)
        ]
    if "ring" in expected:
        assert len(game.ring) == expected["ring"]
    if "next seat" in expected:
        assert (game.seat, game.mover, game.phase) == (expected["next seat"], expected["next seat"], "play")
    if "over" in expected:
        assert game.over == expected["over"]
    if "scores" in expected:
        assert game.scores() == expected["scores"]
    if "ranks" in expected:
        assert game.ranks() == expected["ranks"]


def test_case_ids() -> None:
    """All rows but the two about whole games have a case, and no two cases share an id."""
    ids = [case.id for case in CASES]
    assert len(ids) == len(set(ids))
    assert {case_id.split()[0] for case_id in ids} == {f"BU-{row}" for row in range(1, 22) if row not in (13, 21)}


def test_cases_can_be_set_up() -> None:
    """No card of a case stands in two places, all belong to the pack, and expectations have only the known keys."""
    keys = {"legal", "pile", "hands", "ring", "next seat", "over", "scores", "ranks"}
    for case in CASES:
        cards = case.ring + case.pile + [card for hand in case.hands.values() for card in hand]
        assert Counter(cards) <= Counter(pack({**DEFAULT_RULES, **case.rules})), case.id
        assert set(case.expected) <= keys, case.id
        assert set(case.rules) <= set(DEFAULT_RULES), case.id


def test_bu_13_packs() -> None:
    """BU-13: two packs are 104 cards, jokers are counted a pack, and smaller packs hold just their ranks and suits."""
    assert len(pack(DEFAULT_RULES)) == 52
    assert len(set(pack(DEFAULT_RULES))) == 52
    two = pack({**DEFAULT_RULES, "num_decks": 2})
    assert len(two) == 104
    assert all(two.count(card) == 2 for card in two)
    jokers = pack({**DEFAULT_RULES, "num_decks": 2, "num_jokers": 2})
    assert (len(jokers), jokers.count("X")) == (108, 4)
    small = {**DEFAULT_RULES, "ranks": "A9T", "suits": "DS", "num_jokers": 1}
    assert sorted(pack(small)) == ["9D", "9S", "AD", "AS", "TD", "TS", "X"]


def random_rules(generator: random.Random) -> dict[str, Any]:
    """Draw every option at random."""
    attack = generator.random() < 0.5
    roles = ["pickup", "choose_suit", "return_hand"] + (["attack"] if attack else [])
    return {
        **DEFAULT_RULES,
        "match": generator.choice(["suit_or_rank", "suit", "color_or_rank", "rank", "color"]),
        "hand_play": generator.choice(["optional", "off", "forced"]),
        "forced_fallback": generator.choice(["play", "flip"]),
        "allow_matching_hand_play": generator.random() < 0.3,
        "num_decks": generator.choice([1, 2]),
        "ranks": generator.choice(["A23456789TJQK", "A23456789TJQK", "A379", "K"]),
        "suits": generator.choice(["CDHS", "CDHS", "DS", "H"]),
        "num_jokers": generator.choice([0, 1, 2]),
        "joker_role": generator.choice(roles),
        "attack": attack,
        "trigger": generator.choice(["match", "match", "753", "193", "TJQ", ["A", "5"]]),
        "taker": generator.choice(["slowest", "fastest"]),
        "foul": generator.choice(["take", "skip"]),
        "flipper_slaps": generator.random() < 0.5,
        "rounds": generator.choice([1, 1, 2, 3]),
        "most_wins": generator.random() < 0.3,
        "max_turns": generator.choice([300, 300, 300, 20, 3]),
    }


def random_deals(generator: random.Random, rules: dict[str, Any], num_players: int) -> list[dict[str, Any]]:
    """Shuffle a ring a round."""
    first = generator.randrange(num_players)
    deals = []
    for number in range(rules["rounds"]):
        ring = pack(rules)
        generator.shuffle(ring)
        deals.append({"first_player": (first + number) % num_players, "ring": ring})
    return deals


def random_times(generator: random.Random, game: NaivePigsTail, action: str) -> Times | None:
    """Draw reactions for a step where it needs some, equal ones and missing ones too."""
    if not game.needs_reactions():
        return None
    slappers = game.slappers(action)
    times: Times = [generator.randint(50, 55) if seat in slappers else None for seat in range(game.num_players)]
    if game.is_pickup(game.card_decided()):
        times = [None if generator.random() < 0.1 else time for time in times]
    return times


def check_position(game: NaivePigsTail) -> None:
    """BU-21 and what else always holds: no card is lost, and what is known is true."""
    deck = Counter(pack(game.rules))
    in_hands = [card for hand in game.hands for card in hand]
    assert Counter(game.ring + game.pile + in_hands) == deck
    seat = game.seat
    known = game.known_to(seat)
    # What nobody has seen is the pack without all that lies or is held open.
    assert known["unseen"] == dict(deck - Counter(game.pile + in_hands))
    assert 0 <= game.pickup_cards(seat) <= len(game.ring)
    assert Counter(game.safe_cards(seat)) <= Counter(game.hands[seat])
    assert game.turn < game.rules["max_turns"]
    assert (game.named_suit is None) or game.pile[-1] == "X"
    assert len(game.ring) > 0 or game.phase in ("name_suit", "return")
    legal = game.legal()
    assert legal == sorted(set(legal)) != []
    if game.phase != "commit":
        assert seat == game.mover
    if game.phase == "play":
        assert game.owed_turns[seat] == 0


def test_bu_21_random_games_with_all_options() -> None:
    """BU-21: with any options no card is lost, rounds go on as they should, and rewards are a zero-sum."""
    endings = set()
    for number in range(250):
        generator = random.Random(number)
        num_players = generator.randint(2, 7)
        rules = random_rules(generator)
        deals = random_deals(generator, rules, num_players)
        game = NaivePigsTail(num_players, rules, deals)
        while game.over is None:
            check_position(game)
            assert game.first_player == deals[game.round]["first_player"]
            action = generator.choice(game.legal())
            game.step(action, random_times(generator, game, action))
        endings.add(game.over)
        assert game.legal() == []
        assert (game.over == "terminated") == (len(game.ring) == 0)
        assert len(game.round_scores) == game.round + 1
        assert game.over == "truncated" or game.round + 1 == rules["rounds"]
        assert game.round_scores[-1] == held(game)
        for reward in ("win", "rank", "score"):
            assert sum(game.returns(reward)) == pytest.approx(0.0)
    assert endings == {"terminated", "truncated"}


@pytest.mark.parametrize(("num_decks", "longest"), [(1, 1378), (2, 5460)])
@pytest.mark.parametrize("num_players", [2, 4, 6])
def test_random_games_at_defaults(num_players: int, num_decks: int, longest: int) -> None:
    """By default turns go round without a break, each one moves one card, and a game ends by itself."""
    for number in range(30):
        generator = random.Random(number)
        rules = {**DEFAULT_RULES, "num_decks": num_decks}
        deals = random_deals(generator, rules, num_players)
        game = NaivePigsTail(num_players, rules, deals)
        flips = 0
        while game.over is None:
            assert game.seat == game.mover == (deals[0]["first_player"] + game.turn) % num_players
            assert game.phase == "play"
            assert set(game.legal()) == {"flip", *game.safe_cards(game.seat)}
            action = generator.choice(game.legal())
            flips += action == "flip"
            pile = list(game.pile)
            game.step(action)
            assert game.over is not None or game.pile == [] or game.pile[:-1] == pile
        assert game.over == "terminated"
        assert flips == 52 * num_decks
        assert flips <= game.turn <= longest
        assert sum(game.scores()) + len(game.pile) == 52 * num_decks


# --- matching ---------------------------------------------------------------------------------------------------------

MATCHES: dict[str, str] = {
    # On a nine of hearts: 9S same rank; 5H same suit; 2D same colour only; 2S nothing in common; 9D rank and colour.
    "suit_or_rank": "9S 5H 9D",
    "suit": "5H",
    "color_or_rank": "9S 5H 2D 9D",
    "rank": "9S 9D",
    "color": "5H 2D 9D",
}


@pytest.mark.parametrize(("match", "pickups"), MATCHES.items())
def test_match(match: str, pickups: str) -> None:
    """Each match rule says of every pair of cards whether the second one takes the pile."""
    for card in ["9S", "5H", "2D", "2S", "9D"]:
        game = make_game(f"{card} QD", "KC 9H", match=match)
        assert game.pickup_cards(0) == (card in pickups.split()) + (match in ("color_or_rank", "color"))
        game.step("flip")
        if card in pickups.split():
            assert (game.pile, sorted(game.hands[0])) == ([], sorted(["KC", "9H", card]))
        else:
            assert (game.pile, game.hands[0]) == (["KC", "9H", card], [])
        assert game.seat == 1


@pytest.mark.parametrize(
    ("match", "pickups"), [("suit_or_rank", 15), ("suit", 12), ("color_or_rank", 27), ("rank", 3), ("color", 25)]
)
def test_pickup_cards_on_a_fresh_pack(match: str, pickups: int) -> None:
    """After the first card so many of the other 51 match it."""
    for number in range(10):
        generator = random.Random(number)
        rules = {**DEFAULT_RULES, "match": match}
        game = NaivePigsTail(3, rules, random_deals(generator, rules, 3))
        assert game.pickup_cards(game.seat) == 0
        game.step("flip")
        assert [game.pickup_cards(seat) for seat in range(3)] == [pickups] * 3


def test_every_card_on_an_empty_pile() -> None:
    """BU-4 once more: whatever comes first stays, under every match rule."""
    for match in MATCHES:
        for card in pack(DEFAULT_RULES):
            game = make_game(f"{card} QD", match=match)
            game.step("flip")
            assert (game.pile, held(game)) == ([card], [0, 0, 0, 0])


def test_two_packs() -> None:
    """With two packs the same card again matches by suit and by rank, and equal hand cards are one action."""
    for match in MATCHES:
        game = make_game("9H QD", "9H", num_decks=2, match=match)
        game.step("flip")
        assert game.hands[0] == ["9H", "9H"]
    game = make_game("QD KD", "9H", {0: "4C 4C 5H"}, num_decks=2)
    assert game.legal() == ["4C", "flip"]
    assert game.safe_cards(0) == ["4C", "4C"]
    game.step("4C")
    assert game.hands[0] == ["4C", "5H"]


def test_small_pack_by_hand() -> None:
    """Two ranks in two suits: a whole game of four cards."""
    rules = {**DEFAULT_RULES, "ranks": "A2", "suits": "CD"}
    game = NaivePigsTail(2, rules, [{"first_player": 1, "ring": ["AC", "2D", "AD", "2C"]}])
    # Seat 1: AC. Seat 0: 2D stays. Seat 1: AD is a diamond too, takes three. Seat 0: 2C stays, the game is over.
    assert game.known_to(0)["unseen"] == {"2C": 1, "2D": 1, "AC": 1, "AD": 1}
    game.step("flip")
    assert game.pickup_cards(0) == 2
    game.step("flip")
    assert game.pickup_cards(1) == 2
    game.step("flip")
    assert (game.hands, game.pile) == ([[], ["AC", "2D", "AD"]], [])
    assert game.pickup_cards(0) == 0
    game.step("flip")
    assert (game.over, game.pile, game.scores(), game.ranks()) == ("terminated", ["2C"], [0, 3], [1, 2])


# --- hand cards -------------------------------------------------------------------------------------------------------


def test_hand_play_off() -> None:
    """Without hand play there is only the flip, whatever is held and allowed."""
    for extra in ({}, {"allow_matching_hand_play": True}, {"forced_fallback": "flip"}):
        assert make_game("5H QD", "9H", {0: "2H 4C"}, hand_play="off", **extra).legal() == ["flip"]
        assert make_game("5H QD", "", {0: "2H 4C"}, hand_play="off", **extra).legal() == ["flip"]


def test_hand_play_forced() -> None:
    """Who is forced plays a safe card while holding any, and flips with an empty hand."""
    game = make_game("QD KS", "9H", {0: "2H 4C 4S"}, hand_play="forced")
    assert game.legal() == ["4C", "4S"]
    game.step("4S")
    assert (game.pile, game.seat, game.legal()) == (["9H", "4S"], 1, ["flip"])
    # On an empty pile everything is safe.
    assert make_game("QD KS", "", {0: "2H 4C 4S"}, hand_play="forced").legal() == ["2H", "4C", "4S"]


def test_forced_fallback_play() -> None:
    """Who is forced and has no safe card plays a matching one all the same and takes the pile."""
    game = make_game("QD KS", "KC 9H", {0: "2H 9S"}, hand_play="forced")
    assert game.safe_cards(0) == []
    assert game.legal() == ["2H", "9S"]
    game.step("2H")
    assert (game.pile, sorted(game.hands[0]), game.seat) == ([], ["2H", "9H", "9S", "KC"], 1)
    assert game.ring == ["QD", "KS"]


def test_forced_fallback_flip() -> None:
    """Or, with the other fallback, flips; with a safe card in hand it may not."""
    game = make_game("QD KS", "KC 9H", {0: "2H 9S"}, hand_play="forced", forced_fallback="flip")
    assert game.legal() == ["flip"]
    game.step("flip")
    assert (game.pile, game.hands[0]) == (["KC", "9H", "QD"], ["2H", "9S"])
    game = make_game("QD KS", "KC 9H", {0: "2H 9S 4C"}, hand_play="forced", forced_fallback="flip")
    assert game.legal() == ["4C"]


@pytest.mark.parametrize("fallback", ["play", "flip"])
def test_forced_and_matching_allowed(fallback: str) -> None:
    """Who is forced and allowed to match has the whole hand to choose from, and nothing to fall back upon."""
    options: dict[str, Any] = {"hand_play": "forced", "allow_matching_hand_play": True, "forced_fallback": fallback}
    assert make_game("QD KS", "9H", {0: "2H 9S 4C"}, **options).legal() == ["2H", "4C", "9S"]
    assert make_game("QD KS", "9H", {0: "2H 9S"}, **options).legal() == ["2H", "9S"]
    assert make_game("QD KS", "9H", {1: "2H 9S"}, **options).legal() == ["flip"]


def test_forced_games_may_go_round_for_ever() -> None:
    """Three seats that are forced and hold hearts alone never flip again: only the cut ends that."""
    game = make_game("QD KS", "", {0: "2H 5H", 1: "3H", 2: "4H 6H"}, num_players=3, hand_play="forced", max_turns=600)
    # One lays a heart, the next has to lay one on it and takes both, the third lays the next one.
    play(game, "5H", "3H")
    assert (game.pile, game.hands) == ([], [["2H"], ["5H", "3H"], ["4H", "6H"]])
    play(game, "4H", "2H", "3H", "6H")
    assert (game.pile, game.hands, game.seat) == ([], [["4H", "2H"], ["5H"], ["3H", "6H"]], 0)
    while game.over is None:
        assert "flip" not in game.legal()
        game.step(game.legal()[0])
    assert (game.over, game.turn, game.ring, game.scores()) == ("truncated", 600, ["QD", "KS"], [2, 1, 2])


def test_hand_play_leaves_the_ring_and_the_game_going() -> None:
    """A card from hand never ends a game, however few cards the ring has."""
    game = make_game("QD", "9H", {0: "4C", 1: "3S"})
    play(game, "4C", "3S")
    assert (game.over, game.ring, game.seat) == (None, ["QD"], 2)
    game.step("flip")
    assert game.over == "terminated"


# --- ranks that trigger -----------------------------------------------------------------------------------------------


def test_no_slap_753() -> None:
    """Without slapping who flips a 7, 5 or 3 takes the pile, and suits and ranks are not compared."""
    game = make_game("9S 7S 2H 3H 5D QD", "9H", trigger="753")
    # 9S stays on 9H. 7S takes three. 2H. 3H takes two. 5D on the empty pile takes just itself.
    assert game.pickup_cards(0) == 3
    play(game, "flip", "flip")
    assert (sorted(game.hands[1]), game.pile, game.seat) == (["7S", "9H", "9S"], [], 2)
    play(game, "flip", "flip")
    assert (sorted(game.hands[3]), game.pile, game.seat) == (["2H", "3H"], [], 0)
    assert game.pickup_cards(0) == 1
    game.step("flip")
    assert (game.hands[0], game.pile, game.seat) == (["5D"], [], 1)


@pytest.mark.parametrize(
    ("trigger", "ranks"), [("753", "753"), ("193", "A93"), ("A93", "A93"), (["1", "T"], "AT"), ("TJQK", "TJQK")]
)
def test_trigger_ranks(trigger: str | list[str], ranks: str) -> None:
    """A trigger is a text or a list of rank letters, and a 1 is the ace."""
    for rank in "A23456789TJQK":
        game = make_game(f"{rank}S QD", "9H", trigger=trigger)
        game.step("flip")
        assert (game.pile == []) == (rank in ranks), rank


@pytest.mark.parametrize("pile", ["", "9H"])
def test_trigger_ranks_in_hand(pile: str) -> None:
    """A hand card of such a rank is not safe, on an empty pile neither, and takes the pile where it may be played."""
    assert make_game("QD KD", pile, {0: "7S 9S 2H"}, trigger="753").legal() == ["2H", "9S", "flip"]
    game = make_game("QD KD", pile, {0: "7S 9S 2H"}, trigger="753", allow_matching_hand_play=True)
    assert game.legal() == ["2H", "7S", "9S", "flip"]
    game.step("7S")
    assert sorted(game.hands[0]) == sorted(["2H", "7S", "9S", *pile.split()])
    game = make_game("QD KD", pile, {0: "7S 3H"}, trigger="753", hand_play="forced")
    assert game.legal() == ["3H", "7S"]
    game = make_game("QD KD", pile, {0: "7S 3H"}, trigger="753", hand_play="forced", forced_fallback="flip")
    assert game.legal() == ["flip"]


# --- jokers -----------------------------------------------------------------------------------------------------------


def test_joker_pickup() -> None:
    """A joker takes the pile, on an empty pile just itself, and under rank triggers too."""
    game = make_game("X QD KD", "", num_jokers=1)
    assert game.pickup_cards(0) == 1
    game.step("flip")
    assert (game.hands[0], game.pile, game.seat) == (["X"], [], 1)
    game = make_game("X QD", "9H 4C", num_jokers=1, trigger="753")
    game.step("flip")
    assert (game.hands[0], game.pile, game.seat) == (["9H", "4C", "X"], [], 1)


def test_joker_pickup_in_hand() -> None:
    """A joker in hand is never safe, not even on an empty pile; played where allowed it takes the pile."""
    assert make_game("QD KD", "9H", {0: "X 4C"}, num_jokers=1).legal() == ["4C", "flip"]
    assert make_game("QD KD", "", {0: "X 4C"}, num_jokers=1).legal() == ["4C", "flip"]
    assert make_game("QD KD", "", {0: "X"}, num_jokers=1, hand_play="forced").legal() == ["X"]
    game = make_game("QD KD", "9H", {0: "X 4C"}, num_jokers=1, allow_matching_hand_play=True)
    assert game.legal() == ["4C", "X", "flip"]
    game.step("X")
    assert (sorted(game.hands[0]), game.pile, game.seat) == (["4C", "9H", "X"], [], 1)


def choosing(ring: str, pile: str = "9H", hands: dict[int, str] | None = None, **options: Any) -> NaivePigsTail:
    """Set up a position with jokers that name a suit."""
    return make_game(ring, pile, hands, num_jokers=2, joker_role="choose_suit", **options)


def test_choose_suit() -> None:
    """The flipper of a joker names a suit in the same turn; by it alone the next card is judged, on any pile."""
    for pile in ("", "9H"):
        game = choosing("X 3S QD", pile)
        assert game.pickup_cards(0) == 0
        game.step("flip")
        assert (game.phase, game.seat, game.mover, game.turn) == ("name_suit", 0, 0, 0)
        assert game.legal() == ["suit C", "suit D", "suit H", "suit S"]
        game.step("suit S")
        assert (game.phase, game.seat, game.turn, game.named_suit) == ("play", 1, 1, "S")
        assert game.pickup_cards(1) == 1
        game.step("flip")
        assert (game.pile, sorted(game.hands[1])) == ([], sorted([*pile.split(), "X", "3S"]))
        assert game.named_suit is None


@pytest.mark.parametrize("match", list(MATCHES))
def test_choose_suit_compares_suits_alone(match: str) -> None:
    """Whatever the match rule, after a joker only the named suit counts, not its colour nor the card below."""
    game = choosing("X 9C QD", "9H", match=match)
    play(game, "flip", "suit S", "flip")
    assert (game.pile, held(game)) == (["9H", "X", "9C"], [0, 0, 0, 0])
    game = choosing("X 2S QD", "9H", match=match)
    play(game, "flip", "suit S", "flip")
    assert (game.pile, held(game)) == ([], [0, 3, 0, 0])


def test_choose_suit_holds_for_one_card() -> None:
    """A card of another suit covers the joker, and from then on that card is compared as usual."""
    game = choosing("X 3H 2S 3D QC", "9H")
    # 3H stays on the joker named S; 2S stays on 3H; 3D stays on 2S.
    play(game, "flip", "suit S", "flip")
    assert game.named_suit is None
    assert game.pickup_cards(2) == 1
    play(game, "flip", "flip")
    assert game.pile == ["9H", "X", "3H", "2S", "3D"]
    # Rank counts again: 3S on 3H is a pick-up.
    game = choosing("X 3H 3S QC", "9H")
    play(game, "flip", "suit S", "flip", "flip")
    assert (game.pile, held(game)) == ([], [0, 0, 4, 0])


def test_choose_suit_from_hand() -> None:
    """A joker in hand is always safe, and played from hand it names a suit too."""
    for pile in ("", "9H"):
        game = choosing("3S QD", pile, {0: "X 2H"})
        assert game.legal() == (["X", "flip"] if pile else ["2H", "X", "flip"])
        play(game, "X", "suit S")
        assert (game.pile, game.hands[0], game.seat) == ([*pile.split(), "X"], ["2H"], 1)
        game.step("flip")
        assert (game.pile, len(game.hands[1])) == ([], len(pile.split()) + 2)
    assert choosing("3S QD", "9H", {0: "X 2H"}, hand_play="forced").legal() == ["X"]


def test_choose_suit_binds_hand_cards() -> None:
    """The next seat's hand cards are judged by the named suit as well."""
    game = choosing("X 3S QD", "9H", {1: "9S 4H 8D"})
    play(game, "flip", "suit S")
    assert (game.legal(), game.safe_cards(1)) == (["4H", "8D", "flip"], ["4H", "8D"])


def test_choose_suit_joker_on_joker() -> None:
    """A joker on a named joker matches nothing and names anew."""
    game = choosing("X X 3S 4H QD", "9H")
    play(game, "flip", "suit S")
    assert game.pickup_cards(1) == 1
    game.step("flip")
    assert (game.phase, game.seat, game.named_suit) == ("name_suit", 1, None)
    play(game, "suit H", "flip")
    assert (game.pile, game.seat) == (["9H", "X", "X", "3S"], 3)


def test_choose_suit_last_ring_card() -> None:
    """A joker that is the last ring card still has its suit named; then the game is over."""
    game = choosing("X", "9H")
    game.step("flip")
    assert (game.over, game.legal()) == (None, ["suit C", "suit D", "suit H", "suit S"])
    game.step("suit D")
    assert (game.over, game.pile, game.scores(), game.turn) == ("terminated", ["9H", "X"], [0, 0, 0, 0], 1)


def test_choose_suit_at_the_cut() -> None:
    """The turn that is cut after still has its suit named."""
    game = choosing("X QD", "9H", max_turns=1)
    game.step("flip")
    assert (game.over, game.turn) == (None, 0)
    game.step("suit D")
    assert (game.over, game.turn) == ("truncated", 1)


def test_choose_suit_of_a_small_pack() -> None:
    """Only suits of the pack are named."""
    game = choosing("X 3S", "", suits="HS")
    game.step("flip")
    assert game.legal() == ["suit H", "suit S"]


def test_choose_suit_with_rank_trigger() -> None:
    """Where ranks trigger a suit is named in vain."""
    game = choosing("X 2S QD", "9H", trigger="753")
    play(game, "flip", "suit S")
    assert game.pickup_cards(1) == 0
    game.step("flip")
    assert game.pile == ["9H", "X", "2S"]
    game = choosing("X 7H QD", "9H", trigger="753")
    play(game, "flip", "suit S", "flip")
    assert (game.pile, held(game)) == ([], [0, 3, 0, 0])


def returning(ring: str, pile: str = "4C", hands: dict[int, str] | None = None, **options: Any) -> NaivePigsTail:
    """Set up a position with jokers that return a hand."""
    return make_game(ring, pile, hands, num_jokers=2, joker_role="return_hand", **options)


def test_return_hand() -> None:
    """The flipper of a joker may put the whole hand back, with any card but a joker on top."""
    game = returning("X KH QD", "4C", {0: "KS 2H X 9D"})
    assert game.pickup_cards(0) == 0
    game.step("flip")
    assert (game.phase, game.seat, game.turn, game.pile) == ("return", 0, 0, ["4C", "X"])
    assert game.legal() == ["keep", "return 2H", "return 9D", "return KS"]
    game.step("return KS")
    assert (game.pile, game.hands[0]) == (["4C", "X", "2H", "9D", "X", "KS"], [])
    assert (game.phase, game.seat, game.turn) == ("play", 1, 1)
    # The card on top is compared as usual: the king takes all seven.
    game.step("flip")
    assert held(game) == [0, 7, 0, 0]


def test_return_hand_kept() -> None:
    """Who keeps the hand leaves the joker on top, on which nothing is a pick-up."""
    game = returning("X 4C QD", "4S", {0: "2H KS"})
    play(game, "flip", "keep")
    assert (game.pile, game.hands[0], game.seat) == (["4S", "X"], ["2H", "KS"], 1)
    assert game.pickup_cards(1) == 0
    game.step("flip")
    assert game.pile == ["4S", "X", "4C"]


def test_return_hand_compares_nothing() -> None:
    """Returned cards that match each other or the pile are no pick-up."""
    game = returning("X QD", "4C", {0: "4S 4H KC"})
    play(game, "flip", "return 4H")
    assert (game.pile, held(game)) == (["4C", "X", "4S", "KC", "4H"], [0, 0, 0, 0])


def test_return_hand_on_an_empty_pile() -> None:
    """With nothing in the middle the joker and the hand make a new pile."""
    game = returning("X QD", "", {0: "2H"})
    play(game, "flip", "return 2H")
    assert (game.pile, game.hands[0]) == (["X", "2H"], [])


def test_return_hand_without_cards() -> None:
    """An empty hand is not asked for; the joker stays on top and matches nothing."""
    game = returning("X 4D QD", "4C", {1: "2H"})
    game.step("flip")
    assert (game.phase, game.seat, game.pile) == ("play", 1, ["4C", "X"])
    assert game.legal() == ["2H", "flip"]
    game.step("flip")
    assert (game.pile, game.seat) == (["4C", "X", "4D"], 2)


def test_return_hand_of_jokers_only() -> None:
    """A hand of jokers alone goes back with a joker on top."""
    game = returning("X 4D QD", "4C", {0: "X X"}, num_decks=2)
    game.step("flip")
    assert game.legal() == ["keep", "return X"]
    game.step("return X")
    assert (game.pile, game.hands[0]) == (["4C", "X", "X", "X"], [])
    assert game.pickup_cards(1) == 0


def test_return_hand_from_hand() -> None:
    """A joker in hand is always safe, and played from hand it does nothing."""
    game = returning("QD KD", "4C", {0: "X 2C"})
    assert game.legal() == ["X", "flip"]
    game.step("X")
    assert (game.pile, game.hands[0], game.phase, game.seat) == (["4C", "X"], ["2C"], "play", 1)


def test_return_hand_last_ring_card() -> None:
    """A joker that is the last ring card still lets the hand go back, and then the game is over."""
    game = returning("X", "4C", {0: "2H KS", 1: "9D"})
    game.step("flip")
    assert (game.over, game.turn) == (None, 0)
    game.step("return 2H")
    assert (game.over, game.scores(), game.pile) == ("terminated", [0, 1, 0, 0], ["4C", "X", "KS", "2H"])
    game = returning("X", "4C", {0: "2H KS", 1: "9D"})
    play(game, "flip", "keep")
    assert (game.over, game.scores()) == ("terminated", [2, 1, 0, 0])


def test_joker_role_attack_needs_attack() -> None:
    """Jokers to be slapped are refused in a game without slapping."""
    with pytest.raises(ValueError, match="needs attack"):
        make_game("QD", joker_role="attack")
    make_game("QD", joker_role="attack", attack=True)


# --- slapping ---------------------------------------------------------------------------------------------------------


def attack(ring: str, pile: str = "KC 9H", hands: dict[int, str] | None = None, **options: Any) -> NaivePigsTail:
    """Set up a position with slapping, hand cards off unless said otherwise."""
    return make_game(ring, pile, hands, **{"attack": True, "hand_play": "off", **options})


def test_attack_order_of_steps() -> None:
    """The mover decides, then everybody commits from the mover clockwise, and until the end nothing is shown."""
    game = attack("5H QD", mover=2)
    assert (game.phase, game.seat, game.legal(), game.needs_reactions()) == ("play", 2, ["flip"], False)
    game.step("flip")
    for seat in (2, 3, 0, 1):
        assert (game.phase, game.seat, game.mover, game.turn) == ("commit", seat, 2, 0)
        assert game.legal() == ["anticipate", "wait"]
        assert game.needs_reactions() == (seat == 1)
        assert (game.ring, game.pile) == (["5H", "QD"], ["KC", "9H"])
        if seat != 1:
            game.step("wait")
    game.step("anticipate", [400, 300, 500, 900])
    # Seat 3 was slowest; the left neighbour of the mover goes on, here the same seat.
    assert (held(game), game.pile, game.seat, game.mover, game.phase) == ([0, 0, 0, 3], [], 3, 3, "play")
    assert (game.turn, game.commitments, game.decision, game.needs_reactions()) == (1, {}, None, False)


def test_attack_next_mover() -> None:
    """Whoever takes, the left neighbour of the mover goes on."""
    for slowest in range(4):
        game = attack("5H QD", mover=1)
        times: Times = [100, 100, 100, 100]
        times[slowest] = 101
        slap(game, "flip", "wwww", times)
        assert (game.hands[slowest], game.seat) == (["KC", "9H", "5H"], 2)


def test_attack_slappers() -> None:
    """On a trigger all may have a time, otherwise exactly those who anticipated."""
    game = attack("5H QD")
    play(game, "flip", "wait", "anticipate", "wait")
    assert game.slappers("wait") == game.slappers("anticipate") == [0, 1, 2, 3]
    game = attack("4S QD")
    with pytest.raises(ValueError, match="before the last commitment"):
        game.slappers("wait")
    play(game, "flip", "wait", "anticipate", "wait")
    assert game.slappers("wait") == [1]
    assert game.slappers("anticipate") == [1, 3]
    with pytest.raises(ValueError, match="not legal"):
        game.slappers("flip")


def test_attack_reactions_are_checked() -> None:
    """Reactions come with the last commitment, one a seat, whole milliseconds, and only of who slaps."""
    game = attack("4S 4H QD")
    with pytest.raises(ValueError, match="last commitment of a turn only"):
        game.step("flip", [None] * 4)
    game.step("flip")
    with pytest.raises(ValueError, match="last commitment of a turn only"):
        game.step("wait", [None] * 4)
    play(game, "wait", "anticipate", "wait")
    wrong: list[Any] = [
        None,
        [],
        [None, 200, None],
        [None, 200, None, None, None],
        [None, None, None, None],
        [200, 200, None, None],
        [None, 200, None, 200],
        [None, 200.0, None, None],
        [None, True, None, None],
        [None, -1, None, None],
    ]
    for times in wrong:
        with pytest.raises(ValueError, match=r"reaction|slap"):
            game.step("wait", times)
        assert (game.phase, game.seat, game.pile) == ("commit", 3, ["KC", "9H"])
    game.step("wait", [None, 200, None, None])
    # Seat 1 took 4S; now 4H comes on an empty pile, which is no trigger.
    assert (game.pile, game.seat) == ([], 1)
    with pytest.raises(ValueError, match="exactly the seats"):
        slap(game, "flip", "wwww", [300, 300, 300, 300])


def test_attack_everybody_slaps_on_a_trigger() -> None:
    """On a trigger waiting and anticipating seats take part alike, and nobody fouls."""
    for foul in ("take", "skip"):
        game = attack("5H QD", foul=foul)
        slap(game, "flip", "awaw", [200, 450, 190, 440])
        assert (held(game), game.owed_turns) == ([0, 3, 0, 0], [0, 0, 0, 0])


@pytest.mark.parametrize(
    ("times", "slowest", "fastest"),
    [
        ([300, 500, 900, 400], 2, 0),
        # No time is slower than any time.
        ([300, None, 9000, 400], 1, 0),
        ([None, 500, 900, 400], 0, 3),
        # Seat 0 moves, so of equals seat 3 is slowest and the mover fastest.
        ([300, 300, 300, 300], 3, 0),
        ([400, 900, 900, 500], 2, 0),
        ([900, 300, 300, 900], 3, 1),
        ([500, 300, 900, 300], 2, 1),
        ([None, 300, None, 200], 2, 3),
        # Nobody slaps.
        ([None, None, None, None], 3, 0),
    ],
)
def test_taker(times: Times, slowest: int, fastest: int) -> None:
    """The slowest takes the pile, or the fastest; of equal seats the one nearer to the mover was faster."""
    for taker, seat in (("slowest", slowest), ("fastest", fastest)):
        game = attack("5H QD", taker=taker)
        slap(game, "flip", "wwww", times)
        assert (game.hands[seat], game.pile, game.seat) == (["KC", "9H", "5H"], [], 1)


def test_taker_equal_times_seen_from_another_mover() -> None:
    """Nearness is counted from the mover: with seat 2 moving the order is 2, 3, 0, 1."""
    game = attack("5H QD", mover=2)
    slap(game, "flip", "wwww", [300, 300, 300, 300])
    assert held(game) == [0, 3, 0, 0]
    game = attack("5H QD", mover=2, taker="fastest")
    slap(game, "flip", "wwww", [300, 300, 400, 300])
    assert held(game) == [0, 0, 0, 3]


def test_foul_take() -> None:
    """Of several fouls the earliest takes the pile with the card just laid; of equals the one nearer to the mover."""
    game = attack("4S QD")
    slap(game, "flip", "waaa", [None, 220, 210, 230])
    assert (game.hands[2], game.pile, game.seat) == (["KC", "9H", "4S"], [], 1)
    game = attack("4S QD", mover=2)
    # From the mover on: 2, 3, 0, 1.
    slap(game, "flip", "waaa", [210, 210, None, 220])
    assert (game.hands[0], game.pile, game.seat) == (["KC", "9H", "4S"], [], 3)
    # Fouls are punished alike where the fastest takes.
    game = attack("4S QD", taker="fastest")
    slap(game, "flip", "awaw", [220, None, 210, None])
    assert held(game) == [0, 0, 3, 0]


def test_foul_on_an_empty_pile() -> None:
    """The first card is no trigger; who slaps takes just that card."""
    game = attack("4S QD", "")
    slap(game, "flip", "awww", [200, None, None, None])
    assert (game.hands[0], game.pile, game.seat) == (["4S"], [], 1)


def test_foul_skip() -> None:
    """A fouling seat loses its next turn, the pile stays."""
    game = attack("4S 3D 2C QD 8C 7H", foul="skip")
    slap(game, "flip", "waww", [None, 200, None, None])
    assert (game.pile, held(game)) == (["KC", "9H", "4S"], [0, 0, 0, 0])
    # Seat 1 is passed over.
    assert (game.seat, game.owed_turns, game.turn) == (2, [0, 0, 0, 0], 1)
    # It still commits and slaps: 3D is no trigger, seats 1 and 3 foul, so seat 3 is passed over and seat 0 is next.
    slap(game, "flip", "wawa", [None, 200, None, 210])
    assert (game.seat, game.owed_turns) == (0, [0, 1, 0, 0])
    # Seat 1 still owes a turn and takes part: all wait, 2C stays; seat 1 is passed over.
    slap(game, "flip", "wwww", [None, None, None, None])
    assert (game.seat, game.owed_turns, game.turn) == (2, [0, 0, 0, 0], 3)
    assert game.pile == ["KC", "9H", "4S", "3D", "2C"]


def test_foul_skip_owing_seat_takes() -> None:
    """A seat that owes a turn slaps and may lose the slap."""
    game = attack("5H QD", foul="skip")
    game.owed_turns = [0, 0, 1, 0]
    play(game, "flip", "wait", "wait")
    assert (game.seat, game.legal()) == (2, ["anticipate", "wait"])
    game.step("wait")
    game.step("wait", [300, 500, 900, 400])
    assert (held(game), game.seat, game.owed_turns) == ([0, 0, 3, 0], 1, [0, 0, 1, 0])


def test_foul_skip_adds_up() -> None:
    """Several fouls cost as many turns."""
    game = attack("4S 3D 2C QS 8C 7H", foul="skip", num_players=3)
    slap(game, "flip", "wwa", [None, None, 200])
    assert (game.seat, game.owed_turns) == (1, [0, 0, 1])
    slap(game, "flip", "waw", [None, None, 200])
    # Seat 2 owed two turns, one is paid now.
    assert (game.seat, game.owed_turns) == (0, [0, 0, 1])
    slap(game, "flip", "wwa", [None, None, 200])
    assert (game.seat, game.owed_turns) == (1, [0, 0, 2])
    slap(game, "flip", "www", [None, None, None])
    assert (game.seat, game.owed_turns) == (0, [0, 0, 1])
    assert game.pile == ["KC", "9H", "4S", "3D", "2C", "QS"]


def test_foul_skip_everybody() -> None:
    """If everybody fouls everybody is passed over once, and the next in turn goes on."""
    game = attack("4S 3D QD", foul="skip")
    slap(game, "flip", "aaaa", [200, 200, 200, 200])
    assert (game.seat, game.owed_turns, game.turn) == (1, [0, 0, 0, 0], 1)
    # Two owed by seats 0 and 1, one by the others: 1, 2, 3, 0 pay, 1 pays again, 2 is next.
    game = attack("4S 3D QD", foul="skip")
    game.owed_turns = [1, 1, 0, 0]
    slap(game, "flip", "aaaa", [200, 200, 200, 200])
    assert (game.seat, game.owed_turns) == (2, [1, 0, 0, 0])


def test_foul_skip_mover() -> None:
    """A fouling mover loses its own next turn; with two players the other one moves twice."""
    game = attack("4S 3D 2C QD", foul="skip", num_players=2)
    slap(game, "flip", "aw", [200, None])
    assert (game.seat, game.owed_turns) == (1, [1, 0])
    slap(game, "flip", "ww", [None, None])
    assert (game.seat, game.owed_turns) == (1, [0, 0])
    slap(game, "flip", "ww", [None, None])
    assert game.seat == 0


def test_foul_skip_and_max_turns() -> None:
    """A turn passed over is not counted."""
    game = attack("4S 3D 2C QD", foul="skip", max_turns=3)
    slap(game, "flip", "waaa", [None, 200, 200, 200])
    assert (game.seat, game.turn) == (0, 1)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.turn, game.over) == (2, None)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.turn, game.over) == (3, "truncated")


def test_flipper_does_not_slap() -> None:
    """A mover that may not slap can only wait, has no time, and neither takes nor fouls."""
    game = attack("5H 4S QD", flipper_slaps=False)
    game.step("flip")
    assert (game.seat, game.legal()) == (0, ["wait"])
    with pytest.raises(ValueError, match="not legal"):
        game.step("anticipate")
    play(game, "wait", "wait", "wait")
    assert game.slappers("wait") == [1, 2, 3]
    with pytest.raises(ValueError, match=r"only the seats \[1, 2, 3\]"):
        game.step("wait", [300, 500, 400, 450])
    game.step("wait", [None, 500, 400, 450])
    assert (held(game), game.seat) == ([0, 3, 0, 0], 1)
    # With seat 1 moving: no slap at all, so seat 0 is farthest.
    game = attack("5H QD", flipper_slaps=False, mover=1)
    slap(game, "flip", "wwww", [None] * 4)
    assert held(game) == [3, 0, 0, 0]
    # The fastest where nobody slaps is the nearest but the mover.
    game = attack("5H QD", flipper_slaps=False, mover=1, taker="fastest")
    slap(game, "flip", "wwww", [None] * 4)
    assert held(game) == [0, 0, 3, 0]


def test_flipper_does_not_slap_two_players() -> None:
    """With two players the other one always takes on a trigger."""
    for times in ([None, 400], [None, None]):
        game = attack("5H QD", flipper_slaps=False, num_players=2)
        slap(game, "flip", "ww", list(times))
        assert held(game) == [0, 3]


def test_last_commitment_where_the_mover_cannot_slap() -> None:
    """The last commitment is always that of the mover's right neighbour."""
    game = attack("5H QD", flipper_slaps=False, mover=3)
    play(game, "flip", "wait", "wait", "wait")
    assert (game.seat, game.needs_reactions()) == (2, True)


def test_attack_last_ring_card() -> None:
    """The last ring card is slapped for as any other, then the game is over."""
    game = attack("5H")
    slap(game, "flip", "wwww", [300, 500, 900, 400])
    assert (game.over, game.scores(), game.pile) == ("terminated", [0, 0, 3, 0], [])
    game = attack("4S")
    slap(game, "flip", "waww", [None, 200, None, None])
    assert (game.over, game.scores(), game.pile) == ("terminated", [0, 3, 0, 0], [])
    game = attack("4S", foul="skip")
    slap(game, "flip", "waww", [None, 200, None, None])
    assert (game.over, game.scores(), game.pile) == ("terminated", [0, 0, 0, 0], ["KC", "9H", "4S"])


def test_attack_rank_trigger() -> None:
    """Slapping for ranks: suits do not count, and an empty pile triggers too."""
    game = attack("2H 3S 7C QD", "9H", trigger="753")
    slap(game, "flip", "wwww", [None] * 4)
    assert game.pile == ["9H", "2H"]
    slap(game, "flip", "wwww", [300, 200, 250, 280])
    assert (held(game), game.pile) == ([3, 0, 0, 0], [])
    slap(game, "flip", "wwww", [300, 200, 250, 310])
    assert (held(game), game.hands[3]) == ([3, 0, 0, 1], ["7C"])
    # A 9 on a 9 is a foul for who slaps.
    game = attack("9S QD", "9H", trigger="753")
    slap(game, "flip", "wwwa", [None, None, None, 100])
    assert held(game) == [0, 0, 0, 2]


def test_attack_hand_play() -> None:
    """Hand cards that do not trigger may be played, and are shown only with the last commitment."""
    game = attack("QD KD", "KC 9H", {0: "2H 9S 4C"}, hand_play="optional")
    assert game.legal() == ["4C", "flip"]
    play(game, "4C", "wait", "wait", "wait")
    assert (game.hands[0], game.pile) == (["2H", "9S", "4C"], ["KC", "9H"])
    assert game.slappers("wait") == []
    game.step("anticipate", [None, None, None, 200])
    assert (game.hands[0], game.hands[3], game.ring) == (["2H", "9S"], ["KC", "9H", "4C"], ["QD", "KD"])
    assert (game.pile, game.seat) == ([], 1)


def test_attack_matching_hand_play() -> None:
    """Where matching cards may be, or must be played, they are slapped for, and anybody may have to take."""
    game = attack("QD KD", "KC 9H", {0: "2H 4C"}, hand_play="optional", allow_matching_hand_play=True)
    assert game.legal() == ["2H", "4C", "flip"]
    slap(game, "2H", "wwww", [300, 500, 900, 400])
    assert (game.hands[0], game.hands[2], game.pile) == (["4C"], ["KC", "9H", "2H"], [])
    game = attack("QD KD", "KC 9H", {0: "2H"}, hand_play="forced")
    assert game.legal() == ["2H"]
    slap(game, "2H", "wwww", [900, 500, 300, 400])
    assert sorted(game.hands[0]) == ["2H", "9H", "KC"]


@pytest.mark.parametrize("role", ["pickup", "attack"])
@pytest.mark.parametrize("trigger", ["match", "753"])
def test_attack_joker_is_a_trigger(role: str, trigger: str) -> None:
    """A joker of these roles is slapped for, on an empty pile too, and is never safe in hand."""
    options: dict[str, Any] = {"joker_role": role, "trigger": trigger, "num_jokers": 1}
    for pile in ("", "KC 9H"):
        game = attack("X QD", pile, **options)
        assert game.pickup_cards(0) == 1
        slap(game, "flip", "wwaw", [300, 900, 200, 400])
        assert (game.hands[1], game.pile, game.seat) == ([*pile.split(), "X"], [], 1)
    game = attack("QD KD", "", {0: "X 2H"}, hand_play="optional", **options)
    assert game.legal() == ["2H", "flip"]
    game = attack("QD KD", "KS", {0: "X"}, hand_play="forced", **options)
    assert game.legal() == ["X"]
    slap(game, "X", "wwww", [300, 200, 900, 400])
    assert (game.hands[0], game.hands[2]) == ([], ["KS", "X"])


def test_attack_choose_suit() -> None:
    """A joker that names a suit is no trigger; the mover is asked after the slaps, by which the next card triggers."""
    options: dict[str, Any] = {"joker_role": "choose_suit", "num_jokers": 1}
    game = attack("X 3S QD", **options)
    play(game, "flip", "wait", "wait", "wait")
    assert game.slappers("anticipate") == [3]
    game.step("wait", [None] * 4)
    assert (game.phase, game.seat, game.mover, game.turn) == ("name_suit", 0, 0, 0)
    game.step("suit S")
    assert (game.phase, game.seat, game.turn) == ("play", 1, 1)
    slap(game, "flip", "wwww", [300, 400, 500, 450])
    assert sorted(game.hands[2]) == ["3S", "9H", "KC", "X"]
    # A foul takes the joker away, and nobody is asked.
    game = attack("X 3S QD", **options)
    slap(game, "flip", "waww", [None, 200, None, None])
    assert (held(game), game.phase, game.seat, game.named_suit) == ([0, 3, 0, 0], "play", 1, None)
    # A foul that only costs a turn leaves it, so the suit is named first and then seat 1 is passed over.
    game = attack("X 3S QD", foul="skip", **options)
    slap(game, "flip", "aaww", [200, 200, None, None])
    assert (game.phase, game.seat, game.owed_turns) == ("name_suit", 0, [1, 1, 0, 0])
    game.step("suit H")
    assert (game.seat, game.owed_turns, game.named_suit) == (2, [1, 0, 0, 0], "H")
    # Played from hand it asks too.
    game = attack("3S QD", hands={0: "X"}, hand_play="optional", **options)
    slap(game, "X", "wwww", [None] * 4)
    assert (game.phase, game.seat, game.hands[0]) == ("name_suit", 0, [])


def test_attack_choose_suit_last_ring_card() -> None:
    """The last ring card as a joker: named if it lies on the pile, else the game is over at once."""
    options: dict[str, Any] = {"joker_role": "choose_suit", "num_jokers": 1}
    game = attack("X", **options)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.over, game.phase) == (None, "name_suit")
    game.step("suit C")
    assert game.over == "terminated"
    game = attack("X", **options)
    slap(game, "flip", "awww", [200, None, None, None])
    assert (game.over, game.scores()) == ("terminated", [3, 0, 0, 0])


def test_attack_return_hand() -> None:
    """A joker that returns the hand is no trigger; it is asked for after the slaps, if it still lies there."""
    options: dict[str, Any] = {"joker_role": "return_hand", "num_jokers": 1}
    game = attack("X QD", hands={0: "2H KS"}, **options)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.phase, game.seat, game.legal()) == ("return", 0, ["keep", "return 2H", "return KS"])
    game.step("return 2H")
    assert (game.pile, game.seat) == (["KC", "9H", "X", "KS", "2H"], 1)
    game = attack("X QD", hands={0: "2H KS"}, **options)
    slap(game, "flip", "wwaw", [None, None, 200, None])
    assert (held(game), game.phase, game.seat) == ([2, 0, 3, 0], "play", 1)
    # A mover that took its own joker by a foul is not asked either.
    game = attack("X QD", hands={0: "2H KS"}, **options)
    slap(game, "flip", "awww", [200, None, None, None])
    assert (held(game), game.phase, game.seat) == ([5, 0, 0, 0], "play", 1)
    # Without cards in hand there is nothing to ask.
    game = attack("X QD", **options)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.phase, game.seat, game.pile) == ("play", 1, ["KC", "9H", "X"])


def test_known_to_hides_commitments() -> None:
    """While seats commit, each one knows only what it committed itself, and only the mover what it decided."""
    game = attack("5H QD", hands={0: "4C"}, hand_play="optional")
    play(game, "4C", "anticipate", "wait")
    known = [game.known_to(seat) for seat in range(4)]
    assert [view["decision"] for view in known] == ["4C", None, None, None]
    assert [view["commitment"] for view in known] == ["anticipate", "wait", None, None]
    for view in known:
        assert view["hands"] == [["4C"], [], [], []]
        assert view["pile"] == ["KC", "9H"]
        assert view["unseen"] == {"5H": 1, "QD": 1}
        assert (view["seat"], view["mover"], view["phase"]) == (2, 0, "commit")
    # What other seats do in secret changes nothing for a seat.
    other = attack("5H QD", hands={0: "4C"}, hand_play="optional")
    play(other, "flip", "wait", "wait")
    for seat in (1, 2, 3):
        assert other.known_to(seat) == game.known_to(seat)
    assert other.known_to(0) != game.known_to(0)


# --- what is known ----------------------------------------------------------------------------------------------------


def test_known_to() -> None:
    """All hands were taken face up, so only the order of the ring is unknown."""
    game = make_game("QD 5H 2C AS", "KC 9H", {1: "8S 3D"}, num_players=3)
    expected = {
        "hands": [[], ["3D", "8S"], []],
        "hand_sizes": [0, 2, 0],
        "pile": ["KC", "9H"],
        "ring_size": 4,
        "unseen": {"2C": 1, "5H": 1, "AS": 1, "QD": 1},
        "named_suit": None,
        "seat": 0,
        "mover": 0,
        "phase": "play",
        "owed_turns": [0, 0, 0],
        "round": 0,
        "first_player": 0,
        "turn": 0,
        "round_scores": [],
        "decision": None,
        "commitment": None,
    }
    assert [game.known_to(seat) for seat in range(3)] == [expected] * 3
    play(game, "flip", "8S")
    known = game.known_to(2)
    assert (known["hands"], known["pile"], known["turn"]) == ([[], ["3D"], []], ["KC", "9H", "QD", "8S"], 2)
    # Another order of the ring looks the same.
    other = make_game("QD AS 2C 5H", "KC 9H", {1: "3D 8S"}, num_players=3)
    play(other, "flip", "8S")
    assert [other.known_to(seat) for seat in range(3)] == [game.known_to(seat) for seat in range(3)]


# --- ends, rounds and scores ------------------------------------------------------------------------------------------


def test_max_turns() -> None:
    """A round is cut after max_turns turns, scored as it stands, and what lies in the middle is nobody's."""
    game = make_game("QD QS 2C 3H", "KC 9H", max_turns=3)
    play(game, "flip", "flip")
    assert (game.over, game.turn) == (None, 2)
    game.step("flip")
    assert (game.over, game.turn, game.pile) == ("truncated", 3, ["2C"])
    assert (game.scores(), game.round_scores, game.legal()) == ([0, 4, 0, 0], [[0, 4, 0, 0]], [])


def test_max_turns_counts_hand_plays_and_not_commitments() -> None:
    """A card from hand is a turn as well; commitments are none."""
    game = make_game("QD QS", "KC 9H", {0: "4C", 1: "3S"}, max_turns=2)
    play(game, "4C", "3S")
    assert (game.over, game.turn) == ("truncated", 2)
    game = attack("QD QS 2C", max_turns=2)
    slap(game, "flip", "wwww", [None] * 4)
    assert (game.over, game.turn) == (None, 1)
    slap(game, "flip", "wwww", [1, 2, 3, 4])
    assert (game.over, game.turn) == ("truncated", 2)


def test_max_turns_on_the_last_ring_card() -> None:
    """A round whose last ring card is laid in the turn of the cut ends by the rules."""
    game = make_game("QD QS", "KC 9H", max_turns=2)
    play(game, "flip", "flip")
    assert game.over == "terminated"


def test_rounds() -> None:
    """In a match each round starts anew, its first seat one further on, and the cards held are added up."""
    rules = {**DEFAULT_RULES, "rounds": 3, "first_player": 3}
    rings = [["9H", "5H", "QD"], ["9H", "4C", "4D"], ["9H", "9S", "KD", "KC"]]
    deals = [{"first_player": (3 + number) % 4, "ring": ring} for number, ring in enumerate(rings)]
    game = NaivePigsTail(4, rules, deals)
    assert (game.seat, game.next_first_player()) == (3, 0)
    # Seat 3: 9H. Seat 0: 5H takes two. Seat 1: QD, left in the middle.
    play(game, "flip", "flip", "flip")
    assert game.round_scores == [[2, 0, 0, 0]]
    assert (game.over, game.round, game.turn, game.seat, game.first_player) == (None, 1, 0, 0, 0)
    assert (game.hands, game.pile, game.ring) == ([[], [], [], []], [], ["9H", "4C", "4D"])
    # Seat 0: 9H. Seat 1: 4C. Seat 2: 4D takes three.
    play(game, "flip", "flip")
    assert game.scores() == [2, 0, 0, 0]
    game.step("flip")
    assert game.round_scores == [[2, 0, 0, 0], [0, 0, 3, 0]]
    assert (game.round, game.seat) == (2, 1)
    # Seat 1: 9H. Seat 2: 9S takes two. Seat 3: KD. Seat 0: KC takes two.
    play(game, "flip", "flip")
    assert game.scores() == [2, 0, 5, 0]
    play(game, "flip", "flip")
    assert game.round_scores == [[2, 0, 0, 0], [0, 0, 3, 0], [2, 0, 2, 0]]
    assert (game.over, game.round, game.legal()) == ("terminated", 2, [])
    assert (game.scores(), game.ranks()) == ([4, 0, 5, 0], [3, 1, 4, 1])


def test_rounds_count_turns_each() -> None:
    """max_turns holds for each round anew, and a round that is cut is the last one."""
    rules = {**DEFAULT_RULES, "rounds": 3, "max_turns": 3}
    deals = [
        {"first_player": 0, "ring": ["9H", "5H", "QD"]},
        {"first_player": 1, "ring": ["9H", "4C", "4D", "2S"]},
        {"first_player": 0, "ring": ["9H"]},
    ]
    game = NaivePigsTail(2, rules, deals)
    play(game, "flip", "flip", "flip")
    assert (game.over, game.round, game.turn) == (None, 1, 0)
    # Seat 1: 9H. Seat 0: 4C. Seat 1: 4D takes three; cut.
    play(game, "flip", "flip", "flip")
    assert (game.over, game.round, game.turn) == ("truncated", 1, 3)
    assert (game.round_scores, game.scores()) == ([[0, 2], [0, 3]], [0, 5])


def test_rounds_forget_owed_turns_and_named_suits() -> None:
    """A turn owed and a suit named in the last turn of a round are gone in the next."""
    rules = {**DEFAULT_RULES, "rounds": 2, "attack": True, "foul": "skip", "joker_role": "choose_suit", "num_jokers": 1}
    deals = [{"first_player": 0, "ring": ["X"]}, {"first_player": 1, "ring": ["9H", "4C"]}]
    game = NaivePigsTail(3, rules, deals)
    slap(game, "flip", "waa", [None, 200, 200])
    game.step("suit H")
    assert (game.round, game.seat, game.owed_turns, game.named_suit, game.phase) == (1, 1, [0, 0, 0], None, "play")
    slap(game, "flip", "www", [None] * 3)
    assert game.pile == ["9H"]


def test_rounds_need_deals() -> None:
    """A deal a round is needed, and each deal says who goes first."""
    with pytest.raises(ValueError, match="2 rounds"):
        NaivePigsTail(2, {**DEFAULT_RULES, "rounds": 2}, [{"first_player": 0, "ring": ["9H"]}])
    deals = [{"first_player": 1, "ring": ["9H"]}, {"first_player": 1, "ring": ["9H"]}]
    game = NaivePigsTail(2, {**DEFAULT_RULES, "rounds": 2, "first_player": 0}, deals)
    assert game.seat == 1
    game.step("flip")
    assert game.seat == 1


def finished(round_scores: list[list[int]], **options: Any) -> NaivePigsTail:
    """Set up a finished match with these scores."""
    game = make_game("QD", num_players=len(round_scores[0]), rounds=len(round_scores), **options)
    game.round_scores = round_scores
    game.over = "terminated"
    return game


@pytest.mark.parametrize(
    ("scores", "ranks", "win", "rank", "score"),
    [
        # Fewest is best. Mean 20; places 2, 4, 1, 3.
        ([15, 30, 10, 25], [2, 4, 1, 3], [-1 / 3, -1 / 3, 1.0, -1 / 3], [1 / 3, -1.0, 1.0, -1 / 3], [0.5, -1, 1, -0.5]),
        # Mean 20; two winners share: (4 / 2 - 1) / 3; places 1.5, 1.5, 3, 4.
        (
            [10, 10, 25, 35],
            [1, 1, 3, 4],
            [1 / 3, 1 / 3, -1 / 3, -1 / 3],
            [2 / 3, 2 / 3, -1 / 3, -1],
            [1, 1, -0.5, -1.5],
        ),
        # Places 1, 2.5, 2.5, 4; mean 5.25.
        (
            [3, 5, 5, 8],
            [1, 2, 2, 4],
            [1.0, -1 / 3, -1 / 3, -1 / 3],
            [1.0, 0.0, 0.0, -1.0],
            [0.225, 0.025, 0.025, -0.275],
        ),
        # All equal: everybody gets nothing.
        ([7, 7, 7, 7], [1, 1, 1, 1], [0.0] * 4, [0.0] * 4, [0.0] * 4),
    ],
)
def test_returns(scores: list[int], ranks: list[int], win: list[float], rank: list[float], score: list[float]) -> None:
    """Fewest cards win, winners share the win, tied places their mean, and scores are paid against the mean."""
    game = finished([scores])
    assert game.scores() == scores
    assert game.ranks() == ranks
    assert game.returns("win") == pytest.approx(win)
    assert game.returns("rank") == pytest.approx(rank)
    assert game.returns("score", 10.0) == pytest.approx(score)
    with pytest.raises(ValueError, match="unknown reward"):
        game.returns("luck")


def test_returns_most_wins() -> None:
    """Where most cards win all signs turn."""
    game = finished([[15, 30, 10, 25]], most_wins=True)
    assert game.ranks() == [3, 1, 4, 2]
    assert game.returns("win") == pytest.approx([-1 / 3, 1.0, -1 / 3, -1 / 3])
    assert game.returns("rank") == pytest.approx([-1 / 3, 1.0, -1.0, 1 / 3])
    assert game.returns("score", 10.0) == pytest.approx([-0.5, 1.0, -1.0, 0.5])


def test_returns_of_a_match() -> None:
    """Win and rank go by the sum of the rounds, score is paid round by round."""
    game = finished([[2, 0, 4], [0, 6, 0]])
    # Sums 2, 6, 4. Means 2 and 2: seat 0 gets 0 and 2, seat 1 2 and -4, seat 2 -2 and 2.
    assert game.scores() == [2, 6, 4]
    assert game.ranks() == [1, 3, 2]
    assert game.returns("win") == pytest.approx([1.0, -0.5, -0.5])
    assert game.returns("rank") == pytest.approx([1.0, -1.0, 0.0])
    assert game.returns("score", 4.0) == pytest.approx([0.5, -0.5, 0.0])


def test_returns_of_a_running_match() -> None:
    """A match that is not over pays as it stands."""
    game = make_game("QD QS", "KC", {0: "9H", 1: "2C 3C"}, num_players=3)
    assert game.scores() == [1, 2, 0]
    assert game.returns("score") == pytest.approx([0.0, -1.0, 1.0])


# --- mistakes ---------------------------------------------------------------------------------------------------------


def test_illegal_actions() -> None:
    """Cards not held or not safe, words of other phases, senseless texts and steps after the end are refused."""
    game = make_game("QD", "9H", {0: "2H 4C"})
    for action in ("2H", "5C", "X", "wait", "anticipate", "suit S", "keep", "return 4C", "", "Flip"):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)
    assert (game.turn, game.seat) == (0, 0)
    game.step("flip")
    assert game.over == "terminated"
    with pytest.raises(ValueError, match="not legal"):
        game.step("flip")
    game = attack("5H QD")
    game.step("flip")
    for action in ("flip", "suit S", ""):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)
    game = choosing("X QD")
    game.step("flip")
    for action in ("flip", "suit X", "S"):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)
    game = returning("X QD", hands={0: "2H X"})
    game.step("flip")
    for action in ("flip", "return X", "return 4C", "return", "2H"):
        with pytest.raises(ValueError, match="not legal"):
            game.step(action)


def test_legal_is_sorted_as_text() -> None:
    """Legal actions are sorted as text, so digits come first, and the flip last."""
    assert make_game("QD", "", {0: "TC X AD 2S JH"}, allow_matching_hand_play=True, num_jokers=1).legal() == [
        "2S",
        "AD",
        "JH",
        "TC",
        "X",
        "flip",
    ]


def test_arguments_are_not_changed() -> None:
    """Playing leaves the rules, the deals and the reactions that were handed over as they were."""
    rules = {**DEFAULT_RULES, "attack": True}
    deals: list[dict[str, Any]] = [{"first_player": 1, "ring": ["9H", "5H", "QD"]}]
    times: Times = [None, 200]
    game = NaivePigsTail(2, rules, deals)
    play(game, "flip", "anticipate")
    game.step("wait", times)
    assert game.hands[1] == ["9H"]
    assert deals == [{"first_player": 1, "ring": ["9H", "5H", "QD"]}]
    assert times == [None, 200]
    assert rules == {**DEFAULT_RULES, "attack": True}

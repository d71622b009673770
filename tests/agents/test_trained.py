"""The policies that come with the suite: small, described, at home at every size, better than the hand-written."""

import json

import pytest

from pigenv import registry
from pigenv.agent import find_agent
from pigenv.agents import catalog
from pigenv.agents.checkpoint import load_checkpoint
from pigenv.evaluate.evaluation import evaluate, verdict

SHIPPED = sorted(catalog.PRETRAINED.glob("*.safetensors"))
MOST_BYTES = 1_000_000


def test_there_is_one_for_pig10():
    """It is found by its name, and named last among the game's agents."""
    game = registry.make("pig10")
    assert catalog.names(game)[-1] == "pig10/trained"
    assert find_agent("pig10/trained", game).name == "pig10/trained"
    assert find_agent("pig10/trained:sample", game).name == "pig10/trained:sample"


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_is_small_and_has_its_card(path):
    """At most a megabyte, with command, seed, hours and results that beat chance at 4 seats beside it."""
    assert path.stat().st_size <= MOST_BYTES
    card = json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))
    assert {"command", "seed", "hours", "decisions", "versions", "results"} <= set(card)
    (four,) = [entry for entry in card["results"] if entry["num_players"] == 4]
    assert four["win_share_ci"][0] > 1 / 4
    assert card["game"] == load_checkpoint(path).game.settings()


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_it_beats_the_strongest_hand_written_player(path):
    """At 4 seats, on 1200 fresh duplicate deals, its interval is clear of chance, and nothing is illegal."""
    definition = load_checkpoint(path).game.definition
    game = registry.make(definition, num_players=4)
    strongest = f"{definition.base}/{list(catalog.players(definition.base))[-1]}"
    (entry,) = evaluate(f"{definition.base}/{catalog.TRAINED}", game, against=strongest, deals=1200, seed=99)["results"]
    assert verdict(entry) == "beats"
    assert entry["illegal"] == 0


def test_it_plays_at_every_table_size_and_under_no_other_rules():
    """It is named at tables of 2 to 8 seats, and not where the rules are other than those it was trained on."""
    for players in range(2, 9):
        game = registry.make("pig10", num_players=players)
        assert "pig10/trained" in catalog.names(game)
        (entry,) = evaluate("pig10/trained", game, against="uniform", deals=5, seed=1)["results"]
        assert entry["illegal"] == 0
    assert "pig10/trained" not in catalog.names(registry.make("pig10", preset="small"))

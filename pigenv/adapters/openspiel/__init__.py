"""Our games as OpenSpiel games, and OpenSpiel's bots as our agents.

    from pigenv.adapters import openspiel

    game = openspiel.load_game("pig10", preset="mini")

Once this module is imported, `pyspiel.load_game("pigenv(game=pig10,preset=mini)")` does the same.

**Chance is explicit.** Where a game's deals are shuffles of a pack and few enough (the `mini` presets), the deal is one
chance node with every distinct deal as an outcome, each with its probability, so that OpenSpiel's exact algorithms
run. Hands are taken as the sets of cards they are. Elsewhere the deal is four chance nodes of 256 outcomes that name
one of 2^32 deals, all equally likely: the sample that a seed would draw from.

**Perfect recall.** `information_state_string` is the text of `InformationState`; `information_state_tensor` stacks, for
the deal and for each step after it, the observation then, the seat to move and the seat's own action. Observations are
what the seat sees now: text as drawn for a terminal, tensor as laid out by the game.

`resample_from_infostate` draws a world for a seat as our own search does, from its view alone. The history of such a
state is unknown and therefore empty, and the other seats' information states begin where it was drawn.
"""

from __future__ import annotations

from pigenv.errors import MissingExtraError

try:
    import pyspiel  # type: ignore[import-not-found]  # noqa: F401
except ImportError:
    raise MissingExtraError("open_spiel", "openspiel") from None

from pigenv.adapters.openspiel.bots import BotAgent
from pigenv.adapters.openspiel.game import OpenSpielGame, load_game
from pigenv.adapters.openspiel.house import MOST_DEALS
from pigenv.adapters.openspiel.state import OpenSpielState

__all__ = ["MOST_DEALS", "BotAgent", "OpenSpielGame", "OpenSpielState", "load_game"]

"""Players of the dice game Pig, weakest first, as kernels over views.

hold_20   holds at twenty: what a roll wins on average is then no more than what it may lose.
racing    holds at twenty-one plus an eighth of the other's lead, and never when somebody is about to win (the
          "end race or keep pace" player of Neller and Presser, "Practical play of the dice game Pig", 2010).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from dice_pig import HOLD, ROLL

from pigenv.game import Act
from pigenv.kernel import Row, kernel

NEAR_THE_END: Final = 71  # points of a hundred: from there one turn is expected to decide


@kernel
def hold_20(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """Hold at twenty or at the target."""
    total = view["total"]
    enough = total >= 20 or view["score"][view["seat"]] + total >= rules["target"]
    return HOLD if enough and mask[HOLD] == 1 else ROLL


@kernel
def racing(view: Row, rules: Row, mask: np.ndarray, key: np.uint64) -> int:
    """Race to the end when somebody is near it, keep pace with the best of the others before."""
    seat, total, best = view["seat"], view["total"], 0
    for other in range(rules["num_players"]):
        if other != seat:
            best = max(best, view["score"][other])
    own = view["score"][seat]
    if own + total >= rules["target"]:
        return HOLD
    near = rules["target"] * NEAR_THE_END / 100
    if own >= near or best >= near:
        return ROLL
    return HOLD if total >= 21 + (best - own) / 8 and mask[HOLD] == 1 else ROLL


PLAYERS: Final[dict[str, Act]] = {"hold_20": hold_20, "racing": racing}

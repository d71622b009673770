"""The environments' own options, checked in one place."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from pigenv.errors import DealError, OptionError, closest, one_of
from pigenv.table import ILLEGAL

__all__ = ["checked_mask", "checked_policy", "checked_render_mode", "deals_of"]

MASK_PLACES = ("obs", "info", "both")


def checked_mask(mask: str) -> str:
    """Where the action mask is given: "obs", "info" or "both"."""
    if not one_of(mask, MASK_PLACES):
        raise OptionError(f"mask must be one of these places, got {mask!r}; {closest(mask, MASK_PLACES)}")
    return mask


def checked_policy(illegal: str) -> str:
    """What happens to an illegal action: "raise", "forfeit" or "random"."""
    if not one_of(illegal, ILLEGAL):
        raise OptionError(f"illegal must be one of these policies, got {illegal!r}; {closest(illegal, ILLEGAL)}")
    return illegal


def checked_render_mode(mode: str | None, modes: Sequence[str]) -> str | None:
    """A render mode that the environment has, or None."""
    if mode is not None and not one_of(mode, modes):
        raise OptionError(f"unknown render_mode {mode!r}; {closest(mode, modes)}, or None")
    return mode


def deals_of(options: Mapping[str, Any] | None) -> list[Mapping[str, Any]]:
    """The deals given to `reset(options={"deal": …})`: one, or a list of one a round. The options stay as they are.

    Other options are ignored, since wrappers and checkers pass their own; but not one that is a slip for this one.

    Raises:
        OptionError: An option is nearly called "deal".
        DealError: It is neither a deal nor a list of deals.
    """
    if options is None:
        return []
    if not isinstance(options, Mapping):
        raise OptionError(f"options must be a dict or None; got {options!r}")
    for name in options:
        if name != "deal" and difflib.get_close_matches(str(name).lower(), ["deal"], cutoff=0.6):
            raise OptionError(f"unknown reset option {name!r}; {closest(name, ['deal'])}")
    given = options.get("deal")
    if given is None:
        return []
    deals = [given] if isinstance(given, Mapping) else given
    if not isinstance(deals, list | tuple) or not all(isinstance(deal, Mapping) for deal in deals):
        raise DealError(f"a deal must be a dict, or a list of one a round; got {given!r}")
    return list(deals)

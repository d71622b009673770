"""A Ray cluster to work on: one that runs somewhere, or one of this machine's processes."""

from __future__ import annotations

import os
import socket
from importlib import import_module
from typing import Any

from pigenv.errors import MissingExtraError, OptionError

__all__ = ["connected"]

_PATIENCE = 10.0  # seconds for a machine to answer


def connected(address: str | None = None, cpus: int | None = None, extra: str = "ray") -> Any:
    """Ray, connected to a cluster: to the one that this process is connected to already, if there is one.

    Args:
        address: Of a cluster's head, as `host:port`; `auto` is one that runs on this machine, or else a new one of its
            processes; `local` is always a new one.
        cpus: Processes that a new one can run at a time; one a core where None.
        extra: What brings Ray, for the error where it is missing.

    Raises:
        MissingExtraError: Ray is not installed.
        OptionError: No cluster answers at the address.
    """
    try:
        ray = import_module("ray")
    except ImportError:
        raise MissingExtraError("ray", extra) from None
    if ray.is_initialized():
        return ray
    quiet = {"logging_level": "ERROR", "log_to_driver": False}
    if address == "local":
        # A cluster of somebody's own machine tells nobody that it was started.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        ray.init("local", num_cpus=cpus, include_dashboard=False, **quiet)
        return ray
    _answers(address)
    try:
        ray.init(None if address == "auto" else address, **quiet)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise OptionError(
            f"no Ray cluster could be joined at {address!r}: {str(error).strip().splitlines()[0]}"
        ) from None
    return ray


def _answers(address: str | None) -> None:
    """Refuse an address where nobody listens: Ray would wait there for minutes."""
    host, colon, port = (address or "").rpartition("://")[2].rpartition(":")
    if not colon or not port.isdecimal():
        return
    try:
        socket.create_connection((host.strip("[]"), int(port)), _PATIENCE).close()
    except (OSError, OverflowError) as error:
        raise OptionError(f"no Ray cluster could be joined at {address!r}: {error}") from None

"""Releases of the libraries that are known not to work here."""

from __future__ import annotations

from importlib import metadata

from pigenv.errors import UnsupportedVersionError

__all__ = ["check_version"]


def check_version(package: str, at_least: str, because: str) -> None:
    """Refuse a release that is known to be broken.

    Args:
        package: The distribution's name.
        at_least: The first release that works: numbers with dots between them.
        because: What happens with an older one.

    Raises:
        UnsupportedVersionError: An older one is installed.
    """
    found = metadata.version(package)
    if _numbers(found) < _numbers(at_least):
        raise UnsupportedVersionError(package, found, at_least, because)


def _numbers(version: str) -> list[int]:
    """The release's numbers; what follows a letter is left out."""
    numbers = []
    for part in version.split("."):
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if digits:
            numbers.append(int(digits))
        if digits != part:
            break
    return numbers

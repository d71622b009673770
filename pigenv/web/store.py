"""Where sessions are kept: in memory while they are played, and on disk, one file each."""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pigenv.errors import OptionError, PigenvError, UnknownNameError
from pigenv.web.session import Session

__all__ = ["Store", "default_folder"]

_NAME: Final = re.compile(r"[A-Za-z0-9_-]{16,64}")
_DAYS_KEPT: Final = 60
_IN_MEMORY: Final = 64


def default_folder() -> Path:
    """The user's folder for such things: `PIGENV_STATE_DIR`, or as the platform has it."""
    if given := os.environ.get("PIGENV_STATE_DIR"):
        return Path(given)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "pigenv" / "games"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "pigenv" / "games"
    return Path(os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state") / "pigenv" / "games"


class Store:
    """Sessions by name; each is used by one request at a time and written before its answer leaves.

    Args:
        folder: Where they are kept.

    Raises:
        OptionError: The folder cannot be made.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sessions: dict[str, Session] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._guard = threading.Lock()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            for path in folder.glob("*.json"):
                if time.time() - path.stat().st_mtime > _DAYS_KEPT * 86_400:
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise OptionError(f"cannot keep games in {os.fspath(folder)!r}: {error.strerror or error}") from None

    def add(self, session: Session) -> None:
        """Keep a new session."""
        with self._guard:
            self._remember(session)
        self._write(session)

    @contextlib.contextmanager
    def use(self, name: str) -> Iterator[Session]:
        """A session, for one request alone; what changed is written afterwards, also after an error.

        Raises:
            UnknownNameError: There is none of that name, or its file cannot be read any more.
        """
        with self._guard:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            session = self._sessions.get(name) or self._read(name)
            version = session.version
            try:
                yield session
            finally:
                if session.version != version:
                    self._write(session)

    def _remember(self, session: Session) -> None:
        self._sessions[session.name] = session
        while len(self._sessions) > _IN_MEMORY:
            self._sessions.pop(next(iter(self._sessions)))

    def _path(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def _read(self, name: str) -> Session:
        if not _NAME.fullmatch(name):
            raise UnknownNameError("there is no such game")
        try:
            session = Session.from_json(json.loads(self._path(name).read_text(encoding="utf-8")))
        except OSError:
            raise UnknownNameError("there is no such game here any more") from None
        except (ValueError, RecursionError, PigenvError) as error:
            raise UnknownNameError(f"this game cannot be read any more: {error}") from None
        with self._guard:
            self._remember(session)
        return session

    def _write(self, session: Session) -> None:
        path = self._path(session.name)
        beside = path.with_suffix(f".{secrets.token_hex(4)}.tmp")
        try:
            beside.write_text(json.dumps(session.to_json()), encoding="utf-8")
            beside.replace(path)
        except OSError as error:
            raise OptionError(f"cannot keep the game in {path}: {error.strerror or error}") from None
        finally:
            beside.unlink(missing_ok=True)

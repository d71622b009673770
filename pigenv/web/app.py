"""The server behind the page: bound to this machine, it deals, asks the agents, and sends a page what its seat sees.

Everything is a plain request with a JSON answer. The page asks for each agent's move as it is ready to show it; so
nothing is lost when a connection is, two tabs may show one game, and a request that is sent twice is answered twice.
"""

from __future__ import annotations

import dataclasses
import ipaddress
import json
import secrets
import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any, Final, TypeAlias

from pigenv import registry
from pigenv.errors import MissingExtraError, OptionError, PigenvError, UnknownNameError, UsageError, closest
from pigenv.game import Definition, Game, describe
from pigenv.table import checked_seed
from pigenv.web.session import PERSON, Session
from pigenv.web.store import Store
from pigenv.web.viewer import PAGE_FILES, Library, card_table, exported

try:
    import uvicorn
    from starlette.applications import Starlette
    from starlette.concurrency import run_in_threadpool
    from starlette.middleware import Middleware
    from starlette.requests import ClientDisconnect, Request
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Route
except ImportError as _error:
    raise MissingExtraError(_error.name or "starlette", "play") from None

__all__ = ["Server", "make_app"]

_LONGEST_BODY: Final = 65_536
_PORTS: Final = range(8765, 8785)
_HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}

Body: TypeAlias = Mapping[str, Any]
Scope: TypeAlias = Any
Names: TypeAlias = Callable[[Game | Definition], Sequence[str]]


class _Refused(Exception):  # noqa: N818 (it is an answer)
    """A request that is answered with a status and a sentence."""

    def __init__(self, status: int, sentence: str, **more: Any) -> None:
        super().__init__(sentence)
        self.status, self.document = status, {"error": sentence, **more}


# --- who may ask ------------------------------------------------------------------------------------------------------


class _Guard:
    """Lets through only requests that were meant for this server by a page of this server.

    A page of another site can make a browser send requests here: those carry its `Origin`. A name of another site can
    be made to lead here: then `Host` is that name.
    """

    def __init__(self, app: Any, hosts: frozenset[str], any_address: bool) -> None:
        self.app, self.hosts, self.any_address = app, hosts, any_address

    async def __call__(self, scope: Scope, receive: Any, send: Any) -> None:
        if scope["type"] != "http":
            return
        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self._ours(host) or (origin is not None and origin != f"http://{host}"):
            await JSONResponse({"error": "this server answers only its own page"}, 403)(scope, receive, send)
            return
        if scope["method"] == "POST" and headers.get("content-type", "").split(";")[0] != "application/json":
            await JSONResponse({"error": "a request must be JSON"}, 415)(scope, receive, send)
            return

        async def with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] += [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
            await send(message)

        await self.app(scope, receive, with_headers)

    def _ours(self, host: str) -> bool:
        name, colon, port = host.rpartition(":")
        name = (name if colon and port.isdecimal() else host).strip("[]").lower()
        if name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        # Bound to the network on purpose: an address is not a name that somebody else could have made lead here.
        return self.any_address


# --- answers ----------------------------------------------------------------------------------------------------------


class _Desk:
    """What the routes share."""

    def __init__(
        self, store: Store, agents: Names, library: Library | None, start: Mapping[str, Any], agent: str | None
    ) -> None:
        self.store, self.agents, self.library, self.start, self.agent = store, agents, library, dict(start), agent

    # Each of these runs in a thread of its own and may take as long as an agent thinks.

    def setup(self) -> dict[str, Any]:
        """What can be chosen before a game."""
        games = [_offer(each, self.agents) for each in registry.definitions()]
        return {"mode": "play" if self.library is None else "watch", "start": self.start, "games": games}

    def opponents(self, body: Body) -> list[str]:
        """Who can play at a table, weakest first."""
        return list(self.agents(_table(body)))

    def new(self, body: Body) -> dict[str, Any]:
        game = _table(body)
        agents = self._opponents(game, body)
        seat = body.get("seat")
        if seat is None:
            seat = secrets.randbelow(game.num_players)
        if not isinstance(seat, int) or isinstance(seat, bool) or not 0 <= seat < game.num_players:
            raise OptionError(f"seat must be 0 … {game.num_players - 1} or null; got {seat!r}")
        line_up = [PERSON] * game.num_players
        for place in range(1, game.num_players):
            line_up[(seat + place) % game.num_players] = agents[(place - 1) % len(agents)]
        given = body.get("seed")
        seed = secrets.randbits(64) if given in (None, "") else checked_seed(_whole(given))
        session = Session(game, line_up, seed)
        self.store.add(session)
        return session.view()

    def _opponents(self, game: Game, body: Body) -> list[str]:
        """The agents asked for, of the catalog or those that the command line named; else the best at this table."""
        agents = _texts(body, "agents") or [self.agents(game)[-1]]
        known = [*self.agents(game.definition), *self.start.get("agents", [])]
        for each in agents:
            # Any other name would be looked up as a file or a class to be loaded.
            if each not in known:
                raise UnknownNameError(f"there is no agent {each!r} here; {closest(each, known)}")
        return agents

    def show(self, name: str) -> dict[str, Any]:
        with self.store.use(name) as session:
            return session.view()

    def play(self, name: str, body: Body) -> dict[str, Any]:
        action = _text(body, "action")
        with self.store.use(name) as session:
            last = session.moves[-1] if session.moves else {}
            # The answer to the same request may have been lost on its way.
            again = _step_of(body) == len(session.moves) - 1 and last == {"seat": session.seat, "action": action}
            if not again:
                _same_step(session, body)
                session.play(action)
            return session.view()

    def next(self, name: str, body: Body) -> dict[str, Any]:
        with self.store.use(name) as session:
            if _step_of(body) == len(session.moves) and not session.my_turn and not session.over:
                session.advance()
            return session.view()

    def undo(self, name: str, body: Body) -> dict[str, Any]:
        with self.store.use(name) as session:
            _same_step(session, body)
            session.undo()
            return session.view()

    def hint(self, name: str, body: Body) -> dict[str, Any]:
        with self.store.use(name) as session:
            _same_step(session, body)
            catalog = self.agents(session.game)
            known = list(dict.fromkeys([*catalog, *(each for each in session.agents if each != PERSON)]))
            agent = body.get("agent") or catalog[-1]
            # Any other name would be looked up as a file or a class to be loaded.
            if agent not in known:
                raise OptionError(f"hints come from the catalog or from this table; got {agent!r}")
            return {**session.hint(agent), "advisers": known}

    def reveal(self, name: str, body: Body) -> dict[str, Any]:
        with self.store.use(name) as session:
            _same_step(session, body)
            return session.reveal()

    def react(self, name: str, body: Body) -> dict[str, Any]:
        with self.store.use(name) as session:
            if _step_of(body) == len(session.moves):
                session.react(body.get("milliseconds"))
            return session.view()

    def record(self, name: str) -> tuple[str, str]:
        with self.store.use(name) as session:
            return f"{session.game.definition.base}-{name[:8]}.jsonl", session.record().to_line() + "\n"

    def watched(self) -> Library:
        if self.library is None:
            raise _Refused(404, "no file of records is shown here")
        return self.library

    def branch(self, line: int, body: Body) -> dict[str, Any]:
        seat, step = body.get("seat"), body.get("step")
        if type(seat) is not int or type(step) is not int:
            raise OptionError(f"step and seat must be whole numbers; got {step!r} and {seat!r}")
        game = self.watched().record(line).table_game()
        session = self.watched().branch(line, step, seat, self._opponents(game, body))
        self.store.add(session)
        return session.view()

    def ranking(self, line: int, step: int) -> dict[str, Any]:
        return self.watched().ranking(line, step, self.agent)

    def export(self, line: int) -> str:
        return exported(self.watched().record(line), line, self.agent)


def _table(body: Body) -> Game:
    """The table that a form describes."""
    return registry.make(_text(body, "game"), body.get("num_players"), body.get("preset"), _mapping(body, "rules"))


def _offer(definition: Definition, agents: Names) -> dict[str, Any]:
    """A game's presets, options and agents, for the form before a game."""
    presets = {}
    for name, preset in definition.presets.items():
        rules = definition.rules.made(preset.rules)
        presets[name] = {
            "meaning": preset.meaning,
            "num_players": preset.num_players,
            "rules": rules.to_json(),
            # Who can play there, by the number of players: a trained policy plays only at tables like its own.
            "agents": {table.num_players: list(agents(table)) for table in _tables(definition, name)},
        }
    options = [
        {
            "name": each.name,
            "meaning": each.metadata["meaning"],
            "kind": type(each.default).__name__,
            "choices": each.metadata["choices"],
            "low": each.metadata["low"],
            "high": each.metadata["high"],
            "words": describe(each),
            # Whether anything but the choices may be given.
            "free": each.metadata["low"] is not None or bool(each.metadata.get("letters")),
        }
        for each in dataclasses.fields(definition.rules)
    ]
    return {
        "game": definition.base,
        "name": definition.name,
        "rulebook": definition.rulebook,
        "presets": presets,
        "options": options,
    }


def _tables(definition: Definition, preset: str) -> Iterator[Game]:
    """A preset's tables, by the number of players; some packs are too small for all that the game could seat."""
    least, most = definition.seats(definition.rules.made(definition.presets[preset].rules))
    for num_players in range(least, most + 1):
        with suppress(OptionError):
            yield Game(definition, num_players=num_players, preset=preset)


def _text(body: Body, key: str) -> str:
    value = body.get(key)
    if not isinstance(value, str) or not value:
        raise OptionError(f"{key} must be a text; got {value!r}")
    return value


def _texts(body: Body, key: str) -> list[str]:
    value = body.get(key, [])
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise OptionError(f"{key} must be a list of texts; got {value!r}")
    return value


def _mapping(body: Body, key: str) -> Mapping[str, Any]:
    value = body.get(key, {})
    if not isinstance(value, dict):
        raise OptionError(f"{key} must be an object; got {value!r}")
    return value


def _whole(value: Any) -> Any:
    """A seed may come as text: a page's numbers are not wide enough for it."""
    return int(value) if isinstance(value, str) and value.isdecimal() and len(value) <= 20 else value


def _step_of(body: Body) -> int:
    step = body.get("step")
    if type(step) is not int:
        raise OptionError(f"step must be a whole number; got {step!r}")
    return step


def _same_step(session: Session, body: Body) -> None:
    """Refuse what was meant for another position: another tab may have played on."""
    if _step_of(body) != len(session.moves):
        raise _Refused(409, "the game has gone on, perhaps in another tab", view=session.view())


@lru_cache(maxsize=16)
def _cards(game: str) -> dict[str, Any]:
    return card_table(game)


# --- the application --------------------------------------------------------------------------------------------------


def make_app(
    folder: Path,
    agents: Names,
    library: Library | None = None,
    start: Mapping[str, Any] | None = None,
    agent: str | None = None,
    host: str = "127.0.0.1",
) -> Starlette:
    """The application.

    Args:
        folder: Where games are kept.
        agents: The names of the agents of a game, or of those who can play at a table, weakest first.
        library: The records to watch; None to play.
        start: What the form before a game shows at first.
        agent: Whose ranking is shown beside recorded moves; that of whoever played where None.
        host: The address it will be bound to.
    """
    desk = _Desk(Store(folder), agents, library, start or {}, agent)
    page = resources.files("pigenv.web").joinpath("page")
    index = page.joinpath("index.html").read_bytes()
    files = {name: (page.joinpath(name).read_bytes(), kind) for name, kind in PAGE_FILES.items()}

    async def home(_: Request) -> Response:
        return Response(index, media_type="text/html; charset=utf-8")

    async def file(request: Request) -> Response:
        found, kind = files[request.url.path.lstrip("/")]
        return Response(found, media_type=f"{kind}; charset=utf-8")

    def get(path: str, work: Callable[[Mapping[str, Any]], Any]) -> Route:
        async def answer(request: Request) -> Response:
            return await _answered(lambda: work(request.path_params))

        return Route(path, answer, methods=["GET"])

    def post(path: str, work: Callable[[Mapping[str, Any], Body], Any]) -> Route:
        async def answer(request: Request) -> Response:
            try:
                body = await _body(request)
            except _Refused as refused:
                return JSONResponse(refused.document, refused.status)
            return await _answered(lambda: work(request.path_params, body))

        return Route(path, answer, methods=["POST"])

    def download(found: tuple[str, str], kind: str) -> Response:
        name, text = found
        return Response(text, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})

    async def kept(request: Request) -> Response:
        name = request.path_params["name"]
        return await _answered(lambda: download(desk.record(name), "application/jsonl"))

    async def export(request: Request) -> Response:
        line = request.path_params["line"]
        return await _answered(lambda: download((f"game-{line}.html", desk.export(line)), "text/html; charset=utf-8"))

    game, record = "/api/games/{name}", "/api/records/{line:int}"
    routes = [
        Route("/", home),
        *(Route(f"/{name}", file) for name in files),
        get("/api/setup", lambda _: desk.setup()),
        get("/api/cards/{game}", lambda at: _cards(registry.definition(at["game"]).base)),
        post("/api/agents", lambda _, body: desk.opponents(body)),
        post("/api/games", lambda _, body: desk.new(body)),
        get(game, lambda at: desk.show(at["name"])),
        post(f"{game}/play", lambda at, body: desk.play(at["name"], body)),
        post(f"{game}/next", lambda at, body: desk.next(at["name"], body)),
        post(f"{game}/undo", lambda at, body: desk.undo(at["name"], body)),
        post(f"{game}/hint", lambda at, body: desk.hint(at["name"], body)),
        post(f"{game}/reveal", lambda at, body: desk.reveal(at["name"], body)),
        post(f"{game}/react", lambda at, body: desk.react(at["name"], body)),
        Route(f"{game}/record", kept),
        get("/api/records", lambda _: desk.watched().contents()),
        get(record, lambda at: desk.watched().document(at["line"])),
        get(record + "/ranking/{step:int}", lambda at: desk.ranking(at["line"], at["step"])),
        post(f"{record}/branch", lambda at, body: desk.branch(at["line"], body)),
        Route(f"{record}/export", export),
    ]
    local = frozenset({"127.0.0.1", "localhost", "::1", host.strip("[]").lower()})
    guard = Middleware(_Guard, hosts=local, any_address=not _is_loopback(host))
    return Starlette(routes=routes, middleware=[guard])


async def _body(request: Request) -> Body:
    """The JSON object of a request."""
    data = b""
    try:
        async for chunk in request.stream():
            data += chunk
            if len(data) > _LONGEST_BODY:
                raise _Refused(413, f"a request may have {_LONGEST_BODY} bytes")
    except ClientDisconnect:
        raise _Refused(400, "the request was cut short") from None
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        raise _Refused(400, "a request must be JSON") from None
    if not isinstance(found, dict):
        raise _Refused(400, f"a request must be a JSON object; got {type(found).__name__}")
    return found


async def _answered(work: Callable[[], Any]) -> Response:
    """The answer to a request; whatever was wrong with it becomes a sentence."""
    try:
        found = await run_in_threadpool(work)
    except _Refused as refused:
        return JSONResponse(refused.document, refused.status)
    except PigenvError as error:
        status = 404 if isinstance(error, UnknownNameError) else 409 if isinstance(error, UsageError) else 400
        return JSONResponse({"error": str(error)}, status)
    return found if isinstance(found, Response) else JSONResponse(found)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class Server:
    """The application at an address.

    Args:
        app: The application.
        host: The address to bind to.
        port: The port; 0 for any that is free, None for the first free one from 8765 on.

    Attributes:
        url: Where the page is.

    Raises:
        OptionError: The address or the port cannot be had.
    """

    def __init__(self, app: Starlette, host: str = "127.0.0.1", port: int | None = None) -> None:
        self._socket = _bound(host.strip("[]"), port)
        shown = f"[{host.strip('[]')}]" if ":" in host else host
        self.url: str = f"http://{shown}:{self._socket.getsockname()[1]}/"
        config = uvicorn.Config(app, log_level="warning", lifespan="off", ws="none", access_log=False)
        self._server = uvicorn.Server(config)

    def run(self) -> None:
        """Serve until interrupted."""
        try:
            self._server.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass
        finally:
            self._socket.close()

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._server.should_exit = True


def _bound(host: str, port: int | None) -> socket.socket:
    wanted = _PORTS if port is None else (port,)
    problem = ""
    for each in wanted:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        found = socket.socket(family, socket.SOCK_STREAM)
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            found.bind((host, each))
        except (OSError, OverflowError) as error:
            found.close()
            problem = getattr(error, "strerror", None) or str(error)
            continue
        found.listen(128)
        return found
    which = f"port {port}" if port is not None else f"any port {_PORTS.start} … {_PORTS.stop - 1}"
    raise OptionError(f"cannot serve at {host}, {which}: {problem}; choose others with --host and --port")

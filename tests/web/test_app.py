"""The server: who may ask, what it sends, and that nothing it is sent can break a game."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("httpx")

import httpx
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from pigenv import registry
from pigenv.agents import catalog
from pigenv.errors import OptionError
from pigenv.records import Record, play_games, replay, verify, write_records
from pigenv.web.app import Server, make_app
from pigenv.web.session import Session
from pigenv.web.store import Store
from pigenv.web.viewer import Library

HERE = "http://127.0.0.1:8765"
NEW = {"game": "pig10", "num_players": 3, "agents": ["pig10/counting", "uniform"], "seat": 0, "seed": "7"}


def client(folder: Path, **settings: Any) -> TestClient:
    return TestClient(make_app(folder, catalog.names, **settings), base_url=HERE)


@pytest.fixture
def page(tmp_path: Path) -> TestClient:
    """A server with no games yet."""
    return client(tmp_path / "games")


@pytest.fixture
def library(tmp_path: Path) -> Library:
    """Two recorded games."""
    path = tmp_path / "games.jsonl"
    write_records(path, play_games(registry.make("pig10", 3), ["uniform", "pig10/careful"], 1, 2))
    return Library(str(path))


def begin(page: TestClient, **changes: Any) -> dict[str, Any]:
    """A new game, as its page sees it."""
    answer = page.post("/api/games", json=NEW | changes)
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def go_on(page: TestClient, view: dict[str, Any]) -> dict[str, Any]:
    """One move: the person's first legal one, or the agent's."""
    what, body = ("play", {"action": view["moves"][0]["action"]}) if view["my_turn"] else ("next", {})
    answer = page.post(f"/api/games/{view['id']}/{what}", json={"step": view["step"], **body})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def my_turn(page: TestClient, **changes: Any) -> dict[str, Any]:
    view = begin(page, **changes)
    while not view["my_turn"]:
        view = go_on(page, view)
    return view


# --- who may ask ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example:8765", "10.0.0.7:8765", ""]
)
def test_other_hosts_are_refused(page: TestClient, host: str) -> None:
    """A request under any other name than this machine's own is refused, whatever it asks."""
    for path in ("/", "/api/setup"):
        assert page.get(path, headers={"Host": host}).status_code == 403
    assert page.post("/api/games", json=NEW, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "[::1]:8765", "localhost"])
def test_this_machine_is_answered(page: TestClient, host: str) -> None:
    """Every name of this machine is answered."""
    assert page.get("/api/setup", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1:8765", "http://127.0.0.1:9999"])
def test_other_origins_are_refused(page: TestClient, origin: str) -> None:
    """A page of another origin cannot make this server deal or play."""
    assert page.post("/api/games", json=NEW, headers={"Origin": origin}).status_code == 403
    assert page.post("/api/games", json=NEW, headers={"Origin": HERE}).status_code == 200


def test_forms_are_refused(page: TestClient) -> None:
    """What a form of another page could send without being asked first is refused by its kind."""
    answer = page.post("/api/games", content=json.dumps(NEW), headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


def test_bound_to_the_network(tmp_path: Path) -> None:
    """Bound to more than this machine on purpose, addresses are answered, foreign names still are not."""
    page = client(tmp_path, host="0.0.0.0")
    assert page.get("/api/setup", headers={"Host": "10.0.0.7:8765"}).status_code == 200
    assert page.get("/api/setup", headers={"Host": "evil.example:8765"}).status_code == 403


def test_no_other_file_is_served(page: TestClient, tmp_path: Path) -> None:
    """The page's own three files are there; no path leads to any other."""
    for path in ("/", "/page.css", "/page.js"):
        answer = page.get(path)
        assert answer.status_code == 200
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
    begin(page)
    kept = next((tmp_path / "games").glob("*.json")).name
    for path in (
        "/index.html", "/page/index.html", "/../pyproject.toml", "/%2e%2e/pyproject.toml", "/app.py",
        f"/api/games/{kept}", f"/api/games/..%2Fgames%2F{kept.removesuffix('.json')}", "/api/games/%2Fetc%2Fpasswd",
    ):  # fmt: skip
        assert page.get(path).status_code == 404, path


def test_nothing_from_outside(page: TestClient) -> None:
    """The page's files name no address of another server."""
    for path in ("/", "/page.css", "/page.js"):
        text = page.get(path).text.replace("http://www.w3.org/2000/svg", "")
        assert "http:" not in text
        assert "https:" not in text
        assert "//cdn" not in text


# --- a game -----------------------------------------------------------------------------------------------------------


def test_a_whole_game_through_messages(page: TestClient) -> None:
    """A game is played by requests alone; its record is there at the end and not before, and verifies."""
    view = begin(page)
    early = page.get(f"/api/games/{view['id']}/record")
    assert early.status_code == 400
    while not view["over"]:
        view = go_on(page, view)
    answer = page.get(f"/api/games/{view['id']}/record")
    assert "attachment" in answer.headers["Content-Disposition"]
    record = Record.from_line(answer.text)
    assert verify(record) == 80
    assert record.agents == ["person", "pig10/counting", "uniform"]
    assert record.seed == 7
    assert view["result"]["scores"] == record.scores


def test_every_message_is_the_seats_view(page: TestClient, tmp_path: Path) -> None:
    """Every answer of a game, hints too, is the same for another deal that the seat cannot tell from the true one."""
    view = begin(page)
    store = Store(tmp_path / "other")
    while not view["over"]:
        saved = json.loads((tmp_path / "games" / f"{view['id']}.json").read_text(encoding="utf-8"))
        twin = Session.from_json(saved)
        known = twin.table.view(0)
        twin.table.loops.determinize_views(known, twin.game.row, np.full(1, 11 + view["step"], np.uint64))
        twin.table.states[:] = known
        twin.name = view["id"]
        store.add(twin)
        shown = page.get(f"/api/games/{view['id']}")
        assert json.loads(json.dumps(twin.view())) == shown.json() == view
        assert "seed" not in shown.text
        if view["my_turn"] and view["step"] % 4 == 0:
            asked = {"step": view["step"], "agent": "pig10/counting"}
            hint = page.post(f"/api/games/{view['id']}/hint", json=asked).json()
            assert hint.pop("advisers") == catalog.names(twin.game)
            assert hint == json.loads(json.dumps(twin.hint("pig10/counting")))
        view = go_on(page, view)


def test_two_tabs(page: TestClient) -> None:
    """What a tab sends for a position that is over is answered with how things stand, and changes nothing."""
    view = my_turn(page)
    later = go_on(page, view)
    action = view["moves"][-1]["action"] + "?"
    answer = page.post(f"/api/games/{view['id']}/play", json={"step": view["step"], "action": action})
    assert answer.status_code == 409
    assert "another tab" in answer.json()["error"]
    assert answer.json()["view"] == later
    assert page.post(f"/api/games/{view['id']}/undo", json={"step": view["step"]}).status_code == 409
    assert page.get(f"/api/games/{view['id']}").json() == later


def test_a_request_sent_twice_counts_once(page: TestClient) -> None:
    """A page that never got the answer asks again; the move is made once."""
    view = my_turn(page)
    body = {"step": view["step"], "action": view["moves"][0]["action"]}
    first, second = (page.post(f"/api/games/{view['id']}/play", json=body).json() for _ in range(2))
    assert first == second
    assert first["step"] == view["step"] + 1
    first, second = (page.post(f"/api/games/{view['id']}/next", json={"step": first["step"]}).json() for _ in range(2))
    assert first == second
    assert first["step"] == view["step"] + 2


def test_many_at_once_move_once(page: TestClient) -> None:
    """Twenty requests for the next move at the same time make one move."""
    view = go_on(page, my_turn(page))
    assert not view["my_turn"]
    with ThreadPoolExecutor(8) as pool:
        asked = [
            pool.submit(page.post, f"/api/games/{view['id']}/next", json={"step": view["step"]}) for _ in range(20)
        ]
    assert {each.result().json()["step"] for each in asked} == {view["step"] + 1}


def test_a_new_server_goes_on(tmp_path: Path) -> None:
    """A server started anew on the same folder has the game where it was, after every single move."""
    view = begin(client(tmp_path))
    for _ in range(12):
        again = client(tmp_path)
        assert again.get(f"/api/games/{view['id']}").json() == view
        view = go_on(again, view)


def test_taking_back_and_hints(page: TestClient) -> None:
    """Undo gives back the last own decision; hints rank its moves; both only where they make sense."""
    view = my_turn(page)
    path = f"/api/games/{view['id']}"
    assert page.post(f"{path}/undo", json={"step": view["step"]}).status_code == 409
    later = go_on(page, go_on(page, view))
    back = page.post(f"{path}/undo", json={"step": later["step"]}).json()
    assert (back["step"], back["scene"], back["moves"]) == (view["step"], view["scene"], view["moves"])
    hint = page.post(f"{path}/hint", json={"step": back["step"]}).json()
    assert hint["agent"] == catalog.names(registry.definition("pig10"))[-1]
    assert {each["action"] for each in hint["ranking"]} == {move["action"] for move in view["moves"]}
    other = go_on(page, back)
    assert page.post(f"{path}/hint", json={"step": other["step"]}).status_code == 409


@pytest.mark.parametrize(
    "changes",
    [
        {"game": "pig11"}, {"game": None}, {"preset": "huge"}, {"num_players": 99}, {"num_players": "3"},
        {"rules": {"hand_size": 0}}, {"rules": {"nonsense": 1}}, {"rules": []}, {"agents": ["pig10/nobody"]},
        {"agents": "uniform"}, {"agents": ["os:system"]}, {"agents": ["person"]}, {"seat": 3}, {"seat": "x"},
        {"seed": -1}, {"seed": "x"}, {"seed": 2**64}, {"rules": {"deck_counts": [1] * 5}},
    ],
)  # fmt: skip
def test_a_game_that_cannot_be_is_refused(page: TestClient, tmp_path: Path, changes: dict[str, Any]) -> None:
    """Whatever is wrong with the choices gets one sentence, and no game is begun."""
    answer = page.post("/api/games", json=NEW | changes)
    assert answer.status_code in (400, 404)
    assert len(answer.json()["error"]) > 10
    assert list((tmp_path / "games").glob("*.json")) == []


@pytest.mark.parametrize("rules", [{"five_clamp": True, "hand_size": 5}, {"first_player": 1}, {"same_rule": "off"}])
def test_rules_set_on_the_page_are_played(page: TestClient, rules: dict[str, Any]) -> None:
    """A game has exactly the rules that were set, and says which differ."""
    view = begin(page, rules=rules)
    assert view["rules"] == rules


def test_setup_offers_everything(page: TestClient) -> None:
    """The form is offered every game, preset, option with its values, and agent."""
    found = page.get("/api/setup").json()
    assert found["mode"] == "play"
    assert [each["game"] for each in found["games"]] == registry.names()
    for each in found["games"]:
        definition = registry.definition(each["game"])
        assert list(each["presets"]) == list(definition.presets)
        made = registry.make(each["game"])
        assert [option["name"] for option in each["options"]] == [name for name, *_ in made.options()]
        assert all(str(preset["num_players"]) in preset["agents"] for preset in each["presets"].values())
        cards = page.get(f"/api/cards/{each['game']}").json()
        assert cards[""]["name"] == "face-down card"


TABLES = [(game, name) for game in registry.names() for name in registry.definition(game).presets]


@pytest.mark.parametrize(("game", "preset"), TABLES)
def test_who_is_offered_can_play(page: TestClient, game: str, preset: str) -> None:
    """At every table, all who are offered sit down and can be asked; whoever is best does so where nobody was named."""
    setup = page.get("/api/setup").json()
    offer = next(each for each in setup["games"] if each["game"] == game)["presets"][preset]
    for num_players, offered in list(offer["agents"].items())[:3]:
        table = {"game": game, "preset": preset, "num_players": int(num_players), "seat": 0, "seed": "3"}
        assert set(catalog.names(registry.definition(game))) - set(offered) <= {f"{game}/trained"}
        assert page.post("/api/agents", json=table).json() == offered
        for name in offered:
            view = page.post("/api/games", json={**table, "agents": [name]}).json()
            assert set(view["agents"]) == {"person", name}
        view = page.post("/api/games", json=table).json()
        assert set(view["agents"]) == {"person", offered[-1]}
        while not view["my_turn"]:
            view = page.post(f"/api/games/{view['id']}/next", json={"step": view["step"]}).json()
        hint = page.post(f"/api/games/{view['id']}/hint", json={"step": view["step"]}).json()
        assert (hint["agent"], hint["advisers"]) == (offered[-1], offered)


def test_a_trained_policy_is_offered_at_tables_like_its_own(page: TestClient) -> None:
    """Changed rules that change what a seat sees leave the trained policy out, also where it is asked for."""
    own, other = {"game": "pig10", "num_players": 3}, {"game": "pig10", "num_players": 3, "rules": {"hand_size": 5}}
    assert "pig10/trained" in page.post("/api/agents", json=own).json()
    assert "pig10/trained" not in page.post("/api/agents", json=other).json()
    answer = page.post("/api/games", json={**other, "agents": ["pig10/trained"]})
    assert answer.status_code == 400
    assert "trained" in answer.json()["error"]


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
FIELDS = st.sampled_from(["step", "action", "agent", "milliseconds", "game", "rules", "agents", "seat", "seed"])


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> tuple[TestClient, dict[str, Any]]:
    page = client(tmp_path_factory.mktemp("games"))
    return page, my_turn(page)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    what=st.sampled_from(["", "/play", "/next", "/undo", "/hint", "/reveal", "/react", "/nothing"]),
    body=st.dictionaries(FIELDS, ANYTHING, max_size=4) | ANYTHING,
)
def test_no_message_breaks_a_game(shared: tuple[TestClient, dict[str, Any]], what: str, body: Any) -> None:
    """Any JSON at all gets an answer, never a failure of the server, and the game is where it was."""
    page, view = shared
    path = f"/api/games/{view['id']}{what}" if what else "/api/games"
    answer = page.post(path, json=body)
    assert answer.status_code < 500
    if answer.status_code not in (200, 404, 405):
        assert answer.json()["error"]
    assert page.get(f"/api/games/{view['id']}").json()["moves"] == view["moves"]


@pytest.mark.parametrize("data", [b"", b"{", b"\xff\xfe", b"[1]", b'"x"', b"[" * 100_000, b"{" + b" " * 70_000 + b"}"])
def test_bodies_that_are_no_objects(page: TestClient, data: bytes) -> None:
    """A body that is no JSON object, or too long, is refused with a sentence."""
    answer = page.post("/api/games", content=data, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 413)
    assert answer.json()["error"]


def test_a_spoiled_file_is_no_game(tmp_path: Path) -> None:
    """A kept game whose file was damaged is answered as one that is not there any more."""
    view = begin(client(tmp_path))
    path = tmp_path / f"{view['id']}.json"
    whole = json.loads(path.read_text(encoding="utf-8"))
    for spoiled in ("", "{}", "[]", json.dumps(whole | {"moves": [{"action": 5}]}), json.dumps(whole | {"seed": "x"})):
        path.write_text(spoiled, encoding="utf-8")
        answer = client(tmp_path).get(f"/api/games/{view['id']}")
        assert answer.status_code == 404, spoiled
        assert answer.json()["error"]


def test_a_folder_that_cannot_be(tmp_path: Path) -> None:
    """A folder that cannot be made is refused with its name."""
    (tmp_path / "file").write_text("")
    with pytest.raises(OptionError, match="cannot keep games"):
        Store(tmp_path / "file" / "games")


# --- records ----------------------------------------------------------------------------------------------------------


def test_a_record_has_every_position(tmp_path: Path, library: Library) -> None:
    """The page gets each position from each seat, exactly as the game draws it, and what led to it."""
    page = client(tmp_path, library=library)
    assert page.get("/api/setup").json()["mode"] == "watch"
    contents = page.get("/api/records").json()
    assert [row["line"] for row in contents] == [1, 2]
    document = page.get("/api/records/2").json()
    steps = list(replay(library.record(2)))
    assert len(document["frames"]) == len(steps) + 1 == contents[1]["steps"] + 1
    zones = document["zones"]
    for frame, each in zip(document["frames"][1:], steps, strict=True):
        assert frame["played"]["action"] == each.action
        assert frame["played"]["called"] == each.called
        open_table = [zones[at] for at in frame["views"][0]["zones"]]
        assert [tuple(zone["cards"]) for zone in open_table] == [zone.cards for zone in each.scene.zones]
        for seat in range(3):
            hands = {zones[at]["seat"]: zones[at]["cards"] for at in frame["views"][seat + 1]["zones"][2:]}
            assert all(card is None for other in range(3) if other != seat for card in hands[other])
            assert None not in hands[seat]
    assert document["result"]["scores"] == library.record(2).scores
    assert page.get("/api/records/3").status_code == 400


def test_rankings_beside_the_moves(tmp_path: Path, library: Library) -> None:
    """Beside a recorded move stands how its own agent, or the one asked for, ranks it."""
    page = client(tmp_path, library=library)
    own = page.get("/api/records/1/ranking/5").json()
    each = list(replay(library.record(1)))[5]
    assert own["agent"] == library.record(1).agents[each.seat]
    assert {entry["action"] for entry in own["ranking"]} == set(each.legal)
    other = client(tmp_path, library=library, agent="pig10/counting").get("/api/records/1/ranking/5").json()
    assert other["agent"] == "pig10/counting"
    assert page.get("/api/records/1/ranking/999").status_code == 400


@pytest.mark.parametrize("step", [0, 17, 79])
def test_playing_on_from_a_record(tmp_path: Path, library: Library, step: int) -> None:
    """From any position a person takes a seat and plays on; the new game's record verifies and begins the same."""
    page = client(tmp_path, library=library)
    answer = page.post("/api/records/1/branch", json={"step": step, "seat": 1, "agents": ["pig10/careful"]})
    view = answer.json()
    assert (view["step"], view["seat"]) == (step, 1)
    while not view["over"]:
        view = go_on(page, view)
    record = Record.from_line(page.get(f"/api/games/{view['id']}/record").text)
    verify(record)
    told = library.record(1).rounds[0]
    assert record.rounds[0]["deal"] == told["deal"]
    assert record.rounds[0]["steps"][:step] == told["steps"][:step]
    assert record.seed is None
    for wrong in ({"step": 80, "seat": 1}, {"step": -1, "seat": 1}, {"step": 1, "seat": 3}, {"step": "1", "seat": 0}):
        assert page.post("/api/records/1/branch", json=wrong).status_code == 400


def test_an_export_stands_alone(tmp_path: Path, library: Library) -> None:
    """An exported game is one page with everything in it: no link, no address, no other file."""
    answer = client(tmp_path, library=library).get("/api/records/1/export")
    html = answer.text.replace("http://www.w3.org/2000/svg", "")
    assert "attachment" in answer.headers["Content-Disposition"]
    assert "http:" not in html
    assert "https:" not in html
    assert "page.css" not in html
    assert "page.js" not in html
    data = json.loads(html.split('id="data">')[1].split("</script>")[0])
    assert len(data["record"]["rankings"]) == 80
    assert len(data["record"]["frames"]) == 81


def test_no_records_where_none_are_shown(page: TestClient) -> None:
    """A server for playing has no records to ask for."""
    assert page.get("/api/records").status_code == 404
    assert page.get("/api/records/1").status_code == 404


# --- at an address ----------------------------------------------------------------------------------------------------


def test_served_at_an_address(tmp_path: Path) -> None:
    """The server answers at the address it names, stops when told, and frees the port."""
    app = make_app(tmp_path, catalog.names)
    server = Server(app, port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        assert server.url.startswith("http://127.0.0.1:")
        assert httpx.get(server.url + "api/setup", timeout=30).json()["mode"] == "play"
        port = int(server.url.rstrip("/").rpartition(":")[2])
        with pytest.raises(OptionError, match="--port"):
            Server(app, port=port)
    finally:
        server.stop()
        thread.join(30)
    assert not thread.is_alive()
    Server(app, port=port)._socket.close()

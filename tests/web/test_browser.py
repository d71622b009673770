"""The page in a real browser: whole games by mouse and by keyboard, on a desk and on a phone, with axe-core.

Needs Chromium and Playwright; screenshots are left in `runs/screenshots`.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pigenv import registry
from pigenv.agents import catalog
from pigenv.records import Record, play_games, verify, write_records
from tests.web.positions import VIEWS

sync_api = pytest.importorskip("playwright.sync_api")
axe_module = pytest.importorskip("axe_playwright_python.sync_playwright")
app_module = pytest.importorskip("pigenv.web.app")
viewer = pytest.importorskip("pigenv.web.viewer")

CHROMIUM = os.environ.get("PIGENV_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="Chromium is not installed"),
    pytest.mark.xdist_group("browser"),
]

ROOT = Path(__file__).resolve().parents[2]
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
# As root in a container there is no sandbox; and nothing is to be asked of the network.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync"]  # fmt: skip
FOLDERS: dict[str, Path] = {}
START = {"game": "pig10", "num_players": 3, "agents": ["pig10/counting", "uniform"], "seat": 0, "seed": "7"}


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Any:
    path = tmp_path_factory.mktemp("records") / "games.jsonl"
    write_records(path, play_games(registry.make("pig10", 3), ["uniform", "pig10/careful"], 1, 2))
    return viewer.Library(str(path))


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where a person plays."""
    yield from served(tmp_path_factory.mktemp("games"), start=START)


@pytest.fixture(scope="module")
def watch_url(tmp_path_factory: pytest.TempPathFactory, library: Any) -> Iterator[str]:
    """Where records are watched."""
    yield from served(tmp_path_factory.mktemp("watched"), library=library)


def served(folder: Path, **settings: Any) -> Iterator[str]:
    server = app_module.Server(app_module.make_app(folder, catalog.names, **settings), port=0)
    thread = threading.Thread(target=server.run)
    thread.start()
    FOLDERS[server.url] = folder
    yield server.url
    server.stop()
    thread.join(30)


class Tab:
    """A page in a window of its own, which must not complain."""

    def __init__(self, browser: Any, size: str, **more: Any) -> None:
        self.size = size
        touch = size == "phone"
        self.context = browser.new_context(viewport=SIZES[size], has_touch=touch, accept_downloads=True, **more)
        self.page = self.context.new_page()
        self.page.set_default_timeout(60_000)
        self.complaints: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda said: self.complaints.append(said.text) if said.type != "log" else None)
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("request", lambda request: self.requests.append(request.url))

    def open(self, url: str) -> None:
        self.page.goto(url)
        # Others move at once.
        self.page.evaluate("localStorage.setItem('pigenv.pace', 0)")

    def settle(self) -> bool:
        """Wait until it is the person's turn, or the game is over; returns whether it goes on."""
        self.page.wait_for_selector('#board:not([hidden]) #table:is([data-turn="yours"], [data-turn="over"])')
        return self.page.locator("#table").get_attribute("data-turn") == "yours"

    def picture(self, name: str) -> None:
        folder = ROOT / "runs" / "screenshots"
        folder.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=folder / f"{name}-{self.size}.png", full_page=True)

    def check(self, where: str) -> None:
        """No serious fault of accessibility, nothing wider than the window, and nothing on the console."""
        found = axe_module.Axe().run(self.page)
        faults = [each for each in found.response["violations"] if each["impact"] in ("serious", "critical")]
        assert [(each["id"], [node["target"] for node in each["nodes"]][:3]) for each in faults] == [], where
        assert self.page.evaluate("document.documentElement.scrollWidth") <= SIZES[self.size]["width"], where
        assert self.complaints == [], where
        assert {request.split("/")[2] for request in self.requests if request.startswith("http")} <= {
            self.page.url.split("/")[2]
        }


@pytest.fixture(params=SIZES)
def tab(request: pytest.FixtureRequest, browser: Any) -> Iterator[Tab]:
    made = Tab(browser, request.param)
    yield made
    made.context.close()


def downloaded(tab: Tab) -> Record:
    with tab.page.expect_download() as waiting:
        tab.page.locator("#download").click()
    return Record.from_line(Path(waiting.value.path()).read_text(encoding="utf-8"))


def test_a_whole_game_by_mouse(tab: Tab, url: str) -> None:
    """Touching cards plays a game from the form to the placements; the record downloaded there verifies."""
    tab.open(url)
    page = tab.page
    page.wait_for_selector("#deal")
    tab.picture("setup")
    tab.check("the form")
    page.click("#deal")
    turns = 0
    while tab.settle():
        cards = page.locator("#own button.card.playable")
        assert cards.count() == page.locator("#own button.card").count()
        cards.nth(turns % cards.count()).click()
        if page.locator("#choice[open]").count():
            if turns < 20:
                tab.check("a choice")
            page.locator("#choice .choices button").first.click()
        turns += 1
        if turns == 5:
            tab.settle()
            page.click("#hint")
            page.wait_for_selector("#advice ol li")
            tab.picture("pig10")
            tab.check("a game")
        page.wait_for_timeout(40)
    assert turns >= 26
    tab.picture("pig10-end")
    tab.check("the end")
    assert "of 3" in page.locator("#result h2").inner_text() or "win" in page.locator("#result h2").inner_text()
    record = downloaded(tab)
    assert verify(record) == 80
    scores = [int(text) for text in page.locator("#sheet tbody td:nth-of-type(1)").all_inner_texts()]
    assert scores == record.scores


def test_a_whole_game_by_keyboard(tab: Tab, url: str) -> None:
    """Keys alone play a game: Enter on Deal, arrows from card to card, Enter to play; what happens is spoken."""
    tab.open(url)
    page = tab.page
    page.wait_for_selector("#deal")
    for _ in range(40):
        if page.evaluate("document.activeElement.id") == "deal":
            break
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_selector("#own button.card")
    spoken, turns = set(), 0
    while tab.settle():
        if not page.evaluate("document.activeElement.matches('#own button.card')"):
            # The card that was played may have been the last one: Tab leads to the others.
            for _ in range(60):
                page.keyboard.press("Tab")
                if page.evaluate("document.activeElement.matches('#own button.card')"):
                    break
        if turns % 2:
            page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        if page.locator("#choice[open]").count():
            page.keyboard.press("Enter")
        turns += 1
        page.wait_for_timeout(60)
        spoken.add(page.locator("#live").inner_text())
    assert turns >= 26
    assert any("Your turn" in text for text in spoken)
    assert any("Seat 1 plays" in text for text in spoken)
    page.wait_for_timeout(60)
    assert "point" in page.locator("#live").inner_text()
    verify(downloaded(tab))
    assert tab.complaints == []


OTHERS = [name for name in registry.names() if name != "pig10"]


def sit_down(tab: Tab, url: str, game: str, preset: str) -> None:
    """Choose a game and an edition on the form, and deal."""
    tab.open(url)
    tab.page.select_option("#pick-game", game)
    tab.page.select_option("#pick-preset", preset)
    tab.page.click("#deal")


def test_opponents_fit_the_rules(tab: Tab, url: str) -> None:
    """A trained policy is offered, as the best, until the rules are changed to others than its own; then another is."""
    tab.open(url)
    page = tab.page
    page.select_option("#pick-game", "pigs_tail")
    assert page.locator("#opponent-0").input_value() == "pigs_tail/trained"
    page.select_option("#pick-game", "pig10")
    assert page.locator("#opponent-0").input_value() == "pig10/trained"
    page.click("#rules summary")
    own = page.locator("#rule-hand_size").input_value()
    page.fill("#rule-hand_size", "5")
    page.wait_for_selector("#opponent-0:not(:has(option[value='pig10/trained']))")
    assert page.locator("#opponent-0").input_value() == "pig10/counting"
    page.fill("#rule-hand_size", own)
    page.wait_for_selector("#opponent-0:has(option[value='pig10/trained'])", state="attached")
    assert page.locator("#opponent-0").input_value() == "pig10/trained"
    page.select_option("#opponent-0", "pig10/greedy")
    page.fill("#rule-hand_size", "4")
    page.click("#deal")
    tab.settle()
    agents = session_file(url, page.url.partition("game=")[2])["agents"]
    assert sorted(agents) == ["person", *["pig10/counting"] * (len(agents) - 2), "pig10/greedy"]
    assert tab.complaints == []


@pytest.mark.parametrize("game", OTHERS)
def test_a_whole_game_of_each_other_kind_by_mouse(tab: Tab, url: str, game: str) -> None:
    """Every game is played to its end by touching cards, its first edition on a desk and the small one on a phone."""
    sit_down(tab, url, game, next(iter(registry.definition(game).presets)) if tab.size == "desk" else "small")
    page, turns = tab.page, 0
    while tab.settle():
        cards = page.locator("button.card.playable")
        if cards.count():
            cards.nth(turns * 7 % cards.count()).click(force=True)
            if page.locator("#choice[open]").count():
                page.locator("#choice .choices button").first.click()
        else:
            page.locator("#moves button").last.click()
        turns += 1
        if turns == 12:
            tab.settle()
            tab.picture(f"{game}-played")
            tab.check(game)
        page.wait_for_timeout(30)
    tab.picture(f"{game}-end")
    tab.check("the end")
    verify(downloaded(tab))


@pytest.mark.parametrize("game", OTHERS)
def test_a_whole_game_of_each_other_kind_by_keyboard(tab: Tab, url: str, game: str) -> None:
    """Number keys make the moves of every game to its end, where the placement is spoken."""
    sit_down(tab, url, game, "small")
    page, turns = tab.page, 0
    while tab.settle():
        page.keyboard.press(str(1 + turns % min(9, page.locator("#moves button").count())))
        turns += 1
        page.wait_for_timeout(30)
    page.wait_for_timeout(60)
    assert "point" in page.locator("#live").inner_text()
    verify(downloaded(tab))
    assert tab.complaints == []


@pytest.mark.skipif("pigs_tail" not in OTHERS, reason="Pig's Tail is not here")
def test_slapping(tab: Tab, url: str) -> None:
    """The attack variant is played to its end by reflex: the times measured are in the record, which verifies."""
    sit_down(tab, url, "pigs_tail", "attack")
    page, turns, slaps = tab.page, 0, 0
    while tab.settle():
        if page.locator("button.reflex").count():
            page.locator("button.reflex").click()
            page.wait_for_selector("#middle .revealed")
            page.keyboard.press(" ")
            page.wait_for_selector("#middle .revealed", state="detached")
            slaps += 1
            if slaps == 3:
                tab.settle()
                tab.picture("slap")
                tab.check("a slap")
        else:
            cards = page.locator("button.card.playable, #moves button")
            cards.nth(turns * 7 % cards.count()).click(force=True)
            if page.locator("#choice[open]").count():
                page.locator("#choice .choices button").first.click()
        turns += 1
        page.wait_for_timeout(30)
    assert slaps >= 3
    tab.check("the end")
    record = downloaded(tab)
    verify(record)
    game = session_file(url, page.url.partition("game=")[2])
    seat = game["agents"].index("person")
    times = [move["reactions"][seat] for move in game["moves"] if "reactions" in move]
    measured = [time for time in times if time is not None]
    assert measured
    assert all(0 < time < 1500 for time in measured)


def session_file(url: str, game: str) -> dict[str, Any]:
    """What the server keeps of a game."""
    found: dict[str, Any] = json.loads((FOLDERS[url] / f"{game}.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize("game", VIEWS)
def test_every_game_is_drawn(tab: Tab, url: str, game: str) -> None:
    """Ring, face-up and face-down cards are drawn; legal cards are offered, others say why not when touched."""
    page, view = tab.page, VIEWS[game]
    page.route("**/api/games/made-by-hand-0001", lambda route: route.fulfill(json=view))
    page.route("**/api/cards/*", lambda route: route.fulfill(json=viewer.card_table(game)))
    tab.open(url + "#game=made-by-hand-0001")
    page.wait_for_selector("#own button.card")
    page.wait_for_timeout(400)
    tab.picture(game)
    tab.check(game)
    dimmed = page.locator("#own button.card[aria-disabled]").first
    dimmed.click(force=True)
    said = page.locator("#notice").inner_text()
    assert said in view["reasons"].values()
    assert said in str(dimmed.get_attribute("aria-label"))
    if game == "pigs_tail":
        assert page.locator(".ring button.card.playable").count() == 52
        sent = []
        page.route(
            "**/made-by-hand-0001/play",
            lambda route: (sent.append(route.request.post_data_json), route.fulfill(json=view)),
        )
        page.locator(".ring button.card").nth(17).click()
        page.wait_for_timeout(200)
        assert [each["action"] for each in sent] == ["flip"]


def test_taking_back_and_the_clock(tab: Tab, url: str) -> None:
    """Undo shows the hand as it was before the last own move; a slower pace makes the others wait."""
    tab.open(url)
    page = tab.page
    page.click("#deal")
    assert tab.settle()
    hand = page.locator("#own button.card").evaluate_all("cards => cards.map(card => card.ariaLabel)")
    page.evaluate("localStorage.setItem('pigenv.pace', 4)")
    page.locator("#moves button").first.click()
    page.wait_for_selector("text=is thinking")
    page.wait_for_timeout(500)
    assert page.locator("#calls li").first.inner_text().startswith("you")
    page.click("#undo")
    page.wait_for_selector("#moves button")
    assert page.locator("#own button.card").evaluate_all("cards => cards.map(card => card.ariaLabel)") == hand
    assert tab.complaints == []


def test_rules_and_players_are_set_on_the_page(tab: Tab, url: str) -> None:
    """Edition, number of players, opponents and every rule can be chosen; the table has them."""
    tab.open(url)
    page = tab.page
    page.select_option("#pick-players", "5")
    page.select_option("#opponent-3", "pig10/greedy")
    page.locator("#rules summary").click()
    page.fill("#rule-hand_size", "4")
    page.check("#rule-five_clamp")
    page.select_option("#rule-same_rule", "off")
    tab.picture("rules")
    tab.check("rules")
    page.click("#deal")
    assert tab.settle()
    assert page.locator("#own button.card").count() == 4
    assert page.locator("#others .seat").count() == 4
    assert page.locator("#others .seat .who").nth(3).inner_text() == "pig10/greedy"
    for words in ("hand size 4", "five clamp true", 'same rule "off"'):
        assert words in page.locator("#subtitle").inner_text()
    page.click("#new")
    page.fill("#rule-deck_counts", "1, 2")
    page.click("#deal")
    page.wait_for_selector("#notice:not([hidden])")
    assert "deck_counts" in page.locator("#notice").inner_text()


def test_two_tabs_show_one_game(browser: Any, url: str) -> None:
    """A second tab shows the same game, follows the first, and can play on."""
    first = Tab(browser, "desk")
    first.open(url)
    first.page.click("#deal")
    assert first.settle()
    second = first.context.new_page()
    second.goto(first.page.url)
    second.wait_for_selector("#moves button")
    first.page.locator("#moves button").first.click()
    first.page.wait_for_timeout(300)
    assert first.settle()
    second.wait_for_timeout(500)
    calls = [page.locator("#calls li").all_inner_texts() for page in (first.page, second)]
    assert calls[0] == calls[1]
    second.locator("#moves button").first.click()
    second.wait_for_timeout(300)
    second.wait_for_selector("#moves button")
    first.page.wait_for_timeout(500)
    assert first.page.locator("#calls li").all_inner_texts() == second.locator("#calls li").all_inner_texts()
    assert first.complaints == []
    first.context.close()


def test_a_killed_server_comes_back(browser: Any, tmp_path: Path) -> None:
    """The server is killed in the middle of a game and started again: the page goes on where it was, by itself."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "pigenv.cli", "play", "pig10", "--port", str(port), "--no-browser", "--keep",
               str(tmp_path), "--seat", "0", "--seed", "7", "--players", "3"]  # fmt: skip
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        address = running.stdout.readline().strip()
        tab = Tab(browser, "desk")
        tab.open(address)
        tab.page.click("#deal")
        for _ in range(4):
            assert tab.settle()
            tab.page.locator("#moves button").first.click()
            tab.page.wait_for_timeout(100)
        assert tab.settle()
        calls = tab.page.locator("#calls li").all_inner_texts()
        running.kill()
    tab.page.locator("#moves button").first.click()
    tab.page.wait_for_selector("#notice:not([hidden])")
    assert "connection is lost" in tab.page.locator("#notice").inner_text()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as running:
        tab.page.wait_for_selector("#notice[hidden]", state="attached")
        assert tab.settle()
        after = tab.page.locator("#calls li").all_inner_texts()
        assert after[-len(calls) :] == calls
        assert len(after) == len(calls) + 3
        tab.page.reload()
        assert tab.settle()
        assert tab.page.locator("#calls li").all_inner_texts() == after
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 0
    tab.context.close()


def test_watching(tab: Tab, watch_url: str) -> None:
    """A record is stepped through, jumped in and played; each seat's view hides what that seat could not see."""
    tab.open(watch_url)
    page = tab.page
    page.wait_for_selector("#library table")
    tab.check("the list")
    page.locator("#library table button").first.click()
    page.wait_for_selector("#step-on")
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#advice ol li.played")
    assert "Step 6 of 80" in page.locator("#controls").inner_text()
    tab.picture("watch")
    tab.check("a record")
    assert page.locator("#others .cards[role=img]").count() == 0
    page.select_option("#seen-by", "2")
    assert page.locator("#others .cards[role=img]").count() == 2
    page.click("#last")
    assert "game is over" in page.locator("#result").inner_text()
    page.click("#first")
    page.click("#run")
    page.wait_for_timeout(900)
    page.click("#run")
    assert "Step 0 of" not in page.locator("#controls").inner_text()
    page.locator("#calls button.jump").nth(2).click()
    tab.check("a jump")


def test_playing_on_from_a_record(tab: Tab, watch_url: str) -> None:
    """From a position of a record a person plays on to the end, and finds the way back to the record."""
    tab.open(watch_url)
    page = tab.page
    page.locator("#library table button").first.click()
    page.wait_for_selector("#branch")
    page.locator("#seek").focus()
    page.keyboard.press("End")
    for _ in range(8):
        page.keyboard.press("ArrowLeft")
    page.click("#branch")
    while tab.settle():
        page.locator("#moves button").first.click()
        page.wait_for_timeout(50)
    verify(downloaded(tab))
    page.click("#back")
    page.wait_for_selector("#branch")
    assert "Step 72 of 80" in page.locator("#controls").inner_text()
    assert tab.complaints == []


def test_an_exported_page_opens_from_disk(tab: Tab, library: Any, tmp_path: Path) -> None:
    """The exported page works as a file: it steps, shows rankings, and asks for nothing."""
    path = tmp_path / "game.html"
    path.write_text(viewer.exported(library.record(1), 1), encoding="utf-8")
    page = tab.page
    page.goto(path.as_uri())
    page.wait_for_selector("#step-on")
    page.keyboard.press("ArrowRight")
    page.wait_for_selector("#advice ol li.played")
    assert page.locator("#own .card").count() == 3
    page.keyboard.press("End")
    assert "game is over" in page.locator("#result").inner_text()
    tab.picture("export")
    tab.check("an export")
    assert [request for request in tab.requests if not request.startswith(("file:", "data:"))] == []

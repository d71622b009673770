"""Nothing that is fed to us gives a foreign error, a hang or a changed state: over 100,000 inputs of every kind.

Each input is accepted, or refused with an error of ours that is a sentence. The draws are the same each time.
"""

from __future__ import annotations

import hashlib
import json
import random
import struct
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import pytest
from typer.testing import CliRunner

from pigenv import registry
from pigenv.agent import find_agent
from pigenv.agents import checkpoint
from pigenv.cli import agent_names, app, parsed_rules
from pigenv.envs.aec import PigAECEnv, PigParallelEnv
from pigenv.envs.seat import SeatEnv
from pigenv.envs.vector import SeatVectorEnv
from pigenv.errors import CheckpointError, OptionError, PigenvError, RecordError
from pigenv.evaluate.benchmark import leaderboard, read_result
from pigenv.game import RUNNING, Game
from pigenv.records import Record, play_games, verify
from pigenv.table import Table
from pigenv.train.config import SCHEMAS, composed, from_settings
from pigenv.train.run import wanted_game
from pigenv.web.session import Session
from tests import strategies
from tests.hostile import JSON_JUNK, Held, damaged, damaged_bytes, damaged_text, junk, line_of, text

COUNTS: Final = {
    "options": 24_000,
    "tables": 1_500,
    "deals": 14_000,
    "actions": 14_000,
    "resets": 4_000,
    "lines": 24_000,
    "records": 5_000,
    "bytes": 14_000,
    "forgeries": 1_500,
    "names": 5_000,
    "settings": 300,
    "overrides": 120,
    "commands": 200,
    "messages": 600,
    "sessions": 1_000,
    "results": 1_500,
}
"""How many inputs of each kind; those that take a while are fewer."""


def test_there_are_enough() -> None:
    """All kinds together are over 100,000 inputs."""
    assert sum(COUNTS.values()) >= 100_000


def small(name: str, num_players: int | None = None) -> Game:
    """A table at which a game is over soon."""
    return registry.make(name, num_players, "mini" if name != "pigs_tail" else "small")


# --- options ----------------------------------------------------------------------------------------------------------


def random_rules(name: str, generator: random.Random) -> dict[str, Any]:
    """Options that are good, of any kind."""
    return dict(getattr(strategies, f"{name}_rules")(generator, generator.randint(3, 5)))


def hostile_rules(name: str, generator: random.Random) -> dict[str, Any]:
    """Options of which some are not."""
    good = random_rules(name, generator)
    if generator.random() < 0.3:
        return dict(damaged(generator, good, python=True))
    for option in generator.sample(sorted(good), generator.randint(1, 2)):
        good[option] = junk(generator, python=True)
    if generator.random() < 0.1:
        good[generator.choice([text(generator), 3, None])] = junk(generator)  # type: ignore[index]
    return good


def test_options() -> None:
    """Whatever the options, they are those of a game or refused; and they are not changed."""
    held, generator = Held(), random.Random(1)
    for number in range(COUNTS["options"]):
        definition = registry.definitions()[number % 3]
        given = hostile_rules(definition.base, generator)
        before = repr(given)
        made = held(given, lambda definition=definition, given=given: definition.rules.made(given))
        assert repr(given) == before
        if made is not None:
            assert definition.rules.made(json.loads(json.dumps(made.to_json()))) == made
            held.tried -= 1
            seats = generator.randint(2, 6)
            held(given, lambda made=made, seats=seats: made.check_seats(seats))
    assert held.tried == COUNTS["options"]
    assert held.refused["OptionError"] > COUNTS["options"] // 2


def test_tables() -> None:
    """Whatever a table is asked for, it is refused, or a game can be played at it."""
    held, generator = Held(), random.Random(2)
    settings = ("game", "num_players", "preset", "rules", "memory", "max_players", "reward")
    for number in range(COUNTS["tables"]):
        name = registry.names()[number % 3]
        given: dict[str, Any] = {"game": name, "rules": random_rules(name, generator)}
        for setting in generator.sample(settings, generator.choice([1, 1, 2])):
            given[setting] = hostile_rules(name, generator) if setting == "rules" else junk(generator, python=True)
        game = held(given, lambda given=given: registry.make(**given))
        if game is not None:
            table = Table(game)
            table.start(number)
            while table.over == RUNNING and table.episodes["steps"][0] < 30:
                legal = table.legal_actions()
                table.step(legal[generator.randrange(len(legal))])
    assert held.tried == COUNTS["tables"]


# --- at the table -----------------------------------------------------------------------------------------------------


def standing(table: Table) -> bytes:
    """All that a table is, to be compared."""
    return repr([(name, value.tobytes() if isinstance(value, np.ndarray) else value)
                 for name, value in table.save().items()]).encode()  # fmt: skip


def test_deals() -> None:
    """A deal that the rules do not allow leaves the table as it was; one that they allow is what is then dealt."""
    held, generator = Held(), random.Random(3)
    tables = [Table(small(name)) for name in registry.names()]
    for table in tables:
        table.start(0)
    for number in range(COUNTS["deals"]):
        table = tables[number % 3]
        good = table.deal() if table.episodes["steps"][0] == 0 else None
        if good is None or number % 50 < 3:
            table.start(number)
            good = table.deal()
        deal = damaged(generator, good, python=True) if generator.random() < 0.9 else junk(generator, python=True)
        given: Any = deal if generator.random() < 0.05 else [deal] if generator.random() < 0.9 else [good, deal]
        before = standing(table)
        held(given, lambda table=table, given=given: table.start(7, 0, given))
        if held.was_refused:
            assert standing(table) == before, given
        elif given:
            assert table.deal() == given[0]
    assert held.tried == COUNTS["deals"]
    assert held.refused["DealError"] > COUNTS["deals"] // 2


def test_actions() -> None:
    """Whatever is played that is no legal action leaves the table as it was."""
    held, generator = Held(), random.Random(4)
    tables = [Table(small(name)) for name in registry.names()]
    for number in range(COUNTS["actions"]):
        table = tables[number % 3]
        if not table.started or table.over != RUNNING:
            table.start(number)
        action = junk(generator, python=True) if generator.random() < 0.7 else generator.randint(-2, 40)
        before = standing(table)
        held(action, lambda table=table, action=action: table.step(action))
        assert (standing(table) == before) == held.was_refused
    assert held.tried == COUNTS["actions"]


def running(env: Any) -> bytes:
    """All that an environment's games are."""
    env = getattr(env, "aec", env)
    if hasattr(env, "table"):
        return standing(env.table)
    learners = env.learners
    return learners.states.tobytes() + learners.episodes.tobytes() + learners.over.tobytes()


def test_resets() -> None:
    """Environments refuse what they cannot be made with, begun with or told, in words of ours, and stay as they are."""
    held, generator = Held(), random.Random(5)
    kinds: list[tuple[Any, tuple[str, ...]]] = [
        (PigAECEnv, ("num_players", "preset", "memory", "max_players", "reward", "mask", "illegal", "render_mode")),
        (PigParallelEnv, ("num_players", "preset", "memory", "max_players", "reward", "mask", "illegal")),
        (SeatEnv, ("num_players", "reward", "mask", "illegal", "opponents", "learner_seat", "render_mode")),
        (SeatVectorEnv, ("num_envs", "num_players", "opponents", "learner_seat", "autoreset_mode", "threads", "mask")),
    ]
    envs = [kind("pig10", preset="mini") for kind, _ in kinds]
    for number in range(COUNTS["resets"]):
        (kind, options), env = kinds[number % 4], envs[number % 4]
        value = junk(generator, python=True)
        if number % 20 < 4:
            option = generator.choice(options)
            # So many tables could be had, if there were the memory for them.
            if option not in ("num_envs", "threads") or not isinstance(value, int | np.integer) or value < 100:
                held((option, value), lambda kind=kind, option=option, value=value: kind(
                    "pig10", **{"preset": "mini", option: value}))  # fmt: skip
                continue
        what = generator.choice(["seed", "options", "deal", "step"])
        env.reset(seed=1)
        before = running(env)
        if what == "seed":
            held(value, lambda env=env, value=value: env.reset(seed=value))
        elif what == "step":
            acting = {env.agents[0]: value} if isinstance(env, PigParallelEnv) and generator.random() < 0.5 else value
            held(acting, lambda env=env, acting=acting: env.step(acting))
        else:
            given = value if what == "options" else {generator.choice(["deal", "reset_mask", "dael"]): value}
            held(given, lambda env=env, given=given: env.reset(seed=2, options=given))
        if held.was_refused:
            assert running(env) == before, (kind, what, value)
    assert held.tried == COUNTS["resets"]


# --- records ----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def lines() -> list[str]:
    """Good records: each game, a variant with reactions, with and without what was legal."""
    games = [small("pig10"), small("pig_pile"), small("pigs_tail")]
    games.append(registry.make("pigs_tail", 2, "attack", {"ranks": "A2", "max_turns": 30}))
    return [
        each.to_line() for k, game in enumerate(games) for each in play_games(game, ["uniform"], 5, 2, legal=k % 2 == 0)
    ]


def test_lines(lines: list[str]) -> None:
    """A line in which characters were changed, lost or added is a record or refused."""
    held, generator = Held(), random.Random(6)
    for number in range(COUNTS["lines"]):
        line = damaged_text(generator, lines[number % len(lines)])
        held(line, lambda line=line: Record.from_line(line))
    assert held.tried == COUNTS["lines"]
    assert set(held.refused) == {"RecordError"}


def test_records(lines: list[str]) -> None:
    """A record with any values replaced, lost or added holds or is refused; it is not changed by being looked at."""
    held, generator = Held(), random.Random(7)
    documents = [json.loads(line) for line in lines]
    for number in range(COUNTS["records"]):
        document = damaged(generator, documents[number % len(documents)])
        held(document, lambda document=document: verify(Record.from_line(json.dumps(document))))
    assert held.tried == COUNTS["records"]
    assert set(held.refused) == {"RecordError"}


# --- checkpoints ------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def policy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small good checkpoint."""
    pytest.importorskip("safetensors")
    game, chance = small("pig10"), np.random.default_rng(0)
    shapes = {"out.weight": (game.num_actions, game.layout.size), "out.bias": (game.num_actions,)}
    tensors = {name: chance.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    path = tmp_path_factory.mktemp("policies") / "good.safetensors"
    checkpoint.save_checkpoint(path, tensors, game, {"layers": ["out"], "activation": "relu"})
    return path


def test_bytes(policy: Path) -> None:
    """A checkpoint with bytes flipped, lost, added or cut off is refused, always."""
    held, generator = Held(), random.Random(8)
    whole, path = policy.read_bytes(), policy.with_name("damaged.safetensors")
    for number in range(COUNTS["bytes"]):
        data = damaged_bytes(generator, whole)
        if number % 20:
            # To write a file for each would take most of the time.
            assert held(data, lambda data=data: checkpoint._verified_header("damaged", data)) is None
            continue
        path.write_bytes(data)
        assert held(data, lambda: checkpoint.load_checkpoint(path)) is None
    assert held.tried == held.refused["CheckpointError"] == COUNTS["bytes"]


def sealed(header: Any, tensors: bytes) -> bytes:
    """A checkpoint with any header whose hash is right all the same."""
    if isinstance(header, dict) and isinstance(header.get("__metadata__"), dict):
        header["__metadata__"]["sha256"] = checkpoint.NO_HASH
    written = json.dumps(header, separators=(",", ":")).encode()
    data = struct.pack("<Q", len(written)) + written + tensors
    place = checkpoint._HASH_PLACE.search(data)
    if place is None:
        return data
    return data[: place.start(1)] + hashlib.sha256(data).hexdigest().encode() + data[place.end(1) :]


def test_forgeries(policy: Path) -> None:
    """A checkpoint whose hash is right and whose contents are nonsense is refused, or acts legally."""
    held, generator = Held(), random.Random(9)
    whole, path = policy.read_bytes(), policy.with_name("forged.safetensors")
    start = 8 + struct.unpack("<Q", whole[:8])[0]
    header, game = json.loads(whole[8:start]), small("pig10")
    assert held("itself", lambda: _loaded_sealed(path, header, whole[start:])) is not None
    table = Table(game)
    table.start(1)
    for _ in range(COUNTS["forgeries"] - 1):
        forged, tensors = json.loads(json.dumps(header)), whole[start:]
        if generator.random() < 0.6:
            # The texts in the header are JSON themselves.
            texts = forged["__metadata__"]
            name = generator.choice(sorted(texts))
            if name not in ("format", "sha256"):
                document = json.loads(texts[name])
                texts[name] = line_of(damaged(generator, document))
        else:
            forged = damaged(generator, forged)
        if generator.random() < 0.2:
            tensors = damaged_bytes(generator, tensors)
        agent = held(forged, lambda forged=forged, tensors=tensors: _loaded_sealed(path, forged, tensors))
        if agent is not None and agent.game == game:
            (played,) = play_games(game, [agent], 1, 1)
            verify(played)
    assert held.tried == COUNTS["forgeries"]
    assert set(held.refused) == {"CheckpointError"}


def _loaded_sealed(path: Path, header: Any, tensors: bytes) -> Any:
    path.write_bytes(sealed(header, tensors))
    return checkpoint.load_checkpoint(path)


# --- names and settings -----------------------------------------------------------------------------------------------


def test_names() -> None:
    """Whatever is typed as a game, an agent, a list of agents or a rule is understood or refused."""
    held, generator = Held(), random.Random(10)
    good = [
        "uniform", "pig10/careful", "pigs_tail/first", "search:sims=5;playout=uniform", "flat:depth=3;threads=1",
        "pig10", "search:200ms", "x.safetensors:sample", "pig10/trained:sample", "json:JSONDecoder", "pig_pile_v0",
        "search:c=0.5;others=playout",
    ]  # fmt: skip
    game = small("pig10")
    for number in range(COUNTS["names"]):
        name = damaged_text(generator, generator.choice(good)) if generator.random() < 0.7 else text(generator, 30)
        call = [
            lambda name=name: find_agent(name, game),
            lambda name=name: registry.definition(name),
            lambda name=name: agent_names(name),
            lambda name=name: registry.make("pig10", rules=parsed_rules([f"{name}={generator.choice(JSON_JUNK)}"])),
        ][number % 4]
        held(name, call)
    assert held.tried == COUNTS["names"]


def test_settings() -> None:
    """The settings that a run's folder holds are those of a run or refused, whatever was done to them."""
    held, generator = Held(), random.Random(11)
    kinds = [{"game": {"name": "pig10"}, "algo": asdict(kind()), "seed": 1, "out": None} for kind in SCHEMAS.values()]
    for number in range(COUNTS["settings"]):
        given = damaged(generator, kinds[number % len(kinds)])
        held(given, lambda given=given: wanted_game(from_settings(given)))
    assert held.tried == COUNTS["settings"]
    assert held.refused["OptionError"] > COUNTS["settings"] // 2


def test_overrides() -> None:
    """Whatever stands after `pigenv train` is a setting or refused."""
    pytest.importorskip("hydra")
    held, generator = Held(), random.Random(12)
    good = [
        "algo.n_steps=32", "algo=dmc", "game.rules={target: 9}", "+game.rules.hand_size=2", "algo.hidden=[8,8]",
        "~algo.n_steps", "algo.opponents=[uniform,'pig10/careful']", "out=${oc.env:HOME}", "recipe=pig10", "seed=3",
        "hydra.run=x",
    ]  # fmt: skip
    for _ in range(COUNTS["overrides"]):
        given = damaged_text(generator, generator.choice(good))
        held(given, lambda given=given: composed([given]))
    assert held.tried == COUNTS["overrides"]


# --- the command line and the page ------------------------------------------------------------------------------------


def test_commands(lines: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is typed after `pigenv` ends with a status and, where it is wrong, one sentence; no traceback."""
    monkeypatch.chdir(tmp_path)
    generator = random.Random(13)
    (tmp_path / "games.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    good = [
        ["info", "pig10", "--preset", "mini", "--players", "2", "--rule", "hand_size=2", "--json"],
        ["record", "pigs_tail", "--preset", "small", "--out", "o.jsonl", "--games", "1", "--seed", "3", "--legal"],
        ["record", "pig10", "--preset", "mini", "--agents", "uniform,uniform", "--out", "o", "--reward", "rank"],
        ["replay", "games.jsonl", "--verify"],
        ["replay", "games.jsonl", "--line", "2", "--table"],
        ["replay", "games.jsonl", "--line", "1", "--picture", "x.svg", "--step", "2", "--seat", "0"],
        ["list"],
        ["leaderboard", "games.jsonl"],
        ["export", "games.jsonl", "o.onnx"],
    ]
    statuses = set()
    for number in range(COUNTS["commands"]):
        words = list(generator.choice(good))
        for _ in range(generator.choice([1, 1, 2])):
            at, kind = generator.randrange(len(words)), generator.randrange(5)
            if kind == 0 and len(words) > 1:
                del words[at]
            elif kind == 1:
                words.insert(at, text(generator))
            elif kind == 2:
                words[at] = damaged_text(generator, words[at])
            elif kind == 3:
                words[at] = str(junk(generator, depth=1))
            else:
                words.insert(
                    at, generator.choice(["--json", "--seed", "-1", "--", "--rule", "--players", "-h", "--out"])
                )
        if "--games" in words or "--port" in words:
            # A hundred thousand games may be asked for; that is no mistake, but would take its time.
            words = [word if not word.isdecimal() else word[:1] for word in words]
        result = CliRunner().invoke(app, words)
        if not isinstance(result.exception, SystemExit | None):
            result.exception.add_note(f"input {number}: {words!r}")
            raise result.exception
        statuses.add(result.exit_code)
        assert result.exit_code in (0, 1, 2), (words, result.output)
        assert "Traceback" not in result.output, words
        if result.exit_code == 2:
            assert result.stderr.splitlines()[-1].startswith("pigenv: "), (words, result.stderr)
            assert len(result.stderr) > 20, words
    assert statuses >= {0, 2}
    assert (tmp_path / "games.jsonl").read_text(encoding="utf-8") == "\n".join(lines) + "\n"


def test_messages(tmp_path: Path) -> None:
    """Whatever a page sends gets an answer with a status below 500, and leaves the game where it was."""
    pytest.importorskip("starlette")
    from tests.web.test_app import NEW, client, my_turn

    generator, page = random.Random(14), client(tmp_path / "games")
    view = my_turn(page)
    bodies: Mapping[str, Any] = {
        "": NEW,
        "/play": {"step": view["step"], "action": "no card"},
        "/next": {"step": view["step"]},
        "/undo": {"step": view["step"] + 1},
        "/hint": {"step": view["step"], "agent": "pig10/careful"},
        "/react": {"step": view["step"], "milliseconds": 3},
        "/reveal": {"step": view["step"]},
    }
    for number in range(COUNTS["messages"]):
        what = generator.choice(sorted(bodies))
        name = view["id"] if generator.random() < 0.9 else quote(text(generator).encode(errors="surrogatepass"))
        path = f"/api/games/{name}{what}" if what else "/api/games"
        if generator.random() < 0.7:
            content = line_of(damaged(generator, bodies[what])).encode()
        else:
            content = damaged_bytes(generator, json.dumps(bodies[what]).encode())
        try:
            answer = page.post(path, content=content, headers={"Content-Type": "application/json"})
        except Exception as error:
            error.add_note(f"input {number}: {path} {content!r}")
            raise
        assert answer.status_code < 500, content
        if answer.headers.get("content-type") == "application/json" and answer.status_code != 200:
            assert len(answer.json()["error"]) > 10
        if number % 50 == 0:
            assert page.get(f"/api/games/{view['id']}").json()["moves"] == view["moves"]
    assert page.get(f"/api/games/{view['id']}").json()["step"] == view["step"]


def test_sessions() -> None:
    """A kept game whose file was changed in any way goes on or is refused."""
    held, generator = Held(), random.Random(15)
    session = Session(small("pig10"), ["person", "uniform"], 3)
    while not session.my_turn:
        session.advance()
    session.play(session.legal_moves()[0].action)
    while not session.my_turn and not session.over:
        session.advance()
    document = json.loads(json.dumps(session.to_json()))
    assert Session.from_json(document).view() == session.view()
    for _ in range(COUNTS["sessions"]):
        given = damaged(generator, document)
        made = held(given, lambda given=given: Session.from_json(given))
        if made is not None:
            made.view()
    assert held.tried == COUNTS["sessions"]


def test_results(tmp_path: Path) -> None:
    """A result of the benchmark that was changed in any way is read or refused."""
    held, generator = Held(), random.Random(16)
    good = next((Path(__file__).resolve().parent.parent / "results").glob("pig10_v0--*.json"))
    document, path = json.loads(good.read_text(encoding="utf-8")), tmp_path / "result.json"
    for number in range(COUNTS["results"]):
        if number % 3 == 0:
            path.write_bytes(damaged_bytes(generator, good.read_bytes()))
        else:
            path.write_text(line_of(damaged(generator, document)), encoding="utf-8")
        found = held(path.read_bytes()[:300], lambda: read_result(path))
        if found is not None:
            held.tried -= 1
            held(found, lambda found=found: leaderboard([found]))
    assert held.tried == COUNTS["results"]


# --- files that are not damaged but built to hurt ---------------------------------------------------------------------


DEEP = "[" * 100_000


def test_nesting_without_end(policy: Path, tmp_path: Path) -> None:
    """A document nested a hundred thousand deep is refused by every reader."""
    path = tmp_path / "deep.json"
    path.write_text(DEEP, encoding="utf-8")
    with pytest.raises(OptionError):
        read_result(path)
    with pytest.raises(RecordError):
        Record.from_line(DEEP)
    deep = policy.with_name("deep.safetensors")
    header = json.loads(policy.read_bytes()[8 : 8 + struct.unpack("<Q", policy.read_bytes()[:8])[0]])
    for name in ("about", "rules", "num_players"):
        header["__metadata__"][name] = DEEP
        deep.write_bytes(sealed(header, b""))
        with pytest.raises(CheckpointError):
            checkpoint.load_checkpoint(deep)
    with pytest.raises(PigenvError):
        registry.make("pig10", rules=parsed_rules([f"hand_size={DEEP}"]))

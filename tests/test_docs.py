"""The documentation: pages made from code are complete, tutorials run, the recipe can be followed, links lead on."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from pigenv import registry
from pigenv.cli import app
from pigenv.kernel import COMPILED
from tests.interop.libraries import LIBRARIES
from tests.mutate import copied
from tests.toy_game import SOURCE, TWIN

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
RULE_OPTION = DOCS / "tutorials" / "add_a_rule_option.md"
PAGES = [
    ROOT / "README.md",
    *(path for path in sorted(DOCS.rglob("*.md")) if path != RULE_OPTION),
]
SCREEN = 50  # lines


def loaded_generator() -> Any:
    spec = spec_from_file_location("docs_generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


generate = loaded_generator()

# --- blocks of code in a page -----------------------------------------------------------------------------------------

FENCE = re.compile(
    r"(?:^(?P<comment>[ ]*<!--(?:(?!-->).)*-->)\n)?"
    r"^(?P<indent>[ ]*)```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: what a reader copies.

    Attributes:
        language: What stands after the fence.
        title: The file it belongs to, or nothing.
        text: What is in it, as it is tried here: with the figures of a `<!-- tiny: … -->` before it.
        skipped: Whether a comment before it says why it is not run.
    """

    language: str
    title: str
    text: str
    skipped: bool = field(default=False)


def blocks_of(markdown: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    for found in FENCE.finditer(markdown):
        indent = len(found["indent"])
        text = "".join(line[indent:] if line.strip() else line for line in found["text"].splitlines(keepends=True))
        comment = (found["comment"] or "").strip().removeprefix("<!--").removesuffix("-->").strip()
        if comment.startswith("tiny:"):
            for swap in comment.removeprefix("tiny:").split(";"):
                old, arrow, new = (part.strip() for part in swap.partition(" -> "))
                assert arrow
                assert old in text, f"{old!r} is not in the block it is to be made smaller in"
                text = text.replace(old, new)
        yield Block(found["language"], found["title"] or "", text, comment.startswith("not run here"))


def runs(path: Path) -> bool:
    return any(block.language in ("python", "sh") for block in blocks_of(path.read_text(encoding="utf-8")))


@pytest.mark.skipif(not COMPILED, reason="trains and evaluates")
@pytest.mark.usefixtures("dice_pig")
@pytest.mark.parametrize("page", [page for page in PAGES if runs(page)], ids=lambda page: page.stem)
def test_code_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page tells the reader to write and to type works, in the order of the page, with small figures."""
    if page.parent == DOCS / "recipes" and page.stem in LIBRARIES:
        for package in LIBRARIES[page.stem].packages:
            if not installed(package):
                pytest.skip(f"{package} is not installed; make test-interop runs this recipe")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    # Where the library would keep data sets in the user's own folder.
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    known = set(sys.modules)
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks_of(page.read_text(encoding="utf-8")):
        if block.title and (ROOT / block.title).exists():
            # It shows a file of the project, as it is.
            assert block.text in (ROOT / block.title).read_text(encoding="utf-8"), block.title
        elif block.title and block.language == "python":
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python" and not block.skipped:
            if "sb3" in block.text:
                pytest.importorskip("sb3_contrib")
            exec(compile(block.text, str(page), "exec"), names)
        elif block.language == "sh" and not block.skipped:
            for line in block.text.splitlines():
                run_command(line)
    for name in set(sys.modules) - known:
        # Modules that the page had the reader write are no longer there.
        if (tmp_path / f"{name}.py").exists():
            del sys.modules[name]


def installed(package: str) -> bool:
    """Whether a distribution is there."""
    try:
        metadata.version(package)
    except metadata.PackageNotFoundError:
        return False
    return True


def run_command(line: str) -> None:
    """Run a line that begins with `pigenv`; it must succeed."""
    program, *arguments = shlex.split(line)
    assert program == "pigenv", line
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, (line, result.output, result.exception)


def test_commands_in_text_exist() -> None:
    """Whatever command a page names in passing is one, with the options that it is given."""
    runner = CliRunner()
    helps: dict[str, str] = {}
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.rglob("*.md")]:
        text = page.read_text(encoding="utf-8")
        for command, rest in re.findall(r"(?:^|`|^ +)pigenv ([a-z]+)\b([^\n`]*)", text, re.MULTILINE):
            if command not in helps:
                shown = runner.invoke(app, [command, "--help"], env={"COLUMNS": "200", "TERM": "dumb"})
                assert shown.exit_code == 0, (page, command)
                helps[command] = shown.output
            for option in re.findall(r"(?<!\w)--[a-z-]+", rest.partition("#")[0]):
                assert option in helps[command], (page, command, option)


# --- the tutorial that changes a game ---------------------------------------------------------------------------------


def in_copy(root: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a copy of the project, uncompiled."""
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(root), "NO_COLOR": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


def patched(text: str, diff: str) -> str:
    """A file with a diff applied, whose unchanged lines must be found exactly once."""
    lines = diff.splitlines(keepends=True)
    assert all(line[0] in " +-" for line in lines)
    old = "".join(line[1:] for line in lines if line[0] in " -")
    new = "".join(line[1:] for line in lines if line[0] in " +")
    assert text.count(old) == 1, (text.count(old), old)
    return text.replace(old, new)


def test_rule_option_tutorial(tmp_path: Path) -> None:
    """The tutorial's changes apply to the code as it is, its tests pass with them, and fail without the rule."""
    root = copied(tmp_path / "project")
    plain = (root / "pigenv" / "games" / "pig10.py").read_text(encoding="utf-8")
    tests = []
    for block in blocks_of(RULE_OPTION.read_text(encoding="utf-8")):
        path = root / block.title
        if block.language == "diff":
            path.write_text(patched(path.read_text(encoding="utf-8"), block.text), encoding="utf-8")
        else:
            path.write_text(block.text, encoding="utf-8")
            tests.append(block.title)
    assert tests
    pytest_run = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider")
    done = in_copy(root, *pytest_run, *tests, "tests/naive/test_pig10_naive.py")
    assert done.returncode == 0, done.stdout + done.stderr
    shown = in_copy(root, sys.executable, "-m", "pigenv.cli", "info", "pig10")
    assert "bust_taker" in shown.stdout
    (root / "pigenv" / "games" / "pig10.py").write_text(plain, encoding="utf-8")
    assert in_copy(root, *pytest_run, *tests).returncode == 1


# --- the recipe for a game --------------------------------------------------------------------------------------------


def recipe() -> list[str]:
    """The numbered steps of CONTRIBUTING's section on adding a game."""
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = text.partition("## Adding a game\n")[2].partition("\n## ")[0]
    return re.split(r"^\d+\. ", section.partition("\nEverything else")[0], flags=re.MULTILINE)[1:]


def test_recipe_for_a_game(tmp_path: Path) -> None:
    """The steps of the recipe, done in a copy of the project with a small game, end in a game that is played there."""
    root, name = copied(tmp_path / "project"), "odd_dice"
    ours = {f"pigenv/games/{name}.py": SOURCE, f"tests/naive/{name}.py": TWIN}
    written = []
    for step in recipe():
        step = step.replace("NAME", name)
        blocks = list(blocks_of(step))
        for path in re.findall(rf"`([\w/]+/{name}\w*\.py)`", step)[:1]:
            text = ours.get(path) or next(block.text for block in blocks if block.language == "python")
            (root / path).write_text(text, encoding="utf-8")
            written.append(path)
        for line in "".join(block.text for block in blocks if block.language == "sh").splitlines():
            program, *arguments = shlex.split(line)
            command = {"pigenv": ["-m", "pigenv.cli"], "python": []}[program]
            done = in_copy(root, sys.executable, *command, *arguments)
            assert done.returncode == 0, (line, done.stdout, done.stderr)
    assert written == [f"pigenv/games/{name}.py", f"pigenv/{name}_v0.py", f"agents/{name}.py", f"tests/naive/{name}.py"]
    golden = root / "tests" / "golden" / f"{name}_v0.jsonl"
    assert len(golden.read_text(encoding="utf-8").splitlines()) == 5
    # What the last lines promise: everything else knows the game now.
    script = (
        "import gymnasium, pigenv, pigenv.odd_dice_v0 as module; env = module.env(); env.reset(seed=1);"
        "print(len(env.agents), gymnasium.make('pigenv/OddDice-v0').reset(seed=1)[1]['seat'] >= 0)"
    )
    done = in_copy(root, sys.executable, "-c", script)
    assert done.stdout.split() == ["3", "True"], done.stderr
    assert name in in_copy(root, sys.executable, "-m", "pigenv.cli", "list").stdout


# --- pages made from code ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", registry.names())
def test_page_of_a_game(name: str) -> None:
    """A game's page has every option, preset, action, part of the observation, reward, player and its version."""
    page = generate.environment_page(registry.definition(name))
    game = registry.make(name)
    for option, _, _, values, meaning in game.options():
        assert f"| `{option}` |" in page
        assert generate._cell(meaning) in page
        assert generate._cell(values) in page
    for preset, about in game.definition.presets.items():
        assert f"| `{preset}` | {about.num_players} | {about.meaning}" in page
    for number, text in enumerate(game.action_texts):
        assert f"| {number} | `{text}` |" in page
    for part, start, stop, _ in game.layout.rows():
        assert f"| `{start}:{stop}` | `{part}` | {stop - start} |" in page
    for wanted in ("`win`", "`rank`", "`score`", "`uniform`", f"from pigenv import {game.id}", "## Version history"):
        assert wanted in page
    assert page.partition("## Version history")[2].strip()


def test_page_of_a_fourth_game(toy: str) -> None:
    """A game from another package has its page too, and stands in the list of games and in the navigation."""
    page = generate.environment_page(registry.definition(toy))
    assert 'PigAECEnv("odd_dice")' in page
    assert "Whether an odd die after an odd one scores two." in page
    assert "[Odd Dice](odd_dice.md)" in generate.environments_page(registry.definitions())
    assert {"Odd Dice": "environments/odd_dice.md"} in generate.environment_nav()


def test_history_comes_from_the_changelog() -> None:
    """Entries that name a version of the game are its history, with their release; others are not."""
    changelog = (
        "# Changelog\n\n## 0.3.0\n\n### Breaking\n\n- `pig10_v1`: the frog\n  keeps the value.\n- `pig10er_v1`."
        "\n\n## 0.2.0\n\n### New\n\n- Other things.\n- Pig 10 (`pig10_v0`).\n"
    )
    found = list(generate.history(registry.definition("pig10"), changelog))
    assert found == [("0.3.0", "`pig10_v1`: the frog keeps the value."), ("0.2.0", "Pig 10 (`pig10_v0`).")]


def test_reference_has_every_public_module() -> None:
    """Every module that says what it offers has a page, those at the top of the project too."""
    modules = set(generate.public_modules())
    assert {
        "pigenv.registry",
        "pigenv.game",
        "pigenv.table",
        "pigenv.records",
        "pigenv.testing",
        "pigenv.agent",
    } <= modules
    assert {"pigenv.envs.aec", "pigenv.adapters.sb3", "pigenv.agents.catalog", "pigenv.evaluate.match"} <= modules
    assert "pigenv.train.config" in modules
    assert not {each for each in modules if re.search(r"_v\d+$|\.games\.|\.cli$|__", each)}
    for module in modules:
        assert "__all__" in generate._source(module).read_text(encoding="utf-8"), module


def test_commands_page() -> None:
    """Every command has its help on the page."""
    page = generate.commands_page()
    for command in ("list", "info", "record", "replay", "train", "evaluate", "bench", "demo"):
        assert f"\n## {command}\n" in page
        assert f"Usage: pigenv {command}" in page


# --- size and links ---------------------------------------------------------------------------------------------------


def test_readme_fits_on_two_screens() -> None:
    """The README is no longer than two screens."""
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 2 * SCREEN


def test_links_of_the_repository() -> None:
    """Links between files that are read in the repository lead to files."""
    for page in ROOT.glob("*.md"):
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text(encoding="utf-8")):
            assert "://" in target or (page.parent / target).exists(), (page.name, target)


def test_links_of_the_site_are_checked(tmp_path: Path) -> None:
    """Links to missing pages and headings, and whatever comes from elsewhere, are found; good links are not."""
    (tmp_path / "deep").mkdir()
    (tmp_path / "index.html").write_text(
        '<h1 id="top">x</h1><a href="deep/page.html#there">1</a><a href="#top">2</a><a href="https://x.org">3</a>'
        '<a href="gone.html">4</a><a href="deep/page.html#not">5</a><script src="https://cdn.org/a.js"></script>'
        '<link rel="stylesheet" href="missing.css"><img src="deep/a%20b.svg">'
    )
    (tmp_path / "deep" / "page.html").write_text('<h2 id="there">x</h2><a href="../index.html">1</a><a href="/">2</a>')
    (tmp_path / "deep" / "a b.svg").write_text("<svg/>")
    assert sorted(generate.link_faults(tmp_path)) == [
        "index.html: deep/page.html#not leads to a page without that heading",
        "index.html: gone.html leads nowhere",
        "index.html: https://cdn.org/a.js would be fetched from elsewhere",
        "index.html: missing.css leads nowhere",
    ]


@pytest.mark.skipif(not COMPILED, reason="plays games of every page")
def test_site_builds(tmp_path: Path) -> None:
    """The site is built whole, and the build fails with a single warning: for the one link that leads nowhere."""
    pytest.importorskip("material")
    pytest.importorskip("mkdocstrings")
    root = copied(tmp_path / "project")
    for name in ("mkdocs.yml", "CHANGELOG.md", "CONTRIBUTING.md"):
        shutil.copy(ROOT / name, root / name)
    shutil.copytree(DOCS, root / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    (root / "docs" / "players.md").write_text("# Players\n\n[gone](https://x.org) <img src='how/gone.svg'>\n")
    # The pages are copies, the code that they are made from is this one, whose kernels are compiled already.
    build = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(root / "mkdocs.yml")],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
    )  # fmt: skip
    said = build.stdout + build.stderr
    assert build.returncode == 1, said
    warnings = [line for line in said.splitlines() if line.startswith("WARNING")]
    assert len(warnings) == 1, said
    assert warnings[0].endswith("players.html: how/gone.svg leads nowhere")
    assert "Aborted with 1 warnings in strict mode" in said
    site = root / "site"
    assert all((site / "environments" / f"{name}.html").is_file() for name in registry.names())
    reference = (site / "reference" / "pigenv.registry.html").read_text(encoding="utf-8")
    assert 'id="pigenv.registry.make"' in reference

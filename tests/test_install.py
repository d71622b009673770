"""An install from a checkout whose links are no links: a system without them writes each as a file or a folder."""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOP_FOLDERS = ("agents", "configs", "evaluate", "train")
RUNS = """
import sys
from pathlib import Path
import pigenv, pigenv.agents.catalog, pigenv.configs, pigenv.evaluate.intervals, pigenv.train.config
from pigenv import registry
from pigenv.records import play_games
assert Path(pigenv.__file__).is_relative_to(sys.argv[1]), pigenv.__file__
assert Path(pigenv.agents.__file__).parent == Path(sys.argv[1]) / "pigenv" / "agents"
print(len(list(play_games(registry.make("pig10", preset="mini"), ["pig10/careful", "uniform"], 1, 2))))
"""


def copied(target: Path, link: str) -> Path:
    """The files that an install needs, every link as it stands, as a file with its text, or as a folder."""
    target.mkdir()
    ignore = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "pigenv", target / "pigenv", symlinks=True, ignore=ignore)
    for top in TOP_FOLDERS:
        shutil.copytree(ROOT / top, target / top, ignore=ignore)
        place = target / "pigenv" / top
        if link != "link":
            place.unlink()
        if link == "file":
            place.write_text(f"../{top}", encoding="utf-8")
        elif link == "folder":
            shutil.copytree(ROOT / top, place, ignore=ignore)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    return target


def wheel_of(folder: Path) -> Path:
    """The wheel that is built from a folder, without asking anybody for anything."""
    script = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    out = folder / "dist"
    out.mkdir()
    subprocess.run([sys.executable, "-c", script, str(out)], cwd=folder, check=True, capture_output=True)
    (found,) = out.glob("*.whl")
    return found


@pytest.mark.skipif(importlib.util.find_spec("setuptools") is None, reason="builds with setuptools")
@pytest.mark.parametrize("link", ["link", "file", "folder"])
def test_installs_without_links(link: str, tmp_path: Path) -> None:
    """Whatever became of the links, the same files are installed, and they play."""
    wheel, site = wheel_of(copied(tmp_path / "copy", link)), tmp_path / "site"
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info" not in name}
        archive.extractall(site)
    wanted = {
        path.relative_to(ROOT).as_posix() if top == "pigenv" else f"pigenv/{path.relative_to(ROOT).as_posix()}"
        for top in ("pigenv", *TOP_FOLDERS)
        for path in (ROOT / top).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and (top != "pigenv" or not within_link(path))
    }
    assert names == wanted
    environment = {**os.environ, "PYTHONPATH": str(site), "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", RUNS, str(site)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.strip() == "2", done.stderr


def within_link(path: Path) -> bool:
    """Whether a file is reached through one of the package's links."""
    inside = path.relative_to(ROOT / "pigenv").parts[0]
    return inside in TOP_FOLDERS

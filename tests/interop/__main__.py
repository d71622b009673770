"""Build a virtual environment for each library, run its tests and its recipe there, and write down what passed.

    python -m tests.interop [LIBRARY…] [--check]

An environment holds the library's pinned requirements and borrows everything else from the Python that runs this. It
is built once, under `.venvs/`, and again when the requirements change. A test that is skipped has failed: the library
is there. With `--check` nothing is written down.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import platform
import re
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

from tests.interop.libraries import LIBRARIES, PAGE, ROOT, TESTED, last_results, pages, requirements

VENVS = ROOT / ".venvs"


def python_of(name: str) -> str:
    """The Python of a library's environment, built if it is not there or its requirements have changed."""
    wanted = requirements(name)
    if not wanted.exists():
        return sys.executable
    venv = VENVS / (LIBRARIES[name].venv or name)
    stamp = venv / "built_from"
    python = str(venv / "bin" / "python")
    lent = sysconfig.get_paths()["purelib"]
    digest = hashlib.sha256(wanted.read_bytes() + lent.encode()).hexdigest()
    if stamp.exists() and stamp.read_text() == digest:
        return python
    print(f"building {venv.relative_to(ROOT)}", flush=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", "--without-pip", str(venv)], check=True)
    own = subprocess.check_output(
        [python, "-c", "import sysconfig; print(sysconfig.get_paths()['purelib'])"], text=True
    )
    # What stands in the environment itself comes first.
    (Path(own.strip()) / "lent.pth").write_text(lent + "\n")
    install = ["-m", "pip", "--python", python, "--disable-pip-version-check", "install", "-q", "-r", str(wanted)]
    subprocess.run([sys.executable, *install], check=True)
    stamp.write_text(digest)
    return python


def runs(recipe: Path) -> bool:
    """Whether a recipe has a block of code that is run."""
    blocks = re.findall(
        r"(<!-- not run here[^>]*-->\n)?^```(?:python|sh)$", recipe.read_text(encoding="utf-8"), re.MULTILINE
    )
    return any(not skipped for skipped in blocks)


def run_tests(name: str) -> tuple[list[str], list[str]]:
    """Run a library's tests and recipe; gives the names of those that passed and of those that did not."""
    report = VENVS / f"{name}.xml"
    report.parent.mkdir(exist_ok=True)
    report.unlink(missing_ok=True)
    tests = [f"tests/adapters/test_{name}.py", *LIBRARIES[name].tests]
    if runs(PAGE.parent / f"{name}.md"):
        tests.append(f"tests/test_docs.py::test_code_runs[{name}]")
    command = [python_of(name), "-m", "pytest", "-p", "no:cacheprovider", f"--junitxml={report}", *tests]
    subprocess.run(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False)
    if not report.exists():
        return [], ["pytest itself"]
    passed, failed = [], []
    for case in ElementTree.parse(report).iter("testcase"):
        (failed if len(case) and case[0].tag in ("failure", "error", "skipped") else passed).append(
            case.get("name", "?")
        )
    return passed, failed or ([] if passed else ["nothing was run"])


def versions_of(name: str) -> dict[str, str]:
    """The versions of a library's packages where its tests were run."""
    script = "import json, sys; from importlib.metadata import version; "
    script += "print(json.dumps({name: version(name) for name in sys.argv[1:]}))"
    packages = LIBRARIES[name].packages
    found = subprocess.check_output([python_of(name), "-c", script, *packages], text=True)
    return dict(json.loads(found))


def write_down(name: str, result: dict[str, Any]) -> None:
    """Put what passed for a library into the file of results and into the pages' tables."""
    results = {**last_results(), name: result}
    ordered = {each: results[each] for each in LIBRARIES if each in results}
    TESTED.write_text(json.dumps(ordered, indent=1) + "\n", encoding="utf-8")
    for path, page in pages(ordered).items():
        path.write_text(page, encoding="utf-8")


def main() -> int:
    """Test the libraries named, or all."""
    parser = argparse.ArgumentParser(prog="python -m tests.interop", description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help=", ".join(LIBRARIES))
    parser.add_argument("--check", action="store_true", help="write nothing down")
    arguments = parser.parse_args()
    for name in arguments.libraries:
        if name not in LIBRARIES:
            parser.error(f"unknown library {name!r}; there are: {', '.join(LIBRARIES)}")
    faults = 0
    for name in arguments.libraries or LIBRARIES:
        print(f"== {name}", flush=True)
        passed, failed = run_tests(name)
        faults += len(failed)
        for each in failed:
            print(f"{name}: {each} did not pass")
        if not failed and not arguments.check:
            names = sorted({each.partition("[")[0] for each in passed})
            write_down(name, {"python": platform.python_version(), "versions": versions_of(name), "passed": names})
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

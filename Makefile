# make demo    from a fresh clone to a scored agent
# make test    the whole test suite, but for:
# make test-interop  each library's adapter and recipe against the library itself; LIBRARIES="torchrl rllib" for some
# make browser the page in Chromium; leaves screenshots in runs/screenshots
# make nightly fuzzing for hours, mutations planted in the rules, and the long tests
# make check   style and types
# make docs    the documentation, in site/; fails on any link that leads nowhere
# make bench   how fast each layer is
# make pictures   the pictures of the README, drawn from recorded games
# make fuzz    the games against their slow twins, MINUTES=10 at a time; a disagreement is shrunk and printed

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 10
LIBRARIES ?=
NIGHTLY_MINUTES ?= 240
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test test-interop browser nightly check docs bench pictures fuzz clean

# One install for all targets. torch is pinned in the same command: alone, pip may take another release of it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; say which Python to use: make PYTHON=python3 demo" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch==2.13.0 -e '.[all,onnx,sb3,openspiel,test,lint,docs]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/pigenv demo

test: $(VENV)/.installed
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 -m "not browser and not nightly"

# Each in a virtual environment under .venvs that borrows what it can from the one above.
test-interop: $(VENV)/.installed
	$(BIN)/python -m tests.interop $(LIBRARIES)

browser: $(VENV)/.installed
	@command -v $${PIGENV_CHROMIUM:-chromium} >/dev/null || { echo "make: no chromium; install it, or name one: PIGENV_CHROMIUM=…" >&2; exit 2; }
	$(BIN)/python -m pytest -m browser

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

# Not --quiet: warnings that are not shown are not counted either, and nothing would fail.
docs: $(VENV)/.installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

bench: $(VENV)/.installed
	$(BIN)/pigenv bench

pictures: $(VENV)/.installed
	$(BIN)/pigenv record pig_pile --agents pig_pile/counting,pig_pile/careful --seed 4 --out runs/picture.jsonl
	$(BIN)/pigenv replay runs/picture.jsonl --picture docs/pig_pile.svg --step 24 --seat 0
	$(BIN)/pigenv record pigs_tail --agents pigs_tail/counting,pigs_tail/tidy --seed 4 --out runs/picture.jsonl
	$(BIN)/pigenv replay runs/picture.jsonl --picture docs/pigs_tail.svg --step 30 --seat 0
	$(BIN)/pigenv record pig10 --agents pig10/counting,pig10/careful --seed 4 --out runs/picture.jsonl
	$(BIN)/pigenv replay runs/picture.jsonl --picture docs/pig10.svg --step 7 --seat 0

fuzz: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

nightly: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --minutes $(NIGHTLY_MINUTES)
	$(BIN)/python -m tests.mutate
	$(BIN)/python -m pytest -n 2 -m nightly

clean:
	rm -rf $(VENV) build dist *.egg-info runs site

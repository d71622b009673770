# make demo    from a fresh clone to a scored agent
# make test    the whole test suite
# make check   style and types
# make docs    the documentation, in site/; fails on any link that leads nowhere
# make bench   how fast each layer is
# make fuzz    the games against their slow twins, MINUTES=10 at a time; a disagreement is shrunk and printed
# make nightly the same for hours, and mutations planted in the rules

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
MINUTES ?= 10
NIGHTLY_MINUTES ?= 240
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test check docs bench fuzz nightly clean

# One install for all targets. torch is pinned in the same command: alone, pip may take another release of it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; say which Python to use: make PYTHON=python3 demo" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch==2.13.0 -e '.[all,sb3,test,lint,docs]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/pigenv demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

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

fuzz: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --minutes $(MINUTES)

nightly: $(VENV)/.installed
	$(BIN)/python -m tests.fuzz --minutes $(NIGHTLY_MINUTES)
	$(BIN)/python -m tests.mutate

clean:
	rm -rf $(VENV) build dist *.egg-info runs site

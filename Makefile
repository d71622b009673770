# make demo    from a fresh clone to a scored agent
# make test    the whole test suite
# make nightly what takes too long for it
# make check   style and types
# make bench   how fast each layer is

PYTHON ?= python3.11
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check

.PHONY: demo test nightly check bench clean

# One install for all targets. torch is pinned in the same command: alone, pip may take another release of it.
$(VENV)/.installed: pyproject.toml constraints.txt
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found; say which Python to use: make PYTHON=python3 demo" >&2; exit 2; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) install -q -c constraints.txt torch==2.13.0 -e '.[all,onnx,sb3,openspiel,test,lint]'
	@touch $@

demo: $(VENV)/.installed
	$(BIN)/pigenv demo

test: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2

nightly: $(VENV)/.installed
	$(BIN)/python -m pytest -n 2 -m nightly

check: $(VENV)/.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright

bench: $(VENV)/.installed
	$(BIN)/pigenv bench

clean:
	rm -rf $(VENV) build dist *.egg-info runs

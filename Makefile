# make run, make test: each sets up what it needs in .venv/<Python version> and reuses it later.
# Another Python: make test PYTHON=python3.13

PYTHON ?= python3
VERSION := $(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])')
ifeq ($(VERSION),)
$(error $(PYTHON) cannot be run; name a Python 3.11, 3.12 or 3.13: make PYTHON=python3.12)
endif
ifeq ($(filter $(VERSION),3.11 3.12 3.13),)
$(error turnproof needs Python 3.11, 3.12 or 3.13, but $(PYTHON) is $(VERSION); name another: make PYTHON=python3.12)
endif
BIN := .venv/$(VERSION)/bin
READY := .venv/$(VERSION)/.ready
EXTRAS := .venv/$(VERSION)-extras
CLIENTS := tests/clients/node_modules/.package-lock.json

# Processes are started by the hundred: what they import is compiled once.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: run test extras mutants check format

run: $(READY)  ## Judge the built-in reference endpoint, over the opencode stand-in.
	$(BIN)/turnproof run -n 6

test: $(READY) $(CLIENTS)  ## Every test, those over the real opencode included.
	$(BIN)/python -m pytest -n 6

extras: $(EXTRAS)/.ready  ## The tests that need Ray or LiteLLM, which are large: in an environment of their own.
	$(EXTRAS)/bin/python -m pytest -m extra -n 3

mutants: $(READY)  ## Every broken implementation is caught by what it names; in the quickest suite, by nothing else.
	$(BIN)/turnproof mutants --own -n 4
	$(BIN)/turnproof mutants --suite model_server -n 4

check: $(READY)  ## Style and types.
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

$(CLIENTS): tests/clients/package-lock.json  # clients in JavaScript that the tests drive
	npm ci --prefix tests/clients --silent --no-audit --no-fund
	touch $@

$(READY): pyproject.toml
	$(PYTHON) -m venv .venv/$(VERSION)
	$(BIN)/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/python -m pip install --quiet --editable . --group dev
	touch $@

$(EXTRAS)/.ready: pyproject.toml
	$(PYTHON) -m venv $(EXTRAS)
	$(EXTRAS)/bin/python -m pip install --quiet --upgrade 'pip>=25.1'
	$(EXTRAS)/bin/python -m pip install --quiet --editable '.[litellm-proxy,ray]' --group dev
	touch $@

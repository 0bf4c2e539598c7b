# What a person types. Everything installs into .venv; nothing else on the machine is touched.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
unexport PYTHONDONTWRITEBYTECODE
STAMP := $(VENV)/.installed
ROOT ?=

.PHONY: install demo demo-undo tables test check bench docs clean

install: $(STAMP)

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $(STAMP)

demo: install
	$(BIN)/python examples/demo.py $(ROOT)

demo-undo: install
	$(BIN)/python examples/undo.py

test: install
	$(BIN)/python -m pytest -n 2

tables: install
	$(BIN)/python tests/search/re2_tables.py

check: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: install
	$(BIN)/python -m handrail.interfaces.reference docs src/handrail/families

bench: install bench-start bench-replay bench-edit

bench-%: install
	$(BIN)/python benchmarks/$*.py $(ARGS)

clean:
	rm -rf $(VENV) dist build .mypy_cache .ruff_cache .pytest_cache

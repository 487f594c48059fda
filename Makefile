# One command each; every target sets up what it needs in .venv first.
PYTHON ?= python3
BIN := .venv/bin
SETUP := .venv/.installed

.PHONY: setup play serve test check bench generate format picture clean

setup: $(SETUP)

$(SETUP): requirements/dev.txt pyproject.toml protos/generate.py $(wildcard protos/croupier/v1/*.proto) server/croupier_server/journal/v1/entry.proto
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $(SETUP)

play: setup
	$(BIN)/croupier play doudizhu

serve: setup
	$(BIN)/croupier serve

test: setup
	$(BIN)/python -m pytest -n 2 --dist worksteal

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python protos/generate.py --check
	$(BIN)/python protos/api_check.py
	$(BIN)/python protos/errors_table.py --check
	$(BIN)/python clients/picture.py --check

bench: setup .venv-bench/.installed
	PYTHONPATH=tests $(BIN)/python -m bench $(BENCH)

.venv-bench/.installed: requirements/bench.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	touch $@

generate: setup
	$(BIN)/python protos/generate.py

picture: setup
	$(BIN)/python clients/picture.py

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-bench build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

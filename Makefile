# One command each; every target sets up what it needs in .venv first.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
PLAYABLE := .venv/.playable
SETUP := .venv/.installed
WHEEL := .venv-wheel/bin
PACKAGES := $(shell find server/croupier_games server/croupier_server clients/croupier -name '*.py')

.PHONY: setup play serve test test-wheel components check bench chaos generate format picture clean

setup: $(SETUP)

# What plays and serves, in a fifth of the space that all tools take.
$(PLAYABLE): requirements/build.txt requirements/serve.txt pyproject.toml protos/generate.py $(wildcard protos/croupier/v1/*.proto) server/croupier_server/journal/v1/entry.proto
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(PIP) --require-hashes -r requirements/build.txt -r requirements/serve.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(SETUP): $(PLAYABLE) requirements/dev.txt
	$(PIP) --require-hashes -r requirements/dev.txt
	touch $@

play: $(PLAYABLE)
	$(BIN)/croupier play doudizhu

serve: $(PLAYABLE)
	$(BIN)/croupier serve

test: setup components
	$(BIN)/python -m pytest -n 2 --dist worksteal

# What the tests start and stop themselves beside our own processes: stores, and load balancers.
COMPONENTS := redis-server haproxy nginx

components:
	@PATH="$$PATH:/usr/sbin"; missing=; for component in $(COMPONENTS); do \
		command -v $$component >/dev/null || missing="$$missing $$component"; \
	done; \
	ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || missing="$$missing postgresql"; \
	command -v valkey-server >/dev/null && missing=$$(echo "$$missing" | sed 's/ redis-server//'); \
	if [ -z "$$missing" ]; then \
		:; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $$missing >/dev/null; \
	else \
		echo "make: not here, so their tests are skipped:$$missing (apt-get install$$missing)" >&2; \
		test -z "$$CI"; \
	fi

test-wheel: .venv-wheel/.installed
	CROUPIER_WHEEL=1 $(WHEEL)/python -m pytest -n 2 --dist worksteal tests/games tests/clients/test_bots*.py

.venv-wheel/.installed: .venv-wheel/.tools server/compile_rules.py protos/generate.py pyproject.toml $(PACKAGES) | setup
	rm -rf build/wheel
	$(BIN)/python -m pip wheel --quiet --disable-pip-version-check --no-deps --no-build-isolation --wheel-dir build/wheel .
	$(WHEEL)/python -m pip install --quiet --disable-pip-version-check --no-deps --force-reinstall build/wheel/*.whl
	touch $@

# The tools of .venv, without the project, which is editable there.
.venv-wheel/.tools: | setup
	test -x $(WHEEL)/python || $(PYTHON) -m venv .venv-wheel
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > \
		"$$($(WHEEL)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/tools.pth"
	touch $@

check: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python protos/generate.py --check
	$(BIN)/python protos/api_check.py
	$(BIN)/python protos/errors_table.py --check
	$(BIN)/python clients/picture.py --check
	$(BIN)/python deploy/check.py

bench: setup .venv-bench/.installed .venv-wheel/.installed
	PYTHONPATH=tests $(BIN)/python -m bench $(BENCH)

.venv-bench/.installed: requirements/bench.txt
	test -x .venv-bench/bin/python || $(PYTHON) -m venv .venv-bench
	.venv-bench/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/bench.txt
	touch $@

# The long form of tests/chaos: games on replicas that are killed, frozen and cut off.
MINUTES ?= 10
GAMES ?= 100
chaos: setup components
	PYTHONPATH=tests $(BIN)/python -m chaos --minutes $(MINUTES) --games $(GAMES) $(CHAOS)

generate: setup
	$(BIN)/python protos/generate.py
	$(BIN)/python deploy/envoy_for_cluster.py

picture: setup
	$(BIN)/python clients/picture.py

format: setup
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-bench .venv-wheel build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

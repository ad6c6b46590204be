# `make help` lists the verbs. Everything is done in .venv; Java 17 is all that a machine must have.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
OTHER_PYTHONS := 3.12 3.13
UV_VERSION := 0.13.8
# uv trusts its own list of authorities unless told to use the machine's
export UV_SYSTEM_CERTS := 1

.DEFAULT_GOAL := help
.PHONY: help setup demo test kafka-test without-spark databricks lint build docs screenshots bench parity check clean lock

help: ## list the verbs
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(VENV)/.ready ## make .venv from the lock file, resolve the jars and compile the marts, once

$(VENV)/.ready: requirements.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' || { echo "moldau needs Python 3.11, 3.12 or 3.13: PYTHON=/path/to/python3.11 make setup" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)
	$(BIN)/uv pip install --quiet --compile-bytecode --require-hashes -r requirements.lock
	$(BIN)/uv pip install --quiet --no-deps -e .
	$(BIN)/python -m compileall -q python_udfs
	ln -sfn "$$($(BIN)/python -m moldau.engines.spark.jars)" .jars
	$(BIN)/python -m moldau.reading.tables.views
	$(BIN)/python -m moldau.engines.duckdb.translated
	@touch $@

demo: setup ## the main job on the bundled capture of a real broker
	@$(BIN)/moldau demo

test: setup lint ## lint, then all tests
	$(BIN)/python -m pytest

kafka-test: setup ## the long scenarios with real brokers, one after the other: needs a JDK
	$(BIN)/python -m pytest -n 0 tests/kafka

lint: setup ## ruff, mypy and sqlfluff
	$(BIN)/ruff check python_udfs tests benchmarks notebooks
	$(BIN)/ruff format --check python_udfs tests benchmarks notebooks
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tests/lint_sql.py lint --disable-progress-bar --processes 2 models tests/singular

build: setup ## the wheel, in dist/
	$(BIN)/python -m build --wheel --installer uv

docs: setup ## dbt's documentation site, in target/
	MOLDAU_WAREHOUSE=$(CURDIR)/target/docs-warehouse $(BIN)/moldau init
	MOLDAU_WAREHOUSE=$(CURDIR)/target/docs-warehouse $(BIN)/dbt docs generate --static

screenshots: setup ## a picture of each page of `moldau serve`, in docs/pages
	$(BIN)/python tests/screenshots.py

bench: setup ## every benchmark, with machine, sizes and ratios
	$(BIN)/python benchmarks/decode.py
	$(BIN)/python benchmarks/groups.py
	$(BIN)/python benchmarks/cycles.py
	$(BIN)/python benchmarks/many_rounds.py --rounds 300
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/limits.py
	$(BIN)/python benchmarks/metrics.py
	$(BIN)/python benchmarks/coordinator.py
	$(BIN)/python benchmarks/tiers.py
	$(BIN)/python benchmarks/mirrors.py
	$(BIN)/python benchmarks/producers.py
	$(BIN)/python benchmarks/producer_replays.py
	$(BIN)/python benchmarks/past.py
	$(BIN)/python benchmarks/serving.py

check: test databricks ## what CI runs, the project compiled for Databricks, and the tests without Spark under every other Python that is here
	@for version in $(OTHER_PYTHONS); do \
		if python$$version -c '' 2>/dev/null; \
		then $(MAKE) VENV=.venv-$$version PYTHON=python$$version without-spark || exit 1; \
		else echo "python$$version is not here"; fi; \
	done

# dbt-databricks asks for another dbt-spark than ours, so it has an environment of its own; nothing is asked of a workspace
databricks: $(VENV)-databricks/.ready
	$(VENV)-databricks/bin/dbt compile --quiet --target databricks --target-path target/databricks --no-populate-cache --no-introspect

$(VENV)-databricks/.ready: requirements-databricks.lock | setup
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(VENV)-databricks
	$(BIN)/uv pip install --quiet --python $(VENV)-databricks --require-hashes -r requirements-databricks.lock
	@touch $@

without-spark: setup
	$(BIN)/python -m pytest -m "not spark and not processes"

SEED ?= $(shell date +%s)
STEPS ?= 40

parity: setup ## random histories and kills by DuckDB, Spark and dbt, compared (half an hour): SEED, STEPS
	@echo "make parity SEED=$(SEED) STEPS=$(STEPS)"
	PARITY_SEED=$(SEED) PARITY_STEPS=$(STEPS) PARITY_SPARK=1000 PARITY_RUNS=1000 PARITY_KILLS=1000 $(BIN)/python -m pytest -n 0 tests/python/runs/test_three_writers.py
	$(BIN)/python tests/killed_runs.py --seed $(SEED)

clean: ## remove what was built; the warehouse stays
	rm -rf target logs dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis

lock: setup ## resolve the dependencies anew
	$(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-annotate --no-header --group dev --extra kafka --extra connect pyproject.toml -o requirements.lock
	echo 'dbt-databricks>=1.11,<1.12' | $(BIN)/uv pip compile --quiet --upgrade --generate-hashes --no-annotate --no-header - -o requirements-databricks.lock

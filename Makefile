# The first run sets everything up below .venv and in the user's cache; later ones need no network.
# Needs: Python >= 3.11 (another one than python3: make PYTHON=/path/to/python ...). Java is fetched when missing.

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format bench wheel lock clean

BIN := .venv/bin

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## the virtual environment, the jars, the kernel
	@python=$$(tools/find-python) && "$$python" tools/bootstrap.py
	@$(BIN)/headrace setup

.PHONY: setup-dev
setup-dev:
	@python=$$(tools/find-python) && "$$python" tools/bootstrap.py dev
	@$(BIN)/headrace setup --development

demo: setup ## card fraud found live for a minute on a real Kafka, then checked: missing, extra, duplicate
	@$(BIN)/headrace demo fraud $(ARGS)

test: setup-dev ## every test, Python and Java
	@$(BIN)/python tools/run_tests.py $(ARGS)

lint: setup-dev ## ruff, mypy, imports that go one way, the kernel under the second compiler
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/compile_with_ecj.py

format: setup-dev ## the sources put in form
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: setup-dev ## events per second and time per epoch, against Spark's own operators
	@$(BIN)/python -m benchmarks $(ARGS)

proof: setup-dev ## millions of rows through many steps, joins and views, compared to the row; read while they run
	@$(BIN)/python -m proofs $(ARGS)
	@$(BIN)/python -m proofs.versions
	@$(BIN)/python -m proofs.balance

wheel: setup-dev ## dist/headrace-*.whl, with the kernel and the example in it
	@rm -rf dist
	@$(BIN)/python -m build --wheel --no-isolation

lock: setup-dev ## the lock files anew from pyproject.toml (needs uv)
	tools/lock

clean: ## everything that set-up and runs have made here; the user's cache stays
	@if [ -x $(BIN)/headrace ]; then $(BIN)/headrace down || true; fi
	rm -rf .venv .headrace build dist src/headrace/kernel.jar
	rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache spark-warehouse metastore_db
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Each target makes .venv and installs what it needs on a fresh machine.
PYTHON ?= python3
BIN := .venv/bin
ARGS ?=

.PHONY: demo test test-all lint check docs dist-check format clean

demo: .venv/installed
	$(BIN)/srff demo

# Over all cores; files stay together, since their tests share fitted models.
PYTEST = $(BIN)/python -m pytest -n auto --dist loadfile

test: .venv/installed-test
	$(PYTEST) -m "not slow" $(ARGS)

test-all: .venv/installed-test
	$(PYTEST) $(ARGS)

lint: .venv/installed-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint
	$(MAKE) test-all ARGS="--cov --cov-report=term:skip-covered --cov-fail-under=95"

docs: .venv/installed-dev
	$(BIN)/python -m sphinx -W --keep-going -b html docs docs/_build/html

# The files of a release in dist/, built, looked into, and used where there is no checkout.
dist-check: .venv/installed-dev
	$(BIN)/python .ci/dist_check.py dist

format: .venv/installed-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:
	rm -rf docs/_build docs/api docs/gallery
	rm -rf .venv .coverage .mypy_cache .pytest_cache .ruff_cache dist

.venv/bin/python:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip

.venv/installed: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet -c constraints.txt -e .
	touch $@

.venv/installed-test: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[test]"
	touch $@ .venv/installed

.venv/installed-dev: .venv/bin/python pyproject.toml constraints.txt
	$(BIN)/python -m pip install --quiet -c constraints.txt -e ".[dev]"
	touch $@ .venv/installed .venv/installed-test

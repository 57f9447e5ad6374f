# make lab    install, run the first case in the terminal, open JupyterLab on lesson 03
# make test   install, pass every test          make unit   only the quick ones
# make check  prove what the ledger lacks       make prove  prove everything from nothing, and every case of sampled tests
# make docs   the catalogue as a site, in site/
# A machine with Python 3.11+ and git is enough; everything else goes into .venv.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.SUFFIXES:

# the first Python here that is new enough and starts (a pyenv shim may not)
PYTHON ?= $(shell for python in python3 python3.14 python3.13 python3.12 python3.11 python; do \
	"$$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1 && { echo "$$python"; break; }; done)
BIN := .venv/bin
LAB_ARGS ?=
TEST_ARGS ?=
# of no lesson and no exercise: its verdict is printed before anything else is read
CASE := mlp --fault optimizer/lr_too_high --seed 0

.PHONY: help lab test unit check prove docs format clean

help:
	@sed -n '1,5s/^# //p' Makefile

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "bugzoo needs Python 3.11 or newer; none was found. Name one: make lab PYTHON=/path/to/python3"; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python could not make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# what is installed is remembered by a stamp, so that a second call starts at once
.venv/.installed-lab: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing bugzoo and PyTorch into .venv (the first time this takes a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	@touch $@

.venv/.installed-test: pyproject.toml setup.py | $(BIN)/python
	@echo "Installing bugzoo, PyTorch and what the tests need into .venv (the first time this takes a few minutes)"
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@touch $@ .venv/.installed-lab

lab: .venv/.installed-lab
	@mkdir -p artefacts
	@$(BIN)/bugzoo run $(CASE) --picture artefacts/first_case.png
	@$(BIN)/bugzoo lab . --lesson 03 -- $(LAB_ARGS)

# tests that measure time, or that start a server and a browser, run alone after the others
test: .venv/.installed-test
	$(BIN)/python -m pytest -n 2 -m "not serial and not browser" $(TEST_ARGS)
	$(BIN)/python -m pytest -m "serial or browser" $(TEST_ARGS)

unit: .venv/.installed-test
	$(BIN)/python -m pytest -n 2 -m "not slow and not serial and not browser" $(TEST_ARGS)

check: .venv/.installed-test
	$(BIN)/bugzoo check
	$(BIN)/bugzoo verify
	$(BIN)/bugzoo lessons check

prove: .venv/.installed-test
	$(BIN)/bugzoo verify --fresh
	$(BIN)/bugzoo check --fresh
	$(BIN)/bugzoo lessons check --fresh
	BUGZOO_SAMPLE=all $(BIN)/python -m pytest -n 2 -m sampled

docs: .venv/.installed-test
	$(BIN)/bugzoo docs build site

format: .venv/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv build dist artefacts site *.egg-info

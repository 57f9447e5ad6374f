# make lab    install, run the first case in the terminal, open JupyterLab on the map of the course
# make lab TORCH_INDEX=URL  the same with another build of PyTorch, such as the small one for the CPU (docs/portable.md)
# make test   install, pass every test          make unit     only the quick ones
# make check  prove what the ledger lacks       make prove    prove everything from nothing, every case of sampled tests
# make docs   the catalogue as a site, in site/ make explore  draw other cases of the sampled tests
# make update take today's newest versions into constraints.txt
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
# seconds that one test may take: ten times what the slowest takes on a quiet machine (`make test` prints it)
TIMEOUT ?= 600
# every version that is tested; made for one Python, and left out on another
LOCK := constraints.txt
# of no lesson and no exercise: its verdict is printed before anything else is read
CASE := mlp --fault initialisation/weights_too_large --seed 0

.PHONY: help other-index install lab test unit check prove explore update docs picture format clean

help:
	@sed -n '1,7s/^# //p' Makefile

$(BIN)/python:
	@test -n "$(PYTHON)" || { echo "bugzoo needs Python 3.11 or newer; none was found. Name one: make lab PYTHON=/path/to/python3"; exit 1; }
	@echo "Making .venv with $$($(PYTHON) --version)"
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo "Python could not make a virtual environment. On Debian and Ubuntu: apt-get install python3-venv"; exit 1; }

# the index of torch and torchvision alone, and whether it is another one than before: the installer says what to do then
TORCH_INDEX ?=
OTHER := $(if $(TORCH_INDEX),$(if $(filter $(TORCH_INDEX),$(shell head -n 1 .venv/.torch 2>/dev/null)),,other-index))

# install OPTIONS: what fails before PyTorch is there leaves no .venv behind
define install
	@$(BIN)/python -m tests.gate.install --torch-index "$(TORCH_INDEX)" $(1) || { \
		ls -d .venv/lib/python3*/site-packages/torch >/dev/null 2>&1 || rm -rf .venv; exit 1; }
endef

# what is installed is remembered by a stamp, so that a second call starts at once
.venv/.installed-lab: pyproject.toml setup.py $(LOCK) $(OTHER) | $(BIN)/python
	$(call install,)
	@touch $@

.venv/.installed-test: pyproject.toml setup.py $(LOCK) $(OTHER) | $(BIN)/python
	$(call install,--test)
	@touch $@ .venv/.installed-lab

install: .venv/.installed-lab

lab: .venv/.installed-lab
	@mkdir -p artefacts
	@[ -e artefacts/first_case.png ] || $(BIN)/bugzoo run $(CASE) --picture artefacts/first_case.png
	@$(BIN)/bugzoo lab . -- $(LAB_ARGS)

# tests/gate says what runs when, gives a failed test a second chance, and prints the last line
GATE := $(BIN)/python -m tests.gate --timeout $(TIMEOUT)

test: .venv/.installed-test
	@$(GATE) $(TEST_ARGS)

unit: .venv/.installed-test
	@$(GATE) --unit $(TEST_ARGS)

explore: .venv/.installed-test
	@$(GATE) --explore $(TEST_ARGS)

check: .venv/.installed-test
	$(BIN)/python -m pyright
	$(BIN)/bugzoo check
	$(BIN)/bugzoo verify
	$(BIN)/bugzoo lessons check

prove: .venv/.installed-test
	$(BIN)/bugzoo verify --fresh --yes
	$(BIN)/bugzoo check --fresh
	$(BIN)/bugzoo lessons check --fresh
	$(BIN)/python -m tests.gate --sampled

# an environment of its own, so that the one in use stays as it is
update:
	@test -n "$(PYTHON)" || { echo "bugzoo needs Python 3.11 or newer; none was found."; exit 1; }
	@rm -rf .venv-new && $(PYTHON) -m venv .venv-new
	@.venv-new/bin/python -m pip install --quiet --disable-pip-version-check -e '.[test]'
	@.venv-new/bin/python -m tests.gate.lock > $(LOCK).new && mv $(LOCK).new $(LOCK) && rm -rf .venv-new
	@git --no-pager diff --stat $(LOCK)

docs: .venv/.installed-test
	$(BIN)/bugzoo docs build site

picture: .venv/.installed-test
	@$(BIN)/python -m pytest -q -p no:nbval tests/browser/readme_picture.py

format: .venv/.installed-test
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf .venv .venv-new build dist artefacts site *.egg-info

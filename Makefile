# Commands of a developer. `make` alone lists them; all of them set up what they need.

PYTHON ?= python3
BIN := .venv/bin
QUICK := not slow and not real_host and not root
PYTEST := $(BIN)/python -m pytest -n 3 --dist loadfile

# Without compiled files each of the many processes would compile all it imports.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help dev demo test check lint format bench docs reference

help: ## this list
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20

dev: ## the development environment, in .venv
	@$(PYTHON) tools/dev.py

demo: dev ## a recorded session through the real hook, and what the next one is given
	@$(BIN)/python tools/demo/play.py $(if $(KEEP),--keep)

test: dev lint ## everything, then the quick tests on every other Python there is
	$(BIN)/python tools/debian.py
	$(PYTEST)
	$(BIN)/python tools/pythons.py -m "$(QUICK)"

check: dev ## the quick tests
	$(PYTEST) -q -m "$(QUICK)"

lint: dev ## style, types, import contracts
	$(BIN)/ruff check .
	$(BIN)/python tools/typecheck.py
	$(BIN)/python tools/contracts.py

format: dev ## put the source into one form
	$(BIN)/ruff format .

bench: dev ## the measurements beside their goals
	$(BIN)/python bench/table.py

reference: dev ## pages of docs/ that are made from the code
	$(BIN)/python tools/reference.py

docs: reference ## the documentation, into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# Every target is one line: the bootstrap makes .venv ready (milliseconds when it is), then runs the command.
PYTHON ?= python3
ARGS ?=
READY = @command -v $(PYTHON) >/dev/null || { echo "No $(PYTHON) here: install Python 3.11 or newer (https://www.python.org/downloads), or name yours: make $@ PYTHON=python3.12" >&2; exit 1; }; $(PYTHON) course_pkg/setup/bootstrap.py

.DEFAULT_GOAL := help
.PHONY: help lab test check slides site exercises figures sync lint clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "make %-10s %s\n", $$1, $$2}' Makefile
lab: ## open the lectures in JupyterLab (ARGS="--no-browser", ARGS="--port 8889", ARGS="02")
	$(READY) lab $(ARGS)
test: ## check everything: lint, unit tests, lectures, exercises, slides, the lab in a browser; installs what that needs (ARGS=--all: as CI does)
	$(READY) test $(ARGS)
check: ## lint, and the tests of what you changed, the most direct first: at most 90 seconds
	$(READY) check
slides: ## build the slide decks into build/slides
	$(READY) run --extras slides -- course slides $(ARGS)
site: ## build the whole course as one static site into build/site
	$(READY) run --extras grade,site -- course site $(ARGS)
exercises: ## generate exercises/ from solutions/
	$(READY) run --extras grade -- course exercises $(ARGS)
figures: ## redraw the lectures' figures from their data
	$(READY) run -- course figures $(ARGS)
sync: ## bring lectures/*.py and lectures/*.ipynb in step
	$(READY) run -- course sync $(ARGS)
lint: ## ruff and the import rules
	$(READY) lint
clean: ## remove build products (ARGS=--all: the environment too)
	$(READY) run -- course clean $(ARGS)

# Each target sets up what it needs by itself. README says the same in commands that need no make.

PYTHON ?= python3
BIN := .venv/bin
RUN := $(BIN)/python
SOLUTIONS ?= yes
EXPORTS := PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1

.DEFAULT_GOAL := help
.PHONY: help install book slides pdf serve demo test quick lint notebooks exercises experiments lab bench weight mutants faults clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*## /\t/' | expand -t 14

.venv/installed: requirements.txt pyproject.toml tools/setup_venv.py
	$(EXPORTS) $(PYTHON) tools/setup_venv.py .venv
	@touch $@

install: .venv/installed ## make .venv and install what requirements.txt pins

book: install ## build the web book into _build/html; SOLUTIONS=no: one without solutions
	@SOLUTIONS=$(SOLUTIONS) $(RUN) tools/check.py book
	@echo "Open $(if $(filter no,$(SOLUTIONS)),_build/without_solutions/_build/html,_build/html)/index.html in a browser, or: make serve"

slides: install ## make slides of every chapter in _build/slides
	$(RUN) tools/make_slides.py

pdf: book ## print the web book, and the cheat sheet, into _build/pdf (takes Chromium, and some minutes)
	$(RUN) tools/make_pdf.py

serve: book ## serve the book on localhost and rebuild it on change
	$(RUN) tools/serve.py

demo: install ## train the demo translator into runs/demo, once (some fifteen to twenty minutes of one core)
	$(RUN) tools/train_demo.py

test: install ## everything: lint, types, tests, doctests, notebooks, the built book
	$(RUN) tools/check.py

quick: install ## tests of the package's core alone, under a minute
	$(RUN) tools/check.py quick

lint: install ## style and types only
	$(RUN) tools/check.py lint types

notebooks: demo ## execute the notebooks again, in order, and store their outputs
	$(RUN) tools/execute_notebooks.py

exercises: install ## make the learner's notebooks from their solutions
	$(RUN) tools/make_exercises.py

experiments: install ## run the experiments whose record is missing or out of date
	$(RUN) tools/run_experiments.py

lab: install ## open JupyterLab
	$(BIN)/jupyter lab

bench: install ## measure speed beside other implementations
	$(RUN) -m benchmarks.speed
	$(RUN) -m benchmarks.growth
	$(RUN) -m benchmarks.tricks
	$(RUN) -m benchmarks.wall_time

weight: book ## weigh the web book's pages in Chromium, over a slow line
	$(RUN) -m benchmarks.page_weight --write

mutants: install ## plant faults in package and solutions, and list those that nothing finds
	$(RUN) tools/mutants.py
	$(RUN) tests/checks/mutations.py --count 1000

faults: install ## damage files, kill trainings, feed nonsense, for a quarter of an hour; a table of how each ends
	$(RUN) tools/fault_suite.py --write

clean: ## remove what was built (not .venv, not trained runs)
	rm -rf _build dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

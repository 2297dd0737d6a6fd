# Everything a newcomer types. `make run WORKSPACE=path QUERY="…"` is the two-minute tour.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
WORKSPACE ?= .
QUERY ?= where is a file split into chunks

.PHONY: run test generate e2e e2e-vscode vsix vsix-bundled check bench bench-cold bench-recall bench-scale bench-manifest bench-deliverables bench-soar clean

$(VENV)/.run: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e .
	touch $@

$(VENV)/.dev: pyproject.toml
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $@ $(VENV)/.run

run: $(VENV)/.run
	@$(BIN)/aurora --workspace "$(WORKSPACE)" index
	@$(BIN)/aur --workspace "$(WORKSPACE)" mem "$(QUERY)"

test: $(VENV)/.dev
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile

e2e: $(VENV)/.dev
	$(BIN)/python -m pytest tests/e2e

e2e-vscode: $(VENV)/.dev
	AURORA_TEST_VSCODE=1 $(BIN)/python -m pytest tests/e2e/test_vscode.py

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

generate: $(VENV)/.dev
	$(BIN)/python -m aurora_server.configuration.schema_generator

bench: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks

bench-cold: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.cold $(REPOS)

bench-recall: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.recall_quality $(REPOS)

bench-scale: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.scale

bench-manifest: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.manifests

bench-deliverables: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.deliverables

bench-soar: $(VENV)/.dev
	$(BIN)/python -m tests.benchmarks.orchestrator

vsix:
	cd editor-clients/vscode && npm ci && npm run package

vsix-bundled: $(VENV)/.dev
	cd editor-clients/vscode && npm ci && PYTHON="$(abspath $(BIN))/python" npm run package -- --bundled

clean:
	rm -rf $(VENV) dist build .bench
	cd editor-clients/vscode && rm -rf node_modules dist schemas bundled artefacts aurora.vsix aurora-bundled.vsix

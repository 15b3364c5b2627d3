"""Digests of code: of all that is imported, and of nothing that changes no result."""

import importlib
import sys

import pytest

from bidzoo.core import digests


def test_a_digest_of_sources_sees_what_is_imported_and_no_comment(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    package = tmp_path / "digested"
    package.mkdir()
    files = {
        "__init__": "",
        "top": '"""Doc."""\n\n\ndef f():\n    from . import below\n    return below.g()\n',
        "below": "from digested.deep import VALUE\nfrom digested_beside.it import X\n\n\ndef g():\n    return VALUE\n",
        "deep": "VALUE = 1\n",
        "beside": "import json\n",
    }

    (tmp_path / "digested_beside").mkdir()
    (tmp_path / "digested_beside" / "__init__.py").write_text("1 / 0  # nobody imports it to know what it has\n")

    def digest(**changes):
        for name, text in {**files, **changes}.items():
            (package / f"{name}.py").write_text(text, "utf-8")
        digests._read.cache_clear()
        return digests.source_digest("digested.top")

    first = digest()
    assert first == digest() == digest(beside="VALUE = 3\n")
    assert first == digest(
        top=files["top"].replace("Doc.", "Other words.").replace("import below", "import below  # so")
    )
    assert len({first, digest(deep="VALUE = 2\n"), digest(below=files["below"].replace("return", "return -"))}) == 3
    digests._read.cache_clear()
    everything = digests.source_digest("bidzoo.agents.tabular.bad")
    assert everything != digests.source_digest("bidzoo.agents.tabular.a2c")


MODULE = """
from functools import cache
LEAST = 12
TABLE = [1, 2]
seen = []
class Mine:
    network = None
    def load(self):
        type(self).network = object()
    @property
    def name(self): return "mine"
    @staticmethod
    def helped(): return 1
@cache
def cached(): return 1
"""


EDITS = {
    "12": "13",
    "[1, 2]": "[1, 3]",
    '"mine"': '"ours"',
    "helped(): return 1": "helped(): return 2",
    "cached(): return 1": "cached(): return 2",
}


@pytest.mark.parametrize(("before", "after"), EDITS.items())
def test_a_module_that_is_reloaded_is_read_again(tmp_path, monkeypatch, before, after):
    """As a notebook does after an edit; what was edited and not reloaded is not what the process runs."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # whose times are of whole seconds
    file = tmp_path / "edited_agent.py"
    file.write_text(MODULE, "utf-8")
    module = importlib.import_module("edited_agent")
    first = digests.source_digest("edited_agent"), digests.loaded()["edited_agent"]
    module.seen.append(1)
    module.Mine().load()
    file.write_text(MODULE.replace(before, after), "utf-8")
    assert first == (digests.source_digest("edited_agent"), digests.loaded()["edited_agent"])
    importlib.reload(module)
    assert digests.source_digest("edited_agent") != first[0] and digests.loaded()["edited_agent"] != first[1]
    assert not any(name.partition(".")[0] in ("bidzoo", "numpy", "json", "__main__") for name in digests.loaded())
    sys.modules.pop("edited_agent")


def test_a_constant_that_autoreload_has_set_is_read(tmp_path, monkeypatch):
    """``%autoreload 2`` gives a module its new constants and functions alone, without loading it anew."""
    reloader = pytest.importorskip("IPython.extensions.deduperreload.deduperreload").DeduperReloader()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    file = tmp_path / "patched_agent.py"
    file.write_text(MODULE, "utf-8")
    module = importlib.import_module("patched_agent")
    reloader.update_sources()
    first = digests.source_digest("patched_agent"), digests.loaded()["patched_agent"]
    file.write_text(MODULE.replace("12", "13"), "utf-8")
    assert reloader.maybe_reload_module(module) and module.LEAST == 13
    assert digests.source_digest("patched_agent") != first[0] and digests.loaded()["patched_agent"] != first[1]
    sys.modules.pop("patched_agent")

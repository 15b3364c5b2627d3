"""What a golden case says when it differs: the first field, row or line, and why it is skipped."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import conftest as golden

CASES: dict = {}  # none of its own

BEFORE = {
    "rows": [{"agent": "rpi", "imps": 1.25}, {"agent": "sl", "imps": 0.5}],
    "text": "first line\nsecond line",
    "calls": np.arange(100).reshape(50, 2),
}


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"rows": [{"agent": "rpi", "imps": 1.25}, {"agent": "sl", "imps": 0.75}]}, r"/rows/1/imps.* 0\.75"),
        ({"text": "first line\nanother line"}, r"/text line 2.* 'another line'"),
        ({"calls": np.arange(100).reshape(50, 2) + (np.arange(50) == 49)[:, None]}, r"/calls\[48:50\].* array"),
        ({"rows": [{"agent": "rpi", "imps": 1.25, "n": 9}]}, r"^fields added: rows/n$"),
        ({"rows": [{"agent": "rpi", "IMPs": 1.25}]}, r"^fields added: rows/IMPs; removed: rows/imps$"),
        (
            {"calls": np.zeros(3, [("call", "i4"), ("seat", "i4")])},
            r"^fields added: calls/call, calls/seat; removed: calls$",
        ),
    ],
)
def test_the_first_difference_is_named(change, where):
    recorded, names = golden.digests({"part": BEFORE})["part"], golden.field_names(BEFORE)
    assert names == ["calls", "rows/agent", "rows/imps", "text"]
    now = {**BEFORE, **change}
    assert golden.digest_of(now) != recorded.split(" ")[0]
    assert re.search(where, golden.first_difference(recorded, now, names))


def test_what_was_never_recorded_names_the_command_for_it_alone(unchanged, monkeypatch, request):
    monkeypatch.setattr(request.module, "CASES", {"a b": lambda: {"a": 1}})
    monkeypatch.setitem(unchanged.__globals__, "load", lambda: {"machine": {}, "cases": {}, "fields": {}})
    with pytest.raises(AssertionError, match=r"never recorded: python tests/golden/record\.py 'difference/a b/'"):
        unchanged("a b")
    monkeypatch.setitem(
        unchanged.__globals__, "load", lambda: {"machine": {}, "cases": {"difference/c/a": "0"}, "fields": {}}
    )
    with pytest.raises(AssertionError, match=r"are gone: c; .*record\.py 'difference/c/'"):
        unchanged("a b")


def test_a_case_is_skipped_for_its_own_reason_alone(unchanged, monkeypatch, request):
    """Another processor excuses sums of floating-point numbers and not a text; another rich excuses the text."""
    module, here = request.module, golden.machine()
    cases = {"difference/sums/a": "0" * 16, "difference/words/a": "0" * 16}
    other = {**here, "processor": "another"}
    monkeypatch.setattr(module, "CASES", {"sums": lambda: {"a": 1.5}, "words": lambda: {"a": "x"}})
    monkeypatch.setattr(module, "LOCAL", {"sums": ("processor",), "words": ("rich",)}, raising=False)
    load = unchanged.__globals__
    monkeypatch.setitem(load, "load", lambda: {"machine": other, "cases": cases, "fields": {}})
    with pytest.raises(pytest.skip.Exception, match="recorded with another processor"):
        unchanged("sums")
    with pytest.raises(pytest.fail.Exception, match="recorded without an outline"):
        unchanged("words")
    monkeypatch.setitem(load, "load", lambda: {"machine": {**here, "rich": "1.0"}, "cases": cases, "fields": {}})
    with pytest.raises(pytest.skip.Exception, match="recorded with another rich"):
        unchanged("words")
    with pytest.raises(pytest.fail.Exception, match="differs from what was recorded"):
        unchanged("sums")

"""``experiments/again.py``: result files are measured again by their own commands, which must all be there to give."""

import json
import platform
import shlex

import again
import numpy as np
import pytest
import typer

from bidzoo import agents
from bidzoo.benchmarks import results
from bidzoo.benchmarks.bridge import contestant

FILES = sorted(again.RESULTS.glob("*.json"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_every_published_command_can_be_given(path, monkeypatch):
    """Its script is there, and so are the agents that it names."""
    monkeypatch.chdir(again.ROOT)
    words = shlex.split(json.loads(path.read_text(encoding="utf-8"))["command"])
    if words[0] == "python":
        assert (again.ROOT / words[1]).is_file()
    if "--agents" in words and again.hindrance(path.stem, words) is None:
        for name in agents.names_in(words[words.index("--agents") + 1]):
            assert contestant(name).name


def test_a_command_that_cannot_be_given_says_why():
    given = shlex.split("bidzoo bench bridge --agents sl,x=experiments/weights/rl-short.safetensors --json x.json")
    assert again.hindrance("bridge", given) is None
    assert again.hindrance("bridge", [*given, "--ledger", "runs/nowhere.jsonl"]) is None
    assert again.hindrance("bridge", [*given, "--deals", "nowhere.npz"]) == "needs nowhere.npz"
    assert again.hindrance("x", ["bidzoo", "bench", "--agents", "a=no/a.safetensors"]).startswith("by hand")
    assert "times" in again.hindrance("throughput", given)


def test_what_differs_is_named():
    old = {"rows": [{"mean": 1.0, "error": np.nan}, {"mean": 2.0}], "note": "a"}
    assert not list(again.differences(old, {**old, "rows": [{"mean": 1.0 + 1e-13, "error": np.nan}, {"mean": 2.0}]}))
    new = {"rows": [{"mean": 1.5, "error": np.nan}], "more": 1}
    assert list(again.differences(old, new)) == [
        "more: None, now 1",
        "note: a, now None",
        f"rows: {old['rows']}, now {new['rows']}",
    ]
    assert list(again.differences({"a": [1, 2]}, {"a": [1, 3]})) == ["a[1]: 2, now 3"]


def test_times_are_compared_with_nothing():
    old = {"processor seconds": 1, "cells a second": 9, "ms a call": 3, "first : second": 1.0}
    new = {"processor seconds": 2, "cells a second": 8, "ms a call": 4, "first : second": 2.0}
    assert list(again.differences(old, new)) == ["first : second: 1.0, now 2.0"]


def test_a_file_that_is_not_what_its_command_measures(tmp_path, monkeypatch, capfd):
    """It is named, and with ``--write`` replaced, command and all else as published; one that is stays as it is."""
    folder = tmp_path / "results"
    folder.mkdir()
    path, right = folder / "exploit.json", (again.RESULTS / "exploit.json").read_text(encoding="utf-8")
    document = json.loads(right)
    document["tables"][0]["rows"][0]["NashConv"] += 1
    path.write_text(json.dumps(document))
    monkeypatch.setattr(again, "RESULTS", folder)
    for write, said in ((False, "1 differ"), (True, "1 differ"), (True, "the same")):
        with pytest.raises(typer.Exit) as ended:
            again.main(["exploit"], None, False, tmp_path / "out", write)
        assert ended.value.exit_code == 0 and f"exploit: {said}" in capfd.readouterr().out
    found = json.loads(path.read_text(encoding="utf-8"))
    here = {"python": platform.python_version(), "machine": results.machine(), "seconds": 0}
    assert {**found, "seconds": 0} == {**json.loads(right), **here}
    document["command"] = "bidzoo exploit nobody --env minibridge --json docs/results/exploit.json"
    path.write_text(json.dumps(document))
    with pytest.raises(typer.Exit) as ended:
        again.main(["exploit"], None, False, tmp_path / "out", True)
    assert ended.value.exit_code == 1 and json.loads(path.read_text()) == document
    assert "exploit: the command ended with status" in capfd.readouterr().err

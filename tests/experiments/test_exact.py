"""``experiments/exact.py``: its lines of results, and the plan that it writes."""

import json

import pytest
from exact import main

from bidzoo.agents.tabular import exact
from bidzoo.agents.tabular.exact import read_plan
from bidzoo.envs.signalling.minibridge import Minibridge


def test_command_line(tmp_path, capsys, monkeypatch):
    lines, plan = tmp_path / "exact.jsonl", tmp_path / "plan.json"
    main(["minibridge_v0", "--size", "4", "--out", str(lines), "--plan", str(plan)])
    assert "minibridge_v0(size=4): 46/25 = 1.840000" in capsys.readouterr().out
    main(["simple_bidding_v0", "--size", "8", "--out", str(lines)])
    main(["minibridge_v0", "--size", "4", "--out", str(lines)])
    assert [line["total"] for line in map(json.loads, lines.read_text().splitlines())] == [46, 324]
    assert read_plan(plan, Minibridge(4)).total == 46
    with pytest.raises(ValueError, match=r"plan\.json: not a plan of minibridge_v0\(size=5\)"):
        read_plan(plan, Minibridge(5))
    plan.write_text(plan.read_text().replace("46", "47"))
    monkeypatch.setattr(exact, "RECORDED", tmp_path)
    plan.rename(tmp_path / "minibridge_4.json")
    with pytest.raises(ValueError, match=r"the strategy scores 1\.8.*, not 47/25"):
        exact.solve(Minibridge(4))

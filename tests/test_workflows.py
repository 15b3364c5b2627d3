"""Workflows of the code host: actions are named by hash, rights are the least, and every step that runs is a target."""

import re
from pathlib import Path

import pytest

yaml = pytest.importorskip("yaml")

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.M))


@pytest.fixture(params=FILES, ids=lambda path: path.stem)
def workflow(request):
    return yaml.safe_load(request.param.read_text())


def steps(workflow):
    return [step for job in workflow["jobs"].values() for step in job["steps"]]


def test_actions_are_named_by_hash_and_version(workflow):
    for path in FILES:
        for line in path.read_text().splitlines():
            if "uses:" in line:
                assert re.search(r"uses: [\w/-]+@[0-9a-f]{40}  # v\d+\.\d+\.\d+", line), line
    assert any("uses" in step for step in steps(workflow))


def test_rights_are_the_least(workflow):
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        writes = {right for right, level in job.get("permissions", {}).items() if level == "write"}
        assert writes <= {"attest": {"id-token", "attestations"}, "publish": {"id-token"}}.get(
            name, {"id-token", "pages"} if name == "pages" else set()
        )
        if writes:
            assert not any("run" in step for step in job["steps"]), f"{name}: a job with rights runs no code of ours"


def test_what_is_made_is_a_target(workflow):
    for job in workflow["jobs"].values():
        matrix = job.get("strategy", {}).get("matrix", {})
        parts = {*matrix.get("part", ()), *(each.get("part") for each in matrix.get("include", ())), None} - {None}
        for step in job["steps"]:
            words = step.get("run", "").split()
            if words[:1] == ["make"]:
                assert parts <= TARGETS if "matrix.part" in step["run"] else words[1] in TARGETS


def test_only_a_tag_of_the_version_is_published():
    release = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())
    jobs = release["jobs"]
    assert jobs["publish"]["if"] == jobs["attest"]["if"] == "github.ref_type == 'tag'"
    assert jobs["publish"]["needs"] == ["build", "attest"] and jobs["pages"]["needs"] == "publish"
    check = next(step["run"] for step in jobs["build"]["steps"] if "The tag" in step.get("name", ""))
    assert "pyproject.toml" in check and re.search(
        r'^version = "\d+\.\d+\.\d+"$', (ROOT / "pyproject.toml").read_text(), re.M
    )

"""Recorded auctions go on where a stopped run was."""

import numpy as np
import pytest

from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.policy import Uniform
from bidzoo.benchmarks import auctions
from bidzoo.benchmarks.auctions import record


@pytest.mark.parametrize("chunk", ["_CHUNK", "_SLOW"])
def test_a_stopped_recording_goes_on_and_gives_the_same_auctions(chunk, tmp_path, monkeypatch):
    monkeypatch.setattr(auctions, chunk, 7)
    policy, journal, seen = Sayc(), tmp_path / "auctions.npz.journal", []
    policy.slow = chunk == "_SLOW"

    def stop(what, done, total):
        if done >= 14:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        record(policy, 30, 4, [Uniform()], stop, journal)
    stopped = record(policy, 30, 4, [Uniform()], lambda what, done, total: seen.append(done), journal)
    assert seen == [14, 21, 28, 30]
    for one, other in zip(stopped, record(policy, 30, 4, [Uniform()]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_journal_of_another_policy_is_refused(tmp_path):
    record(Sayc(), 3, journal=tmp_path / "journal")
    with pytest.raises(ValueError, match="header"):
        record(Uniform(), 3, journal=tmp_path / "journal")

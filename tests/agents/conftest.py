"""What the tests of several agents check alike."""

import numpy as np
import pytest


@pytest.fixture
def goes_on(tmp_path):
    """``check(trainer, every)``: a run in two parts gives the bytes of a whole one, and another seed other weights."""
    from bidzoo.agents.bridge.trainer import Run, train

    def check(trainer, every):
        whole = train(trainer(), Run(tmp_path / "a", every=every))
        train(trainer(), Run(tmp_path / "b", every=every, stop=every))
        parts = train(trainer(), Run(tmp_path / "b", every=every))
        other = train(trainer(seed=1), Run(tmp_path / "c", every=every))
        for name, tensor in whole.tensors.items():
            np.testing.assert_array_equal(tensor, parts.tensors[name], err_msg=name)
        assert any((tensor != other.tensors[name]).any() for name, tensor in whole.tensors.items())
        files = [(tmp_path / folder / "network.safetensors").read_bytes() for folder in ("a", "b")]
        assert files[0] == files[1]

    return check

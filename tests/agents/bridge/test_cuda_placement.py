"""Every stage of training on a GPU that is not there: no tensor is forgotten on the processor.

A CPU build of torch can neither slice nor differentiate fake CUDA tensors (``FakeTensorMode``), so the GPU is acted: a
tensor sent to ``cuda`` is a copy whose storage is remembered, and what fails on a GPU fails here: an operator on
tensors of both devices, ``numpy`` of a tensor there, autocast for the other device. The arithmetic is the processor's,
so training there must end in the same bytes as training here.
"""

from collections import Counter
from contextlib import nullcontext

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from torch.multiprocessing.reductions import StorageWeakRef
from torch.overrides import TorchFunctionMode
from trainers import evaluator

from bidzoo.agents.bridge import a2c, belief, jps, network, ppo, rl, rpi, selfplay, sl
from bidzoo.agents.bridge.network import Architecture
from bidzoo.agents.bridge.sayc import Sayc
from bidzoo.agents.bridge.trainer import Options as FitOptions
from bidzoo.agents.bridge.trainer import Run, train
from bidzoo.benchmarks.auctions import record
from bidzoo.envs.bridge.deals import DealSet, packaged
from bidzoo.envs.bridge.formats.auctions import Positions
from bidzoo.envs.bridge.game import Bridge

CUDA = torch.device("cuda", 0)
FETCHES = {"item", "tolist", "__float__", "__int__", "__bool__", "__index__", "nonzero"}  # the processor waits for them
POLICY = Architecture("openspiel480", 38, width=16, depth=2)


def tensors_in(value):
    """All tensors in arguments or results."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from tensors_in(part)


def is_cuda(device):
    return device is not None and torch.device(device).type == "cuda"


class ActedGpu(TorchFunctionMode):
    """Inside, ``cuda`` can be sent to."""

    def __init__(self):
        super().__init__()
        self._storages = set()
        self.ran = Counter()  # operators by name, on tensors there
        self.fetched = 0  # times that the processor waited

    def has(self, tensor):
        return tensor.numel() > 0 and StorageWeakRef(tensor.untyped_storage()) in self._storages

    def put(self, result):
        self._storages.update(StorageWeakRef(tensor.untyped_storage()) for tensor in tensors_in(result))
        return result

    def __torch_function__(self, function, types, args=(), kwargs=None):
        name, kwargs = function.__name__, dict(kwargs or {})
        if name == "__get__":
            return self._attribute(function, args[0])
        if name in ("to", "cpu"):
            return self._moved(function, args, kwargs)
        if name in ("numpy", "__array__") and self.has(args[0]):
            raise TypeError("can't convert a tensor on cuda to numpy")
        if made_there := is_cuda(kwargs.get("device")):
            kwargs["device"] = "cpu"
        there = made_there or self._one_device(name, args, kwargs)
        self.ran[name] += there
        self.fetched += there and name in FETCHES
        result = function(*args, **kwargs)
        return self.put(result) if there else result

    def _attribute(self, function, tensor):
        found = function(tensor)
        if function == torch.Tensor.device.__get__:
            return CUDA if self.has(tensor) else found
        if function == torch.Tensor.is_cuda.__get__:
            return self.has(tensor)
        return self.put(found) if isinstance(found, torch.Tensor) and self.has(tensor) else found

    def _moved(self, function, args, kwargs):
        """``to`` or ``cpu``, always a copy when the device is another one."""
        places = [a for a in (*args[1:], *kwargs.values()) if isinstance(a, str | torch.device)]
        was = self.has(args[0])
        goes = is_cuda(places[0]) if places else was and function.__name__ == "to"
        rest = ["cpu" if isinstance(a, str | torch.device) else a for a in args[1:]]
        named = {key: "cpu" if isinstance(a, str | torch.device) else a for key, a in kwargs.items()}
        found = function(args[0], *rest, **named)
        self.fetched += was and not goes
        if was != goes:
            found = found.clone()
        return self.put(found) if goes else found

    def _one_device(self, name, args, kwargs):
        """Whether it is the GPU; lone numbers may be anywhere but in fused operators, indices on the processor."""
        if name in ("copy_", "__set__", "_has_compatible_shallow_copy_type"):  # how modules are moved and loaded
            return self.has(args[0])
        if name in ("__getitem__", "__setitem__") and self.has(args[0]):
            args = (args[0], *args[2:])
        fused = name.startswith(("_fused", "_foreach"))
        all_of_them = [t for t in tensors_in((args, kwargs)) if t.numel() and (t.dim() or fused)]
        places = {self.has(tensor) for tensor in all_of_them}
        if len(places) > 1:
            raise RuntimeError(f"{name}: expected all tensors to be on the same device, found cuda and cpu")
        return any(self.has(tensor) for tensor in tensors_in((args, kwargs)))


@pytest.fixture
def gpu(monkeypatch):
    autocast, grouped = torch.autocast, torch._C._group_tensors_by_device_and_dtype

    def by_device(lists, with_indices):  # what optimisers and gradient clipping ask torch's C++ part
        groups = grouped(lists, with_indices).items()
        return {(tensors[0][0].device, dtype): (tensors, rows) for (_, dtype), (tensors, rows) in groups}

    def on_cuda(kind, dtype, enabled=True):
        return autocast("cpu", dtype, enabled) if is_cuda(kind) else nullcontext()

    monkeypatch.setattr(torch._C, "_group_tensors_by_device_and_dtype", by_device)
    monkeypatch.setattr(torch, "autocast", on_cuda)
    with ActedGpu() as acted:
        yield acted


# ---- the actor itself --------------------------------------------------------------------


def test_the_acted_gpu_refuses_what_a_gpu_refuses(gpu):
    here, there = torch.ones(3, 4), torch.ones(3, 4).to("cuda")
    assert there.device == CUDA and there[1:].device == CUDA and (2 * there).sum().device == CUDA
    assert here.device.type == there.cpu().device.type == "cpu"
    assert there[torch.tensor([0, 2])].device == CUDA and torch.zeros(2, device="cuda").device == CUDA
    (there + torch.tensor(1.0)).add_(1)
    for mixed in (
        lambda: there + here,
        lambda: there @ here.T,
        lambda: torch.cat([here, there]),
        lambda: there.gather(1, torch.zeros((3, 1), dtype=torch.int64)),
        lambda: torch.nn.functional.nll_loss(there, torch.zeros(3, dtype=torch.int64)),
        lambda: here[torch.tensor([0]).to("cuda")],
        lambda: torch._foreach_add([there], [torch.tensor(1.0)]),
    ):
        with pytest.raises(RuntimeError, match="same device"):
            mixed()
    with pytest.raises(TypeError, match="numpy"):
        there.numpy()
    with pytest.raises(RuntimeError, match="dtype"), torch.autocast("cpu", torch.bfloat16):
        torch.nn.functional.linear(there.bfloat16(), there)
    assert gpu.fetched == 1  # there.cpu()
    assert float(there.sum()) == 12.0
    assert gpu.fetched == 2


def test_gradients_and_moments_are_where_the_weights_are(gpu):
    model = network.module(POLICY).to("cuda")
    adam = torch.optim.Adam(model.parameters(), fused=True)
    model(torch.ones(2, 480, device="cuda")).sum().backward()
    assert next(model.parameters()).grad.device == CUDA
    adam.step()
    moments = next(iter(adam.state.values()))
    assert {tensor.device for tensor in moments.values()} == {CUDA}
    moments["step"] = moments["step"].cpu()
    with pytest.raises(RuntimeError, match="same device"):
        adam.step()


# ---- the stages --------------------------------------------------------------------------


@pytest.fixture
def acts_by_torch(monkeypatch):
    """On the processor too, where our compiled network plays otherwise, which rounds in another order."""

    def torch_actor(model, architecture, device="cpu", greedy=False):
        return selfplay.actor(selfplay.half_precision(model), architecture.encoder, device, greedy)

    for module in (a2c, jps, ppo, rl, rpi):
        if hasattr(module, "actor_of"):
            monkeypatch.setattr(module, "actor_of", torch_actor)


@pytest.fixture(scope="module")
def auctions():
    return record(Sayc(), 300, seed=4)


def beginner(architecture=POLICY):
    return network.network_of(architecture, network.module(architecture, 1, last_scale=0.3))


def deals(n):
    return DealSet.of(*(column[:n] for column in packaged("validation")))


PPO = {"iterations": 4, "boards": 24, "min_prob": 0.01, "minibatch": 64, "snapshot_every": 2}
RL = {"syncs": 4, "boards": 12, "sync": 2, "minibatch": 32, "value_width": 8, "warm_up": 1, "burn_in": 100}
A2C = {"syncs": 4, "boards": 8, "sync": 2, "minibatch": 32, "burn_in": 100, "capacity": 1000}


def played(algorithm, start, options, observation="openspiel480"):
    game = Bridge(False, deals="validation", observation=observation)
    return lambda device: algorithm.Trainer(start, game, options, device)


def stage(name, auctions):
    """``trainer(device)`` of a stage."""
    actor_critic = beginner(Architecture("jps267", 39, kind="jps", width=16))
    fits = {"steps": 4, "batch": 32, "warm_up": 1}
    if name in ("sl", "belief"):
        module, outputs = {"sl": (sl, 38), "belief": (belief, 156)}[name]
        data = [Positions(auctions, auctions.split(part)) for part in ("train", "validation")]
        options = FitOptions(Architecture("openspiel480", outputs, width=16), **fits)
        return lambda device: module.Trainer(*data, options, device=device)
    if name == "evaluator":
        cells = [evaluator.Cells(deals(n)) for n in (40, 5)]
        return lambda device: evaluator.Trainer(*cells, FitOptions(evaluator.Suits(8, 8, 8), **fits), device=device)
    algorithm, _, change = name.partition(" ")
    if algorithm == "ppo":
        return played(ppo, beginner(), ppo.Options(**PPO))
    if algorithm == "rl":
        return played(rl, beginner(), rl.Options(**RL, hidden=not change, capacity=1000))
    if algorithm == "a2c":
        return played(a2c, actor_critic, a2c.Options(**A2C), "jps267")
    return played(jps, actor_critic, jps.Options(**A2C, share=0.5, responses=2, rollouts=2), "jps267")


STAGES = ("sl", "belief", "evaluator", "ppo", "rl", "rl no-hi", "a2c", "jps")


@pytest.mark.parametrize("name", STAGES)
@pytest.mark.usefixtures("acts_by_torch")
def test_a_stage_learns_on_the_gpu(tmp_path, auctions, request, monkeypatch, name):
    """In two halves, the second from a checkpoint; the weights are those of one run on the processor."""
    monkeypatch.setattr(network, "has_bfloat16", lambda kind: True)  # of any processor: as on the GPU
    trainer = stage(name, auctions)
    expected = train(trainer("cpu"), Run(tmp_path / "cpu", every=2))
    gpu = request.getfixturevalue("gpu")
    train(trainer("cuda"), Run(tmp_path / "cuda", every=2, stop=2))
    found = train(trainer("cuda"), Run(tmp_path / "cuda", every=2))
    for key, tensor in expected.tensors.items():
        np.testing.assert_array_equal(found.tensors[key], tensor, err_msg=key)
    assert gpu.ran["_fused_adam_"] + gpu.ran["_fused_adamw_"] >= 4
    assert gpu.ran["relu_"] or gpu.ran["relu"]


def test_figures_wait_for_the_iteration_to_end(gpu):
    """Four times the minibatches, as many waits."""
    waits = []
    for epochs in (1, 4):
        options = ppo.Options(**PPO, epochs=epochs)
        trainer = ppo.Trainer(beginner(), Bridge(False, deals="validation"), options, "cuda")
        before = gpu.fetched, gpu.ran["_fused_adam_"]
        trainer.iterate(0)
        waits.append((gpu.fetched - before[0], gpu.ran["_fused_adam_"] - before[1]))
    assert waits[0][0] == waits[1][0] and 4 * waits[0][1] == waits[1][1]

"""The networks of the bridge agents: one plan of layers, run by torch to learn and without torch to play.

``mlp``  ``depth`` hidden layers of ``width`` (belief Monte Carlo search: 4 x 2048, GELU; Kita et al.: 4 x 1024, ReLU).
``jps``  Linear, two blocks, Linear, two blocks, outputs; a block is two layers with a skip connection around them
         (joint policy search, Figure 3: width 200). The partner's-hand head, unused in its main results, is left out.

Playing skips every entry of an observation that is 0: of the 480 bits some 25 are set. Each row is summed in a fixed
order, in the hidden layers too (``dense.py``), so the outputs do not depend on the batch or on the number of threads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge.dense import dense, pack
from bidzoo.envs.bridge.encode import ENCODERS
from bidzoo.envs.game import Encoder
from bidzoo.kernels import F32, batched, prange, row

TEACHERS = {  # inputs of value networks, which see more than a player
    "bmcs636": 636,  # all four hands
    "scores778": 636 + 142,  # and what every contract would score (``scores.py``), and the standing one
}


class Layer(NamedTuple):
    """``activation(x @ weight + bias [+ the output of the layer before last])``."""

    inputs: int
    outputs: int
    skip: bool = False
    activate: bool = True


@dataclass(frozen=True)
class Architecture:
    """What a network is made of; stored beside its weights."""

    observation: str  # name of an encoder, or of ``TEACHERS``
    outputs: int
    kind: Literal["mlp", "jps"] = "mlp"
    width: int = 512
    depth: int = 3  # hidden layers of an mlp
    activation: Literal["relu", "gelu"] = "relu"

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("observation", self.observation, (*ENCODERS, *TEACHERS)),
            ("kind", self.kind, ("mlp", "jps")),
            ("activation", self.activation, ("relu", "gelu")),
        ):
            if value not in choices:
                raise ValueError(f"architecture: {name} {value!r}; choose from {', '.join(choices)}")
        if min(self.outputs, self.width, self.depth) < 1:
            raise ValueError(f"architecture: outputs, width and depth must be positive, got {self}")

    @property
    def inputs(self) -> int:
        """Entries of the observation."""
        if self.observation in TEACHERS:
            return TEACHERS[self.observation]
        return ENCODERS[self.observation].layout.size

    @property
    def encoder(self) -> Encoder:
        """What turns views into inputs (not for ``TEACHERS``: no view holds that much)."""
        return ENCODERS[self.observation]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """First to last."""
        first, plain = Layer(self.inputs, self.width), Layer(self.width, self.width)
        last = Layer(self.width, self.outputs, activate=False)
        if self.kind == "mlp":
            return (first, *[plain] * (self.depth - 1), last)
        blocks = (plain, Layer(self.width, self.width, skip=True)) * 2
        return (first, *blocks, plain, *blocks, last)


# ---- without torch -----------------------------------------------------------------------


@row
def _add_four(s: F32, w: F32, k: NDArray[np.int64], at: int, out: F32) -> None:
    k0, k1, k2, k3 = k[at], k[at + 1], k[at + 2], k[at + 3]
    s0, s1, s2, s3 = s[k0], s[k1], s[k2], s[k3]
    for j in range(len(out)):
        out[j] += (s0 * w[k0, j] + s1 * w[k1, j]) + (s2 * w[k2, j] + s3 * w[k3, j])


@row
def affine_row(x: F32, weight: F32, bias: F32, nonzero: NDArray[np.int64], out: F32) -> None:
    """``x @ weight + bias`` into ``out``, over the entries of ``x`` that are not 0 (listed in ``nonzero``)."""
    count = 0
    for k in range(len(x)):
        if x[k] != 0:
            nonzero[count] = k
            count += 1
    out[:] = bias
    at = 0
    while at + 4 <= count:
        _add_four(x, weight, nonzero, at, out)
        at += 4
    for rest in range(at, count):
        k = nonzero[rest]
        for j in range(len(out)):
            out[j] += x[k] * weight[k, j]


@row
def activate_row(x: F32, gelu: bool) -> None:
    """ReLU or GELU of ``x`` in place."""
    for j in range(len(x)):
        if gelu:
            x[j] = np.float32(0.5) * x[j] * (np.float32(1.0) + np.float32(math.erf(x[j] * 0.7071067811865476)))
        elif x[j] < 0:
            x[j] = 0


@batched
def _first(x: NDArray[Any], weight: F32, bias: F32, out: F32) -> None:
    for b in prange(len(x)):
        affine_row(x[b], weight, bias, np.empty(x.shape[1], np.int64), out[b])


@batched
def _finish(out: F32, before: F32, skip: bool, activate: int) -> None:
    for b in prange(len(out)):
        if skip:
            for j in range(out.shape[1]):
                out[b, j] += before[b, j]
        if activate > 0:
            activate_row(out[b], activate == 2)


class Network:
    """Weights that run on NumPy arrays."""

    def __init__(self, architecture: Architecture, tensors: dict[str, F32]) -> None:
        """``tensors``: ``layers.N.weight`` ``[outputs, inputs]`` and ``layers.N.bias``, as ``shapes`` says."""
        self.architecture, self.tensors = architecture, tensors
        weights = [np.ascontiguousarray(tensors[f"layers.{n}.weight"].T, np.float32) for n in range(len(tensors) // 2)]
        biases = [np.ascontiguousarray(tensors[f"layers.{n}.bias"], np.float32) for n in range(len(tensors) // 2)]
        self._input = weights[0], biases[0]
        self._hidden = [pack(weight, bias) for weight, bias in zip(weights[1:], biases[1:])]

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.architecture, self.tensors)  # to another process the weights travel once, not packed too

    def __call__(self, x: NDArray[Any]) -> F32:
        """Outputs ``[B, outputs]`` of observations ``[B, inputs]``, int8 or float32."""
        if x.shape[1:] != (self.architecture.inputs,):
            raise ValueError(f"observations have shape {x.shape}, expected (B, {self.architecture.inputs})")
        kind = 2 if self.architecture.activation == "gelu" else 1
        plans = self.architecture.layers
        before = np.empty((len(x), 0), np.float32)
        here = np.empty((len(x), plans[0].outputs), np.float32)
        _first(np.ascontiguousarray(x), *self._input, here)
        _finish(here, before, False, kind)
        for plan, packed in zip(plans[1:], self._hidden):
            out = np.empty((len(x), plan.outputs), np.float32)
            dense(here, packed, out)
            _finish(out, before, plan.skip, kind if plan.activate else 0)
            before, here = here, out
        return here


def shapes(architecture: Architecture) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the tensors, the same for NumPy and torch."""
    found: dict[str, tuple[int, ...]] = {}
    for n, layer in enumerate(architecture.layers):
        found[f"layers.{n}.weight"] = (layer.outputs, layer.inputs)
        found[f"layers.{n}.bias"] = (layer.outputs,)
    return found


# ---- with torch --------------------------------------------------------------------------


def module(architecture: Architecture, seed: int = 0, last_scale: float = 1.0) -> Any:
    """The same network as a torch module: He's initialisation from ``seed``, the last layer times ``last_scale``."""
    import torch

    class Twin(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            linear = torch.nn.utils.skip_init
            self.layers = torch.nn.ModuleList(
                linear(torch.nn.Linear, layer.inputs, layer.outputs) for layer in architecture.layers
            )

        def forward(self, x: Any) -> Any:
            function = torch.nn.functional.gelu if architecture.activation == "gelu" else torch.relu_  # in place
            before = here = x
            for plan, layer in zip(architecture.layers, self.layers):
                out = layer(here)
                if plan.skip:
                    out = out + before
                before, here = here, function(out) if plan.activate else out
            return here

    twin = Twin()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for plan, layer in zip(architecture.layers, twin.layers):
            gain = (0.5 if plan.skip else 1.0) if plan.activate else last_scale
            fan_in = 25 if plan.inputs == architecture.inputs else plan.inputs  # about 25 bits are set
            layer.weight.normal_(0.0, gain * (2.0 / fan_in) ** 0.5, generator=generator)
            layer.bias.zero_()
    return twin


def arrays(twin: Any) -> dict[str, F32]:
    """The weights of a torch module as NumPy arrays of their own."""
    return {
        name: tensor.detach().to("cpu").float().numpy().copy().astype(np.float32)
        for name, tensor in twin.state_dict().items()
    }


def load_arrays(twin: Any, tensors: dict[str, F32]) -> None:
    """Put ``tensors`` into a torch module."""
    import torch

    twin.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in tensors.items()})


def network_of(architecture: Architecture, twin: Any) -> Network:
    """A torch module as a network that plays without torch."""
    return Network(architecture, arrays(twin))

"""The networks of the bridge agents: one plan of layers, run by torch to learn and without torch to play.

``mlp``  ``depth`` hidden layers of ``width`` (belief Monte Carlo search: 4 x 2048, GELU; Kita et al.: 4 x 1024, ReLU).
``jps``  Linear, two blocks, Linear, two blocks, outputs; a block is two layers with a skip connection around them
         (joint policy search, Figure 3: width 200). The partner's-hand head, unused in its main results, is left out.

Playing sums each row in a fixed order (``dense.py``): outputs depend neither on the batch nor on the number of threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.agents.bridge.dense import GELU, NONE, RELU, dense, pack
from bidzoo.envs.bridge.encode import ENCODERS
from bidzoo.envs.game import Encoder
from bidzoo.kernels import F32

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


class Network:
    """Weights that run on NumPy arrays."""

    def __init__(self, architecture: Architecture, tensors: dict[str, F32]) -> None:
        """``tensors``: ``layers.N.weight`` ``[outputs, inputs]`` and ``layers.N.bias``, as ``shapes`` says."""
        self.architecture, self.tensors = architecture, tensors
        self._layers = [
            pack(tensors[f"layers.{n}.weight"].T, tensors[f"layers.{n}.bias"]) for n in range(len(tensors) // 2)
        ]

    def __reduce__(self) -> tuple[Any, ...]:
        return Network, (self.architecture, self.tensors)  # to another process the weights travel once, not packed too

    def __call__(self, x: NDArray[Any]) -> F32:
        """Outputs ``[B, outputs]`` of observations ``[B, inputs]``, int8 or float32."""
        if x.shape[1:] != (self.architecture.inputs,):
            raise ValueError(f"observations have shape {x.shape}, expected (B, {self.architecture.inputs})")
        activation = GELU if self.architecture.activation == "gelu" else RELU
        nothing = before = np.empty((0, 0), np.float32)
        here = np.ascontiguousarray(x)
        for plan, packed in zip(self.architecture.layers, self._layers):
            out = np.empty((len(x), len(packed.bias)), np.float32)
            dense(here, packed, before if plan.skip else nothing, activation if plan.activate else NONE, out)
            before, here = here, out
        return np.ascontiguousarray(here[:, : self.architecture.outputs])


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


def module_of(network: Network, device: str = "cpu") -> Any:
    """A torch module with the weights of ``network``."""
    twin = module(network.architecture)
    load_arrays(twin, network.tensors)
    return twin.to(device)


def drift(average: Any, twin: Any, stay: float) -> None:
    """Move the weights of ``average`` towards those of ``twin``, of which ``1 - stay`` comes in."""
    import torch

    with torch.no_grad():
        for kept, new in zip(average.parameters(), twin.parameters()):
            kept.lerp_(new, 1 - stay)


def network_of(architecture: Architecture, twin: Any) -> Network:
    """A torch module as a network that plays without torch."""
    return Network(architecture, arrays(twin))

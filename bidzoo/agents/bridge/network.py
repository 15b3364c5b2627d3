"""The networks of the bridge agents: one plan of layers, run by torch to learn and without torch to play.

``mlp``  ``depth`` hidden layers of ``width`` (belief Monte Carlo search: 4 x 2048, GELU; Kita et al.: 4 x 1024, ReLU).
``jps``  Linear, two blocks, Linear, two blocks, outputs; a block is two layers with a skip connection around them
         (joint policy search, Figure 3: width 200). The partner's-hand head, unused in its main results, is left out.
``stages``  as ``mlp``; the layers after the first have weights of their own for every stage of the auction
         (``bidder.STAGES``). It has ten times the parameters of an ``mlp`` at the same cost a row.

Playing sums in integers (``dense.py``): outputs depend neither on the batch, the number of threads nor the processor.
Weight files are safetensors in half precision, or in whole numbers of fewer bits, with the architecture and where the
weights come from.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, NotRequired, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save as to_bytes

from bidzoo.agents.bridge.dense import GELU, NONE, RELU, DenseRow, Linear, dense, pack
from bidzoo.core.arrays import Tensor, check_weights, digest, load_tensors
from bidzoo.core.calls import Call
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.kernels import F32, F64, I8, I64, U64, States, batched, row
from bidzoo.core.options import Checked, Range, Weight, checked
from bidzoo.core.schema import json_text, json_value, parse
from bidzoo.core.storage import replace_file
from bidzoo.core.streams import Streams, next_row, unit_row
from bidzoo.envs.asking import Answer, AtTable
from bidzoo.envs.bridge.bidder import STAGES, stages
from bidzoo.envs.bridge.observation import ENCODERS, encode_row
from bidzoo.envs.game import Encoder

TEACHERS = {  # inputs of value networks, which see more than a player (``critic.py``)
    "bmcs636": 636,  # all four hands
    "scores778": 636 + 142,  # and what every contract would score, and the standing one
}
Neurons = Annotated[int, Range(1, 1 << 16)]
Shapes = dict[str, tuple[int, ...]]  # of tensors by name, the same for NumPy and torch


class Layer(NamedTuple):
    """``activation(x @ weight + bias [+ the output of the layer before last])``."""

    inputs: int
    outputs: int
    skip: bool = False
    activate: bool = True
    staged: bool = False  # weights of its own for every stage


@dataclass(frozen=True)
class Architecture(Checked):
    """What a network is made of; stored beside its weights."""

    observation: str  # name of an encoder, or of ``TEACHERS``
    outputs: Neurons
    kind: Literal["mlp", "jps", "stages"] = "mlp"
    width: Neurons = 512
    depth: Annotated[int, Range(1, 1000)] = 3  # hidden layers, unless kind is jps
    activation: Literal["relu", "gelu"] = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.observation not in {*ENCODERS, *TEACHERS}:
            raise ValueError(f"observation {self.observation!r}; choose from {', '.join((*ENCODERS, *TEACHERS))}")
        if self.kind == "stages" and self.observation != "bidder1375":
            raise ValueError(f"kind stages on {self.observation!r}: expected bidder1375, which says the stage")

    @property
    def inputs(self) -> int:
        """Entries of the observation."""
        if self.observation in TEACHERS:
            return TEACHERS[self.observation]
        return self.encoder.layout.size

    @property
    def encoder(self) -> Encoder:
        """The encoder from views to inputs; ``TEACHERS`` have none, since no view holds that much."""
        return ENCODERS[self.observation]

    @property
    def layers(self) -> tuple[Layer, ...]:
        """The layers, first to last."""
        staged = self.kind == "stages"
        first, plain = Layer(self.inputs, self.width), Layer(self.width, self.width, staged=staged)
        last = Layer(self.width, self.outputs, activate=False, staged=staged)
        if self.kind != "jps":
            return (first, *[plain] * (self.depth - 1), last)
        blocks = (plain, Layer(self.width, self.width, skip=True)) * 2
        return (first, *blocks, plain, *blocks, last)

    @property
    def shapes(self) -> Shapes:
        """``layers.N.weight`` ``[outputs, inputs]`` and ``layers.N.bias``; of a staged layer behind the stage."""
        shapes: Shapes = {}
        for n, layer in enumerate(self.layers):
            stage = (len(STAGES),) if layer.staged else ()
            shapes[f"layers.{n}.weight"] = (*stage, layer.outputs, layer.inputs)
            shapes[f"layers.{n}.bias"] = (*stage, layer.outputs)
        return shapes


# ---- without torch -----------------------------------------------------------------------


class Weights:
    """A network as arrays that run without torch; its subclasses name the format of their files."""

    form: str  # format name in its weight files
    made_of: type[Any]  # class of its architecture: a dataclass with ``shapes``, stored in the files

    def __init__(self, architecture: Any, tensors: dict[str, F32]) -> None:
        """``tensors``: arrays of the shapes in ``architecture.shapes``."""
        self.architecture, self.tensors = architecture, tensors

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.architecture, self.tensors)  # to another process they travel once, not packed too

    @property
    def digest(self) -> str:
        """Digest of the tensors."""
        return digest(self.tensors)


class Network(Weights):
    """The network of a policy, of beliefs or of values."""

    form = "bidzoo bridge network 1"
    made_of = Architecture

    def __init__(self, architecture: Architecture, tensors: dict[str, F32]) -> None:
        super().__init__(architecture, tensors)
        self._inputs, staged = architecture.inputs, architecture.kind == "stages"
        layers = range(len(architecture.layers))
        self.packed = pack(*(self._linear(n) for n in layers[: 1 if staged else None]))
        self._stages = [pack(*(self._linear(n, stage) for n in layers[1:])) for stage in range(len(STAGES) * staged)]

    def _linear(self, number: int, stage: int | None = None) -> Linear:
        plan, parts = self.architecture.layers[number], (f"layers.{number}.weight", f"layers.{number}.bias")
        weight, bias = (self.tensors[name] if stage is None else self.tensors[name][stage] for name in parts)
        activation = GELU if self.architecture.activation == "gelu" else RELU
        return Linear(weight.T, bias, activation if plan.activate else NONE, plan.skip)

    def at_temperature(self, temperature: float) -> Network:
        """The network whose logits are these over ``temperature``: other chances, the same order."""
        last = f"layers.{len(self.tensors) // 2 - 1}."
        divisor = np.float32(temperature)
        tensors = {name: array / divisor if name.startswith(last) else array for name, array in self.tensors.items()}
        return Network(self.architecture, tensors)

    def check_calls(self, name: str) -> None:
        """ValueError, which calls the network ``name``, unless its outputs are calls, and perhaps a value."""
        if (outputs := self.architecture.outputs) not in (NUM_CALLS, NUM_CALLS + 1):
            raise ValueError(
                f"{name} has {outputs} outputs, expected {NUM_CALLS}: of every call, or {NUM_CALLS + 1} with a value"
            )

    def of_calls(self, name: str = "the network") -> Network:
        """The network with the outputs of the 38 calls alone; a critic's value is left out.

        ValueError, which calls the network ``name``, if it has other outputs.
        """
        self.check_calls(name)
        last = f"layers.{len(self.tensors) // 2 - 1}."
        calls = {"weight": np.s_[..., :NUM_CALLS, :], "bias": np.s_[..., :NUM_CALLS]}
        tensors = dict(self.tensors)
        for part, rows in calls.items():
            tensors[last + part] = tensors[last + part][rows]
        return Network(replace(self.architecture, outputs=NUM_CALLS), tensors)

    def __call__(self, x: NDArray[Any]) -> F32:
        """Outputs ``[B, outputs]`` of observations ``[B, inputs]``, int8 or float32."""
        if x.shape[1:] != (self._inputs,):
            raise ValueError(f"observations have shape {x.shape}, expected (B, {self._inputs})")
        if not self._stages:
            return dense(x, self.packed)
        stage = stages(x)
        order = np.argsort(stage, kind="stable")
        hidden, out = dense(x[order], self.packed), np.empty((len(x), self.architecture.outputs), np.float32)
        ends = np.searchsorted(stage[order], np.arange(len(STAGES) + 1))
        for packed, (start, end) in zip(self._stages, pairwise(ends)):
            if end > start:
                out[order[start:end]] = dense(hidden[start:end], packed)
        return out

    def row(self) -> Row:
        """What computes one row after another."""
        return NetworkRow(self)


class Row(Protocol):
    """A network on one row of inputs, again and again: memory and compiled forms are found once."""

    x: I8  # [1, inputs]
    out: F32  # [1, outputs]

    def run(self) -> None:
        """Write what the network returns for ``x`` into ``out``: the same bytes."""
        ...


class NetworkRow:
    """The ``Row`` of a ``Network``."""

    def __init__(self, network: Network) -> None:
        self.x = np.zeros((1, network.architecture.inputs), np.int8)
        self._network, self._first, self._stages = network, DenseRow(network.packed, self.x), network._stages
        self._later: dict[int, DenseRow] = {}  # of staged networks, by the stage
        self.out = np.zeros((1, network.architecture.outputs), np.float32) if self._stages else self._first.out

    def run(self) -> None:
        self._first.run()
        if self._stages:
            stage = int(stages(self.x)[0])
            if stage not in self._later:
                self._later[stage] = DenseRow(self._stages[stage], self._first.out)
            self._later[stage].run()
            self.out[:] = self._later[stage].out


# ---- with torch --------------------------------------------------------------------------


def module(architecture: Architecture, seed: int = 0, last_scale: float = 1.0) -> Any:
    """The same network as a torch module: He's initialisation from ``seed``, the last layer times ``last_scale``."""
    import torch

    class Staged(torch.nn.Module):
        """A linear layer with weights for every stage; ``rows``: how many inputs, in the order of stages, each has."""

        def __init__(self, inputs: int, outputs: int) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.empty(len(STAGES), outputs, inputs))
            self.bias = torch.nn.Parameter(torch.empty(len(STAGES), outputs))

        def forward(self, x: Any, rows: list[int]) -> Any:
            parts = zip(x.split(rows), self.weight.unbind(), self.bias.unbind())
            return torch.cat([torch.nn.functional.linear(*part) for part in parts])

    class Module(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            linear = torch.nn.utils.skip_init
            self.layers = torch.nn.ModuleList(
                Staged(layer.inputs, layer.outputs)
                if layer.staged
                else linear(torch.nn.Linear, layer.inputs, layer.outputs)
                for layer in architecture.layers
            )

        def forward(self, x: Any) -> Any:
            function = torch.nn.functional.gelu if architecture.activation == "gelu" else torch.relu_  # in place
            if architecture.kind == "stages":
                stage = torch.from_numpy(stages(x.to("cpu", torch.int8).numpy())).to(x.device)
                return later_layers(self.layers[1:], function(self.layers[0](x)), stage, function)
            residual = hidden = x
            for plan, layer in zip(architecture.layers, self.layers):
                out = layer(hidden)
                if plan.skip:
                    out = out + residual
                residual, hidden = hidden, function(out) if plan.activate else out
            return hidden

    model = Module()
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for plan, layer in zip(architecture.layers, model.layers):
            gain = (0.5 if plan.skip else 1.0) if plan.activate else last_scale
            fan_in = 25 if plan.inputs == architecture.inputs else plan.inputs  # about 25 bits are set
            layer.weight.normal_(0.0, gain * (2.0 / fan_in) ** 0.5, generator=generator)
            layer.bias.zero_()
    return model


def later_layers(layers: Any, hidden: Any, stage: Any, function: Callable[[Any], Any]) -> Any:
    """Outputs of ``layers`` of ``hidden`` ``[B, W]`` at ``stage`` ``[B]``, ``function`` between them."""
    order, rows = stage.argsort(stable=True), stage.bincount(minlength=len(STAGES)).tolist()
    hidden = hidden[order]
    for n, layer in enumerate(layers):
        hidden = layer(function(hidden) if n else hidden, *([rows] if layer.weight.ndim > 2 else []))
    return hidden.new_empty(hidden.shape).index_copy(0, order, hidden)


def arrays(model: Any) -> dict[str, F32]:
    """The weights of a torch module as NumPy arrays of their own."""
    return {
        name: tensor.detach().to("cpu").float().numpy().copy().astype(np.float32)
        for name, tensor in model.state_dict().items()
    }


def load_arrays(model: Any, tensors: dict[str, F32]) -> None:
    """Put ``tensors`` into a torch module."""
    import torch

    model.load_state_dict({name: torch.from_numpy(np.array(array)) for name, array in tensors.items()})


def module_of(network: Network, device: str = "cpu") -> Any:
    """A torch module with the weights of ``network``."""
    model = module(network.architecture)
    load_arrays(model, network.tensors)
    return model.to(device)


def network_of(architecture: Architecture, model: Any) -> Network:
    """A torch module as a network that plays without torch."""
    return Network(architecture, arrays(model))


def ema_update(average: Any, model: Any, decay: float) -> None:
    """Set the weights of ``average`` to ``decay * average + (1 - decay) * model``."""
    import torch

    with torch.no_grad():
        for averaged, new in zip(average.parameters(), model.parameters()):
            averaged.lerp_(new, 1 - decay)


def forward(model: Any, x: Any, *more: Any) -> Any:
    """Outputs of a torch module as float32, computed in bfloat16 where the device has units for it."""
    import torch

    kind = x.device.type
    half = has_bfloat16(kind)
    ready = not half or next(model.parameters()).dtype == torch.bfloat16  # nothing to cast
    with torch.autocast(kind, torch.bfloat16, enabled=not ready):
        return model(x.to(torch.bfloat16 if half else torch.float32), *more).float()


def half_precision(model: Any) -> Any:
    """A copy of ``model`` in bfloat16, or itself without units for it; ``forward`` gives the same bytes, sooner."""
    import torch

    kind = next(model.parameters()).device.type
    return deepcopy(model).to(torch.bfloat16) if has_bfloat16(kind) else model


@cache
def has_bfloat16(kind: str) -> bool:
    """Whether a device has bfloat16 units; processors without them take four times as long as for float32."""
    import torch

    if kind != "cpu":
        return True
    capabilities = torch.cpu.get_capabilities() if hasattr(torch.cpu, "get_capabilities") else {}
    return any(capabilities.get(unit) for unit in ("amx_bf16", "avx512_bf16", "bf16"))


def log_softmax(logits: Any, legal: Any) -> Any:
    """Log-probabilities ``[n, 38]`` of the calls, in torch; illegal ones have about -1e9."""
    return logits[:, :NUM_CALLS].masked_fill(legal == 0, -1e9).log_softmax(1)


def unpacked(packed: Any, size: int) -> Any:
    """The first ``size`` entries ``[n, size]`` of bits ``[n, N]``, uint8, in torch: ``bits.unpack`` where they are."""
    import torch

    shifts = torch.arange(8, dtype=torch.uint8, device=packed.device)
    return (packed[:, :, None] >> shifts & 1).flatten(1)[:, :size]


# ---- weight files ------------------------------------------------------------------------

PACKAGED = Path(__file__).parents[2] / "data" / "bridge"

W = TypeVar("W", bound=Weights)


STEP = ".step"  # after the name of a matrix of whole numbers: the value of one of them, a number for each output


def weight_file(network: Weights, provenance: Mapping[str, Any], bits: int | None = None) -> bytes:
    """The file of ``network``: in half precision, or its matrices as whole numbers of 2 ... 8 ``bits``.

    Of those, the largest weight of an output is the largest number of so many bits. A file of 7 compresses to half the
    size of half precision. ValueError names ``bits`` that are none of these.
    """
    if bits is not None and not 2 <= bits <= 8:
        raise ValueError(f"bits {bits!r}: expected 2 ... 8, or None for half precision")
    stored: dict[str, NDArray[Any]] = {}
    for name, array in network.tensors.items():
        if bits is None or array.ndim < 2:
            stored[name] = np.ascontiguousarray(array, np.float16)
        else:
            step = np.abs(array).max(-1) / np.float32(2 ** (bits - 1) - 1)
            whole = np.rint(array / np.where(step > 0, step, 1)[..., None])
            stored[name], stored[name + STEP] = np.ascontiguousarray(whole, np.int8), np.asarray(step, np.float32)
    metadata = {"format": network.form, "architecture": asdict(network.architecture), "provenance": provenance}
    text = json_text({**metadata, **({} if bits is None else {"bits": bits}), "digest": digest(stored)}, sort_keys=True)
    content: bytes = to_bytes(stored, {"bidzoo": text})  # one entry: safetensors writes several in any order
    return content


def save_weights(path: str | Path, network: Weights, provenance: Mapping[str, Any], bits: int | None = None) -> None:
    """Write ``weight_file``, whole or not at all."""
    replace_file(Path(path), weight_file(network, provenance, bits))


def load_weights(path: str | Path, kind: type[W] = Network) -> tuple[W, dict[str, Any]]:  # type: ignore[assignment]
    """A network and its provenance; ValueError names file and tensor and what was expected of them.

    Tensors are held to the file's digest; a file without one is taken as it is.
    """
    path, metadata = Path(path), dict[str, Any]()
    check_weights(path)

    def plan(entries: Mapping[str, str]) -> dict[str, Tensor]:
        metadata.update(_metadata(path, entries, kind))
        tensors: dict[str, Tensor] = {}
        for name, shape in metadata["architecture"].shapes.items():
            if "bits" in metadata and len(shape) > 1:
                tensors[name], tensors[name + STEP] = Tensor(shape, ("I8",)), Tensor(shape[:-1])
            else:
                tensors[name] = Tensor(shape)
        return tensors

    stored = load_tensors(path, "a safetensors file", plan)
    if metadata.get("digest", actual := digest(stored)) != actual:
        raise ValueError(f"{path}: tensors of digest {actual}, expected {metadata['digest']}: the file is damaged")
    tensors = {name: array.astype(np.float32) for name, array in stored.items()}
    for name in [name for name in tensors if name.endswith(STEP)]:
        matrix = name.removesuffix(STEP)
        with np.errstate(over="ignore"):
            tensors[matrix] *= tensors.pop(name)[..., None]
        if not np.isfinite(tensors[matrix]).all():
            raise ValueError(f"{path}: {matrix} times {name} is not finite, expected weights that are")
    return kind(metadata["architecture"], tensors), metadata["provenance"]


def _metadata(path: Path, entries: Mapping[str, str], kind: type[Weights]) -> dict[str, Any]:
    """The checked metadata of a weight file: architecture, provenance and, in newer files, the digest."""
    if "bidzoo" not in entries:
        raise ValueError(f"{path}: weights of another program; expected {kind.form!r} in its metadata")
    where = f"{path}: metadata"
    fields = parse(dict[str, Any], json_value(entries["bidzoo"], where), where)
    if fields.get("format") != kind.form:
        raise ValueError(f"{path}: format {fields.get('format')!r}, expected {kind.form!r}")
    kinds = {"format": str, "architecture": kind.made_of, "provenance": dict[str, Any]}
    kinds |= {"digest": NotRequired[str], "bits": NotRequired[int]}
    metadata: dict[str, Any] = parse(kinds, fields, where)
    return metadata


def weights_of(source: str | Path | W, kind: type[W] = Network) -> W:  # type: ignore[assignment]
    """``source`` if it is weights, else those in that file or, of a name without a suffix, the packaged ones."""
    if isinstance(source, Weights):
        if not isinstance(source, kind):
            raise ValueError(f"{source.architecture}: weights of {source.form!r}, expected {kind.form!r}")
        return source
    return load_weights(source, kind)[0] if Path(source).suffix else packaged_network(str(source), kind)  # type: ignore[arg-type]


def _file_of(source: str | Path) -> Path:
    """The file ``source`` or, of a name without a suffix, that of packaged weights; an error if it is not there."""
    path = Path(source) if Path(source).suffix else PACKAGED / f"{source}.safetensors"
    if path.parent == PACKAGED and not path.exists():
        names = ", ".join(sorted(p.stem for p in PACKAGED.glob("*.safetensors")))
        raise ValueError(f"no packaged weights {str(source)!r}; choose from {names}, or give a .safetensors file")
    check_weights(path)
    return path


@cache
def packaged_network(name: str, kind: type[W] = Network) -> W:  # type: ignore[assignment]
    """The network that comes with bidzoo as ``data/bridge/<name>.safetensors``, read once."""
    return load_weights(_file_of(name), kind)[0]


class Weighted:
    """Whoever runs a network: a given one, that of a file, or a packaged one; files are read when first needed."""

    name: str  # of an agent: also that of its packaged weights
    kind: ClassVar[type[Weights]] = Network
    outputs: ClassVar[Range | None] = None  # of the network; None: any

    @checked
    def __init__(self, weights: str | Path | Weights | None = None) -> None:
        """``weights``: a file, the name of packaged weights, the weights themselves, or None for those of its name."""
        if isinstance(weights, str | Path):
            _file_of(weights)
        self._weights: Any = weights
        self._network: Any = None

    def __getstate__(self) -> dict[str, Any]:
        """Packaged weights do not travel to other processes: they are there. Those of a file travel as they are now."""
        return {**vars(self), "_network": None if self._weights is None else self.network}

    @property
    def network(self) -> Any:
        """The network, read now if it was not before; ValueError unless it has as many outputs as are needed."""
        if self._network is None:
            self._network = self._read()
            if self.outputs and (count := self._network.architecture.outputs) not in self.outputs:
                raise ValueError(f"{self._weights}: {count} outputs, expected {self.outputs}")
        return self._network

    def _read(self) -> Weights:
        return weights_of(type(self).name if self._weights is None else self._weights, self.kind)


def sigmoid(logits: F32) -> F32:
    """Chances of ``logits``; in float64, since what float32's exponential is depends on the processor."""
    return np.asarray(1 / (1 + np.exp(-np.clip(logits, -30, 30), dtype=np.float64)), np.float32)


# ---- as a player -------------------------------------------------------------------------


@row
def softmax_row(logits: F32, legal: I8, temperature: float, out: F32) -> None:
    """Chances of the ``legal`` calls ``[A]`` at ``temperature`` into ``out`` ``[A]``; 0 for the others."""
    highest = -np.inf
    for a in range(len(out)):
        if legal[a]:
            highest = max(highest, logits[a])
    total = 0.0
    for a in range(len(out)):
        out[a] = np.exp((logits[a] - highest) / temperature) if legal[a] else 0.0
        total += out[a]
    for a in range(len(out)):
        out[a] /= total


@row
def draw_row(chance: F32, number: float) -> int:
    """The call that ``number`` in [0, 1) draws by ``chance`` ``[A]``; -1 if none has a chance."""
    call = -1
    for a in range(len(chance)):
        if chance[a] > 0:
            call = a  # the last one with a chance takes what rounding leaves
            number -= chance[a]
            if number < 0:
                break
    return call


@batched
def _softmax(start: int, stop: int, logits: F32, legal: I8, temperature: float, out: F32) -> None:
    for b in range(start, stop):
        softmax_row(logits[b], legal[b], temperature, out[b])


@batched
def _draw(start: int, stop: int, chance: F32, numbers: F64, out: I64) -> None:
    for b in range(start, stop):
        out[b] = draw_row(chance[b], numbers[b, 0])


@row
def _observe_one(views: States, code: int, x: I8) -> None:
    """The observation ``code`` of ``views`` ``[1]`` into ``x`` ``[1, F]``."""
    view = views[0]
    encode_row(view, view.hand, view.held_here, int(view.seat), code, x[0])


@row
def _choose_one(logits: F32, legal: I8, keys: U64, chance: F32, temperature: float) -> int:
    """``NetworkPolicy.act`` at one table: ``logits`` ``[1, N]``, ``legal`` ``[1, A]``, ``keys`` ``[1]``."""
    if temperature > 0:
        softmax_row(logits[0], legal[0], temperature, chance)
        keys[0] = next_row(keys[0])
        return int(draw_row(chance, unit_row(keys[0])))
    call = -1
    for a in range(len(chance)):
        if legal[0, a] and (call < 0 or logits[0, a] > logits[0, call]):
            call = a
    return call


class _OneCall:
    """``NetworkPolicy.at_table``; another temperature or network of the policy counts from the next call on."""

    def __init__(self, policy: NetworkPolicy, views: States, legal: I8, keys: U64) -> None:
        self._policy, self._views = policy, views
        self._chance, self._legal, self._keys = np.zeros(NUM_CALLS, np.float32), legal, keys
        self._take(policy.network)

    def _take(self, network: Network) -> None:
        self._network, self._row = network, network.row()
        self._observe = Call(_observe_one, self._views, network.architecture.encoder.code, self._row.x)
        self._choose = Call(_choose_one, self._row.out, self._legal, self._keys, self._chance)

    def run(self) -> int:
        policy = self._policy
        if policy.network is not self._network:
            self._take(policy.network)
        self._observe.run()
        policy.adjust(self._row.x)
        self._row.run()
        call: int = self._choose.run(float(policy.temperature))
        return call


class NetworkPolicy(Weighted, AtTable):
    """A policy that calls by a network, whose first 38 outputs are the logits of the calls."""

    name = "network"
    outputs: ClassVar[Range | None] = Range(NUM_CALLS)
    answers_by = frozenset({"act", "logits", "probabilities"})

    @checked
    def __init__(
        self, weights: str | Path | Weights | None = None, temperature: Weight = 0.0, name: str | None = None
    ) -> None:
        """Args:
        weights: a file, the name of a packaged network, a network, or None for the agent's own (read when first
            needed).
        temperature: of the softmax calls are sampled from; 0 takes the likeliest call.
        name: what result tables call it.
        """
        super().__init__(weights)
        self.temperature = temperature
        self.name = name or type(self).name

    def __repr__(self) -> str:
        return f"<{self.name}: {self._weights or 'packaged weights'}, temperature {self.temperature}>"

    def logits(self, views: States) -> F32:
        """Logits ``[B, 38]`` of all calls, legal or not."""
        network = self.network
        x = network.architecture.encoder(views)
        self.adjust(x)
        return np.ascontiguousarray(network(x)[:, :NUM_CALLS])

    def adjust(self, x: I8) -> None:
        """Change the observations ``x`` ``[B, F]`` in place, for a policy that sees its hand with other eyes."""

    def _calls(self, legal: I8) -> I8:
        """``legal`` ``[B, 38]``, also where it has the cards of ``bridge_v0``: kernels would read beyond the logits."""
        if legal.shape[1] == NUM_CALLS:
            return legal
        if legal[:, NUM_CALLS:].any():
            raise ValueError(f"{self.name} plays no cards: it needs a card player (agents.bridge.card_play.WithCards)")
        return np.ascontiguousarray(legal[:, :NUM_CALLS])

    def probabilities(self, views: States, legal: I8, temperature: float = 1.0) -> F32:
        """Probability of every call ``[B, 38]``; 0 for illegal ones. ValueError unless ``temperature`` is above 0."""
        if not temperature > 0:
            raise ValueError(f"temperature {temperature}: expected more than 0 for probabilities")
        out = np.empty((len(legal), NUM_CALLS), np.float32)
        _softmax(self.logits(views), self._calls(legal), temperature, out)
        return out

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """The likeliest legal call, or one sampled at ``temperature``; ``[B]``, -1 where none is legal."""
        if self.temperature == 0:
            allowed = self._calls(legal) > 0
            return np.where(allowed.any(1), np.where(allowed, self.logits(views), -np.inf).argmax(1), -1)
        out = np.full(len(legal), -1)
        _draw(self.probabilities(views, legal, self.temperature), rng.random(1), out)
        return out

    def at_table(self, views: States, legal: I8, keys: U64) -> Answer | None:
        return _OneCall(self, views, legal, keys)

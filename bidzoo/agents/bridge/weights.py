"""Weight files: safetensors with the architecture and where the weights come from; checked before use."""

import json
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save as to_bytes

from bidzoo.agents.bridge.network import Architecture, Network, shapes
from bidzoo.envs.bridge.files.deal_file import replace_file
from bidzoo.kernels import F32

FORMAT = "bidzoo bridge network 1"
PACKAGED = Path(__file__).parents[2] / "data" / "bridge"

A = TypeVar("A")  # a dataclass that says what a network is made of


def save(
    path: str | Path, architecture: Any, tensors: dict[str, F32], provenance: dict[str, Any], form: str = FORMAT
) -> None:
    """Write the network in half precision, whole or not at all; ``architecture``: a dataclass."""
    about = {"format": form, "architecture": asdict(architecture), "provenance": provenance}
    metadata = {"bidzoo": json.dumps(about, sort_keys=True)}  # one entry: safetensors writes several in any order
    half = {name: np.ascontiguousarray(array, np.float16) for name, array in tensors.items()}
    replace_file(Path(path), to_bytes(half, metadata))


def load(path: str | Path) -> tuple[Network, dict[str, Any]]:
    """A network and its provenance; ValueError names file and tensor and what was expected of them."""
    architecture, tensors, provenance = read(path, FORMAT, Architecture, shapes)
    return Network(architecture, tensors), provenance


def read(
    path: str | Path, form: str, made_of: Callable[..., A], shapes: Callable[[A], dict[str, tuple[int, ...]]]
) -> tuple[A, dict[str, F32], dict[str, Any]]:
    """Architecture, tensors and provenance of a file of format ``form``; errors as in ``load``."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file of weights (.safetensors)")
    try:
        with safe_open(path, framework="numpy") as file:
            text = (file.metadata() or {}).get("bidzoo")
            found = {name: np.asarray(file.get_tensor(name)) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as problem:
        raise ValueError(f"{path}: not a safetensors file, or a truncated one ({problem})") from problem
    architecture, provenance = _metadata(path, text, form, made_of)
    expected = shapes(architecture)
    for name in sorted(expected.keys() ^ found.keys()):
        state = "missing" if name in expected else "not part of this architecture"
        raise ValueError(f"{path}: tensor {name!r} is {state}; expected {', '.join(expected)}")
    for name, shape in expected.items():
        if found[name].shape != shape or found[name].dtype.kind != "f":
            got = f"{found[name].dtype} {list(found[name].shape)}"
            raise ValueError(f"{path}: tensor {name!r} is {got}, expected floats {list(shape)}")
        if not np.isfinite(found[name]).all():
            raise ValueError(f"{path}: tensor {name!r} holds numbers that are not finite")
    return architecture, {name: array.astype(np.float32) for name, array in found.items()}, provenance


def _metadata(path: Path, text: str | None, form: str, made_of: Callable[..., A]) -> tuple[A, dict[str, Any]]:
    if text is None:
        raise ValueError(f"{path}: weights of another program; expected {form!r} in its metadata")
    try:
        about = json.loads(text)
        if about["format"] != form:
            raise ValueError(f"{path}: format {about['format']!r}, expected {form!r}")
        return made_of(**about["architecture"]), about["provenance"]
    except (KeyError, TypeError, json.JSONDecodeError) as problem:
        raise ValueError(f"{path}: metadata: {problem!r}; expected format, architecture and provenance") from problem


def network(source: str | Path | Network) -> Network:
    """A network as it is, the packaged one of that name, or the one in a file (what has an ending is a file)."""
    if isinstance(source, Network):
        return source
    return load(source)[0] if Path(source).suffix else packaged(str(source))


@cache
def packaged(name: str) -> Network:
    """The network that comes with bidzoo as ``data/bridge/<name>.safetensors``, read once."""
    path = PACKAGED / f"{name}.safetensors"
    if not path.exists():
        names = ", ".join(sorted(p.stem for p in PACKAGED.glob("*.safetensors")))
        raise ValueError(f"no packaged weights {name!r}; choose from {names}, or give a .safetensors file")
    return load(path)[0]

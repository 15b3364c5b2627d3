"""Files of weights: which agent plays one, as its metadata say."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from bidzoo.agents import BRIDGE, SPADES
from bidzoo.core.arrays import load_metadata
from bidzoo.core.cards import NUM_CALLS
from bidzoo.core.schema import json_value

Player = tuple[Callable[..., Any], tuple[str, ...]]  # what makes the agent, and the games it plays
CALLS = "bidzoo bridge network 1"  # ``network.Network.form``
PLAYERS = {  # other forms, who plays them, and which games
    "bidzoo bridge baseline19 1": ("bidzoo.agents.bridge.baseline19", "Baseline19", BRIDGE[:1]),
    "bidzoo bridge baseline16 1": ("bidzoo.agents.bridge.baseline16", "Baseline16", BRIDGE[:1]),
    "bidzoo bridge pbl 1": ("bidzoo.agents.bridge.pbl", "Pbl", BRIDGE[:1]),
    "bidzoo spades learned 1": ("bidzoo.agents.spades.policy", "learned", SPADES),
}


def player_of(path: str | Path) -> Player:
    """What makes the agent whose weights ``path`` holds, and the ids of its games.

    Networks of bridge calls, tabular policies and learned Spades players are agents.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not safetensors, or not an agent's; says what it is.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file of weights (.safetensors)")
    metadata = load_metadata(path, "a safetensors file")
    about = _about(metadata)
    if "state" in metadata:
        raise ValueError(f"{path}: a checkpoint; best.safetensors or network.safetensors beside it has the agent")
    if "game" in about:
        return _partial("bidzoo.agents.tabular.policy", "load_table", path), (str(about["game"]).partition("(")[0],)
    form = about.get("format")
    if form in PLAYERS:
        module, name, games = PLAYERS[form]
        return _partial(module, name, path), games
    if form != CALLS:
        what = f"weights of another kind ({form})" if form else "weights of another program"
        raise ValueError(f"{path}: {what}, expected a network of calls, a tabular policy or a learned Spades player")
    shape = about.get("architecture")
    outputs = shape.get("outputs", 0) if isinstance(shape, dict) else 0
    if outputs not in (NUM_CALLS, NUM_CALLS + 1):  # the calls, and perhaps a value
        raise ValueError(f"{path}: a network of {outputs} outputs, expected one of {NUM_CALLS} calls")
    return _partial("bidzoo.agents.bridge.network", "NetworkPolicy", path), BRIDGE[:1]


def _about(metadata: Mapping[str, str]) -> dict[str, Any]:
    try:
        found = json_value(metadata.get("bidzoo", "{}"), "metadata")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _partial(module: str, name: str, path: Path) -> Callable[..., Any]:
    return partial(getattr(import_module(module), name), path)

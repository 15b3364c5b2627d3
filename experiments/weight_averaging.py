"""The mean of the weights of several networks of one architecture, as one network file.

    python experiments/weight_averaging.py rpi a/network.safetensors b/network.safetensors --out mean.safetensors

Networks that were trained from one start lie close together, and the network of their mean weights plays about as the
mean of their outputs would: what each run learned from its own noise averages out (Wortsman et al. 2022, model soups).
A share may be negative: ``--share -0.5 --share 1.5`` goes on from the first network beyond the second. The shares sum
to 1. The file is in half precision; ``--bits`` says how many significant bits of a weight it keeps of the eleven. Of a
single network that is all that changes, and its provenance stays.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from learned_training import HALF, rounded

from bidzoo.agents.bridge.network import PACKAGED, Network, load_weights, save_weights
from bidzoo.cli.options import output
from bidzoo.cli.showing import say
from bidzoo.core.kernels import F64


def equal_shares(count: int) -> list[float]:
    """``count`` equal shares that sum to 1."""
    return [1 / count] * count


def mean_network(networks: Sequence[Network], shares: Sequence[float]) -> Network:
    """The network whose weights are those of ``networks``, weighted by ``shares``.

    ValueError unless the architectures are equal, there is a share for each network, and they sum to 1.
    """
    first = networks[0]
    for number, network in enumerate(networks):
        if network.architecture != first.architecture:
            raise ValueError(f"network {number + 1} is {network.architecture}, expected {first.architecture}")
    if len(shares) != len(networks) or abs(sum(shares) - 1) > 1e-6:
        raise ValueError(f"shares {[*shares]}: expected {len(networks)} that sum to 1")

    def mean(name: str) -> F64:
        return np.average([each.tensors[name].astype(np.float64) for each in networks], axis=0, weights=shares)

    return Network(first.architecture, {name: mean(name).astype(np.float32) for name in first.tensors})


def shortened(network: Network, bits: int) -> Network:
    """``network`` with ``bits`` significant bits of every weight: a file of few bits compresses well."""
    return Network(network.architecture, {name: rounded(array, bits) for name, array in network.tensors.items()})


def main(
    networks: Annotated[list[str], typer.Argument(help="Names of packaged weights, or files of weights.")],
    out: Annotated[Path, output("File of weights to write.", ".safetensors")],
    share: Annotated[list[float] | None, typer.Option(help="Share of each network, in order; default: equal.")] = None,
    bits: Annotated[int, typer.Option(min=1, max=HALF, help="Significant bits of a weight that are kept.")] = HALF,
) -> None:
    """Write the mean of the weights of networks."""
    files = [Path(name) if Path(name).suffix else PACKAGED / f"{name}.safetensors" for name in networks]
    sources: list[tuple[Network, dict[str, Any]]] = [load_weights(file) for file in files]
    shares = share or equal_shares(len(sources))
    mean = mean_network([network for network, _ in sources], shares)
    if len(sources) == 1:  # a shortened network is still what its training made
        provenance = {**sources[0][1], "significant_bits": bits}
    else:
        provenance = {
            "algorithm": "mean of weights",
            "significant_bits": bits,
            "networks": [
                {"share": each, "digest": network.digest, "provenance": made}
                for each, (network, made) in zip(shares, sources)
            ],
        }
    save_weights(out, mean if bits == HALF else shortened(mean, bits), provenance)
    say(f"the mean of {len(sources)} networks, written to {out}")


if __name__ == "__main__":
    typer.run(main)

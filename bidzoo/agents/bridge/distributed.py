"""Several processes that train one network, data-parallel: ``torchrun --nproc-per-node N -m -- bidzoo train ppo ...``

Each plays its share of the boards and learns from its share of every minibatch; gradients are averaged by torch's
``DistributedDataParallel``, over gloo on processors and NCCL on GPUs. What is learned is what one process learns, up to
the rounding of sums. Where exchanging gradients takes longer than computing them, those who learn from recorded
positions can take several steps each and then average (``local_steps``). The first process measures and writes; the
others read its checkpoint, so the folder of a run must be one that all machines see.
"""

import os
from collections.abc import Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class World(NamedTuple):
    """This process, and how many there are."""

    rank: int
    size: int

    def share(self, rows: Any) -> Any:
        """Every ``size``-th of ``rows``, an array or a tensor, from ``rank`` on."""
        return rows[self.rank :: self.size]

    def part(self, minibatch: Any) -> tuple[Any, float]:
        """The rows of ``minibatch`` to learn from here, and the weight of their mean in the mean over processes."""
        if len(minibatch) < self.size:
            return minibatch, 1.0
        rows = self.share(minibatch)
        return rows, len(rows) * self.size / len(minibatch)


@cache
def world() -> World:
    """This process among those of ``torchrun``, which the first call joins; without ``torchrun`` it is the only one."""
    size = int(os.environ.get("WORLD_SIZE", "1"))
    if size == 1:
        return World(0, 1)
    import atexit

    import torch
    import torch.distributed.nn.functional  # defaults of its functions would hold the group, did torch load it later

    torch.distributed.init_process_group("cpu:gloo,cuda:nccl" if torch.cuda.is_available() else "gloo")
    atexit.register(torch.distributed.destroy_process_group)
    return World(torch.distributed.get_rank(), size)


def alone(algorithm: str) -> None:
    """ValueError if there are several processes: ``algorithm`` trains in one."""
    if (size := world().size) > 1:
        raise ValueError(f"{algorithm} trains in one process, not in {size}")


def device_of(device: str) -> str:
    """The GPU of this process where ``device`` is ``"cuda"``, else ``device``."""
    return f"cuda:{os.environ['LOCAL_RANK']}" if device == "cuda" and world().size > 1 else device


def replicated(model: Any) -> Any:
    """``model``, whose gradients are averaged over the processes."""
    if world().size == 1:
        return model
    from torch.nn.parallel import DistributedDataParallel

    return DistributedDataParallel(model)


def average(tensors: Sequence[Any]) -> None:
    """Set each of ``tensors`` to its mean over the processes, in place."""
    import torch

    flat = torch.cat([tensor.detach().reshape(-1) for tensor in tensors])
    torch.distributed.all_reduce(flat)
    flat /= world().size
    for tensor, mean in zip(tensors, flat.split([tensor.numel() for tensor in tensors])):
        tensor.detach().copy_(mean.view_as(tensor))


def wait() -> None:
    """Wait until all processes have come here."""
    if world().size > 1:
        import torch

        torch.distributed.barrier()


def gathered(length: NDArray[Any], board: NDArray[Any], *columns: NDArray[Any]) -> list[NDArray[Any]]:
    """``columns`` of decisions with the rows of all processes, in the order of a single one: by turn, then by board."""
    parts: list[Any] = [(length, board, *columns)]
    if world().size > 1:
        import torch

        local, parts = parts[0], [None] * world().size
        torch.distributed.all_gather_object(parts, local)
    all_length, all_board, *joined = (np.concatenate(column) for column in zip(*parts))
    order = np.lexsort((all_board, all_length))
    return [column[order] for column in joined]

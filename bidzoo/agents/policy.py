"""What every agent is: views and legal actions in, actions out."""

from typing import Protocol, runtime_checkable

from bidzoo.kernels import I8, I64, Tables
from bidzoo.streams import Streams


@runtime_checkable
class Policy(Protocol):
    """Chooses for ``B`` tables at once; it sees views, so it cannot cheat.

    A deterministic function of ``(views, legal, rng)`` row by row: what stands in the other rows never matters.

    A class that searches at the table (more than some 10 ms a decision) says ``slow = True``: its matches go to workers
    in shares of a few boards, ``bidzoo bench bridge`` gives it fewer boards than the others and keeps what was played.
    """

    name: str

    def act(self, views: Tables, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]`` for ``views`` ``[B]`` and ``legal`` ``[B, A]`` (1 = legal); ``rng`` has ``B`` streams."""
        ...

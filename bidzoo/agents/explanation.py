"""What an agent knows and thinks at one decision, for people to look at.

An agent that has something to say has a method ``explain(views, legal, rng) -> Explanation`` for views ``[1]`` and
``legal`` ``[1, A]``. What such an agent leaves out, and what the others think, the play page works out for itself
(``bidzoo.play.session``).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bidzoo.agents.policy import Policy
from bidzoo.core.kernels import F64, I8, States
from bidzoo.core.streams import Streams


@dataclass(frozen=True)
class Bars:
    """Labelled numbers under a title; ``kind`` "chance" (0 ... 1) or the unit of the values."""

    title: str
    rows: tuple[tuple[str, float], ...]
    kind: str = "chance"


@dataclass(frozen=True)
class Curve:
    """A line through points ``(x, y)`` and where this decision stands on it."""

    title: str
    across: str  # what x is
    up: str  # what y is
    points: tuple[tuple[float, float], ...]
    here: tuple[float, float]


@dataclass(frozen=True)
class Explanation:
    """What an agent says about one decision; every part may be empty."""

    text: str = ""  # in words
    chances: Mapping[int, float] = field(default_factory=dict)  # probability of each legal action
    values: Mapping[int, tuple[float, float]] = field(default_factory=dict)  # action: mean, standard error (nan: none)
    unit: str = ""  # of the values
    facts: tuple[tuple[str, str], ...] = ()  # numbers with a name
    bars: tuple[Bars, ...] = ()
    curve: Curve | None = None
    belief: Mapping[int, F64] = field(default_factory=dict)  # seat: chance [52] that it holds each card
    belief_source: str = ""
    samples: tuple[Mapping[int, int], ...] = ()  # deals it considers: seat: hand bits


def explained(policy: Policy, views: States, legal: I8, rng: Streams) -> Explanation:
    """The explanation of ``policy`` for views ``[1]``; without ``explain`` its ``probabilities``, if it has them."""
    explain: Callable[..., Explanation] | None = getattr(policy, "explain", None)
    if explain is not None:
        return explain(views, legal, rng)
    if not hasattr(policy, "probabilities"):
        return Explanation()
    text = "Every legal action is equally likely." if policy.name == "random" else ""
    return Explanation(text, chances_of(policy.probabilities(views, legal), legal))


def chances_of(probabilities: Any, legal: I8) -> dict[int, float]:
    """``{action: chance}`` of the legal actions in ``[1, A]``; actions beyond the policy's own get 0."""
    row = np.asarray(probabilities, np.float64)[0]
    return {int(a): float(row[a]) if a < len(row) else 0.0 for a in np.flatnonzero(legal[0])}

"""Adan, adaptive Nesterov momentum, in torch: Xie, Zhou, Li, Lin and Yan 2022, Algorithm 1.

Table I of the belief Monte Carlo search paper names it. Decay rates are those of Adan's authors; torch has no Adan.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any

DECAY = 0.02, 0.08, 0.01  # weight of the newest gradient, difference and square (their beta 1, 2, 3)
_SMALL = 1e-8


def adan(parameters: Iterable[Any], rate: float) -> Any:
    """An optimiser of torch ``parameters`` at learning rate ``rate``, without weight decay and restarts."""
    return _kind()(parameters, {"lr": rate})


@cache
def _kind() -> Any:
    """The class, made when torch is there."""
    import torch

    class Adan(torch.optim.Optimizer):
        def step(self, closure: Any = None) -> None:
            with torch.no_grad():
                for group in self.param_groups:
                    for parameter in group["params"]:
                        if parameter.grad is not None:
                            _step(parameter, parameter.grad, self.state[parameter], group["lr"])

    return Adan


def _step(parameter: Any, gradient: Any, state: dict[str, Any], rate: float) -> None:
    """One step of a ``parameter``, in place; the first one is as long as Adam's."""
    newest, of_difference, of_square = DECAY
    if not state:
        state["mean"], state["difference"] = gradient.clone(), gradient * 0
        state["square"], state["before"] = gradient**2, gradient.clone()
    else:
        difference = gradient - state["before"]
        state["mean"].lerp_(gradient, newest)
        state["difference"].lerp_(difference, of_difference)
        state["square"].lerp_((gradient + (1 - of_difference) * difference) ** 2, of_square)
        state["before"].copy_(gradient)
    ahead = state["mean"] + (1 - of_difference) * state["difference"]
    parameter.addcdiv_(ahead, state["square"].sqrt() + _SMALL, value=-rate)

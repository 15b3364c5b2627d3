"""Bridge bidding from scratch: one network in all four seats learns by PPO in self-play, then plays matches.

python docs/training/scripts/bridge.py --out runs/bridge

A batched PPO after CleanRL's ppo.py (Huang et al. 2022). It differs from ppo_batched.py where bridge asks for it: IMPs
against par, a critic that sees all four hands, a first policy that bids little, and weights that every command takes
for a player.
"""

import argparse
import csv
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import torch
from torch import nn

import bidzoo
from bidzoo import agents
from bidzoo.agents.bridge import network
from bidzoo.agents.bridge.network import Architecture, NetworkPolicy
from bidzoo.agents.bridge.trainer import draw_curves
from bidzoo.benchmarks.match import duplicate
from bidzoo.core.cards import FIRST_BID, NUM_CALLS, PASS
from bidzoo.core.threads import set_threads


@dataclass(frozen=True)
class Config:
    """Every number of the run."""

    updates: int = 1500
    tables: int = 512
    turns: int = 16  # of every table between updates
    reward: str = "par"  # IMPs against the deal's par; "duplicate", "score": see the page
    reward_scale: float = 10.0  # IMPs that count as 1
    observation: str = "openspiel480"
    width: int = 256  # of two hidden layers
    critic_width: int = 64
    minibatch: int = 1024
    learning_rate: float = 1e-3  # falls to 0
    gae_lambda: float = 0.95  # Schulman et al. 2016; no discount: auctions are short
    clip: float = 0.2  # Schulman et al. 2017, section 6.1
    entropy: float = 0.12  # falls to 0
    average: float = 0.98  # share of the averaged weights kept at each update; these are measured and saved
    every: int = 50  # updates between measurements
    boards: int = 2000  # of a measurement
    threads: int = 1  # of torch and of the kernels; as many as the machine has idle cores
    seed: int = 0


class Learner(nn.Module):
    """The policy, which sees what a player sees, and the critic, which sees the table and its double-dummy tricks."""

    def __init__(self, config: Config, state: int) -> None:
        super().__init__()
        self.architecture = Architecture(config.observation, NUM_CALLS, width=config.width, depth=2)
        self.policy = network.module(self.architecture, config.seed, last_scale=0.01)
        width = config.critic_width
        self.critic = nn.Sequential(
            nn.Linear(state, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)
        )
        with torch.no_grad():  # pass most, bid low: from uniform calls it would first unlearn seven no trumps
            self.policy.layers[-1].bias[PASS] = 3.0
            self.policy.layers[-1].bias[FIRST_BID:] = -0.2 * torch.arange(NUM_CALLS - FIRST_BID)

    def forward(self, observation, mask, state):
        """Log chances of the calls ``[B, 38]`` and N/S's expected reward ``[B]``."""
        return network.log_softmax(self.policy(observation.float()), mask), self.critic(state.float())[:, 0]


def observe(batch):
    """Observations and masks of the players to call, and the global states."""
    return [torch.from_numpy(array.copy()) for array in (batch.observation, batch.action_mask, batch.state())]


@torch.no_grad()
def collect(batch, learner: Learner, config: Config, generator):
    """A rollout of ``turns`` calls at every table, with advantages and the critic's targets; arrays ``[T, B, ...]``."""
    names = ("observation", "mask", "state", "sign", "call", "chance", "value", "reward", "over")
    rollout = {name: [] for name in names}
    for _ in range(config.turns):
        inputs, sign = observe(batch), torch.from_numpy(1.0 - 2.0 * (batch.player % 2)).float()
        chances, value = learner(*inputs)
        gumbel = -(-torch.rand(chances.shape, generator=generator).log()).log()
        call = (chances + gumbel).argmax(1)
        batch.step(call.numpy())
        chance = chances.gather(1, call[:, None])[:, 0]
        outcome = (torch.from_numpy(array.copy()) for array in (batch.reward[:, 0], batch.terminated))
        for name, column in zip(names, (*inputs, sign, call, chance, value, *outcome)):
            rollout[name].append(column)
    rollout = {name: torch.stack(columns) for name, columns in rollout.items()}
    advantage = advantages(rollout, learner(*observe(batch))[1], config.gae_lambda)
    return rollout | {"advantage": advantage * rollout["sign"], "target": advantage + rollout["value"]}


def advantages(rollout, last_value, gae_lambda: float):
    """Generalised advantage estimates ``[T, B]`` for N/S, who win what E/W lose: the sign is the same at every turn."""
    gae, advantage, value = torch.zeros_like(rollout["value"]), torch.zeros_like(last_value), last_value
    for t in reversed(range(len(gae))):
        nonterminal = (~rollout["over"][t]).float()
        advantage = rollout["reward"][t] + nonterminal * (value + gae_lambda * advantage) - rollout["value"][t]
        gae[t], value = advantage, rollout["value"][t]
    return gae


def update(learner: Learner, optimizer, rollout, config: Config, left: float, generator) -> dict[str, float]:
    """One pass of clipped PPO over ``rollout`` (new calls are cheap); returns metrics of the last minibatch."""
    flat = {name: column.flatten(0, 1) for name, column in rollout.items()}
    flat["advantage"] = (flat["advantage"] - flat["advantage"].mean()) / (flat["advantage"].std() + 1e-8)
    for rows in torch.randperm(len(flat["call"]), generator=generator).split(config.minibatch):
        minibatch = {name: column[rows] for name, column in flat.items()}
        chances, value = learner(minibatch["observation"], minibatch["mask"], minibatch["state"])
        ratio = (chances.gather(1, minibatch["call"][:, None])[:, 0] - minibatch["chance"]).exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        objective = torch.min(ratio * minibatch["advantage"], clipped * minibatch["advantage"]).mean()
        entropy = -(chances.exp() * chances).sum(1).mean()
        error = (value - minibatch["target"]).square().mean()
        optimizer.zero_grad()
        (error - objective - config.entropy * left * entropy).backward()
        nn.utils.clip_grad_norm_(learner.policy.parameters(), 0.5)
        optimizer.step()
    return {"entropy": entropy.item(), "explained": 1 - error.item() / minibatch["target"].var().item()}


def train(config: Config, report: Callable[[network.Network, dict[str, float]], None]) -> network.Network:
    """The network after ``config.updates`` updates; ``report`` gets it and metrics every ``config.every`` of them."""
    set_threads(config.threads)
    torch.set_num_threads(config.threads)
    torch.manual_seed(config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    options = {"observation": config.observation, "reward": config.reward, "reward_scale": config.reward_scale}
    batch = bidzoo.make_vec("bridge_bidding_v0", config.tables, **options)
    batch.reset(config.seed)
    learner = Learner(config, batch.state().shape[1])
    average = deepcopy(learner.policy)
    optimizer = torch.optim.Adam(learner.parameters(), eps=1e-5, fused=True)
    seconds = 0.0
    for number in range(config.updates):
        start, left = time.process_time(), 1 - number / config.updates
        optimizer.param_groups[0]["lr"] = config.learning_rate * left
        rollout = collect(batch, learner, config, generator)
        metrics = update(learner, optimizer, rollout, config, left, generator)
        network.ema_update(average, learner.policy, min(config.average, number / (number + 10)))
        seconds += time.process_time() - start
        if (number + 1) % config.every == 0 or number + 1 == config.updates:
            calls = (number + 1) * config.tables * config.turns
            metrics = {"calls": calls, "processor_seconds": seconds, **metrics}
            report(network.network_of(learner.architecture, average), metrics)
    return network.network_of(learner.architecture, average)


def imps_over(trained: network.Network, opponent: str, boards: int):
    """IMPs a board over ``opponent`` on validation deals, which training never sees, with standard error."""
    game = bidzoo.make_game("bridge_bidding_v0", deals="validation", shuffle=False)
    return duplicate(game, NetworkPolicy(trained), agents.make(opponent), np.arange(boards)).estimate


def main() -> None:
    """Train, measure against ``sl`` meanwhile, save network and learning curve in ``--out``."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=Path("runs/bridge"), help="folder of weights and curve")
    for field in fields(Config):
        parser.add_argument(f"--{field.name.replace('_', '-')}", type=field.type, default=field.default)
    arguments = vars(parser.parse_args())
    out, config = arguments.pop("out"), Config(**arguments)
    out.mkdir(parents=True, exist_ok=True)
    curve: list[dict[str, float]] = []

    def save(trained: network.Network, metrics: dict[str, float]) -> None:
        estimate = imps_over(trained, "sl", config.boards)
        curve.append({**metrics, "imps": estimate.mean, "imps_error": estimate.error})
        network.save_weights(out / "bridge.safetensors", trained, {"config": asdict(config), "measured": curve[-1]})
        with (out / "curve.csv").open("w", newline="") as file:
            writer = csv.DictWriter(file, curve[0])
            writer.writeheader()
            writer.writerows({name: f"{value:.6g}" for name, value in row.items()} for row in curve)
        draw_curves(out / "curve.csv")
        print(f"{metrics['calls']:12,} calls {metrics['processor_seconds']:6.0f} s: {estimate} IMPs a board over sl")

    trained = train(config, save)
    for opponent in ("pass", "sayc", "sl"):
        print(f"against {opponent:5} {imps_over(trained, opponent, config.boards)} IMPs a board")


if __name__ == "__main__":
    main()

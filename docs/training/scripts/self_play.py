"""Self-play by hand: one network in all four seats of the bridge auction, a loop over ``bidzoo.make_vec``.

python docs/training/scripts/self_play.py runs/self-play
"""

import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import bidzoo
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks import printing, results
from bidzoo.benchmarks.match import duplicate

GAME = bidzoo.make_game("bridge_bidding_v0", deals="validation")


def gae(reward, value, over, side, last_value, last_side, lam=0.95):
    """Generalised advantage estimates ``[T, B]`` of the player who acts at each turn, in NumPy.

    ``reward`` and ``value`` ``[T, B]`` are that player's; where the next one to act is an opponent, what it expects is
    what we lose, so the sign changes.
    """
    out, advantage = np.empty_like(value), np.zeros_like(last_value)
    for t in reversed(range(len(value))):
        sign = np.where(side[t] == last_side, 1, -1) * ~over[t]
        advantage = reward[t] + sign * (last_value + lam * advantage) - value[t]
        out[t], last_value, last_side = advantage, value[t], side[t]
    return out


def train(updates=600, tables=256, turns=16, seed=0, measure=lambda update, policy: None):
    """The policy after ``updates`` updates of the network by clipped policy gradients."""
    generator = torch.manual_seed(seed)
    batch = bidzoo.make_vec("bridge_bidding_v0", tables, reward="par", reward_scale=10)
    batch.reset(seed)
    features, actions = batch.single_observation_space.shape[0], int(batch.single_action_space.n)
    network = nn.Sequential(nn.Linear(features, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU())
    network.append(nn.Linear(256, actions + 1))  # a logit an action, and the value for the player who acts
    with torch.no_grad():  # begin by passing most and bidding low
        network[-1].weight *= 0.01
        network[-1].bias[:] = torch.cat([torch.tensor([3.0, 0, 0]), -0.2 * torch.arange(35), torch.zeros(1)])
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)

    def look(observation, mask):
        out = network(torch.as_tensor(observation).float())
        return out[:, :-1].masked_fill(torch.as_tensor(mask) == 0, -1e9).log_softmax(1), out[:, -1]

    policy = ScorePolicy(GAME, torch.no_grad()(lambda observation, mask: look(observation, mask)[0]), "self-play")
    for update in range(1, updates + 1):
        steps, left = [], 1 - (update - 1) / updates
        for _ in range(turns):
            seen = batch.observation.copy(), batch.action_mask.copy()  # the next step overwrites both
            player = batch.player.astype(np.int64)
            with torch.no_grad():
                log_chances, value = look(*seen)
            action = torch.multinomial(log_chances.exp(), 1, generator=generator)
            batch.step(action[:, 0].numpy())
            reward = batch.reward[np.arange(tables), player]  # of the player who acted; 0 until the auction ends
            chance = log_chances.gather(1, action)[:, 0]
            steps.append(
                (*seen, action.numpy(), chance.numpy(), value.numpy(), reward, batch.terminated.copy(), player % 2)
            )
        observation, mask, action, chance, value, reward, over, side = map(np.stack, zip(*steps))
        with torch.no_grad():
            _, last_value = look(batch.observation, batch.action_mask)
        advantage = gae(reward, value, over, side, last_value.numpy(), batch.player % 2)
        data = [observation, mask, action, chance, advantage + value, (advantage - advantage.mean()) / advantage.std()]
        data = [torch.as_tensor(array.reshape(turns * tables, *array.shape[2:])) for array in data]
        optimizer.param_groups[0]["lr"] = 1e-3 * left
        for rows in torch.randperm(turns * tables, generator=generator).split(1024):
            observation, mask, action, chance, target, advantage = (array[rows] for array in data)
            log_chances, value = look(observation, mask)
            ratio = (log_chances.gather(1, action)[:, 0] - chance).exp()
            gain = torch.min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage).mean()
            entropy = -(log_chances.exp() * log_chances).sum(1).mean()
            loss = (value - target).square().mean() - gain - 0.12 * left * entropy
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        measure(update, policy)
    return policy


def strength(policy, against, boards=1000):
    """IMPs a board of a pair of ``policy`` over a pair of ``against``, with its standard error."""
    return duplicate(GAME, policy, against, np.arange(boards), seed=1).estimate


def main(out="runs/self-play", updates=600, rounds=6, boards=2000):
    """Train, and write the learning curve as a result file."""
    torch.set_num_threads(1)
    began, clock = time.process_time(), time.perf_counter()
    columns = ["calls", "processor s", "over random", "over pass", "over sayc"]
    note = f"IMPs a board, {boards:,} validation boards, duplicate, double dummy; ± standard error, clustered by deal"
    curve = results.ResultTable("Self-play by hand: one network in four seats", columns, note=note)

    def measure(update, policy):
        if update % (updates // rounds) == 0:
            strengths = [strength(policy, other, boards) for other in ("random", "pass", "sayc")]
            curve.add(update * 256 * 16, time.process_time() - began, *strengths)
            printing.show([curve])

    train(updates, measure=measure)
    Path(out).mkdir(parents=True, exist_ok=True)
    seconds = time.perf_counter() - clock
    results.save(Path(out, "self-play.json"), "self-play-by-hand", [curve], seed=0, seconds=seconds)


if __name__ == "__main__":
    if len(sys.argv) > 2 or "--help" in sys.argv:
        sys.exit(f"usage: python {sys.argv[0]} [FOLDER]")
    main(*sys.argv[1:])

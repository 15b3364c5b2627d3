"""Imitation from recorded matches: a network learns the calls of `sayc`, the rules of a bridge book.

python docs/training/scripts/imitation.py
"""

import numpy as np
import torch
from torch import nn

import bidzoo
from bidzoo.agents.policy import ScorePolicy
from bidzoo.benchmarks import records
from bidzoo.benchmarks.match import duplicate
from bidzoo.wrappers.offline import Transitions, transitions

TEACHER, OTHERS = "sayc", "sl"
OBSERVATION = "bidder1375"  # says points and lengths, too, from which the rules of a book are learned soonest


def played(boards: int, deals: str) -> Transitions:
    """What the teacher saw and called on so many boards, beside itself and against other bidders."""
    game = bidzoo.make_game("bridge_bidding_v0", deals=deals, shuffle=False, observation=OBSERVATION)
    match = duplicate(game, TEACHER, OTHERS, np.arange(boards))
    kept = records.of_match(game, match, TEACHER, OTHERS)  # of a file: records.read("match.jsonl")
    return transitions(game, kept, players=[TEACHER])


def learn(data: Transitions, epochs: int, seed: int = 0, width: int = 256) -> nn.Module:
    """A network of masked cross-entropy on ``data``, from observations ``[N, F]`` to scores of calls ``[N, A]``."""
    torch.manual_seed(seed)
    features, calls = data.observation.shape[1], data.action_mask.shape[1]
    network = nn.Sequential(nn.Linear(features, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
    network.append(nn.Linear(width, calls))
    optimizer = torch.optim.Adam(network.parameters(), lr=1e-3)
    observation, legal, action = map(torch.from_numpy, (data.observation, data.action_mask.astype(bool), data.action))
    for _ in range(epochs):
        for rows in torch.randperm(len(action)).split(512):
            scores = network(observation[rows].float()).masked_fill(~legal[rows], -torch.inf)
            loss = nn.functional.cross_entropy(scores, action[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    return network


@torch.no_grad()
def agreement(network: nn.Module, data: Transitions) -> float:
    """The share of decisions at which the network's best legal call is the recorded one."""
    scores = network(torch.from_numpy(data.observation).float()).numpy()
    best = np.where(data.action_mask == 1, scores, -np.inf).argmax(1)
    return float((best == data.action).mean())


def policy(network: nn.Module) -> ScorePolicy:
    """The network as an agent of any table."""

    @torch.no_grad()
    def scores(observation, mask):
        return network(torch.from_numpy(observation).float())

    return ScorePolicy(bidzoo.make_game("bridge_bidding_v0", observation=OBSERVATION), scores, "clone")


def main(boards: int = 20_000, epochs: int = 4) -> None:
    """Print how often the clone calls as its teacher on deals that it has not seen, and the IMPs of a match of both."""
    torch.set_num_threads(1)  # more of them wait for each other longer than a network this small takes
    network = learn(played(boards, "train"), epochs)
    print(f"as {TEACHER}: {agreement(network, played(500, 'test')):.1%} of calls")
    game = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False)
    for opponent in (TEACHER, OTHERS):
        imps = duplicate(game, policy(network), opponent, np.arange(1000)).imps
        print(f"IMPs a board over {opponent}: {imps.mean():.2f} ± {imps.std() / len(imps) ** 0.5:.2f}")


if __name__ == "__main__":
    main()

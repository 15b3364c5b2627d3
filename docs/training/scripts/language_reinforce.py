"""A language model learns the bids of MiniBridge by policy gradient, through what it reads and what it may answer.

    python docs/training/scripts/language_reinforce.py --json docs/results/language-training.json

The model reads the situation of its seat as text. Its answer is one of the legal actions, drawn token by token among
those that lead to one (decoding constrained by a grammar), at a temperature. Both seats are its own; the reward is that
of the board. A low-rank adapter of the output layer learns (LoRA, Hu et al. 2022), so the states below it are computed
once. One iteration plays `boards` boards and takes one step of REINFORCE (Williams 1992) with a bonus for entropy; the
baseline is the mean reward after a question, and every question counts alike, however rare. Rewards of the curve are
exact, over all deals.
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from language_model import SmolLM
from torch.nn.utils.rnn import pad_sequence

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import exploit, printing, results
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate
from bidzoo.envs.signalling.compiled import compile_game, evaluate
from bidzoo.language import Seat, prompt
from bidzoo.wrappers.batch import Batch, Seating

SEAT = Seat(rules=False)
NOTE = (
    "exact mean reward, both players the agent; ± standard error over the seeds of training; drawn: as the model draws"
    " its actions, likeliest: the likeliest ones"
)


class Reader:
    """Every question that a game can ask and the chances of the answers: a policy, and what learns."""

    name = "SmolLM2-135M"

    def __init__(self, model, game, temperature):
        self.game, self.temperature = game, temperature
        self.rows, self.legal, self.known, self.paths = {}, [], {}, []
        states, choices = [], []  # of every place where answers part
        for view, legal in positions(game):
            system, question = prompt(game, view, legal, SEAT)
            if question in self.rows:
                continue
            asked, _ = model.tokens([{"role": "system", "content": system}, {"role": "user", "content": question}])
            replies = {int(a): tuple(model.tokens([], game.action_text(int(a)))[1]) for a in np.flatnonzero(legal)}
            hidden, _, _ = model.hidden(asked, [*replies.values()])
            for prefix, tokens in forks(replies.values()).items():
                k = len(prefix)
                for n, (action, reply) in enumerate(replies.items()):
                    if reply[:k] == prefix:
                        state = hidden[n, k]
                        self.paths.append((len(self.rows), action, len(states), tokens.index(reply[k])))
                states.append(state)
                choices.append(tokens)
            self.rows[question] = len(self.rows)
            self.legal.append(legal > 0)
        self.paths, self.legal = torch.tensor(self.paths), torch.tensor(np.array(self.legal))
        self.states = torch.stack(states)  # [places, D]
        self.scaled = (self.states - self.states.mean(0)) / self.states.std(0)  # what tells questions apart
        tokens = pad_sequence([torch.tensor(each) for each in choices], batch_first=True, padding_value=-1)
        self.missing, self.words = tokens < 0, model.model.lm_head.weight.detach()[tokens.clamp(min=0)]

    def adapt(self, rank, seed):
        """A new adapter, which changes nothing yet: its parameters."""
        generator, size = torch.Generator().manual_seed(seed), self.states.shape[1]
        self.down, self.up = torch.randn(size, rank, generator=generator) / size**0.5, torch.zeros(rank, size)
        return [each.requires_grad_() for each in (self.down, self.up)]

    def log_chances(self):
        """Log-probabilities of the legal actions of every question, `[questions, A]`; -inf elsewhere."""
        adapted = self.states + self.scaled @ self.down @ self.up
        logits = torch.einsum("kd,kcd->kc", adapted, self.words) / self.temperature
        steps = logits.masked_fill(self.missing, -torch.inf).log_softmax(-1)
        question, action, place, choice = self.paths.T
        table = torch.zeros(self.legal.shape).index_put((question, action), steps[place, choice], accumulate=True)
        return table.masked_fill(~self.legal, -torch.inf)

    def probabilities(self, views, legal):
        """Chances of the actions, `[B, A]`."""
        alike = views.copy()
        alike["board"] = 0  # no question names it
        self.asked = [self._row(view.tobytes(), view, mask) for view, mask in zip(alike, legal)]
        return self.chances[self.asked]

    def act(self, views, legal, rng):
        """Actions drawn from `self.chances`."""
        chances = self.probabilities(views, legal)
        chosen = (chances.cumsum(1) < rng.random(1) * chances.sum(1, keepdims=True)).sum(1)
        self.played += zip(views["board"].tolist(), self.asked, chosen.tolist())
        return chosen

    def _row(self, key, view, mask):
        if key not in self.known:
            self.known[key] = self.rows[prompt(self.game, view, mask, SEAT)[1]]
        return self.known[key]

    def values(self, table):
        """Exact rewards of the actions as drawn by `table`, and of the likeliest ones."""
        chances = table.detach().exp().numpy()
        self.chances = np.eye(chances.shape[1])[chances.argmax(1)]
        likeliest = value_of(self.game, self)
        self.chances = chances
        return value_of(self.game, self), likeliest


def value_of(game, agent):
    """The exact mean reward of `agent` at both seats."""
    return evaluate(compile_game(game), exploit.strategy_of(game, agent))


def forks(replies):
    """Where `replies` (tokens) part: what they have begun with, and the tokens that may follow there."""
    following = {}
    for reply in replies:
        for k, token in enumerate(reply):
            following.setdefault(reply[:k], {})[token] = None
    return {prefix: [*tokens] for prefix, tokens in following.items() if len(tokens) > 1}


def positions(game, boards=4000):
    """Views and legal actions of boards with random players."""
    batch = Batch(game, boards, autoreset=False)
    batch.reset(0)
    seating = Seating([agents.make("random")] * 2)
    while (actions := seating.choose(batch)).max() >= 0:
        rows = np.flatnonzero(actions >= 0)
        yield from zip(batch.views(rows), batch.action_mask[rows].copy())
        batch.step(actions)


def train(reader, args, seed):
    """Values of the policy (drawn, likeliest) every `args.every` iterations, `[n, 2]`."""
    parameters, curve = reader.adapt(args.rank, seed), []
    adam = torch.optim.Adam(parameters, args.rate)
    for iteration in range(args.iterations + 1):
        table = reader.log_chances()
        reader.chances, reader.played = table.detach().exp().numpy(), []
        if iteration % args.every == 0:
            curve.append(reader.values(table))
            print(f"seed {seed}  {iteration:4d}  drawn {curve[-1][0]:.3f}  likeliest {curve[-1][1]:.3f}", flush=True)
        boards = iteration * args.boards + np.arange(args.boards)
        reward = play(reader.game, [reader, reader], boards, seed, seed).reward[:, 0].astype(np.float64)
        board, row, action = np.array(reader.played).T
        gained = reward[board - boards[0]]
        visits = np.maximum(1, np.bincount(row, minlength=len(table)))
        baseline = (np.bincount(row, gained, len(table)) / visits)[row]  # the mean reward after the same question
        advantage = torch.tensor(gained - baseline, dtype=torch.float32)
        weight = torch.tensor(1 / np.maximum(args.rare, visits)[row], dtype=torch.float32)
        entropy = -(table.exp() * table.clamp(min=-1e9)).sum()
        left = min(1, 2 - 2 * iteration / args.iterations)
        loss = -((weight * advantage * table[row, action]).sum() + args.entropy * left * entropy) / len(table)
        adam.param_groups[0]["lr"] = args.rate * min(1, (1 + iteration) / 20, 0.1 + left)
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(parameters, 1.0)
        adam.step()
    return curve


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=2, help="cards a hand")
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--boards", type=int, default=1024, help="boards an iteration")
    parser.add_argument("--temperature", type=float, default=4.0, help="of the model's chances when it plays")
    parser.add_argument("--rank", type=int, default=32, help="of the adapter")
    parser.add_argument("--rate", type=float, default=2e-3, help="of Adam; falls to a tenth in the second half")
    parser.add_argument("--entropy", type=float, default=0.5, help="its weight; falls to 0 in the second half")
    parser.add_argument("--rare", type=int, default=16, help="a question that comes up less often counts less")
    parser.add_argument("--every", type=int, default=50, help="iterations between measurements")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--json", type=Path, default=Path("runs/language-training.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    game, began = bidzoo.make_game("minibridge_v0", size=args.size), time.process_time()
    reader = Reader(SmolLM(), game, args.temperature)
    print(f"{len(reader.rows)} questions, {len(reader.states)} places where answers part", flush=True)
    curves = np.array([train(reader, args, seed) for seed in range(args.seeds)])  # [seeds, n, 2]
    curve = results.ResultTable("The curve", ["iteration", "boards", "drawn", "likeliest"], note=NOTE)
    for k, values in enumerate(curves.swapaxes(0, 1)):
        estimates = [Estimate.of(column, group=np.arange(args.seeds)) for column in values.T]
        curve.add(k * args.every, k * args.every * args.boards, *estimates)
    title = f"SmolLM2-135M learns MiniBridge, {args.size} cards a hand"
    ends = results.ResultTable(title, ["agent", "reward"], note=NOTE)
    for name in ("random", "cfr", "exact"):
        ends.add(name, value_of(game, name))
    ends.add("SmolLM2 before", curve.rows[0]["likeliest"])
    ends.add("SmolLM2 after", curve.rows[-1]["likeliest"])
    lines = {name: [row[name].mean for row in curve.rows] for name in ("drawn", "likeliest")}
    boards = [row["boards"] for row in curve.rows]
    lines |= {row["agent"]: [row["reward"]] * len(boards) for row in ends.rows[:3]}
    errors = {name: [row[name].error for row in curve.rows] for name in ("drawn", "likeliest")}
    figure = results.Figure(title, "line", boards, lines, "boards played", "reward a board", NOTE, errors)
    results.save(args.json, "language", [ends, curve], seed=0, seconds=time.process_time() - began, figures=[figure])
    printing.show([ends, curve])


if __name__ == "__main__":
    main()

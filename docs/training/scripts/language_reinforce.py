"""A language model learns the bids of MiniBridge by policy gradient, through what it reads and what it may answer.

    python docs/training/scripts/language_reinforce.py --json docs/results/language-training.json

The model reads the situation of its seat as text. Its answer is one of the legal actions, drawn token by token among
those that lead to one (decoding constrained by a grammar), at a temperature. Both seats are its own; the reward is that
of the board. Only the last of 30 layers learns, all of it but its keys and values: what the layers before it make of a
question is computed once. One iteration plays `boards` boards and takes one step of REINFORCE (Williams 1992) with a
bonus for entropy; the baseline is the mean reward after a question, and every question counts alike, however rare.
"""

import argparse
import time
from copy import deepcopy
from pathlib import Path

import numpy as np
import torch
from language_model import SmolLM, padded
from transformers import DynamicCache

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate
from bidzoo.language import Seat, prompt
from bidzoo.wrappers.batch import Batch, Seating

SEAT = Seat(rules=False)
NOTE = (
    "mean reward of new boards, ± standard error; drawn: as the model draws its actions, likeliest: the likeliest ones;"
    " both players are the model, or the agent"
)


class Reader:
    """Every question that a game can ask and the chances of the answers: a policy, and the module that learns."""

    name = "SmolLM2-135M"

    def __init__(self, model, game, temperature):
        self.model, self.game, self.temperature = model, game, temperature
        self.rows, self.known, pairs, places, paths = {}, {}, [], [], []
        for view, legal in positions(game):
            system, question = prompt(game, view, legal, SEAT)
            if question in self.rows:
                continue
            asked, _ = model.tokens([{"role": "system", "content": system}, {"role": "user", "content": question}])
            replies = {a: tuple(model.tokens([], game.action_text(int(a)))[1]) for a in np.flatnonzero(legal)}
            for prefix, choices in sorted(forks(replies.values()).items(), key=lambda fork: -len(fork[0])):
                for action, reply in replies.items():
                    if reply[: len(prefix)] == prefix:
                        paths.append((len(self.rows), action, len(places), choices.index(reply[len(prefix)])))
                if not pairs or pairs[-1][0] != asked or pairs[-1][1][: len(prefix)] != prefix:
                    pairs.append((asked, prefix))  # else it is read with a longer one
                places.append((len(pairs) - 1, len(asked) + len(prefix) - 1, choices))
            self.rows[question] = len(self.rows)
            self.legal = [*getattr(self, "legal", []), legal > 0]
        self.paths = torch.tensor(paths)
        self._prepare(padded(pairs)[0], *zip(*places))

    def _prepare(self, ids, row, at, choices):
        """Split the model into what is computed once and what learns."""
        net = self.model.model.model
        for parameter in self.model.model.parameters():
            parameter.requires_grad_(False)
        self.layer, self.norm, n, width = net.layers[-1], net.norm, *ids.shape
        attention = self.layer.self_attn
        learns = (attention.q_proj, attention.o_proj, self.layer.post_attention_layernorm, self.layer.mlp, self.norm)
        with torch.no_grad():
            hidden, final = read(net, ids)
            normed = self.layer.input_layernorm(hidden)
            key, value = (
                part(normed).view(n, width, -1, attention.head_dim) for part in (attention.k_proj, attention.v_proj)
            )
            cosine, sine = (part[0][:, None] for part in net.rotary_emb(hidden, torch.arange(width)[None]))
            row, at = torch.tensor(row), torch.tensor(at)
            group = attention.q_proj.out_features // attention.k_proj.out_features
            self.key = (key * cosine + turned(key) * sine)[row].repeat_interleave(group, 2)
            self.value = value[row].repeat_interleave(group, 2)
            self.later = torch.arange(width)[None, None] > at[:, None, None]
            self.turn = cosine[at], sine[at]
            self.hidden, self.normed = hidden[row, at], normed[row, at]
            most = max(map(len, choices))
            self.missing = torch.tensor([[k >= len(each) for k in range(most)] for each in choices])
            tokens = torch.tensor([[*each, *[0] * (most - len(each))] for each in choices])
            self.words = self.model.model.lm_head.weight[tokens]  # [places, choices, D]
            error = (self.last_layer() - final[row, at]).abs().max()
            assert error < 1e-3 * final[row, at].abs().max(), f"not the model's last layer: off by {error}"
        self.parameters = [parameter for part in learns for parameter in part.parameters()]
        for parameter in self.parameters:
            parameter.requires_grad_(True)

    def last_layer(self):
        """What the model makes of every place where an answer parts, `[places, D]`."""
        attention, layer, (cosine, sine) = self.layer.self_attn, self.layer, self.turn
        query = attention.q_proj(self.normed).view(len(self.normed), -1, attention.head_dim)
        query = query * cosine + turned(query) * sine
        scores = torch.einsum("khd,kthd->kht", query, self.key) * attention.scaling
        mixed = torch.einsum("kht,kthd->khd", scores.masked_fill(self.later, -torch.inf).softmax(-1), self.value)
        out = self.hidden + attention.o_proj(mixed.flatten(1))
        return self.norm(out + layer.mlp(layer.post_attention_layernorm(out)))

    def log_chances(self):
        """Log-probabilities of the legal actions of every question, `[questions, A]`; -inf elsewhere."""
        logits = torch.einsum("kd,kcd->kc", self.last_layer(), self.words) / self.temperature
        steps = logits.masked_fill(self.missing, -torch.inf).log_softmax(-1)
        question, action, place, choice = self.paths.T
        table = torch.zeros(len(self.rows), self.game.num_actions)
        table = table.index_put((question, action), steps[place, choice], accumulate=True)
        return table.masked_fill(~torch.tensor(np.array(self.legal)), -torch.inf)

    def act(self, views, legal, rng):
        """Actions drawn from `self.chances`, or the likeliest where `self.greedy`."""
        alike = views.copy()
        alike["board"] = 0  # no question names it
        rows = [self._row(view.tobytes(), view, mask) for view, mask in zip(alike, legal)]
        chances = self.chances[rows]
        if self.greedy:
            return chances.argmax(1)
        chosen = (chances.cumsum(1) < rng.random(1) * chances.sum(1, keepdims=True)).sum(1)
        self.played += zip(views["board"].tolist(), rows, chosen.tolist())
        return chosen

    def _row(self, key, view, mask):
        if key not in self.known:
            self.known[key] = self.rows[prompt(self.game, view, mask, SEAT)[1]]
        return self.known[key]

    def play(self, boards, seed, greedy):
        """Rewards `[n]` of boards; what was chosen there is in `played`."""
        self.greedy, self.played = greedy, []
        return play(self.game, [self, self], boards, seed, seed).reward[:, 0].astype(np.float64)


def read(net, ids):
    """What comes into the last layer of `net` at every token of `ids` `[n, T]`, and out of it: `[n, T, D]`."""
    same = int((ids == ids[:1]).all(0).long().cumprod(0).sum())  # all begin with the same tokens
    shared = DynamicCache()
    start = net(ids[:1, :same], cache=shared, use_cache=True, output_hidden_states=True)
    parts = []
    for part in ids[:, same:].split(8):
        known = deepcopy(shared)
        known.batch_repeat_interleave(len(part))
        parts.append(net(part, cache=known, output_hidden_states=True))
    last = len(net.layers) - 1
    hidden, final = (
        torch.cat([torch.cat([of(start).expand(len(of(part)), -1, -1), of(part)], 1) for part in parts])
        for of in (lambda out: out.hidden_states[last], lambda out: out.last_hidden_state)
    )
    return hidden, final


def forks(replies):
    """Where `replies` (tokens) part: what they have begun with, and the tokens that may follow there."""
    following = {}
    for reply in replies:
        for k, token in enumerate(reply):
            following.setdefault(reply[:k], {})[token] = None
    return {prefix: [*tokens] for prefix, tokens in following.items() if len(tokens) > 1}


def turned(x):
    """The second half of each head, negative, before the first: a quarter turn of rotary positions."""
    first, second = x.chunk(2, -1)
    return torch.cat([-second, first], -1)


def positions(game, boards=4000):
    """Views and legal actions of boards with random players."""
    batch = Batch(game, boards, autoreset=False)
    batch.reset(0)
    seating = Seating([agents.make("random")] * 2)
    while (actions := seating.choose(batch)).max() >= 0:
        rows = np.flatnonzero(actions >= 0)
        yield from zip(batch.views(rows), batch.action_mask[rows].copy())
        batch.step(actions)


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--size", type=int, default=2, help="cards a hand")
    parser.add_argument("--iterations", type=int, default=300)
    parser.add_argument("--boards", type=int, default=2048, help="boards an iteration")
    parser.add_argument("--temperature", type=float, default=4.0, help="of the model's chances when it plays")
    parser.add_argument("--rate", type=float, default=5e-4, help="of Adam; falls to a tenth in the second half")
    parser.add_argument(
        "--entropy", type=float, default=0.8, help="weight of the entropy; falls to 0 in the second half"
    )
    parser.add_argument("--rare", type=int, default=16, help="a question that comes up less often counts less")
    parser.add_argument("--every", type=int, default=25, help="iterations between measurements")
    parser.add_argument("--test", type=int, default=5000, help="boards of a measurement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=Path("runs/language-training.json"))
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    game = bidzoo.make_game("minibridge_v0", size=args.size)
    reader = Reader(SmolLM(), game, args.temperature)
    print(f"{len(reader.rows)} questions, {len(reader.hidden)} places where answers part", flush=True)
    adam, began = torch.optim.Adam(reader.parameters, args.rate), time.process_time()
    columns = ["iteration", "boards", "processor seconds", "drawn", "likeliest"]
    curve = results.ResultTable("The curve", columns, note=NOTE)
    test = 10**9 + np.arange(args.test)
    for iteration in range(args.iterations + 1):
        table = reader.log_chances()
        reader.chances = table.detach().exp().numpy()
        if iteration % args.every == 0 or iteration == args.iterations:
            measured = [Estimate.of(reader.play(test, args.seed, greedy), group=test) for greedy in (False, True)]
            cpu = round(time.process_time() - began, 1)
            curve.add(iteration, iteration * args.boards, cpu, *measured)
            print(f"{iteration:4d}  {cpu:7.0f} s  drawn {measured[0]}  likeliest {measured[1]}", flush=True)
        if iteration == args.iterations:
            break
        boards = iteration * args.boards + np.arange(args.boards)
        reward = reader.play(boards, args.seed, False)
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
        torch.nn.utils.clip_grad_norm_(reader.parameters, 1.0)
        adam.step()
    ends = results.ResultTable("SmolLM2-135M learns MiniBridge, two cards a hand", ["agent", "reward"], note=NOTE)
    for name in ("random", "cfr", "exact"):
        policy = agents.make(name)
        rewards = play(game, [policy, policy], test, args.seed, args.seed).reward[:, 0].astype(np.float64)
        ends.add(name, Estimate.of(rewards, group=test))
    ends.add("SmolLM2 before", curve.rows[0]["likeliest"])
    ends.add("SmolLM2 after", curve.rows[-1]["likeliest"])
    lines = {name: [row[name].mean for row in curve.rows] for name in ("drawn", "likeliest")}
    boards = [row["boards"] for row in curve.rows]
    lines |= {row["agent"]: [row["reward"].mean] * len(boards) for row in ends.rows[:3]}
    figure = results.Figure(ends.title, "line", boards, lines, "boards played", "reward a board", NOTE)
    results.save(args.json, "language", [ends, curve], seed=args.seed, seconds=cpu, figures=[figure])
    results.show([ends])


if __name__ == "__main__":
    main()

"""A language model learns the bids of MiniBridge by policy gradient, through what it reads and what it may answer.

    python docs/training/scripts/language_reinforce.py --iterations 300 --json docs/results/language-training.json

The model reads the situation of its seat as text and its answer is one of the legal actions as text, with the chance
that the model gives this reply. Both seats are its own. The reward is that of the board. Only the last of 30
layers learns: what the layers before it make of a question is computed once. One iteration plays `boards` boards and
takes one step of REINFORCE (Williams 1992), with the mean reward after a question as baseline and a bonus for entropy.
"""

import argparse
import json
import time
from pathlib import Path

import numpy as np
import torch
from language_model import SmolLM, padded

import bidzoo
from bidzoo import agents
from bidzoo.benchmarks.match import play
from bidzoo.benchmarks.results import Estimate, command
from bidzoo.language import Seat, prompt
from bidzoo.wrappers.batch import Batch, Seating

SEAT = Seat(rules=False)


class Reader:
    """Every question that a game can ask and the chances of the answers: a policy, and the module that learns."""

    name = "SmolLM2-135M"

    def __init__(self, model, game, temperature):
        self.model, self.game, self.temperature = model, game, temperature
        self.rows, self.known, pairs, self.place = {}, {}, [], []
        for view, legal in positions(game):
            system, question = prompt(game, view, legal, SEAT)
            if question in self.rows:
                continue
            asked = [{"role": "system", "content": system}, {"role": "user", "content": question}]
            for action in np.flatnonzero(legal):
                self.place.append((len(self.rows), int(action)))
                pairs.append(model.tokens(asked, game.action_text(int(action))))
            self.rows[question] = len(self.rows)
        self.ids, self.mask, self.target = padded(pairs)
        net = model.model.model
        self.layer, self.norm = net.layers[-1], net.norm
        for parameter in model.model.parameters():
            parameter.requires_grad_(False)
        self.parameters = [parameter for part in (self.layer, self.norm) for parameter in part.parameters()]
        for parameter in self.parameters:
            parameter.requires_grad_(True)
        with torch.no_grad():  # what the frozen layers make of every question with every answer, [n, T, D]
            parts = [net(*part, output_hidden_states=True) for part in zip(self.ids.split(16), self.mask.split(16))]
            self.hidden = torch.cat([part.hidden_states[len(net.layers) - 1] for part in parts])
            self.rotary = net.rotary_emb(self.hidden, torch.arange(self.ids.shape[1])[None])
        self.row, self.at = self.target.nonzero(as_tuple=True)  # places whose next token belongs to an answer

    def log_chances(self):
        """Log-probabilities of the legal actions of every question, `[questions, A]`; -inf elsewhere."""
        hidden = last_layer(self.layer, self.hidden, self.rotary, self.row, self.at)
        logits = self.model.model.lm_head(self.norm(hidden)).log_softmax(-1)
        next_token = self.ids[self.row, self.at + 1]
        tokens = torch.zeros(len(self.ids)).index_add(0, self.row, logits.gather(1, next_token[:, None])[:, 0])
        question, action = (torch.tensor(numbers) for numbers in zip(*self.place))
        table = torch.full((len(self.rows), self.game.num_actions), -torch.inf)
        return table.index_put((question, action), tokens / self.temperature).log_softmax(-1)

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


def last_layer(layer, hidden, rotary, row, at):
    """What `layer` makes of `hidden` `[n, T, D]` at the places (`row`, `at`) `[k]`, as `[k, D]`."""
    attention, normed = layer.self_attn, layer.input_layernorm(hidden)
    n, width, _ = hidden.shape
    heads = [part(normed).view(n, width, -1, attention.head_dim) for part in (attention.k_proj, attention.v_proj)]
    query = attention.q_proj(normed[row, at]).view(len(row), 1, -1, attention.head_dim)
    cosine, sine = (part[0][:, None] for part in rotary)  # [T, 1, d]
    key = heads[0] * cosine + turned(heads[0]) * sine
    query = query * cosine[at][:, None] + turned(query) * sine[at][:, None]
    group = query.shape[2] // key.shape[2]
    scores = torch.einsum("kahd,kthd->kht", query, key[row].repeat_interleave(group, 2)) * attention.scaling
    scores = scores.masked_fill(torch.arange(width)[None, None] > at[:, None, None], -torch.inf)
    mixed = torch.einsum("kht,kthd->khd", scores.softmax(-1), heads[1][row].repeat_interleave(group, 2))
    out = hidden[row, at] + attention.o_proj(mixed.flatten(1))
    return out + layer.mlp(layer.post_attention_layernorm(out))


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
    parser.add_argument("--boards", type=int, default=4096, help="boards an iteration")
    parser.add_argument("--temperature", type=float, default=4.0, help="of the model's chances when it plays")
    parser.add_argument("--rate", type=float, default=1e-4)
    parser.add_argument("--entropy", type=float, default=0.4, help="weight of the entropy at the start; falls to 0")
    parser.add_argument("--every", type=int, default=10, help="iterations between measurements")
    parser.add_argument("--test", type=int, default=20_000, help="boards of a measurement")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path, default=Path("runs/language-training.json"))
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(args.threads)
    game = bidzoo.make_game("minibridge_v0", size=args.size)
    reader = Reader(SmolLM(), game, args.temperature)
    print(f"{len(reader.rows)} questions, {len(reader.ids)} answers, {reader.ids.shape[1]} tokens", flush=True)
    adam, began, curve = torch.optim.Adam(reader.parameters, args.rate), time.process_time(), []
    test = 10**9 + np.arange(args.test)
    for iteration in range(args.iterations + 1):
        table = reader.log_chances()
        reader.chances = table.detach().exp().numpy()
        if iteration % args.every == 0 or iteration == args.iterations:
            measured = [Estimate.of(reader.play(test, args.seed, greedy), group=test) for greedy in (False, True)]
            cpu = round(time.process_time() - began, 1)
            curve.append([iteration, iteration * args.boards, cpu, *(x for m in measured for x in (m.mean, m.error))])
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
        chosen = table[row, action]
        share = torch.bincount(torch.tensor(row), minlength=len(table)) / len(row)
        entropy = -(share[:, None] * (table.exp() * table.clamp(min=-1e9))).sum()
        bonus = args.entropy * (1 - iteration / args.iterations)
        loss = -(advantage * chosen).sum() / args.boards - bonus * entropy
        adam.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(reader.parameters, 1.0)
        adam.step()
    others = {}
    for name in ("random", "cfr", "exact"):
        policy = agents.make(name)
        rewards = play(game, [policy, policy], test, args.seed, args.seed).reward[:, 0].astype(np.float64)
        others[name] = list(Estimate.of(rewards, group=test)[:2])
    columns = ["iteration", "boards", "cpu_seconds", "drawn", "drawn_error", "likeliest", "likeliest_error"]
    result = {
        "command": command(),
        "seed": args.seed,
        "game": str(game),
        "test_boards": args.test,
        "questions": len(reader.rows),
        "parameters": sum(parameter.numel() for parameter in reader.parameters),
        "columns": columns,
        "curve": curve,
        "others": others,
    }
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps(others))


if __name__ == "__main__":
    main()

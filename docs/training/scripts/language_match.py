"""SmolLM2-135M bids bridge, with free and with constrained replies; every match is replayed from its ledger.

python docs/training/scripts/language_match.py --boards 8 --json docs/results/language-match.json
"""

import argparse
import time
from pathlib import Path

import numpy as np
import torch
from language_model import SmolLM

import bidzoo
from bidzoo.benchmarks import results
from bidzoo.benchmarks.match import duplicate
from bidzoo.core.storage import Ledger
from bidzoo.language import Decision, LanguageAgent, Question, Seat

SEATS = {"free": Seat(tries=2), "constrained": Seat(constrained=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--boards", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opponents", nargs="+", default=["random", "sayc"])
    parser.add_argument("--ledgers", type=Path, default=Path("runs/language"), help="a stopped run goes on from here")
    parser.add_argument("--json", type=Path, default=Path("runs/language-match.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    game, model = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False), SmolLM()
    boards, began = np.arange(args.boards), time.process_time()
    columns = ["replies", "opponent", "IMPs a board", "decisions", "not legal", "fallback", "tokens a reply"]
    note = (
        "duplicate pairs of tables; not legal: share of the replies, at most two a decision; fallback: decisions that"
        " no reply made; tokens: read + written. Each match was replayed from its ledger: the same IMPs, no byte added"
    )
    table = results.ResultTable(f"SmolLM2-135M bids {args.boards} boards", columns, note=note)
    for name, seat in SEATS.items():
        for opponent in args.opponents:
            path = args.ledgers / f"{name}-{opponent}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            with Ledger(path, Question, Decision) as ledger:
                agent = LanguageAgent(game, model, "SmolLM2-135M", seat, ledger, at_once=1)
                match = duplicate(game, agent, opponent, boards, args.seed, args.seed)
            content = path.read_bytes()
            with Ledger(path, Question, Decision) as ledger:
                replayed = LanguageAgent(game, None, "SmolLM2-135M", seat, ledger)
                again = duplicate(game, replayed, opponent, boards, args.seed, args.seed)
            usage = agent.usage
            same = again.imps.tolist() == match.imps.tolist() and path.read_bytes() == content
            illegal, tokens = (
                f"{usage.illegal / usage.replies:.0%}",
                map(usage.tokens, ("asked_tokens", "reply_tokens")),
            )
            spent = " + ".join(f"{mean:.0f}" for mean in tokens)
            table.add(name, opponent, match.estimate, usage.decisions, illegal, usage.fallbacks, spent)
            assert same, f"{path}: replayed otherwise than played"
            print(f"{name} against {opponent}: {match.estimate} IMPs a board; {usage}", flush=True)
    results.save(args.json, "language", [table], seed=args.seed, seconds=time.process_time() - began)


if __name__ == "__main__":
    main()

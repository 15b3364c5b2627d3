"""SmolLM2-135M bids bridge, with free and with constrained replies; every match is replayed from its ledger.

python docs/training/scripts/language_match.py --boards 8 --json docs/results/language.json
"""

import argparse
import json
from pathlib import Path

import numpy as np
import torch
from language_model import SmolLM

import bidzoo
from bidzoo.benchmarks.match import duplicate
from bidzoo.benchmarks.results import command
from bidzoo.core.storage import Ledger
from bidzoo.language import Decision, LanguageAgent, Question, Seat

SEATS = {"free": Seat(tries=2), "constrained": Seat(constrained=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--boards", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opponents", nargs="+", default=["random", "sayc"])
    parser.add_argument("--ledgers", type=Path, default=Path("runs/language"), help="a stopped run goes on from here")
    parser.add_argument("--json", type=Path, default=Path("runs/language.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    game, model = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False), SmolLM()
    boards, rows = np.arange(args.boards), []
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
            rows.append(
                {
                    "replies": name,
                    "opponent": opponent,
                    "boards": args.boards,
                    "imps": match.estimate.mean,
                    "error": match.estimate.error,
                    "decisions": usage.decisions,
                    "asked": usage.replies,
                    "illegal": usage.illegal,
                    "fallbacks": usage.fallbacks,
                    "asked_tokens": round(usage.tokens("asked_tokens"), 1),
                    "reply_tokens": round(usage.tokens("reply_tokens"), 1),
                    "replayed": same,
                }
            )
            print(f"{name} against {opponent}: {match.estimate} IMPs a board; {usage}; replayed: {same}", flush=True)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps({"command": command(), "seed": args.seed, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()

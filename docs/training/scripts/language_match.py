"""SmolLM2-135M bids bridge, with free and with constrained replies; every match is replayed from its ledger.

python docs/training/scripts/language_match.py --json docs/results/language.json
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
from bidzoo.benchmarks.results import Estimate, ResultTable
from bidzoo.core.storage import Ledger
from bidzoo.language import IMPS, Decision, LanguageAgent, Question, Seat

SEATS = {"free": Seat(tries=2), "constrained": Seat(constrained=True)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--boards", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--opponents", nargs="+", default=["random", "sayc"])
    parser.add_argument("--ledgers", type=Path, default=Path("runs/language"), help="a stopped run goes on from here")
    parser.add_argument("--json", type=Path, default=Path("runs/language-match.json"))
    args = parser.parse_args()
    torch.set_num_threads(1)
    game, began = bidzoo.make_game("bridge_bidding_v0", deals="test", shuffle=False), time.process_time()
    model = SmolLM()
    args.ledgers.mkdir(parents=True, exist_ok=True)
    columns = ["replies", "opponent", "IMPs a board", "decisions", "not legal", "fallback", "tokens a reply"]
    note = (
        "duplicate pairs of tables; the error of one board is not known; not legal: share of the replies; fallback:"
        f" decisions that no reply made; tokens: read + written; free: two replies a decision and {model.most_tokens}"
        " tokens a reply at most. Each match was replayed from its ledger: the same IMPs, no byte added"
    )
    table = ResultTable(f"SmolLM2-135M bids, boards of each match: {args.boards}", columns, note=note)
    for name, seat in SEATS.items():
        for opponent in args.opponents:
            path = args.ledgers / f"{name}-{opponent}.jsonl"
            imps, kept = [], []
            for complete in (model, None):  # played, then replayed
                with Ledger(path, Question, Decision) as ledger:
                    agent = LanguageAgent(game, complete, "SmolLM2-135M", seat, ledger, at_once=1, scoring=IMPS)
                    match = duplicate(game, agent, opponent, np.arange(args.boards), args.seed, args.seed)
                imps.append(match.imps.tolist())
                kept.append(path.read_bytes())
            assert imps[0] == imps[1] and kept[0] == kept[1], f"{path}: replayed otherwise than played"
            usage, won = agent.usage, match.estimate if args.boards > 1 else imps[0][0]
            spent = f"{usage.tokens('asked_tokens'):.0f} + {usage.tokens('reply_tokens'):.0f}"
            illegal = f"{usage.illegal} of {usage.replies}"
            table.add(name, opponent, won, usage.decisions, illegal, usage.fallbacks, spent)
            print(f"{name} against {opponent}: {won} IMPs a board; {usage}", flush=True)
    note = "duplicate match of sl against sayc on test deals"
    costs = ResultTable("Questions a board", ["boards", "decisions of a pair a board"], note=note)
    match = duplicate(game, "sl", "sayc", np.arange(1000), args.seed, args.seed)
    sides = enumerate((match.first, match.second))
    asked = sum((states["length"] + (states["dealer"] % 2 == side)) // 2 for side, states in sides)
    costs.add(1000, Estimate.of(asked, group=match.deals))
    results.save(args.json, "language", [table, costs], seed=args.seed, seconds=time.process_time() - began)


if __name__ == "__main__":
    main()

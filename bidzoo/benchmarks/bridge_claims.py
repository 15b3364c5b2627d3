"""What the papers claim of their bridge agents, as relations between agents of ours."""

from collections.abc import Mapping
from typing import NamedTuple

from bidzoo.benchmarks.results import Estimate, Table


class Claim(NamedTuple):
    """``first`` beats ``second`` by ``imps`` a board in the paper."""

    first: str  # names of our agents
    second: str
    imps: float
    error: float | None  # as published
    source: str
    indirect: bool = False  # the paper played both against WBridge5; the figure is the difference


JPS, BMCS = "Tian et al. 2020", "belief Monte Carlo search"
CLAIMS = (
    Claim("jps-non-search", "a2c-early", 0.20, None, f"{JPS}, Table 3"),
    Claim("jps-1-search", "a2c-early", 0.46, None, f"{JPS}, Table 3"),
    Claim("jps-1-percent", "a2c-early", 0.71, None, f"{JPS}, Table 3, 1 %"),
    Claim("jps-5-percent", "a2c-early", 0.70, None, f"{JPS}, Table 3, 5 %"),
    Claim("jps-10-percent", "a2c-early", 0.44, None, f"{JPS}, Table 3, 10 %"),
    Claim("jps-5-percent", "jps-non-search", 0.50, None, f"{JPS}, Table 3", indirect=True),
    Claim("jps-5-percent", "jps-1-search", 0.24, None, f"{JPS}, Table 3", indirect=True),
    Claim("rl", "sl", 0.87, 0.02, f"{BMCS}, section IV"),
    Claim("rl-short", "rl-no-pr", 0.15, 0.07, f"{BMCS}, Table IV", indirect=True),
    Claim("rl-short", "rl-no-hi", 0.10, 0.07, f"{BMCS}, Table IV", indirect=True),
    Claim("rl-mcs", "ppo", 0.12, 0.07, f"{BMCS}, Table IV, on RL", indirect=True),  # ours search with ppo
    Claim("bmcs", "ppo", 0.30, 0.07, f"{BMCS}, Table IV, on RL", indirect=True),
    Claim("bmcs", "rl-mcs", 0.18, 0.07, f"{BMCS}, Table IV", indirect=True),
)


def relations(played: Mapping[tuple[str, str], Estimate]) -> Table:
    """The claims whose two agents met; ``played[first, second]`` is IMPs a board of the first."""
    table = Table(
        "The papers' relations between our agents",
        ["relation", "ours", "paper", "source"],
        note="IMPs a board, duplicate. Theirs marked * is the difference of two results against a third player"
        " (WBridge5, or the A2C model that all three start from)",
    )
    for claim in CLAIMS:
        found = played.get((claim.first, claim.second))
        if found is not None:
            error = "" if claim.error is None else f" ± {claim.error:.2f}"
            table.rows.append(
                {
                    "relation": f"{claim.first} against {claim.second}",
                    "ours": found._replace(paper=claim.imps),
                    "paper": f"{claim.imps:+.2f}{error}{' *' if claim.indirect else ''}",
                    "source": claim.source,
                }
            )
    return table

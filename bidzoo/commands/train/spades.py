"""What Spades agents learn by self-play: nil success curves and a bidder."""

from pathlib import Path
from typing import Annotated

import typer


def success_curves(
    rounds: Annotated[int, typer.Option(min=1, help="Rounds of self-play a pass.")] = 2_000_000,
    seed: Annotated[int, typer.Option(min=0, help="Of the self-play.")] = 1,
    out: Annotated[Path, typer.Option(help="Table to write.")] = Path("runs/success-curves.npz"),
) -> None:
    """BIS's nil success curves for all 2955 sequences of earlier bids, from noisy self-play."""
    from bidzoo.agents.spades.curves_training import CurvesConfig, train_success_curves

    train_success_curves(CurvesConfig(rounds=rounds, seed=seed, out=str(out)), lambda row: typer.echo(row))


def spades_bidder(
    seed: Annotated[int, typer.Option(min=0, help="Of games and weights.")] = 1,
    out: Annotated[Path, typer.Option(help="Weights to write.")] = Path("runs/learned.safetensors"),
) -> None:
    """The learned Spades bidder, by self-play on the bidding."""
    from bidzoo.agents.spades.learned_training import LearnedConfig, train_bidder

    train_bidder(LearnedConfig(seed=seed, out=str(out)), lambda row: typer.echo(row))

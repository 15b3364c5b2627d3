"""Curves of a training run as a picture."""

import csv
import io
from pathlib import Path

import numpy as np

from bidzoo.envs.bridge.files.deal_file import replace_file


def draw(path: str | Path) -> Path:
    """``curves.png`` beside ``curves.csv`` (``path``): every column against the first; needs matplotlib."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    path = Path(path)
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        raise ValueError(f"{path}: no rows; expected a header and one row a measurement")
    x, *names = rows[0]
    names = [name for name in names if not name.endswith("_error") or name.removesuffix("_error") not in names]
    figure = Figure(figsize=(5, 1 + 1.8 * len(names)), layout="constrained")
    for axis, name in zip(np.atleast_1d(np.asarray(figure.subplots(len(names), sharex=True))), names):
        points = [(float(row[x]), float(row[name]), float(row.get(f"{name}_error") or 0)) for row in rows if row[name]]
        axis.errorbar(*zip(*points), marker=".", linewidth=1)
        axis.set_ylabel(name)
        axis.grid(alpha=0.3)
    axis.set_xlabel(x)
    content = io.BytesIO()
    FigureCanvasAgg(figure).print_png(content)
    out = path.with_suffix(".png")
    replace_file(out, content.getvalue())
    return out

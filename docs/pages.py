"""Generated parts: a page an environment, and the tables of results in pages and README.

A page asks for a table with a pair of comments, and what stands between them is rewritten by
``python docs/pages.py``:

    <!-- results: throughput.json, 1 -->
    <!-- end -->

The number counts the tables of the file from 1. Numbers are never typed.
"""

import re
from importlib import import_module
from pathlib import Path

from bidzoo.benchmarks import results
from bidzoo.registry import GAMES

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
WANTED = re.compile(r"(<!-- results: ([\w.-]+), (\d+) -->\n).*?(<!-- end -->)", re.DOTALL)


def environment(env_id: str) -> str:
    """The page of ``env_id``: its docstring, then every observation bit by bit."""
    module = import_module(GAMES[env_id].module)
    game = module.make_game()
    parts = [module.__doc__.strip(), "", "## Observations, bit by bit", ""]
    for encoder in game.encoders.values():
        parts += [f"### `{encoder.name}`: {encoder.layout.size} entries", "", encoder.layout.markdown(), ""]
    return "\n".join(parts) + "\n"


def write(docs: Path) -> None:
    """Write ``docs/environments/*.md``; a file that would not change is left alone."""
    folder = docs / "environments"
    folder.mkdir(exist_ok=True)
    index = ["# Environments", "", "```{toctree}", *GAMES, "```", ""]
    pages = {"index": "\n".join(index)} | {env_id: environment(env_id) for env_id in GAMES}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def table(name: str, number: int) -> str:
    """Table ``number`` (from 1) of a result file as Markdown, with its origin."""
    document = results.load(RESULTS / name)
    if not 1 <= number <= len(document["tables"]):
        raise ValueError(f"{name} has {len(document['tables'])} tables, asked for number {number}")
    chosen = document["tables"][number - 1]
    lines = ["| " + " | ".join(chosen.columns) + " |", "|" + "---|" * len(chosen.columns)]
    for row in chosen.rows:
        cells = (results.text(row.get(column)).replace("|", "\\|") for column in chosen.columns)
        lines.append("| " + " | ".join(cells) + " |")
    origin = f"`{document['command']}`, seed {document['seed']}, bidzoo {document['version']}, {document['machine']}"
    note = f"{chosen.note}. " if chosen.note else ""
    return f"**{chosen.title}**\n\n" + "\n".join(lines) + f"\n\n{note}({origin})\n"


def filled(text: str) -> str:
    """``text`` with every table it asks for."""
    return WANTED.sub(lambda ask: f"{ask[1]}\n{table(ask[2], int(ask[3]))}\n{ask[4]}", text)


def with_tables() -> list[Path]:
    """Pages that ask for tables."""
    pages = [
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "agents").glob("*.md")),
    ]
    return [page for page in pages if WANTED.search(page.read_text(encoding="utf-8"))]


def picture(path: Path) -> None:
    """Draw the board on the README: board 3 of the test split, bid by four ``sayc``."""
    import numpy as np
    from PIL import Image

    from bidzoo import agents
    from bidzoo.benchmarks.match import play
    from bidzoo.registry import make_game

    game = make_game("bridge_bidding_v0", deals="test", shuffle=False, augment=False)
    episodes = play(game, [agents.make("sayc")] * 4, np.array([3]))
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(game.image(episodes.tables[0])).save(path, optimize=True)


if __name__ == "__main__":
    picture(ROOT / "docs" / "pictures" / "board.png")
    for page in with_tables():
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")

"""Generated parts: a page an environment, and the tables of results in pages and README.

A page asks for a table with a pair of comments, and what stands between them is rewritten by
``python docs/pages.py``:

    <!-- results: throughput.json, 1 -->
    <!-- end -->

The number counts the tables of the file from 1; a third word takes only the rows that begin with it. Numbers are never
typed.
"""

import re
from importlib import import_module
from pathlib import Path

from bidzoo.benchmarks import results
from bidzoo.registry import GAMES

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
SEED = 512  # a competitive auction to a slam
WANTED = re.compile(r"(<!-- results: ([\w.-]+), (\d+)(?:, (\w+))? -->\n).*?(<!-- end -->)", re.DOTALL)
NOTE = "Sizes and rewards are those of the default options; [](../conventions.md) says what holds for all of them."


def environment(env_id: str) -> str:
    """The page of ``env_id``: its docstring, then every observation and the global state bit by bit."""
    module = import_module(GAMES[env_id].module)
    game = module.make_game()
    told = next((name for name in ("bridge", "spades") if env_id.startswith(name)), "small")
    about = f"What they leave out and why, with examples: [](../observations/{told}.md)."
    parts = [module.__doc__.strip(), "", "## Observations, bit by bit", "", about, ""]
    for encoder in game.encoders.values():
        parts += [f"### `{encoder.name}`: {encoder.layout.size} entries", "", encoder.layout.markdown(), ""]
    state, critics = game.state_encoder.layout, "`env.state()`, for [centralised critics](../observations/state.md):"
    parts += [
        "## Global state, bit by bit",
        "",
        critics,
        "",
        f"### `state`: {state.size} entries",
        "",
        state.markdown(),
    ]
    return "\n".join(parts) + "\n"


def overview() -> str:
    """Every environment in one table, with the sizes of its defaults."""
    lines = [
        "# Environments",
        "",
        "| environment | what it is | players | actions | observation | rewards |",
        "|---|---|---|---|---|---|",
    ]
    for env_id, entry in GAMES.items():
        game = import_module(entry.module).make_game()
        low, high = (f"{reward:g}".replace("-", "−") for reward in game.reward_range)
        rewards = f"{low} … {high}, {'the same to all' if game.utility == 'identical' else 'zero-sum between sides'}"
        sizes = f"{game.num_players} | {game.num_actions} | {game.encoder.layout.size} | {rewards}"
        lines.append(f"| [{env_id}]({env_id}.md) | {entry.summary} | {sizes} |")
    toctree = ["```{toctree}", ":hidden:", "", *GAMES, "```"]
    return "\n".join([*lines, "", NOTE, "", *toctree, ""])


def write(docs: Path) -> None:
    """Write ``docs/environments/*.md``; a file that would not change is left alone."""
    folder = docs / "environments"
    folder.mkdir(exist_ok=True)
    pages = {"index": overview()} | {env_id: environment(env_id) for env_id in GAMES}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def table(name: str, number: int, first: str | None) -> str:
    """Table ``number`` (from 1) of a result file as Markdown, with its origin; only rows that begin with ``first``."""
    document = results.load(RESULTS / name)
    if not 1 <= number <= len(document["tables"]):
        raise ValueError(f"{name} has {len(document['tables'])} tables, asked for number {number}")
    chosen = document["tables"][number - 1]
    lines = ["| " + " | ".join(chosen.columns) + " |", "|" + "---|" * len(chosen.columns)]
    for row in chosen.rows:
        if first not in (None, row.get(chosen.columns[0])):
            continue
        cells = (results.text(row.get(column)).replace("|", "\\|") for column in chosen.columns)
        lines.append("| " + " | ".join(cells) + " |")
    origin = f"`{document['command']}`, seed {document['seed']}, bidzoo {document['version']}, {document['machine']}"
    note = f"{chosen.note.rstrip('.')}. " if chosen.note else ""
    return f"**{chosen.title}**\n\n" + "\n".join(lines) + f"\n\n{note}({origin})\n"


def filled(text: str) -> str:
    """``text`` with every table it asks for."""
    return WANTED.sub(lambda ask: f"{ask[1]}\n{table(ask[2], int(ask[3]), ask[4])}\n{ask[5]}", text)


def with_tables() -> list[Path]:
    """Pages that ask for tables."""
    docs = ROOT / "docs"
    pages = [ROOT / "README.md", *sorted(docs.glob("*.md")), *sorted((docs / "agents").glob("*.md"))]
    return [page for page in pages if WANTED.search(page.read_text(encoding="utf-8"))]


def picture(path: Path) -> None:
    """Draw the board that the first program of README and front page plays: board 0 of ``SEED``, bid by ``sayc``."""
    from PIL import Image

    import bidzoo

    env, player = bidzoo.make("bridge_bidding_v0", render_mode="rgb_array"), bidzoo.agents.make("sayc")
    env.reset(seed=SEED)
    while not any(env.terminations.values()):
        env.step(env.ask(player))
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(env.render()).save(path, optimize=True)


if __name__ == "__main__":
    picture(ROOT / "docs" / "pictures" / "board.png")
    for page in with_tables():
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")

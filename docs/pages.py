"""Generated parts: pages of the environments and the papers, pictures, and the tables of results in pages and README.

A page asks for a table with a pair of comments, and what stands between them is rewritten by
``python docs/pages.py``:

    <!-- results: throughput.json, 1 -->
    <!-- end -->

The number counts the tables of the file from 1; words after another comma take only the rows that begin with one
of them. ``| rows: a; b``, ``| columns: x; y`` and ``| title: ...`` after it take some rows and some columns, and name
what is compared. Numbers are never typed; note and command are folded below the table.

``<!-- leaderboard: bridge-2026 -->`` asks for the table of a challenge, of all entries in
``docs/results/leaderboard/``, ``<!-- file: examples/... -->`` for a file of the repository, ``<!-- recommended -->``
for the bridge agents of ``RECOMMENDED``, ``<!-- outside -->`` for the matches of ``results/outside.csv``,
``<!-- speed -->`` for the README's sentences on ``throughput.json``, and ``<!-- agents: spades_v0 -->`` for all agents
of a game by group.

Everything is made before anything is written. What a new game or agent still lacks is listed first, with the file and
what to write there (``lacking``).
"""

import json
import re
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

import numpy as np
import papers  # beside this file
from numpy.typing import NDArray

import bidzoo
from bidzoo import agents
from bidzoo.agents.bridge.card_play import WithCards
from bidzoo.benchmarks import leaderboard, report, results
from bidzoo.benchmarks.match import play
from bidzoo.envs.game import Game
from bidzoo.registry import GAMES

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
GAMES_TEXTS = ROOT / "bidzoo" / "data" / "games"  # rules and the reward of one deal, for who has never played; options
RESULTS_BLOCK = re.compile(
    r"(<!-- results: ([\w.-]+), (\d+)(?:, ([\w -]+))?((?: \| \w+: [^|\n]+)*) -->\n).*?(<!-- end -->)", re.DOTALL
)
LEADERBOARD_BLOCK = re.compile(r"(<!-- leaderboard: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
FILE_BLOCK = re.compile(r"(<!-- file: ([\w./-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
AGENTS_BLOCK = re.compile(r"(<!-- agents: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
SPEED_BLOCK = re.compile(r"(<!-- (speed) -->\n).*?(<!-- end -->)", re.DOTALL)
RECOMMENDED_BLOCK = re.compile(r"(<!-- (recommended) -->\n).*?(<!-- end -->)", re.DOTALL)
OUTSIDE_BLOCK = re.compile(r"(<!-- (outside) -->\n).*?(<!-- end -->)", re.DOTALL)
RECOMMENDED = {  # what it is, paper, page
    "rpi-bmcs": ("`rpi` that searches where several calls are plausible", "Qiu et al. 2024", "bmcs"),
    "rpi": ("the strongest without search", "Lagoudakis and Parr 2003, Gao et al. 2024", "rpi"),
    "ppo": ("network that improved an imitated expert by self-play", "Kita et al. 2024", "ppo"),
    "sl": ("network that imitates a Standard American player", "Qiu et al. 2024, section III", "sl"),
    "sayc": ("rules of Standard American Yellow Card; explains its calls", "ACBL SAYC System Booklet", "sayc"),
}
PAGES = {  # of agents that have none of their own name
    "expert": "expert-sayc expert-21gf expert-polish expert-acol expert-light",
    "sl": "sl-wide sl-small",
    "bmcs": "rpi-bmcs bmcs-sl bmcs-weighted rl-mcs",
    "pi": "pi-search",
    "sayc": "pass",
    "learned": "learned-search",
    "a2c-tabular": "a2c",
}
PAGE = {agent: page for page, names in PAGES.items() for agent in names.split()} | {"random": ""}  # in the table alone
KIND = {"bridge_bidding": "bridge", "signalling": "small"}  # files of a family that are not called as it is
NOTE = """Sizes and rewards are those of the default options, mean turns those of 1000 episodes of random play.
[Conventions](../conventions.md) says what holds for all of them."""

NAMES = """\
| | |
|---|---|
| Import | `from bidzoo.envs import {}` |
| PettingZoo id | `bidzoo/{}` |
| Gymnasium id | `{}` |
"""
OPTIONS = """\
| `render_mode` | `"ansi"`, `"svg"`, `"rgb_array"`, `"human"` | text, SVG, pixels `[H, W, 3]`, window or notebook |
| `illegal_action` | `"terminate"`, `"raise"` | the offender and its partners get the lowest reward; `ValueError` |
| `mask_in` | `"observation"`, `"info"` | dicts with the mask; arrays (`gymnasium.make`: default) |
"""


class Scene(NamedTuple):
    """What a picture shows: board 0 of ``seed``, ``agent`` in all seats, after ``turns`` turns, else at the end."""

    seed: int
    agent: str
    turns: int | None = None


SCENES = {
    "bridge_bidding_v0": Scene(15, "sayc"),  # both sides bid; the best contract, a slam, makes
    "bridge_v0": Scene(83, "sayc", 40),  # both sides bid; in the middle of a trick
    "comm_v0": Scene(1, "exact"),
    "mini_hanabi_v0": Scene(4, "exact"),
    "minibridge_v0": Scene(1, "exact"),
    "simple_bidding_v0": Scene(6, "exact"),
    "spades_v0": Scene(7, "bis", 31),  # in the middle of a trick that a spade ruffs
}


def kind_of(env_id: str) -> str:
    """What files for all games of the family of ``env_id`` are called."""
    return KIND.get(GAMES[env_id].family, GAMES[env_id].family)


def game_text(env_id: str) -> Path:
    """The rules and the reward of one deal of ``env_id``, or of all games of its kind; of a small game the reward."""
    own = GAMES_TEXTS / f"{env_id}.txt"
    return own if own.exists() or kind_of(env_id) == "small" else GAMES_TEXTS / f"{kind_of(env_id)}.txt"


def page_of(agent: str) -> str:
    """The name of the page of ``agent`` in ``docs/agents``; empty where it has none."""
    return PAGE.get(agent, agent)


def lacking() -> list[str]:
    """What games and agents of the registries still need for their pages: files, and what to write there."""
    docs = ROOT / "docs"
    index = (docs / "agents" / "index.md").read_text(encoding="utf-8").splitlines()
    needed: list[tuple[bool, str, str]] = []  # whether it is there, the file, what to write into it
    for env_id in GAMES:
        text, observations = game_text(env_id), docs / "observations" / f"{kind_of(env_id)}.md"
        words = "'## The reward of one deal' and that reward, worked out, as in minibridge_v0.txt"
        if kind_of(env_id) != "small":
            words = "the rules in half a page and the reward of one deal, worked out, as in spades.txt"
        needed += [
            (text.exists(), f"bidzoo/data/games/{text.name}", words),
            (env_id in SCENES, "docs/pages.py", f"the Scene of {env_id!r} in SCENES, which its picture shows"),
            (observations.exists(), f"docs/observations/{observations.name}", "what observations leave out, and why"),
        ]
    for agent in agents.AGENTS:
        page = page_of(agent)
        path = docs / "agents" / f"{page}.md"
        words = f"the page of {agent!r}; or name another page for it in PAGES of docs/pages.py"
        measure = f"time and strength of {agent!r}, which this measures: python experiments/agents_table.py {agent}"
        needed += [
            (not page or path.exists(), f"docs/agents/{path.name}", words),
            (not page or page in index, "docs/agents/index.md", f"{page!r} into the toctree of its games"),
            (agent in agents.measured(), "bidzoo/data/agents.json", measure),
        ]
    return [f"{file} lacks {words}" for there, file, words in needed if not there]


def environment(env_id: str) -> str:
    """The page of ``env_id``: the game, its docstring, then every observation and the global state bit by bit."""
    module = import_module(GAMES[env_id].module)
    game = module.make_game()
    kind = kind_of(env_id)
    observations_link = f"What they leave out and why, with examples: [{kind} observations](../observations/{kind}.md)."
    picture_link = f"![A table, all cards shown](../pictures/{env_id}.png)"
    title, _, rest = module.__doc__.strip().partition("\n")
    summary, _, rest = rest.partition("\n| | |\n|---|---|\n")
    told = game_text(env_id).read_text(encoding="utf-8").rstrip()
    # a small game's rules are in its docstring, and the reward of a deal comes after them
    rules, reward = ([], ["", told]) if kind == "small" else (["", told, "", "## In bidzoo"], [])
    body, _, options = rest.partition("\n## Options\n")
    if (path := GAMES_TEXTS / f"{env_id}.options.txt").exists():  # in the docstring of the game's class by other words
        options = "\n" + path.read_text(encoding="utf-8")
    table, _, body = body.partition("\n\n")
    names = NAMES.format(env_id, "-v".join(env_id.rsplit("_v", 1)), GAMES[env_id].gymnasium_id)
    parts = [title, "", picture_link, summary.rstrip(), *rules, "", names + table, "", body.rstrip(), *reward]
    rows = options.rfind("\n| `") + 1  # the last of the game's own; those of every environment follow it
    end = options.find("\n", rows) + 1
    parts += ["", "## Options", options[:end] + OPTIONS + options[end:].rstrip()] if options else []
    parts += ["", "## Version history", "", "- v0: first release"]
    parts += ["", "## Observations, bit by bit", "", observations_link, ""]
    for encoder in game.encoders.values():
        parts += [f"### `{encoder.name}`: {encoder.layout.size} entries", "", encoder.layout.markdown(), ""]
    state, state_link = game.state_encoder.layout, "`env.state()`, for [centralised critics](../observations/state.md):"
    parts += [
        "## Global state, bit by bit",
        "",
        state_link,
        "",
        f"### `state`: {state.size} entries",
        "",
        state.markdown(),
    ]
    return "\n".join(parts) + "\n"


def overview() -> str:
    """Every environment in one table, with the sizes of its defaults and the turns of its episodes."""
    lines = [
        "# Environments",
        "",
        "| environment | what it is | players | actions | observation | rewards | turns, mean (most) |",
        "|---|---|---|---|---|---|---|",
    ]
    for env_id, entry in GAMES.items():
        game = import_module(entry.module).make_game()
        low, high = (f"{reward:g}".replace("-", "−") for reward in game.reward_range)
        rewards = f"{low} … {high}, {'the same to all' if game.utility == 'identical' else 'zero-sum between sides'}"
        sizes = f"{game.num_players} | {game.num_actions} | {game.encoder.layout.size} | {rewards} | {turns(game)}"
        lines.append(f"| [{env_id}]({env_id}.md) | {entry.summary} | {sizes} |")
    toctree = ["```{toctree}", ":hidden:", "", *GAMES, "```"]
    return "\n".join([*lines, "", NOTE, "", *toctree, ""])


def turns(game: Game) -> str:
    """Mean length of 1000 episodes of random play, and the longest there can be."""
    episodes = play(game, ["random"] * game.num_players, np.arange(1000))
    return f"{game.clock(episodes.states).mean():.0f} ({game.max_turns})"


def generated(docs: Path) -> dict[Path, str]:
    """The texts of ``docs/environments/*.md`` and ``docs/papers.md``."""
    pages = {"index": overview()} | {env_id: environment(env_id) for env_id in GAMES}
    texts = {docs / "environments" / f"{name}.md": text for name, text in pages.items()}
    return texts | {docs / "papers.md": papers.page()}


def write(docs: Path) -> None:
    """Write ``generated(docs)``, as Sphinx does first."""
    put(generated(docs))


def put(texts: dict[Path, str]) -> None:
    """Write each text into its file; a file that would not change is left alone."""
    for path, text in texts.items():
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def markdown(result_table: results.ResultTable) -> str:
    """Columns and rows as a Markdown table."""
    rows = [
        result_table.columns,
        *([results.text(row.get(column)) for column in result_table.columns] for row in result_table.rows),
    ]
    cells = ([cell.replace("|", "\\|").replace(" ± ", "\u00a0±\u00a0") for cell in row] for row in rows)  # in one line
    head, *lines = (f"| {' | '.join(row)} |" for row in cells)
    return "\n".join([head, "|" + "---|" * len(result_table.columns), *lines])


def table(name: str, number: int, firsts: str | None, chosen: str = "") -> str:
    """Table ``number`` (from 1) of a result file as Markdown, with its origin; only rows beginning with ``firsts``.

    ``chosen`` is what follows in the comment: ``" | rows: a; b | columns: x; y | title: words"``.
    """
    wanted = {word: text.strip() for word, _, text in (part.partition(": ") for part in chosen.split(" | ")[1:])}
    document = papers.result_file(RESULTS / name)
    if not 1 <= number <= len(document["tables"]):
        raise ValueError(f"{name} has {len(document['tables'])} tables, asked for number {number}")
    found = document["tables"][number - 1]
    names = [str(row.get(found.columns[0])) for row in found.rows]
    picked = wanted["rows"].split("; ") if "rows" in wanted else names if firsts is None else firsts.split()
    columns = wanted["columns"].split("; ") if "columns" in wanted else found.columns
    for kind, known, asked in (("row", names, picked), ("column", found.columns, columns)):
        if absent := [word for word in asked if word not in known]:
            raise ValueError(f"table {number} of {name} has no {kind} {absent[0]!r}")
    rows = [row for row, first in zip(found.rows, names) if first in picked]
    columns = [column for column in columns if any(row.get(column) is not None for row in rows)]
    origin = f"`{document['command']}`, seed {document['seed']}, bidzoo {document['version']}, {document['machine']}"
    note = f"{found.note.rstrip('.')}. " if found.note else ""
    shown = markdown(replace(found, columns=columns, rows=rows))
    return f"**{wanted.get('title', found.title)}**\n\n{shown}\n\n{folded(f'{note}({origin})')}\n"


def folded(text: str) -> str:
    """Small print that a click opens, on a code host and in the built pages."""
    return f"<details><summary>Conditions and command</summary>\n\n{text}\n\n</details>"


def ranked(name: str) -> str:
    """The table of a challenge as Markdown."""
    challenge = leaderboard.challenge_named(name)
    entries = [leaderboard.load(path) for path in sorted((RESULTS / "leaderboard").glob(f"{name}-*.json"))]
    if not entries:
        return f"**{name}**: no entry yet.\n"
    ranking = leaderboard.ranking(challenge, entries)
    same = {  # said once for all, where it is
        column: ranking.rows[0][column]
        for column in ("from", "bidzoo")
        if len({row[column] for row in ranking.rows}) == 1
    }
    columns = [column for column in ranking.columns if column not in same]
    opponents = [column for column in columns[2:] if isinstance(ranking.rows[0][column], results.Estimate)]
    rows = [row | {column: f"{row[column].mean:.2f}" for column in opponents} for row in ranking.rows]
    most = max(row[column].error for row in ranking.rows for column in opponents)
    played = f"; played with bidzoo {same['bidzoo']}" if "bidzoo" in same else ""
    source = ", which all agents come from" if same.get("from") == f"bidzoo {same.get('bidzoo')}" else ""
    note = f"{ranking.note}, at most {most:.2f} for one opponent{played}{source}"
    return f"**{name}**\n\n{markdown(replace(ranking, columns=columns, rows=rows))}\n\n{note}\n"


def recommended(name: str) -> str:
    """The agents of ``RECOMMENDED`` with what they win against outside programs and against imitations."""
    document = papers.result_file(RESULTS / "bridge-experts.json")
    won = {row["agent"]: row["held-out mean, IMPs a board"] for row in document["tables"][0].rows}
    measured = ROOT / "bidzoo" / "data" / "agents.json"
    times = json.loads(measured.read_text(encoding="utf-8"))["agents"] if measured.exists() else {}
    columns = ["agent", "what it is", "paper", "outside programs", "imitations", *["ms a call"] * bool(times)]
    table = results.ResultTable("", columns)
    for agent, (what, paper, page) in RECOMMENDED.items():
        met = papers.MET_OUTSIDE.get(agent, agent)
        by_whom = f" (`{met}`)" * (met != agent)
        theirs, ours = papers.outside().get((met, "mean")), won[agent]
        means = theirs and strength(theirs.mean, theirs.error) + by_whom, strength(ours.mean, ours.error)
        cells = [results.two_digits(times[agent]["milliseconds"])] if times else []
        table.add(f"[`{agent}`](docs/agents/{page}.md)", what, paper, *means, *cells)
    return f"{markdown(table)}\n"


def outside(_: str) -> str:
    """IMPs a board of every agent against every outside program, and the mean."""
    every = papers.outside()
    names, programs = (list(dict.fromkeys(pair[k] for pair in every)) for k in (0, 1))
    table = results.ResultTable("", ["program", *(f"`{name}`" for name in names)])
    for program in programs:
        cells = [every[name, program] for name in names]
        table.add(f"**{program}**" if program == "mean" else program, *(strength(*each[:2]) for each in cells))
    return f"{markdown(table)}\n"


def speed(_: str) -> str:
    """How fast the fastest engine and one table are beside OpenSpiel, all of one run on one machine."""
    document = papers.result_file(RESULTS / "throughput.json")
    every, one = document["tables"][:2]
    by_form = {(row["game"], row["form"]): row["decisions/CPU s"] for row in every.rows}
    spiel = {game: rate for (game, form), rate in by_form.items() if form.startswith("OpenSpiel")}
    fast = by_form["bridge_bidding_v0", "bidzoo batched, one thread"]
    beside = f"{fast / spiel['bridge_bidding_v0']:.0f} times as many as OpenSpiel driven from Python"
    for (_, form), rate in by_form.items():
        beside += f" and {fast / rate:.0f} times as many as Pgx on a CPU" * form.startswith("Pgx")
    single = {row["game"]: row["times OpenSpiel"] for row in one.rows if row["form"] == "gymnasium.make, one table"}
    env = by_form["mini_hanabi_v0", "bidzoo env()"] / spiel["mini_hanabi_v0"]
    lines = [
        f"The batched bridge auction makes {fast / 1e6:.1f} million decisions per CPU-second on one thread",
        f"({document['machine']}), {beside}.",
        f"One Gymnasium table makes {single['bridge_bidding_v0']:.1f} times as many as a loop over OpenSpiel.",
        f"Exception: Mini-Hanabi, the smallest game, runs at {single['mini_hanabi_v0']:.1f} × in Gymnasium's API and",
        f"at {env:.1f} × in PettingZoo's ([throughput](docs/benchmarks/throughput.md), by clock and by threads).",
    ]
    return "\n".join(lines) + "\n"


def strength(mean: float, error: float) -> str:
    """As all tables of agents show it."""
    return (f"{mean:+.2f}" + (f" ± {error:.2f}" if np.isfinite(error) else "")).replace("-", "−")


def by_group(env_id: str) -> str:
    """The agents of a game by group: sentence, paper, strength and time as ``bidzoo list`` has them."""
    measured, parts = agents.measured(), []
    for group in agents.GROUPS:
        columns = ["agent", "what it is", "paper", "strength", "ms a call"]
        shown = results.ResultTable("", columns)
        for name, entry in agents.entries().items():
            if entry.group == group and env_id in entry.games and entry.source == "bidzoo":
                found, page = measured.get(name, {}), page_of(name)
                own = "mean" in found and found["unit"].startswith("IMPs") == (env_id in agents.BRIDGE)
                won = strength(found["mean"], found["error"]) if own else None
                what = entry.summary + (f" It needs `{entry.needs}`." if entry.needs else "")
                time = results.two_digits(found["milliseconds"]) if found else None
                shown.add(f"[`{name}`]({page}.md)" if page else f"`{name}`", what, entry.paper or None, won, time)
        if shown.rows:
            columns = [name for name in columns if any(row.get(name) is not None for row in shown.rows)]
            parts.append(f"**{group[0].upper()}{group[1:]}**\n\n{markdown(replace(shown, columns=columns))}")
    return "\n\n".join(parts) + "\n"


def code(name: str) -> str:
    """A file of the repository as a block, which is not run by itself."""
    return f"```py\n{(ROOT / name).read_text(encoding='utf-8')}```\n"


def filled(text: str) -> str:
    """``text`` with every block that it asks for, written anew."""

    def results_table(match: re.Match[str]) -> str:
        return f"{match[1]}\n{table(match[2], int(match[3]), *match.group(4, 5))}\n{match[6]}"

    text = RESULTS_BLOCK.sub(results_table, text)
    blocks = [(LEADERBOARD_BLOCK, ranked), (FILE_BLOCK, code), (AGENTS_BLOCK, by_group)]
    blocks += [(RECOMMENDED_BLOCK, recommended), (SPEED_BLOCK, speed), (OUTSIDE_BLOCK, outside)]
    for pattern, render in blocks:
        text = pattern.sub(lambda match, render=render: f"{match[1]}\n{render(match[2])}\n{match[3]}", text)
    return text


def with_tables() -> list[Path]:
    """Pages that ask for a block: results, a leaderboard or a file."""
    docs = ROOT / "docs"
    folders = docs, docs / "agents", docs / "benchmarks", docs / "training", docs / "tutorials"
    pages = [ROOT / "README.md", *(page for folder in folders for page in sorted(folder.glob("*.md")))]
    patterns = (
        RESULTS_BLOCK,
        LEADERBOARD_BLOCK,
        FILE_BLOCK,
        RECOMMENDED_BLOCK,
        AGENTS_BLOCK,
        SPEED_BLOCK,
        OUTSIDE_BLOCK,
    )
    return [page for page in pages if any(pattern.search(page.read_text(encoding="utf-8")) for pattern in patterns)]


def picture(env_id: str) -> NDArray[np.uint8]:
    """The table of ``SCENES[env_id]`` as pixels ``[H, W, 3]``."""
    scene = SCENES[env_id]
    env, player = bidzoo.make(env_id, render_mode="rgb_array"), agents.make(scene.agent)
    if env_id == "bridge_v0":
        player = WithCards(player)
    env.reset(seed=scene.seed)
    turns = 0
    while turns != scene.turns and not any(env.terminations.values()):
        env.step(env.ask(player))
        turns += 1
    return env.render()


def draw_growth(path: Path) -> None:
    """The batched engine by tables and threads, with the other forms of ``throughput.json`` as lines across."""
    import matplotlib
    from matplotlib.figure import Figure

    every, _, growth = papers.result_file(RESULTS / "throughput.json")["tables"][:3]
    speeds = {row["form"]: row["decisions/s"] for row in every.rows if row["game"] == "bridge_bidding_v0"}
    with matplotlib.rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False}):
        canvas = Figure(figsize=(6.4, 3.6), layout="constrained", dpi=100)
        axes = canvas.subplots()
        for threads in sorted({row["threads"] for row in growth.rows}):
            rows = [row for row in growth.rows if row["threads"] == threads]
            label = f"bidzoo, {threads} thread{'s' if threads > 1 else ''}"
            axes.loglog([row["tables"] for row in rows], [row["decisions/s"] for row in rows], "o-", ms=3, label=label)
        for form, speed in speeds.items():
            if form.startswith(("C++", "Pgx", "OpenSpiel")):
                axes.axhline(speed, color="0.6", lw=0.8, ls="--")
                axes.text(1, speed * 1.1, form, color="0.4", va="bottom")
        sizes = sorted({row["tables"] for row in growth.rows})[::2]
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.set_xticks([], minor=True)
        axes.set(xlabel="tables in step", ylabel="decisions a second", title=growth.title)
        axes.legend(frameon=False, loc="center right")
        canvas.savefig(path, metadata={"Software": None})


def main() -> None:
    """Make every page and every picture of an environment, then write all, with the pictures of results."""
    from PIL import Image

    if sentences := lacking():
        raise SystemExit("Nothing was written:\n" + "\n".join(sentences))
    texts = generated(ROOT / "docs")
    texts |= {page: filled(page.read_text(encoding="utf-8")) for page in with_tables()}
    folder, tables = ROOT / "docs" / "pictures", {env_id: picture(env_id) for env_id in GAMES}
    put(texts)
    for env_id, pixels in tables.items():
        Image.fromarray(pixels).save(folder / f"{env_id}.png", optimize=True)
    draw_growth(folder / "throughput.png")
    report.pictures(papers.result_file(RESULTS / "exploit-comm.json")["figures"], folder)


if __name__ == "__main__":
    main()

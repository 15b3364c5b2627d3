"""``bidzoo match``: two agents against each other in any game, and records; ``bidzoo replay``: any such file again."""

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from bidzoo.cli.options import (
    MOST_BOARDS,
    BaseUrl,
    Json,
    SeatOptions,
    Seed,
    Set,
    Strict,
    Timeout,
    Workers,
    agent,
    agent_names,
    game_names,
    output,
    seated,
    workers_beside,
)
from bidzoo.cli.settings import game_settings
from bidzoo.cli.showing import counted, finish, in_runs, plain_name, progress, say, solving
from bidzoo.cli.stopping import going_on, suite_ledger
from bidzoo.core.schema import shortened

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy
    from bidzoo.benchmarks.match import Run
    from bidzoo.benchmarks.records import Record
    from bidzoo.benchmarks.results import ResultTable
    from bidzoo.envs.bridge.board import Fault
    from bidzoo.envs.bridge.game import Bridge
    from bidzoo.language import LanguageAgent

AUCTION = "bridge_bidding_v0"
BOARDS, PLAYED = 1000, 20  # default numbers of boards: without a set of deals, and where cards are played by search
OWN = ("deals", "shuffle", "augment", "reward", "reward_scale")  # bridge options that the command gives itself


def match(
    ours: Annotated[str, agent(metavar="A")],
    theirs: Annotated[str, agent("The other agent.", metavar="B")],
    env: Annotated[
        str | None,
        typer.Option(
            help="Any environment, such as minibridge_v0; default: bridge_bidding_v0, or what both agents play.",
            autocompletion=game_names,
        ),
    ] = None,
    options: Set = None,
    boards: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=MOST_BOARDS,
            help=f"Number of boards; default: {BOARDS}; {AUCTION}: every deal once; bridge_v0: {PLAYED}.",
        ),
    ] = None,
    seed: Seed = 0,
    deals: Annotated[
        str | None,
        typer.Option(
            "--deals",
            "--pbn",
            help="Deals of bridge: train, validation, test (default), or a .pbn, .lin or .npz file with tables.",
        ),
    ] = None,
    out: Annotated[Path | None, output("Records: .jsonl; for bridge software .pbn or .lin.", new=True)] = None,
    workers: Workers = 1,
    partner: Annotated[
        str | None,
        typer.Option(help="Bridge: A's partner; default: A itself.", autocompletion=agent_names),
    ] = None,
    base_url: BaseUrl = None,
    seat: SeatOptions = None,
    timeout: Timeout = None,
    ledger: Annotated[
        Path | None, output("Answers of language models, or what a slow agent has played; default: in runs/.")
    ] = None,
    json: Json = None,
) -> None:
    """Compare two agents on the same boards.

    Bridge: every board at two tables with the sides exchanged, scored double dummy (bridge_v0: played), in IMPs. The
    boards of a file are played in their order as they stand. The deals of a packaged set come in order, with suits
    renamed and seats turned as (seed, board) says.

    Spades: every board at two tables with the partnerships exchanged, in points a round and games won.

    Small games: each agent with itself, and with the other at either seat; mean rewards.

    A stopped match of an agent that searches goes on when the same command is given again.

    openai:MODEL is a language model behind --base-url; ledger:FILE replays its answers without it.
    """
    from bidzoo import agents, registry
    from bidzoo.benchmarks import records, results

    if out is not None:
        records.check_ending(out, AUCTION if env is None else registry.game_id(env))
    playing = [ours, theirs, *([partner] if partner else [])]
    workers = workers_beside(playing, workers)
    models = seated(playing, base_url, seat, ledger, timeout)
    env = _common(ours, theirs) if env is None else registry.game_id(env)
    bridge, names = env in agents.BRIDGE, (ours, theirs)
    chosen = game_settings(env, options, OWN if bridge else ())
    if out is not None:
        records.check_ending(out, env)
    if bridge:
        chosen["deals"] = "test" if deals is None else deals
    elif deals is not None:
        raise ValueError(f"--deals {deals}: {env} is dealt by --seed; only bridge has sets of deals")
    elif partner is not None:
        raise ValueError(f"--partner {partner}: {env} has other partnerships; only in bridge a partner can be chosen")
    began = time.perf_counter()
    with models, ExitStack() as stack:
        if models:
            from bidzoo.language import IMPS

            models.game, models.scoring = registry.make_game(env, **chosen), IMPS if bridge else ""
            if models.path is not None:
                stack.enter_context(going_on(models.path))
        keeping = Keeping(workers, stack, ledger, by_models=bool(models))
        if bridge:
            table, records_of_match = _bridge(env, chosen, names, partner, boards, seed, keeping)
        else:
            table, records_of_match = _other(env, chosen, names, boards or BOARDS, seed, keeping)
        for model in models.agents:
            _say_usage(model)
            table = replace(table, note=f"{table.note}; {model.name}: {model.usage}")
        asked = (env, chosen, partner, boards, seed, base_url, seat, ledger)
        seconds = time.perf_counter() - began
        if json is None:
            name = "-".join(["match", *map(plain_name, names)])
            _keep(in_runs(name, names, *asked, ending=".json"), table, seed, seconds)
        else:
            results.save(json, "match", [table], seed=seed, seconds=seconds)
            say(f"result written to {json}")
        if out is not None:  # last: where it is, the same command has nothing left to do
            match_records = records_of_match()
            records.write(out, match_records)
            say(f"{counted(len(match_records), 'record')} written to {out}")


def _say_usage(model: "LanguageAgent") -> None:
    """What the match took of a language model, and whether its result is the model's own."""
    say(f"{model.name}: {model.usage}")
    if 2 * model.usage.fallbacks > model.usage.decisions:
        problem = shortened(model.usage.usual_problem)
        say(f"{model.name}: the fallback acted most of the time, so this is its result and not the model's")
        say(f"{model.name}: what was wrong most often: {problem}")


class Keeping(NamedTuple):
    """How a match is carried out, and where what slow agents have played is kept meanwhile."""

    workers: int
    stack: ExitStack  # open until its result is written
    ledger: Path | None  # None: in runs/, until the end
    by_models: bool  # language models play, whose answers are kept by themselves


def _keep(path: Path, table: "ResultTable", seed: int, seconds: float) -> None:
    """Write the result into runs/, from where ``bidzoo report`` shows it; say so, or why it cannot be kept.

    ``path`` is the same for the same match alone, so that no match's result is written over another's.
    """
    from bidzoo.benchmarks import results

    try:
        results.save(path, "match", [table], seed=seed, seconds=seconds)
    except OSError as problem:
        say(f"the result is not kept for bidzoo report: {path}: {problem.strerror}")
    else:
        say(f"result written to {path}; bidzoo report makes a page of what is in runs/")


def _common(ours: str, theirs: str) -> str:
    """Bridge's auction if both agents play it, else the only game that both play; an agent without games plays all."""
    from bidzoo import agents

    ours_in, theirs_in = (agents.games_of(name) for name in (ours, theirs))
    common = [game for game in ours_in or theirs_in or (AUCTION,) if game in (theirs_in or ours_in or (AUCTION,))]
    if AUCTION in common:
        return AUCTION
    if not common:
        raise ValueError(f"{ours} plays {', '.join(ours_in)}, {theirs} plays {', '.join(theirs_in)}: no game in common")
    if len(common) > 1:
        raise ValueError(f"{ours} and {theirs} play several games: choose one by --env, of {', '.join(common)}")
    return common[0]


def _bridge(
    env: str,
    chosen: dict[str, Any],
    names: tuple[str, str],
    partner: str | None,
    boards: int | None,
    seed: int,
    keeping: Keeping,
) -> "tuple[ResultTable, Callable[[], list[Record]]]":
    """Show the result of a duplicate match; return it as a table, and a function that makes its records."""
    import numpy as np

    from bidzoo.agents.bridge.expert import imitation_note
    from bidzoo.benchmarks import records
    from bidzoo.benchmarks.match import duplicate
    from bidzoo.benchmarks.results import ResultTable
    from bidzoo.envs.bridge.deals import SPLITS, is_estimated, read_deals
    from bidzoo.envs.bridge.formats import FORMATS
    from bidzoo.envs.bridge.game import Bridge

    game = Bridge(env == "bridge_v0", shuffle=False, augment=chosen["deals"] in SPLITS, **chosen)
    first, second = (_bridge_agent(game, name) for name in names)
    opposite = first if partner is None else _bridge_agent(game, partner)
    _check_names(names, (first.name, second.name))
    file, warning = Path(str(chosen["deals"])), ""
    if game.needs_dd_tricks and file.suffix.lower() in FORMATS:
        _check_tables(file, game)
    elif game.needs_dd_tricks and chosen["deals"] not in SPLITS and is_estimated(read_deals(file)[2]):
        warning = f"{file}: tables are estimates, drawn and not solved: made to train on, not to measure by"
        say(warning, err=True)
    different = len(game.deals.hands)
    numbers = np.arange(boards or (PLAYED if env == "bridge_v0" else different))
    with _running((first, opposite, second), (env, chosen, seed), 2 * len(numbers), keeping) as run:
        result = duplicate(game, (first, opposite), second, numbers, seed, seed, run)
    ours = first.name if opposite is first else f"{first.name} with {opposite.name}"
    extent = f"{counted(len(numbers), 'board')} of {counted(len(np.unique(result.deals)), 'deal')}"
    say(f"{ours} against {second.name}: {result.imps.sum():+,} IMPs on {extent}, {result.estimate} a board")
    if note := imitation_note([second.name]):
        say(note)
    table = ResultTable(
        f"{ours} against {second.name}",
        ["agent", "against", "IMPs a board", "boards"],
        note=f"{extent}; duplicate" + (f". {warning}" if warning else ""),
    )
    table.add(ours, second.name, result.estimate, len(numbers))
    return table, lambda: records.of_match(game, result, (first.name, opposite.name), second.name, seed, seed)


@contextmanager
def _running(policies: "Sequence[Policy]", what: object, tables: int, keeping: Keeping) -> "Iterator[Run]":
    """How the ``tables`` of ``what`` are played: what slow ``policies`` play is kept as ``keeping`` says."""
    from bidzoo.benchmarks.match import MatchLedger, Run, slow

    ledger, path = None, keeping.ledger
    if slow(policies) and not keeping.by_models:
        path = keeping.stack.enter_context(suite_ledger(path, "match", what, [policy.name for policy in policies]))
        ledger = keeping.stack.enter_context(MatchLedger(path, policies))
    elif path is not None and not keeping.by_models:
        say(f"{path}: nothing is kept there, since no agent here is slow", err=True)
    with progress() as report:
        yield Run(keeping.workers, report=lambda done: report("tables", done, tables), ledger=ledger)


TABLES_CHECKED = 5  # of a file of boards, before a match is scored on them: a second


def _check_tables(path: Path, game: "Bridge") -> None:
    """ValueError if the solver contradicts one of the least likely double-dummy tables of the file."""
    from bidzoo.envs.bridge.double_dummy import contradiction, dd_tricks, most_suspect

    tricks = game.deals.tricks
    rows = most_suspect(tricks, TABLES_CHECKED)
    with solving():
        solved = dd_tricks(game.deals.hands[rows])
    for row, right in zip(rows, solved):
        if problem := contradiction(tricks[row], right):
            command = f"bidzoo deals import {quote(str(path))} --out {quote(f'{path.stem}-solved.pbn')}"
            raise ValueError(f"{path}: double-dummy table of deal {row}: {problem}; solve them anew with: {command}")


def _bridge_agent(game: "Bridge", name: str) -> "Policy":
    from bidzoo import agents
    from bidzoo.benchmarks.bridge import contestant

    policy = agents.resolve(name, game)
    return contestant(policy) if game.id == AUCTION else policy


def _check_names(texts: tuple[str, str], names: tuple[str, str]) -> None:
    """ValueError for two agents of one name, which no table or record tells apart."""
    from bidzoo import agents

    if texts[0] != texts[1] and names[0] == names[1]:
        raise ValueError(
            f"{texts[0]} and {texts[1]} are both called {names[0]!r}; name one: other={agents.parts(texts[1])[1]}"
        )


def _other(
    env: str,
    chosen: dict[str, Any],
    names: tuple[str, str],
    boards: int,
    seed: int,
    keeping: Keeping,
) -> "tuple[ResultTable, Callable[[], list[Record]]]":
    """Show the summary of the pairings of two agents; return it, and a function that makes their records."""
    import numpy as np

    from bidzoo import agents, registry
    from bidzoo.benchmarks import match, printing, records

    game = registry.make_game(env, **chosen)
    first, second = (agents.resolve(name, game) for name in names)
    shown = agents.shown_as(names[0], first), agents.shown_as(names[1], second)
    _check_names(names, shown)
    tables = boards * len(match.seatings(game))
    with _running((first, second), (env, chosen, seed), tables, keeping) as run:
        episodes = match.pairings(game, first, second, np.arange(boards), seed, seed, run)
    table = match.summary(game, shown, episodes)
    printing.show([table])
    return table, lambda: records.of_pairings(game, chosen, shown, episodes, seed, seed)


def check(
    agent: Annotated[str, agent(metavar="AGENT")],
    env: Annotated[
        str | None,
        typer.Option(help="Game to play; default: the first that the agent names.", autocompletion=game_names),
    ] = None,
    boards: Annotated[
        int | None,
        typer.Option(min=2, max=MOST_BOARDS, help="Number of boards; default: 40, or 2 for an agent that searches."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Check an agent: legal, deterministic, independent of other rows and seats, ready for workers, the same at one
    table; and how fast it is."""
    from bidzoo.benchmarks.agent_check import check_agent

    checked = check_agent(agent, env, boards, seed)
    say(
        f"{checked.agent} plays {checked.game}: {counted(checked.decisions, 'decision')} on"
        f" {counted(checked.boards, 'board')}, all legal, the same again, alone, in another order, by a pickled copy,"
        f" with a copy at every seat and at one table; {checked.milliseconds:.2g} ms of processor time a decision"
    )


def replay(
    file: Annotated[
        Path,
        typer.Argument(help="A .jsonl file of records, any .pbn or .lin file, or - for standard input."),
    ],
    solve: Annotated[bool, typer.Option("--solve", help="PBN and LIN: solve boards double dummy to show par.")] = False,
    strict: Strict = False,
) -> None:
    """Make every call and play every card of a file again under the rules, and find every result anew.

    Of a PBN or LIN file every board is shown: auction, contract, result, score, and par where the tricks are known.
    What is wrong in the file is left out and named at the end; the status is then 3.
    """
    from bidzoo.benchmarks import printing, replay
    from bidzoo.envs.bridge.board import Board

    faults: list[Fault] = []
    entries = replay.read(file, strict, faults)
    if isinstance(entries[0], Board):
        with solving() if solve else nullcontext():
            for board in replay.boards_in_words(entries, solve):
                say(f"{board}\n")
    elif solve:
        raise ValueError(f"--solve: {file} holds records, which have their tables; only .pbn and .lin files need it")
    tables = replay.summaries(file, entries, None if strict else faults)
    printing.show([table for table in tables if table.rows])
    for table in tables:
        if not table.rows:  # no board has two tables
            say(table.note)
    finish(file, len(entries), faults)

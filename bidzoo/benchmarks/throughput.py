"""Decisions a second of every environment, beside OpenSpiel, all in one run.

Each contestant plays uniformly random legal actions and writes the observation of every mover, or of a learner alone.
The contestants take turns in short slices, so a drift of the machine hits all alike; the figure is the fastest slice,
which others disturbed least. On a busy machine processor seconds say more than the clock: ratios are theirs.
"""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from operator import methodcaller
from typing import Any

import gymnasium
import numpy as np
from pettingzoo.utils import wrappers

from bidzoo import agents
from bidzoo.agents.policy import choose
from bidzoo.benchmarks.results import Figure, Measured, ResultTable
from bidzoo.core.threads import get_threads, kernel_threads
from bidzoo.registry import GAMES, make, make_game
from bidzoo.wrappers.batch import Batch

TABLES = 4096  # of the batched engine
FEW = 64  # tables of Gymnasium's vector, beside those
SIZES = tuple(4**k for k in range(9))  # tables, 1 ... 65 536
Work = Callable[[], int]  # plays a little, returns the decisions taken


# ---- our forms ---------------------------------------------------------------------------


def batched(env_id: str, tables: int = TABLES) -> Work:
    """The batched engine with actions drawn by the ``random`` agent's kernel."""
    batch = Batch(make_game(env_id), tables)
    batch.reset(seed=1)
    actions, keys = np.empty(tables, np.int64), np.arange(tables, dtype=np.uint64)

    def work() -> int:
        for _ in range(16):
            choose(batch.action_mask, keys, actions)
            batch.step(actions)
        return 16 * tables

    return work


def aec(env: Any) -> Work:
    """Any PettingZoo AEC environment with masks in its observations, driven by ``last`` and ``step``."""
    rng = np.random.default_rng(1)
    boards = [0]

    def work() -> int:
        env.reset(seed=boards[0])
        boards[0] += 1
        decisions = 0
        while True:
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                return decisions
            mask = observation["action_mask"] if isinstance(observation, dict) else info["action_mask"]
            legal = mask.nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
            decisions += 1

    return work


def asked(env_id: str, agent: str) -> Work:
    """``env()`` with one agent in all seats, asked for every action: ``env.step(env.ask(policy))``."""
    env, policy = make(env_id), agents.make(agent)

    def work() -> int:
        env.reset()
        decisions = 0
        while not env.terminations[env.agent_selection]:
            env.step(env.ask(policy))
            decisions += 1
        return decisions

    return work


def learner(env_id: str) -> Work:
    """Gymnasium's environment of one table: the learner's decisions, all seats random."""
    env = gymnasium.make(GAMES[env_id].gymnasium_id)
    rng = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    masks = [info["action_mask"]]

    def work() -> int:
        for _ in range(64):
            legal = masks[0].nonzero()[0]
            _, _, over, _, info = env.step(legal[int(rng.random() * len(legal))])
            masks[0] = (env.reset()[1] if over else info)["action_mask"]
        return 64

    return work


def learners(env_id: str, tables: int) -> Work:
    """Gymnasium's vector of ``tables``: the learner's decisions, all seats random."""
    env = gymnasium.make_vec(GAMES[env_id].gymnasium_id, tables)
    actions, keys = np.empty(tables, np.int64), np.arange(tables, dtype=np.uint64)
    masks = [env.reset(seed=1)[1]["action_mask"]]

    def work() -> int:
        for _ in range(4):
            choose(masks[0], keys, actions)
            masks[0] = env.step(actions)[4]["action_mask"]
        return 4 * tables

    return work


def standard_stack(env: Any) -> Any:
    """``env`` inside PettingZoo's three usual wrappers."""
    return wrappers.OrderEnforcingWrapper(
        wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(env, illegal_reward=-1))
    )


# ---- OpenSpiel: None where it is not installed -------------------------------------------


def _openspiel(name: str, auction_only: bool = False, one: bool = False) -> Work | None:
    """OpenSpiel's ``name`` from states with every card dealt; to the end, or of bridge the auction only.

    ``one``: player 0 is a learner, who alone looks at the table and whose decisions count.
    """
    if find_spec("pyspiel") is None:
        return None
    import pyspiel

    game = pyspiel.load_game(name)
    rng, initial_states = np.random.default_rng(0), []
    for _ in range(64):
        state = game.new_initial_state()
        while state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=chances)))
        initial_states.append(state)
    query, running = (methodcaller("current_phase"), 1) if auction_only else (methodcaller("is_terminal"), False)
    rng = np.random.default_rng(1)

    def work() -> int:
        state = initial_states[int(rng.random() * len(initial_states))].clone()
        decisions = 0
        while query(state) == running:
            if not one or state.current_player() == 0:
                np.asarray(state.observation_tensor(state.current_player()), np.float32)
                decisions += 1
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
        return decisions

    return work


# ---- the run -----------------------------------------------------------------------------


@dataclass(frozen=True)
class Contestant:
    """One row of the table; ``make`` builds the work to be timed, if it can."""

    game: str  # of ours, also where another suite stands beside it
    form: str
    make: Callable[[], Work | None]
    reference: bool = False  # the row that ratios within its game are taken against
    learner: bool = False  # decisions of one seat are counted, those of the others are not


SPIEL, SPIEL_BRIDGE = "OpenSpiel from Python", "bridge(use_double_dummy_result=false)"
PEERS = (
    Contestant("bridge_bidding_v0", SPIEL, partial(_openspiel, SPIEL_BRIDGE, auction_only=True), True),
    Contestant("bridge_bidding_v0", SPIEL, partial(_openspiel, SPIEL_BRIDGE, True, True), True, True),
    Contestant("bridge_v0", SPIEL, partial(_openspiel, SPIEL_BRIDGE), True),
    Contestant("mini_hanabi_v0", "OpenSpiel tiny_hanabi", partial(_openspiel, "tiny_hanabi", one=True), True, True),
    Contestant("mini_hanabi_v0", "OpenSpiel tiny_hanabi from Python", partial(_openspiel, "tiny_hanabi"), True),
)


def ours(env_id: str) -> list[Contestant]:
    """The contestants of one of our games, one a form."""
    players = ("random", "sayc") if env_id == "bridge_bidding_v0" else ("random",)
    return [
        Contestant(env_id, "bidzoo batched", lambda: batched(env_id)),
        Contestant(env_id, "bidzoo env()", lambda: aec(make(env_id))),
        *(Contestant(env_id, f"bidzoo env(), {name} asked", partial(asked, env_id, name)) for name in players),
        Contestant(env_id, "gymnasium.make, one table", lambda: learner(env_id), learner=True),
        *(
            Contestant(env_id, f"gymnasium.make_vec, {tables} tables", partial(learners, env_id, tables), learner=True)
            for tables in (FEW, TABLES)
        ),
        Contestant(env_id, "raw_env in PettingZoo's wrappers", lambda: aec(standard_stack(make(env_id)))),
    ]


def main(
    seconds: float = 0.4,
    rounds: int = 5,
    games: list[str] | None = None,
    peers: bool = True,
    growth: bool = True,
    more: Sequence[Contestant] = (),
) -> Measured:
    """The tables, of all decisions, of a learner's and by tables and threads; and their figures.

    Args:
        seconds: length of a slice.
        rounds: slices of each contestant.
        games: ids, default all.
        peers: also measure OpenSpiel, where it is installed, and ``more``.
        growth: also measure the batched engine of the first game by tables and threads.
        more: contestants of the caller; ``experiments/other_suites.py`` has those of Pgx, RLCard and PettingZoo.

    Raises:
        ValueError: ``seconds`` is no length.
    """
    if not 0 < seconds < np.inf:
        raise ValueError(f"seconds {seconds}: expected a length of a slice, more than 0")
    game_ids = games or list(GAMES)
    contestants = [row for env_id in game_ids for row in ours(env_id)]
    contestants += [peer for peer in (*PEERS, *more) if peers and peer.game in game_ids]
    rows = [(contestant, work) for contestant in contestants if (work := contestant.make()) is not None]
    note = f"fastest of {rounds} slices of {seconds} s, in turn; batched: {TABLES} tables; {get_threads()} threads"
    speeds = dict(zip((row for row, _ in rows), _fastest([work for _, work in rows], seconds, rounds), strict=True))
    every = _table("Throughput: random legal actions, observations written", note, speeds, False)
    one = _table("Throughput of a learner among random players: its own decisions", note, speeds, True)
    shown_rows = [row for row in every.rows if row["times OpenSpiel"] is not None]
    bars = Figure(
        "Decisions a second beside OpenSpiel driven from Python, as powers of ten",
        "bars",
        [f"{row['game'].removesuffix('_v0')}: {row['form']}" for row in shown_rows],
        {"log10 of decisions/s": [math.log10(row["decisions/s"]) for row in shown_rows]},
        y_label="log10 of decisions/s",
    )
    tables, figures = [every, one], [bars] if shown_rows else []
    if growth:
        by_tables, curve = _growth(game_ids[0], seconds, rounds)
        tables, figures = [*tables, by_tables], [*figures, curve]
    return tables, figures


def _fastest(works: list[Work], seconds: float, rounds: int) -> list[tuple[float, float]]:
    """Decisions a second, by clock and by processor time, of each of ``works``."""
    for work in works:
        slice_of(work, 0.01)  # compiles
    slices = [[slice_of(work, seconds) for work in works] for _ in range(rounds)]
    return [(max(clock), max(cpu)) for clock, cpu in (zip(*each) for each in zip(*slices, strict=True))]


def _table(title: str, note: str, speeds: dict[Contestant, tuple[float, float]], learner: bool) -> ResultTable:
    table = ResultTable(title, ["game", "form", "decisions/s", "decisions/CPU s", "times OpenSpiel"], note=note)
    reference = {row.game: cpu for row, (_, cpu) in speeds.items() if row.reference and row.learner == learner}
    measured_rows = [(row, *speed) for row, speed in speeds.items() if row.learner == learner]
    for row, clock, cpu in sorted(measured_rows, key=lambda each: (each[0].game, -each[1])):
        table.add(row.game, row.form, clock, cpu, cpu / reference[row.game] if row.game in reference else None)
    return table


def _growth(env_id: str, seconds: float, rounds: int) -> tuple[ResultTable, Figure]:
    """The batched engine of ``env_id`` by tables and threads."""
    columns = ["tables", "threads", "decisions/s", "decisions/CPU s"]
    note = f"fastest of {rounds} slices of {seconds} s, in turn"
    table = ResultTable(f"Throughput of {env_id} by tables and threads", columns, note=note)
    counts = sorted({1, get_threads()})
    for tables in SIZES:
        works = [kernel_threads(count)(batched(env_id, tables)) for count in counts]
        for count, speed in zip(counts, _fastest(works, seconds, rounds), strict=True):
            table.add(tables, count, *speed)
    lines = {
        f"{count} thread{'s' if count > 1 else ''}": [
            math.log10(row["decisions/s"]) for row in table.rows if row["threads"] == count
        ]
        for count in counts
    }
    title = f"{env_id}: decisions a second by the number of tables, as powers of ten"
    sizes = [math.log10(size) for size in SIZES]
    return table, Figure(title, "line", sizes, lines, "log10 of tables", "log10 of decisions/s")


def slice_of(work: Work, seconds: float) -> tuple[float, float]:
    """Decisions a second, by clock and by processor time, of a slice of about so many ``seconds``."""
    begin, cpu = time.perf_counter(), time.process_time()
    decisions = work()
    while time.perf_counter() < begin + seconds:
        decisions += work()
    return decisions / (time.perf_counter() - begin), decisions / max(time.process_time() - cpu, 1e-9)

"""After ``bidzoo compile`` nothing that one can call starts a compiler: no entry makes a new file of a kernel.

Entries are enumerated from the registries of games and agents and from the command line, so a new one is asked too.
"""

import contextlib
import io
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bidzoo

pytestmark = pytest.mark.integration

SERVERS = {
    "play",
    "bluechip serve",
    "bluechip join",
}  # commands that wait for others; their tables are asked as sessions
MEASURE = {  # commands that measure or play for minutes: what they are made of is in the others
    *(f"bench {name}" for name in ("tabular", "spades", "bridge", "bridge-analysis", "bridge-cost")),
    *("exploit", "leaderboard verify", "leaderboard enter", "leaderboard rank"),
    *("deals import", "deals auctions"),  # which need files of others
}


@pytest.mark.timeout(3600)
def test_nothing_is_left_to_compile(tmp_path):
    """``bidzoo compile`` where nothing is kept, then every entry in one process that looks for files after each.

    ``BIDZOO_COMPILED`` is a package in which the command has just run, as CI has one.
    """
    made = os.environ.get("BIDZOO_COMPILED")
    kept = None if made else shutil.ignore_patterns("*.nb[ic]")
    shutil.copytree(made or Path(bidzoo.__file__).parent, tmp_path / "bidzoo", ignore=kept)
    given = {**os.environ, "PYTHONPATH": str(tmp_path), "BIDZOO_COMPILE": "now"}
    given.pop("NUMBA_CACHE_DIR", None)  # kernels lie beside the sources
    if not made:
        command = [sys.executable, "-m", "bidzoo", "compile"]
        subprocess.run(command, env=given, cwd=tmp_path, check=True, capture_output=True)
    done = subprocess.run([sys.executable, __file__], env=given, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    asked, compiled = json.loads(done.stdout.splitlines()[-1])
    assert asked > 100 and compiled == {}


# ---- the process that asks ------------------------------------------------------------------


def main() -> None:
    """Ask every entry, then print how many there are and what each of them compiled."""
    from bidzoo import agents, registry

    compiled, asked = {}, 0
    folder = Path(bidzoo.__file__).parent
    assert folder.parent == Path.cwd()
    known = kernels(folder)
    work = [(f"{env_id}: {use.__name__}", use, (env_id,)) for env_id in registry.GAMES for use in FORMS]
    work += [
        (f"{env_id}: {name}", agent, (env_id, name))
        for env_id in registry.GAMES
        for name in agents.AGENTS
        if env_id in agents.AGENTS[name].games and not agents.AGENTS[name].needs
    ]
    work += [(f"command {name}", command, words) for name, words in commands(Path.cwd()).items()]
    for title, use, arguments in work:
        with contextlib.redirect_stdout(io.StringIO()):
            use(*arguments)
        asked += 1
        if new := sorted(kernels(folder) - known):
            compiled[title] = new
            known.update(new)
            print(title, *new, sep="\n  ", file=sys.stderr, flush=True)
    print(json.dumps([asked, compiled]))


def kernels(folder: Path) -> set[str]:
    return {path.name for path in folder.rglob("*.nbc")}


def one_table(env_id: str) -> None:
    """PettingZoo's environment with every observation, and all that it shows."""
    import numpy as np

    from bidzoo import agents
    from bidzoo.core.streams import Streams

    for observation in bidzoo.make_game(env_id).encoders:
        env = bidzoo.make(env_id, observation=observation)
        env.reset(seed=1)
        env.reset(options={"board": 3})
        for _ in range(100):  # a whole game of Spades has thousands of turns
            if any(env.terminations.values()):
                break
            for each in env.possible_agents:
                env.observe(each), env.view(each)
            env.last(), env.state(), env.infos
            env.step(env.ask(agents.make("random")))
        env.last()
    view = env.view(env.possible_agents[1])
    env.game.determinize(view, Streams.at(0, np.zeros(1, np.int64), np.zeros(1, np.int64)).keys, env.game.new(1))
    for mode in ("ansi", "svg"):
        env.game.render(env._states[0], mode)
    bidzoo.check_agent("random", env_id, boards=2)


def batches(env_id: str) -> None:
    """``make_vec`` of sizes on both sides of what threads share, with every observation."""
    for observation in bidzoo.make_game(env_id).encoders:
        for tables in (3, 64, 300):
            batch = bidzoo.make_vec(env_id, tables, observation=observation)
            batch.reset(seed=1)
            for _ in range(30):
                batch.step(batch.action_mask.argmax(1))
            batch.state(), batch.views(), batch.game.deal_numbers(batch.boards, 1)


def gymnasium_forms(env_id: str) -> None:
    """Gymnasium's two forms among random players, and among functions, who are asked from Python."""
    import gymnasium

    name = bidzoo.registry.GAMES[env_id].gymnasium_id
    for opponents in ("random", lambda observation, mask: int(mask.argmax())):
        env = gymnasium.make(name, opponents=opponents)
        _, info = env.reset(seed=1)
        for _ in range(100):
            _, _, over, _, info = env.step(int(info["action_mask"].nonzero()[0][-1]))
            if over:
                _, info = env.reset()
        for tables in (3, 300):
            many = gymnasium.make_vec(name, num_envs=tables, opponents=opponents)
            _, info = many.reset(seed=1)
            for _ in range(30):
                info = many.step(info["action_mask"].argmax(1))[4]


def stable_baselines(env_id: str) -> None:
    """``SB3VecEnv``."""
    import numpy as np

    from bidzoo.wrappers.gymnasium import single_agent_vector
    from bidzoo.wrappers.sb3 import SB3VecEnv

    env = SB3VecEnv([single_agent_vector(env_id, 8), single_agent_vector(env_id, 8, learner=1)])
    env.reset()
    for _ in range(30):
        env.step(np.stack(env.env_method("action_masks")).argmax(1))
    env.close()


def openspiel(env_id: str) -> None:
    """The game in OpenSpiel, and our random player as its bot."""
    import numpy as np
    import pyspiel

    from bidzoo.wrappers.openspiel import NAMES

    state = pyspiel.load_game(NAMES[env_id]).new_initial_state()
    rng = np.random.default_rng(1)
    while not state.is_terminal():
        if not state.is_chance_node():
            state.information_state_string(), state.clone()
        state.apply_action(int(rng.choice(state.legal_actions())))
    state.returns()


def session(env_id: str) -> None:
    """A table on screen, with thoughts of the agents."""
    from bidzoo.play import api
    from bidzoo.play.catalog import OFFERS
    from bidzoo.play.session import Session

    table = Session()
    table.start(env_id, seats=["random"] * len(OFFERS[env_id].seats), seed=5, board=7)
    while not table.position().over:
        table.agent_turn(table.cursor)
    for cursor in range(len(table.actions)):
        table.go(cursor)
        api.page(table)


def words(env_id: str) -> None:
    """What a language model reads."""
    from bidzoo import language

    env = bidzoo.make(env_id)
    env.reset(seed=1)
    view = env.view(env.agent_selection)[0]
    language.rules(env.game), language.situation_text(env.game, view)


def learners(env_id: str) -> None:
    """Boards that ``bidzoo train`` and ``bidzoo exploit`` learn from."""
    import numpy as np

    from bidzoo import agents
    from bidzoo.agents.bridge import network, selfplay
    from bidzoo.agents.spades import policy_iteration

    if env_id == "bridge_bidding_v0":
        game = bidzoo.make_game(env_id, observation="bidder1375")
        actor = selfplay.actor(network.module_of(network.packaged_network("rpi")), game.encoder)
        selfplay.play(game, np.arange(300), 1, actor, agents.make("sayc"), np.arange(300) % 3, 1)
    elif env_id == "spades_v0":
        sides = agents.make("learned"), agents.make("bis")
        policy_iteration.collect(policy_iteration.Options(), sides, policy_iteration.both_ways(4), 1)


FORMS = one_table, batches, gymnasium_forms, stable_baselines, openspiel, session, words, learners


def agent(env_id: str, name: str) -> None:
    """An agent at one table, in a match of many boards, explaining, and in ``bidzoo.bridge.call``."""
    import numpy as np

    from bidzoo import agents, bridge
    from bidzoo.agents.explanation import explained
    from bidzoo.benchmarks.match import duplicate, play, slow
    from bidzoo.cli.compiling import briefly
    from bidzoo.core.streams import Streams

    policy, game = briefly(name), bidzoo.make_game(env_id)
    env = bidzoo.make(env_id)
    env.reset(seed=1)
    for _ in range(3):
        env.step(env.ask(policy))
        if any(env.terminations.values()):
            env.reset()
    view = env.view(env.agent_selection)
    explained(policy, view, env._out.mask.copy(), Streams.at(1, view["board"].astype(np.int64), game.clock(view)))
    sizes = (1,) if slow([policy]) else (2, 300)
    for boards in sizes:
        play(game, [policy] * game.num_players, np.arange(boards))
        if env_id.startswith("bridge"):
            duplicate(game, policy, agents.make("random"), np.arange(boards))
    if env_id == "bridge_bidding_v0":
        bridge.call(policy, "AKQ2.AKQ.AKQ2.A2", calls="P", explain=True)


def commands(folder: Path) -> dict[str, tuple[str, ...]]:
    """Every command with small arguments, but those that train; KeyError for one that nobody has named here."""
    import typer

    from bidzoo.cli.main import app

    arguments = {
        "compile": ("mini_hanabi", "--workers", "1"),
        "show": ("1",),
        "match": ("sayc", "sl", "--boards", "4", "--out", str(folder / "match.jsonl"), "--workers", "1"),
        "check": ("sl",),
        "replay": (str(folder / "match.jsonl"),),
        "report": (str(folder / "match.jsonl"), "--out", str(folder / "report.html")),
        "list": (),
        "bench throughput": ("--seconds", "0.001", "--rounds", "1"),
        "leaderboard challenges": (),
        "deals generate": ("3", "--out", str(folder / "deals.npz"), "--workers", "1"),
        "deals estimate": ("3", "--out", str(folder / "estimated.npz")),
        "deals info": (str(folder / "deals.npz"),),
    }
    names, todo = [], [((), typer.main.get_command(app))]
    for name, each in todo:  # which grows
        todo += [((*name, word), sub) for word, sub in getattr(each, "commands", {}).items()]
        if not hasattr(each, "commands"):
            names.append(" ".join(name))
    return {
        name: (name, *arguments[name])
        for name in names
        if name not in SERVERS | MEASURE and not name.startswith("train ")
    }


def command(name: str, *words: str) -> None:
    from typer.testing import CliRunner

    from bidzoo.cli.main import app

    done = CliRunner().invoke(app, [*name.split(), *words])
    if done.exit_code:
        raise RuntimeError(f"{name}: {done.output}") from done.exception


if __name__ == "__main__":
    main()

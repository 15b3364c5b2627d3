"""``bidzoo compile``: every kernel of games and agents, before anybody waits for one."""

import os
import tempfile
import time
from typing import TYPE_CHECKING, Annotated, cast

import typer

from bidzoo.cli.showing import counted, progress, say
from bidzoo.cli.stopping import going_on
from bidzoo.core.compiling import POLICIES, VARIABLE, few_collections
from bidzoo.core.jobs import Meter, meanwhile
from bidzoo.core.kernels import MANY

if TYPE_CHECKING:
    from bidzoo.agents.policy import Policy
    from bidzoo.envs.game import Game

ROWS = MANY  # tables of a batch: from this size on kernels take the code path of large batches
LONGEST = ("bridge", "spades")
BRIEF = {"iterations": 2, "epochs": 1, "updates": 1, "worlds": 1}  # options of agents who solve or search long

Work = tuple[str, str | None]  # a game, one of its agents
SECONDS = {  # of a processor where nothing is kept, about; of all others one
    ("bridge_bidding_v0", None): 26,
    ("bridge_bidding_v0", "sayc"): 21,
    ("bridge_bidding_v0", "bmcs"): 5,
    ("bridge_bidding_v0", "sl"): 3,
    ("bridge_bidding_v0", "expert-sayc"): 3,
    ("spades_v0", None): 19,
}


def compile_kernels(
    games: Annotated[list[str] | None, typer.Argument(help="Games and their agents; default: all.")] = None,
    workers: Annotated[int | None, typer.Option(min=1, help="Number of processes; default: one per core.")] = None,
) -> None:
    """Compile all kernels into numba's cache, for images and clusters; existing ones are kept."""
    from bidzoo import registry
    from bidzoo.core import jobs, threads

    began = time.perf_counter()
    os.environ[VARIABLE] = POLICIES[1]  # nobody is told to use this command
    game_ids = {registry.game_id(name) for name in games} if games else set(registry.loadable())
    parts = apart([item for item in everything() if item[0] in game_ids])
    with tempfile.TemporaryDirectory() as folder, progress() as report:
        meter = Meter(folder, {_name(item): SECONDS.get(item, 1) for part in parts for item in part})
        with (
            going_on("the kernels that are done"),
            meanwhile(lambda _: report("compiling, seconds of one processor", *meter.read()), 0, 0.5),
        ):
            work = [(meter, *part) for part in parts]
            for _ in jobs.as_completed(use_all, work, workers or threads.cores(), "loky"):
                pass
    say(f"kernels of {counted(len(game_ids), 'game')} and of their agents: {time.perf_counter() - began:.0f} s")


def everything() -> list[Work]:
    """All games, and each with all its agents."""
    from bidzoo import agents, registry

    played = [(env_id, name) for env_id in registry.GAMES for name in agents.AGENTS]
    played = [(env_id, name) for env_id, name in played if env_id in agents.AGENTS[name].games]
    return [*((env_id, None) for env_id in registry.entries()), *played]


def apart(work: list[Work]) -> list[tuple[Work, ...]]:
    """``work`` in parts that share no kernels, or two processes would compile the same; the longest first."""
    parts: dict[str, tuple[Work, ...]] = {}
    for env_id, name in work:
        kind = env_id.partition("_")[0]  # both games of bridge have its auction
        parts[kind] = (*parts.get(kind, ()), (env_id, name))
    return [parts[kind] for kind in sorted(parts, key=lambda kind: (*LONGEST, kind).index(kind))]


def use_all(meter: Meter, *part: Work) -> None:
    """Call ``use`` for each game and agent of ``part``."""
    for item in part:
        with meter.measure(_name(item)), few_collections():
            use(*item)


def _name(item: Work) -> str:
    return "-".join(filter(None, item))


def use(env_id: str, name: str | None) -> None:
    """Play ``env_id``, in every form, or with agent ``name`` if one is given: what is called is compiled."""
    import numpy as np

    from bidzoo import bridge, registry
    from bidzoo.agents.bridge.evaluator import Evaluator, estimated_deals
    from bidzoo.agents.explanation import explained
    from bidzoo.benchmarks.match import play, slow
    from bidzoo.core.compiling import wait_always
    from bidzoo.core.streams import Streams
    from bidzoo.envs.bridge.score import par

    wait_always()
    game, policy = registry.make_game(env_id), briefly(name or "random")
    if name is None:
        use_rules(game)
        use_learners(game)
    play(game, [policy] * game.num_players, np.arange(1 if slow([policy]) else ROWS))
    env = registry.make(env_id)
    env.reset(seed=0)
    env.step(env.ask(policy))
    for turn in range(1, 5):
        observation, _, over, _, _ = env.last()
        if over:
            break
        if turn in (1, 4):  # a bid; in Spades a card, too
            view = env.view(env.agent_selection)
            explained(policy, view, observation["action_mask"][None], Streams.at(0, view["board"]))
        env.step(int(observation["action_mask"].argmax()))
    if env_id == "bridge_bidding_v0":
        bridge.call(policy, "AKQ2.AKQ.AKQ2.A2", calls="P", explain=True)
        if name is None:
            par(estimated_deals(Evaluator(), 0, 2).tricks, 0, 0)  # as the commands of deals do


def briefly(name: str) -> "Policy":
    """The agent, with ``BRIEF`` where it has such options."""
    from bidzoo import agents

    return agents.make(name, **{option: BRIEF[option] for option in agents.options(name) if option in BRIEF})


def use_rules(game: "Game") -> None:
    """Call all that ``game`` has: batches, one table to its end, a learner among random players and among others."""
    import numpy as np

    from bidzoo import registry
    from bidzoo.agents.policy import FunctionPolicy, Uniform
    from bidzoo.core.streams import Streams
    from bidzoo.wrappers.batch import Batch
    from bidzoo.wrappers.gymnasium import SingleAgent, SingleAgentVector

    if game.encoder.bits:
        packed = Batch(game, ROWS, packed=True)
        packed.reset()
        packed.step(packed.action_mask.argmax(1))
    batch, players = Batch(game, ROWS), range(1, game.num_players)
    batch.reset()
    batch.state()
    game.deal_numbers(batch.boards, 0)
    views = batch.views()
    for encoder in game.encoders.values():
        encoder(views)
    if game.id in registry.GAMES:  # one from outside may know no other deals
        game.determinize(views, Streams.at(0, batch.boards).keys, game.new(ROWS))
        states, out = game.start(0)
        game.fix(states, {"types": (0, 0)}, out)
    for other in (Uniform(), FunctionPolicy(lambda observation, mask: int(mask.argmax()), game.encoder)):
        learner = SingleAgent(game, [None, *(other for _ in players)], render_mode="ansi")
        _, info = learner.reset(seed=0)
        while not learner.step(int(info["action_mask"].argmax()))[2]:
            info = {"action_mask": learner.action_masks()}
        learner.render()
        many = SingleAgentVector(game, ROWS, [None, *(other for _ in players)])
        _, info = many.reset(seed=0)
        over = np.zeros(ROWS, np.bool_)
        while not over.any():
            _, _, over, _, info = many.step(info["action_mask"].argmax(1))
        many.step(info["action_mask"].argmax(1))


def use_learners(game: "Game") -> None:
    """Play what ``bidzoo train`` and ``bidzoo exploit`` learn from in ``game``."""
    import numpy as np

    from bidzoo import agents
    from bidzoo.agents.bridge import selfplay
    from bidzoo.agents.spades import policy_iteration
    from bidzoo.agents.spades.policy import SpadesPolicy
    from bidzoo.benchmarks.auctions import record
    from bidzoo.envs.bridge.formats.auctions import Positions
    from bidzoo.envs.bridge.game import Bridge

    if game.id == "bridge_bidding_v0":
        bridge = cast(Bridge, game)
        lowest = selfplay.Actor(bridge.encoder, lambda decisions, numbers: decisions.call.fill(0))
        selfplay.play(bridge, np.arange(2), 0, lowest, lowest, np.full(2, selfplay.BOTH), 0)
        positions = Positions(record(agents.make("sayc"), 2), np.arange(2))
        positions.at(np.arange(len(positions)))
    elif game.id == "spades_v0":
        players = cast(SpadesPolicy, agents.make("learned")), cast(SpadesPolicy, agents.make("rb"))
        policy_iteration.collect(policy_iteration.Options(), players, policy_iteration.both_ways(2), 0)

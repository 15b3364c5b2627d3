"""Other suites in the throughput benchmark; a peer that is not installed is left out."""

import contextlib
import io
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from operator import methodcaller
from pathlib import Path
from typing import Any

import numpy as np

Work = Callable[[], int]  # plays a little, returns the decisions taken


@dataclass(frozen=True)
class Peer:
    """``make`` builds the work to be timed, or gives None where the suite is not installed."""

    game: str  # the game of ours it stands beside
    name: str
    make: Callable[[], Work | None]
    reference: bool = False


def _spiel_loop(dealt: list[Any], question: str, answer: object) -> Work:
    """Random play from states with every card dealt while ``state.<question>()`` is ``answer``; all observed."""
    rng, asked = np.random.default_rng(1), methodcaller(question)

    def work() -> int:
        state = dealt[int(rng.random() * len(dealt))].clone()
        decisions = 0
        while asked(state) == answer:
            np.asarray(state.observation_tensor(state.current_player()), np.float32)
            legal = state.legal_actions()
            state.apply_action(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return work


def _openspiel(name: str, auction_only: bool = False) -> Work | None:
    if find_spec("pyspiel") is None:
        return None
    import pyspiel

    game = pyspiel.load_game(name)
    rng, dealt = np.random.default_rng(0), []
    for _ in range(64):
        state = game.new_initial_state()
        while state.is_chance_node():
            actions, chances = zip(*state.chance_outcomes(), strict=True)
            state.apply_action(int(rng.choice(actions, p=chances)))
        dealt.append(state)
    return _spiel_loop(dealt, "current_phase", 1) if auction_only else _spiel_loop(dealt, "is_terminal", False)


def _pgx_table(path: Path) -> None:
    """Our packaged deals in the file format that Pgx reads: base-4 digits a suit, hex digits a declarer."""
    from bidzoo.cards import TO_PGX
    from bidzoo.envs.bridge.deals import packaged

    deals = packaged("test")
    owner = np.zeros((len(deals.hands), 52), np.int64)
    for card in range(52):
        for seat in range(4):
            owner[(deals.hands[:, seat] >> card & 1).astype(bool), TO_PGX[card]] = seat
    keys = (owner.reshape(-1, 4, 13) * 4 ** np.arange(12, -1, -1)).sum(2)
    values = (deals.tricks.reshape(-1, 4, 5).astype(np.int64) * 16 ** np.arange(4, -1, -1)).sum(2)
    np.save(path, np.stack([keys, values]).astype(np.int32))


def _pgx(tables: int = 4096) -> Work | None:
    if find_spec("pgx") is None:
        return None
    import jax
    import jax.numpy as jnp
    from pgx.bridge_bidding import BridgeBidding

    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        _pgx_table(Path(folder) / "table.npy")
        env = BridgeBidding(f"{folder}/table.npy")
    from pgx.experimental.wrappers import auto_reset

    step = jax.vmap(auto_reset(env.step, env.init))

    def turns(state: Any, key: Any) -> Any:
        def turn(state: Any, key: Any) -> Any:
            choose, deal = jax.random.split(key)
            scores = jax.random.uniform(choose, state.legal_action_mask.shape) * state.legal_action_mask
            return step(state, jnp.argmax(scores, axis=1), jax.random.split(deal, tables)), None

        return jax.lax.scan(turn, state, jax.random.split(key, 16))[0]

    compiled = jax.jit(turns)
    held = [jax.jit(jax.vmap(env.init))(jax.random.split(jax.random.PRNGKey(0), tables)), jax.random.PRNGKey(1)]

    def work() -> int:
        held[1], key = jax.random.split(held[1])
        held[0] = jax.block_until_ready(compiled(held[0], key))
        return 16 * tables

    return work


def _rlcard() -> Work | None:
    if find_spec("rlcard") is None:
        return None
    import rlcard

    env = rlcard.make("bridge", config={"seed": 1})
    rng = np.random.default_rng(1)

    def work() -> int:
        state, _ = env.reset()
        decisions = 0
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rng.random() * len(legal))])
            decisions += 1
        return decisions

    return work


def _classic(module: str) -> Work | None:
    """A PettingZoo classic environment in its own standard wrappers, by ``last`` and ``step``."""
    try:
        from importlib import import_module

        env = import_module(f"pettingzoo.classic.{module}").env()
    except ImportError:
        return None
    rng = np.random.default_rng(1)

    def work() -> int:
        env.reset(seed=1)
        decisions = 0
        while True:
            observation, _, terminated, truncated, _ = env.last()
            if terminated or truncated:
                return decisions
            legal = observation["action_mask"].nonzero()[0]
            env.step(legal[int(rng.random() * len(legal))])
            decisions += 1

    return work


PEERS = (
    Peer(
        "bridge_bidding_v0",
        "OpenSpiel from Python",
        lambda: _openspiel("bridge(use_double_dummy_result=false)", auction_only=True),
        True,
    ),
    Peer("bridge_bidding_v0", "Pgx, 4096 tables, JAX on CPU", _pgx),
    Peer("bridge_bidding_v0", "PettingZoo classic connect_four", lambda: _classic("connect_four.connect_four")),
    Peer(
        "bridge_v0",
        "OpenSpiel from Python",
        lambda: _openspiel("bridge(use_double_dummy_result=false)"),
        True,
    ),
    Peer("bridge_v0", "RLCard bridge", _rlcard),
    Peer("mini_hanabi_v0", "OpenSpiel tiny_hanabi from Python", lambda: _openspiel("tiny_hanabi"), True),
)

"""Golden: every game in every form, played by seeded random legal actions."""

import gymnasium
import numpy as np
import pytest

import bidzoo

LOCAL = {f"pixels {env_id}": ("pillow",) for env_id in bidzoo.available()}

BRIDGE_ENCODERS = bidzoo.make_game("bridge_bidding_v0").encoders
SPADES_GAME = {"win_goal": 150, "max_rounds": 3}
CONFIGURATIONS = {  # name: id and options
    **{f"bridge_bidding {name}": ("bridge_bidding_v0", {"observation": name}) for name in BRIDGE_ENCODERS},
    **{f"bridge {name}": ("bridge_v0", {"observation": name}) for name in BRIDGE_ENCODERS},
    "bridge_bidding par": ("bridge_bidding_v0", {"reward": "par", "deals": "test"}),
    "bridge_bidding duplicate": ("bridge_bidding_v0", {"reward": "duplicate", "reward_scale": 24.0}),
    "bridge_bidding as it stands": (
        "bridge_bidding_v0",
        {"deals": "validation", "augment": False, "shuffle": False, "reward_scale": 100.0},
    ),
    "bridge duplicate": ("bridge_v0", {"reward": "duplicate"}),
    "bridge par": ("bridge_v0", {"reward": "par", "deals": "train", "augment": False}),
    "spades game": ("spades_v0", SPADES_GAME),
    "spades round": ("spades_v0", {"phase": "round", "reward": "points"}),
    "spades bidding observation": ("spades_v0", {"phase": "round", "observation": "bidding"}),
    **{
        f"spades bidding {player}": ("spades_v0", {"phase": "bidding", "player": player, **SPADES_GAME})
        for player in ("srp", "wrp", "random")
    },
    "spades bidding one round": ("spades_v0", {"phase": "bidding", "episode": "round", "observation": "full"}),
    **{
        f"spades {variant}": ("spades_v0", {"variant": variant, **SPADES_GAME})
        for variant in ("cutthroat", "mirror", "whiz", "suicide")
    },
    **{f"spades {deck}": ("spades_v0", {"deck": deck, "phase": "round"}) for deck in ("jokers", "jokers_deuces")},
    "spades blind nil": (
        "spades_v0",
        {"blind_nil": True, "bag_penalty": 100, "failed_nil": "partner", "lose_goal": -100, **SPADES_GAME},
    ),
    "spades blind nil cutthroat": (
        "spades_v0",
        {"blind_nil": True, "blind_deficit": 50, "variant": "cutthroat", "failed_nil": "nothing", **SPADES_GAME},
    ),
    **{f"comm {length}": ("comm_v0", {"length": length}) for length in (2, 3, 5)},
    **{f"simple_bidding {size}": ("simple_bidding_v0", {"size": size}) for size in (4, 5, 8, 16)},
    **{f"minibridge {size}": ("minibridge_v0", {"size": size}) for size in (2, 3, 4, 5, 7)},
    "mini_hanabi": ("mini_hanabi_v0", {}),
}
OPPONENTS = {"bridge_bidding_v0": "sayc", "bridge_v0": "random", "spades_v0": "bis"}  # else: exact
FIXED = {  # ``reset`` options
    "bridge_bidding_v0": {"board": 5, "dealer": "E", "vulnerability": "both"},
    "bridge_v0": {"board": 7, "dealer": "S", "vulnerability": "ew"},
    "spades_v0": {"dealer": "W", "scores": [120, -35]},
}


def chosen(mask, rng):
    """A legal action of each row of ``mask`` ``[B, A]``; low ones more often, so that bids do not run away."""
    order = rng.random(mask.shape)
    order[:, :3] **= 0.2
    return (order * mask).argmax(1)


def aec(env_id, options):
    """Two episodes as PettingZoo sees them, every agent at every step; then an illegal action."""
    env = bidzoo.make(env_id, render_mode="ansi", **options)
    svg = bidzoo.make(env_id, render_mode="svg", **options)
    rng = np.random.default_rng(7)
    parts = {name: [] for name in ("observations", "flow", "states", "texts", "pictures", "explained")}
    fixed = FIXED.get(env_id, {"board": 2})
    if options.get("variant") == "cutthroat":
        fixed = {"dealer": "W", "scores": [10, 125, -30, 7]}
    for start in ({"seed": 11}, {}, {"seed": 3, "options": fixed}):
        env.reset(**start)
        svg.reset(**start)
        steps = 0
        while True:
            live, agent = not any(env.terminations.values()), env.agent_selection
            parts["observations"] += [[*env.observe(one).values()] for one in env.possible_agents]
            parts["flow"].append(
                [agent, env.agents, env.rewards, env.terminations, env.truncations, env.infos, env.last(False)]
            )
            parts["states"].append(env.state())
            if steps % 8 == 0 or not live:
                parts["texts"].append(env.render())
                parts["pictures"].append(svg.render())
                parts["explained"].append(env.game.encoder.explain(env.observe(agent)["observation"]))
                parts["explained"].append(env.game.state_encoder.explain(env.state()))
            if not live:
                break
            action = int(chosen(env.infos[agent]["action_mask"][None], rng)[0])
            env.step(action)
            svg.step(action)
            steps += 1
        while env.agents:
            parts["flow"].append(list(env.last(observe=False)[1:4]))
            env.step(None)
    env.reset(seed=5)
    env.step(int(env.infos[env.agent_selection]["action_mask"].argmin()))
    parts["flow"].append([env.rewards, env.terminations, env.infos])
    parts["spaces"] = [repr(env.observation_space("player_0")), repr(env.action_space("player_0")), repr(env), str(env)]
    return parts


def batch(env_id, options, tables=48, steps=150, seeds=(0, 1, 2**40)):
    """All buffers of the batched engine, with automatic deals; views and states now and then."""
    engine = bidzoo.make_vec(env_id, tables, **options)
    rng = np.random.default_rng(9)
    parts = {name: [] for name in ("player", "observation", "action_mask", "reward", "terminated", "boards", "views")}
    states = []
    for seed in seeds:
        engine.reset(seed)
        for step in range(steps):
            for name in parts.keys() - {"views"}:
                parts[name].append(getattr(engine, name).copy())
            if step % 10 == 0:
                parts["views"].append(engine.views())
                states.append(engine.state())
            engine.step(chosen(engine.action_mask, rng))
    return {**parts, "states": states, "encoded": [list(engine.game.encoders)]}


def rules(env_id, options):
    """What a game says of itself: names, sizes, layouts, words of every action."""
    game = bidzoo.make_game(env_id, **options)
    texts = []
    for action in range(game.num_actions):
        try:
            texts.append(game.action_text(action))
            texts.append(game.action_number(texts[-1]))
        except ValueError as problem:
            texts.append(str(problem))
    encoders = [*game.encoders.values(), game.state_encoder]
    return {
        "game": [str(game), repr(game), game.num_players, game.num_actions, game.max_turns, game.utility],
        "range": [list(game.reward_range), [list(game.allies(p)) for p in range(game.num_players)]],
        "actions": texts,
        "layouts": [[one.name, one.layout.size, one.layout.markdown()] for one in encoders],
    }


def determinized(env_id, options):
    """Deals that fit what one seat knows, drawn in the middle of play."""
    engine = bidzoo.make_vec(env_id, 40, **options)
    engine.reset(4)
    rng = np.random.default_rng(2)
    states = []
    for step in range(40):
        engine.step(chosen(engine.action_mask, rng))
        if step % 4 == 3:
            worlds, keys = engine.game.new(40), rng.integers(0, 2**63, 40).astype(np.uint64)
            engine.game.determinize(engine.views(), keys, worlds)
            states.append(engine.game.state_encoder(worlds))
    return {"states": states}


def gym_id(env_id):
    return next(name for name, spec in gymnasium.registry.items() if spec.kwargs.get("env_id") == env_id)


def single(env_id, opponents, learner):
    """One learner in Gymnasium, 300 steps, one of them illegal."""
    env = gymnasium.make(gym_id(env_id), opponents=opponents, learner=learner, render_mode="ansi", **small(env_id))
    rng = np.random.default_rng(3)
    flow = [env.reset(seed=6)]
    for step in range(200):
        masks = env.unwrapped.action_masks()
        action = int(masks.argmin()) if step == 50 else int(chosen(masks[None].astype(np.int8), rng)[0])
        flow.append([action, masks, *env.step(action)])
        if flow[-1][4]:
            flow.append(env.render())
            flow.append(env.reset())
    return {"flow": flow}


def vector(env_id, opponents, learner):
    """The same at 24 tables, as a VectorEnv."""
    env = gymnasium.make_vec(gym_id(env_id), 24, opponents=opponents, learner=learner, **small(env_id))
    rng = np.random.default_rng(4)
    flow = [env.reset(seed=8)]
    for _ in range(60):
        flow.append(env.step(chosen(env.unwrapped.action_masks().astype(np.int8), rng)))
    return {"flow": flow, "state": env.unwrapped.state()}


def small(env_id):
    return {"max_rounds": 2} if env_id == "spades_v0" else {}


def openspiel(name, episodes=3):
    """States, observations and texts of OpenSpiel's form, with states resampled from an information set."""
    import pyspiel

    import bidzoo.wrappers.openspiel  # noqa: F401  registers the games

    game = pyspiel.load_game(name)
    rng = np.random.default_rng(5)
    kind = game.get_type()
    known = [game.num_distinct_actions(), game.max_chance_outcomes(), game.num_players(), game.max_game_length()]
    about = [str(game), kind.long_name, *known, game.min_utility(), game.max_utility(), kind.parameter_specification]
    texts, numbers = [], []
    for _ in range(episodes):
        state, steps = game.new_initial_state(), 0
        while not state.is_terminal():
            texts.append(str(state))
            for player in range(game.num_players() if not state.is_chance_node() and steps % 3 == 0 else 0):
                texts.append(state.observation_string(player))
                numbers.append(state.observation_tensor(player))
                texts.append(state.information_state_string(player))
                if kind.provides_information_state_tensor:
                    numbers.append(state.information_state_tensor(player))
                if steps % 9 == 0:
                    texts.append(str(state.resample_from_infostate(player, rng.random)))
            legal = state.legal_actions()
            texts.append([state.action_to_string(state.current_player(), action) for action in legal[:60]])
            numbers.append([state.current_player(), legal])
            state.apply_action(legal[int(rng.integers(len(legal)) ** rng.choice([0.5, 1.0]))])
            steps += 1
        texts.append(str(state))
        numbers.append([state.returns(), state.history()])
    return {"about": about, "texts": texts, "numbers": numbers}


def pixels(env_id):
    """Pictures of a game as Pillow draws them, after up to three actions."""
    pictures = []
    env = bidzoo.make(env_id, render_mode="rgb_array")
    env.reset(seed=1)
    for _ in range(3):
        if not any(env.terminations.values()):
            env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
            pictures.append(env.render())
    return {"pixels": pictures}


def cases():
    found = {}
    for name, (env_id, options) in CONFIGURATIONS.items():
        found[f"aec {name}"] = lambda a=env_id, b=options: aec(a, b)
        found[f"batch {name}"] = lambda a=env_id, b=options: batch(a, b)
        found[f"rules {name}"] = lambda a=env_id, b=options: rules(a, b)
        if "observation" not in options:
            found[f"determinized {name}"] = lambda a=env_id, b=options: determinized(a, b)
    for env_id in bidzoo.available():
        other = OPPONENTS.get(env_id, "exact")
        found[f"defaults {env_id}"] = lambda a=env_id: batch(a, {}, tables=300, steps=70, seeds=(12,))
        found[f"gymnasium {env_id}"] = lambda a=env_id: single(a, "random", 0)
        found[f"gymnasium {env_id} {other}"] = lambda a=env_id, b=other: single(a, b, 1)
        found[f"vector {env_id}"] = lambda a=env_id: vector(a, "random", 1)
        found[f"vector {env_id} {other}"] = lambda a=env_id, b=other: vector(a, b, 0)
        found[f"pixels {env_id}"] = lambda a=env_id: pixels(a)
    for name in ("comm(length=2)", "simple_bidding", "minibridge(size=3)", "mini_hanabi", "bridge_bidding", "bridge"):
        found[f"openspiel {name}"] = lambda a=name: openspiel(f"python_bidzoo_{a}")
    found["openspiel spades"] = lambda: openspiel("python_bidzoo_spades")
    found["openspiel par"] = lambda: openspiel("python_bidzoo_bridge_bidding(reward=par,deals=test,boards=20,seed=3)")
    return found


CASES = cases()


@pytest.mark.parametrize("name", CASES)
def test_unchanged(name, unchanged):
    unchanged(name)

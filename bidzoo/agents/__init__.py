"""Agents by name. Entries are strings: an agent is imported when it is made.

Wherever an agent's name goes, so do

- ``package.module:Name``: a class or a function that makes an agent, an agent, or a plain function
  ``(observation, mask) -> action``
- a file of weights that ``bidzoo train`` wrote; its metadata say what plays them
- either with options of its own: ``"bmcs(policy=rl, deals=uniform)"``
- either with another name in results: ``mine=package.module:Name``

Installed packages announce agents under the entry points ``bidzoo.agents``: ``name = "package.module:Name"``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, partial
from inspect import Parameter, getdoc, isbuiltin, isclass, isroutine, signature
from pathlib import Path
from re import fullmatch
from typing import TYPE_CHECKING, Any, Literal, TypeGuard

from bidzoo import registry
from bidzoo.core import plugins
from bidzoo.core.options import UnknownOptionError, check_options, choose_from, is_plain, literal, options_of, words_of
from bidzoo.core.schema import csv_rows, json_value

if TYPE_CHECKING:
    from bidzoo.agents.policy import Agent, Policy
    from bidzoo.envs.game import Game

_Experts = Literal["expert-sayc", "expert-21gf", "expert-polish", "expert-acol", "expert-light"]
_Searches = Literal["bmcs", "bmcs-sl", "rpi-bmcs", "bmcs-weighted", "rl-mcs"]
_Learned = Literal["a2c-bridge", "jps-bridge", "baseline19", "baseline16", "pbl"]
_Bridge = Literal["sl", "sl-wide", "sl-small", _Experts, "rl", "ppo", "rpi", _Searches, "pi", "pi-search", _Learned]
_Spades = Literal["bis", "rb", "ms", "io", "srp", "wrp", "uct", "learned", "learned-search"]
_Small = Literal["cfr", "jps", "bad", "a2c", "exact"]
AgentName = Literal["random", "pass", "sayc", _Bridge, _Spades, _Small]  # for editors; other names can be registered


@dataclass(frozen=True)
class Entry(plugins.Entry):
    """Where an agent lives, what it is and what it plays; its target is called with the options of ``make``."""

    games: tuple[str, ...] = ()  # ids; empty if it does not say
    family: str = ""  # of games (``Game.family``), all of which it plays; "all": any game
    group: str = "from other packages"  # of ``GROUPS``
    paper: str = ""
    needs: str = ""  # of the game, beside being one of ``games``

    def plays(self, game: str | Game) -> bool:
        """Whether it plays that game, an id or the game itself; an agent of a family plays games from outside too."""
        if not self.games or self.family == "all" or (game if isinstance(game, str) else game.id) in self.games:
            return True
        return bool(self.family) and self.family == registry.family_of(game)


BRIDGE = registry.of_family(*registry.BRIDGE_FAMILIES)
SMALL = registry.of_family("signalling")
EVERYTHING = tuple(registry.GAMES)


GROUPS = ("recommended", "papers' recipes", "yardsticks", "ablations")
DATA = Path(__file__).parents[1] / "data"


def _own() -> dict[str, Entry]:
    """The agents of ``data/agents.csv``."""
    return {
        row.pop("name"): Entry(
            f"bidzoo.agents.{row.pop('target')}",
            games=EVERYTHING if row["family"] == "all" else registry.of_family(row["family"]),
            **row,
        )
        for row in csv_rows(DATA / "agents.csv")
    }


AGENTS = _own()

CALLS = "bidzoo bridge network 1"  # ``network.Network.form``
WEIGHTS = {  # other forms of weights, and which agent plays them
    "bidzoo bridge baseline19 1": "baseline19",
    "bidzoo bridge baseline16 1": "baseline16",
    "bidzoo bridge pbl 1": "pbl",
    "bidzoo spades learned 1": "learned",
}

NAMES = plugins.Names("agent", AGENTS, lambda name, path, source: Entry(path, "", source), r"[\w.+-]+", "use {path}")


# ---- which agent a text means --------------------------------------------------------------


def available() -> tuple[str, ...]:
    """Every name ``make`` accepts: those of bidzoo, those registered, those announced by installed packages."""
    return tuple(NAMES.look())


def entries() -> dict[str, Entry]:
    """Every agent by name. Those of other packages are imported for their summary and games."""
    return {name: _listed(found) for name, found in NAMES.look().items()}


def entry(text: str, game: str | Game | None = None) -> Entry:
    """The agent that ``text`` means (see the module); a file is opened, a package not imported.

    ``game``, an id or the game itself, restricts the choices that an error names to agents that play it.

    Raises:
        KeyError: no agent of that name; names the nearest and the choices.
        FileNotFoundError, ValueError: no such file, or one that is no agent's weights; a file of code.
    """
    found = NAMES.known().get(text) or NAMES.look().get(text)
    if found is not None:
        return found
    code_file = fullmatch(r"(.+)\.py(?::(.*))?", text)
    if code_file:
        file = Path(code_file[1])
        module = ".".join(file.parts) if all(part.isidentifier() for part in file.parts) else file.name
        raise ValueError(f"agent {text!r}: expected a module and a name in it, '{module}:{code_file[2] or 'Name'}'")
    if fullmatch(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", text):
        return Entry(text, "", text)
    if text.count("(") != text.count(")") and not os.path.exists(text):
        raise ValueError(f"agent {text!r}: its brackets do not match, expected such as 'bmcs(policy=rl)'")
    if Path(text).suffix or Path(text).name != text:
        factory, games = _player_of(Path(text))
        return Entry(factory, f"weights of {text}", text, games)
    names = [name for name, other in NAMES.known().items() if game is None or other.plays(game)]
    choices = f"{choose_from(text, names)}; or give package.module:Name or a file of weights"
    raise KeyError(f"unknown agent {text!r}; {choices}")


def _player_of(path: Path) -> tuple[Callable[..., Any], tuple[str, ...]]:
    """The factory of the agent whose weights ``path`` holds, as its metadata say, and the ids of its games.

    Networks of bridge calls, tabular policies and learned Spades players are agents.

    Raises:
        FileNotFoundError: no such file.
        ValueError: not safetensors, or not an agent's; says what it is.
    """
    from bidzoo.core.arrays import check_weights, load_metadata
    from bidzoo.core.cards import NUM_CALLS

    if path.suffix == ".zip":
        way = "bidzoo.wrappers.sb3.SB3Policy(PPO.load(path), game)"
        raise ValueError(f"{path}: expected .safetensors; a model of Stable-Baselines3 plays as {way}")
    check_weights(path)
    metadata = load_metadata(path, "a safetensors file")
    try:
        provenance = json_value(metadata.get("bidzoo", "{}"), "metadata")
    except ValueError:
        provenance = {}
    provenance = provenance if isinstance(provenance, dict) else {}
    if "state" in metadata:
        raise ValueError(f"{path}: a checkpoint; best.safetensors or network.safetensors beside it has the agent")
    if "game" in provenance:
        load = _load("bidzoo.agents.tabular.policy:TablePolicy.load")
        return partial(load, path), (str(provenance["game"]).partition("(")[0],)
    form = provenance.get("format")
    if isinstance(form, str) and form in WEIGHTS:
        agent_entry = AGENTS[WEIGHTS[form]]
        return partial(_load(agent_entry.target), path), agent_entry.games
    if form != CALLS:
        kind = f"weights of another kind ({form})" if form else "weights of another program"
        raise ValueError(f"{path}: {kind}, expected a network of calls, a tabular policy or a learned Spades player")
    architecture = provenance.get("architecture")
    outputs = architecture.get("outputs", 0) if isinstance(architecture, dict) else 0
    if outputs not in (NUM_CALLS, NUM_CALLS + 1):  # the calls, and perhaps a value
        raise ValueError(f"{path}: a network of {outputs} outputs, expected one of {NUM_CALLS} calls")
    return partial(_load("bidzoo.agents.bridge.network:NetworkPolicy"), path), BRIDGE[:1]


def _listed(agent_entry: Entry) -> Entry:
    try:
        return described(agent_entry)
    except Exception as problem:  # somebody else's package: the list goes on without it
        return replace(agent_entry, summary=f"cannot be loaded: {problem}")


def described(agent_entry: Entry) -> Entry:
    """``agent_entry``, its gaps filled from what it names: the first line of the docstring, the attribute ``games``."""
    if agent_entry.summary and agent_entry.games:
        return agent_entry
    target = _load(agent_entry.target)
    summary = agent_entry.summary or (getdoc(target) or "").partition("\n")[0]
    return replace(agent_entry, summary=summary, games=agent_entry.games or _games(target))


def _games(target: Any) -> tuple[str, ...]:
    """Ids of the games that ``target`` says it plays; a text is one, and names without the version are understood."""
    said = getattr(target, "games", ())
    known, names = registry.NAMES.known(), (said,) if isinstance(said, str) else tuple(said)
    return tuple(f"{name}_v0" if name not in known and f"{name}_v0" in known else name for name in names)


def _load(target: str | Callable[..., Any]) -> Any:
    return plugins.load(target, f"agent {target!r}")


MEASURED = (
    "strength: bridge in IMPs a board against networks that imitate Polish club\n"
    "and Acol (docs/agents/expert.md), Spades in points a round against bis, rb\n"
    "and io, ± standard error; ms a call: CPU time at one table, on x86-64"
)


@cache
def measured() -> dict[str, dict[str, Any]]:
    """Of bidzoo's agents by name: ``milliseconds`` of a decision; ``mean``, ``error``, ``n``, ``unit`` of a strength.

    ``experiments/agents_table.py`` makes the file.
    """
    path = DATA / "agents.json"
    found: dict[str, dict[str, Any]] = json_value(path.read_bytes(), path)["agents"]
    return found


def register(name: str, factory: str | Callable[..., Any], summary: str = "", games: tuple[str, ...] = ()) -> None:
    """Give an agent of your own a name in this process.

    Args:
        name: as ``make`` and all that takes names will know it.
        factory: a class or a function that makes the agent, a plain function of observation and mask, a text as
            ``make`` takes it.
        summary: a line for lists; default: the first of the docstring.
        games: ids that it plays; default: its attribute ``games``; empty if it has none: it does not say.

    Raises:
        TypeError: a name that is no text; a factory that is none.
        ValueError: an empty name, or one that bidzoo has an agent of; the factory cannot be loaded.
    """
    if not isinstance(name, str) or not (isinstance(factory, str) or callable(factory)):
        raise TypeError(
            f"agent {name!r}: expected a text as its name, and what makes it, a class, a function or a text"
        )
    if not name.strip():
        raise ValueError(f"agent {name!r}: expected a name that is not empty")
    agent_entry = entry(factory) if isinstance(factory, str) else Entry(factory, "", factory.__module__)
    found = described(replace(agent_entry, summary=summary or agent_entry.summary, games=games or agent_entry.games))
    NAMES.register(name, found)


_admitted: dict[str, tuple[str, dict[str, Any]]] = {}  # agent and options by the name that ``admit`` gave them


def admit(text: str) -> str:
    """``register`` the agent that ``text`` means, so that lists and pages offer it too; return its name.

    ValueError: another agent has that name.
    """
    name, agent, options = parts(text)
    name = name or _shown(agent, options)
    if name not in available():
        about = described(entry(agent))
        register(name, (lambda: make(agent, **options)) if options else agent, about.summary, about.games)
        _admitted[name] = agent, options
    elif _admitted.get(name, (name, {})) != (agent, options):
        raise ValueError(f"agent {text!r}: {name!r} is there already, and means another one; choose another name")
    return name


# ---- making --------------------------------------------------------------------------------


def options(name: str) -> dict[str, Any]:
    """Names and defaults of the settings that ``make(name, ...)`` takes; none if it takes any."""
    target = _load(entry(parts(name)[1]).target)
    return {} if is_plain(target) else options_of(target) or {}


def option_words(name: str) -> dict[str, str]:
    """What these settings mean and which values they take, in words."""
    return words_of(_load(entry(parts(name)[1]).target))


def make(name: AgentName | str | os.PathLike[str], /, **options: Any) -> Policy:
    """The agent called ``name`` with its ``options``.

    ====================================  ========================================================================
    ``name``                              options
    ====================================  ========================================================================
    random, pass, sayc, exact             none
    sl, sl-wide, sl-small, rl, ppo, rpi,  weights, temperature, name
    pi, a2c-bridge, jps-bridge,
    baseline19, baseline16, pbl
    expert-sayc, expert-21gf,             theirs, overbid, weights, temperature, name
    expert-polish, expert-acol,
    expert-light
    bmcs, bmcs-sl, rpi-bmcs,              policy, opponents, belief, evaluator, name, workers, max_actions,
    bmcs-weighted, rl-mcs, pi-search      min_prob, r_min, r_max, p_max, opportunity_cost, deals, calls,
                                          own_calls, surprise, followed, reward, prior
    bis                                   player, kind, nil_threshold, single_curve, endgame, conventions, blind,
                                          bid_sensitive, bias, slope, nil_limits, noise, iterations, infer,
                                          exploration
    rb, ms                                player, nil_limits, lookup
    io                                    player, lookup
    learned                               weights, player, worlds, last, certain, lookup
    learned-search                        weights, worlds, last, certain, lookup
    srp, wrp                              bidder, player, lookup
    uct                                   bidder, last, iterations, infer, exploration
    cfr                                   iterations, average, noise, seed
    jps                                   depth, samples, mean_weight, iterations, restart, seed
    a2c, bad                              epochs, updates, episodes, hidden, rate, entropy, value, seed
    ====================================  ========================================================================

    Also ``package.module:Name``, a file of weights, and names that installed packages announce (see ``bidzoo.agents``).
    ``options(name)`` gives all settings with their defaults.

    Raises:
        KeyError: no agent of that name; names the nearest and the choices.
        TypeError: it has no such option; names the nearest and the choices.
        ValueError: not an agent, or a value out of its range.
    """
    return _new_policy(name, None, options)


def resolve(policy: Agent, game: str | Game | None = None) -> Policy:
    """The policy that plays ``game`` (a game or its id) for ``policy``: this is how all of bidzoo reads its players.

    Args:
        policy: a policy as it is; a text as ``make`` takes it, or the path of a file; a plain function
            ``(observation, mask) -> action``, which is shown ``game`` by its encoder.
        game: which the policy must play. In ``bridge_v0`` a bidder that a text names plays the cards by
            ``bridge.card_play.WithCards``.

    Raises:
        KeyError: no agent of that name.
        ValueError: it does not play ``game``; names those that do.
        TypeError: neither a text, nor a policy, nor a function.
    """
    if isinstance(policy, str | os.PathLike):
        return _new_policy(policy, game, {})
    if _is_policy(policy):
        _check_size(policy, game)
        return _with_name(repr(policy), policy)
    if is_plain(policy):
        return _function_policy(policy, game)
    from bidzoo.envs.asking import policy_hint

    raise TypeError(
        f"not a policy: {policy!r} (expected an agent's name, an object with name and act(), or a function of"
        f" observation and mask){policy_hint(policy)}"
    )


def _check_size(policy: Policy, game: str | Game | None) -> None:
    """ValueError if ``policy`` says that it is for another game, or another size of it, than ``game``."""
    made_for: Any = getattr(policy, "game", None)
    if game is None or isinstance(game, str) or not hasattr(made_for, "num_actions"):
        return
    if (made_for.id, made_for.num_actions, made_for.view) != (game.id, game.num_actions, game.view):
        raise ValueError(f"agent {policy.name!r} was made for {made_for}, it does not play {game}")
    if hasattr(policy, "check_rules"):
        policy.check_rules(game)


def games_of(policy: Agent) -> tuple[str, ...]:
    """Ids of the games that an agent says it plays; none where it does not say."""
    if not isinstance(policy, str | os.PathLike):
        return _games(policy)
    agent_entry = entry(parts(policy)[1])
    return agent_entry.games or described(agent_entry).games


def shown_as(text: str, policy: Policy) -> str:
    """What results call ``policy``, which ``text`` named: that name if it is one, else the policy's own."""
    return text if text in available() else policy.name


def is_own(text: str) -> bool:
    """Whether ``text`` names one of bidzoo's agents, ``name=agent`` too but no options, so that no other code runs."""
    _, agent, options = parts(text)
    return agent in AGENTS and not options


def source_of(text: str) -> str:
    """Where the agent comes from: a package with its version, a module, a file."""
    from importlib.metadata import packages_distributions, version

    agent_entry = entry(parts(text)[1])
    if agent_entry.source == "bidzoo":
        return f"bidzoo {version('bidzoo')}"
    package = agent_entry.target.partition(".")[0].partition(":")[0] if isinstance(agent_entry.target, str) else ""
    distributions = packages_distributions().get(package)
    return f"{distributions[0]} {version(distributions[0])}" if distributions else agent_entry.source


INSIDE = r"(?:[^()]|\([^()]*\))*"  # of the brackets of an agent's options, where a value may be a tuple


def names_in(text: str) -> list[str]:
    """The agents in a text with commas: ``"rl,bmcs(policy=rl, deals=uniform)"`` are two."""
    pieces, depth = [""], 0
    for sign in text:
        depth += (sign in "([{") - (sign in ")]}")
        if sign == "," and depth <= 0:
            pieces.append("")
        else:
            pieces[-1] += sign
    return [piece.strip() for piece in pieces]


def parts(text: str | os.PathLike[str]) -> tuple[str, str, dict[str, Any]]:
    """Name, agent and options of ``"name=agent(option=value, ...)"``; an agent alone has no name (``""``)."""
    if not isinstance(text, str | os.PathLike):
        raise TypeError(f"agent {text!r}: expected a text, such as 'sayc', package.module:Name or a file of weights")
    text = os.fspath(text)
    if "=" in text and os.path.isfile(text):  # in a folder such as seed=1; a text too long for a name is none
        return "", text, {}
    parsed = fullmatch(rf"(?:([\w.-]+)=)?(.+?)(?:\((\s*\w+\s*={INSIDE})\))?", text.strip())
    if parsed is None:
        return "", text.strip(), {}
    options = {}
    for option in names_in(parsed[3]) if parsed[3] else ():
        key, equals, value = (part.strip() for part in option.partition("="))
        if not equals:
            raise ValueError(f"agent {text!r}: {option.strip()!r} is no option, expected NAME=VALUE")
        options[key] = literal(value)
    return parsed[1] or "", parsed[2], options


def _shown(agent: str, options: Mapping[str, Any]) -> str:
    inside = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"{agent}({inside})" if inside else agent


def _new_policy(text: str | os.PathLike[str], game: str | Game | None, options: dict[str, Any]) -> Policy:
    name, agent, own_options = parts(text)
    played = registry.game_id(game) if isinstance(game, str) else game
    agent_entry = described(entry(agent, played))
    env_id = played if played is None or isinstance(played, str) else played.id
    plays = played is None or agent_entry.plays(played)
    bids_only = not plays and env_id == "bridge_v0" and agent_entry.plays("bridge_bidding_v0")
    if bids_only:
        game = "bridge_bidding_v0"
    elif played is not None and not plays:
        names = [other for other, choice in NAMES.known().items() if choice.games and choice.plays(played)]
        raise ValueError(f"agent {agent!r} does not play {env_id}; choose from {', '.join(names)}")
    policy = _policy_of(agent, _load(agent_entry.target), game, own_options | options)
    if name or own_options or (agent_entry.source == agent and Path(agent).suffix == ".safetensors"):
        policy = copy(policy)
        policy.name = name or (_shown(agent, own_options) if own_options else Path(agent).stem)
    if bids_only:
        policy = _load("bidzoo.agents.bridge.card_play:WithCards")(policy)
    return policy


def _policy_of(text: str, target: Any, game: str | Game | None, options: dict[str, Any]) -> Policy:
    """The policy that ``target``, which ``text`` names, makes or is."""
    if is_plain(target) or _is_policy(target):
        for option in options:
            raise UnknownOptionError(f"agent {text!r} has no option {option!r}: it is there already")
        return _function_policy(target, game) if is_plain(target) else _with_name(text, target)
    if not _is_factory(target):
        raise ValueError(f"agent {text!r} is {target!r}, expected a class with act(), a function or an agent")
    check_options(f"agent {text!r}", target, options)
    for option, default in (options_of(target) or {}).items():
        if default is Parameter.empty and option not in options:
            raise ValueError(f"agent {text!r} needs {option!r}; give it a default, or name a function that sets it")
    with plugins.outside(lambda: f"agent {text!r}", options):
        policy = target(**options)
    if not _is_policy(policy):
        raise ValueError(f"agent {text!r} made {policy!r}, expected an object with name and act(views, legal, rng)")
    return _with_name(text, policy)


def _is_policy(value: Any) -> TypeGuard[Policy]:
    from bidzoo.agents.policy import Policy

    return isinstance(value, Policy) and not isclass(value)


def _is_factory(target: Any) -> bool:
    """Whether ``target`` may make a policy, so that it is called: ``sys:exit`` and ``os:abort`` never are."""
    if isclass(target):
        return hasattr(target, "act")
    if isinstance(target, partial):
        return True
    package = str(getattr(target, "__module__", "")).partition(".")[0]
    return isroutine(target) and not isbuiltin(target) and package not in sys.stdlib_module_names


def _with_name(text: str, policy: Policy) -> Policy:
    """``policy``; ValueError unless its name is a text that results can hold, and ``act`` takes what it is given."""
    if not isinstance(policy.name, str) or not policy.name.strip():
        raise ValueError(f"agent {text}: its name is {policy.name!r}, expected a text")
    try:
        arguments = signature(policy.act)
    except (TypeError, ValueError):  # of a builtin, which does not say
        return policy
    try:
        arguments.bind(None, None, None)
    except TypeError:
        raise ValueError(f"agent {text}: its method is act{arguments}, expected act(views, legal, rng)") from None
    return policy


def _function_policy(function: Any, game: str | Game | None) -> Policy:
    from bidzoo.agents.policy import FunctionPolicy

    if game is None:
        raise TypeError(f"{function!r} is a function of observation and mask: bidzoo.agents.resolve(function, game)")
    rules = registry.make_game(game) if isinstance(game, str) else game
    return FunctionPolicy(function, rules.encoder)

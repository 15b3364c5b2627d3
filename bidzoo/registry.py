"""Names to games, environments and agents. Entries are strings: a game is imported when it is made.

Games come from bidzoo (``GAMES``), from ``register_game``, and from installed packages that announce them under the
entry points ``bidzoo.games``: ``name_v0 = "package.module:Rules"``. These are looked for when a name is not known
otherwise, or all are asked for; their packages are imported when they are played.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from inspect import Parameter, getdoc, isabstract, isclass
from pathlib import Path
from re import findall, fullmatch, sub
from typing import TYPE_CHECKING, Any, Literal, cast, overload
from warnings import warn

import gymnasium
import pettingzoo

from bidzoo.core import plugins
from bidzoo.core.options import UnknownOptionError, check_options, choose_from, options_of, words_of

if TYPE_CHECKING:
    from bidzoo.envs.aec import TableEnv
    from bidzoo.envs.bridge.game import Bridge
    from bidzoo.envs.game import Game

TEXTS = Path(__file__).parent / "data" / "games"  # rules and options in words, also for the pages

GameId = Literal[  # for editors; other ids can be registered
    "bridge_bidding_v0",
    "bridge_v0",
    "comm_v0",
    "mini_hanabi_v0",
    "minibridge_v0",
    "simple_bidding_v0",
    "spades_v0",
]

BridgeName = Literal["bridge", "bridge_v0", "bridge_bidding", "bridge_bidding_v0"]  # whose games are ``Bridge``


@dataclass(frozen=True)
class Entry(plugins.Entry):
    """Where a game lives and what it is called elsewhere."""

    gymnasium_id: str = ""
    family: str = ""  # of its rules, see ``Game.family``
    title: str = ""  # what people call it; "" of a game from outside, whose id tells
    whole_boards: str = ""  # what plays whole boards between some policies, see ``whole_boards``

    @property
    def module(self) -> str:
        """Of bidzoo's games: it has ``env``, ``raw_env`` and ``make_game``."""
        return str(self.target).partition(":")[0] if self.source == plugins.OURS else ""


def _own(module: str, family: str, gymnasium_id: str, title: str, summary: str, whole_boards: str = "") -> Entry:
    made = f"bidzoo.envs.{module}:make_game"
    return Entry(made, summary, "bidzoo", f"bidzoo/{gymnasium_id}", family, title, whole_boards)


GAMES: dict[str, Entry] = {
    "bridge_bidding_v0": _own(
        "bridge_bidding_v0", "bridge_bidding", "BridgeBidding-v0", "Bridge bidding", "the auction of contract bridge"
    ),
    "bridge_v0": _own("bridge_v0", "bridge", "Bridge-v0", "Bridge", "contract bridge, auction and play"),
    "comm_v0": _own("signalling.comm", "signalling", "Comm-v0", "Comm", "a secret sent bit by bit (JPS, Definition 1)"),
    "mini_hanabi_v0": _own(
        "signalling.mini_hanabi", "signalling", "MiniHanabi-v0", "Mini-Hanabi", "BAD's two-step signalling game"
    ),
    "minibridge_v0": _own(
        "signalling.minibridge", "signalling", "MiniBridge-v0", "MiniBridge", "2-suit MiniBridge (JPS, Definition 3)"
    ),
    "simple_bidding_v0": _own(
        "signalling.simple_bidding",
        "signalling",
        "SimpleBidding-v0",
        "Simple Bidding",
        "bids in powers of two (JPS, Definition 2)",
    ),
    "spades_v0": _own(
        "spades_v0",
        "spades",
        "Spades-v0",
        "Spades",
        "Spades and its variants, whole games or rounds",
        "bidzoo.agents.spades.games:play_boards",
    ),
}
_ID = r"[a-z][a-z0-9_]*_v\d+"
_listeners: dict[Callable[[str], None], set[str]] = {}  # each with the ids that it has been called with


def _gymnasium_id(env_id: str) -> str:
    name, _, version = env_id.rpartition("_v")
    return f"bidzoo/{''.join(word.capitalize() for word in name.split('_'))}-v{version}"


NAMES = plugins.Names(
    "game",
    GAMES,
    lambda name, path, source: Entry(path, "", source, _gymnasium_id(name)),
    _ID,
    "expected a new id such as 'my_game_v0'",
)


# ---- which game a name means ---------------------------------------------------------------


def entries() -> dict[str, Entry]:
    """Every game by id: those of bidzoo, those registered, those announced by installed packages."""
    found = NAMES.look()
    _notify()
    return found


def available() -> tuple[str, ...]:
    """Every id ``make`` accepts."""
    return tuple(entries())


def loadable() -> tuple[str, ...]:
    """Those of ``available()`` that load and can be made by their name alone; a warning names the others, and why."""
    env_ids = []
    for env_id in entries():
        try:
            required = [name for name, default in options(env_id).items() if default is Parameter.empty]
        except (ValueError, ImportError) as problem:
            warn(str(problem), stacklevel=2)
        else:
            if required:
                source = NAMES.known()[env_id].source
                warn(f"{env_id} of {source}: option {required[0]!r} has no default", stacklevel=2)
            else:
                env_ids.append(env_id)
    return tuple(env_ids)


def game_id(name: str) -> str:
    """The id that ``name`` means: itself, or that of ``"bridge_bidding"``, ``"BridgeBidding-v0"``, ``"minibridge"``.

    Raises:
        KeyError: no game, or no version of it, is called that; names the nearest and the choices.
    """
    plain = _plain(str(name).removeprefix("bidzoo/"))
    for lookup in (NAMES.known, entries):
        games = lookup()
        if name in games:
            return name
        by_name = {_plain(env_id): env_id for env_id in games} | {
            _plain(env_id.rpartition("_v")[0]): env_id for env_id in games
        }
        if plain in by_name:
            return by_name[plain]
    raise KeyError(f"unknown game {name!r}; {choose_from(name, games)}")


def _plain(name: str) -> str:
    return sub(r"[^a-z0-9]", "", name.lower())


def _entry(name: str) -> Entry:
    env_id = game_id(name)  # may find the games that packages announce
    return NAMES.known()[env_id]


def rules_of(name: str) -> Callable[..., Game]:
    """The class or function that makes the game ``name`` from its options; KeyError as ``make``."""
    env_id = game_id(name)
    entry = NAMES.known()[env_id]
    rules: Callable[..., Game] = plugins.load(entry.target, f"game {env_id!r} of {entry.source}")
    if isclass(rules):
        from bidzoo.envs.game import Game

        if not issubclass(rules, Game):  # rules in plain Python
            from bidzoo.envs.python_game import python_rules

            return python_rules(cast("type", rules))
    return rules


BRIDGE_FAMILIES = ("bridge_bidding", "bridge")  # the auction, and the whole board


def of_family(*families: str) -> tuple[str, ...]:
    """Ids of bidzoo's games of these families."""
    return tuple(env_id for env_id, entry in GAMES.items() if entry.family in families)


def family_of(game: str | Game) -> str:
    """The family of a game, by its id or itself (see ``Game.family``); of one from outside, of one made for this.

    Raises:
        KeyError: no game of that id.
    """
    if not isinstance(game, str):
        return game.family
    if game in GAMES:
        return GAMES[game].family
    rules = rules_of(game)
    if declared := getattr(rules, "family", ""):  # of a class
        return str(declared)
    try:
        return _new_game(game, {}).family
    except (TypeError, ValueError):  # an option without a default: its family is not known
        return ""


def whole_boards(game: Game) -> Callable[..., Any] | None:
    """What plays whole boards of ``game`` in one kernel between policies that it knows; None if nothing does.

    It is called with game, policies ``[P]``, boards, seed, policy seed and whether to keep the actions. It returns
    rewards ``[B, P]``, final states ``[B]`` and actions ``[B, T]``, or None where it does not know these policies.
    """
    for entry in GAMES.values():
        if entry.whole_boards and entry.family == game.family:
            found: Callable[..., Any] = plugins.load(entry.whole_boards, str(game))
            return found
    return None


def title(name: str) -> str:
    """What people call the game: ``"Simple Bidding"``; KeyError as ``make``."""
    entry = _entry(name)
    return entry.title or game_id(name).rpartition("_v")[0].replace("_", " ").title()


def summary(name: str) -> str:
    """A line about the game, or why it cannot be loaded; for an announced game this imports its package."""
    try:
        return _entry(name).summary or (getdoc(rules_of(name)) or "").partition("\n")[0]
    except (ValueError, ImportError) as problem:  # somebody else's package: lists go on
        return str(problem)


def options(name: str) -> dict[str, Any]:
    """Names and defaults of what ``make_game(name, ...)`` takes; KeyError as ``make``."""
    return options_of(rules_of(name)) or {}


def option_words(name: str) -> dict[str, str]:
    """What these mean and which values they take, in words: those of the game's page, else of its source."""
    words, defaults = words_of(rules_of(name)), options(name)
    for option, values, meaning in option_rows(name):
        words[option] = meaning if values == str(defaults.get(option)) else f"{values}: {meaning}"
    return words


def options_page(env_id: str) -> str:
    """The game on whose page the options of ``env_id`` stand: the two of bridge have the same."""
    return "bridge_bidding_v0" if env_id == "bridge_v0" else env_id


def option_rows(name: str) -> list[tuple[str, str, str]]:
    """The table of options of the page of a game of bidzoo: names, values, and what they mean, as text."""
    env_id = game_id(name)
    if env_id not in GAMES:
        return []
    path = options_file(env_id)
    page = import_module(GAMES[env_id].module).__doc__ or "" if path.suffix == ".py" else path.read_text("utf-8")
    return findall(r"(?m)^\| (\w+) \| (.*) \| (.*) \|$", page.partition("| option |")[2].replace("`", ""))


def options_file(env_id: str) -> Path:
    """Where that table stands: ``data/games/<id>.options.txt``, or the module of a small game, in its docstring."""
    path = TEXTS / f"{options_page(env_id)}.options.txt"
    return path if path.exists() else Path(import_module(GAMES[env_id].module).__file__ or "")


# ---- making --------------------------------------------------------------------------------


def env_class(name: str) -> type[TableEnv]:
    """The class of the AEC environment of the game ``name``."""
    entry = _entry(name)
    if entry.module:
        kind: type[TableEnv] = import_module(entry.module).env
        return kind
    return _class_of(game_id(name), rules_of(name))


@cache
def _class_of(env_id: str, rules: Callable[..., Game]) -> type[TableEnv]:
    """The environment class of a game from outside; it pickles by its rules, since no module holds the class."""
    from bidzoo.envs.aec import TableEnv

    def reduce(env: TableEnv) -> Any:
        return _bare, (env_id, rules), env.__getstate__()

    body = {"__doc__": f"One table of {env_id}.", "__reduce__": reduce}
    return type("raw_env", (TableEnv,), body, id=env_id, rules=rules)


def _bare(env_id: str, rules: Callable[..., Game]) -> TableEnv:
    kind = _class_of(env_id, rules)
    return kind.__new__(kind)


def make(env_id: GameId | str, **options: Any) -> TableEnv:
    """The AEC environment ``env_id`` with its ``options``.

    ==================  ==========================================================================================
    ``env_id``          options of the game
    ==================  ==========================================================================================
    bridge_bidding_v0   observation, reward, reward_scale, deals, augment, shuffle, competition, most_calls
    bridge_v0           observation, reward, reward_scale, deals, augment, shuffle, competition, most_calls
    comm_v0             length, observation
    mini_hanabi_v0      observation
    minibridge_v0       size, observation
    simple_bidding_v0   size, observation
    spades_v0           phase, episode, variant, deck, win_goal, lose_goal, max_rounds, bag_penalty, failed_nil,
                        blind_nil, blind_deficit, reward, player, observation
    ==================  ==========================================================================================

    Every environment also takes these three:

    ==================  ==========================================================================================
    ``render_mode``     ``"ansi"``, ``"svg"``, ``"rgb_array"``, ``"human"``; default: None
    ``illegal_action``  ``"terminate"`` (default): the offender and its partners get the lowest reward; ``"raise"``
    ``mask_in``         ``"observation"`` (default): dicts of ``observation`` and ``action_mask``; ``"info"``:
                        observations are arrays, and the mask is in ``infos`` alone
    ==================  ==========================================================================================

    ``observation`` is a name, or an ``Encoder`` of one's own. Names without the version and Gymnasium's are understood:
    ``"minibridge"``, ``"bidzoo/MiniBridge-v0"``.

    Raises:
        KeyError: unknown ``env_id``; names the nearest and the choices.
        ValueError: an option's value is not one the game knows.
        TypeError: the game has no such option; names the choices.
    """
    kind = env_class(env_id)
    check_taken_here(env_id, options, kind)
    named = {name: value for name, value in options.items() if name != "observation"}  # an encoder goes with any game
    check_options(game_id(env_id), kind, named)
    with plugins.outside(lambda: f"game {env_id!r}", options):
        env = kind(**options)
    _check_id(game_id(env_id), env.game)
    _check_new(env_id, env.game)
    return env


@overload
def make_game(env_id: BridgeName, **options: Any) -> Bridge: ...
@overload
def make_game(env_id: GameId | str, **options: Any) -> Game: ...


def make_game(env_id: GameId | str, **options: Any) -> Game:
    """The rules that the environment of the same name and options plays by; arguments and errors as of ``make``."""
    game = _new_game(env_id, options)
    _check_new(env_id, game)
    return game


def _new_game(env_id: str, options: dict[str, Any]) -> Game:
    from bidzoo.envs.game import game_of

    rules = rules_of(env_id)
    check_taken_here(env_id, options, rules)
    with plugins.outside(lambda: f"game {env_id!r}", options):
        game = game_of(game_id(env_id), rules, options)
    _check_id(game_id(env_id), game)
    return game


_SEATED = "gymnasium.make and gymnasium.make_vec, which seat agents beside a learner, take it"
ELSEWHERE = dict.fromkeys(("learner", "opponents", "partner", "partner_told"), _SEATED) | {
    "autoreset_mode": "gymnasium.make_vec takes it",
    "render_mode": "bidzoo.make, gymnasium.make and gymnasium.make_vec take it",
    "mask_in": "bidzoo.make, gymnasium.make and gymnasium.make_vec take it",
    "illegal_action": "bidzoo.make takes it",
}


def check_taken_here(env_id: str, names: Collection[str], made_by: Callable[..., Any]) -> None:
    """UnknownOptionError for an option of ``ELSEWHERE`` that ``made_by`` does not take; it says which form does."""
    elsewhere = [name for name in names if name in ELSEWHERE]
    taken = options_of(made_by) if elsewhere else None
    for name in elsewhere:
        if taken is not None and name not in taken:
            raise UnknownOptionError(f"{game_id(env_id)} has no option {name!r} here: {ELSEWHERE[name]}")


def _check_id(env_id: str, rules: Any) -> None:
    """ValueError unless ``rules`` have the id ``env_id``: matches, agents and records look a game up by its own id."""
    rules_id = getattr(rules, "id", env_id)
    if rules_id != env_id:
        raise ValueError(f"game {env_id!r}: its rules have the id {rules_id!r}, expected the same")


_checked: set[tuple[Callable[..., Game], str]] = set()


def _check_new(env_id: str, game: Game) -> None:
    """Check a game from outside briefly, once for each size: compiled, its errors would damage our memory."""
    if _entry(env_id).module:
        return
    from bidzoo.envs.check import check_quickly
    from bidzoo.envs.python_game import PythonGame
    from bidzoo.envs.signalling.game import SignallingGame

    key = rules_of(env_id), str(game)
    if isinstance(game, SignallingGame | PythonGame) and key not in _checked:
        check_quickly(game)
        _checked.add(key)


def check_game(game: Game | TableEnv | GameId | str, tables: int | None = None, seed: int = 0, **options: Any) -> None:
    """Play boards of a game as plain Python, where every index is checked, and report the first error.

    For the tests of a game of your own. Compiled rules check nothing: what writes beyond an array or never ends damages
    the memory of the process. What is checked:

    - it ends within ``max_turns``; until then a player of the game is to act and has a legal action
    - rules write within the arrays, every action of the mask, and only fields that there are
    - two runs of one seed are the same
    - rewards are finite, within ``reward_range``, and the same or zero in sum, as ``utility`` says; those of partners
      are the same
    - observations and global states are zeros and ones; an observation reads nothing that its view does not tell
    - an encoder makes of several views at once what it makes of each
    - ``action_number`` is the inverse of ``action_text``; the table can be shown
    - of a small game: history and length are the actions so far; nothing but the reward depends on the hidden types

    A small game that is registered or announced by a package goes through some boards of it by itself, when a process
    first makes it.

    Args:
        game: its name, with its ``options``; or a game, or an environment.
        tables: boards played, by default 20, fewer of a long game; a larger number finds what is rarer.
        seed: of the deals and of the random actions.

    Raises:
        ValueError: the first thing wrong: board, actions so far, what was found and what was expected.
        KeyError, TypeError: as of ``make``.
    """
    from bidzoo.envs.check import check
    from bidzoo.envs.game import Game

    if options and not isinstance(game, str):
        raise TypeError(f"options {', '.join(options)} beside {game!r}, which is made already; they go with a name")
    instance = _new_game(game, options) if isinstance(game, str) else getattr(game, "game", game)
    if not isinstance(instance, Game):
        raise TypeError(f"{game!r} is no game; expected one, an environment or a name such as 'minibridge_v0'")
    check(instance, tables, seed)


# ---- games from outside --------------------------------------------------------------------


def register_game(
    rules: Callable[..., Any], *, env_id: str | None = None, summary: str = "", gymnasium_id: str | None = None
) -> None:
    """Give a game of one's own every form: ``make``, ``make_vec``, Gymnasium, PettingZoo, OpenSpiel, match.

    The tabular agents solve it too, and ``bidzoo play`` shows it, if its class is a ``SignallingGame``
    (``bidzoo.envs.signalling.game``). Such a game goes through ``check_game`` in short when it is first made.

    Args:
        rules: a ``Game`` class, a function that makes a game, or a class with the rules of one table in plain Python
            (``bidzoo.envs.python_game``); its arguments are the options of ``make``.
        env_id: the ``id`` of the game, by default ``rules.id``, which a function lacks; of the form ``name_v0``.
        summary: a line for ``bidzoo list``; default: the first of the docstring.
        gymnasium_id: default ``bidzoo/Name-v0``.

    Raises:
        TypeError: ``rules`` is neither a class nor a function, such as a game that is made already.
        ValueError: not an id, one that is taken, or a class that leaves something out; names it.
    """
    if not callable(rules):
        raise TypeError(f"register_game() takes a class or a function that makes a game, got {rules!r}")
    env_id = env_id or getattr(rules, "id", None)
    if not isinstance(env_id, str) or not fullmatch(_ID, env_id):
        raise ValueError(f"game id {env_id!r}: expected lower-case letters and a version, such as 'my_game_v0'")
    if isabstract(rules):
        missing = ", ".join(sorted(rules.__abstractmethods__))  # type: ignore[attr-defined]
        raise ValueError(f"game {env_id!r}: {rules.__name__} leaves out {missing}")
    _check_id(env_id, rules)
    line = summary or (getdoc(rules) or "").partition("\n")[0]
    NAMES.register(env_id, Entry(rules, line, plugins.place(rules), gymnasium_id or _gymnasium_id(env_id)))
    _notify()


def watch(listener: Callable[[str], None]) -> None:
    """``listener(env_id)``, once, for every game there is and for each one that comes later."""
    _listeners.setdefault(listener, set())
    _notify()


def _notify() -> None:
    for listener, env_ids in _listeners.items():
        for env_id in NAMES.known():
            if env_id not in env_ids:
                env_ids.add(env_id)
                listener(env_id)


def _register_with_pettingzoo(env_id: str) -> None:
    """PettingZoo has a registry from 1.27 on."""
    if hasattr(pettingzoo, "register"):
        name, module = "-v".join(env_id.rsplit("_v", 1)), _entry(env_id).module
        pettingzoo.register("aec", f"bidzoo/{name}", f"{module}:env" if module else partial(make, env_id))


def _register_with_gymnasium(env_id: str) -> None:
    entry = _entry(env_id)
    if entry.gymnasium_id not in gymnasium.registry:
        gymnasium.register(
            entry.gymnasium_id,
            entry_point="bidzoo.wrappers.gymnasium:single_agent",
            vector_entry_point="bidzoo.wrappers.gymnasium:single_agent_vector",
            kwargs={"env_id": env_id},
        )


def register_own() -> None:
    """Tell PettingZoo and Gymnasium about bidzoo's games; called by ``import bidzoo``. An id imports no rules."""
    watch(_register_with_pettingzoo)
    watch(_register_with_gymnasium)


def register_all() -> None:
    """Tell PettingZoo and Gymnasium also about the games that installed packages announce.

    ``make`` and all else that takes a name find these by themselves; only ``gymnasium.make("bidzoo/MyGame-v0")`` and
    ``pettingzoo.make`` cannot know of them before, since ``import bidzoo`` does not look for packages.
    """
    entries()

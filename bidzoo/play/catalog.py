"""What can be played: the games with the options offered, their seats, and the agents that know them."""

from dataclasses import asdict, dataclass
from typing import Any

from bidzoo import agents, registry
from bidzoo.agents.policy import Policy
from bidzoo.core.cards import SEAT_NAMES
from bidzoo.core.options import choose_from
from bidzoo.envs.game import Game

HUMAN = "human"
USUAL = ("sayc", "sl", "bis", "jps", "exact")  # the first of these that plays the game


@dataclass(frozen=True)
class Option:
    """One choice before the deal: the option's name in ``make_game``, what to call it, and its values."""

    name: str
    label: str
    values: tuple[Any, ...]  # the first one is the default
    words: tuple[str, ...] = ()  # how to call the values; default: their text


@dataclass(frozen=True)
class Offer:
    """One game as the table offers it."""

    id: str
    summary: str
    seats: tuple[str, ...]
    options: tuple[Option, ...] = ()

    @property
    def title(self) -> str:
        return registry.title(self.id)


_PAIR = ("Player 1", "Player 2")

OFFERS = {
    offer.id: offer
    for offer in (
        Offer(
            "bridge_bidding_v0",
            "Reach the best contract with your partner; it is scored double dummy.",
            SEAT_NAMES,
            (Option("deals", "Deals", ("train", "validation", "test")),),
        ),
        Offer("bridge_v0", "The whole board: auction, then thirteen tricks.", SEAT_NAMES),
        Offer(
            "spades_v0",
            "Bid your tricks, or nil; then take exactly those.",
            SEAT_NAMES,
            (
                Option("phase", "Length", ("round", "game"), ("one round", "a game")),
                Option("variant", "Variant", ("partnership", "cutthroat", "mirror", "whiz", "suicide")),
                Option("deck", "Deck", ("standard", "jokers", "jokers_deuces"), ("standard", "jokers", "deuces high")),
                Option("win_goal", "Game ends at", (500, 200, 100)),
                Option("blind_nil", "Blind nil", (False, True), ("no", "yes")),
            ),
        ),
        Offer(
            "minibridge_v0",
            "Two suits, two partners: tell each other how many hearts you hold.",
            _PAIR,
            (Option("size", "Cards a hand", (4, 2, 3, 5, 6)),),
        ),
        Offer(
            "simple_bidding_v0",
            "Bid powers of two up to what both numbers add up to.",
            _PAIR,
            (Option("size", "Numbers below", (4, 8, 16)),),
        ),
        Offer(
            "comm_v0",
            "Send a secret bit by bit; your partner guesses it.",
            _PAIR,
            (Option("length", "Bits", (3, 2, 4)),),
        ),
        Offer("mini_hanabi_v0", "One action each, which must both score and tell.", _PAIR),
    )
}


def offers() -> dict[str, Offer]:
    """All offers by game id: bidzoo's games, and small games beside, such as registered ones, with their defaults."""
    return OFFERS | {
        env_id: Offer(env_id, registry.summary(env_id), _PAIR)
        for env_id in registry.loadable()
        if env_id not in OFFERS and registry.family_of(env_id) == "signalling"
    }


def offer(game_id: str) -> Offer:
    """The offer of ``game_id``; ValueError names the nearest and the choices."""
    games = offers()
    if not isinstance(game_id, str) or game_id not in games:
        if game_id in registry.available():
            raise ValueError(f"{game_id} cannot be played here, it is no SignallingGame; {choose_from('', games)}")
        raise ValueError(f"unknown game {game_id!r}; {choose_from(game_id, games)}")
    return games[game_id]


def checked_options(game_id: str, options: Any) -> dict[str, Any]:
    """``options`` and the defaults of the others; ValueError names one whose value is not offered."""
    by_name = {option.name: option for option in offer(game_id).options}
    if not isinstance(options, dict):
        raise ValueError(f"options {options!r}: expected names and values")
    for name, value in options.items():
        if name not in by_name:
            raise ValueError(f"{game_id} has no option {name!r} here; choose from {', '.join(by_name) or 'none'}")
        if not any(type(value) is type(choice) and value == choice for choice in by_name[name].values):  # 1 is not True
            raise ValueError(f"option {name!r}: {value!r} is not one of {', '.join(map(str, by_name[name].values))}")
    return {name: option.values[0] for name, option in by_name.items()} | options


def agents_for(game_id: str) -> dict[str, str]:
    """Name and summary of every agent that plays ``game_id``; in ``bridge_v0`` bidders do, see ``make_agent``."""
    games = agents.BRIDGE if game_id == "bridge_v0" else (game_id,)
    return {name: entry.summary for name, entry in agents.entries().items() if any(map(entry.plays, games))}


def usual(game_id: str) -> str:
    """The agent that sits down if nobody is named."""
    names = agents_for(game_id)
    return next((name for name in USUAL if name in names), next(iter(names)))


def usual_seats(game_id: str) -> list[str]:
    """A human (South of four) among usual agents."""
    players = len(offer(game_id).seats)
    return [HUMAN if p == (2 if players == 4 else 0) else usual(game_id) for p in range(players)]


def make_agent(game: Game, name: str) -> Policy:
    """The agent ``name`` for ``game``; in ``bridge_v0`` a bidder gets a card player.

    Raises:
        ValueError: it does not play that game, or lacks what it needs.
    """
    choices = agents_for(game.id)
    if name not in choices:
        raise ValueError(f"{name!r} does not play {game.id}; choose from {HUMAN}, {', '.join(choices)}")
    try:
        return agents.resolve(name, game)
    except ImportError as problem:
        raise ValueError(f"agent {name!r} cannot be made: {problem}") from problem


def menu() -> list[dict[str, Any]]:
    """The offers as plain data, with the agents of each."""
    return [
        {
            "id": entry.id,
            "title": entry.title,
            "summary": entry.summary,
            "seats": entry.seats,
            "options": [{**asdict(o), "words": [str(word) for word in o.words or o.values]} for o in entry.options],
            "about": registry.summary(entry.id),
            "usual": usual_seats(entry.id),
            "agents": [{"name": name, "summary": summary} for name, summary in agents_for(entry.id).items()],
        }
        for entry in offers().values()
    ]

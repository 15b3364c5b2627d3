"""What a model reads: the rules of a game, the situation of a seat, and the question."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import takewhile
from typing import Any, Literal

import numpy as np

from bidzoo import registry
from bidzoo.core.cards import NUM_CALLS, SEAT_NAMES, SIDES, hand_symbols
from bidzoo.core.kernels import I8, State
from bidzoo.core.options import Checked, Count, Weight
from bidzoo.envs.game import Game

Message = dict[str, str]  # {"role": "user", "content": "..."}, as chat servers take it

_LISTED = 100  # names of actions that are written out in the rules
_HOW_TO_ANSWER = 'Think as you like, then end with one line of JSON: {"action": "%s"}.'


IMPS = (  # what a duplicate match of bridge is scored by
    "the IMPs that you win on the board. It is played at two tables with the sides exchanged, and the difference of the"
    " two scores is turned into IMPs"
)


def rules(game: Game, scoring: str = "") -> str:
    """The rules of ``game`` as text: what its page says of them, its options, its players, how its actions are written.

    Of a game of bidzoo these are the rules and the head of the page of its environment, with what its options mean; of
    another one the docstring of its class. Where a match counts something else than the rewards of the game, as a
    duplicate match does (``IMPS``), ``scoring`` says what, and stands in the place of the rewards.
    """
    entry = registry.GAMES.get(game.id)
    page = (import_module(entry.module).__doc__ or "") if entry else inspect.getdoc(type(game)) or ""
    head = re.split(r"(?m)^## (?:Options|Observations?|Global state|Version)", page, maxsplit=1)[0]
    head = re.sub(r"(?<=\w)`|`(?=\w)", "", _LINK.sub(r"\1", head))  # no links, no marks of code
    blocks = [block for block in re.split(r"\n\s*\n", head.strip()) if block and not block.startswith("| | |")]
    title, *paragraphs = (_paragraphs(game.id, game.family, "{}.txt") if entry else ()) or ("",)
    if title == "## The game":
        blocks[1:1] = takewhile(lambda each: not each.startswith("## The reward"), paragraphs)
    else:  # of a small game, whose rules are above: an example
        blocks += paragraphs
    least, most = game.reward_range
    if scoring:
        blocks += [f"What counts: {scoring}."]
    else:
        blocks += [f"Rewards: {reward}." for reward in re.findall(r"(?m)^\| Rewards? \| (.*) \|$", page)[:1]]
        blocks += [f"With the options below no reward is less than {least:g} or more than {most:g}."]
    told = {name: value for name, value in told_options(game).items() if not (scoring and name == "reward")}
    if told:
        blocks += [f"Options of this game: {', '.join(f'{name} = {x}' for name, x in told.items())}."]
        blocks += _meanings(game, told)
    names = [game.action_text(action) for action in range(min(game.num_actions, _LISTED))]
    names += [] if game.num_actions <= _LISTED else ["...", game.action_text(game.num_actions - 1)]
    return "\n\n".join([*blocks, f"Actions are written: {', '.join(names)}."])


def told_options(game: Game) -> dict[str, str | int]:
    """The options of a game of bidzoo that say how it is played, with their values."""
    if game.id not in registry.GAMES:
        return {}
    values = {name: getattr(game, name, None) for name in registry.options(game.id)}
    values.update({game.size_option: game.size} if getattr(game, "size_option", "") else {})  # type: ignore[attr-defined]
    return {name: x for name, x in values.items() if isinstance(x, str | int) and name not in _MACHINERY}


_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@cache  # the rules stand before every question
def _paragraphs(game_id: str, family: str, name: str) -> tuple[str, ...]:
    """Those of a text of ``data/games`` by the game's id, or its family; without links and sources."""
    for which in (game_id, "bridge" if family in registry.BRIDGE_FAMILIES else family):
        path = registry.TEXTS / name.format(which)
        if path.exists():
            text = _LINK.sub(r"\1", path.read_text(encoding="utf-8")).replace("`", "")
            return tuple(each for each in text.strip().split("\n\n") if not each.startswith("Source:"))
    return ()


def _meanings(game: Game, names: Iterable[str]) -> list[str]:
    """What the options ``names`` of ``game`` mean, as its page has it, and its paragraphs on single ones of them."""
    paragraphs = _paragraphs(registry.options_page(game.id), game.family, "{}.options.txt")
    if not paragraphs:  # of a small game, whose rules say it
        return []
    lines = [
        f"{option}: {values}. {meaning[:1].upper()}{meaning[1:]}."
        for option, values, meaning in registry.option_rows(game.id)
        if option in names
    ]
    return ["\n".join(lines), *(each for each in paragraphs if each.startswith(("**", "With ")))] if lines else []


_MACHINERY = ("observation", "deals", "augment", "shuffle", "reward_scale", "player")  # no rules of the game


def situation(game: Game, view: State) -> dict[str, Any]:
    """What the player of ``view`` (one record) knows, as JSON values; hidden cards and types are not in a view.

    Bridge: seat, hand, dealer, vulnerability, the auction with who called, in the play contract, dummy and tricks.
    Spades: seat, hand, scores, bags, bids and tricks. Small games: player, type and actions. Any other game: what its
    observation says of itself.
    """
    by_family = {"bridge_bidding": _bridge, "bridge": _bridge, "spades": _spades, "signalling": _signalling}
    if game.family in by_family:
        return by_family[game.family](game, view)
    record = np.array([view], game.view)
    return {"observation": game.encoder.explain(game.encoder(record)[0])}


def goes_on(before: State, now: State) -> bool:
    """Whether a later view of one place may be of the same episode: it does not contradict what was seen before."""
    names = before.dtype.names or ()
    if "rounds" in names and before["rounds"] != now["rounds"]:  # other cards
        return bool(before["rounds"] < now["rounds"])
    for name in ("dealer", "vulnerable", "type", "hand"):
        if name in names and before[name] != now[name] and not (name == "hand" and before[name] == 0):  # not seen yet
            return False
    if "bids" in names and any(bid not in (-1, now["bids"][w]) for w, bid in enumerate(before["bids"])):
        return False
    taken = next((name for name in ("calls", "history") if name in names), None)
    length = int(before["length"])
    return taken is None or bool((before[taken][:length] == now[taken][:length]).all())


def situation_text(game: Game, view: State) -> str:
    """``situation`` as text, a line for each of its fields."""
    return "\n".join(f"{name}: {_in_words(value)}" for name, value in situation(game, view).items())


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {item}" for name, item in value.items())
    if isinstance(value, list):
        return ", ".join(" ".join(map(str, item)) if isinstance(item, list) else str(item) for item in value) or "none"
    return str(value)


def _bridge(game: Game, view: State) -> dict[str, Any]:
    from bidzoo.envs.bridge import render
    from bidzoo.envs.bridge.state import AUCTION

    seat, dealer = int(view["seat"]), int(view["dealer"])
    calls = [int(call) for call in view["calls"][: int(view["length"])]]
    told: dict[str, Any] = {
        "seat": SEAT_NAMES[seat],
        "partner": SEAT_NAMES[(seat + 2) % 4],
        "hand": hand_symbols(int(view["hand" if view["phase"] == AUCTION else "held_here"])),
        "dealer": SEAT_NAMES[dealer],
        "vulnerable": render.vulnerable(view),
        "auction": [[SEAT_NAMES[(dealer + turn) % 4], game.action_text(call)] for turn, call in enumerate(calls)],
    }
    if view["phase"] == AUCTION:
        return told
    told["contract"] = render.contract(view)
    if view["plays"]:
        told["dummy"] = f"{SEAT_NAMES[(int(view['declarer']) + 2) % 4]} {hand_symbols(int(view['dummy']))}"
    if view["hand_to_play"] >= 0:
        told["card comes from"] = SEAT_NAMES[int(view["hand_to_play"])]
    return told | {"tricks won": dict(zip(SIDES, map(int, view["won"])))} | _tricks(game, view, NUM_CALLS)


def _tricks(game: Game, view: State, first_card: int) -> dict[str, Any]:
    """The trick on the table and those before it; ``first_card`` is the action of card 0."""
    plays = zip(view["players"][: int(view["plays"])], view["played"])
    cards = [[SEAT_NAMES[who], game.action_text(first_card + int(card))] for who, card in plays]
    start = len(cards) // 4 * 4
    return {"trick": cards[start:], "earlier tricks": [_in_words(cards[k : k + 4]) for k in range(0, start, 4)]}


def _spades(game: Game, view: State) -> dict[str, Any]:
    from bidzoo.envs.spades import render
    from bidzoo.envs.spades.deals import deck_hand_symbols
    from bidzoo.envs.spades.state import FIRST_CARD, PLAY

    seat, deck, held = int(view["seat"]), int(view["deck"]), int(view["held_here"])
    bidders = [(int(view["dealer"]) + k) % 4 for k in range(1, 5)]
    bids = [(w, render.bid_text(int(view["bids"][w]), bool(view["blind"] >> w & 1))) for w in bidders]
    told: dict[str, Any] = {"seat": SEAT_NAMES[seat]}
    if view["sides"] == 2:
        told["partner"] = SEAT_NAMES[(seat + 2) % 4]
    hand = deck_hand_symbols(deck, held) if deck else hand_symbols(held)
    told["hand"] = hand if view["looked"] >> seat & 1 else "not seen yet"
    told |= {"score": render.scores(view), "round": int(view["rounds"]) + 1}
    told["bids"] = [[SEAT_NAMES[w], bid] for w, bid in bids if view["bids"][w] >= 0]
    if view["rounds"]:
        told["last round"] = render.gains(view).removeprefix("last round: ")
    if view["phase"] == PLAY:
        told["tricks won"] = {name: int(won) for name, won in zip(SEAT_NAMES, view["won"])}
        told["spades broken"] = "yes" if view["broken"] else "no"
        told |= _tricks(game, view, FIRST_CARD)
    return told


def _signalling(game: Any, view: State) -> dict[str, Any]:
    player = int(view["player"])
    told: dict[str, Any] = {"you are": f"player_{player}"}
    if game.num_types[player] > 1:
        told[f"your {game.type_word}"] = int(view["type"])
    history = enumerate(view["history"][: int(view["length"])])
    told["actions so far"] = [[f"player_{game.mover(turn)}", game.action_text(int(a))] for turn, a in history]
    return told


def action_texts(game: Game, legal: I8) -> list[str]:
    """The actions ``legal`` ``[A]`` as they are written."""
    return [game.action_text(int(action)) for action in np.flatnonzero(legal)]


@dataclass(frozen=True)
class Seat(Checked):
    """How a model is asked: all that its answers depend on beside the model."""

    rules: bool = True  # they stand before the first question; without them, the id of the game
    form: Literal["text", "json"] = "text"  # of the situation
    listed: bool = True  # the legal actions stand in the question
    memory: bool = False  # the model sees what it was asked and answered before at this seat of this board
    constrained: bool = False  # the server lets the model answer nothing but a legal action
    sampled: bool = False  # a seed for every question; else the same question has one answer
    temperature: Weight = 0.0  # of the model's sampling
    most_tokens: Count = 512  # of a reply
    tries: Count = 3  # questions a decision: each further one says what was wrong with the reply
    fallback: str = ""  # the agent that acts then; "" passes where it is legal and draws a legal action elsewhere


AS_USUAL = Seat()


def prompt(game: Game, view: State, legal: I8, seat: Seat = AS_USUAL, scoring: str = "") -> tuple[str, str]:
    """What a model is told first and what it is asked, for ``view`` (one record) and ``legal`` ``[A]``.

    ``scoring`` as of ``rules``.
    """
    system = f"You play {game.id}." if not seat.rules else rules(game, scoring)
    told = situation_text(game, view)
    if seat.form == "json":
        told = json.dumps(situation(game, view), ensure_ascii=False)
    if seat.listed:
        told += f"\nlegal actions: {', '.join(action_texts(game, legal))}"
    return f"{system}\n\n{_HOW_TO_ANSWER % game.action_text(0)}", f"{told}\nYour action?"

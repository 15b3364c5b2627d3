"""Language models at the table: rules and situations as text, replies as actions, and an agent that asks a model.

``rules(game)`` and ``situation(game, view)`` are what a model reads; ``read_action`` finds the action in its reply.
``LanguageAgent`` plays any game with any function of chat messages; its ledger replays a match without the model.
``OpenAI`` asks a server that speaks OpenAI's protocol; its package is the extra ``bidzoo[language]``.
"""

from __future__ import annotations

import asyncio
import inspect
import json
import math
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from email.utils import parsedate_to_datetime
from functools import cache
from importlib import import_module
from itertools import chain, cycle, pairwise, takewhile
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

import numpy as np

from bidzoo import agents, registry
from bidzoo.agents.policy import Uniform
from bidzoo.core.cards import NUM_CALLS, SEAT_NAMES, SIDES, SYMBOLS, hand_symbols
from bidzoo.core.kernels import I8, I64, State, States
from bidzoo.core.options import Checked, Count, Weight, is_whole
from bidzoo.core.schema import DIGITS, answered_json, json_value, parse, shortened, shown, sound_text
from bidzoo.core.storage import Closing, Ledger
from bidzoo.core.streams import Streams
from bidzoo.envs.game import Game

Message = dict[str, str]  # {"role": "user", "content": "..."}, as chat servers take it

# ---- what a model reads --------------------------------------------------------------------

GAMES = Path(__file__).parent / "data" / "games"  # rules and options in words, also for the pages
_LISTED = 100  # names of actions that are written out in the rules
CUT_OFF = " [cut off]"  # at the end of a reply that reached ``most_tokens``
NO_REPLY = "[no reply: %s]"  # in place of a reply, what the server sent instead
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
    values = {name: getattr(game, name, None) for name in registry.options(game.id)} if entry else {}
    values.update({game.size_option: game.size} if getattr(game, "size_option", "") else {})  # type: ignore[attr-defined]
    hidden = (*_MACHINERY, "reward") if scoring else _MACHINERY
    told = {name: x for name, x in values.items() if isinstance(x, str | int) and name not in hidden}
    if told:
        blocks += [f"Options of this game: {', '.join(f'{name} = {x}' for name, x in told.items())}."]
        blocks += _meanings(game, told)
    names = [game.action_text(action) for action in range(min(game.num_actions, _LISTED))]
    names += [] if game.num_actions <= _LISTED else ["...", game.action_text(game.num_actions - 1)]
    return "\n\n".join([*blocks, f"Actions are written: {', '.join(names)}."])


_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


@cache  # the rules stand before every question
def _paragraphs(game_id: str, family: str, name: str) -> tuple[str, ...]:
    """Those of a text of ``data/games`` by the game's id, or its family; without links and sources."""
    for which in (game_id, "bridge" if family.startswith("bridge") else family):
        path = GAMES / name.format(which)
        if path.exists():
            text = _LINK.sub(r"\1", path.read_text(encoding="utf-8")).replace("`", "")
            return tuple(each for each in text.strip().split("\n\n") if not each.startswith("Source:"))
    return ()


def _meanings(game: Game, names: Iterable[str]) -> list[str]:
    """What the options ``names`` of ``game`` mean, as its page has it, and its paragraphs on single ones of them."""
    page = "bridge_bidding_v0" if game.family == "bridge" else game.id  # the options are the same
    table, *others = _paragraphs(page, game.family, "{}.options.txt") or ("",)
    lines = []
    for options, values, meaning in re.findall(r"(?m)^\| ([\w, ]+) \| (.*) \| (.*) \|$", table):
        if {*options.split(", ")} & {*names}:
            lines.append(f"{options}: {values}. {meaning[:1].upper()}{meaning[1:]}.")
    return ["\n".join(lines), *(each for each in others if each.startswith(("**", "With ")))] if lines else []


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


# ---- what a model answers ------------------------------------------------------------------


class Reading(NamedTuple):
    """The action of a reply, or why there is none."""

    action: int | None
    problem: str = ""

    @property
    def question(self) -> str:
        """What the model is asked then."""
        return f"{self.problem[:1].upper()}{self.problem[1:]}. Your action?"


_FIELDS = ("action", "bid", "call", "card", "move", "play", "guess", "answer")  # of a JSON reply
_NUMBERS = dict(zip(("ZERO", "ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE"), "0123456789"))
_NUMBERS |= {"TEN": "10", "ELEVEN": "11", "TWELVE": "12", "THIRTEEN": "13"}
_WORDS = {f"{name}{s}": name[0] for name in ("CLUB", "DIAMOND", "HEART", "SPADE") for s in ("", "S")}
_WORDS |= {word: number for word, number in _NUMBERS.items() if number in {*"123456789"}}  # with a suit behind
_WORDS |= {"TEN": "T", "10": "T", "JACK": "J", "QUEEN": "Q", "KING": "K", "ACE": "A", "OF": "", "NO": "N", "TRUMP": "T"}
_WORDS |= {"TRUMPS": "T", "NOTRUMP": "NT", "NOTRUMPS": "NT"}
_ENGLISH = ("as", "ah", "ad")  # words of English that are also cards
_SYNONYMS = {"PASS": "P", "PASSES": "P", "PASSING": "P", "DOUBLE": "X", "REDOUBLE": "XX", "P": "PASS"}
_LETTERS = {ord(symbol): letter for letter, symbol in SYMBOLS.items()} | {0xFE0F: None, ord("♤"): "S", ord("♡"): "H"}
_LETTERS |= {ord("♢"): "D", ord("♧"): "C"}
_LETTERS |= {0xFF01 + place: chr(0x21 + place) for place in range(94)} | {0x3000: " "}  # full-width forms
_WORD = r"(?<![^\W_])[-−]\d+(?:\.\d+)*(?![^\W_])|\d+(?:\.\d+)+(?![^\W_])|[A-Za-z0-9]+"  # "-1" and "1.5" hold no "1"


_MARKED = re.compile(  # a line "My bid: 3NT because ..."; each part ends where the next begins, in whatever text
    r"""^[^\w\n]*+(?:my\ |final\ |the\ )?(?:action|bid|call|card|answer)[^\w:=]*+[:=]
    [\s*_"'`(\[:=]*+(.*?\w.*?)(?:[;(]|\ because|\ since|$)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


_TAGGED = re.compile(  # <answer>3NT</answer>, \\boxed{3NT}
    r"<(?P<tag>answer|action|bid|call|card)>(?P<inside>[^<]*)</(?P=tag)>|\\boxed\{(?P<boxed>[^{}]*)\}", re.IGNORECASE
)


def read_action(game: Game, reply: str, legal: I8, listed: bool = True) -> Reading:
    """The action that ``reply`` means, of those ``legal`` ``[A]``.

    A JSON object with a field such as ``action`` counts first, then ``<answer>3NT</answer>`` or ``\\boxed{3NT}``, then
    a line such as ``action: 3NT``; each may name one action. In other text the one action counts that the reply
    chooses: it has a clause for itself (``Pass.``, ``**4H**``, ``too bold, so nil``), or words of choosing lead to it
    (``I bid 5 hearts``). One that is only mentioned is no choice: ``I have 5 hearts``, ``I will not pass``, ``if I bid
    3NT``, ``3NT?``. A reply that chooses two, such as one now and one later, is asked again.

    Names are read in upper or lower case: ``3NT``, ``3 no trump``, ``♠K``, ``SK``, ``pass``. A name of
    several words is one name: where ``blind nil`` is not legal it is not read as ``nil``. Full-width digits and letters
    are read as the usual ones; words of other languages (``paso``) name no action.

    Args:
        game: whose names of actions count.
        reply: of a model; what stands in ``<think>``, or before a ``</think>``, is left out. One that was cut
            off (``CUT_OFF``) counts only if it has a JSON object or such a line.
        legal: 1 = legal.
        listed: the problem with an illegal action names the legal ones.
    """
    text = re.sub(r"(?s)<(think(?:ing)?)>.*?(</\1>|\Z)", "", reply)
    text = re.split(r"</think(?:ing)?>", text)[-1]  # some chat templates write the opening mark themselves
    text = re.sub(r"</s>|<\|[^|\n]{0,40}\|>", "", text)  # ends of a turn that a server left in
    tagged = [found["inside"] or found["boxed"] or "" for found in _TAGGED.finditer(text)]
    answers = _json_answers(text) or tagged[-1:] or _MARKED.findall(text)[-1:]
    if not answers and reply.endswith(CUT_OFF):
        return Reading(None, "the reply was cut off before its end")
    if answers:
        groups = [_answered_names(game, answer, legal) for answer in answers]
    else:
        groups = _names_in_groups(game, text, legal)
    chosen = [named for named in groups if named.choice]
    found = {action for named in chosen for action in named.actions}
    if not found:
        if mentioned := [action for named in groups for action in named.actions]:
            name = game.action_text(mentioned[-1])
            return Reading(None, f"the reply mentions {name} without choosing an action; expected one line of JSON")
        if answers:
            return Reading(None, f"{shown(answers[-1])} is no action of this game")
        return Reading(None, _why_none(reply, text))
    if len(found) > 1:
        several = ", ".join(game.action_text(action) for action in sorted(found))
        return Reading(None, f"the reply names several actions: {several}; one is expected")
    (action,) = found
    if not legal[action]:
        choices = f"; legal: {', '.join(action_texts(game, legal))}" if listed else ""
        return Reading(None, f"{game.action_text(action)} is not legal here{choices}")
    return Reading(action)


def _why_none(reply: str, text: str) -> str:
    """Why ``reply`` names no action; ``text`` is what is left of it without its thoughts."""
    if instead := _INSTEAD.fullmatch(reply):
        return f"there is no reply: {instead[1]}"
    if not reply.strip():
        return "the reply is empty"
    return "the reply names no action" if text.strip() else "the reply holds thoughts alone"


_INSTEAD = re.compile(re.escape(NO_REPLY).replace("%s", "(.*)"), re.DOTALL)


class _Named(NamedTuple):
    """Actions that a text names next to each other, and whether it chooses them."""

    actions: list[int]
    choice: bool


def _answered_names(game: Game, answer: str, legal: I8) -> _Named:
    """All actions that an ``answer`` names, which is the text of a JSON field or of a marked line."""
    plain = _plain(answer)
    named = _names(game, plain, legal)
    denied = any(re.search(r"(?i)\b(?:not|never|cannot|\w+n['’]t)\b", plain[:start]) for _, start, _ in named)
    return _Named([action for action, _, _ in named], not denied or len({action for action, _, _ in named}) > 1)


def _names_in_groups(game: Game, text: str, legal: I8) -> list[_Named]:
    """The actions that are named in ``text``; those that only "or", "and" or a mark sets apart are one group."""
    plain, groups = _plain(text), list[list[tuple[int, int, int]]]()
    for named in _names(game, plain, legal):
        if groups and _JOINED.fullmatch(plain[groups[-1][-1][2] : named[1]]):
            groups[-1].append(named)
        else:
            groups.append([named])
    return [
        _Named([action for action, _, _ in group], _is_choice(plain[: group[0][1]], plain[group[-1][2] :]))
        for group in groups
    ]


_JOINED = re.compile(r"[\s,]*(?:(?:I think|perhaps|maybe)[\s,]*)?(?:/|,|\||\bor\b|\band\b)\s*", re.IGNORECASE)


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# Words that may stand in front of an action which is chosen. Any other word there makes it an action that is mentioned.
_SUBJECTS = _set("i i'll i'd i'm we we'll let let's my")
_VERBS = _set(
    "bid bidding rebid call calling play playing choose choosing chose select pick say open respond overcall raise jump"
    " lead discard throw make must"
)
_NOUNS = _set("action answer bid call card choice decision guess move play response reply")
_FILLERS = _set(
    "a an the to me us is be will would should shall want need going like prefer rather decide decided best right final"
    " correct here now just simply still again ok okay yes sure well hmm am"
)
_OPENERS = _set("so then therefore thus hence")
_LEADING = _SUBJECTS | _VERBS | _NOUNS | _FILLERS | _OPENERS
_CONDITIONS = _set("if when whether unless should could can may might do did had would")  # "if I pass", "should I pass"
_CLAUSE = re.compile(r"[.;:!?()\n]")
_ENDED = re.compile(  # what may follow an action that has a clause for itself
    r"(?:\s+(?:tricks?|clubs?|diamonds?|hearts?|spades?))?[^\w?,.;:!()\n]*"
    r"(?:[,.;:!()\n]|\Z|\b(?:because|since|as|for|to|here|now|please)\b"
    r"|\bis my (?:\w+ )?(?:action|answer|bid|call|card|choice|decision|move|play)\b)",
    re.IGNORECASE,
)


def _lead(before: str) -> list[str] | None:
    """The words of a clause that lead to an action, from the last subject or "so" on; None where they do not choose it.

    ``before`` is the text before the action.
    """
    clause = re.sub(r"\bhave to\b", "must", _CLAUSE.split(before)[-1].lower().replace("’", "'"))
    words = re.findall(r"[^\W_]+(?:'[^\W_]+)*", re.sub(r"\bgo(?:ing)? (?:with|for)\b", "choose", clause))
    start = max((k for k, word in enumerate(words) if word in _SUBJECTS | _OPENERS), default=0)
    if start and words[start - 1] in _CONDITIONS:
        return None
    return words[start:] if {*words[start:]} <= _LEADING else None


def _is_choice(before: str, after: str) -> bool:
    """Whether a text chooses an action that stands between ``before`` and ``after`` in it."""
    lead = _lead(before)
    if lead is None or re.match(r"[^.;:!()\n?]*\?", after):
        return False
    acts = bool({*lead} & _VERBS) or lead[:1] in (["i"], ["i'll"], ["i'd"], ["we"])
    return acts or _ENDED.match(after) is not None


def _json_answers(text: str) -> list[str]:
    """What the last JSON objects of ``text`` say in a field of ``_FIELDS``."""
    answers = []
    for block in re.findall(r"\{[^{}]*\}", text)[-_OBJECTS:]:
        try:
            value = answered_json(block.encode("utf-8", "replace"), "reply")
        except ValueError:
            continue
        fields = {str(name).lower(): item for name, item in value.items()}
        given = [fields[name] for name in _FIELDS if isinstance(fields.get(name), str | int | float)][:1]
        answers += [str(int(x) if isinstance(x, float) and x.is_integer() else x) for x in given]
    return answers


_OBJECTS = 100  # JSON objects of a reply that are looked at: megabytes of them would take minutes
_TAIL = 4000  # characters of a reply, or of an answer in it, in which actions are looked for: a long one has its end


def _plain(text: str) -> str:
    """The end of ``text`` with the symbols of suits as letters, ten as T, and "re-double" as one word."""
    text = re.sub(r"\b10(?=[CDHScdhs]\b)|(?<=\b[CDHScdhs])10\b", "T", text[-_TAIL:].translate(_LETTERS))
    return re.sub(r"(?i)\bre[ -](?=doubl)", "re", text)


def _names(game: Game, text: str, legal: I8) -> list[tuple[int, int, int]]:
    """Every action that is named in ``text``, in order, as (action, start, end)."""
    names = {game.action_text(action).translate(_LETTERS).strip(): action for action in range(game.num_actions)}
    folded = {name.casefold(): action for name, action in names.items()}
    odd = sorted((name for name in names if not re.fullmatch("[A-Za-z0-9]*", name)), key=len, reverse=True)
    whole = {r"[\s_-]+".join(map(re.escape, name.split())): names[name] for name in odd}  # which are not looked into
    patterns = [rf"(?<![^\W_])(?:{'|'.join(whole)})(?![^\W_])"] if whole else []
    tokens = list(re.finditer("|".join([*patterns, _WORD]), text, re.IGNORECASE))
    named, end = [], len(tokens)
    while end > 0:
        token = tokens[end - 1]
        if (number := next((n for name, n in whole.items() if re.fullmatch(name, token[0], re.IGNORECASE)), -1)) >= 0:
            named.append((number, token.start(), token.end()))
            end -= 1
            continue
        choices = []
        for width in range(min(4, end), 0, -1):
            words = tokens[end - width : end]
            if not all(re.fullmatch(r"[ \t_-]*", text[a.end() : b.start()]) for a, b in pairwise(words)):
                continue
            texts = [word[0] for word in words]
            action = _named(game, folded, texts, len(tokens) == width, legal)
            choices += [] if action is None else [(not legal[action], -width, action)]
        illegal, width, action = min(choices, default=(False, -1, -1))  # a legal one, of as many words as can be
        if illegal and width < -1:  # "4 spades" is no card while tricks are bid
            parts = [_named(game, folded, [token[0]], False, legal) for token in tokens[end + width : end - 1]]
            if any(part is not None and legal[part] for part in parts):
                width, choices = -1, []
        if choices:
            named.append((action, tokens[end + width].start(), tokens[end - 1].end()))
        end += width
    return named[::-1]


def _named(game: Game, folded: dict[str, int], words: Sequence[str], alone: bool, legal: I8) -> int | None:
    """The action that ``words`` name together; a single letter counts in upper case (P, X) or if it is ``alone``."""
    plain = [word.upper() for word in words]
    if len(words) == 1:
        if len(plain[0]) == 1 and not plain[0].isdigit() and not (alone or words[0] in ("P", "X")):
            return None
        if words[0] in _ENGLISH and not alone:
            return None
        spellings = [words[0], plain[0], _SYNONYMS.get(plain[0], ""), _NUMBERS.get(plain[0], "")]
    elif "a" in words:  # "a heart" is no ace
        return None
    else:
        joined = "".join(_WORDS.get(word, word) for word in plain)
        spellings = [" ".join(words), " ".join(plain)]
        if all(word in _WORDS or len(word) <= 2 for word in plain) and not joined.isdigit():
            spellings += [joined]
    actions = [_number(game, spelling) for spelling in spellings]
    actions.append(folded.get(" ".join(words).casefold()))
    for spelling, action in zip(spellings, actions):
        if len(spelling) == 2 and (action is None or not legal[action]):  # a card as rank and suit, or suit and rank
            turned = _number(game, spelling[::-1].upper())
            if turned is not None and legal[turned]:
                return turned
    return next((action for action in actions if action is not None), None)


def _number(game: Game, text: str) -> int | None:
    try:
        return game.action_number(text) if text else None
    except (ValueError, LookupError):
        return None


# ---- an agent that asks --------------------------------------------------------------------


@dataclass(frozen=True)
class Seat(Checked):
    """How a model is asked: all that its answers depend on beside the model."""

    rules: bool = True  # they stand before the first question; without them, the id of the game
    form: Literal["text", "json"] = "text"  # of the situation
    listed: bool = True  # the legal actions stand in the question
    memory: bool = False  # the model sees what it was asked and answered before at this seat of this board
    constrained: bool = False  # the server lets the model answer nothing but a legal action
    sampled: bool = False  # a seed for every question; else the same question has one answer
    temperature: Weight = 0.0
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


class Reply(NamedTuple):
    """A model's reply and how many tokens the question and the reply have; None where nobody says."""

    text: str
    asked_tokens: int | None = None
    reply_tokens: int | None = None


class _Question(NamedTuple):
    model: str
    seat: str  # the fields of ``Seat`` as JSON
    game: str  # with its options
    messages: tuple[str, ...]  # rules first, then by turns what was asked and answered, the question last
    seed: int  # of a sampled reply


class Question(_Question):
    """A decision as a job of the ledger; ValueError unless the last of its messages is a question after the rules."""

    __slots__ = ()

    def __new__(cls, *values: Any, **fields: Any) -> Question:
        question = super().__new__(cls, *values, **fields)
        if len(question.messages) < 2 or len(question.messages) % 2:
            raise ValueError(f"messages: {len(question.messages)}, expected rules, then asked and answered by turns")
        return question


class _Decision(NamedTuple):
    replies: tuple[str, ...]
    problems: tuple[str, ...]  # "" for a legal action
    asked_tokens: tuple[int | None, ...]
    reply_tokens: tuple[int | None, ...]
    action: str  # "" where no reply named a legal one: the fallback acts


class Decision(_Decision):
    """Every reply to a question, with what was wrong with it and its tokens, and the action in the end.

    ValueError unless these are of the same number, and there is an action where nothing is wrong with the last reply.
    """

    __slots__ = ()

    def __new__(cls, *values: Any, **fields: Any) -> Decision:
        decision = super().__new__(cls, *values, **fields)
        lengths = {name: len(getattr(decision, name)) for name in cls._fields[:4]}
        if len({*lengths.values()}) > 1 or not decision.replies:
            told = ", ".join(f"{length} {name}" for name, length in lengths.items())
            raise ValueError(f"{told}: expected as many of each, at least one")
        if bool(decision.action) == bool(decision.problems[-1]):
            raise ValueError(f"action {decision.action!r} after {decision.problems[-1]!r}, expected one of the two")
        return decision


MOST_REPLY = 2**20  # characters of a reply, and bytes of a server's answer
_ADDING = threading.Lock()  # to a ledger, which several agents may share


Complete = Callable[..., Reply | str]


class LanguageAgent:
    """A language model as a policy.

    Args:
        game: which it plays.
        complete: ``complete(messages) -> Reply | str`` for chat messages ``[{"role": ..., "content": ...}]``; with
            ``seat.constrained`` it is also given ``choices=`` (names of the legal actions), with ``seat.sampled``
            ``seed=``. None answers from the ledger alone.
        name: shown in results and kept in the ledger.
        seat: how it is asked.
        ledger: an open ``Ledger`` of ``Question`` and ``Decision``; default: one in memory.
        at_once: questions under way at a time, in threads.
        scoring: what the match counts, where this is not the reward of ``game``: ``IMPS`` of a duplicate match.

    The model is asked once for each distinct question; with ``seat.sampled`` a question has a seed that follows from
    the policy seed, board and turn. So the answers depend on nothing but the ledger, and a match can be replayed.

    Raises:
        ValueError: the ledger has no answer and there is no ``complete``, or an action that is not legal there.
    """

    paid = True  # nobody asks it on trial

    def __init__(
        self,
        game: Game,
        complete: Complete | None,
        name: str = "language",
        seat: Seat = AS_USUAL,
        ledger: Ledger[Question, Decision] | None = None,
        at_once: int = 8,
        scoring: str = "",
    ) -> None:
        self.scoring = scoring
        self.game, self.complete, self.name, self.seat, self.at_once = game, complete, name, seat, at_once
        self.model = name
        self.ledger = Ledger(None, Question, Decision) if ledger is None else ledger
        self.usage = Usage()
        self._fallback = agents.resolve(seat.fallback, game) if seat.fallback else None
        self._about = json.dumps(asdict(seat)), str(game)
        self._memory: dict[tuple[Any, ...], list[tuple[int, str, str]]] = {}

    def __repr__(self) -> str:
        return f"<{self.name}: a language model, for {self.game}>"

    def __copy__(self) -> LanguageAgent:
        same = object.__new__(LanguageAgent)
        same.__dict__.update(self.__dict__)
        return same

    def __reduce__(self) -> Any:
        raise ValueError(f"{self.name}: a language model plays in one process; leave out --workers")

    def act(self, views: States, legal: I8, rng: Streams) -> I64:
        """Actions ``[B]``: the model's, or the fallback's where it named no legal one."""
        questions = [self._question(views[b], legal[b], int(rng.keys[b])) for b in range(len(views))]
        rows = {question: b for b, question in reversed(list(enumerate(questions)))}
        with ThreadPoolExecutor(self.at_once) as pool:
            decisions = dict(zip(rows, pool.map(lambda question: self._decide(question, legal[rows[question]]), rows)))
        actions = np.empty(len(views), np.int64)
        for b, question in enumerate(questions):
            decision, row = decisions[question], slice(b, b + 1)
            self.usage.count(question, decision)
            if not decision.action:
                actions[b] = self._falls_back(views[row], legal[row], rng[row])
            elif (action := _number(self.game, decision.action)) is None or not legal[b, action]:
                raise ValueError(f"{self.ledger.where(question)}: action {decision.action!r}, expected a legal one")
            else:
                actions[b] = action
            if self.seat.memory:
                answer = decision.replies[-1] if decision.action else self.game.action_text(int(actions[b]))
                self._memory[_place(views[b])].append((self._clock(views[b]), question.messages[-1], answer))
        return actions

    def _question(self, view: State, legal: I8, key: int) -> Question:
        system, question = prompt(self.game, view, legal, self.seat, self.scoring)
        place, remembered = _place(view), list[str]()  # questions and answers at this seat of this board
        if self.seat.memory:
            now = self._clock(view)
            if any(clock >= now for clock, _, _ in self._memory.setdefault(place, [])):
                self._memory[place] = []  # an episode that was played before
            remembered = [text for _, asked, answer in self._memory[place] for text in (asked, answer)]
        seed = key % 2**31 if self.seat.sampled else 0
        return Question(self.model, *self._about, (system, *remembered, question), seed)

    def _clock(self, view: State) -> int:
        return int(self.game.clock(np.atleast_1d(view))[0])

    def _decide(self, question: Question, legal: I8) -> Decision:
        if question in self.ledger.done:
            return self.ledger.done[question]
        if self.complete is None:
            raise ValueError(f"{self.ledger.path}: no answer of {self.name} to: {shortened(question.messages[-1])}")
        more: dict[str, Any] = {"seed": question.seed} if self.seat.sampled else {}
        more |= {"choices": action_texts(self.game, legal)} if self.seat.constrained else {}
        roles = chain(["system"], cycle(["user", "assistant"]))
        messages = [{"role": role, "content": text} for role, text in zip(roles, question.messages)]
        replies: list[Reply] = []
        problems: list[str] = []
        reading = Reading(None)
        while reading.action is None and len(replies) < self.seat.tries:
            replies.append(_sound(self.complete(list(messages), **more), self.name))
            reading = read_action(self.game, replies[-1].text, legal, self.seat.listed)
            problems.append(reading.problem)
            messages += [
                {"role": "assistant", "content": replies[-1].text},
                {"role": "user", "content": reading.question},
            ]
        texts, asked_tokens, reply_tokens = zip(*replies)
        action = "" if reading.action is None else self.game.action_text(reading.action)
        decision = Decision(texts, tuple(problems), asked_tokens, reply_tokens, action)
        with _ADDING:
            if question not in self.ledger.done:
                self.ledger.add(question, decision)
            return self.ledger.done[question]

    def _falls_back(self, view: States, legal: I8, rng: Streams) -> Any:
        if self._fallback is not None:
            return self._fallback.act(view, legal, rng)[0]
        passes = "P" in action_texts(self.game, legal[0])
        return self.game.action_number("P") if passes else Uniform().act(view, legal, rng)[0]


def _sound(reply: Reply | str, name: str) -> Reply:
    """A reply as the ledger takes it: text that can be written as UTF-8, and tokens that are counts, else None.

    Raises:
        TypeError, ValueError: it is no text, or one of more than ``MOST_REPLY`` characters.
    """
    text, *counts = reply if isinstance(reply, Reply) else (reply, None, None)
    if not isinstance(text, str):
        raise TypeError(f"{name}: complete() gave {type(text).__name__}, expected a text or a Reply")
    if len(text) > MOST_REPLY:
        raise ValueError(f"{name}: a reply of {len(text):,} characters, expected at most {MOST_REPLY:,}")
    asked, replied = (count if is_whole(count, 0, 10**DIGITS - 1) else None for count in counts)
    return Reply(sound_text(text), asked, replied)


def _place(view: State) -> tuple[Any, ...]:
    """Board and seat of a view, and the table of a duplicate pair."""
    return tuple(int(view[name]) for name in ("board", "leg", "seat", "player") if name in (view.dtype.names or ()))


class Usage:
    """What a match asked of a model, counted over its distinct questions; decisions and fallbacks over all tables."""

    def __init__(self) -> None:
        self.decisions, self.fallbacks = 0, 0
        self._asked: dict[Question, Decision] = {}

    def count(self, question: Question, decision: Decision) -> None:
        """One more decision."""
        self.decisions += 1
        self.fallbacks += not decision.action
        self._asked[question] = decision

    def _each(self, field: str) -> list[Any]:
        return [value for decision in self._asked.values() for value in getattr(decision, field)]

    @property
    def replies(self) -> int:
        """Replies of the model."""
        return len(self._each("replies"))

    @property
    def illegal(self) -> int:
        """Those that named no legal action, or several."""
        return sum(map(bool, self._each("problems")))

    @property
    def usual_problem(self) -> str:
        """What was most often wrong with a reply; "" if nothing ever was."""
        problems = Counter(problem for problem in self._each("problems") if problem)
        return problems.most_common(1)[0][0] if problems else ""

    def tokens(self, field: Literal["asked_tokens", "reply_tokens"]) -> float:
        """Mean tokens a question or a reply has, over those where the server said so; NaN if it never did."""
        counts = [n for n in self._each(field) if n is not None]
        return sum(counts) / len(counts) if counts else float("nan")

    def __str__(self) -> str:
        share = self.illegal / max(1, self.replies)
        tokens = [self.tokens("asked_tokens"), self.tokens("reply_tokens")]
        asked, replied = (f"{mean:.0f}" if math.isfinite(mean) else "unknown" for mean in tokens)
        return (
            f"{self.decisions:,} decisions by {self.replies:,} replies to {len(self._asked):,} questions,"
            f" {self.illegal:,} replies not legal ({share:.1%}), {self.fallbacks:,} decisions by the fallback,"
            f" {asked} + {replied} tokens a reply"
        )


# ---- a server that speaks OpenAI's protocol ------------------------------------------------

_OLDER, _NEWER = "max_tokens", "max_completion_tokens"  # names of the same field
_PAUSE, _LONGEST_PAUSE = 0.5, 30.0  # seconds before a second try, doubled each time
TIMEOUT = 120.0  # seconds for a whole reply
SLOW = 8.0  # seconds after which a reply is slow, and between two lines that say what is waited for


def _to_stderr(text: str) -> None:
    print(text, file=sys.stderr)


def _seconds_until(after: str) -> float | None:
    """What ``Retry-After`` asks for, which is a number of seconds or a date; None if it is neither."""
    if re.fullmatch(r"\d+(\.\d+)?", after):
        return float(after)
    try:
        return max(0.0, parsedate_to_datetime(after).timestamp() - time.time())
    except (ValueError, OverflowError):
        return None


class OpenAI(Closing):
    """``complete`` of a model behind an address that speaks OpenAI's protocol: OpenAI, vLLM, llama.cpp, Ollama.

    Args:
        model: its name there.
        base_url: address, ``http://localhost:8080/v1``; default: ``OPENAI_BASE_URL``, else OpenAI's own.
        seat: how it is asked.
        timeout: seconds within which a whole reply must be there, and at most of a pause that the server asks for
            (``Retry-After``); pauses of our own double up to 30.
        tries: of a request that gets no answer, status 429 or 5xx, or something else than an answer.
        tell: is told, a line each, that a request is made again, after which pause and why, and once that a reply takes
            longer than ``SLOW`` seconds; default: standard error. Not more than a line in ``SLOW`` seconds.

    The key is ``OPENAI_API_KEY`` of the environment. It is nowhere kept, and cut out of every error and reply.

    Raises:
        ValueError: an address with a user or a password, or that is none; a ``timeout`` that is not above 0.
        ConnectionError: no answer after ``tries``, a status such as 401, or an answer of more than ``MOST_REPLY``
            bytes; names the address.
    """

    def __init__(
        self,
        model: str,
        base_url: str | None = None,
        seat: Seat = AS_USUAL,
        timeout: float = TIMEOUT,
        tries: int = 6,
        tell: Callable[[str], object] = _to_stderr,
    ):
        import openai

        if not 0 < timeout < math.inf:
            raise ValueError(f"timeout: {timeout}, expected seconds above 0")
        self.model, self.seat, self.timeout, self.tries = model, seat, timeout, tries
        self._tell, self._told, self._slow = tell, -math.inf, False  # when the last line was; whether a reply was slow
        self.base_url = base_url or os.environ.get("OPENAI_BASE_URL") or "https://api.openai.com/v1"
        place = urlsplit(self.base_url)
        if place.scheme not in ("http", "https") or not place.hostname or "@" in place.netloc or place.query:
            raise ValueError(
                "base URL: expected http://host/path without user, password and query; keys come from the environment"
            )
        self._most_tokens = _OLDER  # most servers know this name alone; newer models of OpenAI ask for the other one
        self._key = os.environ.get("OPENAI_API_KEY") or "none"
        self._client = openai.AsyncOpenAI(
            base_url=self.base_url,
            api_key=self._key,
            max_retries=0,
            timeout=timeout,
            default_headers={"Accept-Encoding": "identity"},  # what is packed may be of any size
            http_client=openai.DefaultAsyncHttpxClient(event_hooks={"response": [_limit]}),
        )
        self._loop = asyncio.new_event_loop()  # one for all threads that ask: a client belongs to its loop
        self._thread = threading.Thread(target=self._loop.run_forever, name="language", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End what is being asked, and the thread that asks."""
        if self._loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        requests = asyncio.all_tasks() - {asyncio.current_task()}
        for request in requests:
            request.cancel()
        await asyncio.gather(*requests, return_exceptions=True)
        await self._client.close()

    def __call__(self, messages: Sequence[Message], choices: Sequence[str] = (), seed: int | None = None) -> Reply:
        """The reply to ``messages``; one of ``choices`` as JSON where there are some (Structured Outputs)."""
        request = {"model": self.model, "messages": list(messages), "temperature": self.seat.temperature}
        request |= {self._most_tokens: self.seat.most_tokens} | ({} if seed is None else {"seed": seed})
        if choices:
            fields = {"action": {"enum": list(choices)}}
            schema = {"type": "object", "properties": fields, "required": [*fields], "additionalProperties": False}
            form = {"name": "action", "strict": True, "schema": schema}
            request["response_format"] = {"type": "json_schema", "json_schema": form}
        return asyncio.run_coroutine_threadsafe(self._ask(request), self._loop).result()

    async def _ask(self, request: dict[str, Any]) -> Reply:
        import openai

        problem, pause = "", _PAUSE
        for left in range(self.tries - 1, -1, -1):
            wait = min(pause, _LONGEST_PAUSE)
            try:
                slow = asyncio.get_running_loop().call_later(SLOW, self._is_slow)
                try:
                    async with asyncio.timeout(self.timeout):
                        answer = await self._client.chat.completions.with_raw_response.create(**request)
                        return self._reply(answered_json(answer.content, "the answer"))
                finally:
                    slow.cancel()
            except openai.APIStatusError as error:
                problem = f"status {error.status_code}, {error.message}"
                if error.status_code == 400 and _NEWER in error.message and _OLDER in request:
                    self._most_tokens, request[_NEWER] = _NEWER, request.pop(_OLDER)
                    continue
                if error.status_code == 401:
                    problem += " The key is taken from OPENAI_API_KEY."
                if error.status_code not in (408, 409, 429) and error.status_code < 500:
                    break
                asked = _seconds_until(error.response.headers.get("retry-after", ""))
                wait = wait if asked is None else min(asked, self.timeout)
            except TimeoutError:
                problem = f"no whole answer within {self.timeout:g} s, the timeout (--timeout, timeout=)"
            except (openai.OpenAIError, ValueError) as error:  # no connection, one cut off, or no JSON
                cause = error.__cause__ if isinstance(error.__cause__, TooLongError) else error
                problem = f"{type(cause).__name__}, {cause}"
                if isinstance(error, openai.APIConnectionError) and cause is error:
                    problem += " Is a server running there? The same command goes on where this one stopped."
                if isinstance(cause, TooLongError):
                    break
            if left:
                self._say(f"{problem}; asked again in {wait:g} s, {left} of {self.tries} tries left")
                await asyncio.sleep(wait)
            pause *= 2
        raise ConnectionError(f"{self.base_url}: {self._clean(shortened(problem))}") from None

    def _is_slow(self) -> None:
        """Say once, that a reply takes its time: with a slow model they all do."""
        if not self._slow:
            self._slow = True
            self._say(f"no reply of {self.model} for {SLOW:g} s; each may take {self.timeout:g} s, the timeout")

    def _say(self, text: str) -> None:
        now = time.monotonic()
        if now - self._told >= SLOW:  # several requests at a time meet the same trouble
            self._told = now
            self._tell(f"{self.base_url}: {self._clean(shortened(text))}")

    def _reply(self, answer: Any) -> Reply:
        """The reply in an ``answer``, a JSON value of any kind; ValueError if it is none.

        Where the content is empty, ``NO_REPLY`` with what there is instead: a refusal, reasoning, calls of tools.
        """
        try:
            choice = answer["choices"][0]
            message = dict(choice["message"])
        except (KeyError, IndexError, TypeError, ValueError):
            choice, message = {}, {}
        text, is_cut = message.get("content", 0), choice.get("finish_reason") == "length"
        has_text = isinstance(text, str) and bool(text.strip())
        instead = "" if has_text else self._instead(message, choice.get("finish_reason"), is_cut)
        if not isinstance(text, str | None) and not instead:
            said = answer.get("error") if isinstance(answer, dict) else None
            raise ValueError(f"an answer without text{f', {shown(said)}' if said else ''}, expected a chat completion")
        text = NO_REPLY % instead if instead else (text or "") + CUT_OFF * is_cut
        usage = answer.get("usage")
        counts = [
            usage.get(name) if isinstance(usage, dict) else None for name in ("prompt_tokens", "completion_tokens")
        ]
        return _sound(Reply(self._clean(text), *counts), self.model)

    def _instead(self, message: dict[str, Any], reason: Any, is_cut: bool) -> str:
        """What ``message`` has in place of content, and the reason why it ended; "" if it has nothing."""
        limit = f", up to the limit of most_tokens = {self.seat.most_tokens} (finish_reason length)" if is_cut else ""
        if message.get("refusal"):
            return f"the model refused, {shown(message['refusal'])}{limit}"
        if message.get("reasoning_content") or message.get("reasoning"):
            return f"the model only reasoned{limit}"
        if message.get("tool_calls"):
            return f"the model called tools, of which there are none{limit}"
        return f"finish_reason {shown(reason)}" if reason not in (None, "stop", "length") else ""

    def _clean(self, text: str) -> str:
        return text.replace(self._key, "[key]") if len(self._key) > len("none") else text


class TooLongError(ValueError):
    """An answer of more bytes than a reply has, or packed."""


async def _limit(response: Any) -> None:
    """See to it that no more than ``MOST_REPLY`` bytes of a server's response are read, of an error's too."""
    httpx = sys.modules[type(response).__module__.partition(".")[0]]  # newer versions of openai use httpx2

    class Limited(httpx.AsyncByteStream):  # type: ignore[misc, name-defined]
        async def __aiter__(self) -> AsyncIterator[bytes]:
            size = 0
            async for part in stream:
                size += len(part)
                if size > MOST_REPLY:
                    raise TooLongError(f"an answer of more than {MOST_REPLY:,} bytes")
                yield part

        async def aclose(self) -> None:
            await stream.aclose()

    if (packed := response.headers.get("content-encoding", "identity")) != "identity":
        await response.aclose()
        raise TooLongError(f"an answer packed by {packed[:40]!r}, expected none")
    stream, response.stream = response.stream, Limited()


# ---- agents by name: openai:MODEL, ledger:FILE ---------------------------------------------


class Seated(Closing):
    """Registers the agents ``openai:MODEL`` and ``ledger:FILE`` among the names of a command line, until closed.

    Args:
        names: of agents, of all kinds; another name may stand before ``=``. Of a ledger with the answers of several
            models one is ``ledger:FILE#MODEL``.
        base_url: of the server.
        seat: how models are asked; None: as usual, and of a ledger as its model was.
        ledger: file that keeps all answers and is asked first; default: in ``runs/``, by the names of the models.
        show: is told address and ledger before anything is sent.
        timeout: seconds for a whole reply of a server.
        tell: is told what a server is waited for, see ``OpenAI``.

    ``game`` is to be set before an agent is made, and ``scoring`` where a match counts something else than its reward.
    """

    def __init__(
        self,
        names: Sequence[str],
        base_url: str | None = None,
        seat: Seat | None = None,
        ledger: Path | None = None,
        show: Callable[[str], object] = print,
        timeout: float = TIMEOUT,
        tell: Callable[[str], object] = _to_stderr,
    ) -> None:
        self.game: Game | None = None
        self.scoring = ""  # see ``rules``
        self.agents: list[LanguageAgent] = []
        self.path: Path | None = None  # of the ledger that new answers go to
        self._ledgers: dict[Path, Ledger[Question, Decision]] = {}
        self._names = list[str]()
        texts = dict.fromkeys(agents.parts(name)[1] for name in names)
        models = [text.removeprefix("openai:") for text in texts if text.startswith("openai:")]
        if not all(models):
            raise ValueError("agent 'openai:': no model, expected openai:MODEL, its name at the server")
        self._models = list[OpenAI]()
        asked = AS_USUAL if seat is None else seat
        if agents.parts(asked.fallback)[1].startswith(("openai:", "ledger:")):
            raise ValueError(
                f"--seat fallback={asked.fallback}: a language model, expected an agent that always answers"
            )
        if ledger is not None and not models and texts:
            raise ValueError(f"--ledger {ledger}: no model is asked, so no answer is to be kept; leave it out")
        try:
            used = [asked] * len(models)
            self._models += (OpenAI(model, base_url, asked, timeout, tell=tell) for model in models)
            if models:
                path = ledger or Path("runs", re.sub(r"[^\w.-]", "_", f"language-{'-'.join(models)}.jsonl"))
                kept = self._opened(path)
                self.path = path
            for model, complete in zip(models, self._models):
                show(f"openai:{model} is asked at {complete.base_url}; answers are kept in {path}")
                self._register(f"openai:{model}", model, complete, asked, kept)
            for text in [text for text in texts if text.startswith("ledger:")]:
                file, wanted = text.removeprefix("ledger:"), ""
                if not Path(file).is_file():
                    file, _, wanted = file.rpartition("#") if "#" in file else (file, "", "")
                path = Path(file)
                if not path.is_file():
                    raise FileNotFoundError(f"{path}: no such ledger")
                kept = self._opened(path)
                model, kept_seat = _answered(kept, wanted, asked)
                self._register(text, model, None, kept_seat, kept)
                used.append(kept_seat)
            if seat is not None and used and seat not in used:
                way = as_options(used[-1]) or "the usual way"
                raise ValueError(f"--seat {as_options(seat)}: {text} was asked in {way}; leave --seat out, or say that")
        except BaseException:
            self.close()
            raise

    def __bool__(self) -> bool:
        return bool(self._ledgers)

    def _opened(self, path: Path) -> Ledger[Question, Decision]:
        if path not in self._ledgers:  # two models may be of one file, which has one writer
            self._ledgers[path] = Ledger(path, Question, Decision)
        return self._ledgers[path]

    def _register(
        self, text: str, model: str, complete: Complete | None, seat: Seat, ledger: Ledger[Question, Decision]
    ) -> None:
        def make() -> LanguageAgent:
            assert self.game is not None
            agent = LanguageAgent(self.game, complete, model, seat, ledger, scoring=self.scoring)
            self.agents.append(agent)
            return agent

        agents.register(text, make, "A language model.", registry.available())
        self._names.append(text)

    def close(self) -> None:
        """Close the ledgers and the connections; the names mean nothing any more."""
        for name in self._names:
            agents.NAMES.registered.pop(name, None)
        for ledger in self._ledgers.values():
            ledger.close()
        for model in self._models:
            model.close()


def _answered(ledger: Ledger[Question, Decision], wanted: str, seat: Seat) -> tuple[str, Seat]:
    """The model whose answers ``ledger`` holds, ``wanted`` or the only one, and how it was asked, ``seat`` or once.

    Raises:
        ValueError: there is none, or several, of which one is to be named.
    """
    if not ledger.done:
        raise ValueError(f"{ledger.path}: no answers, expected at least one")
    models = [*dict.fromkeys(question.model for question in ledger.done)]
    if wanted not in models if wanted else len(models) > 1:
        some = f"ledger:{ledger.path}#{models[0]}"
        raise ValueError(f"{ledger.path}: answers of {', '.join(models)}; name one of them, such as {some}")
    model = wanted or models[0]
    asked = {question.seat: question for question in ledger.done if question.model == model}
    seats = [parse(Seat, json_value(text, where := ledger.where(asked[text])), where) for text in asked]
    if len(seats) > 1 and seat not in seats:
        ways = "; ".join(as_options(each) or "the usual one" for each in seats)
        raise ValueError(
            f"{ledger.path}: {model} was asked in {len(seats)} ways, expected --seat to say one of them: {ways}"
        )
    return model, seat if seat in seats else seats[0]


def as_options(seat: Seat) -> str:
    """What ``--seat`` says for ``seat``, such as ``form=json tries=2``; "" of the usual way."""
    usual = asdict(AS_USUAL)
    return " ".join(f"{name}={value}" for name, value in asdict(seat).items() if value != usual[name])

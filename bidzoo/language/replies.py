"""What a model answers: the action that a reply names, or why it names none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from bidzoo.core.cards import SYMBOLS
from bidzoo.core.kernels import I8
from bidzoo.core.options import is_whole
from bidzoo.core.schema import DIGITS, answered_json, shown, sound_text
from bidzoo.envs.game import Game
from bidzoo.language.questions import action_texts

CUT_OFF = " [cut off]"  # at the end of a reply that reached ``most_tokens``
NO_REPLY = "[no reply: %s]"  # in place of a reply, what the server sent instead
MOST_REPLY = 2**20  # characters of a reply, and bytes of a server's answer


class Reply(NamedTuple):
    """A model's reply and how many tokens the question and the reply have; None where nobody says."""

    text: str
    asked_tokens: int | None = None
    reply_tokens: int | None = None


def sound_reply(reply: Reply | str, name: str) -> Reply:
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


class Reading(NamedTuple):
    """The action of a reply, or why there is none."""

    action: int | None
    problem: str = ""

    @property
    def question(self) -> str:
        """What the model is asked then."""
        return f"{self.problem[:1].upper()}{self.problem[1:]}. Your action?"


_FIELDS = ("action", "bid", "call", "card", "move", "play", "guess", "answer")  # of JSON, of a tag, of a line "bid: "
_FIELD = "|".join(_FIELDS)
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
    rf"""^[^\w\n]*+(?:my\ |final\ |the\ )?(?:{_FIELD})[^\w:=]*+[:=]
    [\s*_"'`(\[:=]*+(.*?\w.*?)(?:[;(]|\ because|\ since|$)""",
    re.IGNORECASE | re.MULTILINE | re.VERBOSE,
)


_TAGGED = re.compile(  # <answer>3NT</answer>, \\boxed{3NT}
    rf"<(?P<tag>{_FIELD})>(?P<inside>[^<]*)</(?P=tag)>|\\boxed\{{(?P<boxed>[^{{}}]*)\}}", re.IGNORECASE
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
_NOUNS = {*_FIELDS} | _set("choice decision response reply")
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
    rf"|\bis my (?:\w+ )?(?:{'|'.join(sorted(_NOUNS))})\b)",
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
    actions = [known_action(game, spelling) for spelling in spellings]
    actions.append(folded.get(" ".join(words).casefold()))
    for spelling, action in zip(spellings, actions):
        if len(spelling) == 2 and (action is None or not legal[action]):  # a card as rank and suit, or suit and rank
            turned = known_action(game, spelling[::-1].upper())
            if turned is not None and legal[turned]:
                return turned
    return next((action for action in actions if action is not None), None)


def known_action(game: Game, text: str) -> int | None:
    """The number of the action that is written ``text``; None if there is none."""
    try:
        return game.action_number(text) if text else None
    except (ValueError, LookupError):
        return None

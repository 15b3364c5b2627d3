"""A game as its interfaces drive it (AEC, batch, Gymnasium, OpenSpiel).

A game folder holds row kernels on one state record; its ``Game`` gives them these names. The states of
``B`` tables are a structured array ``[B]``; a *view* is a record of what one player may know. State and
view share the names of all public fields, so one kernel reads either.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cache, cached_property
from operator import index
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.calls import Call
from bidzoo.core.cards import (
    SEAT_NAMES,
    SEATS,
    card_number,
    check_deal,
    deal_hands,
    hand_bits,
    hand_in_words,
    hand_text,
    seat_number,
)
from bidzoo.core.kernels import F32, F64, I8, I64, U8, U64, Bool, State, States, allocate, row
from bidzoo.core.layout import Layout
from bidzoo.core.options import check_options, choose_from, is_whole, whole
from bidzoo.core.streams import checked_seed, stream_row
from bidzoo.core.threads import SHARE
from bidzoo.envs.picture import Picture

LAST_BOARD = 2**62 - 1  # to begin with: as many follow before the numbers end


class Buffers(NamedTuple):
    """What ``B`` tables show after a step, ``P`` players, ``A`` actions, ``F`` features; reused every step."""

    player: I8  # [B]     who acts next
    observation: I8  # [B, F]  of that player
    mask: I8  # [B, A]  1 = legal
    reward: F32  # [B, P]  of the episode that ended in this step, else 0
    over: Bool  # [B]     an episode ended in this step


@dataclass(frozen=True, repr=False)
class Encoder:
    """Turns records into vectors: views into observations, states into global states."""

    name: str
    layout: Layout
    kernel: Callable[[States, I8], None]  # records [B] -> out [B, layout.size]
    explain: Callable[[NDArray[Any]], str]  # one vector -> text
    code: int = 0  # branch of the game's ``encode_row``, where there are several
    bits: bool = False  # every entry is 0 or 1, so that vectors can be packed

    def __repr__(self) -> str:
        return f"<Encoder {self.name}: {self.layout.size} entries>"

    def __call__(self, records: States) -> I8:
        """Vectors ``[B, F]`` of ``records`` ``[B]``, freshly allocated."""
        out = np.empty((len(records), self.layout.size), np.int8)
        self.kernel(records, out)
        return out

    def encode(self, records: States, out: I8) -> None:
        """The same into ``out`` int8 ``[B, F]``; ValueError for another shape."""
        if out.shape != (len(records), self.layout.size):
            raise ValueError(f"{self.name}: out has shape {out.shape}, expected ({len(records)}, {self.layout.size})")
        self.kernel(records, out)


class Moves(NamedTuple):
    """``begin`` and ``step`` of a ``Game`` at ``B`` tables that stay: they take the other arguments, contiguous."""

    begin: Call  # boards [B], seed, rows [B]
    step: Call  # actions [B], seed, stride
    step_on: Call  # actions [B], seed, seats


class MovesAt(NamedTuple):
    """``begin``, ``step`` and ``observe`` of a ``Game`` at one ``Table``."""

    begin: Call  # board, seed
    step: Call  # action, seed, seats
    observe: Call  # player, out [F]


class Bits(NamedTuple):
    """Observations of ``B`` tables, eight entries to a byte, and where a kernel writes one before it packs it.

    A share of a batch has at least ``threads.SHARE`` rows, and each a row of its own in ``entries``.
    """

    packed: U8  # [B, N]  entry 8 * n + k is bit k of byte n
    entries: I8  # [S, 8 * N]

    @classmethod
    def of(cls, packed: U8) -> "Bits":
        """Those that are written into ``packed`` ``[B, N]``."""
        return cls(packed, np.zeros((len(packed) // SHARE + 1, 8 * packed.shape[1]), np.int8))


class Table:
    """One table of ``game`` in a single record, for interfaces that play one: a kernel is called with it fastest.

    ``states`` ``[1]`` and ``out`` (buffers of one table) are views of ``record`` ``[1]``.
    """

    def __init__(self, game: "Game", record: States | None = None) -> None:
        self.game, rules = game, game.rules_alone
        self.record = allocate(rules.table, 1) if record is None else record
        self.states: States = self.record["state"]
        out = {name: self.record[name] for name in Buffers._fields}
        out |= {"player": out["player"][0], "observation": out["observation"][:, : rules.encoder.layout.size]}
        self.out = Buffers(**out)
        if rules is not game:
            self.out = self.out._replace(observation=np.zeros((1, game.encoder.layout.size), np.int8))
        self._moves = game.moves_at(self)
        self.seats: dict[int, Any] = {}  # agents that have been asked here, see ``asking``; no copy keeps them

    def __reduce__(self) -> Any:
        return _table, (self.game, self.record, self.out.observation)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Table":
        return _table(self.game, self.record.copy(), self.out.observation)

    def begin(self, board: int, seed: int = 0, fixed: Mapping[str, Any] | None = None) -> None:
        """Deal ``board`` of ``seed``, changed as ``fixed`` (checked) says."""
        self._moves.begin.run(board, seed)
        if fixed:
            self.game.fix(self.states, fixed, self.out)

    def step(self, action: int, seed: int = 0, seats: int = 0) -> None:
        """Take a legal ``action`` (-1 none); then players of the set ``seats`` act, as ``Game.step`` says."""
        self._moves.step.run(action, seed, seats)

    def observe(self, player: int, out: I8) -> None:
        """Observation of any ``player`` into ``out`` ``[F]``, as ``Game.observe`` says."""
        self._moves.observe.run(player, out)


def _table(game: "Game", record: States, observation: I8) -> Table:
    table = Table(game, record)
    table.out.observation[:] = observation
    return table


class Game(ABC):
    """Rules of one configured game, on ``B`` tables at once.

    Boards are addressed by ``(seed, board)``: the same pair is the same deal in any batch.
    """

    id: str  # "bridge_bidding_v0"
    # Games whose records an agent reads alike: "bridge_bidding", "bridge", "spades", "signalling"; "" stands alone. An
    # agent of a family plays every game of it, also one from outside.
    family: str = ""
    num_players: int
    num_actions: int
    max_turns: int  # no episode is longer
    utility: Literal["zero_sum", "identical"]
    reward_range: tuple[float, float]  # of one player, one episode
    state: np.dtype[np.void]
    view: np.dtype[np.void]
    encoders: Mapping[str, Encoder]  # the first one is the default
    encoder: Encoder  # the one that fills Buffers.observation
    plays_random: bool = False  # ``step`` takes ``seats``

    @property
    @abstractmethod
    def state_encoder(self) -> Encoder:
        """Turns states into global states: all that bears on the rest of the episode, the same for every player.

        It holds all cards or types and who has looked at them, the public history as far as any observation shows it,
        who acts next, and what the reward depends on; by seat and not by viewer. Built on first use.
        """

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"<{self}: {self.num_players} players, {self.num_actions} actions, observation {self.encoder.name}>"

    # ---- what a game provides -------------------------------------------------------------

    @abstractmethod
    def begin(self, states: States, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        """Deal ``boards`` ``[B]`` of ``seed`` (only at ``rows`` ``[B]`` if given) and fill their buffers."""

    def deal_numbers(self, boards: I64, seed: int = 0) -> I64:
        """Numbers ``[B]`` of the deals of ``boards`` ``[B]``; results on boards of one deal are not independent."""
        return np.asarray(boards, np.int64)

    @abstractmethod
    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int = 0, seats: int = 0) -> None:
        """Take legal ``actions`` ``[B]`` (-1: leave that table alone, its reward and over become 0).

        Then players of the set ``seats`` (bit ``p``: player ``p``) act as the agent ``random`` with ``seed`` until
        another player is to act; a game without ``plays_random`` takes no ``seats``. A finished table is dealt
        ``board + stride`` of ``seed`` at once if ``stride`` > 0, and nobody has acted there; with ``stride`` 0 it stays
        finished: mask all 0, stepping it again changes nothing.
        """

    @abstractmethod
    def observe(self, states: States, rows: I64, player: int, out: I8) -> None:
        """Observations of any ``player`` at ``rows`` ``[n]`` into ``out`` ``[n, F]``, in any phase."""

    def moves(self, states: States, out: Buffers) -> Moves:
        """``begin`` and ``step`` at tables that stay."""

        def begin(boards: I64, seed: int, rows: Bool) -> None:
            self.begin(states, boards, seed, out, rows)

        def step(actions: I64, seed: int, stride: int) -> None:
            self.step(states, actions, seed, out, stride)

        def step_on(actions: I64, seed: int, seats: int) -> None:
            self.step(states, actions, seed, out, 0, seats)

        return Moves(Call(begin), Call(step), Call(step_on))

    def moves_at(self, table: Table) -> MovesAt:
        """``begin``, ``step`` and ``observe`` at one table that stays; here as a batch of one."""
        states, out = table.states, table.out

        def begin(board: int, seed: int) -> None:
            self.begin(states, np.array([board], np.int64), seed, out)

        def step(action: int, seed: int, seats: int) -> None:
            self.step(states, np.array([action], np.int64), seed, out, 0, seats)

        def observe(player: int, seen: I8) -> None:
            self.observe(states, np.zeros(1, np.int64), player, seen[None])

        return MovesAt(Call(begin), Call(step), Call(observe))

    def packed_moves(self, states: States, out: Buffers, bits: Bits) -> Moves:
        """``moves`` whose observations go into ``bits.packed``; a game may leave ``out.observation`` as it was."""

        def packing(move: Call) -> Call:
            return Call(lambda *arguments: self._then_pack(move, out, bits, *arguments))

        return Moves(*map(packing, self.moves(states, out)))

    def _then_pack(self, move: Call, out: Buffers, bits: Bits, *arguments: Any) -> None:
        move.run(*arguments)
        bits.packed[:] = np.packbits(out.observation, axis=1, bitorder="little")

    def asks(self, table: Table, views: States, keys: U64) -> Call:
        """What writes, for a seed, the view of the player to act at ``table`` into ``views`` ``[1]``.

        The key of that player's random numbers goes into ``keys`` ``[1]``.
        """
        return Call(self._ask_one, table, views, keys)

    def _ask_one(self, table: Table, views: States, keys: U64, seed: int) -> None:
        views[:] = self.view_of(table.states, table.out.player)
        keys[0] = stream_row(seed, int(table.states["board"][0]), int(self.clock(table.states)[0]))

    @abstractmethod
    def views(self, states: States, players: I64, out: States) -> None:
        """Views of ``players`` ``[B]`` into ``out`` ``[B]`` of dtype ``view``."""

    @abstractmethod
    def determinize(self, views: States, keys: U64, out: States) -> None:
        """Random states ``[B]`` consistent with ``views`` ``[B]``, drawn with ``keys`` ``[B]`` (consumed)."""

    @abstractmethod
    def action_text(self, action: int) -> str:
        """``"1NT"`` for 7: an action as players write it; ValueError unless it is one of this game."""

    @abstractmethod
    def action_number(self, text: str) -> int:
        """Inverse of ``action_text``; ValueError that names the text."""

    @abstractmethod
    def text(self, state: State) -> str:
        """The whole table as plain text (all hands, history, result)."""

    @abstractmethod
    def picture(self, state: State) -> Picture:
        """The whole table drawn."""

    def private_text(self, view: State) -> str:
        """What the player of ``view`` knows beside the actions, as text; in card games its hand and the dealer.

        With the actions so far it is the information set. ``view`` is one record: ``env.view(agent)[0]``.
        """
        return f"{self._hand_text(int(view['hand']))} dealer {SEATS[int(view['dealer'])]}"

    def _hand_text(self, hand: int) -> str:
        return hand_text(hand)

    def options(self, options: Mapping[str, Any]) -> Mapping[str, Any]:
        """Checked ``reset`` options of this game (``read_options``); here a board's number alone."""
        return read_options(options, {"board": read_board})

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:  # noqa: B027  most games fix nothing
        """Change the fresh deal of table 0 as checked ``options`` say, and refill its buffers."""

    def clock(self, states: States) -> I64:
        """Actions taken so far in each episode ``[B]``; with the board it addresses a policy's random stream."""
        turns: I64 = states["length"].astype(np.int64)
        return turns

    def fault(self, state: State, actions: Sequence[int]) -> str:
        """The fault of the record of a table after ``actions``, in words, or ``""``; for ``check_game``.

        A game may check more than its forms can.
        """
        return ""

    def allies(self, player: int) -> tuple[int, ...]:
        """Players whose reward is always that of ``player``, itself included."""
        if self.utility == "identical":
            return tuple(range(self.num_players))
        return tuple(range(player % 2, self.num_players, 2))

    # ---- what follows from it -------------------------------------------------------------

    def player_at(self, place: int | str) -> int:
        """The number of a player: as it is, ``"player_2"``, or of four players a seat, ``"South"`` or ``"S"``.

        Raises:
            ValueError: nobody sits there; names the places.
        """
        number, last = self._place(place), self.num_players - 1
        if not is_whole(number, 0, last):
            seats = f", {' '.join(SEAT_NAMES)}" if self.num_players == 4 else ""
            raise ValueError(
                f"{place!r} is no player of {self.id}; expected 0 ... {last}, player_0 ... player_{last}{seats}"
            )
        return int(number)

    def place_text(self, player: int) -> str:
        """``"player_2 (South)"``, of four players; else ``"player_1"``. ``player_at`` takes either word."""
        seat = f" ({SEAT_NAMES[player]})" if self.num_players == 4 else ""
        return f"player_{player}{seat}"

    def _place(self, place: int | str) -> Any:
        if isinstance(place, str) and place.startswith("player_") and place.removeprefix("player_").isdecimal():
            return int(place.removeprefix("player_"))
        if isinstance(place, str) and self.num_players == 4:
            try:
                return seat_number(place)
            except ValueError:
                return None
        return place

    def render(self, state: State, mode: str | None) -> Any:
        """Text (``ansi``), SVG document (``svg``), uint8 pixels ``[H, W, 3]`` (``rgb_array``), None for None."""
        return {"ansi": self.text, "svg": self.svg, "rgb_array": self.image}[mode](state) if mode else None

    def svg(self, state: State) -> str:
        """The picture as an SVG document; stands in HTML as it is."""
        return self.picture(state).svg()

    def image(self, state: State) -> NDArray[np.uint8]:
        """The picture as pixels ``[H, W, 3]`` (needs Pillow)."""
        return self.picture(state).pixels()

    @property
    def rules_alone(self) -> "Game":
        """This game, with an encoder of its own."""
        return self

    def __getstate__(self) -> dict[str, Any]:
        """What the game was made with; what it has worked out since would tell equal games apart in a ledger."""
        bases = [vars(each) for each in type(self).__mro__]
        cached = {name for each in bases for name, value in each.items() if isinstance(value, cached_property)}
        return {name: value for name, value in vars(self).items() if name not in cached}

    @cached_property
    def table(self) -> np.dtype[np.void]:
        """The record of a ``Table``: a state and buffers, of one type for all encoders, so that they share kernels."""
        fields = [
            ("state", self.state),
            ("player", np.int8, (1,)),
            ("observation", np.int8, (max(encoder.layout.size for encoder in self.encoders.values()),)),
            ("mask", np.int8, (self.num_actions,)),
            ("reward", np.float32, (self.num_players,)),
            ("over", np.bool_),
        ]
        return np.dtype(fields, align=True)

    def new(self, tables: int) -> States:
        """States of ``tables`` tables, not yet dealt."""
        return allocate(self.state, tables)

    def buffers(self, tables: int) -> Buffers:
        """Buffers of ``tables`` tables."""
        return Buffers(
            player=np.zeros(tables, np.int8),
            observation=np.zeros((tables, self.encoder.layout.size), np.int8),
            mask=np.zeros((tables, self.num_actions), np.int8),
            reward=np.zeros((tables, self.num_players), np.float32),
            over=np.zeros(tables, np.bool_),
        )

    def start(self, board: int, seed: int = 0, fixed: Mapping[str, Any] | None = None) -> tuple[States, Buffers]:
        """One table ``[1]`` before its first action, changed as ``fixed`` (checked) says, and its buffers.

        Raises:
            ValueError: a ``board`` or a ``seed`` that is none.
        """
        table = Table(self)
        table.begin(whole("board", board, 0, LAST_BOARD), checked_seed(seed), fixed)
        return table.states, table.out

    def view_of(self, states: States, players: NDArray[Any]) -> States:
        """Views of ``players`` ``[B]``, freshly allocated."""
        out = allocate(self.view, len(states))
        self.views(states, np.ascontiguousarray(players, np.int64), out)
        return out


# ---- reset options: every wrong value is a ValueError that names it --------------------------


@row
def is_legal_row(legal: I8, action: int) -> bool:
    """Whether any integer ``action`` is one of ``legal`` ``[A]``."""
    return bool(0 <= action < len(legal) and legal[action] != 0)


@row
def first_illegal(legal: I8, actions: I64, none: bool) -> int:
    """First row whose action is not ``legal`` ``[n, A]``, or -1; with ``none`` -1 is no action and always legal."""
    for b in range(len(actions)):
        if not (none and actions[b] == -1) and not is_legal_row(legal[b], actions[b]):
            return b
    return -1


def legal_actions(name: str, answer: Any, legal: I8, boards: NDArray[Any]) -> I64:
    """The actions that the agent called ``name`` chose at ``n`` tables, as int64 ``[n]``.

    Args:
        name: of the agent, for the error.
        answer: what its ``act`` returned, of any type.
        legal: ``[n, A]``.
        boards: numbers ``[n]``, for the error.

    Raises:
        ValueError: not one integer a table, or one that is not legal there.
    """
    actions = np.asarray(answer)
    if actions.shape != (len(legal),) or actions.dtype.kind not in "iu":
        got = f"{actions.dtype} {list(actions.shape)}"
        raise ValueError(f"{name}: act() gave {got}, expected one integer a row, [{len(legal)}]")
    actions = actions.astype(np.int64)
    if (b := first_illegal(np.ascontiguousarray(legal, np.int8), actions, False)) >= 0:
        allowed = np.flatnonzero(legal[b]).tolist()
        raise ValueError(f"{name}: illegal action {actions[b]} at board {boards[b]}; legal: {allowed}")
    return actions


def legal_chances(name: str, answer: Any, legal: I8) -> F64:
    """The probabilities that the agent called ``name`` gave at ``n`` tables, as float64 ``[n, A]``.

    Args:
        name: of the agent, for the error.
        answer: what its ``probabilities`` returned, of any type.
        legal: ``[n, A]``.

    Raises:
        ValueError: not one number an action, or numbers of legal actions that are no probabilities.
    """
    chances = np.asarray(answer)
    if chances.shape != legal.shape or chances.dtype.kind not in "iuf":
        got = f"{chances.dtype} {list(chances.shape)}"
        raise ValueError(f"{name}: probabilities() gave {got}, expected one number an action, {list(legal.shape)}")
    chances = chances.astype(np.float64)
    own = np.where(legal > 0, chances, 0.0)
    for b in np.flatnonzero(~((own >= 0).all(1) & (abs(own.sum(1) - 1) < NEAR_ONE))):
        given = own[b][legal[b] > 0].tolist()
        raise ValueError(f"{name}: probabilities() gave {given} to the legal actions, expected numbers that add to 1")
    return chances


def no_legal_action(game: Game, player: int, table: int, board: int) -> ValueError:
    """The error for rules that leave ``player``, who is to act, without an action."""
    return ValueError(
        f"{game}: player_{player} has no legal action at table {table} (board {board}); "
        f"bidzoo.check_game says more of such rules"
    )


NEAR_ONE = 1e-3  # sums of probabilities of float32
PASSED_OVER = 1000  # boards in a row that may end before a player is asked


def never_asked(game: Game, players: Sequence[int]) -> ValueError:
    """The error for a learner at ``players`` whom ``PASSED_OVER`` boards in a row end without asking."""
    places = " or ".join(map(game.place_text, players))
    return ValueError(
        f"{game}: {PASSED_OVER} boards in a row ended before {places} was to act; does that player ever act?"
    )


def action_index(agent: str, action: Any, actions: int, outside: bool = False) -> int:
    """``action`` of the player called ``agent`` as an int.

    Raises:
        ValueError: it is no integer, Python's or NumPy's, or not from 0 to ``actions`` - 1; ``outside`` of these it
            may be where the caller punishes it.
    """
    try:
        number = index(action)
        if (outside or 0 <= number < actions) and action is not True and action is not False:
            return number
    except TypeError:
        pass
    hint = ": give the number in it, action[0]" if getattr(action, "shape", ()) == (1,) else ""
    raise ValueError(f"{agent}: {action!r} is not an action (expected 0 ... {actions - 1}){hint}")


IGNORED = "options"  # the name that PettingZoo's official tests pass to every environment
ALIASES = {"hands": "deal"}  # other names of options, where a game has these


def read_options(options: Mapping[str, Any], readers: Mapping[str, Callable[[Any], Any]]) -> dict[str, Any]:
    """The ``options`` of ``reset`` that are not None, as their readers convert them.

    Raises:
        TypeError: no dict.
        ValueError: a name without a reader, two names of one thing, or a value that its reader refuses.
    """
    aliases = {alias: name for alias, name in ALIASES.items() if name in readers}
    if not isinstance(options, Mapping):
        raise TypeError(f"options {options!r}: expected a dict of {', '.join([*readers, *aliases])}")
    values: dict[str, Any] = {}
    for given, value in options.items():
        name = aliases.get(given, given)
        if given == IGNORED or (value is None and name in readers):
            continue
        if name not in readers:
            raise ValueError(f"unknown option {given!r}; {choose_from(given, [*readers, *aliases])}")
        both = sorted(key for key in options if aliases.get(key, key) == name and options[key] is not None)
        if len(both) > 1:
            raise ValueError(f"options {' and '.join(map(repr, both))} are the same thing: give one of them")
        try:
            values[name] = readers[name](value)
        except (ValueError, TypeError) as error:
            raise ValueError(f"option {given!r}: {error}") from error
    return values


def read_board(value: Any) -> int:
    """Number of a board."""
    if not is_whole(value, 0, LAST_BOARD):
        raise ValueError(f"{value!r} is not a board number (expected an integer from 0 to {LAST_BOARD})")
    return int(value)


def read_deal(value: Any) -> I64:
    """Cards of N E S W ``[4]`` of a PBN deal, or of four hands: texts, bit masks, or cards as numbers or texts."""
    if not isinstance(value, str | Sequence | np.ndarray):
        raise ValueError(f"{value!r} is no deal (expected a text of PBN, or four hands)")
    hands = deal_hands(value) if isinstance(value, str) else [read_hand(hand) for hand in value]
    check_deal(hands)
    return np.array(hands, np.int64)


def dealt(states: States) -> list[list[int]]:
    """What each table was dealt, as records hold it: hands as sets of cards, or the types, by player."""
    names = states.dtype.names or ()
    deals: list[list[int]] = states[next(name for name in ("hands", "types", "deal") if name in names)].tolist()
    return deals


def read_hand(hand: Any) -> int:
    """Bits of a hand: a text (``hand_in_words``), a bit mask, or cards as numbers or texts; any number of cards."""
    if is_whole(hand):
        return int(hand)
    if isinstance(hand, str):
        return hand_in_words(hand)
    if not isinstance(hand, Iterable):
        raise ValueError(f"{hand!r} is not a hand (expected cards, a PBN hand or a bit mask)")
    return hand_bits(card_number(card) if isinstance(card, str) else _read_card(card) for card in hand)


def _read_card(card: Any) -> int:
    if not is_whole(card):
        raise ValueError(f"{card!r} is not a card (expected 0 ... 51 or text such as AS)")
    return int(card)


# ---- the observation: the name of an encoder, or an encoder of one's own ------------------------


def choose_encoder(encoders: Mapping[str, Encoder], name: str | None) -> Encoder:
    """The encoder called ``name``, or the first."""
    if name is None:
        return next(iter(encoders.values()))
    if name not in encoders:
        raise ValueError(f"unknown observation {name!r}; {choose_from(name, encoders)}")
    return encoders[name]


def game_of(env_id: str, rules: Callable[..., Game], options: Mapping[str, Any]) -> Game:
    """``rules(**options)``, where ``observation`` may also be an ``Encoder`` of the game's views.

    Raises:
        TypeError: no option of that name; names ``env_id`` and the choices.
        ValueError: a value that the option's declared type does not allow.
    """
    encoder = options.get("observation")
    if isinstance(encoder, Encoder):
        others = {name: value for name, value in options.items() if name != "observation"}
        return with_encoder(game_of(env_id, rules, others), encoder)
    check_options(env_id, rules, options)
    return rules(**options)


def with_encoder(game: Game, encoder: Encoder) -> Game:
    """A copy of ``game`` that uses another encoder: an instance of its class, which matches and agents take alike.

    ``encoder`` is asked for the player to act at every table after every step, so its kernel should take all views at
    once.
    """
    twin = copy(game)
    twin.__class__ = _class_of(type(game))
    twin._base = game  # type: ignore[attr-defined]
    twin.encoder, twin.encoders = encoder, {**game.encoders, encoder.name: encoder}
    return twin


@cache
def _class_of(game: type[Game]) -> type[Game]:
    return type(game.__name__, (_Encoded, game), {"__doc__": game.__doc__, "__module__": game.__module__})


class _Encoded(Game):
    """Mixin: the base game writes its observation into an array of its own; ours is written after it."""

    _base: Game

    def __reduce__(self) -> Any:
        return with_encoder, (self._base, self.encoder)

    def begin(self, states: States, boards: I64, seed: int, out: Buffers, rows: Bool | None = None) -> None:
        self._base.begin(states, boards, seed, self._with_base_observation(out), rows)
        self._observe_all(states, out)

    def step(self, states: States, actions: I64, seed: int, out: Buffers, stride: int = 0, seats: int = 0) -> None:
        self._base.step(states, actions, seed, self._with_base_observation(out), stride, seats)
        self._observe_all(states, out)

    def observe(self, states: States, rows: I64, player: int, out: I8) -> None:
        self.encoder.encode(self.view_of(states[rows], np.full(len(rows), player)), out)

    def moves(self, states: States, out: Buffers) -> Moves:
        return Game.moves(self, states, out)

    def moves_at(self, table: Table) -> MovesAt:
        ruled = Table(self._base, table.record)  # the same, with the observation that the base game writes
        begin, step = (Call(self._then_observe, table.states, table.out, act) for act in (ruled.begin, ruled.step))
        return MovesAt(begin, step, Game.moves_at(self, table).observe)

    def packed_moves(self, states: States, out: Buffers, bits: Bits) -> Moves:
        return Game.packed_moves(self, states, out, bits)

    def _then_observe(self, states: States, out: Buffers, act: Callable[..., None], *arguments: int) -> None:
        act(*arguments)
        self._observe_all(states, out)

    @property
    def rules_alone(self) -> Game:
        return self._base

    def fix(self, states: States, options: Mapping[str, Any], out: Buffers) -> None:
        self._base.fix(states, options, self._with_base_observation(out))
        self._observe_all(states, out)

    def _with_base_observation(self, out: Buffers) -> Buffers:
        return out._replace(observation=np.empty((len(out.player), self._base.encoder.layout.size), np.int8))

    def _observe_all(self, states: States, out: Buffers) -> None:
        rows = np.flatnonzero(out.mask.any(axis=1))
        out.observation[:] = 0
        if len(rows):
            out.observation[rows] = self.encoder(self.view_of(states[rows], out.player[rows].astype(np.int64)))

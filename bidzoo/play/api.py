"""A session as plain data, and the requests of the page: only what the viewer may see leaves this module."""

import math
from collections.abc import Callable
from typing import Any

from bidzoo.agents import BRIDGE
from bidzoo.agents.explanation import Explanation
from bidzoo.core.cards import HAND_SIZE, NUM_CALLS, SIDES, hand_cards
from bidzoo.core.kernels import F32, State
from bidzoo.core.options import truth
from bidzoo.envs.bridge import render
from bidzoo.envs.bridge import state as bridge_state
from bidzoo.envs.picture import SUIT_COLORS, outline_path
from bidzoo.envs.render import cards_left
from bidzoo.envs.signalling.game import SignallingGame
from bidzoo.envs.signalling.state import OVER as SIGNALLING_OVER
from bidzoo.envs.spades import state as spades_state
from bidzoo.envs.spades.deals import STRENGTHS, SUITS, deck_card_text
from bidzoo.envs.spades.observation import sides_named
from bidzoo.envs.spades.render import bid_text, winner
from bidzoo.play import files
from bidzoo.play.catalog import HUMAN, menu, offer
from bidzoo.play.session import Position, Session, double_dummy_of

Plain = dict[str, Any]
BRIDGE_PHASES = {bridge_state.AUCTION: "auction", bridge_state.PLAY: "play", bridge_state.OVER: "over"}
SPADES_PHASES = {spades_state.BIDDING: "bidding", spades_state.PLAY: "play", spades_state.OVER: "over"}


def page(session: Session) -> Plain:
    """The table at the cursor, its seats, the legal actions, and the record."""
    with session.lock:
        position, game = session.position(), session.game
        game_offer = offer(session.setup.game_id)
        shows_legal = session.open or session.seats[position.player] == HUMAN
        return {
            "game": session.setup.game_id,
            "title": game_offer.title,
            "options": dict(session.setup.options),
            "seed": session.setup.seed,
            "dealt": session.setup.dealt,
            "board": session.setup.board,
            "seats": [
                {"name": name, "agent": agent, "human": agent == HUMAN, "allies": list(game.allies(p))}
                for p, (name, agent) in enumerate(zip(game_offer.seats, session.seats, strict=True))
            ],
            "reveal": session.reveal,
            "open": session.open,
            "fresh": session.fresh,
            "viewer": session.viewer,
            "player": position.player,
            "over": position.over,
            "cursor": session.cursor,
            "length": len(session.actions),
            "record": _record(session),
            "replaying": session.replaying,
            "legal": [action_data(session, a) for a in position.legal] if position.player >= 0 and shows_legal else [],
            "table": _table(session, position),
            "reward": [float(x) for x in position.out.reward[0]] if position.over else None,
            "file": _file(session),
        }


def action_data(session: Session, action: int) -> Plain:
    """An action's number, text, and card if it plays one."""
    game_id = session.setup.game_id
    first = NUM_CALLS if game_id in BRIDGE else spades_state.FIRST_CARD if game_id == "spades_v0" else None
    card = None if first is None or action < first else action - first
    return {"action": action, "text": session.game.action_text(action), "card": card}


def _record(session: Session) -> list[Plain]:
    """Player, seat and text of every action of the record; all of them were public when they were taken."""
    actions = session.actions
    players = session.setup.players(actions)
    seats = list(players)
    if session.setup.game_id in BRIDGE:  # declarer plays dummy's cards: the card is dummy's all the same
        state = session.setup.replay(actions).states[0]
        seats[int(state["length"]) :] = [int(seat) for seat in state["players"][: int(state["plays"])]]
    return [
        {"player": player, "seat": seat, **action_data(session, action)}
        for player, seat, action in zip(players, seats, actions, strict=True)
    ]


def _file(session: Session) -> Plain | None:
    if not session.boards:
        return None
    boards = [
        {
            "number": board.number,
            "complete": board.complete,
            "contract": board.contract,
            "declarer": board.declarer,
            "result": board.result,
            "calls": len(board.auction),
            "cards": len(board.play),
            "names": list(board.names),
        }
        for board in session.boards
    ]
    return {"name": session.source, "at": session.at_board, "boards": boards}


# ---- the table of each game ------------------------------------------------------------------


def _table(session: Session, position: Position) -> Plain:
    state = session.seen()
    if session.setup.game_id in BRIDGE:
        return _bridge(state)
    if session.setup.game_id == "spades_v0":
        return _spades(state)
    if not isinstance(session.game, SignallingGame):
        raise ValueError(f"{session.setup.game_id} cannot be shown")
    return _signalling(session.game, state, position.out.reward[0])


def _bridge(state: State) -> Plain:
    """Hands that are seen, the auction, the current trick and how it stands."""
    phase, declarer, trump = int(state["phase"]), int(state["declarer"]), int(state["bid"]) % 5
    dummy = (declarer + 2) % 4 if state["plays"] and declarer >= 0 else -1
    over, playing = phase == bridge_state.OVER, phase == bridge_state.PLAY
    hands = zip(state["held" if playing else "hands"], state["hands"])
    return {
        "kind": "bridge",
        "phase": BRIDGE_PHASES[phase],
        "dealer": int(state["dealer"]),
        "vulnerable": int(state["vulnerable"]),
        "hands": [hand_cards(int(hand)) if dealt else None for hand, dealt in hands],
        "counts": [HAND_SIZE if over else cards_left(state, seat) for seat in range(4)],
        "calls": [int(call) for call in state["calls"][: int(state["length"])]],
        "contract": render.contract(state) if int(state["bid"]) >= 0 or phase != bridge_state.AUCTION else "",
        "declarer": declarer,
        "dummy": dummy,
        "strain": trump if declarer >= 0 else None,
        "turn": int(state["hand_to_play" if playing else "turn"]),
        "trick": _trick(state, lambda cards, leader: render.winner(cards, leader, trump)),
        "tricks": len(render.tricks(state)),
        "won": [int(n) for n in state["won"]],
        "result": render.result(state) or ("passed out" if over else ""),
    }


def _spades(state: State) -> Plain:
    """Hands that are seen, bids, tricks, scores, and the current trick."""
    phase, sides, deck = int(state["phase"]), int(state["sides"]), int(state["deck"])
    over, bidding = phase == spades_state.OVER, phase == spades_state.BIDDING
    hands = zip(state["held" if phase == spades_state.PLAY else "hands"], state["hands"])
    names = sides_named(sides)
    ended = over or (int(state["rounds"]) > 0 and bidding and (state["bids"] < 0).all())

    def weakest_first(hand: int) -> list[int]:
        return sorted(hand_cards(hand), key=lambda card: (int(STRENGTHS[deck, card]), int(SUITS[deck, card])))

    return {
        "kind": "spades",
        "phase": SPADES_PHASES[phase],
        "dealer": int(state["dealer"]),
        "turn": int(state["turn"]),
        "hands": [weakest_first(int(hand)) if dealt else None for hand, dealt in hands],
        "counts": [HAND_SIZE if over else cards_left(state, seat) for seat in range(4)],
        "texts": {card: deck_card_text(deck, card) for card in range(52)} if deck else {},
        "suits": [int(suit) for suit in SUITS[deck]],
        "bids": [
            bid_text(int(bid), bool(int(state["blind"]) >> seat & 1)) if bid >= 0 else ""
            for seat, bid in enumerate(state["last_bids" if over else "bids"])
        ],
        "won": [int(n) for n in state["last_won" if over else "won"]],
        "scores": [
            {
                "side": names[s],
                "score": int(state["scores"][s]),
                "bags": int(state["bags"][s]),
                "gain": int(state["gains"][s]) if ended else None,
            }
            for s in range(sides)
        ],
        "round": int(state["rounds"]) + (not over),
        "broken": bool(state["broken"]),
        "trick": _trick(state, lambda cards, leader: int(state["leader"])),
        "tricks": int(state["plays"]) // 4,
        "result": winner(state),
    }


def _trick(state: State, taker: Callable[[list[int], int], int]) -> Plain | None:
    """The trick on the table: the current one, or the last as long as nobody has led to the next."""
    tricks = render.tricks(state)
    if not tricks:
        return None
    cards, leader = tricks[-1]
    return {"cards": cards, "leader": leader, "winner": taker(cards, leader) if min(cards) >= 0 else -1}


def _signalling(game: SignallingGame, state: State, reward: F32) -> Plain:
    """Types that are seen, the actions in order with their player, and the result."""
    over = int(state["turn"]) == SIGNALLING_OVER
    points = f"{float(reward[0]):+g}" if reward[0] else "0"
    words = [game.action_text(int(action)) for action in state["history"][: int(state["length"])]]
    return {
        "kind": "signals",
        "phase": "over" if over else "play",
        "turn": int(state["turn"]),
        "word": game.type_word,
        "types": [int(x) if x >= 0 else None for x in state["types"]],
        "sizes": list(game.num_types),
        "history": [{"player": game.mover(i), "text": game.drawn(word)} for i, word in enumerate(words)],
        "result": f"{game.drawn(game.result_text(state, float(reward[0])))}: {points}" if over else "",
    }


# ---- what the page asks for ------------------------------------------------------------------


def double_dummy(session: Session) -> Plain:
    """Tricks of every declarer in every strain, and par for North/South; solved now if the deal has none.

    Raises:
        ValueError: it would tell a player the hidden hands.
    """
    with session.lock:
        state, visible = session.position().states[0].copy(), session.open
    if session.setup.game_id not in BRIDGE:
        raise ValueError("only bridge deals have a double-dummy table")
    if not visible:
        raise ValueError(
            "the double-dummy table would tell the hidden hands: it is shown at the end, or once all hands are shown"
        )
    tricks, points = double_dummy_of(state)
    return {"tricks": [int(n) for n in tricks], "par": points, "words": render.score(points) if points else "0"}


def total(session: Session) -> Plain:
    """Every board that people have finished at this table, in duplicate points and IMPs of their side."""
    compared = session.compare()
    with session.lock:
        boards = list(session.compared.values())
        human = session.seats.index(HUMAN)
        agents = zip(offer(session.setup.game_id).seats, session.other_table(), strict=True)
    return {
        "boards": [board._asdict() for board in boards],
        "last": compared._asdict(),
        "side": SIDES[human % 2],
        "agents": ", ".join(f"{agent} sits {seat}" for seat, agent in agents),
        "imps_par": sum(board.imps_par for board in boards),
        "imps_other": sum(board.imps_other for board in boards),
    }


def explanation(session: Session, explanation: Explanation, name: str) -> Plain:
    """An explanation by the agent ``name`` as plain data: nan becomes null, cards and actions get their texts."""
    curve = explanation.curve
    return {
        "agent": name,
        "player": session.position().player,
        "text": explanation.text,
        "chances": [{**action_data(session, a), "value": _number(chance)} for a, chance in explanation.chances.items()],
        "values": [
            {**action_data(session, a), "value": _number(mean), "error": _number(error)}
            for a, (mean, error) in explanation.values.items()
        ],
        "unit": explanation.unit,
        "facts": [list(fact) for fact in explanation.facts],
        "bars": [
            {"title": b.title, "kind": b.kind, "rows": [[w, _number(v)] for w, v in b.rows]} for b in explanation.bars
        ],
        "curve": curve
        and {
            "title": curve.title,
            "across": curve.across,
            "up": curve.up,
            "points": [[_number(x), _number(y)] for x, y in curve.points],
            "here": [_number(x) for x in curve.here],
        },
        "belief": [{"seat": seat, "chances": [_number(x) for x in row]} for seat, row in explanation.belief.items()],
        "beliefSource": explanation.belief_source,
        "samples": [
            [{"seat": s, "cards": hand_cards(hand)} for s, hand in deal.items()] for deal in explanation.samples
        ],
    }


def _number(x: float) -> float | None:
    return round(float(x), 5) if math.isfinite(x) else None


# ---- routes: one for each request of the page ------------------------------------------------


class Body(Plain):
    """The JSON object of a request. What it leaves out is None, which the session refuses as any other wrong value."""

    def __missing__(self, name: str) -> None:
        return None


Route = Callable[[Session, Body], Plain | None]  # the result of a request; None: answer with ``page``


def _games(session: Session, body: Body) -> Plain:
    """Every game, its options and agents; the suits as they are drawn."""
    suits = [{"path": outline_path(suit), "color": color} for suit, color in enumerate(SUIT_COLORS)]
    return {"games": menu(), "suits": suits}


def _new(session: Session, body: Body) -> None:
    options = {name: body[name] for name in ("options", "seats", "seed", "board") if name in body}
    session.start(body["game"], **options)


def _next_board(session: Session, body: Body) -> None:
    files.next_board(session)


def _reveal(session: Session, body: Body) -> None:
    session.reveal = truth("on", body["on"])


def _think(session: Session, body: Body) -> Plain:
    """What the agent to act thinks, or what ``agent`` would think in its place."""
    name = body.get("agent")
    if name is not None and not isinstance(name, str):
        raise ValueError(f"agent {name!r}: expected a name")
    with session.lock:
        player = session.position().player
        agent = name or (session.seats[player] if player >= 0 else "")
    return explanation(session, session.explain(name), agent)


def _save(session: Session, body: Body) -> Plain:
    """The board as a file's name and text."""
    name, content = files.save(session)
    return {"name": name, "text": content}


GET: dict[str, Route] = {
    "/api/games": _games,
    "/api/state": lambda session, body: page(session),
    "/api/tricks": lambda session, body: double_dummy(session),
    "/api/save": _save,
}
POST: dict[str, Route] = {
    "/api/new": _new,
    "/api/next": _next_board,
    "/api/sit": lambda session, body: session.sit(body["seats"]),
    "/api/act": lambda session, body: session.act(body["action"], body["at"]),
    "/api/agent": lambda session, body: session.agent_turn(body["at"]),
    "/api/go": lambda session, body: session.go(body["cursor"]),
    "/api/undo": lambda session, body: session.undo(),
    "/api/reveal": _reveal,
    "/api/think": _think,
    "/api/compare": lambda session, body: total(session),
    "/api/load": lambda session, body: files.load(session, body["name"], body["text"]),
    "/api/open": lambda session, body: files.open_board(session, body["index"], body["way"]),
}

"""Against OpenSpiel, whose side of the protocol was tested with WBridge5.

Its table manager seats our client; our table manager takes WBridge5's words from OpenSpiel's record of a board.
"""

import ast
import socket
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pyspiel
import pytest
from open_spiel.python.bots.bluechip_bridge import BlueChipBridgeBot

from bidzoo.agents.policy import Uniform
from bidzoo.bluechip.boards import DealtBoard
from bidzoo.bluechip.client import Client
from bidzoo.core.cards import NUM_CALLS, hand_bits


def ours(action):
    """OpenSpiel's action in bidzoo's numbers."""
    return action - 52 if action >= 52 else NUM_CALLS + action


@pytest.fixture(scope="module")
def session():
    """WBridge5's lines as East, the table manager's, and all actions, from the test that OpenSpiel installs."""
    source = Path(find_spec("open_spiel.python.bots.bluechip_bridge_test").origin).read_text()
    tree = ast.walk(ast.parse(source))
    heard, told, history = [], [], []
    for node in tree:
        if isinstance(node, ast.Dict) and getattr(node.keys[0], "value", "") == "read_line.side_effect":
            heard = ast.literal_eval(node.values[0])
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "send_line":
            told.append((node.lineno, ast.literal_eval(node.args[0])))
        elif isinstance(node, ast.List) and all(isinstance(element, ast.Constant) for element in node.elts):
            numbers = ast.literal_eval(node)
            history = numbers if numbers and isinstance(numbers[0], int) else history
    return heard, [line for _, line in sorted(told)], history


def test_the_recorded_board_of_wbridge5(tm, session):
    heard, told, history = session
    hands = np.array([hand_bits(history[seat:52:4]) for seat in range(4)])
    us = tm.Listed([ours(action) for action in history[52:]])
    match = tm.Match(
        tm.cards, (us, us), (None, us), [DealtBoard(0, 0, 0, hands, np.full(20, -1, np.int8))], rooms=["open"]
    )
    with socket.create_connection(("127.0.0.1", match.port())) as wbridge5:
        lines = [*heard, "EAST ready for SOUTH's card to trick 13"]  # the record stops one card early
        wbridge5.sendall("".join(f"{line}\r\n" for line in lines).encode())
        received = wbridge5.makefile(encoding="ascii").read().splitlines()
    result = match.done().results["open", 1]
    assert (result.contract, result.declarer, result.taken, result.points) == ("6H", "E", 12, -980)
    assert [call[1:2] for call in result.calls].count(["!"]) == 1
    expected = [line for line in told if not line.startswith("Teams")]
    answered = [line for line in received if not line.startswith(("Teams", "Timing", "End of", "SOUTH plays ts"))]
    # where declarer leads from dummy, OpenSpiel names declarer's own seat; the specification says "Dummy"
    assert [line.replace("Dummy to", "EAST to") for line in answered] == expected
    assert match.reports == []


class Controller:
    """What OpenSpiel's bot talks to: the first program that connects."""

    def __init__(self, listener):
        self.connection, _ = listener.accept()
        self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.file = self.connection.makefile(encoding="ascii")

    def read_line(self):
        """Without its end."""
        return self.file.readline().rstrip("\r\n")

    def send_line(self, line):
        """With its end."""
        self.connection.sendall(f"{line}\r\n".encode())

    def terminate(self):
        """Break off."""
        self.file.close()
        self.connection.close()


@pytest.mark.parametrize("seat", range(4))
def test_our_client_at_openspiels_table(tm, seat):
    game = pyspiel.load_game("bridge(use_double_dummy_result=False)")
    rng = np.random.default_rng(seat)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        guest = tm.Guest(Client(Uniform(), seed=5), listener.getsockname()[1])
        bot = BlueChipBridgeBot(game, seat, lambda: Controller(listener))
        boards = []
        for _ in range(4):
            state = game.new_initial_state()
            while not state.is_terminal():
                legal = state.legal_actions()
                if state.is_chance_node():
                    state.apply_action(int(rng.choice(legal)))
                elif state.current_player() == seat:
                    action = bot.step(state)
                    assert action in legal
                    state.apply_action(action)
                else:
                    state.apply_action(52 if 52 in legal and rng.random() < 0.7 else int(rng.choice(legal)))
            bot.inform_state(state)
            bot.restart()
            boards.append(state.history()[52:])
        bot._controller.send_line("End of session")
        guest.done()
        bot.terminate()
    assert guest.problem is None
    assert guest.client.seat == seat
    for number, (heard, history) in enumerate(zip(guest.client.heard, boards, strict=True), 1):
        assert heard.number == number
        assert [call.call for call in heard.calls] == [ours(a) for a in history if a >= 52]
        assert [card.card for card in heard.cards] == [a for a in history if a < 52]

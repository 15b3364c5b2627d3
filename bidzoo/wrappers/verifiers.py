"""A game as an environment of ``verifiers`` (0.4, ``verifiers.v1``): a taskset of boards, their episodes, a harness.

Each seat of the model has an agent run of its own at each table, with a trace and a reward, so that no seat reads
another's cards.

    import verifiers.v1 as vf
    from bidzoo.wrappers.verifiers import ID, BoardsConfig, BoardsEnvConfig
    env = vf.load_environment(BoardsEnvConfig(taskset=BoardsConfig(id=ID, game="minibridge_v0", seats=[0, 1])))

``verifiers`` looks plugins up by a plain module name: ``ID`` is one from when this file is imported. Its commands need
a file ``bidzoo_boards.py`` on the path: ``from bidzoo.wrappers.verifiers import *``.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import AsyncExitStack
from typing import Any

import verifiers.v1 as vf
from verifiers.v1.dialects.chat import message_to_wire

from bidzoo.language import Seat
from bidzoo.registry import make_game
from bidzoo.wrappers.text import TextTable

__all__ = ["BoardsEnv", "BoardsTaskset", "ChatHarness"]

ID = "bidzoo_boards"
sys.modules.setdefault(ID, sys.modules[__name__])


class BoardsConfig(vf.TasksetConfig):
    """Which boards are played, and by whom."""

    game: str = "bridge_bidding_v0"
    options: dict[str, Any] = {}  # of the game; bridge: {"reward": "par"} or {"reward": "duplicate"}
    seats: list[int | str] = ["North", "South"]  # of the model
    others: str = "sayc"  # the agent at the other seats
    asked: dict[str, Any] = {}  # fields of ``bidzoo.language.Seat``
    boards: int = 1000
    seed: int = 0


class BoardData(vf.TaskData):
    """A board."""

    board: int


class BoardTask(vf.Task[BoardData]):
    """A board to be played."""


class BoardsTaskset(vf.Taskset[BoardTask, BoardsConfig]):
    """Boards 0 ... ``boards`` - 1 of ``seed``."""

    def load(self) -> Iterator[BoardTask]:
        for board in range(self.config.boards):
            yield BoardTask(BoardData(name=f"{self.config.game}#{board}", board=board), self.config.task)


class BoardsEnvConfig(vf.EnvConfig):
    """The model that plays; nothing runs in the runtime, so it is this machine."""

    player: vf.AgentConfig = vf.AgentConfig(runtime=vf.SubprocessConfig())


class BoardsEnv(vf.Env[BoardsEnvConfig]):
    """One board an episode; rewards are the game's, and ``illegal`` counts replies that were not legal.

    A run that reaches a limit, or breaks off, forfeits the board (``TextTable.forfeit``); errors are in its trace.
    """

    async def run(self, task: BoardTask, agents: Any) -> None:
        """Play the board of ``task``."""
        config = self.taskset.config
        table = TextTable(make_game(config.game, **config.options), config.seats, config.others, Seat(**config.asked))
        conversations: dict[int, tuple[int, Any]] = {}  # player and run
        illegal: Counter[int] = Counter()
        asked = table.reset(task.data.board, config.seed)
        async with AsyncExitStack() as stack:
            while asked is not None:
                number = asked.conversation
                if number not in conversations:
                    told = task.with_system_prompt(asked.system)
                    run = await stack.enter_async_context(agents.player.interaction(told))
                    conversations[number] = asked.player, run
                segment = await conversations[number][1].turn(asked.question)
                if segment.terminated:  # a limit of the run, or an error, which its trace holds
                    table.forfeit()
                    break
                asked = table.reply(segment.last_reply)
                illegal[number] += table.illegal > 0
        for number, (player, interaction) in conversations.items():
            interaction.trace.record_reward("board", float(table.rewards[player]))
            interaction.trace.record_metric("illegal", float(illegal[number]))
            interaction.trace.info["player"] = player


class ChatConfig(vf.HarnessConfig):
    """Nothing to set."""


class ChatHarness(vf.Harness[ChatConfig]):
    """One reply a turn, asked for in this process: nothing is launched or installed."""

    APPENDS_SYSTEM_PROMPT = True
    SUPPORTS_RESUME = True
    EXECUTES_CODE = False
    NEEDS_CONTAINER = False

    async def launch(
        self, ctx: Any, trace: Any, runtime: Any, endpoint: str, secret: str, mcp_urls: Any, data: Any
    ) -> Any:
        """Ask for the reply to the conversation in ``data``."""
        import openai

        system, conversation = self.resolve_prompt(data)
        messages = [{"role": "system", "content": system}] if system else []
        messages += [message_to_wire(message) for message in conversation]
        async with openai.AsyncOpenAI(base_url=endpoint, api_key=secret, max_retries=0) as client:
            await client.chat.completions.create(model=ctx.model, messages=messages)
        return vf.ProgramResult(0, "", "")

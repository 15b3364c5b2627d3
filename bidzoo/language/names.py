"""Language models by name on a command line: ``openai:MODEL`` and ``ledger:FILE``."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from bidzoo import agents, registry
from bidzoo.core.schema import json_value, parse
from bidzoo.core.storage import Closing, Ledger
from bidzoo.envs.game import Game
from bidzoo.language.agent import Complete, Decision, LanguageAgent, Question
from bidzoo.language.questions import AS_USUAL, Seat
from bidzoo.language.server import TIMEOUT, OpenAI, to_stderr


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
        tell: Callable[[str], object] = to_stderr,
    ) -> None:
        self.game: Game | None = None
        self.scoring = ""  # see ``rules``
        self.agents: list[LanguageAgent] = []
        self.path: Path | None = None  # of the ledger that new answers go to
        self._ledgers: dict[Path, Ledger[Question, Decision]] = {}
        self._names = list[str]()
        self._models = list[OpenAI]()
        texts = dict.fromkeys(agents.parts(name)[1] for name in names)
        models = [text.removeprefix("openai:") for text in texts if text.startswith("openai:")]
        asked = AS_USUAL if seat is None else seat
        if not all(models):
            raise ValueError("agent 'openai:': no model, expected openai:MODEL, its name at the server")
        if agents.parts(asked.fallback)[1].startswith(("openai:", "ledger:")):
            raise ValueError(
                f"--seat fallback={asked.fallback}: a language model, expected an agent that always answers"
            )
        if ledger is not None and not models and texts:
            raise ValueError(f"--ledger {ledger}: no model is asked, so no answer is to be kept; leave it out")
        try:
            if models:
                self._models += (OpenAI(model, base_url, asked, timeout, tell=tell) for model in models)
                self.path = ledger or Path("runs", re.sub(r"[^\w.-]", "_", f"language-{'-'.join(models)}.jsonl"))
                kept = self._opened(self.path)
            for model, complete in zip(models, self._models):
                show(f"openai:{model} is asked at {complete.base_url}; answers are kept in {self.path}")
                self._register(f"openai:{model}", model, complete, asked, kept)
            replayed = {text: self._replay(text, asked) for text in texts if text.startswith("ledger:")}
            if seat is not None and replayed and not models and seat not in replayed.values():
                text, way = next(reversed(replayed.items()))
                raise ValueError(
                    f"--seat {as_options(seat)}: {text} was asked in {as_options(way) or 'the usual way'};"
                    " leave --seat out, or say that"
                )
        except BaseException:
            self.close()
            raise

    def _replay(self, text: str, asked: Seat) -> Seat:
        """Register ``text``, which is ``ledger:FILE`` or ``ledger:FILE#MODEL``; how its model was asked.

        Raises:
            FileNotFoundError: no such file.
            ValueError: as of ``_answered``.
        """
        file, wanted = text.removeprefix("ledger:"), ""
        if not Path(file).is_file() and "#" in file:
            file, _, wanted = file.rpartition("#")
        if not Path(file).is_file():
            raise FileNotFoundError(f"{file}: no such ledger")
        kept = self._opened(Path(file))
        model, seat = _answered(kept, wanted, asked)
        self._register(text, model, None, seat, kept)
        return seat

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

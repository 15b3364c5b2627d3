"""Language models at the table: rules and situations as text, replies as actions, and an agent that asks a model.

``rules(game)`` and ``situation(game, view)`` are what a model reads; ``read_action`` finds the action in its reply.
``LanguageAgent`` plays any game with any function of chat messages; its ledger replays a match without the model.
``OpenAI`` asks a server that speaks OpenAI's protocol; its package is the extra ``bidzoo[language]``.
"""

from bidzoo.language.agent import Decision, LanguageAgent, Question, Usage
from bidzoo.language.names import Seated, as_options
from bidzoo.language.questions import AS_USUAL, IMPS, Seat, action_texts, prompt, rules, situation, situation_text
from bidzoo.language.replies import Reading, Reply, read_action
from bidzoo.language.server import TIMEOUT, OpenAI

__all__ = [
    "AS_USUAL",
    "IMPS",
    "TIMEOUT",
    "Decision",
    "LanguageAgent",
    "OpenAI",
    "Question",
    "Reading",
    "Reply",
    "Seat",
    "Seated",
    "Usage",
    "action_texts",
    "as_options",
    "prompt",
    "read_action",
    "rules",
    "situation",
    "situation_text",
]

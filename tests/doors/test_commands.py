"""Every command line of the pages: its options are in its help, and what takes seconds is run."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from pages_of import HINT, PAGES, ROOT, Opens, blocks

COMMANDS = [
    (page, shlex.split(line, comments=True))
    for page in PAGES
    for block in blocks(page, "bash|console|sh")
    for line in block.replace("\\\n", " ").splitlines()
    if re.match(r"\s*(\$ )?([A-Z_]+=\S+ )?bidzoo\s", line)
]
LONG = ("play", "bench", "train", "exploit", "bluechip", "leaderboard", "--install-completion")  # minutes, or for ever
BROUGHT = re.compile(
    r"openai:|ledger:|mine:|--backend|experiments/|table-1.json"
)  # by the reader, or made by the above
SLOW = re.compile(r"generate|bridge_v0")
GROUPS = ("bench", "bluechip", "deals", "leaderboard", "train")  # whose next word is a command, too


def words_of(words: list[str]) -> list[str]:
    """The command line without a prompt and without variables before it."""
    return words[words.index("bidzoo") :]


def command_of(words: list[str]) -> list[str]:
    """``bidzoo`` with the names of the command and, before it, of its group."""
    words = words_of(words)[1:]
    words = words[2:] if words[:1] == ["--backend"] else words
    names = [word for word in words[: 2 if words[0] in GROUPS else 1] if not word.startswith("-")]
    return ["bidzoo", *names]


HELPED = {
    (*command_of(words), *sorted(word.partition("=")[0] for word in words if word.startswith("--"))): (page, words)
    for page, words in COMMANDS
}
RUN = {
    page: [
        words_of(words)
        for where, words in COMMANDS
        if where == page
        and words_of(words)[1] not in LONG
        and not BROUGHT.search(" ".join(words))
        and not SLOW.search(" ".join(words))
    ]
    for page in dict.fromkeys(page for page, _ in COMMANDS)
}


@pytest.mark.parametrize(
    ("page", "words"),
    [
        pytest.param(page, words, id=f"{page.relative_to(ROOT)}-{' '.join(words)[:60]}")
        for page, words in HELPED.values()
    ],
)
def test_the_help_names_every_option(opens: Opens, page: Path, words: list[str]) -> None:
    text = opens(["bidzoo", "--help"]) + opens([*command_of(words), "--help"])
    assert [word for word in words if word.startswith("--") and word.partition("=")[0] not in text] == []


@pytest.mark.parametrize("page", [page for page in RUN if RUN[page]], ids=lambda page: str(page.relative_to(ROOT)))
def test_cheap_commands_of_a_page_run(opens: Opens, page: Path, request: pytest.FixtureRequest) -> None:
    """One after the other in one folder: a page replays what it has recorded."""
    hint = request.getfixturevalue("hint") if HINT in page.read_text("utf-8") else None
    for words in RUN[page]:
        assert opens(words, page, hint), words


@pytest.mark.parametrize("words", [["bidzoo"], ["bidzoo", "list"], ["bidzoo", "--version"]])
def test_a_first_look(opens: Opens, words: list[str]) -> None:
    assert opens(words)

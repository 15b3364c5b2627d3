"""Generated pages: one per environment, from its module docstring and the layouts of its encoders."""

from importlib import import_module
from pathlib import Path

from bidzoo.registry import GAMES


def environment(env_id: str) -> str:
    """The page of ``env_id``: its docstring, then every observation bit by bit."""
    module = import_module(GAMES[env_id].module)
    game = module.make_game()
    parts = [module.__doc__.strip(), "", "## Observations, bit by bit", ""]
    for encoder in game.encoders.values():
        parts += [f"### `{encoder.name}`: {encoder.layout.size} entries", "", encoder.layout.markdown(), ""]
    return "\n".join(parts) + "\n"


def write(docs: Path) -> None:
    """Write ``docs/environments/*.md``; a file that would not change is left alone."""
    folder = docs / "environments"
    folder.mkdir(exist_ok=True)
    index = ["# Environments", "", "```{toctree}", *GAMES, "```", ""]
    pages = {"index": "\n".join(index)} | {env_id: environment(env_id) for env_id in GAMES}
    for name, text in pages.items():
        path = folder / f"{name}.md"
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

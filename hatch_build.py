"""The readme of a package index: README.md with links and pictures that work away from the repository."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

LINK = re.compile(r"(!?)\[([^]]*)\]\((?!https?://|#)([^)]+)\)")


def absolute(text: str, repository: str) -> str:
    """Markdown ``text`` whose relative links lead into ``repository``: pages to read, pictures as they are."""
    kinds = {"!": "raw", "": "blob"}
    return LINK.sub(lambda link: f"{link[1]}[{link[2]}]({repository}/{kinds[link[1]]}/main/{link[3]})", text)


class Readme(MetadataHookInterface):
    """Takes the repository's address from ``[project.urls]``, the only place that has it."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set ``readme``."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        found = absolute(text, metadata["urls"]["Repository"])
        metadata["readme"] = {"content-type": "text/markdown", "text": found}

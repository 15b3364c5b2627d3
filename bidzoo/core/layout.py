"""Named slices of a flat observation: one list for code, tests, docs and ``explain``."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True)
class Field:
    """``size`` consecutive entries called ``name``; ``labels`` names each entry, if they have names."""

    name: str
    size: int
    meaning: str
    labels: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.labels and len(self.labels) != self.size:
            raise ValueError(f"field {self.name!r} has {self.size} entries but {len(self.labels)} labels")

    @classmethod
    def of(cls, name: str, meaning: str, *labels: Iterable[object]) -> "Field":
        """One entry for each combination of ``labels``, the last varying fastest."""
        entries = tuple(" ".join(map(str, words)) for words in product(*labels))
        return cls(name, len(entries), meaning, entries)


@dataclass(frozen=True, repr=False)
class Layout:
    """Fields in order; offsets, spaces, documentation and tests all read them here."""

    fields: tuple[Field, ...]

    def __post_init__(self) -> None:
        names = [field.name for field in self.fields]
        if len(names) > len(set(names)):
            raise ValueError(f"two fields of a layout are called {next(n for n in names if names.count(n) > 1)!r}")

    def __repr__(self) -> str:
        return f"<Layout of {self.size} entries: {', '.join(f'{field.name} {field.size}' for field in self.fields)}>"

    @property
    def size(self) -> int:
        """Length of the flat observation."""
        return sum(field.size for field in self.fields)

    def start(self, name: str) -> int:
        """Index of the first entry of ``name``."""
        offset = 0
        for field in self.fields:
            if field.name == name:
                return offset
            offset += field.size
        raise KeyError(f"no field {name!r}; choose from {', '.join(f.name for f in self.fields)}")

    def split(self, vector: NDArray[Any]) -> dict[str, NDArray[Any]]:
        """Views of ``vector`` ``[..., size]`` by field name."""
        if vector.shape[-1] != self.size:
            raise ValueError(f"expected a vector of {self.size} entries, got shape {vector.shape}")
        ends = np.cumsum([field.size for field in self.fields])
        parts = np.split(vector, ends[:-1], axis=-1)
        return {field.name: part for field, part in zip(self.fields, parts, strict=True)}

    def read(self, vector: ArrayLike) -> dict[str, NDArray[Any]]:
        """``split`` of one vector ``[size]``; ValueError for another shape."""
        if np.shape(vector) != (self.size,):
            raise ValueError(f"expected one vector of {self.size} entries, got shape {np.shape(vector)}")
        return self.split(np.asarray(vector))

    def label(self, index: int) -> str:
        """The name of entry ``index``, e.g. ``hand[AS]``."""
        for field in self.fields:
            if index < field.size:
                return f"{field.name}[{field.labels[index] if field.labels else index}]"
            index -= field.size
        raise IndexError(f"index beyond the {self.size} entries of the layout")

    def describe(self, vector: NDArray[Any]) -> str:
        """The non-zero entries of one ``vector``, a line a field."""
        lines = []
        for field, part in zip(self.fields, self.split(vector).values(), strict=True):
            entries = [field.labels[i] if field.labels else str(i) for i in np.flatnonzero(part)]
            lines.append(f"{field.name}: {' '.join(entries) or '-'}")
        return "\n".join(lines)

    def markdown(self) -> str:
        """The table shown in the docs."""
        rows = [
            f"| `{self.start(f.name)}:{self.start(f.name) + f.size}` | {f.name} | {f.meaning} |" for f in self.fields
        ]
        return "\n".join(["| index | field | meaning |", "|---|---|---|", *rows])

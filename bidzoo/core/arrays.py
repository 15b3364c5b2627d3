"""Arrays from files: ``.npz`` and safetensors, read against a plan of what must be there.

Sizes are checked against the file before memory is asked for, then the type, the shape and the range of every array.
"""

import hashlib
import math
import warnings
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bidzoo.core.schema import shortened, shown
from bidzoo.core.storage import replace_file

Arrays = Mapping[str, NDArray[Any]]


def digest(arrays: Arrays) -> str:
    """The first 16 hexadecimal digits of SHA-256 of names, types, shapes and contents, in the order of the names."""
    found = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        found.update(f"{name} {array.dtype.str} {list(np.shape(arrays[name]))}\n".encode())
        found.update(array.reshape(-1).view(np.uint8).data)
    return found.hexdigest()[:16]


# ---- .npz ----------------------------------------------------------------------------------

ROOM = 1 << 24  # bytes that any file may unpack to
EXPANSION = 20  # and times its own size: cards and calls are random, and random bytes do not shrink


class Numbers(NamedTuple):
    """What an array of an ``.npz`` must be. A name in ``shape`` is one number throughout the file."""

    shape: tuple[int | str, ...]
    least: int
    most: int
    dtype: type = np.uint8  # given back; the file may have any type of integers
    required: bool = True

    def takes(self, dtype: np.dtype[Any]) -> bool:
        """An array may have this type in the file."""
        return dtype.kind in "iu"

    def __str__(self) -> str:
        return f"integers [{', '.join(map(str, self.shape))}]" if self.shape else "an integer"


class Floats(NamedTuple):
    """The same for finite numbers of one type."""

    shape: tuple[int | str, ...]
    dtype: type = np.float32
    required: bool = True

    def takes(self, dtype: np.dtype[Any]) -> bool:
        """An array may have this type in the file."""
        return dtype == self.dtype

    def __str__(self) -> str:
        return f"{np.dtype(self.dtype)} [{', '.join(map(str, self.shape))}]"


class Text(NamedTuple):
    """A single text, given back as an array without axes."""

    required: bool = False
    shape: tuple[int | str, ...] = ()

    def takes(self, dtype: np.dtype[Any]) -> bool:
        """An array may have this type in the file."""
        return dtype.kind == "U"

    def __str__(self) -> str:
        return "a text"


Expected = Numbers | Floats | Text
Plan = Mapping[str, Expected]


def save_npz(path: Path, **fields: Any) -> None:
    """``replace_file`` with a compressed ``.npz`` of ``fields``; the same arrays give the same bytes."""
    replace_file(path, lambda file: np.savez_compressed(file, **fields))


def load_npz(path: Path, what: str, plan: Plan) -> dict[str, NDArray[Any]]:
    """The arrays of an ``.npz`` that are as ``plan`` says.

    Args:
        path: of the file.
        what: the file should be, in words.
        plan: every array that may be there, by name.

    Raises:
        ValueError: a file that is damaged or unpacks to too much, an array that is missing, unknown, or of another
            type, shape or range; names file, array, what was found and what is expected.
    """
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except Exception as problem:  # whatever the library makes of damaged bytes
            raise ValueError(f"{path}: {_fault(problem)}; expected {what}") from problem
        with archive:
            members = _members(archive, path, what, plan)
            _check_room(members, path)
            sizes: dict[str, tuple[int, str]] = {}
            found: dict[str, NDArray[Any]] = {}
            for name, expected in plan.items():
                if name in members:
                    where = f"{path}: {name}"
                    try:
                        array = _read_member(archive, members[name])
                    except Exception as problem:
                        raise ValueError(f"{where}: {_fault(problem)}; expected {what}") from problem
                    found[name] = _checked(array, expected, where)
                    _check_shape(array.shape, name, expected, sizes, where)
                elif expected.required:
                    raise ValueError(f"{path}: {name}: missing; the file holds {', '.join(members) or 'nothing'}")
    return found


def _fault(problem: Exception) -> str:
    return shortened(problem) or type(problem).__name__


def _members(archive: zipfile.ZipFile, path: Path, what: str, plan: Plan) -> dict[str, zipfile.ZipInfo]:
    """What the archive holds, by the names of the arrays."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in plan:
            raise ValueError(f"{path}: {shown(name)}: unknown array, expected {what}: {', '.join(plan)}")
        if name in members:
            raise ValueError(f"{path}: {name}: twice, expected once")
        members[name] = member
    return members


def _check_room(members: Mapping[str, zipfile.ZipInfo], path: Path) -> None:
    size, room = path.stat().st_size, sum(member.file_size for member in members.values())
    if room > max(ROOM, EXPANSION * size):
        raise ValueError(
            f"{path}: unpacks to {room} bytes, expected at most {ROOM} or {EXPANSION} times the file's {size}"
        )


def _read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> NDArray[Any]:
    """The array of a member; memory is asked for once header and size agree."""
    with archive.open(member) as file:
        shape, fortran, dtype = _read_header(file)
        if dtype.hasobject or dtype.kind not in "biufU" or any(n < 0 for n in shape):
            raise ValueError(f"an array of {dtype} {list(shape)}")
        size, left = math.prod(shape) * dtype.itemsize, member.file_size - file.tell()
        if size != left:
            raise ValueError(f"{left} bytes, but {dtype} {list(shape)} takes {size}")
        content = file.read(max(size, 1))  # to the end, where the sum is checked, and no further
    if len(content) != size:
        raise ValueError(f"{len(content)} bytes, expected {size}")
    if dtype.kind == "U":
        content.decode("utf-32-be" if dtype.byteorder == ">" else "utf-32-le")
    return np.frombuffer(content, dtype).reshape(shape, order="F" if fortran else "C")


def _read_header(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    if version not in readers:
        raise ValueError(f"version {version} of the .npy format, expected 1.0 or 2.0")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return readers[version](file)


def _check_shape(
    shape: tuple[int, ...], name: str, expected: Expected, sizes: dict[str, tuple[int, str]], where: str
) -> None:
    """``sizes``: those known so far by name, and which array said them."""
    for found, wanted in zip(shape, expected.shape):
        if isinstance(wanted, str):
            known, by = sizes.setdefault(wanted, (found, name))
            if found != known:
                raise ValueError(f"{where}: {found} rows, expected {known} as in {by}")


def _checked(array: NDArray[Any], expected: Expected, where: str) -> NDArray[Any]:
    """``array`` as the type that is wanted; its type, axes and values are checked."""
    right = array.ndim == len(expected.shape) and all(
        isinstance(wanted, str) or found == wanted for found, wanted in zip(array.shape, expected.shape)
    )
    if not right or not expected.takes(array.dtype):
        raise ValueError(f"{where}: {array.dtype} {list(array.shape)}, expected {expected}")
    if isinstance(expected, Numbers) and array.size:
        for place in (array.argmin(), array.argmax()):
            if not expected.least <= (value := int(array.flat[place])) <= expected.most:
                index = list(map(int, np.unravel_index(place, array.shape))) if array.ndim else ""
                raise ValueError(f"{where}{index} {value}: expected {expected.least} ... {expected.most}")
    if isinstance(expected, Floats) and not np.isfinite(array).all():
        raise ValueError(f"{where}: holds numbers that are not finite")
    return array.astype(expected.dtype) if isinstance(expected, Numbers) else array


# ---- safetensors ---------------------------------------------------------------------------


HALF = 11  # significant bits of half precision


def rounded(array: NDArray[np.float32], bits: int) -> NDArray[np.float16]:
    """``array`` in half precision, to the nearest (of two, the even) number of so many significant bits."""
    half = np.array(array, np.float16)
    if drop := HALF - bits:
        whole = half.view(np.uint16).astype(np.uint32)
        whole += (1 << (drop - 1)) - 1 + (whole >> drop & 1)
        half = (whole >> drop << drop).astype(np.uint16).view(np.float16)
    return half


class Tensor(NamedTuple):
    """What a tensor of a file must be."""

    shape: tuple[int, ...]
    dtypes: tuple[str, ...] = ("F16", "F32", "F64")  # as the format calls them

    def __str__(self) -> str:
        words = "floats" if self.dtypes == ("F16", "F32", "F64") else " or ".join(self.dtypes)
        return f"{words} {list(self.shape)}"


CHECKPOINT = "checkpoint.safetensors"  # in the folder of a run of training: how it goes on, not what plays


def check_weights(path: Path) -> None:
    """FileNotFoundError unless ``path`` is a file; of the folder of a run it names those in it."""
    if path.is_file():
        return
    inside = ", ".join(str(one) for one in sorted(path.glob("*.safetensors")) if one.name != CHECKPOINT)
    found = f"a folder, expected a file of weights: {inside}" if inside else "no such file of weights (.safetensors)"
    raise FileNotFoundError(f"{path}: {found}")


def load_metadata(path: Path, what: str) -> dict[str, str]:
    """The metadata of a safetensors file; ValueError names what is no such file."""
    with _opened(path, what) as file:
        return dict(file.metadata() or {})


def _opened(path: Path, what: str) -> Any:
    from safetensors import safe_open

    with path.open("rb"):  # what is no readable file is no damaged one
        pass
    try:
        return safe_open(path, framework="numpy")
    except Exception as problem:  # whatever the library makes of damaged bytes
        raise ValueError(f"{path}: not {what}, or a truncated one ({_fault(problem)})") from problem


def load_tensors(
    path: Path, what: str, plan: Callable[[Mapping[str, str]], Mapping[str, Tensor] | None]
) -> dict[str, NDArray[Any]]:
    """The tensors of a safetensors file.

    Args:
        path: of the file.
        what: the file should be, in words.
        plan: the tensors that must be there, from the file's metadata; None takes them as they are.

    Raises:
        ValueError: a damaged file, or a tensor that is missing, unknown or of another type or shape, or not finite;
            names file, tensor, what was found and what is expected.
    """
    with _opened(path, what) as file:
        names, expected = file.keys(), plan(file.metadata() or {})
        if expected is not None:
            for name in sorted(expected.keys() ^ set(names)):
                state = "missing" if name in expected else "not part of this architecture"
                raise ValueError(f"{path}: tensor {shown(name)} is {state}; expected {shortened(', '.join(expected))}")
        wanted = dict.fromkeys(names) if expected is None else expected
        return {name: _tensor(file, name, f"{path}: tensor {name!r}", one) for name, one in wanted.items()}


def _tensor(file: Any, name: str, where: str, expected: Tensor | None) -> NDArray[Any]:
    part = file.get_slice(name)
    shape, dtype = tuple(part.get_shape()), part.get_dtype()
    if expected and (shape != expected.shape or dtype not in expected.dtypes):
        raise ValueError(f"{where} is {dtype} {list(shape)}, expected {expected}")
    try:
        found = np.asarray(file.get_tensor(name))
    except Exception as problem:  # types that NumPy does not have
        raise ValueError(f"{where} is {dtype} {list(shape)}, which cannot be read ({_fault(problem)})") from problem
    if expected and found.dtype.kind == "f" and not np.isfinite(found).all():
        raise ValueError(f"{where} holds numbers that are not finite")
    return found

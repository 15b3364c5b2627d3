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
    checksum = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        checksum.update(f"{name} {array.dtype.str} {list(np.shape(arrays[name]))}\n".encode())
        checksum.update(array.reshape(-1).view(np.uint8).data)
    return checksum.hexdigest()[:16]


def within(arrays: Arrays, prefix: str) -> dict[str, NDArray[Any]]:
    """Those of ``arrays`` whose names begin with ``prefix``, by the rest of their names."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# ---- .npz ----------------------------------------------------------------------------------

ROOM = 1 << 24  # bytes that any file may unpack to
EXPANSION = 20  # or so many times its own size: cards and calls are random, and random bytes do not shrink


class Numbers(NamedTuple):
    """What an array of integers in an ``.npz`` must be. A name in ``shape`` is one number throughout the file."""

    shape: tuple[int | str, ...]
    least: int
    most: int
    dtype: type = np.uint8  # of the array returned; the file may have any type of integers
    required: bool = True

    def __str__(self) -> str:
        return f"integers [{', '.join(map(str, self.shape))}]" if self.shape else "an integer"


class Floats(NamedTuple):
    """What an array of finite floating-point numbers in an ``.npz`` must be; ``shape`` as in ``Numbers``."""

    shape: tuple[int | str, ...]
    dtype: type = np.float32
    required: bool = True

    def __str__(self) -> str:
        return f"{np.dtype(self.dtype)} [{', '.join(map(str, self.shape))}]"


class Text(NamedTuple):
    """A single text, returned as an array without axes."""

    required: bool = False
    shape: tuple[int | str, ...] = ()

    def __str__(self) -> str:
        return "a text"


Expected = Numbers | Floats | Text
Plan = Mapping[str, Expected]


def save_npz(path: Path, **fields: Any) -> None:
    """``replace_file`` with a compressed ``.npz`` of ``fields``; the same arrays and Python give the same bytes."""
    replace_file(path, lambda file: np.savez_compressed(file, **fields))


def load_npz(path: Path, description: str, plan: Plan) -> dict[str, NDArray[Any]]:
    """Return the arrays of an ``.npz``, checked against ``plan``.

    Args:
        path: of the file.
        description: what the file should be, in words, for the errors.
        plan: every array that may be there, by name.

    Raises:
        ValueError: a file that is damaged or unpacks to too much, an array that is missing, unknown, or of another
            type, shape or range; names file, array, what was found and what is expected.
    """
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except Exception as problem:  # whatever the library raises for damaged bytes
            raise ValueError(f"{path}: {_fault(problem)}; expected {description}") from problem
        with archive:
            members = _members(archive, path, description, plan)
            _check_room(members, path)
            sizes: dict[str, tuple[int, str]] = {}
            arrays: dict[str, NDArray[Any]] = {}
            for name, expected in plan.items():
                if name in members:
                    where = f"{path}: {name}"
                    try:
                        array = _read_member(archive, members[name])
                    except Exception as problem:
                        raise ValueError(f"{where}: {_fault(problem)}; expected {description}") from problem
                    arrays[name] = _checked(array, expected, where)
                    _check_shape(array.shape, name, expected, sizes, where)
                elif expected.required:
                    raise ValueError(f"{path}: {name}: missing; the file holds {', '.join(members) or 'nothing'}")
    return arrays


def _fault(problem: Exception) -> str:
    return shortened(problem) or type(problem).__name__


def _members(archive: zipfile.ZipFile, path: Path, description: str, plan: Plan) -> dict[str, zipfile.ZipInfo]:
    """The members of the archive by the names of their arrays."""
    members: dict[str, zipfile.ZipInfo] = {}
    for member in archive.infolist():
        name = member.filename.removesuffix(".npy")
        if name not in plan:
            raise ValueError(f"{path}: {shown(name)}: unknown array, expected {description}: {', '.join(plan)}")
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
    """Check the named axes; ``sizes`` holds by name the length of the first array that has the axis, and its name."""
    for length, axis in zip(shape, expected.shape):
        if isinstance(axis, str):
            first, owner = sizes.setdefault(axis, (length, name))
            if length != first:
                raise ValueError(f"{where}: {length} rows, expected {first} as in {owner}")


def _takes(expected: Expected, dtype: np.dtype[Any]) -> bool:
    """Whether an array may have this type in the file."""
    if isinstance(expected, Floats):
        return dtype == expected.dtype
    return dtype.kind == "U" if isinstance(expected, Text) else dtype.kind in "iu"


def _checked(array: NDArray[Any], expected: Expected, where: str) -> NDArray[Any]:
    """Return ``array`` in the type of ``expected``, after a check of its type, axes and values."""
    shape_fits = array.ndim == len(expected.shape) and all(
        isinstance(axis, str) or length == axis for length, axis in zip(array.shape, expected.shape)
    )
    if not shape_fits or not _takes(expected, array.dtype):
        raise ValueError(f"{where}: {array.dtype} {list(array.shape)}, expected {expected}")
    if isinstance(expected, Numbers) and array.size:
        for position in (array.argmin(), array.argmax()):
            if not expected.least <= (value := int(array.flat[position])) <= expected.most:
                index = list(map(int, np.unravel_index(position, array.shape))) if array.ndim else ""
                raise ValueError(f"{where}{index} {value}: expected {expected.least} ... {expected.most}")
    if isinstance(expected, Floats) and not np.isfinite(array).all():
        raise ValueError(f"{where}: holds numbers that are not finite")
    return array.astype(expected.dtype) if isinstance(expected, Numbers) else array


# ---- safetensors ---------------------------------------------------------------------------


class Tensor(NamedTuple):
    """What a tensor of a file must be."""

    shape: tuple[int, ...]
    dtypes: tuple[str, ...] = ("F16", "F32", "F64")  # as the format calls them

    def __str__(self) -> str:
        allowed = "floats" if self.dtypes == ("F16", "F32", "F64") else " or ".join(self.dtypes)
        return f"{allowed} {list(self.shape)}"


CHECKPOINT = "checkpoint.safetensors"  # in the folder of a training run: the state it resumes from, not an agent


def check_weights(path: Path) -> None:
    """Raise FileNotFoundError unless ``path`` is a file; for the folder of a run the error names the weights in it."""
    if path.is_file():
        return
    files = ", ".join(str(file) for file in sorted(path.glob("*.safetensors")) if file.name != CHECKPOINT)
    fault = f"a folder, expected a file of weights: {files}" if files else "no such file of weights (.safetensors)"
    raise FileNotFoundError(f"{path}: {fault}")


def load_metadata(path: Path, description: str) -> dict[str, str]:
    """Return the metadata of a safetensors file; ValueError names a file that is none."""
    with _opened(path, description) as file:
        return dict(file.metadata() or {})


def _opened(path: Path, description: str) -> Any:
    from safetensors import safe_open

    with path.open("rb"):  # a file that cannot be read is not reported as damaged
        pass
    try:
        return safe_open(path, framework="numpy")
    except Exception as problem:  # whatever the library raises for damaged bytes
        raise ValueError(f"{path}: not {description}, or a truncated one ({_fault(problem)})") from problem


def load_tensors(
    path: Path, description: str, plan: Callable[[Mapping[str, str]], Mapping[str, Tensor] | None]
) -> dict[str, NDArray[Any]]:
    """Return the tensors of a safetensors file.

    Args:
        path: of the file.
        description: what the file should be, in words, for the errors.
        plan: the tensors that must be there, from the file's metadata; None takes them as they are.

    Raises:
        ValueError: a damaged file, or a tensor that is missing, unknown or of another type or shape, or not finite;
            names file, tensor, what was found and what is expected.
    """
    with _opened(path, description) as file:
        names, expected = file.keys(), plan(file.metadata() or {})
        if expected is not None:
            for name in sorted(expected.keys() ^ set(names)):
                state = "missing" if name in expected else "not part of this architecture"
                raise ValueError(f"{path}: tensor {shown(name)} is {state}; expected {shortened(', '.join(expected))}")
        tensors = dict.fromkeys(names) if expected is None else expected
        return {name: _tensor(file, name, f"{path}: tensor {name!r}", tensor) for name, tensor in tensors.items()}


def _tensor(file: Any, name: str, where: str, expected: Tensor | None) -> NDArray[Any]:
    tensor = file.get_slice(name)
    shape, dtype = tuple(tensor.get_shape()), tensor.get_dtype()
    if expected and (shape != expected.shape or dtype not in expected.dtypes):
        raise ValueError(f"{where} is {dtype} {list(shape)}, expected {expected}")
    try:
        array = np.asarray(file.get_tensor(name))
    except Exception as problem:  # types that NumPy does not have
        raise ValueError(f"{where} is {dtype} {list(shape)}, which cannot be read ({_fault(problem)})") from problem
    if expected and array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{where} holds numbers that are not finite")
    return array

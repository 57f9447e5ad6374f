"""Read an untrusted .npz safely: only plain arrays, and never more bytes than allowed, whatever the file claims.

A zip of a few kilobytes can unpack to gigabytes, and an array's header can claim any shape. Both are checked before
unpacking, and unpacked bytes are counted.
"""

import json
import math
import os
import stat
import zipfile
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy

from bugzoo.errors import UserError

MOST_ENTRIES = 20_000
MOST_JSON, DEEPEST = 16 * 2**20, 50
"""Largest JSON in bytes (parsed, it needs ten times as much memory), and the deepest nesting of lists."""


class TooMuch(UserError):
    """The file is larger, packed or unpacked, than allowed."""


def opened(path: str | Path, most: int | None) -> BinaryIO:
    """Open a plain file. With `most`, it must not be a link or have more bytes. Raises OSError and TooMuch."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if most is None else os.O_NOFOLLOW))
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise OSError(f"{Path(path).name} is no plain file")
    if most is not None and status.st_size > most:
        os.close(handle)
        raise TooMuch(f"{Path(path).name} has {mib(status.st_size)} on the disk, and {mib(most)} are read at most.")
    return open(handle, "rb")


def read(path: str | Path, most: int | None = None) -> dict[str, np.ndarray]:
    """Return name -> array. Raises TooMuch if the file or all its arrays exceed `most` bytes, the errors of `opened`, and
    ValueError or zipfile.BadZipFile for a file that is malformed or holds Python objects."""
    name = Path(path).name
    with opened(path, most) as file, zipfile.ZipFile(file) as packed:
        parts = packed.infolist()
        total = sum(part.file_size for part in parts)
        if len(parts) > MOST_ENTRIES:
            raise TooMuch(f"{name} holds {len(parts)} arrays, and {MOST_ENTRIES} are read at most.")
        if most is not None and total > most:
            raise TooMuch(f"{name} unpacks to {mib(total)}, and {mib(most)} are read at most.")
        return {part.filename.removesuffix(".npy"): _array(packed, part) for part in parts}


def _array(packed: zipfile.ZipFile, part: zipfile.ZipInfo) -> np.ndarray:
    if part.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):  # others cannot be unpacked bit by bit
        raise ValueError(f"{part.filename} is packed in a way that numpy does not use")
    with packed.open(part) as file:
        version = npy.read_magic(file)
        if version not in ((1, 0), (2, 0)):
            raise ValueError(f"{part.filename} has a header of version {version}")
        header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, by_column, kind = header(file)
        count = math.prod(shape)
        if kind.hasobject or not kind.itemsize or min(shape, default=0) < 0:
            raise ValueError(f"{part.filename} is no array of numbers")
        if count * kind.itemsize > part.file_size:  # a header may say anything
            raise ValueError(f"{part.filename} holds fewer numbers than it says")
        values = np.empty(count, kind)
        held = memoryview(values.data).cast("B") if count else memoryview(b"")
        filled = 0
        while filled < len(held):
            piece = file.read(min(len(held) - filled, 2**20))
            if not piece:
                raise ValueError(f"{part.filename} ends too early")
            held[filled : filled + len(piece)] = piece
            filled += len(piece)
    return values.reshape(shape, order="F" if by_column else "C")


def from_json(data: bytes, name: str, most: int | None = None) -> Any:
    """Parse JSON, with limits if `most` is given. Raises TooMuch, and ValueError for invalid JSON."""
    if most is not None and len(data) > min(most, MOST_JSON):
        raise TooMuch(f"{name} has {mib(len(data))} of JSON, and {mib(min(most, MOST_JSON))} are read at most.")
    try:
        parsed = json.loads(data)
        deep = not shallow(parsed)
    except RecursionError:
        parsed, deep = None, True
    if deep:
        raise TooMuch(f"{name} has lists in lists, more than {DEEPEST} deep.")
    return parsed


def shallow(value: Any, left: int = DEEPEST) -> bool:
    """Return whether lists and objects are nested at most `left` deep."""
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return left > 0 and all(shallow(child, left - 1) for child in inside if isinstance(child, dict | list))


def mib(count: int) -> str:
    return f"{count / 2**20:,.0f} MiB"

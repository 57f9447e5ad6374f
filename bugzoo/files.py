"""Read a user's file, and write it completely or not at all.

    write_atomic(path, text)      # the old file stays until the new one is complete
    read_json(path)               # {} if it is missing or is not an object
    check_place(path)             # before long work: can this path be written?
    read_text(path)               # what is wrong with the file is one sentence

A link stays a link. A pipe or device is written to, not replaced. A file keeps its permissions.
"""

import errno
import json
import os
import re
import secrets
import stat
import sys
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError

_DESCRIPTOR = re.compile(r"/(?:dev|proc/self)/(?:fd/(\d+)|(stdin|stdout|stderr))")
_ROOM = 1 << 16
"""Bytes: larger than most files that we write."""
_STANDARD = ("stdin", "stdout", "stderr")


def read_text(file: Any) -> str:
    """Return the text of a `Path`, or of what is read like one.

    Raises UserError if it is missing, a folder or not text.
    """
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise UserError(f"{file} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UserError(f"{file} is not UTF-8 text.") from None
    except ValueError as error:  # a zero byte in the name
        raise UserError(f"{str(file)!r} cannot be read: {error}.") from None


def write_atomic(path: str | os.PathLike[str], content: str | bytes, *, parents: bool = False) -> None:
    """Write `content` (text as UTF-8) to `path`. `parents` makes missing folders.

    Raises UserError if that fails. An older file is then unchanged, and no half-written file is left.
    """
    named = os.fspath(path)
    try:
        data = content.encode() if isinstance(content, str) else content
        if parents:
            Path(named).parent.mkdir(parents=True, exist_ok=True)
        if not _write_through(named, data):
            _replace(_target(named), data)
    except (OSError, ValueError) as error:  # ValueError: a name with a zero byte, a text that UTF-8 cannot hold
        raise UserError(_message(named, error)) from error


def read_json(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the object in a JSON file; {} if the file is missing, is not JSON or holds something else."""
    try:
        value = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def check_place(path: str | os.PathLike[str]) -> None:
    """Raise UserError, before the work starts, if `path` cannot be written."""
    named = os.fspath(path)
    try:
        if _descriptor(named) is not None:
            return
        if _special(named):
            _refuse_full(named)
            return
        handle, scratch = _scratch(_target(named))
        try:
            with open(handle, "wb") as file:
                file.write(bytes(_ROOM))  # an empty file fits on a full disk
        finally:
            os.unlink(scratch)
    except (OSError, ValueError) as error:
        raise UserError(_message(named, error)) from error


def check_folder(path: str | os.PathLike[str]) -> None:
    """Raise UserError if files cannot be written into this folder. It may exist already or still have to be made."""
    path = Path(path)
    there = next((folder for folder in (path, *path.absolute().parents) if os.path.lexists(folder)), Path("/"))
    if not there.is_dir():
        raise UserError(f"{there} is not a folder. Name another place, or move it away.")
    check_place(there / "file")


def _write_through(named: str, data: bytes) -> bool:
    """Write to a pipe, device or open descriptor. Returns False for an ordinary file.

    /dev/stdout may be a file that the user redirected to, so it is not replaced.
    """
    if (number := _descriptor(named)) is not None:
        for stream in filter(None, (sys.stdout, sys.stderr)):  # earlier output must come first
            stream.flush()
        with open(os.dup(number), "wb") as file:
            file.write(data)
        return True
    if not _special(named):
        return False
    with open(named, "wb") as file:
        file.write(data)
    return True


def _descriptor(named: str) -> int | None:
    """Return 1 for /dev/stdout, 63 for the /dev/fd/63 of a shell's >(...), None for other names."""
    if not (match := _DESCRIPTOR.fullmatch(named)):
        return None
    return int(match[1]) if match[1] else _STANDARD.index(match[2])


def _special(named: str) -> bool:
    """Return whether this is a pipe, device or socket. Replacing /dev/null by a file would break other programs."""
    try:
        mode = os.stat(named).st_mode
    except FileNotFoundError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _refuse_full(named: str) -> None:
    """Raise OSError for /dev/full, which shows only on writing. Pipes and terminals are not tried."""
    mode = os.stat(named).st_mode
    if not stat.S_ISCHR(mode) or not os.access(named, os.W_OK):
        return
    with open(named, "wb", buffering=0) as file:
        if not file.isatty():
            file.write(b" ")


def _target(named: str) -> str:
    """Return the file that a link points to. Raises OSError for a folder or a read-only file."""
    if os.path.isdir(named) or named.endswith(os.sep):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    target = os.path.realpath(named)
    if os.path.exists(target) and not os.access(target, os.W_OK):  # replacing it would work, but it is read-only
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    return target


def _replace(target: str, data: bytes) -> None:
    """Replace `target`, which is not a link, by a new file."""
    handle, scratch = _scratch(target)
    try:
        with open(handle, "wb") as file:
            file.write(data)
        if os.path.exists(target):
            os.chmod(scratch, stat.S_IMODE(os.stat(target).st_mode))
        os.replace(scratch, target)
    except BaseException:  # also after Ctrl-C
        os.unlink(scratch)
        raise


def _scratch(target: str) -> tuple[int, str]:
    """Return (handle, name) of a new file next to `target`: on the same disk, with default permissions."""
    name = os.path.join(os.path.dirname(target), f".bugzoo-{secrets.token_hex(6)}.part")
    return os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), name


def _message(named: str, error: OSError | ValueError) -> str:
    folder = os.path.dirname(named) or "."
    if isinstance(error, ValueError):
        return f"{named!r} could not be written: {error}."
    if error.errno == errno.EISDIR:
        return f"{named} is a folder. Name a file in it: {os.path.join(named, 'NAME')}"
    if error.errno == errno.ENOENT:
        return f"{named} could not be written: there is no folder {folder}. Make it with `mkdir -p {folder}`."
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return (
            f"{named} could not be written: {error.strerror}. What was there is as it was; make room or name another "
            "place."
        )
    return (
        f"{named} could not be written: {error.strerror or error}. What was there is as it was; name a place that you "
        "may write to."
    )

"""A zip of hand-ins, opened with care: it comes from an LMS, and what is in it comes from students.

No name of the zip's becomes a name on this disk: notebooks are written under numbers, so that `..`, links and odd letters
lead nowhere. How much is read is bounded by what comes out, never by what the zip says about itself.
"""

import os
import re
import stat
import time
import zipfile
import zlib
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor.lms.tree import MOST_FILES, File, Left, Tree, hidden
from bugzoo.instructor.submission import MOST_BYTES, shown

MOST_ALTOGETHER = 4 * 2**30
MOST_RATIO, SMALL = 300, 2**20
"""Times that a member may be larger than in the zip; below a MiB nobody minds."""
_WANTED = re.compile(r"\.ipynb$|(^|/)(timestamp\.txt|submission_metadata\.yml)$", re.IGNORECASE)
_BLOCK = 1 << 20


class Refused(Exception):
    """Why a member is not read."""


def of_zip(source: Path, place: Path) -> Tree:
    """The zip's files, those that matter unpacked into `place`. The zip itself is only read. Raises UserError."""
    try:
        with zipfile.ZipFile(source) as archive:
            return _tree(archive, source, place)
    except OSError as error:
        raise UserError(f"{source} could not be read: {error.strerror or error}.") from None
    except (zipfile.BadZipFile, ValueError, NotImplementedError, zlib.error) as error:
        raise UserError(f"{source} is no folder and no zip that can be read ({error}). Download it again.") from None


def _tree(archive: zipfile.ZipFile, source: Path, place: Path) -> Tree:
    members = archive.infolist()
    if len(members) > MOST_FILES:
        raise UserError(f"{source} holds {len(members)} files, more than {MOST_FILES}. Unpack what counts to a folder.")
    found, room = Tree(), MOST_ALTOGETHER
    for number, member in enumerate(members):
        name = _name(member)
        parts = tuple(part for part in name.split("/") if part not in ("", "."))
        if not parts or any(hidden(part) for part in parts if part != ".."):
            continue
        if why := _leads_out(name, parts):
            found.left += [] if member.is_dir() else [Left(shown(name), why)]
            continue
        if len(parts) > 1 or member.is_dir():
            found.folders += parts[:1]
        if member.is_dir():
            continue
        try:
            path = _unpack(archive, member, name, place / str(number), room)
            room -= path.stat().st_size if path else 0
            found.files.append(File(parts, path))
        except Refused as why:
            found.files.append(File(parts, None, str(why)))
            found.left.append(Left(shown(name), str(why)))
    found.files.sort(key=lambda one: one.parts)
    found.folders = sorted(set(found.folders))
    return found


def _name(member: zipfile.ZipInfo) -> str:
    """Names without the flag for UTF-8 are UTF-8 all the same, from most systems; Python reads them as of 1981."""
    name = member.filename
    if not member.flag_bits & 0x800:
        try:
            name = name.encode("cp437").decode("utf-8")
        except UnicodeError:
            pass
    return name.replace("\\", "/")


def _leads_out(name: str, parts: tuple[str, ...]) -> str:
    if ".." in parts or name.startswith("/") or re.match(r"[A-Za-z]:", name):
        return "its name leads out of the zip"
    return ""


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str, place: Path, room: int) -> Path | None:
    """Where the member lies now, or None for one that nobody asks for. Raises Refused."""
    if stat.S_ISLNK(member.external_attr >> 16):
        raise Refused("it is a link; hand in the file itself")
    if member.flag_bits & 0x1:
        raise Refused("it is encrypted; unpack the zip with its password to a folder")
    if not _WANTED.search(name):
        return None
    if member.file_size > MOST_BYTES:
        raise Refused(f"it has {member.file_size / 2**20:.0f} MiB, more than {MOST_BYTES // 2**20}; clear its outputs")
    if member.file_size > max(SMALL, MOST_RATIO * member.compress_size):
        raise Refused(f"it is {member.file_size / max(1, member.compress_size):.0f} times as large as in the zip")
    if member.file_size > room:
        raise Refused(f"the zip holds more than {MOST_ALTOGETHER // 2**30} GiB; unpack it to a folder")
    place.mkdir()
    path, most = place / ("notebook.ipynb" if name.lower().endswith(".ipynb") else Path(name).name), member.file_size
    try:
        with archive.open(member) as packed, path.open("wb") as file:
            written = 0
            while block := packed.read(_BLOCK):
                written += len(block)
                if written > most:  # it said less than it holds
                    raise Refused("it is larger than the zip says")
                file.write(block)
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError, ValueError) as error:
        raise Refused(f"it could not be unpacked ({error})") from None
    _date(path, member)
    return path


def _date(path: Path, member: zipfile.ZipInfo) -> None:
    """When it was handed in, as the zip says."""
    try:
        when = time.mktime((*member.date_time, 0, 0, -1))
        os.utime(path, (when, when))
    except (ValueError, OverflowError, OSError):
        pass

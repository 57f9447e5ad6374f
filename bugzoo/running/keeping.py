"""`--keep`: save the files that a script wrote up to its last statement and in its exit handlers, but not in between.

After the last statement, bugzoo re-runs parts of the script, and they write into the same overlay. So its files are
copied before that and restored before the exit handlers run. Changes by the handlers are then copied too.
"""

import contextlib
import gc
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bugzoo.running.writes import LAYERS, SAID, plain, uppers

KEPT = "kept"
"""In the job's folder: one folder for each layer, with the files as a plain run leaves them."""
_SQLITE = b"SQLite format 3\x00"


def flush_open() -> Iterator[io.IOBase]:
    """Flush every file that is open for writing, as the interpreter does at exit, and yield it."""
    for file in gc.get_objects():
        if isinstance(file, io.TextIOWrapper | io.BufferedWriter | io.BufferedRandom):
            with contextlib.suppress(Exception):
                file.flush()
                yield file
        elif type(file).__name__ == "memmap" and hasattr(file, "flush"):
            with contextlib.suppress(Exception):
                file.flush()


class Keeper:
    """Saves and restores the script's files. Created in the script's process after its last statement."""

    def __init__(self, folder: Path, second: Path | None) -> None:
        self.folder = folder
        self.places = _by_layer(folder, second)
        self.lowers: dict[str, str] = json.loads((folder / SAID).read_text(encoding="utf-8"))["lowers"]
        self.positions = [(one, place) for one in flush_open() if (place := _position(one)) is not None]
        self.there = self._copy(self._files())
        self.before: dict[tuple[str, str], tuple[int, int]] = {}

    def put_back(self) -> None:
        """Restore files of the script that have changed since, and the positions of its open files."""
        now = self._files()
        for key, file in now.items():
            target, saved = self._seen(key), self.folder / KEPT / key[0] / key[1]
            if key not in self.there:
                with contextlib.suppress(OSError):
                    target.unlink()
            elif not _database(saved) and file.read_bytes() != saved.read_bytes():
                with contextlib.suppress(OSError), open(target, "r+b") as out:
                    out.truncate()
                    out.write(saved.read_bytes())
        for key in self.there - now.keys():
            with contextlib.suppress(OSError):
                self._seen(key).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.folder / KEPT / key[0] / key[1], self._seen(key))
        for handle, place in self.positions:
            with contextlib.suppress(Exception):
                handle.seek(place)
        self.before = self._stamps()

    def changed(self) -> None:
        """Copy files that have been written since."""
        for _ in flush_open():
            pass
        after = self._stamps()
        files = self._files()
        self._copy({key: files[key] for key, stamp in after.items() if self.before.get(key) != stamp})
        for key in self.before.keys() - after.keys():
            with contextlib.suppress(OSError):
                (self.folder / KEPT / key[0] / key[1]).unlink()

    def _files(self) -> dict[tuple[str, str], Path]:
        """Return (layer, path in it) -> file in the layer's upper folder."""
        files = [(name, top, file) for name, top in self.places.items() for file in plain(top)]
        return {(name, str(file.relative_to(top))): file for name, top, file in files}

    def _stamps(self) -> dict[tuple[str, str], tuple[int, int]]:
        statuses = {key: file.lstat() for key, file in self._files().items()}
        return {key: (status.st_mtime_ns, status.st_size) for key, status in statuses.items()}

    def _copy(self, files: dict[tuple[str, str], Path]) -> set[tuple[str, str]]:
        for (layer, name), file in files.items():
            target = self.folder / KEPT / layer / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):  # a thread of the script has just removed it
                shutil.copy2(file, target)
        return set(files)

    def _seen(self, key: tuple[str, str]) -> Path:
        """Return the path under which the script sees the file."""
        return Path(self.lowers[key[0]]) / key[1]


def _by_layer(folder: Path, second: Path | None) -> dict[str, Path]:
    """Return layer -> its upper folder."""
    return {upper.name.partition("-")[0]: upper for upper in uppers(folder / LAYERS, second)}


def _position(one: Any) -> int | None:
    """Return the position in an open file, None if it has no position or cannot tell it (read line by line)."""
    with contextlib.suppress(Exception):
        return one.tell() if one.fileno() > 2 and one.seekable() else None
    return None


def _database(file: Path) -> bool:
    """Return whether a file belongs to SQLite. It is not restored: an open connection holds its pages in memory."""
    if file.name.endswith(("-wal", "-shm", "-journal")):
        return True
    with open(file, "rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE


def copy_out(folder: Path, second: Path | None, cwd: Path, out: Path) -> int:
    """Copy a job's saved files to `out` and return their number: files of `cwd` by their own paths, others in outside/.

    For a script that was stopped from outside, these are the files that it had written so far.
    """
    lowers = json.loads((folder / SAID).read_text(encoding="utf-8"))["lowers"]
    saved = folder / KEPT
    places = {entry.name: entry for entry in saved.iterdir()} if saved.is_dir() else _by_layer(folder, second)
    count = 0
    for name, place in places.items():
        for file in plain(place):
            path = Path(lowers[name]) / file.relative_to(place)
            inside = path.is_relative_to(cwd)
            target = out / path.relative_to(cwd) if inside else out / "outside" / path.relative_to("/")
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(file, target)
            count += 1
    return count

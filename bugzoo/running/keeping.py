"""`--keep`: what a script had written when its last statement ended, and what its exit handlers wrote; not what came between.

Behind the last statement parts of the script run again, and they write into the same scratch. So its files are copied before
that, put back as they were before the exit handlers run, and what those change is copied after them.
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
"""In the job's folder: one folder for each layer, with the files as a bare run leaves them."""
_SQLITE = b"SQLite format 3\x00"


def flush_open() -> Iterator[io.IOBase]:
    """Flush every file that is open for writing, as the end of the interpreter does, and yield it."""
    for one in gc.get_objects():
        if isinstance(one, io.TextIOWrapper | io.BufferedWriter | io.BufferedRandom):
            with contextlib.suppress(Exception):
                one.flush()
                yield one
        elif type(one).__name__ == "memmap" and hasattr(one, "flush"):
            with contextlib.suppress(Exception):
                one.flush()


class Keeper:
    """Made when the last statement has ended, in the script's process."""

    def __init__(self, folder: Path, second: Path | None) -> None:
        self.folder = folder
        self.places = {one.name.partition("-")[0]: one for one in uppers(folder / LAYERS, second)}
        self.lowers: dict[str, str] = json.loads((folder / SAID).read_text(encoding="utf-8"))["lowers"]
        self.positions = [(one, place) for one in flush_open() if (place := _position(one)) is not None]
        self.there = self._copy(self._files())
        self.before: dict[tuple[str, str], tuple[int, int]] = {}

    def put_back(self) -> None:
        """The script's files as they were, where something has changed them since; handles stay where they stood."""
        now = self._files()
        for key, file in now.items():
            seen, kept = self._seen(key), self.folder / KEPT / key[0] / key[1]
            if key not in self.there:
                with contextlib.suppress(OSError):
                    seen.unlink()
            elif not _database(kept) and file.read_bytes() != kept.read_bytes():
                with contextlib.suppress(OSError), open(seen, "r+b") as out:
                    out.truncate()
                    out.write(kept.read_bytes())
        for key in self.there - now.keys():
            with contextlib.suppress(OSError):
                self._seen(key).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(self.folder / KEPT / key[0] / key[1], self._seen(key))
        for one, place in self.positions:
            with contextlib.suppress(Exception):
                one.seek(place)
        self.before = self._stamps()

    def changed(self) -> None:
        """Copy what has been written since."""
        for _ in flush_open():
            pass
        after = self._stamps()
        files = self._files()
        self._copy({key: files[key] for key, stamp in after.items() if self.before.get(key) != stamp})
        for key in self.before.keys() - after.keys():
            with contextlib.suppress(OSError):
                (self.folder / KEPT / key[0] / key[1]).unlink()

    def _files(self) -> dict[tuple[str, str], Path]:
        """(layer, path in it) -> file in its upper side."""
        return {
            (name, str(file.relative_to(upper))): file for name, upper in self.places.items() for file in plain(upper)
        }

    def _stamps(self) -> dict[tuple[str, str], tuple[int, int]]:
        found = {key: file.lstat() for key, file in self._files().items()}
        return {key: (status.st_mtime_ns, status.st_size) for key, status in found.items()}

    def _copy(self, files: dict[tuple[str, str], Path]) -> set[tuple[str, str]]:
        for (layer, name), file in files.items():
            target = self.folder / KEPT / layer / name
            target.parent.mkdir(parents=True, exist_ok=True)
            with contextlib.suppress(FileNotFoundError):  # a thread of the script has removed it meanwhile
                shutil.copy2(file, target)
        return set(files)

    def _seen(self, key: tuple[str, str]) -> Path:
        """The file where the script sees it."""
        return Path(self.lowers[key[0]]) / key[1]


def _position(one: Any) -> int | None:
    """Where a file of the script stands; None where it has no place, or is read line by line and does not tell."""
    with contextlib.suppress(Exception):
        return one.tell() if one.fileno() > 2 and one.seekable() else None
    return None


def _database(file: Path) -> bool:
    """Is it sqlite's? Its open connection holds pages of it in memory: it is left alone."""
    if file.name.endswith(("-wal", "-shm", "-journal")):
        return True
    with open(file, "rb") as content:
        return content.read(len(_SQLITE)) == _SQLITE


def copy_out(folder: Path, second: Path | None, cwd: Path, out: Path) -> int:
    """Copy what is kept of a job's files to `out`, and say how many: those of `cwd` by their own paths, others below outside/.

    Of a script that was ended from outside, what it had written until then.
    """
    lowers = json.loads((folder / SAID).read_text(encoding="utf-8"))["lowers"]
    kept = {one.name: one for one in (folder / KEPT).iterdir()} if (folder / KEPT).is_dir() else None
    places = kept if kept is not None else {one.name.partition("-")[0]: one for one in uppers(folder / LAYERS, second)}
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

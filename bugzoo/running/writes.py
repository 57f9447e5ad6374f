"""What happened to the files that a script wrote, as read by the process that started it."""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LAYERS, SECOND, SAID, NOTES = "layers", "second", "overlay.json", "outward.txt"
"""Names in a job's folder: the upper folders of its overlays, the path of a second place for them, the overlay's result,
and the script's effects outside, one line "kind what" for each kind."""


MOST = 20
"""How many files are named."""


@dataclass(frozen=True)
class Writes:
    """What happened to a script's files. `apart`: they went to the overlay and are discarded; otherwise `why` not."""

    apart: bool
    bytes: int = 0
    kept: int = 0
    """Number of files that were copied to the folder `Job.keep`."""
    why: str = ""
    read_only: tuple[str, ...] = ()
    """Folders that could not be written to."""
    files: tuple[str, ...] = ()
    """The first MOST of the files in the overlay, by the names under which the script wrote them."""
    outward: dict[str, str] = field(default_factory=dict)
    """The script's first effect of each kind outside: "wrote" a file, "connected" to an address, "started" a program, and
    "refused", an action that was blocked after its last statement."""

    @classmethod
    def of(cls, folder: Path, second: Path | None) -> "Writes":
        """Read the child's notes in a job's folder and in the second place."""
        try:
            notes = json.loads((folder / SAID).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(False, why="the process was gone before anything was covered")
        layers, lowers = uppers(folder / LAYERS, second), notes.get("lowers", {})
        files = {
            file: Path(lowers.get(_layer(one), "/")) / file.relative_to(one) for one in layers for file in plain(one)
        }
        size, names = sum(file.lstat().st_size for file in files), tuple(sorted(map(str, files.values())))[:MOST]
        locked = tuple(notes.get("read_only", ()))
        return cls(bool(notes["apart"]), size, 0, str(notes.get("why", "")), locked, names, read(folder))

    @property
    def repeats(self) -> str:
        """Return why the whole script must not run a second time, "" if a second run changes nothing outside."""
        for kind, did in (("connected", "connected to"), ("started", "started")):
            if kind in self.outward:
                return f"the script {did} {self.outward[kind]}, which is not done a second time"
        if not self.apart and "wrote" in self.outward:
            return f"the script wrote {self.outward['wrote']}, and nothing keeps it from being written again here"
        return ""


def apart(folder: Path) -> bool:
    """Return whether the job in `folder` writes to an overlay."""
    try:
        return bool(json.loads((folder / SAID).read_text(encoding="utf-8"))["apart"])
    except (OSError, ValueError):
        return False


def read(folder: Path) -> dict[str, str]:
    """Return the first recorded effect of each kind."""
    try:
        lines = (folder / NOTES).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {kind: what for kind, _, what in (line.partition(" ") for line in reversed(lines))}


def second_place(folder: Path) -> Path | None:
    """Return the place of upper folders that cannot be in the job's folder."""
    with contextlib.suppress(OSError):
        return Path((folder / SECOND).read_text())
    return None


def uppers(*places: Path | None) -> list[Path]:
    """Return the upper folders in `places`, without those of a trial, which are empty."""
    return [path for place in places if place for path in place.glob("*-upper") if not path.name.startswith("trial")]


def _layer(upper: Path) -> str:
    return upper.name.partition("-")[0]


def plain(folder: Path) -> Iterator[Path]:
    """Yield every regular file in a folder and its subfolders."""
    for place, _, names in os.walk(folder):
        for name in names:
            file = Path(place) / name
            with contextlib.suppress(OSError):
                if stat.S_ISREG(file.lstat().st_mode):
                    yield file

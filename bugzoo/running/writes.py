"""What became of the files that a script wrote, read by the process that started it."""

import contextlib
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

LAYERS, SECOND, SAID, NOTES = "layers", "second", "overlay.json", "outward.txt"
"""In a job's folder: the upper sides of its overlays, the path of a second place for them, what became of it, and what the
script did to the world outside, one line "kind what" for each kind of thing."""


@dataclass(frozen=True)
class Writes:
    """What became of what a script wrote. `apart`: it landed in scratch and is gone; else `why` it could not."""

    apart: bool
    bytes: int = 0
    kept: int = 0
    """Files that were copied to where `Job.keep` says."""
    why: str = ""
    read_only: tuple[str, ...] = ()
    """Folders in which nothing could be written."""
    outward: dict[str, str] = field(default_factory=dict)
    """The first thing of each kind that the script did to the world outside: "wrote" a file, "connected" to something,
    "started" a program; and "refused", what was not done any more when its last statement had ended."""

    @classmethod
    def of(cls, folder: Path, second: Path | None) -> "Writes":
        """Read what the child has left in a job's folder and in the second place."""
        try:
            said = json.loads((folder / SAID).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return cls(False, why="the process was gone before anything was covered")
        size = _written(folder / LAYERS, second)
        locked = tuple(said.get("read_only", ()))
        return cls(bool(said["apart"]), size, 0, str(said.get("why", "")), locked, read(folder))

    @property
    def repeats(self) -> str:
        """Why the whole script is not run a second time; "" where a second run changes nothing outside."""
        for kind, did in (("connected", "connected to"), ("started", "started")):
            if kind in self.outward:
                return f"the script {did} {self.outward[kind]}, which is not done a second time"
        if not self.apart and "wrote" in self.outward:
            return f"the script wrote {self.outward['wrote']}, and nothing keeps it from being written again here"
        return ""


def apart(folder: Path) -> bool:
    """Does what is written by the job in `folder` land in scratch?"""
    try:
        return bool(json.loads((folder / SAID).read_text(encoding="utf-8"))["apart"])
    except (OSError, ValueError):
        return False


def read(folder: Path) -> dict[str, str]:
    """The first thing of each kind that was noted."""
    try:
        lines = (folder / NOTES).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return {}
    return {kind: what for kind, _, what in (line.partition(" ") for line in reversed(lines))}


def second_place(folder: Path) -> Path | None:
    """Where upper sides lie that cannot be in the job's folder."""
    with contextlib.suppress(OSError):
        return Path((folder / SECOND).read_text())
    return None


def uppers(*places: Path | None) -> list[Path]:
    """The upper sides that lie in `places`; a trial's are empty and do not count."""
    return [one for place in places if place for one in place.glob("*-upper") if not one.name.startswith("trial")]


def _written(*places: Path | None) -> int:
    """Bytes of the files in the upper sides that lie in `places`."""
    return sum(file.lstat().st_size for upper in uppers(*places) for file in plain(upper))


def plain(folder: Path) -> Iterator[Path]:
    """Every regular file below."""
    for place, _, names in os.walk(folder):
        for name in names:
            file = Path(place) / name
            with contextlib.suppress(OSError):
                if stat.S_ISREG(file.lstat().st_mode):
                    yield file

"""What was downloaded, as a list of files: a folder, or a zip of which only notebooks are taken out, under names of ours."""

import contextlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from bugzoo.errors import UserError
from bugzoo.instructor.submission import shown

DEEP = 6
"""Folders below each other that are looked into."""
MOST_FILES = 50_000
JUNK = ("__pycache__", "__MACOSX")


@dataclass(frozen=True)
class File:
    """One file. `parts` is its path below the root, for grouping and for messages; `path` is where its bytes lie.

    `path` is None, with the `problem`, where it is not to be read.
    """

    parts: tuple[str, ...]
    path: Path | None = None
    problem: str = ""

    @property
    def name(self) -> str:
        return self.parts[-1]

    @property
    def stem(self) -> str:
        return Path(self.name).stem

    @property
    def suffix(self) -> str:
        return Path(self.name).suffix.lower()

    def __str__(self) -> str:
        return shown("/".join(self.parts))


@dataclass(frozen=True)
class Left:
    """A file that no hand-in is made of, and why."""

    name: str
    why: str

    def __str__(self) -> str:
        return f"{self.name}: {self.why}"


@dataclass
class Tree:
    """The files in the order of their names, the folders at the top, and what was left aside."""

    files: list[File] = field(default_factory=list)
    folders: list[str] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def below(self, folder: str) -> "Tree":
        """The tree that begins in one of its folders."""
        files = [replace(one, parts=one.parts[1:]) for one in self.files if one.parts[0] == folder and one.parts[1:]]
        folders = dict.fromkeys(one.parts[0] for one in files if len(one.parts) > 1)
        return Tree(files, sorted(folders), self.left)

    def of(self, folder: str) -> list[File]:
        """The files in one of its folders."""
        return [one for one in self.files if len(one.parts) > 1 and one.parts[0] == folder]

    @property
    def top(self) -> list[File]:
        """The files that lie in no folder."""
        return [one for one in self.files if len(one.parts) == 1]


def hidden(name: str) -> bool:
    return name.startswith(".") or name in JUNK


@contextlib.contextmanager
def opened(source: Path) -> Iterator[Tree]:
    """The tree of a folder or a zip. What was unpacked is gone afterwards. Raises UserError."""
    if source.is_dir():
        yield of_folder(source)
        return
    from bugzoo.instructor.lms import unpack

    with tempfile.TemporaryDirectory(prefix="bugzoo-zip-") as place:
        yield unpack.of_zip(source, Path(place))


def of_folder(folder: Path) -> Tree:
    """Links are listed and not followed: they could lead anywhere on the grader's machine. Raises UserError."""
    found = Tree()
    try:
        _walk(folder, (), found)
    except OSError as error:
        raise UserError(f"{error.filename or folder} could not be read: {error.strerror}.") from None
    return found


def _enter(folder: Path, parts: tuple[str, ...], found: Tree) -> None:
    """One folder below; of what is not looked into it is said."""
    if len(parts) >= DEEP:
        found.left.append(Left(shown("/".join(parts)), f"it lies deeper than {DEEP - 1} folders"))
        return
    try:
        _walk(folder, parts, found)
    except OSError as error:
        found.files.append(File((*parts, "?"), None, f"it could not be read: {error.strerror}"))
        found.left.append(Left(shown("/".join(parts)), f"it could not be read: {error.strerror}"))


def _walk(folder: Path, parts: tuple[str, ...], found: Tree) -> None:
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        if hidden(entry.name):
            continue
        here = (*parts, entry.name)
        if entry.is_symlink():
            found.files.append(File(here, None, "it is a link; hand in the file itself"))
        elif entry.is_dir(follow_symlinks=False):
            if not parts:
                found.folders.append(entry.name)
            _enter(Path(entry.path), here, found)
        else:
            found.files.append(File(here, Path(entry.path)))
        if len(found.files) > MOST_FILES:
            raise UserError(f"{folder} holds more than {MOST_FILES} files; name the folder with the hand-ins alone.")

"""A script as it stood at a git revision, beside the files that it had for neighbours then."""

import io
import os
import re
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bugzoo.errors import UserError

SPEC = re.compile(r"(?P<file>.+?\.py)@(?P<revision>.*)", re.DOTALL)


@dataclass(frozen=True)
class Revision:
    """`file` lies in `folder`, a copy of the whole tree of that commit; `name` is what it is called in what is printed."""

    file: Path
    folder: Path
    name: str


def asked_for(text: str) -> tuple[Path, str] | None:
    """(file, revision) of `train.py@HEAD~1`; None for what names no revision, and for a file that is really called so."""
    found = SPEC.fullmatch(text)
    return None if found is None or os.path.exists(text) else (Path(found["file"]), found["revision"])


@contextmanager
def checked_out(file: Path, revision: str) -> Iterator[Revision]:
    """The tree of `revision` in a folder of its own, for as long as the block lasts; the repository is only read.

    What git does not keep, data sets mostly, is linked into it; Python files are not. Raises UserError where there is no git,
    no repository, no such revision, or no such file in it.
    """
    home = next((one for one in file.absolute().parents if one.is_dir()), Path.cwd())
    top = _git(home, "rev-parse", "--show-toplevel")
    if top is None:
        raise UserError(
            f"{file} is in no git repository, so that there is no {file}@{revision}. Name two files instead."
        )
    root = Path(top.decode().rstrip("\n")).resolve()
    commit = (
        _git(root, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        if revision
        else None
    )
    if commit is None:
        raise UserError(
            f"{file}@{revision}: {revision!r} is no revision in {root}. A commit, a branch or a tag is one, or HEAD~1; "
            "`git log --oneline` lists them."
        )
    name = commit.decode().strip()
    inside = os.path.relpath(file.absolute().parent.resolve() / file.name, root).replace(os.sep, "/")
    if inside.startswith("../") or _git(root, "cat-file", "-e", f"{name}:{inside}") is None:
        raise UserError(
            f"{file}@{revision}: git has no {inside} at {revision}. `git log --oneline -- {inside}` lists the revisions that "
            "changed it; a file that was never committed has none."
        )
    tree = _git(root, "archive", "--format=tar", name)
    if tree is None:
        raise UserError(f"{file}@{revision}: git could not give the files of {revision} (git archive failed).")
    with tempfile.TemporaryDirectory(prefix="revision-") as made:
        folder = Path(made).resolve()
        with tarfile.open(fileobj=io.BytesIO(tree)) as archive:
            archive.extractall(folder, filter="data")
        _link(root, folder)
        yield Revision(folder / inside, folder, f"{revision}:")


def _link(root: Path, folder: Path) -> None:
    """What git does not keep, as far as it is no code: neither Python files nor folders in which some lie at the top."""
    listed = _git(root, "ls-files", "-z", "--others", "--directory") or b""
    for name in filter(None, os.fsdecode(listed).split("\0")):
        there, here = root / name, folder / name
        code = (
            there.suffix in (".py", ".pyc")
            or there.name == "__pycache__"
            or (there.is_dir() and any(there.glob("*.py")))
        )
        if not code and here.parent.is_dir() and not here.exists() and not here.is_symlink():
            here.symlink_to(there)


def _git(folder: Path, *words: str) -> bytes | None:
    """What it prints, None where it fails. Raises UserError where there is no git."""
    environment = {name: value for name, value in os.environ.items() if name not in ("GIT_DIR", "GIT_WORK_TREE")}
    try:
        done = subprocess.run(["git", "-C", str(folder), *words], capture_output=True, env=environment, check=False)
    except FileNotFoundError:
        raise UserError("git was not found, and a revision is asked of git. Install it, or name two files.") from None
    return done.stdout if done.returncode == 0 else None

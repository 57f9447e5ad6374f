"""git for histories that are made: nobody's configuration, hooks or clock have a say, so that one seed gives one hash."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

from bugzoo.errors import UserError

SETTINGS = (
    "init.defaultBranch=main",
    "core.autocrlf=false",
    "core.hooksPath=/dev/null",
    "commit.gpgsign=false",
    "gc.auto=0",
)
AUTHORS = (("Mira", "mira@example.org"), ("Jonas", "jonas@example.org"), ("Ravi", "ravi@example.org"))
FIRST = 1_772_438_400
"""Seconds since 1970 of the first commit: a Monday morning."""
APART = 9_700
"""Seconds between two commits."""


def present() -> None:
    """Raises UserError where git is not installed."""
    if shutil.which("git") is None:
        raise UserError("git was not found, and this incident is a git repository. Install git.")


def environment() -> dict[str, str]:
    """An environment in which git reads no configuration but the repository's own."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}


def git(folder: Path, *words: str, more: Mapping[str, str] | None = None) -> str:
    """What git printed in `folder`. Raises UserError with git's own words where it fails."""
    given = [part for one in SETTINGS for part in ("-c", one)]
    done = subprocess.run(
        ["git", *given, *words],
        cwd=folder, env=environment() | dict(more or {}), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", check=False,
    )  # fmt: skip
    if done.returncode:
        raise UserError(f"git {words[0]} failed in {folder}: {(done.stderr or done.stdout).strip()[:300]}")
    return done.stdout


def begin(folder: Path) -> None:
    """An empty repository in a new folder."""
    folder.mkdir(parents=True)
    git(folder, "init", "--quiet")


def commit(folder: Path, files: Mapping[str, str], message: str, number: int) -> str:
    """Write `files` (name -> text) and commit them as the commit `number` of the history; its hash."""
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    git(folder, "add", "--", *files)
    name, address = AUTHORS[number * 7 % len(AUTHORS)]
    when = f"{FIRST + number * APART} +0000"
    who = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", name), ("EMAIL", address), ("DATE", when))
    }
    git(folder, "commit", "--quiet", "-m", message, more=who)
    return git(folder, "rev-parse", "HEAD").strip()


def resolved(folder: Path, name: str) -> str:
    """The full hash of a commit that somebody named. Raises UserError where the repository has none of this name."""
    try:
        return git(folder, "rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}").strip()
    except UserError:
        raise UserError(
            f"There is no commit {name[:80]!r} in {folder}. `git -C {folder} log --oneline` shows all of them."
        ) from None

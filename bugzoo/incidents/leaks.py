"""What an incident's folder must not say: the name, title, hint or explanation of a fault, in a file, its name or a history."""

from collections.abc import Iterable
from pathlib import Path

from bugzoo import faults as catalogue
from bugzoo.incidents.bisecting import REPOSITORY
from bugzoo.incidents.repository import git


def leaked(folder: Path, faults: Iterable[str]) -> list[str]:
    """A sentence for each text of these faults (ids) that stands somewhere in the folder."""
    texts = {}
    for file in sorted(folder.rglob("*")):
        if ".git" not in file.relative_to(folder).parts:
            name = str(file.relative_to(folder))
            texts[name] = f"{name}\n{file.read_text(encoding='utf-8', errors='replace') if file.is_file() else ''}"
    if (folder / REPOSITORY / ".git").is_dir():
        texts["the history"] = git(folder / REPOSITORY, "log", "-p", "--all")
    found = []
    for said in sorted({said for name in faults for said in told(name)}):
        found += [f"{place} says {said!r}" for place, text in texts.items() if said.lower() in text.lower()]
    return found


def told(name: str) -> set[str]:
    """What would give a fault away."""
    fault, stem = catalogue.load(name), name.rsplit("/", 1)[1]
    return {name, *(stem.replace("_", sign) for sign in "_- "), fault.title, *fault.hints, fault.why, fault.fix}

"""The ledger: all proofs, stored in `proofs/` and committed, so that they are not repeated.

    proofs/faults/<family>/<name>.json    each program that the fault fits: numbers, outcomes, problems, instruments that
                                          fired, results of its repairs and pretences; its look-alikes
    proofs/programs/<name>.json           the healthy program: the negative control
    proofs/exercises/<name>.json          the result of each submission
    proofs/waiting.txt                    catalogue entries that wait for their first proof: "fault on program" or
                                          "fault beside another", one per line; they do not count as proved
    proofs/matrix.md                      a table for people, built from the first two

An entry is trusted while its keys are current: hashes of the texts that ran and the code that measured and judged. Comments,
docstrings and layout do not count. A changed threshold needs no run if the numbers are here or in the cache.
Versions of Python and torch are noted only. A file is rewritten only if a key or a verdict changes, so that a diff shows
the change. An installed bugzoo has no `proofs/` and uses only its cache of numbers.
"""

import json
import os
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

import bugzoo
from bugzoo.files import read_json, write_atomic
from bugzoo.plain import plain as as_json

Entry = dict[str, Any]
KINDS = ("faults", "programs", "exercises")


def home() -> Path | None:
    """Return the ledger's folder: $BUGZOO_PROOFS, else that of this checkout; None without one."""
    if (folder := os.environ.get("BUGZOO_PROOFS")) is not None:
        return Path(folder) if folder else None
    root = Path(bugzoo.__file__).parent.parent
    return root / "proofs" if (root / "pyproject.toml").exists() else None


def ours(fault_id: str) -> bool:
    """Return whether a fault is ours and not from a pack, whose ids begin with the pack's name and a colon."""
    return ":" not in fault_id


def read(kind: str, name: str) -> Entry:
    """Return an entry; {} if it is missing or cannot be read."""
    return read_json((home() or Path("nowhere")) / kind / f"{name}.json")


def write(kind: str, name: str, entry: Entry) -> None:
    """Write an entry, if there is a ledger and the entry has changed."""
    if (place := home()) is not None and read(kind, name) != (entry := plain(entry)):
        write_atomic(place / kind / f"{name}.json", to_text(entry), parents=True)


def names(kind: str) -> list[str]:
    """Return the names of all entries of one kind."""
    place = home()
    folder = place / kind if place else Path("nowhere")
    return sorted(file.relative_to(folder).with_suffix("").as_posix() for file in folder.rglob("*.json"))


def waiting(place: Path | None = None) -> set[str]:
    """Return what waits for its first proof, such as "loss/sum_reduction on sampler". `place`: folder, else `home()`."""
    file = (place or home() or Path("nowhere")) / "waiting.txt"
    lines = file.read_text(encoding="utf-8").splitlines() if file.is_file() else []
    return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def healthy_scripts() -> dict[str, dict[str, int]]:
    """Return instrument -> {"scripts", "applied", "fired"} on healthy scripts in other styles; empty without a ledger."""
    return read_json((home() or Path("nowhere")) / "healthy_scripts.json")


def newer(old: Entry, new: Entry) -> Entry:
    """Return `old` if `new` has the same verdict on the same content, as numbers differ slightly between machines."""
    same = ("evidence", "full", "key", "problems", "outcomes", "fired", "status", "share", "graded", "not_graded")
    return old if old and all(old.get(name) == plain(new.get(name)) for name in same) else new


def environment() -> str:
    """Return the versions behind a result, in one line."""
    versions = ", ".join(f"{name} {version(name).split('+')[0]}" for name in ("torch", "numpy"))
    return f"python {platform.python_version()}, {versions}, {platform.machine()}"


def plain(value: Any) -> Any:
    """Return a value as read from the file: six digits, text for non-finite numbers, lists for tuples."""
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    return as_json(float(f"{value:.6g}") if isinstance(value, float) else value)


def to_text(value: Any, indent: str = "") -> str:
    """Return JSON with readable diffs: one line per name, lists of short items in one line."""
    inner = indent + "  "
    if isinstance(value, dict) and value:
        lines = [f"{inner}{json.dumps(name)}: {to_text(part, inner).rstrip()}" for name, part in value.items()]
        text = "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    elif isinstance(value, list) and any(isinstance(part, dict | list) or len(str(part)) > 60 for part in value):
        lines = [f"{inner}{to_text(part, inner).rstrip()}" for part in value]
        text = "[\n" + ",\n".join(lines) + f"\n{indent}]"
    else:
        text = json.dumps(value, ensure_ascii=False)
    return text if indent else text + "\n"


def matrix() -> str:
    """Return the ledger as a table: which fault is proved on which program, and which instruments fire."""
    lines = [
        "# What is proved",
        "",
        "Written by `bugzoo verify` from the entries beside it. Instruments: those that fire on the first seed.",
        "",
        "| fault | program | result | instruments that fire |",
        "|---|---|---|---|",
    ]
    for name in names("faults"):
        for program, cell in read("faults", name).get("cells", {}).items():
            lines.append(f"| {name} | {program} | {_result(cell)} | {', '.join(cell.get('fired', [])) or '-'} |")
    for name, _, program in sorted(line.partition(" on ") for line in waiting() if " on " in line):
        lines.append(f"| {name} | {program} | waits for its proof | |")
    for name in names("programs"):
        entry = read("programs", name)
        lines.append(f"| (healthy) | {name} | {_result(entry)} | {', '.join(entry.get('fired', [])) or '-'} |")
    return "\n".join(lines) + "\n"


def _result(entry: Entry) -> str:
    if entry.get("problems"):
        return "**not proved**"
    if entry.get("not_graded"):
        return "proved, not graded"
    graded = entry.get("graded", {})
    if not graded.get("made"):
        return "proved"
    return f"proved, with {sum(map(len, graded['trials'].values()))} repairs and pretences"


def matrix_is_current() -> bool:
    """Return whether `matrix.md` matches the entries."""
    file = (home() or Path()) / "matrix.md"
    return file.is_file() and file.read_text(encoding="utf-8") == matrix()


def write_matrix() -> None:
    """Update `matrix.md`."""
    if (place := home()) is not None and not matrix_is_current():
        write_atomic(place / "matrix.md", matrix(), parents=True)

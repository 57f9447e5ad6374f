"""Lists of faults, programs, instruments and exercises as plain rows, without importing torch."""

import ast
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from importlib.metadata import entry_points, version
from pathlib import Path
from typing import Any

from bugzoo import diagnostics, faults, kept, programs
from bugzoo.errors import unknown
from bugzoo.faults.model import together
from bugzoo.fingerprint import of_files
from bugzoo.material import effort, exercise_files
from bugzoo.plain import plain
from bugzoo.syntax import parse

Row = dict[str, Any]
_LISTED = ("id", "kind", "title", "level", "symptom", "programs", "plainest", "params", "needs")
"""Fields of a fault in a list. The others are shown for a single fault."""


def first_line(text: str | None) -> str:
    """Return the first line of a docstring."""
    return (text or "").strip().split("\n\n")[0].replace("\n", " ").strip()


@cache
def _faults() -> dict[str, Row]:
    """Return fault id -> all details. They are cached, because it takes a second to try each fault on each program."""
    packs = [(pack.name, Path(path)) for pack in entry_points(group="bugzoo.faults") for path in pack.load().__path__]
    of_packs = [(name, str(file), file.read_bytes()) for name, path in packs for file in sorted(path.rglob("*.py"))]
    key = kept.key("faults", of_files(), version("ast-grep-py"), of_packs)
    if (details := kept.read(key)) is None:
        details = plain({name: _fault(fault) for name, fault in faults.catalogue().items()}, finite=False)
        kept.write(key, details)
    return details


def _fault(fault: faults.Fault) -> Row:
    from bugzoo.scenario import fits, plainest  # not above: what is cached needs no ast-grep

    return {
        "id": fault.id,
        "kind": "trap" if fault.trap else "fault",
        **_parts(fault, "title", "level", "symptom"),
        "programs": fits(fault),
        "plainest": plainest(fault),
        "params": {name: asdict(param) for name, param in fault.params.items()},
        "needs": fault.needs.to_json(),
        **_parts(fault, "report", "evidence", "effect", "why", "fix", "hints", "sources", "not_on"),
        "look_alikes": [asdict(look_alike) for look_alike in fault.look_alikes],
        "edits": list(map(str, together(fault.edits))),
    }


def _program(name: str) -> Row:
    program = programs.load(name)
    title = first_line(ast.get_docstring(parse(program.source)))
    return {"id": name, "kind": "program", "title": title, "facts": program.facts, "settings": program.settings}


def _instrument(name: str) -> Row:
    facts = diagnostics.declared(name)
    title = first_line(facts["__doc__"])
    return {"id": name, "kind": "instrument", "title": title, "cost": facts["COST"], "reruns": facts.get("RERUNS", 0)}


def _exercise(file: Path) -> Row:
    notebook = json.loads(file.read_text(encoding="utf-8"))
    text = "".join(next((c["source"] for c in notebook["cells"] if c["cell_type"] == "markdown"), ""))
    row = {"id": file.stem, "kind": "exercise", "title": text.lstrip("# ").split("\n")[0], "file": str(file)}
    return row | effort(notebook)


def _rows() -> dict[str, Callable[[], list[Row]]]:
    return {
        "faults": lambda: [{field: row[field] for field in _LISTED} for row in _faults().values()],
        "programs": lambda: [_program(name) for name in programs.names()],
        "instruments": lambda: [_instrument(name) for name in diagnostics.names()],
        "exercises": lambda: [_exercise(file) for file in exercise_files()],
        "contracts": _contracts,
    }


def _contracts() -> list[Row]:
    from bugzoo.contracts import contracts  # its tables import torch

    return [_contract(api_contract) for api_contract in contracts().values()]


def _contract(one: Any) -> Row:
    row = {"id": one.id, "kind": "contract", "title": one.demand, "calls": list(one.on)}
    return row | _parts(one, "given", "instead", "page", "breaks", "keeps", "wrong", "explains")


def _parts(item: object, *names: str) -> Row:
    return {name: getattr(item, name) for name in names}


KINDS = ("faults", "programs", "instruments", "exercises")
"""Those that `list` shows by itself."""
ASKED = ("contracts",)
"""Those that it shows when asked: the table imports torch."""
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z`])")


def rows(kind: str | None = None) -> list[Row]:
    """Return a dict with `id`, `kind` and `title` for every item, or for one of KINDS. Raises UserError."""
    makers = _rows()
    if kind is None:
        return [row for name in KINDS for row in makers[name]()]
    if kind not in (*KINDS, *ASKED):
        raise unknown("kind of thing", kind, (*KINDS, *ASKED), "bugzoo list")
    return makers[kind]()


def families() -> dict[str, str]:
    """Return family -> what goes wrong there, the docstring of its package; "" for the family of a fault pack."""
    titles: dict[str, str] = {}
    for fault_id in _faults():
        name = fault_id.split("/")[0]
        if name not in titles:
            file = Path(faults.__file__).parent / name / "__init__.py"
            titles[name] = first_line(ast.get_docstring(parse(file.read_text("utf-8")))) if file.is_file() else ""
    return titles


def by_family(rows: list[Row]) -> dict[str, list[Row]]:
    """Return family -> its faults among `rows`."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["id"].split("/")[0], []).append(row)
    return groups


def detail(name: str) -> Row:
    """Return all details of one fault, program, instrument, exercise or contract. Raises UserError with the nearest names."""
    if name.startswith("contracts/"):
        from bugzoo.contracts import contract

        return _contract(contract(name))
    of_name = [fault_id for fault_id in _faults() if name in (fault_id, fault_id.rpartition("/")[2])]
    if name in of_name or len(of_name) == 1:
        return _faults()[name if name in of_name else of_name[0]]
    if name in programs.names():
        return _program(name) | {"doc": ast.get_docstring(parse(programs.load(name).source))}
    if name in diagnostics.names():
        facts = diagnostics.declared(name)
        return _instrument(name) | {"doc": facts["__doc__"], "known_problems": facts["KNOWN_PROBLEMS"]}
    files = {file.stem: file for file in exercise_files()}
    numbers = {stem.split("_")[0]: stem for stem in files}
    name = numbers.get(name.zfill(2), name)  # as in `check` and `reset`
    if name in files:
        return _exercise(files[name])
    names = [*_faults(), *programs.names(), *diagnostics.names(), *files]
    raise unknown("fault, program, instrument or exercise", name, names, "bugzoo list")


def general(why: str) -> str:
    """Return the sentences of a `why` without a number: those with one tell of bugzoo's own case. If all have one, the first."""
    sentences = _SENTENCE.split(why)
    return " ".join(sentence for sentence in sentences if not re.search(r"\d", sentence)) or sentences[0]

"""A handed-in notebook as plain data: its program's text and its diagnosis, read and never run."""

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bugzoo.errors import UserError
from bugzoo.grading.program import SECTIONS, join

_MAGIC = re.compile(r"\A\s*%%program[ \t]+(\w+)[^\n]*\n?")
MOST_BYTES = 20 * 2**20
"""A notebook larger than this is not read."""


@dataclass(frozen=True)
class Submission:
    """`source`: the program's text; None where it is not whole, `problem` says why then. `diagnoses`: one per form."""

    source: str | None
    diagnoses: tuple[dict[str, Any], ...] = ()
    problem: str = ""
    remarks: tuple[str, ...] = field(default=())
    """What a teacher may want to know: cells that stand twice, a diagnosis that is no literal."""

    @property
    def diagnosis(self) -> dict[str, Any] | None:
        """The last one handed in, as running the notebook from the top would leave it."""
        return self.diagnoses[-1] if self.diagnoses else None


def read(path: Path) -> Submission:
    """The submission in a notebook file. Raises UserError for a file that is no notebook."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UserError(
                f"{path.name} is larger than {MOST_BYTES // 2**20} MiB; clear its outputs and hand it in again."
            )
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    return parse(text, path.name)


def parse(text: str, label: str = "the notebook") -> Submission:
    """The submission in a notebook's JSON text. Cells count in the order in which they stand, as running all would."""
    sections: dict[str, str] = {}
    remarks, diagnoses = [], []
    for source in _code_cells(text, label):
        match = _MAGIC.match(source)
        if match and match[1] in SECTIONS:
            if match[1] in sections:
                remarks.append(f"the cell `%%program {match[1]}` stands more than once; the last one counts")
            sections[match[1]] = source[match.end() :]
        elif not match:
            found, said = _handed_in(source)
            diagnoses += found
            remarks += said
    try:
        return Submission(join(sections), tuple(diagnoses), "", tuple(remarks))
    except UserError:
        missing = [name for name in SECTIONS if name not in sections]
        problem = f"the program's cell{'s' if len(missing) > 1 else ''} {', '.join(missing)} cannot be found in {label}"
        return Submission(None, tuple(diagnoses), problem, tuple(remarks))


def _code_cells(text: str, label: str) -> list[str]:
    try:
        cells = json.loads(text)["cells"]
        chosen = [cell["source"] for cell in cells if cell["cell_type"] == "code"]
        return [source if isinstance(source, str) else "".join(source) for source in chosen]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise UserError(f"{label} is no notebook (nbformat 4), or it was cut off.") from None


def _handed_in(source: str) -> tuple[list[dict[str, Any]], list[str]]:
    """The keyword arguments of every `....hand_in(...)` call that are literals; nothing is evaluated."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return [], []
    found, remarks = [], []
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "hand_in"):
            continue
        record = {}
        for keyword in node.keywords:
            try:
                record[str(keyword.arg)] = ast.literal_eval(keyword.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                remarks.append(f"the diagnosis's {keyword.arg} is no plain value and was not read")
        found.append(record)
    return found, remarks

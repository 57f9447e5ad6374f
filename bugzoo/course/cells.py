"""The cells of a lesson's percent script: their kinds, and how one is read."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from bugzoo.course.marks import fill
from bugzoo.course.questions import without_settings
from bugzoo.errors import UserError

KINDS = tuple("markdown folded code check predict draw task solution judge keep case proof measured".split())

PROSE = ("markdown", "folded", "check", "predict", "draw")
"""Kinds whose text the learner reads, and whose numbers need a proof."""

_PARTS = {"case": "case {}", "solution": "{}-solution", "judge": "judge {}", "keep": "keep {}"}
"""Kinds that may share the name of the cell they belong to -> their key."""

REVEALED = ("predict", "draw")
"""Kinds that are asked before a run, and whose result a later cell shows by `NAME.reveal(...)`."""

_MARKER = re.compile(r"# %%(?: \[(?P<kind>\w+)\])?(?: (?P<name>[A-Za-z][\w-]*))?(?: tags=(?P<tags>\[.*\]))?\s*")
CLAIM = re.compile(r"\{([^{}=]+?) = (\w+)\}")
"""A number or word of the text that a proof cell measures: `{1.38 = loss}`."""


@dataclass(frozen=True)
class Cell:
    """One cell. `text` of prose has no comment signs; `line` is its first line in the file, from 1."""

    kind: str
    name: str
    text: str
    line: int
    tags: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The id in the notebook; a cell that belongs to another may share its name."""
        return _PARTS.get(self.kind, "{}").format(self.name if self.kind == "case" else self.name.replace("_", "-"))

    @property
    def shown(self) -> str:
        """The text that the learner reads: `{1.38 = loss}` becomes 1.38."""
        return CLAIM.sub(r"\1", self.text)

    @property
    def claimed(self) -> str:
        """The text whose numbers need a proof: without an author's settings, such as a tolerance."""
        return without_settings(self.kind, self.text)


def read_cell(file: Path, line: int, marker: str, body: list[str], number: int) -> Cell:
    match, here = _MARKER.fullmatch(marker), f"{file.name}, line {line}"
    if not match:
        advice = "Write `# %% [kind] name`, without the kind for code."
        raise UserError(f"{here}: {marker!r} is not a cell marker. {advice}")
    kind = match["kind"] or "code"
    if kind not in KINDS:
        raise UserError(f"{here}: there is no kind [{kind}]. The kinds are {', '.join(KINDS)}.")
    name = match["name"] or (f"{kind}-{number}" if kind == "proof" else "")
    if not name:
        raise UserError(f"{here}: the cell needs a name: {marker.rstrip()} what-it-is")
    if kind in (*PROSE, "case"):
        for offset, text in enumerate(body, 1):
            if text.strip() and not re.match(r"#(?: |$)", text):
                here = f"{file.name}, line {line + offset}"
                raise UserError(f"{here}: text of a [{kind}] cell must begin with `# `: {text!r}")
        body = [text[2:] for text in body]
    text = fill("\n".join(body).strip("\n"), f"{here} ({name})", file.parent, link=kind in ("markdown", "folded"))
    return Cell(kind, name, text, line, tuple(json.loads(match["tags"] or "[]")))

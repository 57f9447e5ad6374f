"""The corpus: training scripts that the instruments were not written for, and what is wrong with each.

A set is a folder beside this file. `manifest.toml` has a table for each set and in it an entry for each script, whose keys are
fields of `Script`. `NAME.patch` beside a script is a unified diff that repairs it: its twin. An entry's `variants` are small
edits of its script. All of it is data, and no case is Python code.
"""

import re
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent
MANIFEST: dict[str, dict[str, Any]] = tomllib.loads((ROOT / "manifest.toml").read_text(encoding="utf-8"))
TWINNED = ("missed", "threads", "calls", "fixes")
"""Sets whose broken scripts have twins. A contract that is broken at a listed line counts as right there."""
NEAR = 2
"""Lines by which a contract's place may differ."""


@dataclass(frozen=True)
class Script:
    """One training script, a repaired twin or a variant of one.

    `causes`: ids that name its mistake, the best first. `second`: the id of another mistake in it. `lines`: where the mistake is.
    `wrong`: the mistake in words. `odd` and `why`: what looks wrong in a healthy script, and why it is right.
    `symptom`, `family`: how the mistake shows, and its kind. `effect`: numbers of the script and its twin. `source`: the report.
    `first_pass`: what checkup named at first sight, the likeliest first, as an id or as "ID at LINE (SCORE)".
    `facts`: patterns of what must be said of a crash. `ranks`: processes. `needs`: a package that it imports.
    `before`, `after`, `patch`: how its text differs from that of the file `path`. `at`: a part of the line to name.
    `reruns`: how many more runs checkup may need.
    """

    set: str
    name: str
    path: Path
    causes: Sequence[str] = ()
    second: str = ""
    lines: Sequence[int] = ()
    wrong: str = ""
    odd: str = ""
    why: str = ""
    symptom: str = ""
    family: str = ""
    effect: Mapping[str, Any] = field(default_factory=dict)
    source: str = ""
    first_pass: Sequence[str] = ()
    first_pass_of_twin: Sequence[str] = ()
    facts: Mapping[str, str] = field(default_factory=dict)
    ranks: int = 1
    needs: str = ""
    before: str = ""
    after: str = ""
    patch: str = ""
    at: str = ""
    reruns: int = 1

    @property
    def faulty(self) -> bool:
        return bool(self.causes or self.wrong or self.facts)

    @property
    def cause(self) -> str:
        """The id that names its mistake best, empty where no id does."""
        return next(iter(self.causes), "")

    @property
    def sealed(self) -> bool:
        """Return whether those who work on the instruments may not open it (README.md)."""
        return self.set == "reported" and int(self.name[1:]) % 2 == 0

    @property
    def accept(self) -> frozenset[str]:
        """Ids that name its mistake, or the second one."""
        return frozenset({*self.causes, self.second} - {""})

    @property
    def text(self) -> str:
        """Raises ValueError where the edit or the patch does not fit the file."""
        text = self.path.read_text(encoding="utf-8")
        if self.before not in text:
            raise ValueError(f"{self.path.name} does not hold {self.before!r}")
        return patched(text.replace(self.before, self.after, 1), self.patch)

    def placed(self, folder: Path) -> "Script":
        """Return the script with a file of its text: its own, or, of a twin or a variant, a new one below `folder`."""
        if not (self.before or self.patch):
            return self
        path = Path(tempfile.mkdtemp(dir=folder)) / self.path.name
        path.write_text(self.text, encoding="utf-8")
        return replace(self, path=path, before="", after="", patch="")

    def named(self, causes: Sequence[str], among: int = 1) -> bool:
        """Return whether a mistake is among the first so many causes; of a healthy script, whether there are no causes."""
        return not self.accept.isdisjoint(causes[:among]) if self.faulty else not causes

    def at_line(self, suspect: Any) -> bool:
        """Return whether a suspect is a contract, alone or joined with an instrument, near a line where that counts."""
        place = suspect.line if self.set in TWINNED else None
        near = place is not None and any(abs(place - line) <= NEAR for line in self.lines)
        return near and any(name.startswith("contracts/") for name in suspect.instruments)

    def right(self, suspect: Any) -> bool:
        """Return whether a suspect has one of its ids, or is a contract at one of its lines."""
        return suspect.cause in self.accept or self.at_line(suspect)


def patched(text: str, patch: str) -> str:
    """Return a text with a unified diff applied. Raises ValueError where a line differs from what the diff says."""
    lines, result, position = text.splitlines(keepends=True), [], 0
    for change in patch.splitlines(keepends=True)[2:]:
        if hunk := re.match(r"@@ -(\d+)", change):
            begin = int(hunk[1]) - 1
            result += lines[position:begin]
            position = begin
            continue
        if change[0] != "+":
            if lines[position : position + 1] != [change[1:]]:
                raise ValueError(f"line {position + 1} is not {change[1:]!r}")
            position += 1
        if change[0] != "-":
            result.append(change[1:])
    return "".join(result + lines[position:])


def scripts(*sets: str) -> Iterator[Script]:
    """Yield the scripts of some sets in the manifest's order, each followed by its twin if it has one."""
    for group in sets:
        for name, entry in MANIFEST[group].items():
            values = {key: value for key, value in entry.items() if key != "variants"}
            script = Script(group, name, ROOT / group / f"{name}.py", **values)
            yield script
            if (place := script.path.with_suffix(".patch")).exists():
                patch, causes = place.read_text(encoding="utf-8"), script.first_pass_of_twin
                yield Script(group, f"{name}, repaired", script.path, patch=patch, first_pass=causes)


def variants() -> Iterator[Script]:
    """Yield the variants of the scripts, which are wrong or only look wrong."""
    for script in scripts("scripts"):
        for entry in MANIFEST["scripts"][script.name].get("variants", ()):
            what = entry["causes"][0] if "causes" in entry else entry["odd"]
            again = int(what.startswith("reproducibility/"))
            yield Script("scripts", f"{script.name}-{what.split('/')[-1]}", script.path, reruns=again, **entry)

"""A folder for a bug report: the shortest script that still shows the symptom, and the environment in which it was seen.

    minimal.py      the script without everything that the symptom does not need (see `_shrink`), and without comments
    original.py     the script as it was
    report.md       the symptom, with numbers and lines, versions, device, revision, settings, hashes of the data
    checkup.json    what `bugzoo checkup` said of both

"Still shows it" means: the same instruments put the first suspect of the original first again, at the same statement if it had
one. The run ends as it did, or by itself if the original had to be stopped. A crash has the same type and message.
"""

import ast
import hashlib
import json
import re
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from bugzoo.diagnostics import instrument, measure_all
from bugzoo.diagnostics._shrink import Shrinker
from bugzoo.diagnostics.checkup import Ranked, Report, checkup, report
from bugzoo.errors import UserError
from bugzoo.files import write_atomic
from bugzoo.machine import cores
from bugzoo.rerun.model import tensors
from bugzoo.running import Job, Limits, Reading, Run, run_many, run_worker
from bugzoo.syntax import parse
from bugzoo.watching.describe import describe
from bugzoo.watching.watch import environment

LEAST_SECONDS = 10.0
"""A shorter script gets at least this long, as its first step may be its only one."""
CUT = ("timed_out", "stopped")
"""Outcomes of a run that was stopped from outside."""


@dataclass(frozen=True)
class Symptom:
    """What must stay true of a shorter script. `statement`: the text of the suspect's line, "" without a line."""

    cause: str
    instruments: tuple[str, ...]
    outcome: str
    statement: str = ""
    error: tuple[str, str] | None = None

    @classmethod
    def of(cls, found: Report) -> "Symptom":
        """The symptom of a checkup. Raises UserError if it found nothing, or could not judge."""
        run = found.run
        error = _error(run) if run is not None and found.run_outcome == "crashed" else None
        if not found.suspects and error is None:
            raise UserError(f"{found.file}: {found.why or 'nothing was found'}. There is nothing to report.")
        if not found.suspects:
            return cls("", (), found.run_outcome, error=error)
        first = found.suspects[0]
        statement = _line(run.source, first.line) if run is not None and first.line else ""
        return cls(first.cause, first.instruments, found.run_outcome, statement, error)

    def shown(self, run: Run) -> bool:
        """Does this run show the symptom?"""
        if run.outcome != self.outcome and not (self.outcome in CUT and run.outcome in ("finished", "non_finite")):
            return False
        if self.error is not None and _error(run) != self.error:
            return False
        if not self.cause:
            return True
        summary = report(run)
        same = [suspect for suspect in summary.suspects[:1] if suspect.cause == self.cause]
        return bool(same) and (not self.statement or self._blamed(same[0], run))

    def _blamed(self, suspect: Ranked, run: Run) -> bool:
        return suspect.line is not None and _same(_line(run.source, suspect.line), self.statement)


def _line(source: str, line: int) -> str:
    lines = source.splitlines()
    return lines[line - 1].strip() if 0 < line <= len(lines) else ""


def _same(one: str, other: str) -> bool:
    """Are two lines the same statement? Comments, spaces, brackets and quotes do not count."""
    letters = [re.sub(r"#.*|[\s()\[\],'\"]", "", text) for text in (one, other)]
    return letters[0].startswith(letters[1]) or letters[1].startswith(letters[0])


def _error(run: Run) -> tuple[str, str]:
    """(type, message) of the error that ended a run, without memory addresses."""
    error = run.trace.error
    return str(error.get("type")), re.sub(r"0x[0-9a-f]+", "0x", str(error.get("message")))


def bug_report(
    path: str | Path,
    folder: str | Path,
    argv: tuple[str, ...] = (),
    seconds: float = 60,
    budget: float = 300,
    told: Callable[[int, int], None] = lambda tries, lines: None,
) -> dict[str, Any]:
    """Write the folder, and return {"cause", "lines", "before", "tries", "shown"}.

    The script runs once, for at most `seconds`. Shorter versions run for `budget` seconds together, and `told(tries, lines)`
    reports the progress. Raises UserError if there is nothing to report, or if the folder exists and is not empty.
    """
    place = Path(folder)
    if place.exists() and (not place.is_dir() or any(place.iterdir())):
        raise UserError(f"{str(place)!r} exists and is not empty. Name a new folder.")
    original = checkup(path, argv, seconds=seconds, most_reruns=0)
    symptom = Symptom.of(original)
    assert original.run is not None
    source = Path(path).read_text(encoding="utf-8")
    names = sorted({*symptom.instruments, "crash"}) if symptom.cause else ["crash"]
    job = Job(
        source,
        file=str(Path(path).resolve()),
        limits=Limits(seconds=max(LEAST_SECONDS, min(3 * original.seconds, seconds))),
        after=f"{__name__}:measure",
        after_args={"names": names},
        argv=argv,
        cwd=str(Path(path).resolve().parent),
        overlay=True,
    )
    once = original.run.writes.repeats if original.run.writes is not None else ""

    def ask(sources: list[str]) -> list[bool]:
        return [symptom.shown(run) for run in run_many([replace(job, source=text) for text in sources])]

    shrinker = Shrinker(ask, told, cores(), time.monotonic() + budget)
    minimal = source if once else shrinker.shrink(source)
    reproduced = any(shrinker.known.values())
    minimal = minimal if reproduced else source
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"{str(place)!r} cannot be created: {error.strerror}. Name another folder.") from None
    write_atomic(place / "original.py", source)
    write_atomic(place / "minimal.py", minimal)
    again = original if once else checkup(place / "minimal.py", argv, seconds=seconds, most_reruns=0)
    write_atomic(
        place / "checkup.json",
        json.dumps({"original": original.to_json(), "minimal": again.to_json()}, indent=1) + "\n",
    )
    lines = len(minimal.splitlines())
    hashing = replace(job, after=f"{__name__}:hashed", after_args={})
    data = {} if once else run_worker(hashing).readings.get("data", Reading()).numbers
    write_atomic(place / "report.md", page(original, symptom, lines, Path(path), argv, data))
    return {
        "cause": symptom.cause, "lines": lines, "before": len(source.splitlines()), "tries": shrinker.tries, "shown": reproduced,
        "not_shortened": once,
    }  # fmt: skip


def measure(run: Run, names: list[str]) -> dict[str, Any]:
    """Readings of the named instruments only. Called in the worker."""
    return measure_all(run, names=[name for name in names if instrument(name)])


def page(
    found: Report, symptom: Symptom, lines: int, path: Path, argv: tuple[str, ...], data: Mapping[str, Any]
) -> str:
    """`report.md`, for a reader who has not seen the script."""
    run, bullets = found.run, []
    for suspect in found.suspects[:3]:
        at = f", line {suspect.line} of original.py" if suspect.line else ""
        bullets.append(f"- `{suspect.cause}` ({suspect.score:.2f}{at}): {suspect.reason}")
    error = symptom.error
    where = {name: value for name, value in environment().items() if value is not None}
    settings = _settings(run.source) if run is not None else {}
    return "\n".join(
        [
            f"# {symptom.cause or (error[0] if error else 'symptom')}: {path.name}",
            "",
            f"`python {' '.join(['minimal.py', *argv])}` shows the symptom in {lines} lines. It was found in `original.py`.",
            "",
            "## Symptom",
            "",
            f"The run ended as {found.run_outcome} after {found.steps} optimizer steps, in {found.seconds:.1f} s.",
            *([f"`{error[0]}: {error[1]}`"] if error else []),
            *bullets,
            *(["", found.why] if found.why and not bullets else []),
            "",
            "## Environment",
            "",
            *(f"- {name}: {value}" for name, value in where.items()),
            *(f"- git: {line}" for line in _revision(path.parent)),
            *(f"- argument: `{argument}`" for argument in argv),
            *(f"- setting: `{name} = {value}`" for name, value in settings.items()),
            *(f"- first batch: {tensor}, sha256 {digest}" for tensor, digest in data.items()),
            "",
        ]
    )


def _settings(source: str) -> dict[str, str]:
    """Constants that the script assigns at its top level, as they are written there."""
    settings = {}
    for node in parse(source).body:
        if (
            isinstance(node, ast.Assign)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.targets[0], ast.Name)
        ):
            settings[node.targets[0].id] = ast.unparse(node.value)
    return settings


def hashed(run: Run) -> dict[str, Any]:
    """{"data": the tensors of the first batch, each with a hash of its bytes}. Called in the worker."""
    watched = getattr(run.trace, "live", None)
    batches = watched.batches[:1] if watched is not None else []
    inputs = [tensor.detach().cpu().contiguous() for batch in batches for tensor in tensors((batch.args, batch.kwargs))]
    numbers = {
        describe(tensor): hashlib.sha256(tensor.reshape(-1).view(torch.uint8).numpy().tobytes()).hexdigest()[:16]
        for tensor in inputs
    }
    return {"data": Reading(numbers)}


def _revision(folder: Path) -> list[str]:
    """The git revision, and whether there are uncommitted changes; [] outside a repository."""

    def git(*words: str) -> str:
        try:
            process = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            return ""
        return process.stdout.strip() if not process.returncode else ""

    revision = git("rev-parse", "HEAD")
    return [f"{revision}{', with uncommitted changes' if git('status', '--porcelain') else ''}"] if revision else []

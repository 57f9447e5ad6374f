"""`checkup`: run a script under watch, apply every instrument, and rank the suspects.

    report = checkup("train.py")
    print(report)

The script runs in its own process. The instruments judge what that run did. The source is read afterwards, only to find the line
of a suspect. A script without suspects is reported as "nothing" found. A script without a training step is "unjudged", with the
reason.
"""

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bugzoo.diagnostics import judge_all, measure_all, names, reread, reruns
from bugzoo.diagnostics._contracts import Broken, broken, joined
from bugzoo.diagnostics._rank import Ranked, apart, rank, root
from bugzoo.diagnostics._weigh import weighed
from bugzoo.diagnostics.causes import cause, locate
from bugzoo.diagnostics.verdict import Verdict
from bugzoo.errors import UserError
from bugzoo.plain import plain
from bugzoo.running.reading import Reading
from bugzoo.syntax import parse
from bugzoo.watching.records import LibraryWarning

if TYPE_CHECKING:
    from bugzoo.running.result import Run

NO_RERUN = "nothing is run again, as --no-rerun asks"
PATIENCE = 10.0
"""Seconds that a worker may answer late."""


@dataclass(frozen=True)
class Measured:
    """A reading: what an instrument saw, and the causes that it could mean, too weakly supported to be suspects."""

    instrument: str
    message: str
    could_be: tuple[str, ...] = ()


@dataclass
class Report:
    """What a checkup found. `outcome`: "found" (with suspects), "nothing" or "unjudged" (then `why` says why)."""

    file: str
    outcome: str
    why: str = ""
    suspects: list[Ranked] = field(default_factory=list)
    readings: list[Measured] = field(default_factory=list)
    """What was measured outside its usual range, and is too little to name a cause."""
    verdicts: list[Verdict] = field(default_factory=list)
    """Those that fired first; their suspects with the scores that the instruments earned."""
    findings: list[Broken] = field(default_factory=list)
    """Library calls whose documented demands are not met; a suspect where what it explains is seen as well."""
    not_checked: list[dict[str, str]] = field(default_factory=list)
    run_outcome: str = ""
    steps: int = 0
    seconds: float = 0.0
    run: "Run | None" = field(default=None, repr=False, compare=False)
    """The run itself, for plots."""

    @property
    def remaining(self) -> list[Ranked]:
        """Suspects that no other suspect explains, and that are not another reading of a suspect's evidence."""
        return [suspect for suspect in self.suspects if not (suspect.explained_by or suspect.instead_of)]

    @property
    def tried(self) -> str:
        """What changed copies of the script showed, "" if none ran."""
        return next((v.message for v in self.verdicts if v.instrument == "five_minute_checklist"), "")

    @property
    def stepped_aside(self) -> dict[str, str]:
        """Id of a contract -> why it could not judge a call of the script."""
        return {} if self.run is None else dict(self.run.trace.environment.get("stepped_aside", {}))

    @property
    def warned(self) -> list[LibraryWarning]:
        """What libraries warned of, each once, with the line of the script."""
        return [] if self.run is None else list(self.run.trace.environment.get("warned", []))

    def belonging(self, suspect: Ranked) -> list[Ranked]:
        """The other suspects that belong to this one."""
        return [other for other in self.suspects if other is not suspect and root(other, self.suspects) is suspect]

    def to_json(self) -> dict[str, Any]:
        """Plain data; line numbers from 1, scores from 0 to 1."""
        return {
            "outcome": self.outcome,
            "why": self.why,
            "file": self.file,
            "run": {"outcome": self.run_outcome, "steps": self.steps, "seconds": round(self.seconds, 2)},
            "suspects": [
                {
                    "cause": s.cause,
                    "score": round(s.score, 3),
                    "reason": s.reason,
                    "file": s.file,
                    "line": s.line,
                    "instruments": list(s.instruments),
                    "explained_by": s.explained_by or None,
                    "instead_of": s.instead_of or None,
                }
                for s in self.suspects
            ],
            "readings": [asdict(one) for one in self.readings],
            "fired": [{"instrument": v.instrument, "message": v.message} for v in self.verdicts if v.fired],
            "findings": [one.to_json() for one in self.findings],
            "stepped_aside": self.stepped_aside,
            "warned": self.warned,
            "tried": self.tried or None,
            "writes": plain(asdict(self.run.writes)) if self.run is not None and self.run.writes is not None else None,
            "not_checked": self.not_checked,
        }

    def __str__(self) -> str:
        head = {"found": "Suspects, most likely first", "nothing": "Nothing found", "unjudged": "Not judged"}[
            self.outcome
        ]
        lines = [f"{self.file}: {head}" + (f" ({self.why})" if self.why else "")]
        for suspect in self.suspects:
            at = f", line {suspect.line}" if suspect.line else ""
            after = f" (explained by {suspect.explained_by})" if suspect.explained_by else ""
            lines.append(f"  {suspect.score:.2f}  {suspect.cause}{at}: {suspect.reason}{after}")
        lines += [f"  line {one.line}: {one.demand} {one.given}" for one in self.findings if not one.silenced]
        lines += [f"  {one.instrument}: {one.message}" for one in self.readings]
        lines += [f"  not checked: {item['instrument']} ({item['why']})" for item in self.not_checked]
        return "\n".join(lines)


def report(run: "Run", path: str | None = None) -> Report:
    """The report on a measured run."""
    findings = broken(run)
    verdicts = weighed(judge_all(run.readings), run, [finding.effect for finding in findings if not finding.silenced])
    file = path or run.file or "the watched code"
    steps = len(run.trace.step)
    skipped = [
        {"instrument": name, "why": reading.why_not} for name, reading in run.readings.items() if not reading.applies
    ]
    suspects, weak = apart(joined(findings, [_placed(suspect, run, file) for suspect in rank(verdicts)]))
    crashed = [v.message for v in verdicts if v.fired and v.instrument == "crash"]
    readings = _readings(verdicts, suspects, weak)
    if suspects:
        outcome, why = "found", _ending(run) if run.outcome in ("timed_out", "stopped") else ""
    elif crashed:  # with a message whose cause is not known
        outcome, why = "unjudged", "; ".join(crashed) + hint(run)
    elif not steps:
        outcome, why = "unjudged", f"no optimizer step was seen, so there is no training to judge ({_ending(run)})"
        why += hint(run)
    else:
        outcome, why = "nothing", _unlearnt(run) if run.outcome == "finished" else _ending(run)
    return Report(
        file, outcome, why, suspects, readings, verdicts, findings, skipped, run.outcome, steps, run.seconds, run
    )


def _readings(verdicts: Iterable[Verdict], suspects: Iterable[Ranked], weak: Iterable[Ranked]) -> list[Measured]:
    """Return what fired and names none of the suspects. A crash is told as the run's ending."""
    named, order = {one.cause for one in suspects}, [one.cause for one in weak]
    measured = []
    for one in verdicts:
        causes = {suspect.cause for suspect in one.suspects}
        if one.fired and not causes & named and one.instrument not in ("crash", "five_minute_checklist"):
            could_be = tuple(sorted(causes, key=lambda name: order.index(name) if name in order else len(order)))
            measured.append(Measured(one.instrument, one.message, could_be))
    return measured


def likeliest_first(verdicts: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that fired, those that name the likeliest cause first, and those without a suspect last."""
    fired = [verdict for verdict in verdicts if verdict.fired]
    order = {suspect.cause: place for place, suspect in enumerate(rank(fired))}
    return sorted(fired, key=lambda one: min((order[suspect.cause] for suspect in one.suspects), default=len(order)))


def _unlearnt(run: "Run") -> str:
    """A remark on a run in which nothing is wrong and nothing was learned; "" if something was."""
    numbers = run.readings.get("loss_curve", Reading()).numbers
    if not numbers.get("stuck_at_chance"):
        return ""
    return (
        f"but the model learned nothing: the loss ends at {numbers['final_loss']:.3g}, and guessing gives "
        f"{numbers['chance']:.3g}; no instrument says why"
    )


ARGUMENTS = "Give the script's own arguments after `--`, as in `bugzoo checkup train.py -- --epochs 2`"


def hint(run: "Run", arguments: str = ARGUMENTS) -> str:
    """What to type next if a script did not reach its training; "" if that is unknown. `arguments`: how to pass them."""
    error = run.trace.error or {}
    kind, message = error.get("type"), str(error.get("message"))
    printed = [line.strip() for line in run.stdout.splitlines() if line.strip()]
    if kind == "SystemExit":
        last = f" Its last output: {printed[-1][:200]}" if printed else ""
        return f".{last} {arguments}"
    if kind == "ModuleNotFoundError":
        return ". Install that module, or run bugzoo in the environment of the script"
    if kind == "EOFError":
        return ". Here, standard input is empty: pass arguments to the script instead"
    if "RANK" in message and "environment variable" in message:
        return ". The script expects torchrun: type `bugzoo checkup --ranks 2 train.py`"
    if kind in ("Exit", "Killed"):
        return ". End the script without os._exit(), so that bugzoo can keep its measurements"
    calls = run.trace.environment.get("backwards")
    if calls and not len(run.trace.step):
        return f". backward() ran {calls} times, but bugzoo cannot watch updates written by hand, without torch.optim"
    return ""


def _ending(run: "Run") -> str:
    error = run.trace.error
    line = error.get("line")
    if run.outcome in ("timed_out", "hung"):
        where = f" at line {line}" if line else ""
        event = "the time limit stopped the script" if run.outcome == "timed_out" else "the script hung"
        return f"{event} after {run.seconds:.0f} s{where}; only the run until then was judged"
    text = {
        "stopped": "the run was stopped; only the run until then was judged",
        "finished": "the script finished",
    }.get(run.outcome, f"the run ended as {run.outcome}")
    raised = f"{error.get('type')}: {error.get('message')}".splitlines()[0][:200] if error.get("type") else ""
    where = f" at line {line}" if line else ""
    return text + (f" with {raised}{where}" if raised else "")


def _placed(suspect: Ranked, run: "Run", file: str) -> Ranked:
    """The suspect with file and line: as the run saw it, or as found in the source."""
    if suspect.line and not cause(suspect.cause).source_knows:
        return suspect
    line = locate(suspect.cause, run.source) if run.source else None
    return replace(suspect, file=file, line=line) if line else suspect


def read(path: str | Path) -> str:
    """The script's text. Raises UserError for a file that is missing, unreadable or not Python."""
    path = Path(path)
    try:
        text = path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        where = "" if path.is_absolute() else f" in {Path.cwd()}"
        raise UserError(f"There is no file {str(path)!r}{where}. Give the path of a training script.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text, so it is not a Python script.") from None
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror}. Give the path of a training script.") from None
    if path.suffix == ".ipynb":
        raise UserError(
            f"{path} is a notebook, not a script. Type `jupyter nbconvert --to script {path.name}`, and check "
            "the file that it writes. Or watch a cell with `with bugzoo.watch() as trace:`."
        )
    try:
        parse(text)
    except SyntaxError as error:
        raise UserError(
            f"{path}:{error.lineno}: {error.msg}. Python cannot parse this file. Correct that line first."
        ) from None
    except ValueError as error:
        raise UserError(f"{path} is not Python source: {error}.") from None
    return text


def checkup(
    path: str | Path,
    argv: Sequence[str] = (),
    seconds: float = 60,
    most_reruns: int | None = None,
    memory_mib: int | None = None,
    ranks: int = 1,
    on_step: Callable[[dict[str, Any]], None] | None = None,
    budget: float | None = None,
    rerun: bool = True,
    keep: str | Path | None = None,
) -> Report:
    """Run the script at `path` for at most `seconds` and report what may be wrong with its training.

    The script, the instruments and further runs take about `budget` seconds together, by default twice `seconds`. Cheap
    instruments come first, and those that found no time are in `not_checked`. `argv` are the script's arguments. With `ranks`
    above 1, torch's launcher starts that many processes. `on_step` gets each step as it is recorded. An instrument that runs
    the script, or changed copies of it, again is applied if it needs at most `most_reruns` runs and time is left. By default
    that is one run, and with a `budget` as many as it needs. Without `rerun` nothing is run again, not even a part.
    What the script writes is discarded where the kernel allows it, or copied to the folder `keep`: `report.run.writes`.
    Raises UserError for a file that is not Python. Whatever the script itself does is part of the report.
    """
    source, began = read(path), time.perf_counter()
    from bugzoo.running.warm import warm_up

    warm_up()  # that process imports torch while this one does
    from bugzoo.running import Job, Limits, run_worker

    if most_reruns is None:
        most_reruns = 1 if budget is None else max(map(reruns, names()))
    budget = 2 * seconds if budget is None else budget
    seconds = min(seconds, budget)
    job = Job(
        source,
        file=str(Path(path).resolve()),
        # a single process ends itself in time (see _clock), and is stopped from outside only if it does not answer
        limits=Limits(seconds=seconds if ranks > 1 else budget + PATIENCE, memory_mib=memory_mib),
        after="bugzoo.diagnostics:measure_all" if ranks > 1 else f"bugzoo.diagnostics._clock:{seconds}:{budget}",
        argv=tuple(argv),
        cwd=str(Path(path).resolve().parent),
        ranks=ranks,
        overlay=True,
        watch_settings={"contracts": True},
        rerun=rerun,
        keep="" if keep is None else str(Path(keep).resolve()),
    )
    run = run_worker(job, on_step)
    if not run.readings:  # the worker was stopped from outside, but its trace is still there
        gone = Reading(why_not="the process ended before this instrument could run")
        run.readings = {name: r if r.applies else gone for name, r in measure_all(run, max_cost=0).items()}
    if ranks > 1:  # instruments that compare ranks run after all ranks have returned
        run.readings |= measure_all(run, names=["rank_check", "crash"])
    for name in sorted(filter(reruns, names()), key=reruns):
        left = budget - (time.perf_counter() - began)
        run.readings[name] = _again(name, run, job, most_reruns, left) if rerun else Reading(why_not=NO_RERUN)
    return report(run, str(path))


def _again(name: str, run: "Run", job: Any, most_reruns: int, left: float) -> Reading:
    """Reading of an instrument that needs more runs of the script, if there is time for them."""
    times = {1: "once more", 2: "twice more"}.get(reruns(name), f"{reruns(name)} times more")
    if reruns(name) > most_reruns:
        return Reading(why_not=f"this instrument runs the script {times}, which needs a --budget")
    if run.outcome not in ("finished", "non_finite"):
        return Reading(why_not=f"the run did not finish ({run.outcome}), so another run would show no more")
    if run.seconds * reruns(name) > left or math.isnan(run.seconds):
        return Reading(why_not=f"no time is left to run the script {times}, at {run.seconds:.0f} s each")
    if run.writes is not None and run.writes.repeats:
        return Reading(why_not=run.writes.repeats)
    from bugzoo.running import Limits

    again = replace(job, after=None, keep="", limits=Limits(seconds=max(left, 2 * run.seconds)))
    return reread(name, run, again)

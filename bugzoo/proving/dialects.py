"""Does a dialect train alike? Original and rewriting are run, and everything that comes out is compared, to the last bit.

Kept in `proofs/dialects/PROGRAM.json`: each dialect on the healthy program, combinations of several, and combinations on broken
texts drawn from the catalogue, whose losses have to be those of the broken text. An entry is about two texts and is
believed while the dialect still makes the one of the other. `sees` notes what instruments say of one text only, for those
who choose dialects to be graded: "-name" fires on the original alone, "+name" on the rewriting alone.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from bugzoo import dialects, programs
from bugzoo import faults as catalogue
from bugzoo.diagnostics import instrument, judge_all
from bugzoo.proving import code, ledger
from bugzoo.scenario import Scenario, fits

if TYPE_CHECKING:  # who only reads the table does not wait for torch
    from bugzoo.running import Job, Run

KIND = "dialects"
COMBINED = 4
"""Combinations that are drawn of each healthy program."""
BROKEN = 6
"""Broken texts that are drawn of each program."""
AT_ONCE = 10
"""Rewritings that are run before what came out is written down."""
LEAST = 6
"""Dialects that every program has at least."""


@dataclass(frozen=True)
class Pair:
    """One rewriting that has to train alike: `what` names it within its program."""

    program: str
    what: str
    scenario: Scenario
    text: str
    made: tuple[str, ...]

    @property
    def alone(self) -> bool:
        """One dialect by itself; what instruments see is asked of several together."""
        return self.what in self.made

    @property
    def key(self) -> str:
        return code.short(self.scenario.source, self.text)


def pairs(program: str) -> Iterator[Pair]:
    """Everything that is proved about the dialects of one program."""
    yield from each(program)
    healthy = Scenario(program)
    for seed in range(COMBINED):
        text, made = dialects.apply(healthy.source, seed)
        yield Pair(program, f"combination {seed}", healthy, text, tuple(made))
    for spec in drawn(program):
        broken = Scenario(program, (spec,))
        text, made = dialects.apply(broken.source, f"{program}:{spec}")
        yield Pair(program, spec, broken, text, tuple(made))


def each(program: str) -> Iterator[Pair]:
    """Each dialect that fits the healthy program."""
    healthy = Scenario(program)
    for name in dialects.fitting(healthy.source):
        text = dialects.rewritten(healthy.source, name)
        assert text is not None
        yield Pair(program, name, healthy, text, (name,))


def single(program: str) -> dict[str, bool]:
    """Each dialect that fits a program, and whether it is proved there."""
    found = read(program)
    return {pair.what: stands(pair, found.get(pair.what, {})) for pair in each(program)}


def drawn(program: str) -> list[str]:
    """Faults of the catalogue whose broken texts are rewritten: those that fit, and that one CPU shows in little time.

    Without those of reproducibility: two runs of one and the same text differ there.
    """
    usable = [
        fault.id
        for fault in catalogue.catalogue().values()
        if ledger.ours(fault.id)
        and fault.family != "reproducibility"
        and program in fits(fault)
        and not (fault.needs.cuda or fault.needs.seconds or fault.needs.memory_mib)
    ]
    # by a rank of their own, so that a fault that is added leaves most draws as they are
    return sorted(sorted(usable, key=lambda name: code.short(program, name))[:BROKEN])


def read(program: str) -> dict[str, Any]:
    """What is proved: what -> entry."""
    return ledger.read(KIND, program).get("pairs", {})


def stands(pair: Pair, entry: dict[str, Any]) -> bool:
    """Whether an entry is about these two texts, and says that they train alike."""
    return entry.get("key") == pair.key and not entry.get("problems")


def lacking(program: str) -> list[str]:
    """What is not proved about the dialects of a program, with what to type."""
    found, mine, then = read(program), list(pairs(program)), f"type `bugzoo dialects check {program}`"
    said = [
        f"{program}, {pair.what}: not proved; {then}" for pair in mine if not stands(pair, found.get(pair.what, {}))
    ]
    said += [f"{program} has no {what} any more; {then}" for what in found.keys() - {pair.what for pair in mine}]
    return said + ([f"{program}{few}"] if (few := too_few(program)) else [])


def too_few(program: str) -> str:
    """How many dialects a program has where these are less than every program needs, in words."""
    count = len(dialects.fitting(Scenario(program).source))
    return f": {count} dialects fit, {LEAST} are needed" if count < LEAST else ""


def check(
    program: str, fresh: bool = False, progress: Callable[[int, int], None] | None = None, workers: int | None = None
) -> dict[str, Any]:
    """Run what is not proved about one program, or everything where `fresh`, and write it down. Returns the entries.

    `progress(done, of)` counts rewritings. What was run is written down every few runs, so that Ctrl-C loses little.
    Raises RuntimeError where a run says nothing, as the machine failed.
    """
    found, mine = read(program), list(pairs(program))
    todo = [pair for pair in mine if fresh or not stands(pair, found.get(pair.what, {}))]
    todo.sort(key=lambda pair: pair.alone)  # several together first: they would show at once that something is wrong
    entries = {pair.what: found[pair.what] for pair in mine if pair not in todo}
    originals: dict[str, Run] = {}
    for start in range(0, len(todo), AT_ONCE):
        if progress:
            progress(start, len(todo))
        for pair, one, other in compared(todo[start : start + AT_ONCE], originals, workers):
            entry = {"key": pair.key, "made": list(pair.made), "outcome": one.outcome, "steps": len(one.trace.step)}
            looked = {} if pair.alone else {"sees": sees(one, other)}
            entries[pair.what] = entry | {"problems": differences(one, other)} | looked
        _write(program, {pair.what: entries[pair.what] for pair in mine if pair.what in entries})
    if progress:
        progress(len(todo), len(todo))
    if found.keys() - entries.keys():
        _write(program, entries)
    return entries


def _write(program: str, entries: dict[str, Any]) -> None:
    ledger.write(KIND, program, {"with": ledger.environment(), "pairs": entries})


def compared(
    todo: list[Pair], originals: "dict[str, Run] | None" = None, workers: int | None = None
) -> Iterator[tuple[Pair, "Run", "Run"]]:
    """(pair, the original's run, the rewriting's run) for each; `originals` keeps the former, by text."""
    from bugzoo.running import run_many

    known: dict[str, Run] = {} if originals is None else originals
    new = {pair.scenario.source: pair for pair in todo if pair.scenario.source not in known}
    jobs = [job_of(pair) for pair in new.values()]
    runs = run_many(
        [*jobs, *(replace(job_of(pair, not pair.alone), source=pair.text) for pair in todo)], workers=workers
    )
    known |= dict(zip(new, runs, strict=False))
    for pair, after in zip(todo, runs[len(new) :], strict=True):
        yield pair, known[pair.scenario.source], after


def job_of(pair: Pair, looked: bool = True) -> "Job":
    """The original's run, with what all instruments see of it where it is `looked` at."""
    # a folder of its own, as one program leaves a checkpoint
    job = pair.scenario.job(bring_mib=32, quiet=True, export=("model",))
    after: dict[str, Any] = {"names": sorted(code.everything())}
    return replace(job, after="bugzoo.diagnostics:measure_all", after_args=after) if looked else job


def sees(one: "Run", other: "Run") -> list[str]:
    """Instruments that fire on one of two runs only; those that measure time are left out."""
    fired = [{said.instrument for said in judge_all(run.readings) if said.fired} for run in (one, other)]
    differ = sorted(name for name in fired[0] ^ fired[1] if not getattr(instrument(name), "TIMED", False))
    return [f"{'-' if name in fired[0] else '+'}{name}" for name in differ]


def differences(one: "Run", other: "Run") -> list[str]:
    """In what two runs differ, in words: how they ended, every loss, metrics, what was printed, the weights."""
    for run in (one, other):
        if run.trouble:
            raise RuntimeError(f"A run says nothing about its text: {run.trouble}")
    said = []
    if one.outcome != other.outcome:
        said.append(f"ends as {other.outcome}, the original as {one.outcome}")
    if (first := _ending(one)) != (second := _ending(other)):
        said.append(f"stops with {second}, the original with {first}")
    losses = [np.asarray(run.trace.loss, dtype=np.float64) for run in (one, other)]
    if losses[0].tobytes() != losses[1].tobytes():
        said.append(_first_other(*losses))
    if repr(one.trace.metrics) != repr(other.trace.metrics):
        said.append(f"metrics {other.trace.metrics}, the original {one.trace.metrics}")
    if _printed(one) != _printed(other):
        said.append("it prints something else")
    if one.arrays.keys() != other.arrays.keys():
        said.append("its model has other parameters")
    elif wrong := [name for name, value in one.arrays.items() if value.tobytes() != other.arrays[name].tobytes()]:
        said.append(f"other weights in {wrong[0]}")
    return said


def _printed(run: "Run") -> str:
    """What a run printed; warnings without the place and the line that they are about."""
    return re.sub(r"^\S+:\d+: (\w+Warning: .*)\n(  .*\n)?", r"\1\n", run.stdout, flags=re.MULTILINE)


def _ending(run: "Run") -> str:
    """Type and text of the exception that ended a run, without the names in it; "" where none did."""
    error = run.trace.error or {}
    return re.sub(r"'[^']*'", "'...'", f"{error.get('type', '')}: {error.get('message', '')}".strip(": "))


def _first_other(one: np.ndarray, other: np.ndarray) -> str:
    if len(one) != len(other):
        return f"{len(other)} steps, the original has {len(one)}"
    at = next(i for i in range(len(one)) if one[i].tobytes() != other[i].tobytes())
    return f"the loss of step {at + 1} is {other[at]!r}, the original's {one[at]!r}"


def programs_of(asked: list[str] | None) -> list[str]:
    """The programs that are meant; all when none is named. Raises UserError for an unknown one."""
    return [programs.load(name).name for name in asked] if asked else programs.names()

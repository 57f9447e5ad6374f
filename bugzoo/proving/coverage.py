"""Is the ledger complete and right? Lists what it lacks, and repeats a sample of it."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from itertools import islice, zip_longest

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.diagnostics import instrument
from bugzoo.faults.model import Fault
from bugzoo.grading.exercises import exercises
from bugzoo.grading.trials import Trial, verdict
from bugzoo.proving import code, ledger, look_alikes, standing, tried
from bugzoo.proving.cells import SEEDS, control_about, device_of, judge_full, judge_seeds, named
from bugzoo.proving.check import Proof, judge, key_of, prove_one, work_of
from bugzoo.proving.completeness import is_about, lacks, of_fault
from bugzoo.proving.look_alikes import Pair, pairs
from bugzoo.proving.matrix import Cell
from bugzoo.scenario import Scenario, fits

Again = Callable[[], list[str]]
"""Repeats one ledger entry and returns sentences on the differences."""

SEED = 20261125
"""Seed of the entries that `verify --sample` and the gate repeat; changed by hand."""


def lacking() -> list[str]:
    """Return everything without a current ledger entry, and entries about nothing, with what to type.

    An entry from other code counts: `verify --backlog` and `check` repeat it, and the tests repeat a sample. Cells that
    wait for their first proof (`ledger.waiting`) are left out; stale waiting lines are reported. A fault whose row is
    current (`proving.standing`) is not checked again.
    """
    waits = ledger.waiting()
    faults = catalogue.catalogue().values()
    settled = [fault.id for fault in faults if standing.stands(fault)]
    sentences = [text for fault in faults if fault.id not in settled for text in of_fault(fault)]
    with code.about_alone():
        sentences += [*_controls(), *_exercises()]
    sentences += _left_over()
    waits -= {name for name in waits if any(is_about(name, fault) for fault in settled) and not _is_proved(name)}
    held = {name for name in waits for text in sentences if is_about(text, name)}
    remaining = [text for text in sentences if not any(is_about(text, name) for name in held)]
    return remaining + [f"proofs/waiting.txt: {name} is proved or unknown; delete the line" for name in waits - held]


def _is_proved(name: str) -> bool:
    """Return whether the ledger has an entry without problems for a waiting line."""
    fault, place, other = name.split(" ")
    entry = ledger.read("faults", fault).get("cells" if place == "on" else "look_alikes", {}).get(other)
    return bool(entry) and not entry.get("problems")


def _controls() -> Iterator[str]:
    for program in programs.names():
        entry, key = ledger.read("programs", program), {"full": control_about(program)}
        yield from lacks(f"healthy {program}", entry, key, f"bugzoo verify --program {program}")


def _exercises() -> Iterator[str]:
    for name in exercises():
        entries, work = ledger.read("exercises", name).get("trials", {}), work_of(name)
        for (_, kind, title), trial in work.items():
            entry = entries.get(kind, {}).get(title, {})
            yield from lacks(f"{name}: {kind} {title!r}", entry, {"key": key_of(trial)}, f"bugzoo check {name}")
        for kind, titles in entries.items():
            for title in titles:
                if (name, kind, title) not in work:
                    yield f"{name} no longer has the {kind} {title!r}; type `bugzoo check {name}`"


def _left_over() -> Iterator[str]:
    names = {"faults": catalogue.catalogue(), "programs": programs.names(), "exercises": exercises()}
    for kind in ledger.KINDS:
        for name in ledger.names(kind):
            if name not in names[kind]:
                yield f"proofs/{kind}/{name}.json is about something that does not exist; delete it"
    if not ledger.matrix_is_current():
        yield "proofs/matrix.md does not match the entries beside it; type `bugzoo verify`"


def sample(count: int, seed: int, progress: Callable[[int, int], None] | None = None) -> tuple[list[str], list[str]]:
    """Return (what was repeated, differences from the ledger) for `count` entries, of each kind in turn.

    Each entry has its own rank under a seed, so a new entry changes the draw by at most one.
    """
    kinds = [_ranked(of(), seed) for of in KINDS]
    rounds = (entry for some in zip_longest(*kinds) for entry in some if entry)
    chosen, repeated, problems = list(islice(rounds, count)), [], []
    for what, again in chosen:
        if progress:
            progress(len(repeated), len(chosen))
        problems += [f"{what}: {text}" for text in again()]
        repeated.append(what)
    return repeated, problems


def _ranked(some: Iterable[tuple[str, Again]], seed: int) -> list[tuple[str, Again]]:
    return sorted(some, key=lambda one: hashlib.sha256(f"{seed} {one[0]}".encode()).digest())


def _cell_samples() -> Iterator[tuple[str, Again]]:
    for fault in catalogue.catalogue().values():
        for program, entry in ledger.read("faults", fault.id).get("cells", {}).items():
            if device_of(fault) == "cpu" and program in fits(fault):
                for place, seed in enumerate(SEEDS):
                    again = lambda f=fault, p=program, e=entry, n=place: _cell_again(f, p, e, n)  # noqa: E731
                    yield f"{fault.id} on {program}, seed {seed}", again


def _cell_again(fault: Fault, program: str, entry: ledger.Entry, place: int) -> list[str]:
    from bugzoo.proving.measured import measured

    broken = Scenario(program, (fault.id,), seed=SEEDS[place])
    names = named(fault) | (code.everything() if place == 0 else set())
    jobs = (broken.job(), broken.healthy().job(limits=broken.job().limits))
    results, _, _ = measured([(job, names) for job in jobs], fresh=True)
    cell = Cell(fault.id, program)
    judge_seeds(cell, fault, results[:1], results[1:])
    if cell.outcomes[0] != entry["outcomes"][place]:
        cell.problems.append(f"ended as {cell.outcomes[0]}, the ledger says {entry['outcomes'][place]}")
    if place == 0:
        judge_full(cell, *results)
        # instruments that measure time may fire on a busy machine
        differs = {name for name in {*cell.fired} ^ {*entry["fired"]} if not getattr(instrument(name), "TIMED", False)}
        if differs:
            cell.problems.append(f"{', '.join(sorted(differs))}: fires either now or in the ledger, not in both")
    return cell.problems


def _trial_samples() -> Iterator[tuple[str, Again]]:
    for name, exercise in exercises().items():
        entries = ledger.read("exercises", name).get("trials", {})
        for trial in exercise.kind.trials(exercise):
            if entry := entries.get(trial.kind, {}).get(trial.name):
                again = lambda t=trial, e=entry: _trial_again(t, e)  # noqa: E731
                yield f"{name}, {trial.kind} {trial.name!r}", again


def _trial_again(trial: Trial, entry: ledger.Entry) -> list[str]:
    result = prove_one(trial)
    problems = judge(Proof(trial.exercise, False), trial, result)
    if result["status"] != entry["status"]:
        problems = [*problems, f"is {result['status']}, the ledger says {entry['status']}"]
    return problems


def _tried_samples() -> Iterator[tuple[str, Again]]:
    for fault in catalogue.catalogue().values():
        for program, entry in ledger.read("faults", fault.id).get("cells", {}).items():
            tried_there = entry.get("graded", {}).get("trials", {}) if program in fits(fault) else {}
            for kind, outcomes in tried_there.items():
                for name, written in outcomes.items():
                    again = lambda f=fault, p=program, k=kind, n=name, w=written: _tried_again(f, p, k, n, w)  # noqa: E731
                    yield f"{fault.id} on {program}, {kind} {name!r}", again


def _tried_again(fault: Fault, program: str, kind: str, name: str, written: list[str]) -> list[str]:
    trials = tried.of_cell(Scenario(program, (fault.id,)))
    trial = next((candidate for candidate in trials if (candidate.kind, candidate.name) == (kind, name)), None)
    if trial is None:
        return ["this submission no longer exists"]
    result = tried.grade_one((fault.id, program, trial))
    problems = verdict(trial, result)
    if result["status"] != written[1]:
        problems.append(f"is {result['status']}, the ledger says {written[1]}")
    return problems


def _look_alike_samples() -> Iterator[tuple[str, Again]]:
    for fault in catalogue.catalogue().values():
        entries = ledger.read("faults", fault.id).get("look_alikes", {})
        for pair in pairs(fault):
            if pair.look_alike.other in entries:
                yield f"{pair}", lambda p=pair: _look_alike_again(p)


def _look_alike_again(pair: Pair) -> list[str]:
    from bugzoo.proving.measured import measured

    return look_alikes.judge(pair, measured(look_alikes.wanted(pair), fresh=True)[0])


KINDS = (_cell_samples, _trial_samples, _tried_samples, _look_alike_samples)
"""Each yields (what, function that repeats it) for every entry of its kind."""

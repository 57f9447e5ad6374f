"""Does the ledger hold everything, and is it true? What it lacks, and a sample of it done again."""

import random
import time
from collections.abc import Callable, Iterator
from itertools import cycle

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.diagnostics import instrument
from bugzoo.faults.model import Fault
from bugzoo.grading.exercises import exercises
from bugzoo.proving import code, ledger, look_alikes, tried
from bugzoo.proving.cells import SEEDS, control_key, device_of, judge_full, judge_seeds, keys_of, named
from bugzoo.proving.check import LEAKS, Proof, judge, key_of, prove_one
from bugzoo.proving.look_alikes import Pair, pairs
from bugzoo.proving.matrix import Cell
from bugzoo.proving.trials import Trial, trials, verdict
from bugzoo.scenario import Scenario, fits

Again = Callable[[], list[str]]
"""Does one thing of the ledger once more; sentences that say in what it differs."""


def lacking() -> list[str]:
    """Everything that has no entry about what it is today, or one that nothing stands behind; with what to type.

    One that other code measured counts: `verify` and `check` do it again, and a sample of it is done again by the tests.
    What waits for its first proof (`ledger.waiting`) is left out, and said where it waits no more.
    """
    waits, found = ledger.waiting(), [*_cells(), *_look_alikes(), *_controls(), *_exercises(), *_left_over()]
    held = {name for name in waits for text in found if _is_about(text, name)}
    said = [text for text in found if not any(_is_about(text, name) for name in held)]
    return said + [f"proofs/waiting.txt: {name} is proved, or is not there; take the line out" for name in waits - held]


def _is_about(text: str, name: str) -> bool:
    return text.startswith((f"{name} ", f"{name}:"))


def _cells() -> Iterator[str]:
    for fault in catalogue.catalogue().values():
        found = ledger.read("faults", fault.id).get("cells", {})
        for program in fits(fault) if ledger.ours(fault.id) else ():
            entry, keys = found.get(program, {}), keys_of(fault, program)
            yield from _said(f"{fault.id} on {program}", entry, keys, f"bugzoo verify {fault.id}")
            if entry and (said := tried.lacks(fault, program, entry)):
                yield f"{fault.id} on {program}: {said}; type `bugzoo verify {fault.id}`"
        for program in set(found) - set(fits(fault)):
            yield f"{fault.id} does not fit {program} any more; type `bugzoo verify {fault.id}`"


def _look_alikes() -> Iterator[str]:
    for fault in catalogue.catalogue().values():
        found = ledger.read("faults", fault.id).get("look_alikes", {})
        mine = {pair.look_alike.other: pair for pair in pairs(fault)} if ledger.ours(fault.id) else {}
        for other, pair in mine.items():
            key = {"key": look_alikes.key_of(pair)}
            yield from _said(f"{fault.id} beside {other}", found.get(other, {}), key, f"bugzoo verify {fault.id}")
        for other in found.keys() - mine.keys():
            yield f"{fault.id} has no look-alike {other} any more; type `bugzoo verify {fault.id}`"


def _controls() -> Iterator[str]:
    for program in programs.names():
        key = {"full": control_key(program)}
        yield from _said(
            f"healthy {program}", ledger.read("programs", program), key, f"bugzoo verify --program {program}"
        )


def _exercises() -> Iterator[str]:
    for name, exercise in exercises().items():
        found = ledger.read("exercises", name).get("trials", {})
        mine = [*trials(exercise), Trial(name, LEAKS, "", "")]
        for trial in mine:
            entry = found.get(trial.kind, {}).get(trial.name, {})
            yield from _said(
                f"{name}: {trial.kind} {trial.name!r}", entry, {"key": key_of(trial)}, f"bugzoo check {name}"
            )
        known = {(trial.kind, trial.name) for trial in mine}
        for kind, titles in found.items():
            for title in titles:
                if (kind, title) not in known:
                    yield f"{name} has no {kind} {title!r} any more; type `bugzoo check {name}`"


def _said(what: str, entry: ledger.Entry, keys: dict[str, str], command: str) -> Iterator[str]:
    if not entry:
        yield f"{what} is not in the ledger; type `{command}`"
    elif entry.get("problems"):
        yield f"{what} is not proved: {entry['problems'][0]}"
    elif any(code.about(str(entry.get(name))) != code.about(key) for name, key in keys.items()):
        yield f"{what} has changed since it was proved; type `{command}`"


def _left_over() -> Iterator[str]:
    known = {"faults": catalogue.catalogue(), "programs": programs.names(), "exercises": exercises()}
    for kind in ledger.KINDS:
        for name in ledger.names(kind):
            if name not in known[kind]:
                yield f"proofs/{kind}/{name}.json is about nothing that there is; delete it"
    if not ledger.matrix_is_current():
        yield "proofs/matrix.md is not what the entries beside it make; type `bugzoo verify`"


def sample(seconds: float, seed: int) -> tuple[list[str], list[str]]:
    """(what was done again, in what it differs from the ledger): of each kind one at least, in turn, then as many as begin
    within `seconds`, whatever there is. The same seed takes the same ones."""
    draw, done, problems = random.Random(seed), [], []
    kinds = [list(of()) for of in (_cell_samples, _trial_samples, _tried_samples, _look_alike_samples)]
    for some in kinds:
        draw.shuffle(some)
    end, least = time.monotonic() + seconds, sum(map(bool, kinds))
    for some in cycle(kinds):
        if not any(kinds) or (len(done) >= least and time.monotonic() >= end):
            break
        if not some:
            continue
        what, again = some.pop()
        done.append(what)
        problems += [f"{what}: {text}" for text in again()]
    return done, problems


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
        # what measures time may fire where others are at work beside it
        differs = {name for name in {*cell.fired} ^ {*entry["fired"]} if not getattr(instrument(name), "TIMED", False)}
        if differs:
            cell.problems.append(f"{', '.join(sorted(differs))}: fires in one of now and the ledger only")
    return cell.problems


def _trial_samples() -> Iterator[tuple[str, Again]]:
    for name, exercise in exercises().items():
        found = ledger.read("exercises", name).get("trials", {})
        for trial in trials(exercise):
            if entry := found.get(trial.kind, {}).get(trial.name):
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
    mine = tried.of_cell(Scenario(program, (fault.id,)))
    trial = next((one for one in mine if (one.kind, one.name) == (kind, name)), None)
    if trial is None:
        return ["there is no such submission any more"]
    result = tried.grade_one((fault.id, program, trial))
    problems = verdict(trial, result)
    if result["status"] != written[1]:
        problems.append(f"is {result['status']}, the ledger says {written[1]}")
    return problems


def _look_alike_samples() -> Iterator[tuple[str, Again]]:
    for fault in catalogue.catalogue().values():
        found = ledger.read("faults", fault.id).get("look_alikes", {})
        for pair in pairs(fault):
            if pair.look_alike.other in found:
                yield f"{pair}", lambda p=pair: _look_alike_again(p)


def _look_alike_again(pair: Pair) -> list[str]:
    from bugzoo.proving.measured import measured

    return look_alikes.judge(pair, measured(look_alikes.wanted(pair), fresh=True)[0])

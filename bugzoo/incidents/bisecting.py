"""It used to train: a repository in which one commit broke the training, a ticket, and what the nights wrote down."""

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bugzoo import faults as catalogue
from bugzoo import programs
from bugzoo.errors import UserError
from bugzoo.incidents import repository, sealed
from bugzoo.incidents.history import History, check_count, write
from bugzoo.incidents.trial import Trial, Unfit, tried
from bugzoo.proving.pool import published
from bugzoo.scenario import Scenario
from bugzoo.tickets import spelt

NAME = "used-to-train"
REPOSITORY, TICKET, NIGHTS = "repository", "TICKET.md", "nightly.jsonl"
QUIET = ("degraded", "plateau", "stuck", "too_good")
"""Symptom classes of a fault that nothing is printed about."""
TRIES = 12
Progress = Callable[[int, int], None]


def make(
    folder: Path, program: str, fault: str | None, commits: int, seed: int, progress: Progress | None = None
) -> dict[str, Any]:
    """Write the folder and its answers; what may be said of it. Raises UserError, and then nothing is left behind."""
    check_count(commits)
    repository.present()
    one_process(program)
    cases = [the_one(program, fault, seed)] if fault else drawn(program, seed)
    why = f"{program} has no proved fault that is silent. Name one with --fault."
    with fresh(folder) as place:
        for case in islice(cases, TRIES):
            try:
                history = write(case, commits)
                trial = tried(history, progress, told=fault is None)
            except Unfit as error:
                if fault:
                    raise UserError(f"{error} Take another --fault; without one a silent one is drawn.") from None
                why = str(error)
                continue
            hashes = lay(place, history, trial)
            sealed.write(sealed.place(folder), answers(history, trial, hashes))
            break
        else:
            raise UserError(f"No history was found: {why}")
    made = {"folder": str(folder), "answers": str(sealed.place(folder)), "commits": commits}
    return made | {"first": hashes[0], "last": hashes[-1], "noisy": list(trial.noisy)}


def one_process(program: str) -> None:
    """Raises UserError for a program that is unknown, or that one run of one process does not show."""
    facts = programs.load(program).facts
    if facts.get("ranks", 1) != 1 or facts.get("runs", 1) != 1:
        raise UserError(
            f"{program} takes several processes or runs, and each commit of a history is run once. `bugzoo "
            "list programs`."
        )


def the_one(program: str, fault: str, seed: int) -> Scenario:
    """The scenario of a named fault. Raises UserError for one that does not fit, or that one ordinary run does not show."""
    case = Scenario(program, (fault,), seed=seed)
    [(found, _)] = case.specs
    if found.trap or not found.evidence:
        raise UserError(f"{found.id} breaks nothing; a history needs a fault that does.")
    if case.needs:
        raise UserError(
            f"{found.id} needs {case.needs}, and each commit of a history is run as it is. Take another --fault."
        )
    return case


def drawn(program: str, seed: int) -> Iterator[Scenario]:
    """Scenarios with a silent fault that is proved alone in this program, in the order of the seed."""
    known = catalogue.catalogue()
    names = {case.faults[0] for case in published() if case.program == program and len(case.faults) == 1}
    fitting = [name for name in names if name in known and known[name].symptom in QUIET and not known[name].needs]
    for name in sorted(fitting, key=lambda name: hashlib.sha256(f"{seed} {program} {name}".encode()).digest()):
        try:
            yield the_one(program, name, seed)
        except UserError:  # a table of another version of the catalogue
            continue


@contextmanager
def fresh(folder: Path) -> Iterator[Path]:
    """A scratch folder that takes the place of `folder` when the block ends well; else neither it nor answers are left."""
    key = sealed.place(folder)
    for path in (folder, key):
        if os.path.lexists(path):
            raise UserError(f"{path} exists; name another folder, or move it away.")
    try:
        scratch = Path(tempfile.mkdtemp(prefix=".bugzoo-", dir=key.parent))
    except OSError as error:
        raise UserError(f"{folder} could not be made: {error.strerror}. Name another one.") from None
    try:
        yield scratch / "made"
        os.replace(scratch / "made", folder)
    except BaseException:  # a Ctrl-C as well
        key.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def lay(place: Path, history: History, trial: Trial) -> list[str]:
    """Write repository, ticket and log into a new folder; the hashes of the commits."""
    home = place / REPOSITORY
    repository.begin(home)
    hashes = [repository.commit(home, one.files, one.message, number) for number, one in enumerate(history.commits)]
    rows = [{"commit": hashes[number][:10], **found} for number, found in trial.nights]
    (place / NIGHTS).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    (place / TICKET).write_text(ticket(history, trial, hashes), encoding="utf-8")
    return hashes


def ticket(history: History, trial: Trial, hashes: list[str]) -> str:
    """What the candidate is told: that it is worse, between which commits, and how to answer. No word of a cause."""
    code = spelt(hashlib.blake2b("".join(hashes).encode(), digest_size=8).digest())
    worse = "Its numbers look as they always did, and the nightly checkup has turned red."
    if trial.telling:
        metric = trial.telling[0]
        now = trial.after[0].get(metric)
        worse = f"It used to end with {metric} {trial.before[0][metric]:g}, with the seed that stands in it; now "
        worse += "it prints none." if now is None else f"it is {now:g}."
    return "\n".join(
        [
            f"# {code}: it used to train",
            "",
            f"`{REPOSITORY}/train.py` is not what it was. {worse} Nobody meant to change what it learns: {len(hashes)} "
            "commits, clean-ups most of them.",
            "",
            f"- {hashes[0][:10]} (the first) was good, {hashes[-1][:10]} (the last) is bad. Which commit broke it?",
            f"- `{NIGHTS}` is what the nights wrote down, a line each, each with its own seed. Look at the "
            "spread before you "
            "search by a number: not every one of them tells good from bad in a single run.",
            "- Not every commit can be run. `git bisect run` takes exit code 125 for one that cannot be judged.",
            "",
            "The search, by a script of your own that ends with 0, 1 or 125, or by bugzoo's:",
            "",
            f"    cd {REPOSITORY}",
            f"    git bisect start main {hashes[0][:10]}",
            "    git bisect run bugzoo verdict train.py",
            "",
            "The answer, from the folder of this ticket: `bugzoo incident check . COMMIT`.",
            "",
        ]
    )


def answers(history: History, trial: Trial, hashes: list[str]) -> dict[str, Any]:
    """What is sealed."""
    case, number = history.scenario, history.fault
    [(fault, _)] = case.specs
    told = [
        f"commit {number + 1} of {len(hashes)}, {hashes[number][:10]}: {history.commits[number].message}",
        f"{fault.title} ({case.faults[0]} in {case.program})",
        fault.why,
        *history.diff(),
        f"Does not run: commit {history.slip + 1}, {hashes[history.slip][:10]}.",
        f"Tells in one run: {', '.join(trial.telling) or 'none'}",
        f"Needs several seeds: {', '.join(trial.noisy) or 'none'}; on seeds {trial.seeds[0]} to {trial.seeds[-1]}:",
        *(
            f"  {name}: before {_span(trial.before, name)}, after {_span(trial.after, name)}"
            for name in trial.before[0]
        ),
    ]
    question = {
        "text": "Which commit broke the training?",
        "kind": "commit",
        "answer": hashes[number],
        "depth": 1,
        "why": told[1],
    }
    return {
        "incident": NAME,
        "questions": [question],
        "told": told,
        "fault": case.faults[0],
        "said": list(trial.said),
        "noisy": list(trial.noisy),
        "seeds": {"before": list(trial.before), "after": list(trial.after)},
    }


def _span(rows: tuple[dict[str, float], ...], name: str) -> str:
    values = [row[name] for row in rows if name in row]
    return f"{min(values):g} to {max(values):g}" if values else "nothing"

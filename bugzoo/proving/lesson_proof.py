"""Checks of a lesson's numbers: by reading it, and by running it with its proof cells."""

import json
import math
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from bugzoo import material
from bugzoo.course import on_gpu
from bugzoo.course.book import notebook
from bugzoo.course.budget import over
from bugzoo.course.cells import PROSE, REVEALED
from bugzoo.course.names import names_of
from bugzoo.course.needs import needed
from bugzoo.course.source import Lesson
from bugzoo.course.words import problems as unlinked_words
from bugzoo.device import CPU, LINE, VARIABLE
from bugzoo.files import write_atomic
from bugzoo.plain import plain
from bugzoo.proving import ledger, lesson_key, opened
from bugzoo.proving.lesson_key import proved
from bugzoo.proving.notebook_run import client_of
from bugzoo.running.job import THREADS

_NUMBER = r"-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?"
_BAND = re.compile(rf"{_NUMBER} to {_NUMBER}")
_MEASURED = re.compile(r"(?<![\w.])-?(?:\d+(?:\.\d+)? ?%|\d+\.\d+(?!\w|\.\d))")
"""Numbers that must have been measured: decimals and percentages."""

_TRAINS = re.compile(r"\.run\(|\brun_here\(|\bLiveView\(")
"""What a proof cell calls that runs or trains a program itself, and not only reads what a visible cell has run."""

_DIGITS = re.compile(r", but \w+ is [-\[(\d]")
"""A problem with a number of the text, and not with a sentence, a proof's conclusion or a missing row."""

_NOT_PROSE = re.compile(r"```.*?```|`[^`]*`|\{[^{}=]+? = \w+\}|\]\([^)]*\)", re.DOTALL)
"""Code, marked numbers and link addresses."""

RUNS = (1, 2)
"""Threads of each run of a proof: sums depend on them, as on the processor. A learner's kernel has one."""
SECONDS = 600
"""Time limit of a cell, in seconds: lessons train, and the machine may be busy."""


def read_through(lesson: Lesson) -> list[str]:
    """Return a lesson's problems without running it, as sentences.

    These are numbers without a proof, proof cells that the learner's cells depend on or that would change them,
    missing cases, and more minutes, cells or lines than a lesson may have.
    """
    problems = []
    bound = {name: cell for cell in lesson.proofs for name in names_of(cell.text)[0]}
    for claim in lesson.claims:
        if claim.name not in bound:
            problems.append(f"{claim.where}: {claim.shown} is {claim.name}, which no proof cell measures")
    for cell in lesson.cells:
        if cell.kind in PROSE:
            for number in _MEASURED.findall(_NOT_PROSE.sub("", cell.claimed)):
                problems.append(
                    f"{lesson.where(cell)}: {number} has no proof: write {{{number} = name}}, and measure `name` in a proof cell"
                )
        if cell.kind in ("code", "task", "solution"):
            (defined, used), where = names_of(cell.text), lesson.where(cell)
            for name in sorted(defined & set(bound)):
                problems.append(f"{where}: {name} is bound here and in {lesson.where(bound[name])}")
            for name in sorted(used & set(bound) - defined):
                problems.append(f"{where}: {name} comes only from a proof cell, which the learner does not get")
            for name in re.findall(rf'lab\.case\("{lesson.number}/(\w+)"', cell.text):
                if name not in lesson.cases:
                    problems.append(f"{where}: there is no [case] {name}")
    return (
        problems
        + unlinked_words(lesson)
        + over(lesson)
        + _unseen(lesson)
        + _without_device(lesson)
        + _loose_ends(lesson)
    )


def _unseen(lesson: Lesson) -> list[str]:
    """Return proofs that train something for the text and that no reader sees, and measured cells that no text needs."""
    claimed = {claim.name for claim in lesson.claims}
    problems = []
    for cell in lesson.proofs if lesson.number.isdigit() else []:
        needed = sorted(names_of(cell.text)[0] & claimed)
        if cell.kind == "proof" and needed and _TRAINS.search(cell.text):
            problems.append(
                f"{lesson.where(cell)}: the text has {needed[0]} from a run that no reader sees; make it [measured] with a name"
            )
        if cell.kind == "measured" and not needed:
            problems.append(f"{lesson.where(cell)}: no text needs what it measures; make it [proof]")
    return problems


def _without_device(lesson: Lesson) -> list[str]:
    """Return whether a lesson that trains lacks the line for the device, or a scenario that is not on this device."""
    cells = [*lesson.of("code"), *lesson.proofs]
    trains = [cell for cell in cells if re.search(r"\b(Scenario|lab\.case)\(", cell.text)]
    if not (lesson.number.isdigit() and trains):
        return []
    first = lesson.of("code")[0]
    problems = []
    if not first.text.startswith(LINE) or "device = lab.use(device)" not in first.text:
        problems.append(
            f"{lesson.where(first)}: begin the first code cell with {LINE}, and end it with device = lab.use(device)"
        )
    for cell in trains:
        if cell.text.count("Scenario(") > cell.text.count("device=device"):
            problems.append(f"{lesson.where(cell)}: a Scenario runs on the CPU; give it device=device")
    return problems


def _loose_ends(lesson: Lesson) -> list[str]:
    """Return predictions that no later cell reveals, and tests that no cell keeps."""
    problems = []
    for number, cell in enumerate(lesson.cells):
        behind = "\n".join(later.text for later in lesson.cells[number:] if later.kind == "code")
        if cell.kind in REVEALED and not re.search(rf"\b{cell.name}\.reveal\(", behind):
            problems.append(f"{lesson.where(cell)}: no later cell has {cell.name}.reveal()")
        if cell.kind == "keep" and f"lab.keep({cell.name})" not in behind:
            problems.append(f"{lesson.where(cell)}: no later cell has lab.keep({cell.name})")
    return problems


def prove(lesson: Lesson) -> list[str]:
    """Read a lesson, run it with one thread and with two, and write the measurements to the ledger.

    Returns its problems as sentences.
    """
    problems, runs = read_through(lesson), []
    for threads in RUNS:
        if not problems:
            runs.append(run(lesson, threads=threads))
            problems = [f"{problem} (with {threads} thread{'s' * (threads > 1)})" for problem in runs[-1].problems]
    if not problems:
        alone, pair = ({name: ledger.plain(value) for name, value in ran.measured.items()} for ran in runs)
        differing = {name: value for name, value in pair.items() if value != alone[name]}
        entry = {"with": ledger.environment(), "measured": alone, "two_threads": differing}
        if proved(lesson):  # numbers differ slightly between machines
            entry = ledger.read("lessons", lesson.file.stem)
        entry |= lesson_key.entry(lesson, runs[0].opened) | {"date": f"{datetime.now():%Y-%m-%d}"}
        longest, earlier = _longest(lesson, runs[0].seconds), entry.get("longest")
        if earlier is None or longest["seconds"] < 0.8 * earlier["seconds"]:  # what else runs only makes a cell slower
            entry |= {"longest": longest}
        entry["seconds"] = _seconds_of(lesson, runs[0].seconds, entry.get("seconds", {}))
        ledger.write("lessons", lesson.file.stem, entry)
    return problems


def longest(lesson: Lesson) -> str:
    """Return the learner's longest cell when the lesson was proved, such as "live 4.7 s"; "" for an unproved one."""
    entry = ledger.read("lessons", lesson.file.stem).get("longest")
    return f"{entry['cell']} {entry['seconds']} s" if entry and entry["cell"] else ""


def _longest(lesson: Lesson, times: Mapping[str, float]) -> dict[str, Any]:
    """Return the code cell that a learner waits for longest. The seconds tell; no verdict depends on them."""
    seconds = {cell.key: times.get(cell.key, 0.0) for cell in lesson.of("code")}
    cell = max(seconds, key=lambda key: seconds[key], default="")
    return {"cell": cell, "seconds": round(seconds.get(cell, 0.0), 1)}


def _seconds_of(lesson: Lesson, times: Mapping[str, float], known: Mapping[str, int]) -> dict[str, int]:
    """Return measured cell -> about how many seconds it takes alone, with the cells that it needs, in steps of 5 s.

    What was `known` stays unless it is wrong by a factor of two: the notebooks show it.
    """
    estimates = {}
    for cell in lesson.of("measured"):
        seconds = sum(times.get(part.key, 0.0) for part in (*needed(lesson, cell), cell))
        rounded, before = 5 * math.ceil((seconds + 3) / 5), known.get(cell.key, 0)  # 3 s: Python and torch start
        estimates[cell.key] = before if rounded <= 2 * before <= 4 * rounded else rounded
    return estimates


def elsewhere(lesson: Lesson, device: str) -> dict[str, list[str]]:
    """Run a lesson on a device, and return what does not hold there, as sentences under three names.

    "words": sentences, right answers, rows and conclusions. "digits": numbers of the text. "apart": words that fail on this
    machine's CPU, too, because its Python or torch is another one. The ledger is about the CPU; nothing is written to it.
    """
    problems = read_through(lesson) or run(lesson, device=device).problems
    words = [problem for problem in problems if not _DIGITS.search(problem)]
    digits = [problem for problem in problems if _DIGITS.search(problem)]
    here = run(lesson, device=CPU).problems if words and device != CPU else []
    return {
        "words": [problem for problem in words if problem not in here],
        "digits": digits,
        "apart": [problem for problem in words if problem in here],
    }


def save(lesson: Lesson, device: str, found: Mapping[str, list[str]]) -> None:
    """Write what does not hold on a device to the file that the notebooks' line about a GPU is drawn from."""
    import torch

    about = {"text": on_gpu.digest(lesson.file), "date": f"{datetime.now():%Y-%m-%d}", "with": ledger.environment()}
    entry = about | {"device": torch.cuda.get_device_name(device)} | dict(found)
    entries = on_gpu.known() | {lesson.file.stem: entry}
    write_atomic(material.root() / on_gpu.FILE, ledger.to_text(dict(sorted(entries.items()))), parents=True)


class Ran(NamedTuple):
    """A lesson that ran: problems as sentences; name -> measured value; cell -> seconds; what it opened.

    All but the problems are empty after an error.
    """

    problems: list[str]
    measured: dict[str, Any]
    seconds: dict[str, float]
    opened: dict[str, list[Any]]


def run(lesson: Lesson, as_given: bool = False, device: str = "", threads: int = 1) -> Ran:
    """Run a lesson with its proof cells in its own kernel, without a front end.

    Its tasks are solved. `as_given`: run the learner's version without any edit; no cell may raise there either.
    `device`: run its programs there, and go on where a proof cell raises. Default: the CPU, up to the first error.
    `threads`: of the kernel, and of each worker that it starts.
    """
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    from bugzoo import notebooks

    book = notebook(lesson, proofs=not as_given)
    claims = [] if as_given else [(claim.shown, claim.name, claim.where) for claim in lesson.claims]
    call = f"from bugzoo.proving.lesson_proof import judge\n\njudge({claims!r}, globals())"
    book.cells.append(notebooks.code("claims", call))
    book.cells.insert(0, notebooks.code("listen", f"import {opened.__name__} as _opened\n\n_opened.listen()"))
    proofs = {cell.key for cell in lesson.proofs} if device else set()
    for cell in book.cells:
        if cell.id in proofs:
            cell.metadata["tags"] = ["raises-exception"]
        if device and cell.source.startswith(LINE):
            cell.source = cell.source.replace(LINE, f'device = "{device}"', 1)
    with tempfile.TemporaryDirectory(prefix="bugzoo-lesson-") as folder:
        setup = {"BUGZOO_DATA": folder, "IPYTHONDIR": folder, "BUGZOO_WIDGETS": "0", "BUGZOO_INTERVIEW_SEED": "55"}
        setup["OMP_NUM_THREADS"] = setup[THREADS] = str(threads)
        setup["OMP_WAIT_POLICY"] = "PASSIVE"  # threads that spin while they wait for each other stall on a busy machine
        setup["BUGZOO_SALT"] = ""  # a proof draws the same held-out examples everywhere
        setup[VARIABLE] = device or CPU
        with patch.dict(os.environ, setup):
            try:
                client_of(book, folder, SECONDS).execute()
            except CellExecutionError:
                return Ran([*_raised(lesson, book, proofs), *_failure(lesson, book, proofs)], {}, {}, {})
            except (CellTimeoutError, DeadKernelError) as error:
                return Ran([f"{lesson.file.name}: {error}"], {}, {}, {})
            problems = [*_raised(lesson, book, proofs), *_failing_tests(lesson, Path(folder))]
    lines = "".join(stream.text for stream in book.cells[-1].outputs if stream.get("name") == "stdout").splitlines()
    # other code still running in the kernel may print there as well
    measured, openings = json.loads(next(line for line in reversed(lines) if line.startswith("[{")))
    return Ran(problems, measured, {cell.id: _seconds(cell) for cell in book.cells}, openings)


def _failing_tests(lesson: Lesson, folder: Path) -> list[str]:
    """Run the tests that `lab.keep` wrote there, as a reader does without pytest; return what fails, as sentences."""
    from bugzoo.lab.keep import FILE

    if not (folder / FILE).is_file():
        return []
    process = subprocess.run([sys.executable, FILE], cwd=folder, capture_output=True, text=True, timeout=SECONDS)
    last = (process.stderr.strip().splitlines() or [""])[-1]
    return [f"{lesson.file.name}: the tests of lab.keep fail: {last}"] if process.returncode else []


def _seconds(cell: Any) -> float:
    """Return how long an executed cell took, from the times that nbclient notes; 0 for text."""
    noted = cell.metadata.get("execution", {})
    ends = ("iopub.execute_input", "shell.execute_reply")
    times = [datetime.fromisoformat(noted[name]) for name in ends if name in noted]
    return (times[1] - times[0]).total_seconds() if len(times) == 2 else 0.0


def _raised(lesson: Lesson, book: Any, proofs: set[str]) -> list[str]:
    """Return what the proof cells that were allowed to raise have raised."""
    cells = {cell.key: cell for cell in lesson.cells}
    return [
        f"{lesson.where(cells[key])}: {error.ename}: {error.evalue}".rstrip(": ") + f", at `{_line(error)}`"
        for key, error in _errors(book)
        if key in proofs
    ]


def _errors(book: Any) -> Iterator[tuple[str, Any]]:
    """Yield (cell, error) for each error among the outputs of an executed notebook."""
    for cell in book.cells:
        yield from ((cell.id, output) for output in cell.get("outputs", ()) if output.output_type == "error")


def _line(error: Any) -> str:
    """Return the line of the cell that raised."""
    traceback = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback))
    marked = re.findall(r"(?m)^-+> ?\d+ (.*)$", traceback)
    return marked[0].strip() if marked else "?"


def _failure(lesson: Lesson, book: Any, without: Collection[str] = ()) -> list[str]:
    """Return which cell raised, its place in the source, and the end of its output; or each wrong claim.

    `without`: cells that may raise.
    """
    failed, error = next((key, error) for key, error in _errors(book) if key not in without)
    if failed == "claims":
        return error.evalue.splitlines()
    source = next(cell for cell in lesson.cells if cell.key == failed)
    traceback = re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(error.traceback)).splitlines()
    return ["\n".join([f"{lesson.where(source)} raised {error.ename}", *traceback[-12:]])]


def judge(claims: list[tuple[str, str, str]], values: Mapping[str, Any]) -> None:
    """Print the measurements and what was opened; called at the end in the lesson's kernel.

    Raises AssertionError for wrong claims.
    """
    wrong = [
        f"{where}: the text says {claimed!r}, but {name} is {plain(values.get(name, 'not measured'))!r}"
        for claimed, name, where in claims
        if name not in values or not holds(claimed, values[name])
    ]
    assert not wrong, "\n".join(wrong)
    print(json.dumps([plain({name: values[name] for _, name, _ in claims}), plain(opened.opened())]))


def holds(shown: str, value: Any) -> bool:
    """Return whether the text agrees with the measurement.

    A bool is a claim in words. A string must be equal. For a pair the number in the text must be between its two. A band
    in the text, such as `0.48 to 0.51`, must hold the number. Any other number must be the measured one, rounded to the
    digits that the text shows; `82 %` is 0.82.
    """
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return shown == value
    texts = re.findall(_NUMBER, shown)
    if not texts or not math.isfinite(min(value) if isinstance(value, tuple) else value):
        return False
    numbers = [float(text.replace(",", "")) for text in texts]
    if isinstance(value, tuple):
        low, high = value
        return all(low <= number <= high for number in numbers)
    digits = texts[0].partition(".")[2]
    if "e" in digits or "e" in texts[0]:
        return numbers[0] == value
    value = round(value * (100 if "%" in shown else 1), len(digits))
    return min(numbers) <= value <= max(numbers) if _BAND.search(shown) else numbers[0] == value

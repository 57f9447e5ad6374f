"""A class of eighty, graded alone and beside four busy loops: the same table? `python -m tests.benchmarks.busy_class`

The hand-ins are the red team's: right, wrong and hostile edits of one exercise's text, in turn. Each time is one call of
`bugzoo grade` with an empty store of results and the same draw. `--of N` is the size of the class; `--save` writes the
numbers down. With 80 on two cores it takes about half an hour.
"""

import csv
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from bugzoo.grading.exercises import load
from bugzoo.grading.notebook import build
from bugzoo.grading.plain import outside
from bugzoo.grading.program import SECTIONS, split
from bugzoo.grading.texts import broken_text
from tests.benchmarks import report
from tests.benchmarks.grading_seconds import timed
from tests.redteam.table import cases

NAME = "10_restless_loss"
LOOPS = 4
ROOT = Path(__file__).parents[2]


def hand_ins(size: int) -> tuple[dict[str, str], list[str]]:
    """Return student -> program, and the names that `--allow` needs so that every program runs."""
    kinds: dict[str, list[str]] = {"right": [], "wrong": [], "attack": []}
    for exercise, idiom, text in cases():
        if exercise.name == NAME:
            kinds[idiom.kind].append(text)
    handed_out = broken_text(load(NAME))
    turns = itertools.islice(zip(*(itertools.cycle(texts) for texts in kinds.values()), strict=False), size)
    texts = [text for turn in turns for text in turn][:size]
    needed = sorted({usage.name for text in set(texts) for usage in outside(text, handed_out)})
    return {f"s{number:02}": text for number, text in enumerate(texts)}, needed


def write(folder: Path, programs: dict[str, str]) -> None:
    """Write the notebooks as nbgrader collects them."""
    for student, text in programs.items():
        student_copy, parts = json.loads(build(load(NAME), "student")), split(text)
        for cell in student_copy["cells"]:
            section = next((name for name in SECTIONS if cell["id"] == f"program-{name.lower()}"), None)
            if section:
                cell["source"] = [f"%%program {section}\n", parts[section]]
        path = folder / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(student_copy), encoding="utf-8")


def graded(folder: Path, place: Path, allow: list[str]) -> tuple[dict[str, tuple[str, str]], float, float]:
    """Return student -> (state, points), the minutes and the CPU minutes of one call of `bugzoo grade`."""
    command = [sys.executable, "-m", "bugzoo", "grade", str(folder), "--assignment", NAME, "--draw", "0"]
    command += ["--json", str(place / "all.json"), "--results", str(place / "kept"), "--csv", str(place / "book.csv")]
    wall, cpu, _ = timed(command + [part for name in allow for part in ("--allow", name)], ROOT)
    states = {entry["student"]: entry["state"] for entry in json.loads((place / "all.json").read_text())["students"]}
    with (place / "book.csv").open(newline="", encoding="utf-8") as file:
        points = {line["student_id"]: line["score"] for line in csv.DictReader(file)}
    return {student: (state, points[student]) for student, state in states.items()}, wall / 60, cpu / 60


def measured(size: int) -> dict[str, Any]:
    """Grade the class twice."""
    programs, allow = hand_ins(size)
    numbers: dict[str, Any] = {"class": size, "loops": LOOPS}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "submitted"
        write(folder, programs)
        tables = {}
        for how, loops in (("alone", 0), ("busy", LOOPS)):
            busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
            destination = Path(place) / how
            destination.mkdir()
            before = os.getloadavg()[0]
            try:
                tables[how], minutes, cpu = graded(folder, destination, allow)
            finally:
                for process in busy:
                    process.kill()
                    process.wait()
            states = dict(Counter(state for state, _ in tables[how].values()))
            numbers[how] = {
                "minutes": round(minutes, 1),
                "cpu_minutes": round(cpu, 1),
                "load": round(before, 1),
            } | states
            print(how, numbers[how], flush=True)
    numbers["different"] = {
        student: [tables["alone"][student], tables["busy"][student]]
        for student in programs
        if tables["alone"][student] != tables["busy"][student]
    }
    return numbers


def main() -> None:
    parser = report.parser(__doc__)
    parser.add_argument("--of", type=int, default=80, help="students")
    options = parser.parse_args()
    began = time.perf_counter()
    numbers = measured(options.of)
    print("the same table" if not numbers["different"] else f"different: {numbers['different']}")
    print(f"{(time.perf_counter() - began) / 60:.1f} min")
    if options.save:
        report.save("busy_class", numbers)


if __name__ == "__main__":
    main()

"""Do the lessons' views show the same numbers in whichever form a script is written?

    python -m tests.benchmarks.five_forms [--sample 24] [--only NAME ...] [--views weights ...]

Each healthy script, ours and the opened ones of the corpus, is rewritten by machine into five forms
(`tests.foreign.forms`). Every form runs once, with the views of the lessons. A form whose steps have other losses than the
script's own is not counted. Numbers with a usual range are compared: a form agrees if it has each of those that any form
has, and they differ by 2 % at most.
Printed for each script, form and view: `=` agrees, `-` has fewer numbers, `x` has others, `.` no form has any.
"""

import hashlib
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from bugzoo import programs, views
from bugzoo.lab.mine import SHIPPED
from bugzoo.running import Job, Limits, Run, run_worker
from bugzoo.running.pool import run_all
from bugzoo.scenario import Scenario
from tests.benchmarks import report as reports
from tests.corpus import scripts
from tests.foreign.forms import FORMS, rewritten

VIEWS = ("batch", "loss_curve", "outputs", "one_batch", "evaluation", "weights", "modes", "layers", "influence")
SETS = ("scripts", "unseen", "reported", "missed", "threads", "calls", "fixes")
NEAR = 0.02
"""Relative difference of equal numbers."""
SECONDS = 120
ENOUGH = 4
"""How many of the forms have to agree."""
Numbers = Mapping[str, float]


def sources() -> dict[str, Callable[[], str]]:
    """Return name -> text of each healthy script: the programs in their tiny size, those of `lab.mine`, the corpus."""
    texts: dict[str, Callable[[], str]] = {
        name: partial(tiny, name) for name in programs.names() if programs.load(name).facts.get("ranks", 1) == 1
    }
    texts |= {path.stem: partial(path.read_text, encoding="utf-8") for path in SHIPPED}
    for script in scripts(*SETS):
        if not script.faulty and not script.sealed and script.ranks == 1 and not script.needs:
            texts[script.name] = partial(getattr, script, "text")
    return texts


def tiny(name: str) -> str:
    return Scenario(name, size="tiny").source


def measured(text: str, names: tuple[str, ...] = VIEWS) -> Run:
    """Run a script as `lab.mine` does, in an empty folder, with the readings of these views."""
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "train.py")
        limits = Limits(seconds=2 * SECONDS)
        how: dict[str, Any] = {
            "after": f"bugzoo.views._clock:{SECONDS}:{2 * SECONDS}",
            "after_args": {"names": list(names)},
        }
        return run_worker(Job(text, file=file, cwd=folder, overlay=True, limits=limits, **how))


@dataclass
class Form:
    """One form of a script: why it does not count, or view -> its numbers with a usual range."""

    why: str = ""
    numbers: Mapping[str, Numbers] | None = None
    aside: Mapping[str, str] | None = None


def forms(source: str, names: tuple[str, ...] = VIEWS) -> dict[str, Form]:
    """Return form -> its numbers. Equal texts run once."""
    original = run_of(source, names, {})
    known: dict[str, Run] = {}
    result = {}
    for form, text in rewritten(source).items():
        if isinstance(text, Exception):
            result[form] = Form(str(text))
            continue
        run = run_of(text, names, known)
        same = len(run.trace.loss) == len(original.trace.loss) and np.allclose(
            run.trace.loss, original.trace.loss, rtol=1e-3, equal_nan=True
        )
        if run.outcome != original.outcome or not same:
            error = run.trace.error
            result[form] = Form(
                f"other steps: {run.outcome} {error.get('type', '')} {error.get('message', '')}"[:120].strip()
            )
            continue
        result[form] = Form(
            numbers={name: ranged(name, run) for name in names},
            aside={name: reading.why_not for name, reading in run.readings.items() if not reading.applies},
        )
    return result


def run_of(text: str, names: tuple[str, ...], known: dict[str, Run]) -> Run:
    if text not in known:
        known[text] = measured(text, names)
    return known[text]


def ranged(name: str, run: Run) -> Numbers:
    """Return source -> the numbers of a view that have a usual range."""
    reading = run.readings[name]
    values = (
        {row.source: row.value(reading.numbers) for row in views.rows(name) if row.range} if reading.applies else {}
    )
    return {source: float(value) for source, value in values.items() if isinstance(value, int | float)}


def marks(by_form: Mapping[str, Form], view: str) -> dict[str, str]:
    """Return form -> its mark for a view, of the forms that count."""
    numbers = {form: entry.numbers[view] for form, entry in by_form.items() if entry.numbers is not None}
    most = max(map(len, numbers.values()), default=0)
    if not most:
        return dict.fromkeys(numbers, ".")
    full = [entry for entry in numbers.values() if len(entry) == most]
    reference = max(full, key=lambda entry: sum(agree(entry, other) for other in full))
    return {
        form: "=" if agree(entry, reference) else "-" if len(entry) < most else "x" for form, entry in numbers.items()
    }


def agree(entry: Numbers, other: Numbers) -> bool:
    return entry.keys() == other.keys() and all(
        np.isclose(value, other[source], rtol=NEAR, atol=1e-4, equal_nan=True) for source, value in entry.items()
    )


def holds(by_form: Mapping[str, Form], view: str) -> bool | None:
    """Return whether enough forms agree on a view; None where no form has a number of it."""
    letters = list(marks(by_form, view).values())
    if not letters or set(letters) == {"."}:
        return None
    return letters.count("=") >= min(ENOUGH, len(letters))


def sample(count: int) -> list[str]:
    """Return the names of so many scripts, the same each time, and first of all those that ship with `lab.mine`."""
    shipped = [path.stem for path in SHIPPED]
    ranked = sorted(sources(), key=lambda name: (name not in shipped, hashlib.sha256(name.encode()).digest()))
    return ranked[:count] if count else list(sources())


def main() -> None:
    parser = reports.parser(__doc__)
    parser.add_argument("--sample", type=int, default=0, help="so many scripts, the same each time")
    parser.add_argument("--only", nargs="*", help="these scripts")
    parser.add_argument("--views", nargs="*", default=VIEWS)
    options = parser.parse_args()
    names = tuple(options.views)
    chosen = [name for name in sample(options.sample) if not options.only or name in options.only]
    tasks = [(sources()[name](), names) for name in chosen]
    table: dict[str, dict[str, Form]] = {}

    def done(index: int, by_form: dict[str, Form]) -> None:
        table[chosen[index]] = by_form
        print(row(chosen[index], by_form, names), flush=True)

    print(f"{'script':28}{'form':32}" + "".join(f"{name:>12}" for name in names))
    run_all(of_task, tasks, workers=2, on_done=done)
    print("\n".join(summary(table, names)))


def of_task(task: tuple[str, tuple[str, ...]]) -> dict[str, Form]:
    return forms(*task)


def row(name: str, by_form: Mapping[str, Form], names: tuple[str, ...]) -> str:
    """Return the lines of a script: one for each form."""
    lines = []
    by_view = {view: marks(by_form, view) for view in names}
    for form in FORMS:
        entry = by_form[form]
        cells = entry.why if entry.numbers is None else "".join(f"{by_view[view][form]:>12}" for view in names)
        lines.append(f"{name:28}{form:32}{cells}")
    for view in names:
        if holds(by_form, view) is False:
            lines += [f"    {view}, {form}: {text}" for form, text in details(by_form, view).items()]
    return "\n".join(lines)


def details(by_form: Mapping[str, Form], view: str) -> dict[str, str]:
    """Return form -> what is missing or different in a view."""
    letters = marks(by_form, view)
    numbers = {form: entry.numbers[view] for form, entry in by_form.items() if entry.numbers is not None}
    best = next((numbers[form] for form, letter in letters.items() if letter == "="), {})
    texts = {}
    for form, letter in letters.items():
        missing = sorted(best.keys() - numbers[form].keys())
        other = [
            f"{s} {v:.4g}, not {best[s]:.4g}"
            for s, v in numbers[form].items()
            if s in best and not agree({s: v}, {s: best[s]})
        ]
        if letter in "-x":
            texts[form] = "; ".join(
                [*(["no " + ", ".join(missing)] if missing else []), *other, (by_form[form].aside or {}).get(view, "")]
            )
    return texts


def summary(table: Mapping[str, Mapping[str, Form]], names: tuple[str, ...]) -> list[str]:
    """Return for each view in how many scripts at least four forms agree, and how often each form agrees."""
    lines = ["", f"{'view':14}{'four of five':>14}" + "".join(f"{form:>30}" for form in FORMS)]
    for view in names:
        held = [answer for by_form in table.values() if (answer := holds(by_form, view)) is not None]
        counts = []
        for form in FORMS:
            letters = [letter for by_form in table.values() if (letter := marks(by_form, view).get(form, ".")) != "."]
            counts.append(f"{letters.count('=')} of {len(letters)}")
        lines.append(f"{view:14}{f'{sum(held)} of {len(held)}':>14}" + "".join(f"{count:>30}" for count in counts))
    written = [
        f"{sum(by_form[form].numbers is not None for by_form in table.values())} of {len(table)}" for form in FORMS
    ]
    return [*lines, f"{'written':28}" + "".join(f"{count:>30}" for count in written)]


if __name__ == "__main__":
    main()

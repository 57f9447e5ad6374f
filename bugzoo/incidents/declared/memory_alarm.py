"""A process that grows until the machine kills it."""

from typing import Any

import numpy as np

from bugzoo.incidents.model import Told, number
from bugzoo.incidents.stage import Stage, log, nothing, span
from bugzoo.running import Run
from bugzoo.scenario import Scenario

ABOUT = "a process that grows by the hour, with its memory and losses"
ARTEFACTS = ("memory.jsonl", "memory_last_week.jsonl", "job.log", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "mini_transformer", ("memory/outputs_kept",), 3, 2
SMALL = {"steps": 160, "batch_size": 48}
WATCH = {"snapshots": False}
WARM = 25
"""Steps after which the allocator has what it needs."""
LIMIT = 8192


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, FAULTS, SMALL, seed=stage.seed)
    after, before = (stage.run(one, watch_settings=WATCH) for one in (case, case.healthy()))
    now = stage.rows("memory.jsonl", memory(after))
    then = stage.rows("memory_last_week.jsonl", memory(before))
    stage.write("job.log", log(after))
    stage.code(case)
    a_step, start = growth(now)
    middle, room = span(case)
    if a_step <= 2 * abs(growth(then)[0]):
        raise nothing("the process did not grow more than the healthy one")
    return Told(
        f"# The alarm for memory\n\nThe process grows as long as it runs and was killed at {LIMIT} MiB. "
        "`memory.jsonl` has its resident memory in MiB "
        "at some steps of a short run, `memory_last_week.jsonl` that of last week's script under the same "
        "settings. `train.py` is what runs.",
        (
            ("03:30", "Ravi", "alarm: memory. third night in a row"),
            ("03:36", "Jonas", "python never gives memory back, that is normal"),
            ("03:41", "Mira", "the list of losses! it gets longer every step"),
            ("03:44", "Ravi", "they are floats. a million of them are 32 MB"),
            ("03:52", "Jonas", "smaller batches then"),
            ("04:01", "Mira", "call gc.collect() once an epoch? did that, no change"),
        ),
        (
            number(
                1,
                "By how many MiB does it grow with each step (a straight line through the points from step "
                f"{WARM} on)?",
                a_step,
                f"last week's grew by {growth(then)[0]:.4f}",
                0.1 * a_step,
                "a tenth",
            ),
            number(
                2,
                f"At which step does that line come to {LIMIT} MiB?",
                (LIMIT - start) / a_step,
                "the line of question 1, continued",
                0.1 * (LIMIT - start) / a_step,
                "a tenth",
            ),
            number(
                3,
                "Which line of train.py holds on to what should go?",
                middle,
                "a tensor keeps the graph that made it",
                room,
            ),
        ),
    )


def memory(run: Run) -> list[dict[str, Any]]:
    return [
        {"step": int(step), "mib": float(mib)}
        for step, mib in zip(run.trace.step, run.trace.memory_mib, strict=True)
        if not np.isnan(mib)
    ]


def growth(rows: list[dict[str, Any]]) -> tuple[float, float]:
    """(MiB a step, MiB at step 0) of a straight line through the points from WARM on."""
    late = [row for row in rows if row["step"] >= WARM]
    slope, start = np.polyfit([row["step"] for row in late], [row["mib"] for row in late], 1)
    return float(slope), float(start)

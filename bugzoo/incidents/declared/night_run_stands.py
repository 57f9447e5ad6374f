"""A job of two processes that prints nothing any more, and does not end."""

from bugzoo.incidents.model import Told, choice, number
from bugzoo.incidents.stage import Stage, log, nothing, span, stack, steps
from bugzoo.scenario import Scenario

ABOUT = "a job on two processes that stands still, with the logs and the stacks of both"
ARTEFACTS = ("rank0.jsonl", "rank1.jsonl", "rank0.stack", "rank1.stack", "rank0.log", "rank1.log", "train.py")
PROGRAM, QUESTIONS, RUNS = "data_parallel", 3, 1
FAULTS = ("distributed/skipped_batch?step=23",)


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, (f"distributed/skipped_batch?step={17 + stage.seed % 14}",), seed=stage.seed)
    run = stage.run(case)
    ranks = run.ranks
    stacks = next((found for one in ranks if (found := one.trace.error.get("stacks"))), None)
    if stacks is None:
        raise nothing("no rank stood still")
    kept = []
    for number_, one in enumerate(ranks):
        kept.append(stage.rows(f"rank{number_}.jsonl", steps(one)))
        shown = stack(stacks.get(str(number_), []))
        stage.write(
            f"rank{number_}.stack", (shown.strip() and shown) or "no frame of the script: it has come to its end\n"
        )
        stage.write(f"rank{number_}.log", log(one))
    stage.code(case)
    waiting = [number_ for number_, one in enumerate(ranks) if one.outcome == "hung"]
    middle, room = span(case)
    return Told(
        "# The night's job stands still\n\nTwo processes, `torchrun`, gloo. Started at 23:00, nothing since. "
        "It was killed in the "
        "morning. Of each rank there are the losses (`rank0.jsonl`), what py-spy saw of its stack before the "
        "end (`rank0.stack`, "
        "innermost call first) and the end of its log. `train.py` is what ran.",
        (
            ("07:02", "Ravi", "job is stuck. cpu at 100% on one core, nothing in the log. network?"),
            ("07:05", "Jonas", "switch was updated on tuesday. I bet on the network"),
            ("07:11", "Mira", "or the loader, it has deadlocked before with workers. set num_workers to 0"),
            ("07:12", "Jonas", "it has no workers"),
            ("07:20", "Ravi", "both processes were alive all night, and no one used more than 2 GB. so not memory"),
            ("07:31", "Mira", "raise the timeout of the process group to an hour?"),
        ),
        (
            choice(1, "Which rank waits?", str(waiting[0]), ("0", "1"), "its stack stands in backward()"),
            number(
                2,
                "After how many optimiser steps, the same on both ranks, did they part?",
                min(len(rows) for rows in kept),
                "the last line of the shorter file",
            ),
            number(
                3,
                "Which line of train.py lets a rank go its own way?",
                middle,
                "all must meet at each backward()",
                room,
            ),
        ),
    )

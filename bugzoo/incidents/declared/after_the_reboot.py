"""A training that was stopped by a reboot and went on from its checkpoint, not quite where it was."""

from bugzoo.incidents.model import Told, choice, number
from bugzoo.incidents.stage import Stage, log, nothing, steps
from bugzoo.scenario import Scenario

ABOUT = "a training that went on from a checkpoint, beside one that was never stopped"
ARTEFACTS = ("never_stopped.jsonl", "until_reboot.jsonl", "after_reboot.jsonl", "job.log", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "checkpointed_mlp", ("resume/scheduler_restarted",), 3, 3
STATES = ("model", "optimizer", "schedule", "generator")
MIB = 32


def make(stage: Stage) -> Told:
    from bugzoo.running.resume import halfway

    case = Scenario(PROGRAM, FAULTS, seed=stage.seed)
    text = stage.code(case)
    whole = stage.run(case)
    first = stage.run(case, source=halfway(text), bring_mib=MIB)
    second = stage.run(case, source=text, bring_mib=MIB, files=first.files)
    never, until, after = (
        stage.rows(f"{name}.jsonl", steps(run, "learning_rate"))
        for name, run in (("never_stopped", whole), ("until_reboot", first), ("after_reboot", second))
    )
    stage.write("job.log", log(second))
    parted = next(
        (
            row["step"]
            for row, twin in zip(after, never[len(until) :], strict=False)
            if row["learning_rate"] != twin["learning_rate"]
        ),
        None,
    )
    if parted is None:
        raise nothing("the rate after the reboot is that of the run that was never stopped")
    return Told(
        "# After the reboot\n\nThe machine was rebooted half way; the job found its checkpoint and went on "
        "by itself. It ends worse than the run that was "
        "never stopped (same seed). Each file has a line a step: loss and learning rate. The steps of "
        "`after_reboot.jsonl` are counted from 1 "
        "again. `train.py` is what ran both times.",
        (
            ("05:12", "Ravi", "kernel update, machine is back. the job went on from its checkpoint, nice"),
            ("08:30", "Mira", "not so nice, the loss does not settle any more"),
            ("08:33", "Jonas", "the shuffle is another one after a restart, that is enough to explain it"),
            ("08:40", "Ravi", "the first epoch after it is the same to the last digit"),
            ("08:47", "Jonas", "then adam lost its moments"),
            ("08:55", "Mira", "checkpoint damaged? it loads without a word"),
        ),
        (
            number(1, "After how many optimiser steps was it stopped?", len(until), "the lines of until_reboot.jsonl"),
            number(
                2,
                "At which step of after_reboot.jsonl is the learning rate another one than in the run that "
                "was never stopped?",
                parted,
                "until there both files agree, step for step",
            ),
            choice(
                3,
                "Which state does the script save and not take up again?",
                "schedule",
                STATES,
                "its count begins at zero",
            ),
        ),
    )

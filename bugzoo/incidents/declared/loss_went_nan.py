"""A run in mixed precision whose losses become nan, one here and one there at first."""

import math

from bugzoo.incidents.model import Told, choice, number
from bugzoo.incidents.stage import Stage, log, nothing, span, steps
from bugzoo.scenario import Scenario

ABOUT = "a language model in mixed precision: a nan here and there, and then nothing else"
ARTEFACTS = ("losses.jsonl", "job.log", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "amp_transformer", ("precision/half_softmax?sharpness=12",), 3, 1
SMALL = {"steps": 160, "context": 8, "heads": 1, "layers": 1, "batch_size": 2, "learning_rate": 1e-3}
PLACES = ("forward", "backward", "update")


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, FAULTS, SMALL, seed=stage.seed)
    run = stage.run(case)
    rows = stage.rows("losses.jsonl", steps(run, "scale", "grad_norm"))
    stage.write("job.log", log(run))
    stage.code(case)
    bad = [row["step"] for row in rows if not math.isfinite(float(row["loss"]))]
    if not bad:
        raise nothing("no loss went non-finite")
    event = run.trace.first_non_finite()
    where = event.data.get("direction", "") if event else ""
    middle, room = span(case)
    last = rows[-1]["scale"]
    return Told(
        "# The losses of the night are nan\n\n`losses.jsonl` has a line a step: loss, the scaler's factor, "
        "the norm of the gradient that "
        f"the optimiser got. {len(bad)} of {len(rows)} losses are nan, and the factor stands at {last:g}. The "
        "same script in float32 "
        "was fine last week. `train.py` is what ran, `job.log` what it printed.",
        (
            ("02:10", "Jonas", "the overnight run is nan. it is the learning rate, it is always the learning rate"),
            ("02:14", "Mira", "the scaler looks broken to me. it halves and halves, I would start it at 2**10"),
            ("02:20", "Jonas", "could be a bad batch in the data. somebody check for nan in the text file"),
            (
                "02:31",
                "Ravi",
                "the first steps are fine, the loss falls. then one nan, then it goes on, then more of them",
            ),
            (
                "02:33",
                "Mira",
                "the factor is for gradients that get too large or too small, no? then it should have recovered",
            ),
            ("02:50", "Jonas", "clipping is on my list for tomorrow"),
        ),
        (
            number(
                1, "At which step is the loss not finite for the first time?", bad[0], "the first nan in losses.jsonl"
            ),
            choice(
                2,
                "In which part of that step did the first number stop being finite?",
                where,
                PLACES,
                "the loss is nan before backward() is called, and the factor is applied behind the loss",
            ),
            number(3, "Which line of train.py makes it?", middle, "float16 ends at exp(11.09)", room),
        ),
    )

"""A model that was taught something new, and customers who use the old part of it."""

from typing import Any

from bugzoo.incidents.model import Told, number
from bugzoo.incidents.stage import Stage, log, nothing, span
from bugzoo.scenario import Scenario

ABOUT = "a network that was taught a second task, and complaints about the first"
ARTEFACTS = ("steps.jsonl", "releases.jsonl", "job.log", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "finetune", ("optimizer/one_lr_for_pretrained",), 3, 2


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, FAULTS, seed=stage.seed)
    before, after = stage.run(case.healthy()), stage.run(case)
    names = [one.name for one in after.trace.parameters]
    column = next(at for at, name in enumerate(names) if "layer1" in name and "weight" in name)
    rows = stage.rows(
        "steps.jsonl",
        [
            {"step": int(step), "loss": float(after.trace.loss[at]), "layer1_gradient": float(norm)}
            for at, (step, norm) in enumerate(
                zip(after.trace.step, after.trace.param_grad_norm[:, column], strict=True)
            )
        ],
    )
    releases = stage.rows(
        "releases.jsonl",
        [{"release": "1.4", **before.trace.metrics}, {"release": "1.5", **after.trace.metrics}],
    )
    stage.write("job.log", log(after))
    stage.code(case)
    lost = 100 * (releases[0]["old_accuracy"] - releases[1]["old_accuracy"])
    middle, room = span(case)
    return Told(
        "# Old customers complain\n\nRelease 1.5 was trained as 1.4 was: first the digits 0 to 4, then 5 to "
        "9 with a new head, the backbone frozen for a "
        "while. `releases.jsonl` has the final numbers of both, `steps.jsonl` the training of 1.5: loss, and "
        "the norm of the gradient "
        "of layer1 (nan: it has none). `train.py` is the script of 1.5.",
        (
            ("16:20", "Mira", "1.5 is better on the new digits. ship it"),
            ("17:45", "Ravi", "support says the old digits got worse. since 1.5"),
            ("17:50", "Jonas", "their head was not touched, we keep it and put it back. so it cannot be the weights"),
            ("17:58", "Mira", "the old ones were trained first, maybe too short? six epochs only"),
            ("18:04", "Ravi", "same six epochs in 1.4"),
            ("18:06", "Jonas", "seed. it is always the seed"),
        ),
        (
            number(
                1,
                "How many points (hundredths) of accuracy on the old digits were lost from 1.4 to 1.5?",
                lost,
                "releases.jsonl",
                0.1,
            ),
            number(
                2,
                "At which step, after it was frozen, does layer1 get a gradient for the first time again?",
                thawed(rows),
                "until there the two releases are alike",
            ),
            number(
                3,
                "Which line of train.py decides how fast layer1 moves from there on?",
                middle,
                "one rate for new and old",
                room,
            ),
        ),
    )


def thawed(rows: list[dict[str, Any]]) -> int:
    """The first step with a gradient behind one without."""
    frozen = False
    for row in rows:
        none = str(row["layer1_gradient"]) == "nan"
        if frozen and not none:
            return row["step"]
        frozen = frozen or none
    raise nothing("layer1 was never frozen, or stayed so")

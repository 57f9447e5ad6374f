"""A training that takes several times as long as it did, with profiles of before and after."""

from typing import Any

from bugzoo.incidents.model import Told, choice, number
from bugzoo.incidents.stage import Stage, log, span
from bugzoo.scenario import Scenario

ABOUT = "a training that has become slow, with profiles of one epoch before and after (they open in Perfetto)"
ARTEFACTS = ("profile_last_week.json", "profile_today.json", "job.log", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "image_pipeline", ("speed/starved_loader",), 3, 3
SMALL = {"images_used": 160, "epochs": 1}
FETCH = "enumerate(DataLoader)"
PARTS = ("fetching", "forward", "backward", "update")


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, FAULTS, SMALL, seed=stage.seed)
    before = stage.profile(case.healthy(), "profile_last_week.json")
    after = stage.profile(case, "profile_today.json")
    run = stage.run(case)
    stage.write("job.log", log(run))
    stage.code(case)
    share = fetching(after)
    middle, room = span(case)
    return Told(
        "# Slow since Monday\n\nAn epoch takes several times as long as last week; losses and accuracy are "
        "what they were. "
        "`profile_today.json` and `profile_last_week.json` are torch.profiler's traces of the training part, "
        "one epoch each, "
        "the main process alone: Perfetto and chrome://tracing open them. `train.py` is what ran today.",
        (
            ("09:05", "Jonas", "the machine is at 30%. we need the new cards, I said so in march"),
            ("09:09", "Mira", "batch size is 32, that is tiny. double it"),
            ("09:15", "Ravi", "same machine, same batch size as last week"),
            ("09:17", "Jonas", "compile the model? the convolutions are the expensive part, look at the trace"),
            ("09:25", "Mira", "somebody cleaned up the data set class on friday. only lines were removed"),
        ),
        (
            number(
                1,
                f"Which share of the profiled time, in percent, lies in the outermost spans {FETCH} of "
                "profile_today.json? "
                "(The time from the first event's start to the last event's end is the whole.)",
                100 * share,
                f"last week it was {100 * fetching(before):.1f}",
                2.0,
            ),
            choice(
                2, "What does the main process do in most of its time?", largest(after), PARTS, "the same spans, summed"
            ),
            number(
                3,
                "At which line of train.py is what was lost last week?",
                middle,
                "what is deterministic can be kept",
                room,
            ),
        ),
    )


def spans(trace: dict[str, Any], *beginnings: str) -> float:
    """Microseconds of the outermost spans whose name begins so, summed."""
    found = [one for one in trace["traceEvents"] if one.get("ph") == "X" and str(one["name"]).startswith(beginnings)]
    total, end = 0.0, float("-inf")
    for one in sorted(found, key=lambda one: (one["ts"], -one["dur"])):
        if one["ts"] >= end:
            total, end = total + one["dur"], one["ts"] + one["dur"]
    return total


def fetching(trace: dict[str, Any]) -> float:
    """Share of the whole that lies in fetching."""
    every = [
        one for one in trace["traceEvents"] if one.get("ph") == "X" and one.get("cat") in ("cpu_op", "user_annotation")
    ]
    whole = max(one["ts"] + one["dur"] for one in every) - min(one["ts"] for one in every)
    return spans(trace, FETCH) / whole


def largest(trace: dict[str, Any]) -> str:
    """Which of PARTS takes most: fetching, backward and update are spans, and the rest of the operations is the forward pass."""
    named = {"fetching": (FETCH,), "backward": ("autograd::engine",), "update": ("Optimizer.step",)}
    took = {part: spans(trace, *beginnings) for part, beginnings in named.items()}
    took["forward"] = spans(
        trace, "aten::conv2d", "aten::linear", "aten::relu", "aten::max_pool2d", "aten::cross_entropy"
    )
    return max(took, key=lambda part: took[part])

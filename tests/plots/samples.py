"""A figure of each plot of the lab, drawn from sampled runs: what the test of the palette looks at."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from bugzoo import diagnostics, plots
from bugzoo.course.drawings import Axis, Drawing
from bugzoo.diagnostics import instrument
from bugzoo.lab import drawing_picture
from bugzoo.plots import (
    attention_maps,
    comparison,
    endings,
    evaluation_spread,
    five_curves,
    footprint,
    lines,
    loss_by_logit,
    loss_curve,
    one_batch_lines,
    slope,
)
from bugzoo.running import Run
from bugzoo.watching.records import Event, Graph
from bugzoo.watching.trace import Trace

STEPS = np.arange(1.0, 241)
NOISE = 0.1 * np.random.default_rng(0).random(240)
FALLS, STAYS = np.exp(-STEPS / 60) * 2.3 + NOISE, 2.3 + NOISE
ENDS = np.where(STEPS < 90, FALLS, math.nan)


def run(losses: np.ndarray = ENDS) -> Run:
    """A run that is lost in its step 90."""
    events = [Event(7, "skipped_step"), Event(90, "non_finite", {"direction": "loss"})]
    curves = {"grad_norm": 1 / STEPS, "leftover": 0 * STEPS + 0.4, "memory_mib": STEPS, "scale": 0 * STEPS + 2.0**16}
    trace = Trace(step=STEPS, loss=losses, **curves, graph=Graph(classes=10), events=events)
    return Run(trace, ranks=[Run(trace), Run(trace)])


NUMBERS: dict[str, dict[str, Any]] = {
    "gradient_health": {"names": ["body.weight", "head.weight"], "norms": [0.15, 0.36], "total_norm": 0.42},
    "learning_rate_finder": {"rates": [1e-5, 1e-4, 1e-3, 1e-2, 0.1], "losses": [2.3, 2.2, 1.1, 0.4, 9.0], "first_loss": 2.3,
                             "used": 1e-3, "climbs": 0.05},
    "overfit_one_batch": instrument("overfit_one_batch").of_losses(np.geomspace(2.0, 0.1, 100)).measured(),
    "step_timeline": {"data_ms": 4.0, "forward_ms": 2.0, "backward_ms": 3.5, "step_ms": 1.0},
    "determinism": {"first_difference": 3.0, "size": 0.1, "largest": 0.4, "compared": 20.0},
    "double_normalisation": {"lowest_loss": 1.5, "floor": 1.46},
    "crash": {"line": 7, "steps": 3.0, "type": "RuntimeError", "message": "mat1 and mat2 shapes cannot be multiplied " * 3},
    "replay": {"found": True, "step": 3.0, "op": "log", "direction": "forward", "line": 12, "code": "x = h.log()",
               "faithful": True},
}  # fmt: skip
"""Numbers of instruments that draw no curve of a run."""


def of_instrument(name: str) -> Any:
    """Return an instrument's plot of its numbers above, else of a run."""
    figure = plots.figure(2.8)
    plots.draw(name, NUMBERS.get(name, run()), figure.subplots())
    return figure


def of_twin() -> Any:
    figure = plots.figure(2.8)
    loss_curve.draw(run(), figure.subplots(), twin=run(FALLS))
    return figure


def of_comparison() -> Any:
    validation = {"healthy": [[(80, 1.9), (160, 0.8), (240, 0.25)]], "broken": [[(80, 2.0)]]}
    both = {"healthy": FALLS, "broken": ENDS}
    runs = {
        name: {"losses": losses, "grad_norms": 1 / STEPS, "validation": validation[name]}
        for name, losses in both.items()
    }
    marks = {
        "marks": [(40, "repaired")],
        "first_non_finite": {"step": 90, "op": "log"},
        "reference": {"ln 10": math.log(10)},
    }
    return comparison.picture(runs | marks, "Z-017", ("this run", "healthy"))


def of_drawing(curves: dict[str, np.ndarray], reference: dict[str, float]) -> Any:
    axes = Axis("step", 1, 240, False), Axis("loss (nats)", 0.01, 3, True)
    asked = Drawing("Draw the loss.", (1.0, 120.0, 240.0), *axes)
    return drawing_picture.figure(asked, (2.3, 1.0, 0.2), {name: (STEPS, y) for name, y in curves.items()}, reference)


def model() -> nn.Module:
    net = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 10))
    with torch.no_grad():
        net[0].weight[3] = math.nan
    return net


WAYS = {"healthy": FALLS, "optimizer of another model": STAYS, "rate 1000 times too low": STAYS - 0.01,
        "only the head learns": FALLS + 0.5, "labels drawn in each step": STAYS + 0.02}  # fmt: skip
LOSSES = {
    "cross-entropy of logits": lambda x: nn.functional.softplus(-x),
    "softmax twice": lambda x: nn.functional.softplus(1 - 2 * x.sigmoid()),
    "sigmoid twice, label yes": lambda x: nn.functional.softplus(-x.sigmoid()),
    "sigmoid twice, label no": lambda x: nn.functional.softplus((-x).sigmoid()),
}
TRIL = np.tril(np.ones((12, 12)))
MAPS = {
    "mask right": TRIL / TRIL.sum(1, keepdims=True),
    "one to the right": np.eye(12, k=1),
    "after the softmax": TRIL / 14,
}
MODES = {f"{mode}, {grad} no_grad()": values for mode, values in (("eval mode", [0.9] * 8), ("train mode", [0.8, 0.85, 0.9] * 3))
         for grad in ("with", "without")}  # fmt: skip

FIGURES: dict[str, Callable[[], Any]] = {
    **{name: lambda name=name: of_instrument(name) for name in diagnostics.names()},
    "loss over its twin": of_twin,
    "comparison": of_comparison,
    "drawing": lambda: of_drawing({"healthy twin": FALLS, "incident": STAYS}, {"ln 10": math.log(10)}),
    "drawing of what has no role": lambda: of_drawing({"sorted by digit": FALLS, "in random order": FALLS + 0.1}, {}),
    "lines by role": lambda: lines.picture(
        {"twin": (STEPS, FALLS), "incident": (STEPS, STAYS), "rival": (STEPS, STAYS - 1), "repaired": (STEPS, ENDS)},
        "step", "loss (nats)", reference={"floor": 1.46, "ln 2": math.log(2)}, log=True,
    ),
    "one batch": lambda: one_batch_lines.picture({name: (STEPS, losses) for name, losses in WAYS.items()}),
    "losses by logit": lambda: loss_by_logit.picture(LOSSES),
    "two losses by logit": lambda: loss_by_logit.picture({name: LOSSES[name] for name in list(LOSSES)[:2]}, end=14, mark=-6),
    "slope": lambda: slope.picture({"log(x)": torch.log, "relu(log(x))": lambda x: torch.log(x).relu()}),
    "endings": lambda: endings.picture({"this run": ENDS, "a divergence": 1.5 ** STEPS[:60]}),
    "footprint": lambda: footprint.picture(model()),
    "attention maps": lambda: attention_maps.picture(MAPS, TRIL > 0),
    "evaluation spread": lambda: evaluation_spread.picture(MODES, dict.fromkeys(MODES, 3e5)),
    "five curves": lambda: five_curves.picture([FALLS, STAYS, ENDS, FALLS / 2, FALLS * 2]),
    "five curves with names": lambda: five_curves.picture(
        [FALLS, STAYS, ENDS, FALLS / 2, FALLS * 2],
        ["1: healthy", "2: the broken one", "3: a trap", "4: learning_rate 0.001, seed 3", "5: seed 1"],
    ),
}  # fmt: skip

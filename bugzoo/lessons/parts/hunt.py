"""Lesson 03: numbers around a step, a run with another line from step 50 on, and the validation loss over eps."""

import timeit
from typing import Any

import numpy as np
import torch
from matplotlib.figure import Figure

from bugzoo import device, lab
from bugzoo.plots import endings
from bugzoo.scenario import Scenario
from bugzoo.watching import Trace

LOG_LINE = "hidden = torch.log(hidden - hidden.min() + 0.0)"
"""The incident's line; a learner's run replaces it."""
EPS = ("1e-9", "1e-6", "1e-3", "0.1", "1.0")


def around(step: int, trace: Trace, healthy: Trace) -> None:
    """Print three steps before a step and two after it, beside the healthy twin's."""
    print("step   loss     gradient norm   healthy loss")
    for row in range(step - 4, step + 2):
        print(f"{row + 1:4}   {trace.loss[row]:6.4f}   {trace.grad_norm[row]:13.4f}   {healthy.loss[row]:12.4f}")


def divergence() -> np.ndarray:
    """Return the losses of another program, which diverges."""
    wild = Scenario("regression_mlp", (), {"learning_rate": 1.0}, device=device.used())
    return lab.LiveView(wild.source.replace("Adam(", "SGD("), show_twin=False).start().result.trace.loss


def two_endings(trace: Trace) -> Figure:
    """Draw the last steps of a run beside those of a run that diverges."""
    return endings.picture({"this run": trace.loss.tolist(), "a divergence": divergence().tolist()})


def continued(incident: Scenario, new_line: str, **names: Any) -> Trace:
    """Run the incident with another line from step 50 on, and with more names; return its trace."""
    view = lab.LiveView(incident, pause_at=50, show_twin=False).start()
    view.wait_pause()
    view.objects.update(names)
    view.patch(incident.source.replace(LOG_LINE, new_line))
    view.resume()
    return view.result.trace


def with_eps(eps: str) -> Scenario:
    """Return the incident with an eps inside the logarithm."""
    return Scenario("mlp", (f"numerics/log_at_step?step=50&eps={eps}",), device=device.used())


def losses_over_eps() -> list[float]:
    """Return the validation loss for each of EPS, and print it with the accuracy."""
    losses = []
    for eps in EPS:
        run = lab.LiveView(with_eps(eps), show_twin=False).start().result.trace
        lost = int(np.isnan(run.loss).sum())
        print(f"eps = {eps:5}  nan losses {lost}   accuracy {run.metrics['accuracy']:.3f}", end="   ")
        print(f"validation loss {run.metrics['loss']:.3f}")
        losses.append(run.metrics["loss"])
    return losses


def anomaly_factor(width: int) -> float:
    """Return how many times as long a training step takes in anomaly mode, for a net of this width with one thread."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    factor = sorted(_seconds(width, anomaly=True) / _seconds(width, anomaly=False) for _ in range(9))[4]
    torch.set_num_threads(threads)
    return factor


def _seconds(width: int, anomaly: bool) -> float:
    net = torch.nn.Sequential(torch.nn.Linear(64, width), torch.nn.ReLU(), torch.nn.Linear(width, 10))
    adam, x = torch.optim.Adam(net.parameters()), torch.ones(8, 64)
    with torch.autograd.set_detect_anomaly(anomaly):
        return timeit.timeit(lambda: (net(x).mean().backward(), adam.step()), number=10)

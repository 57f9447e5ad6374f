"""Lesson 01: run the digit reader changed, ask the five checks of twelve causes, and draw what each check is worth."""

import contextlib
import io
import math
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from matplotlib.figure import Figure
from torch import Tensor

from bugzoo import device
from bugzoo.plots import INK, THIS_RUN, prepare
from bugzoo.scenario import Scenario

CHANGES = {
    "learning rate / 10": ("lr=learning_rate", "lr=learning_rate / 10"),
    "clipping": ("optimizer.step()", "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0); optimizer.step()"),
    "full precision": (".half()", ".float()"),
}
"""Checks 1 to 3 -> what each replaces in the program's text, and by what."""
FASTER = ("lr=learning_rate", "lr=learning_rate * 10")

CAUSES: dict[str, str | dict[str, Any]] = {
    "pixels scaled twice": "data/double_scaling", "one nan in the data": "numerics/nan_in_data",
    "rate too high": {"learning_rate": 0.3}, "rate too low": {"learning_rate": 1e-7},
    "gradients wiped before the step": "loop/gradients_wiped", "all weights start at zero": "initialisation/zero_weights",
    "labels of other pictures": "data/labels_out_of_sync", "labels moved by one": "loss/labels_off_by_one",
    "gradients never cleared": "loop/stale_gradients", "sign of the loss flipped": "loss/sign_flipped",
    "exp overflows": "numerics/exp_overflow", "weights in half precision": "precision/half_parameters",
}  # fmt: skip
"""Twelve causes in words -> a fault, or settings."""

LOOP = "    for inputs, targets in train_loader:\n"
TWO = """    two = [part[:2] for part in (two if step else next(iter(train_loader)))]
    for inputs, targets in [two] * {steps}:
"""
"""What stands in the place of `LOOP` to train on the first two samples only."""

Helped = Callable[[Sequence[float], Sequence[float]], str]
Look = Callable[[Tensor, Tensor], Mapping[str, Any]]


class Answers(NamedTuple):
    """What the checks say. `words`: cause -> check -> word; `seconds`: check -> seconds of one such check."""

    words: dict[str, dict[str, str]]
    seconds: dict[str, float]


def variables(text: str) -> dict[str, Any]:
    """Run a program's text; return its variables. What it prints is dropped."""
    names: dict[str, Any] = {"__name__": "copy"}
    with contextlib.redirect_stdout(io.StringIO()):
        exec(text, names)
    return names


def end(measured: Sequence[float]) -> float:
    """Return the median of a run's last 20 losses; infinite if one of them is nan or inf."""
    last = measured[-20:]
    return statistics.median(last) if all(map(math.isfinite, last)) else math.inf


def losses(scenario: Scenario, change: tuple[str, str] = ("", "")) -> list[float]:
    """Return the losses of a scenario, with one part of its text replaced."""
    return variables(scenario.source.replace(*change) if change[0] else scenario.source)["losses"]


def two_samples(text: str, steps: int = 600) -> tuple[list[int], list[float]]:
    """Return (steps, losses) of a program that trains on its first two samples only."""
    epochs = 1 + variables(text)["epoch"]
    measured = variables(text.replace(LOOP, TWO.format(steps=steps // epochs)))["losses"]
    return list(range(1, len(measured) + 1)), measured


def first_batch(scenario: Scenario) -> tuple[Tensor, Tensor]:
    """Return (inputs, targets) of the first batch that a program trains on, as they enter the model."""
    inputs, targets = next(iter(variables(scenario.source.partition("# %% Training")[0])["train_loader"]))
    return inputs, targets


def broken(cause: str) -> str:
    """Return the text of the digit reader with one of the twelve causes, for 3 epochs."""
    way = CAUSES[cause]
    faults, settings = ((), way) if isinstance(way, dict) else ((way,), {})
    return Scenario("mlp", faults, settings | {"epochs": 3}, device=device.used()).source


def ask(helped: Helped, look: Look) -> Answers:
    """Make the five checks on each of the twelve causes, with the reader's two functions; about fifty short trainings."""
    words: dict[str, dict[str, str]] = {}
    seconds: dict[str, list[float]] = {}
    for cause in CAUSES:
        text = broken(cause)
        words[cause] = {}
        for check, word, took in _timed(text, variables(text), helped, look):
            words[cause][check] = word
            seconds.setdefault(check, []).append(took)
        print("*", end=" ", flush=True)
    print()
    # the longest of each check: without half precision, "full precision" changes nothing and needs no run
    return Answers(words, {check: max(*times, 0.001) for check, times in seconds.items()})


def _timed(text: str, names: dict[str, Any], helped: Helped, look: Look) -> Iterator[tuple[str, str, float]]:
    """Yield (check, its word, seconds) for a program's text; `names`: its variables after a run."""
    checks: dict[str, Callable[[], str]] = {
        check: lambda change=change: _copy_says(text, names["losses"], change, helped)
        for check, change in CHANGES.items()
    }
    checks["two samples"] = lambda: _two_say(two_samples(text, 108)[1])
    checks["print"] = lambda: _print_says(look(*names["train_loader"].dataset.tensors))
    for check, says in checks.items():
        begin = time.perf_counter()
        word = says()
        yield check, word, time.perf_counter() - begin


def _copy_says(text: str, before: Sequence[float], change: tuple[str, str], helped: Helped) -> str:
    changed = text.replace(*change)
    return "no" if changed == text else helped(before, variables(changed)["losses"])


def _two_say(measured: Sequence[float]) -> str:
    end = statistics.median(measured[-20:])
    if not math.isfinite(end) or end < -0.1:
        return "nan" if not math.isfinite(end) else "below 0"
    return "learned" if end < 0.1 else "ln 2" if abs(end - math.log(2)) < 0.03 else "stuck"


def _print_says(print_out: Mapping[str, Any]) -> str:
    if print_out["not finite"]:
        return "nan"
    return "tiny" if abs(print_out["largest"]) < 0.1 else "nothing odd"


def ruled_out(words: Mapping[str, Mapping[str, str]]) -> dict[str, float]:
    """Return check -> how many causes its answer rules out on average, if each cause is equally likely.

    An answer that k of n causes share comes with probability k / n and leaves k open, so n minus the sum of k * k / n is ruled out.
    """
    worth = {}
    for check in next(iter(words.values())):
        column = [answers[check] for answers in words.values()]
        worth[check] = len(column) - sum(column.count(word) ** 2 for word in set(column)) / len(column)
    return worth


def digits(scenario: Scenario) -> Figure:
    """Draw two digits of a scenario and of its healthy twin: each on its own gray scale, and on one from 0 to 1."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    places = figure.subplots(2, 4).T.flat
    for name, program in (("incident", scenario), ("healthy twin", scenario.healthy())):
        for title, limits in (("its own scale", {}), ("0 to 1", {"vmin": 0, "vmax": 1})):
            for picture in first_batch(program)[0][:2]:
                axes = next(places)
                axes.imshow(picture.view(8, 8).cpu(), cmap="gray", **limits)
                axes.set_title(f"{name}\n{title}", color=INK, fontsize=10)
                axes.set_axis_off()
    return figure


def price(answers: Answers) -> Figure:
    """Draw the seconds that a check costs against the causes that it rules out."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    axes = figure.subplots()
    prepare(axes, "", "seconds of the check", "causes ruled out, of 12")
    axes.set_xscale("log")
    axes.set_ylim(0, 12)
    for check, causes in ruled_out(answers.words).items():
        axes.plot(answers.seconds[check], causes, "o", color=THIS_RUN, markersize=9)
        axes.annotate(
            check, (answers.seconds[check], causes), (0, 9), textcoords="offset points", ha="center", color=INK
        )
    axes.margins(x=0.15)
    return figure

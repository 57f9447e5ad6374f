"""In which mode did each forward pass run?

Dropout and BatchNorm behave differently in training and evaluation. Forward passes without gradients in training mode
are evaluations whose eval() was forgotten: results change from call to call. Training passes in eval mode mean that
train() was never called again after an evaluation. A dropout that acts in eval mode is called in functional form
without `training=self.training`. A model without such layers does not care, and neither does this instrument.
"""

from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._lines import user_line
from bugzoo.diagnostics._tools import DROPOUTS, NORMS, batches, column, model_of, need_steps, pick, share
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, live, quiet
from bugzoo.running.result import Run

COST = 1
SHOWN = {
    "evaluations": ("forward passes without gradients", ""),
    "eval_in_train_mode": ("of these in training mode", "0"),
    "train_in_eval_share": ("share of the training passes in eval mode", "0"),
}
HEALTHY = example(("nn.ReLU()", "nn.Dropout(0.1)"))
SICK = example(("nn.ReLU()", "nn.Dropout(0.1)"), ("model.eval()", "pass"))
_RANDOM = ("native_dropout", "bernoulli", "_fused_dropout")


class _Drops(TorchDispatchMode):
    """Notes whether anything is dropped at random during a call."""

    def __init__(self) -> None:
        super().__init__()
        self.seen = False
        self.where: dict[str, Any] = {}

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.__name__
        if name.startswith(_RANDOM) and not (name.startswith("native_dropout") and len(args) > 2 and args[2] is False):
            self.seen = True
            self.where = self.where or user_line()
        return function(*args, **(kwargs or {}))


def sensitive(model: torch.nn.Module) -> list[str]:
    """Kinds of layers in `model` whose mode matters: active dropout (also inside RNNs and attention), batch norm."""
    found = set()
    for module in model.modules():
        if isinstance(module, DROPOUTS) and module.p > 0:
            found.add("dropout")
        if isinstance(module, NORMS):
            found.add("batch norm")
        rate = getattr(module, "dropout", None)
        if isinstance(rate, float) and rate > 0:
            found.add("dropout")
    return sorted(found)


def _own_mode(model: torch.nn.Module) -> bool:
    """Are all mode-dependent layers in eval mode although the root says training (frozen batch norm, say)?"""
    layers = [m for m in model.modules() if isinstance(m, (*DROPOUTS, *NORMS))]
    return model.training and bool(layers) and not any(m.training for m in layers)


def _drops(run: Run, training: bool = False) -> dict[str, Any] | None:
    """The line that drops at random when the model is called in this mode; {} if not known, None if nothing does."""
    try:
        batch = batches(run)[-1]
        with quiet(model_of(run, batch), training) as model, _Drops() as drops:
            call(model, batch.args, batch.kwargs)
    except Exception:  # the model cannot be called again; the counts below still tell
        return None
    return drops.where if drops.seen else None


def measure(run: Run) -> dict[str, Any]:
    """Counts of forward passes by circumstance. Raises NotApplicable where no layer's mode matters."""
    need_steps(run, 1)
    models = live(run).models
    kinds: dict[str, list[str]] = {}
    for model in models:
        if not _own_mode(model):
            kinds.setdefault(type(model).__name__, []).extend(sensitive(model))
    drops = _drops(run)
    if drops is None and not any(kinds.values()) and _drops(run, training=True) is not None:
        main = model_of(run, batches(run)[-1])
        kinds[type(main).__name__] = ["dropout"]  # in functional form, and asking for the mode as it should
    if not any(kinds.values()) and drops is None:
        raise NotApplicable("no layer behaves differently in training and evaluation")
    optimizer = column(run.trace.optimizer)
    per_optimizer = [float((optimizer == index).sum()) for index in np.unique(optimizer)]
    once_a_step = any(
        not entry.grad
        and entry.in_training_loop
        and not entry.after_step
        and 0.8 * steps <= entry.count <= 1.25 * steps
        for entry in run.trace.forwards
        for steps in per_optimizer
    )
    alone = len(models) == 1  # with a second network, what is computed without gradients may feed it
    evaluated = trained = wrong_eval = wrong_train = 0
    for entry in run.trace.forwards:
        if not kinds.get(entry.module) or not entry.learns:
            continue  # what is never called with gradients is no learner to be evaluated: a teacher, a moving average
        count = entry.count
        if entry.grad and entry.followed_by_backward:
            trained += count
            wrong_train += 0 if entry.training else count
        elif (
            entry.grad
        ):  # an evaluation without no_grad(); in training mode it may as well be a step that was broken off
            evaluated += 0 if entry.training else count
        else:
            feeds = entry.in_training_loop and not (entry.after_step and alone)
            if feeds and any(0.8 * steps <= count <= 1.25 * steps for steps in per_optimizer):
                continue  # one a step: a target network, or a generator that feeds a discriminator
            if count == 1 and not entry.in_training_loop and once_a_step:
                continue  # the same at the first step, before it was known where the loop is
            evaluated += count
            wrong_eval += count if entry.training else 0
    return {
        "eval_in_train_mode": float(wrong_eval),
        "evaluations": float(evaluated),
        "train_in_eval_mode": float(wrong_train),
        "train_in_eval_share": wrong_train / trained if trained else 0.0,
        "drops_in_eval": float(drops is not None),
        **(drops or {}),
        "kinds": sorted({kind for found in kinds.values() for kind in found}),
    }


def judge(numbers: dict[str, Any]) -> Verdict:
    """Fires on evaluation in training mode, on training in eval mode, and on dropout that acts in eval mode."""
    shown = pick(numbers, "eval_in_train_mode", "evaluations", "train_in_eval_mode", "drops_in_eval")
    layers = " and ".join(numbers["kinds"]) or "dropout"
    suspects = []
    if numbers["eval_in_train_mode"] > 0:
        text = (
            f"{numbers['eval_in_train_mode']:.0f} of {numbers['evaluations']:.0f} forward passes without gradients ran "
            f"in training mode, and the model has {layers}"
        )
        score = 0.9 if numbers["eval_in_train_mode"] >= 0.5 * numbers["evaluations"] else 0.7
        suspects.append(Suspect("modes/eval_mode_missing", score, text))
    if numbers["train_in_eval_share"] > 0.2:
        part = share(numbers["train_in_eval_share"])
        text = f"{part} of the training passes ran in eval mode, and the model has {layers}"
        suspects.append(Suspect("modes/train_mode_not_restored", 0.8, text))
    if numbers["drops_in_eval"]:
        text = "in eval mode the model still drops units at random: a functional dropout does not ask for the mode"
        place = {"file": numbers.get("file"), "line": numbers.get("line")}
        suspects.append(Suspect("modes/dropout_in_functional_form", 0.85, text, **place))
    message = suspects[0].evidence if suspects else f"training and evaluation ran in their modes ({layers})"
    return Verdict("mode_watch", bool(suspects), message, shown, tuple(suspects))

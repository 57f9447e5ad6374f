"""Do training passes run in train mode, and evaluation passes in eval mode?

Dropout and batch norm behave differently in train mode and in eval mode. Forward passes without gradients in train mode are
evaluations without model.eval(): results change from call to call. Training passes in eval mode mean that no model.train()
followed an evaluation. Dropout that acts in eval mode is F.dropout without `training=self.training`. A model without such
layers does not depend on the mode, and this instrument does not apply.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._lines import Line, user_line
from bugzoo.diagnostics._tools import DROPOUTS, NORMS, batches, column, model_of, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, below
from bugzoo.diagnostics.numbers import FLAG, Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import call, live, quiet
from bugzoo.running.result import Run

COST = 1
VIEW = "modes"
TITLE = "Training and evaluation passes"
KNOWN_PROBLEMS = (
    "A false positive for Monte Carlo dropout, whose forward passes without gradients run in train mode on purpose. "
    "It misses evaluations in train mode that keep gradients on, and training in eval mode of up to a fifth or with a "
    "frozen backbone."
)
HEALTHY = example(("nn.ReLU()", "nn.Dropout(0.1)"))
SICK = example(("nn.ReLU()", "nn.Dropout(0.1)"), ("model.eval()", "pass"))
_RANDOM = ("native_dropout", "bernoulli", "_fused_dropout")


@dataclass(kw_only=True)
class Numbers(Measured):
    """Counts of forward passes; `kinds` of layers depend on the mode; `line` drops units in eval mode, if known."""

    evaluations: float = number("forward passes without gradients")
    eval_in_train_mode: float = number("forward passes without gradients in train mode", (0, 0))
    train_in_eval_mode: float = number("passes before a backward() in eval mode")
    train_in_eval_share: float = number("share of passes before a backward() in eval mode", (0, 0.2))
    drops_in_eval: float = number(hidden=FLAG)
    kinds: list[str]
    file: str | None = None
    line: int | None = None


random_evaluation = Alarm(
    above("eval_in_train_mode"),
    "The evaluation's {evaluations:.0f} forward passes were recorded. {eval_in_train_mode:.0f} of them depend on "
    "random numbers or on the rest of the batch.",
    "None of them should (0).",
)
fixed_training = Alarm(
    above("train_in_eval_share", 0.2),
    "The training passes were recorded. In {train_in_eval_share:.0%} of them units are neither dropped nor normalized "
    "by the batch.",
    "At most {limits[train_in_eval_share]:.0%} passes.",
)
random_units = Alarm(
    ~below("drops_in_eval", 1),
    "The same batch was evaluated 2 times. The outputs differ.",
    "They should be equal.",
)
ALARMS = (random_evaluation, fixed_training, random_units)


class _Drops(TorchDispatchMode):
    """Records whether a call drops units at random, and the line that does, if known."""

    def __init__(self) -> None:
        super().__init__()
        self.random = False
        self.where: Line | None = None

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = function.__name__
        if name.startswith(_RANDOM) and not (name.startswith("native_dropout") and len(args) > 2 and args[2] is False):
            self.random = True
            self.where = self.where or user_line()
        return function(*args, **(kwargs or {}))


def sensitive(model: torch.nn.Module) -> list[str]:
    """Kinds of mode-dependent layers in `model`: active dropout (also inside RNNs and attention), batch norm."""
    kinds = set()
    for module in model.modules():
        if isinstance(module, DROPOUTS) and module.p > 0:
            kinds.add("dropout")
        if isinstance(module, NORMS):
            kinds.add("batch norm")
        rate = getattr(module, "dropout", None)
        if isinstance(rate, float) and rate > 0:
            kinds.add("dropout")
    return sorted(kinds)


def _kept_still(model: torch.nn.Module) -> bool:
    """Is a part with mode-dependent layers frozen, and another one trained? Then eval mode keeps that backbone as it is."""
    still = [
        m for m in model.modules() if (weights := list(m.parameters())) and not any(p.requires_grad for p in weights)
    ]
    return model not in still and any(sensitive(part) for part in still)


def _own_mode(model: torch.nn.Module) -> bool:
    """Are all mode-dependent layers in eval mode although the root is in train mode (frozen batch norm, say)?"""
    layers = [m for m in model.modules() if isinstance(m, (*DROPOUTS, *NORMS))]
    return model.training and bool(layers) and not any(m.training for m in layers)


def _drops(run: Run, training: bool = False) -> _Drops | None:
    """What drops units at random in this mode; None if nothing does."""
    try:
        batch = batches(run)[-1]
        with quiet(model_of(run, batch), training) as model, _Drops() as drops:
            call(model, batch.args, batch.kwargs)
    except Exception:  # the model cannot be called again; the counts below still say something
        return None
    return drops if drops.random else None


def measure(run: Run) -> Numbers:
    """Counts of forward passes by mode. Raises NotApplicable where no layer depends on the mode."""
    need_steps(run, 1)
    models = live(run).models
    kinds: dict[str, list[str]] = {}
    for model in models:
        if not _own_mode(model):
            kinds.setdefault(type(model).__name__, []).extend(sensitive(model))
    drops = _drops(run)
    if drops is None and not any(kinds.values()) and _drops(run, training=True) is not None:
        main = model_of(run, batches(run)[-1])
        kinds[type(main).__name__] = ["dropout"]  # functional dropout that is passed the mode, as it should be
    if not any(kinds.values()) and drops is None:
        raise NotApplicable("no layer behaves differently in train mode and eval mode")
    on_purpose = {type(model).__name__ for model in models if _kept_still(model)}
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
    alone = len(models) == 1  # with a second network, outputs without gradients may be its inputs
    evaluated = trained = wrong_eval = wrong_train = 0
    for entry in run.trace.forwards:
        if not kinds.get(entry.module) or not entry.learns:
            continue  # never called with gradients: a teacher or a moving average, which is not trained
        count = entry.count
        if entry.grad and entry.followed_by_backward:
            trained += count
            wrong_train += 0 if entry.training or entry.module in on_purpose else count
        elif entry.grad:  # an evaluation without no_grad(); in train mode it may also be an interrupted step
            evaluated += 0 if entry.training else count
        else:
            feeds = entry.in_training_loop and not (entry.after_step and alone)
            if feeds and any(0.8 * steps <= count <= 1.25 * steps for steps in per_optimizer):
                continue  # once a step: a target network, or a generator that feeds a discriminator
            if count == 1 and not entry.in_training_loop and once_a_step:
                continue  # the same at the first step, when the loop was not known yet
            evaluated += count
            wrong_eval += count if entry.training else 0
    file, line = (drops.where if drops else None) or (None, None)
    return Numbers(
        evaluations=float(evaluated),
        eval_in_train_mode=float(wrong_eval),
        train_in_eval_mode=float(wrong_train),
        train_in_eval_share=wrong_train / trained if trained else 0.0,
        drops_in_eval=float(drops is not None),
        kinds=sorted({kind for of_model in kinds.values() for kind in of_model}),
        file=file,
        line=line,
    )


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on evaluation in train mode, on training in eval mode, and on dropout that acts in eval mode."""
    layers = " and ".join(numbers.kinds) or "dropout"
    suspects = []
    if random_evaluation(numbers):
        text = (
            f"{numbers.eval_in_train_mode:.0f} of {numbers.evaluations:.0f} forward passes without gradients ran "
            f"in train mode (usually {Numbers.usual('eval_in_train_mode')}), and the model has {layers}"
        )
        score = 0.9 if numbers.eval_in_train_mode >= 0.5 * numbers.evaluations else 0.7
        suspects.append(Suspect("modes/eval_mode_missing", score, text))
    if fixed_training(numbers):
        part = share(numbers.train_in_eval_share)
        text = (
            f"{part} of the training passes ran in eval mode (usually {Numbers.usual('train_in_eval_share')}), and the "
            f"model has {layers}"
        )
        suspects.append(Suspect("modes/train_mode_not_restored", 0.8, text))
    if random_units(numbers):
        text = "in eval mode the model still drops units at random: functional dropout without training=self.training"
        suspects.append(Suspect("modes/dropout_in_functional_form", 0.85, text, numbers.file, numbers.line))
    message = suspects[0].reason if suspects else f"training ran in train mode and evaluation in eval mode ({layers})"
    return Verdict("mode_watch", bool(suspects), message, numbers.labeled(), tuple(suspects))

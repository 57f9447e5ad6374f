"""When a new optimizer takes over, what happens to the parameters trained before?

Fine-tuning runs in phases, and each phase may have its own optimizer. Old parameters are those that an earlier optimizer
trained; new ones only the last optimizer holds. Old parameters are frozen on purpose, or the last optimizer holds them too,
usually at a smaller learning rate, because they are overwritten fast. A parameter that is trainable, part of the
model and in no optimizer was forgotten. A backbone frozen to the end serves tasks that are like the old one, and no others.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, need_steps, share
from bugzoo.diagnostics.conditions import Alarm, above, measured
from bugzoo.diagnostics.numbers import Measured, judges, number
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.rerun.model import live
from bugzoo.running.result import Run

COST = 1
VIEW = "weights"
TITLE = "Parameters trained before"
KNOWN_PROBLEMS = (
    "A false positive for a linear probe: a backbone trained earlier in the run that stays frozen on purpose under a "
    "new head. "
    "It says nothing where one optimizer trains throughout, as on weights from a file, or where optimizers take "
    "turns."
)
_PHASES = (
    "for epoch in range(5):\n",
    "for epoch in range(5):\n    if epoch == 2:\n        model[2] = nn.Linear(32, 3)\n"
    '        groups = [{{"params": model[2].parameters()}}{}]\n        optimizer = torch.optim.Adam(groups, lr=1e-2)\n',
)
HEALTHY = example((_PHASES[0], _PHASES[1].format(', {"params": model[0].parameters(), "lr": 1e-3}')))
SICK = example((_PHASES[0], _PHASES[1].format("")))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares of elements between 0 and 1; the ratio is NaN where the last optimizer lacks old or new parameters."""

    rate_ratio: float = number(
        "learning rate of parameters trained before over new ones", (0, 0.5), view="learning_rate"
    )
    left_out_share: float = number("share trained before, trainable, not in the last optimizer", (0, 0.05))
    frozen_share: float = number("share trained before, not trainable at the end", (0, 0.9))
    inside_share: float = number("share of new elements that lie before old ones")
    new_share: float


left_out = Alarm(
    above("left_out_share", 0.05),
    "The parameters that were trained before were followed. {left_out_share:.0%} of them are in no optimizer "
    "at the end.",
    "At most {limits[left_out_share]:.0%} passes.",
)
fast = Alarm(
    above("rate_ratio", 0.5),
    "The parameters that were trained before were followed. They move at {rate_ratio:.2g} times the pace of the "
    "new ones.",
    "Up to {limits[rate_ratio]:g} times passes.",
)
frozen = Alarm(
    above("frozen_share", 0.9) & measured("inside_share") & ~above("inside_share"),
    "The parameters that were trained before were followed. {frozen_share:.0%} of them did not change.",
    "At most {limits[frozen_share]:.0%} passes.",
)
ALARMS = (left_out, frozen, fast)


def measure(run: Run) -> Numbers:
    """Shares of elements between 0 and 1. Raises NotApplicable where no optimizer took over from another one."""
    need_steps(run, 3)
    before, last = _phases(live(run).optimizers, column(run.trace.optimizer))
    rate_of = {id(p): float(group["lr"]) for group in last.param_groups for p in group["params"]}
    earlier = {id(p) for optimizer in before for group in optimizer.param_groups for p in group["params"]}
    roots = [list(model.parameters()) for model in live(run).models]
    model = max(roots, key=_elements, default=[])
    old = [p for p in model if id(p) in earlier]
    new = [p for p in model if id(p) not in earlier and id(p) in rate_of]
    total = _elements(old)
    if not total or not any(id(p) in rate_of and p.requires_grad for p in model):
        raise NotApplicable("the parameters trained before are not part of the model that is trained now")
    places = [place for place, p in enumerate(model) if id(p) in earlier]
    inside = [p for p in model[: places[-1]] if id(p) not in earlier and id(p) in rate_of]
    rates = [rate_of[id(p)] for p in old if p.requires_grad and id(p) in rate_of]
    others = [rate_of[id(p)] for p in new]
    return Numbers(
        inside_share=_elements(inside) / max(1, _elements(new)),
        left_out_share=_elements([p for p in old if p.requires_grad and id(p) not in rate_of]) / total,
        frozen_share=_elements([p for p in old if not p.requires_grad]) / total,
        new_share=_elements(new) / (total + _elements(new)),
        rate_ratio=max(rates) / max(others) if rates and others and max(others) > 0 else math.nan,
    )


def _elements(parameters: list[Any]) -> int:
    return sum(p.numel() for p in parameters)


def _phases(optimizers: list[Any], turns: np.ndarray) -> tuple[list[Any], Any]:
    """(the earlier optimizers, the last one). Raises NotApplicable where there is only one, or where they take turns."""
    order = [int(i) for i in turns[np.isfinite(turns)]]
    order = [i for place, i in enumerate(order) if place == 0 or order[place - 1] != i]
    if len(order) < 2 or len(set(order)) < len(order) or max(order) >= len(optimizers):
        raise NotApplicable("no optimizer took over from another one")
    return [optimizers[i] for i in order[:-1]], optimizers[order[-1]]


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on parameters in no optimizer, on a backbone that stays frozen whole, and on one learning rate for old and new."""
    suspects: tuple[Suspect, ...] = ()
    text = "old parameters get a smaller learning rate, or are frozen in part"
    if left_out(numbers):
        text = f"{share(numbers.left_out_share)} of the parameters trained before are trainable, but not in the last "
        text += f"optimizer (usually {Numbers.usual('left_out_share')})"
        suspects = (Suspect("freezing/unfrozen_after_optimizer", 0.85, text),)
    elif frozen(numbers):  # adapters between frozen layers adapt the backbone
        text = f"{share(numbers.frozen_share)} of the parameters trained before stay frozen to the end "
        text += f"(usually {Numbers.usual('frozen_share')}): only new ones learn"
        suspects = (Suspect("freezing/never_unfrozen", 0.7, text),)
    elif fast(numbers):
        text = f"old parameters get {numbers.rate_ratio:.2g} times the learning rate of new ones "
        text += f"(usually {Numbers.usual('rate_ratio')}): they are overwritten"
        suspects = (Suspect("optimizer/one_lr_for_pretrained", 0.6, text),)
    return Verdict("optimizer_handover", bool(suspects), text, numbers.labeled(), suspects)

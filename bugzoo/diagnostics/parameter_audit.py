"""Is every parameter trainable, in an optimizer, and changed by training?

A frozen layer is right when it holds something learned before: it moved earlier in this run, or was loaded. A frozen
layer that still looks like a random initialization was frozen too early, and the layers above it learn from noise.
Trainable parameters in no optimizer get gradients and never change. Parameters in an optimizer that never change get no
gradient (they are cut off from the loss), or a gradient of zero.
"""

import math
import re
from dataclasses import dataclass

import numpy as np
import torch

from bugzoo.diagnostics._example import example
from bugzoo.diagnostics._tools import column, median, share
from bugzoo.diagnostics.conditions import Alarm, Condition, above, below, measured
from bugzoo.diagnostics.numbers import Measured, judges, number, optional
from bugzoo.diagnostics.verdict import NotApplicable, Suspect, Verdict
from bugzoo.running.result import Run

COST = 0
VIEW = "weights"
TITLE = "Parameters that change"
_RECURRENT = re.compile(r"(weight|bias)_(ih|hh)_l\d+(_reverse)?$")
"""Parameters of a layer of nn.LSTM, nn.GRU and nn.RNN, by their names."""
KNOWN_PROBLEMS = (
    "A false positive for random layers frozen on purpose after their creation, or a large head that the loss never "
    "uses. "
    "It misses small parts: up to 4 % of the parameters frozen, 2 % outside the optimizer, or 10 % unchanged."
)
HEALTHY = example()
SICK = example(("for epoch", "model[0].requires_grad_(False)\nfor epoch"))


@dataclass(kw_only=True)
class Numbers(Measured):
    """Shares of parameter elements between 0 and 1; at most 8 names in a list. `still`: share that did not change."""

    largest_change: float = number("change of a tensor over the run, largest (share)", (0.01, 100), view="updates")
    elements: float = number("elements of all parameters")
    frozen_share: float = number("share of elements that are not trainable")
    frozen_untouched_share: float = number("share of elements not trainable that never moved", (0, 0.3))
    frozen_at_random_share: float | None = optional("share of elements not trainable, like a random start", (0, 0.04))
    optimised_share: float = number("share of elements in an optimizer that stepped")
    outside_and_untouched_share: float = number("share of elements trainable, in no optimizer, never moved", (0, 0))
    unregistered_share: float = number("share of elements used, but not in model.parameters()", (0, 0.02))
    unchanged_share: float = number("share of elements in an optimizer that never moved", (0, 0))
    without_gradient_share: float = number("share of elements in an optimizer, never with a gradient", (0, 0))
    unmoved_share: float = number("share of elements that never moved")
    not_in_optimizer_share: float = number(hidden="the shares beside it tell which of them never moved")
    steps: float
    learning_rate: float
    frozen_names: list[str]
    outside_names: list[str]
    unchanged_names: list[str]
    left_out: str
    still: float | None = None


random_start = above("frozen_share") & above("frozen_at_random_share", 0.04)
untouched = above("frozen_share") & above("frozen_untouched_share", 0.3)
unregistered = above("steps", 1) & above("unregistered_share", 0.02)
_module_outside = Condition(lambda numbers: bool(dict(numbers).get("left_out")), {})
unlisted = above("steps", 1) & (above("outside_and_untouched_share", 0.02) | _module_outside)
never_moved = above("steps", 1) & above("learning_rate") & above("unchanged_share", 0.1)
frozen_at_end = Alarm(
    random_start & ~above("still"),
    "The parameters were compared at the end of training. {frozen_share:.0%} of them get no update there.",
    "All of them should be updated (0%).",
)
unmoved = Alarm(
    random_start | (untouched & ~measured("frozen_at_random_share")) | unregistered | unlisted | never_moved,
    "The parameters were compared before and after training. {still:.0%} of them did not change.",
    "All of them should change (0%).",
)
slow = Alarm(
    above("steps", 4) & (above("largest_change") | ~above("learning_rate")) & below("largest_change", 1e-6),
    "The parameters were compared before and after training. None changed by more than {largest_change:.1g} of "
    "its size.",
    "More than {limits[largest_change]:.0g} passes.",
)
ALARMS = (frozen_at_end, unmoved, slow)


def _random_looking(weight: torch.Tensor) -> bool:
    """Is this matrix distributed like torch's own initializations (uniform or normal around 0), by its moments?

    Kurtosis is 1.8 for a uniform and 3 for a normal distribution; trained weights mix scales and differ from both.
    """
    values = weight.detach().double().flatten()
    if weight.ndim < 2 or values.numel() < 32 or not torch.isfinite(values).all():
        return False
    std = values.std()
    if std == 0:
        return False
    centred = (values - values.mean()) / std
    kurtosis = centred.pow(4).mean().item()
    error = math.sqrt(24 / values.numel())
    centre = abs(values.mean() / std).item() < 4 / math.sqrt(values.numel())
    uniform = abs(kurtosis - 1.8) < max(0.06, 2 * error) and centred.abs().max().item() < 1.85
    normal = abs(kurtosis - 3.0) < max(0.15, 3 * error)
    return centre and (uniform or normal)


def _new_table(weight: torch.Tensor) -> bool:
    """Has it mean 0 and standard deviation 1, as nn.Embedding draws it? Pretrained vectors have another scale."""
    values, size = weight.detach().double(), weight.numel()
    return abs(float(values.mean())) < 4 / math.sqrt(size) and abs(float(values.std()) - 1) < 4 / math.sqrt(2 * size)


def _frozen_at_random(run: Run) -> float | None:
    """Elements frozen at random values, in models of which another part is trained; None without a live model."""
    live = getattr(run.trace, "live", None)
    if live is None or not live.models:
        return None
    moved = {p.name for p in run.trace.parameters if p.changed > 0}
    elements, tensors, tables = 0, 0, 0
    visited: set[int] = set()
    for model in live.models:
        named = list(model.named_parameters())
        if not any(p.requires_grad for _, p in named):
            continue  # a teacher or a target network: frozen as a whole
        embeddings = {
            id(m.weight) for m in model.modules() if isinstance(m, torch.nn.Embedding | torch.nn.EmbeddingBag)
        }
        prefix = "" if model is live.models[0] else f"{type(model).__name__}."
        for name, parameter in named:
            if parameter.requires_grad or id(parameter) in visited:
                continue
            visited.add(id(parameter))
            untouched = not {name, prefix + name} & moved and parameter not in live.frozen_on_purpose
            if untouched and _random_looking(parameter):
                elements += parameter.numel()
                tensors += 1
                tables += id(parameter) in embeddings and not _new_table(parameter)
    # only embedding tables: pretrained word vectors look like this
    return 0.0 if tables == tensors else float(elements)


def measure(run: Run) -> Numbers:
    """Shares of parameter elements, between 0 and 1. Raises NotApplicable when no parameter was seen."""
    trace = run.trace
    parameters = trace.parameters
    sizes = np.asarray([math.prod(p.shape) for p in parameters], dtype=np.float64)
    total = float(sizes.sum())
    if not total:
        raise NotApplicable("no parameters were seen")
    frozen = np.asarray([not p.trainable for p in parameters])
    outside = np.asarray([p.group is None for p in parameters])
    still = np.asarray([p.changed == 0 for p in parameters])
    rates = column(trace.learning_rate)
    unchanged = still & ~frozen & ~outside
    zeros = np.asarray(trace.grad_zeros, dtype=np.float64)
    if zeros.ndim == 2 and zeros.shape[1] == len(parameters) and len(zeros):
        outside &= np.isfinite(zeros).any(
            axis=0
        )  # an averaged copy of the weights gets no gradients, and needs no optimizer
    norms = np.asarray(trace.param_grad_norm, dtype=np.float64)
    without = np.zeros(len(parameters), dtype=bool)
    if norms.ndim == 2 and norms.shape[1] == len(parameters) and len(norms):
        without = np.isnan(norms).all(axis=0)
    random = _frozen_at_random(run)

    def share_of(flags: np.ndarray) -> float:
        return float(sizes[flags].sum() / total)

    def names_of(flags: np.ndarray) -> list[str]:
        return [p.name for p, flag in zip(parameters, flags, strict=True) if flag][:8]

    numbers = Numbers(
        elements=total,
        frozen_share=share_of(frozen),
        frozen_untouched_share=share_of(frozen & still),
        frozen_at_random_share=None if random is None else random / total,
        unchanged_share=share_of(unchanged),
        unmoved_share=share_of(still),
        without_gradient_share=share_of(unchanged & without),
        not_in_optimizer_share=share_of(outside & ~frozen),
        outside_and_untouched_share=share_of(outside & ~frozen & still),
        optimised_share=share_of(np.asarray([p.group is not None for p in parameters])),
        unregistered_share=_unregistered(run) / total,
        steps=float(len(rates)),
        learning_rate=median(rates, math.nan),
        largest_change=max(
            (p.changed for p in parameters if p.trainable and p.group is not None and math.isfinite(p.changed)),
            default=math.nan,
        ),
        frozen_names=names_of(frozen),
        outside_names=names_of(outside & ~frozen),
        unchanged_names=names_of(unchanged),
        left_out=_left_out(run),
    )
    parts = numbers.frozen_untouched_share + numbers.unchanged_share + numbers.outside_and_untouched_share
    numbers.still = min(1.0, parts + numbers.unregistered_share)
    return numbers


def _unregistered(run: Run) -> float:
    """Elements of layers in no optimizer that a model uses from a plain list, tuple or dict."""
    live = getattr(run.trace, "live", None)
    held = {id(p) for o in getattr(live, "optimizers", ()) for g in o.param_groups for p in g["params"]}
    roots = {id(model): model for model in getattr(live, "models", ())}
    loose: dict[int, torch.nn.Parameter] = {}
    for owner in roots.values():
        for module in owner.modules():
            for name, value in vars(module).items():
                if name == "_modules":  # what is registered, also where it was put in place of another layer
                    continue
                parts = (
                    list(value.values())
                    if isinstance(value, dict)
                    else value
                    if isinstance(value, list | tuple)
                    else []
                )
                for part in parts:
                    if id(part) in roots and part is not module:
                        loose |= {id(p): p for p in part.parameters() if p.requires_grad and id(p) not in held}
    return float(sum(p.numel() for p in loose.values()))


def _left_out(run: Run) -> str:
    """The class of a module beside the model whose parameters all get gradients and are in no optimizer; "" for none.

    A module in eval mode, such as a network that a perceptual loss asks, is used as it is; so is a copy of another module.
    """
    live = getattr(run.trace, "live", None)
    outside = {p.name for p in run.trace.parameters if p.trainable and p.group is None and p.changed == 0}
    models = live.models if live is not None else []
    for model in models if len(models) > 1 else ():
        kind, named = type(model).__name__, dict(model.named_parameters())
        copied = any(other is not model and _shapes(other) == _shapes(model) for other in models)
        if named and model.training and not copied and outside.issuperset(f"{kind}.{name}" for name in named):
            if all(p.grad is not None and bool(p.grad.any()) for p in named.values()):
                return kind
    return ""


def _shapes(model: torch.nn.Module) -> list[torch.Size]:
    return [p.shape for p in model.parameters()]


@judges(Numbers)
def judge(numbers: Numbers) -> Verdict:
    """Fires on layers frozen at random values, on trainable ones in no optimizer, and on ones that never change."""
    suspects: list[Suspect] = []
    remarks: list[str] = []
    if numbers.frozen_share > 0:
        which = ", ".join(numbers.frozen_names)
        text = f"{share(numbers.frozen_share)} of the parameters are frozen ({which})"
        random, early = numbers.frozen_at_random_share, random_start
        if random is None:
            random, early = numbers.frozen_untouched_share, untouched
        if early(numbers):
            text += "; their values still look like a random initialization, so nothing was trained or loaded into them"
            suspects.append(Suspect("freezing/frozen_layers", 0.6 + 0.35 * random, text))
        else:
            text += "; they hold values that were learned or loaded before, or are small"
        remarks.append(text)
    loose = numbers.outside_and_untouched_share
    if unregistered(numbers):
        text = f"{share(numbers.unregistered_share)} of the parameters are in layers that a model keeps in a plain "
        text += "list or dict, so model.parameters() does not return them (nn.ModuleList and nn.ModuleDict register "
        text += "their layers)"
        suspects.append(Suspect("freezing/unregistered_layers", 0.9, text))
        remarks.append(text)
    elif unlisted(numbers):
        which = ", ".join(numbers.outside_names) or f"all of {numbers.left_out}"
        text = f"{share(loose)} of the parameters are trainable but in no optimizer, and never changed ({which})"
        half = numbers.optimised_share < 0.5 + 1e-9 and loose > 0.45 and numbers.unchanged_share > 0.4
        cause = "freezing/optimizer_on_old_model" if half else "optimizer/some_parameters_left_out"
        suspects.append(Suspect(cause, 0.6 + 0.3 * loose, text))
        remarks.append(text)
    if never_moved(numbers):
        still = numbers.unchanged_share
        which = ", ".join(numbers.unchanged_names)
        text = f"{share(still)} of the parameters are in an optimizer but never changed ({which})"
        if numbers.without_gradient_share > 0.5 * still:
            text += "; no gradient reached them: they are cut off from the loss"
            suspects.append(Suspect("graph/detached_activation", 0.5 + 0.4 * still, text))
        elif numbers.unchanged_names and all(map(_RECURRENT.search, numbers.unchanged_names)):
            text += "; their gradient is zero: no output uses the state of that recurrent layer"
            suspects.append(Suspect("recurrent/last_layer_state_wrong", 0.5 + 0.4 * still, text))
        remarks.append(text)
    if slow(numbers):
        text = f"in {numbers.steps:.0f} steps no parameter changed by more than {numbers.largest_change:.1g} of "
        text += f"its size; the learning rate is {numbers.learning_rate:.3g}"
        suspects.append(Suspect("optimizer/lr_too_low", 0.8, text))
        remarks.append(text)
    message = "; ".join(remarks) or "every parameter is trainable, in an optimizer, and has changed"
    return Verdict("parameter_audit", bool(suspects), message, numbers.labeled(), tuple(suspects))

"""An instrument's reading for a learner who repairs: the symptom as a number, without its cause.

An instrument's own message may name the cause and would leave nothing to find.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

from bugzoo.diagnostics import instrument

Numbers = Mapping[str, Any]


def symptom(name: str, numbers: Numbers) -> str:
    """Return a sentence with the numbers of an instrument that fires; bare numbers if it has no sentence here."""
    try:
        told = _SENTENCES[name](numbers) if name in _SENTENCES else ""
    except (KeyError, TypeError, ValueError):  # a submission's process may return any numbers
        told = ""
    return told or _bare(name, numbers)


def _bare(name: str, numbers: Numbers) -> str:
    shown = instrument(name).judge(dict(numbers)).numbers
    return ", ".join(f"{key.replace('_', ' ')} {value:.3g}" for key, value in shown.items()) or "it fires, 1 time"


def _fresh_gradient(n: Numbers) -> str:
    if n.get("never_stepped"):
        return f"backward() ran {n['backwards']:.0f} times, and 0 steps were made"
    if n.get("empty_share", 0) > 0:
        return f"at {n['empty_share']:.0%} of the steps the optimizer found a gradient of 0, or no gradient (usual: 0%)"
    return f"at {n['stale_share']:.0%} of the steps the gradient was not 0 when backward() began (usual: 0%)"


def _double_normalisation(n: Numbers) -> str:
    if n.get("sigmoid_before_loss"):
        return "the loss maps its inputs to values from 0.50 to 0.73 (usual: 0 to 1)"
    spread = n.get("log_prob_spread", math.nan)
    more = f", and the loss separates its classes by at most {spread:.2f} nats" if math.isfinite(spread) else ""
    return f"the rows that enter the loss sum to 1.00{more}"


def _non_finite(n: Numbers) -> str:
    return f"the first non-finite number is at step {n['step']:.0f}"


def _initial_loss(n: Numbers) -> str:
    return f"the first loss is {n['first_loss']:.3g}, {n['ratio']:.2g} times what guessing costs ({n['chance']:.3g})"


def _loss_curve(n: Numbers) -> str:
    return (
        f"the loss begins at {n['first_loss']:.3g}, is {n['peak_loss']:.3g} at most and ends at {n['final_loss']:.3g}"
    )


def _handover(n: Numbers) -> str:
    if n["left_out_share"] > 0:
        return f"{n['left_out_share']:.0%} of the pretrained parameters are in no optimizer (usual: 0%)"
    if math.isfinite(n["rate_ratio"]):
        return (
            f"the pretrained parameters move at {n['rate_ratio']:.2g} times the pace of the new ones (usual: about 0.1)"
        )
    return f"{n['frozen_share']:.0%} of the pretrained parameters did not change"


def _memory_audit(n: Numbers) -> str:
    return f"resident memory grows by {n['growth_mib_per_step']:.3g} MiB a step, and {n['graphs_kept']:.0f} graphs stay alive"


def _step_timeline(n: Numbers) -> str:
    return f"{n['data_ms']:.3g} ms of a step, {n['data_share']:.0%}, pass before the forward pass begins"


def _rank_check(n: Numbers) -> str:
    if n.get("hung"):
        return f"one rank made {n['steps_fewest']:.0f} steps, another {n['steps_most']:.0f}, and then all ranks stopped"
    return f"after the run the parameters of the ranks differ by {n['parameter_spread']:.2g} of their size (usual: 0)"


def _determinism(n: Numbers) -> str:
    return f"two runs of the same text differ from step {n['first_difference']:.0f} on, by {n['size']:.2g} of the loss"


def _gradient_health(n: Numbers) -> str:
    ratio = f"{n['first_over_last']:.2g} of the last one's (usual: above 1e-4)"
    return f"the first layer's gradient is {ratio}; the largest norm was {n['largest_norm']:.3g}"


def _scale_watch(n: Numbers) -> str:
    lost, skipped = n["underflow_share"], n["skipped_share"]
    return f"{lost:.0%} of the gradient's elements are 0, and {skipped:.0%} of the steps are skipped"


def _overfit_one_batch(n: Numbers) -> str:
    return (
        f"one batch, {n['steps']:.0f} times: the loss goes from {n['first_loss']:.3g} to {n['best_loss']:.3g} at best"
    )


def _mode_watch(n: Numbers) -> str:
    if n.get("eval_in_train_mode"):
        which = f"{n['eval_in_train_mode']:.0f} of {n['evaluations']:.0f} evaluations"
        return f"the outputs of {which} depend on random numbers, or on the rest of the batch (usual: 0)"
    if n.get("train_in_eval_share"):
        return f"in {n['train_in_eval_share']:.0%} of the training passes nothing is dropped or normalized by the batch"
    return "the model was evaluated 2 times, with different outputs"


def _parameter_audit(n: Numbers) -> str:
    keys = ("frozen_untouched_share", "unchanged_share", "outside_and_untouched_share", "unregistered_share")
    still = min(1.0, sum(n.get(key, 0.0) for key in keys))
    if not still and n.get("frozen_share"):
        return f"{n['frozen_share']:.0%} of the parameters get no update at the end of the training (usual: 0%)"
    return f"{still:.0%} of the parameters are the same before and after the training (usual: 0%)"


def _dependency(n: Numbers) -> str:
    if n.get("nan_output"):
        return "on a batch of finite numbers the model returns NaN at least 1 time"
    told = {
        "future_leak": "changing later positions moves earlier outputs by {:.2g} of the usual movement (0 is right)",
        "padding_leak": "cutting off a sample's padding moves its output by {:.2g} of the samples' spread (0 is right)",
        "batch_leak": "changing other samples of a batch moves an output by {:.2g} of the usual movement (0 is right)",
    }
    return "; ".join(text.format(n[key]) for key, text in told.items() if n.get(key, 0) > 1e-3)


def _data_inspection(n: Numbers) -> str:
    if n.get("outer_broadcast"):
        return "the loss compares an output with more than 1 target"
    same = f"neighbors share their target in {n['neighbour_agreement']:.0%} (by chance: {n['chance_agreement']:.0%})"
    return f"{same}, and the loss ends at {n['final_loss']:.3g}"


_SENTENCES: dict[str, Callable[[Numbers], str]] = {
    "fresh_gradient": _fresh_gradient,
    "double_normalisation": _double_normalisation,
    "first_non_finite": _non_finite,
    "replay": _non_finite,
    "initial_loss": _initial_loss,
    "loss_curve": _loss_curve,
    "memory_audit": _memory_audit,
    "step_timeline": _step_timeline,
    "rank_check": _rank_check,
    "determinism": _determinism,
    "gradient_health": _gradient_health,
    "loss_scale": _scale_watch,
    "overfit_one_batch": _overfit_one_batch,
    "mode_watch": _mode_watch,
    "parameter_audit": _parameter_audit,
    "dependency": _dependency,
    "data_inspection": _data_inspection,
    "optimizer_handover": _handover,
}

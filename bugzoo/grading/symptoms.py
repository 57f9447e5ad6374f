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
    return ", ".join(f"{key.replace('_', ' ')} {value:.3g}" for key, value in shown.items()) or "it fires 1 time"


def _fresh_gradient(n: Numbers) -> str:
    if n.get("never_stepped"):
        return f"backward() ran {n['backwards']:.0f} times, and the optimizer took 0 steps"
    if n.get("empty_share", 0) > 0:
        return (
            f"at {n['empty_share']:.0%} of the steps the optimizer found a gradient of 0, or no gradient (usually 0%)"
        )
    return f"at {n['stale_share']:.0%} of the steps the gradient was not 0 when backward() began (usually 0%)"


def _double_normalisation(n: Numbers) -> str:
    if n.get("sigmoid_before_loss"):
        return "the loss maps its inputs to values from 0.50 to 0.73 (usually 0 to 1)"
    spread = n.get("log_prob_spread", math.nan)
    more = f", and the loss separates its classes by at most {spread:.2f} nats" if math.isfinite(spread) else ""
    return f"the rows that enter the loss sum to 1.00{more}"


def _non_finite(n: Numbers) -> str:
    return f"the first NaN or infinity appears at step {n['step']:.0f}"


def _initial_loss(n: Numbers) -> str:
    return f"the first loss is {n['first_loss']:.3g}, {n['ratio']:.2g} times the loss of guessing ({n['chance']:.3g})"


def _loss_curve(n: Numbers) -> str:
    return f"the loss starts at {n['first_loss']:.3g}, peaks at {n['peak_loss']:.3g} and ends at {n['final_loss']:.3g}"


def _optimizer_handover(n: Numbers) -> str:
    if n["left_out_share"] > 0:
        return f"{n['left_out_share']:.0%} of the parameters trained before are in no optimizer (usually 0%)"
    if math.isfinite(n["rate_ratio"]):
        return f"the parameters trained before move at {n['rate_ratio']:.2g} times the pace of the new ones (usually about 0.1)"
    return f"{n['frozen_share']:.0%} of the parameters trained before did not change"


def _memory_audit(n: Numbers) -> str:
    return f"resident memory grows by {n['growth_mib_per_step']:.3g} MiB per step, and {n['graphs_kept']:.0f} graphs stay alive"


def _step_timeline(n: Numbers) -> str:
    return f"{n['data_ms']:.3g} ms of a step, {n['data_share']:.0%} of it, pass before the forward pass begins"


def _rank_check(n: Numbers) -> str:
    if n.get("hung"):
        return f"one rank took {n['steps_fewest']:.0f} steps, another {n['steps_most']:.0f}, and then all ranks hang"
    return f"after the run the ranks' parameters differ by {n['parameter_spread']:.2g} of their size (usually 0)"


def _determinism(n: Numbers) -> str:
    return (
        f"two runs of the same script differ from step {n['first_difference']:.0f} on, by {n['size']:.2g} of the loss"
    )


def _gradient_health(n: Numbers) -> str:
    ratio = f"{n['first_over_last']:.2g} of the last layer's (usually above 1e-4)"
    return f"the first layer's gradient norm is {ratio}; the largest gradient norm is {n['largest_norm']:.3g}"


def _loss_scale(n: Numbers) -> str:
    lost, skipped = n["underflow_share"], n["skipped_share"]
    return f"{lost:.0%} of the gradient's elements are 0, and {skipped:.0%} of the steps are skipped"


def _overfit_one_batch(n: Numbers) -> str:
    return (
        f"{n['steps']:.0f} steps on one batch lower the loss from {n['first_loss']:.3g} to {n['best_loss']:.3g} at best"
    )


def _mode_watch(n: Numbers) -> str:
    if n.get("eval_in_train_mode"):
        which = f"{n['eval_in_train_mode']:.0f} of {n['evaluations']:.0f} evaluations"
        return f"the outputs of {which} depend on random numbers, or on the rest of the batch (usually 0)"
    if n.get("train_in_eval_share"):
        return f"in {n['train_in_eval_share']:.0%} of the training passes units are neither dropped nor normalized by the batch"
    return "2 evaluations of the same batch give different outputs"


def _parameter_audit(n: Numbers) -> str:
    keys = ("frozen_untouched_share", "unchanged_share", "outside_and_untouched_share", "unregistered_share")
    still = min(1.0, sum(n.get(key, 0.0) for key in keys))
    if not still and n.get("frozen_share"):
        return f"{n['frozen_share']:.0%} of the parameters get no update at the end of training (usually 0%)"
    return f"{still:.0%} of the parameters do not change during training (usually 0%)"


def _dependency(n: Numbers) -> str:
    if n.get("nan_output"):
        return "on a batch of finite numbers the model returns NaN at least 1 time"
    told = {
        "future_leak": "changing later positions changes earlier outputs by {:.2g} of the usual change (0 is right)",
        "padding_leak": "removing a sample's padding changes its output by {:.2g} of the samples' spread (0 is right)",
    }
    return "; ".join(text.format(n[key]) for key, text in told.items() if n.get(key, 0) > 1e-3)


def _batch_independence(n: Numbers) -> str:
    told = {
        "alone_gap": "alone, a sample's output is {:.2g} of the samples' spread away from that in its batch (0 is right)",
        "again_gap": "the same batch, passed twice, gives outputs {:.2g} of the samples' spread apart (0 is right)",
        "batch_leak": "changing other samples of a batch changes an output by {:.2g} of the usual change (0 is right)",
    }
    return "; ".join(text.format(n[key]) for key, text in told.items() if n.get(key, 0) > 1e-3)


def _data_inspection(n: Numbers) -> str:
    if n.get("outer_broadcast"):
        return "the loss compares each output with more than 1 target"
    same = (
        f"{n['neighbour_agreement']:.0%} of near neighbors share their target ({n['chance_agreement']:.0%} by chance)"
    )
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
    "loss_scale": _loss_scale,
    "overfit_one_batch": _overfit_one_batch,
    "mode_watch": _mode_watch,
    "parameter_audit": _parameter_audit,
    "batch_independence": _batch_independence,
    "dependency": _dependency,
    "data_inspection": _data_inspection,
    "optimizer_handover": _optimizer_handover,
}

"""In which view does each instrument's number stand? From this table follows in which views a fault shows."""

from collections.abc import Iterable

from bugzoo.errors import RENAMED

TABLE = {
    "activation_stats": "layers",
    "attention_scale": "influence",
    "backward_checks": "time",
    "batch_independence": "repeat",
    "batch_order": "batch",
    "batch_statistics": "layers",
    "class_balance": "evaluation",
    "clip_rate": "gradients",
    "compiled_graphs": "time",
    "crash": "layers",
    "data_inspection": "batch",
    "decoding": "repeat",
    "dependency": "influence",
    "determinism": "repeat",
    "double_normalisation": "outputs",
    "feature_leak": "batch",
    "first_non_finite": "layers",
    "fresh_gradient": "gradients",
    "fresh_noise": "repeat",
    "fresh_process": "repeat",
    "generalisation": "evaluation",
    "gradient_health": "gradients",
    "host_syncs": "time",
    "initial_loss": "loss_curve",
    "input_detail": "batch",
    "input_independence": "influence",
    "kept_losses": "loss_curve",
    "kept_weights": "evaluation",
    "learning_rate_log": "learning_rate",
    "loss_curve": "loss_curve",
    "loss_scale": "gradients",
    "loss_spikes": "loss_curve",
    "memory_audit": "memory",
    "mode_watch": "modes",
    "normalisation_source": "batch",
    "optimizer_handover": "weights",
    "output_gradient": "outputs",
    "overfit_one_batch": "one_batch",
    "parameter_audit": "weights",
    "rank_check": "ranks",
    "reported_metric": "evaluation",
    "resumption": "repeat",
    "retain_graph": "memory",
    "retained_graphs": "memory",
    "shape_trace": "layers",
    "step_timeline": "time",
    "train_validation_overlap": "evaluation",
    "transfers": "time",
    "untrained_rows": "weights",
    "validation_shift": "evaluation",
    "weight_size": "weights",
    "worker_noise": "repeat",
}
"""Instrument -> the view in which its numbers stand, unless ELSEWHERE names another."""

ELSEWHERE = {
    "batch_independence.batch_leak": "influence",
    "batch_independence.alone": "influence",
    "data_inspection.outer_broadcast": "outputs",
    "data_inspection.mask_stretched": "outputs",
    "first_non_finite.loss_step": "loss_curve",
    "first_non_finite.loss_before": "loss_curve",
    "fresh_gradient.never_stepped": "updates",
    "learning_rate_log.update_ratio": "updates",
    "loss_scale.half_parameters": "weights",
    "loss_scale.skipped_share": "updates",
    "optimizer_handover.rate_ratio": "learning_rate",
    "parameter_audit.largest_change": "updates",
    "retained_graphs.evaluations_with_graph": "modes",
    "retained_graphs.evaluations_without": "modes",
}
"""`instrument.key` -> the view, where one number of an instrument stands apart from the others."""

_OWN = "the view measures it itself, on the batch or the run that it draws"
_TOLD = "a flag that names a cause; the view shows the number that moves with it"
_TWICE = "another row has the same number"
NOT_SHOWN = {
    "batch_order.classes": _TWICE,
    "batch_order.classes_in_batch": "the entropy ratio beside it does not depend on the number of classes",
    "class_balance.accuracy": _TWICE,
    "class_balance.balanced_accuracy": _OWN,
    "class_balance.flattery": _OWN,
    "class_balance.recall_gap": _OWN,
    "clip_rate.by_value": _TOLD,
    "clip_rate.late_share": _TOLD,
    "clip_rate.used_share": _TOLD,
    "crash.batch_apart": _TOLD,
    "crash.in_step": _TOLD,
    "crash.stray_tensors": _TOLD,
    "data_inspection.classes": _OWN,
    "data_inspection.mean": "the picture shows the values, and the smallest and the largest stand beside it",
    "data_inspection.min": _OWN,
    "data_inspection.outer_broadcast": _TOLD,
    "data_inspection.std": "the picture shows the values, and the smallest and the largest stand beside it",
    "decoding.gap": "the larger of two rows",
    "dependency.masked_leak": _OWN,
    "dependency.softmax_over_queries": _TOLD,
    "double_normalisation.sigmoid_before_loss": _TOLD,
    "double_normalisation.softmax_before_loss": _TOLD,
    "feature_leak.columns": "the shape of the inputs says it",
    "feature_leak.copies": _TOLD,
    "feature_leak.samples": _TWICE,
    "first_non_finite.found": _TOLD,
    "first_non_finite.loss_before": "the curve shows it",
    "fresh_gradient.backwards_before_first_step": _TOLD,
    "fresh_gradient.leaf_loss": _TOLD,
    "fresh_gradient.never_stepped": _TOLD,
    "gradient_health.missing_share": _OWN,
    "gradient_health.zero_share": _OWN,
    "initial_loss.chance": _TWICE,
    "initial_loss.first_loss": _TWICE,
    "input_detail.largest": "it only tells two causes apart",
    "input_detail.ones": "one minus the share of zeros",
    "kept_losses.chance": _TWICE,
    "kept_losses.kept_first": "the ratio beside it does not depend on the number of classes",
    "kept_losses.scale": _TWICE,
    "kept_weights.chosen_on_report": _TOLD,
    "learning_rate_log.first_skipped": _TOLD,
    "loss_curve.best_loss": "the ratio of the end to it stands there",
    "loss_curve.diverged": _TOLD,
    "loss_curve.falls_below_zero": _TOLD,
    "loss_curve.steps": _OWN,
    "loss_scale.half_parameters": _TOLD,
    "loss_scale.half_without_scaler": _TOLD,
    "loss_scale.rise_from": "the factor stands there",
    "loss_scale.rise_step": "the factor stands there",
    "loss_scale.skipped_after_rise": "the share of all skipped steps stands in updates",
    "memory_audit.steps": _OWN,
    "mode_watch.drops_in_eval": _TOLD,
    "output_gradient.label_shift_share": _TOLD,
    "rank_check.hung": _TOLD,
    "rank_check.loss_by_ranks": _TOLD,
    "retain_graph.backwards": "the view of gradients has it",
    "shape_trace.modules": "the picture has a row for each",
}
"""`instrument.key` that stands in no view although its instrument or a fault names it -> why."""

TOOLS = ("five_minute_checklist", "learning_rate_finder", "replay")
"""Instruments that are tools of their own, called by name: their numbers stand in no view."""


def views_of(claims: Iterable[str]) -> list[str]:
    """Return the views in which `instrument` or `instrument.key` stand, each once; unknown names are left out."""
    found = []
    for claim in claims:
        instrument, _, key = claim.partition(".")
        now = RENAMED.get(instrument, instrument)
        found.append(ELSEWHERE.get(f"{now}.{key}") or TABLE.get(now))
    return list(dict.fromkeys(one for one in found if one))

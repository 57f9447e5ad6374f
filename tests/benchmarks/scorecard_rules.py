"""What each finding of the other tools can fairly mean, in causes of the catalogue; `family/` stands for all of a family.

The table is generous on purpose: a tool that says "NaN" is credited with whatever of the catalogue makes one, and one that
says "the loss stands still" with whatever keeps it there. So what is counted is an upper bound of what its reader learns.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Rule:
    """`advice`: a matter of style or speed that accuses nothing of being wrong; on a healthy script it is no false alarm."""

    causes: tuple[str, ...] = ()
    advice: bool = False

    def means(self, accepted: set[str]) -> bool:
        return any(cause in accepted or (cause.endswith("/") and _in(cause, accepted)) for cause in self.causes)


def _in(family: str, accepted: set[str]) -> bool:
    return any(cause.startswith(family) for cause in accepted)


RATE, LARGE, ZERO = "optimizer/lr_too_high", "initialisation/weights_too_large", "initialisation/zero_weights"
STALE, NEVER, DEAD = "loop/stale_gradients", "loop/step_every_n_never_zeroed", "initialisation/dead_relu"
NAN = Rule(("numerics/", "precision/", RATE, LARGE))
DECAY = Rule(("optimizer/weight_decay_too_strong",), advice=True)
MIXED = Rule(("shape/", "loss/wrong_softmax_dim", "attention/softmax_over_queries", "recurrent/batch_first_mismatch"))
FUTURE = Rule(tuple(f"attention/{name}" for name in ("causal_mask_missing", "causal_off_by_one", "mask_after_softmax",
                                                     "mask_inverted", "softmax_over_queries")))  # fmt: skip
BEGIN = Rule(("initialisation/", "data/wrong_normalisation", "data/double_scaling", "loss/double_softmax"))

RULES: dict[str, dict[str, Rule]] = {
    "torch-preflight": {
        "TG001": Rule(("memory/losses_kept_with_graph", "memory/outputs_kept")),
        "TG002": Rule(("modes/no_grad_missing", "memory/evaluation_keeps_graph")),
        "TG003": Rule((STALE, NEVER)),
        "TG004": Rule(("speed/starved_loader",), advice=True),
        "TG005": Rule(("loss/double_softmax", "loss/log_of_softmax")),
        "TG006": Rule(("loss/sigmoid_into_bce_with_logits",)),
        "TG007": Rule(("speed/sync_every_step",), advice=True),
        "TG008": Rule(("reproducibility/unseeded", "reproducibility/one_generator_unseeded")),
        "TG010": Rule(("memory/batch_too_large",)),
        "TG011": Rule(("modes/train_mode_not_restored",)),
        "TG012": Rule(("distributed/same_shard_everywhere",)),
        "TG013": Rule(("speed/sync_every_step",), advice=True),
        "TG014": Rule(("loop/accumulation_not_scaled",)),
    },
    "torch-audit": {
        "TA100": NAN,
        "TA102": Rule((RATE, LARGE, STALE, NEVER, "initialisation/residual_unscaled", "loss/sum_reduction",
                       "loss/sign_flipped", "loop/accumulation_not_scaled", "data/wrong_normalisation")),
        "TA103": Rule(("graph/", "freezing/", "precision/", "initialisation/", "recurrent/gates_saturated")),
        "TA104": Rule(("graph/", "freezing/", "loop/step_before_backward", "loop/gradients_wiped")),
        "TA105": Rule(("initialisation/", RATE)),
        "TA200": Rule(advice=True),
        "TA201": Rule(advice=True),
        "TA202": Rule(),
        "TA203": Rule(advice=True),
        "TA300": Rule(),
        "TA301": Rule(("data/wrong_normalisation", "data/leaky_normalisation", "precision/integer_features")),
        "TA302": Rule(("data/truncated_inputs", "data/everything_unknown", "data/double_scaling",
                       "precision/integer_features")),
        "TA303": Rule(("shape/channels_last_confused", "shape/view_instead_of_permute")),
        "TA304": Rule(("modes/batch_norm_tiny_batches",)),
        "TA305": Rule(("recurrent/padding_read_as_text", "data/everything_unknown")),
        "TA400": Rule(advice=True),
        "TA401": DECAY,
        "TA402": DECAY,
        "TA403": DECAY,
        "TA404": Rule(advice=True),
        "TA405": Rule((DEAD, ZERO)),
        "TA500": Rule(("freezing/optimizer_on_old_model", "attention/positions_missing")),
        "TA501": Rule(("modes/batch_norm_tiny_batches",)),
    },
    "losslint": {
        "nan_inf": NAN,
        "divergence": Rule((RATE, LARGE, STALE, NEVER, "loss/sign_flipped", "initialisation/residual_unscaled", "resume/")),
        "loss_spike": Rule(("data/corrupt_batch", RATE, "resume/", "optimizer/momentum_reset_each_epoch")),
        "step_backtrack": Rule(("resume/",)),
        "overfit_onset": Rule(("fit/no_regularisation", "data/label_noise")),
        "stagnation": Rule(("optimizer/lr_too_low", "freezing/", "graph/", "initialisation/", "clipping/",
                            "loss/double_softmax", "loss/wrong_softmax_dim", "fit/capacity_too_small",
                            "loop/gradients_wiped", "loop/step_missing", "loop/step_before_backward",
                            "loop/scheduler_per_microbatch", "loop/scheduler_before_optimizer",
                            "data/labels_out_of_sync", "shape/silent_broadcast", "loss/target_column_broadcast")),
        "parse": Rule(advice=True),
    },
    "neural-net-checklist": {
        "balanced_classification_cross_entropy_loss_at_init": BEGIN,
        "balanced_classification_cross_entropy_init_calibrated": BEGIN,
        "forward_batch_independence": MIXED,
        "backward_batch_independence": MIXED,
        "forward_causal_property": FUTURE,
        "backward_causal_property": FUTURE,
        "non_zero_gradients": Rule(("freezing/", "graph/", "initialisation/", "loss/double_softmax")),
        "input_independent_baseline_worse": Rule(("data/", "initialisation/", "graph/", "freezing/")),
        "overfit_to_batch": Rule(("initialisation/", "graph/", "freezing/", "loss/double_softmax",
                                  "loss/wrong_softmax_dim", "fit/capacity_too_small", "shape/", "data/double_scaling")),
    },
}  # fmt: skip

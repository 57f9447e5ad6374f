"""What a verdict says of an instrument that fires: gradients, updates and parameters."""

from bugzoo.grading.alarms import More, Numbers, Table, above, always, below, both

_RATE = "The learning rate was recorded at every step."
_OLD = "The parameters that were trained before were followed."

TABLE: Table = {
    "fresh_gradient": (
        "Gradients at each step",
        [
            (
                above("never_stepped"),
                "The calls of the training were counted. backward() ran {backwards:.0f} times, and the optimizer took "
                "0 steps.",
                "The optimizer should take steps.",
            ),
            (
                above("stale_share", 0.1),
                "The gradients were read when backward() began. At {stale_share:.0%} of the steps they were not 0.",
                "At most 10% of the steps passes; 0% is usual.",
            ),
            (
                always,
                "The gradients were read at each optimizer step. At {empty_share:.0%} of the steps they were 0 or missing.",
                "At most 90% of the steps passes; 0% is usual.",
            ),
        ],
    ),
    "gradient_health": (
        "Gradient norms of the layers",
        [
            (
                both(above("total_norm", -1), below("total_norm", 1e-300)),
                "The gradient norm was recorded at every step. At half of the steps or more it is exactly {total_norm:.0f}.",
                "It should be above 0.",
            ),
            (
                above("zero_share", 0.9),
                "The gradient of each weight matrix was recorded. For {zero_share:.0%} of them it is exactly 0.",
                "At most 90% passes; 0% is usual.",
            ),
            (
                always,
                "The gradient norms of the layers were compared. The first layer's is {first_over_last:.2g} of the "
                "last layer's.",
                "From 1e-7 to 1e5 passes; above 1e-4 is usual.",
            ),
        ],
    ),
    "clip_rate": (
        "Limit of the gradients",
        [
            (
                both(below("used_share", 0.1), above("over_share")),
                "The gradients were compared with their limit of {limit:.3g}. At {over_share:.0%} of the steps the "
                "optimizer used "
                "a larger one.",
                "The optimizer should use gradients within the limit (0%).",
            ),
            (
                below("used_share", 0.1),
                "The gradients were compared before and at the optimizer step. At {used_share:.0%} of the steps they were "
                "the limited ones.",
                "At least 10% passes; 100% is usual.",
            ),
            (
                above("by_value"),
                "The gradient was compared before and after it was limited to {limit:.3g}. The cosine of the two is "
                "{cosine:.2f}.",
                "At least 0.90 passes, if at most half of the elements are limited.",
            ),
            (
                both(above("times_over", 20), above("bites_share", 0.9)),
                "The gradient norms were compared with their limit of {limit:.3g}. {bites_share:.0%} of the steps "
                "exceed it.",
                "At most 90% passes; a few percent are usual.",
            ),
            (
                always,
                "The gradient norm was read where it is limited. It is {times_over:.3g} times the limit there, and "
                "below it at the "
                "optimizer step.",
                "Both should see the same gradient.",
            ),
        ],
    ),
    "loss_scale": (
        "Gradients in float16",
        [
            (
                above("rise", 4),
                "The loss scale was recorded at every step. At step {rise_step:.0f} it is {rise:.3g} times that of "
                "the step before.",
                "Up to 4 times passes; 1 or 2 times is usual.",
            ),
            (
                above("skipped_share", 0.5),
                "The optimizer steps were counted. {skipped_share:.0%} of them were skipped.",
                "At most 50% passes; about 0% is usual.",
            ),
            (
                above("overflow_share"),
                "The gradients were recorded in their dtype. {underflow_share:.0%} of the elements are 0 there, and "
                "{overflow_share:.0%} are not finite.",
                "Both should be about 0%.",
            ),
            (
                always,
                "The gradients were recorded in their dtype. {underflow_share:.0%} of the elements are 0 there.",
                "The training should keep small gradients (about 0%).",
            ),
        ],
    ),
    "backward_checks": (
        "Backward passes",
        [
            (
                above("checked_share"),
                "The backward passes were recorded. {checked_share:.0%} of them search every gradient for NaN.",
                "No pass of an ordinary step should do so (0%).",
            )
        ],
    ),
    "learning_rate_log": (
        "Learning rate",
        [
            (
                both(above("schedulers"), below("scheduler_steps", 1)),
                f"{_RATE} In {{steps:.0f}} optimizer steps the scheduler took {{scheduler_steps:.0f}}.",
                "The scheduler should take steps.",
            ),
            (
                above("of_plan", 1.5),
                f"{_RATE} The scheduler took {{scheduler_steps:.0f}} steps, and its plan has {{planned:.0f}}.",
                "Up to 1.5 times its plan passes.",
            ),
            (
                above("spent_share", 0.3),
                f"{_RATE} At {{spent_share:.0%}} of the steps it was below a thousandth of its highest value.",
                "At most 30% of the steps passes.",
            ),
            (
                above("first_skipped"),
                f"{_RATE} The first step used {{first_rate:.3g}}, and the plan begins with {{intended_first_rate:.3g}}.",
                "The two should be equal.",
            ),
            (
                above("takeovers", 1),
                "The optimizers of the training were counted. {takeovers:.0f} times a new one took over the same "
                "parameters.",
                "At most 1 time passes; 0 is usual.",
            ),
            (
                always,
                "The change of the parameters was measured. One step changes them by {update_ratio:.1g} of their size.",
                "At least 3e-5 passes; 1e-3 is usual.",
            ),
        ],
    ),
    "weight_size": (
        "Size of the weights",
        [
            (
                always,
                "The weights were compared before and after training. They end at {shrunk_to:.2g} of their size, the "
                "loss at "
                "{loss_left:.2g} of its first value.",
                "At least 0.6 of the size passes, or at most 0.5 of the loss.",
            )
        ],
    ),
    "parameter_audit": (
        "Parameters that change",
        [
            (
                lambda n: not _still(n) and n.get("frozen_share", 0) > 0,
                "The parameters were compared at the end of training. {frozen_share:.0%} of them get no update there.",
                "All of them should be updated (0%).",
            ),
            (
                lambda n: _still(n) > 0.02,
                "The parameters were compared before and after training. {still:.0%} of them did not change.",
                "All of them should change (0%).",
            ),
            (
                always,
                "The parameters were compared before and after training. None changed by more than "
                "{largest_change:.1g} of its size.",
                "More than 1e-6 passes.",
            ),
        ],
    ),
    "optimizer_handover": (
        "Parameters trained before",
        [
            (
                above("left_out_share", 0.05),
                f"{_OLD} {{left_out_share:.0%}} of them are in no optimizer at the end.",
                "At most 5% passes.",
            ),
            (
                above("rate_ratio", 0.5),
                f"{_OLD} They move at {{rate_ratio:.2g}} times the pace of the new ones.",
                "Up to 0.5 times passes; 0.1 is usual.",
            ),
            (always, f"{_OLD} {{frozen_share:.0%}} of them did not change.", "At most 90% passes."),
        ],
    ),
}


def _still(numbers: Numbers) -> float:
    """Return the share of the parameters that did not change."""
    keys = ("frozen_untouched_share", "unchanged_share", "outside_and_untouched_share", "unregistered_share")
    return min(1.0, sum(numbers.get(key, 0.0) for key in keys))


MORE: More = {"parameter_audit": lambda numbers: {"still": _still(numbers)}}
"""Instrument -> further numbers for its sentences."""

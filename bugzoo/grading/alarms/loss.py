"""What a verdict says of an instrument that fires: the loss and its inputs."""

from bugzoo.grading.alarms import Table, above, always, below, both, measured

_CURVE = (
    "The loss was recorded at every step. It starts at {first_loss:.3g}, peaks at {peak_loss:.3g} and ends at "
    "{final_loss:.3g}."
)
_CHECKED = "Every loss and every gradient was checked."
_PUSH = "The gradient of the loss was computed for each output."

TABLE: Table = {
    "initial_loss": (
        "First loss",
        [
            (
                always,
                "The first loss was compared with the loss of guessing, {chance:.3g}. It is {first_loss:.3g}, {ratio:.2g} "
                "times as much.",
                "About 1 time as much is usual, and up to 3 times passes.",
            )
        ],
    ),
    "loss_curve": (
        "Loss curve",
        [
            (
                above("falls_below_zero"),
                "The loss was recorded at every step. It falls to {final_loss:.3g}.",
                "A cross-entropy should not fall below 0.",
            ),
            (above("diverged"), _CURVE, "The loss should end below its first value."),
            (above("stuck_at_chance"), _CURVE, "It should fall below {chance:.3g}, the loss of guessing."),
            (always, _CURVE, "The loss should fall."),
        ],
    ),
    "loss_spikes": (
        "Single high losses",
        [
            (
                always,
                "The loss of each step was compared with those around it. At step {step:.0f} it is {times:.3g} times "
                "as high.",
                "Up to 4 times as high passes.",
            )
        ],
    ),
    "kept_losses": (
        "Recorded losses",
        [
            (
                always,
                "The first loss that the script records was compared with the loss of guessing. It is {kept_first:.3g}, "
                "{ratio:.2g} times as much.",
                "About 1 time as much passes.",
            )
        ],
    ),
    "first_non_finite": (
        "NaN and infinity",
        [
            (
                always,
                f"{_CHECKED} The first NaN or infinity appears at step {{step:.0f}}.",
                "All of them should be finite.",
            )
        ],
    ),
    "replay": (
        "NaN and infinity, repeated",
        [
            (
                always,
                "Step {step:.0f} ran again from its own weights and batch. NaN or infinity appears there again.",
                "The step should stay finite.",
            )
        ],
    ),
    "double_normalisation": (
        "Inputs of the loss",
        [
            (
                above("sigmoid_before_loss"),
                "The numbers that the loss computes with were recorded. They all lie between 0.50 and 0.73.",
                "They should be able to reach 0 and 1.",
            ),
            (
                below("log_prob_spread", 1.0),
                "The rows that enter the loss were recorded. Each sums to 1.00, and the loss separates its classes by "
                "at most "
                "{log_prob_spread:.2f} nats.",
                "More than 1 nat passes.",
            ),
            (
                always,
                "The rows that enter the loss were recorded. Each sums to 1.00.",
                "The loss should be able to separate its classes by more than 1 nat.",
            ),
        ],
    ),
    "output_gradient": (
        "Gradient of the loss",
        [
            (
                both(measured("asked_label_share"), below("column_sum", 1e-4), above("row_sum", 5e-4)),
                f"{_PUSH} Its sum over the classes is {{row_sum:.2g}}, its sum over the examples {{column_sum:.2g}}.",
                "The sum over the classes should be 0, and the sum over the examples should not.",
            ),
            (
                above("even_share", 0.999),
                f"{_PUSH} Equal probabilities for all classes explain {{even_share:.1%}} of it.",
                "It should point to the label of each example.",
            ),
            (
                below("asked_label_share", 0.5),
                f"{_PUSH} It pushes {{asked_label_share:.0%}} of the outputs to their label.",
                "At least 50% passes; 100% is usual.",
            ),
            (
                both(above("asked_input_share", 0.95), below("asked_label_share", 0.95)),
                f"{_PUSH} It pushes {{asked_input_share:.0%}} of the outputs to the token at their own position.",
                "It should push at least 95% of them to their label.",
            ),
            (
                above("weight", 2.5),
                f"{_PUSH} The weights of all outputs in one step add up to {{weight:.3g}}.",
                "They should add up to 1, as in a mean; up to 2.5 passes.",
            ),
            (
                above("beyond_share"),
                f"{_PUSH} {{beyond_share:.0%}} of the outputs lie after the end of their input.",
                "At most 5% passes; 0% is usual.",
            ),
        ],
    ),
    "overfit_one_batch": (
        "Training on one batch",
        [
            (
                above("lost_step", 1),
                "The training step ran up to {steps:.0f} times on one batch. The loss is not finite from step "
                "{lost_step:.0f} on.",
                "The loss should stay finite.",
            ),
            (
                always,
                "The training step ran {steps:.0f} times on one batch. The loss goes from {first_loss:.3g} to "
                "{best_loss:.3g} at best.",
                "At most half of the first loss passes.",
            ),
        ],
    ),
    "five_minute_checklist": (
        "Runs with one change",
        [
            (
                always,
                "The script ran again with one change at a time. As it is, its loss goes from {first_loss:.3g} to "
                "{final_loss:.3g}.",
                "At most 0.7 times the first loss passes.",
            )
        ],
    ),
}

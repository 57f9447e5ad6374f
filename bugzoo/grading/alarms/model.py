"""What a verdict says of an instrument that fires: the model."""

from bugzoo.grading.alarms import Table, above, always, below, both

TABLE: Table = {
    "batch_independence": (
        "One example alone and among others",
        [
            (
                above("again_gap", 1e-3),
                "The same batch was passed to the model twice. The outputs differ by {again_gap:.2g} of the samples' "
                "spread.",
                "They should be equal; up to 0.001 passes.",
            ),
            (
                both(above("batch_leak", 1e-2), below("other_inputs", 0.5), below("next_token", 0.5)),
                "The other examples of a batch were changed. An example's output moves by {batch_leak:.2g} of the "
                "usual change.",
                "It should not move; up to 0.01 passes.",
            ),
            (
                always,
                "Examples were passed to the model alone and again in a batch. Their outputs differ by up to "
                "{alone_gap:.2g} of "
                "the samples' spread.",
                "They should be equal; up to 0.01 passes.",
            ),
        ],
    ),
    "dependency": (
        "Inputs that an output depends on",
        [
            (
                both(above("softmax_over_queries"), above("attention_partial_rows")),
                "The weights of the attention were recorded. In {attention_partial_rows:.0%} of the rows they do not "
                "sum to 1.",
                "They should sum to 1 in every row.",
            ),
            (
                above("softmax_over_queries"),
                "The weights of the attention were recorded. Those of one query over all keys do not sum to 1.",
                "They should sum to 1 for every query.",
            ),
            (
                both(above("attention"), below("text_heard", 1e-5)),
                "Tokens before the padding were replaced. The outputs changed by {text_heard:.2g} of their size.",
                "They should change by more than 0.00001.",
            ),
            (
                above("nan_output"),
                "A batch of finite numbers was passed to the model. It returned NaN at least 1 time.",
                "Its outputs should be finite.",
            ),
            (
                above("future_leak", 1e-3),
                "Later tokens were replaced. Earlier outputs changed by {future_leak:.2g} of the usual change.",
                "They should not change; up to 0.001 passes.",
            ),
            (
                above("padding_leak", 1e-3),
                "The padding of an example was removed. Its output changed by {padding_leak:.2g} of the samples' spread.",
                "It should not change; up to 0.001 passes.",
            ),
            (
                always,
                "The target at each position was compared with the tokens. It is not the token 1 position ahead.",
                "Each target should be the next token.",
            ),
        ],
    ),
    "decoding": (
        "Text written token by token",
        [
            (
                always,
                "A text was written token by token and passed as a whole. The probabilities of the next token differ "
                "by {gap:.2g}.",
                "They should be equal; up to 0.001 passes.",
            )
        ],
    ),
    "attention_scale": (
        "Scores of the attention",
        [
            (
                always,
                "The scores of the attention were recorded. With queries of width {width:.0f} they spread by {spread:.2g}.",
                "A spread of at most 1.5 passes.",
            )
        ],
    ),
    "activation_stats": (
        "Outputs of the layers",
        [
            (
                above("worst_dead_share", 0.9),
                "The outputs of each layer were recorded. In one layer {worst_dead_share:.0%} of the units are 0 for "
                "every example.",
                "At most 90% passes; less than half is usual.",
            ),
            (
                above("saturated_share", 0.75),
                "The outputs of each layer were recorded. {saturated_share:.0%} of the bounded ones are at their bounds.",
                "At most 75% passes; few are usual.",
            ),
            (
                above("inner_growth", 10),
                "The outputs of the layers were compared at the start. The second-last layer's spread is {inner_growth:.2g} "
                "times the first one's.",
                "Up to 10 times passes.",
            ),
            (
                always,
                "The outputs of the layers were compared at the start. The last layer's spread is {growth:.2g} times "
                "the first "
                "one's.",
                "From 0.001 to 30 times passes.",
            ),
        ],
    ),
    "input_independence": (
        "Outputs for different examples",
        [
            (
                always,
                "Different examples were passed to the model. Their outputs differ by {moved:.1g}.",
                "More than 0.00001 passes.",
            )
        ],
    ),
    "mode_watch": (
        "Training and evaluation passes",
        [
            (
                above("eval_in_train_mode"),
                "The evaluation's {evaluations:.0f} forward passes were recorded. {eval_in_train_mode:.0f} of them "
                "depend on random "
                "numbers or on the rest of the batch.",
                "None of them should (0).",
            ),
            (
                above("train_in_eval_share", 0.2),
                "The training passes were recorded. In {train_in_eval_share:.0%} of them units are neither dropped "
                "nor normalized "
                "by the batch.",
                "At most 20% passes; 0% is usual.",
            ),
            (
                always,
                "The same batch was evaluated 2 times. The outputs differ.",
                "They should be equal.",
            ),
        ],
    ),
    "batch_statistics": (
        "Rows in a training batch",
        [
            (
                always,
                "The training batches were recorded. One has {rows:.0f} rows, and its variances are {scatter:.2f} "
                "(log ratio) from "
                "the running ones.",
                "More than 3 rows pass, or at most 0.22.",
            )
        ],
    ),
}

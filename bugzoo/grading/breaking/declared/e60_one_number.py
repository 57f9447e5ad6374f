"""Write the report that is off, behind a training that is not."""

from bugzoo.grading.breaking.model import Breaking

BREAKING = Breaking(
    title="A number that nobody checks",
    story=(
        "The last thing that you set is for those who believe a table because everything around it is right. In your version of "
        "the digit reader the training is what it was, to the last bit, and so is the model that comes out of it. The accuracy "
        "that it reports is the true one. Only the validation loss beside it is not what this model has on this data, by "
        "so little that nobody would stop at it, and far more than what rounding usually costs."
    ),
    program="checkpointed_mlp",
    fault="precision/low_precision_accumulator",
    ways=("rounded terms", "fewer of them"),
    others=("data/double_scaling", "loop/stale_gradients", "optimizer/lr_too_low"),
)

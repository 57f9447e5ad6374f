"""A gain for somebody, and a loss that nobody watched."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The first customer",
    story=(
        "A network used to read the low digits, for a customer who was content. Then it was taught the high ones, for a second "
        "customer, and those are read well. *“Now the first has rung. His forms go through the same network and the same "
        "last layer as ever, which nobody touched, and they come back with mistakes that they never had. I looked for "
        "an hour. The only odd thing that I found is the order of the validation pictures, so I suppose it is that.”* "
        "Both customers are to be served."
    ),
    program="finetune",
    fault="optimizer/one_lr_for_pretrained",
    decoys=("traps/validation_not_shuffled",),
)

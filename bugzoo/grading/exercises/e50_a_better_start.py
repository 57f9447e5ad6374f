"""A curve that is well from end to end, and lower than it has a right to be."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A better start",
    story=(
        "A job of several processes, and a curve that everybody likes: it begins at 1.09, where the version before began "
        "at 2.19, and stays lower to the end. *“The held-out digits say 95 % against 96 %, at the same loss of 0.154. So "
        "we are ahead all the way and arrive at the same place. On a larger machine with more processes we would be further "
        "ahead still, would we not?”*"
    ),
    program="data_parallel",
    fault="distributed/loss_normalised_per_rank",
    about=(
        "The digits perceptron on several processes: DistributedDataParallel over gloo on the CPU, nccl on CUDA.\n\n"
        "Started alone it calls torch's own launcher for copies of itself, as torchrun would."
    ),
)

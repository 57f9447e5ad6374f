"""One job, and reports on it that cannot be brought together."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="The other machine's report",
    story=(
        "A reader of digits runs as a job of several processes. Its report says 95 % and a loss of 0.22 on held-out digits, "
        "where the version before said 96 % and 0.154. *“A point of accuracy is noise. But I happened to open the other "
        "process's report of the same job, and it said other numbers again, on the same digits. Which of them did we ship?”*"
    ),
    program="data_parallel",
    fault="distributed/unsynchronised_model",
    about=(
        "The digits perceptron on several processes: DistributedDataParallel over gloo on the CPU, nccl on CUDA.\n\n"
        "Started alone it calls torch's own launcher for copies of itself, as torchrun would."
    ),
)

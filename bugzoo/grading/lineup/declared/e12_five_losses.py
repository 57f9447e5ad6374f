"""Five losses that end near each other, for five reasons."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five losses, one loop too clever",
    story=(
        "Five people were asked to change one thing each in the same digits program: its size, its rate, its batches, its "
        "targets, its loop. All five runs came back slower than the old one, with a training loss that ends somewhere near "
        "0.7. *“That is simply what such changes cost,”* says the first. *“Of four of them,”* says the second."
    ),
    candidates=(
        Candidate("mlp", "loop/step_every_n_never_zeroed", seed=3),
        Candidate(
            "mlp", settings={"hidden_size": 24}, seed=4, note="A smaller hidden layer: 24 units learn more slowly."
        ),
        Candidate("mlp", "traps/smoothed_targets", seed=5),
        Candidate("mlp", settings={"learning_rate": 3e-4}, seed=4, note="A third of the rate: the same way, later."),
        Candidate(
            "mlp", settings={"batch_size": 128}, seed=4, note="Batches four times as large: a quarter of the steps."
        ),
    ),
)

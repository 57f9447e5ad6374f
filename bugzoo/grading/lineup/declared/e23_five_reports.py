"""Five reports on the same pictures, of which the numbers are no help."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five reports, and one that will not hold",
    story=(
        "Five people trained the same convolutional network on the same pictures and handed in what it reads: all five lie "
        "between 94 and 97 %. One left something out of it, one took other batches, one trained on softened targets, one did "
        "nothing but draw another seed. Next month the network goes to the post office, and one of the five numbers will not "
        "be seen there. *“The highest, I suppose,”* says somebody. It is not the highest."
    ),
    candidates=(
        Candidate("digits_cnn", "data/leaky_split", seed=2),
        Candidate("digits_cnn", settings={"dropout": 0.0}, seed=1, note="No dropout: in so few epochs that is faster."),
        Candidate(
            "digits_cnn", settings={"batch_size": 16}, seed=3, note="Smaller batches, and so twice as many steps."
        ),
        Candidate("digits_cnn", seed=4, note="Nothing was changed but the seed."),
        Candidate("digits_cnn", "traps/smoothed_targets", seed=5),
    ),
)

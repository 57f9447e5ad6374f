"""Five jobs of several processes, compared with one another."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five jobs, one broken promise",
    story=(
        "Five people run the same reader of digits, each as a job of several processes, and each changed one thing: the "
        "seed, the size, the rate, the batches, the text. All five losses fall, all five reports are finished and none "
        "complains. *“They differ as five jobs differ,”* says the first. *“Four of them also keep what a job of several "
        "processes promises,”* says the second, *“and I can show it without reading a line of code.”*"
    ),
    candidates=(
        Candidate("data_parallel", "distributed/rank_dependent_init", seed=3),
        Candidate("data_parallel", seed=4, note="Another seed and nothing else."),
        Candidate(
            "data_parallel", settings={"hidden_size": 48}, seed=5, note="A smaller hidden layer: it learns more slowly."
        ),
        Candidate(
            "data_parallel",
            settings={"learning_rate": 4e-4},
            seed=6,
            note="Less than half of the rate: the same way, later.",
        ),
        Candidate(
            "data_parallel", settings={"batch_size": 32}, seed=2, note="Batches twice as large: half as many steps."
        ),
    ),
)

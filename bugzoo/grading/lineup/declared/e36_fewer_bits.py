"""Five runs, some of them in fewer bits, and five remarks on them."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five runs, and somewhere bits are missing",
    story=(
        "Five trainings of last week, and what somebody noted beside each: *“Now and then it leaves a step out.”* *“They took "
        "the scaler away altogether, and nobody can say why it still learns.”* *“Learns at a third of the usual rate.”* "
        "*“Trained with softened targets.”* *“Guesses as well as last month, and reports a loss that nobody can work out "
        "again.”* The five notes were mixed up on the way, and only one of the five trainings needs to be looked into."
    ),
    candidates=(
        Candidate("digits_cnn", "precision/low_precision_accumulator", seed=2),
        Candidate("amp_transformer", "traps/scaler_skips_now_and_then", seed=3),
        Candidate("amp_transformer", "traps/no_scaler_under_bf16", seed=4),
        Candidate("amp_transformer", settings={"learning_rate": 1e-3}, seed=1, note="A third of the rate: later, that is all."),
        Candidate("digits_cnn", "traps/smoothed_targets", seed=5),
    ),
)  # fmt: skip

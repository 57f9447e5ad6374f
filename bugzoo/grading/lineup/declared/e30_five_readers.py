"""Five attention models that read about equally well."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five readers, equally good",
    story=(
        "Five attention models sort the same film reviews into praise and blame, and the leaderboard shows no more than two or "
        "three points between them. One was trained with other batches, one with another rate, one with other targets, one "
        "with nothing but another seed. The last of them does not read as its author thinks it does."
    ),
    candidates=(
        Candidate("sequence_classifier", "attention/positions_missing", seed=5),
        Candidate("sequence_classifier", settings={"batch_size": 64}, seed=4, note="Larger batches, and that is all."),
        Candidate(
            "sequence_classifier", settings={"learning_rate": 2e-3}, seed=6, note="A lower rate, which suits it."
        ),
        Candidate("sequence_classifier", "traps/smoothed_targets", seed=1),
        Candidate("sequence_classifier", seed=4, note="Nothing was changed but the seed."),
    ),
)

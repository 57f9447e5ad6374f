"""Five losses that stay high, and one excuse for all of them."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="A matter of taste, five times",
    story=(
        "Five people trained the same model on film reviews, each in a way of their own: another rate, other batches, other "
        "targets, more at random. All five losses stay far from zero, and all five say the same: *“Whether a film is good is a "
        "matter of taste. No loss gets lower than that.”* For four of them that will do."
    ),
    candidates=(
        Candidate("sentiment_lstm", "loss/sigmoid_into_bce_with_logits", seed=2),
        Candidate("sentiment_lstm", settings={"dropout": 0.5}, seed=1, note="Half of the units are dropped in each step."),
        Candidate("sentiment_lstm", settings={"learning_rate": 4e-3}, seed=3, note="Less than half of the rate."),
        Candidate("sentiment_lstm", settings={"batch_size": 64}, seed=4, note="Batches a third larger: fewer steps."),
        Candidate("sentiment_lstm", "traps/smoothed_targets", seed=5),
    ),
)  # fmt: skip

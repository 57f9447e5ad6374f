"""Five curves at which people frown."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five curves that somebody asked about",
    story=(
        "The same question, five times in one week: *“Is this normal?”* Once the validation is better than the training. Once "
        "the loss stops far above zero. Once nothing but the training set is learnt for most of the run. Once only a sliver of "
        "the model moves. Once the loss goes down in a quarter of the steps that the others make."
    ),
    candidates=(
        Candidate("modular_addition", "traps/looks_overfitted_early"),
        Candidate("mlp", "traps/smoothed_targets", seed=5),
        Candidate("finetune", "traps/frozen_on_purpose", seed=3),
        Candidate(
            "digits_cnn", settings={"dropout": 0.7}, seed=2,
            note="Dropout works while it trains and rests while it validates: that is why the validation is better.",
        ),
        Candidate("mlp", settings={"batch_size": 128}, seed=4, note="Large batches, few steps: it would go on if it were let."),
    ),
)  # fmt: skip

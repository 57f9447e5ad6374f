"""Five runs, each accused by a rule that everybody knows, and none of them ill."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five rules, and whom they accuse",
    story=(
        "Five runs went through a review, and each was stopped by a sentence that stands in every guide: *“Whoever calls "
        "backward again before he clears is adding up.”* *“A softmax too many costs nine points.”* *“Rows that come in one order "
        "every time teach the order.”* *“Measured in training mode: worthless.”* *“A training loss above that of the validation: "
        "something leaks.”* Nobody ran a twin beside any of them."
    ),
    candidates=(
        Candidate("digits_cnn", "traps/accumulation_on_purpose", seed=2),
        Candidate("checkpointed_mlp", "traps/log_softmax_first", seed=3),
        Candidate("mlp", "traps/validation_not_shuffled", seed=4),
        Candidate("regression_mlp", "traps/eval_without_layers_that_care", seed=5),
        Candidate("checkpointed_mlp", settings={"dropout": 0.6}, seed=1,
            note="Three of five units are dropped in each step: a higher training loss, and nothing else."),
    ),
)  # fmt: skip

"""Five runs in which something hardly moves."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five runs, and in each something hardly moves",
    story=(
        "Five readers of digits, and five remarks from their reviews: *“Its lower layer was not touched by the new digits.”* "
        "*“What it knew before crept along at a thirtieth of the rate.”* *“It took steps of a third of the usual length.”* "
        "*“More than half of its units were silent at any time.”* *“The colleague's version reads five points more.”* Four of "
        "these were meant, and cost what they cost."
    ),
    candidates=(
        Candidate("mlp", "freezing/frozen_layers?keep=4", seed=3),
        Candidate("finetune", "traps/frozen_on_purpose", seed=5),
        Candidate(
            "finetune", settings={"slower": 0.03}, seed=2,
            note="The old layers at three hundredths of the head's rate: little is forgotten, and the new digits come slowly.",
        ),
        Candidate("mlp", settings={"learning_rate": 3.5e-4}, seed=6, note="A third of the rate: the same way, later."),
        Candidate(
            "checkpointed_mlp", settings={"dropout": 0.6}, seed=2,
            note="Three of five units are dropped while it trains: a higher training loss, and nothing else.",
        ),
    ),
)  # fmt: skip

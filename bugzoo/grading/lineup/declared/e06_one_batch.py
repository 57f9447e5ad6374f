"""Five runs that all learn, and one that learns with a part of itself."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five runs that all go down",
    story=(
        "Five trainings on the same digits, and each of them learns: no curve is flat, none jumps, none ends in nan. *“They "
        "differ in how fast they are, and that is taste,”* says the one who looked at the curves. *“Give them one batch "
        "each,”* says the other, *“and look again.”*"
    ),
    candidates=(
        Candidate("mlp", "graph/detached_activation", seed=2),
        Candidate("mlp", settings={"learning_rate": 6e-5}, seed=4, note="A sixteenth of the rate: the same way, later."),
        Candidate("mlp", "traps/smoothed_targets", seed=5),
        Candidate("mlp", settings={"batch_size": 160}, seed=3, note="Large batches, few steps: it goes on if it is let."),
        Candidate("checkpointed_mlp", settings={"dropout": 0.6}, seed=1, note="Three of five units are dropped as it trains."),
    ),
)  # fmt: skip

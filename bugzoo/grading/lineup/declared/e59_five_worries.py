"""Five runs, and five people who worry, each about something that can be seen."""

from bugzoo.grading.lineup.model import Candidate, Lineup

LINEUP = Lineup(
    title="Five worries",
    story=(
        "Five people sent you their runs, all from different programs, and each worries about something that can be "
        "seen in his: a gap between training and validation, a part of the model that stands still, a loss that stays higher "
        "than that of others, gradients that stick out, a training that takes its time. *“You have an hour,”* says your "
        "chief, *“and one of them will be right, I suppose. Which?”* He supposes; you look."
    ),
    candidates=(
        Candidate("modular_addition", "traps/looks_overfitted_early", seed=2),
        Candidate("finetune", "traps/frozen_on_purpose", seed=4),
        Candidate("digits_cnn", "traps/smoothed_targets", seed=3),
        Candidate("regression_mlp", "traps/clipping_bites_rarely", seed=1),
        Candidate("mlp", settings={"learning_rate": 4e-4}, seed=6, note="A lower rate: the same way, later."),
    ),
)

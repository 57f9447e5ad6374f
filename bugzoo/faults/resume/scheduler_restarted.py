"""After the stop the first steps are as they should be; then the loss no longer settles, as if the training were young again."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'scheduler.load_state_dict(saved["scheduler"])'
OPTIMIZER = 'optimizer.load_state_dict(saved["optimizer"])'

FAULT = Fault(
    title="A checkpoint that is resumed without the schedule's state",
    level=4,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_rate > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "The optimiser brings its current rate along, so that the first epoch after the stop is right. The schedule itself "
        "counts epochs, and that count begins at zero: its next step makes the rate of epoch one out of that of epoch three. "
        "A cosine that should have come to zero is still half way up when the training ends."
    ),
    fix="Save and load the scheduler's state with the optimiser's, and print the rate of the first epochs after a resume.",
    repairs=instead(
        OPTIMIZER,
        {
            "read before the optimiser": f"{READ}\n{OPTIMIZER}",
            "one state after the other": (
                'for part, name in ((optimizer, "optimizer"), (scheduler, "scheduler")):\n    part.load_state_dict(saved[name])'
            ),
            "its count alone": f'{OPTIMIZER}\nscheduler.last_epoch = saved["finished"]',
        },
    ),
    pretences=instead(
        OPTIMIZER,
        {
            "the rate once more": f'{OPTIMIZER}\noptimizer.param_groups[0]["lr"] = saved["optimizer"]["param_groups"][0]["lr"]',
            "a new schedule": f"{OPTIMIZER}\nscheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)",
            "a step on top": f"{OPTIMIZER}\nscheduler.step()",
        },
    )
    | {"no checkpoint at all": Swap("if Path(checkpoint).exists():\n    $$$BODY", "saved = {}")},
    hints=(
        "Compare a run that was stopped and resumed with one that was not. Which is the first step that differs?",
        "A whole epoch behind the stop is right. What changes between one epoch and the next?",
        "Lay what is written into the checkpoint beside what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Print the learning rate of each step, before the stop and after it.",
            "It is right at first, and another one from the next epoch on.",
            "It is another one at once, as the optimiser keeps it for the first steps.",
        ),
        LookAlike(
            "resume/generator_not_restored",
            "Lay the learning rates of both runs beside one another, step by step.",
            "They part an epoch after the stop: `resumption.first_rate > 0.5`.",
            "They are the same to the end: `resumption.first_rate < 0.5`.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/optim.html",
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html",
    ),
)

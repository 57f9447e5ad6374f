"""The first steps after a resume are right. Then the loss no longer settles, as if training had started over."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'scheduler.load_state_dict(saved["scheduler"])'
OPTIMIZER = 'optimizer.load_state_dict(saved["optimizer"])'

FAULT = Fault(
    title="Learning rate scheduler not restored on resume",
    level=4,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_rate > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "The optimizer state holds the current learning rate, so the first epoch after the stop is right. The "
        "scheduler counts epochs, and its count starts again at zero. The next scheduler.step() applies the decay of "
        "epoch one to the learning rate of epoch three. A cosine schedule that should have reached zero is still "
        "halfway up when training ends."
    ),
    fix=(
        "Save and load scheduler.state_dict() together with the optimizer's. Print the learning rate of the first "
        "epochs after a resume."
    ),
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
        "A whole epoch after the stop is right. What changes between one epoch and the next?",
        "Compare what is written into the checkpoint with what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Print the learning rate of each step, before and after the stop.",
            "The learning rate is right at first, and wrong from the next epoch on.",
            "The learning rate is wrong at once, because the optimizer stores it for the first steps.",
        ),
        LookAlike(
            "resume/generator_not_restored",
            "Compare the learning rates of the resumed and the uninterrupted run, step by step.",
            "The learning rates differ from one epoch after the stop: `resumption.first_rate > 0.5`.",
            "The learning rates are the same to the end: `resumption.first_rate < 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Print the learning rate of each epoch of a run that is stopped, and of one that is not.",
            "One epoch after the stop, the resumed run has a higher rate than the other.",
            "Both runs have the same rates, and the loss swings in both.",
        ),
    ),
    sources=(
        "https://pytorch.org/docs/stable/optim.html",
        "https://pytorch.org/tutorials/beginner/saving_loading_models.html",
    ),
    cause=Cause(either={words.SCHEDULE: {}}),
    terms=("checkpoint", "scheduler"),
)

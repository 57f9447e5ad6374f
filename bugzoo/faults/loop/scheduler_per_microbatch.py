"""The loss goes up and down in waves of a dozen steps, as if somebody turned the learning rate up and down."""

from bugzoo.faults.idioms import COUNTER, OPTIMIZER, SCHEDULER_STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, remove

PLAN = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)"

FAULT = Fault(
    title="The scheduler steps with every batch of a plan of epochs",
    level=3,
    symptom="degraded",
    edits=(remove(SCHEDULER_STEP), after(COUNTER, "$SCHEDULER_STEP_STATEMENT")),
    not_on={
        "word_lines": "its warm-up is stepped for each batch, as is right, and has no end to run beyond: no reading, 5 seeds."
    },
    evidence=("learning_rate_log.of_plan > 1.5",),
    effect="learning_rate_log.changes > healthy",
    why=(
        "A plan is counted in calls of scheduler.step(), and does not know what a call stands for. Laid out for 6 epochs and "
        "stepped at each of the 36 batches of one, it is at its end after 6 batches; a cosine goes up again from there, 18 "
        "times in a training. Accumulation does the same by its factor: a plan of updates that is stepped at every micro-batch."
    ),
    fix="Step it once for the unit that its plan is written in: epochs here. Or write the plan in updates.",
    repairs={
        "a plan of batches": Swap(PLAN, PLAN.replace("epochs", "epochs * len(train_loader)")),
        "once an epoch": (
            remove(SCHEDULER_STEP),
            after(COUNTER, "if step % len(train_loader) == 0:\n    scheduler.step()"),
        ),
    },
    pretences={
        "a plan of steps of another kind": Swap(PLAN, PLAN.replace("epochs", "2 * epochs")),
        "a lower rate": after(OPTIMIZER, 'optimizer.param_groups[0]["lr"] /= 2'),
        "every second batch": (remove(SCHEDULER_STEP), after(COUNTER, "if step % 2:\n    scheduler.step()")),
    },
    shown_by=("loss_curve",),
    hints=(
        "Is there a rhythm in the loss? How many steps is one wave?",
        "Draw the learning rate over the steps, beside the one that was planned.",
        "In which unit is the plan written, and how often is it moved on?",
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_before_optimizer",
            "Count the steps of the scheduler, and compare them with what its plan is laid out for.",
            "Many times more: `learning_rate_log.of_plan > 1.5`.",
            "As many as the plan has: `learning_rate_log.of_plan < 1.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Draw the learning rate over the steps, and look where the loss rises and where it falls.",
            "The rate swings, and the loss with it.",
            "The rate is the same at every step.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
)

"""The loss rises and falls in waves of a dozen steps, as if the learning rate went up and down."""

from bugzoo.faults import words
from bugzoo.faults.idioms import COUNTER, OPTIMIZER, SCHEDULER_STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, remove

PLAN = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)"

FAULT = Fault(
    title="scheduler.step() every batch instead of every epoch",
    level=3,
    symptom="degraded",
    edits=(remove(SCHEDULER_STEP), after(COUNTER, "$SCHEDULER_STEP_STATEMENT")),
    not_on={
        "word_lines": (
            "its warm-up is meant to be stepped every batch and has no end to run past: the instrument gives no "
            "reading (5 seeds)."
        )
    },
    evidence=("learning_rate_log.of_plan > 1.5",),
    effect="learning_rate_log.changes > healthy",
    why=(
        "A schedule counts scheduler.step() calls and does not know whether a call means a batch or an epoch. "
        "Planned for 6 epochs but stepped on each of the 36 batches of an epoch, the schedule ends after 6 batches. "
        "A cosine rises again from there, 18 times in one run. Gradient accumulation invites the same mistake: a "
        "schedule planned in updates is stepped on every micro-batch."
    ),
    fix=(
        "Call scheduler.step() once per epoch, because the schedule is written in epochs. Or plan the schedule for "
        "epochs * len(train_loader) steps."
    ),
    repairs={
        "a plan of batches": Swap(PLAN, PLAN.replace("epochs", "epochs * len(train_loader)")),
        "once an epoch": (
            remove(SCHEDULER_STEP),
            after(COUNTER, "if step % len(train_loader) == 0:\n    scheduler.step()"),
        ),
    },
    by_counter=("once an epoch",),
    pretences={
        "a plan of steps of another kind": Swap(PLAN, PLAN.replace("epochs", "2 * epochs")),
        "a lower rate": after(OPTIMIZER, 'optimizer.param_groups[0]["lr"] /= 2'),
        "every second batch": (remove(SCHEDULER_STEP), after(COUNTER, "if step % 2:\n    scheduler.step()")),
    },
    free=("update",),
    shown_by=("loss_curve",),
    hints=(
        "Does the loss have a rhythm? Count the steps of one wave.",
        "Plot the learning rate over the steps, next to the schedule that you planned.",
        "In which unit is the schedule written? How often does the schedule move on?",
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_before_optimizer",
            "Count the scheduler's steps over the whole run, and compare with the length of its schedule.",
            "There are many times more steps than the schedule has: `learning_rate_log.of_plan > 1.5`.",
            "There are as many steps as the schedule has: `learning_rate_log.of_plan < 1.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Plot the learning rate over the steps, and mark where the loss rises and where it falls.",
            "The learning rate swings, and the loss swings with it.",
            "The learning rate is the same at every step.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
    cause=Cause(words.SCHEDULE, also=("learning rate schedule", "scheduler")),
    terms=("scheduler", "micro-batch"),
    beside={"checkpointed_mlp": ("modes/eval_mode_missing",)},
)

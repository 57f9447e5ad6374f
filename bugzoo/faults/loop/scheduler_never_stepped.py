"""The loss curve looks the same with and without the new cosine schedule. The loss stays noisy to the end."""

from bugzoo.faults import words
from bugzoo.faults.idioms import OPTIMIZER, SCHEDULER_STEP, TRAIN_MODE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

FAULT = Fault(
    title="Missing scheduler.step()",
    level=3,
    symptom="degraded",
    edits=remove(SCHEDULER_STEP),
    not_on={
        "word_lines": (
            "its schedule is a warm-up: without scheduler.step() the learning rate stays too low, not too high "
            "(measured on 5 seeds)."
        )
    },
    evidence=("learning_rate_log.scheduler_steps < 0.5",),
    effect="learning_rate_log.last_rate > healthy",
    why=(
        "A scheduler writes a new learning rate into the optimizer only when you call scheduler.step(). Without "
        "that call, the scheduler writes the first value when you create it, and never another. The learning rate "
        "stays at 2e-3 up to the last step. The cosine would end at a fifteenth of that."
    ),
    fix=(
        "Call scheduler.step() once per unit of the schedule, after optimizer.step(): here once at the end of each "
        "epoch."
    ),
    repairs={
        "before the next epoch": before(TRAIN_MODE, "if epoch:\n    scheduler.step()"),
        "with the last batch of an epoch": Swap(
            "losses.append(loss.item())",
            "losses.append(loss.item())\nif step % len(train_loader) == 0:\n    scheduler.step()",
        ),
    },
    by_counter=("before the next epoch", "with the last batch of an epoch"),
    pretences={
        "for each batch": Swap("step += 1", "step += 1\nscheduler.step()"),
        "a lower rate": after(OPTIMIZER, 'optimizer.param_groups[0]["lr"] /= 2'),
        "a step before all": Swap("step = 0", "scheduler.step()\nstep = 0"),
    },
    shown_by=("loss_curve",),
    hints=(
        "Print the learning rate of each epoch. Which values did the schedule intend?",
        "Which call writes a new learning rate into optimizer.param_groups, and when does this call run?",
        "Count the calls of every step() method over one epoch.",
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_before_optimizer",
            "Print the learning rate of the first and the last epoch, next to the values of the schedule.",
            "Both learning rates are the schedule's first value: `learning_rate_log.scheduler_steps < 0.5`.",
            "Each learning rate is the schedule's next value: `learning_rate_log.first_skipped > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Compare the loss of the first epoch with that of a run known to be healthy.",
            "Both losses are the same, and only the late steps are too large.",
            "The loss is worse from the first steps on.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
    cause=Cause(words.SCHEDULE),
    terms=("scheduler",),
    beside={"checkpointed_mlp": ("modes/eval_mode_missing + freezing/frozen_layers",)},
)

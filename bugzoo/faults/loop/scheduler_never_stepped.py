"""A cosine schedule was added, and the curve is the same as without: restless to the end."""

from bugzoo.faults.idioms import OPTIMIZER, SCHEDULER_STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

FAULT = Fault(
    title="The scheduler is never stepped",
    level=3,
    symptom="degraded",
    edits=remove(SCHEDULER_STEP),
    not_on={
        "word_lines": "a warm-up that is never stepped leaves the rate too low and not too high, measured on 5 seeds."
    },
    evidence=("learning_rate_log.scheduler_steps < 0.5",),
    effect="learning_rate_log.last_rate > healthy",
    why=(
        "A scheduler is an object beside the optimiser; it writes a new rate into it when its own step() is called, and at no "
        "other time. Made and never stepped it has written its first value, and the rate stays there: 2e-3 at the last "
        "step, where the cosine ends at a fifteenth of that."
    ),
    fix="Call scheduler.step() once for each unit that the schedule is laid out for, behind the optimiser's steps.",
    repairs={
        "before the next epoch": before(TRAIN_MODE, "if epoch:\n    scheduler.step()"),
        "with the last batch of an epoch": Swap(
            "losses.append(loss.item())",
            "losses.append(loss.item())\nif step % len(train_loader) == 0:\n    scheduler.step()",
        ),
    },
    pretences={
        "for each batch": Swap("step += 1", "step += 1\nscheduler.step()"),
        "a lower rate": after(OPTIMIZER, 'optimizer.param_groups[0]["lr"] /= 2'),
        "a step before all": Swap("step = 0", "scheduler.step()\nstep = 0"),
    },
    shown_by=("loss_curve",),
    hints=(
        "Write down the learning rate of each epoch. Which one did the schedule intend?",
        "Who writes into the optimiser's groups, and when?",
        "Count the calls of every step() in the program over one epoch.",
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_before_optimizer",
            "Print the learning rate of the first and of the last epoch, beside those of the plan.",
            "Both are the plan's first: `learning_rate_log.scheduler_steps < 0.5`.",
            "Each is the plan's next one: `learning_rate_log.first_skipped > 0.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_high",
            "Look at the loss of the first epoch alone, beside that of a run which is beyond doubt.",
            "They are the same: it is the late steps that are too long.",
            "It is worse from the first steps on.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate",),
)

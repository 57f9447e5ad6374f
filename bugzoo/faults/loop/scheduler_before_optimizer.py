"""PyTorch prints one warning about the order of two calls. In the last epoch the weights do not change at all."""

from bugzoo.faults import words
from bugzoo.faults.idioms import OPTIMIZER, SCHEDULER_STEP, TRAIN_MODE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

PLAN = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)"

FAULT = Fault(
    title="scheduler.step() before optimizer.step()",
    level=3,
    symptom="degraded",
    edits=(remove(SCHEDULER_STEP), before(TRAIN_MODE, "$SCHEDULER_STEP_STATEMENT")),
    not_on={
        "word_lines": (
            "its schedule is a warm-up: the second value is higher than the first, so the effect has the other sign "
            "(measured on 5 seeds)."
        )
    },
    evidence=("learning_rate_log.first_skipped > 0.5",),
    effect="learning_rate_log.first_rate < healthy",
    why=(
        "A scheduler sets the first learning rate of its schedule when you create it. Stepped at the start of an "
        "epoch, it moves to the second value before any batch has used the first. Every value comes one epoch too "
        "early. A warm-up loses its start. A cosine over 6 epochs has a learning rate of 0 for the whole last "
        "epoch."
    ),
    fix="Run all optimizer.step() calls of an epoch first, then call scheduler.step() once.",
    repairs={
        "from the second epoch on": (remove(SCHEDULER_STEP), before(TRAIN_MODE, "if epoch:\n    scheduler.step()")),
        "with the last batch of an epoch": (
            remove(SCHEDULER_STEP),
            Swap(
                "losses.append(loss.item())",
                "losses.append(loss.item())\nif step % len(train_loader) == 0:\n    scheduler.step()",
            ),
        ),
    },
    by_counter=("from the second epoch on", "with the last batch of an epoch"),
    pretences={
        "the warning silenced": Swap("step = 0", 'import warnings\n\nwarnings.simplefilter("ignore")\nstep = 0'),
        "behind train()": (remove(SCHEDULER_STEP), after(TRAIN_MODE, "scheduler.step()")),
        "a longer plan": Swap(PLAN, PLAN.replace("epochs", "epochs + 1")),
        "an empty step before it": after(OPTIMIZER, "optimizer.step()"),
    },
    shown_by=("resumption",),
    hints=(
        "How much do the weights change in the last epoch?",
        'Print optimizer.param_groups[0]["lr"] in each epoch, next to the value that you expect there.',
        (
            "After which line of an epoch should the learning rate change? After which line does the learning rate "
            "change here?"
        ),
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_never_stepped",
            "Print the learning rate of the first and the last epoch, next to the values of the schedule.",
            "Each learning rate is the schedule's next value: `learning_rate_log.first_skipped > 0.5`.",
            "Both learning rates are the schedule's first value: `learning_rate_log.scheduler_steps < 0.5`.",
        ),
        LookAlike(
            "loop/scheduler_per_microbatch",
            "Count the scheduler's steps over the whole run, and compare with the length of its schedule.",
            "There are as many steps as the schedule has: `learning_rate_log.of_plan < 1.5`.",
            "There are many times more steps than the schedule has: `learning_rate_log.of_plan > 1.5`.",
        ),
        LookAlike(
            "optimizer/lr_too_low",
            "Print the learning rate of each epoch, beside the schedule as you would write it down.",
            "Each rate is that of the epoch after.",
            "Each rate is that of its epoch, and all of them are too low.",
        ),
    ),
    sources=("https://github.com/zju3dv/NeuralRecon/issues/51",),
    cause=Cause(words.SCHEDULE),
    terms=("scheduler",),
)

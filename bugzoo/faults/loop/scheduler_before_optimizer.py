"""Only a warning about an order of calls is printed. The last epoch of every training changes nothing at all."""

from bugzoo.faults.idioms import OPTIMIZER, SCHEDULER_STEP, TRAIN_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, remove

PLAN = "torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)"

FAULT = Fault(
    title="The scheduler steps before the optimiser does",
    level=3,
    symptom="degraded",
    edits=(remove(SCHEDULER_STEP), before(TRAIN_MODE, "$SCHEDULER_STEP_STATEMENT")),
    not_on={
        "word_lines": "a warm-up's second value is higher than its first: the effect has the other sign, measured on 5 seeds."
    },
    evidence=("learning_rate_log.first_skipped > 0.5",),
    effect="learning_rate_log.first_rate < healthy",
    why=(
        "A scheduler writes the first value of its plan when it is made. Stepped at the head of an epoch it writes the second "
        "one before a single batch has seen the first: everything comes an epoch too early. A warm-up loses its start, and "
        "a cosine over 6 epochs comes to a rate of 0 for the whole last one."
    ),
    fix="optimizer.step() for the batches of an epoch first, then scheduler.step().",
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
    pretences={
        "the warning silenced": Swap("step = 0", 'import warnings\n\nwarnings.simplefilter("ignore")\nstep = 0'),
        "behind train()": (remove(SCHEDULER_STEP), after(TRAIN_MODE, "scheduler.step()")),
        "a longer plan": Swap(PLAN, PLAN.replace("epochs", "epochs + 1")),
        "an empty step before it": after(OPTIMIZER, "optimizer.step()"),
    },
    shown_by=("resumption",),
    hints=(
        "How much does the last epoch change the weights?",
        "Write the rate of each epoch beside the one that you would expect there.",
        "Between which two lines of an epoch does the rate have to change?",
    ),
    look_alikes=(
        LookAlike(
            "loop/scheduler_never_stepped",
            "Print the learning rate of the first and of the last epoch, beside those of the plan.",
            "Each is the plan's next one: `learning_rate_log.first_skipped > 0.5`.",
            "Both are the plan's first: `learning_rate_log.scheduler_steps < 0.5`.",
        ),
        LookAlike(
            "loop/scheduler_per_microbatch",
            "Count the steps of the scheduler, and compare them with what its plan is laid out for.",
            "As many as the plan has: `learning_rate_log.of_plan < 1.5`.",
            "Many times more: `learning_rate_log.of_plan > 1.5`.",
        ),
    ),
    sources=("https://github.com/zju3dv/NeuralRecon/issues/51",),
)

"""The loss jumps where training was stopped and resumed. The final result is not that of a run without a stop."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'optimizer.load_state_dict(saved["optimizer"])'
MODEL = 'model.load_state_dict(saved["model"])'

FAULT = Fault(
    title="Optimizer state not restored on resume",
    level=3,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_difference > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "Adam divides each step by a running mean of the squared gradients, and corrects its running means for the "
        "number of steps. After a restart these means know one gradient. So every parameter moves by about the full "
        "learning rate, whatever its gradient, as in the very first step. SGD with momentum forgets its direction. "
        "The learning rate that the schedule had reached is part of the optimizer state too."
    ),
    fix=(
        'Call optimizer.load_state_dict(saved["optimizer"]) on resume. Save and load the state of the scheduler, the '
        "GradScaler and the random generators too, and the position in the data."
    ),
    repairs=instead(
        MODEL,
        {
            "read before the model": f"{READ}\n{MODEL}",
            "one state after the other": (
                'for part, name in ((model, "model"), (optimizer, "optimizer")):\n    part.load_state_dict(saved[name])'
            ),
            "part by part": (
                f'{MODEL}\nkept = {{name: saved["optimizer"][name] for name in ("state", "param_groups")}}\n'
                "optimizer.load_state_dict(kept)"
            ),
        },
    ),
    pretences=instead(
        MODEL,
        {
            "its rate alone": f'{MODEL}\noptimizer.param_groups[0]["lr"] = saved["optimizer"]["param_groups"][0]["lr"]',
            "its moments alone": (
                f'{MODEL}\nkept = optimizer.state_dict() | {{"state": saved["optimizer"]["state"]}}\n'
                "optimizer.load_state_dict(kept)"
            ),
            "a gentle start": f'{MODEL}\nfor group in optimizer.param_groups:\n    group["lr"] *= 0.1',
            "from the beginning": "model.load_state_dict(model.state_dict())",
        },
    )
    | {
        "no checkpoint at all": Swap("if Path(checkpoint).exists():\n    $$$BODY", "saved = {}"),
        "a stop that is none": Swap("if epoch + 1 == stop_after:\n    $$$BODY", "stop_after = 0"),
    },
    hints=(
        "Compare a run that was stopped and resumed with one that was not. Which is the first step that differs?",
        "The first loss after the stop is right, so the weights are right. What else does an update depend on?",
        "Compare what is written into the checkpoint with what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/generator_not_restored",
            "Stop the run halfway and resume. Which is the first loss that differs from a run without a stop?",
            "The second loss after the stop differs. The first is still the same.",
            "The first loss after the stop differs: another batch, or other dropout masks.",
        ),
        LookAlike(
            "resume/scheduler_restarted",
            "Print the learning rate of each step, before and after the stop.",
            "The learning rate is wrong at once, because the optimizer stores it for the first steps.",
            "The learning rate is right at first, and wrong from the next epoch on.",
        ),
        LookAlike(
            "reproducibility/unseeded",
            "Run the script twice without stopping. At which step do the losses of the two runs first differ?",
            "The losses never differ: `determinism.first_difference < 0.5`.",
            "The losses differ at the very first step: `determinism.first_difference > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/beginner/saving_loading_models.html",),
    cause=Cause(either={words.OPTIMIZER_STATE: {}}),
    terms=("checkpoint", "momentum", "optimizer state"),
    beside={"checkpointed_mlp": ("freezing/frozen_layers",)},
)

"""The loss makes a jump where training was stopped and started again, and the end is not the one of a run without a stop."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'optimizer.load_state_dict(saved["optimizer"])'
MODEL = 'model.load_state_dict(saved["model"])'

FAULT = Fault(
    title="A checkpoint that is resumed without the optimiser's state",
    level=3,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_difference > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "Adam divides each step by a running mean of the squared gradients, and corrects both of its means for how few steps "
        "they have seen. Started anew they know one gradient: every parameter moves by about the full learning rate, whatever "
        "the size of its gradient, as in the first step of all. With momentum alone the direction is forgotten. And the learning "
        "rate that the schedule had come to is kept there as well."
    ),
    fix="Save and load the state of everything that steps: optimiser, scheduler, scaler, generators, and the place in the data.",
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
        "The first loss after the stop is right, so the weights are. What else does a step depend on?",
        "Lay what is written into the checkpoint beside what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/generator_not_restored",
            "Stop it half way and resume it: which is the first loss that a run without a stop does not have?",
            "The second after the stop: the first is still the same.",
            "The first after the stop: another batch, or other units dropped.",
        ),
        LookAlike(
            "resume/scheduler_restarted",
            "Print the learning rate of each step, before the stop and after it.",
            "It is another one at once, as the optimiser keeps it for the first steps.",
            "It is right at first, and another one from the next epoch on.",
        ),
        LookAlike(
            "reproducibility/unseeded",
            "Run it twice without any stop, and see at which step the losses of the two runs differ first.",
            "At none: `determinism.first_difference < 0.5`.",
            "At the very first: `determinism.first_difference > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/beginner/saving_loading_models.html",),
)

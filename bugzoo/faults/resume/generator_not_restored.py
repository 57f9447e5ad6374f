"""Resumed twice from one checkpoint it goes the same way, but never the way of the run that nobody stopped."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'torch.set_rng_state(saved["generator"])'
MODEL = 'model.load_state_dict(saved["model"])'

FAULT = Fault(
    title="A checkpoint that is resumed without the generator's state",
    level=4,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_difference > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "The resumed script seeds its generator anew and draws from the beginning: the order of epoch four is the one that "
        "epoch one had, and so are the units that dropout leaves out. Some samples are seen in the same company twice; a run "
        "that is stopped every night trains on the first order of its seed again and again. No number looks wrong by itself."
    ),
    fix="Save the state of every generator (torch, CUDA, numpy, random, workers) and set it right before training goes on.",
    repairs=instead(
        MODEL,
        {
            "set before the weights": f"{READ}\n{MODEL}",
            "the generator's own method": f'{MODEL}\ntorch.default_generator.set_state(saved["generator"])',
            "a name for it": f'{MODEL}\nstate = saved["generator"]\ntorch.random.set_rng_state(state)',
        },
    ),
    pretences=instead(
        MODEL,
        {
            "seeded again": f"{MODEL}\ntorch.manual_seed(seed)",
            "a seed of the epoch": f'{MODEL}\ntorch.manual_seed(seed + saved["finished"])',
            "a free seed": f"{MODEL}\ntorch.seed()",
        },
    )
    | {"no checkpoint at all": Swap("if Path(checkpoint).exists():\n    $$$BODY", "saved = {}")},
    hints=(
        "Compare a run that was stopped and resumed with one that was not. Which is the first step that differs?",
        "The rate and the weights are right. What else decides which loss the first step after the stop has?",
        "Lay what is written into the checkpoint beside what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Stop it half way and resume it: which is the first loss that a run without a stop does not have?",
            "The first after the stop: another batch, or other units dropped.",
            "The second after the stop: the first is still the same.",
        ),
        LookAlike(
            "resume/scheduler_restarted",
            "Lay the learning rates of both runs beside one another, step by step.",
            "They are the same to the end: `resumption.first_rate < 0.5`.",
            "They part an epoch after the stop: `resumption.first_rate > 0.5`.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
)

"""Two runs resumed from one checkpoint agree with each other. They never match the run that was not stopped."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

READ = 'torch.set_rng_state(saved["generator"])'
MODEL = 'model.load_state_dict(saved["model"])'

FAULT = Fault(
    title="RNG state not restored on resume",
    level=4,
    symptom="drift",
    edits=Swap(READ, ""),
    evidence=("resumption.first_difference > 0.5",),
    effect="resumption.largest > healthy",
    why=(
        "The resumed script seeds its generator again and draws from the beginning. So epoch four gets the batch "
        "order and the dropout masks of epoch one, and the same samples share a batch again. A run that is stopped "
        "every night trains on the first order of its seed again and again. No number looks wrong by itself."
    ),
    fix=(
        "Save the state of every generator (torch.get_rng_state() here, also CUDA, numpy, random, workers). Restore "
        "it right before training continues."
    ),
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
        ("The learning rate and the weights are right. What else decides the loss of the first step after the stop?"),
        "Compare what is written into the checkpoint with what is read from it.",
    ),
    look_alikes=(
        LookAlike(
            "resume/optimizer_state_lost",
            "Stop the run halfway and resume. Which is the first loss that differs from a run without a stop?",
            "The first loss after the stop differs: another batch, or other dropout masks.",
            "The second loss after the stop differs. The first is still the same.",
        ),
        LookAlike(
            "resume/scheduler_restarted",
            "Compare the learning rates of the resumed and the uninterrupted run, step by step.",
            "The learning rates are the same to the end: `resumption.first_rate < 0.5`.",
            "The learning rates differ from one epoch after the stop: `resumption.first_rate > 0.5`.",
        ),
        LookAlike(
            "data/no_shuffle",
            "Note the first batch of the epochs before the stop, and of the first one after it.",
            "The epochs before the stop differ, and the one after it begins as the first of all.",
            "Every epoch begins with the same batch.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/notes/randomness.html",),
    terms=("generator", "checkpoint", "RNG state"),
)

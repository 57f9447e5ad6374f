"""The model writes worse than its loss promises, from the second character on."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

START = "start = 0"

FAULT = Fault(
    title="Each new token is told that it is the first",
    level=4,
    symptom="degraded",
    edits=Swap("start = $LENGTH if $CACHE else 0", START),
    evidence=("decoding.first_gap > 0.01",),
    effect="decoding.first_gap > healthy",
    why=(
        "With a cache the model is handed one token at a time. Its place in the text is then the length of the cache; counted "
        "from 0 again, every token that is written carries the vector of the first place. In training each text came whole, "
        "and the places were right."
    ),
    fix="Count on: the place of the first new token is what the cache holds.",
    repairs=instead(
        START,
        {
            "from the keys": "start = caches[0][0].size(-2) if caches[0] else 0",
            "from the values": "start = caches[-1][1].shape[2] if caches[-1] else 0",
        },
    )
    | {"without a cache": Swap("logits = model(inputs, caches)[:, -1]", "logits = model(text)[:, -1]")},
    pretences=instead(
        START,
        {
            "one further": "start = 1 if caches[0] else 0",
            "behind the prompt": "start = prompt if caches[0] else 0",
            "at the end": "start = context - inputs.shape[1] if caches[0] else 0",
        },
    ),
    hints=(
        "Does the model say the same to a text that it is given at once and to one that it is given bit by bit?",
        "Compare what enters the first layer for the third token in both cases.",
        "What tells the model where in the text a token stands, and who counts?",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_off_by_one",
            "Count what a layer remembers after the first two tokens.",
            "As many as it was given.",
            "One token less than it was given.",
        ),
        LookAlike(
            "attention/positions_missing",
            "Shuffle the first ten characters of a text read at once: does the answer to the eleventh move?",
            "It moves.",
            "It stays nearly what it was.",
        ),
        LookAlike(
            "generation/dropout_while_sampling",
            "Give it the same text bit by bit, twice, and take the likeliest token each time.",
            "Both times the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "It differs: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
    ),
    sources=(
        "https://huggingface.co/docs/transformers/cache_explanation",
        "https://github.com/huggingface/transformers/pull/15751",
    ),
)

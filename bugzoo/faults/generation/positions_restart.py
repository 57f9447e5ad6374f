"""Generated text is worse than the loss suggests, from the second generated character on."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

START = "start = 0"

FAULT = Fault(
    title="Position ids restart at 0 with a KV cache",
    level=4,
    symptom="degraded",
    edits=Swap("start = $LENGTH if $CACHE else 0", START),
    evidence=("decoding.first_gap > 0.01",),
    effect="decoding.first_gap > healthy",
    why=(
        "With a KV cache, the model gets one token at a time. The position of this token is the length of the cache. "
        "Here the position starts at 0 again, so every generated token gets the embedding of the first position. "
        "Training passes whole texts, so the positions are right there."
    ),
    fix="Continue the count: the position of the first new token is the number of tokens in the cache.",
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
        "Does the model give the same logits for a whole text and for the same text token by token?",
        "Compare what enters the first layer for the third token in both cases.",
        "How does the model know where in the text a token is? Find the line that computes this number.",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_off_by_one",
            "Pass two tokens in one call, then count the keys that each layer holds.",
            "Each layer holds two keys.",
            "Each layer holds one key.",
        ),
        LookAlike(
            "attention/positions_missing",
            "Shuffle the first ten characters of a text that you pass whole. Compare the next logits.",
            "The logits change.",
            "The logits stay almost the same.",
        ),
        LookAlike(
            "generation/dropout_while_sampling",
            "Generate twice from the same prompt with greedy decoding, and compare both texts.",
            "Both texts are the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "The texts differ: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
    ),
    sources=(
        "https://huggingface.co/docs/transformers/cache_explanation",
        "https://github.com/huggingface/transformers/pull/15751",
    ),
    terms=("KV cache", "greedy decoding", "position embedding"),
)

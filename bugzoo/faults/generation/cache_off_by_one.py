"""The loss is good, but what the model writes reads as if it kept missing the letter before."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

KEPT = "cache[:] = keys[:, :, :-1], values[:, :, :-1]"

FAULT = Fault(
    title="The cache keeps all but the newest token",
    level=4,
    symptom="degraded",
    edits=Swap("cache[:] = keys, values", KEPT),
    evidence=("decoding.first_gap > 0.01",),
    effect="decoding.first_gap > healthy",
    why=(
        "What is written is drawn from an answer that sees the token itself and all that is cached, and the cache is short of "
        "the newest one each time: the token before last is never seen again, and each place counts one too few. Training and "
        "evaluation read whole texts without a cache, so that the loss knows nothing of it."
    ),
    fix="Append first and keep everything: after n tokens the cache holds n keys and n values in each layer.",
    repairs=instead(
        "cache[:] = $KEYS, $VALUES",
        {
            "all of them": "cache[:] = [keys, values]",
            "copies of all": "cache[:] = keys.clone(), values.clone()",
        },
    )
    | {
        "without a cache": Swap("logits = model(inputs, caches)[:, -1]", "logits = model(text)[:, -1]"),
    },
    pretences=instead(
        "cache[:] = $KEYS, $VALUES",
        {"the first one dropped instead": "cache[:] = keys[:, :, 1:], values[:, :, 1:]"},
    )
    | {
        "the likeliest": Swap(
            "inputs = torch.multinomial(logits.softmax(-1), 1)", "inputs = logits.argmax(-1, keepdim=True)"
        ),
    },
    hints=(
        "Does the model say the same to a text that it is given at once and to one that it is given bit by bit?",
        "Compare both, one token after another: from which token on do they differ?",
        "Count, in each layer, what is remembered after the first two tokens.",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_stale_between_prompts",
            "Read one text bit by bit in a fresh process: does that differ from reading it at once?",
            "It does.",
            "Only in the second text.",
        ),
        LookAlike(
            "generation/positions_restart",
            "Count what a layer remembers after the first two tokens.",
            "One token less than it was given.",
            "As many as it was given.",
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
        "https://github.com/UChi-JCL/CacheGen/pull/8",
    ),
)

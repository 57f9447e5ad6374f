"""The validation loss is good. The generated text reads as if the model missed the character before."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

KEPT = "cache[:] = keys[:, :, :-1], values[:, :, :-1]"

FAULT = Fault(
    title="KV cache drops the newest token",
    level=4,
    symptom="degraded",
    edits=Swap("cache[:] = keys, values", KEPT),
    evidence=("decoding.first_gap > 0.01",),
    effect="decoding.first_gap > healthy",
    why=(
        "The KV cache loses its newest token at every step. Each new token attends to itself and to the cache, so the "
        "model never sees the token right before it. The position of the new token is also too low, because the cache "
        "length sets it. Training and evaluation read whole texts without a cache, so the loss does not show the "
        "mistake."
    ),
    fix="Append first and keep everything. After n tokens, the cache holds n keys and n values in each layer.",
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
        "Does the model give the same logits for a whole text and for the same text token by token?",
        "Compare the logits of both ways, position by position. From which token on do they differ?",
        "Pass two tokens in one call. How many keys and values does each layer hold afterwards?",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_stale_between_prompts",
            "In a fresh process, compare the logits of one text token by token and in one pass.",
            "The logits differ.",
            "The logits of the first text agree. Only the logits of a second text differ.",
        ),
        LookAlike(
            "generation/positions_restart",
            "Pass two tokens in one call, then count the keys that each layer holds.",
            "Each layer holds one key.",
            "Each layer holds two keys.",
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
        "https://github.com/UChi-JCL/CacheGen/pull/8",
    ),
    terms=("KV cache", "greedy decoding", "teacher forcing"),
    beside={"sampler": ("freezing/frozen_layers", "traps/log_softmax_first")},
)

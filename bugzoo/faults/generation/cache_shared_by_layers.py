"""The validation loss is good. What the model writes is hardly text, although it learned the same as before."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

SHARED = "caches = [[]] * layers"

FAULT = Fault(
    title="One KV cache shared by all layers ([[]] * layers)",
    level=4,
    symptom="degraded",
    edits=Swap("caches = [[] for _ in range(layers)]", SHARED),
    evidence=("decoding.first_gap > 0.01",),
    effect="decoding.first_gap > healthy",
    why=(
        "`[[]] * layers` does not make one list for each layer. It makes one list and names it several times. So the second "
        "layer appends its keys to those of the first, and attends to both. The cache grows once a layer instead of once a "
        "token, and its length gives the positions. Training and evaluation use no cache, so the loss does not show it."
    ),
    fix="Make a list for each layer: `[[] for _ in range(layers)]`. The same holds for `[[0] * n] * m` and `dict.fromkeys`.",
    repairs=instead(
        SHARED,
        {
            "by map": "caches = list(map(lambda layer: [], range(layers)))",
            "one by one": "caches = []\nfor _ in range(layers):\n    caches.append([])",
        },
    )
    | {"without a cache": Swap("logits = model(inputs, caches)[:, -1]", "logits = model(text)[:, -1]")},
    pretences=instead(SHARED, {"a copy of the outer list": "caches = list([[]] * layers)"})
    | {
        "the likeliest": Swap(
            "inputs = torch.multinomial(logits.softmax(-1), 1)", "inputs = logits.argmax(-1, keepdim=True)"
        ),
    },
    hints=(
        "Does the model give the same logits for a whole text and for the same text token by token?",
        "Pass two tokens in one call. How many keys does each layer attend to?",
        "Print `id(cache)` in each layer's attention, during one call.",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_off_by_one",
            "Pass two tokens in one call, then count the keys that each layer holds.",
            "Each layer holds four keys.",
            "Each layer holds one key.",
        ),
        LookAlike(
            "generation/cache_stale_between_prompts",
            "In a fresh process, compare the logits of one text token by token and in one pass.",
            "The logits differ.",
            "The logits of the first text agree. Only the logits of a second text differ.",
        ),
        LookAlike(
            "generation/dropout_while_sampling",
            "Generate twice from the same prompt with greedy decoding, and compare both texts.",
            "Both texts are the same: `mode_watch.eval_in_train_mode < 0.5`.",
            "The texts differ: `mode_watch.eval_in_train_mode > 0.5`.",
        ),
    ),
    sources=(
        "https://docs.python.org/3/faq/programming.html#how-do-i-create-a-multidimensional-list",
        "https://huggingface.co/docs/transformers/cache_explanation",
    ),
    terms=("KV cache", "teacher forcing"),
    beside={"sampler": ("traps/log_softmax_first",)},
)

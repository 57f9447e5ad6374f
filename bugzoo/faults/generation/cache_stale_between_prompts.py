"""The first text is fine. What is written after it takes up words that stand nowhere in its own beginning."""

from bugzoo.faults.idioms import EVAL_MODE
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

MADE = "caches = [[] for _ in range(layers)]"

FAULT = Fault(
    title="The cache of the last text is still there for the next one",
    level=4,
    symptom="leak",
    edits=(Swap(MADE, ""), before(EVAL_MODE, MADE)),
    evidence=("decoding.later_gap > 0.01",),
    effect="decoding.later_gap > healthy",
    why=(
        "The cache is made once, outside the function that writes. The second text begins with 7 keys of the first one in every "
        "layer: its tokens attend to somebody else's text and stand 7 places further on. With several users that is a leak as "
        "well as a mistake."
    ),
    fix="A cache belongs to one text: make it where a text begins.",
    repairs={
        "made for each text": Swap("text = inputs", f"text, {MADE.replace(' = ', ' = inputs, ')}"),
        "emptied for each text": Swap("text = inputs", "text = inputs\nfor cache in caches:\n    cache.clear()"),
        "without a cache": Swap("logits = model(inputs, caches)[:, -1]", "logits = model(text)[:, -1]"),
    },
    pretences={
        "emptied once": Swap("texts = $T", "for cache in caches:\n    cache.clear()\ntexts = $T"),
        "only the first layer emptied": Swap("text = inputs", "text = inputs\ncaches[0].clear()"),
        "the likeliest": Swap(
            "inputs = torch.multinomial(logits.softmax(-1), 1)", "inputs = logits.argmax(-1, keepdim=True)"
        ),
    },
    hints=(
        "What may a text that is written depend on?",
        "Write the same text first and second. Is it as likely both times?",
        "Ask of everything that is remembered while writing when it is made, and when it is thrown away.",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_off_by_one",
            "Read one text bit by bit in a fresh process: does that differ from reading it at once?",
            "Only the second text differs.",
            "The first one does.",
        ),
        LookAlike(
            "recurrent/state_kept_between_batches",
            "See whether the losses of the training depend on the order of its batches.",
            "They do not: it happens while writing.",
            "They do.",
        ),
    ),
    sources=(
        "https://huggingface.co/docs/transformers/cache_explanation",
        "https://github.com/mudler/LocalAI/issues/6747",
    ),
)

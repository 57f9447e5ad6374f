"""The first generated text is fine. The second one picks up words that are not in its own prompt."""

from bugzoo.faults import words
from bugzoo.faults.idioms import EVAL_MODE
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import before

MADE = "caches = [[] for _ in range(layers)]"

FAULT = Fault(
    title="KV cache not cleared between prompts",
    level=4,
    symptom="leak",
    edits=(Swap(MADE, ""), before(EVAL_MODE, MADE)),
    evidence=("decoding.later_gap > 0.01",),
    effect="decoding.later_gap > healthy",
    why=(
        "The script creates the KV cache once, outside the generation function. The second prompt starts with 7 keys "
        "of the first text in every layer. The new tokens attend to the first text, and their positions are 7 too "
        "high. With several users, the mistake is also a data leak."
    ),
    fix="Create a new cache where a new text begins. One cache belongs to one text.",
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
        "What may a generated text depend on?",
        "Generate twice from one prompt in the same process. Does the first call give the same logits both times?",
        "List everything that the generation code remembers. Where is each item created, and where is it thrown away?",
    ),
    look_alikes=(
        LookAlike(
            "generation/cache_off_by_one",
            "In a fresh process, compare the logits of one text token by token and in one pass.",
            "The logits of the first text agree. Only the logits of a second text differ.",
            "The logits of the first text already differ.",
        ),
        LookAlike(
            "recurrent/state_kept_between_batches",
            "Check whether a training loss changes when another batch goes through the model first.",
            "The loss stays the same. Only generated text changes.",
            "The loss changes.",
        ),
        LookAlike(
            "generation/dropout_while_sampling",
            "Take the likeliest token each time, and generate the first text twice, each in a new process.",
            "Both texts are the same. Only the second text of a process is wrong.",
            "The two texts differ.",
        ),
    ),
    sources=(
        "https://huggingface.co/docs/transformers/cache_explanation",
        "https://github.com/mudler/LocalAI/issues/6747",
    ),
    cause=Cause(either={words.HIDDEN_STATE: {}}),
    terms=("KV cache",),
)

"""Generated text is worse than the loss suggests. Greedy decoding gives a different text each time."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap

FAULT = Fault(
    title="Missing model.eval() before text generation",
    level=2,
    symptom="noisy_eval",
    edits=Swap("texts = $WRITTEN", "model.train()\ntexts = $WRITTEN"),
    evidence=("mode_watch.eval_in_train_mode > 0.5",),
    effect="mode_watch.eval_in_train_mode > healthy",
    why=(
        "In train mode, dropout zeroes a random tenth of the embedded values, a different tenth for each character. "
        "The KV cache keeps the keys and values of these damaged inputs. Sampling is random anyway, so the extra "
        "noise is hard to see."
    ),
    fix="Call model.eval() before generation, and model.train() before training goes on.",
    repairs={
        "eval() before writing": Swap("texts = $WRITTEN", "model.eval()\ntexts = $WRITTEN"),
        "eval() for the one who writes": Swap("text = inputs", "model.eval()\ntext = inputs"),
        "train(False)": Swap("texts = $WRITTEN", "model.train(False)\ntexts = $WRITTEN"),
    },
    pretences={
        "eval() afterwards": Swap("written = $LOSS", "model.eval()\nwritten = $LOSS"),
        "only its head": Swap("texts = $WRITTEN", "model.head.eval()\ntexts = $WRITTEN"),
        "the likeliest": Swap(
            "inputs = torch.multinomial(logits.softmax(-1), 1)", "inputs = logits.argmax(-1, keepdim=True)"
        ),
    },
    hints=(
        "Which part is random: the choice of the next character, or the model itself?",
        "Generate twice from one prompt with greedy decoding (argmax) and compare the two texts.",
        "Read every call on the model between the evaluation and the generated text.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Compute the validation loss twice on the same batches, without training in between.",
            "Both losses are the same.",
            "The losses differ.",
        ),
        LookAlike(
            "generation/positions_restart",
            "Generate twice from the same prompt with greedy decoding, and compare both texts.",
            "The texts differ.",
            "Both texts are the same.",
        ),
        LookAlike(
            "generation/cache_off_by_one",
            "In eval mode, compare the logits of one text token by token and in one pass.",
            "The logits agree.",
            "The logits differ.",
        ),
    ),
    sources=("https://pytorch.org/docs/stable/generated/torch.nn.Dropout.html",),
    cause=Cause(words.MODE),
    terms=("dropout", "eval mode", "greedy decoding", "train mode"),
    beside={"sampler": ("loop/stale_gradients", "generation/cache_off_by_one + freezing/frozen_layers")},
)

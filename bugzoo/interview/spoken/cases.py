"""The eight questions: what the interviewer says, and on which program with which fault it really happened."""

from dataclasses import dataclass

from bugzoo.errors import unknown
from bugzoo.interview.deck import WEIGHTS
from bugzoo.scenario import Scenario

Answers = tuple[str, str]
"""What a good candidate says, and a poor one."""


@dataclass(frozen=True)
class Spoken:
    """One question. `first`: what to look at first. `then`: follow-ups, each with a good and a poor answer."""

    name: str
    topic: str
    says: str
    program: str
    fault: str
    first: Answers
    then: tuple[tuple[str, str, str], ...]

    @property
    def weight(self) -> int:
        """How often interviewers ask for it."""
        return WEIGHTS[self.topic]

    @property
    def scenario(self) -> Scenario:
        return Scenario(self.program, (self.fault,))


CASES = (
    Spoken(
        "nan_in_the_loss",
        "NaN and loss",
        "A colleague wrote softmax and cross-entropy by hand, as -log of the softmax. It trains for a while, then the "
        "loss is nan. What "
        "do you look at, in which order?",
        "mlp",
        "numerics/exp_overflow",
        (
            "The first step that is not finite, forward or backward, and which operation made it; the range of the "
            "logits there.",
            "Lowers the learning rate, or clips, before knowing which number was lost first.",
        ),
        (
            (
                "Why does it not happen in the first step?",
                "Logits grow as the model becomes sure; the exponential overflows float32 above 88 or so, half "
                "precision above 11.",
                "Because the learning rate is too high by then.",
            ),
            (
                "How is it written so that it cannot happen?",
                "Subtract the largest logit, or log-softmax and cross-entropy of the library, which work on log-sum-exp.",
                "Add 1e-9 inside the logarithm: the infinity stands in the exponential.",
            ),
        ),
    ),
    Spoken(
        "barely_moves",
        "not learning",
        "To save memory somebody takes a step at each fourth batch only. The loss barely moves, and then it swings. "
        "What do you ask for?",
        "mlp",
        "loop/step_every_n_never_zeroed",
        (
            "The gradient that the optimiser gets, beside that of the four batches alone; how many backward passes "
            "lie between two steps.",
            "Another optimiser or more epochs.",
        ),
        (
            (
                "What would the gradient norm look like over the steps?",
                "It grows, as nothing is ever cleared; with accumulation done right it stays where it was, or four "
                "times it if unscaled.",
                "Smaller and smaller, as the model converges.",
            ),
            (
                "Which test tells this from a learning rate that is too high?",
                "One step: the gradient of the last four batches made anew, and subtracted from what lies in .grad.",
                "Dividing the rate by ten: it makes both look better.",
            ),
        ),
    ),
    Spoken(
        "memory_in_training",
        "memory",
        "It runs in evaluation, and in training the memory is gone at the first step. Where does it go?",
        "mini_transformer",
        "memory/batch_too_large",
        (
            "In which part of the step it ends, forward, backward or optimizer.step(), and what is alive then: "
            "activations grow with "
            "batch and length, the optimiser's state with the parameters.",
            "Empties the cache, or calls the garbage collector.",
        ),
        (
            (
                "Half the batch helps. What else would, without another result?",
                "Gradient accumulation with the loss scaled, activation checkpointing, a shorter length in the same "
                "number of tokens.",
                "A smaller model.",
            ),
            (
                "How would you tell it from a leak?",
                "A leak grows with the steps; this is the same at each, and is there at the first.",
                "By waiting.",
            ),
        ),
    ),
    Spoken(
        "train_and_test_apart",
        "not learning",
        "99 % on the training data and barely more than half on the test data. What is it, and what would make you "
        "doubt the obvious answer?",
        "modular_addition",
        "fit/no_regularisation",
        (
            "Both curves over the epochs: a gap that opens, or one that is there from the first epoch; and whether "
            "the evaluation runs in "
            "the right mode on the same kind of data.",
            "More regularisation at once, without a look at the evaluation.",
        ),
        (
            (
                "How would a wrong evaluation look?",
                "The gap is there from the start, and does not grow; evaluating the training data in the same way "
                "shows it as well.",
                "The same, one cannot tell.",
            ),
            (
                "What do you change first?",
                "Stops where the validation loss turns, then weight decay or dropout or more data, one at a time on "
                "several seeds.",
                "The architecture.",
            ),
        ),
    ),
    Spoken(
        "worse_in_production",
        "leakage and evaluation",
        "The test says one thing and production another, much lower. The data were scaled before they were split. "
        "What do you look at?",
        "regression_mlp",
        "data/leaky_normalisation",
        (
            "Where each number of the preprocessing comes from, and from which rows; then how much it really gives: "
            "the same with the "
            "numbers of the training half alone.",
            "Says leakage and stops there: how much of the gap it explains is the question.",
        ),
        (
            (
                "Suppose it explains a tenth of the gap. What next?",
                "Copies of a sample or a person on both sides, time, a feature that is only known afterwards; "
                "production data with labels.",
                "Then the model overfits.",
            ),
            (
                "How do you keep it from coming back?",
                "Split first, fit what has parameters on the training part only, in one object that is saved with the "
                "model.",
                "By being careful.",
            ),
        ),
    ),
    Spoken(
        "busy_for_a_fifth",
        "slow",
        "The GPU is busy for a fifth of the time. How do you find out for what it waits?",
        "image_pipeline",
        "speed/starved_loader",
        (
            "The parts of a step: waiting for data, forward, backward, optimiser, and what fetches a number from the "
            "device; the loader "
            "alone, without the model.",
            "More workers at once.",
        ),
        (
            (
                "The loader is the slow part. What bounds what four workers bring?",
                "The share of the step that it takes (Amdahl), the cores there are, the disk, and what is done in the "
                "main process.",
                "Four workers make it four times as fast.",
            ),
            (
                "And if the profile shows short gaps after each step instead?",
                "Something fetches a number: .item(), print, a metric on the CPU; collect on the device and fetch now "
                "and then.",
                "That is normal.",
            ),
        ),
    ),
    Spoken(
        "all_wait",
        "device",
        "Two ranks, and after some steps nothing happens any more: no error, all devices idle. What do you do in the "
        "first five minutes?",
        "data_parallel",
        "distributed/skipped_batch",
        (
            "The stack of every rank: which one waits in which collective, and which one is somewhere else or behind; "
            "then the number of "
            "steps that each has made.",
            "A longer timeout, or a barrier.",
        ),
        (
            (
                "One rank stands in all_reduce. Is it the guilty one?",
                "Hardly: it waits. The one that does not come is guilty; it skipped a batch, ran out of data or took "
                "another branch.",
                "Yes, that is where it hangs.",
            ),
            (
                "How do you let it fail instead of hang?",
                "A timeout on the process group with the error raised in all, monitored barriers in tests, equal "
                "numbers of batches.",
                "A watchdog that kills the job each hour.",
            ),
        ),
    ),
    Spoken(
        "half_precision",
        "NaN and loss",
        "With autocast to half precision the training stands still, or the loss is nan after some hundred steps. In "
        "full precision it is "
        "fine. Go on.",
        "amp_transformer",
        "precision/no_grad_scaler",
        (
            "The share of gradients that are zero in half precision, and whether a loss scale is used; what overflows "
            "on the way forward.",
            "Goes back to full precision.",
        ),
        (
            (
                "What does a gradient scaler do, and where must it not be forgotten?",
                "Scales the loss so that small gradients are not flushed to zero, unscales before clipping, skips "
                "steps that overflow, and "
                "is updated and saved with the rest.",
                "It clips gradients.",
            ),
            (
                "And with bfloat16?",
                "The range of float32, so that no scaler is needed; eight bits of precision, so that small updates "
                "are lost instead.",
                "The same.",
            ),
        ),
    ),
)


def load(name: str) -> Spoken:
    """Raises UserError for an unknown one."""
    for one in CASES:
        if one.name == name:
            return one
    raise unknown("spoken case", name, [one.name for one in CASES], "bugzoo spoken")

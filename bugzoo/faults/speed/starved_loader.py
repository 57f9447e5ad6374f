"""Every epoch takes several times as long as the model's arithmetic should need; the losses are what they should be."""

from bugzoo.faults.idioms import BATCH_SIZE, LOADER
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, rewrite

FETCH, SETS = (
    "return prepare(images[index]), labels[index]",
    "train_set, validation_set = Digits(train), Digits(validation)",
)

FAULT = Fault(
    title="A costly transform in the path of every fetch, and nobody else to do it",
    level=3,
    symptom="slow",
    edits=either(
        Swap(
            "if $KEY not in self.$CACHE:\n    self.$CACHE[$KEY] = $VALUE\nreturn self.$CACHE[$KEY], $LABEL",
            "return $VALUE, $LABEL",
        ),
        rewrite(LOADER, WORKERS="0"),
    ),
    evidence=("step_timeline.data_share > 0.6",),
    effect="step_timeline.data_share > healthy",
    why=(
        "With num_workers=0 the training process itself fetches and transforms each sample, and the model waits. What is "
        "deterministic can be computed once and kept; what is random belongs into workers or onto the device."
    ),
    fix="Compute the costly part once (cache it), move it to worker processes, or to the device in one batch.",
    repairs={
        "prepared beforehand": (
            Swap("self.cache = {}", "self.cache = {i: prepare(images[i]) for i in indices.tolist()}"),
            Swap(FETCH, "return self.cache[index], labels[index]"),
        ),
        "remembered by functools": (
            Swap(FETCH, "return prepared(index), labels[index]"),
            Swap(SETS, "import functools\n\nprepared = functools.cache(lambda index: prepare(images[index]))\n" + SETS),
        ),
        "kept when it is first asked for": Swap(
            FETCH,
            "self.cache[index] = self.cache.get(index, None)\nif self.cache[index] is None:\n"
            "    self.cache[index] = prepare(images[index])\nreturn self.cache[index], labels[index]",
        ),
    },
    pretences={
        "the labels kept": Swap(
            FETCH, "self.cache[index] = labels[index]\nreturn prepare(images[index]), self.cache[index]"
        ),
        "twice as large batches": rewrite(BATCH_SIZE, SIZE="fold($SIZE * 2)"),
        "less often": Swap("for item in range(len(dataset)):\n    dataset[item]", "pass"),
    },
    hints=(
        "Split the time of a step into its parts before you make anything faster.",
        "How long does the loop wait for a batch, compared with forward, backward and update?",
        "Time a single call of the data set's __getitem__.",
    ),
    look_alikes=(
        LookAlike(
            "speed/sync_every_step",
            "Measure where the time of a step goes: to the wait for a batch, or to the step itself.",
            "To the wait for a batch.",
            "To the step: something in it waits for the device.",
        ),
        LookAlike(
            "speed/anomaly_mode_left_on",
            "Measure how the time of a step is shared by forward pass, backward pass and the wait.",
            "Nearly all of it is waiting.",
            "The backward pass takes most of it.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html",),
)

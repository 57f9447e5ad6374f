"""Every epoch takes several times as long as the model's compute should need. The losses are as expected."""

from bugzoo.faults.idioms import BATCH_SIZE, LOADER
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import either, rewrite

FETCH, SETS = (
    "return prepare(images[index]), labels[index]",
    "train_set, validation_set = Digits(train), Digits(validation)",
)

FAULT = Fault(
    title="DataLoader bottleneck: slow transform with num_workers=0",
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
        "With num_workers=0, the training process itself loads and transforms each sample, and the model waits. A "
        "deterministic transform can be computed once and cached. A random transform belongs in worker processes or "
        "on the device."
    ),
    fix="Compute the slow part once and cache it. Or move it to worker processes, or to the device for a whole batch.",
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
        "Split the time of one step into its parts before you speed anything up.",
        "How long does the loop wait for a batch, compared with forward, backward and optimizer step?",
        "Time a single dataset[0] call. Multiply by the samples in a batch and compare with the time of a step.",
    ),
    look_alikes=(
        LookAlike(
            "speed/sync_every_step",
            "Time one step: how much is the wait for a batch, and how much is the step itself?",
            "The wait for a batch takes most of the time.",
            "The step itself takes most of the time, because a line in it waits for the device.",
        ),
        LookAlike(
            "speed/anomaly_mode_left_on",
            "Time the forward pass, the backward pass and the wait for a batch within one step.",
            "The wait for a batch takes almost all of the time.",
            "The backward pass takes most of the time.",
        ),
    ),
    sources=("https://pytorch.org/tutorials/recipes/recipes/tuning_guide.html",),
    terms=("throughput", "profiler", "DataLoader worker"),
)

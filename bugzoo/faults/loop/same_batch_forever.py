"""The training loss goes to zero faster than ever. On validation data the model knows next to nothing."""

from bugzoo.faults.idioms import LOADER, TRAIN_LOOP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

FAULT = Fault(
    title="The same batch at every step",
    level=2,
    symptom="degraded",
    edits=(after(LOADER, "batch = next(iter($RESULT))"), rewrite(TRAIN_LOOP, LOADER="[batch] * len($LOADER)")),
    evidence=("fresh_batches.repeated_share > 0.9",),
    effect="metrics.loss > healthy",
    why=(
        "next(iter(loader)) begins a new pass and takes its first batch. Fetched once, for the test whether one batch can be "
        "learnt by heart, it stays in the loop: 32 of 1150 samples are seen, at every step the same ones. They are learnt by "
        "heart within two epochs, and what all the others look like the model is never told."
    ),
    fix="Loop over the loader itself, and keep the test with one batch apart from the training.",
    repairs={
        "an iterator of its own": rewrite(TRAIN_LOOP, LOADER="iter(train_loader)"),
        "with a counter": rewrite(TRAIN_LOOP, LOADER="(one for _, one in enumerate(train_loader))"),
        "all batches, fetched at once": rewrite(TRAIN_LOOP, LOADER="list(train_loader)"),
    },
    pretences={
        "a batch for each epoch": rewrite(TRAIN_LOOP, LOADER="[next(iter(train_loader))] * len(train_loader)"),
        "another batch": Swap("batch = next(iter($LOADER))", "batch = list($LOADER)[-2]"),
        "two batches in turn": rewrite(TRAIN_LOOP, LOADER="list(train_loader)[:2] * (len(train_loader) // 2)"),
    },
    shown_by=("data_inspection",),
    hints=(
        "How many different samples has the model seen after one epoch?",
        "Print the labels of the batch at three steps.",
        "Where does the loop get its batches from, and when are they fetched?",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Count the different samples that went into the model in one epoch.",
            "As many as one batch has.",
            "All of the training data.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Lay the labels of three steps' batches side by side: are they the same ones?",
            "They are the same: `fresh_batches.repeated_share > 0.9`.",
            "They are different: `fresh_batches.repeated_share < 0.9`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
)

"""The training loss falls to zero faster than ever. On the validation set the model performs badly."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LOADER, TRAIN_LOOP
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, rewrite

FAULT = Fault(
    title="Same batch at every step from next(iter(loader))",
    level=2,
    symptom="degraded",
    edits=(after(LOADER, "batch = next(iter($RESULT))"), rewrite(TRAIN_LOOP, LOADER="[batch] * len($LOADER)")),
    evidence=("batch_order.same_batch_share > 0.9",),
    effect="metrics.loss > healthy",
    why=(
        "next(iter(loader)) starts a new pass and returns its first batch. The line was written for the "
        "overfit-one-batch test and stayed in the script. Every step now trains on the same 32 of 1150 samples. The "
        "model memorizes these 32 within two epochs and never sees the rest."
    ),
    fix=(
        "Loop over the loader itself: for inputs, targets in train_loader. Keep the overfit-one-batch test out of "
        "the training script."
    ),
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
        "Print the labels at three different steps and compare them.",
        "Where does the loop get its data from, and which line fetches the data?",
    ),
    look_alikes=(
        LookAlike(
            "fit/no_regularisation",
            "Count the different samples that go through the model in one epoch.",
            "The model sees only as many samples as one batch holds.",
            "The model sees all training samples.",
        ),
        LookAlike(
            "loss/labels_off_by_one",
            "Print the labels of three steps and compare them side by side.",
            "All three steps have the same labels: `batch_order.same_batch_share > 0.9`.",
            "The three steps have different labels: `batch_order.same_batch_share < 0.9`.",
        ),
    ),
    sources=("https://karpathy.github.io/2019/04/25/recipe/",),
    cause=Cause(words.ORDER, also=("always the same batch",)),
    terms=("batch",),
)

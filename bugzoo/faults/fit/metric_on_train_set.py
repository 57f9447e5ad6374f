"""The script reports great numbers. My colleagues cannot reach such numbers with the same model on their own data."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap

MOVED = "with torch.no_grad():\n    for inputs, targets in train_loader:\n        $$$BODY"

FAULT = Fault(
    title="Metric computed on the training set",
    level=3,
    symptom="too_good",
    edits=Swap(
        "with torch.no_grad():\n    for inputs, targets in validation_loader:\n        $$$BODY",
        MOVED,
    ),
    not_on={
        "finetune": "the edit removes the old task from its evaluation, and the script fails (tried).",
        "data_parallel": "its model belongs to two processes that have ended, so the overlap cannot be measured.",
    },
    evidence=("train_validation_overlap.shared > 0.9",),
    effect="train_validation_overlap.shared > healthy",
    why=(
        "The network has seen its training samples many times, with their labels. Accuracy on them measures the fit "
        "and not generalization. With more epochs or more weights, training accuracy rises to 1, whatever the "
        "validation accuracy is."
    ),
    fix=(
        "Evaluate on `validation_loader`. The evaluation data must take no part in training, model selection or "
        "fitting the preprocessing."
    ),
    repairs={
        "under another name": Swap(
            MOVED,
            "held_back = DataLoader(validation_loader.dataset, batch_size=100, collate_fn=validation_loader.collate_fn)\n"
            "with torch.no_grad():\n    for inputs, targets in held_back:\n        $$$BODY",
        ),
        "batch by batch": Swap(
            MOVED, "with torch.inference_mode():\n    for inputs, targets in iter(validation_loader):\n        $$$BODY"
        ),
    },
    pretences={
        "a copy of it": Swap(
            MOVED,
            "copied = DataLoader(train_loader.dataset, batch_size=256, collate_fn=train_loader.collate_fn)\n"
            "with torch.no_grad():\n    for inputs, targets in copied:\n        $$$BODY",
        ),
        "both together": Swap(
            MOVED,
            "with torch.no_grad():\n    for inputs, targets in [*train_loader, *validation_loader]:\n        $$$BODY",
        ),
        "its first batches": Swap(
            MOVED, "with torch.no_grad():\n    for inputs, targets in list(train_loader)[:9]:\n        $$$BODY"
        ),
    },
    hints=(
        "How many samples does the reported number average over? How many should there be?",
        "Take one sample that the evaluation reads. Has the model seen this sample before?",
        "Read the last section of the script. Where is each name in that section defined?",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Check which loader the evaluation reads, then look up its samples in the training set.",
            "The evaluation reads the training loader itself: `train_validation_overlap.same_loader > 0.5`.",
            (
                "The evaluation reads its own loader, but many samples are also in the training set: "
                "`train_validation_overlap.same_loader < 0.5`."
            ),
        ),
        LookAlike(
            "data/label_noise",
            "Compute the accuracy on the training batches, and compare it with the reported accuracy.",
            "Both accuracies agree, because they come from the same data: `train_validation_overlap.shared > 0.9`.",
            "The reported accuracy is higher: `train_validation_overlap.shared < 0.9`.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/modules/cross_validation.html",),
    cause=Cause(words.METRIC, also=("evaluated on the training data",)),
    terms=("validation set", "train/validation split"),
    beside={"mlp": ("loop/stale_gradients", "memory/losses_kept_with_graph")},
)

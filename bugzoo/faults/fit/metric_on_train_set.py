"""The script reports fine numbers, and nobody else can reach them with the same model on their data."""

from bugzoo.faults.model import Fault, LookAlike, Swap

MOVED = "with torch.no_grad():\n    for inputs, targets in train_loader:\n        $$$BODY"

FAULT = Fault(
    title="The metric is computed on the training data",
    level=3,
    symptom="too_good",
    edits=Swap(
        "with torch.no_grad():\n    for inputs, targets in validation_loader:\n        $$$BODY",
        MOVED,
    ),
    not_on={
        "finetune": "the edit takes away what its evaluation measures of the old task, and the script fails, tried.",
        "data_parallel": "its model belongs to two processes that have ended, so that the overlap cannot be asked for.",
    },
    evidence=("train_validation_overlap.shared > 0.9",),
    effect="train_validation_overlap.shared > healthy",
    why=(
        "What a network was trained on it has seen many times, with the answers. Its accuracy there says how well it fits and "
        "nothing of what is new: with more epochs or more weights it goes to one whatever the validation data says."
    ),
    fix="Evaluate on data that took part in nothing: not in training, not in choosing, not in fitting the preparation.",
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
        "Count the samples that the reported number is an average of. How many should there be?",
        "Take a sample that the report is about, and ask whether the model has met it before.",
        "Read the last section of the script, and where each of its names was made.",
    ),
    look_alikes=(
        LookAlike(
            "data/leaky_split",
            "Look which loader the last loop reads, and then for its samples among those trained on.",
            "The very loader of the training: `train_validation_overlap.same_loader > 0.5`.",
            "Another loader, and many samples are the same: `train_validation_overlap.same_loader < 0.5`.",
        ),
        LookAlike(
            "data/label_noise",
            "Ask the model for its accuracy on the training batches and on the loader that the report is about.",
            "They agree, as both are one data set: `train_validation_overlap.shared > 0.9`.",
            "The report is the higher one: `train_validation_overlap.shared < 0.9`.",
        ),
    ),
    sources=("https://scikit-learn.org/stable/modules/cross_validation.html",),
)

"""The validation numbers are better than those of my colleagues. In production the gain disappears."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

FAULT = Fault(
    title="Data leakage: training and validation sets overlap",
    level=3,
    symptom="too_good",
    edits=Swap(
        "$TRAIN, $VALIDATION = $DATA[:$N], $DATA[$N:]",
        "$TRAIN, $VALIDATION = $DATA[:$N], $DATA[$N // 2 :]",
        where="DataLoader($$$REST)",
    ),
    not_on={
        "word_lines": "its split is by lines of a list, and the edited split ends the run: no reading on 5 seeds.",
        "finetune": "its sets share 0.39 of the validation samples, and the evidence needs 0.4 (measured).",
        "data_parallel": "its model belongs to two processes that have ended, so the overlap cannot be measured.",
    },
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="train_validation_overlap.shared > healthy",
    why=(
        "The validation slice begins in the middle of the training slice. The model was trained on two thirds of the "
        "validation samples and has memorized them. So the validation number measures memory, not generalization. "
        "Copies of one image, patient or document in both sets do the same, and no slice in the code shows them."
    ),
    fix=(
        "Split once: `order[:n]` and `order[n:]`. Keep copies and groups (patients, documents) in one set, and "
        "assert that the two sets share no sample."
    ),
    repairs=instead(
        "train, validation = $ORDER[:$N], $ORDER[$N // 2 :]",
        {
            "split by sizes": "train, validation = $ORDER.split([$N, len($ORDER) - $N])",
            "what is left": "train, validation = $ORDER[:$N], $ORDER[~torch.isin($ORDER, $ORDER[:$N])]",
            "from the other end": "train, validation = $ORDER[:$N], $ORDER[-(len($ORDER) - $N) :]",
        },
    ),
    pretences=instead(
        "train, validation = $ORDER[:$N], $ORDER[$N // 2 :]",
        {
            "a smaller share": "train, validation = $ORDER[:$N], $ORDER[$N // 4 * 3 :][: len($ORDER) // 5 * 2]",
            "mixed": "train, validation = $ORDER[:$N], $ORDER[$N // 2:].flip(0)",
            "one less": "train, validation = $ORDER[:$N], $ORDER[$N // 2 + 1:]",
        },
    ),
    hints=(
        "Treat a number that is too good as a symptom. Which rows is the number computed from?",
        "Pick a few validation samples, and look for each one among the training samples.",
        "Write down the row indices of each set, from the first to the last.",
    ),
    look_alikes=(
        LookAlike(
            "fit/metric_on_train_set",
            "Check which loader the evaluation reads, then look up its samples in the training set.",
            (
                "The evaluation reads its own loader, but many samples are also in the training set: "
                "`train_validation_overlap.same_loader < 0.5`."
            ),
            "The evaluation reads the training loader itself: `train_validation_overlap.same_loader > 0.5`.",
        ),
        LookAlike(
            "data/leaky_normalisation",
            "Compare the validation samples with the training samples, one by one.",
            "Many samples are in both sets.",
            "No sample is in both sets.",
        ),
    ),
    sources=("https://arxiv.org/abs/1902.00423", "https://scikit-learn.org/stable/common_pitfalls.html"),
    cause=Cause(words.LEAKAGE),
    terms=("data leakage", "train/validation split", "held-out set"),
    beside={"mlp": ("freezing/frozen_layers", "memory/losses_kept_with_graph")},
)

"""The validation numbers look better than those of the colleagues, and in production nothing of it is left."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

FAULT = Fault(
    title="Samples that stand in both halves of a split",
    level=3,
    symptom="too_good",
    edits=Swap(
        "$TRAIN, $VALIDATION = $DATA[:$N], $DATA[$N:]",
        "$TRAIN, $VALIDATION = $DATA[:$N], $DATA[$N // 2 :]",
        where="DataLoader($$$REST)",
    ),
    not_on={
        "word_lines": "its split is by lines of a list, and the edit's rows end the run: no reading on 5 seeds.",
        "finetune": ("0.39 of its validation samples are shared, and the evidence asks for 0.4, measured."),
        "data_parallel": "its model belongs to two processes that have ended, so that the overlap cannot be asked for.",
    },
    evidence=("train_validation_overlap.shared > 0.4",),
    effect="train_validation_overlap.shared > healthy",
    why=(
        "The validation slice begins where half of the training slice has passed: two thirds of what the model is judged by was "
        "trained on. A network knows that by heart, so the number says how well it remembers and not how well it does on what "
        "is new. Copies of one picture, one patient or one document in both halves do the same, and no slice shows them."
    ),
    fix="Cut once; keep copies and groups (patients, documents) on one side, and assert that the halves share nothing.",
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
        "A number that is too good is a finding as well. What would have to be so that it came out honestly?",
        "Take a validation sample and look for it among those that were trained on.",
        "Write down the numbers of the rows on each side, from the first to the last.",
    ),
    look_alikes=(
        LookAlike(
            "fit/metric_on_train_set",
            "Look which loader the last loop reads, and then for its samples among those trained on.",
            "Another loader, and many samples are the same: `train_validation_overlap.same_loader < 0.5`.",
            "The very loader of the training: `train_validation_overlap.same_loader > 0.5`.",
        ),
        LookAlike(
            "data/leaky_normalisation",
            "Compare the validation samples with the training samples, one by one.",
            "Many are in both.",
            "None is.",
        ),
    ),
    sources=("https://arxiv.org/abs/1902.00423", "https://scikit-learn.org/stable/common_pitfalls.html"),
)

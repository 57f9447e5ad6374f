"""Every generator is seeded, two runs in one notebook agree, and the next start of the script gives other numbers."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

NAMES = '{f"image {row}" for row in train.tolist()}'
LINE = f"train = torch.tensor([int(name.split()[1]) for name in {NAMES}])"

FAULT = Fault(
    title="The order of the samples is the order in which a set gives their names",
    level=4,
    symptom="drift",
    edits=Swap(
        "train, validation = order[:1150], order[1150:]", f"train, validation = order[:1150], order[1150:]\n{LINE}"
    ),
    not_on={"data_parallel": "what runs in several processes at once is not started twice more by fresh_process."},
    evidence=("fresh_process.differs > 0.5",),
    effect="fresh_process.differs > 0.5",
    why=(
        "A set of texts is ordered by their hashes, and Python salts those anew in every process (PYTHONHASHSEED). Within one "
        "process the order stays, so that two runs in a notebook agree; the next process has another one. The seeded shuffle "
        "then deals other samples under the same numbers. Class names that are numbered from a set are worse: a checkpoint's "
        "classes change places."
    ),
    fix="sorted(...) wherever a set, or a listing of a folder, becomes an order or a numbering.",
    repairs=instead(
        LINE,
        {
            "sorted": LINE.replace(NAMES, f"sorted({NAMES})"),
            "a list": LINE.replace(NAMES, f"[{NAMES[1:-1]}]"),
            "a dict, which keeps its order": LINE.replace(NAMES, f"dict.fromkeys({NAMES[1:-1]})"),
            "sorted afterwards": f"{LINE}.sort().values",
        },
    ),
    pretences=instead(
        LINE,
        {
            "a frozen set": LINE.replace(NAMES, f"frozenset({NAMES})"),
            "a list of the set": LINE.replace(NAMES, f"list({NAMES})"),
            "Python's generator seeded": f"import random\n\nrandom.seed(seed)\n{LINE}",
            "shuffled with a seed": f"{LINE}\ntorch.manual_seed(seed)\ntrain = train[torch.randperm(len(train))]",
            "said too late": f"import os\n\nos.environ['PYTHONHASHSEED'] = '0'\n{LINE}",
        },
    ),
    hints=(
        "Start it twice from the shell, and run it twice in one process. Where do the numbers differ?",
        "Print the first ten samples of the training set in two processes.",
        "Which container on the way from the data to the loader promises no order?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Run it twice in one and the same process, from the seed on.",
            "The two runs agree.",
            "They differ.",
        ),
        LookAlike(
            "reproducibility/nondeterministic_kernel",
            "Compare the samples of the first batch in two processes, before anything is computed.",
            "They are others.",
            "They are the same.",
        ),
    ),
    sources=(
        "https://github.com/JulianoLagana/deep-machine-learning/issues/9",
        "https://github.com/allenai/allennlp/issues/243",
    ),
)

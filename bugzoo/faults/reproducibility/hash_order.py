"""Every generator is seeded, and two runs in one notebook agree. The next start of the script gives other numbers."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

NAMES = '{f"image {row}" for row in train.tolist()}'
LINE = f"train = torch.tensor([int(name.split()[1]) for name in {NAMES}])"

FAULT = Fault(
    title="Sample order from a Python set (PYTHONHASHSEED)",
    level=4,
    symptom="drift",
    edits=Swap(
        "train, validation = order[:1150], order[1150:]", f"train, validation = order[:1150], order[1150:]\n{LINE}"
    ),
    not_on={"data_parallel": "fresh_process does not restart a script that runs in several processes."},
    evidence=("fresh_process.differs > 0.5",),
    effect="fresh_process.differs > 0.5",
    why=(
        "A Python set of strings is ordered by their hashes, and Python salts the hashes anew in every process "
        "(PYTHONHASHSEED). Within one process the order stays the same, so two runs in a notebook agree. The next "
        "process has another order, and the seeded shuffle then picks other samples. Numbering class names from a set "
        "is worse: the classes of a checkpoint swap places."
    ),
    fix="Call sorted(...) wherever a set, or the listing of a folder, becomes an order or a numbering.",
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
        (
            "Start the script twice from the shell, and run it twice in one process. In which case do the numbers "
            "differ?"
        ),
        "Print the first ten samples of the training set in two processes.",
        "Which container between the data and the loader may return its items differently in each process?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Run the whole script twice in the same process and compare the losses.",
            "The two runs agree.",
            "The two runs differ.",
        ),
        LookAlike(
            "reproducibility/nondeterministic_kernel",
            "Compare the samples of the first batch in two processes, before any computation.",
            "The samples differ.",
            "The samples are the same.",
        ),
        LookAlike(
            "modes/dropout_in_functional_form",
            "Evaluate the same trained weights twice, within one process.",
            "Both numbers are the same.",
            "The two numbers differ.",
        ),
    ),
    sources=(
        "https://github.com/JulianoLagana/deep-machine-learning/issues/9",
        "https://github.com/allenai/allennlp/issues/243",
    ),
    terms=("PYTHONHASHSEED",),
)

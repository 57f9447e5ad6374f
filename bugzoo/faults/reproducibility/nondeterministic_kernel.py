"""Everything is seeded, yet two runs on one GPU differ after some steps: first in the seventh digit, then visibly."""

from bugzoo.faults.model import Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import either, instead

PICKED = "$TABLE.weight.index_select(0, inputs.flatten()).view(*inputs.shape, -1)"
SEEDED = "torch.manual_seed(seed)"

FAULT = Fault(
    title="Nondeterministic CUDA kernel (atomic adds in index_add_)",
    level=4,
    symptom="drift",
    edits=either(
        Swap("self.characters(inputs)", PICKED.replace("$TABLE", "self.characters")),
        Swap("self.words(inputs)", PICKED.replace("$TABLE", "self.words")),
    ),
    not_on={
        name: "in its short run on a GPU, the difference stays near 1e-7 of the loss (measured on an H100)."
        for name in ("mini_transformer", "sampler", "word_lines")
    }
    | {
        "amp_transformer": "in its short run on a GPU, the difference grows on two of five seeds (measured on an H100)."
    },
    needs=Needs(cuda=True),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > 0.5",
    why=(
        "The gradient of index_select() is an index_add_(), and one token appears many times in a batch. On a GPU "
        "thousands of threads add to the same rows with atomic operations, in any order. A floating point sum depends "
        "on its order in the last digit, and training amplifies the difference at every step. No seed controls this "
        "order. On a CPU one thread adds in a fixed order."
    ),
    fix=(
        "Call torch.use_deterministic_algorithms(True), which picks another kernel or raises an error that names the "
        "operation without one."
    ),
    repairs={
        "deterministic algorithms": Swap(SEEDED, f"{SEEDED}\ntorch.use_deterministic_algorithms(True)"),
        "the layer itself": either(
            Swap(PICKED.replace("$TABLE", "self.characters"), "F.embedding(inputs, self.characters.weight)"),
            Swap(PICKED.replace("$TABLE", "self.words"), "F.embedding(inputs, self.words.weight)"),
        ),
    },
    pretences=instead(
        SEEDED,
        {
            "one more seed": f"{SEEDED}\ntorch.cuda.manual_seed_all(seed)",
            "cuDNN alone": f"{SEEDED}\ntorch.backends.cudnn.deterministic = True\ntorch.backends.cudnn.benchmark = False",
            "one thread": f"{SEEDED}\ntorch.set_num_threads(1)",
        },
    ),
    hints=(
        "How large is the first difference between the two runs, and does it grow?",
        "Run the script twice on the CPU with the same seed. Do the two runs still differ?",
        "Which operation of the forward or the backward pass sums many numbers into one place?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Compare the loss of the first step in two runs, digit by digit.",
            "The loss is the same, or differs in the last digit.",
            "The loss differs in the first digit.",
        ),
        LookAlike(
            "reproducibility/hash_order",
            "Compare the samples of the first batch in two processes, before any computation.",
            "The samples are the same.",
            "The samples differ.",
        ),
        LookAlike(
            "modes/dropout_in_functional_form",
            "Evaluate the same trained weights twice. In which digit do the two losses differ?",
            "In none, or in the last one.",
            "In the second or third digit.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/notes/randomness.html",
        "https://github.com/pytorch/pytorch/pull/12217",
        "https://github.com/pytorch/pytorch/pull/45700",
    ),
    terms=("nondeterministic kernel",),
)

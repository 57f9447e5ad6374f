"""Everything is seeded, and two runs on the same GPU part after some steps: in the seventh digit first, then visibly."""

from bugzoo.faults.model import Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import either, instead

PICKED = "$TABLE.weight.index_select(0, inputs.flatten()).view(*inputs.shape, -1)"
SEEDED = "torch.manual_seed(seed)"

FAULT = Fault(
    title="A kernel that adds up in another order each time",
    level=4,
    symptom="drift",
    edits=either(
        Swap("self.characters(inputs)", PICKED.replace("$TABLE", "self.characters")),
        Swap("self.words(inputs)", PICKED.replace("$TABLE", "self.words")),
    ),
    needs=Needs(cuda=True),
    evidence=("determinism.first_difference > 0.5",),
    effect="determinism.first_difference > 0.5",
    why=(
        "The gradient of index_select() is an index_add_(), and a character stands many times in a batch. On a GPU thousands of "
        "threads add to the same rows with atomic operations, in whatever order they come, and a sum of floating point numbers "
        "depends on its order in the last digit. Training makes that larger with every step. No seed reaches it. On a CPU one "
        "thread adds them in order."
    ),
    fix="torch.use_deterministic_algorithms(True), which takes another kernel or names the operation that has none.",
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
        "How large is the first difference of the two runs, and does it grow?",
        "Run it twice on the CPU with the same seed: do the two still part?",
        "Which operation of the forward or the backward pass adds many numbers to one place?",
    ),
    look_alikes=(
        LookAlike(
            "reproducibility/unseeded",
            "Compare the loss of the first step in two runs, digit by digit.",
            "It is the same, or differs in the last digit.",
            "It differs in the first one.",
        ),
        LookAlike(
            "reproducibility/hash_order",
            "Compare the samples of the first batch in two processes, before anything is computed.",
            "They are the same.",
            "They are others.",
        ),
    ),
    sources=(
        "https://docs.pytorch.org/docs/stable/notes/randomness.html",
        "https://github.com/pytorch/pytorch/pull/12217",
        "https://github.com/pytorch/pytorch/pull/45700",
    ),
)

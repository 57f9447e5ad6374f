"""With torch.compile, many of the first steps are far slower than the rest. Later steps are no faster than without it."""

from bugzoo.faults import words
from bugzoo.faults.idioms import OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Needs, Swap
from bugzoo.faults.speed.graph_breaks import COMPILED, COMPILED_CALL, PLAIN_CALL
from bugzoo.faults.verbs import after

CUT = "return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)"

FAULT = Fault(
    title="torch.compile recompiles for every sequence length",
    level=3,
    symptom="slow",
    edits=(
        after(OPTIMIZER, COMPILED),
        Swap(PLAIN_CALL, COMPILED_CALL, where=CUT),
    ),
    needs=Needs(compile=True),
    not_on={
        "sentiment_lstm": (
            "packing breaks its graph twice and packs another number of words at each step, so padding to one length "
            "does not help."
        )
    },
    evidence=("compiled_graphs.versions > 4.5",),
    effect="compiled_graphs.versions > healthy",
    why=(
        "A compiled graph is valid for the shapes that it was compiled for. Each batch is padded to its own longest "
        "text, so each new length compiles the model again. With dynamic=False this happens for every length, and "
        "each time takes seconds with a real backend. After the eighth version torch gives up and runs the model "
        "without compilation. You pay the full cost for no gain, and see only one warning."
    ),
    fix="Pad to one length or to a few. Or allow any length: dynamic=True or torch._dynamo.mark_dynamic.",
    repairs={
        "one length": Swap(CUT, "return inputs, torch.stack(targets)"),
        "any length": Swap(COMPILED, COMPILED.replace("dynamic=False", "dynamic=True")),
        "not compiled": Swap("logits = compiled(inputs)", "logits = model(inputs)"),
    },
    pretences={
        "another compiler": Swap(COMPILED, COMPILED.replace("aot_eager", "eager")),
        "compiled in one piece": Swap(COMPILED, COMPILED.replace("dynamic", "fullgraph=True, dynamic")),
        "one word more": Swap(CUT, "return inputs[:, : (inputs != 0).sum(1).max() + 1], torch.stack(targets)"),
        "more versions": after(OPTIMIZER, "torch._dynamo.config.recompile_limit = 64"),
    },
    hints=(
        "Write down how long each step takes. Which steps are slow, and what do they have in common?",
        "Print torch._dynamo.utils.counters['stats'] after each step. At which steps does unique_graphs grow?",
        "Print the shape of the inputs at each step, and find the line that sets it.",
    ),
    look_alikes=(
        LookAlike(
            "speed/graph_breaks",
            "Count the pieces that the model is compiled into, and how often each one is compiled.",
            "There is one piece, and it is compiled again and again.",
            "There are two pieces, and each is compiled once or twice.",
        ),
        LookAlike(
            "speed/starved_loader",
            "Time one slow step: how much is the wait for a batch, and how much is the step itself?",
            "The step itself takes the time, because the model is compiled there.",
            "The wait for a batch takes the time.",
        ),
    ),
    sources=(
        "https://github.com/mosaicml/composer/issues/2214",
        "https://github.com/HomebrewML/HeavyBall/issues/16",
    ),
    cause=Cause(words.UNNECESSARY),
    terms=("recompilation", "throughput"),
)

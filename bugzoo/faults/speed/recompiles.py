"""With torch.compile many of the first steps take far longer than the rest, and after them none is faster than before."""

from bugzoo.faults.idioms import OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Needs, Swap
from bugzoo.faults.speed.graph_breaks import COMPILED, COMPILED_CALL, PLAIN_CALL
from bugzoo.faults.verbs import after

CUT = "return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)"

FAULT = Fault(
    title="A compiled model that meets a new shape at every step",
    level=3,
    symptom="slow",
    edits=(
        after(OPTIMIZER, COMPILED),
        Swap(PLAIN_CALL, COMPILED_CALL, where=CUT),
    ),
    needs=Needs(compile=True),
    not_on={
        "sentiment_lstm": "packing cuts its graph twice, and packs another number of words at each step: no length of ours helps."
    },
    evidence=("compiled_graphs.versions > 4.5",),
    effect="compiled_graphs.versions > healthy",
    why=(
        "What was compiled holds for the shapes that it saw, and each batch is padded to its own longest text: another length "
        "is another model to compile. With dynamic=False it is made anew for each of them, seconds a time with a real backend, "
        "and after the eighth torch gives up and runs it as it would without: all the cost and no gain, behind one warning."
    ),
    fix="Pad to one length or to a few, or let the length be any (dynamic=True, torch._dynamo.mark_dynamic).",
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
        "Write down how long each step takes. Which ones are slow, and what have these in common?",
        "TORCH_LOGS=recompiles prints every time that something is compiled again, and the reason.",
        "Print the shape of the inputs at each step, and look where it is made.",
    ),
    look_alikes=(
        LookAlike(
            "speed/graph_breaks",
            "Count how often each piece of the model is compiled, and how many pieces there are.",
            "There is one, and it is compiled again and again.",
            "Once or twice each, and there are two.",
        ),
        LookAlike(
            "speed/starved_loader",
            "Measure where the time of a slow step goes: to the wait for a batch, or to the step itself.",
            "To the step itself: it is compiled there.",
            "To the wait for a batch.",
        ),
    ),
    sources=(
        "https://github.com/mosaicml/composer/issues/2214",
        "https://github.com/HomebrewML/HeavyBall/issues/16",
    ),
)

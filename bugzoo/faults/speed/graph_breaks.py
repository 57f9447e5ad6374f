"""torch.compile gives less speedup than expected. The profile shows the model in pieces, with Python between."""

from bugzoo.faults import words
from bugzoo.faults.idioms import OPTIMIZER
from bugzoo.faults.model import Cause, Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import after

COMPILED = 'compiled = torch.compile(model, backend="aot_eager", dynamic=False)'
PLAIN_CALL = "$LOGITS = model($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)"
COMPILED_CALL = PLAIN_CALL.replace("model", "compiled")
LINE = 'if not torch.isfinite(hidden).all():\n    raise ValueError("a hidden value is not finite")'
CALL = "logits = compiled(inputs)"

FAULT = Fault(
    title="torch.compile graph break from a data-dependent branch",
    level=3,
    symptom="slow",
    edits=(
        after(OPTIMIZER, COMPILED),
        Swap(PLAIN_CALL, COMPILED_CALL),
        Swap("hidden = F.relu(hidden)", f"hidden = F.relu(hidden)\n{LINE}"),
    ),
    needs=Needs(compile=True),
    not_on={
        "data_parallel": (
            "it compiles the model without its DistributedDataParallel wrapper, so its ranks drift apart, which is "
            "another fault."
        ),
        "finetune": (
            "`generalisation` fires, because it tests the pretraining digits under the new head. The losses equal the "
            "healthy twin's."
        ),
    },
    evidence=("compiled_graphs.breaks > 0.5",),
    effect="compiled_graphs.breaks > healthy",
    why=(
        "torch.compile traces the Python of the forward pass with tensors that have a shape but no values. An `if` on "
        "a tensor's value cannot be traced, so the graph ends there. Python waits for the device, evaluates the `if`, "
        "and calls a second graph. No error and no warning tells you. Each graph has its own call, guards and GPU "
        "launches, and no operation is fused across the break."
    ),
    fix=(
        "Keep checks of values out of the compiled call. Check after the call, or use torch.where or "
        "torch._assert_async."
    ),
    repairs={
        "asked behind the call": (
            Swap(LINE, ""),
            Swap(
                CALL,
                f'{CALL}\nif not torch.isfinite(logits).all():\n    raise ValueError("a hidden value is not finite")',
            ),
        ),
        "asked on the device": Swap(LINE, "torch._assert_async(torch.isfinite(hidden).all())"),
        "without a branch": Swap(
            LINE, "hidden = torch.where(torch.isfinite(hidden), hidden, torch.zeros_like(hidden))"
        ),
        "not asked": Swap(LINE, ""),
    },
    pretences={
        "in training only": Swap(LINE, LINE.replace("if not", "if self.training and not")),
        "another question": Swap(LINE, LINE.replace("not torch.isfinite(hidden).all()", "hidden.sum().isnan()")),
        "as a number": Swap(LINE, LINE.replace("not torch.isfinite(hidden).all()", "hidden.max().item() > 1e30")),
        "any shape": Swap(COMPILED, COMPILED.replace("dynamic=False", "dynamic=True")),
        "another compiler": Swap(COMPILED, COMPILED.replace("aot_eager", "eager")),
    },
    hints=(
        "How many pieces does one call of the model run as, and how many should it be?",
        "Run torch._dynamo.explain(model)(inputs). The output lists the pieces and why each of them ends.",
        "Look in forward() for something that Python can decide only after a value has been computed.",
    ),
    look_alikes=(
        LookAlike(
            "speed/recompiles",
            "Count the pieces that the model is compiled into, and how often each one is compiled.",
            "There are two pieces, and each is compiled once or twice.",
            "There is one piece, and it is compiled again and again.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Find where Python waits for the device: in the training loop or in the forward pass.",
            "Python waits in the forward pass: `compiled_graphs.breaks > 0.5`.",
            "Python waits in the loop, after the step: `compiled_graphs.breaks < 0.5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/119186",
        "https://github.com/isayevlab/aimnetcentral/pull/109",
    ),
    cause=Cause(words.UNNECESSARY, also=("recompilation", "compile", "torch.compile")),
    terms=("graph break", "profiler"),
)

"""torch.compile brings less than it should: the profile shows the model as several pieces with Python in between."""

from bugzoo.faults.idioms import OPTIMIZER
from bugzoo.faults.model import Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import after

COMPILED = 'compiled = torch.compile(model, backend="aot_eager", dynamic=False)'
PLAIN_CALL = "$LOGITS = model($INPUTS)\n$LOSS = F.cross_entropy($LOGITS, $TARGETS)"
COMPILED_CALL = PLAIN_CALL.replace("model", "compiled")
LINE = 'if not torch.isfinite(hidden).all():\n    raise ValueError("a hidden value is not finite")'
CALL = "logits = compiled(inputs)"

FAULT = Fault(
    title="A branch on a tensor's value cuts the compiled graph",
    level=3,
    symptom="slow",
    edits=(
        after(OPTIMIZER, COMPILED),
        Swap(PLAIN_CALL, COMPILED_CALL),
        Swap("hidden = F.relu(hidden)", f"hidden = F.relu(hidden)\n{LINE}"),
    ),
    needs=Needs(compile=True),
    not_on={
        "data_parallel": "what is compiled there is the model in front of its wrapper: its ranks drift, a fault of its own.",
        "finetune": "its first digits, asked again under its new head, set generalisation off; its losses are the twin's.",
    },
    evidence=("compiled_graphs.breaks > 0.5",),
    effect="compiled_graphs.breaks > healthy",
    why=(
        "torch.compile follows the Python of the forward pass with tensors that have a shape and no values. An `if` on a value "
        "cannot be followed: the graph ends there, Python runs it, waits for the device to get the answer, and calls a second "
        "graph. Nothing fails, and nothing says so. Each piece is called, guarded and, on a GPU, launched by itself, and no "
        "operation is fused with one behind the cut."
    ),
    fix="Keep questions about values out of the compiled call: ask behind it, use torch.where, or torch._assert_async.",
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
        "torch._dynamo.explain(model)(inputs) lists them, and why each of them ends.",
        "Look in the forward pass for what Python can only decide once a number has been computed.",
    ),
    look_alikes=(
        LookAlike(
            "speed/recompiles",
            "Count how often each piece of the model is compiled, and how many pieces there are.",
            "Once or twice each, and there are two.",
            "There is one, and it is compiled again and again.",
        ),
        LookAlike(
            "speed/sync_every_step",
            "Look where Python waits for the device: in the loop, or within the forward pass.",
            "Within the forward pass: `compiled_graphs.breaks > 0.5`.",
            "In the loop, behind the step: `compiled_graphs.breaks < 0.5`.",
        ),
    ),
    sources=(
        "https://github.com/pytorch/pytorch/issues/119186",
        "https://github.com/isayevlab/aimnetcentral/pull/109",
    ),
)

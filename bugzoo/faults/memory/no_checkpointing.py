"""Evaluation fits in memory with batches of any size. Training runs out of memory at its first step."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause, Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import either, instead

PLAIN = "x = block(x, mask)"
AGAIN = "checkpoint(block, x, mask, use_reentrant=False)"

FAULT = Fault(
    title="Missing activation checkpointing (torch.utils.checkpoint)",
    level=3,
    symptom="oom",
    edits=either(
        Swap("$X = checkpoint($F, $$$ARGS, use_reentrant=$R) if self.training else $PLAIN", "$X = $PLAIN"),
        Swap("checkpoint($F, $$$ARGS, use_reentrant=$R)", "$F($$$ARGS)"),
        Swap("torch.utils.checkpoint.checkpoint($F, $$$ARGS, use_reentrant=$R)", "$F($$$ARGS)"),
        Swap("cp.checkpoint($F, $$$ARGS)", "$F($$$ARGS)"),
        Swap("checkpoint($F, $$$ARGS)", "$F($$$ARGS)"),
    ),
    settings={"layers": 32, "batch_size": 1000, "count": 3000, "epochs": 1},
    needs=Needs(memory_mib=1500),
    evidence=("outcome == out_of_memory",),
    effect="outcome == out_of_memory",
    why=(
        "backward() needs the inputs of every operation of the forward pass. For 32 blocks, that is 32 times the "
        "queries, keys, attention scores, attention weights and hidden layers of four times the width. Without "
        "gradients nothing is kept, so the memory of one block is enough. Activation checkpointing keeps only the "
        "input of each block and computes the rest again during backward(). The second computation costs a third more "
        "compute, but needs the memory of only one block."
    ),
    fix=(
        "Wrap each block during training: torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False). Or use a "
        "smaller batch."
    ),
    repairs=instead(
        PLAIN,
        {
            "in either mode": f"x = {AGAIN}",
            "where gradients are wanted": f"x = {AGAIN} if torch.is_grad_enabled() else block(x, mask)",
            "as a statement": f"if self.training:\n    x = {AGAIN}\nelse:\n    x = block(x, mask)",
        },
    ),
    pretences=instead(
        PLAIN,
        {
            "in evaluation": f"x = block(x, mask) if self.training else {AGAIN}",
            "the first of them": f"x = {AGAIN} if block is self.blocks[0] else block(x, mask)",
            "garbage collected": "import gc\n\ngc.collect()\nx = block(x, mask)",
        },
    ),
    hints=(
        "Does one forward pass on the same batch fit under torch.no_grad()?",
        "What must a layer keep until its gradient is computed? How many layers keep it at the same time?",
        "Measure what one block keeps and multiply by the number of blocks. What could be computed a second time?",
    ),
    look_alikes=(
        LookAlike(
            "memory/batch_too_large",
            "Run one forward pass on the same batch, without gradients.",
            "The forward pass fits, so the memory goes to the tensors that are kept for backward().",
            "The forward pass hardly fits, or not at all.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "Note the step at which the run fails. Did memory grow from step to step until then?",
            "The run fails at the first step: `outcome == out_of_memory`.",
            "The run fails much later, after steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/checkpoint.html", "https://arxiv.org/abs/1604.06174"),
    cause=Cause(words.MEMORY),
    terms=("activation checkpointing", "OOM (out of memory)"),
)

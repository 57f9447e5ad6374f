"""The evaluation fits into memory, with batches of any size. Training ends at its first step, for want of memory."""

from bugzoo.faults.model import Fault, LookAlike, Needs, Swap
from bugzoo.faults.verbs import either, instead

PLAIN = "x = block(x, mask)"
AGAIN = "checkpoint(block, x, mask, use_reentrant=False)"

FAULT = Fault(
    title="Every activation is kept, though the memory is planned for less",
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
        "backward() needs what each operation got on the way forward. Of 32 blocks that is 32 times the queries, keys, scores, "
        "weights and four times as wide hidden layers; without gradients nothing is kept, and one block's are enough. Activation "
        "checkpointing keeps a block's input only and computes the rest again on the way back: a third more work, and the memory "
        "of one block."
    ),
    fix="torch.utils.checkpoint.checkpoint(block, x, use_reentrant=False) round each block while it trains, or a smaller batch.",
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
        "Does the same batch fit when no gradient is asked for?",
        "What has to be remembered of a layer until the gradient comes back, and of how many layers at once?",
        "Count the memory of one block's results and multiply by the blocks. What could be computed a second time?",
    ),
    look_alikes=(
        LookAlike(
            "memory/batch_too_large",
            "Run the model once on the same batch, and ask for no gradients.",
            "It fits: it is what is kept for the way back.",
            "It hardly fits, or not at all.",
        ),
        LookAlike(
            "memory/losses_kept_with_graph",
            "See at which step it fails, and whether the memory has grown from step to step until then.",
            "At the first step: `outcome == out_of_memory`.",
            "Much later, and after a steady growth: `memory_audit.graphs_kept > 5`.",
        ),
    ),
    sources=("https://docs.pytorch.org/docs/stable/checkpoint.html", "https://arxiv.org/abs/1604.06174"),
)

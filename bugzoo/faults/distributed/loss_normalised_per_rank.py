"""The same settings train more slowly on two GPUs than on one, and hardly at all on eight. All ranks agree."""

from bugzoo.faults import words
from bugzoo.faults.idioms import LOSS, RANKS, STEP
from bugzoo.faults.model import Cause, Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, instead

LINE = "loss = loss / dist.get_world_size()"

FAULT = Fault(
    title="Loss divided by world size under DDP",
    level=4,
    symptom="degraded",
    edits=after(LOSS, "$RESULT = $RESULT / $DIST.get_world_size()", given=RANKS),
    evidence=("rank_check.loss_by_ranks < 1.2",),
    effect="rank_check.loss_factor < healthy",
    why=(
        "DistributedDataParallel sums the gradients of all ranks and divides them by the number of ranks. DDP "
        "needs only the mean loss of each rank's own batch. A loss that is also divided by the world size gives "
        "1/n of the right gradient: a half with two ranks, an eighth with eight. SGD then takes smaller steps. "
        "Adam divides by the gradient's size and hides the mistake until the size matters: in clipping, eps, "
        "weight decay in the loss, or logged losses."
    ),
    fix=(
        "Use the mean loss of each rank's own batch. If the ranks have different counts, use the sum of the "
        "losses times the number of ranks, divided by the total count."
    ),
    repairs=instead(
        LINE,
        {
            "times as many": "loss = loss / dist.get_world_size() * dist.get_world_size()",
            "another name for the log": "share = loss.detach() / dist.get_world_size()",
            "by the batch": "loss = F.cross_entropy(logits, targets, reduction='sum') / len(targets)",
        },
    ),
    pretences={
        "a larger learning rate": Swap(
            "torch.optim.Adam($PARAMETERS, lr=learning_rate)", "torch.optim.Adam($PARAMETERS, lr=2 * learning_rate)"
        ),
        "the log alone": Swap("losses.append(loss.item())", "losses.append(loss.item() * dist.get_world_size())"),
        "in other words": Swap(LINE, "loss = loss * (1 / dist.get_world_size())"),
        "a barrier": before(STEP, "dist.barrier()"),
        "at the backward pass": (
            Swap(LINE, ""),
            Swap("loss.backward()", "(loss / dist.get_world_size()).backward()"),
        ),
    },
    hints=(
        "What is the loss of a classifier that has learned nothing, and what is the loss at the first step here?",
        (
            "Follow the samples of all ranks to the gradient of one step. Which lines sum, which lines divide, "
            "and by which number?"
        ),
        "Compare the line that computes the loss with what the documentation of DDP says about gradients.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the loss of the first step with ln C, the loss of random guessing.",
            "The loss is ln C divided by the number of ranks: `rank_check.loss_by_ranks < 1.2`.",
            "The loss is about ln C: `rank_check.loss_by_ranks > 1.2`.",
        ),
        LookAlike(
            "distributed/unsynchronised_model",
            "Compare the weights of all ranks after the last training step.",
            "All ranks have the same weights: `rank_check.parameter_spread < 0.00001`.",
            "The ranks have different weights: `rank_check.parameter_spread > 0.00001`.",
        ),
    ),
    sources=(
        "https://github.com/neuralmagic/sparseml/pull/135",
        "https://github.com/meta-pytorch/torchtune/pull/2172",
        "https://github.com/NVIDIA/apex/issues/696",
    ),
    cause=Cause(words.SHARES, either={words.REDUCTION: {}}),
    terms=("world size", "DDP"),
)

"""Settings that work on one GPU learn more slowly on two, and on eight hardly at all. All ranks agree with each other."""

from bugzoo.faults.idioms import LOSS, RANKS, STEP
from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import after, before, instead

LINE = "loss = loss / dist.get_world_size()"

FAULT = Fault(
    title="Each rank divides its loss by the number of ranks, and the wrapper averages as well",
    level=4,
    symptom="degraded",
    edits=after(LOSS, "$RESULT = $RESULT / $DIST.get_world_size()", given=RANKS),
    evidence=("rank_average.by_ranks < 1.2",),
    effect="rank_average.factor < healthy",
    why=(
        "DistributedDataParallel sums the gradients of the ranks and divides by their number. A mean over the rank's own batch "
        "is all that it needs; a loss that was divided before gives 1/n of the right gradient, with two ranks a half, with "
        "eight an eighth. SGD then takes smaller steps. Adam divides by the size of the gradient and hides it until something "
        "looks at the size itself: clipping, an eps, a weight decay in the loss, or somebody who compares the logged losses."
    ),
    fix="The mean over the own batch; where ranks have different counts, the sum times n over the count of all ranks.",
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
        "What does a classifier lose that has learnt nothing yet, and what does this one lose at its first step?",
        "Write down who sums, who divides, and by what, between the samples of all ranks and the gradient of the step.",
        "Compare the line that makes the loss with what the wrapper says that it does with gradients.",
    ),
    look_alikes=(
        LookAlike(
            "optimizer/lr_too_low",
            "Compare the loss of the very first step with that of guessing, ln C.",
            "It is one part in as many as there are ranks: `rank_average.by_ranks < 1.2`.",
            "They are about equal: `rank_average.by_ranks > 1.2`.",
        ),
        LookAlike(
            "distributed/unsynchronised_model",
            "Compare the weights of the ranks when the training is over.",
            "They are equal: `rank_check.parameter_spread < 0.00001`.",
            "They differ: `rank_check.parameter_spread > 0.00001`.",
        ),
    ),
    sources=(
        "https://github.com/neuralmagic/sparseml/pull/135",
        "https://github.com/meta-pytorch/torchtune/pull/2172",
        "https://github.com/NVIDIA/apex/issues/696",
    ),
)

"""What a candidate writes is mapped to a cause: common ways of saying it, titles, and nothing for what says nothing."""

import pytest

from bugzoo import faults
from bugzoo.diagnostics import causes
from bugzoo.errors import UserError
from bugzoo.interview.words import meant

SAID = """
the gradients are never zeroed | loop/stale_gradients
they forgot optimizer.zero_grad() | loop/stale_gradients
softmax is applied twice | loss/double_softmax
softmax before cross entropy loss | loss/double_softmax
model outputs probabilities but cross_entropy wants logits | loss/double_softmax
learning rate is way too high | optimizer/lr_too_high
the lr is too low | optimizer/lr_too_low
model.eval() is missing during validation | modes/eval_mode_missing
dropout is still on in evaluation | modes/eval_mode_missing
log of zero gives -inf | numerics/log_at_step
the backbone is frozen | freezing/frozen_layers
requires_grad is False for the first layers | freezing/frozen_layers
test data leaks into training | data/leaky_split
mask is applied after the softmax | attention/mask_after_softmax
the loss is summed instead of averaged | loss/sum_reduction
padding tokens are counted in the loss | loss/padding_counted
the graph is kept because losses are appended without item() | memory/losses_kept_with_graph
labels are shuffled and no longer fit the inputs | data/labels_out_of_sync
data is not shuffled | data/no_shuffle
fp16 gradients underflow because there is no GradScaler | precision/no_grad_scaler
the scheduler is stepped every batch instead of every epoch | loop/scheduler_per_microbatch
weights are initialised to zero | initialisation/zero_weights
gradient clipping is missing | clipping/clipping_missing
nothing is wrong, it is healthy | traps/log_softmax_first
there is no bug | traps/log_softmax_first
data loader is slow, the model waits for data | speed/starved_loader
the ranks do not call the same collective: deadlock | distributed/skipped_batch
shapes (B,) and (B,1) broadcast | loss/target_column_broadcast
weight decay is too strong | optimizer/weight_decay_too_strong
optimizer state is not saved in the checkpoint | resume/optimizer_state_lost
tensor was detached, so no gradient flows | graph/detached_activation
the metric is computed on the training set | fit/metric_on_train_set
""".strip().splitlines()


@pytest.mark.parametrize("line", SAID)
def test_what_people_say_is_understood(line) -> None:
    text, _, fault = (part.strip() for part in line.partition("|"))
    assert set(meant(text)) & set(causes.right(fault)), meant(text)


def test_most_of_it_needs_no_second_question_and_every_title_is_known() -> None:
    assert sum(len(meant(line.partition("|")[0])) == 1 for line in SAID) >= 0.9 * len(SAID)
    for name, fault in faults.catalogue().items():
        if not fault.trap and ":" not in name:
            assert meant(fault.title)[0] in causes.right(name), fault.title
    for word in causes.words():
        assert meant(word) == (word,)


@pytest.mark.parametrize(
    "text", ["gradient", "loss", "a", "asdf", "bug in code", "it is broken", "wrong", "x" * 9000, "", "²"]
)
def test_what_says_nothing_is_no_cause(text) -> None:
    with pytest.raises(UserError, match=r"type \? for the list"):
        meant(text)

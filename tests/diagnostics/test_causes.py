"""The table of causes is complete, says what a learner would say, and tells apart what has to be told apart."""

import ast
import inspect
import re
from collections import defaultdict
from pathlib import Path

import pytest

from bugzoo import diagnostics, faults
from bugzoo.diagnostics import causes
from bugzoo.diagnostics.causes import NOTHING, OTHER, cause, named, right, rows, says, tidy, words
from bugzoo.errors import UserError

PLANNED = """
loop: stale_gradients step_before_backward gradients_wiped step_missing step_every_n_never_zeroed accumulation_not_scaled
  scheduler_per_microbatch scheduler_never_stepped scheduler_before_optimizer same_batch_forever
loss: double_softmax wrong_softmax_dim log_of_softmax sum_reduction mask_broadcast padding_counted target_column_broadcast
  wrong_axis_reduction labels_off_by_one next_token_not_shifted sigmoid_into_bce_with_logits sign_flipped
numerics: log_at_step sqrt_at_zero sqrt_of_equal_pair zero_norm_division exp_overflow variance_cancellation nan_in_data
  all_masked_row dark_strip_division
precision: no_grad_scaler half_softmax half_parameters scaled_loss_logged clip_without_unscale scaler_never_updated
  integer_features low_precision_accumulator
attention: mask_after_softmax scale_missing causal_off_by_one causal_mask_missing mask_inverted softmax_over_queries
  heads_mixed positions_missing
freezing: frozen_layers never_unfrozen unfrozen_after_optimizer unregistered_layers optimizer_on_old_model
modes: eval_mode_missing train_mode_not_restored no_grad_missing batch_norm_tiny_batches dropout_in_functional_form
graph: detached_activation integer_cast loss_rebuilt_from_item numpy_round_trip argmax_in_forward inplace_activation
  leaf_changed_in_place backward_twice
optimizer: lr_too_high lr_too_low some_parameters_left_out warmup_missing one_lr_for_pretrained weight_decay_too_strong
  momentum_reset_each_epoch rmsprop_momentum
clipping: clipping_missing clipped_before_backward clipped_after_step clipped_by_value threshold_too_low
data: no_shuffle labels_out_of_sync leaky_normalisation leaky_vocabulary leaky_split ordered_split wrong_normalisation
  augmented_validation everything_unknown truncated_inputs corrupt_batch label_noise double_scaling class_imbalance_ignored
  target_among_inputs
recurrent: padding_read_as_text batch_first_mismatch last_layer_state_wrong state_kept_between_batches padding_row_trained
  lengths_out_of_order output_for_hidden gates_saturated
resume: optimizer_state_lost scheduler_restarted generator_not_restored scaler_state_lost last_instead_of_best
generation: cache_off_by_one cache_shared_by_layers cache_stale_between_prompts positions_restart dropout_while_sampling
metrics: argmax_over_wrong_dim accuracy_on_imbalance mean_of_batch_means metric_not_reset epoch_chosen_on_test
initialisation: zero_weights weights_too_large weights_too_small saturating_stack dead_relu confident_head residual_unscaled
memory: losses_kept_with_graph outputs_kept retain_graph_left_on evaluation_keeps_graph batch_too_large no_checkpointing
  optimizer_state_ignored
device: batch_left_on_cpu half_on_cpu_half_on_gpu tensor_created_on_default_device
shape: shape_mismatch_deep silent_broadcast flatten_eats_batch channels_last_confused view_instead_of_permute
speed: starved_loader sync_every_step graph_breaks recompiles anomaly_mode_left_on data_copied_twice
reproducibility: unseeded one_generator_unseeded identical_worker_augmentation hash_order nondeterministic_kernel
  seed_inside_loop
distributed: skipped_batch same_shard_everywhere set_epoch_missing unsynchronised_model rank_dependent_init
  rank_zero_only_collective loss_normalised_per_rank
fit: capacity_too_small width_by_rule no_regularisation trained_too_short metric_on_train_set
traps:
"""
"""The families and faults that the lab is to hold."""
FAMILIES = {part.split(":")[0].strip(): part.split(":")[1].split() for part in re.split(r"\n(?=\w)", PLANNED.strip())}
ALL = [f"{family}/{name}" for family, found in FAMILIES.items() for name in found]

ACROSS = {
    "wrong data or wrong labels": {
        "data",
        "loss",
        "numerics",
        "recurrent",
    },  # a target that is another input's, a bad sample
    "data in the wrong order": {"data", "loop", "distributed"},  # the same batch again, the same order
    "a loss with the wrong reduction or weights": {"loss", "loop"},  # accumulation without a division
    "mixed-up dimensions": {"shape", "loss", "attention", "recurrent"},
    "a hidden state carried over too long": {"graph", "recurrent"},  # with its graph, or without
    "padding tokens that are not ignored": {"recurrent", "loss"},
    "parameters that are never updated": {"freezing", "optimizer"},  # left out of the optimiser
    "the wrong mode, train or eval": {"modes", "generation"},
    "normalization with the wrong statistics": {"data", "modes"},  # of the inputs, of the layers
    "regularization that is too weak or too strong": {"optimizer", "fit"},  # too much, too little
    "data leakage": {"data", "metrics"},
    "class imbalance": {"data", "metrics"},  # in training, in the evaluation
    "a metric that measures the wrong thing": {"metrics", "data", "fit"},
    "inputs that have lost information": {"data", "precision"},
    "bad weight initialization": {"initialisation", "recurrent"},  # an LSTM's gates
}
"""Words that are meant for causes of more than one family, and of which."""
MEANT = {
    frozenset({"attention/mask_after_softmax", "attention/causal_mask_missing"}),
    frozenset({"loop/stale_gradients", "loop/step_every_n_never_zeroed"}),
    frozenset({"data/labels_out_of_sync", "data/label_noise"}),
    frozenset({"generation/dropout_while_sampling", "modes/eval_mode_missing"}),
    frozenset({"metrics/argmax_over_wrong_dim", "shape/silent_broadcast"}),
    frozenset({"fit/no_regularisation", "optimizer/weight_decay_too_strong"}),
    frozenset({"freezing/unfrozen_after_optimizer", "optimizer/some_parameters_left_out"}),
    frozenset({"memory/evaluation_keeps_graph", "modes/no_grad_missing"}),
    frozenset({"distributed/set_epoch_missing", "loop/same_batch_forever"}),
    frozenset({"generation/cache_stale_between_prompts", "recurrent/state_kept_between_batches"}),
    frozenset({"graph/backward_twice", "recurrent/state_kept_between_batches"}),
    frozenset({"freezing/unregistered_layers", "optimizer/some_parameters_left_out"}),
    frozenset({"data/labels_out_of_sync", "recurrent/lengths_out_of_order"}),
    frozenset({"clipping/threshold_too_low", "precision/clip_without_unscale"}),
    frozenset({"attention/heads_mixed", "shape/view_instead_of_permute"}),
    frozenset({"data/class_imbalance_ignored", "metrics/accuracy_on_imbalance"}),
    frozenset({"fit/metric_on_train_set", "metrics/accuracy_on_imbalance"}),
}
"""Look-alikes of one word across which a form need not tell: the line and the test do. The rest are of one family."""


def test_every_family_and_every_planned_fault_has_a_word():
    assert len(FAMILIES) == 24 and len(ALL) > 140
    assert {key for key in rows() if key.endswith("/")} == {f"{family}/" for family in FAMILIES}
    assert [key for key in rows() if not key.endswith("/") and key not in ALL] == [], (
        "a row for nothing that is planned"
    )
    assert {fault for fault in ALL if cause(fault).word in ("", OTHER)} == set()


def test_the_installed_catalogue_and_every_suspect_of_an_instrument_resolve():
    room = Path(inspect.getfile(diagnostics)).parent
    suspects = {
        node.value
        for file in room.glob("*.py")
        if file.name != "_causes.py"
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and re.fullmatch(r"[a-z]+/[a-z_]+", node.value)
    } - {"gloo/transport"}  # the name of a source folder of torch's, in a stack
    assert len(suspects) > 25 and "loss/sum_reduction" in suspects
    assert {fault for fault in suspects if fault not in ALL} == set(), "a suspect that no fault is planned for"
    assert {fault for fault in suspects | set(faults.catalogue()) if cause(fault).word in ("", OTHER)} == set()


def test_a_word_for_causes_of_several_families_is_meant():
    by_word = defaultdict(set)
    for fault in [*ALL, *(f"{family}/" for family in FAMILIES)]:
        by_word[cause(fault).word].add(fault.split("/")[0])
    assert {word: families for word, families in by_word.items() if len(families) > 1} == ACROSS


def test_look_alikes_of_different_families_have_different_words():
    same = {
        frozenset({fault.id, other})
        for fault in faults.catalogue().values()
        for other in _look_alikes(fault)
        if set(right(fault.id)) & set(right(other)) and fault.family != other.split("/")[0]
    }
    assert same - MEANT == set()


def _look_alikes(fault):
    return [look_alike.other for look_alike in fault.look_alikes]


def test_a_word_is_no_fault_s_name_and_speaks_as_a_learner_would():
    names = {fault.rpartition("/")[2].replace("_", " ") for fault in [*ALL, *faults.catalogue()]}
    titles = {tidy(fault.title) for fault in faults.catalogue().values()}
    for word in words():
        assert tidy(word) not in titles and not [name for name in names if name in tidy(word)], word
        assert len(word) < 60 and word == word.strip() and not re.search(r"[_/`(]", word), word
    assert list(words()) == sorted(set(words())) and NOTHING in words() and OTHER in words()
    assert not set(FAMILIES) & set(words()), "a family's name says nothing to a learner"


def test_other_words_belong_to_one_cause():
    owners = defaultdict(set)
    for key, row in rows().items():
        for text in row.also:
            owners[tidy(text)].add(cause(key).word)
    assert {text: holders for text, holders in owners.items() if len(holders) > 1} == {}
    assert not owners.keys() & {tidy(word) for word in words()}
    for row in rows().values():
        assert all(word in words() and word != row.word for word in row.either)


@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ("double softmax", "loss/double_softmax"), ("Frozen layers.", "freezing/frozen_layers"),
        ("missing zero_grad", "loop/stale_gradients"), ("missing zero-grad", "loop/stale_gradients"),
        ("loss/double_softmax", "loss/double_softmax"), ("  A wrong Learning RATE ", "optimizer/lr_too_low"),
        ("acme:loop/stale_gradients", "loop/stale_gradients"), ("nothing", "traps/log_softmax_first"),
    ],
)  # fmt: skip
def test_what_people_write_is_understood(said, fault):
    assert named(said) == cause(fault).word and says(said, fault)


@pytest.mark.parametrize("said", ["gremlins", "", None, 7, "x/y", "a wrong lerning rate", "loss"])
def test_what_nobody_knows_is_answered_with_the_list(said):
    with pytest.raises(UserError) as caught:
        named(said)
    assert all(f"\n  {word}" in str(caught.value) for word in words())
    assert not says(said, "optimizer/lr_too_high")
    assert ("Did you mean 'a wrong learning rate'" in str(caught.value)) == (said == "a wrong lerning rate")


def test_two_causes_may_both_be_true():
    """An eps that float32 rounds to 0 is a dtype with too little range, and a logarithm of zero as well."""
    domain, too_small = (
        "a function outside its domain, such as log or sqrt",
        "a dtype with too little range or precision",
    )
    assert right("numerics/log_at_step", {"eps": 1e-50}) == (domain, too_small)
    assert right("numerics/log_at_step", {"eps": 0.0}) == right("numerics/log_at_step", {"eps": 1e-9}) == (domain,)
    assert says(too_small, "numerics/log_at_step", {"eps": 1e-50})
    assert not says(too_small, "numerics/log_at_step", {"eps": 0.0})


def test_a_pack_s_own_family_is_something_else():
    assert cause("acme:tokens/lost") == causes.Cause(OTHER) and cause("acme:loss/new").word == cause("loss/").word


def test_a_row_takes_from_its_family_what_it_leaves_open():
    row = cause("loss/double_softmax")
    assert row.place is not cause("loss/").place and row.word == cause("loss/").word
    assert "initialisation/" in cause("numerics/sqrt_at_zero").explains
    assert cause("distributed/skipped_batch").source_knows and not cause("distributed/").source_knows


def test_no_other_list_of_causes_is_left():
    """Words of the form stand in the files of faults, and in what quotes them: exercises, tests."""
    room = Path(inspect.getfile(diagnostics)).parent.parent
    others = [
        file for file in room.rglob("*.py") if "exercises" not in file.parts and file != room / "faults" / "words.py"
    ]
    quoting = {file.name for file in others if sum(word in file.read_text(encoding="utf-8") for word in words()) > 3}
    assert quoting == set()

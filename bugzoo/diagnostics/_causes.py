"""The rows of the table of causes, keyed by `family/` or by `family/bad_pattern`; `causes` looks things up in it.

A word names a cause in the field's terms, and is not the name of a fault: a learner has to look at the run to choose it. One word
for several causes means that the form does not ask a learner to tell them apart; the line and the test do.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bugzoo.diagnostics import places as at
from bugzoo.diagnostics._source import Source

NOTHING = "nothing is wrong"


@dataclass(frozen=True)
class Either:
    """A second word that is as true as the first, where `when` holds of the fault's parameters."""

    word: str
    when: Callable[[Mapping[str, Any]], bool] = lambda params: True


@dataclass(frozen=True)
class Cause:
    """One row. `explains`: beginnings of ids of what follows from this cause by itself, and is ranked below it."""

    word: str = ""
    explains: tuple[str, ...] = ()
    place: Callable[[Source], Any] | None = None
    """Finds the statement that it lives in."""
    source_knows: bool = False
    """The run sees the consequence, and the source shows the place that made it."""
    also: tuple[str, ...] = ()
    """Other words that people use for it; a form takes them for `word`."""
    either: tuple[Either, ...] = ()


STALE = "gradients from earlier batches"
UPDATE = "an optimizer step that is missing or misplaced"
SCHEDULE = "a scheduler that steps at the wrong time"
ORDER = "data in the wrong order"
KIND = "a loss function with the wrong kind of input"
AVERAGE = "a loss with the wrong reduction or weights"
DOMAIN = "a function outside its domain, such as log or sqrt"
FORMAT = "a dtype with too little range or precision"
SCALING = "a loss scale applied in the wrong place"
MASK = "a mask in the wrong place"
STILL = "parameters that are never updated"
RATE = "a wrong learning rate"
MEMORY_LOST = "optimizer state that is lost"
STRENGTH = "regularization that is too weak or too strong"
DATA = "wrong data or wrong labels"
KNOWN = "data leakage"
NORMAL = "normalization with the wrong statistics"
INPUTS = "inputs that have lost information"
CLASSES = "class imbalance"
MODE = "the wrong mode, train or eval"
METRIC = "a metric that measures the wrong thing"
DIMENSION = "mixed-up dimensions"
HIDDEN = "a hidden state carried over too long"
CACHE = "a KV cache that does not match the text"
PADDING = "padding tokens that are not ignored"
BEGIN = "bad weight initialization"
LEAK = "a memory leak"
REPEATED = "random numbers that repeat"
RANKS = "ranks that are out of sync"
DEALT = "data or loss split wrongly between ranks"
NEEDLESS = "speed: unnecessary work"
WAITS = "speed: the model waits"

_NO_CLEAN = ("optimizer/", "clipping/", "initialisation/")
_NO_GRADIENT = ("graph/", "optimizer/", "initialisation/", "numerics/")

CAUSES: dict[str, Cause] = {
    "loop/": Cause(UPDATE, place=Source.step, also=("missing step", "optimizer not called", "missing optimizer.step")),
    "loop/stale_gradients": Cause(
        STALE, (*_NO_CLEAN, "loop/step_every_n_never_zeroed"),
        also=("missing zero_grad", "zero_grad forgotten", "gradient accumulation", "accumulated gradients"),
    ),
    "loop/step_every_n_never_zeroed": Cause(STALE, _NO_CLEAN),
    "loop/gradients_wiped": Cause(explains=_NO_GRADIENT, also=("zero_grad after backward",)),
    "loop/step_before_backward": Cause(explains=_NO_GRADIENT, also=("wrong order of the loop",)),
    "loop/accumulation_not_scaled": Cause(AVERAGE),
    "loop/scheduler_per_microbatch": Cause(SCHEDULE, also=("learning rate schedule", "scheduler")),
    "loop/scheduler_never_stepped": Cause(SCHEDULE),
    "loop/scheduler_before_optimizer": Cause(SCHEDULE),
    "loop/same_batch_forever": Cause(ORDER, also=("always the same batch",)),
    "loss/": Cause(KIND, place=Source.loss, also=("wrong loss", "loss function", "probabilities instead of logits")),
    "loss/double_softmax": Cause(
        explains=("optimizer/", "initialisation/"), place=at.double_softmax,
        also=("double softmax", "softmax twice", "softmax before cross entropy"),
    ),
    "loss/sigmoid_into_bce_with_logits": Cause(place=at.double_sigmoid, also=("double sigmoid", "sigmoid twice")),
    "loss/log_of_softmax": Cause(either=(Either(AVERAGE), Either(DOMAIN))),
    "loss/wrong_softmax_dim": Cause(either=(Either(DIMENSION),)),
    "loss/sum_reduction": Cause(AVERAGE, also=("sum instead of mean", "wrong reduction")),
    "loss/mask_broadcast": Cause(AVERAGE, either=(Either(DIMENSION),)),
    "loss/wrong_axis_reduction": Cause(AVERAGE, either=(Either(DIMENSION),)),
    "loss/padding_counted": Cause(PADDING, either=(Either(AVERAGE),)),
    "loss/target_column_broadcast": Cause(DIMENSION, also=("broadcasting", "wrong shape", "shapes")),
    "loss/labels_off_by_one": Cause(DATA),
    "loss/next_token_not_shifted": Cause(DATA),
    "loss/sign_flipped": Cause(
        "a loss that is maximized", ("optimizer/", "clipping/", "numerics/", "initialisation/"),
        also=("wrong sign", "sign of the loss", "gradient ascent"),
    ),
    "numerics/": Cause(
        DOMAIN, _NO_CLEAN, also=("log of zero", "logarithm of zero", "division by zero", "numerical instability")
    ),
    "numerics/log_at_step": Cause(  # 1e-50 is 0 in float32: then the format is as wrong as the logarithm
        either=(Either(FORMAT, lambda params: 0 < float(params.get("eps", 0)) < 7e-46),)
    ),
    "numerics/exp_overflow": Cause(either=(Either(FORMAT),)),
    "numerics/variance_cancellation": Cause(either=(Either(FORMAT),)),
    "numerics/all_masked_row": Cause(either=(Either(MASK),)),
    "numerics/dark_strip_division": Cause(either=(Either(NORMAL),)),
    "numerics/nan_in_data": Cause(DATA, also=("bad sample", "nan in the data")),
    "precision/": Cause(FORMAT, place=Source.backward, also=("underflow", "overflow", "half precision", "fp16", "float16")),
    "precision/no_grad_scaler": Cause(
        explains=("optimizer/lr_too_low", "numerics/", "initialisation/", "optimizer/lr_too_high"),
        either=(Either(SCALING),),
    ),
    "precision/scaled_loss_logged": Cause(SCALING, either=(Either(METRIC),), also=("loss scaling", "gradscaler")),
    "precision/clip_without_unscale": Cause(SCALING, either=(Either("wrong gradient clipping"),)),
    "precision/scaler_never_updated": Cause(SCALING),
    "precision/integer_features": Cause(INPUTS, either=(Either(FORMAT),)),
    "attention/": Cause(
        MASK, ("loop/", "initialisation/"), at.softmax_in_model, also=("wrong mask", "attention mask", "masking")
    ),
    "attention/mask_after_softmax": Cause(place=at.attention, source_knows=True),
    "attention/scale_missing": Cause("a wrong attention formula", also=("attention",)),
    "attention/softmax_over_queries": Cause("a wrong attention formula", either=(Either(DIMENSION),)),
    "attention/heads_mixed": Cause(DIMENSION, either=(Either("a wrong attention formula"),)),
    "attention/positions_missing": Cause("a wrong attention formula"),
    "freezing/": Cause(STILL, place=at.optimizer, also=("frozen", "no gradient for some layers", "untrained layers")),
    "freezing/frozen_layers": Cause(
        explains=("initialisation/", "graph/"), place=at.frozen,
        also=("frozen layers", "frozen parameters", "requires_grad false"),
    ),
    "modes/": Cause(MODE, also=("train and eval mode", "missing eval", "eval mode", "train mode", "dropout left on")),
    "modes/eval_mode_missing": Cause(place=at.no_grad),
    "modes/train_mode_not_restored": Cause(place=Source.backward),
    "modes/no_grad_missing": Cause(either=(Either(LEAK),)),
    "modes/batch_norm_tiny_batches": Cause(NORMAL, also=("normalisation", "normalization", "batch norm")),
    "graph/": Cause(
        "a computation graph that is cut", ("initialisation/", "optimizer/", "shape/"),
        also=("detached", "broken graph", "no gradient flows"),
    ),
    "graph/inplace_activation": Cause(
        "a tensor overwritten while autograd needs it", place=at.in_place, source_knows=True,
        also=("in place", "inplace", "inplace operation", "in-place operation"),
    ),
    "graph/leaf_changed_in_place": Cause("a tensor overwritten while autograd needs it"),
    "graph/backward_twice": Cause(HIDDEN, also=("hidden state", "state not detached")),
    "optimizer/": Cause(RATE, place=at.optimizer, also=("lr", "wrong learning rate", "learning rate", "step size")),
    "optimizer/lr_too_high": Cause(
        explains=("initialisation/", "numerics/"), place=at.rate, source_knows=True,
        also=("learning rate too high", "too high a learning rate"),
    ),
    "optimizer/lr_too_low": Cause(place=at.rate, also=("learning rate too low", "too low a learning rate")),
    "optimizer/some_parameters_left_out": Cause(STILL),
    "optimizer/warmup_missing": Cause(either=(Either(SCHEDULE),)),
    "optimizer/weight_decay_too_strong": Cause(STRENGTH, also=("weight decay", "regularisation", "regularization")),
    "optimizer/momentum_reset_each_epoch": Cause(MEMORY_LOST, also=("optimizer state", "momentum")),
    "clipping/": Cause(
        "wrong gradient clipping",
        also=("clipping", "gradient clipping", "no clipping", "exploding gradients"),
    ),
    "clipping/clipping_missing": Cause(source_knows=True),
    "data/": Cause(DATA, also=("wrong labels", "labels", "data", "label noise", "shuffled labels")),
    "data/labels_out_of_sync": Cause(explains=("optimizer/", "initialisation/"), place=at.mixed),
    "data/no_shuffle": Cause(ORDER, also=("missing shuffle", "sorted data", "order of the data")),
    "data/ordered_split": Cause(ORDER),
    "data/leaky_normalisation": Cause(KNOWN, also=("leakage", "leak", "leaked test data")),
    "data/leaky_vocabulary": Cause(KNOWN),
    "data/leaky_split": Cause(KNOWN),
    "data/target_among_inputs": Cause(KNOWN, also=("target leakage",)),
    "data/wrong_normalisation": Cause(NORMAL),
    "data/double_scaling": Cause(NORMAL),
    "data/augmented_validation": Cause(METRIC),
    "data/everything_unknown": Cause(INPUTS, also=("vocabulary", "unknown tokens")),
    "data/truncated_inputs": Cause(INPUTS, also=("truncation",)),
    "data/class_imbalance_ignored": Cause(CLASSES, also=("imbalance", "imbalanced data")),
    "recurrent/": Cause(PADDING, also=("padding", "pad tokens")),
    "recurrent/batch_first_mismatch": Cause(DIMENSION),
    "recurrent/last_layer_state_wrong": Cause("an output taken from the wrong position or layer"),
    "recurrent/output_for_hidden": Cause(either=(Either("an output taken from the wrong position or layer"),)),
    "recurrent/state_kept_between_batches": Cause(HIDDEN),
    "recurrent/lengths_out_of_order": Cause(DATA),
    "recurrent/gates_saturated": Cause(BEGIN),
    "resume/": Cause("state missing from the checkpoint", also=("checkpoint", "resuming", "lost state")),
    "resume/optimizer_state_lost": Cause(either=(Either(MEMORY_LOST),)),
    "resume/scheduler_restarted": Cause(either=(Either(SCHEDULE),)),
    "resume/last_instead_of_best": Cause("a checkpoint from the wrong epoch", also=("wrong checkpoint",)),
    "generation/": Cause(CACHE, also=("cache", "key value cache", "kv cache", "positions while sampling")),
    "generation/cache_stale_between_prompts": Cause(either=(Either(HIDDEN),)),
    "generation/dropout_while_sampling": Cause(MODE),
    "metrics/": Cause(METRIC, also=("wrong metric", "metric", "evaluation", "wrong evaluation")),
    "metrics/argmax_over_wrong_dim": Cause(either=(Either(DIMENSION),)),
    "metrics/accuracy_on_imbalance": Cause(CLASSES, either=(Either(METRIC),)),
    "metrics/epoch_chosen_on_test": Cause(KNOWN, either=(Either(METRIC),)),
    "initialisation/": Cause(BEGIN, also=("initialisation", "initialization", "bad init", "dead units", "dead relu")),
    "memory/": Cause(LEAK, also=("memory leak", "graph kept", "missing detach", "missing item")),
    "memory/losses_kept_with_graph": Cause(place=at.kept, source_knows=True),
    "memory/outputs_kept": Cause(place=at.kept),
    "memory/batch_too_large": Cause("more memory than there is", also=("out of memory", "oom", "batch size")),
    "memory/no_checkpointing": Cause("more memory than there is"),
    "memory/optimizer_state_ignored": Cause("more memory than there is"),
    "device/": Cause("tensors on different devices", also=("device", "wrong device", "cpu and gpu")),
    "shape/": Cause(DIMENSION, also=("shape", "shape mismatch", "wrong dimension", "reshape", "broadcast")),
    "speed/": Cause(WAITS, also=("slow data loading", "data loader", "dataloader", "synchronisation")),
    "speed/starved_loader": Cause(place=at.workers),
    "speed/graph_breaks": Cause(NEEDLESS, also=("recompilation", "compile", "torch.compile")),
    "speed/recompiles": Cause(NEEDLESS),
    "speed/anomaly_mode_left_on": Cause(NEEDLESS),
    "reproducibility/": Cause("randomness without a fixed seed", also=("seed", "missing seed", "no seed", "randomness")),
    "reproducibility/identical_worker_augmentation": Cause(REPEATED, also=("repeated augmentation",)),
    "reproducibility/seed_inside_loop": Cause(REPEATED, also=("seeded again and again",)),
    "distributed/": Cause(RANKS, also=("ranks", "deadlock", "hang", "ddp", "missing synchronization")),
    "distributed/skipped_batch": Cause(place=at.left_out, source_knows=True),
    "distributed/same_shard_everywhere": Cause(DEALT, also=("distributed sampler", "missing sampler")),
    "distributed/loss_normalised_per_rank": Cause(DEALT, either=(Either(AVERAGE),)),
    "distributed/set_epoch_missing": Cause(ORDER),
    "fit/": Cause("a model or training of the wrong size", also=("underfitting", "capacity", "too few epochs")),
    "fit/no_regularisation": Cause(STRENGTH, also=("overfitting", "overfit", "no regularization")),
    "fit/metric_on_train_set": Cause(METRIC, also=("evaluated on the training data",)),
    "traps/": Cause(NOTHING, also=("nothing", "healthy", "none", "it is healthy", "no fault", "no bug")),
}  # fmt: skip

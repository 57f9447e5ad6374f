"""What a cause presupposes of a script: without a loss on class scores no softmax can come before one.

A fact is missing only if nothing speaks for it: no word of the script, no operation of its loss, no layer, nothing recorded.
"""

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bugzoo.diagnostics._tools import column

if TYPE_CHECKING:
    from bugzoo.running.result import Run


@dataclass(frozen=True)
class Fact:
    """`causes`: ids that presuppose it, or families (`attention/`). `words`: a pattern for the script's text, in any case.

    `ops`: beginnings of operations behind the loss. `layers`: parts of a layer's class name.
    """

    causes: tuple[str, ...]
    words: str
    ops: tuple[str, ...] = ()
    layers: tuple[str, ...] = ()
    seen: Callable[["Run"], bool] = lambda run: False


FACTS = {
    "class scores": Fact(
        ("loss/double_softmax", "loss/log_of_softmax", "loss/wrong_softmax_dim", "loss/labels_off_by_one",
         "metrics/argmax_over_wrong_dim", "initialisation/confident_head"),
        r"cross_?entropy|nll_?loss|softmax|argmax|categorical",
        ("LogSoftmax", "NllLoss", "Softmax"),
        ("Softmax",),
    ),
    "a sigmoid or a binary loss": Fact(
        ("loss/sigmoid_into_bce_with_logits",),
        r"sigmoid|bce|binary_cross",
        ("Sigmoid", "LogSigmoid", "BinaryCrossEntropy"),
        ("Sigmoid",),
    ),
    "attention": Fact(
        ("attention/",),
        r"attention|attn|transformer|softmax|\bbmm\b|einsum",
        ("ScaledDotProduct", "Softmax"),
        ("Attention", "Transformer"),
    ),
    "batch norm": Fact(
        ("modes/batch_norm_tiny_batches",), r"batch_?norm|\bbn", ("NativeBatchNorm", "CudnnBatchNorm"), ("BatchNorm",)
    ),
    "an embedding": Fact(
        ("data/leaky_vocabulary", "data/everything_unknown", "recurrent/padding_row_trained"),
        r"embedding|\bemb",
        ("Embedding",),
        ("Embedding",),
    ),
    "a recurrent layer": Fact(
        ("recurrent/batch_first_mismatch", "recurrent/last_layer_state_wrong", "recurrent/output_for_hidden",
         "recurrent/state_kept_between_batches", "recurrent/gates_saturated"),
        r"lstm|gru|rnn|recurr|hidden",
        layers=("RNN", "LSTM", "GRU"),
    ),
    "an evaluation": Fact(
        ("modes/eval_mode_missing", "modes/no_grad_missing", "data/ordered_split", "data/leaky_normalisation",
         "data/leaky_vocabulary", "data/leaky_split", "data/wrong_normalisation", "data/augmented_validation",
         "metrics/", "fit/no_regularisation", "fit/metric_on_train_set"),
        r"eval|valid|\bval\b|val_|_val\b|\btest|_test|held|accura",
        seen=lambda run: bool(run.trace.validation),
    ),
    "a loss scale": Fact(
        ("precision/scaled_loss_logged", "precision/clip_without_unscale", "precision/scaler_never_updated",
         "resume/scaler_state_lost"),
        r"scaler|loss_scale",
        seen=lambda run: bool((column(run.trace.scale) > 0).any()),
    ),
    "low precision": Fact(
        ("precision/no_grad_scaler", "precision/half_parameters", "precision/half_softmax"),
        r"autocast|\bhalf\b|float16|fp16|bf16|scaler",
        seen=lambda run: bool(run.trace.graph.autocast) or any("16" in one.dtype for one in run.trace.parameters),
    ),
    "a schedule": Fact(
        ("loop/scheduler_per_microbatch", "loop/scheduler_never_stepped", "loop/scheduler_before_optimizer",
         "resume/scheduler_restarted"),
        r"sched|lambdalr|param_groups",
        seen=lambda run: len(set(column(run.trace.learning_rate))) > 1,
    ),
    "a checkpoint": Fact(("resume/",), r"state_dict|torch\.load|\bresum|checkpoint|deepcopy"),
    "workers of a loader": Fact(("reproducibility/identical_worker_augmentation",), r"num_workers"),
    "gradient clipping": Fact(("clipping/clipped_after_step", "clipping/clipped_before_backward", "clipping/clipped_by_value",
         "clipping/threshold_too_low"), r"clip|clamp"),
    "an image": Fact(("shape/channels_last_confused",), r"conv|image|\bimg|pixel|picture", ("Convolution",), ("Conv",)),
    "tokens": Fact(
        ("loss/next_token_not_shifted", "generation/cache_off_by_one", "generation/cache_stale_between_prompts",
         "generation/positions_restart"),
        r"token|vocab|char|letter|word|prompt|\bgpt|lang|\blm\b",
        ("Embedding",),
        ("Embedding",),
    ),
    "something sampled": Fact(("generation/",), r"generat|sampl|multinomial|decod|prompt|argmax"),
    "rows of several lengths": Fact(
        ("loss/padding_counted", "recurrent/lengths_out_of_order", "recurrent/padding_read_as_text"),
        r"pad|length|\blens?\b|mask|ignore_index|pack_",
    ),
    "a mask": Fact(("numerics/all_masked_row",), r"mask|inf\b|pad|tril|triu"),
    "parts that are frozen or pretrained": Fact(
        ("freezing/never_unfrozen", "freezing/unfrozen_after_optimizer", "optimizer/one_lr_for_pretrained"),
        r"pretrain|freez|frozen|requires_grad|backbone|encoder|load_state_dict|weights=",
        layers=("Frozen",),
    ),
    "dropout": Fact(("modes/dropout_in_functional_form",), r"dropout", ("NativeDropout",), ("Dropout",)),
    "accumulated gradients": Fact(
        ("loop/accumulation_not_scaled", "loop/step_every_n_never_zeroed"), r"accum|micro|chunk|%|enumerate|every"
    ),
    "a compiled model": Fact(("speed/graph_breaks", "speed/recompiles"), r"compile"),
    "a GPU": Fact(("device/",), r"cuda|device|\bgpu"),
    "a loader": Fact(("speed/starved_loader",), r"loader|dataset|\biter\("),
    "several processes": Fact(("distributed/",), r"distributed|process_group|\bddp\b|\brank\b|world_size|fsdp|accelerat"),
}  # fmt: skip

_READ = {
    *sys.stdlib_module_names,
    "torch",
    "torchvision",
    "numpy",
    "sklearn",
    "scipy",
    "pandas",
    "matplotlib",
    "tqdm",
    "PIL",
}
"""A script that imports anything else may have its loss or its layers from there, where nothing was read."""
_IMPORTED = re.compile(r"^\s*(?:from|import)\s+(\.|\w+)", re.M)


def presupposes(cause: str) -> tuple[str, ...]:
    """Return the facts without which this cannot be the cause. A pack's `acme:loop/...` is looked up like `loop/...`."""
    return tuple(name for name, fact in FACTS.items() if cause.rpartition(":")[2].startswith(fact.causes))


def missing(name: str, run: "Run") -> bool:
    """Return whether nothing in a run speaks for this fact. Never so where the script's text or its training was not seen."""
    fact, trace = FACTS[name], run.trace
    if not run.source or not len(trace.step) or not _READ.issuperset(_IMPORTED.findall(run.source)):
        return False
    if re.search(fact.words, run.source, re.I) or fact.seen(run):
        return False
    if fact.ops and any(op.startswith(fact.ops) for op in trace.graph.ops):
        return False
    return not any(part in layer for layer in trace.modules for part in fact.layers)


def possible(cause: str, run: "Run") -> bool:
    """Return whether a run has everything that a cause presupposes."""
    return not any(missing(name, run) for name in presupposes(cause))

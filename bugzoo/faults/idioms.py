"""The places that training scripts have: what a fault is written against.

A way of writing that somebody's script uses is added to the idiom here, once, and serves every fault. The line behind an
idiom lists its metavariables; `PLACE` and `RESULT` are always there as well.
"""

from dataclasses import replace

from bugzoo.faults.conditions import (
    alone,
    any_of,
    assigned,
    has,
    judges,
    kind,
    loops,
    made_by,
    mentions,
    not_evaluating,
    same,
    somewhere,
    text_is,
    text_is_not,
    top_level,
    trained_on,
    trains,
)  # fmt: skip
from bugzoo.faults.forms import Call, Header, Idiom, Number, Pattern

_F = r"(?:(?P<F>[\w.]+)\.)?"
_MODEL = {"PARAMETERS": r"(?P<MODEL>[\w.\[\]'\"]+)\.(?:named_|trainable_)?parameters\(\)"}
_SCALER = r"(?P<SCALER>[\w.]*(?:scaler|amp)[\w.]*)"
_LAUNCHER = r"(?P<LAUNCHER>[\w.]*(?:accelerator|fabric|engine|strategy|accelerate)[\w.]*)"
_SCHEDULED = r"(.*\.)?(lr_scheduler\.\w+|\w*(Scheduler|LR|WarmRestarts)|get_\w*schedule\w*|make_\w*sched\w*)\("
_OPTIMISED = r"(.*\.)?(optim\.\w+|(Adam|SGD|RMSprop|Adagrad|Adadelta|LBFGS|Lion|Rprop)\w*|\w*[oO]ptim\w*)\("
_NAMES = (
    "Adadelta|Adafactor|Adagrad|Adam|AdamW|SparseAdam|Adamax|ASGD|LBFGS|NAdam|RAdam|RMSprop|Rprop|SGD|Adam8bit|AdamW8bit|"
    "FusedAdam|FusedLAMB|LAMB|Lamb|LARS|Lion|Ranger|DiffGrad|AdaBelief|AdaBound|Yogi|QHAdam|Noam|NoamOpt|ScheduledOptim"
)

# --- the loss

_CRITERION = r"(?:.*\.)?(?:CrossEntropyLoss|SoftmaxCrossEntropy\w*|LabelSmoothing\w*)\("
_LOSS_WORDS = ("LOGITS=input|y_hat|preds|logits", "TARGETS=target|targets|y|labels")

LOSS = Idiom(
    "LOSS",
    "a cross-entropy of logits and targets: F.cross_entropy(...), or a call of what nn.CrossEntropyLoss(...) made",
    (
        Call(_F + r"cross_entropy", _LOSS_WORDS),
        Call(r"(?:.*\.)?(?:CrossEntropyLoss)\(.*\)", _LOSS_WORDS),
        Call(r"(?P<CRITERION>[\w.]+)", _LOSS_WORDS, where=(has("TARGETS"), made_by("CRITERION", _CRITERION))),
    ),
    prefer=(not_evaluating, trained_on, trains, alone),
)  # F, CRITERION, LOGITS, TARGETS

_OTHER = (
    r"(?:.*\.)?(?:MSELoss|L1Loss|SmoothL1Loss|HuberLoss|BCELoss|BCEWithLogitsLoss|NLLLoss|KLDivLoss|PoissonNLLLoss)\("
)

OTHER_LOSS = Idiom(
    "OTHER_LOSS",
    "a loss of a prediction and targets that is no cross-entropy: F.mse_loss(...), nn.BCEWithLogitsLoss(), ...",
    (
        Call(_F + r"(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*|nll_loss|kl_div|poisson_nll_loss)",
             ("PREDICTION=input", "TARGETS=target")),
        Call(_OTHER + r".*\)", ("PREDICTION=input", "TARGETS=target")),
        Call(r"(?P<CRITERION>[\w.]+)", ("PREDICTION=input", "TARGETS=target"),
             where=(has("TARGETS"), made_by("CRITERION", _OTHER))),
    ),
    prefer=(not_evaluating, trained_on, trains),
)  # fmt: skip  # F, CRITERION, PREDICTION, TARGETS

# --- the loop

ZERO_GRAD = Idiom(
    "ZERO_GRAD",
    "a call of an optimiser's or a model's zero_grad(), or a loop that sets .grad to None or zero",
    (
        Call(r"(?P<OPTIMIZER>.+)\.zero_grad"),
        Pattern("for $P in $PARAMETERS:\n    $P.grad = None"),
        Pattern("for $P in $PARAMETERS:\n    $P.grad.zero_()"),
        Pattern("for $P in $PARAMETERS:\n    $P.grad.data.zero_()"),
        Pattern("for $P in $PARAMETERS:\n    if $P.grad is not None:\n        $P.grad.zero_()"),
        Pattern("for $P in $PARAMETERS:\n    if $P.grad is not None:\n        $P.grad.data.zero_()"),
        Pattern("for $P in $PARAMETERS:\n    if $P.grad is not None:\n        $P.grad = None"),
    ),
    prefer=(
        any_of(trains, loops),
        somewhere("$OPTIMIZER.step($$$)", "$SCALER.step($OPTIMIZER)", "$OPTIMIZER.parameters()"),
        any_of(somewhere("$OPTIMIZER.step($$$)"), somewhere("$SCALER.step($OPTIMIZER)")),
        trains,
        loops,
    ),
)  # OPTIMIZER

BACKWARD = Idiom(
    "BACKWARD",
    "a call of backward() on the loss, also through a gradient scaler, an accelerator or torch.autograd.backward(...)",
    (
        Call(_SCALER + r"\.scale\((?P<LOSS>.+)\)\.backward"),
        Call(_LAUNCHER + r"\.(?:manual_)?backward", ("LOSS=loss",), where=(has("LOSS"),)),
        Call(r"self\.manual_backward", ("LOSS=loss",)),
        Call(r"(?:torch\.)?autograd\.backward", ("LOSS=tensors",)),
        Call(r"(?P<LOSS>.+)\.backward"),
    ),
    prefer=(loops, not_evaluating),
)  # LOSS, SCALER, LAUNCHER

SCALED_BACKWARD = Idiom(
    "SCALED_BACKWARD",
    "scaler.scale(loss).backward()",
    (Call(r"(?P<SCALER>[\w.]+)\.scale\((?P<LOSS>.+)\)\.backward"),),
    prefer=(loops,),
)  # SCALER, LOSS

SCALED_STEP = Idiom(
    "SCALED_STEP",
    "scaler.step(optimizer), beside scaler.scale(loss)",
    (Call(r"(?P<SCALER>[\w.]+)\.step", ("OPTIMIZER=optimizer",), (has("OPTIMIZER"), somewhere("$SCALER.scale($$$)"))),),
    prefer=(loops,),
)  # SCALER, OPTIMIZER

SCALER_UPDATE = Idiom(
    "SCALER_UPDATE",
    "scaler.update(), beside scaler.scale(loss)",
    (Call(r"(?P<SCALER>[\w.]+)\.update", where=(somewhere("$SCALER.scale($$$)"),)),),
    prefer=(loops,),
)  # SCALER

UNSCALE = Idiom(
    "UNSCALE", "scaler.unscale_(optimizer)", (Call(r"(?P<SCALER>[\w.]+)\.unscale_", ("OPTIMIZER=optimizer",)),)
)
# SCALER, OPTIMIZER

_NO_OPTIMISER = r".*(sched|env|prof|scaler|timer|meter|bar|logger|writer|simulat|game|world|agent)\w*"

STEP = Idiom(
    "STEP",
    "a call of an optimiser's step(), also through a gradient scaler",
    (
        Call(_SCALER + r"\.step", ("OPTIMIZER=optimizer",), where=(has("OPTIMIZER"),)),
        Call(r"(?P<OPTIMIZER>.+)\.step", where=(text_is_not("OPTIMIZER", _NO_OPTIMISER),)),
        Call(r"(?P<OPTIMIZER>.+)\.step_and_update_lr"),
    ),
    prefer=(
        any_of(made_by("OPTIMIZER", _OPTIMISED), text_is("OPTIMIZER", r".*(opt|solver|adam|sgd|trainer)\w*"),
               somewhere("$OPTIMIZER.zero_grad($$$)")),
        any_of(trains, loops),
        trains,
    ),
)  # fmt: skip  # OPTIMIZER, SCALER

SCHEDULER_STEP = Idiom(
    "SCHEDULER_STEP",
    "a call of a learning rate scheduler's step()",
    (
        Call(r"(?P<SCHEDULER>.*sched\w*)\.(?:step|step_and_update_lr)"),
        Call(r"(?P<SCHEDULER>[\w.]+)\.step", where=(made_by("SCHEDULER", _SCHEDULED),)),
        Call(r"(?P<SCHEDULER>.*schedul\w*\[.*\])\.step"),
        Pattern('$GROUP["lr"] = $RATE'),  # by hand
        Pattern("$GROUP['lr'] = $RATE"),
    ),
    prefer=(loops,),
)  # SCHEDULER

CLIP = Idiom(
    "CLIP",
    "a call that limits the gradients: clip_grad_norm_(model.parameters(), ...) or clip_grad_value_(...)",
    (
        Call(r"(?:.*\.)?clip_grad_norm_?", ("PARAMETERS=parameters", "LIMIT=max_norm"), inside=_MODEL),
        Call(r"(?:.*\.)?clip_grad_value_?", ("PARAMETERS=parameters", "LIMIT=clip_value"), inside=_MODEL),
        Call(r"(?:.*\.)?clip_gradients?", ("PARAMETERS=parameters", "LIMIT=max_norm"), inside=_MODEL),
        Call(r".*\.grad(?:\.data)?\.clamp_", ("LOW=min", "LIMIT=max")),
    ),
    prefer=(trains, loops),
)  # PARAMETERS, MODEL, LIMIT

COUNTER = Idiom(
    "COUNTER",
    "a counter of steps at the top level, such as step += 1, that a forward pass can read",
    (Pattern("$COUNT += 1", where=(trains, top_level, text_is("COUNT", r"\w*(step|iteration|iter|batches)\w*|it|i"))),),
)  # COUNT

RANKS = Idiom(
    "RANKS",
    "torch.distributed: a call of init_process_group(...) or get_rank()",
    (Call(r"(?:(?P<DIST>[\w.]+)\.)?(?:init_process_group|get_rank)", where=(has("DIST"),)),),
)  # DIST

TRAIN_LOOP = Idiom(
    "TRAIN_LOOP",
    "a for-loop over batches that calls backward()",
    (
        Pattern(
            "for $BATCH in $LOADER:\n    $$$BODY", where=(trains, text_is_not("LOADER", r"range\(.*\)|t?range\(.*"))
        ),
    ),
    prefer=(text_is("LOADER", r".*(load|data|train|batch|iter).*"),),
)  # BATCH, LOADER, BODY

# --- what is optimised

_PLAIN = r"(?:list\()?[\w.\[\]]+\.parameters\(\)\)?"
_NO_CLASS = (
    r"(?:.*\.)?(?:clip\w*|sum|list|any|all|filter|map|zip|enumerate|max|min|next|iter|chain|tuple|sorted|print|len|set|dict|"
    r"\w*grad\w*|\w*norm\w*|deepcopy|count\w*|parameters_to_vector|\w*ema\w*|reversed|update\w*|isinstance)"
)
_OPTIMISER_ARGUMENTS = ("PARAMETERS=params|parameters", "LR=lr|learning_rate")

OPTIMIZER = Idiom(
    "OPTIMIZER",
    "an optimiser made from a model's parameters: torch.optim.Adam(model.parameters(), ...)",
    (
        Call(rf"(?:(?P<OPTIM>[\w.]+)\.)?(?P<CLASS>{_NAMES})", _OPTIMISER_ARGUMENTS, inside=_MODEL,
             where=(any_of(has("MODEL"), has("PARAMETERS")),)),
        Call(r"(?P<OPTIM>[\w.]*optim)\.(?P<CLASS>[A-Z]\w+)", _OPTIMISER_ARGUMENTS, inside=_MODEL),
        Call(r"(?P<CLASS>[\w.\[\]'\"]+)", _OPTIMISER_ARGUMENTS, inside=_MODEL,
             where=(text_is("PARAMETERS", _PLAIN), any_of(has("RESULT"), text_is("CLASS", r".*(opt|solver)\w*")),
                    text_is_not("CLASS", _NO_CLASS))),
        Call(r"(?P<MODEL>[\w.]+)\.configure_optimizers"),
        Call(r"(?:itertools\.)?(?:chain|list|filter)", ("PARAMETERS=*",), inside=_MODEL,
             where=(has("MODEL"), assigned, text_is("RESULT", r".*par\w*"))),  # handed to the optimiser by name
    ),
    prefer=(not_evaluating, has("MODEL"), text_is("PARAMETERS", _PLAIN)),
)  # fmt: skip  # CLASS, OPTIM, PARAMETERS, MODEL, LR

LEARNING_RATE = Idiom(
    "LEARNING_RATE",
    "a learning rate: learning_rate = ..., lr = ..., an option --lr with a number as default, or lr=... of an optimiser",
    (
        Number(r"(\w*_)?(lr|learning_?rate|base_lr|step_size)|lrate", "LR"),
        Call(rf"(?:[\w.]+\.)?(?:{_NAMES})", _OPTIMISER_ARGUMENTS, where=(has("LR"),)),
        Call(r"[\w.]*optim\.[A-Z]\w+", _OPTIMISER_ARGUMENTS, where=(has("LR"),)),
        Call(r"[\w.]+", ("PARAMETERS=params", "LR=lr"),
             where=(has("LR"), text_is("PARAMETERS", r"(list\()?[\w.\[\]]+\.parameters\(\)\)?"),
                    text_is_not("PLACE", r"([\w.]*\.)?clip_.*"))),
    ),
    prefer=(
        kind("assignment"), text_is("PLACE", r"(lr|learning_rate|\w+\.learning_rate)\b.*"), kind("call"),
        text_is("PLACE", r".*(add_argument|option).*"),
    ),
)  # fmt: skip  # LR

BATCH_SIZE = Idiom(
    "BATCH_SIZE",
    "a batch size with a number as value: batch_size = ..., an option --batch-size, DataLoader(..., batch_size=...)",
    (Number(r"(train_)?(batch_?size|bs|bsz)", "SIZE"),),
    prefer=(kind("assignment"), text_is("PLACE", r"(batch_?size).*"), kind("call")),
)  # SIZE

EPOCHS = Idiom(
    "EPOCHS",
    "a number of epochs or steps to train: epochs = ..., steps = ..., an option --epochs",
    (Number(r"(num_|n_|max_|total_)?(epochs?|steps|iters|iterations|nepoch)", "COUNT"),),
    prefer=(kind("assignment"), text_is("PLACE", r"\W*\w*epoch.*")),
)  # COUNT

# --- modes

_NO_MODEL = (
    r".*(trainer|engine|optim|solver|runner|estimator|session|interp|parser|expr|df)\w*|self|pd|sympy|.*\)\.parse"
)

TRAIN_MODE = Idiom(
    "TRAIN_MODE",
    "a call of a model's train()",
    (
        Call(
            r"(?P<MODEL>.+)\.train",
            where=(text_is_not("MODEL", _NO_MODEL),),
            whole=r"|(mode=)?True|[\w.]*train\w*",
            left="$MODEL",
        ),
        Call(r"(?P<MODEL>.+)\.train", where=(loops,), whole=r"|(mode=)?True", left="$MODEL"),
        Call(r"(?P<MODEL>self)\.train", where=(assigned,), whole="|True", left="$MODEL"),
    ),
    prefer=(not_evaluating, any_of(trains, somewhere("$MODEL.parameters()")), somewhere("$MODEL.parameters()"), trains),
)  # MODEL

EVAL_MODE = Idiom(
    "EVAL_MODE",
    "a call of a model's eval()",
    (
        Call(r"(?P<MODEL>.+)\.eval", where=(text_is_not("MODEL", _NO_MODEL),), whole="", left="$MODEL"),
        Call(r"(?P<MODEL>self)\.eval", where=(assigned,), left="$MODEL"),
        Call(r"(?P<MODEL>.+)\.train", whole=r"(mode=)?False", left="$MODEL"),
    ),
    prefer=(
        text_is_not("MODEL", r".*(teacher|target|ema|critic|vgg|inception|frozen|pretrained)\w*"),
        somewhere("$MODEL.parameters()"),
    ),
)  # MODEL

NO_GRAD = Idiom(
    "NO_GRAD",
    "a `with` or a decorator torch.no_grad() or torch.inference_mode()",
    (
        Header(r"(?:torch\.)?(?:no_grad|inference_mode)\(\)|(?:torch\.)?set_grad_enabled\(.*\)"),
        Header(r"(?:torch\.)?(?:no_grad|inference_mode)\(\)", kind="decorator"),
    ),
    prefer=(judges,),
)  # CONTEXT

# --- data

LOADER = Idiom(
    "LOADER",
    "a DataLoader(...) of training data",
    (
        Call(r"(?:.*\.)?(?:DataLoader|auto_dataloader)",
             ("DATA=dataset", "BATCH=batch_size", "SHUFFLE=shuffle", "SAMPLER=sampler", "BATCH_SAMPLER=batch_sampler",
              "WORKERS=num_workers", "COLLATE=collate_fn")),
        Call(r"(?:.*\.)?(?:get|make|build|create)_?(?:train_)?(?:\w*data_?loaders?)"),
    ),
    prefer=(text_is_not("RESULT", r".*(val|test|eval|dev)\w*"), text_is_not("DATA", r".*(val|test|eval|dev)\w*"),
            any_of(text_is("RESULT", r".*train.*"), text_is("DATA", r".*train.*")), text_is("SHUFFLE", "True")),
)  # fmt: skip  # DATA, BATCH, SHUFFLE, WORKERS, COLLATE

PAIRS = Idiom(
    "PAIRS",
    "a TensorDataset(inputs, labels) of training data",
    (Call(r"(?:.*\.)?TensorDataset", ("INPUTS=*", "LABELS=*"), where=(has("LABELS"),),
          inside={"LABELS": r"^(?P<ARRAY>[\w.]+)\[(?P<ORDER>\w+)\]$"}),),
    prefer=(text_is_not("INPUTS", r".*(val|test|eval|dev).*"),
            any_of(text_is("INPUTS", r".*train.*"), text_is("RESULT", r".*train.*"))),
)  # fmt: skip  # INPUTS, LABELS, ARRAY, ORDER

SPLIT = Idiom(
    "SPLIT",
    "a split into training and validation data: random_split(...), train_test_split(...), order[:n] and order[n:]",
    (
        Call(r"(?:.*\.)?random_split", ("DATA=dataset", "LENGTHS=lengths", "GENERATOR=generator")),
        Call(r"(?:.*\.)?train_test_split", ("DATA=*", "LABELS=*")),
        Pattern("$TRAIN, $VALIDATION = $DATA[:$N], $DATA[$N:]"),
        Pattern("$TRAIN = $DATA[:$N]\n$VALIDATION = $DATA[$N:]"),
        Pattern("$TRAIN = $DATA[:$N]", also=("$VALIDATION = $DATA[$N:]",)),
        Pattern("$TRAIN, $VALIDATION = $DATA[: $N], $DATA[$N :]"),
    ),
)  # DATA, TRAIN, VALIDATION, N, LENGTHS

PERMUTATION = Idiom(
    "PERMUTATION", "torch.randperm(n)", (Call(r"(?:(?P<TORCH>\w+)\.)?randperm", ("COUNT=n",)),)
)  # TORCH, COUNT

NORMALISE = Idiom(
    "NORMALISE",
    "a normalisation of the inputs: Normalize(mean, std) or (x - mean) / std",
    (
        Call(r"(?:.*\.)?Normalize", ("MEAN=mean", "STD=std")),
        Pattern("($INPUTS - $MEAN) / $STD"),
        Pattern("($INPUTS - $MEAN) / ($STD)"),
        Call(r"(?:.*\.)?normali[sz]e\w*", ("INPUTS=*",), where=(has("INPUTS"),)),
        Pattern("$INPUTS / $INPUTS.sum($$$REST)"),
    ),
    prefer=(text_is_not("PLACE", r".*(advantage|return|reward|adv).*"),),
)  # INPUTS, MEAN, STD

SEED = Idiom(
    "SEED",
    "a call that seeds torch: torch.manual_seed(...), set_seed(...), seed_everything(...)",
    (
        Call(r"(?P<TORCH>torch|t)\.manual_seed", ("SEED=seed",)),
        Call(r"(?:torch\.)?(?:cuda|mps)\.manual_seed(?:_all)?", ("SEED=seed",)),
        Call(r"(?:[\w.]*\.)?(?:manual_seed|set_seed|seed_everything|seed_all|fix_seed|setup_seed|set_random_seed|set_seeds)",
             ("SEED=seed",)),
    ),
    prefer=(text_is("PLACE", r"torch\.manual_seed\(.*"), text_is("SEED", r"[\w.]+|\w+\[.*\]"), not_evaluating),
)  # fmt: skip  # SEED, TORCH

# --- inside the model

_ACTIVATIONS = r"relu6?|leaky_relu|elu|selu|gelu|silu|mish|tanh|sigmoid|hardswish|softplus"

ACTIVATION = Idiom(
    "ACTIVATION",
    "an activation function in a forward pass: F.relu(...), torch.tanh(...), x.relu()",
    (
        Call(_F + rf"(?P<FUNCTION>{_ACTIVATIONS})", ("INPUT=input",), where=(has("INPUT"),)),
        Call(rf"(?P<INPUT>[\w.]+(?:\(.*\))?)\.(?P<FUNCTION>{_ACTIVATIONS})_?", whole=""),
        Call(r"self\.(?P<FUNCTION>(?:\w+_)?(?:relu|act|act_fn|activation|nonlinearity|non_linear|gelu|tanh)_?\d*)",
             ("INPUT=input",), where=(has("INPUT"),)),
    ),
    prefer=(not_evaluating,),
)  # fmt: skip  # F, FUNCTION, INPUT

HIDDEN = Idiom(
    "HIDDEN",
    "an activation function in a forward pass whose result gets a name: hidden = F.relu(self.layer(hidden))",
    tuple(replace(form, where=(*form.where, has("RESULT"))) for form in ACTIVATION.forms),
    prefer=(not_evaluating, mentions("INPUT", "RESULT")),
)  # F, FUNCTION, INPUT

HIDDEN_ALONE = Idiom(
    "HIDDEN_ALONE",
    "an activation function as a statement of its own: hidden = F.relu(hidden)",
    tuple(replace(form, where=(*form.where, assigned, same("INPUT", "RESULT"))) for form in ACTIVATION.forms),
    prefer=(not_evaluating,),
)  # F, FUNCTION, INPUT

ACTIVATED = Idiom(
    "ACTIVATED",
    "an activation function of which the result gets a name as it is: hidden = F.relu(...)",
    tuple(replace(form, where=(*form.where, assigned)) for form in ACTIVATION.forms),
    prefer=(not_evaluating, mentions("INPUT", "RESULT"), same("INPUT", "RESULT")),
)  # F, FUNCTION, INPUT

ACTIVATION_LAYER = Idiom(
    "ACTIVATION_LAYER",
    "an activation as a layer: nn.ReLU(), nn.Tanh(), ...",
    (
        Call(
            r"(?:(?P<NN>[\w.]+)\.)?(?P<FUNCTION>ReLU6?|LeakyReLU|ELU|SELU|GELU|SiLU|Mish|Tanh|Sigmoid|Hardswish|Softplus|PReLU)"
        ),
    ),
)  # NN, FUNCTION

HEAD = Idiom(
    "HEAD",
    "the last linear layer of a model: self.head = nn.Linear(...)",
    (Call(r"(?:(?P<NN>[\w.]+)\.)?(?:Lazy)?Linear", ("IN=in_features", "OUT=out_features"), where=(has("OUT"),)),),
    prefer=(text_is("RESULT", r".*(head|fc|out|classifier|lin|last|final|decoder|proj|logits)\w*"),
            text_is("RESULT", r".*(head|out|classifier|last|final|logits)\w*")),
)  # fmt: skip  # NN, IN, OUT

MASK = Idiom(
    "MASK",
    "attention scores that are masked: scores = scores.masked_fill(mask == 0, ...)",
    (
        Pattern(
            "$SCORES = $SCORES.masked_fill($HIDDEN, $LOW)",
            where=(text_is("LOW", r".*inf.*|-.*|.*\.min|.*finfo.*|.*neg.*"),),
        ),
        Pattern("$SCORES = $SCORES.masked_fill_($HIDDEN, $LOW)"),
        Pattern("$SCORES.masked_fill_($HIDDEN, $LOW)"),
        Pattern("$SCORES = torch.where($KEPT, $SCORES, $LOW)"),
    ),
)  # SCORES, HIDDEN, LOW

_MASKED = "$SCORES = $SCORES.masked_fill($HIDDEN, $LOW)\n"

MASKED_SOFTMAX = Idiom(
    "MASKED_SOFTMAX",
    "attention scores that are masked and then go through a softmax: scores.masked_fill(...), softmax(scores, ...)",
    (
        Pattern(
            _MASKED + "$WEIGHTS = $SOFTMAX",
            where=(text_is("SOFTMAX", r".*softmax.*\(.*"), mentions("SOFTMAX", "SCORES")),
        ),
    ),
)  # SCORES, HIDDEN, LOW, WEIGHTS, SOFTMAX

# --- what is kept

_NUMBER = (
    r"^(?P<NUMBER>(?:float\()?(?P<LOSS>\w+(?:\.(?!detach|cpu|data|item|float|numpy|mean|sum)\w+)*)"
    r"(?:\.(?:detach|cpu|float|numpy|item|mean|sum)\(\)|\.data(?:\[0\])?)*\)?)"
)
_AS_NUMBER = text_is("NUMBER", r"float\(.*|.*\.(item|numpy)\(\)|.*\.data.*|.*detach\(\).*")

ITEM_APPEND = Idiom(
    "ITEM_APPEND",
    "a loss that is kept as a number: losses.append(loss.item()), total += loss.item()",
    (
        Call(
            r"(?P<KEPT>.+)\.(?:append|add|update|push)",
            ("VALUE=val|value",),
            inside={"VALUE": _NUMBER},
            where=(_AS_NUMBER,),
        ),
        Pattern("$KEPT += $VALUE", inside={"VALUE": _NUMBER}, where=(_AS_NUMBER,)),
        Pattern("$KEPT = $KEPT + $VALUE", inside={"VALUE": _NUMBER}, where=(_AS_NUMBER,)),
    ),
    prefer=(somewhere("$LOSS.backward($$$)", "$S.scale($LOSS)", "$A.backward($LOSS)"), trains, loops),
)  # KEPT, VALUE, NUMBER, LOSS

"""The loss, and the calls of a training loop. `idioms` has them all."""

from bugzoo.faults.conditions import (
    adds_up,
    alone,
    any_of,
    has,
    loops,
    made_by,
    not_evaluating,
    not_made_by,
    not_together,
    somewhere,
    text_is,
    text_is_not,
    top_level,
    trained_on,
    trains,
)  # fmt: skip
from bugzoo.faults.forms import Call, Idiom, Pattern

_F = r"(?:(?P<F>[\w.]+)\.)?"
_MODEL = {"PARAMETERS": r"(?P<MODEL>[\w.\[\]'\"]+)\.(?:named_|trainable_)?parameters\(\)"}
_SCALER = r"(?P<SCALER>[\w.]*(?:scaler|amp)[\w.]*)"
_LAUNCHER = r"(?P<LAUNCHER>[\w.]*(?:accelerator|fabric|engine|strategy|accelerate)[\w.]*)"
_SCHEDULED = r"(.*\.)?(lr_scheduler\.\w+|\w*(Scheduler|LR|WarmRestarts)|get_\w*schedule\w*|make_\w*sched\w*)\("
_OPTIMISED = r"(.*\.)?(optim\.\w+|(Adam|SGD|RMSprop|Adagrad|Adadelta|LBFGS|Lion|Rprop)\w*|\w*[oO]ptim\w*)\("

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
    r"(?:.*\.)?(?:MSELoss|L1Loss|SmoothL1Loss|HuberLoss|BCELoss|BCEWithLogitsLoss|NLLLoss|KLDivLoss|PoissonNLLLoss|"
    r"TripletMarginLoss|CTCLoss|MultiLabelSoftMarginLoss|GaussianNLLLoss)\("
)

_DIFFERENCE = "($PREDICTION - $TARGETS)"
_SQUARED = tuple(
    form.format(square)
    for square in (f"({_DIFFERENCE} ** 2)", f"{_DIFFERENCE}.pow(2)", f"{_DIFFERENCE}.square()")
    for form in ("{}.mean()", "{}.sum()", "torch.mean({})")
) + tuple(f"torch.mean({form})" for form in (f"{_DIFFERENCE} ** 2", f"torch.square({_DIFFERENCE[1:-1]})"))

OTHER_LOSS = Idiom(
    "OTHER_LOSS",
    "a loss of a prediction and targets that is no cross-entropy: F.mse_loss(...), nn.BCEWithLogitsLoss()",
    (
        Call(_F + r"(?:mse_loss|l1_loss|smooth_l1_loss|huber_loss|binary_cross_entropy\w*|nll_loss|kl_div|poisson_nll_loss)",
             ("PREDICTION=input", "TARGETS=target")),
        Call(_OTHER + r".*\)", ("PREDICTION=input", "TARGETS=target")),
        Call(r"(?P<CRITERION>[\w.]+)", ("PREDICTION=input", "TARGETS=target"),
             where=(has("TARGETS"), made_by("CRITERION", _OTHER))),
        Call(r"(?P<CRITERION>(?:[\w.]*\.)?\w*(?:criterion|loss|loss_fn|loss_func|loss_function))",  # made elsewhere
             ("PREDICTION=input", "TARGETS=target"),
             where=(has("TARGETS"), not_together("PREDICTION", "TARGETS"), adds_up, not_made_by("CRITERION", _CRITERION))),
        *(Pattern(by_hand, where=(adds_up,)) for by_hand in _SQUARED),
    ),
    prefer=(not_evaluating, trained_on, adds_up, trains),
)  # fmt: skip  # F, CRITERION, PREDICTION, TARGETS

LEFT_OUT = Idiom(
    "LEFT_OUT",
    "a cross-entropy that leaves a target out: F.cross_entropy(..., ignore_index=...), nn.CrossEntropyLoss(ignore_index=...)",
    (
        Call(
            r"(?:.*\.)?(?:cross_entropy|nll_loss)",
            ("LOGITS=input", "TARGETS=target", "WEIGHT=weight", "SIZE=size_average", "IGNORED=ignore_index"),
            where=(has("IGNORED"), text_is_not("IGNORED", r"-100")),
        ),
        Call(
            r"(?:.*\.)?(?:CrossEntropyLoss|NLLLoss|\w*Label_?Smooth\w*)",
            ("WEIGHT=weight", "SIZE=size_average", "IGNORED=ignore_index"),
            where=(has("IGNORED"), text_is_not("IGNORED", r"-100")),
        ),
    ),
    prefer=(not_evaluating, trained_on, trains),
)  # IGNORED

# --- the loop


ZERO_GRAD = Idiom(
    "ZERO_GRAD",
    "a call of an optimizer's or a model's zero_grad(), or a loop that sets .grad to None or zero",
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
    "a call of an optimizer's step(), also through a gradient scaler",
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

_HELD_BACK = (
    text_is("LOADER", r"(.*\.)?(val|valid|validation|dev)(_?(data)?_?(loader|set|dl|iter|data|batches)\w*)?"),
    loops,
)

JUDGED_EACH_EPOCH = Idiom(
    "JUDGED_EACH_EPOCH",
    "a call in a loop that measures the model on validation data: evaluate(validation_loader), validate(model, val_loader, ...)",
    tuple(
        Pattern(call, where=(*_HELD_BACK, text_is("EVALUATE", r"(.*\.)?\w*(eval|valid|test|loss|score)\w*")))
        for call in (
            "$EVALUATE($LOADER)",
            "$EVALUATE($LOADER, $$$REST)",
            "$EVALUATE($MODEL, $LOADER)",
            "$EVALUATE($MODEL, $LOADER, $$$REST)",
        )
    ),
)  # EVALUATE, LOADER, MODEL

RESTORE_BEST = Idiom(
    "RESTORE_BEST",
    "the best weights loaded back: model.load_state_dict(best_weights), model.load_state_dict(torch.load('best.pt'))",
    (
        Call(
            r"(?P<MODEL>[\w.]+)\.load_state_dict",
            ("STATE=state_dict",),
            where=(text_is("STATE", r"(?i:.*best.*)"), text_is_not("MODEL", r".*(optim|sched|scaler|ema)\w*")),
        ),
    ),
)  # MODEL, STATE

COUNTER = Idiom(
    "COUNTER",
    "a counter of steps at the top level, such as step += 1, that a forward pass can read",
    (Pattern("$COUNT += 1", where=(trains, top_level, text_is("COUNT", r"\w*(step|iteration|iter|batches)\w*|it|i"))),),
)  # COUNT

BATCH_COUNTER = Idiom(
    "BATCH_COUNTER",
    "a training loop that counts its batches: for i, batch in enumerate(loader)",
    (Pattern("for $COUNT, $BATCH in enumerate($$$ARGS):\n    $$$BODY", where=(trains,)),),
)  # COUNT, BATCH

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

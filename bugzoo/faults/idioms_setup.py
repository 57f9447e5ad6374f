"""What the optimizer trains, with which settings, in which mode, and what the script keeps of it. `idioms` has them all."""

from bugzoo.faults.conditions import (
    any_of,
    assigned,
    has,
    judges,
    kind,
    lacks,
    loops,
    no_evaluation,
    not_evaluating,
    not_within,
    somewhere,
    text_is,
    text_is_not,
    trains,
)  # fmt: skip
from bugzoo.faults.forms import Call, Header, Idiom, Number, Pattern, narrowed

_MODEL = {"PARAMETERS": r"(?P<MODEL>[\w.\[\]'\"]+)\.(?:named_|trainable_)?parameters\(\)"}
_NAMES = (
    "Adadelta|Adafactor|Adagrad|Adam|AdamW|SparseAdam|Adamax|ASGD|LBFGS|NAdam|RAdam|RMSprop|Rprop|SGD|Adam8bit|AdamW8bit|"
    "FusedAdam|FusedLAMB|LAMB|Lamb|LARS|Lion|Ranger|DiffGrad|AdaBelief|AdaBound|Yogi|QHAdam|Noam|NoamOpt|ScheduledOptim"
)

# --- what is optimised


_PLAIN = r"(?:list\()?[\w.\[\]]+\.parameters\(\)\)?"
_NO_CLASS = (
    r"(?:.*\.)?(?:clip\w*|sum|list|any|all|filter|map|zip|enumerate|max|min|next|iter|chain|tuple|sorted|print|len|set|dict|"
    r"\w*grad\w*|\w*norm\w*|deepcopy|count\w*|parameters_to_vector|\w*ema\w*|reversed|update\w*|isinstance)"
)
_OPTIMISER_ARGUMENTS = ("PARAMETERS=params|parameters", "LR=lr|learning_rate")

OPTIMIZER = Idiom(
    "OPTIMIZER",
    "an optimizer made from a model's parameters: torch.optim.Adam(model.parameters(), ...)",
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

DEFAULT_RATE = Idiom(
    "DEFAULT_RATE",
    "an optimizer that is given no learning rate: torch.optim.Adam(model.parameters())",
    narrowed(
        OPTIMIZER.forms[:3],
        has("PARAMETERS"),
        lacks("LR"),
        text_is_not("PLACE", r".*\*\*.*"),
        text_is_not("PARAMETERS", r".*(group|config).*"),
    ),  # those have rates of their own
    prefer=OPTIMIZER.prefer,
)  # CLASS, OPTIM, PARAMETERS, MODEL

LEARNING_RATE = Idiom(
    "LEARNING_RATE",
    "a learning rate: learning_rate = ..., lr = ..., an option --lr with a number as default, or lr=... of an optimizer",
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
    (
        Number(
            r"(train_)?(batch_?size|bs|bsz)",
            "SIZE",
            where=(not_evaluating, no_evaluation, not_within(r"export|onnx|visual|plot|profile")),
        ),
    ),
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
        Header(r"(?:\w+\.)?(?:no_grad|inference_mode)\(\)|(?:torch\.)?set_grad_enabled\(.*\)"),
        Header(r"(?:\w+\.)?(?:no_grad|inference_mode)\(\)", kind="decorator"),
    ),
    prefer=(judges,),
)  # CONTEXT

# --- what is kept


_NUMBER = (
    r"^(?P<NUMBER>(?:float\()?(?P<LOSS>\w+(?:\.(?!(?:detach|cpu|data|item|float|numpy|mean|sum)\b)\w+)*)"
    r"(?:\.(?:detach|cpu|float|numpy|item|mean|sum)\(\)|\.data\b(?:\[0\])?)*\)?)"
)
_AS_NUMBER = text_is("NUMBER", r"float\(.*|.*\.(item|numpy)\(\)|.*\.data\b.*|.*detach\(\).*")

ITEM_APPEND = Idiom(
    "ITEM_APPEND",
    "a loss that is kept as a number: losses.append(loss.item()), total += loss.item()",
    (
        Call(
            r"(?P<KEPT>.+)\.(?:append|add|update|push)",
            ("VALUE=val|value",),
            inside={"VALUE": _NUMBER},
            where=(_AS_NUMBER, not_evaluating),
        ),
        Pattern("$KEPT += $VALUE", inside={"VALUE": _NUMBER}, where=(_AS_NUMBER, not_evaluating)),
        Pattern("$KEPT = $KEPT + $VALUE", inside={"VALUE": _NUMBER}, where=(_AS_NUMBER, not_evaluating)),
    ),
    prefer=(somewhere("$LOSS.backward($$$)", "$S.scale($LOSS)", "$A.backward($LOSS)"), trains, loops),
)  # KEPT, VALUE, NUMBER, LOSS

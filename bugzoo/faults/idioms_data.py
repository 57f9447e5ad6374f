"""Data, and the inside of a model. `idioms` has them all."""

from bugzoo.faults.conditions import (
    any_of,
    assigned,
    has,
    listed,
    mentions,
    not_evaluating,
    same,
    text_is,
    text_is_not,
)  # fmt: skip
from bugzoo.faults.forms import Call, Idiom, Pattern, narrowed

_F = r"(?:(?P<F>[\w.]+)\.)?"

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

TEST_LOADER = Idiom(
    "TEST_LOADER",
    "a DataLoader(...) of test data",
    (
        Pattern(
            "$TEST = $LOADER($$$ARGS)", where=(text_is("TEST", r"\w*test\w*"), text_is("LOADER", r"(.*\.)?DataLoader"))
        ),
    ),
)  # TEST

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
        Pattern("$TRAIN, $VALIDATION = ($CUT($DATA, 0, $N), $CUT($DATA, $N))"),  # by a function, as Keras has one
        Pattern("$TRAIN, $VALIDATION = $CUT($DATA, 0, $N), $CUT($DATA, $N)"),
    ),
)  # DATA, TRAIN, VALIDATION, N, LENGTHS

PERMUTATION = Idiom(
    "PERMUTATION", "torch.randperm(n)", (Call(r"(?:(?P<TORCH>\w+)\.)?randperm", ("COUNT=n",)),)
)  # TORCH, COUNT

# (x - 1.0) / steps is a schedule, and (end - start) / duration is a slope
_OF_DATA = any_of(
    text_is("MEAN", r".*(mean|mu\b|avg|average|median|center|centre|shift|min|low).*|0?\.\d+|1\d\d(\.\d+)?"),
    text_is("STD", r".*(std|sigma|dev|scale|var\b|variance|max|norm|range|255).*"),
)

NORMALISE = Idiom(
    "NORMALISE",
    "a normalization of the inputs: Normalize(mean, std), (x - mean) / std, or scaler.transform(x) of scikit-learn",
    (
        Call(r"(?:.*\.)?Normalize", ("MEAN=mean", "STD=std")),
        Pattern("($INPUTS - $MEAN) / $STD", where=(_OF_DATA,)),
        Pattern("($INPUTS - $MEAN) / ($STD)", where=(_OF_DATA,)),
        # F.normalize(x, dim=1) brings embeddings to length 1
        Call(
            r"(?!unicodedata\b)(?:.*\.)?normali[sz]e\w*",
            ("INPUTS=*",),
            where=(has("INPUTS"), text_is_not("PLACE", r".*\bdim=.*|(.*\.)?(F|functional|nnf)\.normalize\(.*")),
        ),
        Call(
            r"(?P<SCALER>[\w.]*(?:scaler|standardi[sz]er)\w*)\.(?:fit_)?transform",
            ("INPUTS=X",),
            where=(has("INPUTS"),),
        ),
        Pattern("$INPUTS / $INPUTS.sum($$$REST)", where=(text_is_not("INPUTS", r".*(confusion|matrix).*"),)),
    ),
    prefer=(text_is_not("PLACE", r".*(advantage|return|reward|adv).*"),),
)  # INPUTS, MEAN, STD, SCALER

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
        Call(_F + rf"(?P<FUNCTION>{_ACTIVATIONS})", ("INPUT=input",), where=(has("INPUT"), not_evaluating)),
        Call(rf"(?P<INPUT>[\w.]+(?:\(.*\))?)\.(?P<FUNCTION>{_ACTIVATIONS})_?", whole="", where=(not_evaluating,)),
        Call(r"self\.(?P<FUNCTION>(?:\w+_)?(?:relu|act|act_fn|activation|nonlinearity|non_linear|gelu|tanh)_?\d*)",
             ("INPUT=input",), where=(has("INPUT"), not_evaluating)),
    ),
)  # fmt: skip  # F, FUNCTION, INPUT

HIDDEN = Idiom(
    "HIDDEN",
    "an activation function in a forward pass whose result gets a name: hidden = F.relu(self.layer(hidden))",
    narrowed(ACTIVATION.forms, has("RESULT")),
    prefer=(mentions("INPUT", "RESULT"),),
)  # F, FUNCTION, INPUT

HIDDEN_ALONE = Idiom(
    "HIDDEN_ALONE",
    "an activation function as a statement of its own: hidden = F.relu(hidden)",
    narrowed(ACTIVATION.forms, assigned, same("INPUT", "RESULT")),
)  # F, FUNCTION, INPUT

ACTIVATED = Idiom(
    "ACTIVATED",
    "an activation function of which the result gets a name as it is: hidden = F.relu(...)",
    narrowed(ACTIVATION.forms, assigned),
    prefer=(mentions("INPUT", "RESULT"), same("INPUT", "RESULT")),
)  # F, FUNCTION, INPUT

ACTIVATION_LAYER = Idiom(
    "ACTIVATION_LAYER",
    "an activation as a layer: nn.ReLU(), nn.Tanh()",
    (
        Call(
            r"(?:(?P<NN>[\w.]+)\.)?(?P<FUNCTION>ReLU6?|LeakyReLU|ELU|SELU|GELU|SiLU|Mish|Tanh|Sigmoid|Hardswish|Softplus|PReLU)"
        ),
    ),
)  # NN, FUNCTION

LAYERED = Idiom(
    "LAYERED",
    "an activation among the layers of nn.Sequential(...)",
    narrowed(ACTIVATION_LAYER.forms, has("NN"), listed),
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

_MASKED = (
    "$SCORES = $SCORES.masked_fill($HIDDEN, $LOW)\n",
    "$SCORES = $SCORES.masked_fill_($HIDDEN, $LOW)\n",
    "$SCORES.masked_fill_($HIDDEN, $LOW)\n",
)

MASKED_SOFTMAX = Idiom(
    "MASKED_SOFTMAX",
    "attention scores that are masked and then go through a softmax: scores.masked_fill(...), softmax(scores, ...)",
    tuple(
        Pattern(
            masked + "$WEIGHTS = $SOFTMAX",
            where=(text_is("SOFTMAX", r".*softmax.*\(.*"), mentions("SOFTMAX", "SCORES")),
        )
        for masked in _MASKED
    ),
)  # SCORES, HIDDEN, LOW, WEIGHTS, SOFTMAX

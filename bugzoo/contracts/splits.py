"""scikit-learn: splits of rows, and what is fitted on which part."""

import weakref
from typing import Any

import numpy as np

from bugzoo.contracts.model import Aside, Call, Contract, Numbers

_SPLIT = "sklearn.model_selection.train_test_split"
_P = "sklearn.preprocessing."
_FITS = tuple(f"{_P}{name}.fit" for name in ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler"))
_FIT_TRANSFORM = "sklearn.base.TransformerMixin.fit_transform"
_SCALERS = ("StandardScaler", "MinMaxScaler", "RobustScaler", "MaxAbsScaler", "QuantileTransformer")
DOCS = "https://scikit-learn.org/stable/"
_LEAKAGE = DOCS + "common_pitfalls.html#data-leakage-during-pre-processing"
USES = (
    "import numpy as np\nfrom sklearn.model_selection import KFold, StratifiedKFold, train_test_split\n"
    "from sklearn.preprocessing import LabelEncoder, StandardScaler\n"
    "x, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) // 12\n"
)


def classes(labels: Any) -> np.ndarray | None:
    """Return labels as numbers of classes; None for real numbers, or if most labels are there only once."""
    labels = np.asarray(labels)
    if labels.ndim != 1 or labels.dtype.kind not in "iubUSO" or not len(labels):
        return None
    numbers = np.unique(labels, return_inverse=True)[1]
    return None if 2 * (numbers.max() + 1) > len(labels) else numbers


def _sorted_folds(call: Call) -> Numbers | None:
    """Look whether a fold of a KFold without shuffle holds a class of which no other fold has a row."""
    folds = call["self"]
    if type(folds).__name__ != "KFold" or folds.shuffle or call["y"] is None:
        return None
    labels = classes(call["y"])
    if labels is None:
        return None
    place = np.arange(len(labels)) * folds.n_splits // len(labels)
    alone = 0
    for label in range(labels.max() + 1):
        rows = np.flatnonzero(labels == label)
        block = len(rows) == rows[-1] - rows[0] + 1
        alone += bool(block and len(rows) >= folds.n_splits and place[rows[0]] == place[rows[-1]])
    return {"alone": float(alone), "classes": float(labels.max() + 1), "folds": float(folds.n_splits)}


def _sorted_split(call: Call) -> Numbers | None:
    """Look whether the last array of a split without shuffle has classes of which no row is left for training."""
    arrays = call["arrays"]
    if call["shuffle"] or not arrays:
        return None
    labels = classes(arrays[-1])
    if labels is None:
        return None
    rows = len(call.result[-2])
    train, test = set(labels[:rows].tolist()), set(labels[rows:].tolist())
    return {
        "alone": float(len(test - train)),
        "classes": float(labels.max() + 1),
        "grouped": float((np.diff(labels) >= 0).all()),
    }


def _noted(call: Call, thing: Any, **what: Any) -> None:
    try:
        call.about(thing).update(what)
    except Aside:  # a list
        pass


def _notes(call: Call, thing: Any) -> dict[str, Any]:
    try:
        return call.about(thing)
    except Aside:
        return {}


def _scaled_first(call: Call) -> Numbers | None:
    """Look whether an array to split is what a scaler made of all its rows."""
    if call.target == _SPLIT:
        scalers = [notes["by"] for notes in (_notes(call, array) for array in call["arrays"]) if "by" in notes]
        return {"by": scalers[0], "rows": float(len(call["arrays"][0]))} if scalers else None
    scaler = call["self"]
    name = type(scaler).__name__
    if name in _SCALERS and call.target == _FIT_TRANSFORM:
        _noted(call, call.result, by=name)
    elif call.target.endswith(".fit"):
        call.about(scaler)["rows"] = weakref.ref(call["X"])
    elif name in _SCALERS and call.about(scaler).get("rows", lambda: None)() is call["X"]:
        _noted(call, call.result, by=name)
    return None


def _fitted_on_test(call: Call) -> Numbers | None:
    if call.target == _SPLIT:
        for array in call.result[1::2]:
            _noted(call, array, test=True)
        for array in call.result[::2]:
            _noted(call, array, test=False)
        return None
    scaler, name = call["self"], type(call["self"]).__name__
    if name not in _SCALERS:
        return None
    notes = _notes(call, call["X"])
    if "test" not in notes:
        return None
    trained = call.shared.setdefault("trained", [])
    if not notes["test"]:
        trained.append(name)
    return {
        "name": type(scaler).__name__,
        "rows": float(len(call["X"])),
        "test": float(notes["test"] and name in trained),
    }


def _apart(call: Call) -> Numbers | None:
    """Look whether features and labels of as many rows are shuffled in two calls."""
    arrays, seed = call["arrays"], call["random_state"]
    if len(arrays) != 1 or not call["shuffle"] or not (seed is None or isinstance(seed, int)):
        return None
    array = np.asarray(arrays[0])
    kind = "features" if array.ndim >= 2 and array.shape[1] > 1 else "labels" if classes(array) is not None else ""
    before = call.shared.get("before")
    call.shared["before"] = (kind, len(array), seed)
    if before is None or not kind or not before[0] or before[0] == kind or before[1] != len(array):
        return None
    return {
        "rows": float(len(array)),
        "apart": float(seed is None or seed != before[2]),
        "seed": str(seed),
        "other": str(before[2]),
    }


CONTRACTS = (
    Contract(
        name="kfold_of_sorted_labels",
        on=("sklearn.model_selection._split._BaseKFold.split",),
        demand="`KFold` cuts the rows into blocks in the order of the file, unless `shuffle=True`.",
        given="{alone:.0f} of {classes:.0f} classes lie in one of {folds:.0f} folds only: the model tested there never saw them.",
        instead="Pass `KFold(shuffle=True, random_state=0)`, or use `StratifiedKFold`.",
        page=DOCS + "modules/generated/sklearn.model_selection.KFold.html",
        kind="order of calls",
        measure=_sorted_folds,
        broken=lambda numbers: numbers["alone"] > 0,
        breaks=USES + "for train, test in KFold(5).split(x, y): pass",
        keeps=(
            USES + "for train, test in KFold(5, shuffle=True).split(x, y): pass\n"
            "for train, test in StratifiedKFold(5).split(x, y): pass\n"
            "for train, test in KFold(5).split(x, np.arange(60) % 2): pass\n"
            "for train, test in KFold(5).split(x, np.sort(x[:, 0])): pass\n"
            "for train, test in KFold(5).split(x, np.arange(60) % 20): pass"
        ),
        wrong="Folds by class on purpose, to test on a class that training has not seen.",
        explains=("by itself",),
    ),
    Contract(
        name="split_of_sorted_labels",
        on=(_SPLIT,),
        demand="`train_test_split(shuffle=False)` takes the last rows as the test set.",
        given="The labels are sorted, and {alone:.0f} of {classes:.0f} classes have rows in the test set only.",
        instead="Leave out `shuffle=False`, and pass `stratify=y`.",
        page=DOCS + "modules/generated/sklearn.model_selection.train_test_split.html",
        kind="order of calls",
        measure=_sorted_split,
        broken=lambda numbers: numbers["alone"] > 0 and numbers["grouped"] > 0,
        breaks=USES + "train_test_split(x, y, shuffle=False)",
        keeps=(
            USES
            + "train_test_split(x, y)\ntrain_test_split(x, np.random.default_rng(0).permutation(y), shuffle=False)\n"
            "train_test_split(x, np.arange(60), shuffle=False)"
        ),
        wrong="Rows in order of time, whose classes come one after the other.",
        explains=("by itself",),
        causes=("data/ordered_split",),
        after=True,
    ),
    Contract(
        name="scaled_before_split",
        on=(_SPLIT, _FIT_TRANSFORM, *_FITS, *(name.replace(".fit", ".transform") for name in _FITS)),
        demand="Data is split before anything is fitted: a scaler learns from the training rows only.",
        given="{by} was fitted on all {rows:.0f} rows before they are split.",
        instead="Split first, call `fit_transform` on the training rows and `transform` on the test rows.",
        page=_LEAKAGE,
        kind="order of calls",
        measure=_scaled_first,
        broken=lambda numbers: True,
        breaks=USES + "x = StandardScaler().fit_transform(x)\ntrain_test_split(x, y)",
        keeps=(
            USES + "y = LabelEncoder().fit_transform(y)\na, b, *_ = train_test_split(x, y)\nscaler = StandardScaler()\n"
            "a = scaler.fit_transform(a)\nb = scaler.transform(b)\ntrain_test_split(scaler.transform(x))"
        ),
        wrong="A second split of rows that are the training set as a whole.",
        after=True,
    ),
    Contract(
        name="scaler_fitted_on_test",
        on=(_SPLIT, _FIT_TRANSFORM, *_FITS),
        demand="`fit` and `fit_transform` are for the training rows; the test rows get `transform` of the same scaler.",
        given="{name} is fitted anew on the {rows:.0f} rows of a test set.",
        instead="Call `scaler.transform(x_test)` with the scaler that was fitted on the training rows.",
        page=_LEAKAGE,
        kind="used twice",
        measure=_fitted_on_test,
        broken=lambda numbers: numbers["test"] > 0,
        breaks=USES
        + "a, b, *_ = train_test_split(x, y)\na = StandardScaler().fit_transform(a)\nb = StandardScaler().fit_transform(b)",
        keeps=(
            USES
            + "test, train = train_test_split(x)\nscaler = StandardScaler().fit(train)\ntest = scaler.transform(test)\n"
            "scaler.fit_transform(x)"
        ),
        wrong="Two samples that are normalized each by itself on purpose.",
        explains=("by itself",),
        after=True,
    ),
    Contract(
        name="split_apart",
        on=(_SPLIT,),
        demand="Arrays that belong together are passed to one call of `train_test_split`, which shuffles them alike.",
        given="Features and labels of {rows:.0f} rows are split in two calls, with `random_state` {other} and {seed}.",
        instead="Write `x_train, x_test, y_train, y_test = train_test_split(x, y)`.",
        page=DOCS + "modules/generated/sklearn.model_selection.train_test_split.html",
        kind="order of calls",
        measure=_apart,
        broken=lambda numbers: numbers["apart"] > 0,
        breaks=USES + "a, b = train_test_split(x)\nc, d = train_test_split(y)",
        keeps=(
            USES + "a, b = train_test_split(x, random_state=0)\nc, d = train_test_split(y, random_state=0)\n"
            "train_test_split(x, y)"
        ),
        wrong="Features and labels of two datasets of the same length.",
        explains=("by itself",),
    ),
)

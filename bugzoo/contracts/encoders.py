"""scikit-learn: encoders and vocabularies that are learned twice."""

from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.splits import DOCS, USES

_ENCODER = "sklearn.preprocessing.LabelEncoder"
_TEXT = "sklearn.feature_extraction.text."
_WORDS = (
    "from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer\n"
    "train, test = ['a good film', 'a bad film'], ['a slow book', 'a quick book']\n"
)


def _encoded_anew(call: Call) -> Numbers | None:
    """Look whether an encoder that was fitted learns other classes, and never encoded with those that it had."""
    encoder, notes = call["self"], call.about(call["self"])
    if call.target.endswith(".transform"):
        notes.clear()
        return None
    classes = [str(label) for label in encoder.classes_]
    if call.target.endswith(".fit"):
        notes["known"] = classes
        return None
    before = notes.get("known")
    if before is None:
        return None
    moved = sum(label in classes and classes.index(label) != place for place, label in enumerate(before))
    return {"before": float(len(before)), "after": float(len(classes)), "moved": float(moved)}


def _words_anew(call: Call) -> Numbers | None:
    """Look whether a vectorizer that was fitted learns other words, and never counted with those that it had."""
    vectorizer, notes = call["self"], call.about(call["self"])
    if call.target.endswith(".transform"):
        notes.clear()
        return None
    vocabulary = dict(vectorizer.vocabulary_)
    before, notes["known"] = notes.get("known"), vocabulary
    if before is None:
        return None
    moved = sum(vocabulary.get(word) != column for word, column in before.items())
    return {"before": float(len(before)), "moved": float(moved), "name": type(vectorizer).__name__}


CONTRACTS = (
    Contract(
        name="encoder_fitted_anew",
        on=(_ENCODER + ".fit", _ENCODER + ".fit_transform", _ENCODER + ".transform"),
        demand="`fit` learns the numbers of classes, and `transform` gives them: `fit_transform` learns them anew.",
        given="The encoder had learned {before:.0f} classes. It learns {after:.0f}, and {moved:.0f} of the old ones get another "
        "number.",
        instead="Call `encoder.transform` on every table after the one that it was fitted on.",
        page=DOCS + "modules/generated/sklearn.preprocessing.LabelEncoder.html",
        kind="used twice",
        measure=_encoded_anew,
        broken=lambda numbers: numbers["moved"] > 0,
        breaks=USES + "encoder = LabelEncoder().fit(['a', 'b', 'c'])\nencoder.fit_transform(['b', 'c'])",
        keeps=(
            USES
            + "encoder = LabelEncoder().fit(['a', 'b', 'c'])\nencoder.transform(['b', 'c'])\nencoder.fit_transform(['b', 'c'])\n"
            "LabelEncoder().fit(['a', 'b', 'c']).fit_transform(['c', 'a', 'b'])"
        ),
        wrong="An encoder that is used for another column after a `fit` that nothing needed.",
        explains=("by itself",),
        after=True,
    ),
    Contract(
        name="vocabulary_learned_anew",
        on=tuple(
            f"{_TEXT}{name}.{method}"
            for name in ("CountVectorizer", "TfidfVectorizer")
            for method in ("fit_transform", "transform")
        ),
        demand="`fit_transform` learns the words and their columns: test texts get `transform` of the same vectorizer.",
        given="{name} had learned {before:.0f} words. It learns them anew, and {moved:.0f} of them lose their column.",
        instead="Call `vectorizer.transform` on every text after the training set.",
        page=DOCS + "modules/generated/sklearn.feature_extraction.text.CountVectorizer.html",
        kind="used twice",
        measure=_words_anew,
        broken=lambda numbers: numbers["moved"] > 0,
        breaks=_WORDS + "words = TfidfVectorizer()\nwords.fit_transform(train)\nwords.fit_transform(test)",
        keeps=(
            _WORDS + "words = CountVectorizer()\nfor fold in range(2):\n    words.fit_transform(train)\n"
            "    words.transform(test)\n    train, test = test, train\nTfidfVectorizer().fit_transform(test)"
        ),
        wrong="A vectorizer that is used for another column of text.",
        explains=("by itself",),
        after=True,
    ),
)

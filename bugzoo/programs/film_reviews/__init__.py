"""Film reviews to train on: generated ones with a known best accuracy, or a reader's own from a folder or a CSV.

A package of its own beside bugzoo, as scikit-learn's digits are for the other programs: the programs read their data from it,
can be copied anywhere where it is installed, and import nothing of the lab. It needs nothing but the standard library.
"""

import csv
import random
import re
from collections import Counter
from pathlib import Path

GOOD = "good great fine lovely funny clever moving bright warm sharp superb gripping witty radiant sublime".split()
BAD = "bad poor dull awful boring clumsy silly weak flat dreary tedious hollow messy lifeless witless".split()
THINGS = "film plot acting story music script ending cast pace dialogue camera humour".split()
ASIDES = (
    "i saw it on a friday with my sister|the cinema was almost empty|it runs for two hours|we had seats near the front"
    "|my friend knew the book|it was made in the north|it is set in a small town by the sea|they filmed it last year"
).split("|")


def make_reviews(count: int, seed: int, negated: float = 0.35, contrasted: float = 0.4) -> list[tuple[str, int]]:
    """`count` pairs of text (5 to 60 words) and label, 1 for praise and 0 for blame.

    A text is made of clauses such as "the plot was very good". A share `negated` says "was not good", a share `contrasted`
    "but the plot ...", which counts three times, "very" doubles, and asides say nothing. The sum settles the label; then 4
    labels in 100 are turned, so that nobody can be right more often than 96 times in 100.
    """
    draw = random.Random(seed)
    rarity = [1 / rank for rank in range(1, len(GOOD) + 1)]  # Zipf: the last words of GOOD and BAD are rare
    made = []
    while len(made) < count:
        clauses, score = [], 0
        for _ in range(draw.randint(1, 6)):
            if draw.random() < 0.3:
                clauses.append(draw.choice(ASIDES))
                continue
            sign, weight = draw.choice((1, -1)), 1
            words = ["the", draw.choice(THINGS), "was", draw.choices(GOOD if sign > 0 else BAD, rarity)[0]]
            if draw.random() < 0.3:
                words.insert(3, "very")
                weight = 2
            if draw.random() < negated:
                words.insert(3, "not")
                sign = -sign
            if score and draw.random() < contrasted:
                words.insert(0, "but")
                weight *= 3
            score += sign * weight
            clauses.append(" ".join(words))
        text = " . ".join(clauses)
        if score and 5 <= len(text.split()) <= 60:
            made.append((text, int((score > 0) != (draw.random() < 0.04))))
    return made


def read_reviews(path: str | Path) -> list[tuple[str, int]]:
    """Pairs of text and label, 1 for praise and 0 for blame, from a folder with pos/ and neg/ (as aclImdb and its train/ are)
    or from a CSV with a text and a label column.

    Ends the script with a sentence (SystemExit) where there is nothing to read, and where there is too little to learn from.
    """
    path = Path(path)
    found = _folder(path) if path.is_dir() else _table(path)
    if min(Counter(label for _, label in found).get(kind, 0) for kind in (0, 1)) < 5:
        raise SystemExit(f"--data {path}: at least 5 reviews of each kind are needed to train and to validate.")
    return found


def _folder(path: Path) -> list[tuple[str, int]]:
    root = path / "train" if (path / "train").is_dir() else path  # aclImdb holds train/ and test/
    for kind in ("pos", "neg"):
        if not any((root / kind).glob("*.txt")):
            raise SystemExit(f"--data {path}: no .txt files in {root / kind}. Needed: pos/*.txt and neg/*.txt.")
    found = [(file, kind == "pos") for kind in ("pos", "neg") for file in sorted((root / kind).glob("*.txt"))]
    return [(file.read_text(encoding="utf-8", errors="replace"), int(label)) for file, label in found]


def _table(path: Path) -> list[tuple[str, int]]:
    if not path.exists():
        raise SystemExit(f"--data {path}: there is no such file or folder.")
    with path.open(newline="", encoding="utf-8", errors="replace") as lines:
        table = csv.DictReader(lines)
        names = {name.strip().lower(): name for name in table.fieldnames or () if name}
        text = next((names[name] for name in ("text", "review", "sentence") if name in names), None)
        label = next((names[name] for name in ("label", "sentiment", "target") if name in names), None)
        if text is None or label is None:
            has = ", ".join(names) or "nothing"
            raise SystemExit(
                f"--data {path}: the first line names {has}; needed: text (or review) and label (or sentiment)."
            )
        meaning = {"1": 1, "pos": 1, "positive": 1, "0": 0, "neg": 0, "negative": 0}
        read = []
        for row in table:
            value = (row[label] or "").strip().lower()
            if value not in meaning:
                allowed = ", ".join(meaning)
                raise SystemExit(f"--data {path}, line {table.line_num}: label {value!r} is none of {allowed}.")
            read.append((row[text] or "", meaning[value]))
    return read


def split_words(text: str) -> list[str]:
    """Words in lower case, numbers and punctuation marks, each by itself."""
    return re.findall(r"[a-z']+|\d+|[.,!?]", text.lower().replace("<br />", " "))

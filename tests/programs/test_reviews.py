"""film_reviews: the generator keeps its promises; reviews of the user's own, good and bad, as sentiment_lstm reads them."""

import csv

import pytest

from bugzoo.running import Job, run_worker
from film_reviews import BAD, GOOD, make_reviews, read_reviews
from tests.sampling import only_in_prove

from .test_programs import metrics_of, run_text, text_of

PRAISE = "the film was lovely and the acting was bright"
BLAME = "the film was dull and the acting was clumsy"


def test_generated_reviews_vary_as_stated():
    reviews = make_reviews(2000, 1)
    lengths = [len(text.split()) for text, _ in reviews]
    assert min(lengths) >= 5 and max(lengths) <= 60 and len(set(lengths)) > 30
    assert 0.45 < sum(label for _, label in reviews) / len(reviews) < 0.55
    for word in ("not", "but", "very"):
        assert 0.2 < sum(word in text.split() for text, _ in reviews) / len(reviews) < 0.95
    assert reviews == make_reviews(2000, 1) != make_reviews(2000, 2)


def test_the_rules_settle_the_label_up_to_the_stated_share():
    """Whoever knows the rules is right 96 times in 100: the Bayes rate of the docstring."""
    right = 0
    reviews = make_reviews(4000, 3)
    for text, label in reviews:
        score = 0
        for clause in text.split(" . "):
            words = clause.split()
            sign = sum((word in GOOD) - (word in BAD) for word in words if words[-1] == word)
            weight = (3 if words[0] == "but" else 1) * (2 if "very" in words else 1)
            score += (-sign if "not" in words else sign) * weight
        right += (score > 0) == bool(label)
    assert 0.95 < right / len(reviews) < 0.97


def write_folder(root, below=""):
    for kind, text in (("pos", PRAISE), ("neg", BLAME)):
        (root / below / kind).mkdir(parents=True)
        for number in range(30):
            (root / below / kind / f"{number}_7.txt").write_text(f"{text} <br /> number {number}", encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("below", [only_in_prove(""), "train"])
def test_a_folder_of_texts(tmp_path, below):
    write_folder(tmp_path / "mine", below)
    job = Job(text_of("sentiment_lstm", epochs=5), argv=("--data", str(tmp_path / "mine")))
    assert run_worker(job).trace.metrics["accuracy"] > 0.9


@pytest.mark.sampled(0)
def test_a_csv_with_other_names_and_words_for_labels(tmp_path):
    with open(tmp_path / "mine.csv", "w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["Review", "Sentiment"])
        for number in range(60):
            table.writerow(
                [PRAISE if number % 2 else BLAME, ("Positive", "1")[number % 3 > 0] if number % 2 else "negative"]
            )
    process = run_text(text_of("sentiment_lstm", epochs=5), tmp_path, "--data", str(tmp_path / "mine.csv"))
    assert metrics_of(process)["accuracy"] > 0.9


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, ["there is no such file or folder"]),
        ("", ["names nothing", "needed: text (or review) and label"]),
        ("a,b\n1,2\n", ["names a, b", "needed: text (or review) and label"]),
        ("text,label\nfine,4\n", ["line 2", "label '4' is none of 1, pos, positive, 0, neg, negative"]),
    ],
)
def test_bad_data_says_what_is_needed(tmp_path, content, words):
    if content is not None:
        (tmp_path / "mine.csv").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit) as caught:
        read_reviews(tmp_path / "mine.csv")
    for word in words:
        assert word in str(caught.value)


def test_a_folder_without_texts(tmp_path):
    (tmp_path / "mine" / "pos").mkdir(parents=True)
    with pytest.raises(SystemExit, match=r"Needed: pos/\*.txt and neg/\*.txt"):
        read_reviews(tmp_path / "mine")


@pytest.mark.slow
def test_too_few_reviews_end_the_script_without_a_traceback(tmp_path):
    (tmp_path / "mine.csv").write_text("text,label\nfine,1\n", encoding="utf-8")
    process = run_text(text_of("sentiment_lstm"), tmp_path, "--data", str(tmp_path / "mine.csv"))
    assert (
        process.returncode == 1
        and "at least 5 reviews of each kind" in process.stderr
        and "Traceback" not in process.stderr
    )

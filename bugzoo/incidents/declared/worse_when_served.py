"""A classifier of reviews that is worse in the service than in its own evaluation, on some requests."""

from bugzoo.incidents.model import Told, choice, number
from bugzoo.incidents.stage import Stage, span, steps
from bugzoo.scenario import Scenario

ABOUT = "a classifier whose answers in the service are not those of its evaluation"
ARTEFACTS = ("requests.jsonl", "losses.jsonl", "train.py")
PROGRAM, FAULTS, QUESTIONS, RUNS = "sentiment_lstm", ("recurrent/padding_read_as_text",), 3, 1
REQUESTS, SHORT = 120, 8


def make(stage: Stage) -> Told:
    case = Scenario(PROGRAM, FAULTS, seed=stage.seed)
    run = stage.run(case, after="bugzoo.incidents.served:measure", after_args={"requests": REQUESTS, "short": SHORT})
    reading = run.readings["served"].numbers
    rows = [
        {"request": at, "words": int(words), "label": int(label), "praise_alone": alone, "praise_in_batch": batched}
        for at, (words, label, alone, batched) in enumerate(
            zip(*(reading[name] for name in ("words", "label", "alone", "batched")), strict=True), 1
        )
    ]
    rows = stage.rows("requests.jsonl", rows)
    stage.rows("losses.jsonl", steps(run))
    stage.code(case)
    turned = sum((row["praise_alone"] > 0.5) != (row["praise_in_batch"] > 0.5) for row in rows)
    right = {
        name: sum((row[name] > 0.5) == row["label"] for row in rows) for name in ("praise_alone", "praise_in_batch")
    }
    better = max(right, key=lambda name: right[name])
    middle, room = span(case)
    return Told(
        f"# Worse when it is served\n\n{len(rows)} short reviews of at most {SHORT} words were answered twice "
        "by the same weights: each in "
        "a request of its own, and all of them in one batch with a long one, as the service does since "
        "Monday. `requests.jsonl` "
        "has the label (1 is praise) and both answers, the probability of praise. `losses.jsonl` is the "
        "training, `train.py` the script.",
        (
            ("22:40", "Mira", "customers say the short ones are wrong. evaluation was fine, so it is the service"),
            ("22:44", "Jonas", "somebody forgot eval(). dropout in the service, seen it a hundred times"),
            (
                "22:52",
                "Ravi",
                "asked twice in the same batch it gives the same number to the last digit, so no dropout",
            ),
            ("22:58", "Jonas", "then the vocabulary of the service is an old one?"),
            ("23:03", "Ravi", "same file, I compared the hashes"),
            ("23:10", "Mira", "float16 in the service? no, float32"),
        ),
        (
            number(1, "Of how many requests does the answer turn (across 0.5)?", turned, "counted in requests.jsonl"),
            choice(
                2,
                "What is it that an answer depends on and should not?",
                "neighbours",
                ("dropout", "vocabulary", "neighbours", "precision"),
                f"the same words, beside a longer review: right {right['praise_alone']} times alone, "
                f"{right['praise_in_batch']} times "
                f"in the batch ({better} is better)",
            ),
            number(3, "Which line of train.py lets that in?", middle, "what an LSTM is given it reads", room),
        ),
    )

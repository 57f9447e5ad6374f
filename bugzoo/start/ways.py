"""Who comes here and in which order they work, and the symptoms that lead to a lesson."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Way:
    """An answer to "who are you": the lessons to begin with, and what follows when everything here is done."""

    label: str
    first: tuple[str, ...]
    end: tuple[str, str]


FIRST_STEPS = ("02", "01", "03", "06", "09", "10")
INTERVIEW = ("An interview against the clock", "interview.ipynb")
WAYS = {
    "new": Way("I am new to training", FIRST_STEPS, INTERVIEW),
    "work": Way("I train models for a living", ("03", "10", "09", "06", "02", "01"), INTERVIEW),
    "interview": Way("I have an interview soon", ("03", "02", "06", "09", "10", "01"), INTERVIEW),
    "teach": Way("I teach", FIRST_STEPS, ("The notebook for instructors", "instructor.ipynb")),
}
SYMPTOMS = (
    ("The loss stays where it began", "02", "one_batch"),
    ("The loss falls a little, then stops far too high", "06", "outputs"),
    ("The loss is NaN or infinite", "03", "layers"),
    ("The loss swings and does not settle", "", "loss_curve"),
    ("Training looks fine, validation does not", "09", "evaluation"),
    ("The same input gets different answers", "09", "repeat"),
    ("Memory grows, or runs out", "", "memory"),
    ("Every step takes too long", "", "time"),
)
"""(what you see, number of the lesson, the view to open first). A lesson that does not exist yet is left out."""

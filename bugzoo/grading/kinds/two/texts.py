"""The texts of a *two* exercise's notebook: a form for each of two findings, in any order."""

FORMS = ("first", "second")
"""Names of the forms in the notebook."""

FIRST = (
    "## What do you think?\n\nBefore you read the code: what is wrong, and how sure are you? And which test would tell your "
    "cause from the one that looks most like it? What you see may have one cause or two, so there is a form for each, in any "
    "order. Keep your answers here. Change them whenever the evidence changes your mind. The "
    "[glossary](../notebooks/glossary.ipynb) explains the words."
)

HINTS = (
    "## Hints\n\nThere are six hints, from a nudge to the lines. They take turns between two findings. They cost no points, "
    "and the forms record how many you opened. The first opens after your first guess, the next ones after one more try each: "
    "another guess, or a changed program that was judged. Skip this cell if you want no hints."
)

DIAGNOSIS = (
    "## Your diagnosis\n\nIn each form, name the line that has to change, or one beside which a line is missing, and the step "
    "at which the fault first shows, if that is not the first one. Then press Hand in. If you have only one finding, choose "
    "“nothing is wrong” in the other form above, and no line here. With both forms handed in your diagnosis is complete, and "
    "the cells below open. The first complete diagnosis is graded; later ones are practice. Each of the five parts of a "
    "finding is worth a point: cause, line, step, test, and a view that shows it.\n\n*Only for a graded class:* hand in by "
    "code, in the cell below the forms: "
    '`first.hand_in(cause="...", place=<line or None>, step=<step or None>, test="A", evidence=["first view", ...])`, and the '
    "same with `second`. `first.causes` lists the causes, `first.asked(cause)` the question about the test. The first test is A."
)

PARTLY = " A program in which one of two faults is repaired earns half of the points."
"""Added to the text above the graded cells."""
INCOMPLETE = (
    "not attempted: your diagnosis is not complete. Choose a cause and its test in both forms above the program, keep them, "
    "then name the two lines and hand in each. If you have only one finding, choose “nothing is wrong” in the other form."
)

"""The texts of a *break* exercise's notebook."""

LOOK = (
    "## Look at the healthy run\n\n`program.run()` trains the program in its own process and plots it over the healthy run. "
    "Stop ends it. `program.numbers()` prints the run in ten parts. `program.views()` lists sixteen views of the run. "
    "`program.look(name)` opens one: numbers beside their usual ranges, and a picture. The last cell opens the views that "
    "your symptom is about."
)

CODE = (
    "## The program\n\nThis is your text. Change a cell and run it: that saves its text. The code below trains the program, "
    "always from the start. Keep the names `seed`, `model` and `metrics`."
)

MORE = (
    "## Run your edit, and look again\n\nWhich number should move, and which should stay? Say it before you run the cell. "
    "Other views help to find an alarm that you did not want."
)

HINTS = (
    "## Hints\n\nThere are three hints, from a nudge to the place. They cost no points. Each opens "
    "after one more try: a changed program that was judged. Skip this cell if you want no hints."
)

GRADING = (
    "## Hand in\n\nThis cell runs your program with several seeds in its own process. It asks: does it train, does it show "
    "the symptom, does any other alarm go off, and are the parts that must stay as they were? {measures}It prints every "
    "check at once, as your own edit holds no secret. A try that cannot be graded costs nothing."
)
MEASURES = {
    "grader": "The grader evaluates the trained weights with its own copy of the evaluation. ",
    "both_modes": "The grader calls the trained model in train mode and in eval mode. ",
}
"""Group of claims -> what the grader measures for it."""

DEBRIEF = (
    "## Debrief\n\nOne edit that does it, why it does, what it looks like from outside, and the next exercise. It opens once "
    "your edit passes."
)

HOW = (
    "Look at the healthy run first. Then change the program, run it, and look again. Hand in once the views show the "
    "symptom and nothing else. Run the next cell to begin."
)

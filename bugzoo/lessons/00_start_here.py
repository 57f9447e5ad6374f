"""The map: who one is, which way to take, what is done so far, and what comes next. It is no lesson."""

# %% [markdown] title
# # Start here
#
# This is a lab of training runs that are broken on purpose. You watch one beside its healthy twin, look at it with
# instruments, find the cause and repair the code; what counts is what the repaired program does.
#
# | you | take |
# |---|---|
# | want to learn to debug training runs, and have some evenings | the course: every lesson, every exercise |
# | want the same by Monday | the weekend: what goes wrong, and is asked, most often |
# | have an interview today | the hour: mock interviews, cards, one exercise |
# | have a run of your own that is ill, now | your own script under the instruments, then the lesson on what you see |
# | teach | [the instructor's notebook](instructor.ipynb): an assignment that nobody has the answer to, from idea to graded class |
#
# You need Python and some PyTorch: what a forward and a backward pass are, and what an optimiser's step does. No GPU.

# %% [markdown] map-text
# ## The map
#
# Choose a way; you may change it at any time. The plan is made of the lessons and exercises that are there today, and what
# you have done is ticked off. Run the cell again whenever you come back: a lesson or an exercise writes down what you did, on
# this machine only, and the map reads it. Weeks and days open by a click.

# %% map
from bugzoo import guide

here = guide.show()

# %% [markdown] counted
# - A lesson is *done* when {four fifths = fifths} of its questions are answered and of its tasks hold; running its cells alone is not enough.
# - An exercise is *done* when a repair of yours has passed.
# - Cards and interviews count from the moment when you took the way. Take the hour again when all of it is done, and it
#   begins anew.
# - The minutes of a lesson are counted from its text. The {20 = exercise} for an exercise and the {10 = interview} for an interview are guesses: people
#   differ more than any number says.
#
# By a call: `guide.way("course")`, `"weekend"`, `"hour"` or `"mine"`. In a terminal: `bugzoo progress`, and
# `bugzoo progress --way weekend`. What you did at one place counts at the other.

# %% [markdown] cards-text
# ## Cards
#
# For the minutes in between: some ten lines of a program. One is wrong, or none. The cell deals five, and others when you have
# answered some and run it again. In a terminal: `bugzoo cards`.

# %% cards
from bugzoo import cards

hand = cards.show(count=5, seed=guide.seen())

# %% [markdown] first-steps
# ## How a lesson goes
#
# Before each result you are asked what it will be. Say something, even at a guess: nobody grades it, and the surprise is what
# stays. Run the cells from top to bottom with *Shift* + *Enter*; after a restart of the kernel choose *Run* → *Run All Above
# Selected Cell*. What you said and wrote is still there.
#
# In an exercise you get a ticket and a run, and look at it with instruments before you read the code. Say what you think it
# is, and how sure you are; then hand in a diagnosis, and repair it. A debrief says why.

# %% [proof] map-holds
from bugzoo import lessons, material
from bugzoo.grading.declared import everything
from bugzoo.guide import done, plans

now, every = done.standing(), plans.ways()
numbered = {name for name in lessons.files() if name.split("_")[0].isdigit() and int(name.split("_")[0])}
course = {(step.kind, step.name) for step in every["course"].steps}
assert {name for kind, name in course if kind == "lesson"} == numbered == {one.name for one in now.lessons}
assert {name for kind, name in course if kind == "exercise"} == set(everything())
assert len(every["course"].parts) <= plans.WEEKS and len(every["weekend"].parts) <= plans.DAYS
assert every["weekend"].minutes <= plans.DAYS * plans.DAY and every["hour"].minutes <= plans.HOUR

# every link leads to a notebook that is there
links = {step.link.partition("#")[0] for one in every.values() for step in one.steps if step.link}
assert all((material.root() / link).is_file() for link in links), links
assert {f"notebooks/{name}.ipynb" for name in numbered} <= links

# choosing is kept, and the next step follows it
first, map_before = plans.next_step(), here.way.name
assert map_before == "course" and first == every["course"].next
guide.begin("hour")
assert done.standing().way == "hour" and plans.next_step().kind == "interview"
guide.begin("course")

fifths, exercise, interview = done.ENOUGH == 0.8, plans.EXERCISE, plans.INTERVIEW

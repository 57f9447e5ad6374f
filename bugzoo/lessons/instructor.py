"""For instructors: an assignment that nobody has the answer to, from the idea to a graded class."""

# %% [markdown] title
# # For instructors: from an idea to a graded class
#
# You want an assignment that nobody has the answer to: a program with two things wrong at once, proved solvable, handed out
# as notebooks, and graded safely. Here you make one, hand it in yourself in several ways, and read what comes out. All runs
# are real; with what was measured before it takes about a minute, the first time two. Everything is written to a temporary
# folder, which the last cell removes; nothing needs a network.
#
# The same is on the command line as `bugzoo assign` and `bugzoo grade`, which is what you will use for a class.

# %% setup
import json
import tempfile
from pathlib import Path

from IPython.display import Markdown

from bugzoo.instructor import Assignment, Refused, grade_class, prove, tasks, write

desk = tempfile.TemporaryDirectory(prefix="bugzoo-class-")
folder = Path(desk.name)

# %% [markdown] idea-text
# ## An idea that does not work
#
# Two faults that are easy on their own make a better task together: whoever repairs one sees that the job is not done. But
# not every pair is a task. Take the digits program with a learning rate that is {300 = times_too_high} times too high, and with a softmax in
# front of a loss that already contains one.
#
# **Before you run:** each of them is plain to see alone. Why might nobody be able to find one of them beside the other?

# %% idea
unlucky = Assignment("mlp", ("loss/double_softmax", "optimizer/lr_too_high"), seed=7, title="Unlucky")
try:
    write(prove(unlucky), folder / "unlucky")
except Refused as refusal:
    print(refusal)

# %% [proof] unlucky-numbers
import math

# the right class has the probability 1, or another one has it
lowest, highest = math.log(1 + 9 / math.e), math.log(math.e + 9)
rates = [case.source.split("learning_rate = ")[1].split()[0] for case in (unlucky.scenario, unlucky.scenario.healthy())]
times_too_high = round(float(rates[0]) / float(rates[1]))
assert not (folder / "unlucky").exists()

# %% [markdown] idea-after
# A second softmax keeps what reaches the loss between 0 and 1. For ten classes the loss can then be no lower than {1.46 = lowest} and,
# more to the point, no higher than {2.46 = highest}, whatever the weights are. A learning rate that would send the loss to the moon
# cannot do so any more: the sign by which it is found is gone. A student who does not report it has done nothing wrong, so
# such a pair must not be graded. It was refused before anything was written, because real runs on three seeds said so: not
# because anybody had listed the pair.
#
# A fault can be of no use in two ways, and both are measured:
#
# - it **does not show** while the others are there (this case), or
# - its sign **does not go away** when it alone is repaired, so that nothing tells a student that they have found it.
#
# What to do then: another partner, another program, or the same fault made louder by its parameters.

# %% [markdown] draft-text
# ## One that does
#
# Stale gradients beside the second softmax. `seed` is the seed of the program as students get it; grading uses others too, so
# that a repair that only suits one seed earns nothing. Choose a title that says nothing: files are named after it, and a title
# or story that names a fault is refused.

# %% draft
draft = Assignment("mlp", ("loop/stale_gradients", "loss/double_softmax"), seed=7, title="Week 3")
proof = prove(draft)
print(proof)

# %% [proof] shares
shared = sum(step.share for step in proof.steps if step.kind == "half")
programs = len(proof.steps)
shares = {
    kind: {step.share for step in proof.steps if step.kind == kind} for kind in {step.kind for step in proof.steps}
}
assert shares["broken"] == shares["attack"] == {0} and shares["full"] == shares["repair"] == {1}
assert max(shares["pretence"]) < 1
assert len({step.share for step in proof.steps if step.kind == "half"}) == 1, "each earns the same"
# %% [markdown] proof-text
# ### How to read the proof
#
# **The first half is about students.** Each fault has a sign: a number of one instrument, with a threshold that the catalogue
# states and `bugzoo verify` has proved. It must hold while all faults are there, and must be gone when that one fault alone is
# repaired. Then every order of work is possible: whichever is found first, the other can still be found.
#
# **The second half is about you.** The very grader that will judge the class is given {10 = programs} programs. As handed out earns 0.
# Everything repaired earns all, and so does another correct repair. What only looks like one does not, and attacks on the grader
# earn nothing. Each half-repair earns a part, the same for each: {60 % = shared} of the points are shared among the
# faults, and the rest is for a program that is whole again. Were any of these otherwise, the assignment would be refused.
#
# A half-repair is not recognised by its text. The fault's sign has to be gone on all seeds, and the program has to do about as
# well as ours with exactly that fault taken out: a training that was put to sleep shows no signs either, and earns nothing.

# %% write
week = write(proof, folder / "week_3")
for path in sorted(week.rglob("*")):
    if path.is_file():
        print(path.relative_to(week))

# %% [markdown] write-text
# `student/` is what you hand out; `source/` is the same for nbgrader, whose `generate_assignment` makes the same file from
# it. `instructor/` is for you alone: it can be read by nobody else on this machine, and must not lie where students can copy
# it from. `key.md` says what is wrong, where, what shows it and why:

# %% key
Markdown((week / "instructor" / "key.md").read_text(encoding="utf-8").split("## Points")[0])

# %% [markdown] students-text
# ### What to tell students
#
# - Perhaps one thing is wrong, perhaps several. There are always three forms, however many faults there are.
# - Say what is wrong *before* you repair it: a finding is a cause, a line, and the instrument that was looked at first.
# - Blaming something healthy costs half a finding, so three guesses are worth less than one that was looked up.
# - Any repair counts that makes the program do what it should. Nobody compares your text with ours.
# - Do not touch data, budget, model size or evaluation; the grader brings its own data and its own evaluation.
# - The last two cells tell you whether the program is whole again, as often as you like. They do not know the answer key.
#
# To give everybody a variant of their own, leave a parameter open and name the class:
# `bugzoo assign ... --fault "numerics/log_at_step?step=40..60&eps=0" --students class.csv --secret course.secret week_4`.
# The same secret gives the same variants years later.

# %% [markdown] class-text
# ## A class hands in
#
# Five students. The notebook is changed here as they would change it: Ada repairs everything and says what it was, Ben finds
# one of two, Cem does nothing, Dot's file was cut off while it was copied, and Eve would rather have the points than the work.

# %% class
handed_out = (week / "student" / "week_3.ipynb").read_text(encoding="utf-8")
solution = (week / "instructor" / "solution.ipynb").read_text(encoding="utf-8")


def changed(edits):
    """The handed-out notebook with texts of its cells replaced: {cell id: (old, new)}."""
    notebook = json.loads(handed_out)
    for cell in notebook["cells"]:
        if cell["id"] in edits:
            old, new = edits[cell["id"]]
            text = "".join(cell["source"])
            assert old in text, cell["id"]
            cell["source"] = text.replace(old, new)
    return json.dumps(notebook)


ben = changed(
    {
        "program-training": ("        loss.backward()", "        optimizer.zero_grad()\n        loss.backward()"),
        "diagnosis-answer": (
            "# Here by code, where the form above is not enough: YOUR CODE HERE",
            'first.hand_in(cause="gradients left over from earlier batches", place=54, evidence=["fresh_gradient"])',
        ),
    }
)
eve = changed(
    {
        "program-evaluation": ("print(metrics)", 'metrics = {"accuracy": 0.99, "loss": 0.01}\nprint(metrics)'),
        "repair": ("cell.repair", "7.0 or cell.repair"),
    }
)

for student, text in {"ada": solution, "ben": ben, "cem": handed_out, "dot": handed_out[:5000], "eve": eve}.items():
    place = folder / "submitted" / student / "week_3"
    place.mkdir(parents=True)
    (place / "week_3.ipynb").write_text(text, encoding="utf-8")

# %% [markdown] grade-text
# **Before you run:** what should Dot get? And what will become of Eve's changed grading cell?

# %% grade
task = tasks.load(str(week))
records = grade_class(folder / "submitted", task, folder / "graded")

for record in records:
    points = "no score" if record.points is None else f"{record.points:g} of {record.max_points:g}"
    print(f"{record.student}   {record.state:18} {points:12} {'; '.join([record.message, *record.notes]).strip('; ')}")

# %% [proof] scores
of = {record.student: record for record in records}
all_ten = of["ada"].points == of["ada"].max_points == 10
bens, most = (of["ben"].repair["points"], of["ben"].diagnosis["points"]), draft.points
his_part = 0 < bens[0] < most[0]
half = bens[1] == most[1] / 2
nothing_tried = of["cem"].state == "not attempted"
no_score = of["dot"].points is None
not_used = of["eve"].points < 5 and any("repair" in note for note in of["eve"].notes)

# %% [markdown] grade-after
# - **Ada** has {all ten points = all_ten}, **Ben** {his part = his_part} for the repair and {half = half} of the diagnosis.
# - **Cem** has {attempted nothing = nothing_tried}, which is not the same as wrong.
# - **Dot** has {*no score* = no_score}: that is no zero. The gradebook leaves the field empty; let Dot hand in again.
# - **Eve**'s grading cell was read, {noted and not used = not_used}: `bugzoo grade` never opens a notebook in a kernel. Her program was run,
#   and printed what she likes; the score comes from the weights that it trained, put into *our* model, on data that her
#   program never had in its hands.
#
# ### Why not simply run the notebooks?
#
# `nbgrader autograde` runs a whole notebook in one kernel. Whoever owns a cell there owns the kernel: one line can replace the
# grader. So each submission's program runs by itself in a sandbox instead, without network, with your files out of reach for
# writing, and with limits on time, memory and processes. Where a machine does not allow the sandbox, `bugzoo grade` refuses,
# unless you say `--trust`. nbgrader works on these folders all the same, with the same points; take it for a class that you
# trust.
#
# Every check of every student is kept, with what it saw, what it expected and the number, and is what you show to somebody
# who asks:

# %% why
(ben_again,) = (record for record in records if record.student == "ben")
for check in ben_again.repair["checks"]:
    print(f"{check['status']:8} {check['name']}: {check['saw']}")
for check in ben_again.diagnosis["checks"]:
    print(f"{check['status']:8} {check['name']}: {check['saw']}")

# %% [markdown] csv-text
# A second call grades only what is new, also after Ctrl-C in the middle of a class. The gradebook has nbgrader's columns, so
# that whatever read those reads these (`bugzoo grade submitted --assignment week_3 --csv gradebook.csv`):

# %% csv
from bugzoo.instructor.gradebook import nbgrader

print(nbgrader(records, task.name, task.people))

# %% [markdown] end-text
# ## Yours
#
# Change the two faults in the cell under *One that does* (`bugzoo list faults` shows them with their programs, `bugzoo show ID`
# one with its parameters), run that cell, and see whether your pair is one. A fault whose run crashes, hangs or needs two
# processes cannot be assigned, and the message says so: there is no part of such a run that could be judged.

# %% end
desk.cleanup()

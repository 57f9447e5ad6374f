"""For instructors: a new assignment, from the idea to a graded class."""

# %% [markdown] title
# # For instructors: from an idea to a graded class
#
# You want an assignment whose solution is not on the web: a program with two faults, proved solvable, handed out as
# notebooks, and graded safely. Here you build one, hand it in yourself in several ways, and read the results. All runs are
# real. This takes about two minutes the first time, and one minute after that. Everything is written to a temporary folder,
# which the last cell deletes. You need no network.
#
# For a class, use the same tools on the command line: `bugzoo assign` and `bugzoo grade`.

# %% setup
import json
import tempfile
from pathlib import Path

from IPython.display import Markdown

from bugzoo.instructor import Assignment, Refused, grade_class, prove, tasks, write
from bugzoo.instructor.diagnosis_cell import ANSWER

desk = tempfile.TemporaryDirectory(prefix="bugzoo-class-")
folder = Path(desk.name)

# %% [markdown] idea-text
# ## An idea that does not work
#
# Two faults that are easy alone make a better task together: a student who repairs one sees that the job is not done. But
# not every pair works. Take the digits program with a learning rate that is {300 = times_too_high} times too high, and with a softmax
# before a loss that already contains one.
#
# **Before you run:** each fault is easy to see alone. Why might one of them be impossible to find beside the other?

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
# A double softmax keeps the inputs of the loss between 0 and 1. For ten classes the loss cannot go below {1.46 = lowest}. It
# also cannot go above {2.46 = highest}, whatever the weights are. So a learning rate that would make the loss diverge no longer
# can, and its sign is gone. One fault masks the other. A student who does not report it has made no mistake, so this pair
# must not be graded. `prove` refused it before anything was written, because of real runs on three seeds.
#
# A fault can be useless in a combination in two ways, and both are measured:
#
# - It **does not show** while the others are there (this case).
# - Its sign **does not go away** when it alone is repaired, so a student cannot tell that the repair worked.
#
# Then choose another fault, another program, or parameters that make the same fault easier to see.

# %% [markdown] draft-text
# ## One that works
#
# Combine stale gradients with the double softmax. `seed` is the seed of the students' program. Grading also uses other seeds,
# so a repair that works for one seed only earns nothing. Choose a neutral title: files are named after it, and a title or
# story that names a fault is refused.

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
# **The first half is about students.** Each fault has a sign: a number of one instrument, with a threshold from the catalogue
# that `bugzoo verify` has proved. The sign must hold while all faults are there. It must be gone when that one fault alone is
# repaired. Then students can work in any order: whichever fault they find first, they can still find the other.
#
# **The second half is about the grader.** The grader for your class gets {16 = programs} programs. The unchanged program earns 0. The
# full repair earns all points, and so does another correct repair. A fake repair does not, and attacks on the grader earn
# nothing. Each partial repair earns an equal part. The faults share {60 % = shared} of the points, and the rest is for the
# full repair. If any of these results were different, the assignment would be refused.
#
# The grader does not recognize a partial repair by its text. The fault's sign has to be gone on all seeds. The program also
# has to do about as well as ours with exactly that fault removed. A disabled training shows no signs either, but earns nothing.

# %% write
week = write(proof, folder / "week_3")
for path in sorted(week.rglob("*")):
    if path.is_file():
        print(path.relative_to(week))

# %% [markdown] write-text
# Hand out `student/`. `source/` is the same for nbgrader, whose `generate_assignment` builds the same file from it.
# `instructor/` is for you alone. Other users of this machine cannot read it; keep it away from any place that students can
# read. `key.md` lists each fault, its lines, the views that show it, and the reason:

# %% key
Markdown((week / "instructor" / "key.md").read_text(encoding="utf-8").split("## Points")[0])

# %% [markdown] students-text
# ### What to tell students
#
# - The program has one fault or several. There are always three forms, however many faults there are.
# - A finding is a cause, a line, and a view that shows it. Choose cause and line in the form, press Hand in, and save the
#   notebook. The saved notebook is what is graded, and nothing has to be typed.
# - You can change a diagnosis until the notebook is collected: press Hand in again, or Withdraw.
# - A wrong finding costs half a finding, so three guesses are worth less than one finding with evidence.
# - Any repair counts that makes the program behave as it should. The grader does not compare source text.
# - Do not touch data, budget, model size or evaluation; the grader brings its own data and its own evaluation.
# - The last two cells do not have the answer key. The first says which groups of checks pass, as often as you like, and never
#   names a cause. The second prints what is handed in.
#
# To give each student their own variant, leave a parameter open and name the class:
# `bugzoo assign ... --fault "numerics/log_at_step?step=40..60&eps=0" --students class.csv --secret course.secret week_4`.
# The same secret gives the same variants years later.

# %% [markdown] class-text
# ## A class hands in
#
# There are five students, and the cell below edits the notebook as they would. Ada repairs and diagnoses everything. Ben
# finds one of two faults, and types his finding, as his editor shows no buttons. Cem does nothing. Dot's file was cut off
# during copying. Eve wants the points without the work.

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
            ANSWER,
            'first.hand_in(cause="gradients from earlier batches", place=54, evidence=["gradients"])',
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
# **Before you run:** what should Dot get? And what happens to Eve's edited grading cell?

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
# - **Dot** has {*no score* = no_score}, which is not zero. The gradebook leaves the field empty. Let Dot hand in again.
# - **Eve**'s grading cell was read, {noted and not used = not_used}: `bugzoo grade` never runs a notebook in a kernel. Her program was run
#   and printed a fake result. But the score comes from its trained weights, loaded into *our* model, on data that her
#   program never had.
#
# ### Why not simply run the notebooks?
#
# `nbgrader autograde` runs a whole notebook in one kernel. A student's cell controls that kernel: one line can replace the
# grader. So `bugzoo grade` runs each program alone in a sandbox, without network and without write access to your files, with
# limits on time, memory and processes. On a machine without the sandbox it refuses, unless you add `--trust`. nbgrader also
# works on these folders, with the same points. Use it for a class that you trust. In a course folder of your own, nbgrader
# needs one more line, as it clears the outputs that hold the diagnoses: the folder's `README.md` shows it.
#
# The results keep every check of every student, with its result, the expected result and the number. Show them to a student
# who asks:

# %% why
(ben_again,) = (record for record in records if record.student == "ben")
for check in ben_again.repair["checks"]:
    print(f"{check['status']:8} {check['name']}: {check['saw']}")
for check in ben_again.diagnosis["checks"]:
    print(f"{check['status']:8} {check['name']}: {check['saw']}")

# %% [markdown] csv-text
# A second call grades only new submissions, also after Ctrl-C in the middle of a class. The gradebook has nbgrader's columns,
# so the same tools can read it (`bugzoo grade submitted --assignment week_3 --csv gradebook.csv`). Its last column, `notes`,
# says why a hand-in could not be graded, and what is odd about it.
#
# With `--students class.csv` the command also takes the unpacked downloads of Moodle and Canvas as they are. It matches each
# hand-in to your class list by ids and names, and by the variant in the notebook. A hand-in or a student left over stops it
# before anything is graded. Then `--map whose.csv` says whose a hand-in is, and `--unmatched ok` goes on without.

# %% csv
from bugzoo.instructor.gradebook import nbgrader

print(nbgrader(records, task.name, task.people))

# %% [markdown] end-text
# ## Yours
#
# Change the two faults in the cell under *One that works*, run that cell, and see whether your pair works. `bugzoo list
# faults` lists the faults with their programs, and `bugzoo show ID` shows a fault's parameters. A fault whose run crashes,
# hangs or needs two processes cannot be assigned: such a run has no result, so a partial repair cannot be graded.

# %% end
desk.cleanup()

"""Interview practice: the same case, clock and rubric as in the terminal."""

# %% [markdown] title
# # Interview practice
#
# A colleague reports a program that does not work as it should, and you have five minutes. You do not know what is wrong, or
# whether anything is. Many interviews on deep learning go like this, and so do many Tuesday afternoons.
#
# **What counts.** The right cause · the right line · evidence before guessing · the test that tells the cause from its
# look-alikes · a repair that works · time. A wrong guess costs points. It costs more if evidence that you have seen
# contradicts it. Evidence has a price: you have {30 = budget} points for it. The first {12 = free} do not lower your score, and unspent
# points are worth nothing. So choose evidence that could change your mind.
#
# **What you can look at.** {16 = looks} views of the run under {5 = headings} headings, as in the exercises, and two more: the losses
# of a healthy run, and what the script printed. The list is the same in every interview. Most views cost {2 = cheap} or {4 = usual}
# points. A view that runs the script again costs {10 = dear}.

# %% [folded] asked
# How often interviews ask for which bug
#
# A published course gives these numbers and names labs that ask. It does not say how it counted. Cases are drawn in these
# proportions.
#
# | bug | asked in, of 100 interviews | labs named |
# |---|---|---|
# | NaN, wrong loss values | {90 = of_nan} | Anthropic, OpenAI, Google |
# | a model that does not learn | {80 = of_learning} | Anthropic, OpenAI, Google |
# | data leakage, wrong evaluation | {70 = of_leakage} | Google, Meta |
# | out of memory, memory leaks | {60 = of_memory} | Google, Meta |
# | tensors on two devices | {50 = of_device} | OpenAI, Google |
# | slow training, an idle GPU | {40 = of_slow} | Meta, OpenAI |

# %% setup
from bugzoo.interview import notebook

# %% [proof] prices
from bugzoo import views
from bugzoo.interview import deck, requests, rubric, session

of_nan, of_learning, of_leakage, of_memory, of_device, of_slow = deck.WEIGHTS.values()
budget, free, three = requests.BUDGET, rubric.FREE, session.GUESSES == 3
rerun = requests.RERUN
looks, headings = len(views.names()), len(views.HEADINGS)
(cheap, usual), dear = requests.PRICES.values(), requests.price("repeat")
assert len(requests.listed()) == looks + 2
assert {requests.price(name) for name in views.names()} == {cheap, usual, dear}

# %% [markdown] sit-text
# ## Sit down
#
# The next cell draws a case, runs it once to collect the evidence, and starts your clock. Add `seed=3` in the parentheses to
# get the same case each time; without a seed every run draws another case. Run the cells one by one. If you run the whole
# notebook at once, the clock runs while you read.

# %% sit
desk = notebook.sit(minutes=5)

# %% [markdown] evidence-text
# ## Look
#
# First think of two causes that fit the ticket, and of the evidence that would tell them apart. Then ask for that evidence.
# You get numbers beside their usual ranges, and a picture, without a verdict. The verdict is yours. The view `batch` also shows
# the batch of one optimizer step, if you name the step. That takes a further run, and costs {6 = rerun} points more. Your clock
# stops while the script runs.

# %% evidence
desk.evidence()

# %% [markdown] program-text
# ## Read and repair
#
# This puts the program into a new cell. Edit it there and run that cell. `%%repaired` saves the text and runs nothing, so a
# program that hangs or runs out of memory does no harm.

# %% program
desk.program()

# %% [markdown] diagnosis-text
# ## Diagnose
#
# You have {three = three} guesses. If nothing is wrong, say so. A "repair" of a healthy program is not a right answer.

# %% diagnosis
desk.diagnosis()

# %% [markdown] hand-in-text
# ## Hand in the repair
#
# The repaired program runs in its own process and is graded by what it does. No instrument may fire, its result on unseen
# data must match the healthy program's, and budget and model size must be unchanged. The way you write it does not matter.
# You may hand in again; the last repair counts.

# %% hand-in
desk.hand_in()

# %% [markdown] close-text
# ## Score and debrief
#
# This shows the solution. Read the row where you lost most points, then the views that show the fault: did you open one? Below
# them stands what `bugzoo checkup` would have said. Read the lines that begin with "Looks like" too: an interviewer would ask
# about those next.

# %% close
desk.close()

# %% [markdown] after
# ## Next
#
# - Say the answer aloud in three sentences: the cause, the evidence, and what you would check next. A real interviewer will
#   remember those three sentences.
# - Another case: run the cells again from **Sit down**.
# - Practice in a terminal, with your own editor: `bugzoo interview --minutes 5`. Your history, from notebook and terminal:
#   `bugzoo interview --history`.

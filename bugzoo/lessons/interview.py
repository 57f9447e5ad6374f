"""Interview practice: the same case, clock and rubric as in the terminal."""

# %% [markdown] title
# # Interview practice
#
# A program does not do what it should, somebody reports it, and you have five minutes. You do not know what is wrong, or
# whether anything is. Many interviews on deep learning go like this, and so do many Tuesday afternoons.
#
# **What counts.** The right cause · the right line · looking before guessing · the test that tells the cause from what looks
# like it · a repair that works · time. A wrong guess costs points, and it costs more when something that you had already seen
# spoke against it. Evidence has a price: you have {30 = budget} points for it, the first {12 = free} are free, and what you do not spend is worth
# nothing. So look at what would change your mind, not at everything.

# %% setup
from bugzoo.interview import notebook

# %% [proof] prices
from bugzoo.interview import evidence, rubric, session

budget, free, three = evidence.BUDGET, rubric.FREE, session.GUESSES == 3

# %% [markdown] sit-text
# ## Sit down
#
# The next cell draws a case, runs it once so that there is evidence, and starts your clock. With `seed=3` in the brackets it
# would draw the same case each time; without it every visit is another one. Run the cells one by one: if you run the whole
# notebook at once, the clock runs while you read.

# %% sit
desk = notebook.sit(minutes=5)

# %% [markdown] evidence-text
# ## Look
#
# Before you ask for anything, say to yourself which two causes the ticket makes you think of, and what would tell them
# apart. Then ask for that. You get numbers and no judgement; judging is your part.

# %% evidence
desk.evidence()

# %% [markdown] program-text
# ## Read, and repair
#
# This puts the program into a new cell. Change it there and run that cell: `%%repaired` keeps the text and runs nothing, so a
# program that hangs or eats the memory can do you no harm.

# %% program
desk.program()

# %% [markdown] diagnosis-text
# ## Say what it is
#
# You have {three = three} guesses. Where nothing is wrong, saying so is the right answer, and a "repair" of a healthy program is not.

# %% diagnosis
desk.diagnosis()

# %% [markdown] hand-in-text
# ## Hand in the repair
#
# The repaired program is run in a process of its own and judged by what it does: whether its instruments are quiet, whether
# it reaches what the healthy one reaches on data that it never saw, and whether budget and size are what they were. How you
# wrote it does not matter. You may hand in again; the last time counts.

# %% hand-in
desk.hand_in()

# %% [markdown] close-text
# ## Score and debrief
#
# Here you are told what it was. Read the row where you lost most, and the lines that begin with "Looks like": those are what
# the next question would have been.

# %% close
desk.close()

# %% [markdown] after
# ## And now
#
# - Say the answer aloud in three sentences: what it is, what showed it, what you would check next. In a real interview those
#   three sentences are what is remembered.
# - Another case: run the cells again from **Sit down**.
# - The same in a terminal, with your own editor: `bugzoo interview --minutes 5`. What you have done so far, here and there:
#   `bugzoo interview --history`.

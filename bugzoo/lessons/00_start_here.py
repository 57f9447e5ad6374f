"""The map of the course: where you stand, and what is next."""

# %% [markdown] title
# # Start here
#
# bugzoo is a lab for learning to debug deep-learning training. In a **lesson** you watch a real training run go wrong and find out
# why, step by step. In an **exercise** you get a ticket and a broken program: you say what is wrong, and repair it.
#
# **Run the cell below** (click into it, then Shift+Enter). It is the only one on this page. It reads your record on this machine
# and shows what is next. Run it again when you come back.

# %% here
from bugzoo.start import here

here()

# %% [proof] map
from bugzoo.start.standing import tiles

assert [tile.number for tile in tiles() if tile.link] and all(tile.questions for tile in tiles() if tile.link)

# %% [markdown] how
# ## How a lesson works
#
# - Run its cells from top to bottom with *Shift* + *Enter*. It trains real programs, each beside its healthy twin.
# - Predict before each result, even by a guess: it is saved, not graded. At two places it also asks how sure you are.
# - Write the short functions that it asks for. While yours does not pass its checks, the lesson continues with the solution.
# - Read folded text after the run above it. A linked number opens the cell that measured it.
# - After a restart of the kernel choose *Run* → *Run All Above Selected Cell*: your answers and code are kept.
# - The last cell looks at a script of your own, and keeps one of your functions as a test.

# %% [markdown] words
# ## Six words
#
# - **step**: one update of the weights by the optimizer. Steps count from 1.
# - **epoch**: one pass over all training data.
# - **logits**: what a classifier puts out, before softmax.
# - **rank**: one of several processes that train together.
# - **loss scale**: the factor that keeps small float16 gradients from becoming 0.
# - **healthy twin**: the same program without the fault, with the same seed and the same batches.
#
# The [glossary](glossary.ipynb) has the other words. An [interview](interview.ipynb) takes five minutes. The
# [notebook for instructors](instructor.ipynb) makes assignments. `bugzoo checkup train.py` looks at a script of your own.
#
# To read on: [A Recipe for Training Neural Networks](https://karpathy.github.io/2019/04/25/recipe/), PyTorch's notes on
# [autograd](https://docs.pytorch.org/docs/stable/notes/autograd.html), its
# [frequently asked questions](https://docs.pytorch.org/docs/stable/notes/faq.html) and its
# [guide to errors of torch.compile](https://docs.pytorch.org/docs/stable/torch.compiler_troubleshooting.html). To watch:
# [autograd built from nothing](https://www.youtube.com/watch?v=VMj-3S1tku0), on
# [micrograd](https://github.com/karpathy/micrograd).

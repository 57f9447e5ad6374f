"""Train mode, eval mode and no_grad."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.MODE, also=("train and eval mode", "missing eval", "eval mode", "train mode", "dropout left on"))

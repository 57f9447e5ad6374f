"""Mixed precision: autocast, GradScaler, float16, bfloat16."""

from bugzoo.faults import words
from bugzoo.faults.model import Cause

CAUSE = Cause(words.DTYPE, also=("underflow", "overflow", "half precision", "fp16", "float16"))

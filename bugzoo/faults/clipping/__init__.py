"""Gradient clipping at the wrong moment, with the wrong limit, or missing."""

from bugzoo.faults import words
from bugzoo.faults.idioms import CLIP, STEP
from bugzoo.faults.model import Cause
from bugzoo.faults.verbs import before, remove

CAUSE = Cause(words.CLIPPING, also=("clipping", "gradient clipping", "no clipping", "exploding gradients"))


BEHIND_BACKWARD = {
    "in front of the step": (
        remove(CLIP),
        before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), max_norm)"),
    ),
    "by hand": (
        remove(CLIP),
        before(
            STEP,
            "length = torch.cat([weights.grad.flatten() for weights in model.parameters()]).norm()\n"
            "for weights in model.parameters():\n    weights.grad *= (max_norm / (length + 1e-6)).clamp(max=1.0)",
        ),
    ),
    "clipping": before(STEP, "torch.nn.utils.clip_grad_norm_(model.parameters(), 0.1)"),
}
"""Repairs of clipping that does not happen between backward() and step()."""

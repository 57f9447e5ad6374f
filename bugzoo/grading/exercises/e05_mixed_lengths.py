"""A text's score depends on its neighbours."""

from bugzoo.grading.exercises import _texts as t
from bugzoo.grading.model import Answers, Exercise

SOFT = "        weights = F.softmax(scores, dim=-1)\n"
AFTER = "        weights = weights.masked_fill(mask == 0, 0.0)\n"
USE = "        attended = weights @ values\n"

EXERCISE = Exercise(
    title="The same review, another verdict",
    story=(
        "A small attention model sorts film reviews into praise and blame, and does so rather well. Then support reports: a "
        "short review gets one score when it is sent alone and another when it shares a batch with a long one. "
        "*“We only put it next to other people's texts.”*"
    ),
    program="sequence_classifier",
    fault="attention/mask_after_softmax",
    answers=Answers(
        cause="a mask that is in the wrong place",
        evidence=("dependency",),
        tests=(
            "Train with another seed",
            "Score one short text alone and padded to several lengths: the scores have to be equal",
            "Lower the learning rate",
            "Leave out the longest reviews of the training data",
        ),
        test="B",
    ),
    hints=(
        "What should a review's score depend on, and what else could reach it in a batch?",
        "Take the attention weights of a short review beside a long one. What does each row add up to?",
        "Read the attention from the scores to the weighted values, and note the order of the operations.",
    ),
    solution=(
        (SOFT + AFTER, '        scores = scores.masked_fill(mask == 0, float("-inf"))\n' + SOFT),
    ),
    correct={
        "added to the scores": ((SOFT + AFTER, "        scores = scores + (mask == 0) * -1e9\n" + SOFT),),
        "divided again": ((AFTER, AFTER + "        weights = weights / weights.sum(-1, keepdim=True)\n"),),
        "torch's own attention": (
            (SOFT + AFTER, ""),
            (USE, "        attended = F.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)\n"),
        ),
        "exponentials by hand": (
            (SOFT + AFTER, "        weights = (scores - scores.amax(-1, keepdim=True)).exp() * mask\n"),
            (USE, "        attended = weights @ values / weights.sum(-1, keepdim=True)\n"),
        ),
        "review by review": (
            (SOFT + AFTER, ""),
            (
                USE,
                "        lengths = mask.sum((1, 2, 3)).tolist()\n"
                "        rows = [F.softmax(s[..., :n], -1) @ v[:, :n] for s, v, n in zip(scores, values, lengths)]\n"
                "        attended = torch.stack(rows)\n",
            ),
        ),
        "a large negative number": ((SOFT + AFTER, "        scores = scores.masked_fill(mask == 0, -1e9)\n" + SOFT),),
    },
    degenerate={
        "no mask": ((AFTER, ""),),
        "lower rate": (("learning_rate = 5e-3", "learning_rate = 1e-3"),),
        "clipping": t.CLIP,
        "values masked instead": (
            (AFTER, ""),
            (USE, "        attended = weights @ values.masked_fill(mask.transpose(-1, -2) == 0, 0.0)\n"),
        ),
        "a gentle mask": ((SOFT + AFTER, "        scores = scores.masked_fill(mask == 0, -2.0)\n" + SOFT),),
        "stretched": ((AFTER, AFTER + "        weights = 1.5 * weights\n"),),
        "always the full length": (
            ("return inputs[:, : (inputs != 0).sum(1).max()], torch.stack(targets)", "return inputs, torch.stack(targets)"),
        ),
        "hard-coded": t.HARD_CODED,
    },
    same_forward=True,
    seeds=(0, 1),
)  # fmt: skip

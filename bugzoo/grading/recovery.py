"""Recovery on one seed: the trained weights, in the reference model, do as well as the twin's on unseen data."""

import numpy as np

from bugzoo.grading import reference
from bugzoo.grading.bands import in_band, inside
from bugzoo.grading.evaluation.tasks import Score
from bugzoo.grading.model import Check, state_of
from bugzoo.grading.submission import Submission

AGREE = 0.97
"""Share of held-out inputs on which the model must predict the same as its weights in the reference model."""
SAME = 2e-3
"""Largest difference of two log-probabilities (nats), or of two predicted numbers, that counts as equal."""
BOTH = "New examples were passed to the model, and its weights were put into the healthy model."


def recovery(one: Submission) -> list[Check]:
    """Check that the weights do as well as the twin's, and that the model computes what its weights should."""
    if not one.weights:
        saw = "The trained weights were read. The program has no `model` with readable weights."
        expected = "It should keep a torch module named `model`."
        return [Check("model", "wrong", saw, expected, group="new_data")]
    kind, may, (_, targets) = one.kind, one.may, one.questions
    score = kind.measure(one.usual_answers, targets) if one.usual_answers is not None else None
    own_score = kind.measure(one.said, targets) if one.said is not None else None
    checks = []
    if score is not None and own_score is not None and may.same_forward:
        gap = kind.difference(score.answers, own_score.answers)
        saw = f"{BOTH} The outputs of the two differ by up to {gap:.2g}{' nats' if kind.unit == 'nats' else ''}."
        expected = f"They should be equal, whatever is masked or padded; below {SAME:g} passes."
        checks.append(Check("forward pass", state_of(gap < SAME), saw, expected, gap, group="new_data"))
    elif score is not None and own_score is not None and not may.own_forward:
        share = kind.agreement(score.answers, own_score.answers)
        saw = f"{BOTH} The two models agree on {share:.0%} of the examples."
        expected = f"At least {AGREE:.0%} passes."
        checks.append(Check("answers", state_of(share >= AGREE), saw, expected, share, group="new_data"))
    judged = own_score if score is None or (may.own_forward and own_score is not None) else score
    if judged is own_score and own_score is not None and inside(own_score, one.twin, kind, one.wide):
        checks.append(_lives_by_its_weights(one, own_score))
    if judged is None:
        saw = "New examples were passed to the model. It could not be called with them."
        expected = "It should return outputs for a batch of inputs."
        return [Check("model", "wrong", saw, expected, group="new_data")]
    return checks + in_band(judged.value, judged.loss, (one.twin,), kind, one.wide)


def _lives_by_its_weights(one: Submission, own: Score) -> Check:
    """Check that shuffled weights lose at least half of the gain over chance."""
    kind, facts, (inputs, every) = one.kind, one.case.facts, one.questions
    targets = every[: len(reference.control(inputs))]
    answers = np.asarray(one.account.get("control") or [])
    shuffled = kind.of_control(answers, targets) if answers.size == targets.size else own.value
    chance = max(kind.chance(targets), facts["chance"] if facts["metric"] == kind.metric else 0.0)
    saw = f"The weights of the trained model were shuffled. The {kind.metric} is then {shuffled:.2f}."
    most = chance + 0.5 * (own.value - chance)
    expected = f"Below {most:.2f} passes, as a trained model depends on its weights."
    return Check("weights", state_of(shuffled < most), saw, expected, shuffled, group="new_data")

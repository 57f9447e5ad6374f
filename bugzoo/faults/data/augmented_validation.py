"""The validation accuracy is a little low, and another one each time the same weights are evaluated, in eval mode too."""

from bugzoo.faults.model import Fault, LookAlike, Swap
from bugzoo.faults.verbs import instead

BOTH = "inputs, targets = normalise(augment(inputs)).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"
PLAIN = "inputs, targets = normalise(inputs).to(device), targets.to(device)\nlogits = model(inputs)\nsummed += $LOSS"

FAULT = Fault(
    title="The augmentation is left on in the evaluation",
    level=3,
    symptom="noisy_eval",
    edits=Swap(PLAIN, BOTH),
    evidence=("validation_shift.redrawn > 0.4",),
    effect="validation_shift.redrawn > healthy",
    why=(
        "Augmentation makes new samples out of old ones, so that training never sees the same twice. In an evaluation it makes a "
        "harder test that is drawn anew each time: pictures are moved by a pixel and lose what stood at the edge. eval() does "
        "not switch it off, as it is no part of the model."
    ),
    fix="Two chains of transforms: one with chance in it for training, one without for everything that is judged.",
    repairs=instead(
        BOTH,
        {
            "in two lines": (
                "inputs = normalise(inputs)\ninputs, targets = inputs.to(device), targets.to(device)\n"
                "logits = model(inputs)\nsummed += $LOSS"
            ),
            "by hand": (
                "inputs, targets = ((inputs - mean) / std).to(device), targets.to(device)\n"
                "logits = model(inputs)\nsummed += $LOSS"
            ),
            "where it is called": (
                "inputs, targets = inputs.to(device), targets.to(device)\nlogits = model(normalise(inputs))\nsummed += $LOSS"
            ),
        },
    ),
    pretences=instead(
        BOTH,
        {
            "the other way round": BOTH.replace("normalise(augment(inputs))", "augment(normalise(inputs))"),
            "nothing at all": BOTH.replace("normalise(augment(inputs))", "inputs"),
        },
    )
    | {
        "a fixed seed": Swap(
            "correct, total, summed = 0, 0, 0.0", "torch.manual_seed(seed)\ncorrect, total, summed = 0, 0, 0.0"
        ),
        "eval once more": Swap("model.eval()", "model.eval()\nmodel.train(False)"),
    },
    hints=(
        "Evaluate the same weights twice. What differs between the two, before the model is called?",
        "Show the same validation picture twice, as it goes into the model.",
        "Compare what happens to a picture in the two loops, word by word.",
    ),
    look_alikes=(
        LookAlike(
            "modes/eval_mode_missing",
            "Evaluate twice and compare: are the inputs the same, and are the answers to them?",
            "The inputs differ already: `validation_shift.redrawn > 0.4`.",
            "The same inputs get other answers: `validation_shift.redrawn < 0.4`.",
        ),
        LookAlike(
            "data/wrong_normalisation",
            "Evaluate the same weights twice, and compare the inputs of both times.",
            "They differ: `validation_shift.redrawn > 0.4`.",
            "They are the same: `validation_shift.redrawn < 0.4`.",
        ),
    ),
    sources=("https://pytorch.org/vision/stable/transforms.html",),
)

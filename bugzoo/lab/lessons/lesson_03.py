"""Lesson 03, hunting NaN. Numbers in the explanations are asserted in tests/lab/test_lesson_03.py."""

from bugzoo.lab.quiz import Answer, Question

CASES = {
    "incident": ("mlp", ("numerics/log_at_step?step=50&eps=0",)),
    "second": ("digits_cnn", ("numerics/log_at_step?step=77&eps=0",)),
}

QUESTIONS = {
    "guess": Question(
        "Before you run it: what will you see in the last steps before the loss is nan?",
        (
            Answer(
                "The loss climbs, faster and faster, until it overflows",
                "that is divergence, the most common picture of it. Keep it in mind and compare: does this run climb?",
            ),
            Answer(
                "The gradient norm grows over some steps while the loss still looks fine",
                "a good habit: the gradient often knows first. Here it does know first, but look at how long before.",
            ),
            Answer(
                "Nothing at all: the step before looks like any other",
                "as you will see. No number grows; from one step to the next something is not defined any more.",
                right=True,
            ),
        ),
    ),
    "finite_loss": Question(
        "At step 51 the loss is 1.48 and the gradient is nan. How can that be?",
        (
            Answer(
                "The loss is computed before the gradient, so something broke in the backward pass only",
                "it is where the nan appears. But the backward pass only follows the forward pass back: it computes the "
                "slopes of what was done there. Which operation can have a slope that does not exist?",
            ),
            Answer(
                "Something on the way forward was not finite, and was hidden again before it reached the loss",
                "so it will turn out. It is the more useful suspicion, too: it can be tested. What made the number, and "
                "what hid it? Listen to the layers.",
                right=True,
            ),
            Answer(
                "The optimiser divided by zero",
                "the optimiser comes later: the gradient norm in the plot is taken before it does anything.",
            ),
        ),
    ),
    "between": Question(
        "The gradient that leaves the head is finite; the one that arrives at layer2 holds a nan. Where was it made?",
        (
            Answer(
                "In layer2",
                "layer2 received it: its grad_output is the gradient of what comes after layer2.",
            ),
            Answer("In the head", "what leaves the head on the way back was finite. The head is innocent."),
            Answer(
                "In the code between layer2 and the head, which is no module",
                "yes. Hooks sit on modules; a function called in forward has none. This is where people lose an hour.",
                right=True,
            ),
        ),
    ),
    "too_late": Question(
        "Suppose you pause after step 51 instead, repair the code there and go on. What happens?",
        (
            Answer(
                "It recovers: the code is right now",
                "the code is, the weights are not. Most of layer1 is nan already, and nan times anything is nan.",
            ),
            Answer(
                "It stays nan",
                "yes. A repair does not heal weights: go back to a checkpoint from before the step, or start again.",
                right=True,
            ),
            Answer(
                "It needs a few steps and then recovers",
                "each update is computed from the weights. Nan minus a small step is nan.",
            ),
        ),
    ),
    "eps": Question(
        "The usual advice is to add a small eps inside the logarithm. With eps = 1e-9, what will the run do?",
        (
            Answer(
                "The same, only later",
                "try it: not one nan in the whole run. log(1e-9) is -20.7, an ordinary number.",
            ),
            Answer(
                "Finish, with about the accuracy of the healthy run",
                "yes, about 0.95 like the healthy one. The logarithm is still there and nothing reports it any more. "
                "Whether that is a repair is the next question.",
                right=True,
            ),
            Answer(
                "Finish, but with a useless model, as log(1e-9) is a huge negative number",
                "log(1e-9) is only -20.7, and the ReLU behind it turns it into 0.",
            ),
        ),
    ),
    "float32": Question(
        "And eps = 1e-50? It is not zero.",
        (
            Answer(
                "Fine: log(1e-50) is -115, finite",
                "in Python's 64-bit floats it is. The tensor holds 32-bit floats, whose smallest positive number is "
                "about 1e-45: there 1e-50 is 0.",
            ),
            Answer(
                "Nan, exactly as with eps = 0",
                "yes. float32 cannot hold 1e-50, so the sum is 0. In float16 the same happens to 1e-9.",
                right=True,
            ),
            Answer(
                "An error: float32 cannot hold it",
                "that would be kind. It is rounded to 0 without a word.",
            ),
        ),
    ),
    "recap_first": Question(
        "A colleague's loss is nan at step 4,000. What do you look at first?",
        (
            Answer(
                "A smaller learning rate",
                "it may hide this for a while, and it costs a run to try. First find out which number was the first.",
            ),
            Answer("The loss function at step 4,000", "the loss is the messenger. It is usually one step late."),
            Answer(
                "The step before: the first gradient or output that is not finite, and the operation that made it",
                "yes. With a replay of that one step you have file and line within seconds.",
                right=True,
            ),
        ),
    ),
}

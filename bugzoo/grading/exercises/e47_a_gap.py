"""Everything as it was, and the tool that was to help."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="A gap in the middle of the bar",
    story=(
        "A reader of digits was handed to `torch.compile`, as everybody advises, and in the profile its model was one "
        "bar. Then a nan was hunted in it, and found, elsewhere. It reads 95 % of the held-out digits, at a loss of 0.178, "
        "as before the hunt. *“Nothing that computes anything was changed. Only the bar has a gap in the middle now, with "
        "Python in it, and I would like to know what it does there.”*"
    ),
    program="mlp",
    fault="speed/graph_breaks",
    seeds=(0, 1),
    about=(
        "Classify 8 x 8 images of handwritten digits with a three-layer perceptron.\n\n"
        "The images ship with scikit-learn: 1797 of them, 64 grey values a picture. The last 360 are left alone here."
    ),
)

"""Twice the help, and fewer pictures."""

from bugzoo.grading.model import Exercise

EXERCISE = Exercise(
    title="Since somebody helps with the pictures",
    story=(
        "Pictures are now fetched by processes of their own, and a share of them is left out by chance, as before. *“The loss "
        "is a little higher than it was, 0.63 nats on the validation pictures where it was 0.55, and 89 % are read right. "
        "That is what another draw of the pictures does, I thought. But I printed which of them were left out.”*"
    ),
    program="image_pipeline",
    fault="reproducibility/identical_worker_augmentation",
)

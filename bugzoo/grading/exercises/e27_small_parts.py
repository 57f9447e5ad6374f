"""Since a batch goes through in small parts, the validation loss is worse."""

from bugzoo.grading.kinds import Decoy
from bugzoo.grading.model import Exercise, Ticket

EXERCISE = Exercise(
    title="A batch in small parts",
    story=(
        "Since last week each batch goes through this convolutional network in small parts, so that it fits into memory. The "
        "plotted loss is now per part, so it is lower. The accuracy is 94 % as before. But the validation loss rose from "
        "0.39 to 0.45. In the same week the validation images were sorted by digit, for a report. *“All zeros come first, "
        "then all ones. A loader that hands them out like this spoils the number. Mix them again.”*"
    ),
    program="digits_cnn",
    fault="modes/batch_norm_tiny_batches",
    kind=Decoy("traps/validation_not_shuffled"),
    about=(
        "Classify handwritten digits with a small convolutional network.\n\nThe images ship with scikit-learn: 1797 of them, "
        "8 x 8 gray values. The last 360 are left alone here."
    ),
    tickets=(
        Ticket(
            "A ticket machine reads handwritten digits and trains at night. Its memory is small, so each batch is cut into "
            "parts. The validation loss is {run.loss:.2f}, where the same seed reaches {healthy.loss:.2f} on a server with "
            "whole batches. The network, the images and the number of steps are the same.",
            fault="modes/batch_norm_tiny_batches?rows=1..2",
        ),
        Ticket(
            "A student copied a training script from the cluster to a laptop. To save memory, the copy cuts each batch into "
            "parts and adds up their gradients. It also sorts the validation images, so that the errors of a digit stand "
            "together. The copy ends with a validation loss of {run.loss:.2f}, and the cluster with {healthy.loss:.2f}. *“The "
            "network sees one digit at a time, and forgets the one before.”*",
        ),
        Ticket(
            "A team switched to a smaller graphics card, and cut each batch into parts. Their plot shows what one part adds "
            "to a batch's training loss, on average. It ends at {run.last:.2f}, where the curve of a whole batch ended at "
            "{healthy.last:.2f}. The validation loss went the other way, from {healthy.loss:.2f} to {run.loss:.2f}. *“I "
            "mixed the validation images again, and the loss stayed. So look at the training, although it has never been so "
            "good.”*",
            fault="modes/batch_norm_tiny_batches?rows=1..2",
        ),
    ),
)

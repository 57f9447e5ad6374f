"""Asked in the worker of a sentiment classifier, when it is trained: the same reviews alone, and in company of a long one."""

from bugzoo.running import Run
from bugzoo.running.reading import Reading


def measure(run: Run, requests: int, short: int) -> dict[str, Reading]:
    """{"served": words, label, alone, batched} of the first short validation reviews; probabilities of praise, 0 to 1."""
    import torch

    own = run.namespace
    model, (inputs, labels) = own["model"], own["encode"](own["validation"])
    lengths = (inputs != 0).sum(1)
    chosen = torch.nonzero(lengths <= short).flatten()[:requests]
    longest = int(lengths.argmax())
    model.eval()
    with torch.no_grad():
        company = torch.cat([inputs[chosen], inputs[longest : longest + 1]])
        company = company[:, : int(lengths[longest])]
        batched = model(company).softmax(-1)[:-1, 1]
        alone = [model(inputs[at : at + 1, : int(lengths[at])]).softmax(-1)[0, 1].item() for at in chosen.tolist()]
    return {
        "served": Reading(
            {
                "words": lengths[chosen].tolist(),
                "label": labels[chosen].tolist(),
                "alone": alone,
                "batched": batched.tolist(),
            }
        )
    }

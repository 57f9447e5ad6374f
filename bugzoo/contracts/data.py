"""`torch.utils.data`: samplers, loaders and datasets."""

from torch.utils.data import WeightedRandomSampler

from bugzoo.contracts.model import PAGES, Call, Contract, Numbers

_PAGE = PAGES + "data.html"


def _weights(call: Call) -> Numbers | None:
    sampler = call["sampler"]
    if not isinstance(sampler, WeightedRandomSampler):
        return None
    return {"weights": float(len(sampler.weights)), "samples": float(len(call["dataset"]))}


CONTRACTS = (
    Contract(
        name="one_weight_per_sample",
        argument=(3, "sampler"),
        on=("torch.utils.data.DataLoader.__init__",),
        demand="`WeightedRandomSampler` takes one weight per sample of the dataset, and draws indices below their number.",
        given="It has {weights:.0f} weights, and the dataset has {samples:.0f} samples.",
        instead="Look each sample's weight up by its label: `weights = class_weights[labels]`.",
        page=_PAGE + "#torch.utils.data.WeightedRandomSampler",
        kind="shape",
        measure=_weights,
        broken=lambda numbers: numbers["weights"] != numbers["samples"],
        breaks=(
            "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
            "DataLoader(TensorDataset(torch.randn(30, 2)), sampler=WeightedRandomSampler([0.2, 0.3, 0.5], 30))"
        ),
        keeps=(
            "from torch.utils.data import DataLoader, TensorDataset, WeightedRandomSampler\n"
            "DataLoader(TensorDataset(torch.randn(30, 2)), sampler=WeightedRandomSampler([0.5] * 30, 10))"
        ),
        wrong="A dataset of which only the first samples are to be drawn.",
        explains=("by itself",),
    ),
)

"""torchvision: transforms of colors."""

import torch

from bugzoo.contracts.images import FLOOR, STUCK, UNLIKE, USES, VISION, plain_image
from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.values import largest, smallest

_F = "torchvision.transforms.functional.adjust_"
_COLORS = ("brightness", "contrast", "saturation", "hue", "gamma")
OUTSIDE = 0.02
"""Share of the values that may lie outside, as after a resampling that overshoots."""


def _range(call: Call) -> Numbers | None:
    image = call["img"] if "img" in call.arguments else call["inpt"]
    if not isinstance(image, torch.Tensor) or not image.is_floating_point():
        return None
    image = plain_image(image, "image")
    outside = ((image < 0) | (image > 1)).float().mean()
    return {"outside": 100 * outside, "smallest": smallest(image), "largest": largest(image)}


CONTRACTS = (
    Contract(
        name="colors_between_0_and_1",
        on=(*(_F + name for name in _COLORS), "torchvision.transforms.v2.ColorJitter.transform"),
        demand="Transforms of colors take float images between 0 and 1, and cut off what lies outside.",
        given="{outside:.0f} % of the values lie outside: they go from {smallest:.3g} to {largest:.3g}.",
        instead="Change colors before `Normalize`, and scale float images to 0..1 before both.",
        page=VISION + "transforms.html#dtype-and-expected-value-range",
        kind="unit",
        measure=_range,
        broken=lambda numbers: numbers["outside"] > 100 * OUTSIDE,
        breaks=USES + "torchvision.transforms.ColorJitter(0.4)(T.normalize(torch.rand(3, 8, 8), mean, std))",
        keeps=(
            USES + "image = torch.rand(3, 8, 8)\ntorchvision.transforms.ColorJitter(0.4, 0.4)(image)\n"
            "v2.ColorJitter(0.4)((255 * image).to(torch.uint8))\nT.normalize(v2.ColorJitter(0.4)(image), mean, std)"
        ),
        wrong="Images of which a few values lie outside by nature.",
        explains=(FLOOR, STUCK, UNLIKE),
    ),
)

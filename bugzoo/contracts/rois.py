"""torchvision: boxes on a feature map."""

from typing import Any

import torch

from bugzoo.contracts.images import FLOOR, STUCK, VISION
from bugzoo.contracts.model import Call, Contract, Numbers, dense

_O = "torchvision.ops."
BEYOND = 1.5
"""Times the size of the feature map at which a box may end: one that leaves its image a little is usual."""
_USES = "import torchvision\nfrom torchvision.ops import RoIAlign, roi_align\nfeatures = torch.rand(1, 2, 8, 8)\n"


def _scale(call: Call) -> Numbers | None:
    boxes: Any = call["boxes"]
    boxes = [boxes] if isinstance(boxes, torch.Tensor) else boxes
    boxes = [
        dense(tensor, "boxes").float()[:, -4:]
        for tensor in boxes
        if isinstance(tensor, torch.Tensor) and tensor.numel()
    ]
    if not boxes:
        return None
    height, width = call["input"].shape[-2:]
    ends = torch.cat(boxes)[:, 2:] * float(call["spatial_scale"])
    beyond = (ends / ends.new_tensor([width, height])).amax(1)
    return {
        "beyond": (beyond > BEYOND).sum(),
        "boxes": float(len(ends)),
        "scale": float(call["spatial_scale"]),
        "size": f"{height} x {width}",
    }


CONTRACTS = (
    Contract(
        name="roi_spatial_scale",
        on=tuple(
            f"{_O}{place}{name}"
            for name in ("roi_align", "roi_pool", "ps_roi_align", "ps_roi_pool")
            for place in ("", f"{name}.")
        ),
        demand="Boxes are in pixels of the image, and `spatial_scale` brings them to the feature map.",
        given="With `spatial_scale={scale:.3g}`, {beyond:.0f} of {boxes:.0f} boxes end far outside the {size} feature map.",
        instead="Pass `spatial_scale=feature_size / image_size`.",
        page=VISION + "generated/torchvision.ops.roi_align.html",
        kind="unit",
        measure=_scale,
        broken=lambda numbers: 2 * numbers["beyond"] > numbers["boxes"],
        breaks=_USES + "roi_align(features, [torch.tensor([[8.0, 8, 40, 60], [0, 0, 30, 30]])], 2)",
        keeps=(
            _USES + "roi_align(features, [torch.tensor([[8.0, 8, 40, 60], [0, 0, 30, 30]])], 2, spatial_scale=1 / 8)\n"
            "RoIAlign(2, 1.0, 2)(features, torch.tensor([[0, 1.0, 1, 7, 9]]))"
        ),
        wrong="Boxes most of which lie outside the image on purpose.",
        explains=(FLOOR, STUCK),
    ),
)

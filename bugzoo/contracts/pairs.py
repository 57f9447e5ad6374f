"""torchvision: an image and the mask of labels that belongs to it."""

from types import FrameType
from typing import Any

import numpy as np
import torch

from bugzoo.contracts.images import VISION
from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.place import users_frame

_T, _F = "torchvision.transforms.", "torch.nn.functional."
_MOVES = (
    "RandomHorizontalFlip", "RandomVerticalFlip", "RandomCrop", "RandomResizedCrop", "RandomRotation", "RandomAffine",
    "RandomPerspective",
)  # fmt: skip
FEW = 8
"""Different values of a mask at most."""
DARK = 31
"""Largest byte of an image that may be the number of a class."""
_RANDOM = (
    "from PIL import Image\nfrom torchvision.transforms import RandomCrop\ncrop = RandomCrop(4)\n"
    "def pair(image, mask):\n{}\nfor seed in range(6):\n"
    "    pair(Image.fromarray(torch.randint(255, (8, 8, 3), dtype=torch.uint8).numpy()),\n"
    "         Image.fromarray(torch.randint(3, (8, 8), dtype=torch.uint8).numpy()))"
)
_LABELS = (
    "from torchvision.transforms import PILToTensor, ToTensor\nfrom PIL import Image\n"
    "for seed in range(6):\n    mask = Image.fromarray(torch.randint(3, (8, 8), dtype=torch.uint8).numpy())\n"
    "    F.cross_entropy(torch.zeros(64, 3), {}.flatten().long())"
)
_PLAIN = (
    "from torchvision import tv_tensors\nfrom torchvision.transforms import v2\n"
    "v2.RandomHorizontalFlip()(tv_tensors.Image(torch.rand(3, 8, 8)), {})"
)


def _array(value: Any) -> np.ndarray | None:
    """Return an image of any kind as an array, and None for another value."""
    if isinstance(value, torch.Tensor):
        return value.detach().cpu().numpy() if value.is_cpu and not value.is_sparse else None
    return np.asarray(value) if isinstance(value, np.ndarray) or hasattr(value, "getbands") else None


def _kind(array: np.ndarray) -> str:
    """Return "mask" for few whole values, "image" for all else."""
    if array.ndim == 3 and 3 in (array.shape[0], array.shape[-1]):
        return "image"
    some = np.unique(array)
    return "mask" if len(some) <= FEW and (some == np.floor(some)).all() else "image"


def _asking() -> FrameType | None:
    """Return the script's `__getitem__` that is at work, or else its innermost function."""
    first = frame = users_frame(3)
    while frame is not None and frame.f_code.co_name != "__getitem__":
        frame = frame.f_back
    return frame or first


def _moved_apart(call: Call) -> Numbers | None:
    """Look whether one call of a function transforms an image and a mask, and lets each draw its own numbers."""
    transform = call["self"]
    if getattr(transform, "p", 0.5) in (0, 1):
        return None
    array, frame = _array(call["inpt" if "inpt" in call.arguments else "img"]), _asking()
    if array is None or frame is None or array.ndim < 2:
        return None
    sides = tuple(sorted(side for side in array.shape if side > 4))  # without the axis of the channels
    # a later call may get the id of a frame that is gone, but begins again at its first instruction
    now = (id(frame), frame.f_code, frame.f_lasti, _kind(array), sides, torch.get_rng_state())
    before, call.shared[type(transform).__name__] = call.shared.get(type(transform).__name__), now
    if before is None or before[:2] != now[:2] or before[2] >= now[2] or before[4] != sides or before[3] == now[3]:
        return None
    return {"apart": float(not torch.equal(before[5], now[5])), "name": type(transform).__name__}


def _left_out(call: Call) -> Numbers | None:
    """Look whether a geometric transform leaves out a tensor of the size of the image that it moves."""
    if type(call["self"]).__name__ not in _MOVES:
        return None
    images = [_array(leaf) for leaf, moved in zip(call["flat_inputs"], call.result, strict=True) if moved]
    sizes = {
        leaf.shape[-2:] if leaf.shape[-1] != 3 else leaf.shape[:2]
        for leaf in images
        if leaf is not None and leaf.ndim >= 2
    }
    left = [
        leaf
        for leaf, moved in zip(call["flat_inputs"], call.result, strict=True)
        if not moved and isinstance(leaf, torch.Tensor) and leaf.ndim >= 2 and tuple(leaf.shape[-2:]) in sizes
    ]
    return {"left": float(len(left)), "name": type(call["self"]).__name__}


def _divided(call: Call) -> Numbers | None:
    """Note images that look like labels, and look whether the targets of a loss are what a division left of them."""
    shared = call.shared
    if call.target.endswith("to_tensor"):
        array = _array(call["pic"])
        if array is None or array.dtype != np.uint8 or array.max(initial=0) > DARK or _kind(array) != "mask":
            return None
        largest = max(shared.get("largest", 0), int(array.max(initial=0)))
        shared.update(largest=largest, site=shared.get("site", call.site))
        return None
    if not shared.get("largest") or call["target"].ndim < 1:
        return None
    top = shared["top"] = torch.maximum(call.tensor("target").amax().double(), shared.get("top", torch.zeros(())))
    shared["looks"] = shared.get("looks", 0) + 1
    call.site = shared["site"]
    largest = float(shared["largest"])
    return {"largest": largest, "small": largest / 255, "top": top, "looks": float(shared["looks"])}


CONTRACTS = (
    Contract(
        name="image_and_mask_apart",
        on=(
            *(f"{_T}{name}.forward" for name in _MOVES),
            *(f"{_T}v2.{name}.transform" for name in _MOVES),
        ),
        demand="A random transform draws anew at each call: an image and its mask go through it together.",
        given="`{name}` is called for the image, and once more for the mask, with other random numbers.",
        instead="Write `image, mask = transform(image, tv_tensors.Mask(mask))` with a transform of `torchvision.transforms.v2`.",
        page=VISION + "auto_examples/transforms/plot_transforms_getting_started.html",
        kind="order of calls",
        measure=_moved_apart,
        broken=lambda numbers: numbers["apart"] > 0,
        breaks=_RANDOM.format("    crop(image)\n    crop(mask)"),
        keeps=(
            _RANDOM.format("    torch.manual_seed(seed)\n    crop(image)\n    torch.manual_seed(seed)\n    crop(mask)")
            + "\n"
            + _RANDOM.format("    crop(image)\n    crop(image)")
        ),
        wrong="Two inputs that need not fit together, such as an image and a random pattern.",
        explains=("by itself",),
        causes=("data/labels_out_of_sync",),
    ),
    Contract(
        name="mask_through_to_tensor",
        on=(
            _T + "functional.to_tensor",
            *(_F + name for name in ("cross_entropy", "binary_cross_entropy", "binary_cross_entropy_with_logits")),
        ),
        demand="`ToTensor` divides bytes by 255: a mask of labels goes through `PILToTensor`, which keeps them.",
        given="Labels up to {largest:.0f} become numbers up to {small:.3f}, and no target of the loss is larger.",
        instead="Use `PILToTensor()` for the mask, or `torch.as_tensor(np.array(mask))`.",
        page=VISION + "generated/torchvision.transforms.ToTensor.html",
        kind="unit",
        measure=_divided,
        broken=lambda numbers: numbers["looks"] >= 4 and numbers["top"] <= numbers["small"],
        breaks=_LABELS.format("ToTensor()(mask)"),
        keeps=_LABELS.format("PILToTensor()(mask)") + "\n" + _LABELS.format("(255 * ToTensor()(mask))"),
        wrong="Dark images, in a run whose targets are all 0.",
        explains=("by itself",),
    ),
    Contract(
        name="mask_is_no_plain_tensor",
        on=(_T + "v2.Transform._needs_transform_list",),
        demand="Beside an image, transforms of `v2` pass plain tensors on as they are. A mask is a `tv_tensors.Mask`.",
        given="`{name}` moves the image, and not the plain tensor of the same size beside it.",
        instead="Wrap it: `tv_tensors.Mask(mask)`.",
        page=VISION + "auto_examples/transforms/plot_transforms_getting_started.html",
        kind="convention",
        measure=_left_out,
        broken=lambda numbers: numbers["left"] > 0,
        breaks=_PLAIN.format("torch.ones(8, 8)"),
        keeps=_PLAIN.format("tv_tensors.Mask(torch.ones(8, 8))") + "\n" + _PLAIN.format("torch.ones(4)"),
        wrong="A second image that has to stay as it is, such as the clean one beside a noisy one.",
        explains=("by itself",),
        causes=("data/labels_out_of_sync",),
        after=True,
    ),
)

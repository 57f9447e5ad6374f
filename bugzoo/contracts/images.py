"""torchvision: the range of images, masks that are resized, and folders of classes."""

import os
from typing import Any

import torch

from bugzoo.contracts.model import Call, Contract, Numbers, dense
from bugzoo.contracts.values import largest, smallest

_T = "torchvision.transforms."
_NORMALIZE = (_T + "functional.normalize", _T + "v2.Normalize.transform")
VISION = "https://docs.pytorch.org/vision/stable/"
_RANGE = VISION + "transforms.html#dtype-and-expected-value-range"
FLOOR, STUCK, UNLIKE = "loss falls little", "nothing learned", "held-out inputs unlike training"
FAR = 20
"""Standard deviations between the mean of one image and the mean of its dataset that no image has: bytes are hundreds off."""
USES = (
    "import torchvision\nfrom torchvision.transforms import functional as T, v2\n"
    "mean, std = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)\n"
)

FOLDERS = (
    "import pathlib, tempfile\nfrom torchvision.datasets import ImageFolder\nwith tempfile.TemporaryDirectory() as root:\n"
    "    for name in '{names}'.split():\n        (pathlib.Path(root) / name).mkdir(parents=True)\n"
    "        (pathlib.Path(root) / name / '1.png').touch()\n"
    "    for name in '{opened}'.split(): ImageFolder(pathlib.Path(root) / name)"
)


def plain_image(value: Any, name: str) -> torch.Tensor:
    """Return an image as a plain tensor, also one of `tv_tensors.Image`. Raises Aside for other subclasses."""
    if type(value).__module__.startswith("torchvision.tv_tensors") and type(value).__name__ in ("Image", "Video"):
        value = value.as_subclass(torch.Tensor)
    return dense(value, name)


def _image(call: Call) -> tuple[torch.Tensor, list[float], list[float]]:
    """Return image, mean and standard deviation of a call, which may be a method of the transform."""
    if call.target.endswith("transform"):
        return plain_image(call["inpt"], "inpt"), list(call["self"].mean), list(call["self"].std)
    return plain_image(call["tensor"], "tensor"), list(call["mean"]), list(call["std"])


def _units(call: Call) -> Numbers | None:
    image, mean, std = _image(call)
    if not mean or not all(0 <= channel <= 1 for channel in mean) or not all(0 < channel <= 1 for channel in std):
        return None
    middle, spread = sum(mean) / len(mean), sum(std) / len(std)
    average = image.float().mean()
    return {"average": average, "off": (average - middle) / spread, "mean": middle}


def _again(call: Call) -> Numbers | None:
    image, mean, _ = _image(call)
    if len(mean) != 3 or not all(0.25 <= channel <= 0.75 for channel in mean):
        return None
    return {"smallest": smallest(image), "largest": largest(image)}


def _labels(call: Call) -> Numbers | None:
    """Count the values of a resized mask that the mask did not have. Only int64 holds labels and no depth or color."""
    of_class = call.target.endswith("transform")
    mask = call["inpt"] if of_class else call["img"]
    how = call["self"].interpolation if of_class else call["interpolation"]
    if not isinstance(mask, torch.Tensor) or mask.dtype != torch.int64 or "nearest" in str(getattr(how, "value", how)):
        return None
    if type(mask).__name__ == "Mask":
        return None
    mask, result = plain_image(mask, "mask"), plain_image(call.result, "result")
    labels = mask.unique()
    others = result[~torch.isin(result, labels)]
    return {"labels": float(len(labels)), "others": float(len(others.unique())), "how": str(getattr(how, "value", how))}


def _folders(call: Call) -> Numbers | None:
    """Compare the numbers of classes with those of another folder beside this one."""
    folder, shared = call["self"], call.shared
    root = os.path.abspath(folder.root)
    beside = shared.setdefault(os.path.dirname(root), {})
    numbers = None
    for other, classes in beside.items():
        moved = [
            name
            for name in folder.class_to_idx
            if classes.get(name, folder.class_to_idx[name]) != folder.class_to_idx[name]
        ]
        if moved and other != root:
            name = moved[0]
            numbers = {
                "name": name,
                "here": float(folder.class_to_idx[name]),
                "there": float(classes[name]),
                "moved": float(len(moved)),
            }
    beside[root] = dict(folder.class_to_idx)
    return numbers


CONTRACTS = (
    Contract(
        name="normalize_image_units",
        on=_NORMALIZE,
        demand="`Normalize` takes the image in the units of its mean and deviation: a float image lies between 0 and 1.",
        given="The image has the mean {average:.4g}, and `mean` is {mean:.3g}: {off:.0f} deviations away.",
        instead="Scale first: `v2.ToDtype(torch.float32, scale=True)`, or `ToTensor()` of a uint8 image.",
        page=_RANGE,
        kind="unit",
        measure=_units,
        broken=lambda numbers: numbers["off"] > FAR,
        breaks=USES
        + "v2.Compose([v2.ToDtype(torch.float32), v2.Normalize(mean, std)])(torch.full((3, 4, 4), 120, dtype=torch.uint8))",
        keeps=(
            USES
            + "T.normalize(torch.rand(3, 4, 4), mean, std)\nT.normalize(255 * torch.rand(3, 4, 4), (123.0,), (58.0,))\n"
            "v2.Normalize((0.1307,), (0.3081,))(torch.ones(1, 28, 28))"
        ),
        wrong="Data other than images, with single values that are very far from the others.",
        explains=(FLOOR, STUCK, UNLIKE),
    ),
    Contract(
        name="normalized_twice",
        on=_NORMALIZE,
        demand="`Normalize` takes a float image between 0 and 1, not one that is normalized already.",
        given="The image has values from {smallest:.3g} to {largest:.3g} before it is normalized.",
        instead="Leave out one of the two: `weights.transforms()` normalizes by itself.",
        page=_RANGE,
        kind="unit",
        measure=_again,
        broken=lambda numbers: numbers["smallest"] < -0.5,
        breaks=USES + "T.normalize(T.normalize(torch.rand(3, 8, 8), mean, std), mean, std)",
        keeps=USES
        + "v2.Normalize(mean, std)(torch.rand(3, 8, 8) * 1.1 - 0.05)\nT.normalize(torch.randn(1, 8, 8), (0.4,), (1.0,))",
        wrong="Images whose values go below 0 by nature, and whose mean is that of the dataset.",
        explains=(FLOOR, STUCK, UNLIKE),
    ),
    Contract(
        name="labels_interpolated",
        on=(_T + "functional.resize", _T + "v2.Resize.transform"),
        demand="A mask of labels is resized with `InterpolationMode.NEAREST`: the default mixes the numbers of classes.",
        given="The mask had {labels:.0f} labels, and {how} resizing made {others:.0f} others.",
        instead="Pass `interpolation=InterpolationMode.NEAREST`, or wrap the mask in `tv_tensors.Mask`.",
        page=VISION + "generated/torchvision.transforms.functional.resize.html",
        kind="values",
        measure=_labels,
        broken=lambda numbers: numbers["others"] > 0 and numbers["labels"] <= 256,
        breaks=USES + "torchvision.transforms.Resize((9, 9))(torch.tensor([[[0, 9], [5, 255]]]))",
        keeps=(
            USES + "from torchvision import tv_tensors\nmask = torch.tensor([[[0, 9], [5, 255]]])\n"
            "T.resize(mask, [9, 9], T.InterpolationMode.NEAREST)\nv2.Resize((9, 9))(tv_tensors.Mask(mask))\n"
            "T.resize(mask.to(torch.uint8), [9, 9])"
        ),
        wrong="A gray image that is kept in int64.",
        explains=("by itself",),
        after=True,
    ),
    Contract(
        name="image_folder_classes",
        on=("torchvision.datasets.DatasetFolder.__init__",),
        demand="`ImageFolder` numbers the folders that it finds by the alphabet: train and val need the same folders.",
        given="Class {name!r} is {here:.0f} here and {there:.0f} in the folder beside it; {moved:.0f} classes differ.",
        instead="Give each split all class folders and pass `allow_empty=True`, or map by `train.class_to_idx`.",
        page=VISION + "generated/torchvision.datasets.ImageFolder.html",
        kind="convention",
        measure=_folders,
        broken=lambda numbers: numbers["moved"] > 0,
        breaks=FOLDERS.format(names="train/ant train/bee train/cow val/ant val/cow", opened="train val"),
        keeps=FOLDERS.format(names="train/ant train/bee val/ant val/bee", opened="train val train"),
        wrong="Two datasets of different tasks in one folder.",
        explains=("by itself",),
        after=True,
    ),
)

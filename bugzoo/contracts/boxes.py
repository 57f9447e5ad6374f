"""torchvision: targets and images of detection models, and functions of boxes."""

from typing import Any

import torch

from bugzoo.contracts.images import FLOOR, STUCK, VISION
from bugzoo.contracts.model import Aside, Call, Contract, Numbers, dense
from bugzoo.contracts.values import largest, smallest

_M = "torchvision.models.detection."
_RCNN = _M + "generalized_rcnn.GeneralizedRCNN.forward"
_DETECTORS = (_RCNN, _M + "retinanet.RetinaNet.forward", _M + "fcos.FCOS.forward", _M + "ssd.SSD.forward")
_PAGE = VISION + "models/generated/torchvision.models.detection.fasterrcnn_resnet50_fpn.html"
# a detector without layers: what it is given is looked at before its first line
DETECTOR = (
    "from torchvision.models.detection.generalized_rcnn import GeneralizedRCNN\n"
    "class Stub(nn.Module):\n    def forward(self, images, *more): return images, {}\n"
    "class Detector(GeneralizedRCNN):\n    def __init__(self): super().__init__(nn.Identity(), Stub(), Stub(), Stub())\n"
    "def train(image, boxes, labels):\n"
    "    target = {'boxes': torch.tensor(boxes), 'labels': torch.tensor(labels)}\n"
    "    try: Detector()([image], [target])\n    except Exception: pass\n"
    "image = torch.rand(3, 64, 64)\n"
)


def _images(call: Call) -> Numbers:
    images = [dense(image, "images") for image in call["images"]]
    if not images:
        raise Aside("no images")
    return {
        "smallest": torch.stack([smallest(image).float() for image in images]).amin(),
        "largest": torch.stack([largest(image).float() for image in images]).amax(),
    }


_LOSS = (
    "import torchvision\ntarget = torch.tensor({})\npredicted = torch.rand(len(target), 4).requires_grad_()\n"
    "torchvision.ops.generalized_box_iou_loss(predicted, target)"
)


def _pairs(call: Call) -> list[tuple[torch.Tensor, dict[str, Any]]]:
    targets = call["targets"]
    if not call["self"].training or targets is None:
        return []
    return [(image, target) for image, target in zip(call["images"], targets, strict=False) if target["boxes"].numel()]


def _boxes(call: Call) -> Numbers | None:
    """The largest coordinate, and by how many pixels a box leaves its image."""
    pairs = _pairs(call)
    if not pairs:
        return None
    tops, over = [], []
    for image, target in pairs:
        boxes = dense(target["boxes"], "boxes").float()
        height, width = image.shape[-2:]
        tops.append(boxes.amax())
        over.append((boxes[:, 2:] - boxes.new_tensor([width, height])).amax())
    return {
        "largest": torch.stack(tops).amax(),
        "over": torch.stack(over).amax(),
        "boxes": float(sum(len(t["boxes"]) for _, t in pairs)),
    }


def _background(call: Call) -> Numbers | None:
    labels = [dense(target["labels"], "labels") for _, target in _pairs(call) if target["labels"].numel()]
    if not labels:
        return None
    labels = torch.cat(labels)
    return {"zeros": (labels == 0).sum(), "labels": float(labels.numel())}


def _inverted(call: Call) -> Numbers | None:
    if (call["fmt"] or "xyxy") != "xyxy":
        return None
    some = [tensor for tensor in (call["boxes"], call["boxes1"], call["boxes2"]) if isinstance(tensor, torch.Tensor)]
    some = [
        dense(tensor, "boxes")
        for tensor in some
        if tensor.numel() and not tensor.requires_grad and tensor.shape[-1] == 4
    ]
    if not some:
        return None
    inverted = sum(((tensor[..., 2] < tensor[..., 0]) | (tensor[..., 3] < tensor[..., 1])).sum() for tensor in some)
    return {"inverted": inverted, "boxes": float(sum(tensor.shape[:-1].numel() for tensor in some))}


def _scores(call: Call) -> Numbers | None:
    scores = call.tensor("scores")
    whole = (scores == scores.round()).all() & (scores.amax() > 1)
    return {"whole": whole.double(), "largest": largest(scores), "boxes": float(len(scores))}


def _activation(call: Call) -> Numbers | None:
    inputs = call["inputs"]
    name = type(inputs.grad_fn).__name__.removesuffix("Backward0") if isinstance(inputs, torch.Tensor) else ""
    values = dense(inputs, "inputs")
    return {"name": name, "smallest": smallest(values), "largest": largest(values)}


CONTRACTS = (
    Contract(
        name="detection_image_range",
        on=_DETECTORS,
        demand="Detection models take images between 0 and 1, and normalize them inside.",
        given="The images have values from {smallest:.3g} to {largest:.3g}.",
        instead="Scale images to 0..1 and leave `Normalize` out of the transforms.",
        page=_PAGE,
        kind="unit",
        measure=_images,
        broken=lambda numbers: numbers["smallest"] < -0.5 or numbers["largest"] > 20,
        breaks=DETECTOR + "train(255 * image, [[1.0, 1, 9, 9]], [1])",
        keeps=DETECTOR + "train(1.1 * image - 0.05, [[1.0, 1, 9, 9]], [1])",
        wrong="A model whose `image_mean` and `image_std` are set for another range.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="detection_boxes_in_pixels",
        on=_DETECTORS,
        demand="Boxes of detection targets are pixels of their image, not shares of its size.",
        given="The largest coordinate of {boxes:.0f} boxes is {largest:.3g}.",
        instead="Multiply the boxes by width, height, width and height.",
        page=_PAGE,
        kind="unit",
        measure=_boxes,
        broken=lambda numbers: numbers["largest"] <= 1,
        breaks=DETECTOR + "train(image, [[0.1, 0.1, 0.5, 0.5], [0.2, 0.3, 0.9, 1.0]], [1, 2])",
        keeps=DETECTOR + "train(image, [[0.0, 0, 1, 2]], [1])",
        wrong="Images of a single pixel.",
        explains=("by itself",),
    ),
    Contract(
        name="detection_boxes_inside",
        on=_DETECTORS,
        demand="Boxes of detection targets are [x1, y1, x2, y2] within their image.",
        given="Of {boxes:.0f} boxes the farthest leaves its image by {over:.0f} pixels.",
        instead="Resize and crop boxes together with images, and turn [x, y, w, h] or [y, x, y, x] into [x1, y1, x2, y2].",
        page=_PAGE,
        kind="convention",
        measure=_boxes,
        broken=lambda numbers: numbers["over"] > 1,
        breaks=DETECTOR + "train(image, [[10.0, 10, 300, 200]], [1])",
        keeps=DETECTOR + "train(image, [[10.0, 10, 64.4, 64]], [1])\ntrain(image, torch.zeros(0, 4).tolist(), [])",
        wrong="Labels of objects that are cut off by the edge, with the part that is not seen.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="detection_label_zero",
        on=(_RCNN,),
        demand="Label 0 is the background in R-CNN models: objects are numbered from 1.",
        given="{zeros:.0f} of {labels:.0f} labels are 0.",
        instead="Add 1 to the labels, and count the background in `num_classes`.",
        page=_PAGE,
        kind="convention",
        measure=_background,
        broken=lambda numbers: numbers["zeros"] > 0,
        breaks=DETECTOR + "train(image, [[1.0, 1, 9, 9], [2, 2, 9, 9]], [0, 1])",
        keeps=DETECTOR + "train(image, [[1.0, 1, 9, 9], [2, 2, 9, 9]], [1, 2])",
        wrong="Boxes that are marked as background on purpose.",
        explains=("by itself",),
    ),
    Contract(
        name="boxes_xyxy",
        on=tuple(f"torchvision.ops.{name}" for name in ("nms", "batched_nms", "box_iou", "generalized_box_iou")),
        demand="Boxes are [x1, y1, x2, y2] with x1 < x2 and y1 < y2, not [x, y, width, height].",
        given="{inverted:.0f} of {boxes:.0f} boxes end before they begin.",
        instead="Convert them: `torchvision.ops.box_convert(boxes, 'xywh', 'xyxy')`.",
        page=VISION + "generated/torchvision.ops.box_iou.html",
        kind="convention",
        measure=_inverted,
        broken=lambda numbers: numbers["inverted"] > 0,
        breaks="import torchvision\ntorchvision.ops.nms(torch.tensor([[30.0, 30, 10, 10], [1, 1, 9, 9]]), torch.rand(2), 0.5)",
        keeps=(
            "import torchvision\nboxes = torch.tensor([[30.0, 30, 40, 40], [0, 0, 0, 0], [-1, -1, -1, -1]])\n"
            "torchvision.ops.nms(boxes, torch.rand(3), 0.5)\ntorchvision.ops.box_iou(boxes - boxes.flip(1), boxes, fmt='cxcywh')"
        ),
        wrong="Boxes that a model predicts without a limit on their sides.",
        explains=(FLOOR, STUCK),
    ),
    Contract(
        name="nms_scores",
        on=("torchvision.ops.nms", "torchvision.ops.batched_nms"),
        demand="`scores` says how sure the model is of each box: of boxes that overlap the surest one is kept.",
        given="The scores of {boxes:.0f} boxes are whole numbers up to {largest:.0f}, as the numbers of classes are.",
        instead="Pass `batched_nms(boxes, scores, classes, iou_threshold)`, with the classes third.",
        page=VISION + "generated/torchvision.ops.batched_nms.html",
        kind="convention",
        measure=_scores,
        broken=lambda numbers: numbers["whole"] > 0,
        breaks=(
            "import torchvision\nboxes = torch.tensor([[0.0, 0, 9, 9], [0, 0, 8, 9], [20, 20, 30, 30]])\n"
            "torchvision.ops.batched_nms(boxes, torch.tensor([2.0, 0, 1]), torch.tensor([2, 0, 1]), 0.5)"
        ),
        keeps=(
            "import torchvision\nboxes = torch.tensor([[0.0, 0, 9, 9], [0, 0, 8, 9], [20, 20, 30, 30]])\n"
            "torchvision.ops.batched_nms(boxes, torch.tensor([0.9, 0.2, 1.0]), torch.tensor([2, 0, 1]), 0.5)\n"
            "torchvision.ops.nms(boxes, torch.ones(3), 0.5)"
        ),
        wrong="Scores that count something, such as votes.",
        explains=("by itself",),
    ),
    Contract(
        name="box_loss_xyxy",
        on=tuple(f"torchvision.ops.{name}_box_iou_loss" for name in ("generalized", "complete", "distance")),
        demand="Box losses take [x1, y1, x2, y2] with x1 < x2 and y1 < y2, not [cx, cy, width, height].",
        given="{inverted:.0f} of {boxes:.0f} target boxes end before they begin.",
        instead="Convert predictions and targets: `torchvision.ops.box_convert(boxes, 'cxcywh', 'xyxy')`.",
        page=VISION + "generated/torchvision.ops.generalized_box_iou_loss.html",
        kind="convention",
        measure=_inverted,
        broken=lambda numbers: numbers["inverted"] > 0,
        breaks=_LOSS.format("[[0.5, 0.5, 0.2, 0.1]]"),
        keeps=_LOSS.format("[[0.4, 0.4, 0.6, 0.5], [0, 0, 0, 0]]"),
        wrong="Targets with swapped corners that the loss is meant to see.",
        explains=("by itself",),
    ),
    Contract(
        name="focal_loss_logits",
        on=("torchvision.ops.sigmoid_focal_loss",),
        demand="`sigmoid_focal_loss` takes logits and applies the sigmoid itself.",
        given="`inputs` is the result of {name}, with values from {smallest:.3g} to {largest:.3g}.",
        instead="Pass the output of the last layer, without a sigmoid or softmax.",
        page=VISION + "generated/torchvision.ops.sigmoid_focal_loss.html",
        kind="values",
        measure=_activation,
        broken=lambda numbers: numbers["name"] in ("Sigmoid", "Softmax"),
        breaks=(
            "import torchvision\nscores = nn.Linear(2, 3)(torch.ones(4, 2))\n"
            "torchvision.ops.sigmoid_focal_loss(scores.sigmoid(), torch.ones(4, 3))"
        ),
        keeps="import torchvision\ntorchvision.ops.sigmoid_focal_loss(nn.Linear(2, 3)(torch.ones(4, 2)), torch.ones(4, 3))",
        wrong="No case is known.",
        explains=(FLOOR, STUCK),
    ),
)

"""torchvision: pretrained weights, and the images that they expect."""

from bugzoo.contracts.images import FLOOR, STUCK, VISION
from bugzoo.contracts.model import Call, Contract, Numbers
from bugzoo.contracts.values import largest, smallest

_MODELS = "torchvision.models."
_FORWARDS = tuple(
    f"{_MODELS}{name}.forward"
    for name in (
        "resnet.ResNet", "vgg.VGG", "densenet.DenseNet", "mobilenetv2.MobileNetV2", "mobilenetv3.MobileNetV3",
        "efficientnet.EfficientNet", "convnext.ConvNeXt", "vision_transformer.VisionTransformer",
    )
)  # fmt: skip
_WEIGHTS = _MODELS + "_api.WeightsEnum.get_state_dict"
LOADED = (
    "from torchvision.models import ResNet18_Weights, _api, resnet18\n"
    "real, _api.load_state_dict_from_url = _api.load_state_dict_from_url, lambda *_, **__: resnet18().state_dict()\n"
    "try: model = resnet18(weights=ResNet18_Weights.DEFAULT)\nfinally: _api.load_state_dict_from_url = real\n"
)


def _normalized(call: Call) -> Numbers | None:
    """Look at the images of a model whose weights came from torchvision."""
    module, shared = call["self"], call.shared
    if call.target == _WEIGHTS:
        shared["weights"] = str(module)
        return None
    if call.target.endswith("load_state_dict"):
        if "weights" in shared:
            call.about(module)["weights"] = shared.pop("weights")
        return None
    weights = call.about(module).get("weights")
    images = call["x"]
    if weights is None or images.ndim != 4 or images.shape[1] != 3:
        return None
    images = call.tensor("x")
    return {"smallest": smallest(images), "largest": largest(images), "weights": weights}


CONTRACTS = (
    Contract(
        name="pretrained_images_normalized",
        on=(_WEIGHTS, "torch.nn.Module.load_state_dict", *_FORWARDS),
        demand="Pretrained weights expect images that are scaled and normalized as they were trained: `weights.transforms()`.",
        given="The images go from {smallest:.3g} to {largest:.3g}, without a negative value, and the weights are {weights}.",
        instead="Use `preprocess = weights.transforms()`, or `Normalize` with its mean and std.",
        page=VISION + "models.html#using-the-pre-trained-models",
        kind="unit",
        measure=_normalized,
        broken=lambda numbers: numbers["smallest"] >= 0 and not 1 < numbers["largest"] <= 20,
        breaks=LOADED + "model.eval()(torch.rand(2, 3, 32, 32))",
        keeps=LOADED
        + "model.eval()((torch.rand(2, 3, 32, 32) - 0.45) / 0.22)\nresnet18().eval()(torch.rand(2, 3, 32, 32))",
        wrong="All weights are trained anew, so that the scale of the images matters little.",
        explains=(FLOOR, STUCK),
    ),
)

"""A crash in sentences: which module got which input, where the input came from, and what torch's message leaves out."""

from itertools import pairwise
from typing import TypedDict


class Module(TypedDict):
    """The innermost module whose forward() failed."""

    name: str
    repr: str
    parameters: list[tuple[str, list[int]]]
    given: list[str]


class Scene(TypedDict, total=False):
    """What `bugzoo.watching.scene.scene` returns, and what `bugzoo.rerun.crashed` adds; tensors are described in words."""

    module: Module
    line: list[tuple[str, str]]
    called: tuple[str, list[tuple[str, str]]]
    carried: list[tuple[str, str]]
    trainable: tuple[int, int]
    way: list[tuple[str, str]]
    changed: list[tuple[int, str]]
    stepped: tuple[str, str]


def facts(scene: Scene, message: str, samples: int | None = None) -> list[str]:
    """Sentences about a scene, the most useful one first. `samples`: those of each earlier batch."""
    sentences: list[str] = []
    module, (function, arguments) = scene.get("module"), scene.get("called", ("", []))
    if module and module["given"]:
        kind = module["repr"]
        named = f"{_named(module['name'])} is {kind} and" if kind != module["name"] else kind
        sentences.append(f"{named} got {' and '.join(module['given'][:3])}")
        if way := _telling(scene.get("way", [])):
            sentences.append(
                "earlier in this forward pass, "
                + ", ".join(f"{_named(name)} returned {output}" for name, output in way)
            )
        now = _first(module["given"][0])
        if samples and now and now != samples and str(now) in message and str(samples) in message:
            sentences.append(
                f"earlier batches had {samples} samples, this one has {now}: the script assumes a fixed batch size"
            )
        if "float64" in " ".join(module["given"]) and "dtype" in message:
            sentences.append("NumPy creates float64 by default, and the parameters are float32")
    elif arguments and function not in ("_engine_run_backward", "check_same_device"):
        sentences.append(f"{function} got " + ", ".join(f"{name} {tensor}" for name, tensor in arguments[:3]))
        answers = dict(arguments).get("input", "")
        if "out of bounds" in message and (classes := _last(answers)):
            sentences.append(f"with {classes} outputs per row, labels must be 0 to {classes - 1}")
    if "device" in message and (line := scene.get("line")):
        sentences.append("on that line, " + ", ".join(f"{name} is {tensor}" for name, tensor in line))
    if carried := scene.get("carried"):
        names = ", ".join(f"{name}, {tensor}" for name, tensor in carried)
        sentences.append(f"the loop carries over from the step before, with its computation graph: {names}")
    for line, tensor in scene.get("changed", []):
        sentences.append(f"line {line} saves {tensor} for backward(), and that tensor was changed in place afterwards")
    if stepped := scene.get("stepped"):
        sentences.append(
            f"{stepped[0]}, {stepped[1]}, is a parameter, and optimizer.step() changed it between the forward pass and this "
            "backward(): call every backward() before the first step()"
        )
    if (trainable := scene.get("trainable")) and not trainable[0]:
        sentences.append(f"none of the model's {trainable[1]} parameters requires a gradient")
    elif trainable:
        sentences.append(
            f"{trainable[0]} of the model's {trainable[1]} parameters require a gradient, but the loss is cut off from them"
        )
    return sentences


def _named(name: str) -> str:
    """The name of a module; "module 3" for a part of a Sequential, whose name is a number."""
    return f"module {name}" if name.isdigit() else name


def _telling(way: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """The last module whose output shape differs from that of the module before it, and that module."""
    changes = [place for place, (output, later) in enumerate(pairwise(way), 1) if output[1] != later[1]]
    last = changes[-1] if changes else len(way) - 1
    return way[max(0, last - 1) : last + 1]


def _sizes(described: str) -> list[int]:
    inner = described[described.find("(") + 1 : described.find(")")]
    return [int(part) for part in inner.split(",") if part.strip().isdigit()]


def _first(described: str) -> int | None:
    return next(iter(_sizes(described)), None)


def _last(described: str) -> int | None:
    return next(reversed(_sizes(described)), None)

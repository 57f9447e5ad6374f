"""Which frozen parameters are frozen on purpose: created with requires_grad=False, or loaded from a pretrained model."""

import weakref
from typing import Any

from torch import nn


class FrozenOnPurpose:
    """Parameters registered with requires_grad=False (random features, fixed embeddings), and those of loaded modules."""

    def __init__(self) -> None:
        self._held: dict[int, weakref.ref] = {}

    def registered(self, module: nn.Module, name: str, parameter: Any) -> None:
        """Record a parameter. This is torch's registration hook, and returning None changes nothing."""
        if parameter is not None and not parameter.requires_grad:
            self._add(parameter)

    def loaded(self, module: nn.Module, seen: Any) -> None:
        """Record a `module.load_state_dict`. Parameters already `seen` in training only get their own best state back."""
        for parameter in module.parameters():
            if parameter not in seen:
                self._add(parameter)

    def _add(self, parameter: Any) -> None:
        key = id(parameter)
        self._held[key] = weakref.ref(parameter, lambda _: self._held.pop(key, None))

    def __contains__(self, parameter: Any) -> bool:
        held = self._held.get(id(parameter))
        return held is not None and held() is parameter

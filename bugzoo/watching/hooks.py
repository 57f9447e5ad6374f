"""Attach the watch to torch, and detach it."""

import functools
import sys
from threading import get_ident
from typing import Any

import torch
from torch.nn.modules.module import register_module_parameter_registration_hook
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from bugzoo.contracts.observe import Observer
from bugzoo.watching.byhand import loss_of, parameters_of
from bugzoo.watching.functional import outside, unwrapped, wrapped
from bugzoo.watching.recorder import Recorder
from bugzoo.watching.validation import LOSSES
from bugzoo.watching.warned import Warned

_Scaler = torch.amp.GradScaler
_OPTIMIZERS = register_optimizer_step_pre_hook.__code__.co_filename


class Hooks:
    """The global hooks of one watch. `install` and `remove` may be called in pairs any number of times."""

    def __init__(self, recorder: Recorder, contracts: bool = False) -> None:
        self.recorder, self.contracts = recorder, contracts
        self.observer: Observer | None = None
        self.warned: Warned | None = None
        self._handles: list[Any] = []
        self._patched: list[tuple[Any, str, Any, Any]] = []
        self._stepped = False
        self._stepping: Any = None  # the optimizer whose step() is running, or whose last one raised
        self._layered: set[type] = set()  # classes whose step() calls the parent's step(): torch's hooks run for both

    def install(self) -> None:
        recorder = self.recorder

        def pre(optimizer: Any, args: Any, kwargs: Any) -> None:
            if self._foreign() or (self._stepping is optimizer and self._nested(optimizer)):
                return
            self._stepping = optimizer
            try:
                recorder.before_step(optimizer, args, kwargs)
            except Exception as error:
                recorder.moment.note(error)

        def post(optimizer: Any, args: Any, kwargs: Any) -> None:
            if self._foreign() or (type(optimizer) in self._layered and self._nested(optimizer)):
                return
            self._stepped, self._stepping = True, None
            self._after_step(optimizer)

        self._handles = [register_optimizer_step_pre_hook(pre), register_optimizer_step_post_hook(post)]
        self._patch(torch.autograd, "backward", self._backward(torch.autograd.backward))
        self._patch(torch.autograd, "grad", self._grad(torch.autograd.grad))
        self._patch(_Scaler, "scale", self._scale(_Scaler.scale))
        self._patch(_Scaler, "step", self._scaler_step(_Scaler.step))
        self._patch(torch.nn.Module, "load_state_dict", self._load(torch.nn.Module.load_state_dict))
        for name in LOSSES:
            self._patch(torch.nn.functional, name, recorder.forwards.validation.listening(name))
        self._handles.append(register_module_parameter_registration_hook(recorder.frozen.registered))
        if self.contracts:
            moment = recorder.moment
            self.observer = Observer(recorder.trace.findings, lambda: moment.step, self._foreign, moment.note)
            self.observer.install(self._patch)
            self.warned = Warned(self._foreign)
            self.warned.install(self._patch)
        recorder.forwards.arm()
        recorder.forwards.sample()

    def _foreign(self) -> bool:
        """Return whether another thread is running: global hooks see all threads, and another notebook cell may train."""
        thread = self.recorder.moment.thread
        return thread is not None and thread != get_ident()

    def _nested(self, optimizer: Any) -> bool:
        """Return whether another step() of the same optimizer has called this one."""
        frame, calls = sys._getframe(2), 0
        while frame is not None and calls < 2:
            inside = frame.f_code.co_name == "wrapper" and frame.f_code.co_filename == _OPTIMIZERS
            calls += inside and frame.f_locals.get("self") is optimizer
            frame = frame.f_back
        if calls > 1:
            self._layered.add(type(optimizer))
        return calls > 1

    def _after_step(self, optimizer: Any) -> None:
        recorder, info = self.recorder, None
        try:
            info = recorder.after_step(optimizer)
        except Exception as error:
            recorder.moment.note(error)
        if recorder.on_step is not None and info is not None:
            recorder.on_step(info)

    def remove(self) -> None:
        for handle in self._handles:
            handle.remove()
        for place, name, original, new in reversed(self._patched):
            if getattr(place, name, None) is new:
                setattr(place, name, original)
            elif self.observer is not None:  # the script has put a function of its own there
                self.observer.replaced(place, name)
        self._handles, self._patched = [], []
        if self.observer is not None:
            self.observer.close()
            if self.observer.aside:
                self.recorder.trace.environment["stepped_aside"] = self.observer.aside
            self.observer = None
        if self.warned is not None:
            if self.warned.found:
                self.recorder.trace.environment["warned"] = self.warned.found
            self.warned = None
        self.recorder.forwards.disarm()

    def _patch(self, place: Any, name: str, new: Any) -> None:
        self._patched.append((place, name, getattr(place, name), new))
        setattr(place, name, new)

    def _backward(self, original: Any) -> Any:
        recorder = self.recorder

        def backward(tensors: Any, *args: Any, **kwargs: Any) -> None:
            if self._foreign():
                original(tensors, *args, **kwargs)
                return
            try:
                recorder.before_backward(tensors)
            except Exception as error:
                recorder.moment.note(error)
            if recorder.hand is not None:
                self._tell()
            original(tensors, *args, **kwargs)
            recorder.after_backward()

        return backward

    def _grad(self, original: Any) -> Any:
        recorder = self.recorder

        @functools.wraps(original)
        def grad(outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
            loss = loss_of(outputs)
            if loss is None or self._foreign():
                return original(outputs, inputs, *args, **kwargs)
            if isinstance(inputs, list | tuple) and inputs and wrapped(inputs[0]):
                return self._grad_of_func(original, loss, outputs, inputs, *args, **kwargs)
            if not isinstance(inputs, torch.Tensor | list | tuple):  # a generator; a GradientEdge is a tuple
                inputs = list(inputs)
            parameters, counted = parameters_of(inputs), False
            try:
                counted = parameters is not None and recorder.before_grad(loss, parameters)
            except Exception as error:
                recorder.moment.note(error)
            gradients = original(outputs, inputs, *args, **kwargs)
            if counted:
                self._tell()
                try:
                    recorder.after_grad(parameters or [], gradients)
                except Exception as error:
                    recorder.moment.note(error)
            return gradients

        return grad

    def _grad_of_func(self, original: Any, loss: Any, outputs: Any, inputs: Any, *args: Any, **kwargs: Any) -> Any:
        """Count what torch.func differentiates as a backward pass, if it is for parameters of the model."""
        recorder, parameters, counted = self.recorder, None, False
        try:
            with outside():
                parameters = recorder.behind(inputs)
                counted = parameters is not None and recorder.before_grad(loss, parameters)
        except Exception as error:
            recorder.moment.note(error)
        gradients = original(outputs, inputs, *args, **kwargs)
        if counted:
            try:
                with outside():
                    recorder.after_grad(parameters or [], [unwrapped(gradient) for gradient in gradients])
            except Exception as error:
                recorder.moment.note(error)
        self._tell()
        return gradients

    def _tell(self) -> None:
        """Report a step that the script made without an optimizer."""
        if self.recorder.hand is not None:
            self.recorder.hand.tell()

    def _load(self, original: Any) -> Any:
        recorder = self.recorder

        @functools.wraps(original)
        def load_state_dict(module: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(module, *args, **kwargs)
            if not self._foreign():
                recorder.frozen.loaded(module, recorder.parameters)
                if recorder.hand is not None:
                    recorder.hand.forget()
            return result

        return load_state_dict

    def _scale(self, original: Any) -> Any:
        recorder = self.recorder

        @functools.wraps(original)  # contracts bind its arguments by name
        def scale(scaler: Any, outputs: Any) -> Any:
            scaled = original(scaler, outputs)
            if scaler._enabled and isinstance(outputs, torch.Tensor) and not self._foreign():
                recorder.scaled, recorder.unscaled, recorder.scaler = scaled, outputs, scaler
            return scaled

        return scale

    def _scaler_step(self, original: Any) -> Any:
        recorder = self.recorder

        @functools.wraps(original)
        def step(scaler: Any, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
            if self._foreign():
                return original(scaler, optimizer, *args, **kwargs)
            self._stepped = False
            recorder.scaler = scaler
            result = original(scaler, optimizer, *args, **kwargs)
            if scaler._enabled and not self._stepped:
                try:
                    recorder.before_step(optimizer, (), {}, skipped=True)
                except Exception as error:
                    recorder.moment.note(error)
                self._after_step(optimizer)
            return result

        return step

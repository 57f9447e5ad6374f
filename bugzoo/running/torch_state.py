"""Restore a process's state after a script ran in it."""

import os
import random
import signal
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


@contextmanager
def preserved() -> Iterator[None]:
    """Restore generators, default dtype and device, threads, flags, environment and folder afterwards.

    A learner's next cell, or the healthy twin, must not depend on settings of the previous script.
    """
    python_state, numpy_state, torch_state = random.getstate(), np.random.get_state(), torch.get_rng_state()
    cuda_state = torch.cuda.get_rng_state_all() if torch.cuda.is_initialized() else None
    dtype, threads, device = torch.get_default_dtype(), torch.get_num_threads(), torch.get_default_device()
    grad, precision = torch.is_grad_enabled(), torch.get_float32_matmul_precision()
    anomaly, anomaly_nan = torch.is_anomaly_enabled(), torch.is_anomaly_check_nan_enabled()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    cudnn = torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic
    environment, folder = dict(os.environ), os.getcwd()
    interrupt = signal.getsignal(signal.SIGINT)
    path, filters, limit = list(sys.path), list(warnings.filters), sys.getrecursionlimit()
    try:
        yield
    finally:
        random.setstate(python_state)
        np.random.set_state(numpy_state)
        torch.set_rng_state(torch_state)
        if cuda_state is not None:
            torch.cuda.set_rng_state_all(cuda_state)
        torch.set_default_dtype(dtype)
        if torch.get_default_device() != device:
            torch.set_default_device(None if device.type == "cpu" else device)
        if torch.get_num_threads() != threads:
            torch.set_num_threads(threads)
        torch.set_grad_enabled(grad)
        torch.set_float32_matmul_precision(precision)
        torch.autograd.set_detect_anomaly(anomaly, anomaly_nan)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.backends.cudnn.benchmark, torch.backends.cudnn.deterministic = cudnn
        if dict(os.environ) != environment:
            os.environ.clear()
            os.environ.update(environment)
        os.chdir(folder)
        if threading.current_thread() is threading.main_thread() and interrupt is not None:
            signal.signal(signal.SIGINT, interrupt)
        sys.path[:] = path
        warnings.filters[:] = filters  # pyright: ignore[reportIndexIssue] (a list, whatever the stubs say)
        sys.setrecursionlimit(limit)

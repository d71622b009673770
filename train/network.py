"""The networks that our own algorithms train, and the masked distribution over actions.

A network is a multi-layer perceptron with rectified linear units, written with plain matrices, so that a checkpoint's
NumPy actor, an ONNX file and training agree on every layer by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, Final, TypeVar

import numpy as np
import torch
from torch import Tensor

from pigenv.errors import OptionError

__all__ = ["Mlp", "Workers", "chosen_device", "entropy_of", "masked_log_probabilities"]

T = TypeVar("T")

FORBIDDEN: Final = -1e9
"""The logit of an illegal action: its probability is zero in float32, and it is finite, so that 0 · log 0 is 0."""

LEAST_LOG: Final = -80.0
"""Where the logarithm of a probability counts as that of zero: below, torch's exponential takes far longer."""


class Mlp:
    """Layers from an input to several outputs.

    Args:
        inputs: Numbers that go in.
        hidden: Units of each hidden layer.
        outputs: Numbers that come out.
        generator: Where the first weights come from: orthogonal ones, as is usual for PPO (Andrychowicz et al., "What
            matters in on-policy reinforcement learning?", ICLR 2021).
        last_scale: The scale of the last layer's weights.
        device: Where the weights are kept.
        precision: Of the hidden layers' arithmetic: `float32`, or `bfloat16`, which processors that have it compute
            several times as fast; weights, gradients' sums and the last layer stay float32.

    Attributes:
        parameters: Weight `(outputs, inputs)` and bias of each layer in turn, float32.
    """

    def __init__(
        self,
        inputs: int,
        hidden: Sequence[int],
        outputs: int,
        generator: torch.Generator,
        last_scale: float = 0.01,
        device: torch.device | None = None,
        precision: str = "float32",
    ) -> None:
        self._kind: torch.dtype = getattr(torch, precision)
        sizes = [inputs, *hidden, outputs]
        self.parameters: list[Tensor] = []
        for place, (size, units) in enumerate(pairwise(sizes)):
            weight = torch.empty(units, size)
            scale = last_scale if place == len(sizes) - 2 else 2**0.5
            torch.nn.init.orthogonal_(weight, scale, generator=generator)
            for tensor in (weight, torch.zeros(units)):
                self.parameters.append(tensor.to(device).requires_grad_())

    def __call__(self, inputs: Tensor) -> Tensor:
        """Outputs for a batch, float32, `(n, outputs)`."""
        return forward(self.parameters, inputs, kind=self._kind)

    def tensors(self, names: Sequence[str]) -> dict[str, np.ndarray]:
        """Copies of the weights under the names of the layers, as a checkpoint has them."""
        arrays = [each.detach().cpu().numpy().copy() for each in self.parameters]
        return {
            f"{name}.{kind}": arrays[2 * place + offset]
            for place, name in enumerate(names)
            for offset, kind in enumerate(("weight", "bias"))
        }

    def load(self, tensors: dict[str, np.ndarray], names: Sequence[str]) -> None:
        """Take over weights that `tensors` gave."""
        with torch.no_grad():
            for place, name in enumerate(names):
                self.parameters[2 * place].copy_(torch.from_numpy(tensors[f"{name}.weight"]))
                self.parameters[2 * place + 1].copy_(torch.from_numpy(tensors[f"{name}.bias"]))


def forward(
    parameters: Sequence[Tensor],
    inputs: Tensor,
    activation: Callable[[Tensor], Tensor] = torch.relu,
    kind: torch.dtype = torch.float32,
) -> Tensor:
    """Outputs of the layers whose weights and biases are given in turn."""
    values = inputs.to(kind)
    for place in range(0, len(parameters) - 2, 2):
        weight, bias = parameters[place].to(kind), parameters[place + 1].to(kind)
        values = activation(torch.addmm(bias, values, weight.t()))
    return torch.addmm(parameters[-1], values.float(), parameters[-2].t())


def masked_log_probabilities(logits: Tensor, masks: Tensor) -> Tensor:
    """Logarithms of the probabilities of a policy that plays legal actions alone, `(n, num_actions)`.

    Args:
        logits: The network's, float32.
        masks: Whether each action is legal, bool.
    """
    return torch.log_softmax(torch.where(masks, logits, FORBIDDEN), dim=1)


def entropy_of(log_probabilities: Tensor) -> Tensor:
    """Entropy of each row in nats, over its legal actions alone: the others have probability 0 and add nothing."""
    logs = log_probabilities.clamp(min=LEAST_LOG)
    return -(logs.exp() * logs).sum(1)


def chosen_device(name: str) -> torch.device:
    """The device of a setting: `auto` is a GPU where there is one.

    Raises:
        OptionError: There is no such device here.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
        torch.zeros(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise OptionError(
            f"algo.device must be auto, cpu or a GPU of this machine; got {name!r}: {str(error).splitlines()[0]}"
        ) from None
    return device


class Workers:
    """Threads that each work through a share of a batch.

    Torch's own threads wait by spinning, which on a machine that is shared with others costs more than they bring;
    these sleep. Each works alone, so with one the results are the same bit for bit on every run.

    Args:
        count: How many.
    """

    def __init__(self, count: int) -> None:
        torch.set_num_threads(1)
        self.count = count
        self._pool = ThreadPoolExecutor(count, initializer=torch.set_num_threads, initargs=(1,)) if count > 1 else None

    def run(self, work: Callable[[slice], T], total: int) -> list[T]:
        """What `work` gives for each share of `range(total)`, in order."""
        shares = [slice(total * k // self.count, total * (k + 1) // self.count) for k in range(self.count)]
        if self._pool is None:
            return [work(share) for share in shares]
        rest: list[Any] = [self._pool.submit(work, share) for share in shares[1:]]
        return [work(shares[0]), *(each.result() for each in rest)]

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

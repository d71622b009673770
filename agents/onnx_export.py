"""A trained policy as an ONNX file, for runtimes without Python.

The graph takes `observation`, float32 `(n, layout.size)`, and gives `logits`, float32 `(n, num_actions)`. Whoever plays
with it chooses the greatest logit among the legal actions. What the policy was trained on stands in the metadata.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from pigenv.agents.checkpoint import PolicyAgent, write_whole
from pigenv.errors import MissingExtraError

__all__ = ["export_onnx"]

OPERATORS: Final = {"relu": "Relu", "tanh": "Tanh"}
OPSET: Final = 17


def export_onnx(agent: PolicyAgent, path: str | os.PathLike[str]) -> None:
    """Write a policy as ONNX.

    Args:
        agent: The policy, as `load_checkpoint` gives it.
        path: The file; it appears whole or not at all.

    Raises:
        MissingExtraError: The package onnx is not installed.
    """
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError as error:
        raise MissingExtraError("onnx", "onnx") from error
    nodes, weights, last = [], [], "observation"
    layers = agent.layers
    for place, (weight, bias) in enumerate(layers):
        names = [f"{kind}_{place}" for kind in ("weight", "bias")]
        for name, array in zip(names, (weight, bias), strict=True):
            weights.append(numpy_helper.from_array(np.ascontiguousarray(array, np.float32), name))
        final = place == len(layers) - 1
        out = "logits" if final else f"sum_{place}"
        nodes.append(helper.make_node("Gemm", [last, *names], [out]))
        if not final:
            nodes.append(helper.make_node(OPERATORS[agent.about["activation"]], [out], [f"hidden_{place}"]))
            last = f"hidden_{place}"
    sizes = {"observation": agent.game.layout.size, "logits": agent.game.num_actions}
    ends = {name: helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in sizes.items()}
    graph = helper.make_graph(nodes, agent.game.id, [ends["observation"]], [ends["logits"]], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="pigenv")
    model.ir_version = min(model.ir_version, 10)  # what runtimes of the last years read
    about: dict[str, Any] = {**agent.game.settings(), "game_digest": agent.game.digest, "about": agent.about}
    helper.set_model_props(model, {name: json.dumps(value) for name, value in about.items()})
    onnx.checker.check_model(model)
    data: bytes = cast(Any, model).SerializeToString()
    write_whole(Path(path), data)

# SPDX-License-Identifier: Apache-2.0
"""Compares tensors of quantized models with an independent golden model.

    qdq_golden_model.py REFERENCE_PY MODELS_JSON

REFERENCE_PY is the shared folder's integer reference. MODELS_JSON is a list of {"nodes", "constants",
"inputs", "outputs", "opset", "expected"}; tensors are {"type": ONNX type number, "shape", "hex"}.
Prints one line per tensor that differs and a summary; exit status 1 if any does.
"""
import importlib.util
import json
import sys
import types

import numpy as np

TYPES = {1: np.float32, 2: np.uint8, 3: np.int8, 6: np.int32, 7: np.int64}


def to_array(tensor):
    data = np.frombuffer(bytes.fromhex(tensor["hex"]), TYPES[tensor["type"]])
    return data.reshape(tensor["shape"]).copy()


class Named:
    """A protobuf message as far as the reference looks at it."""

    def __init__(self, **fields):
        self.__dict__.update(fields)


def make_node(op, inputs, outputs, attributes=None):
    values = [Named(name=k, value=v) for k, v in (attributes or {}).items()]
    return Named(op_type=op, input=list(inputs), output=list(outputs), attribute=values)


def load(model):
    graph = Named(
        node=[make_node(n["op"], n["in"], n["out"], n["attributes"]) for n in model["nodes"]],
        initializer=[Named(name=k, tensor=v) for k, v in model["constants"].items()],
        output=[Named(name=name) for name in model["outputs"]],
    )
    return Named(graph=graph, opset_import=[Named(domain="", version=model["opset"])])


def install_onnx():
    """A stand-in for the package onnx: models come as dictionaries."""
    onnx = types.ModuleType("onnx")
    onnx.load = load
    onnx.helper = types.ModuleType("onnx.helper")
    onnx.helper.get_attribute_value = lambda attribute: attribute.value
    onnx.helper.make_node = make_node
    onnx.numpy_helper = types.ModuleType("onnx.numpy_helper")
    onnx.numpy_helper.to_array = lambda named: to_array(named.tensor)
    for module in (onnx, onnx.helper, onnx.numpy_helper):
        sys.modules[module.__name__] = module


def main():
    install_onnx()
    spec = importlib.util.spec_from_file_location("integer_reference", sys.argv[1])
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    with open(sys.argv[2], encoding="utf-8") as file:
        models = json.load(file)
    compared = different = 0
    for model in models:
        feeds = {k: to_array(v) for k, v in model["inputs"].items()}
        golden = reference.Model(model, feeds, int8_allowed=True)
        for name, expected in model["expected"].items():
            ours, theirs = to_array(expected), golden.get(name)
            compared += 1
            if ours.dtype == theirs.dtype and ours.shape == theirs.shape and ours.tobytes() == theirs.tobytes():
                continue
            different += 1
            wrong = "type or shape"
            if ours.dtype == theirs.dtype and ours.shape == theirs.shape:
                wrong = f"{np.count_nonzero(ours != theirs)} of {ours.size}"
            node = golden.prod[golden.root(name)]
            print(f"seed {model['seed']}: {name} ({node.op_type} of {list(node.input)}): {wrong}")
    print(f"{len(models)} models, {compared} tensors compared, {different} differ")
    return 1 if different or not compared else 0


if __name__ == "__main__":
    sys.exit(main())

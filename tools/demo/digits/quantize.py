# SPDX-License-Identifier: Apache-2.0
"""Builds the two ONNX models of the demo from trained parameters: float32, and quantised (QDQ).

Quantisation: activations uint8 asymmetric (range over the calibration images, always holding 0;
zero point 0 behind a Relu), weights int8 symmetric (per output channel in Conv, per tensor in
Gemm), biases int32 with scale input scale * weight scale.  The input scale is 1/255, so the codes
of the input are the image bytes.  Every Q/DQ group is one that fuses into an integer operator.
"""
import numpy as np

import evaluate
import onnx_wire
from integer_ops import clamp_round_offset
from onnx_wire import Node

F = np.float32
FLOAT = np.dtype("<f4")
DOC = "Digits rendered from fonts: light ink on dark ground, 28x28, byte / 255. Logit k is the score of digit k."


def onnx_parameters(p):
    """The training layout (see cnn.py) in ONNX's: Conv weights OIHW, Gemm weights [10, CHW]."""

    def put(array):
        return np.ascontiguousarray(array, FLOAT)

    gemm = p["wg"].reshape(7, 7, 32, 10).transpose(3, 2, 0, 1).reshape(10, 1568)
    return {
        "conv1.weight": put(p["w1"].T.reshape(16, 1, 3, 3)),
        "conv1.bias": put(p["b1"]),
        "depthwise.weight": put(p["wd"].T.reshape(16, 1, 3, 3)),
        "depthwise.bias": put(p["bd"]),
        "pointwise.weight": put(p["wp"].T.reshape(32, 16, 1, 1)),
        "pointwise.bias": put(p["bp"]),
        "gemm.weight": put(gemm),
        "gemm.bias": put(p["bg"]),
    }


def _layers():
    """(name, operator, attributes, input, output) of the float graph, in order."""
    three = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "strides": [1, 1]}
    one = {"kernel_shape": [1, 1], "pads": [0, 0, 0, 0], "strides": [1, 1]}
    pool = {"kernel_shape": [2, 2], "strides": [2, 2]}
    return [
        ("conv1", "Conv", {"group": 1, **three}, "image", "conv1.out"),
        ("relu1", "Relu", {}, "conv1.out", "relu1.out"),
        ("pool1", "MaxPool", pool, "relu1.out", "pool1.out"),
        ("depthwise", "Conv", {"group": 16, **three}, "pool1.out", "depthwise.out"),
        ("pointwise", "Conv", {"group": 1, **one}, "depthwise.out", "pointwise.out"),
        ("relu2", "Relu", {}, "pointwise.out", "relu2.out"),
        ("pool2", "MaxPool", pool, "relu2.out", "pool2.out"),
        ("flatten", "Flatten", {"axis": 1}, "pool2.out", "flatten.out"),
        ("gemm", "Gemm", {"transB": 1}, "flatten.out", "logits"),
    ]


def _model(nodes, initializers, name):
    return onnx_wire.Model(
        ir_version=7,
        opset=13,
        nodes=nodes,
        initializers=initializers,
        inputs={"image": (FLOAT, (1, 1, 28, 28))},
        outputs={"logits": (FLOAT, (1, 10))},
        producer="heddle tools/demo/digits",
        graph_name=name,
        doc=DOC,
    )


def float_model(parameters):
    """The float32 Model of onnx_parameters()."""
    nodes = []
    for name, op, attrs, source, target in _layers():
        inputs = [source]
        if op in ("Conv", "Gemm"):
            inputs += [f"{name}.weight", f"{name}.bias"]
        nodes.append(Node(op, inputs, [target], name, attrs))
    return _model(nodes, dict(parameters), "digits_fp32")


def _activation_parameters(values):
    """(scale, zero point) of a uint8 tensor that spans values and 0."""
    low, high = min(0.0, float(values.min())), max(0.0, float(values.max()))
    scale = F(F(high - low) / F(255))
    zero = np.clip(np.rint(F(-low) / scale), 0, 255)
    return np.array(scale, FLOAT), np.array(zero, np.uint8)


def _symmetric(weight, per_channel):
    """(int8 codes, scale [channels] or scalar): the largest magnitude becomes 127."""
    flat = weight.reshape(len(weight), -1) if per_channel else weight.reshape(1, -1)
    scale = (np.abs(flat).max(1) / F(127)).astype(FLOAT)
    codes = clamp_round_offset(flat / scale[:, None], 0, np.int8)
    # -128 cannot occur: |w| / scale is at most 127 up to one rounding, far below 127.5
    return codes.reshape(weight.shape), scale if per_channel else scale.reshape(())


class _Builder:
    """Collects nodes and initialisers of the QDQ graph."""

    def __init__(self):
        self.nodes = []
        self.initializers = {}

    def constant(self, name, codes, scale, zero):
        """A quantised constant behind its DequantizeLinear; returns the float value's name."""
        self.initializers[f"{name}.codes"] = codes
        self.initializers[f"{name}.scale"] = scale
        self.initializers[f"{name}.zero"] = zero
        inputs = [f"{name}.codes", f"{name}.scale", f"{name}.zero"]
        attrs = {"axis": 0} if scale.shape else {}
        self.nodes.append(Node("DequantizeLinear", inputs, [name], f"{name}.dq", attrs))
        return name

    def pair(self, source, name, parameters, final=None):
        """QuantizeLinear and DequantizeLinear behind source; returns the float value's name.

        parameters: names of scale and zero point."""
        codes, target = f"{name}.q", final or f"{name}.dq"
        self.nodes.append(Node("QuantizeLinear", [source, *parameters], [codes], codes, {}))
        self.nodes.append(Node("DequantizeLinear", [codes, *parameters], [target], f"{name}.dq", {}))
        return target

    def parameters(self, name, scale, zero):
        names = f"{name}.scale", f"{name}.zero"
        self.initializers[names[0]] = scale
        self.initializers[names[1]] = zero
        return names


def quantized_model(parameters, calibration):
    """The QDQ Model.  calibration: float32 images [n, 1, 28, 28], training data."""
    seen = evaluate.run_float(float_model(parameters), calibration)
    build = _Builder()
    scale = np.array(F(1) / F(255), FLOAT)
    current = build.parameters("image", scale, np.array(0, np.uint8))
    build.pair("image", "image", current)
    layers = _layers()
    for index, (name, op, attrs, source, target) in enumerate(layers):
        after = layers[index + 1][1] if index + 1 < len(layers) else None
        if op == "Relu":
            value = f"{source}.float"
            build.nodes.append(Node(op, [value], [f"{target}.float"], name, attrs))
        else:
            inputs = [f"{source}.dq"]
            if op in ("Conv", "Gemm"):
                weight, bias = parameters[f"{name}.weight"], parameters[f"{name}.bias"]
                codes, weight_scale = _symmetric(weight, op == "Conv")
                bias_scale = np.asarray(build.initializers[current[0]] * weight_scale, FLOAT)
                bias_codes = np.rint(bias / bias_scale).astype("<i4")
                zero = np.zeros(weight_scale.shape, np.int8)
                inputs.append(build.constant(f"{name}.weight", codes, weight_scale, zero))
                zero = np.zeros(weight_scale.shape, "<i4")
                inputs.append(build.constant(f"{name}.bias", bias_codes, bias_scale, zero))
            build.nodes.append(Node(op, inputs, [f"{target}.float"], name, attrs))
        if after == "Relu":
            continue  # Relu and its producer share one quantisation
        if op in ("Conv", "Gemm", "Relu"):
            current = build.parameters(target, *_activation_parameters(seen[target]))
        final = target if target == "logits" else None
        build.pair(f"{target}.float", target, current, final)
    return _model(build.nodes, build.initializers, "digits_int8")

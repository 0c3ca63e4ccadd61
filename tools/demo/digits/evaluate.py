#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Evaluates the demo's digit models from their .onnx files, with numpy only.

    evaluate.py [--dir DIR]             accuracy of both models on the test images
    evaluate.py [--dir DIR] --check     also compare everything with EXPECTED.json; status 1 if
                                        anything differs

run_float: the ONNX meaning (Q and DQ included) with sums in float64, rounded to float32 after
each node.  run_integer: the meaning the product promises for quantised models: each group
DQ -> operator -> (Relu) -> Q becomes one integer operator; a group that would not fuse is an error.
Both take all images at once: every operator here treats images independently.  The class of an
image is its largest logit, the lowest digit among equal ones.
"""
import argparse
import collections
import hashlib
import json
import os
import sys

import numpy as np

import integer_ops
import onnx_wire

F = np.float32
EXPECTED = "EXPECTED.json"
FP32, INT8 = "digits_fp32.onnx", "digits_int8.onnx"
IMAGES, LABELS = "digits_test.u8", "digits_test.i32"
LOGITS = "digits_int8_logits.f32"
FILES = (FP32, INT8, IMAGES, LABELS, LOGITS)


class GraphError(ValueError):
    """The graph holds something that this evaluator does not give a meaning to."""


def _need(condition, node, what):
    if not condition:
        raise GraphError(f"node {node.name} ({node.op}): {what}")


def _attrs(node, **defaults):
    """Attributes over their defaults; one that the caller does not name is an error."""
    extra = set(node.attrs) - set(defaults)
    _need(not extra, node, f"attribute {sorted(extra)} is not covered")
    return {**defaults, **node.attrs}


def _windows(x, kernel, strides, fill, pads):
    """x [n, c, h, w] -> [n, c, oh, ow, kh, kw], a view over the padded x."""
    top, left, bottom, right = pads
    x = np.pad(x, ((0, 0), (0, 0), (top, bottom), (left, right)), constant_values=fill)
    view = np.lib.stride_tricks.sliding_window_view(x, kernel, (2, 3))
    return view[:, :, :: strides[0], :: strides[1]]


def _conv(node, x, w):
    """Sums of Conv without bias, in float64: exact for integers (below 2^53)."""
    a = _attrs(node, group=1, kernel_shape=None, pads=[0] * 4, strides=[1, 1])
    out, per_group, kh, kw = w.shape
    group = a["group"]
    _need(x.shape[1] == per_group * group and out % group == 0, node, "channels do not fit")
    _need(a["kernel_shape"] in (None, [kh, kw]), node, "kernel_shape is not the weights'")
    view = _windows(np.asarray(x, np.float64), (kh, kw), a["strides"], 0, a["pads"])
    n, _, oh, ow = view.shape[:4]
    view = view.transpose(1, 0, 2, 3, 4, 5).reshape(group, per_group, n * oh * ow, kh * kw)
    view = view.transpose(0, 2, 1, 3).reshape(group, n * oh * ow, -1)
    matrix = np.asarray(w, np.float64).reshape(group, out // group, -1).transpose(0, 2, 1)
    total = (view @ matrix).transpose(1, 0, 2).reshape(n, oh, ow, out)
    return total.transpose(0, 3, 1, 2)


def _gemm(node, x, w):
    """Sums of Gemm without C, in float64."""
    a = _attrs(node, transB=0)
    w = np.asarray(w, np.float64)
    return np.asarray(x, np.float64) @ (w.T if a["transB"] else w)


def _maxpool(node, x):
    a = _attrs(node, kernel_shape=None, strides=[1, 1])
    return _windows(x, a["kernel_shape"], a["strides"], 0, [0] * 4).max((4, 5))


def _flatten(node, x):
    _need(_attrs(node, axis=1)["axis"] == 1, node, "only axis 1 is covered")
    return x.reshape(len(x), -1)


def _channel(vector, rank):
    """A per-channel vector (axis 0 of weights and biases) or a scalar, against rank axes."""
    vector = np.asarray(vector)
    return vector.reshape(-1, *[1] * (rank - 1)) if vector.ndim else vector


def _start(model, images):
    """Environment with inputs and constants; the fixed batch of 1 becomes len(images)."""
    (name, (_, shape)), *more = model.inputs.items()
    if more or tuple(images.shape[1:]) != shape[1:]:
        raise GraphError(f"images {images.shape[1:]} do not fit input {name} {shape}")
    return {**model.initializers, name: images.astype(F)}


def run_float(model, images):
    """images float32 [n, 1, 28, 28] -> {value name: array} of every value in the graph."""
    env = _start(model, images)
    for node in model.nodes:
        x, *rest = (env[name] for name in node.inputs)
        if node.op in ("Conv", "Gemm"):
            total = (_conv if node.op == "Conv" else _gemm)(node, x, rest[0])
            y = total + np.asarray(rest[1], np.float64).reshape(-1, *[1] * (total.ndim - 2))
        elif node.op == "Relu":
            y = np.maximum(x, 0)
        elif node.op == "MaxPool":
            y = _maxpool(node, x)
        elif node.op == "Flatten":
            y = _flatten(node, x)
        elif node.op == "QuantizeLinear":
            y = integer_ops.quantize(x, *rest)
        elif node.op == "DequantizeLinear":
            _need(_attrs(node, axis=1)["axis"] == 0 or not rest[0].ndim, node, "axis")
            y = integer_ops.dequantize(x, *(_channel(v, x.ndim) for v in rest))
        else:
            raise GraphError(f"node {node.name}: operator {node.op} is not covered")
        env[node.outputs[0]] = y if y.dtype.itemsize == 1 else y.astype(F)
    return env


# A value between DQ and Q in run_integer: codes that a DQ would make float (Codes), or the sums
# of an operator that waits for its Q (Sums; relu: a Relu has been seen).
Codes = collections.namedtuple("Codes", "codes scale zero")
Sums = collections.namedtuple("Sums", "acc in_scale weight_scale relu channels_last")


def _integer_sums(node, x, weight, bias):
    """Conv or Gemm on Codes: int32 accumulators with the channel as last axis."""
    _need(all(isinstance(v, Codes) for v in (x, weight, bias)), node, "needs DQ on all inputs")
    _need(bias.codes.dtype == np.int32 and not bias.zero.any(), node, "bias must be int32, zero 0")
    product = np.asarray(x.scale * weight.scale, F)
    _need(np.array_equal(bias.scale, product), node, "bias scale is not xs * ws")
    _need(x.codes.dtype == np.uint8 and weight.codes.dtype == np.int8, node, "needs u8 x s8")
    xs = x.codes.astype(np.int32) - int(x.zero)  # padding is 0 from here on, as it must be
    ws = weight.codes.astype(np.int32) - _channel(weight.zero, weight.codes.ndim)
    total = (_conv if node.op == "Conv" else _gemm)(node, xs, ws)
    total = np.moveaxis(total, 1, -1) + bias.codes
    return Sums(integer_ops.wrap32(total), x.scale, weight.scale, False, node.op == "Conv")


def _integer_quantize(node, x, scale, zero):
    if isinstance(x, Sums):
        _need(not x.relu or zero == np.iinfo(zero.dtype).min, node, "Relu needs the lowest zero")
        codes = integer_ops.requantize(x.acc, x.in_scale, x.weight_scale, scale, zero)
        return np.moveaxis(codes, -1, 1) if x.channels_last else codes
    if isinstance(x, Codes):
        same = x.codes.dtype == zero.dtype and x.scale == scale and x.zero == zero
        _need(same, node, "quantisation changes where codes should pass unchanged")
        return x.codes
    return integer_ops.quantize(x, scale, zero)


def run_integer(model, images):
    """images float32 [n, 1, 28, 28] -> {value name: array}: all codes, and the float outputs.

    Raises GraphError where a group of nodes does not fuse into an integer operator."""
    env = _start(model, images)
    uses = collections.Counter(name for node in model.nodes for name in node.inputs)
    for node in model.nodes:
        x, *rest = (env[name] for name in node.inputs)
        if node.op == "DequantizeLinear":
            _need(_attrs(node, axis=1)["axis"] == 0 or not rest[0].ndim, node, "axis")
            y = Codes(x, *rest)
        elif node.op == "QuantizeLinear":
            y = _integer_quantize(node, x, *rest)
        elif node.op in ("Conv", "Gemm"):
            y = _integer_sums(node, x, *rest)
        elif node.op == "Relu":
            _need(isinstance(x, Sums), node, "must follow Conv or Gemm")
            y = x._replace(relu=True)
        elif node.op in ("MaxPool", "Flatten"):
            _need(isinstance(x, Codes), node, "needs a DQ in front")
            move = _maxpool if node.op == "MaxPool" else _flatten
            y = x._replace(codes=move(node, x.codes))
        else:
            raise GraphError(f"node {node.name}: operator {node.op} is not covered")
        target = node.outputs[0]
        if isinstance(y, (Codes, Sums)) and target not in model.outputs:
            _need(uses[target] == 1, node, "its output must have exactly one consumer")
        env[target] = y
    for name in model.outputs:
        if not isinstance(env[name], Codes):
            raise GraphError(f"output {name} does not come from a DequantizeLinear")
        env[name] = integer_ops.dequantize(*env[name])
    return {name: v for name, v in env.items() if isinstance(v, np.ndarray)}


def load_test_set(folder):
    """(images float32 [n, 1, 28, 28] in 0..1, labels [n]) from the raw files."""
    images = np.fromfile(os.path.join(folder, IMAGES), np.uint8).reshape(-1, 1, 28, 28)
    labels = np.fromfile(os.path.join(folder, LABELS), "<i4")
    if len(labels) != len(images):
        raise ValueError(f"{len(images)} images but {len(labels)} labels")
    return images.astype(F) / F(255), labels


def _score(classes, labels):
    correct = int((classes == labels).sum())
    return {"correct": correct, "accuracy": correct / len(labels)}


def measure(folder):
    """Returns (what EXPECTED.json states about images and accuracy, int8 logits [n, 10])."""
    images, labels = load_test_set(folder)
    fp32 = onnx_wire.load(os.path.join(folder, FP32))
    int8 = onnx_wire.load(os.path.join(folder, INT8))
    exact = run_float(fp32, images)["logits"].argmax(1)
    logits = run_integer(int8, images)["logits"]
    result = {
        "images": len(labels),
        "fp32": _score(exact, labels),
        "int8": _score(logits.argmax(1), labels),
    }
    result["int8"]["same_class_as_fp32"] = int((logits.argmax(1) == exact).sum())
    return result, logits.astype("<f4")


def digests(folder):
    """{file: SHA-256} of the shipped files."""
    out = {}
    for name in FILES:
        with open(os.path.join(folder, name), "rb") as file:
            out[name] = hashlib.sha256(file.read()).hexdigest()
    return out


def check(folder):
    """Returns a list of sentences, one per difference from EXPECTED.json."""
    with open(os.path.join(folder, EXPECTED), encoding="utf-8") as file:
        expected = json.load(file)
    wrong = []
    for name, digest in digests(folder).items():
        if expected["sha256"].get(name) != digest:
            wrong.append(f"{name}: SHA-256 is {digest}, not {expected['sha256'].get(name)}")
    found, logits = measure(folder)
    for key, value in found.items():
        if expected.get(key) != value:
            wrong.append(f"{key}: measured {value}, expected {expected.get(key)}")
    if logits.tobytes() != np.fromfile(os.path.join(folder, LOGITS), np.uint8).tobytes():
        wrong.append(f"{LOGITS}: differs from the integer evaluation of {INT8}")
    return wrong


def main():
    parser = argparse.ArgumentParser(description="accuracy of the demo's digit models")
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--dir", default=here, help="folder with the models and test files")
    parser.add_argument("--check", action="store_true", help="compare with EXPECTED.json")
    args = parser.parse_args()
    result, _ = measure(args.dir)
    for name in ("fp32", "int8"):
        score = result[name]
        print(f"{name}: {score['correct']} of {result['images']} ({score['accuracy']:.2%})")
    if not args.check:
        return 0
    wrong = check(args.dir)
    for sentence in wrong:
        print(f"evaluate.py: {sentence}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

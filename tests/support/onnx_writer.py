# SPDX-License-Identifier: Apache-2.0
"""Writes ONNX models field by field, for tests of the tools that need one which no library would write.

The field numbers are those of onnx.proto; a message is its fields, joined.
"""

import os
import struct

FLOAT = 1


def varint(value):
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def number(field, value):
    return varint(field << 3) + varint(value)


def text(field, data):
    """A field of bytes: a text, or a message."""
    data = data.encode() if isinstance(data, str) else data
    return varint(field << 3 | 2) + varint(len(data)) + data


def value(name, kind, dims):
    """ValueInfoProto of a tensor; a dimension is a number or a name."""
    shape = b"".join(text(1, text(2, dim) if isinstance(dim, str) else number(1, dim)) for dim in dims)
    return text(1, name) + text(2, text(1, number(1, kind) + text(2, shape)))


def tensor(kind, dims, raw, name=None):
    """TensorProto with its values in `raw`."""
    head = b"".join(number(1, dim) for dim in dims) + number(2, kind)
    return head + (text(8, name) if name else b"") + text(9, raw)


def write_model(path, graph):
    """Writes a GraphProto as a model of opset 13."""
    with open(path, "wb") as file:
        file.write(number(1, 8) + text(7, graph) + text(8, number(2, 13)))


def write_apart(folder):
    """m.onnx, x + w of two floats each, whose w is in the file w.bin beside it, behind another float."""
    os.makedirs(folder, exist_ok=True)
    where = (("location", "w.bin"), ("offset", "4"), ("length", "8"))
    weight = number(1, 2) + number(2, FLOAT) + text(8, "w") + number(14, 1)
    weight += b"".join(text(13, text(1, key) + text(2, said)) for key, said in where)
    node = text(1, "x") + text(1, "w") + text(2, "y") + text(4, "Add")
    graph = text(1, node) + text(2, "g") + text(5, weight)
    write_model(
        os.path.join(folder, "m.onnx"), graph + text(11, value("x", FLOAT, [2])) + text(12, value("y", FLOAT, [2]))
    )
    with open(os.path.join(folder, "w.bin"), "wb") as file:
        file.write(struct.pack("<3f", 9, 1, 2))

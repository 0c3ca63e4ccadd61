# SPDX-License-Identifier: Apache-2.0
"""Reads and writes the part of ONNX that the digit models use, without the onnx package.

A protobuf message is a sequence of (key, value), key = field number * 8 + wire type:
  0 varint, 1 eight bytes, 2 length + bytes, 5 four bytes (numbers little-endian).
The field numbers below are those of onnx.proto (ONNX 1.8, IR version 7).

Covered: one graph without subgraphs, tensors with raw_data, attributes of type INT, INTS and
FLOAT.  The reader raises WireError for truncated bytes and for anything outside that part,
so a model that loads has been understood completely.
"""
import collections
import struct

import numpy as np

# onnx.TensorProto.DataType <-> numpy
DTYPES = {
    1: np.dtype("<f4"),
    2: np.dtype("u1"),
    3: np.dtype("i1"),
    6: np.dtype("<i4"),
    7: np.dtype("<i8"),
}
TYPE_OF = {dtype: number for number, dtype in DTYPES.items()}
ATTR_FLOAT, ATTR_INT, ATTR_INTS = 1, 2, 7

# inputs and outputs of a Model: {name: (numpy dtype, shape tuple)}
Node = collections.namedtuple("Node", "op inputs outputs name attrs")
Model = collections.namedtuple("Model", "ir_version opset nodes initializers inputs outputs producer graph_name doc")


class WireError(ValueError):
    """The bytes are no protobuf message, or use a part of ONNX that is not covered."""


# ---------------------------------------------------------------------------- writing


def _varint(value):
    value &= (1 << 64) - 1  # negative int64: ten bytes
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _int(field, value):
    return _varint(field << 3) + _varint(value)


def _bytes(field, value):
    if isinstance(value, str):
        value = value.encode()
    return _varint(field << 3 | 2) + _varint(len(value)) + value


def _float(field, value):
    return _varint(field << 3 | 5) + struct.pack("<f", value)


def _write_tensor(name, array):
    out = b"".join(_int(1, dim) for dim in array.shape)
    out += _int(2, TYPE_OF[array.dtype])
    return out + _bytes(8, name) + _bytes(9, array.tobytes())


def _write_attribute(name, value):
    out = _bytes(1, name)
    if isinstance(value, float):
        return out + _float(2, value) + _int(20, ATTR_FLOAT)
    if isinstance(value, int):
        return out + _int(3, value) + _int(20, ATTR_INT)
    return out + b"".join(_int(8, v) for v in value) + _int(20, ATTR_INTS)


def _write_node(node):
    out = b"".join(_bytes(1, name) for name in node.inputs)
    out += b"".join(_bytes(2, name) for name in node.outputs)
    out += _bytes(3, node.name) + _bytes(4, node.op)
    for name, value in sorted(node.attrs.items()):
        out += _bytes(5, _write_attribute(name, value))
    return out


def _write_value_info(name, dtype, shape):
    dims = b"".join(_bytes(1, _int(1, dim)) for dim in shape)
    tensor_type = _int(1, TYPE_OF[dtype]) + _bytes(2, dims)
    return _bytes(1, name) + _bytes(2, _bytes(1, tensor_type))


def dump(model):
    """Returns the ModelProto bytes of a Model.  The same Model always gives the same bytes."""
    graph = b"".join(_bytes(1, _write_node(node)) for node in model.nodes)
    graph += _bytes(2, model.graph_name)
    for name, array in model.initializers.items():
        graph += _bytes(5, _write_tensor(name, array))
    graph += _bytes(10, model.doc)
    for field, values in ((11, model.inputs), (12, model.outputs)):
        for name, (dtype, shape) in values.items():
            graph += _bytes(field, _write_value_info(name, dtype, shape))
    out = _int(1, model.ir_version) + _bytes(2, model.producer)
    out += _bytes(7, graph)
    return out + _bytes(8, _bytes(1, "") + _int(2, model.opset))


# ---------------------------------------------------------------------------- reading


def _read_varint(data, at):
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("truncated or overlong varint")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            return value, at


def _fields(data):
    """{field number: [values]} of one message; varints as unsigned int, the rest as bytes."""
    fields = collections.defaultdict(list)
    at = 0
    while at < len(data):
        key, at = _read_varint(data, at)
        kind = key & 7
        if kind == 0:
            value, at = _read_varint(data, at)
        else:
            if kind == 2:
                size, at = _read_varint(data, at)
            elif kind in (1, 5):
                size = 8 if kind == 1 else 4
            else:
                raise WireError(f"wire type {kind} is not covered")
            value = bytes(data[at : at + size])
            if len(value) != size:
                raise WireError("truncated field")
            at += size
        fields[key >> 3].append(value)
    return fields


def _signed(value):
    return value - (1 << 64) if value >> 63 else value


def _ints(values):
    """Repeated int64, packed or not."""
    out = []
    for value in values:
        if isinstance(value, int):
            out.append(_signed(value))
            continue
        at = 0
        while at < len(value):
            one, at = _read_varint(value, at)
            out.append(_signed(one))
    return out


def _one(fields, number, default=None):
    return fields[number][-1] if number in fields else default


def _text(fields, number):
    return _one(fields, number, b"").decode()


def _only(fields, allowed, what):
    extra = sorted(set(fields) - set(allowed))
    if extra:
        raise WireError(f"{what}: field {extra[0]} is not covered")


def _read_tensor(data):
    fields = _fields(data)
    name = _text(fields, 8)
    _only(fields, (1, 2, 8, 9), f"tensor {name}")
    kind = _one(fields, 2)
    if kind not in DTYPES:
        raise WireError(f"tensor {name}: data type {kind} is not covered")
    shape = _ints(fields[1])
    raw = _one(fields, 9, b"")
    count = 1
    for dim in shape:
        if dim < 0:
            raise WireError(f"tensor {name}: negative dimension {dim}")
        count *= dim
    if len(raw) != count * DTYPES[kind].itemsize:
        raise WireError(f"tensor {name}: {len(raw)} bytes do not fit shape {shape}")
    return name, np.frombuffer(raw, DTYPES[kind]).reshape(shape)


def _read_attribute(data):
    fields = _fields(data)
    name, kind = _text(fields, 1), _one(fields, 20)
    if kind == ATTR_FLOAT:
        return name, struct.unpack("<f", _one(fields, 2, b"\0\0\0\0"))[0]
    if kind == ATTR_INT:
        return name, _signed(_one(fields, 3, 0))
    if kind == ATTR_INTS:
        return name, _ints(fields[8])
    raise WireError(f"attribute {name}: type {kind} is not covered")


def _read_node(data):
    fields = _fields(data)
    _only(fields, (1, 2, 3, 4, 5, 6), "node")
    return Node(
        _text(fields, 4),
        [name.decode() for name in fields[1]],
        [name.decode() for name in fields[2]],
        _text(fields, 3),
        dict(_read_attribute(a) for a in fields[5]),
    )


def _read_value_info(data):
    fields = _fields(data)
    tensor_type = _fields(_one(_fields(_one(fields, 2, b"")), 1, b""))
    kind = _one(tensor_type, 1)
    if kind not in DTYPES:
        raise WireError(f"value {_text(fields, 1)}: element type {kind} is not covered")
    dims = _fields(_one(tensor_type, 2, b""))[1]
    shape = tuple(_one(_fields(dim), 1) for dim in dims)
    if None in shape:
        raise WireError(f"value {_text(fields, 1)}: symbolic dimensions are not covered")
    return _text(fields, 1), (DTYPES[kind], shape)


def parse(data):
    """Returns the Model held by ModelProto bytes; raises WireError."""
    try:
        return _parse(data)
    except WireError:
        raise
    except (AttributeError, TypeError, ValueError) as error:
        # a field of another wire type than onnx.proto says, or text that is no UTF-8
        raise WireError(f"malformed model: {error}") from error


def _parse(data):
    fields = _fields(data)
    _only(fields, (1, 2, 3, 7, 8), "model")
    opsets = [_fields(entry) for entry in fields[8]]
    if len(opsets) != 1 or _text(opsets[0], 1):
        raise WireError("exactly one operator set, the default one, is covered")
    graph = _fields(_one(fields, 7, b""))
    _only(graph, (1, 2, 5, 10, 11, 12, 13), "graph")
    return Model(
        _one(fields, 1),
        _one(opsets[0], 2),
        [_read_node(node) for node in graph[1]],
        dict(_read_tensor(tensor) for tensor in graph[5]),
        dict(_read_value_info(value) for value in graph[11]),
        dict(_read_value_info(value) for value in graph[12]),
        _text(fields, 2),
        _text(graph, 2),
        _text(graph, 10),
    )


def load(path):
    """Reads a model file; raises OSError or WireError."""
    with open(path, "rb") as file:
        return parse(file.read())

# SPDX-License-Identifier: Apache-2.0
"""The ONNX reader and writer agree with each other and refuse damaged bytes with WireError."""
import os
import unittest

import numpy as np

import onnx_wire

HERE = os.path.dirname(os.path.abspath(__file__))


def _read(name):
    with open(os.path.join(HERE, name), "rb") as file:
        return file.read()


def _small():
    float32 = np.dtype("<f4")
    attrs = {"pads": [0, -1, 300, 1 << 40], "axis": -1, "alpha": 0.5}
    return onnx_wire.Model(
        ir_version=7,
        opset=13,
        nodes=[onnx_wire.Node("Conv", ["a", "w"], ["b"], "first", attrs)],
        initializers={
            "w": np.arange(6, dtype=float32).reshape(1, 2, 3),
            "scalar": np.array(-5, "<i4"),
            "shape": np.array([1, -1], "<i8"),
            "codes": np.array([[-128, 127]], "i1"),
        },
        inputs={"a": (float32, (1, 2))},
        outputs={"b": (np.dtype("u1"), (3,))},
        producer="test",
        graph_name="graph",
        doc="",
    )


class Wire(unittest.TestCase):
    def test_known_bytes(self):
        # written out by hand from the protobuf encoding rules
        empty = onnx_wire.Model(7, 13, [], {}, {}, {}, "p", "g", "")
        want = b"\x08\x07" b"\x12\x01p" b"\x3a\x05\x12\x01g\x52\x00" b"\x42\x04\x0a\x00\x10\x0d"
        self.assertEqual(onnx_wire.dump(empty), want)

    def test_round_trip(self):
        model = _small()
        back = onnx_wire.parse(onnx_wire.dump(model))
        self.assertEqual(back._replace(initializers=0), model._replace(initializers=0))
        self.assertEqual(list(back.initializers), list(model.initializers))
        for name, array in model.initializers.items():
            self.assertEqual(back.initializers[name].dtype, array.dtype)
            np.testing.assert_array_equal(back.initializers[name], array)

    def test_shipped_models_round_trip(self):
        for name in ("digits_fp32.onnx", "digits_int8.onnx"):
            data = _read(name)
            self.assertEqual(onnx_wire.dump(onnx_wire.parse(data)), data)

    def test_truncated(self):
        data = onnx_wire.dump(_small())
        whole = {len(data)}
        for size in range(1, len(data)):
            try:
                onnx_wire.parse(data[:size])
            except onnx_wire.WireError:
                continue
            whole.add(size)
        # nothing but the complete message ends with an operator set behind the graph
        self.assertEqual(whole, {len(data)})

    def test_damaged(self):
        data = onnx_wire.dump(_small())
        rng = np.random.default_rng(1)
        refused = 0
        for _ in range(3000):
            broken = bytearray(data)
            broken[rng.integers(len(data))] = rng.integers(256)
            try:
                onnx_wire.parse(bytes(broken))
            except onnx_wire.WireError:
                refused += 1
        self.assertGreater(refused, 500)


if __name__ == "__main__":
    unittest.main()

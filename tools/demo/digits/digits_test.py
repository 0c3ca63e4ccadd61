# SPDX-License-Identifier: Apache-2.0
"""The checked-in digit models, images and expectations belong together, and the checks can fail."""
import collections
import json
import os
import shutil
import tempfile
import unittest

import numpy as np

import evaluate
import onnx_wire

HERE = os.path.dirname(os.path.abspath(__file__))


def _load(name):
    return onnx_wire.load(os.path.join(HERE, name))


class Shipped(unittest.TestCase):
    def test_everything_is_as_expected(self):
        self.assertEqual(evaluate.check(HERE), [])

    def test_promised_accuracy(self):
        measured, _ = evaluate.measure(HERE)
        self.assertEqual(measured["images"], 200)
        for name in ("fp32", "int8"):
            self.assertGreaterEqual(measured[name]["accuracy"], 0.98, name)

    def test_interface_of_the_models(self):
        float32 = np.dtype("<f4")
        operators = {"Conv", "Relu", "MaxPool", "Flatten", "Gemm"}
        pairs = {"QuantizeLinear", "DequantizeLinear"}
        for name, allowed in ((evaluate.FP32, operators), (evaluate.INT8, operators | pairs)):
            model = _load(name)
            self.assertEqual((model.ir_version, model.opset), (7, 13))
            self.assertEqual(model.inputs, {"image": (float32, (1, 1, 28, 28))})
            self.assertEqual(model.outputs, {"logits": (float32, (1, 10))})
            self.assertEqual({node.op for node in model.nodes}, allowed)

    def test_images(self):
        images, labels = evaluate.load_test_set(HERE)
        self.assertEqual(images.shape, (200, 1, 28, 28))
        self.assertEqual(collections.Counter(labels.tolist()), {digit: 20 for digit in range(10)})
        self.assertEqual(len({image.tobytes() for image in images}), 200)

    def test_size(self):
        total = sum(os.path.getsize(os.path.join(HERE, name)) for name in evaluate.FILES)
        self.assertLess(total, 1_000_000)

    def test_int8_stays_close_to_fp32(self):
        images, _ = evaluate.load_test_set(HERE)
        exact = evaluate.run_float(_load(evaluate.FP32), images)["logits"]
        model = _load(evaluate.INT8)
        integer = evaluate.run_integer(model, images)["logits"]
        step = float(model.initializers["logits.scale"])
        self.assertLess(np.abs(exact - integer).max(), 4 * step)


class ChecksCanFail(unittest.TestCase):
    """Each kind of damage is found by the check that is meant for it."""

    def setUp(self):
        self.folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        self.addCleanup(shutil.rmtree, self.folder)
        for name in (*evaluate.FILES, evaluate.EXPECTED):
            shutil.copyfile(os.path.join(HERE, name), os.path.join(self.folder, name))

    def _rewrite(self, name, change):
        """Replaces a file's bytes and its checksum, so that only the other checks are left."""
        path = os.path.join(self.folder, name)
        with open(path, "rb") as file:
            data = file.read()
        with open(path, "wb") as file:
            file.write(change(data))
        path = os.path.join(self.folder, evaluate.EXPECTED)
        with open(path, encoding="utf-8") as file:
            expected = json.load(file)
        expected["sha256"] = evaluate.digests(self.folder)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(expected, file)

    def test_checksum(self):
        # the same graph with another producer: no result changes, only the bytes do
        path = os.path.join(self.folder, evaluate.FP32)
        model = onnx_wire.load(path)
        with open(path, "wb") as file:
            file.write(onnx_wire.dump(model._replace(producer="somebody")))
        wrong = evaluate.check(self.folder)
        self.assertEqual(len(wrong), 1, wrong)
        self.assertIn("SHA-256", wrong[0])

    def test_wrong_label(self):
        self._rewrite(evaluate.LABELS, lambda d: bytes([(d[0] + 1) % 10]) + d[1:])
        wrong = evaluate.check(self.folder)
        self.assertTrue(any(sentence.startswith("fp32:") for sentence in wrong), wrong)
        self.assertTrue(any(sentence.startswith("int8:") for sentence in wrong), wrong)

    def test_one_bias_off(self):
        def change(data):
            model = onnx_wire.parse(data)
            bias = model.initializers["gemm.bias.codes"].copy()
            step = model.initializers["logits.scale"] / model.initializers["gemm.bias.scale"]
            bias[3] += int(np.rint(step))  # one output code
            return onnx_wire.dump(model._replace(initializers={**model.initializers, "gemm.bias.codes": bias}))

        self._rewrite(evaluate.INT8, change)
        wrong = evaluate.check(self.folder)
        self.assertTrue(any(sentence.startswith(evaluate.LOGITS) for sentence in wrong), wrong)

    def test_groups_that_do_not_fuse(self):
        images, _ = evaluate.load_test_set(HERE)
        model = _load(evaluate.INT8)
        scale = model.initializers["conv1.bias.scale"]
        for name, value in (
            ("relu1.out.zero", np.array(1, np.uint8)),
            ("conv1.bias.scale", scale * np.float32(2)),
        ):
            broken = model._replace(initializers={**model.initializers, name: value})
            with self.assertRaises(evaluate.GraphError, msg=name):
                evaluate.run_integer(broken, images[:1])
        # a Gemm without its Q leaves sums as the graph's output
        nodes = [n for n in model.nodes if n.name not in ("logits.q", "logits.dq")]
        nodes[-1] = nodes[-1]._replace(outputs=["logits"])
        with self.assertRaises(evaluate.GraphError):
            evaluate.run_integer(model._replace(nodes=nodes), images[:1])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The network's gradients are its derivatives, and the ONNX models compute what it computes."""
import unittest
from unittest import mock

import numpy as np

import cnn
import evaluate
import onnx_wire
import quantize


def _parameters(rng):
    p = cnn.initial(rng)
    for key in ("b1", "bd", "bp", "bg"):
        p[key] = (rng.random(p[key].shape) - 0.5).astype(p[key].dtype)
    return p


class Cnn(unittest.TestCase):
    def test_gradients(self):
        rng = np.random.default_rng(3)
        with mock.patch.object(cnn, "F", np.float64):
            p = _parameters(rng)
            images, weight = rng.random((3, 28, 28)), rng.random((3, 10))
            gradient = cnn.backward(p, cnn.forward(p, images)[1], weight)
            for key, value in p.items():
                direction = rng.random(value.shape) - 0.5
                losses = []
                for step in (1e-6, -1e-6):
                    moved = {**p, key: value + step * direction}
                    losses.append(float((cnn.forward(moved, images)[0] * weight).sum()))
                slope = (losses[0] - losses[1]) / 2e-6
                want = float((gradient[key] * direction).sum())
                self.assertAlmostEqual(slope, want, delta=1e-5 * max(1, abs(want)), msg=key)

    def test_training_learns(self):
        rng = np.random.default_rng(4)
        labels = np.arange(160) % 10
        images = np.zeros((160, 28, 28), np.uint8)
        for image, label in zip(images, labels):  # the digit is the place of a bar
            row = 2 * label + 3 + rng.integers(2)
            image[row : row + 2, 4:24] = 200
        losses = []
        p = cnn.train(rng, images, labels, 12, 16, 4e-3, lambda _e, _p, loss: losses.append(loss))
        self.assertLess(losses[-1], 0.3 * losses[0])
        self.assertGreater((cnn.predict(p, images) == labels).mean(), 0.9)

    def test_onnx_models_compute_the_network(self):
        rng = np.random.default_rng(5)
        p = _parameters(rng)
        images = rng.random((20, 28, 28)).astype(np.float32)
        want = cnn.forward(p, images)[0]
        parameters = quantize.onnx_parameters(p)
        model = onnx_wire.parse(onnx_wire.dump(quantize.float_model(parameters)))
        got = evaluate.run_float(model, images[:, None])["logits"]
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)

        model = quantize.quantized_model(parameters, images[:, None])
        model = onnx_wire.parse(onnx_wire.dump(model))
        span = float(want.max() - want.min())
        integer = evaluate.run_integer(model, images[:, None])["logits"]
        plain = evaluate.run_float(model, images[:, None])["logits"]
        self.assertLess(np.abs(integer - want).max(), 0.05 * span)
        # the specification's roundings may move a code here and there, no more
        self.assertLess(np.abs(integer - plain).max(), 0.02 * span)


if __name__ == "__main__":
    unittest.main()

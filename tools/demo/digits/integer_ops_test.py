# SPDX-License-Identifier: Apache-2.0
"""Rounding cases that separate the promised integer arithmetic from its plausible look-alikes."""
import unittest

import numpy as np

import integer_ops

F = np.float32


def _requantize(acc, multiplier, zero=0, dtype=np.uint8):
    acc = np.array(acc, np.int32)
    return integer_ops.requantize(acc, F(multiplier), F(1), F(1), dtype(zero)).tolist()


class IntegerOps(unittest.TestCase):
    def test_ties_go_to_even_before_the_zero_point(self):
        self.assertEqual(_requantize([1, 3, 5], 0.5), [0, 2, 2])
        self.assertEqual(_requantize([1, 3, 5], 0.5, zero=1), [1, 3, 3])

    def test_product_is_rounded_to_float32(self):
        # exactly 54.50000041, in float32 a tie
        multiplier = np.array(0x39140DF1, np.uint32).view(F)
        self.assertEqual(_requantize([385989], multiplier), [54])

    def test_large_accumulators_round_to_nearest(self):
        acc = np.array([16777217, 16777219, 33554434, 33554438], np.int32)
        self.assertEqual(acc.astype(F).tolist(), [16777216, 16777220, 33554432, 33554440])
        # 16777219 becomes 16777220, whose product is above one half; 16777218's is not
        multiplier = np.array(0x32FFFFFE, np.uint32).view(F)
        self.assertEqual(_requantize([16777218, 16777219], multiplier), [0, 1])

    def test_clamp(self):
        self.assertEqual(_requantize([1, -1], 1e30, zero=7), [255, 0])
        self.assertEqual(_requantize([1, -1], 1e30, zero=-3, dtype=np.int8), [127, -128])

    def test_scale_is_multiplied_before_it_is_divided(self):
        rng = np.random.default_rng(2)
        xs, ws, ys = (rng.random(2000).astype(F) + F(0.1) for _ in range(3))
        acc = np.array(10**6, np.int32)
        for i in range(len(xs)):
            product = F(F(xs[i] * ws[i]) / ys[i]) * F(acc)
            want = min(max(int(np.rint(product)), 0), 255)
            got = integer_ops.requantize(acc, xs[i], ws[i], ys[i], np.uint8(0))
            self.assertEqual(int(got), want)

    def test_quantize(self):
        one, zero = F(1), np.uint8(0)
        values = np.array([0.5, 1.5, 2.5, -1, 300, np.inf, -np.inf, np.nan], F)
        want = [0, 2, 2, 0, 255, 255, 0, 0]
        self.assertEqual(integer_ops.quantize(values, one, zero).tolist(), want)
        # every image byte survives byte / 255 and the scale 1 / 255
        byte = np.arange(256)
        codes = integer_ops.quantize(byte.astype(F) / F(255), F(1) / F(255), zero)
        self.assertEqual(codes.tolist(), byte.tolist())

    def test_dequantize(self):
        got = integer_ops.dequantize(np.array([0, 3, 255], np.uint8), F(0.1), np.uint8(3))
        self.assertEqual(got.tolist(), [F(-3) * F(0.1), 0, F(252) * F(0.1)])

    def test_accumulators_wrap(self):
        total = np.array([2.0**31, -(2.0**31) - 1, 2.0**32 + 5])
        self.assertEqual(integer_ops.wrap32(total).tolist(), [-(2**31), 2**31 - 1, 5])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""Rounding and scaling of quantised tensors as the product promises them, in numpy.

Written from the integer contract of the compiler's operators: 8-bit codes q with a float32 scale
s and a zero point z stand for (q - z) * s; every float operation below rounds once to float32.
"""
import numpy as np

F = np.float32


def clamp_round_offset(value, zero, dtype):
    """Clamp to the code range, round to nearest even, then add the zero point as an integer.

    NaN gives the lowest code."""
    info = np.iinfo(dtype)
    low, high = F(info.min - int(zero)), F(info.max - int(zero))
    value = np.where(np.isnan(value), low, value)
    clamped = np.minimum(np.maximum(value, low), high)
    return (np.rint(clamped).astype(np.int32) + int(zero)).astype(dtype)


def quantize(x, scale, zero):
    """QuantizeLinear per tensor: float32 -> codes of zero's type.  A true division."""
    with np.errstate(all="ignore"):
        return clamp_round_offset(F(x) / F(scale), zero, zero.dtype)


def dequantize(codes, scale, zero):
    """DequantizeLinear: codes -> float32.  scale and zero broadcast against codes."""
    centred = codes.astype(np.int64) - np.asarray(zero, np.int64)
    return centred.astype(F) * np.asarray(scale, F)


def wrap32(total):
    """An exact sum (integers held in float64 or int64) as a wrapping int32 accumulator."""
    return np.asarray(total).astype(np.int64).astype(np.uint32).astype(np.int32)


def requantize(acc, in_scale, weight_scale, out_scale, zero):
    """int32 accumulators -> output codes.  weight_scale: scalar, or one per last axis of acc."""
    multiplier = F(F(in_scale) * np.asarray(weight_scale, F)) / F(out_scale)
    return clamp_round_offset(acc.astype(F) * multiplier, zero, zero.dtype)

# SPDX-License-Identifier: Apache-2.0
"""The demo network and its training, in numpy (float32, layout NHWC).

  image 28x28x1 -> Conv 3x3, 16, pad 1 -> Relu -> MaxPool 2 -> 14x14x16
                -> depthwise Conv 3x3, pad 1 -> pointwise Conv, 32 -> Relu -> MaxPool 2 -> 7x7x32
                -> Gemm -> 10 logits                 0.26 million multiply-adds, 16,554 parameters

These are the convolution kinds the accelerator treats differently: first layer, depthwise, 1x1.
The depthwise layer has no Relu, so its quantised output has a zero point other than 0.

Parameters are a dict of arrays: w1 [9, 16] (tap, out), wd [9, 16] (tap, channel),
wp [16, 32] (in, out), wg [7*7*32, 10] (HWC, out), and the biases b1, bd, bp, bg.
"""
import numpy as np

F = np.float32
TAPS = [(r, c) for r in range(3) for c in range(3)]


def initial(rng):
    """Uniform start values with the variance 2 / fan-in."""

    def uniform(fan_in, *shape):
        limit = np.sqrt(6.0 / fan_in)
        return (rng.random(shape) * 2 * limit - limit).astype(F)

    return {
        "w1": uniform(9, 9, 16),
        "b1": np.zeros(16, F),
        "wd": uniform(9, 9, 16),
        "bd": np.zeros(16, F),
        "wp": uniform(16, 16, 32),
        "bp": np.zeros(32, F),
        "wg": uniform(2 * 1568, 1568, 10),
        "bg": np.zeros(10, F),
    }


def _pad(x):
    return np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))


def _pool(x):
    """2x2 maximum; also returns which of the four won (the first one on a tie)."""
    n, h, w, c = x.shape
    four = x.reshape(n, h // 2, 2, w // 2, 2, c).transpose(0, 1, 3, 5, 2, 4)
    four = four.reshape(n, h // 2, w // 2, c, 4)
    best = four.argmax(4)
    return np.take_along_axis(four, best[..., None], 4)[..., 0], best


def _unpool(grad, best):
    n, h, w, c = grad.shape
    four = np.zeros((n, h, w, c, 4), F)
    np.put_along_axis(four, best[..., None], grad[..., None], 4)
    four = four.reshape(n, h, w, c, 2, 2).transpose(0, 1, 4, 2, 5, 3)
    return four.reshape(n, 2 * h, 2 * w, c)


def forward(p, images):
    """images float32 [n, 28, 28] in 0..1 -> (logits [n, 10], what backward() needs)."""
    n = len(images)
    x = _pad(images[..., None])
    columns = np.concatenate([x[:, r : r + 28, c : c + 28] for r, c in TAPS], 3)
    columns = columns.reshape(-1, 9)
    first = (columns @ p["w1"] + p["b1"]).reshape(n, 28, 28, 16)
    # Relu after the maximum: the same values as before it, a quarter of the work
    pooled, best1 = _pool(first)
    hidden = np.maximum(pooled, 0)
    padded = _pad(hidden)
    depth = np.zeros_like(hidden) + p["bd"]
    for tap, (r, c) in enumerate(TAPS):
        depth += padded[:, r : r + 14, c : c + 14] * p["wd"][tap]
    point = (depth.reshape(-1, 16) @ p["wp"] + p["bp"]).reshape(n, 14, 14, 32)
    pooled2, best2 = _pool(point)
    features = np.maximum(pooled2, 0).reshape(n, -1)
    logits = features @ p["wg"] + p["bg"]
    return logits, (columns, pooled, best1, padded, depth, pooled2, best2, features)


def backward(p, kept, grad):
    """grad: d loss / d logits.  Returns the gradient of every parameter."""
    columns, pooled, best1, padded, depth, pooled2, best2, features = kept
    n = len(grad)
    g = {"wg": features.T @ grad, "bg": grad.sum(0)}
    back = (grad @ p["wg"].T).reshape(pooled2.shape) * (pooled2 > 0)
    back = _unpool(back, best2).reshape(-1, 32)
    g["wp"] = depth.reshape(-1, 16).T @ back
    g["bp"] = back.sum(0)
    back = (back @ p["wp"].T).reshape(n, 14, 14, 16)
    g["bd"] = back.sum((0, 1, 2))
    g["wd"] = np.empty_like(p["wd"])
    into = np.zeros_like(padded)
    for tap, (r, c) in enumerate(TAPS):
        window = (slice(None), slice(r, r + 14), slice(c, c + 14))
        g["wd"][tap] = (padded[window] * back).sum((0, 1, 2))
        into[window] += back * p["wd"][tap]
    back = into[:, 1:-1, 1:-1] * (pooled > 0)
    back = _unpool(back, best1).reshape(-1, 16)
    g["w1"] = columns.T @ back
    g["b1"] = back.sum(0)
    return g


def _exp(x):
    """e^x for x <= 0, from + and * only: numpy's own differs in the last bit between CPUs."""
    x = np.maximum(x.astype(np.float64), -60.0)
    half = x / 1024
    series = 1 + half * (1 + half / 2 * (1 + half / 3 * (1 + half / 4)))
    for _ in range(10):
        series = series * series
    return series


def _softmax(logits):
    power = _exp(logits - logits.max(1, keepdims=True))
    return power / power.sum(1, keepdims=True)


def predict(p, images):
    """Class of each uint8 image [n, 28, 28]."""
    parts = [images[i : i + 500] for i in range(0, len(images), 500)]
    logits = [forward(p, part.astype(F) / F(255))[0] for part in parts]
    return np.concatenate(logits).argmax(1)


def train(rng, images, labels, epochs, batch, rate, report):
    """Adam with a learning rate that falls linearly to 0.  report(epoch, parameters, loss)."""
    p = initial(rng)
    mean = {k: np.zeros_like(v) for k, v in p.items()}
    square = {k: np.zeros_like(v) for k, v in p.items()}
    power1 = power2 = 1.0
    steps = len(images) // batch
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        total = 0.0
        for step in range(steps):
            pick = order[step * batch : (step + 1) * batch]
            logits, kept = forward(p, images[pick].astype(F) / F(255))
            chance = _softmax(logits)
            target = np.eye(10)[labels[pick]]
            total += float(np.square(chance - target).sum()) / batch
            g = backward(p, kept, ((chance - target) / batch).astype(F))
            now = rate * (1 - (epoch * steps + step) / (epochs * steps))
            power1 *= 0.9
            power2 *= 0.999
            for key, value in p.items():
                mean[key] += F(0.1) * (g[key] - mean[key])
                square[key] += F(0.001) * (g[key] * g[key] - square[key])
                root = np.sqrt(square[key] / F(1 - power2)) + F(1e-8)
                value -= F(now / (1 - power1)) * mean[key] / root
        report(epoch, p, total / steps)
    return p

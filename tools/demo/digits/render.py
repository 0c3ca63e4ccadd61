# SPDX-License-Identifier: Apache-2.0
"""Renders and distorts digits: the data sets of the demo model.

An image is 28x28 bytes, light ink on dark ground (0 = dark).  Glyphs come from the fonts of the
Debian packages below.  A family belongs to exactly one set: the model is trained on TRAIN,
choices (epochs, widths) are judged on VALIDATION, and TEST is only ever measured.  Near-copies
of a family stay out of the other sets (Carlito is a Lato, so Lato is not trained on).

Only +, *, / and sqrt touch the numbers, no function whose last bit depends on the CPU, so that
equal fonts, Pillow and seed give equal images.
"""
import glob
import hashlib
import os

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONT_ROOT = "/usr/share/fonts"
SIZE = 28  # pixels of an image, each way
CANVAS = 96  # pixels of the glyph canvas, each way
INK = 68  # ink height (or width, if larger) on the canvas
OVERSAMPLE = 2  # samples per pixel, each way

# {package: (patterns below FONT_ROOT)}; patterns are expanded in sorted order
TRAIN = {
    # named one by one: fonts-dejavu-extra installs into the same folder
    "fonts-dejavu-core": tuple(
        f"truetype/dejavu/DejaVu{family}{weight}.ttf"
        for family in ("Sans", "SansMono", "Serif")
        for weight in ("", "-Bold")
    ),
    "fonts-liberation": ("truetype/liberation/*.ttf",),
    "fonts-freefont-ttf": ("truetype/freefont/*.ttf",),
    "fonts-hack": ("truetype/hack/*.ttf",),
    "fonts-firacode": ("truetype/firacode/*.ttf",),
    "fonts-comfortaa": ("truetype/comfortaa/*.ttf",),
    "fonts-quicksand": ("truetype/quicksand/*.ttf",),
    "fonts-tuffy": ("truetype/tuffy/Tuffy*.ttf",),
    "fonts-vollkorn": ("truetype/vollkorn/*.ttf",),
    "fonts-ebgaramond": ("opentype/ebgaramond/EBGaramond12-*.otf",),
    "fonts-urw-base35": tuple(
        f"opentype/urw-base35/{family}-*.otf"
        for family in "C059 NimbusMonoPS NimbusRoman NimbusSans P052 URWBookman URWGothic".split()
    ),
}
VALIDATION = {
    "fonts-cabin": ("opentype/cabin/*.otf",),
    "fonts-cantarell": ("opentype/cantarell/*.otf",),
    "fonts-lobstertwo": ("opentype/lobstertwo/*.otf",),
}
TEST = {
    "fonts-roboto-unhinted": ("truetype/roboto/unhinted/RobotoTTF/*.ttf",),
    "fonts-crosextra-carlito": ("truetype/crosextra/Carlito-*.ttf",),
    "fonts-crosextra-caladea": ("truetype/crosextra/Caladea-*.ttf",),
    "fonts-inconsolata": ("truetype/inconsolata/*.otf",),
    "fonts-sil-gentium-basic": ("truetype/gentium-basic/GenB*.ttf",),
}


def font_files(packages):
    """Sorted font files of a set.  Raises FileNotFoundError naming the packages to install."""
    files, missing = set(), []
    for package, patterns in packages.items():
        found = [f for p in patterns for f in glob.glob(os.path.join(FONT_ROOT, p))]
        files.update(found)
        if not found:
            missing.append(package)
    if missing:
        raise FileNotFoundError("fonts are missing: apt-get install " + " ".join(missing))
    return sorted(files)


def fonts_digest(files):
    """One SHA-256 over the font files' bytes: says whether two machines render from the same."""
    digest = hashlib.sha256()
    for path in files:
        with open(path, "rb") as file:
            digest.update(hashlib.sha256(file.read()).digest())
    return digest.hexdigest()


def _glyph(path, digit):
    """uint8 [CANVAS, CANVAS]: the digit centred, its larger extent INK pixels."""
    probe = ImageFont.truetype(path, 100)
    left, top, right, bottom = probe.getbbox(str(digit))
    size = max(8, round(100 * INK / max(bottom - top, right - left)))
    font = ImageFont.truetype(path, size)
    left, top, right, bottom = font.getbbox(str(digit))
    image = Image.new("L", (CANVAS, CANVAS))
    at = ((CANVAS - left - right) // 2, (CANVAS - top - bottom) // 2)
    ImageDraw.Draw(image).text(at, str(digit), fill=255, font=font)
    return image


def glyphs(files):
    """All digits of all fonts in four stroke widths.

    Returns uint8 [fonts, 10, 4, CANVAS, CANVAS]; the third axis is: as drawn, thicker by 2 and
    by 4 canvas pixels, thinner by 2.  A stroke too thin to be thinned stays as drawn."""
    out = np.zeros((len(files), 10, 4, CANVAS, CANVAS), np.uint8)
    for index, path in enumerate(files):
        for digit in range(10):
            plain = _glyph(path, digit)
            out[index, digit, 0] = plain
            out[index, digit, 1] = plain.filter(ImageFilter.MaxFilter(3))
            out[index, digit, 2] = plain.filter(ImageFilter.MaxFilter(5))
            thin = np.asarray(plain.filter(ImageFilter.MinFilter(3)))
            keep = thin.sum(dtype=np.int64) * 2 > out[index, digit, 0].sum(dtype=np.int64)
            out[index, digit, 3] = thin if keep else plain
    return out


def _signed_uniform(rng, width, shape):
    return rng.random(shape) * (2 * width) - width


def _bilinear(images, rows, cols):
    """Samples images [n, h, w] at float positions [n, p]; outside is 0."""
    count, height, width = images.shape
    top, left = np.floor(rows), np.floor(cols)
    down, right = rows - top, cols - left
    pick = np.arange(count)[:, None]
    out = np.zeros(rows.shape)
    for dr in (0, 1):
        for dc in (0, 1):
            r, c = top.astype(np.int64) + dr, left.astype(np.int64) + dc
            inside = (r >= 0) & (r < height) & (c >= 0) & (c < width)
            value = images[pick, np.clip(r, 0, height - 1), np.clip(c, 0, width - 1)]
            weight = (down if dr else 1 - down) * (right if dc else 1 - right)
            out += weight * value * inside
    return out


def _distort(rng, canvas, strength):
    """canvas uint8 [n, CANVAS, CANVAS] -> float [n, SIZE, SIZE] in 0..255.

    Inverse mapping: image position -> canvas position through rotation, shear, scale, aspect and
    shift, plus a smooth random displacement (the elastic part)."""
    count = len(canvas)
    side = SIZE * OVERSAMPLE
    axis = (np.arange(side) + 0.5) / OVERSAMPLE - SIZE / 2
    y, x = (a.reshape(1, -1) for a in np.meshgrid(axis, axis, indexing="ij"))

    column = (count, 1)
    tangent = _signed_uniform(rng, 0.22 * strength, column)  # 12 degrees
    cosine = 1 / np.sqrt(1 + tangent * tangent)
    sine = tangent * cosine
    shear = _signed_uniform(rng, 0.18 * strength, column)
    # canvas pixels per image pixel: INK / 20 draws the digit 20 pixels high
    scale = INK / 20 * (1 + _signed_uniform(rng, 0.16 * strength, column))
    aspect = 1 + _signed_uniform(rng, 0.15 * strength, column)
    shift_y = _signed_uniform(rng, 2.0 * strength, column)
    shift_x = _signed_uniform(rng, 2.0 * strength, column)

    grid = 6  # control points of the elastic field, each way
    knots = _signed_uniform(rng, 0.9 * strength, (2 * count, grid, grid))
    where = (np.arange(side) + 0.5) / side * (grid - 1)
    knot_y, knot_x = (a.reshape(1, -1) for a in np.meshgrid(where, where, indexing="ij"))
    field = _bilinear(knots, np.repeat(knot_y, 2 * count, 0), np.repeat(knot_x, 2 * count, 0))

    y = y + field[:count] - shift_y
    x = x + field[count:] - shift_x
    rows = scale * aspect * (cosine * y - sine * x) + CANVAS / 2 - 0.5
    cols = scale * (sine * y + cosine * x + shear * y) + CANVAS / 2 - 0.5
    fine = _bilinear(canvas.astype(np.float64), rows, cols)
    fine = fine.reshape(count, SIZE, OVERSAMPLE, SIZE, OVERSAMPLE)
    return fine.sum(4).sum(2) / OVERSAMPLE**2


def _degrade(rng, images, strength):
    """Blur, contrast, ground level, noise: [n, SIZE, SIZE] float -> uint8."""
    shape = (len(images), 1, 1)
    blur = rng.random(shape) * (0.28 * strength)
    for axis in (1, 2):
        near = np.zeros_like(images)
        lower = [slice(None)] * 3
        upper = [slice(None)] * 3
        lower[axis], upper[axis] = slice(0, -1), slice(1, None)
        near[tuple(lower)] += images[tuple(upper)]
        near[tuple(upper)] += images[tuple(lower)]
        images = (1 - 2 * blur) * images + blur * near
    ground = rng.random(shape) * (30 * strength)
    gain = 1 - rng.random(shape) * (0.5 * strength)
    noise = rng.random(shape) * (45 * strength)
    images = ground + images * gain * (1 - ground / 255)
    images = images + noise * (rng.random(images.shape) + rng.random(images.shape) - 1)
    return np.clip(np.floor(images + 0.5), 0, 255).astype(np.uint8)


def make_set(rng, shapes, count, strength):
    """Draws `count` distorted digits, as many of each class as possible, in random order.

    shapes: result of glyphs().  strength: 1 = the full range of every distortion.
    Returns (images uint8 [count, SIZE, SIZE], labels int32 [count])."""
    labels = rng.permutation(np.arange(count) % 10).astype(np.int32)
    images = np.zeros((count, SIZE, SIZE), np.uint8)
    for start in range(0, count, 250):
        part = labels[start : start + 250]
        font = rng.integers(0, shapes.shape[0], len(part))
        width = rng.integers(0, shapes.shape[2], len(part))
        drawn = _distort(rng, shapes[font, part, width], strength)
        images[start : start + 250] = _degrade(rng, drawn, strength)
    return images, labels

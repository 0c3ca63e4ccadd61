// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/move.h"

#include <algorithm>
#include <cstdlib>

#include "compiler/schedule/loops.h"
#include "compiler/schedule/transfer.h"

namespace heddle::compiler {
namespace {

constexpr int64_t kNaturalRowBytes = 16 << 10;
constexpr int64_t kFlatRowBytes = 4 << 10;

// Elements from the first to the last of the dimensions from `first` on.
int64_t Span(const MoveBox& box, size_t first = 0) {
  int64_t span = 1;
  for (size_t i = first; i < box.dims.size(); ++i) {
    span += (box.dims[i].count - 1) * box.dims[i].result;
  }
  return span;
}

// Where the elements of one side lie.
struct Side {
  int64_t planes = 1, rows = 1, columns = 1;       // of an image
  int64_t image = 0, plane = 0, pitch = 0, x = 0;  // byte distances

  int64_t Offset(int64_t position) const {
    const int64_t column = position % columns;
    const int64_t row = position / columns % rows;
    const int64_t k = position / (columns * rows) % planes;
    return position / (columns * rows * planes) * image + k * plane +
           row * pitch + column * x;
  }
  // A stride along whole columns, rows, planes or images.
  int64_t Stride(int64_t stride) const {
    const int64_t size = std::abs(stride);
    return stride < 0 ? -Offset(size) : Offset(size);
  }
};

Side SideOf(const Extent& e, Layout layout, const TileView& view) {
  Side side;
  side.planes = layout == Layout::kBlocked ? e.c / 16 : e.c;
  side.rows = e.h;
  side.columns = e.w;
  side.image = view.image;
  side.plane = view.plane;
  side.pitch = view.pitch;
  side.x = view.xstep;
  return side;
}

// A dimension of a box in bytes.
struct ByteDim {
  int64_t n, from, to;
};

class MoveOp : public ClonableOp<MoveOp> {
 public:
  MoveOp(const DeviceGraph& graph, const std::vector<int>& operands,
         std::vector<MoveBox> boxes, int result)
      : boxes_(std::move(boxes)) {
    engine = "vector";
    output = result;
    tileable = columns_tileable = channels_tileable = true;
    extent_ = graph.values[result].extent;
    layout_ = graph.StorageOf(result).layout;
    if (layout_ == Layout::kDense) channel_step = 1;
    element_ = layout_ == Layout::kBlocked
                   ? isa::kWordBytes
                   : ElementBytes(graph.StorageOf(result).type);
    for (int value : operands) {
      OpInput input;
      input.value = value;
      input.rows.kind = AxisNeed::kDirect;
      inputs.push_back(input);
      extents_.push_back(graph.values[value].extent);
    }
  }

  std::vector<Microprogram> Programs() const override {
    return {CopyProgram()};
  }

  void Emit(Emitter* emitter, const Tile& tile) const override {
    const Side to = SideOf(extent_, layout_, tile.output);
    const int64_t plane = to.rows * to.columns, image = plane * to.planes;
    std::vector<MoveBox> of_image;
    for (const MoveBox& box : boxes_) {
      ClipBox(box, tile.image * image, (tile.image + 1) * image, &of_image);
    }
    for (MoveBox& box : of_image) {
      box.result -= tile.image * image;
      // Dimensions along planes come first; the others stay within a plane.
      size_t inner = 0;
      while (inner < box.dims.size() && box.dims[inner].result >= plane) {
        ++inner;
      }
      MoveBox planes = box, rest = box;
      planes.dims.resize(inner);
      for (MoveDim& d : planes.dims) d.result /= plane;
      planes.result = box.result / plane;
      rest.dims.erase(rest.dims.begin(), rest.dims.begin() + inner);
      rest.result = box.result % plane;
      rest.source = 0;
      const int64_t step = layout_ == Layout::kBlocked ? 16 : 1;
      const int64_t first = tile.channel0 / step;
      std::vector<MoveBox> parts;
      ClipBox(planes, first, first + (tile.channels + step - 1) / step, &parts);
      for (MoveBox& part : parts) {
        part.result *= plane;
        for (MoveDim& d : part.dims) d.result *= plane;
        EmitPlanes(emitter, tile, part, rest, to);
      }
    }
  }

 private:
  // What lies in the tile's rows and columns: `rest`, in each of `planes`.
  void EmitPlanes(Emitter* emitter, const Tile& tile, const MoveBox& planes,
                  const MoveBox& rest, const Side& to) const {
    std::vector<MoveBox> parts;
    const int64_t end = tile.row0 + tile.rows;
    if (tile.columns == to.columns) {
      ClipBox(rest, tile.row0 * to.columns, end * to.columns, &parts);
    } else {
      for (int64_t row = tile.row0; row < end; ++row) {
        const int64_t from = row * to.columns + tile.column0;
        ClipBox(rest, from, from + tile.columns, &parts);
      }
    }
    for (MoveBox& part : parts) {
      part.source += planes.source;
      part.dims.insert(part.dims.begin(), planes.dims.begin(),
                       planes.dims.end());
      // Rows count from the tile's first.
      const int64_t base = tile.output.base +
                           to.Offset(planes.result + part.result) -
                           tile.output.row0 * int64_t{tile.output.pitch};
      EmitBox(emitter, tile, part, to, base);
    }
  }

  void EmitBox(Emitter* emitter, const Tile& tile, const MoveBox& box,
               const Side& to, int64_t base) const {
    if (box.input < 0) {
      std::vector<BoxDim> dims;
      for (size_t i = box.dims.size(); i-- > 0;) {
        const MoveDim& d = box.dims[i];
        if (d.count > 1) {
          dims.push_back({static_cast<uint64_t>(d.count), 0,
                          static_cast<uint64_t>(to.Stride(d.result))});
        }
      }
      EmitConstant(emitter, box.value, base, dims);
      return;
    }
    const TileView& view = tile.inputs[box.input];
    const Side from = SideOf(extents_[box.input], layout_, view);
    std::vector<ByteDim> dims;
    for (size_t i = box.dims.size(); i-- > 0;) {
      const MoveDim& d = box.dims[i];
      if (d.count > 1) {
        dims.push_back({d.count, from.Stride(d.source), to.Stride(d.result)});
      }
    }
    if (view.region < 0) {
      EmitVector(emitter, view.base + from.Offset(box.source), base, dims);
    } else {
      EmitLoads(emitter, view, view.dram + from.Offset(box.source), base, dims);
    }
  }

  // Elements of 16 bytes are four times four.
  void EmitConstant(Emitter* emitter, uint32_t value, int64_t base,
                    std::vector<BoxDim> dims) const {
    const int64_t element = std::min<int64_t>(element_, 4);
    if (element_ > element) {
      dims.insert(dims.begin(),
                  {static_cast<uint64_t>(element_ / element), 0, 4});
    }
    // Contiguous dimensions are one.
    std::vector<BoxDim> merged;
    uint64_t span = element;
    for (const BoxDim& d : dims) {
      if (!merged.empty() && d.t == merged.back().n * merged.back().t &&
          merged.back().t == span) {
        merged.back().n *= d.n;
      } else {
        merged.push_back(d);
      }
    }
    EmitFillBox(emitter, element, value, base, merged);
  }

  void EmitVector(Emitter* emitter, int64_t from, int64_t to,
                  std::vector<ByteDim> dims) const {
    int64_t element = std::min<int64_t>(element_, 4);
    if (element_ > element) {
      dims.insert(dims.begin(), {element_ / element, 4, 4});
    }
    // Larger elements where a contiguous run allows them.
    while (element < 4) {
      size_t run = 0;
      while (run < dims.size() &&
             (dims[run].from != element || dims[run].to != element ||
              dims[run].n % 2 != 0)) {
        ++run;
      }
      const int64_t twice = 2 * element;
      bool fits = run < dims.size() && from % twice == 0 && to % twice == 0;
      for (size_t i = 0; i < dims.size(); ++i) {
        fits = fits && (i == run ||
                        (dims[i].from % twice == 0 && dims[i].to % twice == 0));
      }
      if (!fits) break;
      dims[run] = {dims[run].n / 2, twice, twice};
      element = twice;
    }
    LoopOperand a, d;
    a.base = from;
    d.base = to;
    a.type = d.type = element == 4   ? isa::ElementType::kS32
                      : element == 2 ? isa::ElementType::kS16
                                     : isa::ElementType::kU8;
    std::vector<int64_t> counts;
    for (const ByteDim& dim : dims) {
      counts.push_back(dim.n);
      a.strides.push_back(dim.from);
      d.strides.push_back(dim.to);
    }
    isa::Vrun run = emitter->Run(CopyProgram());
    run.enable_a = true;
    EmitLoop(emitter, run, counts, {a}, d);
  }

  void EmitLoads(Emitter* emitter, const TileView& view, int64_t from,
                 int64_t to, std::vector<ByteDim> dims) const {
    // Loads count up: a dimension that is walked backwards becomes commands.
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i].from >= 0) continue;
      const ByteDim back = dims[i];
      dims.erase(dims.begin() + i);
      for (int64_t k = 0; k < back.n; ++k) {
        EmitLoads(emitter, view, from + k * back.from, to + k * back.to, dims);
      }
      return;
    }
    int64_t element = element_;
    if (layout_ == Layout::kBlocked && view.lane != 1) {
      element = 1;
      dims.push_back({isa::kWordBytes, view.lane, 1});
    }
    // In device memory's order, as far as it has one: repetition comes last.
    std::stable_sort(dims.begin(), dims.end(),
                     [](const ByteDim& a, const ByteDim& b) {
                       return static_cast<uint64_t>(a.from) - 1 <
                              static_cast<uint64_t>(b.from) - 1;
                     });
    std::vector<BoxDim> box;
    for (const ByteDim& d : dims) {
      box.push_back({static_cast<uint64_t>(d.n), static_cast<uint64_t>(d.from),
                     static_cast<uint64_t>(d.to)});
    }
    EmitLoadBox(emitter, view.region, element, from, to, box);
  }

  std::vector<MoveBox> boxes_;
  Extent extent_;
  Layout layout_;
  int64_t element_;
  std::vector<Extent> extents_;  // of the operands
};

// Do all dimensions step along columns and rows of a plane, or along planes?
bool KeepsPlanes(const Extent& e, const std::vector<MoveBox>& boxes) {
  const int64_t plane = e.h * e.w;
  for (const MoveBox& box : boxes) {
    int64_t inner = box.result % plane + 1, in_row = box.result % e.w + 1;
    for (const MoveDim& d : box.dims) {
      if (d.count == 1) continue;
      if (d.result >= plane) {
        if (d.result % plane != 0) return false;
        continue;
      }
      inner += (d.count - 1) * d.result;
      if (d.result >= e.w) {
        if (d.result % e.w != 0) return false;
      } else {
        in_row += (d.count - 1) * d.result;
      }
    }
    if (inner > plane || in_row > e.w) return false;
  }
  return true;
}

}  // namespace

std::vector<int64_t> RowMajor(const Shape& shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;) {
    strides[i - 1] = strides[i] * shape[i];
  }
  return strides;
}

MoveBox WholeBox(int input, const Shape& shape,
                 const std::vector<int64_t>& source, int64_t from) {
  const std::vector<int64_t> result = RowMajor(shape);
  MoveBox box;
  box.input = input;
  box.source = from;
  for (size_t i = 0; i < shape.size(); ++i) {
    box.dims.push_back({shape[i], source[i], result[i]});
  }
  return box;
}

void ClipBox(const MoveBox& box, int64_t begin, int64_t end,
             std::vector<MoveBox>* parts) {
  const int64_t low = box.result, high = low + Span(box);
  if (high <= begin || low >= end) return;
  if (low >= begin && high <= end) {
    parts->push_back(box);
    return;
  }
  // More than one element: some dimension has a count above 1.
  size_t d = 0;
  while (box.dims[d].count == 1) ++d;
  const int64_t step = box.dims[d].result, inner = Span(box, d + 1);
  const int64_t count = box.dims[d].count;
  auto part = [&](int64_t first, int64_t n) {
    MoveBox p = box;
    p.dims[d].count = n;
    p.source += first * p.dims[d].source;
    p.result += first * step;
    return p;
  };
  // Steps [i0, i1) lie inside; those beside them may lie there in part.
  const int64_t i0 = begin <= low ? 0 : (begin - low + step - 1) / step;
  const int64_t i1 =
      end - low < inner ? 0 : std::min(count, (end - low - inner) / step + 1);
  if (i0 > 0 && i0 - 1 < count) {
    ClipBox(part(i0 - 1, 1), begin, end, parts);
  }
  if (i0 < i1) parts->push_back(part(i0, i1 - i0));
  if (i1 < count && i1 != i0 - 1) {
    ClipBox(part(i1, 1), begin, end, parts);
  }
}

Shape FlatShape(const Shape& shape, int64_t element_bytes) {
  const int64_t most = kFlatRowBytes / element_bytes;
  int64_t columns = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (columns * shape[i] <= most) {
      columns *= shape[i];
      continue;
    }
    int64_t divisor = most / columns;
    while (shape[i] % divisor != 0) --divisor;
    columns *= divisor;
    break;
  }
  return {ElementCount(shape) / columns, columns};
}

void AddMove(Lowering* l, const Node& node, const std::vector<int>& operands,
             std::vector<MoveBox> boxes, int result) {
  DeviceGraph& graph = l->device();
  const Extent& e = graph.values[result].extent;
  const Storage& s = graph.StorageOf(result);
  // A dense result whose rows are long, or that boxes do not cut along rows, is
  // written as rows of a matrix with as many elements.
  const int64_t es = ElementBytes(s.type);
  if (s.layout == Layout::kDense &&
      (e.c * e.w * es > kNaturalRowBytes || e.n * e.h == 1 ||
       !KeepsPlanes(e, boxes))) {
    result = l->Reshaped(result, FlatShape(graph.values[result].shape, es));
  }
  l->Add(std::make_unique<MoveOp>(graph, operands, std::move(boxes), result),
         node);
}

}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
// The graph as the card executes it: storages (bytes somewhere), values (a
// tensor view of a storage) and device operations in program order. Lowering
// builds it, the memory plan places it, the scheduler emits it.
#ifndef HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_H_
#define HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/ir/graph.h"
#include "compiler/stream/microcode.h"
#include "compiler/stream/stream.h"
#include "rtl/spec/generated/isa.h"

namespace heddle::compiler {

enum class Layout {
  kDense,    // ONNX's row-major order, in SRAM perhaps with a halo
  kBlocked,  // NC/16HW16 (ISA.md), 8-bit types
  kPacked,   // packed rows [y][x][c] for mode fold, rows at word boundaries
};

// Padding kept around every plane of a dense storage while it is in SRAM.
struct Halo {
  int top = 0, left = 0, bottom = 0, right = 0;
  bool empty() const { return !(top || left || bottom || right); }
};

// A tensor seen as n images of c channels of h rows of w columns, and the
// strides of these dimensions in ONNX's order of elements.
struct Extent {
  int64_t n = 1, c = 1, h = 1, w = 1;
  int64_t dense_n = 0, dense_c = 0, dense_h = 0, dense_w = 1;
};
// Rank 4: NCHW; 3: NCW; 2: dense: rows and columns, blocked: rows, and columns
// are channels; 1: columns or channels; more than 4: the middle ones are
// channels.
Extent ExtentOf(const Shape& shape, Layout layout);

// Byte distances of an image in SRAM.
struct Geometry {
  uint32_t xstep = 0;  // between columns
  uint32_t pitch = 0;  // between rows
  uint32_t plane =
      0;  // between channels (dense) or 16-channel blocks (blocked)
  uint64_t bytes = 0;   // of one image, halo included
  uint32_t origin = 0;  // of channel 0, row 0, column 0 in the image
};
// For `rows` rows of an image (all of them, or a stripe).
Geometry GeometryOf(const Extent& extent, Layout layout, size_t element_bytes,
                    int64_t rows, const Halo& halo);

constexpr int kWeightRegion = 0;
constexpr int kScratchRegion = 1;
constexpr int kIoRegion = 2;

struct Storage {
  std::string name;
  Layout layout = Layout::kDense;
  DataType type = DataType::kFloat;
  Extent extent;
  Halo halo;                // kDense only
  uint32_t halo_value = 0;  // 32-bit pattern of the halo
  bool shared = false;      // several views: no halo
  // Device memory: always for inputs and outputs of the network (dense, region
  // 2) and constants (dense, region 0), else only when the plan spills it (own
  // layout, region 1).
  int region = -1;
  uint64_t dram_offset = 0;
  bool is_input = false, is_output = false;
  // Lies in region 0, in ONNX's order.
  SharedBytes constant;
  // The choice of the schedule: not resident though it may fit.
  bool spill = false;
  // SRAM, when resident from first_op to last_op.
  bool resident = false;
  uint32_t sram = 0;
  int first_op = -1, last_op = -1;
  // Region 2 offset of the tap (dense), or -1.
  int64_t tap_offset = -1;

  bool dram_dense() const { return is_input || is_output || constant; }
  uint64_t DramBytes() const;
  uint64_t SramBytes() const;  // all images
};

// Its bytes are contiguous in the storage, from `offset` on: a storage may hold
// several tensors one after another (parts of a concatenation).
struct Value {
  int storage = -1;
  Shape shape;
  Extent extent;
  uint64_t offset = 0;  // bytes, the same in SRAM and in device memory
};

// Where an operation finds rows of an operand, or puts rows of its result.
// The address of (channel or block k, row y, column x) is
// base + k*plane + (y - row0)*pitch + x*xstep; rows and columns of a halo are
// at negative or excess coordinates.
struct TileView {
  uint32_t base = 0;
  int64_t row0 = 0;
  uint32_t pitch = 0, plane = 0, xstep = 0;
  // kDirect only: the distance of images, and where the operand is. In device
  // memory (region >= 0) addresses count from `dram` instead of `base`, and
  // `lane` is the distance of a block's channels.
  uint32_t image = 0;
  int region = -1;
  uint64_t dram = 0;
  uint32_t lane = 1;
  // Rolling buffer of this many rows: row y is at base + (y mod wrap)*pitch,
  // and row0 means nothing. Only operations of the matrix engine are given one.
  int64_t wrap = 0;
};

// The address of row `row`, column 0 of channel 0, which a view without wrap
// has. A buffer that holds a part of the columns or channels need not hold that
// element: addresses count modulo 2^32.
inline uint32_t RowBase(const TileView& v, int64_t row) {
  return v.base + (row - v.row0) * int64_t{v.pitch};
}
// The same of column `column` of channel (dense) or block `plane`.
inline uint32_t AddressOf(const TileView& v, int64_t plane, int64_t row,
                          int64_t column) {
  return RowBase(v, row) + plane * int64_t{v.plane} + column * int64_t{v.xstep};
}

// What an operation needs of an operand along one axis for a range of the
// result along the same axis.
struct AxisNeed {
  // kDirect (of rows; the other axes are whole then): the operation reads the
  // operand by itself where it lies, all images, from SRAM or by its own loads
  // from device memory.
  enum Kind { kWhole, kSame, kWindow, kDirect } kind = kWhole;
  // kWindow: from floor((y*stride - pad) / divide) to
  // floor((y*stride - pad + extent - 1) / divide).
  int64_t stride = 1, pad = 0, extent = 1;
  int64_t divide = 1;
};

struct Slice {
  int64_t first = 0, count = 0;
  bool operator==(const Slice& o) const {
    return first == o.first && count == o.count;
  }
};

struct OpInput {
  int value = -1;
  AxisNeed rows, columns, channels;
  // Its columns are the result's channels, and its channels the result's
  // columns: one is a dense matrix, the other blocked. `columns` and `channels`
  // then refer to those.
  bool swapped = false;
  // Its columns are the result's rows, and `columns` refers to those.
  bool turned = false;
  Halo halo;  // what the operation reads beyond the image (dense)
  uint32_t halo_value = 0;
  // The operation also reads the lanes beyond the last channel (blocked): they
  // must hold something.
  bool all_lanes = false;
  // Operands of which each constant group reads a part only: its channels (of
  // blocked ones from a multiple of 16 on), its rows (with kWhole), its
  // columns; with kWindow some rows, or columns, of the window. One for each
  // group, or empty.
  std::vector<Slice> channel_slices, row_slices, column_slices;
};

// How much of the result a tile has along each axis.
struct TileShape {
  int64_t rows = 1, columns = 1, channels = 1;
  int64_t lead = 0;  // rows that the first tile of an image has fewer
  bool operator==(const TileShape& o) const {
    return rows == o.rows && columns == o.columns && channels == o.channels &&
           lead == o.lead;
  }
  // Tiles that a result of this extent has.
  int64_t Count(const Extent& e) const {
    const auto parts = [](int64_t all, int64_t part) {
      return (all + part - 1) / part;
    };
    return e.n * parts(e.h + lead, rows) * parts(e.w, columns) *
           parts(e.c, channels);
  }
};

// In which tiles an operation is done, and in which order those and its groups
// of constants follow each other (boxes.h).
struct Box {
  TileShape tile;
  bool keep = false;         // constants of all groups in SRAM at once
  bool group_outer = false;  // the loop over groups is outside that of tiles
  bool by_group = false;     // what groups make is stored group by group
  bool single = false;       // one buffer of each kind
};

// A box of the result, and where its operands are. Views are addressed with the
// coordinates of the whole tensors.
struct Tile {
  int64_t image = 0;
  int64_t row0 = 0, rows = 0;
  int64_t column0 = 0, columns = 0;
  int64_t channel0 = 0, channels = 0;  // channel0 is a multiple of the step
  int group = 0;
  std::vector<TileView> inputs;
  TileView output;
  uint32_t constants = 0;  // SRAM address of this group's constants
  uint32_t temporary = 0;  // SRAM address of the operation's temporary bytes
};

// Constants of one group: a range of region 0, loaded as a piece.
struct ConstantGroup {
  uint64_t offset = 0;  // from PlaceConstants
  uint64_t bytes = 0;   // multiple of 64
};
// Up to the next multiple of 64 bytes.
uint64_t AlignToRegion(uint64_t bytes);

// Emission context: the stream and the microprograms' addresses.
struct Emitter {
  const isa::Config* config = nullptr;
  StreamBuilder* stream = nullptr;
  uint32_t tag = 0;
  const std::map<std::vector<uint8_t>, uint32_t>* program_address = nullptr;

  void Append(isa::Command command) { stream->Append(std::move(command), tag); }
  // A vrun with its program's address and section lengths set.
  isa::Vrun Run(const Microprogram& program) const;
};

class MatrixOp;

class DeviceOp {
 public:
  virtual ~DeviceOp() = default;
  // Commands for one tile. All addresses are final.
  virtual void Emit(Emitter* emitter, const Tile& tile) const = 0;
  // Another one that can be scheduled in another way.
  virtual std::unique_ptr<DeviceOp> Clone() const = 0;
  // Writes the constants of groups[group] to as many bytes, which are zero;
  // called once it is certain which groups there are, from any thread. Here:
  // those given to SetConstants.
  virtual void Pack(size_t group, uint8_t* to) const;
  // What a group's constants are made of: groups of equal keys have equal
  // bytes. Empty: nothing is known.
  virtual std::string ConstantKey(size_t) const { return ""; }
  virtual MatrixOp* AsMatrix() { return nullptr; }
  virtual const MatrixOp* AsMatrix() const { return nullptr; }
  // Rows of input `input` that rows [row0, row0 + rows) of the result need, not
  // clipped to the image, for operations whose needs are no AxisNeed. False:
  // what inputs[input].rows says.
  virtual bool RowsOf(size_t, int64_t, int64_t, int64_t*, int64_t*) const {
    return false;
  }
  // Programs that Emit uses.
  virtual std::vector<Microprogram> Programs() const { return {}; }

  std::string name;    // ONNX node
  std::string op;      // ONNX operator
  std::string engine;  // "matrix", "vector"
  uint64_t macs = 0;   // of the model
  std::vector<OpInput> inputs;
  int output = -1;  // value
  std::vector<ConstantGroup> groups{ConstantGroup()};
  uint64_t temporary_bytes = 0;
  // Of the vector engine for the whole result, about; 0: as many as a few
  // instructions for each of its elements.
  double vector_cycles = 0;
  // The first commands of a tile read no constants: these are loaded behind the
  // operands.
  bool late_constants = false;
  // Axes of the result along which it may be cut into tiles. Inputs state what
  // a tile needs of them along each of these axes.
  bool tileable = false;  // rows
  bool columns_tileable = false, channels_tileable = false;
  int64_t column_step = 1;  // tiles begin at multiples of so many columns
  int64_t channel_step =
      16;  // and of so many channels: 16, or 1 if all is dense
  // What each group makes of a tile, where groups make different parts of it
  // (output channels, or columns of a product). Groups that make the same part
  // follow each other, each continuing what the one before has left. Empty: all
  // groups work on the whole tile.
  std::vector<Slice> group_columns, group_channels;
  // Rows times columns of a tile are at most so many; 0 = any.
  int64_t max_pixels = 0;
  // Rows of a tile are at most so many, however many columns; 0 = any.
  int64_t max_rows = 0;
  // As the choice of the schedule wants it; the memory plan gives way from
  // there.
  std::optional<Box> box;

  std::vector<std::string> sources;  // ONNX nodes that it stands for

 protected:
  // One group of constants, which is there already.
  void SetConstants(std::vector<uint8_t> bytes);

 private:
  SharedBytes constants_;
};

// Base of a class `T` of operations that can be copied.
template <typename T, typename Base = DeviceOp>
class ClonableOp : public Base {
 public:
  using Base::Base;
  std::unique_ptr<DeviceOp> Clone() const override {
    return std::make_unique<T>(static_cast<const T&>(*this));
  }
};

struct DeviceGraph {
  std::vector<Storage> storages;
  std::vector<Value> values;
  std::vector<std::unique_ptr<DeviceOp>> ops;
  // What may be used of the card's SRAM, for what is held in it as a whole;
  // 0: not known.
  uint64_t sram_bytes = 0;
  // Region 2.
  std::vector<std::pair<std::string, int>> inputs, outputs,
      taps;  // name, value
  uint64_t io_bytes = 0;

  const Storage& StorageOf(int value) const {
    return storages[values[value].storage];
  }
  Storage& StorageOf(int value) { return storages[values[value].storage]; }

  DeviceGraph Clone() const;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_SCHEDULE_DEVICE_GRAPH_H_

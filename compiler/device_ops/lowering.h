// SPDX-License-Identifier: Apache-2.0
// From the graph in operator form to device operations. Each ONNX operator has
// one lowering, registered beside its code in lower_*.cc.
#ifndef HEDDLE_COMPILER_DEVICE_OPS_LOWERING_H_
#define HEDDLE_COMPILER_DEVICE_OPS_LOWERING_H_

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/base/options.h"
#include "compiler/ir/graph.h"
#include "compiler/ops/window.h"
#include "compiler/schedule/device_graph.h"
#include "compiler/stream/pack.h"

namespace heddle::compiler {

// Tensors that become additional outputs: the quantized ones, or all that are
// computed.
enum class TapSet { kNone, kQuantized, kAll };

// A stack of matrices in rows (lower_qmatmul.h): value [matrices, columns,
// rows, 1] in blocked layout.
struct StackInRows {
  int value = -1;
  bool transposed = false;  // the tensor holds the transposes of the matrices
  bool own = false;         // what computes the tensor writes there
  bool merged = false;      // in ONNX's order it is another tensor's (heads.h)
};

class Lowering {
 public:
  Lowering(const Graph& graph, const isa::Config& config,
           const Features& features, DeviceGraph* device);

  const Graph& graph() const { return graph_; }
  const isa::Config& config() const { return config_; }
  const Features& features() const { return features_; }
  DeviceGraph& device() { return *device_; }
  const Tensor& tensor(TensorId id) const { return graph_.tensors[id]; }
  // Constant data of an input, null when it is computed or absent.
  const TensorData* ConstantInput(const Node& node, size_t i) const;
  // The bytes of an input that is constant.
  SharedBytes ConstantBytes(const Node& node, size_t i) const;
  const std::vector<int>& consumers(TensorId id) const {
    return consumers_[id];
  }

  // Whether ValueOf() needs nothing new.
  bool IsLowered(TensorId id) const { return values_[id] >= 0; }
  // The value of a tensor that was lowered before; a constant is a storage in
  // region 0. int64 tensors are int32 on the card: a constant that does not
  // fit makes Run fail.
  int ValueOf(TensorId id, const Node& node);
  // A value in `layout`: that of the tensor, or a copy in the other layout that
  // a relayout operation makes (once).
  int ValueIn(TensorId id, Layout layout, const Node& node);
  // A new storage with its value for a computed tensor. Dense unless `layout`
  // says otherwise.
  int NewValue(TensorId id, Layout layout);
  // A new storage for something that is no tensor of the graph.
  int NewTemporary(const std::string& name, DataType type, const Shape& shape,
                   Layout layout);
  // A view of a dense value in another shape of as many elements.
  int Reshaped(int value, const Shape& shape);
  // A view of the bytes of `value` from `offset` on, as a tensor of `shape`.
  int Part(int value, uint64_t offset, const Shape& shape);
  // Lets the storage of `value` become the bytes of `whole` from `offset` on,
  // so that its producers write there; every view of it follows. False, and
  // nothing done, if that storage cannot move: its place is given, its layout
  // is another, or `value` does not cover it.
  bool Adopt(int value, int whole, uint64_t offset);
  // Records a value for a tensor that some lowering made by itself.
  void Bind(TensorId id, int value) { values_[id] = value; }
  // The same for tensors of codes in rows. One that is `own` is copied into
  // ONNX's order when somebody asks for its value.
  void BindRows(TensorId id, const StackInRows& rows) { rows_[id] = rows; }
  // A new storage in rows, bound to the tensor.
  int NewRows(TensorId id, int64_t matrices, int64_t rows, int64_t columns);
  const StackInRows* FindRows(TensorId id) const {
    const auto it = rows_.find(id);
    return it == rows_.end() ? nullptr : &it->second;
  }
  // The storage of an own stack, of one image seen as `matrix`, has the
  // matrix's order of elements in ONNX's order.
  void SetRowOrder(TensorId id, const Extent& matrix);
  // The node that computes `id`, or null.
  const Node* ProducerOf(TensorId id) const {
    return producers_[id] < 0 ? nullptr : &graph_.nodes[producers_[id]];
  }

  // The layout that the consumers of an 8-bit tensor want: packed if all are
  // first layers, else blocked.
  Layout LayoutFor(TensorId id) const;

  // Appends an operation for `node`.
  void Add(std::unique_ptr<DeviceOp> op, const Node& node);

  // Lowers everything, and lays out region 2. Tapped tensors get a place in it
  // too.
  absl::Status Run(TapSet taps);

 private:
  absl::Status CheckNotEmpty() const;
  // Is the value all of its storage?
  bool Covers(int value) const;
  void PlaceIo(TapSet taps);
  // The edge of int64 tensors: the low words of an input, and both words of an
  // output.
  int FromWords(TensorId id);
  int ToWords(TensorId id, int value);
  void AssignHalos();

  const Graph& graph_;
  isa::Config config_;
  Features features_;
  DeviceGraph* device_;
  std::vector<int> values_;  // by TensorId; -1
  absl::Status narrowing_;   // why some constant is refused
  std::vector<std::vector<int>> consumers_;
  std::vector<int> producers_;
  std::map<TensorId, StackInRows> rows_;
  std::map<std::pair<int, Layout>, int> relayouts_;  // of a value
};

using LowerFunction = absl::Status (*)(Lowering* lowering, const Node& node);

// Registers the lowering of an operator; `domain` "" is ONNX's. `narrows`: it
// is exact on int64 tensors, whose values the card holds as int32.
class LoweringRegistration {
 public:
  LoweringRegistration(const char* domain, const char* op, LowerFunction lower,
                       bool narrows = false);
};

// Registers the lowering of all operators that are microprograms
// (ops/program_operator.h) and have no registration of their own.
class ProgramLoweringRegistration {
 public:
  explicit ProgramLoweringRegistration(LowerFunction lower);
};

// Whether the operator's lowering takes int64 tensors that are computed.
bool NarrowsInt64(const std::string& domain, const std::string& op);

// Whether the device has a lowering for the operator.
bool HasLowering(const std::string& domain, const std::string& op);
// OK, or the rejection of a node whose operator has none.
absl::Status CheckLowering(const Node& node);

// Byte strides of a dense view along the columns, rows and channels of the
// blocked extent of the same shape (they differ for rank 1 and 2).
struct MixedStrides {
  int64_t column, row, channel;
};
MixedStrides StridesInBlocked(const Shape& shape, const TileView& dense);

// The value of an 8-bit code, and of the first code of a zero point tensor (0
// when it is absent; int32 zero points count too).
int64_t CodeValue(uint8_t code, bool is_signed);
int64_t CodeZero(const TensorData* zero);

// Is `node` a convolution that can read packed rows (mode fold)?
bool AcceptsPacked(const Graph& graph, const Node& node,
                   const isa::Config& config);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_DEVICE_OPS_LOWERING_H_

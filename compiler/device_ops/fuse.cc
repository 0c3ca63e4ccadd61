// SPDX-License-Identifier: Apache-2.0
#include "compiler/device_ops/fuse.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/device_ops/lower_codes.h"
#include "compiler/ops/define.h"
#include "compiler/ops/pool.h"
#include "compiler/ops/quantized_values.h"
#include "compiler/schedule/matrix_op.h"

namespace heddle::compiler {
namespace {

bool IsCode(DataType type) {
  return type == DataType::kUint8 || type == DataType::kInt8;
}

class Fuser {
 public:
  Fuser(Lowering* lowering, const Node& node)
      : l_(*lowering), graph_(lowering->device()), node_(node) {}

  bool Run() {
    const Features& f = l_.features();
    if (node_.outputs.size() != 1 || node_.inputs.empty() ||
        !IsCode(l_.tensor(node_.outputs[0]).type)) {
      return false;
    }
    if (node_.op == "QLinearAdd" || node_.op == "QLinearMul") {
      return f.fuse_residual && Residual();
    }
    if (node_.op == "QLinearSigmoid" || node_.op == "QLinearLeakyRelu" ||
        node_.op == "Relu" || node_.op == "Clip" ||
        (node_.domain == kInternalDomain && node_.op == "Table")) {
      return f.fuse_table && Table();
    }
    if (node_.op == "MaxPool") return f.fuse_pool && MaxPool();
    if (node_.op == "QLinearGlobalAveragePool" ||
        node_.op == "QLinearAveragePool") {
      return f.fuse_pool && Average();
    }
    return false;
  }

 private:
  // The matrix operation that makes tensor `id` for this node alone and can
  // take the stage; its index, or -1.
  int Producer(TensorId id, OutputStage::Kind kind) const {
    if (id == kNoTensor || l_.tensor(id).is_constant() || !l_.IsLowered(id) ||
        l_.consumers(id).size() != 1 || l_.graph().IsOutput(id)) {
      return -1;
    }
    const int value = l_.ValueOf(id, node_);
    for (size_t i = graph_.ops.size(); i-- > 0;) {
      if (graph_.ops[i]->output != value) continue;
      MatrixOp* op = graph_.ops[i]->AsMatrix();
      return op != nullptr && op->Accepts(kind) ? static_cast<int>(i) : -1;
    }
    return -1;
  }

  // Index of the operation that makes a value; -1 for an input.
  int MadeBy(int value) const {
    for (size_t i = graph_.ops.size(); i-- > 0;) {
      if (graph_.values[graph_.ops[i]->output].storage ==
          graph_.values[value].storage) {
        return static_cast<int>(i);
      }
    }
    return -1;
  }

  // Scalar constants `scale` and, if given, `zero` of the node's inputs.
  bool Scalar(size_t scale, size_t zero, float* s, int64_t* z) const {
    const TensorData* data = l_.ConstantInput(node_, scale);
    const TensorData* zeros = l_.ConstantInput(node_, zero);
    if (data == nullptr || data->count() != 1 ||
        data->type != DataType::kFloat ||
        (HasInput(node_, zero) && zeros == nullptr)) {
      return false;
    }
    *s = ScalarF32(*data);
    *z = ZeroPoint(zeros);
    return true;
  }

  void Finish(int index, OutputStage stage) {
    MatrixOp* op = graph_.ops[index]->AsMatrix();
    stage.output = l_.NewValue(node_.outputs[0], Layout::kBlocked);
    op->AddStage(stage);
    absl::StrAppend(&op->op, "+", node_.op);
    op->sources.insert(op->sources.end(), node_.sources.begin(),
                       node_.sources.end());
  }

  bool Residual() {
    const TensorId operands[2] = {node_.inputs[0], node_.inputs[3]};
    float scale[3];
    int64_t zero[3];
    if (!Scalar(1, 2, &scale[0], &zero[0]) ||
        !Scalar(4, 5, &scale[1], &zero[1]) ||
        !Scalar(6, 7, &scale[2], &zero[2])) {
      return false;
    }
    if (operands[0] == operands[1] ||
        l_.tensor(operands[0]).shape != l_.tensor(operands[1]).shape) {
      return false;
    }
    // The later of two candidates, so that the other operand is there.
    int main = -1, index = -1;
    for (int i = 0; i < 2; ++i) {
      const int made = Producer(operands[i], OutputStage::kResidual);
      const TensorId other = operands[1 - i];
      if (made > index && !l_.tensor(other).is_constant()) {
        main = i;
        index = made;
      }
    }
    if (main < 0) return false;
    OutputStage s;
    s.kind = OutputStage::kResidual;
    s.residual = l_.ValueIn(operands[1 - main], Layout::kBlocked, node_);
    if (graph_.values[s.residual].extent.n !=
            graph_.values[graph_.ops[index]->output].extent.n ||
        graph_.values[s.residual].extent.h !=
            graph_.values[graph_.ops[index]->output].extent.h) {
      return false;
    }
    if (MadeBy(s.residual) > index) {
      // Nobody reads what it makes before this node: it can wait.
      std::rotate(graph_.ops.begin() + index, graph_.ops.begin() + index + 1,
                  graph_.ops.end());
      index = static_cast<int>(graph_.ops.size()) - 1;
    }
    s.residual_signed = l_.tensor(operands[1 - main]).type == DataType::kInt8;
    s.residual_first = main == 1;
    s.residual_zero = zero[1 - main];
    s.mid_zero = zero[main];
    if (node_.op == "QLinearAdd") {
      s.op = isa::ResidualOp::kAdd;
      s.a = model::FDiv(scale[0], scale[2]);
      s.b = model::FDiv(scale[1], scale[2]);
      s.k = model::FSub(
          model::I32ToF32(static_cast<int32_t>(zero[2])),
          model::Fma(s.a, model::I32ToF32(static_cast<int32_t>(zero[0])),
                     model::FMul(
                         s.b, model::I32ToF32(static_cast<int32_t>(zero[1])))));
    } else {
      s.op = isa::ResidualOp::kMul;
      s.a = model::FDiv(model::FMul(scale[0], scale[1]), scale[2]);
      s.k = model::I32ToF32(static_cast<int32_t>(zero[2]));
    }
    Finish(index, s);
    return true;
  }

  // The operator's own reference semantics on every code.
  bool Table() {
    const int index = Producer(node_.inputs[0], OutputStage::kTable);
    if (index < 0) return false;
    const DataType type = l_.tensor(node_.inputs[0]).type;
    if (l_.tensor(node_.outputs[0]).type != type) return false;
    std::vector<const TensorData*> others(1, nullptr);
    for (size_t i = 1; i < node_.inputs.size(); ++i) {
      others.push_back(l_.ConstantInput(node_, i));
      if (HasInput(node_, i) && others.back() == nullptr) return false;
    }
    const auto table = TableOf(l_, node_, type, others, 0);
    if (!table.ok() || table->size() != 256) return false;
    OutputStage s;
    s.kind = OutputStage::kTable;
    std::copy_n(table->begin(), 256, s.table.begin());
    Finish(index, s);
    return true;
  }

  // What must be in SRAM at once when the whole image is one command.
  bool FitsWhole(int index, const Shape& out) const {
    uint64_t bytes =
        GeometryOf(ExtentOf(out, Layout::kBlocked), Layout::kBlocked, 1,
                   ExtentOf(out, Layout::kBlocked).h, Halo())
            .bytes;
    for (const OpInput& in : graph_.ops[index]->inputs) {
      bytes += graph_.StorageOf(in.value).SramBytes();
    }
    return bytes <= l_.config().sram_bytes / 2;
  }

  // What must be in SRAM at once when a row of the pooling is one command.
  bool FitsRow(int index, const Window& pool, const Shape& out) const {
    const auto row = [&](const Extent& e) {
      return GeometryOf(e, Layout::kBlocked, 1, 1, Halo()).bytes;
    };
    uint64_t bytes = row(ExtentOf(out, Layout::kBlocked));
    for (const OpInput& in : graph_.ops[index]->inputs) {
      const int64_t rows =
          in.rows.extent + (pool.kernel[0] - 1) * in.rows.stride;
      bytes += rows * row(graph_.values[in.value].extent);
    }
    return bytes <= l_.config().sram_bytes / 4;
  }

  bool MaxPool() {
    const int index = Producer(node_.inputs[0], OutputStage::kMaxPool);
    if (index < 0) return false;
    const Shape& in = l_.tensor(node_.inputs[0]).shape;
    if (in.size() != 4) return false;
    auto window = ResolvePool(node_, in);
    if (!window.ok()) return false;
    const Window& w = *window;
    if (w.kernel[0] != w.kernel[1] || w.stride[0] != w.stride[1] ||
        w.pad_begin[0] != w.pad_begin[1] || w.dilation[0] != 1 ||
        w.dilation[1] != 1 || w.kernel[0] > 15 || w.stride[0] > 15 ||
        w.pad_begin[0] < 0 || w.pad_begin[0] >= w.kernel[0]) {
      return false;
    }
    for (int d = 0; d < 2; ++d) {
      // Every window reaches the image.
      if ((w.out[d] - 1) * w.stride[d] - w.pad_begin[d] >= w.in[d]) {
        return false;
      }
    }
    const Shape& out = l_.tensor(node_.outputs[0]).shape;
    if (w.kernel[0] > w.stride[0] ? !FitsWhole(index, out)
                                  : !FitsRow(index, w, out)) {
      return false;
    }
    OutputStage s;
    s.kind = OutputStage::kMaxPool;
    s.kernel = w.kernel[0];
    s.stride = w.stride[0];
    s.pad = w.pad_begin[0];
    s.out = {w.out[0], w.out[1]};
    Finish(index, s);
    return true;
  }

  bool Average() {
    const int index = Producer(node_.inputs[0], OutputStage::kAverage);
    if (index < 0 || node_.IntAttribute("channels_last", 0) != 0) return false;
    const Shape& in = l_.tensor(node_.inputs[0]).shape;
    if (in.size() != 3 && in.size() != 4) return false;
    if (node_.op == "QLinearAveragePool") {
      // A window equal to the image is the global pooling.
      auto window = ResolvePool(node_, in);
      if (!window.ok() || window->HasPadding() ||
          window->kernel[0] != window->in[0] ||
          window->kernel[1] != window->in[1]) {
        return false;
      }
    }
    float xs, ys;
    int64_t xz, yz;
    if (!Scalar(1, 2, &xs, &xz) || !Scalar(3, 4, &ys, &yz)) return false;
    const Shape& out = l_.tensor(node_.outputs[0]).shape;
    if (!FitsWhole(index, out)) return false;
    const int64_t pixels = ElementCount(Shape(in.begin() + 2, in.end()));
    OutputStage s;
    s.kind = OutputStage::kAverage;
    s.scale = model::FDiv(xs, model::FMul(ys, static_cast<float>(pixels)));
    s.zero_in = xz;
    s.zero_out = yz;
    Finish(index, s);
    return true;
  }

  Lowering& l_;
  DeviceGraph& graph_;
  const Node& node_;
};

}  // namespace

bool FuseIntoMatrix(Lowering* lowering, const Node& node) {
  return Fuser(lowering, node).Run();
}

}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
// MatMul and Gemm in fp32 and fp16 on the vector engine.
#include <array>
#include <cstring>

#include "compiler/base/status_macros.h"
#include "compiler/device_ops/elementwise.h"
#include "compiler/device_ops/matmul_op.h"
#include "compiler/device_ops/take.h"
#include "compiler/ops/define.h"
#include "compiler/ops/gemm.h"
#include "compiler/ops/matmul.h"
#include "simulator/model/numerics.h"

namespace heddle::compiler {
namespace {

// The cut for operands `o`.
MatMulCut CutFor(Lowering* l, const MatMulSpec& spec, const MatMulOperands& o) {
  const auto planes = [l](int value) {
    return value < 0 ? 1 : l->device().values[value].extent.c;
  };
  return CutMatMul(spec, o.b < 0, planes(o.a), planes(o.b), l->config());
}

// An operand as a value of `shape`.
int OperandValue(Lowering* l, const Node& node, size_t i, const Shape& shape) {
  const int value = l->ValueIn(node.inputs[i], Layout::kDense, node);
  if (l->device().values[value].shape == shape) return value;
  return l->Reshaped(value, shape);
}

// The product of `o` and everything behind it, into tensor `id` or the clamp
// behind it; `shape` is the result's as the product sees it.
void AddProduct(Lowering* l, const Node& node, const MatMulSpec& spec,
                const MatMulOperands& o, const Shape& shape) {
  DeviceGraph* device = &l->device();
  const MatMulCut cut = CutFor(l, spec, o);
  TensorId result = node.outputs[0];
  const MacClamp clamp = FindClamp(*l, result, &result);
  const Node done = WithClamp(*l, node, result);
  const Tensor& tensor = l->tensor(result);
  int to = -1;
  if (shape == tensor.shape) {
    to = l->NewValue(result, Layout::kDense);
  } else {
    to = l->NewTemporary(tensor.name, tensor.type, shape, Layout::kDense);
    l->Bind(result, l->Reshaped(to, tensor.shape));
  }
  int sum = to;
  if (cut.split && spec.type != DataType::kFloat) {
    sum = l->NewTemporary(tensor.name + "/sum", DataType::kFloat, shape,
                          Layout::kDense);
  }
  l->Add(MakeMatMulOp(device, spec, cut, o, clamp, sum), done);
  if (sum != to) l->Add(MakeRounding(*device, sum, to), done);
}

// A dimension of the stack, outermost first.
struct StackDim {
  int64_t n;
  bool a, b;  // whether the operand has it (else it is repeated)
};

// The common stack of both operands, neighbours of one kind merged.
std::vector<StackDim> StackOf(const Shape& a, const Shape& b) {
  std::vector<StackDim> dims;
  const size_t rank = std::max(a.size(), b.size());
  for (size_t i = rank; i-- > 0;) {
    const int64_t na = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t nb = i < b.size() ? b[b.size() - 1 - i] : 1;
    const StackDim d{std::max(na, nb), na > 1, nb > 1};
    if (d.n == 1) continue;
    if (!dims.empty() && dims.back().a == d.a && dims.back().b == d.b) {
      dims.back().n *= d.n;
    } else {
      dims.push_back(d);
    }
  }
  return dims;
}

// Repeats matrices of `value`, so that plane i of the result takes plane i or
// all take the same.
void PutInOrder(Lowering* l, const Node& node, int* value,
                std::vector<int64_t>* planes) {
  bool first = true, same = true;
  for (size_t i = 0; i < planes->size(); ++i) {
    first = first && (*planes)[i] == 0;
    same = same && (*planes)[i] == static_cast<int64_t>(i);
  }
  if (first || same) return;
  IndexMap map = IdentityMap(l->device().values[*value].shape);
  map.axes[1] = *planes;
  *value = TakeValue(l, node, *value, std::move(map));
  for (size_t i = 0; i < planes->size(); ++i) {
    (*planes)[i] = static_cast<int64_t>(i);
  }
}

absl::Status LowerMatMul(Lowering* l, const Node& node) {
  Shape a = l->tensor(node.inputs[0]).shape,
        b = l->tensor(node.inputs[1]).shape;
  const DataType type = l->tensor(node.inputs[0]).type;
  if (!Contains(kReals, type)) {
    return RejectNode(Rejection::kUnsupportedDatatype, node,
                      "the card multiplies matrices of float and float16, and "
                      "those of 8 bits by MatMulInteger; input 0 is ",
                      DataTypeName(type));
  }
  ASSIGN_OR_RETURN(MatMulShape product, ResolveMatMul(node, a, b));
  if (a.size() == 1) a.insert(a.begin(), 1);
  if (b.size() == 1) b.push_back(1);
  MatMulSpec spec;
  spec.m = product.m;
  spec.k = product.k;
  spec.n = product.n;
  spec.type = type;
  std::vector<StackDim> stack =
      StackOf(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  MatMulOperands o;
  if (stack.empty() || (stack.size() == 1 && !stack[0].b)) {
    // One matrix b: the whole of a is rows.
    if (!stack.empty()) spec.m *= stack[0].n;
    o.a = OperandValue(l, node, 0, {spec.m, spec.k});
    o.data = l->ConstantInput(node, 1);
    if (o.data == nullptr) o.b = OperandValue(l, node, 1, {spec.k, spec.n});
    AddProduct(l, node, spec, o, {spec.m, spec.n});
    return absl::OkStatus();
  }
  // The outermost dimension becomes images, the others planes.
  const StackDim images = stack[0];
  stack.erase(stack.begin());
  spec.a_plane = spec.b_plane = {0};
  int64_t a_planes = 1, b_planes = 1;
  for (size_t i = stack.size(); i-- > 0;) {
    const StackDim& d = stack[i];
    std::vector<int64_t> a_next, b_next;
    for (int64_t j = 0; j < d.n; ++j) {
      for (size_t p = 0; p < spec.a_plane.size(); ++p) {
        a_next.push_back(spec.a_plane[p] + (d.a ? j * a_planes : 0));
        b_next.push_back(spec.b_plane[p] + (d.b ? j * b_planes : 0));
      }
    }
    if (d.a) a_planes *= d.n;
    if (d.b) b_planes *= d.n;
    spec.a_plane = std::move(a_next);
    spec.b_plane = std::move(b_next);
  }
  o.a = OperandValue(l, node, 0,
                     {images.a ? images.n : 1, a_planes, spec.m, spec.k});
  o.b = OperandValue(l, node, 1,
                     {images.b ? images.n : 1, b_planes, spec.k, spec.n});
  // An operand whose matrices are in another order than the result's keeps all
  // planes in one tile: where these are many, they are put in order first.
  const int64_t tile = static_cast<int64_t>(spec.a_plane.size()) *
                       isa::kVectorLanes * static_cast<int64_t>(sizeof(float));
  if (tile > static_cast<int64_t>(l->config().sram_bytes / 8)) {
    PutInOrder(l, node, &o.a, &spec.a_plane);
    PutInOrder(l, node, &o.b, &spec.b_plane);
  }
  AddProduct(
      l, node, spec, o,
      {images.n, static_cast<int64_t>(spec.a_plane.size()), spec.m, spec.n});
  return absl::OkStatus();
}

uint32_t Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

// C as a matrix that broadcasts to the result: its own shape in rank 2.
Shape MatrixOf(Shape shape) {
  shape.insert(shape.begin(), 2 - shape.size(), 1);
  return shape;
}

// f32(beta * C) in fp32.
TensorData Scaled(const TensorData& c, float beta) {
  TensorData out = TensorData::Zeros(DataType::kFloat, c.shape);
  for (int64_t i = 0; i < c.count(); ++i) {
    const float v = c.type == DataType::kFloat
                        ? c.as<float>()[i]
                        : model::F16ToF32(c.as<uint16_t>()[i]);
    out.as<float>()[i] = beta != 1 ? model::FMul(v, beta) : v;
  }
  return out;
}

// The value f32(beta * C), or C where beta is 1.
int TermValue(Lowering* l, const Node& node, float beta) {
  const Tensor& c = l->tensor(node.inputs[2]);
  const Shape shape = MatrixOf(c.shape);
  if (c.is_constant()) {
    return ConstantValue(l, c.name + "/term", Scaled(*c.constant, beta), shape);
  }
  const int value = OperandValue(l, node, 2, shape);
  if (beta == 1) return value;
  const int term = l->NewTemporary(c.name + "/term", DataType::kFloat, shape,
                                   Layout::kDense);
  l->Add(MakeElementwise(&l->device(), ScaleProgram(), {Bits(beta), 0, 0, 0},
                         {Operand::Of(value)}, term),
         node);
  return term;
}

absl::Status LowerGemm(Lowering* l, const Node& node) {
  ASSIGN_OR_RETURN(GemmShape shape,
                   ResolveGemm(node, l->tensor(node.inputs[0]).shape,
                               l->tensor(node.inputs[1]).shape));
  MatMulSpec spec;
  spec.m = shape.m;
  spec.k = shape.k;
  spec.n = shape.n;
  spec.trans_a = shape.trans_a;
  spec.trans_b = shape.trans_b;
  spec.type = l->tensor(node.inputs[0]).type;
  const float alpha = node.FloatAttribute("alpha", 1),
              beta = node.FloatAttribute("beta", 1);
  MatMulOperands o;
  o.a = OperandValue(l, node, 0, l->tensor(node.inputs[0]).shape);
  o.data = l->ConstantInput(node, 1);
  if (o.data == nullptr) {
    o.b = OperandValue(l, node, 1, l->tensor(node.inputs[1]).shape);
  }
  const Tensor& out = l->tensor(node.outputs[0]);
  const int term = HasInput(node, 2) ? TermValue(l, node, beta) : -1;
  if (alpha == 1) {
    o.initial = term;
    AddProduct(l, node, spec, o, out.shape);
    return absl::OkStatus();
  }
  DeviceGraph* device = &l->device();
  const MatMulCut cut = CutFor(l, spec, o);
  const int product = l->NewTemporary(out.name + "/product", DataType::kFloat,
                                      out.shape, Layout::kDense);
  l->Add(MakeMatMulOp(device, spec, cut, o, MacClamp(), product), node);
  const int to = l->NewValue(node.outputs[0], Layout::kDense);
  std::vector<Operand> operands = {Operand::Of(product)};
  if (term >= 0) operands.push_back(Operand::Of(term));
  l->Add(MakeElementwise(
             device, term >= 0 ? ScaleAddProgram(true, false) : ScaleProgram(),
             {Bits(alpha), 0, 0, 0}, operands, to),
         node);
  return absl::OkStatus();
}

const LoweringRegistration kMatMul("", "MatMul", LowerMatMul);
const LoweringRegistration kGemm("", "Gemm", LowerGemm);

}  // namespace
}  // namespace heddle::compiler

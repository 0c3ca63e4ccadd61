// SPDX-License-Identifier: Apache-2.0
#include "tests/opsets/old_graphs.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/testing/model_builder.h"
#include "tests/opsets/random.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::ElementCount;
using compiler::Int64s;
using compiler::ModelBuilder;
using compiler::SetFloat;
using compiler::SetInt;
using compiler::SetInts;
using compiler::SetString;
using compiler::Shape;
using compiler::TensorData;
using Ints = std::vector<int64_t>;

// Values beyond this are not multiplied any more.
constexpr double kLarge = 100;

void SetFloats(onnx::NodeProto* node, const char* name,
               const std::vector<float>& values) {
  auto* attribute = node->add_attribute();
  attribute->set_name(name);
  attribute->set_type(onnx::AttributeProto::FLOATS);
  for (float value : values) attribute->add_floats(value);
}

class Writer {
 public:
  Writer(int opset, uint64_t seed)
      : opset_(opset), random_(seed), old_(opset), modern_(kFirstRun) {}

  OldCase Make() {
    shape_ = {random_.Between(1, 3), random_.Between(1, 5)};
    if (!random_.OneIn(4)) {
      shape_.push_back(random_.Between(1, 6));
      shape_.push_back(random_.Between(1, 6));
    }
    const TensorData x = random_.Values(DataType::kFloat, shape_);
    bound_ = 8;
    x_ = "x";
    old_.Input(x_, x.type, x.shape);
    modern_.Input(x_, x.type, x.shape);
    const int64_t nodes = random_.Between(2, 8);
    // (Some steps do not fit the tensor at hand.)
    for (int64_t steps = 0; steps < nodes || operators_.empty(); ++steps) {
      Step();
    }
    OldCase result;
    for (ModelBuilder* b : {&old_, &modern_}) {
      b->Output(x_, DataType::kFloat, shape_);
    }
    result.old = {old_.Bytes(), {"x"}, {x_}, {x}};
    result.modern = modern_.Bytes();
    result.operators = std::move(operators_);
    return result;
  }

 private:
  using Attributes = std::function<void(onnx::NodeProto*)>;

  // A node of both models, whose result is the tensor at hand.
  void Node(const std::string& op, const std::vector<std::string>& was,
            const std::vector<std::string>& is, const Attributes& old = {},
            const Attributes& modern = {}) {
    x_ = absl::StrCat("t", ++names_);
    onnx::NodeProto* a = old_.Node(op, was, {x_});
    onnx::NodeProto* b = modern_.Node(op, is, {x_});
    if (old) old(a);
    if (modern) modern(b);
    operators_.insert(op);
    exact_ = false;
  }
  void Same(const std::string& op, const std::vector<std::string>& inputs,
            const Attributes& attributes = {}) {
    Node(op, inputs, inputs, attributes, attributes);
  }
  // One input; opset 1 says which inputs may be overwritten.
  void Unary(const std::string& op, const Attributes& attributes = {}) {
    const auto consuming = [&](onnx::NodeProto* node) {
      if (attributes) attributes(node);
      if (opset_ < 6 && random_.OneIn(2)) {
        SetInts(node, "consumed_inputs", {0});
      }
    };
    Node(op, {x_}, {x_}, consuming, attributes);
  }
  // A constant of both; `modern`: its shape at opset 7.
  std::string Constant(TensorData data, const Shape& modern) {
    const std::string name = absl::StrCat("c", ++names_);
    old_.Constant(name, data);
    data.shape = modern;
    modern_.Constant(name, data);
    return name;
  }
  std::string Constant(const TensorData& data) {
    return Constant(data, data.shape);
  }
  TensorData Reals(const Shape& shape) {
    return random_.Values(DataType::kFloat, shape);
  }
  bool IsImage() const { return shape_.size() == 4; }

  void Step();
  void Function();
  void Positive();
  void Binary();
  void Logic();
  void Several();
  void Normalise();
  void Matrix();
  void Rearrange();
  void Resample();
  void Window();
  void Reduce();
  std::string Operand(bool* broadcast, int64_t* axis, DataType type);

  const int opset_;
  Random random_;
  ModelBuilder old_, modern_;
  std::string x_;  // the tensor at hand, of float
  Shape shape_;
  double bound_ = 0;   // of its values
  bool exact_ = true;  // it is the model's input
  int names_ = 0;
  std::set<std::string> operators_;
};

void Writer::Step() {
  switch (random_.Below(11)) {
    case 0:
    case 1:
      return Function();
    case 2:
      return Positive();
    case 3:
      return Binary();
    case 4:
      return exact_ ? Logic() : Binary();
    case 5:
      return Several();
    case 6:
      return Normalise();
    case 7:
      return Matrix();
    case 8:
      return Rearrange();
    case 9:
      return random_.OneIn(2) ? Resample() : Window();
    default:
      return Reduce();
  }
}

void Writer::Function() {
  const auto real = [](const char* name, float value) {
    return [=](onnx::NodeProto* node) { SetFloat(node, name, value); };
  };
  switch (random_.Below(11)) {
    case 0:
      return Unary("Abs");
    case 1:
      return Unary("Neg");
    case 2:
      return Unary("Relu");
    case 3:
      Unary("Sigmoid");
      bound_ = 1;
      return;
    case 4:
      Unary("Tanh");
      bound_ = 1;
      return;
    case 5:
      return Unary("Elu", real("alpha", 0.5f));
    case 6:
      return Unary("LeakyRelu", real("alpha", 0.25f));
    case 7:
      Unary("HardSigmoid", [](onnx::NodeProto* node) {
        SetFloat(node, "alpha", 0.25f);
        SetFloat(node, "beta", 0.375f);
      });
      bound_ = 1;
      return;
    case 8: {
      // The defaults of opset 6 have more digits.
      const bool defaults = random_.OneIn(2) && opset_ < 6;
      Node(
          "Selu", {x_}, {x_},
          [&](onnx::NodeProto* node) {
            if (defaults) return;
            SetFloat(node, "alpha", 1.5f);
            SetFloat(node, "gamma", 1.25f);
          },
          [&](onnx::NodeProto* node) {
            SetFloat(node, "alpha", defaults ? 1.6732f : 1.5f);
            SetFloat(node, "gamma", defaults ? 1.0507f : 1.25f);
          });
      bound_ *= 2;
      return;
    }
    case 9:
      Unary("Clip", [](onnx::NodeProto* node) {
        SetFloat(node, "min", -1.5f);
        SetFloat(node, "max", 2.5f);
      });
      bound_ = std::min(bound_, 2.5);
      return;
    default: {
      const bool now = random_.OneIn(2) && opset_ < 6;
      Node(
          "Dropout", {x_}, {x_},
          [&](onnx::NodeProto* node) {
            SetInt(node, "is_test", 1);
            if (now) SetInts(node, "consumed_inputs", {0});
          },
          [](onnx::NodeProto* node) { SetFloat(node, "ratio", 0.25f); });
    }
  }
}

// Functions of numbers that are at least 1.
void Writer::Positive() {
  if (bound_ > kLarge) return;
  Unary("Abs");
  const std::string one = Constant(compiler::Floats({1}, {1}));
  Node("Add", {x_, one}, {x_, one},
       [](onnx::NodeProto* node) { SetInt(node, "broadcast", 1); });
  bound_ += 1;
  const char* ops[] = {"Sqrt", "Log", "Reciprocal"};
  Unary(ops[random_.Below(3)]);
  if (random_.OneIn(3)) {
    Unary("Neg");
    Unary("Exp");
    bound_ = 1;
  }
}

// A constant for the second operand: one element, the last dimensions, or
// those from an axis on. At opset 7 it broadcasts as numpy does.
std::string Writer::Operand(bool* broadcast, int64_t* axis, DataType type) {
  const auto rank = static_cast<int64_t>(shape_.size());
  *axis = -1;
  *broadcast = true;
  switch (random_.Below(4)) {
    case 0:
      *broadcast = false;
      return Constant(random_.Values(type, shape_));
    case 1:
      return Constant(random_.Values(type, {1}));
    case 2: {
      const int64_t first = random_.Below(rank);
      return Constant(
          random_.Values(type, Shape(shape_.begin() + first, shape_.end())));
    }
    default: {
      const int64_t first = random_.Below(rank);
      const int64_t count = random_.Between(1, rank - first);
      *axis = first;
      const Shape old(shape_.begin() + first, shape_.begin() + first + count);
      Shape modern = old;
      modern.resize(static_cast<size_t>(rank - first), 1);
      return Constant(random_.Values(type, old), modern);
    }
  }
}

void Writer::Binary() {
  bool broadcast;
  int64_t axis;
  const char* ops[] = {"Add", "Sub", "Mul"};
  const char* op = ops[random_.Below(bound_ > kLarge ? 2 : 3)];
  const std::string b = Operand(&broadcast, &axis, DataType::kFloat);
  Node(op, {x_, b}, {x_, b}, [&](onnx::NodeProto* node) {
    if (broadcast) SetInt(node, "broadcast", 1);
    if (axis >= 0) SetInt(node, "axis", axis);
    if (opset_ < 6 && random_.OneIn(3)) {
      SetInts(node, "consumed_inputs", {0, 0});
    }
  });
  bound_ = op[0] == 'M' ? bound_ * 8 : bound_ + 8;
}

// Compared, combined, and made a number: Cast-1 spells the type.
void Writer::Logic() {
  bool broadcast;
  int64_t axis;
  const auto broadcasts = [&](onnx::NodeProto* node) {
    if (broadcast) SetInt(node, "broadcast", 1);
    if (axis >= 0) SetInt(node, "axis", axis);
  };
  std::string b = Operand(&broadcast, &axis, DataType::kFloat);
  Node(random_.OneIn(2) ? "Less" : "Greater", {x_, b}, {x_, b}, broadcasts);
  const char* ops[] = {"And", "Or", "Xor"};
  b = Operand(&broadcast, &axis, DataType::kBool);
  Node(ops[random_.Below(3)], {x_, b}, {x_, b}, broadcasts);
  if (random_.OneIn(2)) Same("Not", {x_});
  Node(
      "Cast", {x_}, {x_},
      [&](onnx::NodeProto* node) {
        if (opset_ < 6) {
          SetString(node, "to", "FLOAT");
        } else {
          SetInt(node, "to", 1);
        }
      },
      [](onnx::NodeProto* node) { SetInt(node, "to", 1); });
  bound_ = 1;
}

void Writer::Several() {
  const char* ops[] = {"Max", "Min", "Sum", "Mean", "Concat"};
  const char* op = ops[random_.Below(5)];
  const std::string a = x_, b = Constant(Reals(shape_));
  if (op[0] == 'C') {
    // The axis is 1 by default in opsets before 4.
    const bool given = opset_ >= 4 || random_.OneIn(2);
    const int64_t axis =
        given ? random_.Below(static_cast<int64_t>(shape_.size())) : 1;
    if (shape_[static_cast<size_t>(axis)] > 12) return;
    Node(
        op, {a, b}, {a, b},
        [&](onnx::NodeProto* node) {
          if (given) SetInt(node, "axis", axis);
        },
        [&](onnx::NodeProto* node) { SetInt(node, "axis", axis); });
    shape_[static_cast<size_t>(axis)] *= 2;
    bound_ = std::max(bound_, 8.0);
    return;
  }
  Node(op, {a, b}, {a, b}, [&](onnx::NodeProto* node) {
    if (opset_ < 6 && random_.OneIn(2)) {
      SetInts(node, "consumed_inputs", {0, 0});
    }
  });
  bound_ += 8;
}

void Writer::Normalise() {
  const Shape channels = {shape_[1]};
  const auto positive = [&] {
    TensorData data = Reals(channels);
    for (int64_t i = 0; i < data.count(); ++i) {
      data.as<float>()[i] = std::abs(data.as<float>()[i]) + 1;
    }
    return data;
  };
  if (IsImage() && random_.OneIn(2)) {
    const std::string x = x_, s = Constant(Reals(channels)),
                      b = Constant(Reals(channels)),
                      m = Constant(Reals(channels)), v = Constant(positive());
    Node("BatchNormalization", {x, s, b, m, v}, {x, s, b, m, v},
         [&](onnx::NodeProto* node) {
           SetInt(node, "is_test", 1);
           if (opset_ < 6) SetInts(node, "consumed_inputs", {0, 0, 0, 1, 1});
         });
    bound_ = (bound_ + 8) * 8 + 8;
    return;
  }
  // One slope for all, or one for each channel.
  const bool all = random_.OneIn(2);
  Shape modern(shape_.size() - 1, 1);
  modern[0] = shape_[1];
  const std::string x = x_, slope = all ? Constant(Reals({1}))
                                        : Constant(Reals(channels), modern);
  Node("PRelu", {x, slope}, {x, slope}, [&](onnx::NodeProto* node) {
    if (opset_ < 6 && random_.OneIn(2)) {
      SetInts(node, "consumed_inputs", {0, 0});
    }
  });
  bound_ *= 8;
}

void Writer::Matrix() {
  if (bound_ > kLarge) return;
  if (IsImage()) {
    const int64_t maps = random_.Between(1, 4);
    const int64_t k = random_.Between(1, std::min(shape_[2], shape_[3]));
    const std::string x = x_, w = Constant(Reals({maps, shape_[1], k, k}));
    const Ints pads = {k - 1, 0, 0, k - 1};
    Same("Conv", {x, w}, [&](onnx::NodeProto* node) {
      SetInts(node, "kernel_shape", {k, k});
      SetInts(node, "pads", pads);
    });
    bound_ *= static_cast<double>(8 * shape_[1] * k * k);
    shape_[1] = maps;
    return;
  }
  if (shape_.size() != 2) return;
  // C is broadcast if the attribute says so.
  const int64_t n = random_.Between(1, 5), way = random_.Below(3);
  const bool turned = random_.OneIn(2);
  const std::string x = x_,
                    w = Constant(Reals(turned ? Shape{n, shape_[1]}
                                              : Shape{shape_[1], n})),
                    c = Constant(Reals(way == 0   ? Shape{shape_[0], n}
                                       : way == 1 ? Shape{n}
                                                  : Shape{1}));
  const auto attributes = [&](onnx::NodeProto* node) {
    SetFloat(node, "alpha", 0.5f);
    if (turned) SetInt(node, "transB", 1);
  };
  Node(
      "Gemm", {x, w, c}, {x, w, c},
      [&](onnx::NodeProto* node) {
        attributes(node);
        if (way != 0) SetInt(node, "broadcast", 1);
      },
      attributes);
  bound_ = bound_ * static_cast<double>(8 * shape_[1]) + 8;
  shape_[1] = n;
}

void Writer::Rearrange() {
  const auto rank = static_cast<int64_t>(shape_.size());
  switch (random_.Below(4)) {
    case 0: {
      // The shape is an attribute before opset 5.
      const Ints shape = {shape_[0], -1};
      const std::string x = x_, list = absl::StrCat("c", ++names_);
      modern_.Constant(list, Int64s({2}, shape));
      const bool attribute = opset_ < 5;
      if (!attribute) old_.Constant(list, Int64s({2}, shape));
      Node("Reshape",
           attribute ? std::vector<std::string>{x}
                     : std::vector<std::string>{x, list},
           {x, list}, [&](onnx::NodeProto* node) {
             if (attribute) SetInts(node, "shape", shape);
             if (attribute && random_.OneIn(2)) {
               SetInts(node, "consumed_inputs", {0});
             }
           });
      shape_ = {shape_[0], ElementCount(shape_) / shape_[0]};
      return;
    }
    case 1: {
      Ints pads(static_cast<size_t>(2 * rank));
      for (int64_t& p : pads) p = random_.Below(3);
      const auto rest = [](onnx::NodeProto* node) {
        SetString(node, "mode", "constant");
        SetFloat(node, "value", 0.5f);
      };
      for (int64_t i = 0; i < rank; ++i) {
        if (shape_[static_cast<size_t>(i)] > 12) return;
      }
      Node(
          "Pad", {x_}, {x_},
          [&](onnx::NodeProto* node) {
            rest(node);
            SetInts(node, opset_ < 2 ? "paddings" : "pads", pads);
          },
          [&](onnx::NodeProto* node) {
            rest(node);
            SetInts(node, "pads", pads);
          });
      for (int64_t i = 0; i < rank; ++i) {
        shape_[static_cast<size_t>(i)] +=
            pads[static_cast<size_t>(i)] + pads[static_cast<size_t>(i + rank)];
      }
      bound_ = std::max(bound_, 0.5);
      return;
    }
    case 2: {
      Ints perm(static_cast<size_t>(rank));
      Shape turned(static_cast<size_t>(rank));
      const int64_t shift = random_.Below(rank);
      for (int64_t i = 0; i < rank; ++i) {
        perm[static_cast<size_t>(i)] = (i + shift) % rank;
        turned[static_cast<size_t>(i)] =
            shape_[static_cast<size_t>((i + shift) % rank)];
      }
      Same("Transpose", {x_},
           [&](onnx::NodeProto* node) { SetInts(node, "perm", perm); });
      shape_ = turned;
      return;
    }
    default: {
      const int64_t axis = random_.Below(rank);
      int64_t& d = shape_[static_cast<size_t>(axis)];
      const int64_t from = random_.Below(d), to = random_.Between(from + 1, d);
      Same("Slice", {x_}, [&](onnx::NodeProto* node) {
        SetInts(node, "axes", {axis});
        SetInts(node, "starts", {from});
        SetInts(node, "ends", {to == d ? 1000 : to});
      });
      d = to - from;
    }
  }
}

void Writer::Resample() {
  if (!IsImage() || shape_[2] * shape_[3] > 100) return;
  // Two factors before opset 7.
  const int64_t h = random_.Between(1, 2), w = random_.Between(1, 3);
  Node(
      "Upsample", {x_}, {x_},
      [&](onnx::NodeProto* node) {
        SetString(node, "mode", "nearest");
        SetFloat(node, "height_scale", static_cast<float>(h));
        SetFloat(node, "width_scale", static_cast<float>(w));
      },
      [&](onnx::NodeProto* node) {
        SetString(node, "mode", "nearest");
        SetFloats(node, "scales",
                  {1, 1, static_cast<float>(h), static_cast<float>(w)});
      });
  shape_[2] *= h;
  shape_[3] *= w;
}

void Writer::Window() {
  if (!IsImage() || bound_ > kLarge) return;
  const int64_t k = random_.Between(1, std::min(shape_[2], shape_[3]));
  const int64_t way = random_.Below(4);
  const auto windows = [&](onnx::NodeProto* node) {
    SetInts(node, "kernel_shape", {k, k});
    SetInts(node, "strides", {1, 1});
  };
  if (way == 3) {  // the power is a float at opset 1
    Node(
        "GlobalLpPool", {x_}, {x_},
        [&](onnx::NodeProto* node) {
          if (opset_ < 2) {
            SetFloat(node, "p", 2);
          } else {
            SetInt(node, "p", 2);
          }
        },
        [](onnx::NodeProto* node) { SetInt(node, "p", 2); });
    bound_ *= static_cast<double>(shape_[2] * shape_[3]);
    shape_[2] = shape_[3] = 1;
    return;
  }
  if (way == 2) {
    Node(
        "LpPool", {x_}, {x_},
        [&](onnx::NodeProto* node) {
          windows(node);
          if (opset_ < 2) {
            SetFloat(node, "p", 2);
          } else {
            SetInt(node, "p", 2);
          }
        },
        [&](onnx::NodeProto* node) {
          windows(node);
          SetInt(node, "p", 2);
        });
    bound_ *= static_cast<double>(k * k);
  } else {
    Same(way == 0 ? "MaxPool" : "AveragePool", {x_}, windows);
  }
  shape_[2] -= k - 1;
  shape_[3] -= k - 1;
}

void Writer::Reduce() {
  const auto rank = static_cast<int64_t>(shape_.size());
  const int64_t axis = random_.Below(rank);
  const char* ops[] = {"ReduceMax", "ReduceMin", "ReduceMean", "ReduceSum",
                       "ReduceL1"};
  const char* op = ops[random_.Below(5)];
  Same(op, {x_}, [&](onnx::NodeProto* node) {
    SetInts(node, "axes", {axis});
    SetInt(node, "keepdims", 1);
  });
  bound_ *= static_cast<double>(shape_[static_cast<size_t>(axis)]);
  shape_[static_cast<size_t>(axis)] = 1;
}

}  // namespace

OldCase OldGraphCase(int opset, uint64_t seed) {
  return Writer(opset, seed).Make();
}

}  // namespace heddle::tests

// SPDX-License-Identifier: Apache-2.0
// Floats of 8 and 4 bits and integers of 4 inside of models: casts, codes and
// weights, against ONNX Runtime.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/analyse.h"
#include "compiler/testing/model_builder.h"
#include "tests/opsets/compare.h"
#include "tests/opsets/random.h"
#include "tests/support/shared.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Floats;
using compiler::ModelBuilder;
using compiler::SetInt;
using compiler::Shape;
using compiler::TensorData;

constexpr DataType kFloat8s[] = {
    DataType::kFloat8E4M3Fn, DataType::kFloat8E4M3FnUz, DataType::kFloat8E5M2,
    DataType::kFloat8E5M2FnUz};

// Where ONNX's table has NaN or infinity for what is beyond the largest number,
// and the runtime, which rounds the bits of the code, has another code: from
// the number that a float8e4m3fn would have after its largest, and what becomes
// the power of two after the largest float8e5m2.
bool IsRoundedOtherwise(float v) {
  const float magnitude = std::fabs(v);
  return (magnitude >= 480 && magnitude < 496) ||
         (magnitude >= 61440 && magnitude < 65536);
}

// Numbers of all sizes, ties between neighbours, and what is beyond.
TensorData Samples(Random* r, int64_t count) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  TensorData data = TensorData::Zeros(DataType::kFloat, {count});
  for (int64_t i = 0; i < count; ++i) {
    float v = std::ldexp(static_cast<float>(r->Between(-64, 64)),
                         static_cast<int>(r->Between(-20, 12)));
    if (IsRoundedOtherwise(v)) v = 1;
    if (r->OneIn(40)) v = r->Pick({kInfinity, -kInfinity, 0.0f, -0.0f});
    data.as<float>()[i] = v;
  }
  return data;
}

OpsetCase Finish(ModelBuilder* b, const TensorData& x) {
  b->Output("y");
  OpsetCase c;
  c.model = b->Bytes();
  c.inputs = {"x"};
  c.outputs = {"y"};
  c.values = {x};
  return c;
}

int Compared(const OpsetCase& c, const std::string& what) {
  Terms terms;
  terms.tolerance = 0;
  return Compare(c, what, terms) == Outcome::kCompared;
}

TEST(NarrowTypes, CastsToFloat8AndBack) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Random r(3);
  int compared = 0;
  for (const DataType type : kFloat8s) {
    for (int saturate : {0, 1}) {
      ModelBuilder b(19);
      const TensorData x = Samples(&r, 400);
      b.Input("x", x.type, x.shape);
      auto* narrow = b.Node("Cast", {"x"}, {"q"});
      SetInt(narrow, "to", static_cast<int64_t>(type));
      SetInt(narrow, "saturate", saturate);
      SetInt(b.Node("Cast", {"q"}, {"y"}), "to", 1);
      compared += Compared(Finish(&b, x),
                           absl::StrCat(DataTypeName(type), " ", saturate));
    }
  }
  EXPECT_EQ(compared, 8);
}

// Scale and zero point for the whole tensor, or for each row.
TEST(NarrowTypes, CodesOfFloat8) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Random r(4);
  int compared = 0;
  for (const DataType type : kFloat8s) {
    for (bool per_row : {false, true}) {
      ModelBuilder b(19);
      const Shape shape = {4, 30};
      TensorData x = Samples(&r, 120);
      x.shape = shape;
      b.Input("x", x.type, x.shape);
      const Shape one = per_row ? Shape{4} : Shape{};
      b.Constant("scale", r.Scales(one));
      onnx::TensorProto* zero = b.proto().mutable_graph()->add_initializer();
      zero->set_name("zero");
      zero->set_data_type(static_cast<int>(type));
      if (per_row) zero->add_dims(4);
      zero->set_raw_data(std::string(per_row ? 4 : 1, '\0'));
      SetInt(b.Node("QuantizeLinear", {"x", "scale", "zero"}, {"q"}), "axis",
             0);
      SetInt(b.Node("DequantizeLinear", {"q", "scale", "zero"}, {"y"}), "axis",
             0);
      compared += Compared(Finish(&b, x), DataTypeName(type));
    }
  }
  EXPECT_EQ(compared, 8);
}

TEST(NarrowTypes, CodesOfFourBits) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Random r(5);
  int compared = 0;
  for (const DataType type : {DataType::kInt4, DataType::kUint4}) {
    for (int64_t block : {0, 2, 5}) {
      ModelBuilder b(21);
      const TensorData x = r.Values(DataType::kFloat, {4, 10});
      b.Input("x", x.type, x.shape);
      const Shape shape = block == 0 ? Shape{4} : Shape{4, 10 / block};
      b.Constant("scale", r.Scales(shape));
      onnx::TensorProto* zero = b.proto().mutable_graph()->add_initializer();
      zero->set_name("zero");
      zero->set_data_type(static_cast<int>(type));
      for (int64_t d : shape) zero->add_dims(d);
      std::string bytes((compiler::ElementCount(shape) + 1) / 2, '\0');
      for (char& c : bytes) c = static_cast<char>(r.Below(256));
      zero->set_raw_data(bytes);
      for (const char* op : {"QuantizeLinear", "DequantizeLinear"}) {
        const bool first = op[0] == 'Q';
        auto* node = b.Node(op, {first ? "x" : "q", "scale", "zero"},
                            {first ? "q" : "y"});
        SetInt(node, "axis", block == 0 ? 0 : 1);
        if (block != 0) SetInt(node, "block_size", block);
      }
      compared += Compared(Finish(&b, x),
                           absl::StrCat(DataTypeName(type), " by ", block));
    }
  }
  EXPECT_EQ(compared, 6);
}

// Weights of four bits that other operators than DequantizeLinear read.
TEST(NarrowTypes, CastsFromFourBits) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  int compared = 0;
  for (const DataType type : {DataType::kInt4, DataType::kUint4}) {
    ModelBuilder b(21);
    const TensorData x = Floats({16}, std::vector<float>(16, 1));
    b.Input("x", x.type, x.shape);
    onnx::TensorProto* w = b.proto().mutable_graph()->add_initializer();
    w->set_name("w");
    w->set_data_type(static_cast<int>(type));
    w->add_dims(16);
    w->set_raw_data("\x10\x32\x54\x76\x98\xba\xdc\xfe");
    SetInt(b.Node("Cast", {"w"}, {"f"}), "to", 1);
    b.Node("Mul", {"x", "f"}, {"y"});
    compared += Compared(Finish(&b, x), DataTypeName(type));
  }
  EXPECT_EQ(compared, 2);
}

// Operators that move elements, of what a Cast makes of floats.
TEST(NarrowTypes, AreMoved) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Random r(6);
  const std::vector<DataType> types = {
      DataType::kFloat8E4M3Fn, DataType::kFloat8E4M3FnUz,
      DataType::kFloat8E5M2,   DataType::kFloat8E5M2FnUz,
      DataType::kInt4,         DataType::kUint4};
  int ours = 0, compared = 0;
  for (const DataType type : types) {
    for (const char* op : {"Identity", "Reshape", "Flatten", "Squeeze",
                           "Unsqueeze", "Transpose", "Pad"}) {
      ModelBuilder b(21);
      TensorData x = TensorData::Zeros(DataType::kFloat, {1, 4, 6});
      for (int64_t i = 0; i < x.count(); ++i) {
        x.as<float>()[i] = static_cast<float>(r.Between(0, 7));
      }
      b.Input("x", x.type, x.shape);
      SetInt(b.Node("Cast", {"x"}, {"q"}), "to", static_cast<int64_t>(type));
      std::vector<std::string> in = {"q"};
      const std::string name = op;
      if (name == "Reshape") b.Constant("p", compiler::Int64s({2}, {3, 8}));
      if (name == "Squeeze") b.Constant("p", compiler::Int64s({1}, {0}));
      if (name == "Unsqueeze") b.Constant("p", compiler::Int64s({1}, {2}));
      if (name == "Pad") {
        b.Constant("p", compiler::Int64s({6}, {0, 1, 0, 1, 0, 2}));
      }
      if (name != "Identity" && name != "Flatten" && name != "Transpose") {
        in.push_back("p");
      }
      b.Node(op, in, {"m"});
      SetInt(b.Node("Cast", {"m"}, {"y"}), "to", 1);
      const OpsetCase c = Finish(&b, x);
      const std::string what = absl::StrCat(op, " of ", DataTypeName(type));
      const auto graph = compiler::AnalyseOnnx(c.model, {});
      ASSERT_TRUE(graph.ok()) << what << ": " << graph.status();
      ++ours;
      // (The runtime lacks most of them.)
      if (!RuntimeLacks(c)) compared += Compared(c, what);
    }
  }
  EXPECT_EQ(ours, 42);
  EXPECT_GE(compared, 14);
}

// Embeddings of four bits that are no bytes of two codes.
TEST(NarrowTypes, RowsOfFourBits) {
  HEDDLE_SKIP_WITHOUT_SHARED();
  Random r(7);
  int compared = 0;
  for (const DataType type : {DataType::kInt4, DataType::kUint4}) {
    for (const bool zero : {false, true}) {
      for (const auto& [gather, quantize] :
           std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 0}, {0, -1}}) {
        ModelBuilder b(21);
        const Shape data = {20, 40};
        Shape blocks = data;
        const int64_t along = quantize < 0 ? 1 : quantize;
        blocks[along] = (data[along] + 15) / 16;
        const TensorData ids = compiler::Int64s({2, 2}, {3, 0, -1, 7});
        b.Input("x", ids.type, ids.shape);
        const auto codes = [&](const char* name, const Shape& shape) {
          onnx::TensorProto* t = b.proto().mutable_graph()->add_initializer();
          t->set_name(name);
          t->set_data_type(static_cast<int>(type));
          for (int64_t d : shape) t->add_dims(d);
          std::string bytes((compiler::ElementCount(shape) + 1) / 2, '\0');
          for (char& c : bytes) c = static_cast<char>(r.Below(256));
          t->set_raw_data(bytes);
        };
        codes("w", data);
        b.Constant("s", r.Scales(blocks));
        std::vector<std::string> in = {"w", "x", "s"};
        if (zero) {
          codes("z", blocks);
          in.push_back("z");
        }
        auto* node = b.Node("GatherBlockQuantized", in, {"y"});
        node->set_domain("com.microsoft");
        SetInt(node, "block_size", 16);
        SetInt(node, "gather_axis", gather);
        SetInt(node, "quantize_axis", quantize);
        compared += Compared(Finish(&b, ids),
                             absl::StrCat(DataTypeName(type), " ", gather));
      }
    }
  }
  EXPECT_EQ(compared, 12);
}

}  // namespace
}  // namespace heddle::tests

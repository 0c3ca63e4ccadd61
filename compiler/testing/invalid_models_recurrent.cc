// SPDX-License-Identifier: Apache-2.0
// Recurrent operators, attention and what goes with it, Einsum, If.
#include <string>
#include <vector>

#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

TensorData Reals(const Shape& shape) {
  return TensorData::Zeros(DataType::kFloat, shape);
}

// Of 4 steps, 2 entries, 3 features and 5 hidden elements, in both directions.
ModelBuilder Recurrent(const std::string& op, int gates) {
  ModelBuilder b(14);
  b.Input("x", DataType::kFloat, {4, 2, 3});
  b.Constant("w", Reals({2, gates * 5, 3}));
  b.Constant("r", Reals({2, gates * 5, 5}));
  b.Constant("b", Reals({2, 2 * gates * 5}));
  b.Constant("lengths", Int32s({2}, {4, 3}));
  b.Input("h", DataType::kFloat, {2, 2, 5});
  std::vector<std::string> in = {"x", "w", "r", "b", "lengths", "h"};
  if (op == "LSTM") {
    b.Input("c", DataType::kFloat, {2, 2, 5});
    b.Constant("p", Reals({2, 15}));
    in.insert(in.end(), {"c", "p"});
  }
  auto* node = b.Node(op, in, {"y"});
  SetInt(node, "hidden_size", 5);
  SetString(node, "direction", "bidirectional");
  b.Output("y");
  return b;
}

Change Names(const std::vector<std::string>& names) {
  return [=](onnx::ModelProto* m) {
    auto* a = m->mutable_graph()->mutable_node(0)->add_attribute();
    a->set_name("activations");
    a->set_type(onnx::AttributeProto::STRINGS);
    for (const std::string& name : names) a->add_strings(name);
  };
}

OperatorCases RecurrentCases(const std::string& op, int gates,
                             size_t activations) {
  const std::vector<std::string> unknown(2 * activations, "Cosine");
  const std::vector<std::string> scaled(2 * activations, "ScaledTanh");
  std::vector<Mutation> own = {
      {"another direction", wrong::kValue, String("direction", "sideways")},
      {"another layout", wrong::kValue, Int("layout", 2)},
      {"one direction only", wrong::kShapes, String("direction", "forward")},
      {"another hidden size", wrong::kShapes, Int("hidden_size", 4)},
      {"no hidden size", wrong::kValue, Int("hidden_size", 0)},
      {"a negative clip", wrong::kValue, Float("clip", -1)},
      {"an activation that is none", wrong::kValue, Names(unknown)},
      {"an activation without its values", wrong::kValue, Names(scaled)},
      {"one activation too few", wrong::kValue,
       Names(std::vector<std::string>(2 * activations - 1, "Tanh"))},
      {"x of rank 2", wrong::kShapes, InputShape("x", {4, 6})},
      {"more features", wrong::kShapes, InputShape("x", {4, 2, 4})},
      {"another batch", wrong::kShapes, InputShape("x", {4, 3, 3})},
      {"w of other gates", wrong::kShapes,
       Value("w", Reals({2, gates * 5 + 1, 3}))},
      {"half of the biases", wrong::kShapes, Value("b", Reals({2, gates * 5}))},
      {"a length that is too large", wrong::kValue,
       Value("lengths", Int32s({2}, {4, 5}))},
      {"a negative length", wrong::kValue,
       Value("lengths", Int32s({2}, {-1, 2}))},
      {"a state of another size", wrong::kShapes, InputShape("h", {2, 2, 4})},
      {"integers", wrong::kType, InputType("x", DataType::kInt32)},
      {"only x", wrong::kValue, Inputs(1)},
      {"no r", wrong::kValue, NoInput(2)},
  };
  if (op == "LSTM") {
    own.push_back(
        {"a cell of another size", wrong::kShapes, InputShape("c", {2, 1, 5})});
    own.push_back(
        {"peepholes of two gates", wrong::kShapes, Value("p", Reals({2, 10}))});
  }
  return {op, [=] { return Recurrent(op, gates); }, own};
}

ModelBuilder Attention() {
  ModelBuilder b(23);
  b.Input("x", DataType::kFloat, {2, 3, 8});
  b.Input("k", DataType::kFloat, {2, 5, 4});
  b.Input("v", DataType::kFloat, {2, 5, 6});
  b.Input("mask", DataType::kFloat, {3, 5});
  auto* node = b.Node("Attention", {"x", "k", "v", "mask"}, {"y"});
  SetInt(node, "q_num_heads", 4);
  SetInt(node, "kv_num_heads", 2);
  b.Output("y");
  return b;
}

ModelBuilder Rotary() {
  ModelBuilder b(23);
  b.Input("x", DataType::kFloat, {2, 3, 8});
  b.Constant("cos", Reals({9, 2}));
  b.Constant("sin", Reals({9, 2}));
  b.Constant("ids", Int64s({2, 3}, {0, 1, 2, 3, 4, 5}));
  auto* node = b.Node("RotaryEmbedding", {"x", "cos", "sin", "ids"}, {"y"});
  SetInt(node, "num_heads", 2);
  b.Output("y");
  return b;
}

ModelBuilder SkipOf(const std::string& op) {
  ModelBuilder b(17);
  b.Input("x", DataType::kFloat, {2, 3, 8});
  b.Input("skip", DataType::kFloat, {2, 3, 8});
  b.Constant("gamma", Reals({8}));
  b.Constant("beta", Reals({8}));
  b.Node(op, {"x", "skip", "gamma", "beta"}, {"y"}, "com.microsoft");
  b.Output("y");
  return b;
}

ModelBuilder Einsum() {
  ModelBuilder b(13);
  b.Input("x", DataType::kFloat, {2, 3, 4});
  b.Input("z", DataType::kFloat, {2, 4, 5});
  SetString(b.Node("Einsum", {"x", "z"}, {"y"}), "equation", "bij,bjk->bik");
  b.Output("y");
  return b;
}

std::vector<OperatorCases> Cases() {
  std::vector<OperatorCases> all = {RecurrentCases("LSTM", 4, 3),
                                    RecurrentCases("GRU", 3, 2),
                                    RecurrentCases("RNN", 1, 1)};
  all.push_back(
      {"Attention",
       Attention,
       {{"heads that divide nothing", wrong::kShapes, Int("q_num_heads", 3)},
        {"no heads", wrong::kShapes, Int("kv_num_heads", 0)},
        {"more heads of keys than divide", wrong::kShapes,
         Int("kv_num_heads", 4)},
        {"keys of another batch", wrong::kShapes, InputShape("k", {1, 5, 4})},
        {"keys of rank 2", wrong::kShapes, InputShape("k", {5, 4})},
        {"keys of another size", wrong::kShapes, InputShape("k", {2, 5, 6})},
        {"fewer values than keys", wrong::kShapes, InputShape("v", {2, 4, 6})},
        {"a mask of other queries", wrong::kShapes, InputShape("mask", {2, 5})},
        {"a mask that is longer", wrong::kShapes, InputShape("mask", {3, 6})},
        {"another mode", wrong::kValue, Int("qk_matmul_output_mode", 4)},
        {"no values", wrong::kValue, Inputs(2)},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)}}});
  all.push_back(
      {"RotaryEmbedding",
       Rotary,
       {{"heads that divide nothing", wrong::kShapes, Int("num_heads", 3)},
        {"a negative number of heads", wrong::kShapes, Int("num_heads", -2)},
        {"more elements than the cache has", wrong::kShapes,
         Int("rotary_embedding_dim", 6)},
        {"x of rank 2", wrong::kShapes, InputShape("x", {3, 8})},
        {"caches of different sizes", wrong::kShapes,
         Value("sin", Reals({8, 2}))},
        {"a cache for each token beside positions", wrong::kShapes,
         Value("cos", Reals({2, 3, 2}))},
        {"positions of other tokens", wrong::kShapes,
         Value("ids", Int64s({2, 2}, {0, 1, 2, 3}))},
        {"no positions", wrong::kShapes, Inputs(3)},
        {"no sines", wrong::kValue, Inputs(2)},
        {"integers", wrong::kType, InputType("x", DataType::kInt32)}}});
  for (const char* op :
       {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
    all.push_back(
        {op,
         [=] { return SkipOf(op); },
         {{"skip of other rows", wrong::kShapes, InputShape("skip", {2, 2, 8})},
          {"skip of one row", wrong::kShapes, InputShape("skip", {8})},
          {"x of rank 4", wrong::kShapes, InputShape("x", {1, 2, 3, 8})},
          {"too few factors", wrong::kShapes, Value("gamma", Reals({7}))},
          {"too many terms", wrong::kShapes, Value("beta", Reals({9}))},
          {"integers", wrong::kType, InputType("x", DataType::kInt32)},
          {"no factors", wrong::kValue, Inputs(2)}}});
  }
  all.push_back(
      {"Einsum",
       Einsum,
       {{"no equation", wrong::kValue, Drop("equation")},
        {"one operand", wrong::kValue, String("equation", "bij->bi")},
        {"three operands", wrong::kValue, String("equation", "bij,bjk,k->bi")},
        {"a label of two sizes", wrong::kShapes,
         String("equation", "bij,bkj->bik")},
        {"a rank that is another", wrong::kValue,
         String("equation", "ij,bjk->bik")},
        {"a result of nobody's label", wrong::kValue,
         String("equation", "bij,bjk->bx")},
        {"a label twice in the result", wrong::kValue,
         String("equation", "bij,bjk->bii")},
        {"a digit", wrong::kValue, String("equation", "bi1,b1k->bik")},
        {"two dots", wrong::kValue, String("equation", "..ij,bjk->bik")},
        {"two ellipses", wrong::kValue, String("equation", "......,bjk->b")},
        {"bytes", wrong::kType, InputType("x", DataType::kInt8)},
        {"one input", wrong::kValue, Inputs(1)}}});
  return all;
}

const InvalidModels kRecurrent(Cases);

}  // namespace
}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
// Operators that choose elements by indices, and TopK, which finds them.
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/testing/invalid_models.h"

namespace heddle::compiler {
namespace {

OperatorCases On(const std::string& op, int opset,
                 std::function<void(ModelBuilder*)> rest,
                 std::vector<Mutation> own) {
  return {op,
          [opset, rest] {
            ModelBuilder b(opset);
            b.Input("x", DataType::kFloat, {2, 6});
            rest(&b);
            b.Output("y");
            return b;
          },
          std::move(own)};
}

Mutation Index(const std::string& what, std::vector<int64_t> indices) {
  return {what, wrong::kValue, Value("i", Int64s({2, 2}, indices))};
}

std::vector<Mutation> OfAxis() {
  return {{"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
          {"an axis before the first", wrong::kValue, Int("axis", -3)},
          {"indices of another rank", wrong::kShapes,
           Value("i", Int64s({2}, {0, 1}))},
          {"more rows of indices than there are", wrong::kShapes,
           Value("i", Int64s({3, 1}, {0, 1, 2}))},
          {"indices of float", wrong::kType,
           Value("i", Floats({2, 2}, {0, 1, 0, 1}))},
          Index("an index beyond the end", {0, 6, 0, 0}),
          Index("an index before the beginning", {0, -7, 0, 0})};
}

std::vector<Mutation> OfUpdates() {
  return {{"no updates", wrong::kValue, Inputs(2)},
          {"fewer updates than indices", wrong::kShapes,
           Value("u", Floats({2, 1}, {1, 2}))},
          {"updates of another rank", wrong::kShapes,
           Value("u", Floats({4}, {1, 2, 3, 4}))},
          {"updates of another type", wrong::kTypes,
           Value("u", Int32s({2, 2}, {1, 2, 3, 4}))}};
}

std::vector<Mutation> Both(std::vector<Mutation> a,
                           const std::vector<Mutation>& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void Elements(ModelBuilder* b, const char* op) {
  b->Constant("i", Int64s({2, 2}, {0, 5, -6, 3}));
  b->Constant("u", Floats({2, 2}, {1, 2, 3, 4}));
  SetInt(b->Node(op, {"x", "i", "u"}, {"y"}), "axis", 1);
}

std::vector<OperatorCases> Choosing() {
  const Mutation word = {"another reduction", wrong::kWord,
                         String("reduction", "mean")};
  const Mutation later = {"a reduction of a later opset", wrong::kWord,
                          String("reduction", "max")};
  std::vector<OperatorCases> all;
  all.push_back(On(
      "GatherElements", 13,
      [](ModelBuilder* b) {
        b->Constant("i", Int64s({2, 2}, {0, 5, -6, 3}));
        SetInt(b->Node("GatherElements", {"x", "i"}, {"y"}), "axis", 1);
      },
      Both(OfAxis(), {{"no indices", wrong::kValue, Inputs(1)}})));
  all.push_back(On(
      "ScatterElements", 16,
      [](ModelBuilder* b) { Elements(b, "ScatterElements"); },
      Both(Both(OfAxis(), OfUpdates()), {word, later})));
  all.push_back(On(
      "Scatter", 10, [](ModelBuilder* b) { Elements(b, "Scatter"); },
      Both(OfAxis(), OfUpdates())));
  all.push_back(
      On("GatherND", 13,
         [](ModelBuilder* b) {
           b->Constant("i", Int64s({2, 2}, {0, 5, -2, -6}));
           b->Node("GatherND", {"x", "i"}, {"y"});
         },
         {{"no indices", wrong::kValue, Inputs(1)},
          {"a scalar index", wrong::kRank, Value("i", Int64s({}, {0}))},
          {"more dimensions than there are", wrong::kShapes,
           Value("i", Int64s({1, 3}, {0, 0, 0}))},
          {"a negative batch", wrong::kValue, Int("batch_dims", -1)},
          {"a batch that differs", wrong::kShapes,
           [](onnx::ModelProto* m) {
             Value("i", Int64s({3, 1}, {0, 0, 0}))(m);
             Int("batch_dims", 1)(m);
           }},
          {"all dimensions as batch", wrong::kShapes, Int("batch_dims", 2)},
          {"indices of int32", wrong::kType,
           Value("i", Int32s({2, 2}, {0, 5, 0, 0}))},
          Index("an index beyond the end", {0, 6, 0, 0}),
          Index("an index before the beginning", {0, 0, -3, 0})}));
  all.push_back(On("ScatterND", 16,
                   [](ModelBuilder* b) {
                     b->Constant("i", Int64s({2, 2}, {0, 5, -2, -6}));
                     b->Constant("u", Floats({2}, {1, 2}));
                     b->Node("ScatterND", {"x", "i", "u"}, {"y"});
                   },
                   {{"no updates", wrong::kValue, Inputs(2)},
                    {"more dimensions than there are", wrong::kShapes,
                     Value("i", Int64s({2, 3}, {0, 0, 0, 0, 0, 0}))},
                    {"more updates than indices", wrong::kShapes,
                     Value("u", Floats({3}, {1, 2, 3}))},
                    {"updates of another rank", wrong::kShapes,
                     Value("u", Floats({2, 1}, {1, 2}))},
                    {"updates of another type", wrong::kTypes,
                     Value("u", Int32s({2}, {1, 2}))},
                    {"indices of int32", wrong::kType,
                     Value("i", Int32s({2, 2}, {0, 5, 0, 0}))},
                    Index("an index beyond the end", {0, 6, 0, 0}),
                    Index("an index before the beginning", {0, 0, -3, 0}),
                    word,
                    later}));
  all.push_back(On("ReverseSequence", 10,
                   [](ModelBuilder* b) {
                     b->Constant("n", Int64s({6}, {1, 2, 1, 2, 1, 2}));
                     b->Node("ReverseSequence", {"x", "n"}, {"y"});
                   },
                   {{"no lengths", wrong::kValue, Inputs(1)},
                    {"a length beyond the end", wrong::kValue,
                     Value("n", Int64s({6}, {1, 2, 3, 2, 1, 2}))},
                    {"lengths of another batch", wrong::kShapes,
                     Value("n", Int64s({2}, {1, 2}))},
                    {"lengths of int32", wrong::kType,
                     Value("n", Int32s({6}, {1, 2, 1, 2, 1, 2}))},
                    {"one axis for both", wrong::kValue, Int("time_axis", 1)},
                    {"an axis of neither", wrong::kValue, Int("time_axis", 2)},
                    {"a vector", wrong::kRank, InputShape("x", {6})}}));
  all.push_back(
      On("TopK", 13,
         [](ModelBuilder* b) {
           b->Constant("k", Int64s({1}, {3}));
           b->Node("TopK", {"x", "k"}, {"y", "i"});
         },
         {{"no k", wrong::kValue, Inputs(1)},
          {"a k of 0", wrong::kValue, Value("k", Int64s({1}, {0}))},
          {"more than there are", wrong::kValue, Value("k", Int64s({1}, {7}))},
          {"a k of two", wrong::kShapes, Value("k", Int64s({2}, {1, 2}))},
          {"a k of int32", wrong::kType, Value("k", Int32s({1}, {3}))},
          {"an axis beyond the rank", wrong::kValue, Int("axis", 2)},
          {"an axis before the first", wrong::kValue, Int("axis", -3)},
          {"bool", wrong::kType, InputType("x", DataType::kBool)}}));
  return all;
}

const InvalidModels kChoosing(Choosing);

}  // namespace
}  // namespace heddle::compiler

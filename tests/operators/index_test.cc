// SPDX-License-Identifier: Apache-2.0
// What chooses elements by indices, and TopK, against ONNX Runtime, of random
// shapes, types and attributes.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/operators/random_cases.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Int64s;
using compiler::Shape;
using compiler::TensorData;

class Random : public RandomSource {
 public:
  using RandomSource::RandomSource;
  Shape AnyShape(int64_t least, int64_t most) {
    return RandomSource::AnyShape(least, most, 7);
  }
  DataType AnyType() {
    const DataType types[] = {
        DataType::kFloat,  DataType::kFloat,   DataType::kInt32,
        DataType::kInt64,  DataType::kUint8,   DataType::kInt8,
        DataType::kDouble, DataType::kFloat16, DataType::kBool};
    return types[Below(9)];
  }
  TensorData Data(DataType type, const Shape& shape) {
    TensorData data = compiler::RandomData(
        type == DataType::kDouble || type == DataType::kBool ? DataType::kInt8
                                                             : type,
        shape, Next(), -9, 9);
    if (type == DataType::kBool) {
      for (uint8_t& byte : data.bytes) byte &= 1;
      data.type = type;
    } else if (type == DataType::kDouble) {
      const TensorData small = data;
      data = TensorData::Zeros(type, shape);
      for (int64_t i = 0; i < data.count(); ++i) {
        data.as<double>()[i] = small.as<int8_t>()[i] / 8.0;
      }
    }
    return data;
  }
  // Into dimensions of `sizes`, in turn, from either end.
  TensorData Indices(const Shape& shape, const Shape& sizes) {
    TensorData data = TensorData::Zeros(DataType::kInt64, shape);
    for (int64_t i = 0; i < data.count(); ++i) {
      const int64_t size = sizes[static_cast<size_t>(i) % sizes.size()];
      data.as<int64_t>()[i] = Below(2 * size) - size;
    }
    return data;
  }
};

// "none" for types that the library does not reduce.
std::string Reduction(Random* random, int opset, DataType type) {
  if (opset < 16 || type == DataType::kBool || type == DataType::kFloat16) {
    return "none";
  }
  const char* all[] = {"none", "add", "mul", "max", "min"};
  return all[random->Below(opset < 18 ? 3 : 5)];
}

void SetReduction(RuntimeCase* c, const std::string& reduction, int64_t axis) {
  const bool has_axis = c->op != "ScatterND";
  const bool has_reduction = c->opset >= 16;
  c->attributes = [=](onnx::NodeProto* node) {
    if (has_axis) compiler::SetInt(node, "axis", axis);
    if (has_reduction) compiler::SetString(node, "reduction", reduction);
  };
}

void GatherElements(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Below(rank);
  Shape to = shape;
  for (int64_t& n : to) n = 1 + random->Below(n);
  to[axis] = 1 + random->Below(9);
  c->inputs = {random->Data(random->AnyType(), shape),
               random->Indices(to, {shape[axis]})};
  const int64_t given = random->OneIn(2) ? axis : axis - rank;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", given);
  };
}

void Gather(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const int64_t axis = random->Below(static_cast<int64_t>(shape.size()));
  c->inputs = {random->Data(random->AnyType(), shape),
               random->Indices(random->AnyShape(0, 2), {shape[axis]})};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", axis);
  };
}

void ScatterElements(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Below(rank);
  Shape to = shape;
  for (int64_t& n : to) n = 1 + random->Below(n);
  to[axis] = 1 + random->Below(9);
  const DataType type = random->AnyType();
  c->inputs = {random->Data(type, shape), random->Indices(to, {shape[axis]}),
               random->Data(type, to)};
  SetReduction(c, Reduction(random, c->opset, type),
               random->OneIn(2) ? axis : axis - rank);
}

void GatherNd(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t batches =
      c->opset >= 12 && random->OneIn(2) ? random->Below(rank) : 0;
  const int64_t depth = 1 + random->Below(rank - batches);
  Shape to(shape.begin(), shape.begin() + batches);
  for (int64_t d : random->AnyShape(0, 2)) to.push_back(d);
  to.push_back(depth);
  c->inputs = {random->Data(random->AnyType(), shape),
               random->Indices(to, Shape(shape.begin() + batches,
                                         shape.begin() + batches + depth))};
  c->attributes = [=](onnx::NodeProto* node) {
    if (batches > 0) compiler::SetInt(node, "batch_dims", batches);
  };
}

void ScatterNd(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(1, 4);
  const int64_t depth = 1 + random->Below(static_cast<int64_t>(shape.size()));
  Shape to = random->AnyShape(0, 2), updates = to;
  to.push_back(depth);
  updates.insert(updates.end(), shape.begin() + depth, shape.end());
  const DataType type = random->AnyType();
  const Shape sizes(shape.begin(), shape.begin() + depth);
  const std::string reduction = Reduction(random, c->opset, type);
  c->inputs = {random->Data(type, shape), random->Indices(to, sizes),
               random->Data(type, updates)};
  // The library goes through updates in several threads: without a reduction
  // places occur once.
  if (reduction == "none") {
    std::set<std::vector<int64_t>> seen;
    int64_t* index = c->inputs[1].as<int64_t>();
    std::vector<int64_t> kept;
    for (int64_t i = 0; i < c->inputs[1].count(); i += depth) {
      std::vector<int64_t> place(index + i, index + i + depth);
      for (int64_t k = 0; k < depth; ++k) {
        if (place[k] < 0) place[k] += sizes[k];
      }
      if (!seen.insert(place).second) continue;
      kept.insert(kept.end(), place.begin(), place.end());
    }
    const auto count = static_cast<int64_t>(seen.size());
    updates.assign(shape.begin() + depth, shape.end());
    updates.insert(updates.begin(), count);
    c->inputs[1] = Int64s({count, depth}, kept);
    c->inputs[2] = random->Data(type, updates);
  }
  SetReduction(c, reduction, 0);
}

void ReverseSequence(Random* random, RuntimeCase* c) {
  const Shape shape = random->AnyShape(2, 4);
  const int64_t time = random->Below(2);
  TensorData lengths = TensorData::Zeros(DataType::kInt64, {shape[1 - time]});
  for (int64_t i = 0; i < lengths.count(); ++i) {
    lengths.as<int64_t>()[i] = 1 + random->Below(shape[time]);
  }
  DataType type = random->AnyType();
  // The library has none of float16.
  if (type == DataType::kFloat16) type = DataType::kFloat;
  c->inputs = {random->Data(type, shape), lengths};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "time_axis", time);
    compiler::SetInt(node, "batch_axis", 1 - time);
  };
}

void TopK(Random* random, RuntimeCase* c) {
  Shape shape = random->AnyShape(1, 4);
  const auto rank = static_cast<int64_t>(shape.size());
  const int64_t axis = random->Below(rank);
  if (random->OneIn(3)) shape[axis] += random->Below(3000);
  const int64_t k = 1 + random->Below(std::min<int64_t>(
                            shape[axis], random->OneIn(2) ? 9 : 64));
  const DataType types[] = {DataType::kFloat, DataType::kFloat,
                            DataType::kDouble, DataType::kInt32,
                            DataType::kInt64};
  const DataType type = types[random->Below(c->opset >= 11 ? 5 : 3)];
  c->inputs = {random->Data(type, shape)};
  if (type == DataType::kFloat && random->OneIn(2)) {
    // Many that are equal, zeros of both signs among them.
    for (int64_t i = 0; i < c->inputs[0].count(); ++i) {
      float& v = c->inputs[0].as<float>()[i];
      v = static_cast<float>(static_cast<int>(v / 3)) * (v < 0 ? 1.f : -1.f);
    }
  }
  if (c->opset >= 10) {
    c->inputs.push_back(Int64s({1}, {k}));
    c->constant = {false, true};
  }
  c->outputs = 2;
  const int64_t given = random->OneIn(2) && c->opset >= 11 ? axis - rank : axis;
  const int64_t largest = random->Below(2);
  const int opset = c->opset;
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "axis", given);
    if (opset < 10) compiler::SetInt(node, "k", k);
    if (opset >= 11) compiler::SetInt(node, "largest", largest);
  };
}

// Few different tokens, so that n-grams occur.
void TfIdf(Random* random, RuntimeCase* c) {
  const DataType type = random->OneIn(2) ? DataType::kInt32 : DataType::kInt64;
  Shape shape = {random->Between(1, 3), random->Between(1, 12)};
  if (random->OneIn(3)) shape.erase(shape.begin());
  TensorData x = TensorData::Zeros(type, shape);
  for (int64_t i = 0; i < x.count(); ++i) {
    const int64_t token = random->Between(1, 4);
    if (type == DataType::kInt32) {
      x.as<int32_t>()[i] = static_cast<int32_t>(token);
    } else {
      x.as<int64_t>()[i] = token;
    }
  }
  const int64_t lengths = random->Between(1, 3);
  std::vector<int64_t> counts, pool, places;
  std::set<std::vector<int64_t>> seen;
  for (int64_t length = 1; length <= lengths; ++length) {
    counts.push_back(static_cast<int64_t>(pool.size()));
    for (int64_t i = random->Below(5) + (length == lengths); i > 0; --i) {
      std::vector<int64_t> gram(static_cast<size_t>(length));
      for (int64_t& token : gram) token = random->Between(1, 4);
      if (!seen.insert(gram).second) continue;
      pool.insert(pool.end(), gram.begin(), gram.end());
      places.push_back(static_cast<int64_t>(places.size()));
    }
  }
  // In any order.
  for (size_t i = places.size(); i > 1; --i) {
    std::swap(
        places[i - 1],
        places[static_cast<size_t>(random->Below(static_cast<int64_t>(i)))]);
  }
  const int64_t most = random->Between(1, lengths);
  const int64_t least = random->Between(1, most), skips = random->Below(4);
  const char* modes[] = {"TF", "IDF", "TFIDF"};
  const std::string mode = modes[random->Below(3)];
  std::vector<float> weights;
  if (random->OneIn(2)) {
    for (size_t i = 0; i < places.size(); ++i) {
      weights.push_back(static_cast<float>(random->Between(1, 9)) / 4);
    }
  }
  c->inputs = {x};
  c->attributes = [=](onnx::NodeProto* node) {
    compiler::SetInt(node, "max_gram_length", most);
    compiler::SetInt(node, "min_gram_length", least);
    compiler::SetInt(node, "max_skip_count", skips);
    compiler::SetString(node, "mode", mode);
    compiler::SetInts(node, "ngram_counts", counts);
    compiler::SetInts(node, "ngram_indexes", places);
    compiler::SetInts(node, "pool_int64s", pool);
    if (weights.empty()) return;
    onnx::AttributeProto* attribute = node->add_attribute();
    attribute->set_name("weights");
    attribute->set_type(onnx::AttributeProto::FLOATS);
    for (float weight : weights) attribute->add_floats(weight);
  };
}

struct Kind {
  OperatorVersion version;
  void (*make)(Random*, RuntimeCase*);
};
void PrintTo(const Kind& kind, std::ostream* os) { *os << kind.version.op; }

class AgainstRuntime : public testing::TestWithParam<Kind> {};

TEST_P(AgainstRuntime, RandomCases) {
  Random random(GetParam().version.Seed());
  ExpectAsRuntime(GetParam().version, 0,
                  [&](RuntimeCase* c) { GetParam().make(&random, c); });
}

INSTANTIATE_TEST_SUITE_P(Operators, AgainstRuntime,
                         testing::ValuesIn(std::vector<Kind>{
                             {{"Gather", "", 13}, Gather},
                             {{"GatherElements", "", 13}, GatherElements},
                             {{"GatherND", "", 11}, GatherNd},
                             {{"GatherND", "", 13}, GatherNd},
                             {{"Scatter", "", 10}, ScatterElements},
                             {{"ScatterElements", "", 11}, ScatterElements},
                             {{"ScatterElements", "", 16}, ScatterElements},
                             {{"ScatterElements", "", 18}, ScatterElements},
                             {{"ScatterND", "", 11}, ScatterNd},
                             {{"ScatterND", "", 16}, ScatterNd},
                             {{"ScatterND", "", 18}, ScatterNd},
                             {{"ReverseSequence", "", 10}, ReverseSequence},
                             {{"TfIdfVectorizer", "", 9}, TfIdf},
                             {{"TopK", "", 9}, TopK},
                             {{"TopK", "", 10}, TopK},
                             {{"TopK", "", 11}, TopK}}),
                         [](const auto& info) {
                           return info.param.version.TestName();
                         });

}  // namespace
}  // namespace heddle::tests

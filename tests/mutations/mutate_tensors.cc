// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/ir/graph.h"
#include "tests/mutations/mutations_of.h"

namespace heddle::tests {
namespace {

using compiler::DataType;
using compiler::Rejection;
using compiler::Shape;
using Model = onnx::ModelProto;

Kinds OfType() {
  // (An attribute may not go with the type, such as a mode.)
  return {Rejection::kUnsupportedDatatype, Rejection::kMismatchingDatatype,
          Rejection::kInvalidModel, Rejection::kUnsupportedAttribute};
}
Kinds OfShape() {
  return {Rejection::kMismatchingShape, Rejection::kInvalidModel,
          Rejection::kUnsupportedShape};
}
Kinds OfContents() {
  return {Rejection::kInvalidModel, Rejection::kMismatchingShape,
          Rejection::kUnsupportedShape, Rejection::kUnsupportedAttribute};
}

constexpr DataType kTypes[] = {
    DataType::kFloat,  DataType::kUint8,   DataType::kInt8,
    DataType::kUint16, DataType::kInt16,   DataType::kInt32,
    DataType::kInt64,  DataType::kBool,    DataType::kFloat16,
    DataType::kDouble, DataType::kUint32,  DataType::kUint64,
    DataType::kString, DataType::kBfloat16};

// Shapes that differ from `shape` in one thing.
std::vector<Shape> OtherShapes(const Shape& shape) {
  std::vector<Shape> others;
  const auto changed = [&](const std::function<void(Shape*)>& change) {
    others.push_back(shape);
    change(&others.back());
  };
  changed([](Shape* s) { s->insert(s->begin(), 1); });
  changed([](Shape* s) { s->insert(s->begin(), 3); });
  changed([](Shape* s) { s->push_back(2); });
  if (shape.empty()) return others;
  changed([](Shape* s) { s->clear(); });
  changed([](Shape* s) { s->pop_back(); });
  changed([](Shape* s) { s->erase(s->begin()); });
  for (size_t i = 0; i < shape.size(); ++i) {
    changed([i](Shape* s) { (*s)[i] += 1; });
    changed([i](Shape* s) { (*s)[i] = 1; });
    changed([i](Shape* s) { (*s)[i] = 0; });
  }
  return others;
}

void SetShape(const Shape& shape, onnx::TypeProto::Tensor* type) {
  type->mutable_shape()->Clear();
  for (int64_t d : shape) type->mutable_shape()->add_dim()->set_dim_value(d);
}

void MutateInput(int i, MutationList* list) {
  const auto& input = list->valid().graph().input(i);
  const auto& now = input.type().tensor_type();
  const std::string name = absl::StrCat("input '", input.name(), "'");
  const auto type_of = [i](Model* m) {
    return m->mutable_graph()
        ->mutable_input(i)
        ->mutable_type()
        ->mutable_tensor_type();
  };
  for (DataType type : kTypes) {
    list->Add(absl::StrCat(name, " of ", compiler::DataTypeName(type)),
              Verdict::kJudged, OfType(), [&](Model* m) {
                type_of(m)->set_elem_type(static_cast<int>(type));
              });
  }
  for (int type : {99, -1}) {
    list->Add(absl::StrCat(name, " of type ", type), Verdict::kInvalid,
              {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
              [&](Model* m) { type_of(m)->set_elem_type(type); });
  }
  Shape shape;
  for (const auto& d : now.shape().dim()) shape.push_back(d.dim_value());
  for (const Shape& other : OtherShapes(shape)) {
    list->Add(absl::StrCat(name, " of shape ", compiler::ShapeToString(other),
                           ", not ", compiler::ShapeToString(shape)),
              Verdict::kJudged, OfShape(),
              [&](Model* m) { SetShape(other, type_of(m)); });
  }
  list->Add(
      absl::StrCat(name, " without type"), Verdict::kInvalid,
      {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
      [i](Model* m) { m->mutable_graph()->mutable_input(i)->clear_type(); });
  list->Add(
      absl::StrCat(name, " without name"), Verdict::kInvalid, InvalidModel(),
      [i](Model* m) { m->mutable_graph()->mutable_input(i)->clear_name(); });
  if (shape.empty()) return;
  list->Add(absl::StrCat(name, " with a negative dimension"), Verdict::kInvalid,
            {Rejection::kInvalidModel}, [&](Model* m) {
              type_of(m)->mutable_shape()->mutable_dim(0)->set_dim_value(-2);
            });
  for (int64_t d : {int64_t{1} << 40, std::numeric_limits<int64_t>::max()}) {
    list->Add(absl::StrCat(name, " with a dimension of ", d), Verdict::kExtreme,
              OfShape(), [&](Model* m) {
                type_of(m)->mutable_shape()->mutable_dim(0)->set_dim_value(d);
              });
  }
}

// As many bytes as `type` and `shape` need, the first of them those of `from`.
void Refill(DataType type, const Shape& shape, onnx::TensorProto* tensor) {
  std::string bytes = tensor->raw_data();
  bytes.resize(static_cast<size_t>(compiler::ElementCount(shape)) *
               compiler::ElementBytes(type));
  tensor->set_data_type(static_cast<int>(type));
  tensor->clear_dims();
  for (int64_t d : shape) tensor->add_dims(d);
  tensor->set_raw_data(bytes);
}

// Whole numbers that are all changed in the same way.
void MutateNumbers(int i, MutationList* list) {
  const auto change = [&](const std::string& what, Verdict verdict,
                          const std::function<int64_t(int64_t)>& to) {
    list->Add(
        absl::StrCat("initializer '",
                     list->valid().graph().initializer(i).name(), "' ", what),
        verdict, OfContents(), [&](Model* m) {
          auto* tensor = m->mutable_graph()->mutable_initializer(i);
          std::string bytes = tensor->raw_data();
          for (size_t at = 0; at + 8 <= bytes.size(); at += 8) {
            int64_t value;
            std::memcpy(&value, &bytes[at], 8);
            value = to(value);
            std::memcpy(&bytes[at], &value, 8);
          }
          tensor->set_raw_data(bytes);
        });
  };
  change("of 1000", Verdict::kJudged, [](int64_t) { return 1000; });
  change("of -1000", Verdict::kJudged, [](int64_t) { return -1000; });
  change("of 0", Verdict::kJudged, [](int64_t) { return 0; });
  change("of -1", Verdict::kJudged, [](int64_t) { return -1; });
  change("plus 1", Verdict::kJudged, [](int64_t v) { return v + 1; });
  change("of 2^62", Verdict::kExtreme,
         [](int64_t) { return int64_t{1} << 62; });
  change("of -2^63", Verdict::kExtreme,
         [](int64_t) { return std::numeric_limits<int64_t>::min(); });
}

void MutateInitializer(int i, MutationList* list) {
  const auto& now = list->valid().graph().initializer(i);
  const std::string name = absl::StrCat("initializer '", now.name(), "'");
  const auto tensor_of = [i](Model* m) {
    return m->mutable_graph()->mutable_initializer(i);
  };
  const auto invalid = [&](const std::string& what, const Change& change) {
    list->Add(absl::StrCat(name, " ", what), Verdict::kInvalid, InvalidModel(),
              change);
  };
  invalid("twice",
          [&](Model* m) { *m->mutable_graph()->add_initializer() = now; });
  invalid("without name", [&](Model* m) { tensor_of(m)->clear_name(); });
  invalid("with a negative dimension",
          [&](Model* m) { tensor_of(m)->add_dims(-1); });
  invalid("with a byte more",
          [&](Model* m) { tensor_of(m)->mutable_raw_data()->push_back(0); });
  if (!now.raw_data().empty()) {
    invalid("with a byte less",
            [&](Model* m) { tensor_of(m)->mutable_raw_data()->pop_back(); });
    invalid("without data", [&](Model* m) { tensor_of(m)->clear_raw_data(); });
  }
  invalid("with two kinds of data",
          [&](Model* m) { tensor_of(m)->add_int64_data(1); });
  for (int type : {0, 99, -1}) {
    list->Add(absl::StrCat(name, " of type ", type), Verdict::kInvalid,
              {Rejection::kInvalidModel, Rejection::kUnsupportedDatatype},
              [&](Model* m) { tensor_of(m)->set_data_type(type); });
  }
  const Shape shape(now.dims().begin(), now.dims().end());
  const auto type = static_cast<DataType>(now.data_type());
  for (DataType other : kTypes) {
    if (other == DataType::kString) continue;
    list->Add(absl::StrCat(name, " of ", compiler::DataTypeName(other)),
              Verdict::kJudged, OfType(),
              [&](Model* m) { Refill(other, shape, tensor_of(m)); });
  }
  for (const Shape& other : OtherShapes(shape)) {
    list->Add(absl::StrCat(name, " of shape ", compiler::ShapeToString(other),
                           ", not ", compiler::ShapeToString(shape)),
              Verdict::kJudged, OfContents(),
              [&](Model* m) { Refill(type, other, tensor_of(m)); });
  }
  if (type == DataType::kInt64) MutateNumbers(i, list);
}

}  // namespace

void MutateTensors(MutationList* list) {
  for (int i = 0; i < list->valid().graph().input_size(); ++i) {
    MutateInput(i, list);
  }
  for (int i = 0; i < list->valid().graph().initializer_size(); ++i) {
    MutateInitializer(i, list);
  }
}

}  // namespace heddle::tests

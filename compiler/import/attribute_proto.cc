// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/attribute_proto.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/quote.h"
#include "compiler/import/sparse_tensor.h"
#include "compiler/import/tensor_proto.h"

namespace heddle::compiler {
namespace {

using onnx::AttributeProto;

// The type that the filled field says; UNDEFINED if none is filled. Several
// filled fields are reported by `*fields`.
AttributeProto::AttributeType FilledType(const AttributeProto& proto,
                                         int* fields) {
  auto type = AttributeProto::UNDEFINED;
  *fields = 0;
  const auto take = [&](bool filled, AttributeProto::AttributeType candidate) {
    if (!filled) return;
    type = candidate;
    ++*fields;
  };
  take(proto.has_f(), AttributeProto::FLOAT);
  take(proto.has_i(), AttributeProto::INT);
  take(proto.has_s(), AttributeProto::STRING);
  take(proto.has_t(), AttributeProto::TENSOR);
  take(proto.has_g(), AttributeProto::GRAPH);
  take(proto.has_sparse_tensor(), AttributeProto::SPARSE_TENSOR);
  take(proto.has_tp(), AttributeProto::TYPE_PROTO);
  take(proto.floats_size() != 0, AttributeProto::FLOATS);
  take(proto.ints_size() != 0, AttributeProto::INTS);
  take(proto.strings_size() != 0, AttributeProto::STRINGS);
  take(proto.tensors_size() != 0, AttributeProto::TENSORS);
  take(proto.graphs_size() != 0, AttributeProto::GRAPHS);
  take(proto.sparse_tensors_size() != 0, AttributeProto::SPARSE_TENSORS);
  take(proto.type_protos_size() != 0, AttributeProto::TYPE_PROTOS);
  return type;
}

bool IsList(AttributeProto::AttributeType type) {
  return type == AttributeProto::FLOATS || type == AttributeProto::INTS ||
         type == AttributeProto::STRINGS || type == AttributeProto::TENSORS ||
         type == AttributeProto::GRAPHS ||
         type == AttributeProto::SPARSE_TENSORS ||
         type == AttributeProto::TYPE_PROTOS;
}

bool IsScalar(AttributeProto::AttributeType type) {
  return type == AttributeProto::FLOAT || type == AttributeProto::INT ||
         type == AttributeProto::STRING;
}

// Only Constant has a sparse attribute, and it can be nothing else.
bool IsSparseValue(const Node& node, const AttributeProto& attribute) {
  return node.op == "Constant" && node.domain.empty() &&
         attribute.name() == "sparse_value";
}

}  // namespace

absl::Status FromAttributeProtos(const onnx::NodeProto& proto,
                                 TensorSource* source, Node* node) {
  for (const AttributeProto& attribute : proto.attribute()) {
    const std::string what =
        absl::StrCat(node->Describe(), ": attribute ", Quote(attribute.name()));
    const auto invalid = [&what](const std::string& why) {
      return Reject(Rejection::kInvalidModel, absl::StrCat(what, " ", why));
    };
    if (attribute.name().empty()) {
      return Reject(
          Rejection::kInvalidModel,
          absl::StrCat(node->Describe(), " has an attribute without a name"));
    }
    if (!attribute.ref_attr_name().empty()) {
      return invalid("refers to a function's attribute outside a function");
    }
    int fields = 0;
    const auto filled = FilledType(attribute, &fields);
    auto type = attribute.type();
    if (fields > 1) return invalid("has more than one value");
    if (type == AttributeProto::UNDEFINED) type = filled;
    // An empty list fills no field; nor does a 0 in proto3.
    if (type != filled && !(fields == 0 && (IsList(type) || IsScalar(type)))) {
      return invalid(absl::StrCat(
          "states type ", AttributeProto::AttributeType_Name(type), " but has ",
          fields == 0 ? "no value"
                      : "a value of type " +
                            AttributeProto::AttributeType_Name(filled)));
    }
    Attribute value;
    switch (type) {
      case AttributeProto::FLOAT:
        value = attribute.f();
        break;
      case AttributeProto::INT:
        value = static_cast<int64_t>(attribute.i());
        break;
      case AttributeProto::STRING:
        value = attribute.s();
        break;
      case AttributeProto::FLOATS:
        value = std::vector<float>(attribute.floats().begin(),
                                   attribute.floats().end());
        break;
      case AttributeProto::INTS:
        value = std::vector<int64_t>(attribute.ints().begin(),
                                     attribute.ints().end());
        break;
      case AttributeProto::STRINGS:
        value = std::vector<std::string>(attribute.strings().begin(),
                                         attribute.strings().end());
        break;
      case AttributeProto::TENSOR:
      case AttributeProto::SPARSE_TENSOR: {
        const bool sparse = type == AttributeProto::SPARSE_TENSOR;
        if (IsSparseValue(*node, attribute) != sparse) {
          return invalid(sparse ? "is a sparse tensor, must be a dense one"
                                : "is a dense tensor, must be a sparse one");
        }
        ASSIGN_OR_RETURN(
            auto data, sparse ? FromSparseTensorProto(attribute.sparse_tensor(),
                                                      what, source)
                              : FromTensorProto(attribute.t(), what, source));
        value = std::make_shared<const TensorData>(std::move(data));
        break;
      }
      case AttributeProto::UNDEFINED:
        return invalid("has no value");
      default:
        return Reject(Rejection::kUnsupportedAttribute,
                      absl::StrCat(what, " is of type ",
                                   AttributeProto::AttributeType_Name(type),
                                   ", which is not supported"));
    }
    if (!node->attributes.emplace(attribute.name(), std::move(value)).second) {
      return invalid("occurs twice");
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler

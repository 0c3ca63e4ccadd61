// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/weights.h"

#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

using compiler::TensorData;

absl::Status FillOffline(const Descriptor& descriptor, void* reader,
                         TensorData* data) {
  if (reader == nullptr) {
    return Fail(ONNXIFI_STATUS_INVALID_POINTER,
                absl::StrCat("weight '", descriptor.name,
                             "' is offline and deferredWeightReader is NULL"));
  }
  int32_t tag;
  std::memcpy(&tag, reader, sizeof(tag));
  heddleDeferredWeightReader deferred;
  if (tag != HEDDLE_TAG_DEFERRED_WEIGHT_READER_V1) {
    return Fail(ONNXIFI_STATUS_INVALID_POINTER,
                "deferredWeightReader does not point to a "
                "heddleDeferredWeightReader");
  }
  std::memcpy(&deferred, reader, sizeof(deferred));
  if (deferred.read == nullptr) {
    return Fail(ONNXIFI_STATUS_INVALID_POINTER,
                "deferredWeightReader has no function");
  }
  const onnxStatus status =
      deferred.read(deferred.context, descriptor.name, data->bytes.data(),
                    data->bytes.size());
  if (status != ONNXIFI_STATUS_SUCCESS) {
    return Fail(
        ONNXIFI_STATUS_INTERNAL_ERROR,
        absl::StrCat("deferredWeightReader returned ", StatusName(status),
                     " for '", descriptor.name, "'"));
  }
  return absl::OkStatus();
}

absl::StatusOr<TensorData> ReadWeight(const Descriptor& descriptor,
                                      void* reader,
                                      const DeclaredTensor& declared) {
  if (!SameType(declared.type, descriptor.data_type)) {
    return Fail(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                absl::StrCat("weight '", declared.name, "' is ",
                             compiler::DataTypeName(declared.type),
                             " in the model and of type ", descriptor.data_type,
                             " in its descriptor"));
  }
  auto shape = ReadShape(
      descriptor,
      declared.has_shape ? static_cast<int>(declared.dims.size()) : -1);
  if (!shape.ok()) return shape.status();
  // A weight's symbolic dimensions are bound by the weight alone.
  Dimensions dimensions;
  if (auto s = MatchShape(declared, *shape, &dimensions); !s.ok()) return s;
  if (auto s = CheckQuantization(descriptor, *shape); !s.ok()) return s;
  const size_t element = compiler::ElementBytes(declared.type);
  if (element == 0 || descriptor.data_type == ONNXIFI_DATATYPE_COMPLEX64 ||
      descriptor.data_type == ONNXIFI_DATATYPE_COMPLEX128) {
    return Fail(ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                absl::StrCat("weight '", declared.name, "' is ",
                             compiler::DataTypeName(declared.type)));
  }
  TensorData data;
  data.type = declared.type;
  data.bytes.resize(compiler::ElementCount(*shape) * element);
  data.shape = *std::move(shape);
  if (descriptor.offline) {
    absl::Status status = FillOffline(descriptor, reader, &data);
    if (!status.ok()) return status;
  } else {
    std::memcpy(data.bytes.data(),
                reinterpret_cast<const void*>(descriptor.buffer),
                data.bytes.size());
  }
  // Options and graphs that are made of it have no copies.
  data.bytes = compiler::TensorBytes::Shared(std::move(data.bytes));
  return data;
}

}  // namespace

absl::StatusOr<std::map<std::string, TensorData>> ReadWeights(
    Abi abi, const void* array, uint32_t count, void* reader,
    const Signature& signature) {
  std::map<std::string, TensorData> weights;
  if (count == 0) return weights;
  auto descriptors = ReadDescriptors(abi, array, count, "weight");
  if (!descriptors.ok()) return descriptors.status();
  if (signature.has_initializers) {
    return Fail(ONNXIFI_STATUS_INVALID_MODEL,
                "weights come from the model's initializers or from "
                "descriptors, not from both");
  }
  for (const Descriptor& descriptor : *descriptors) {
    if (auto s = CheckForm(descriptor); !s.ok()) return s;
    const DeclaredTensor* declared = signature.FindInput(descriptor.name);
    if (declared == nullptr || weights.count(declared->name) != 0) {
      return Fail(
          ONNXIFI_STATUS_INVALID_NAME,
          absl::StrCat("weight descriptor '", descriptor.name, "': ",
                       declared == nullptr ? "the model has no such input"
                                           : "given twice"));
    }
    auto data = ReadWeight(descriptor, reader, *declared);
    if (!data.ok()) return data.status();
    weights.emplace(declared->name, *std::move(data));
  }
  QuantizationModel quantization = signature.quantization;
  quantization.AddValues(weights);
  for (const Descriptor& descriptor : *descriptors) {
    absl::Status status = CheckAgreement(quantization, descriptor,
                                         weights.at(descriptor.name).shape);
    if (!status.ok()) return status;
  }
  return weights;
}

}  // namespace heddle::onnxifi

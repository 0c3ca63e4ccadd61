// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/descriptor.h"

#include <sys/uio.h>
#include <unistd.h>

#include <cmath>
#include <cstddef>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

// Ranks beyond this are not tensors but garbage.
constexpr uint32_t kMaxRank = 64;
// So that a product with any element size stays below 2^63.
constexpr int64_t kMaxElements = int64_t{1} << 56;

// ONNX 1.x's descriptor.
struct Onnx1Descriptor {
  int32_t tag;
  const char* name;
  onnxEnum data_type;
  onnxEnum memory_type;
  uint32_t dimensions;
  const uint64_t* shape;
  onnxPointer buffer;
};
static_assert(sizeof(Onnx1Descriptor) == kOnnx1DescriptorBytes);
static_assert(offsetof(Onnx1Descriptor, name) == 8);
static_assert(offsetof(Onnx1Descriptor, data_type) == 16);
static_assert(offsetof(Onnx1Descriptor, memory_type) == 24);
static_assert(offsetof(Onnx1Descriptor, dimensions) == 32);
static_assert(offsetof(Onnx1Descriptor, shape) == 40);
static_assert(offsetof(Onnx1Descriptor, buffer) == 48);
static_assert(sizeof(onnxTensorDescriptorV1) == kExtendedDescriptorBytes);

int32_t TagAt(const void* array, size_t offset) {
  int32_t tag;
  std::memcpy(&tag, static_cast<const char*>(array) + offset, sizeof(tag));
  return tag;
}

// The same where the memory may end: 0 if it does, or if the system does not
// allow the question.
int32_t TagAtIfReadable(const void* array, size_t offset) {
  int32_t tag = 0;
  iovec local = {&tag, sizeof(tag)};
  iovec remote = {const_cast<char*>(static_cast<const char*>(array)) + offset,
                  sizeof(tag)};
  const ssize_t size = process_vm_readv(getpid(), &local, 1, &remote, 1, 0);
  return size == sizeof(tag) ? tag : 0;
}

bool IsReadable(onnxPointer address) {
  char byte = 0;
  iovec local = {&byte, 1};
  iovec remote = {reinterpret_cast<void*>(address), 1};
  return address != 0 &&
         process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == 1;
}

enum class Form { kAsExpected, kOther, kPerhapsOther };

// The form of a single descriptor, which no second tag betrays, by its buffer:
// no address where this ABI has it, and one where the other has it. Where the
// system does not allow the question, as expected. One of ONNX 1.x that has
// just no buffer must not count as extended: what is behind it is somebody
// else's memory, in which an address may stand. (An extended one is long
// enough to have both places.)
Form FormOf(Abi abi, const void* descriptor) {
  const auto buffer_at = [descriptor](size_t offset, onnxPointer* buffer) {
    iovec local = {buffer, sizeof(*buffer)};
    iovec remote = {
        const_cast<char*>(static_cast<const char*>(descriptor)) + offset,
        sizeof(*buffer)};
    return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) ==
           sizeof(*buffer);
  };
  onnxPointer onnx1 = 0, extended = 0;
  if (!buffer_at(offsetof(Onnx1Descriptor, buffer), &onnx1)) {
    return Form::kAsExpected;
  }
  if (!buffer_at(offsetof(onnxTensorDescriptorV1, buffer), &extended)) {
    extended = 0;
  }
  const onnxPointer here = abi == Abi::kExtended ? extended : onnx1;
  const onnxPointer there = abi == Abi::kExtended ? onnx1 : extended;
  if (IsReadable(here) || !IsReadable(there)) return Form::kAsExpected;
  return abi == Abi::kOnnx1 && here == 0 ? Form::kPerhapsOther : Form::kOther;
}

absl::Status WrongTag(Abi abi, const void* array, uint32_t index,
                      const char* what, bool other_abi) {
  const bool extended = abi == Abi::kExtended;
  const size_t other_bytes =
      extended ? kOnnx1DescriptorBytes : kExtendedDescriptorBytes;
  if (other_abi || (index == 1 && TagAtIfReadable(array, other_bytes) ==
                                      ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1)) {
    return Fail(
        ONNXIFI_STATUS_UNSUPPORTED_TAG,
        absl::StrCat(
            "the ", what, " descriptors are ", other_bytes,
            " bytes long: the program was built against ",
            extended ? "ONNX 1.x's onnxifi.h, but this backend speaks the "
                       "extended interface; link "
                       "lib/heddle/onnx1/libonnxifi-heddle.so "
                       "or set HEDDLE_ONNXIFI_ABI=onnx1"
                     : "the extended onnxifi.h, but this backend speaks ONNX "
                       "1.x's interface; link lib/libonnxifi-heddle.so or set "
                       "HEDDLE_ONNXIFI_ABI=extended"));
  }
  return Fail(ONNXIFI_STATUS_UNSUPPORTED_TAG,
              absl::StrCat(what, " descriptor ", index,
                           " does not have the tag "
                           "ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1"));
}

Descriptor FromExtended(const void* bytes) {
  onnxTensorDescriptorV1 raw;
  std::memcpy(&raw, bytes, sizeof(raw));
  Descriptor result;
  result.name = raw.name;
  result.data_type = raw.dataType;
  result.memory_type = raw.memoryType;
  result.dimensions = raw.dimensions;
  result.shape = raw.shape;
  result.quantization_axis = raw.quantizationAxis;
  result.quantization_params = raw.quantizationParams;
  result.scales = raw.scales;
  result.biases = raw.biases;
  result.offline = raw.isOffline != 0;
  result.buffer = raw.buffer;
  return result;
}

Descriptor FromOnnx1(const void* bytes) {
  Onnx1Descriptor raw;
  std::memcpy(&raw, bytes, sizeof(raw));
  Descriptor result;
  result.name = raw.name;
  result.data_type = raw.data_type;
  result.memory_type = raw.memory_type;
  result.dimensions = raw.dimensions;
  result.shape = raw.shape;
  result.buffer = raw.buffer;
  return result;
}

bool KnownType(onnxEnum type) {
  return (type >= ONNXIFI_DATATYPE_FLOAT32 && type <= ONNXIFI_DATATYPE_INT64) ||
         (type >= ONNXIFI_DATATYPE_FLOAT16 &&
          type <= ONNXIFI_DATATYPE_BFLOAT16);
}

bool KnownMemory(onnxEnum type) {
  return type == ONNXIFI_MEMORY_TYPE_CPU ||
         type == ONNXIFI_MEMORY_TYPE_CUDA_BUFFER ||
         type == ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER ||
         type == ONNXIFI_MEMORY_TYPE_OPENGLES_TEXTURE_2D ||
         type == ONNXIFI_MEMORY_TYPE_D3D_RESOURCE;
}

}  // namespace

absl::StatusOr<std::vector<Descriptor>> ReadDescriptors(Abi abi,
                                                        const void* array,
                                                        uint32_t count,
                                                        const char* what) {
  const size_t stride =
      abi == Abi::kExtended ? kExtendedDescriptorBytes : kOnnx1DescriptorBytes;
  for (uint32_t i = 0; i < count; ++i) {
    if (TagAt(array, i * stride) != ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1) {
      return WrongTag(abi, array, i, what, false);
    }
  }
  const Form form = count == 1 ? FormOf(abi, array) : Form::kAsExpected;
  if (form == Form::kOther) return WrongTag(abi, array, 0, what, true);
  std::vector<Descriptor> result;
  result.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    const void* bytes = static_cast<const char*>(array) + i * stride;
    result.push_back(abi == Abi::kExtended ? FromExtended(bytes)
                                           : FromOnnx1(bytes));
    result.back().may_be_extended = form == Form::kPerhapsOther;
  }
  return result;
}

absl::Status CheckForm(const Descriptor& descriptor) {
  if (descriptor.name == nullptr) {
    return Fail(ONNXIFI_STATUS_INVALID_NAME, "a descriptor's name is NULL");
  }
  const auto complain = [&](onnxStatus code, absl::string_view what,
                            uint64_t value) {
    return Fail(code, absl::StrCat("descriptor of '", descriptor.name,
                                   "': ", what, " ", value));
  };
  if (!KnownType(descriptor.data_type)) {
    return complain(ONNXIFI_STATUS_INVALID_DATATYPE, "unknown data type",
                    descriptor.data_type);
  }
  if (!KnownMemory(descriptor.memory_type)) {
    return complain(ONNXIFI_STATUS_INVALID_MEMORY_TYPE, "unknown memory type",
                    descriptor.memory_type);
  }
  if (descriptor.memory_type != ONNXIFI_MEMORY_TYPE_CPU) {
    return complain(ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
                    "only CPU memory is supported, not type",
                    descriptor.memory_type);
  }
  if (descriptor.buffer == 0 && !descriptor.offline) {
    return Fail(
        ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
        absl::StrCat("descriptor of '", descriptor.name, "': buffer is 0",
                     descriptor.may_be_extended
                         ? "; if the program was built against the extended "
                           "onnxifi.h, link lib/libonnxifi-heddle.so or set "
                           "HEDDLE_ONNXIFI_ABI=extended"
                         : ""));
  }
  return absl::OkStatus();
}

absl::StatusOr<compiler::Shape> ReadShape(const Descriptor& descriptor,
                                          int rank) {
  const std::string name =
      absl::StrCat("descriptor of '", descriptor.name, "': ");
  if (rank >= 0 && descriptor.dimensions != static_cast<uint32_t>(rank)) {
    return Fail(ONNXIFI_STATUS_MISMATCHING_SHAPE,
                absl::StrCat(name, descriptor.dimensions,
                             " dimensions, but the model has ", rank));
  }
  if (descriptor.dimensions > kMaxRank) {
    return Fail(ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                absl::StrCat(name, descriptor.dimensions,
                             " dimensions; the limit is ", kMaxRank));
  }
  if (descriptor.dimensions > 0 && descriptor.shape == nullptr) {
    return Fail(ONNXIFI_STATUS_INVALID_SHAPE, name + "shape is NULL");
  }
  compiler::Shape shape;
  int64_t elements = 1;
  for (uint32_t i = 0; i < descriptor.dimensions; ++i) {
    const uint64_t dim = descriptor.shape[i];
    if (dim == 0) {
      return Fail(ONNXIFI_STATUS_INVALID_SHAPE,
                  absl::StrCat(name, "dimension ", i, " is 0"));
    }
    if (dim > static_cast<uint64_t>(kMaxElements / elements)) {
      return Fail(ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                  absl::StrCat(name, "more than 2^56 elements"));
    }
    elements *= static_cast<int64_t>(dim);
    shape.push_back(static_cast<int64_t>(dim));
  }
  return shape;
}

absl::Status CheckQuantization(const Descriptor& descriptor,
                               const compiler::Shape& shape) {
  const uint64_t params = descriptor.quantization_params;
  if (params == 0) return absl::OkStatus();
  const auto complain = [&](onnxStatus code, absl::string_view what) {
    return Fail(code, absl::StrCat("descriptor of '", descriptor.name, "': ",
                                   params, " quantization parameters ", what));
  };
  switch (descriptor.data_type) {
    case ONNXIFI_DATATYPE_INT8:
    case ONNXIFI_DATATYPE_UINT8:
    case ONNXIFI_DATATYPE_INT16:
    case ONNXIFI_DATATYPE_UINT16:
    case ONNXIFI_DATATYPE_INT32:
      break;
    default:
      return complain(ONNXIFI_STATUS_INVALID_DATATYPE,
                      "for a type that is not quantized");
  }
  if (params > 1) {
    if (descriptor.quantization_axis >= shape.size()) {
      return complain(ONNXIFI_STATUS_INVALID_SHAPE,
                      absl::StrCat("along axis ", descriptor.quantization_axis,
                                   " of ", shape.size(), " dimensions"));
    }
    const uint64_t size = shape[descriptor.quantization_axis];
    if (size % params != 0) {
      return complain(
          ONNXIFI_STATUS_INVALID_SHAPE,
          absl::StrCat("do not divide an axis of ", size, " elements"));
    }
  }
  if (descriptor.scales == nullptr || descriptor.biases == nullptr) {
    return complain(ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
                    "without scales or without biases");
  }
  for (uint64_t i = 0; i < params; ++i) {
    const float scale = descriptor.scales[i];
    if (!std::isfinite(scale) || scale <= 0) {
      return complain(
          ONNXIFI_STATUS_INVALID_DATATYPE,
          absl::StrCat("of which scale ", i, " is not a positive number"));
    }
  }
  return absl::OkStatus();
}

}  // namespace heddle::onnxifi

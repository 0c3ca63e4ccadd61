// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/loader/abi_probe.h"

#include <cstring>
#include <vector>

#include "onnxifi/loader/descriptors.h"
#include "onnxifi/loader/listing.h"
#include "onnxifi/loader/vendor.h"

namespace heddle::onnxifi_loader {
namespace {

// A field of a protobuf message: bytes, or a small number.
std::string Field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         static_cast<char>(bytes.size()) + bytes;
}
std::string Field(int number, char value) {
  return std::string(1, static_cast<char>(number << 3)) + value;
}

// ValueInfoProto of 2 x 3 floats.
std::string TensorInfo(const std::string& name) {
  const std::string shape =
      Field(1, Field(1, char{2})) + Field(1, Field(1, char{3}));
  const std::string tensor = Field(1, char{1}) + Field(2, shape);
  return Field(1, name) + Field(2, Field(1, tensor));
}

onnxTensorDescriptorV1 Describe(const char* name, const uint64_t* shape,
                                float* data) {
  onnxTensorDescriptorV1 one = {};
  one.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  one.name = name;
  one.dataType = ONNXIFI_DATATYPE_FLOAT32;
  one.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
  one.dimensions = 2;
  one.shape = shape;
  one.buffer = reinterpret_cast<onnxPointer>(data);
  return one;
}

}  // namespace

std::string BinaryModel(const std::string& op) {
  const std::string node = Field(1, std::string("x")) +
                           Field(1, std::string("z")) +
                           Field(2, std::string("y")) + Field(4, op);
  const std::string graph = Field(1, node) + Field(2, std::string("probe")) +
                            Field(11, TensorInfo("x")) +
                            Field(11, TensorInfo("z")) +
                            Field(12, TensorInfo("y"));
  return Field(1, char{3}) + Field(7, graph) + Field(8, Field(2, char{7}));
}

bool TakesDescriptors(const char* library, uint32_t bytes) {
  Vendor vendor;
  std::string error;
  std::vector<onnxBackendID> ids;
  onnxBackend backend = nullptr;
  if (!Vendor::Load(library, &vendor, &error) ||
      ListIds(vendor, &ids) != ONNXIFI_STATUS_SUCCESS || ids.empty() ||
      vendor.InitBackend(ids[0], nullptr, &backend) != ONNXIFI_STATUS_SUCCESS) {
    return false;
  }
  for (const char* op : {"Add", "Mul", "Sub", "Max"}) {
    const std::string model = BinaryModel(op);
    onnxGraph graph = nullptr;
    const onnxStatus made =
        vendor.InitGraph(backend, nullptr, model.size(), model.data(), 0,
                         nullptr, &graph, 0, nullptr);
    if (made != ONNXIFI_STATUS_SUCCESS && made != ONNXIFI_STATUS_FALLBACK) {
      continue;
    }
    static const uint64_t kShape[] = {2, 3};
    static float x[6], z[6], y[6];
    // One more than is told, since the other layout reads behind the second.
    const onnxTensorDescriptorV1 inputs[] = {
        Describe("x", kShape, x), Describe("z", kShape, z), {}};
    const onnxTensorDescriptorV1 outputs[] = {Describe("y", kShape, y), {}};
    std::vector<uint64_t> in(64), out(64);
    const Descriptors ins(inputs, 2, kExtendedBytes, bytes);
    const Descriptors outs(outputs, 1, kExtendedBytes, bytes);
    std::memcpy(in.data(), ins.data(), 2 * bytes);
    std::memcpy(out.data(), outs.data(), bytes);
    return vendor.SetGraphIO(
               graph, 2,
               reinterpret_cast<const onnxTensorDescriptorV1*>(in.data()), 1,
               reinterpret_cast<const onnxTensorDescriptorV1*>(out.data())) ==
           ONNXIFI_STATUS_SUCCESS;
  }
  return false;
}

}  // namespace heddle::onnxifi_loader

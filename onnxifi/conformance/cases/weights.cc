// SPDX-License-Identifier: Apache-2.0
// Weights of onnxInitGraph: initializers and descriptors.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// y = op(x, w) with the weight.
struct Weighted {
  explicit Weighted(Context& t)
      : x("x", {2, 3}), w("w", {2, 3}), y("y", {2, 3}) {
    for (size_t i = 0; i < x.data.size(); ++i) {
      x.data[i] = static_cast<float>(i) - 2;
      w.data[i] = static_cast<float>(i * i) + 1;
    }
    (void)t;
  }

  void RunAndCheck(Context& t, onnxGraph graph,
                   const std::vector<float>& weight) {
    if (graph == nullptr) return;
    for (float& v : y.data) v = std::numeric_limits<float>::quiet_NaN();
    const onnxStatus status = t.SetIO(graph, {x.Describe()}, {y.Describe()});
    if (!t.Expect(status, {ONNXIFI_STATUS_SUCCESS},
                  "onnxSetGraphIO without the weight")) {
      return;
    }
    const onnxEvent input = t.NewEvent();
    t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    const onnxMemoryFenceV1 in = EventFence(input);
    onnxMemoryFenceV1 out = EventFence(nullptr);
    if (!t.Expect(t.lib().RunGraph(graph, &in, &out), {ONNXIFI_STATUS_SUCCESS},
                  "onnxRunGraph")) {
      return;
    }
    t.Expect(t.lib().WaitEvent(out.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    t.KeepEvent(out.event);
    for (size_t i = 0; i < y.data.size(); ++i) {
      t.Check(y.data[i] == t.op().apply(x.data[i], weight[i]),
              absl::StrCat("element ", i, " is ", y.data[i], ", not ",
                           t.op().apply(x.data[i], weight[i])));
    }
  }

  Tensor x, w, y;
};

void FromInitializer(Context& t) {
  Weighted m(t);
  Model model = t.Weighted({2, 3});
  model.initializers = {{"w", {2, 3}, 1, RawFloats(m.w.data)}};
  m.RunAndCheck(t, t.NewGraph(model.Serialize()), m.w.data);
}

void FromDescriptor(Context& t) {
  Weighted m(t);
  onnxGraph graph = nullptr;
  t.Expect(t.TryGraph(t.Weighted({2, 3}).Serialize(), &graph, {m.w.Describe()}),
           {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with a weight descriptor");
  m.RunAndCheck(t, graph, m.w.data);
}

void MayVanish(Context& t) {
  Weighted m(t);
  const std::vector<float> values = m.w.data;
  const std::string bytes = t.Weighted({2, 3}).Serialize();
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  // Model, values, shape, name and descriptors in memory that goes away.
  auto* memory =
      static_cast<char*>(mmap(nullptr, 5 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  std::memcpy(memory, bytes.data(), bytes.size());
  std::memcpy(memory + page, m.w.data.data(), m.w.data.size() * sizeof(float));
  std::memcpy(memory + 2 * page, m.w.shape.data(), 2 * sizeof(uint64_t));
  std::memcpy(memory + 3 * page, "w", 2);
  Descriptor d = m.w.Describe();
  d.buffer = reinterpret_cast<uint64_t>(memory + page);
  d.shape = reinterpret_cast<const uint64_t*>(memory + 2 * page);
  d.name = memory + 3 * page;
  DescriptorArray array(t.abi(), {d});
  std::memcpy(memory + 4 * page, array.bytes(), array.byte_count());
  onnxGraph graph = nullptr;
  const onnxStatus status = t.lib().InitGraph(
      t.backend(), nullptr, bytes.size(), memory, 1,
      reinterpret_cast<const onnxTensorDescriptorV1*>(memory + 4 * page),
      &graph);
  munmap(memory, 5 * page);
  t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
           "onnxInitGraph with a weight descriptor");
  if (graph != nullptr) t.KeepGraph(graph);
  m.RunAndCheck(t, graph, values);
}

// Initialises with one wrong descriptor.
void Expect(Context& t, const Descriptor& d,
            std::initializer_list<onnxStatus> allowed, const char* what) {
  onnxGraph graph = nullptr;
  t.Expect(t.TryGraph(t.Weighted({2, 3}).Serialize(), &graph, {d}), allowed,
           absl::StrCat("onnxInitGraph with ", what));
}

void ZeroDimension(Context& t) {
  Weighted m(t);
  m.w.shape = {2, 0};
  Expect(t, m.w.Describe(), {ONNXIFI_STATUS_INVALID_SHAPE},
         "a weight with a dimension of 0");
}

void DataType(Context& t) {
  Weighted m(t);
  Descriptor d = m.w.Describe();
  for (const uint64_t type :
       {uint64_t{0}, uint64_t{99}, uint64_t{1} << 33 | 1}) {
    d.data_type = type;
    Expect(t, d, {ONNXIFI_STATUS_INVALID_DATATYPE},
           "a weight of an unknown data type");
  }
  d.data_type = ONNXIFI_DATATYPE_INT32;
  Expect(t, d,
         {ONNXIFI_STATUS_MISMATCHING_DATATYPE,
          ONNXIFI_STATUS_UNSUPPORTED_DATATYPE},
         "a weight of another data type than the model's");
}

void MemoryType(Context& t) {
  Weighted m(t);
  Descriptor d = m.w.Describe();
  for (const uint64_t type :
       {uint64_t{3}, uint64_t{0x1000}, uint64_t{1} << 40}) {
    d.memory_type = type;
    Expect(t, d, {ONNXIFI_STATUS_INVALID_MEMORY_TYPE},
           "a weight of an unknown memory type");
  }
  d.memory_type = ONNXIFI_MEMORY_TYPE_CUDA_BUFFER;
  Expect(t, d, {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE},
         "a weight in memory that is not the CPU's");
}

void BufferNull(Context& t) {
  Weighted m(t);
  Descriptor d = m.w.Describe();
  d.buffer = 0;
  Expect(t, d, {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION},
         "a weight without memory");
}

void Shape(Context& t) {
  Weighted m(t);
  m.w.shape = {3, 2};
  Expect(t, m.w.Describe(), {ONNXIFI_STATUS_MISMATCHING_SHAPE},
         "a weight of another shape than the model's");
  m.w.shape = {6};
  Expect(t, m.w.Describe(), {ONNXIFI_STATUS_MISMATCHING_SHAPE},
         "a weight of another rank than the model's");
}

void Both(Context& t) {
  Weighted m(t);
  Model model = t.Weighted({2, 3});
  model.initializers = {{"w", {2, 3}, 1, RawFloats(m.w.data)}};
  onnxGraph graph = nullptr;
  const onnxStatus status =
      t.TryGraph(model.Serialize(), &graph, {m.w.Describe()});
  t.Check(status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK,
          "onnxInitGraph accepts an initializer and a descriptor of one "
          "weight");
  t.ExpectRule(status, {ONNXIFI_STATUS_INVALID_MODEL},
               "onnxInitGraph with an initializer and a descriptor");
}

void Names(Context& t) {
  // The list has no code for a name that is not the model's.
  Weighted m(t);
  const std::string model = t.Weighted({2, 3}).Serialize();
  onnxGraph graph = nullptr;
  Descriptor d = m.w.Describe();
  d.name = "nobody";
  const onnxStatus unknown = t.TryGraph(model, &graph, {d});
  t.Check(graph == nullptr, "a weight that the model does not have is taken");
  t.ExpectRule(unknown, {ONNXIFI_STATUS_INVALID_NAME},
               "onnxInitGraph with a weight that the model does not have");
  const onnxStatus twice =
      t.TryGraph(model, &graph, {m.w.Describe(), m.w.Describe()});
  t.Check(graph == nullptr, "two descriptors of one weight are taken");
  t.ExpectRule(twice, {ONNXIFI_STATUS_INVALID_NAME},
               "onnxInitGraph with two descriptors of one weight");
}

void Tag(Context& t) {
  Weighted m(t);
  Descriptor d = m.w.Describe();
  d.tag = 0x12345678;
  onnxGraph graph = nullptr;
  const onnxStatus status =
      t.TryGraph(t.Weighted({2, 3}).Serialize(), &graph, {d});
  t.Check(graph == nullptr, "a weight descriptor of another tag is taken");
  t.ExpectRule(status, {ONNXIFI_STATUS_UNSUPPORTED_TAG},
               "onnxInitGraph with a weight descriptor of another tag");
}

void TagFirst(Context& t) {
  // Behind the tag there is no memory.
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + page, page, PROT_NONE);
  const int32_t tag = 0x12345678;
  std::memcpy(memory + page - 8, &tag, sizeof(tag));
  const std::string model = t.Weighted({2, 3}).Serialize();
  onnxGraph graph = nullptr;
  const onnxStatus status = t.lib().InitGraph(
      t.backend(), nullptr, model.size(), model.data(), 1,
      reinterpret_cast<const onnxTensorDescriptorV1*>(memory + page - 8),
      &graph);
  t.Check(status != ONNXIFI_STATUS_SUCCESS && graph == nullptr,
          "a weight descriptor of another tag is taken");
}

void Absent(Context& t) {
  // w has no value: it is an input like x.
  onnxGraph graph = nullptr;
  const onnxStatus status = t.TryGraph(t.Weighted({2, 3}).Serialize(), &graph);
  t.ExpectRule(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
               "onnxInitGraph of an input without a value");
  if (graph == nullptr) return;
  Tensor x("x", {2, 3}), y("y", {2, 3});
  t.Expect(t.SetIO(graph, {x.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
           "onnxSetGraphIO without an input that has no value");
}

}  // namespace

std::vector<Case> WeightCases() {
  return {
      {"weights.from_initializer", "a weight can be an initializer",
       FromInitializer},
      {"weights.from_descriptor", "a weight can be a descriptor",
       FromDescriptor},
      {"weights.may_vanish",
       "values, shapes, names and descriptors are not read after the call",
       MayVanish},
      {"weights.zero_dimension", "a dimension of 0 is INVALID_SHAPE",
       ZeroDimension},
      {"weights.data_type",
       "unknown data types are INVALID_DATATYPE; known ones that differ from "
       "the model's are MISMATCHING_DATATYPE",
       DataType},
      {"weights.memory_type",
       "unknown memory types are INVALID_MEMORY_TYPE; known ones other than "
       "CPU are UNSUPPORTED_MEMORY_TYPE",
       MemoryType},
      {"weights.buffer_null", "a missing buffer is INVALID_MEMORY_LOCATION",
       BufferNull},
      {"weights.shape",
       "a shape that differs from the model's is MISMATCHING_SHAPE", Shape},
      {"weights.both", "initializers and descriptors together are rejected",
       Both},
      {"weights.names", "unknown and repeated names are rejected", Names},
      {"weights.tag", "an unknown tag is rejected", Tag},
      {"weights.tag_first", "the tag is checked before anything else",
       TagFirst},
      {"weights.absent", "onnxSetGraphIO requires an input that has no value",
       Absent},
  };
}

}  // namespace heddle::conformance

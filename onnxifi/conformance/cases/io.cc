// SPDX-License-Identifier: Apache-2.0
// onnxSetGraphIO.
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// onnxSetGraphIO of a job with something changed: the inputs are 0 and 1, the
// output 2.
onnxStatus SetWith(
    Context& t, Job& job,
    const std::function<void(std::vector<Descriptor>*)>& change) {
  std::vector<Descriptor> d = {job.x.Describe(), job.z.Describe(),
                               job.y.Describe()};
  change(&d);
  return t.SetIO(job.graph, {d[0], d[1]}, {d[2]});
}

// The same fault in an input and in the output.
void ExpectEach(Context& t, Job& job, std::initializer_list<onnxStatus> allowed,
                const char* what,
                const std::function<void(Descriptor*)>& change) {
  for (const size_t which : {0, 1, 2}) {
    t.Expect(SetWith(t, job,
                     [&](std::vector<Descriptor>* d) { change(&(*d)[which]); }),
             allowed,
             absl::StrCat("onnxSetGraphIO with ", what, " of ",
                          which == 2 ? "the output" : "an input"));
  }
}

void Pointers(Context& t) {
  Job job(t);
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  t.Expect(t.lib().SetGraphIO(job.graph, 2, in.data(), 1, nullptr),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxSetGraphIO without outputDescriptors");
  t.Expect(t.lib().SetGraphIO(job.graph, 2, nullptr, 1, out.data()),
           {ONNXIFI_STATUS_INVALID_POINTER},
           "onnxSetGraphIO without inputDescriptors, of which there are 2,");
}

void NoInputs(Context& t) {
  Job job(t);
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  t.Expect(t.lib().SetGraphIO(job.graph, 0, nullptr, 1, out.data()),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
           "onnxSetGraphIO with inputsCount 0");
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  t.Expect(t.lib().SetGraphIO(job.graph, 2, in.data(), 0, out.data()),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME, ONNXIFI_STATUS_INVALID_POINTER},
           "onnxSetGraphIO with outputsCount 0");
}

void Names(Context& t) {
  Job job(t);
  ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_NAME}, "an unknown name",
             [](Descriptor* d) { d->name = "nobody"; });
  t.Expect(
      SetWith(t, job, [](std::vector<Descriptor>* d) { (*d)[1].name = "x"; }),
      {ONNXIFI_STATUS_INVALID_NAME},
      "onnxSetGraphIO with one input given twice");
  t.Expect(
      t.SetIO(job.graph, {job.x.Describe(), job.z.Describe(), job.x.Describe()},
              {job.y.Describe()}),
      {ONNXIFI_STATUS_INVALID_NAME},
      "onnxSetGraphIO with one input given twice");
}

void NameNull(Context& t) {
  Job job(t);
  ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_NAME}, "no name",
             [](Descriptor* d) { d->name = nullptr; });
}

void Missing(Context& t) {
  Job job(t);
  t.Expect(t.SetIO(job.graph, {job.x.Describe()}, {job.y.Describe()}),
           {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
           "onnxSetGraphIO without one of two inputs");
}

void Order(Context& t) {
  Job job(t);
  t.Expect(t.SetIO(job.graph, {job.z.Describe(), job.x.Describe()},
                   {job.y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS},
           "onnxSetGraphIO with the inputs in another order");
  if (!t.failed()) job.Run();
}

void ZeroDimension(Context& t) {
  Job job(t);
  static const uint64_t shape[] = {0, 3};
  ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_SHAPE}, "a dimension of 0",
             [](Descriptor* d) { d->shape = shape; });
}

void DataType(Context& t) {
  Job job(t);
  for (const uint64_t type :
       {uint64_t{0}, uint64_t{99}, uint64_t{1} << 33 | 1}) {
    ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_DATATYPE},
               "an unknown data type",
               [&](Descriptor* d) { d->data_type = type; });
  }
  ExpectEach(t, job, {ONNXIFI_STATUS_MISMATCHING_DATATYPE},
             "another data type than the model's",
             [](Descriptor* d) { d->data_type = ONNXIFI_DATATYPE_INT32; });
}

void Shape(Context& t) {
  Job job(t);
  static const uint64_t swapped[] = {3, 2};
  static const uint64_t larger[] = {2, 300};
  ExpectEach(t, job, {ONNXIFI_STATUS_MISMATCHING_SHAPE},
             "another shape than the model's",
             [](Descriptor* d) { d->shape = swapped; });
  ExpectEach(t, job, {ONNXIFI_STATUS_MISMATCHING_SHAPE}, "a larger dimension",
             [](Descriptor* d) { d->shape = larger; });
  ExpectEach(t, job, {ONNXIFI_STATUS_MISMATCHING_SHAPE}, "another rank",
             [](Descriptor* d) { d->dimensions = 1; });
}

void MemoryType(Context& t) {
  Job job(t);
  for (const uint64_t type :
       {uint64_t{3}, uint64_t{0x1000}, uint64_t{1} << 40}) {
    ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_MEMORY_TYPE},
               "an unknown memory type",
               [&](Descriptor* d) { d->memory_type = type; });
  }
  const uint64_t has = t.InfoNumber(ONNXIFI_BACKEND_MEMORY_TYPES);
  for (const uint64_t type : {1, 2, 4, 8}) {
    if ((has & type) != 0) continue;
    ExpectEach(t, job, {ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE},
               "a memory type that is not advertised",
               [&](Descriptor* d) { d->memory_type = type; });
  }
}

void BufferNull(Context& t) {
  Job job(t);
  ExpectEach(t, job, {ONNXIFI_STATUS_INVALID_MEMORY_LOCATION}, "no memory",
             [](Descriptor* d) { d->buffer = 0; });
}

void Tag(Context& t) {
  Job job(t);
  for (const int32_t tag : {0, 0x12345678, 0x23E08AAB}) {
    ExpectEach(t, job, {ONNXIFI_STATUS_UNSUPPORTED_TAG}, "another tag",
               [&](Descriptor* d) { d->tag = tag; });
  }
}

void TagFirst(Context& t) {
  Job job(t);
  const auto page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
  auto* memory =
      static_cast<char*>(mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  mprotect(memory + page, page, PROT_NONE);
  const int32_t tag = 0x12345678;
  std::memcpy(memory + page - 8, &tag, sizeof(tag));
  const auto* bare =
      reinterpret_cast<const onnxTensorDescriptorV1*>(memory + page - 8);
  const DescriptorArray in(t.abi(), {job.x.Describe(), job.z.Describe()});
  const DescriptorArray out(t.abi(), {job.y.Describe()});
  t.Expect(t.lib().SetGraphIO(job.graph, 1, bare, 1, out.data()),
           {ONNXIFI_STATUS_UNSUPPORTED_TAG},
           "onnxSetGraphIO with an input of another tag and nothing after it");
  t.Expect(t.lib().SetGraphIO(job.graph, 2, in.data(), 1, bare),
           {ONNXIFI_STATUS_UNSUPPORTED_TAG},
           "onnxSetGraphIO with an output of another tag and nothing after "
           "it");
}

void FailureInvalidates(Context& t) {
  Job job(t);
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxMemoryFenceV1 in = EventFence(input);
  const DescriptorArray inputs(t.abi(), {job.x.Describe(), job.z.Describe()});
  const std::function<onnxStatus()> faults[] = {
      [&] {
        return SetWith(t, job, [](std::vector<Descriptor>* d) {
          (*d)[0].name = "nobody";
        });
      },
      [&] {
        return SetWith(t, job,
                       [](std::vector<Descriptor>* d) { (*d)[2].buffer = 0; });
      },
      [&] {
        return SetWith(t, job,
                       [](std::vector<Descriptor>* d) { (*d)[1].tag = 1; });
      },
      [&] {
        return t.lib().SetGraphIO(job.graph, 2, inputs.data(), 1, nullptr);
      },
      [&] {
        return t.SetIO(job.graph, {job.x.Describe()}, {job.y.Describe()});
      },
  };
  for (const auto& fault : faults) {
    job.MustSetIO();
    job.Run();
    const onnxStatus status = fault();
    t.Check(status != ONNXIFI_STATUS_SUCCESS,
            "onnxSetGraphIO accepts a wrong argument");
    onnxMemoryFenceV1 out = EventFence(nullptr);
    const onnxStatus run = t.lib().RunGraph(job.graph, &in, &out);
    t.Expect(run, {ONNXIFI_STATUS_UNIDENTIFIED_NAME},
             absl::StrCat("onnxRunGraph after onnxSetGraphIO returned ",
                          StatusName(status)));
    if (run == ONNXIFI_STATUS_SUCCESS) {
      (void)t.lib().WaitEvent(out.event);
      t.KeepEvent(out.event);
    }
  }
  job.MustSetIO();
  job.Run();
}

void DescriptorsMayVanish(Context& t) {
  Job job(t);
  {
    std::vector<uint64_t> shape = {2, 3};
    std::string names[] = {"x", "z", "y"};
    std::vector<Descriptor> d = {job.x.Describe(), job.z.Describe(),
                                 job.y.Describe()};
    for (size_t i = 0; i < 3; ++i) {
      d[i].name = names[i].c_str();
      d[i].shape = shape.data();
    }
    DescriptorArray in(t.abi(), {d[0], d[1]}), out(t.abi(), {d[2]});
    t.Expect(t.lib().SetGraphIO(job.graph, 2, in.data(), 1, out.data()),
             {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
    std::memset(in.bytes(), 0xA5, in.byte_count());
    std::memset(out.bytes(), 0xA5, out.byte_count());
    shape.assign(2, kCanary);
    for (std::string& name : names) name = "?";
  }
  job.Run();
}

void NewLocations(Context& t) {
  Job job(t);
  job.MustSetIO();
  job.Run();
  Tensor x2("x", {2, 3}), y2("y", {2, 3});
  x2.data = {9, 8, 7, 6, 5, 4};
  std::swap(job.x.data, x2.data);
  std::swap(job.y.data, y2.data);
  job.MustSetIO();
  const std::vector<float> old = y2.data;
  job.Run();
  t.Check(std::memcmp(old.data(), y2.data.data(), old.size() * 4) == 0,
          "a run has written to the locations before the last onnxSetGraphIO");
}

void Unaligned(Context& t) {
  Job job(t);
  std::vector<char> in(100), in2(100), out(100);
  std::memcpy(&in[1], job.x.data.data(), 24);
  std::memcpy(&in2[3], job.z.data.data(), 24);
  Descriptor x = job.x.Describe(), z = job.z.Describe(), y = job.y.Describe();
  x.buffer = reinterpret_cast<uint64_t>(&in[1]);
  z.buffer = reinterpret_cast<uint64_t>(&in2[3]);
  y.buffer = reinterpret_cast<uint64_t>(&out[1]);
  out[0] = out[25] = 0x5A;
  t.Expect(t.SetIO(job.graph, {x, z}, {y}), {ONNXIFI_STATUS_SUCCESS},
           "onnxSetGraphIO with addresses that are not aligned");
  const onnxEvent input = t.NewEvent();
  t.Expect(t.lib().SignalEvent(input), {ONNXIFI_STATUS_SUCCESS},
           "onnxSignalEvent");
  const onnxEvent output = job.Start(input);
  t.Expect(t.lib().WaitEvent(output), {ONNXIFI_STATUS_SUCCESS},
           "onnxWaitEvent");
  t.KeepEvent(output);
  std::memcpy(job.y.data.data(), &out[1], 24);
  t.Check(job.Right(), "the result of a run is wrong");
  t.Check(out[0] == 0x5A && out[25] == 0x5A,
          "a run has written outside its output");
}

void Scalar(Context& t) {
  Model model = t.Elementwise({});
  if (const onnxStatus status = t.Compatibility(model.Serialize());
      status != ONNXIFI_STATUS_SUCCESS && status != ONNXIFI_STATUS_FALLBACK) {
    t.Unsupported(absl::StrCat("scalars are rejected: ", StatusName(status)));
  }
  Job job(t, {});
  job.MustSetIO();  // shape NULL, dimensions 0
  job.Run();
}

void WeightIsNoInput(Context& t) {
  Model model = t.Weighted({2, 3});
  model.initializers = {{"w", {2, 3}, 1, RawFloats({1, 2, 3, 4, 5, 6})}};
  const onnxGraph graph = t.NewGraph(model.Serialize());
  Tensor x("x", {2, 3}), w("w", {2, 3}), y("y", {2, 3});
  t.Expect(t.SetIO(graph, {x.Describe()}, {y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO without the weight");
  t.ExpectRule(t.SetIO(graph, {x.Describe(), w.Describe()}, {y.Describe()}),
               {ONNXIFI_STATUS_INVALID_NAME},
               "onnxSetGraphIO with a location for an initializer");
}

}  // namespace

std::vector<Case> IoCases() {
  return {
      {"io.pointers", "missing descriptors are INVALID_POINTER", Pointers},
      {"io.no_inputs",
       "passing no inputs or no outputs at all is UNIDENTIFIED_NAME", NoInputs},
      {"io.names", "unknown and repeated names are INVALID_NAME", Names},
      {"io.name_null", "a missing name is INVALID_NAME", NameNull, kRuleOnly},
      {"io.missing", "an input without a location is UNIDENTIFIED_NAME",
       Missing},
      {"io.order", "descriptors are found by name, not by position", Order},
      {"io.zero_dimension", "a dimension of 0 is INVALID_SHAPE", ZeroDimension},
      {"io.data_type",
       "unknown data types are INVALID_DATATYPE; known ones that differ from "
       "the model's are MISMATCHING_DATATYPE",
       DataType},
      {"io.shape", "a shape that differs from the model's is MISMATCHING_SHAPE",
       Shape},
      {"io.memory_type",
       "unknown memory types are INVALID_MEMORY_TYPE; those not advertised are "
       "UNSUPPORTED_MEMORY_TYPE",
       MemoryType},
      {"io.buffer_null", "a missing buffer is INVALID_MEMORY_LOCATION",
       BufferNull},
      {"io.tag", "an unknown tag is UNSUPPORTED_TAG", Tag},
      {"io.tag_first", "the tag is checked before anything else", TagFirst},
      {"io.failure_invalidates",
       "a failure leaves the graph without locations, and the next call sets "
       "them again",
       FailureInvalidates},
      {"io.descriptors_may_vanish",
       "descriptors, names and shapes are not read after the call",
       DescriptorsMayVanish},
      {"io.new_locations", "runs use the locations that were set last",
       NewLocations},
      {"io.unaligned", "buffers need no alignment", Unaligned, kRuleOnly},
      {"io.scalar", "a scalar has 0 dimensions and no shape", Scalar},
      {"io.weight_is_no_input", "initializers need no location",
       WeightIsNoInput},
  };
}

}  // namespace heddle::conformance

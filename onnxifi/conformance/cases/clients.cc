// SPDX-License-Identifier: Apache-2.0
// The call sequences of the programs that used ONNXIFI, as they made them, and
// of a partitioner that asks for every piece of a graph. Read in:
//   Caffe2's operator   pytorch: caffe2/opt/onnxifi_op.h, onnxifi_op.cc, and
//                       onnxifi_transformer.cc, which makes its models
//   Menoh's backend     pfnet-research/menoh: menoh/onnxifi/model_core.hpp,
//   .cpp ONNX's test driver  onnx: onnx/backend/test/cpp/driver_test.cc a
//   partitioner       nobody's: what onnxGetBackendCompatibility is for, as
//                       ONNX's docs/proposals/ONNXIFIproposal.md has it
#include <sys/mman.h>
#include <unistd.h>

#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "onnxifi/conformance/case.h"

namespace heddle::conformance {
namespace {

// y = op(op(x, w), v): two nodes and two weights that only descriptors bring.
struct Network {
  explicit Network(Context& t)
      : x("x", {2, 3}), w("w", {2, 3}), v("v", {2, 3}), y("y", {2, 3}) {
    model = t.NewModel();
    model.nodes = {{t.op().name, {"x", "w"}, {"h"}, "", {}},
                   {t.op().name, {"h", "v"}, {"y"}, "", {}}};
    model.inputs = {{"x", {2, 3}}, {"w", {2, 3}}, {"v", {2, 3}}};
    model.outputs = {{"y", {2, 3}}};
    for (size_t i = 0; i < 6; ++i) {
      x.data[i] = static_cast<float>(i) - 2;
      w.data[i] = static_cast<float>(i * i) + 1;
      v.data[i] = 3 - static_cast<float>(i);
    }
    Forget();
  }
  void Forget() {
    for (float& value : y.data) {
      value = std::numeric_limits<float>::quiet_NaN();
    }
  }
  bool Right(Context& t) const {
    for (size_t i = 0; i < 6; ++i) {
      const float h = t.op().apply(x.data[i], w.data[i]);
      if (y.data[i] != t.op().apply(h, v.data[i])) return false;
    }
    return true;
  }

  Tensor x, w, v, y;
  Model model;
};

// The IDs as a client lists them: asks for the number with `before` in its
// place, then for as many. Clean() releases them.
std::vector<onnxBackendID> List(Context& t, size_t before) {
  t.NeedDevice();
  size_t count = before;
  t.Expect(t.lib().GetBackendIDs(nullptr, &count), {ONNXIFI_STATUS_FALLBACK},
           "onnxGetBackendIDs for the number");
  if (count == 0 || count > 1024) t.NoDevice("no backend is listed");
  std::vector<onnxBackendID> ids(count);
  t.Expect(t.lib().GetBackendIDs(ids.data(), &count), {ONNXIFI_STATUS_SUCCESS},
           "onnxGetBackendIDs for as many as there are");
  for (size_t i = 0; i < count && i < ids.size(); ++i) t.Keep(ids[i]);
  return ids;
}

onnxBackend Open(Context& t, onnxBackendID id) {
  const uint64_t properties[] = {ONNXIFI_BACKEND_PROPERTY_NONE};
  onnxBackend backend = nullptr;
  const onnxStatus status = t.lib().InitBackend(id, properties, &backend);
  if (!t.Expect(status, {ONNXIFI_STATUS_SUCCESS}, "onnxInitBackend")) {
    t.Fail("nothing can be tried without a backend");
  }
  t.KeepBackend(backend);
  return backend;
}

onnxEvent NewEvent(Context& t, onnxBackend backend) {
  onnxEvent event = nullptr;
  t.Expect(t.lib().InitEvent(backend, &event), {ONNXIFI_STATUS_SUCCESS},
           "onnxInitEvent");
  return event;
}

void MustRelease(Context& t, onnxEvent event) {
  t.Expect(t.lib().ReleaseEvent(event), {ONNXIFI_STATUS_SUCCESS},
           "onnxReleaseEvent");
}

// ---- Caffe2's operator
// -------------------------------------------------------

// A reader of weights that are not there yet, of somebody else's making: since
// no descriptor is offline, nobody is to look at it.
class ForeignReader {
 public:
  ForeignReader()
      : bytes_(static_cast<size_t>(sysconf(_SC_PAGESIZE))),
        page_(mmap(nullptr, bytes_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                   0)) {}
  ~ForeignReader() { munmap(page_, bytes_); }
  void* get() const { return page_; }

 private:
  const size_t bytes_;
  void* const page_;
};

// InitGraph as the operator calls it; null if it does not succeed with one of
// `allowed`.
onnxGraph Caffe2Graph(Context& t, onnxBackend backend, Network* net,
                      std::initializer_list<onnxStatus> allowed) {
  const std::string bytes = net->model.Serialize();
  const DescriptorArray weights(t.abi(),
                                {net->w.Describe(), net->v.Describe()});
  const ForeignReader reader;
  onnxGraph graph = nullptr;
  const onnxStatus status = t.lib().InitGraph(
      backend, nullptr, bytes.size(), bytes.data(), weights.size(),
      weights.data(), &graph, 0, reader.get());
  if (graph != nullptr) t.KeepGraph(graph);
  t.Expect(status, allowed, "onnxInitGraph with weights in descriptors");
  return graph;
}

// One run as its RunOnDevice: all descriptors anew, by the extension where
// there is one.
void Caffe2Run(Context& t, onnxBackend backend, onnxGraph graph, Network* net,
               onnxSetIOAndRunGraphFunction together) {
  net->Forget();
  const DescriptorArray in(t.abi(), {net->x.Describe()});
  const DescriptorArray out(t.abi(), {net->y.Describe()});
  onnxMemoryFenceV1 input = EventFence(nullptr), output = EventFence(nullptr);
  if (together != nullptr) {
    t.Expect(t.lib().SetIOAndRunGraph(together, graph, in.size(), in.data(),
                                      out.size(), out.data(), &output),
             {ONNXIFI_STATUS_SUCCESS}, "onnxSetIOAndRunGraph");
    t.Expect(t.lib().WaitEvent(output.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    MustRelease(t, output.event);
  } else {
    t.Expect(
        t.lib().SetGraphIO(graph, in.size(), in.data(), out.size(), out.data()),
        {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
    input.event = NewEvent(t, backend);
    t.Expect(t.lib().RunGraph(graph, &input, &output), {ONNXIFI_STATUS_SUCCESS},
             "onnxRunGraph");
    t.Expect(t.lib().SignalEvent(input.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    t.Expect(t.lib().WaitEvent(output.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    MustRelease(t, input.event);
    MustRelease(t, output.event);
  }
  t.Check(net->Right(t), "the result of a run is wrong");
}

void Caffe2(Context& t) {
  Network net(t);
  const onnxBackendID id = List(t, 0)[0];
  const onnxBackend backend = Open(t, id);
  const onnxGraph graph = Caffe2Graph(
      t, backend, &net, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK});
  if (graph == nullptr) return;
  onnxExtensionFunctionPointer together = nullptr;
  if (t.lib().has_extension_function() &&
      t.lib().GetExtensionFunctionAddress(
          id, "onnxSetIOAndRunGraph", &together) != ONNXIFI_STATUS_SUCCESS) {
    together = nullptr;
  }
  for (int i = 0; i < 3 && !t.failed(); ++i) {
    for (float& value : net.x.data) value += 1;
    Caffe2Run(t, backend, graph, &net, nullptr);
    if (together != nullptr) {
      Caffe2Run(t, backend, graph, &net,
                ExtensionAs<onnxSetIOAndRunGraphFunction>(together));
    }
  }
}

void Caffe2Strict(Context& t) {
  // Its models have outputs without types, and it takes FALLBACK for a failure.
  Network net(t);
  net.model.outputs[0].type = 0;
  const onnxBackend backend = Open(t, List(t, 0)[0]);
  const onnxGraph graph =
      Caffe2Graph(t, backend, &net, {ONNXIFI_STATUS_SUCCESS});
  if (graph != nullptr) Caffe2Run(t, backend, graph, &net, nullptr);
}

// ---- Menoh's backend
// ---------------------------------------------------------

void Menoh(Context& t) {
  // The number is asked for with all bits set; locations are set once, when the
  // graph is made; the input event is signalled before the run that waits for
  // it; nobody has written to the event of the output fence.
  Network net(t);
  const onnxBackend backend =
      Open(t, List(t, std::numeric_limits<size_t>::max())[0]);
  onnxGraph graph = nullptr;
  const std::string bytes = net.model.Serialize();
  const DescriptorArray weights(t.abi(), {net.w.Describe(), net.v.Describe()});
  const onnxStatus status =
      t.lib().InitGraph(backend, nullptr, bytes.size(), bytes.data(),
                        weights.size(), weights.data(), &graph);
  if (graph != nullptr) t.KeepGraph(graph);
  if (!t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                "onnxInitGraph with weights in descriptors")) {
    return;
  }
  t.Expect(t.SetIO(graph, {net.x.Describe()}, {net.y.Describe()}),
           {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
  for (int i = 0; i < 5 && !t.failed(); ++i) {
    for (float& value : net.x.data) value += 1;
    net.Forget();
    onnxMemoryFenceV1 input = EventFence(NewEvent(t, backend));
    onnxMemoryFenceV1 output =
        EventFence(static_cast<onnxEvent>(CanaryPointer()));
    t.Expect(t.lib().SignalEvent(input.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxSignalEvent");
    t.Expect(t.lib().RunGraph(graph, &input, &output), {ONNXIFI_STATUS_SUCCESS},
             "onnxRunGraph with a signalled event");
    t.Expect(t.lib().WaitEvent(output.event), {ONNXIFI_STATUS_SUCCESS},
             "onnxWaitEvent");
    MustRelease(t, input.event);
    MustRelease(t, output.event);
    t.Check(net.Right(t), "the result of a run is wrong");
  }
}

// ---- ONNX's test driver
// ------------------------------------------------------

void OnnxDriver(Context& t) {
  // Every backend; a graph for each data set; an event of its own in the output
  // fence, which the run replaces.
  for (onnxBackendID id : List(t, 0)) {
    const onnxBackend backend = Open(t, id);
    for (int set = 0; set < 2 && !t.failed(); ++set) {
      Network net(t);
      net.model.initializers = {{"w", {2, 3}, 1, RawFloats(net.w.data)},
                                {"v", {2, 3}, 1, RawFloats(net.v.data)}};
      for (float& value : net.x.data) value += static_cast<float>(set);
      const std::string bytes = net.model.Serialize();
      t.Expect(t.lib().GetBackendCompatibility(id, bytes.size(), bytes.data()),
               {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
               "onnxGetBackendCompatibility");
      onnxGraph graph = nullptr;
      const onnxStatus status = t.lib().InitGraph(
          backend, nullptr, bytes.size(), bytes.data(), 0, nullptr, &graph);
      if (!t.Expect(status, {ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK},
                    "onnxInitGraph")) {
        return;
      }
      t.Expect(t.SetIO(graph, {net.x.Describe()}, {net.y.Describe()}),
               {ONNXIFI_STATUS_SUCCESS}, "onnxSetGraphIO");
      onnxMemoryFenceV1 input = EventFence(NewEvent(t, backend));
      const onnxEvent own = NewEvent(t, backend);
      onnxMemoryFenceV1 output = EventFence(own);
      t.Expect(t.lib().RunGraph(graph, &input, &output),
               {ONNXIFI_STATUS_SUCCESS}, "onnxRunGraph");
      t.Check(output.event != own && output.event != nullptr,
              "a run has not replaced the event of the output fence");
      t.Expect(t.lib().SignalEvent(input.event), {ONNXIFI_STATUS_SUCCESS},
               "onnxSignalEvent");
      t.Expect(t.lib().WaitEvent(output.event), {ONNXIFI_STATUS_SUCCESS},
               "onnxWaitEvent");
      t.Check(net.Right(t), "the result of a run is wrong");
      t.Check(t.StateOf(own) == ONNXIFI_EVENT_STATE_NONSIGNALLED,
              "a run has signalled the event that its output fence had");
      for (onnxEvent event : {output.event, input.event, own}) {
        MustRelease(t, event);
      }
      t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
               "onnxReleaseGraph");
    }
  }
}

// ---- A partitioner
// -----------------------------------------------------------

bool Yes(onnxStatus status) {
  return status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK;
}

// Nodes begin..end of a chain h0 -> h1 -> ...; each third one is nobody's.
std::string Piece(Context& t, int begin, int end) {
  Model model = t.NewModel();
  const auto value = [](int i) { return absl::StrCat("h", i); };
  model.inputs = {{value(begin), {2, 3}}, {"z", {2, 3}}};
  model.outputs = {{value(end), {2, 3}}};
  for (int i = begin; i < end; ++i) {
    const bool known = i % 3 != 2;
    model.nodes.push_back({known ? t.op().name : "NoSuchOperatorOfOnnx",
                           {value(i), "z"},
                           {value(i + 1)},
                           "",
                           {}});
  }
  return model.Serialize();
}

void Partitioner(Context& t) {
  constexpr int kNodes = 30, kProbes = 10000;
  const onnxBackendID id = t.id();
  const onnxBackend backend = t.backend();
  std::vector<std::string> nodes, pairs;
  for (int i = 0; i < kNodes; ++i) nodes.push_back(Piece(t, i, i + 1));
  for (int i = 0; i + 1 < kNodes; ++i) pairs.push_back(Piece(t, i, i + 2));
  const auto ask = [&](const std::string& model) {
    return Yes(t.lib().GetBackendCompatibility(id, model.size(), model.data()));
  };
  // The same question has the same answer, after whatever others.
  for (int i = 0; i < kProbes && !t.failed(); ++i) {
    const bool pair = i % 4 == 3;
    const auto at =
        static_cast<size_t>(t.random()() % (pair ? pairs : nodes).size());
    const bool known = at % 3 != 2 && (!pair || at % 3 != 1);
    t.Check(ask((pair ? pairs : nodes)[at]) == known,
            absl::StrCat("probe ", i, ": a piece of ", pair ? 2 : 1,
                         known ? " nodes that can run was rejected"
                               : " nodes that cannot run was accepted"));
    // Somewhere between, the pieces are made.
    if (i % 2000 == 999) {
      const std::string piece = Piece(t, 0, 2);
      onnxGraph graph = nullptr;
      const onnxStatus status = t.lib().InitGraph(
          backend, nullptr, piece.size(), piece.data(), 0, nullptr, &graph);
      t.Check(Yes(status),
              absl::StrCat("a piece that was accepted is ", StatusName(status),
                           " for onnxInitGraph"));
      if (graph != nullptr) {
        t.Expect(t.lib().ReleaseGraph(graph), {ONNXIFI_STATUS_SUCCESS},
                 "onnxReleaseGraph");
      }
    }
  }
}

}  // namespace

std::vector<Case> ClientCases() {
  return {
      {"clients.caffe2", "the calls of Caffe2's operator", Caffe2},
      {"clients.caffe2_strict",
       "Caffe2's models, whose outputs have no types, are SUCCESS",
       Caffe2Strict, kRuleOnly},
      {"clients.menoh", "the calls of Menoh's backend", Menoh},
      {"clients.onnx_driver", "the calls of ONNX's test driver", OnnxDriver},
      {"clients.partitioner", "10,000 queries about pieces of a graph",
       Partitioner, kLong},
  };
}

}  // namespace heddle::conformance

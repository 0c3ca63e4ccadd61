// SPDX-License-Identifier: Apache-2.0
// The functions of the interface over an engine and four handle tables, one per
// type. This is not the C boundary: functions may throw std::bad_alloc and
// std::system_error (api_guard.h turns those into statuses), but leave nothing
// behind if they do.
#ifndef HEDDLE_ONNXIFI_LIBRARY_H_
#define HEDDLE_ONNXIFI_LIBRARY_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "onnxifi/backend.h"
#include "onnxifi/engine.h"
#include "onnxifi/event.h"
#include "onnxifi/graph.h"
#include "onnxifi/handle_table.h"
#include "onnxifi/include/heddle/onnxifi_ext.h"
#include "onnxifi/log.h"
#include "onnxifi/outcome.h"

namespace heddle::onnxifi {

// What a function learns about its call.
struct Call {
  LogLevel threshold = DefaultLogLevel();  // of the backend concerned
};

// Arguments of onnxInitGraph.
struct GraphArguments {
  const uint64_t* properties = nullptr;
  size_t model_size = 0;
  const void* model = nullptr;
  uint32_t weights_count = 0;
  const void* weights = nullptr;
  // Of the extended ABI.
  uint32_t max_sequence = 0;
  void* reader = nullptr;
};

class Library {
 public:
  // `handle_tag`: the high bits of handles, a multiple of 4 that no other
  // library in the process uses.
  Library(std::unique_ptr<Engine> engine, uint16_t handle_tag);
  ~Library();
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  Outcome GetBackendIDs(Abi abi, onnxBackendID* ids, size_t* count);
  Outcome ReleaseBackendID(onnxBackendID id);
  Outcome GetBackendInfo(onnxBackendID id, onnxBackendInfo type, void* value,
                         size_t* size);
  Outcome GetBackendCompatibility(onnxBackendID id, size_t size,
                                  const void* model);
  Outcome InitBackend(Call* call, onnxBackendID id, const uint64_t* properties,
                      onnxBackend* backend);
  Outcome ReleaseBackend(Call* call, onnxBackend backend);
  Outcome InitEvent(Call* call, onnxBackend backend, onnxEvent* event);
  Outcome SignalEvent(Call* call, onnxEvent event);
  Outcome GetEventState(Call* call, onnxEvent event, onnxEventState* state);
  Outcome WaitEvent(Call* call, onnxEvent event);
  Outcome ReleaseEvent(Call* call, onnxEvent event);
  Outcome InitGraph(Call* call, onnxBackend backend,
                    const GraphArguments& arguments, onnxGraph* graph);
  Outcome SetGraphIO(Call* call, onnxGraph graph, const IoArguments& arguments);
  Outcome RunGraph(Call* call, onnxGraph graph, const onnxMemoryFenceV1* input,
                   onnxMemoryFenceV1* output);
  Outcome ReleaseGraph(Call* call, onnxGraph graph);
  // SUCCESS if the ID can be asked for extensions.
  Outcome CheckExtensionsOf(onnxBackendID id);
  // `trace` may be null.
  Outcome SetIoAndRun(Call* call, onnxGraph graph, const IoArguments& arguments,
                      onnxMemoryFenceV1* output, onnxTraceEventList* trace);
  Outcome WaitEventFor(Call* call, onnxEvent event, uint32_t timeout_ms,
                       onnxEventState* state, onnxStatus* status, char* message,
                       size_t* length);
  Outcome GetOutputShape(Call* call, onnxEvent event, const char* name,
                         uint32_t* dimensions, uint64_t* shape);

 private:
  // Null if it is not a valid ID.
  std::shared_ptr<BackendId> FindId(onnxBackendID id) const;
  // What the card of an ID is now. It is watched from then on, until Forget.
  absl::StatusOr<std::shared_ptr<const DeviceInfo>> Refresh(BackendId* id);
  // The same for a question about a listed ID.
  absl::StatusOr<std::shared_ptr<const DeviceInfo>> Look(BackendId* id);
  // Ends the watching of a card that no ID is listed of.
  void ForgetUnlisted(const BackendId& id) noexcept;
  // The permanent ID of a device; makes it at first sight.
  std::shared_ptr<BackendId> IdFor(const DeviceInfo& device, Abi abi);
  // Creates the output event and starts: the common end of the two run
  // functions. `start` takes the run.
  template <typename Start>
  Outcome Launch(Graph* graph, std::shared_ptr<Event> input,
                 onnxMemoryFenceV1* output, onnxTraceEventList* trace,
                 Start start);

  const std::unique_ptr<Engine> engine_;
  HandleTable<BackendId> ids_;
  HandleTable<Backend> backends_;
  HandleTable<Graph> graphs_;
  HandleTable<Event> events_;
  std::mutex ids_mutex_;
  std::map<std::pair<std::string, Abi>, std::shared_ptr<BackendId>> known_;
  std::map<std::string, std::shared_ptr<CardUse>> uses_;
};

}  // namespace heddle::onnxifi

#endif  // HEDDLE_ONNXIFI_LIBRARY_H_

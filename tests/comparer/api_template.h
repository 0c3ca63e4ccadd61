// SPDX-License-Identifier: Apache-2.0
// The body of Api for one ABI. A translation unit includes one onnxifi.h, then
// this file, and gives a Traits class. Everything is in an unnamed namespace:
// the two headers define different types of the same names.
#ifndef TESTS_COMPARER_API_TEMPLATE_H_
#define TESTS_COMPARER_API_TEMPLATE_H_

#include <dlfcn.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "tests/comparer/api.h"

namespace heddle::comparer {
namespace {

template <typename Traits>
class ApiOf : public Api {
 public:
  static absl::StatusOr<std::unique_ptr<Api>> Load(const std::string& path) {
    void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      return absl::NotFoundError(
          absl::StrCat("cannot load the library: ", dlerror()));
    }
    auto api = std::unique_ptr<ApiOf>(new ApiOf);
    std::string missing;
    const auto find = [&](const char* name, auto* function) {
      *reinterpret_cast<void**>(function) = dlsym(library, name);
      if (*function == nullptr) absl::StrAppend(&missing, " ", name);
    };
    find("onnxGetBackendIDs", &api->get_backend_ids_);
    find("onnxReleaseBackendID", &api->release_backend_id_);
    find("onnxGetBackendInfo", &api->get_backend_info_);
    find("onnxGetBackendCompatibility", &api->get_backend_compatibility_);
    find("onnxInitBackend", &api->init_backend_);
    find("onnxReleaseBackend", &api->release_backend_);
    find("onnxInitEvent", &api->init_event_);
    find("onnxSignalEvent", &api->signal_event_);
    find("onnxGetEventState", &api->get_event_state_);
    find("onnxWaitEvent", &api->wait_event_);
    find("onnxReleaseEvent", &api->release_event_);
    find("onnxInitGraph", &api->init_graph_);
    find("onnxSetGraphIO", &api->set_graph_io_);
    find("onnxRunGraph", &api->run_graph_);
    find("onnxReleaseGraph", &api->release_graph_);
    if (!missing.empty()) {
      return absl::NotFoundError(
          absl::StrCat(path, " is no ONNXIFI library; it lacks", missing));
    }
    return std::unique_ptr<Api>(std::move(api));
  }

  int GetBackendIds(std::vector<void*>* ids) override {
    ids->clear();
    size_t count = 0;
    int status = get_backend_ids_(nullptr, &count);
    // A card may come between the two calls.
    while (status == ONNXIFI_STATUS_FALLBACK) {
      ids->resize(count);
      if (count == 0) return ONNXIFI_STATUS_SUCCESS;
      status = get_backend_ids_(ids->data(), &count);
    }
    ids->resize(status == ONNXIFI_STATUS_SUCCESS ? count : 0);
    return status;
  }
  int ReleaseBackendId(void* id) override { return release_backend_id_(id); }
  int GetBackendInfo(void* id, int32_t info, std::string* value) override {
    value->clear();
    size_t size = 0;
    int status = get_backend_info_(id, info, nullptr, &size);
    if (status != ONNXIFI_STATUS_FALLBACK) return status;
    value->resize(size);
    status = get_backend_info_(id, info, &(*value)[0], &size);
    if (status == ONNXIFI_STATUS_SUCCESS) value->resize(size);
    return status;
  }
  int GetBackendCompatibility(void* id, const std::string& model) override {
    return get_backend_compatibility_(id, model.size(), model.data());
  }
  int InitBackend(void* id, void** backend) override {
    return init_backend_(id, nullptr, backend);
  }
  int ReleaseBackend(void* backend) override {
    return release_backend_(backend);
  }
  int InitEvent(void* backend, void** event) override {
    return init_event_(backend, event);
  }
  int SignalEvent(void* event) override { return signal_event_(event); }
  int WaitEvent(void* event) override { return wait_event_(event); }
  int ReleaseEvent(void* event) override { return release_event_(event); }
  int InitGraph(void* backend, const std::string& model,
                void** graph) override {
    return InitGraph(backend, model, {}, graph);
  }
  int InitGraph(void* backend, const std::string& model,
                const std::vector<TensorPlace>& weights,
                void** graph) override {
    const auto given = Descriptors(weights);
    return Traits::InitGraph(init_graph_, backend, model.size(), model.data(),
                             static_cast<uint32_t>(given.size()),
                             given.empty() ? nullptr : given.data(), graph);
  }
  int SetGraphIo(void* graph, const std::vector<TensorPlace>& inputs,
                 const std::vector<TensorPlace>& outputs) override {
    const auto in = Descriptors(inputs);
    const auto out = Descriptors(outputs);
    return set_graph_io_(graph, static_cast<uint32_t>(in.size()), in.data(),
                         static_cast<uint32_t>(out.size()), out.data());
  }
  int RunGraph(void* graph, void* input_event, void** output_event) override {
    onnxMemoryFenceV1 input = {}, output = {};
    input.tag = output.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
    input.type = output.type = ONNXIFI_SYNCHRONIZATION_EVENT;
    input.event = input_event;
    const int status = run_graph_(graph, &input, &output);
    *output_event = status == ONNXIFI_STATUS_SUCCESS ? output.event : nullptr;
    return status;
  }
  int ReleaseGraph(void* graph) override { return release_graph_(graph); }

 private:
  ApiOf() = default;

  // Both headers call their descriptor onnxTensorDescriptorV1, with different
  // sizes. A type of its own keeps the two std::vector of this program apart;
  // the linker would otherwise merge them.
  struct Descriptor : onnxTensorDescriptorV1 {};
  static_assert(sizeof(Descriptor) == sizeof(onnxTensorDescriptorV1), "");

  static std::vector<Descriptor> Descriptors(
      const std::vector<TensorPlace>& places) {
    std::vector<Descriptor> descriptors(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      onnxTensorDescriptorV1& to = descriptors[i];
      to = {};
      to.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
      to.name = places[i].name.c_str();
      to.dataType = static_cast<onnxEnum>(places[i].type);
      to.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
      to.dimensions = static_cast<uint32_t>(places[i].shape.size());
      to.shape = places[i].shape.empty() ? nullptr : places[i].shape.data();
      to.buffer = reinterpret_cast<onnxPointer>(places[i].buffer);
    }
    return descriptors;
  }

  onnxGetBackendIDsFunction get_backend_ids_ = nullptr;
  onnxReleaseBackendIDFunction release_backend_id_ = nullptr;
  onnxGetBackendInfoFunction get_backend_info_ = nullptr;
  onnxGetBackendCompatibilityFunction get_backend_compatibility_ = nullptr;
  onnxInitBackendFunction init_backend_ = nullptr;
  onnxReleaseBackendFunction release_backend_ = nullptr;
  onnxInitEventFunction init_event_ = nullptr;
  onnxSignalEventFunction signal_event_ = nullptr;
  onnxGetEventStateFunction get_event_state_ = nullptr;
  onnxWaitEventFunction wait_event_ = nullptr;
  onnxReleaseEventFunction release_event_ = nullptr;
  onnxInitGraphFunction init_graph_ = nullptr;
  onnxSetGraphIOFunction set_graph_io_ = nullptr;
  onnxRunGraphFunction run_graph_ = nullptr;
  onnxReleaseGraphFunction release_graph_ = nullptr;
};

}  // namespace
}  // namespace heddle::comparer

#endif  // TESTS_COMPARER_API_TEMPLATE_H_

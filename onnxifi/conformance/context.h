// SPDX-License-Identifier: Apache-2.0
// What a case works with: the library, its checks, and the things that most
// cases need. A case runs in a process of its own, so it gives up by ending
// that (Fail, Unsupported); the record says what has been found until then.
#ifndef ONNXIFI_CONFORMANCE_CONTEXT_H_
#define ONNXIFI_CONFORMANCE_CONTEXT_H_

#include <initializer_list>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "onnxifi/conformance/library.h"
#include "onnxifi/conformance/model.h"
#include "onnxifi/conformance/provoke.h"
#include "onnxifi/conformance/record.h"

namespace heddle::conformance {

// Canary for what must not be written, and a handle that no library made.
constexpr uint64_t kCanary = 0x5A5AC3C35A5AC3C3;
inline void* CanaryPointer() { return reinterpret_cast<void*>(kCanary); }

// The operator that graphs are made of: the first of a few that the backend
// takes.
struct BinaryOperator {
  const char* name;
  float (*apply)(float, float);
};

struct Tensor {
  std::string name;
  std::vector<uint64_t> shape;
  std::vector<float> data;

  Tensor(std::string name, std::vector<uint64_t> shape);
  // Points into this object.
  Descriptor Describe();
};

class Context {
 public:
  Context(Library* library, Record* record, uint64_t seed,
          std::string library_path, Provoker provoker = {});

  Library& lib() { return *library_; }
  Abi abi() const { return library_->abi(); }
  const std::string& library_path() const { return library_path_; }
  std::mt19937_64& random() { return random_; }
  uint64_t seed() const { return seed_; }
  // Case::data.
  const std::string& data() const { return data_; }
  void set_data(const char* data) { data_ = data; }

  // ---- Checks, from any thread. They return whether it holds. ----
  bool Check(bool holds, const std::string& what);
  // A rule that the specification does not state: a warning if broken.
  bool Rule(bool holds, const std::string& what);
  // `what` names the call.
  bool Expect(onnxStatus got, std::initializer_list<onnxStatus> allowed,
              const std::string& what);
  bool ExpectRule(onnxStatus got, std::initializer_list<onnxStatus> allowed,
                  const std::string& what);
  void Note(const std::string& what);
  bool failed() const { return record_->failures != 0; }
  Record* record() { return record_; }

  // ---- The end of the case ----
  [[noreturn]] void Fail(const std::string& what);
  // The same where nothing can be tried at all.
  [[noreturn]] void NoDevice(const std::string& what);
  // Ends a case that is not to be run because the library lists no device.
  void NeedDevice();
  void set_lists_device(bool lists) { lists_device_ = lists; }
  // Not supported, which `excuse` says why it may be: the capability that is
  // not advertised, or the operator that is refused.
  [[noreturn]] void Unsupported(const std::string& excuse);
  void NeedCapability(uint64_t bit, const char* name);

  // Has --provoke or --provoker do what a word of provoker.h says; Unsupported
  // if they cannot, Fail if they fail.
  void Provoke(const std::string& word, uint64_t amount = 0);
  // Ends what a word that refuses this process something has begun; whether
  // anything was refused. Needs no memory.
  bool Spare();

  // ---- Devices. Fail when what they need cannot be had. ----
  const std::vector<onnxBackendID>& ids();
  onnxBackendID id() { return ids()[0]; }
  onnxBackend backend();  // one of id(), made at the first call
  onnxBackend NewBackend();
  onnxEvent NewEvent(onnxBackend backend = nullptr);
  onnxEventState StateOf(onnxEvent event);

  // The answer's bytes; Fail unless SUCCESS.
  std::string Info(onnxBackendInfo info);
  std::string InfoText(onnxBackendInfo info);  // without the final NUL
  uint64_t InfoNumber(onnxBackendInfo info);
  bool Has(uint64_t capability);

  // ---- Models ----
  const BinaryOperator& op();
  // Without nodes, of versions that the backend lists.
  Model NewModel();
  int64_t MaxOpset();
  std::vector<int64_t> IrVersions();
  // y = op(x, z).
  Model Elementwise(const std::vector<Dim>& shape);
  // y = op(x, w), where w is an input without a value.
  Model Weighted(const std::vector<Dim>& shape);
  // Fails unless SUCCESS or FALLBACK.
  onnxGraph NewGraph(const std::string& model, onnxBackend backend = nullptr);
  onnxStatus Compatibility(const std::string& model);
  // Returns the status; *graph is NULL or what came.
  onnxStatus TryGraph(const std::string& model, onnxGraph* graph,
                      const std::vector<Descriptor>& weights = {});
  onnxStatus SetIO(onnxGraph graph, const std::vector<Descriptor>& inputs,
                   const std::vector<Descriptor>& outputs);

  // Objects that Clean() releases.
  void Keep(onnxBackendID id) { ids_to_release_.push_back(id); }
  void KeepBackend(onnxBackend backend) { backends_.push_back(backend); }
  void KeepGraph(onnxGraph graph) { graphs_.push_back(graph); }
  void KeepEvent(onnxEvent event) { events_.push_back(event); }
  void ForgetGraph(onnxGraph graph);
  void ForgetEvent(onnxEvent event);
  void ForgetBackend(onnxBackend backend);

  // Releases everything that this object made; expects success.
  void Clean();

 private:
  [[noreturn]] void End();

  Library* const library_;
  Record* const record_;
  const uint64_t seed_;
  const std::string library_path_;
  const Provoker provoker_;
  bool lists_device_ = true;
  std::string data_;
  std::mt19937_64 random_;
  std::mutex mutex_;
  std::vector<onnxBackendID> ids_;
  std::vector<onnxBackendID> ids_to_release_;
  onnxBackend backend_ = nullptr;
  const BinaryOperator* op_ = nullptr;
  std::vector<onnxBackend> backends_;
  std::vector<onnxEvent> events_;
  std::vector<onnxGraph> graphs_;
};

// Fences of events.
onnxMemoryFenceV1 EventFence(onnxEvent event);

// A graph y = op(x, z) of float tensors with its memory.
class Job {
 public:
  explicit Job(Context& t, std::vector<uint64_t> shape = {2, 3},
               onnxBackend backend = nullptr);

  // Draws inputs and forgets the output.
  void Refill();
  onnxStatus SetIO();
  void MustSetIO();  // Fail unless SUCCESS
  // onnxRunGraph; Fail unless it succeeds. The event of the output.
  onnxEvent Start(onnxEvent input);
  // One whole run with locations as they are; checks the result.
  void Run();
  // Whether y is what x and z make now.
  bool Right() const;
  void Release();  // the graph

  Tensor x, z, y;
  onnxGraph graph = nullptr;

 private:
  Context& t_;
  onnxBackend backend_;
};

}  // namespace heddle::conformance

#endif  // ONNXIFI_CONFORMANCE_CONTEXT_H_

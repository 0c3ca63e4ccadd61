// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/graph.h"

#include <algorithm>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "onnxifi/log.h"
#include "onnxifi/status.h"

namespace heddle::onnxifi {
namespace {

// A descriptor that passed every check that needs no program.
struct Located {
  const DeclaredTensor* declared = nullptr;
  compiler::Shape shape;
  uint64_t data_type = 0;
  onnxPointer buffer = 0;
};

// "'x', 'y'" for a message; the first few.
std::string Names(const std::vector<DeclaredTensor>& tensors) {
  constexpr size_t kMost = 5;
  std::string names;
  for (size_t i = 0; i < tensors.size() && i < kMost; ++i) {
    absl::StrAppend(&names, i == 0 ? "'" : ", '", tensors[i].name, "'");
  }
  if (tensors.size() > kMost) absl::StrAppend(&names, " and more");
  return names.empty() ? "none" : names;
}

absl::StatusOr<std::vector<Located>> Locate(
    Abi abi, const void* array, uint32_t count, const char* what,
    const std::vector<DeclaredTensor>& declared,
    const QuantizationModel& quantization, Dimensions* dimensions) {
  auto descriptors = ReadDescriptors(abi, array, count, what);
  if (!descriptors.ok()) return descriptors.status();
  std::map<absl::string_view, const DeclaredTensor*> wanted;
  for (const DeclaredTensor& tensor : declared) wanted[tensor.name] = &tensor;
  std::vector<Located> result;
  std::set<absl::string_view> seen;
  for (const Descriptor& descriptor : *descriptors) {
    if (auto s = CheckForm(descriptor); !s.ok()) return s;
    const auto entry = wanted.find(descriptor.name);
    if (entry == wanted.end() || !seen.insert(entry->first).second) {
      return Fail(ONNXIFI_STATUS_INVALID_NAME,
                  absl::StrCat(what, " descriptor '", descriptor.name, "': ",
                               entry == wanted.end()
                                   ? absl::StrCat("the graph's ", what,
                                                  "s are ", Names(declared))
                                   : "given twice"));
    }
    Located located;
    located.declared = entry->second;
    located.data_type = descriptor.data_type;
    located.buffer = descriptor.buffer;
    if (descriptor.offline || descriptor.buffer == 0) {
      return Fail(ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
                  absl::StrCat(what, " '", descriptor.name,
                               "': only weights may be offline"));
    }
    // What the model leaves open is compared with the program's.
    if (located.declared->type != compiler::DataType::kUndefined &&
        !SameType(located.declared->type, descriptor.data_type)) {
      return Fail(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                  absl::StrCat(what, " '", descriptor.name, "' is ",
                               compiler::DataTypeName(located.declared->type),
                               " in the model and of type ",
                               descriptor.data_type, " in its descriptor"));
    }
    auto shape = ReadShape(descriptor,
                           located.declared->has_shape
                               ? static_cast<int>(located.declared->dims.size())
                               : -1);
    if (!shape.ok()) return shape.status();
    located.shape = *std::move(shape);
    if (auto s = MatchShape(*located.declared, located.shape, dimensions);
        !s.ok()) {
      return s;
    }
    if (auto s = CheckQuantization(descriptor, located.shape); !s.ok()) {
      return s;
    }
    if (auto s = CheckAgreement(quantization, descriptor, located.shape);
        !s.ok()) {
      return s;
    }
    result.push_back(std::move(located));
  }
  for (const DeclaredTensor& tensor : declared) {
    if (seen.count(tensor.name) == 0) {
      return Fail(ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                  absl::StrCat(what, " '", tensor.name,
                               "' of the graph has no descriptor"));
    }
  }
  return result;
}

// Whether a descriptor's shape is the program's; where values decide the size
// it is an upper limit, above or below what there can be.
bool Fits(const TensorInfo& info, const compiler::Shape& shape) {
  if (info.shape.size() != shape.size()) return false;
  for (size_t i = 0; i < shape.size(); ++i) {
    const bool bounded = i < 64 && (info.bounded >> i & 1) != 0;
    if (!bounded && info.shape[i] != shape[i]) return false;
  }
  return true;
}

// What of an output with bounded axes there may be, and room for that.
void SetLimit(const TensorInfo& info, const Located& located,
              EngineBuffer* buffer) {
  buffer->bounded = info.bounded;
  buffer->whole_bytes = info.bytes;
  buffer->element_bytes = compiler::ElementBytes(info.type);
  buffer->most = located.shape;
  compiler::Shape most = info.shape;
  for (size_t i = 0; i < most.size(); ++i) {
    most[i] = std::min(most[i], located.shape[i]);
    if ((info.bounded >> i & 1) != 0 && located.declared->has_shape &&
        located.declared->dims[i].value >= 0) {
      buffer->exact |= uint64_t{1} << i;
    }
  }
  buffer->bytes = static_cast<uint64_t>(compiler::ElementCount(most)) *
                  buffer->element_bytes;
}

// The buffers of a program's tensors.
absl::StatusOr<std::vector<EngineBuffer>> Buffers(
    const std::vector<Located>& located, const std::vector<TensorInfo>& tensors,
    const char* what) {
  std::vector<EngineBuffer> buffers;
  for (const Located& tensor : located) {
    const auto info = std::find_if(
        tensors.begin(), tensors.end(), [&](const TensorInfo& candidate) {
          return candidate.name == tensor.declared->name;
        });
    if (info == tensors.end()) {
      return absl::InternalError(absl::StrCat("the program has no ", what, " '",
                                              tensor.declared->name, "'"));
    }
    if (!SameType(info->type, tensor.data_type)) {
      return Fail(ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                  absl::StrCat(what, " '", info->name, "' is ",
                               compiler::DataTypeName(info->type)));
    }
    if (!Fits(*info, tensor.shape)) {
      return Fail(ONNXIFI_STATUS_MISMATCHING_SHAPE,
                  absl::StrCat(what, " '", info->name, "' is ",
                               compiler::ShapeToString(info->shape),
                               " for these inputs and ",
                               compiler::ShapeToString(tensor.shape),
                               " in its descriptor"));
    }
    EngineBuffer buffer;
    buffer.name = info->name;
    buffer.data = reinterpret_cast<void*>(tensor.buffer);
    buffer.bytes = info->bytes;
    buffer.shape = info->shape;
    if (info->bounded != 0) SetLimit(*info, tensor, &buffer);
    if (tensor.buffer + buffer.bytes < tensor.buffer) {
      return Fail(ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
                  absl::StrCat(what, " '", info->name,
                               "' would reach beyond the address space"));
    }
    buffers.push_back(std::move(buffer));
  }
  return buffers;
}

// Which of two outputs would win in shared bytes is nobody's intention.
absl::Status CheckApart(const std::vector<EngineBuffer>& outputs) {
  std::vector<const EngineBuffer*> sorted;
  for (const EngineBuffer& buffer : outputs) sorted.push_back(&buffer);
  std::sort(sorted.begin(), sorted.end(),
            [](const EngineBuffer* a, const EngineBuffer* b) {
              return a->data < b->data;
            });
  for (size_t i = 1; i < sorted.size(); ++i) {
    if (static_cast<char*>(sorted[i - 1]->data) + sorted[i - 1]->bytes >
        static_cast<char*>(sorted[i]->data)) {
      return Fail(ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
                  absl::StrCat("outputs '", sorted[i - 1]->name, "' and '",
                               sorted[i]->name, "' overlap"));
    }
  }
  return absl::OkStatus();
}

// Which dimensions the first compilation takes as 1.
std::string OpenDimensions(const std::vector<DeclaredTensor>& inputs) {
  std::string list;
  for (const DeclaredTensor& input : inputs) {
    for (size_t i = 0; i < input.dims.size(); ++i) {
      const DeclaredDim& dim = input.dims[i];
      if (dim.value >= 0) continue;
      absl::StrAppend(&list, list.empty() ? "" : ", ", "dimension ", i,
                      dim.parameter.empty() ? "" : " (" + dim.parameter + ")",
                      " of '", input.name, "'");
    }
  }
  return absl::StrCat("the model leaves ", list,
                      " open: taken as 1 until onnxSetGraphIO gives shapes");
}

absl::Status BeingReleased() {
  return Fail(ONNXIFI_STATUS_INVALID_GRAPH, "the graph is being released");
}

}  // namespace

bool IsLeftToSetGraphIO(const Signature& signature,
                        const absl::Status& refusal) {
  if (HoldsWhateverShapes(refusal)) return false;
  const onnxStatus code = CodeOf(refusal);
  if (code != ONNXIFI_STATUS_MISMATCHING_SHAPE &&
      code != ONNXIFI_STATUS_UNSUPPORTED_SHAPE) {
    return false;
  }
  return std::any_of(signature.inputs.begin(), signature.inputs.end(),
                     [](const DeclaredTensor& input) {
                       return input.symbolic() || !input.has_shape;
                     });
}

struct Graph::Counted {
  explicit Counted(std::shared_ptr<CardUse> use_in)
      : use(std::move(use_in)), number(use->graphs.fetch_add(1)) {}
  ~Counted() { use->graphs.fetch_sub(1); }
  const std::shared_ptr<CardUse> use;
  const uint64_t number;  // of graphs before this one
};

absl::StatusOr<std::shared_ptr<Graph>> Graph::Create(
    std::shared_ptr<Backend> backend, absl::string_view model,
    Signature signature, std::map<std::string, compiler::TensorData> weights,
    uint32_t max_sequence) {
  std::shared_ptr<Graph> graph(new Graph);
  graph->counted_ = std::make_unique<Counted>(backend->id().use);
  if (graph->counted_->number >= kMaxGraphs) {
    return Fail(ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
                absl::StrCat("the device has ", kMaxGraphs,
                             " graphs already; release some"));
  }
  graph->backend_ = std::move(backend);
  graph->max_sequence_ = max_sequence;
  graph->signature_ = std::move(signature);
  graph->signature_.quantization.AddValues(weights);
  auto& inputs = graph->signature_.inputs;
  inputs.erase(std::remove_if(inputs.begin(), inputs.end(),
                              [&](const DeclaredTensor& input) {
                                return weights.count(input.name) != 0;
                              }),
               inputs.end());
  for (const DeclaredTensor& input : inputs) {
    if (input.symbolic() || !input.has_shape) graph->symbolic_ = true;
  }
  if (graph->symbolic_) {
    Log(graph->backend_->log_level(), LogLevel::kInfo, OpenDimensions(inputs));
  }
  graph->model_ = std::string(model);
  graph->weights_ = std::move(weights);
  graph->runs_ = std::make_shared<RunQueue>(graph->backend_->state(),
                                            graph->backend_->log_level());
  auto program = graph->Load({});
  if (program.ok()) {
    graph->emulated_ = (*program)->emulated();
    graph->programs_.push_back({{}, *std::move(program)});
  } else if (!IsLeftToSetGraphIO(graph->signature_, program.status())) {
    return program.status();
  }
  if (!graph->symbolic_) {
    graph->model_ = std::string();
    graph->weights_.clear();
  }
  graph->runs_->Open();
  return graph;
}

Graph::~Graph() { Close(); }

void Graph::Close() noexcept {
  if (runs_ != nullptr) runs_->Close();
  std::lock_guard<std::mutex> io(io_mutex_);
  {
    std::lock_guard<std::mutex> lock(binding_mutex_);
    closed_ = true;
    binding_ = nullptr;
  }
  programs_.clear();
  counted_ = nullptr;
}

absl::StatusOr<std::shared_ptr<EngineGraph>> Graph::Load(const Shapes& shapes) {
  CompileRequest request;
  const DeviceInfo& device = backend_->device().info();
  request.model = model_;
  request.config = device.config;
  request.memory_bytes = device.memory_bytes;
  request.optimization = backend_->optimization();
  request.host_nodes = backend_->host_nodes() != HostNodes::kRefuse;
  request.log_level = backend_->log_level();
  request.weights = &weights_;
  request.input_shapes = shapes;
  auto loaded = backend_->device().Load(request);
  if (!loaded.ok()) return loaded.status();
  return std::shared_ptr<EngineGraph>(*std::move(loaded));
}

absl::StatusOr<std::shared_ptr<EngineGraph>> Graph::ProgramFor(
    const Shapes& shapes) {
  for (size_t i = 0; i < programs_.size(); ++i) {
    bool same = true;
    for (const TensorInfo& input : programs_[i].graph->inputs()) {
      const auto shape = shapes.find(input.name);
      if (shape != shapes.end() && shape->second != input.shape) same = false;
    }
    if (!same) continue;
    Log(backend_->log_level(), LogLevel::kDebug,
        "a program for these shapes is loaded");
    std::rotate(programs_.begin() + i, programs_.begin() + i + 1,
                programs_.end());
    return programs_.back().graph;
  }
  if (programs_.size() >= kMaxPrograms) programs_.erase(programs_.begin());
  auto program = Load(shapes);
  if (!program.ok() &&
      CodeOf(program.status()) == ONNXIFI_STATUS_NO_DEVICE_MEMORY &&
      !programs_.empty()) {
    // Other shapes may return, but these are needed now.
    programs_.clear();
    runs_->WaitIdle();
    program = Load(shapes);
  }
  if (!program.ok()) return program.status();
  programs_.push_back({shapes, *program});
  return *std::move(program);
}

absl::Status Graph::CheckSequence(const DeclaredTensor& declared,
                                  const compiler::Shape& shape) const {
  if (max_sequence_ == 0) return absl::OkStatus();
  for (size_t i = 0; i < declared.dims.size(); ++i) {
    if (declared.dims[i].value < 0 && shape[i] > max_sequence_) {
      return Fail(ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                  absl::StrCat("dimension ", i, " of '", declared.name, "' is ",
                               shape[i], "; maxSeqLength is ", max_sequence_));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<std::shared_ptr<const Binding>> Graph::Bind(
    const IoArguments& arguments) {
  if (arguments.outputs == nullptr ||
      (arguments.inputs == nullptr && arguments.inputs_count > 0)) {
    return Fail(ONNXIFI_STATUS_INVALID_POINTER,
                "inputDescriptors or outputDescriptors is NULL");
  }
  if (backend_->gone()) {
    return Fail(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "the device is gone");
  }
  Dimensions dimensions;
  auto inputs =
      Locate(backend_->abi(), arguments.inputs, arguments.inputs_count, "input",
             signature_.inputs, signature_.quantization, &dimensions);
  if (!inputs.ok()) return inputs.status();
  auto outputs = Locate(backend_->abi(), arguments.outputs,
                        arguments.outputs_count, "output", signature_.outputs,
                        signature_.quantization, &dimensions);
  if (!outputs.ok()) return outputs.status();
  Shapes shapes;
  for (const Located& input : *inputs) {
    if (!input.declared->has_shape || input.declared->symbolic()) {
      auto status = CheckSequence(*input.declared, input.shape);
      if (!status.ok()) return status;
      shapes[input.declared->name] = input.shape;
    }
  }
  auto program = ProgramFor(shapes);
  if (!program.ok()) return program.status();
  auto binding = std::make_shared<Binding>();
  auto in = Buffers(*inputs, (*program)->inputs(), "input");
  if (!in.ok()) return in.status();
  auto out = Buffers(*outputs, (*program)->outputs(), "output");
  if (!out.ok()) return out.status();
  if (auto s = CheckApart(*out); !s.ok()) return s;
  binding->inputs = *std::move(in);
  binding->outputs = *std::move(out);
  binding->program = *std::move(program);
  return std::shared_ptr<const Binding>(std::move(binding));
}

absl::Status Graph::SetIoLocked(const IoArguments& arguments) {
  // Whatever happens below, also a lack of memory, the old locations go first;
  // their program too, unless it is needed again, as the new one may not fit
  // beside it.
  std::shared_ptr<const Binding> old;
  {
    std::lock_guard<std::mutex> lock(binding_mutex_);
    old.swap(binding_);
  }
  old = nullptr;
  if (closed_) return BeingReleased();
  auto binding = Bind(arguments);
  if (backend_->gone()) {
    return Fail(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "the device is gone");
  }
  if (!binding.ok()) return binding.status();
  std::lock_guard<std::mutex> lock(binding_mutex_);
  binding_ = *std::move(binding);
  return absl::OkStatus();
}

absl::Status Graph::SetIo(const IoArguments& arguments) {
  std::lock_guard<std::mutex> io(io_mutex_);
  return SetIoLocked(arguments);
}

absl::Status Graph::Submit(std::unique_ptr<Run> run) {
  if (backend_->gone()) {
    return Fail(ONNXIFI_STATUS_BACKEND_UNAVAILABLE, "the device is gone");
  }
  bool closed;
  {
    std::lock_guard<std::mutex> lock(binding_mutex_);
    run->binding = binding_;
    closed = closed_;
  }
  // A release may have begun since the caller found the graph.
  if (closed) return BeingReleased();
  if (run->binding == nullptr) {
    return Fail(ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                "the graph has no input and output locations; call "
                "onnxSetGraphIO");
  }
  auto outputs = std::make_shared<RunOutputs>();
  for (const EngineBuffer& output : run->binding->outputs) {
    outputs->names.push_back(output.name);
    outputs->shapes.push_back(output.shape);
  }
  run->outputs = outputs;
  run->output->SetOutputs(std::move(outputs));
  return runs_->Submit(std::move(run));
}

absl::Status Graph::SetIoAndSubmit(const IoArguments& arguments,
                                   std::unique_ptr<Run> run) {
  std::lock_guard<std::mutex> io(io_mutex_);
  if (auto s = SetIoLocked(arguments); !s.ok()) return s;
  return Submit(std::move(run));
}

}  // namespace heddle::onnxifi

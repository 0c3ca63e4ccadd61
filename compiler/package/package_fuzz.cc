// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: Parse on arbitrary bytes. Size fields and checksums are
// repaired first, or no input would get past them, also those of packages
// inside; what parses must serialize, and parse again to the same bytes. Host
// segments are checked as the runtime checks them, and evaluated as long as
// they are small, also with values whose size one of them finds; Ifs and Loops
// are driven a few times.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "compiler/base/pace.h"
#include "compiler/host/host_function.h"
#include "compiler/ops/bounded.h"
#include "compiler/package/package.h"
#include "compiler/package/reseal.h"

namespace {

// What is evaluated: more would take long.
constexpr uint64_t kSmall = 1 << 16;
constexpr int64_t kFewElements = 4096;
constexpr size_t kFewNodes = 64;

// Drives an If or Loop a few times with bodies that read all that they are
// given, and write all that they are asked for.
void DriveControl(const heddle::package::Package& package,
                  const heddle::package::Segment& segment) {
  std::vector<uint8_t> values(package.io_bytes + 64);
  std::vector<const uint8_t*> from;
  std::vector<uint8_t*> to;
  for (uint32_t v : segment.inputs) {
    from.push_back(values.data() + package.values[v].offset);
  }
  for (uint32_t v : segment.outputs) {
    to.push_back(values.data() + package.values[v].offset);
  }
  int left = 16;
  const auto run = [&](size_t b, const std::vector<const uint8_t*>& slots,
                       const std::vector<uint8_t*>& results) {
    const heddle::package::Body& body = segment.bodies[b];
    uint8_t sum = 0;
    for (size_t i = 0; i < body.slots.size(); ++i) {
      for (uint64_t at = 0; at < body.package->inputs[i].size; ++at) {
        sum = static_cast<uint8_t>(sum + slots[body.slots[i]][at]);
      }
    }
    for (size_t i = 0; i < results.size(); ++i) {
      std::memset(results[i], sum | 1, body.package->outputs[i].size);
    }
    return absl::OkStatus();
  };
  (void)Drive(segment.control, TypesOf(package, segment.inputs),
              TypesOf(package, segment.outputs), from, to, run, [&left] {
                return --left > 0 ? absl::OkStatus() : absl::CancelledError("");
              });
}

// Whether a run of it takes no time and no memory.
bool IsSmall(const heddle::compiler::HostFunction& function) {
  const heddle::compiler::Graph& graph = function.graph();
  return function.working_bytes() <= kSmall &&
         graph.nodes.size() <= kFewNodes &&
         std::all_of(graph.tensors.begin(), graph.tensors.end(),
                     [](const heddle::compiler::Tensor& t) {
                       return heddle::compiler::ElementCount(t.shape) <=
                              kFewElements;
                     });
}

// The segments one after another, as the runtime does it: what one computes the
// next reads, and of values whose size a segment finds only that much.
void Evaluate(const heddle::package::Package& package) {
  using heddle::compiler::HostFunction;
  using heddle::compiler::Shape;
  if (package.io_bytes > kSmall) return;
  std::vector<uint8_t> memory(package.io_bytes + 64);
  std::vector<heddle::compiler::AxisSet> bounded(package.values.size(), 0);
  std::vector<Shape> shapes;
  for (const auto& value : package.values) shapes.push_back(value.shape);
  for (const auto& segment : package.segments) {
    if (segment.card != nullptr) continue;
    if (segment.kind() == heddle::package::SegmentKind::kControl) {
      DriveControl(package, segment);
      for (const auto& body : segment.bodies) Evaluate(*body.package);
      continue;
    }
    heddle::compiler::BoundedTensors found;
    std::vector<const uint8_t*> inputs;
    std::vector<uint8_t*> outputs;
    std::vector<Shape> sizes, results;
    for (size_t i = 0; i < segment.inputs.size(); ++i) {
      const uint32_t v = segment.inputs[i];
      found.Set(segment.host.inputs[i], bounded[v]);
      inputs.push_back(memory.data() + package.values[v].offset);
      sizes.push_back(shapes[v]);
    }
    for (uint32_t v : segment.outputs) {
      outputs.push_back(memory.data() + package.values[v].offset);
    }
    const auto function = HostFunction::Make(segment.host, std::move(found));
    if (!function.ok()) return;  // the runtime does not take the package
    for (size_t i = 0; i < segment.outputs.size(); ++i) {
      bounded[segment.outputs[i]] =
          function->bounded().of(segment.host.outputs[i]);
    }
    if (!IsSmall(*function)) return;
    if (!function
             ->Run(
                 inputs, outputs, [] { return absl::OkStatus(); },
                 heddle::compiler::kPaceInterval, &sizes, &results)
             .ok()) {
      return;
    }
    for (size_t i = 0; i < segment.outputs.size(); ++i) {
      const uint32_t v = segment.outputs[i];
      if (bounded[v] == 0) continue;
      if (!heddle::compiler::IsWithin(results[i], package.values[v].shape,
                                      bounded[v])) {
        std::abort();
      }
      shapes[v] = results[i];
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  (void)heddle::package::Parse(bytes);
  if (bytes.size() < 64) return 0;
  heddle::package::ResealAll(&bytes);
  auto package = heddle::package::Parse(bytes);
  if (!package.ok()) return 0;
  const std::string again = heddle::package::Serialize(*package);
  auto second = heddle::package::Parse(again);
  if (!second.ok() || heddle::package::Serialize(*second) != again) {
    std::abort();
  }
  Evaluate(*second);
  return 0;
}

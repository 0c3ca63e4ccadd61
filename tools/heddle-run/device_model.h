// SPDX-License-Identifier: Apache-2.0
// A model on a device, with the storage of one inference.
#ifndef HEDDLE_TOOLS_HEDDLE_RUN_DEVICE_MODEL_H_
#define HEDDLE_TOOLS_HEDDLE_RUN_DEVICE_MODEL_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/time/time.h"
#include "compiler/cache/compile_cache.h"
#include "compiler/compiler.h"
#include "compiler/package/package.h"
#include "runtime/session/card_pool.h"
#include "runtime/session/session.h"
#include "tools/heddle-run/profile.h"
#include "tools/heddle-run/shape_set_model.h"

namespace heddle::run {

// HEDDLE_DEVICE for a simulated card like `device` with that core. `config` is
// taken where `device` names none. InvalidArgument: `device` is not simulated.
absl::StatusOr<std::string> SimulatedDevice(const std::string& device,
                                            const std::string& core,
                                            const std::string& config);

class DeviceModel {
 public:
  // `bytes` are an ONNX model, compiled with `options` for the device that is
  // found (options.config "" = any), or with `is_package` a package, which says
  // itself what it is for. Taps as the options say, or all that a package has.
  struct Settings {
    bool traced = false;  // runs may be
    // Where what is compiled is looked for, and kept; or null.
    const compiler::FileCache* cache = nullptr;
    // Of a package of several shapes: which of them.
    const ShapeSetRequest* shape_set = nullptr;
    // Forms of HEDDLE_DEVICE; none: what is set. With `all_devices` all cards
    // that they name, otherwise the first of each; inferences run on all of
    // them (session::CardPool) if there are several. Those of another
    // configuration than the package's, or than the first one's, are left out.
    std::vector<std::string> devices;
    bool all_devices = false;
    uint32_t host_threads = 0;  // of session::LoadOptions
    absl::Duration host_time = absl::InfiniteDuration();
  };
  static absl::StatusOr<std::unique_ptr<DeviceModel>> Load(
      absl::string_view bytes, bool is_package,
      compiler::CompileOptions options, const Settings& settings);

  // One inference; sets everything below. The inputs are in the package's
  // order.
  absl::Status Run(const std::vector<compiler::TensorData>& inputs,
                   bool with_taps, bool traced = false);

  const package::Package& package() const { return graph_->package(); }
  // The first one, of several.
  const session::DeviceDescription& device() const { return device_; }
  session::Graph* graph() const { return graph_.get(); }
  // Null: there is one card.
  const session::CardPool* pool() const { return pool_.get(); }
  // How the cache was used; nothing if there was none to use.
  const compiler::CacheUse& cache_use() const { return cache_use_; }
  // "batch=3, padded to batch=4" of a package of several shapes, else "".
  const std::string& specialisation() const { return specialisation_; }
  uint64_t device_bytes() const { return graph_->device_bytes(); }
  // Of the last run; those whose size its values decide with that size.
  const std::vector<compiler::TensorData>& outputs() const { return outputs_; }
  const std::vector<compiler::TensorData>& taps() const { return taps_; }
  const session::RunStatistics& statistics() const { return statistics_; }
  double latency_ms() const { return latency_ms_; }
  // Of a traced run; empty before there was one.
  const session::RunTrace& trace() const { return trace_; }
  // The commands of the package, stream by stream, if runs may be traced.
  const StreamCommands& streams() const { return streams_; }
  // What is expected of them, if runs may be traced and the card's core has no
  // timing; else null.
  const CommandTimes* estimated_times() const {
    return estimated_times_.empty() ? nullptr : &estimated_times_;
  }

 private:
  session::DeviceDescription device_;
  compiler::CacheUse cache_use_;
  std::string specialisation_;
  std::shared_ptr<session::Graph> graph_;
  std::shared_ptr<session::CardPool> pool_;  // the same
  std::vector<compiler::TensorData> outputs_, taps_;
  session::RunStatistics statistics_;
  double latency_ms_ = 0;
  session::RunTrace trace_;
  StreamCommands streams_;
  CommandTimes estimated_times_;
};

}  // namespace heddle::run

#endif  // HEDDLE_TOOLS_HEDDLE_RUN_DEVICE_MODEL_H_

// SPDX-License-Identifier: Apache-2.0
// A package of several shapes (compiler/package/shape_set.h) on a device.
//
//   auto graphs = ShapeSetGraph::Load(device, bytes, owner, {});
//   auto taken = (*graphs)->For({{"image", {3, 3, 224, 224}}});
//   auto run = taken->graph->Start(inputs, outputs, nullptr);
//
// Uses the exact specialisation if there is one, else one that may be padded,
// else compiles it if the caller provides a compiler: the runtime has none. The
// number of loaded graphs and the memory of compiled ones are limited; least
// recently used ones are dropped. Thread-safe: one thread at a time loads or
// compiles.
#ifndef HEDDLE_RUNTIME_SESSION_SHAPE_SET_GRAPH_H_
#define HEDDLE_RUNTIME_SESSION_SHAPE_SET_GRAPH_H_

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/package/shape_set.h"
#include "runtime/session/session.h"

namespace heddle::session {

struct ShapeSetOptions {
  LoadOptions load;
  // Specialisations on the card; runs that are in flight keep theirs.
  size_t most_loaded = 4;
  // Packages that were compiled and stay in memory, and their bytes.
  size_t most_compiled = 16;
  uint64_t most_compiled_bytes = uint64_t{1} << 30;
  // A package for these shapes of the inputs, for the set's configuration;
  // null: nothing is compiled. Without the lock on the process: it may log.
  std::function<absl::StatusOr<std::string>(
      const std::map<std::string, compiler::Shape>& shapes)>
      compile;
};

struct Specialised {
  enum class How {
    kExact,     // of the package
    kPadded,    // of the package, for more of one dimension
    kCompiled,  // now, or before for the same shapes
  };
  std::shared_ptr<Graph> graph;  // for the shapes that were asked for
  How how = How::kExact;
  std::vector<int64_t> values;  // of the symbols, that it was compiled for
  std::shared_ptr<const std::string> package;  // its file
};

class ShapeSetGraph {
 public:
  // `owner` keeps the bytes.
  static absl::StatusOr<std::shared_ptr<ShapeSetGraph>> Load(
      std::shared_ptr<Device> device, absl::string_view package_bytes,
      std::shared_ptr<const void> owner, ShapeSetOptions options);

  const package::ShapeSet& set() const { return set_; }

  // Of all inputs with open dimensions. InvalidArgument: none that the model
  // takes. FailedPrecondition: there is no such specialisation, and nobody
  // compiles; the sentence names the dimension, its value and what is held.
  absl::StatusOr<Specialised> For(
      const std::map<std::string, compiler::Shape>& shapes);

 private:
  using Values = std::vector<int64_t>;
  struct Loaded {
    Values values;
    std::shared_ptr<Graph> graph;
    std::shared_ptr<const std::string> package;
    bool compiled = false;
  };
  ShapeSetGraph(std::shared_ptr<Device> device, package::ShapeSet set,
                ShapeSetOptions options)
      : device_(std::move(device)),
        set_(std::move(set)),
        options_(std::move(options)) {}
  const Loaded* FindLoaded(const Values& values);
  absl::StatusOr<const Loaded*> Take(const Values& values, bool compiled,
                                     std::shared_ptr<const std::string> bytes);
  absl::StatusOr<std::shared_ptr<const std::string>> Compiled(
      const Values& values);
  absl::Status CheckCompiled(const Values& values,
                             absl::string_view bytes) const;
  std::shared_ptr<Graph> Padded(const Loaded& loaded, const Values& values,
                                const package::Padding& padding) const;

  const std::shared_ptr<Device> device_;
  const package::ShapeSet set_;
  const ShapeSetOptions options_;
  std::mutex mutex_;          // guards the rest
  std::list<Loaded> loaded_;  // the last used one is the first
  struct Kept {
    Values values;
    std::shared_ptr<const std::string> package;
  };
  std::list<Kept> compiled_;  // likewise
};

}  // namespace heddle::session

#endif  // HEDDLE_RUNTIME_SESSION_SHAPE_SET_GRAPH_H_

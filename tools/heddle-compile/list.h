// SPDX-License-Identifier: Apache-2.0
// What a file takes and gives, without compiling anything: an ONNX model, a
// package, or a package of several shapes.
//
// JSON, keys stable within a schema version:
//   {"schema": "heddle-list/1", "kind": "model" | "package" | "shape set",
//    "name", "producer",
//    "inputs"|"outputs": [{"name", "type", "shape": a dimension is a number,
//                          the name of a symbol, or null without one (in
//                          outputs of a set: it differs); null where the model
//                          says nothing, "bytes" (packages)}],
//   of a model:
//    "ir_version", "opsets": {DOMAIN: version}, "nodes", "initializers"
//   of a package:
//    "config", "hw_version", "bytes", "device_bytes", "weight_bytes",
//    "scratch_bytes", "io_bytes", "stream_bytes", "layers", "macs",
//    "estimated_cycles", "estimated_ms",
//    "segments": [{"on": "card" | "host" | "control", "nodes"}] (in order;
//                empty if the card does it all)
//   of a set:
//    "config", "bytes", "symbols",
//    "specialisations": [{"values", "bytes", "inputs", "outputs"}]}
#ifndef HEDDLE_TOOLS_HEDDLE_COMPILE_LIST_H_
#define HEDDLE_TOOLS_HEDDLE_COMPILE_LIST_H_

#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace heddle::compile {

// By the first bytes of the file, not its name. `owner` keeps them. Errors:
// those of the parsers.
absl::StatusOr<nlohmann::ordered_json> ListFile(
    absl::string_view bytes, std::shared_ptr<const void> owner);

// The same for people.
std::string ListText(const nlohmann::ordered_json& list);

}  // namespace heddle::compile

#endif  // HEDDLE_TOOLS_HEDDLE_COMPILE_LIST_H_

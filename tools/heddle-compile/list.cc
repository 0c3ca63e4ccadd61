// SPDX-License-Identifier: Apache-2.0
#include "tools/heddle-compile/list.h"

#include <map>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/base/clock.h"
#include "compiler/base/count_text.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/input_declaration.h"
#include "compiler/package/expected_job.h"
#include "compiler/package/package.h"
#include "compiler/package/shape_set.h"
#include "rtl/spec/version.h"
#include "tools/cli/file.h"
#include "tools/cli/printable.h"
#include "tools/heddle-compile/report.h"

namespace heddle::compile {
namespace {

using nlohmann::ordered_json;

ordered_json Begin(const char* kind, const std::string& name,
                   const std::string& producer) {
  return {{"schema", "heddle-list/1"},
          {"kind", kind},
          {"name", name},
          {"producer", producer}};
}

ordered_json Dimension(int64_t value, const std::string& symbol) {
  if (value >= 0) return value;
  return symbol.empty() ? ordered_json(nullptr) : ordered_json(symbol);
}

ordered_json Declarations(
    const std::vector<compiler::InputDeclaration>& tensors) {
  ordered_json list = ordered_json::array();
  for (const compiler::InputDeclaration& tensor : tensors) {
    ordered_json shape = nullptr;
    if (tensor.has_shape) {
      shape = ordered_json::array();
      for (size_t i = 0; i < tensor.shape.size(); ++i) {
        shape.push_back(Dimension(tensor.shape[i], tensor.symbols[i]));
      }
    }
    list.push_back({{"name", tensor.name},
                    {"type", compiler::DataTypeName(tensor.type)},
                    {"shape", std::move(shape)}});
  }
  return list;
}

absl::StatusOr<ordered_json> ListModel(absl::string_view bytes) {
  if (bytes.empty()) {
    return compiler::Reject(compiler::Rejection::kInvalidModel,
                            "the file is empty");
  }
  ASSIGN_OR_RETURN(const auto model, compiler::SummariseModel(bytes));
  ordered_json list = Begin("model", model.graph, model.producer);
  list["inputs"] = Declarations(model.inputs);
  list["outputs"] = Declarations(model.outputs);
  list["ir_version"] = model.ir_version;
  list["opsets"] = ordered_json::object();
  for (const auto& [domain, version] : model.opsets) {
    list["opsets"][domain.empty() ? "ai.onnx" : domain] = version;
  }
  list["nodes"] = model.nodes;
  list["initializers"] = model.initializers;
  return list;
}

const char* On(package::SegmentKind kind) {
  switch (kind) {
    case package::SegmentKind::kCard:
      return "card";
    case package::SegmentKind::kHost:
      return "host";
    case package::SegmentKind::kControl:
      break;
  }
  return "control";
}

absl::StatusOr<ordered_json> ListPackage(absl::string_view bytes,
                                         std::shared_ptr<const void> owner) {
  ASSIGN_OR_RETURN(const auto package, package::Parse(bytes, std::move(owner)));
  ordered_json list = Begin("package", package.model_name, package.producer);
  list["inputs"] = TensorsJson(package.inputs);
  list["outputs"] = TensorsJson(package.outputs);
  list["config"] = package.config;
  list["hw_version"] = reg::VersionText(package.hw_version);
  list["bytes"] = bytes.size();
  uint64_t weights = 0, scratch = 0, io = 0, streams = 0, cycles = 0;
  size_t layers = 0;
  for (const package::Package* card : package::CardPackages(package)) {
    weights += card->weights.size();
    scratch += card->scratch_bytes;
    io += card->io_bytes;
    for (const auto& stream : card->streams) {
      streams += stream.size() * sizeof(uint32_t);
    }
    layers += card->layers.size();
    cycles += card->estimated_cycles;
  }
  list["device_bytes"] = DeviceBytes(package);
  list["weight_bytes"] = weights;
  list["scratch_bytes"] = scratch;
  list["io_bytes"] = io;
  list["stream_bytes"] = streams;
  list["layers"] = layers;
  list["macs"] = package.macs;
  list["estimated_cycles"] = cycles;
  const uint32_t clock_mhz = compiler::ClockMhz(package.config);
  list["estimated_ms"] =
      clock_mhz == 0
          ? ordered_json(nullptr)
          : ordered_json(compiler::MillisecondsOf(cycles, clock_mhz));
  const uint64_t job = package::ExpectedJobCycles(package);
  list["estimated_job_cycles"] =
      job == 0 ? ordered_json(nullptr) : ordered_json(job);
  list["segments"] = ordered_json::array();
  for (const package::Segment& segment : package.segments) {
    const size_t nodes = segment.card != nullptr ? segment.card->nodes.size()
                                                 : segment.host.nodes.size();
    list["segments"].push_back({{"on", On(segment.kind())}, {"nodes", nodes}});
  }
  return list;
}

// Outputs of a set, whose packages all have the same: null where they differ
// in a dimension.
ordered_json SetOutputs(
    const std::vector<std::vector<package::TensorInfo>>& outputs) {
  ordered_json list = ordered_json::array();
  if (outputs.empty()) return list;
  for (size_t o = 0; o < outputs[0].size(); ++o) {
    ordered_json shape = outputs[0][o].shape;
    for (const auto& other : outputs) {
      if (o >= other.size() || other[o].shape.size() != shape.size()) {
        shape = nullptr;
        break;
      }
      for (size_t d = 0; d < shape.size(); ++d) {
        if (other[o].shape[d] != outputs[0][o].shape[d]) shape[d] = nullptr;
      }
    }
    list.push_back({{"name", outputs[0][o].name},
                    {"type", compiler::DataTypeName(outputs[0][o].type)},
                    {"shape", std::move(shape)}});
  }
  return list;
}

ordered_json SetInputs(const package::ShapeSet& set,
                       const std::vector<int64_t>& values) {
  const std::map<std::string, compiler::Shape> shapes = set.ShapesOf(values);
  ordered_json list = ordered_json::array();
  for (const package::SetInput& input : set.inputs) {
    list.push_back({{"name", input.name},
                    {"type", compiler::DataTypeName(input.type)},
                    {"shape", shapes.at(input.name)}});
  }
  return list;
}

absl::StatusOr<ordered_json> ListShapeSet(absl::string_view bytes,
                                          std::shared_ptr<const void> owner) {
  ASSIGN_OR_RETURN(const auto set,
                   package::ParseShapeSet(bytes, std::move(owner)));
  ordered_json list = Begin("shape set", set.model_name, set.producer);
  list["inputs"] = ordered_json::array();
  for (const package::SetInput& input : set.inputs) {
    ordered_json shape = ordered_json::array();
    for (size_t i = 0; i < input.shape.size(); ++i) {
      const int32_t symbol = input.symbols[i];
      shape.push_back(symbol < 0 ? ordered_json(input.shape[i])
                                 : ordered_json(set.symbols[symbol]));
    }
    list["inputs"].push_back({{"name", input.name},
                              {"type", compiler::DataTypeName(input.type)},
                              {"shape", std::move(shape)}});
  }
  std::vector<std::vector<package::TensorInfo>> outputs;
  for (size_t i = 0; i < set.specialisations.size(); ++i) {
    const std::string one = set.PackageBytes(i);
    ASSIGN_OR_RETURN(package::Package package, package::Parse(one));
    RETURN_IF_ERROR(set.Check(i, package));
    outputs.push_back(std::move(package.outputs));
  }
  list["outputs"] = SetOutputs(outputs);
  list["config"] = set.config;
  list["bytes"] = bytes.size();
  list["symbols"] = set.symbols;
  list["specialisations"] = ordered_json::array();
  for (size_t s = 0; s < set.specialisations.size(); ++s) {
    const package::Specialisation& one = set.specialisations[s];
    ordered_json values = ordered_json::object();
    for (size_t i = 0; i < set.symbols.size(); ++i) {
      values[set.symbols[i]] = one.values[i];
    }
    list["specialisations"].push_back({{"values", std::move(values)},
                                       {"bytes", one.size},
                                       {"inputs", SetInputs(set, one.values)},
                                       {"outputs", TensorsJson(outputs[s])}});
  }
  return list;
}

std::string Printable(const ordered_json& text) {
  return cli::Printable(text.get<std::string>());
}

std::string ShapeText(const ordered_json& shape) {
  if (shape.is_null()) return " of any shape";
  std::vector<std::string> parts;
  for (const ordered_json& dimension : shape) {
    parts.push_back(dimension.is_null()     ? "?"
                    : dimension.is_string() ? Printable(dimension)
                                            : dimension.dump());
  }
  return absl::StrCat("[", absl::StrJoin(parts, ","), "]");
}

void AppendTensors(const char* what, const ordered_json& tensors,
                   std::string* text) {
  for (const ordered_json& tensor : tensors) {
    absl::StrAppendFormat(
        text, "%-17s '%s' %s%s\n", what, Printable(tensor["name"]),
        tensor["type"].get<std::string>(), ShapeText(tensor["shape"]));
  }
}

void AppendLine(const char* what, const std::string& value, std::string* text) {
  absl::StrAppendFormat(text, "%-17s %s\n", what, value);
}

}  // namespace

absl::StatusOr<ordered_json> ListFile(absl::string_view bytes,
                                      std::shared_ptr<const void> owner) {
  if (package::IsShapeSet(bytes)) return ListShapeSet(bytes, std::move(owner));
  if (cli::IsPackage(bytes)) {
    return ListPackage(bytes, std::move(owner));
  }
  return ListModel(bytes);
}

std::string ListText(const ordered_json& list) {
  std::string text;
  const std::string kind = list["kind"].get<std::string>();
  const bool model = kind == "model";
  AppendLine(model ? "model" : "package",
             absl::StrCat(
                 "'", Printable(list["name"]), "'", model ? "" : " for ",
                 model ? "" : Printable(list["config"]),
                 list["producer"].get<std::string>().empty()
                     ? ""
                     : absl::StrCat(", made by ", Printable(list["producer"]))),
             &text);
  AppendTensors("input", list["inputs"], &text);
  if (list.contains("outputs")) {
    AppendTensors("output", list["outputs"], &text);
  }
  if (model) {
    std::vector<std::string> opsets;
    for (const auto& [domain, version] : list["opsets"].items()) {
      opsets.push_back(
          absl::StrCat(cli::Printable(domain), " ", version.get<int64_t>()));
    }
    AppendLine("opsets",
               absl::StrCat(absl::StrJoin(opsets, ", "), "; IR ",
                            list["ir_version"].get<int64_t>()),
               &text);
    AppendLine("nodes",
               absl::StrCat(list["nodes"].get<uint64_t>(), ", initializers ",
                            list["initializers"].get<uint64_t>()),
               &text);
    return text;
  }
  AppendLine("file", absl::StrCat(list["bytes"].get<uint64_t>(), " bytes"),
             &text);
  if (kind == "shape set") {
    for (const ordered_json& one : list["specialisations"]) {
      std::vector<std::string> values;
      for (const auto& [symbol, value] : one["values"].items()) {
        values.push_back(
            absl::StrCat(cli::Printable(symbol), "=", value.get<int64_t>()));
      }
      AppendLine("shape",
                 absl::StrCat(absl::StrJoin(values, ", "), ": ",
                              one["bytes"].get<uint64_t>(), " bytes"),
                 &text);
      AppendTensors("  input", one["inputs"], &text);
      AppendTensors("  output", one["outputs"], &text);
    }
    return text;
  }
  const auto bytes = [&list](const char* key) {
    return absl::StrCat(list[key].get<uint64_t>(), " bytes");
  };
  AppendLine("contract", list["hw_version"].get<std::string>(), &text);
  AppendLine("device memory",
             absl::StrCat(
                 bytes("device_bytes"), " (weights ", bytes("weight_bytes"),
                 ", scratch ", bytes("scratch_bytes"), ", inputs and outputs ",
                 bytes("io_bytes"), ", commands ", bytes("stream_bytes"), ")"),
             &text);
  AppendLine("layers",
             absl::StrCat(list["layers"].get<uint64_t>(), ", MACs ",
                          list["macs"].get<uint64_t>()),
             &text);
  const auto timed =
      [clock_mhz = compiler::ClockMhz(list["config"].get<std::string>())](
          const ordered_json& cycles, const char* what) {
        const auto count = cycles.get<uint64_t>();
        const std::string time = compiler::AtTheClock(count, clock_mhz);
        return absl::StrCat(count, what, time.empty() ? "" : ", ", time);
      };
  AppendLine("cycles*", timed(list["estimated_cycles"], ""), &text);
  if (const ordered_json& job = list["estimated_job_cycles"]; !job.is_null()) {
    AppendLine("job*", timed(job, " with its copies"), &text);
  }
  for (const ordered_json& segment : list["segments"]) {
    AppendLine("segment",
               absl::StrCat("on the ", segment["on"].get<std::string>(), ", ",
                            compiler::CountText(
                                segment["nodes"].get<uint64_t>(), "node")),
               &text);
  }
  absl::StrAppend(&text, "* of the card, estimated by the compiler\n");
  return text;
}

}  // namespace heddle::compile

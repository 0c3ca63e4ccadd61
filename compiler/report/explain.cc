// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/explain.h"

#include <onnx/onnx_pb.h>

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/backend/backend.h"
#include "compiler/base/count_text.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/nearest_names.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/importer.h"
#include "compiler/import/inline.h"
#include "compiler/import/parse_model.h"
#include "compiler/ops/control_flow.h"
#include "compiler/ops/operator.h"
#include "compiler/partition/compile_parts.h"
#include "compiler/partition/support.h"

namespace heddle::compiler {
namespace {

std::string TensorList(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<std::string> parts;
  for (TensorId id : ids) {
    if (id == kNoTensor) {
      parts.push_back("(absent)");
      continue;
    }
    const Tensor& t = graph.tensors[id];
    std::string part = absl::StrCat("'", t.name, "'");
    if (t.shape_known) {
      absl::StrAppend(&part, " ", DataTypeName(t.type), ShapeToString(t.shape));
    }
    if (t.is_constant()) part += " constant";
    parts.push_back(part);
  }
  return absl::StrJoin(parts, ", ");
}

std::string Operand(const OperandReport& o) {
  return absl::StrCat("'", o.tensor, "' ", ShapeToString(o.shape), ", ",
                      o.layout, ", in ", o.place);
}

// One operation of the card.
std::string DescribeLayer(const CompileReport& report, size_t index) {
  const LayerReport& layer = report.layers[index];
  std::string text = absl::StrFormat("layer %d: %s on the %s engine\n", index,
                                     layer.op, layer.engine);
  for (const OperandReport& input : layer.inputs) {
    absl::StrAppend(&text, "  reads       ", Operand(input), "\n");
  }
  absl::StrAppend(&text, "  writes      ", Operand(layer.output), "\n");
  if (layer.constant_bytes > 0) {
    absl::StrAppendFormat(&text, "  constants   %d bytes in %d group%s\n",
                          layer.constant_bytes, layer.groups,
                          layer.groups == 1 ? "" : "s");
  }
  if (layer.tiles > 1) {
    absl::StrAppendFormat(&text,
                          "  tiles       %d, each %d of %d rows of the result",
                          layer.tiles, layer.tile_rows, layer.rows);
    if (layer.first_tile_rows < layer.tile_rows) {
      absl::StrAppendFormat(&text, " (the first %d)", layer.first_tile_rows);
    }
    if (layer.tile_columns < layer.columns) {
      absl::StrAppendFormat(&text, ", %d of %d columns", layer.tile_columns,
                            layer.columns);
    }
    if (layer.tile_channels < layer.channels) {
      absl::StrAppendFormat(&text, ", %d of %d channels", layer.tile_channels,
                            layer.channels);
    }
    text += "\n";
  } else {
    text += "  tiles       1, the whole result\n";
  }
  std::map<std::string, size_t> commands;
  for (const CommandReport& c : report.commands_in_time) {
    if (c.layer == static_cast<int>(index)) ++commands[c.mnemonic];
  }
  std::vector<std::string> parts;
  for (const auto& [mnemonic, count] : commands) {
    parts.push_back(absl::StrCat(count, " ", mnemonic));
  }
  absl::StrAppend(&text, "  commands    ", absl::StrJoin(parts, ", "), "\n");
  absl::StrAppendFormat(
      &text,
      "  work        %d MACs, %d bytes of device memory\n"
      "  cycles*     %d added to the whole; span %d to %d; bound by: %s\n",
      layer.macs, layer.dram_bytes, layer.estimated_cycles, layer.first_cycle,
      layer.last_cycle, layer.bound);
  if (layer.macs > 0) {
    absl::StrAppendFormat(&text, "  utilisation* %.1f %% of the %s engine\n",
                          100 * layer.utilisation, layer.engine);
  }
  return text;
}

// The model as written, the nodes of the graphs inside of others behind its
// own. An operator that the compiler does not know is what the caller asks
// about, so it is no error here: *rejection.
absl::StatusOr<Graph> Written(absl::string_view model,
                              const CompileOptions& options,
                              absl::Status* rejection) {
  ImportOptions import;
  import.input_shapes = options.input_shapes;
  import.weights = options.weights;
  import.data_folder = options.data_folder;
  import.open_dimensions_are_one = options.open_dimensions_are_one;
  import.bounds = options.bounds;
  auto imported = ImportOnnx(model, import);
  if (imported.ok()) {
    Graph graph = std::move(imported->graph);
    for (const auto& [first, graphs] : imported->subgraphs) {
      for (const Subgraph* inside :
           {&graphs.then_branch, &graphs.else_branch, &graphs.body}) {
        graph.nodes.insert(graph.nodes.end(), inside->nodes.begin(),
                           inside->nodes.end());
      }
    }
    return graph;
  }
  *rejection = imported.status();
  if (RejectionOf(*rejection) != Rejection::kUnsupportedOperator)
    return *rejection;
  // The importer comes to operators when the structure of the whole is sound.
  onnx::ModelProto proto;
  TakenBytes raw;
  if (!ParseModel(model, &proto, &raw).ok()) return *rejection;
  const auto placed = InlineGraphs(&proto, raw);
  if (!placed.ok()) return *rejection;
  std::map<std::string, int> opsets;
  for (const auto& opset : proto.opset_import()) {
    const bool onnx = opset.domain() == "ai.onnx";
    opsets[onnx ? "" : opset.domain()] = static_cast<int>(opset.version());
  }
  Graph graph;
  std::map<std::string, TensorId> ids;
  const auto tensor = [&](const std::string& name) {
    if (name.empty()) return kNoTensor;
    const auto [it, fresh] = ids.try_emplace(name, kNoTensor);
    if (fresh) {
      Tensor t;
      t.name = name;
      it->second = graph.AddTensor(std::move(t));
    }
    return it->second;
  };
  std::map<std::string, int> counters;
  size_t index = 0;  // of the node of the outermost graph
  // A node, then those of the graphs inside it (If, Loop, Scan).
  const std::function<void(const onnx::NodeProto&)> add =
      [&](const onnx::NodeProto& from) {
        Node node;
        node.op = from.op_type();
        node.domain = from.domain() == "ai.onnx" ? "" : from.domain();
        const int number = counters[node.op]++;
        node.name = from.name().empty() ? absl::StrCat(node.op, "_", number)
                                        : from.name();
        node.sources = {node.name};
        const int64_t own = placed->InnerOpset(node.domain, index);
        node.opset = own != 0 ? static_cast<int>(own) : opsets[node.domain];
        for (const auto& name : from.input())
          node.inputs.push_back(tensor(name));
        for (const auto& name : from.output())
          node.outputs.push_back(tensor(name));
        graph.nodes.push_back(std::move(node));
        for (const auto& attribute : from.attribute()) {
          for (const auto& inner : attribute.g().node()) add(inner);
          for (const auto& inner_graph : attribute.graphs()) {
            for (const auto& inner : inner_graph.node()) add(inner);
          }
        }
      };
  for (const auto& node : proto.graph().node()) {
    add(node);
    ++index;
  }
  return graph;
}

// Every node by name, and every computed tensor.
std::vector<std::string> Names(const Graph& graph) {
  std::vector<std::string> names;
  for (const Node& node : graph.nodes) names.push_back(node.name);
  for (const Node& node : graph.nodes) {
    for (TensorId id : node.outputs) {
      if (id != kNoTensor) names.push_back(graph.tensors[id].name);
    }
  }
  return names;
}

bool Computes(const Graph& graph, const Node& node, const std::string& tensor) {
  return std::any_of(
      node.outputs.begin(), node.outputs.end(), [&](TensorId id) {
        return id != kNoTensor && graph.tensors[id].name == tensor;
      });
}

bool Has(const std::vector<std::string>& list, const std::string& item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string Refused(const Node& node, const absl::Status& rejection) {
  const bool mine = absl::StrContains(rejection.message(), node.Describe());
  return absl::StrCat(
      mine ? "The model is rejected because of this node: "
           : "The model is rejected, but not because of this node: ",
      RejectionName(RejectionOf(rejection)), ": ", rejection.message(), "\n");
}

// "2 of 3", of a body "1 of 1 of the body of segment 2 of 3"; "" if there is
// none.
std::string PlaceOf(const std::vector<SegmentReport>& segments,
                    const std::string& node) {
  for (size_t s = 0; s < segments.size(); ++s) {
    const std::string here = absl::StrCat(s + 1, " of ", segments.size());
    for (const auto& body : segments[s].bodies) {
      const std::string inside = PlaceOf(body.segments, node);
      if (!inside.empty()) {
        return absl::StrCat(inside, " of the ", body.name, " of segment ",
                            here);
      }
    }
    if (Has(segments[s].nodes, node)) return here;
  }
  return "";
}

// What the segment of a node costs by the estimates.
std::string DescribePrice(const std::vector<SegmentReport>& segments,
                          const std::string& node) {
  for (const SegmentReport& s : segments) {
    for (const auto& body : s.bodies) {
      const std::string inside = DescribePrice(body.segments, node);
      if (!inside.empty()) return inside;
    }
    if (!s.control.empty() || !Has(s.nodes, node)) continue;
    std::string text = absl::StrFormat(
        "The segment's %s %.1f us*",
        s.nodes.size() == 1 ? "node takes"
                            : absl::StrCat(s.nodes.size(), " nodes take"),
        s.estimated_us);
    if (!s.host) {
      absl::StrAppendFormat(&text,
                            ", its crossing (%d bytes in, %d out) %.1f us*",
                            s.bytes_in, s.bytes_out, s.crossing_us);
    }
    return text + ".\n";
  }
  return "";
}

// Where its bodies are, of which one runs, or one several times.
std::string DescribeBodies(const Node& made, const CompileReport& report) {
  std::string text;
  for (const SegmentReport& segment : report.segments) {
    if (segment.control.empty() || !Has(segment.nodes, made.name)) continue;
    for (const auto& body : segment.bodies) {
      size_t card = 0;
      for (const SegmentReport& s : body.segments) card += !s.host;
      absl::StrAppend(&text, "Its ", body.name, " has ",
                      CountText(body.segments.size(), "segment"), ", ", card,
                      " of them on the card.\n");
    }
  }
  return text;
}

// Whether nodes of the graph, or of bodies in it, stand for the model's.
bool IsInside(const Graph& graph, const std::string& node) {
  for (const Node& made : graph.nodes) {
    if (Has(made.sources, node)) return true;
    for (const ControlBody& body : BodiesOf(made)) {
      if (IsInside(*body.graph, node)) return true;
    }
  }
  return false;
}

// What the front end made of `node` of the model as written.
std::string DescribeFate(const Graph& model, const Node& node,
                         const Graph& graph, const CompileReport* report) {
  std::string text;
  bool found = false;
  for (const Node& made : graph.nodes) {
    // One of a body is written down with the graph that it is in.
    for (const ControlBody& body : BodiesOf(made)) {
      if (Has(made.sources, node.name) || !IsInside(*body.graph, node.name)) {
        continue;
      }
      absl::StrAppend(&text, "It is in the ", body.name, " of ",
                      made.Describe(), ".\n",
                      DescribeFate(model, node, *body.graph, report));
      found = true;
    }
    if (!Has(made.sources, node.name)) continue;
    found = true;
    if (made.sources.size() > 1 || made.op != node.op) {
      absl::StrAppend(
          &text, "It is part of ", made.Describe(), ", which stands for ",
          CountText(made.sources.size(), "node"),
          " of the model: ", absl::StrJoin(made.sources, ", "), ".\n");
    }
    for (const FloatGroup& group : graph.float_groups) {
      if (group.node != made.name && !Has(made.sources, group.node)) continue;
      absl::StrAppend(&text, "Quantized in the model but computed in float: ",
                      group.reason, ".\n");
    }
    absl::StrAppend(&text, "  computes    ", TensorList(graph, made.outputs),
                    "\n  from        ", TensorList(graph, made.inputs), "\n");
    if (report == nullptr) continue;
    const auto host = std::find_if(
        report->host_nodes.begin(), report->host_nodes.end(),
        [&made](const HostNode& h) { return h.name == made.name; });
    if (host != report->host_nodes.end()) {
      absl::StrAppend(
          &text,
          IsControl(made) ? "The host drives it"
                          : "It runs on the host, with the bytes "
                            "of the reference",
          ", in segment ", PlaceOf(report->segments, made.name),
          host->by_choice
              ? "; the card could run it, but placement chose the host: "
              : "; the card cannot run it: ",
          host->reason, "\n", DescribePrice(report->segments, made.name),
          DescribeBodies(made, *report));
      continue;
    }
    if (!report->segments.empty()) {
      absl::StrAppend(&text, "It runs on the card, in segment ",
                      PlaceOf(report->segments, made.name), ".\n",
                      DescribePrice(report->segments, made.name));
    }
    size_t layers = 0;
    for (size_t i = 0; i < report->layers.size(); ++i) {
      const LayerReport& layer = report->layers[i];
      if (!Has(layer.sources, node.name)) continue;
      if (layer.name != made.name) {
        absl::StrAppend(&text, "Layer ", i, " does it along with ", layer.op,
                        " '", layer.name, "'.\n");
      }
      text += DescribeLayer(*report, i);
      ++layers;
    }
    if (layers == 0) {
      text += "Needs no command: its result is a view of existing bytes.\n";
    }
  }
  if (found) return text;
  for (TensorId id : node.outputs) {
    if (id == kNoTensor) continue;
    const TensorId now = graph.FindTensor(model.tensors[id].name);
    if (now != kNoTensor && graph.tensors[now].is_constant()) {
      return absl::StrCat("Computed during compilation: its result '",
                          graph.tensors[now].name, "' is a constant.\n");
    }
  }
  return "Removed or absorbed during compilation: it changes nothing here "
         "(such as Identity, Dropout, a Cast to the same type), its result is "
         "part of a constant, or nothing reads it. Needs no command.\n";
}

// As CompileOnnx does it; *graph becomes the one that card and host share.
absl::StatusOr<CompileReport> ReportOf(absl::string_view model,
                                       const CompileOptions& options,
                                       Graph* graph) {
  if (!options.host_nodes || options.placement != Placement::kHost) {
    absl::StatusOr<BackendResult> card = GeneratePackage(*graph, options);
    if (card.ok()) return std::move(card->report);
    if (!HostMayHelp(card.status(), options)) return card.status();
  }
  ASSIGN_OR_RETURN(*graph, AnalyseOnnx(model, SharedOptions(options)));
  ASSIGN_OR_RETURN(SplitResult split, CompileParts(*graph, options));
  return std::move(split.report);
}

}  // namespace

absl::StatusOr<Explanation> ExplainNode(absl::string_view model,
                                        const CompileOptions& options,
                                        const std::string& name) {
  Explanation result;
  ASSIGN_OR_RETURN(const Graph imported,
                   Written(model, options, &result.rejection));
  const Graph& written = imported;
  std::vector<const Node*> nodes;
  for (const Node& node : written.nodes) {
    if (node.name == name) nodes.push_back(&node);
  }
  for (const Node& node : written.nodes) {
    if (nodes.empty() && Computes(written, node, name)) nodes.push_back(&node);
  }
  if (nodes.empty()) {
    const std::vector<std::string> nearest = NearestNames(name, Names(written));
    return absl::NotFoundError(absl::StrCat(
        "the model has no node and no computed tensor '", name, "'",
        nearest.empty() ? "; --report lists all layers"
                        : absl::StrCat("; similar names: '",
                                       absl::StrJoin(nearest, "', '"), "'")));
  }
  CompileOptions detailed = options;
  detailed.details = true;
  absl::StatusOr<Graph> graph = AnalyseOnnx(model, detailed);
  absl::StatusOr<CompileReport> made = absl::InternalError("not compiled");
  if (!graph.ok()) {
    result.rejection = graph.status();
  } else {
    made = ReportOf(model, detailed, &*graph);
    if (!made.ok()) result.rejection = made.status();
  }
  bool estimates = false;
  for (const Node* node : nodes) {
    absl::StrAppend(&result.text, node->Describe(), " of opset ", node->opset,
                    node->domain.empty() ? "" : " of ", node->domain,
                    "\n  inputs      ", TensorList(written, node->inputs),
                    "\n  outputs     ", TensorList(written, node->outputs),
                    "\n");
    if (FindOperator(node->domain, node->op, node->opset) == nullptr) {
      result.text +=
          "The compiler does not know this operator; see "
          "heddle-compile --supported-ops.\n";
    }
    if (graph.ok()) {
      absl::StrAppend(&result.text, DescribeFate(written, *node, *graph,
                                                 made.ok() ? &*made : nullptr));
      estimates |= made.ok();
    }
    if (!result.rejection.ok()) {
      result.text += Refused(*node, result.rejection);
    }
  }
  if (estimates) {
    result.text +=
        "* estimated by the compiler, calibrated on single commands of the "
        "RTL";
    if (!made->segments.empty()) {
      absl::StrAppend(&result.text,
                      "; of the host and crossings by the host profile '",
                      made->host_profile, "'");
    }
    result.text += "\n";
  }
  return result;
}

std::vector<MissingOperator> MissingOperators(absl::string_view model,
                                              const CompileOptions& options) {
  std::vector<MissingOperator> missing;
  const auto add = [&missing](const Node& node) {
    for (MissingOperator& m : missing) {
      if (m.op == node.op && m.domain == node.domain) {
        ++m.count;
        return;
      }
    }
    missing.push_back({node.op, node.domain, 1, node.name});
  };
  // After the front end, which removes and folds much; if it does not get that
  // far, of the model as written.
  const absl::StatusOr<Graph> graph = AnalyseOnnx(model, options);
  if (graph.ok()) {
    CompileOptions quick = options;
    quick.placement = Placement::kCard;
    const auto support = SupportOf(*graph, quick);
    for (size_t n = 0; support.ok() && n < support->size(); ++n) {
      const NodeSupport& node = (*support)[n];
      if (node.place == Place::kRefused &&
          RejectionOf(node.reason) == Rejection::kUnsupportedOperator) {
        Node as_written = graph->nodes[n];
        if (IsControl(as_written)) as_written.domain.clear();
        add(as_written);
      }
    }
  } else {
    absl::Status rejection;
    const absl::StatusOr<Graph> written = Written(model, options, &rejection);
    if (!written.ok()) return {};
    for (const Node& node : written->nodes) {
      if (FindOperator(node.domain, node.op, node.opset) == nullptr) add(node);
    }
  }
  std::stable_sort(missing.begin(), missing.end(),
                   [](const MissingOperator& a, const MissingOperator& b) {
                     return a.count > b.count;
                   });
  return missing;
}

}  // namespace heddle::compiler

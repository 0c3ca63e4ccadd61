// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/importer.h"

#include <google/protobuf/arena.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/attribute_proto.h"
#include "compiler/import/bounds.h"
#include "compiler/import/four_bits.h"
#include "compiler/import/inline.h"
#include "compiler/import/name_scope.h"
#include "compiler/import/named_dimensions.h"
#include "compiler/import/parse_model.h"
#include "compiler/import/quantization_annotation.h"
#include "compiler/import/quote.h"
#include "compiler/import/sequences.h"
#include "compiler/import/sparse_tensor.h"
#include "compiler/import/tensor_proto.h"
#include "compiler/import/value_info.h"
#include "compiler/ops/define.h"

namespace heddle::compiler {
namespace {

template <typename... Args>
absl::Status Invalid(const Args&... why) {
  return Reject(Rejection::kInvalidModel, absl::StrCat(why...));
}

// Of the names in graphs of nodes, which begin with that of the node.
constexpr size_t kMostPrefixBytes = size_t{64} << 20;

// The first version of the format that states opsets.
constexpr int64_t kFirstIrWithOpsets = 3;

std::string DomainName(const std::string& domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

// Attributes of a Scan beside its body, of all opsets.
bool IsOfScan(const std::string& name) {
  return name == "num_scan_inputs" || name == "directions" ||
         name == "scan_input_axes" || name == "scan_input_directions" ||
         name == "scan_output_axes" || name == "scan_output_directions";
}

// "" and "ai.onnx" are the same domain.
std::string NormalDomain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

class Importer {
 public:
  // `raw`: where the data of the model's tensors are.
  Importer(const onnx::ModelProto& model, PlacedGraphs placed, TakenBytes raw,
           const ImportOptions& options)
      : model_(model),
        options_(options),
        placed_(std::move(placed)),
        dimensions_(model.graph(), options.input_shapes),
        source_(options.data_folder) {
    source_.raw = std::move(raw);
    source_.owner = options.owner;
  }

  absl::StatusOr<ImportedModel> Run() {
    for (auto step :
         {&Importer::Versions, &Importer::Initializers, &Importer::GraphInputs,
          &Importer::Weights, &Importer::Nodes, &Importer::Outputs,
          &Importer::Declarations, &Importer::Annotations,
          &Importer::OpenDimensions}) {
      RETURN_IF_ERROR((this->*step)());
    }
    ASSIGN_OR_RETURN(const auto bounds, BoundsOf(model_, options_.bounds));
    RETURN_IF_ERROR(InsertBounds(bounds, &result_.graph));
    result_.graph.files = source_.files.Mapped();
    RETURN_IF_ERROR(result_.graph.Verify());
    return std::move(result_);
  }

 private:
  absl::Status Versions() {
    const int64_t ir = model_.ir_version();
    if (!model_.has_ir_version()) return Invalid("the model has no ir_version");
    if (ir < kMinIrVersion) return Invalid("the model has ir_version ", ir);
    if (ir > kMaxIrVersion) {
      return Reject(
          Rejection::kUnsupportedVersion,
          absl::StrCat("ir_version ", ir, " is newer than ", kMaxIrVersion,
                       "; save the model with an older one (ir_version = ",
                       kMaxIrVersion,
                       ") or export it again for an older ONNX"));
    }
    if (!model_.has_graph()) return Invalid("the model has no graph");
    if (model_.opset_import_size() == 0) {
      // What older IR versions do not have is opset 1.
      if (ir >= kFirstIrWithOpsets) {
        return Invalid("the model has no opset_import");
      }
      opsets_[""] = 1;
    }
    RETURN_IF_ERROR(Imports(model_.opset_import(), "opset_import", &opsets_));
    for (const auto& import : placed_.imports) {
      OpsetMap opsets;  // (looked at, and asked again for each node)
      RETURN_IF_ERROR(Imports(import, "a function's opset_import", &opsets));
    }
    result_.graph.name = model_.graph().name();
    return absl::OkStatus();
  }

  using OpsetMap = std::map<std::string, int>;

  static int Clamped(int64_t version) {
    return static_cast<int>(
        std::min<int64_t>(version, std::numeric_limits<int>::max()));
  }

  // Versions of domains, of the model or of a function.
  static absl::Status Imports(
      const google::protobuf::RepeatedPtrField<onnx::OperatorSetIdProto>& list,
      const char* what, OpsetMap* opsets) {
    for (const auto& import : list) {
      const std::string domain = NormalDomain(import.domain());
      const int64_t version = import.version();
      const auto known = opsets->find(domain);
      if (known != opsets->end() && known->second != version) {
        return Invalid(what, " has two versions of domain ",
                       Quote(DomainName(domain)));
      }
      if (version < 1) {
        return Invalid(what, " of domain ", Quote(DomainName(domain)),
                       " has version ", version);
      }
      if (domain.empty() && version > kMaxOpset) {
        return Reject(
            Rejection::kUnsupportedVersion,
            absl::StrCat(
                "opset ", version, " is newer than ", kMaxOpset,
                "; convert it with onnx.version_converter.convert_version("
                "model, ",
                kMaxOpset, "), or export the model for opset ", kMaxOpset,
                " or older"));
      }
      if (domain == "com.microsoft" && version != kMicrosoftOpset) {
        return Reject(Rejection::kUnsupportedVersion,
                      absl::StrCat("version ", version,
                                   " of domain 'com.microsoft' is not "
                                   "supported; ",
                                   kMicrosoftOpset, " is"));
      }
      // Of other domains no operator is known; a node says so.
      (*opsets)[domain] = Clamped(version);
    }
    return absl::OkStatus();
  }

  // What a caller gives or gets.
  static absl::Status CheckInterface(const std::string& what, DataType type) {
    if (!IsNarrow(type)) return absl::OkStatus();
    return Reject(
        Rejection::kUnsupportedDatatype,
        absl::StrCat(what, " has type ", DataTypeName(type),
                     ", which is supported only inside a model; add a Cast"));
  }

  absl::Status Initializers() {
    const auto& graph = model_.graph();
    result_.has_initializers =
        graph.initializer_size() != 0 || graph.sparse_initializer_size() != 0;
    const std::set<std::string> wide = FourBitsAsBytes(graph);
    for (const auto& proto : graph.initializer()) {
      if (proto.name().empty()) return Invalid("an initializer has no name");
      const std::string what =
          absl::StrCat("initializer ", Quote(proto.name()));
      if (IsUnusedText(proto)) continue;
      auto data = FromTensorProto(proto, what, &source_);
      if (data.ok() && wide.count(proto.name()) != 0) {
        data->type =
            data->type == DataType::kInt4 ? DataType::kInt8 : DataType::kUint8;
      }
      RETURN_IF_ERROR(AddInitializer(proto.name(), what, std::move(data)));
    }
    for (const auto& proto : graph.sparse_initializer()) {
      const std::string& name = proto.values().name();
      if (name.empty()) {
        return Invalid(
            "a sparse_initializer has no name; it is the name of "
            "its values");
      }
      const std::string what = absl::StrCat("sparse_initializer ", Quote(name));
      auto data = FromSparseTensorProto(proto, what, &source_);
      RETURN_IF_ERROR(AddInitializer(name, what, std::move(data)));
    }
    return absl::OkStatus();
  }

  absl::Status AddInitializer(const std::string& name, const std::string& what,
                              absl::StatusOr<TensorData> data) {
    if (!data.ok()) return data.status();
    if (ids_.count(name) != 0) return Invalid(what, " occurs twice");
    ids_[name] = result_.graph.AddConstant(name, *std::move(data));
    return absl::OkStatus();
  }

  // Labels and the like that exporters leave behind hurt nobody.
  bool IsUnusedText(const onnx::TensorProto& proto) {
    if (proto.data_type() != onnx::TensorProto::STRING) return false;
    if (used_.empty()) {
      const auto& graph = model_.graph();
      for (const auto& node : graph.node()) {
        used_.insert(node.input().begin(), node.input().end());
      }
      for (const auto& value : graph.output()) used_.insert(value.name());
      for (const auto& value : graph.input()) used_.insert(value.name());
    }
    return used_.count(proto.name()) == 0;
  }

  // For a message: the first names of inputs.
  std::string SomeInputs() const {
    constexpr size_t kMost = 5;
    const auto& inputs = result_.graph.inputs;
    if (inputs.empty()) return "; it has no inputs";
    std::string text = "; its inputs are ";
    for (size_t i = 0; i < inputs.size() && i < kMost; ++i) {
      absl::StrAppend(&text, i == 0 ? "" : ", ",
                      Quote(result_.graph.tensors[inputs[i]].name));
    }
    if (inputs.size() > kMost) absl::StrAppend(&text, " and more");
    return text;
  }

  absl::Status GraphInputs() {
    RETURN_IF_ERROR(BindDimensions());
    std::set<std::string> seen;
    for (const auto& proto : model_.graph().input()) {
      const std::string& name = proto.name();
      const std::string what = absl::StrCat("input ", Quote(name));
      if (name.empty()) return Invalid("a graph input has no name");
      if (!seen.insert(name).second) return Invalid(what, " occurs twice");
      Declaration declared;
      RETURN_IF_ERROR(FromValueInfoProto(proto, what, &declared));
      if (declared.type == DataType::kUndefined) {
        return Invalid(what, " has no type");
      }
      RETURN_IF_ERROR(CheckInterface(what, declared.type));
      const auto initializer = ids_.find(name);
      if (initializer != ids_.end()) {
        const Tensor& tensor = result_.graph.tensors[initializer->second];
        RETURN_IF_ERROR(
            CheckDeclared(what, declared, tensor.type, tensor.shape));
        continue;
      }
      Tensor tensor;
      tensor.name = name;
      tensor.type = declared.type;
      const auto weight = options_.weights.find(name);
      if (weight != options_.weights.end()) {
        RETURN_IF_ERROR(CheckDeclared(what, declared, weight->second.type,
                                      weight->second.shape));
        ids_[name] = result_.graph.AddConstant(name, weight->second);
        continue;
      }
      RETURN_IF_ERROR(BindShape(proto, what, declared, &tensor.shape));
      tensor.shape_known = true;
      ids_[name] = result_.graph.AddTensor(std::move(tensor));
      result_.graph.inputs.push_back(ids_[name]);
    }
    for (const auto& [name, shape] : options_.input_shapes) {
      if (seen.count(name) == 0 && !dimensions_.IsGiven(name)) {
        return Reject(Rejection::kMismatchingShape,
                      absl::StrCat("a shape is given for input ", Quote(name),
                                   ", which the model does not have",
                                   SomeInputs(), dimensions_.Names()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status Weights() {
    if (!options_.weights.empty() &&
        (model_.graph().initializer_size() != 0 ||
         model_.graph().sparse_initializer_size() != 0)) {
      return Invalid(
          "weights are given beside a model that has initializers; give them "
          "in one place");
    }
    for (const auto& [name, data] : options_.weights) {
      if (ids_.count(name) == 0) {
        return Invalid("weight ", Quote(name),
                       " is given, but the model has no such input");
      }
      if (data.bytes.size() !=
          static_cast<size_t>(data.count()) * ElementBytes(data.type)) {
        return Invalid("weight ", Quote(name), " has ", data.bytes.size(),
                       " bytes, which does not fit its shape ",
                       ShapeToString(data.shape));
      }
    }
    return absl::OkStatus();
  }

  using NodeProtos = google::protobuf::RepeatedPtrField<onnx::NodeProto>;

  absl::Status CollectWrites(const NodeProtos& nodes, NameScope* scope) {
    for (const auto& proto : nodes) {
      for (const std::string& name : proto.output()) {
        if (name.empty()) continue;
        if (scope->ids.count(name) != 0 ||
            !scope->written.insert(name).second) {
          return Invalid(proto.op_type(), " ", Quote(proto.name()), " writes ",
                         Quote(name),
                         ", which has a value already; names must be unique");
        }
      }
    }
    return absl::OkStatus();
  }

  // The version of a domain for the node at `index` of the graph: that of the
  // function that it comes from, or the model's; 0 if neither imports it.
  int OpsetOf(const std::string& domain, size_t index) const {
    if (const int64_t inner = placed_.InnerOpset(domain, index); inner != 0) {
      return Clamped(inner);
    }
    const auto opset = opsets_.find(domain);
    return opset == opsets_.end() ? 0 : opset->second;
  }

  absl::Status Nodes() {
    if (model_.graph().node_size() == 0) {
      return Invalid("the graph has no nodes");
    }
    const NodeProtos& protos = model_.graph().node();
    RETURN_IF_ERROR(CollectWrites(protos, &top_));
    std::map<std::string, int> counters;
    for (int i = 0; i < protos.size(); ++i) {
      Node node;
      RETURN_IF_ERROR(Structure(protos[i], i, counters[protos[i].op_type()]++,
                                &top_, &node));
      result_.graph.nodes.push_back(std::move(node));
    }
    // After the structure of the whole graph: an unknown operator in an invalid
    // graph is reported as the latter.
    for (int i = 0; i < protos.size(); ++i) {
      RETURN_IF_ERROR(Operator(protos[i], &result_.graph.nodes[i]));
    }
    return absl::OkStatus();
  }

  // All of a node but its attributes, and of those the graphs. `place`: the
  // index in the model's graph of the node or of the one that it is inside of;
  // `number`: of nodes of the operator before.
  absl::Status Structure(const onnx::NodeProto& proto, size_t place, int number,
                         NameScope* scope, Node* node) {
    node->op = proto.op_type();
    node->domain = NormalDomain(proto.domain());
    node->name =
        absl::StrCat(scope->node_prefix,
                     proto.name().empty() ? absl::StrCat(node->op, "_", number)
                                          : proto.name());
    if (node->op.empty()) {
      return Invalid("node ", Quote(node->name), " has no op_type");
    }
    node->sources = {node->name};
    node->opset = OpsetOf(node->domain, place);
    if (node->opset == 0) {
      return Invalid(node->Describe(), " is of domain ",
                     Quote(DomainName(node->domain)),
                     ", which opset_import does not list");
    }
    for (const std::string& name : proto.input()) {
      const TensorId id = name.empty() ? kNoTensor : scope->Find(name);
      if (id != kNoTensor || name.empty()) {
        node->inputs.push_back(id);
      } else if (scope->Writes(name)) {
        return Invalid(node->Describe(), " reads ", Quote(name),
                       " before it is computed; nodes must be in "
                       "topological order, without cycles");
      } else {
        return Invalid(node->Describe(), " reads ", Quote(name),
                       ", which nothing defines");
      }
    }
    Subgraphs graphs;
    const bool has_graphs = IsIf(*node) || IsLoop(*node);
    if (has_graphs) {
      RETURN_IF_ERROR(TakeSubgraphs(proto, place, scope, node, &graphs));
    }
    for (const std::string& name : proto.output()) {
      if (name.empty()) {
        node->outputs.push_back(kNoTensor);
        continue;
      }
      Tensor tensor;
      tensor.name = absl::StrCat(scope->tensor_prefix, name);
      scope->ids[name] = result_.graph.AddTensor(std::move(tensor));
      node->outputs.push_back(scope->ids[name]);
    }
    if (std::all_of(node->outputs.begin(), node->outputs.end(),
                    [](TensorId id) { return id == kNoTensor; })) {
      return Invalid(node->Describe(), " has no output");
    }
    if (has_graphs) {
      result_.subgraphs.emplace(FirstOutputOf(*node), std::move(graphs));
    }
    return absl::OkStatus();
  }

  static std::string FirstOutput(const onnx::NodeProto& proto) {
    const auto first =
        std::find_if(proto.output().begin(), proto.output().end(),
                     [](const std::string& name) { return !name.empty(); });
    return first == proto.output().end() ? "" : *first;
  }

  // The graphs of a node; what they take from outside are inputs of the node
  // behind its own.
  absl::Status TakeSubgraphs(const onnx::NodeProto& proto, size_t place,
                             NameScope* scope, Node* node, Subgraphs* graphs) {
    graphs->own_inputs = node->inputs.size();
    std::map<std::string, Subgraph*> wanted = {{"body", &graphs->body}};
    if (IsIf(*node)) {
      if (node->inputs.size() != 1 || node->inputs[0] == kNoTensor) {
        return Invalid(node->Describe(), " has ", node->inputs.size(),
                       " inputs, must have its condition");
      }
      wanted = {{"then_branch", &graphs->then_branch},
                {"else_branch", &graphs->else_branch}};
    }
    std::set<std::string> names;
    std::set<TensorId> taken;
    for (const auto& attribute : proto.attribute()) {
      const std::string what = absl::StrCat(node->Describe(), ": attribute ",
                                            Quote(attribute.name()));
      const auto graph = wanted.find(attribute.name());
      if (graph == wanted.end()) {
        if (node->op == "Scan" && IsOfScan(attribute.name())) continue;
        return Invalid(what, " is not one of this operator's");
      }
      if (!attribute.has_g()) return Invalid(what, " is not a graph");
      if (!names.insert(attribute.name()).second) {
        return Invalid(what, " occurs twice");
      }
      NameScope inner;
      inner.outer = scope;
      inner.tensor_prefix =
          absl::StrCat(scope->tensor_prefix, FirstOutput(proto), "/");
      inner.node_prefix = absl::StrCat(node->name, "/");
      const int64_t own = attribute.g().node_size() +
                          attribute.g().initializer_size() +
                          attribute.g().input_size();
      const size_t longest =
          std::max(inner.tensor_prefix.size(), inner.node_prefix.size());
      // A node has as many results as it likes, each a name.
      for (const auto& within : attribute.g().node()) {
        prefix_bytes_ += longest * within.output_size();
      }
      prefix_bytes_ += longest * own;
      if (prefix_bytes_ > kMostPrefixBytes) {
        return Reject(Rejection::kNoSystemMemory,
                      absl::StrCat(what, " makes more than ", kMostPrefixBytes,
                                   " bytes of names; give shorter ones"));
      }
      if (IsIf(*node) && (attribute.g().input_size() != 0 ||
                          attribute.g().output_size() < proto.output_size())) {
        return Invalid(what, " has ", attribute.g().input_size(),
                       " inputs and ", attribute.g().output_size(),
                       " outputs, must have none and ", proto.output_size());
      }
      RETURN_IF_ERROR(TakeSubgraph(
          attribute.g(), place, what,
          IsIf(*node) ? proto.output_size() : attribute.g().output_size(),
          &inner, graph->second));
      taken.insert(inner.taken.begin(), inner.taken.end());
    }
    for (const auto& [name, graph] : wanted) {
      if (names.count(name) != 0) continue;
      return Invalid(node->Describe(), " lacks the graph ", Quote(name));
    }
    node->inputs.insert(node->inputs.end(), taken.begin(), taken.end());
    return absl::OkStatus();
  }

  absl::Status TakeSubgraph(const onnx::GraphProto& graph, size_t place,
                            const std::string& what, int outputs,
                            NameScope* scope, Subgraph* branch) {
    for (const auto& proto : graph.input()) {
      Tensor tensor;
      tensor.name = absl::StrCat(scope->tensor_prefix, proto.name());
      const TensorId id = result_.graph.AddTensor(std::move(tensor));
      if (!scope->ids.emplace(proto.name(), id).second) {
        return Invalid(what, " has the input ", Quote(proto.name()), " twice");
      }
      branch->inputs.push_back(id);
    }
    const auto add = [&](const std::string& name,
                         absl::StatusOr<TensorData> data) -> absl::Status {
      if (!data.ok()) return data.status();
      const TensorId id = result_.graph.AddConstant(
          absl::StrCat(scope->tensor_prefix, name), *std::move(data));
      if (!scope->ids.emplace(name, id).second) {
        return Invalid(what, " has the initializer ", Quote(name), " twice");
      }
      return absl::OkStatus();
    };
    for (const auto& proto : graph.initializer()) {
      RETURN_IF_ERROR(
          add(proto.name(), FromTensorProto(proto, what, &source_)));
    }
    for (const auto& proto : graph.sparse_initializer()) {
      RETURN_IF_ERROR(add(proto.values().name(),
                          FromSparseTensorProto(proto, what, &source_)));
    }
    RETURN_IF_ERROR(CollectWrites(graph.node(), scope));
    std::map<std::string, int> counters;
    for (const auto& proto : graph.node()) {
      Node node;
      RETURN_IF_ERROR(
          Structure(proto, place, counters[proto.op_type()]++, scope, &node));
      branch->nodes.push_back(std::move(node));
    }
    // What is not supported matters to who takes the branch.
    for (int i = 0; i < graph.node_size() && branch->refusal.ok(); ++i) {
      branch->refusal = Operator(graph.node(i), &branch->nodes[i]);
      if (RejectionOf(branch->refusal) == Rejection::kInvalidModel) {
        return branch->refusal;
      }
    }
    for (int i = 0; i < outputs; ++i) {
      const std::string& name = graph.output(i).name();
      const TensorId id = scope->Find(name);
      if (id == kNoTensor) {
        return Invalid(what, ": output ", Quote(name), " is never computed");
      }
      branch->outputs.push_back(id);
    }
    return absl::OkStatus();
  }

  // "7 to 17": of which versions an operator is known; "" if of none.
  static std::string OpsetsOf(const Node& node) {
    int first = 0, last = 0;
    for (const OperatorInfo* info : AllOperators()) {
      if (info->domain != node.domain || info->op != node.op ||
          node.domain == kInternalDomain) {
        continue;
      }
      if (first == 0) {
        first = info->since_version;
      }
      last = info->until_version;
    }
    return first == 0 ? "" : absl::StrCat(first, " to ", last);
  }

  absl::Status Operator(const onnx::NodeProto& proto, Node* node) {
    if (IsIf(*node)) return absl::OkStatus();
    if (IsLoop(*node)) {
      onnx::NodeProto plain;
      for (const auto& attribute : proto.attribute()) {
        if (!attribute.has_g()) *plain.add_attribute() = attribute;
      }
      return FromAttributeProtos(plain, &source_, node);
    }
    if (node->domain == kInternalDomain ||
        FindOperator(node->domain, node->op, node->opset) == nullptr) {
      const std::string opsets = OpsetsOf(*node);
      if (!opsets.empty()) {
        return Reject(
            Rejection::kUnsupportedVersion,
            absl::StrCat(node->Describe(), ": operator ",
                         DomainName(node->domain), ".", node->op, " of opset ",
                         node->opset, " is not supported; that of opset ",
                         opsets, " is, convert the model"));
      }
      const bool of_sequences = node->domain.empty() &&
                                IsOfSequences(node->op) &&
                                !placed_.sequences.empty();
      return Reject(Rejection::kUnsupportedOperator,
                    absl::StrCat(node->Describe(), ": operator ",
                                 DomainName(node->domain), ".", node->op,
                                 " at opset ", node->opset, " is not supported",
                                 of_sequences ? " here (" : "",
                                 of_sequences ? placed_.sequences : "",
                                 of_sequences ? ")" : "",
                                 "; heddle-compile --supported-ops lists those "
                                 "that are"));
    }
    return FromAttributeProtos(proto, &source_, node);
  }

  absl::Status Outputs() {
    if (model_.graph().output_size() == 0) {
      return Invalid("the graph has no outputs");
    }
    std::set<std::string> seen;
    for (const auto& proto : model_.graph().output()) {
      const std::string what = absl::StrCat("output ", Quote(proto.name()));
      if (proto.name().empty()) return Invalid("a graph output has no name");
      const auto id = ids_.find(proto.name());
      if (id == ids_.end()) return Invalid(what, " is never computed");
      if (!seen.insert(proto.name()).second) {
        return Invalid(what, " occurs twice");
      }
      result_.graph.outputs.push_back(id->second);
      RETURN_IF_ERROR(CheckInterface(
          what, static_cast<DataType>(proto.type().tensor_type().elem_type())));
      RETURN_IF_ERROR(AddDeclaration(proto, what, id->second));
    }
    return absl::OkStatus();
  }

  absl::Status Declarations() {
    for (const auto& proto : model_.graph().value_info()) {
      const auto id = ids_.find(proto.name());
      if (id == ids_.end()) continue;  // allowed: about a name nobody uses
      const std::string what = absl::StrCat("value_info ", Quote(proto.name()));
      RETURN_IF_ERROR(AddDeclaration(proto, what, id->second));
    }
    return absl::OkStatus();
  }

  absl::Status Annotations() {
    const auto find = [this](const std::string& name) {
      const auto id = ids_.find(name);
      return id == ids_.end() ? kNoTensor : id->second;
    };
    return CheckAnnotations(model_.graph(), find, &result_.graph);
  }

  // Last: what a shape cannot mend comes before.
  absl::Status OpenDimensions() {
    if (open_.empty()) return absl::OkStatus();
    return Reject(Rejection::kUnsupportedShape,
                  absl::StrCat("the model leaves ", open_,
                               " open; give the inputs' shapes"));
  }

  absl::Status AddDeclaration(const onnx::ValueInfoProto& proto,
                              const std::string& what, TensorId id) {
    Declaration declared;
    RETURN_IF_ERROR(FromValueInfoProto(proto, what, &declared));
    const Tensor& tensor = result_.graph.tensors[id];
    if (tensor.shape_known) {  // an input or a constant
      return CheckDeclared(what, declared, tensor.type, tensor.shape);
    }
    const auto known = result_.declared.find(id);
    if (known == result_.declared.end()) {
      result_.declared[id] = std::move(declared);
    } else if (!known->second.has_shape && declared.has_shape) {
      // An output whose shape a value_info says.
      known->second.has_shape = true;
      known->second.shape = std::move(declared.shape);
    }
    return absl::OkStatus();
  }

  // Values that the shapes of options, weights and initializers give to named
  // dimensions of the inputs.
  absl::Status BindDimensions() {
    for (const auto& proto : model_.graph().input()) {
      const std::string& name = proto.name();
      const Shape* shape = nullptr;
      const auto given = options_.input_shapes.find(name);
      const auto weight = options_.weights.find(name);
      const auto initializer = ids_.find(name);
      if (given != options_.input_shapes.end()) {
        shape = &given->second;
      } else if (weight != options_.weights.end()) {
        shape = &weight->second.shape;
      } else if (initializer != ids_.end()) {
        shape = &result_.graph.tensors[initializer->second].shape;
      } else {
        continue;
      }
      RETURN_IF_ERROR(dimensions_.Bind(proto, *shape));
    }
    return absl::OkStatus();
  }

  absl::Status BindShape(const onnx::ValueInfoProto& proto,
                         const std::string& what, const Declaration& declared,
                         Shape* shape) {
    const auto given = options_.input_shapes.find(proto.name());
    if (given != options_.input_shapes.end()) {
      *shape = given->second;
      for (int64_t dimension : *shape) {
        if (dimension < 0) {
          return Reject(Rejection::kMismatchingShape,
                        absl::StrCat("the shape given for ", what, " is ",
                                     ShapeToString(*shape)));
        }
      }
      return CheckDeclared(what, declared, declared.type, *shape);
    }
    if (!declared.has_shape) {
      return Reject(Rejection::kUnsupportedShape,
                    absl::StrCat(what, " has no shape; give one"));
    }
    *shape = declared.shape;
    for (size_t i = 0; i < shape->size(); ++i) {
      if ((*shape)[i] != -1) continue;
      const std::string& name = proto.type()
                                    .tensor_type()
                                    .shape()
                                    .dim(static_cast<int>(i))
                                    .dim_param();
      if (const int64_t* value = dimensions_.Find(name)) {
        (*shape)[i] = *value;
        continue;
      }
      const std::string dimension =
          absl::StrCat("dimension ", i,
                       name.empty() ? "" : absl::StrCat(" (", Quote(name), ")"),
                       " of ", what);
      (*shape)[i] = 1;
      if (options_.open_dimensions_are_one) {
        result_.graph.notes.push_back(absl::StrCat(
            dimension, " has no value in the model and is taken as 1"));
      } else {
        absl::StrAppend(&open_, open_.empty() ? "" : ", ", dimension);
      }
    }
    return absl::OkStatus();
  }

  const onnx::ModelProto& model_;
  const ImportOptions& options_;
  ImportedModel result_;
  const PlacedGraphs placed_;
  OpsetMap opsets_;
  NamedDimensions dimensions_;
  std::string open_;            // dimensions without a value, for a message
  std::set<std::string> used_;  // names that nodes or the graph read
  TensorSource source_;
  NameScope top_;
  size_t prefix_bytes_ = 0;
  std::unordered_map<std::string, TensorId>& ids_ = top_.ids;
};

}  // namespace

bool IsIf(const Node& node) { return node.op == "If" && node.domain.empty(); }
bool IsLoop(const Node& node) {
  return (node.op == "Loop" || node.op == "Scan") && node.domain.empty();
}

TensorId FirstOutputOf(const Node& node) {
  for (TensorId id : node.outputs) {
    if (id != kNoTensor) return id;
  }
  return kNoTensor;
}

absl::StatusOr<ImportedModel> ImportOnnx(absl::string_view bytes,
                                         const ImportOptions& options) {
  // On an arena, because protobuf loses what it had allocated elsewhere when
  // memory ends in the middle of parsing.
  google::protobuf::Arena arena;
  auto& model =
      *google::protobuf::Arena::CreateMessage<onnx::ModelProto>(&arena);
  TakenBytes raw;
  RETURN_IF_ERROR(ParseModel(bytes, &model, &raw));
  ASSIGN_OR_RETURN(auto placed, InlineGraphs(&model, raw));
  placed.sequences = ReplaceSequences(&model, raw, &placed);
  return Importer(model, std::move(placed), std::move(raw), options).Run();
}

}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/inline.h"

#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/diagnostic.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {
namespace {

using Names = std::map<std::string, std::string>;

// Functions call functions: what they may make of a small model.
constexpr int kMostNodes = 200'000;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int kDeepest = 32;

template <typename... Args>
absl::Status Invalid(const onnx::NodeProto& node, const Args&... why) {
  return Refuse(
      Refusal::kInvalidModel,
      absl::StrCat(node.op_type(), " ", Quote(node.name()), ": ", why...));
}

std::string Renamed(const Names& names, const std::string& name) {
  const auto it = names.find(name);
  return it == names.end() ? name : it->second;
}

void RenameNode(const Names& names, const std::string& prefix,
                onnx::NodeProto* node);

// Also the names that inner graphs take from outside; ONNX lets no inner name
// hide an outer one.
void RenameGraph(const Names& names, onnx::GraphProto* graph) {
  for (auto& node : *graph->mutable_node()) RenameNode(names, "", &node);
  for (auto& output : *graph->mutable_output()) {
    output.set_name(Renamed(names, output.name()));
  }
}

void RenameNode(const Names& names, const std::string& prefix,
                onnx::NodeProto* node) {
  if (!prefix.empty()) {
    node->set_name(prefix +
                   (node->name().empty() ? node->op_type() : node->name()));
  }
  for (auto& name : *node->mutable_input()) name = Renamed(names, name);
  for (auto& name : *node->mutable_output()) name = Renamed(names, name);
  for (auto& attribute : *node->mutable_attribute()) {
    if (attribute.has_g()) RenameGraph(names, attribute.mutable_g());
  }
}

const onnx::AttributeProto* Find(const onnx::NodeProto& node,
                                 const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

// One bool, if the tensor is that.
bool BoolOf(const onnx::TensorProto& tensor, bool* value) {
  if (tensor.data_type() != onnx::TensorProto::BOOL ||
      tensor.data_location() == onnx::TensorProto::EXTERNAL) {
    return false;
  }
  for (int64_t dimension : tensor.dims()) {
    if (dimension != 1) return false;
  }
  if (tensor.raw_data().size() == 1) {
    *value = tensor.raw_data()[0] != 0;
  } else if (tensor.int32_data_size() == 1) {
    *value = tensor.int32_data(0) != 0;
  } else {
    return false;
  }
  return true;
}

class Inliner {
 public:
  explicit Inliner(onnx::ModelProto* model)
      : model_(model), graph_(model->mutable_graph()) {}

  absl::Status Run() {
    for (const auto& import : model_->opset_import()) {
      opsets_[Domain(import.domain())] = import.version();
    }
    for (const auto& function : model_->functions()) {
      const auto key =
          std::make_pair(Domain(function.domain()), function.name());
      if (!functions_.emplace(key, &function).second) {
        return Refuse(
            Refusal::kInvalidModel,
            absl::StrCat("function ", Quote(function.name()), " occurs twice"));
      }
    }
    for (const auto& tensor : graph_->initializer()) {
      Remember(tensor.name(), tensor);
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph_->mutable_node());
    for (auto& node : nodes) {
      if (auto s = Place(std::move(node), 0); !s.ok()) return s;
    }
    return absl::OkStatus();
  }

 private:
  static std::string Domain(const std::string& domain) {
    return domain == "ai.onnx" ? "" : domain;
  }

  void Remember(const std::string& name, const onnx::TensorProto& tensor) {
    bool value = false;
    if (BoolOf(tensor, &value)) conditions_[name] = value;
  }

  absl::Status Place(onnx::NodeProto node, int depth) {
    if (depth > 0 && (++nodes_ > kMostNodes || bytes_ > kMostBytes)) {
      return Refuse(
          Refusal::kNoSystemMemory,
          absl::StrCat("the model's functions and branches make more than ",
                       kMostNodes, " nodes or ", kMostBytes, " bytes, at ",
                       Quote(node.name()), "; inline them before"));
    }
    const auto function =
        functions_.find({Domain(node.domain()), node.op_type()});
    const bool call = function != functions_.end();
    if (call && depth >= kDeepest) {
      return Invalid(node, "calls of the model's functions nest deeper than ",
                     kDeepest, " levels, or without end");
    }
    if (call) return PlaceCall(node, *function->second, depth);
    if (node.op_type() == "If" && Domain(node.domain()).empty() &&
        node.input_size() == 1) {
      const auto condition = conditions_.find(node.input(0));
      if (condition != conditions_.end()) {
        return PlaceBranch(node, condition->second, depth);
      }
    }
    if (node.op_type() == "Constant" && node.output_size() == 1) {
      const onnx::AttributeProto* value = Find(node, "value");
      if (value != nullptr) Remember(node.output(0), value->t());
    }
    *graph_->add_node() = std::move(node);
    return absl::OkStatus();
  }

  static std::string FirstOutput(const onnx::NodeProto& node) {
    for (const std::string& name : node.output()) {
      if (!name.empty()) return name;
    }
    return "";
  }

  // An output of an inner graph under its outer name.
  void PlaceIdentity(const std::string& from, const std::string& to) {
    onnx::NodeProto* identity = graph_->add_node();
    identity->set_op_type("Identity");
    identity->set_name(to);
    identity->add_input(from);
    identity->add_output(to);
  }

  absl::Status PlaceBranch(const onnx::NodeProto& node, bool condition,
                           int depth) {
    const char* name = condition ? "then_branch" : "else_branch";
    const onnx::AttributeProto* attribute = Find(node, name);
    if (attribute == nullptr || !attribute->has_g()) {
      return Invalid(node, "has no graph ", Quote(name));
    }
    onnx::GraphProto branch = attribute->g();
    if (branch.input_size() != 0 || branch.output_size() < node.output_size()) {
      return Invalid(node, Quote(name), " has ", branch.input_size(),
                     " inputs and ", branch.output_size(),
                     " outputs, must have none and ", node.output_size());
    }
    if (branch.sparse_initializer_size() != 0) {
      return Refuse(Refusal::kUnsupportedAttribute,
                    absl::StrCat("If ", Quote(node.name()), ": ", Quote(name),
                                 " has sparse initializers, which are not "
                                 "supported there"));
    }
    const std::string prefix = FirstOutput(node) + "/";
    Names names;
    const auto own = [&](const std::string& inner) {
      if (!inner.empty()) names[inner] = prefix + inner;
    };
    for (const auto& tensor : branch.initializer()) own(tensor.name());
    for (const auto& inner : branch.node()) {
      for (const std::string& output : inner.output()) own(output);
    }
    for (auto& tensor : *branch.mutable_initializer()) {
      tensor.set_name(Renamed(names, tensor.name()));
      Remember(tensor.name(), tensor);
      *graph_->add_initializer() = std::move(tensor);
    }
    for (auto& inner : *branch.mutable_node()) {
      RenameNode(names, node.name() + "/", &inner);
      if (auto s = Place(std::move(inner), depth + 1); !s.ok()) return s;
    }
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      PlaceIdentity(Renamed(names, branch.output(i).name()), node.output(i));
    }
    return absl::OkStatus();
  }

  absl::Status PlaceCall(const onnx::NodeProto& node,
                         const onnx::FunctionProto& function, int depth) {
    if (node.input_size() > function.input_size() ||
        node.output_size() > function.output_size()) {
      return Invalid(node, "calls a function of ", function.input_size(),
                     " inputs and ", function.output_size(), " outputs with ",
                     node.input_size(), " and ", node.output_size());
    }
    for (const auto& import : function.opset_import()) {
      const auto outer = opsets_.find(Domain(import.domain()));
      if (outer == opsets_.end() || outer->second != import.version()) {
        return Refuse(
            Refusal::kUnsupportedVersion,
            absl::StrCat(node.op_type(), " ", Quote(node.name()),
                         ": the function imports version ", import.version(),
                         " of domain ", Quote(import.domain()),
                         ", the model does not; give both the same"));
      }
    }
    const std::string prefix = FirstOutput(node) + "/";
    Names names;
    for (const auto& inner : function.node()) {
      for (const std::string& output : inner.output()) {
        if (!output.empty()) names[output] = prefix + output;
      }
    }
    for (int i = 0; i < function.input_size(); ++i) {
      names[function.input(i)] = i < node.input_size() ? node.input(i) : "";
    }
    for (const auto& body : function.node()) {
      bytes_ += body.ByteSizeLong() + node.ByteSizeLong();
      if (bytes_ > kMostBytes) return Place({}, depth + 1);  // refuses
      onnx::NodeProto inner = body;
      GiveAttributes(node, &inner);
      RenameNode(names, node.name() + "/", &inner);
      if (auto s = Place(std::move(inner), depth + 1); !s.ok()) return s;
    }
    for (int i = 0; i < node.output_size(); ++i) {
      if (node.output(i).empty()) continue;
      PlaceIdentity(Renamed(names, function.output(i)), node.output(i));
    }
    return absl::OkStatus();
  }

  // Replaces references to the function's attributes by the call's; one that
  // the call does not give is absent.
  static void GiveAttributes(const onnx::NodeProto& call,
                             onnx::NodeProto* inner) {
    auto* attributes = inner->mutable_attribute();
    for (int i = attributes->size(); i-- > 0;) {
      onnx::AttributeProto* attribute = attributes->Mutable(i);
      if (attribute->has_g()) {
        for (auto& nested : *attribute->mutable_g()->mutable_node()) {
          GiveAttributes(call, &nested);
        }
      }
      if (attribute->ref_attr_name().empty()) continue;
      const onnx::AttributeProto* given =
          Find(call, attribute->ref_attr_name());
      if (given == nullptr) {
        attributes->DeleteSubrange(i, 1);
        continue;
      }
      const std::string name = attribute->name();
      *attribute = *given;
      attribute->set_name(name);
    }
  }

  onnx::ModelProto* const model_;
  onnx::GraphProto* const graph_;
  std::map<std::string, int64_t> opsets_;
  std::map<std::pair<std::string, std::string>, const onnx::FunctionProto*>
      functions_;
  std::map<std::string, bool> conditions_;  // bools that are known
  int nodes_ = 0;                           // of inner graphs, and
  size_t bytes_ = 0;  // of functions' bodies, put in place so far
};

bool HasSomething(const onnx::ModelProto& model) {
  if (model.functions_size() != 0) return true;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() == "If") return true;
  }
  return false;
}

}  // namespace

absl::Status InlineGraphs(onnx::ModelProto* model) {
  if (!model->has_graph() || !HasSomething(*model)) return absl::OkStatus();
  return Inliner(model).Run();
}

}  // namespace heddle::compiler

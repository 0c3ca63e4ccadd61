// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/inline.h"

#include <google/protobuf/unknown_field_set.h>

#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/quote.h"

namespace heddle::compiler {
namespace {

// Functions call functions, and every name inside gets a prefix: what they may
// make of a small model.
constexpr int kMostNodes = 200'000;
constexpr size_t kMostBytes = size_t{256} << 20;
constexpr int kDeepest = 32;

// New names of an inner graph's tensors. Every byte that a name adds counts as
// made in `*bytes`; beyond the limit nothing is renamed any more, and whoever
// placed the graph must refuse.
class Names {
 public:
  explicit Names(size_t* bytes) : bytes_(*bytes) {}

  void Set(const std::string& name, const std::string& prefix,
           const std::string& rest) {
    if (Take(prefix.size() + rest.size())) names_[name] = prefix + rest;
  }
  void Rename(std::string* name) {
    const auto it = names_.find(*name);
    if (it != names_.end() && Take(it->second.size())) *name = it->second;
  }
  void Prefix(const std::string& prefix, const std::string& rest,
              std::string* name) {
    if (Take(prefix.size() + rest.size())) *name = prefix + rest;
  }

 private:
  bool Take(size_t bytes) {
    bytes_ += bytes;
    return bytes_ <= kMostBytes;
  }

  size_t& bytes_;
  std::map<std::string, std::string> names_;
};

template <typename... Args>
absl::Status Invalid(const onnx::NodeProto& node, const Args&... why) {
  return Reject(
      Rejection::kInvalidModel,
      absl::StrCat(node.op_type(), " ", Quote(node.name()), ": ", why...));
}

void RenameNode(const std::string& prefix, Names* names, onnx::NodeProto* node);

std::string Domain(const std::string& domain) {
  return domain == "ai.onnx" ? "" : domain;
}

// Fields of IR version 10, which the library's messages may not have.
constexpr int kNodeOverload = 8, kFunctionOverload = 13;

std::string StringField(const google::protobuf::Message& message, int number) {
  const auto* reflection = message.GetReflection();
  if (const auto* field = message.GetDescriptor()->FindFieldByNumber(number)) {
    return reflection->GetString(message, field);
  }
  std::string value;  // the last one counts
  const auto& unknown = reflection->GetUnknownFields(message);
  for (int i = 0; i < unknown.field_count(); ++i) {
    const auto& field = unknown.field(i);
    if (field.number() == number &&
        field.type() == google::protobuf::UnknownField::TYPE_LENGTH_DELIMITED) {
      value = field.length_delimited();
    }
  }
  return value;
}

// Also the names that inner graphs take from outside; ONNX lets no inner name
// hide an outer one.
void RenameGraph(Names* names, onnx::GraphProto* graph) {
  for (auto& node : *graph->mutable_node()) RenameNode("", names, &node);
  for (auto& output : *graph->mutable_output()) {
    names->Rename(output.mutable_name());
  }
}

void RenameNode(const std::string& prefix, Names* names,
                onnx::NodeProto* node) {
  if (!prefix.empty()) {
    names->Prefix(prefix, node->name().empty() ? node->op_type() : node->name(),
                  node->mutable_name());
  }
  for (auto& name : *node->mutable_input()) names->Rename(&name);
  for (auto& name : *node->mutable_output()) names->Rename(&name);
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

// Bytes of the tensors in a node's attributes, which are not in its message.
size_t RawBytes(const onnx::NodeProto& node, const TakenBytes& raw) {
  size_t bytes = 0;
  const auto add = [&](const onnx::TensorProto& tensor) {
    bytes += raw.Of(tensor.raw_data()).size();
  };
  for (const auto& attribute : node.attribute()) {
    add(attribute.t());
    add(attribute.sparse_tensor().values());
    add(attribute.sparse_tensor().indices());
    for (const auto& tensor : attribute.g().initializer()) add(tensor);
    for (const auto& inner : attribute.g().node()) {
      bytes += RawBytes(inner, raw);
    }
  }
  return bytes;
}

class Inliner {
 public:
  Inliner(onnx::ModelProto* model, const TakenBytes& raw)
      : model_(model), graph_(model->mutable_graph()), raw_(raw) {}

  absl::StatusOr<PlacedGraphs> Run() {
    for (const auto& function : model_->functions()) {
      const Key key = {Domain(function.domain()), function.name(),
                       StringField(function, kFunctionOverload)};
      if (!functions_.emplace(key, Function{&function, -1}).second) {
        return Reject(
            Rejection::kInvalidModel,
            absl::StrCat(
                "function ", Quote(function.name()),
                std::get<2>(key).empty()
                    ? ""
                    : absl::StrCat(" (overload ", Quote(std::get<2>(key)), ")"),
                " occurs twice"));
      }
    }
    for (const auto& tensor : graph_->initializer()) {
      Remember(tensor.name(), tensor);
    }
    google::protobuf::RepeatedPtrField<onnx::NodeProto> nodes;
    nodes.Swap(graph_->mutable_node());
    for (auto& node : nodes) {
      RETURN_IF_ERROR(Place(std::move(node), 0, -1));
    }
    return std::move(placed_);
  }

 private:
  using Key = std::tuple<std::string, std::string, std::string>;
  struct Function {
    const onnx::FunctionProto* proto;
    int imports;  // in placed_.imports; -1 until it is called
  };

  // OK while the limits are not exceeded; `node` is the call or the If.
  absl::Status CheckLimits(const onnx::NodeProto& node) const {
    if (nodes_ <= kMostNodes && bytes_ <= kMostBytes) return absl::OkStatus();
    return Reject(
        Rejection::kNoSystemMemory,
        absl::StrCat(
            node.op_type(), " ", Quote(node.name()),
            ": the model's functions and branches expand to more than ",
            kMostNodes, " nodes or ", kMostBytes,
            " bytes; inline them beforehand, or use shorter names"));
  }

  void Remember(const std::string& name, const onnx::TensorProto& tensor) {
    bool value = false;
    if (BoolOf(tensor, &value)) conditions_[name] = value;
  }

  // A node of the graph; `imports` is what it is written in.
  onnx::NodeProto* AddNode(int imports) {
    placed_.import_of_node.push_back(imports);
    return graph_->add_node();
  }

  absl::Status Place(onnx::NodeProto node, int depth, int imports) {
    nodes_ += depth > 0;
    const auto function =
        functions_.find({Domain(node.domain()), node.op_type(),
                         StringField(node, kNodeOverload)});
    const bool call = function != functions_.end();
    if (call && depth >= kDeepest) {
      return Invalid(node, "function calls nest deeper than ", kDeepest,
                     " levels, or endlessly");
    }
    if (call) return PlaceCall(node, &function->second, depth);
    if (node.op_type() == "If" && Domain(node.domain()).empty() &&
        node.input_size() == 1) {
      const auto condition = conditions_.find(node.input(0));
      if (condition != conditions_.end()) {
        return PlaceBranch(node, condition->second, depth, imports);
      }
    }
    if (node.op_type() == "Constant" && node.output_size() == 1) {
      const onnx::AttributeProto* value = Find(node, "value");
      if (value != nullptr) Remember(node.output(0), value->t());
    }
    *AddNode(imports) = std::move(node);
    return absl::OkStatus();
  }

  static std::string FirstOutput(const onnx::NodeProto& node) {
    for (const std::string& name : node.output()) {
      if (!name.empty()) return name;
    }
    return "";
  }

  // An output of an inner graph under its outer name, if somebody wants it.
  void PlaceIdentity(const std::string& from, const std::string& to,
                     int imports, Names* names) {
    if (to.empty()) return;
    onnx::NodeProto* identity = AddNode(imports);
    identity->set_op_type("Identity");
    identity->set_name(to);
    identity->add_input(from);
    names->Rename(identity->mutable_input(0));
    identity->add_output(to);
  }

  absl::Status PlaceBranch(const onnx::NodeProto& node, bool condition,
                           int depth, int imports) {
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
      return Reject(Rejection::kUnsupportedAttribute,
                    absl::StrCat("If ", Quote(node.name()), ": ", Quote(name),
                                 " has sparse initializers, which are not "
                                 "supported there"));
    }
    const std::string prefix = FirstOutput(node) + "/";
    Names names(&bytes_);
    const auto own = [&](const std::string& inner) {
      if (!inner.empty()) names.Set(inner, prefix, inner);
    };
    for (const auto& tensor : branch.initializer()) own(tensor.name());
    for (const auto& inner : branch.node()) {
      for (const std::string& output : inner.output()) own(output);
    }
    RETURN_IF_ERROR(CheckLimits(node));
    for (auto& tensor : *branch.mutable_initializer()) {
      names.Rename(tensor.mutable_name());
      Remember(tensor.name(), tensor);
      *graph_->add_initializer() = std::move(tensor);
    }
    for (auto& inner : *branch.mutable_node()) {
      RenameNode(node.name() + "/", &names, &inner);
      RETURN_IF_ERROR(CheckLimits(node));
      RETURN_IF_ERROR(Place(std::move(inner), depth + 1, imports));
    }
    for (int i = 0; i < node.output_size(); ++i) {
      PlaceIdentity(branch.output(i).name(), node.output(i), imports, &names);
    }
    return CheckLimits(node);
  }

  absl::Status PlaceCall(const onnx::NodeProto& node, Function* called,
                         int depth) {
    const onnx::FunctionProto& function = *called->proto;
    if (node.input_size() > function.input_size() ||
        node.output_size() > function.output_size()) {
      return Invalid(node, "calls a function of ", function.input_size(),
                     " inputs and ", function.output_size(), " outputs with ",
                     node.input_size(), " and ", node.output_size());
    }
    // A body without imports of its own is written in the model's.
    if (called->imports < 0 && function.opset_import_size() != 0) {
      called->imports = static_cast<int>(placed_.imports.size());
      placed_.imports.push_back(function.opset_import());
    }
    const int imports = called->imports;
    const std::string prefix = FirstOutput(node) + "/";
    Names names(&bytes_);
    for (const auto& inner : function.node()) {
      for (const std::string& output : inner.output()) {
        if (!output.empty()) names.Set(output, prefix, output);
      }
    }
    for (int i = 0; i < function.input_size(); ++i) {
      names.Set(function.input(i), "",
                i < node.input_size() ? node.input(i) : "");
    }
    for (const auto& body : function.node()) {
      bytes_ += body.ByteSizeLong() + RawBytes(body, raw_);
      bytes_ += node.ByteSizeLong() + RawBytes(node, raw_);
      RETURN_IF_ERROR(CheckLimits(node));
      onnx::NodeProto inner = body;
      GiveAttributes(node, &inner);
      RenameNode(node.name() + "/", &names, &inner);
      RETURN_IF_ERROR(CheckLimits(node));
      RETURN_IF_ERROR(Place(std::move(inner), depth + 1, imports));
    }
    for (int i = 0; i < node.output_size(); ++i) {
      PlaceIdentity(function.output(i), node.output(i), -1, &names);
    }
    return CheckLimits(node);
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
  const TakenBytes& raw_;
  PlacedGraphs placed_;
  std::map<Key, Function> functions_;
  std::map<std::string, bool> conditions_;  // bools that are known
  int nodes_ = 0;                           // of inner graphs that are in place
  size_t bytes_ = 0;  // of functions' bodies and of new names, so far
};

bool HasSomething(const onnx::ModelProto& model) {
  if (model.functions_size() != 0) return true;
  for (const auto& node : model.graph().node()) {
    if (node.op_type() == "If") return true;
  }
  return false;
}

}  // namespace

int64_t PlacedGraphs::InnerOpset(const std::string& domain,
                                 size_t index) const {
  if (index >= import_of_node.size() || import_of_node[index] < 0) return 0;
  for (const auto& import : imports[import_of_node[index]]) {
    if (Domain(import.domain()) == Domain(domain)) return import.version();
  }
  return 0;
}

absl::StatusOr<PlacedGraphs> InlineGraphs(onnx::ModelProto* model,
                                          const TakenBytes& raw) {
  if (!model->has_graph() || !HasSomething(*model)) return PlacedGraphs();
  return Inliner(model, raw).Run();
}

}  // namespace heddle::compiler

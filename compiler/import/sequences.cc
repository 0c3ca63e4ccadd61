// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/sequences.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/import/node_writer.h"
#include "compiler/import/quote.h"
#include "compiler/import/sequence_scope.h"

namespace heddle::compiler {
namespace {

using Ints = std::vector<int64_t>;
using Nodes = NodeWriter::Nodes;

// Names that sequences may have in all: a chain of SequenceInsert copies them.
constexpr size_t kMostItems = size_t{1} << 20;
constexpr int64_t kFirstOpset = 11;
// Of a Loop: each costs walks through its body.
constexpr int kMostCarried = 64;
constexpr int kMostIdentities = 8;  // behind a SequenceInsert
constexpr int64_t kToTheEnd = std::numeric_limits<int64_t>::max();

bool IsDefault(const onnx::NodeProto& node) {
  return node.domain().empty() || node.domain() == "ai.onnx";
}

std::string InputOf(const onnx::NodeProto& node, int i) {
  return i < node.input_size() ? node.input(i) : "";
}

const onnx::AttributeProto* Find(const onnx::NodeProto& node,
                                 const std::string& name) {
  for (const auto& attribute : node.attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  return nullptr;
}

int64_t IntOf(const onnx::NodeProto& node, const std::string& name,
              int64_t otherwise) {
  const onnx::AttributeProto* attribute = Find(node, name);
  return attribute == nullptr ? otherwise : attribute->i();
}

bool HasSequences(const onnx::GraphProto& graph) {
  return std::any_of(
      graph.node().begin(), graph.node().end(), [](const auto& node) {
        return (IsDefault(node) && IsOfSequences(node.op_type())) ||
               std::any_of(node.attribute().begin(), node.attribute().end(),
                           [](const auto& attribute) {
                             return attribute.has_g() &&
                                    HasSequences(attribute.g());
                           });
      });
}

// How often a graph, those inside included, reads a name.
int ReadsOf(const onnx::GraphProto& graph, const std::string& name) {
  int reads = 0;
  for (const auto& node : graph.node()) {
    reads += static_cast<int>(
        std::count(node.input().begin(), node.input().end(), name));
    for (const auto& attribute : node.attribute()) {
      if (attribute.has_g()) reads += ReadsOf(attribute.g(), name);
    }
  }
  for (const auto& output : graph.output()) reads += output.name() == name;
  return reads;
}

class Replacer {
 public:
  Replacer(onnx::ModelProto* model, const TakenBytes& raw, PlacedGraphs* placed)
      : model_(model), raw_(raw), placed_(placed), writer_(model->graph()) {}

  std::string Run() {
    onnx::GraphProto* const graph = model_->mutable_graph();
    SequenceScope scope;
    for (const auto& tensor : graph->initializer()) {
      scope.AddTensor(tensor.name(), tensor, raw_);
    }
    const Nodes before = graph->node();
    Nodes after;
    std::vector<int> imports;
    for (int i = 0; i < before.size() && why_.empty(); ++i) {
      writer_.opset = OpsetOf(static_cast<size_t>(i));
      writer_.out = &after;
      Place(before[i], &scope);
      imports.resize(static_cast<size_t>(after.size()),
                     ImportOf(static_cast<size_t>(i)));
    }
    for (const auto& output : graph->output()) {
      if (!why_.empty()) break;
      if (scope.FindSequence(output.name()) != nullptr) {
        why_ = absl::StrCat("output ", Quote(output.name()),
                            " is a sequence; give its tensors as outputs, or "
                            "put them together by ConcatFromSequence");
      }
    }
    if (!why_.empty()) return why_;
    graph->mutable_node()->Swap(&after);
    if (!placed_->import_of_node.empty()) {
      placed_->import_of_node = std::move(imports);
    }
    return "";
  }

 private:
  int ImportOf(size_t node) const {
    return node < placed_->import_of_node.size() ? placed_->import_of_node[node]
                                                 : -1;
  }

  int64_t OpsetOf(size_t node) const {
    if (const int64_t inner = placed_->InnerOpset("", node); inner != 0) {
      return inner;
    }
    for (const auto& import : model_->opset_import()) {
      if (import.domain().empty() || import.domain() == "ai.onnx") {
        return import.version();
      }
    }
    return 0;
  }

  template <typename... Args>
  void Refuse(const onnx::NodeProto& node, const Args&... why) {
    if (!why_.empty()) return;
    why_ = absl::StrCat(
        node.op_type(), " ",
        Quote(node.name().empty() && node.output_size() > 0 ? node.output(0)
                                                            : node.name()),
        ": ", why...);
  }

  // The sequence that an input is; null, and refused, if it is none.
  const Sequence* Input(const onnx::NodeProto& node, int i,
                        const SequenceScope& scope) {
    const Sequence* sequence = scope.FindSequence(InputOf(node, i));
    if (sequence == nullptr) {
      Refuse(node, "the contents of the sequence ", Quote(InputOf(node, i)),
             " are known only at run time, which is not supported");
    }
    return sequence;
  }

  bool Add(const onnx::NodeProto& node, Sequence sequence,
           SequenceScope* scope) {
    if (node.output_size() < 1) {
      Refuse(node, "has no output");
      return false;
    }
    items_ += sequence.items.size();
    if (items_ > kMostItems) {
      Refuse(node, "the model's sequences have more than ", kMostItems,
             " tensors in all");
      return false;
    }
    scope->SetSequence(node.output(0), std::move(sequence));
    return true;
  }

  // The position that the input states, in [0, high] counted from the front
  // or, where negative, from `count`.
  std::optional<int64_t> Position(const onnx::NodeProto& node, int i,
                                  int64_t count, int64_t high,
                                  const SequenceScope& scope) {
    const IntegerConstant* at = scope.FindConstant(InputOf(node, i));
    if (at == nullptr || at->values.size() != 1) {
      Refuse(node, "position ", Quote(InputOf(node, i)),
             " is computed; it must be a constant, unless the sequence is "
             "that of a SplitToSequence into single rows");
      return std::nullopt;
    }
    int64_t value = at->values[0];
    if (value < 0 && value >= -count) value += count;
    if (value < 0 || value > high) {
      Refuse(node, "position ", at->values[0], " is outside of a sequence of ",
             count, " tensors");
      return std::nullopt;
    }
    return value;
  }

  void Place(const onnx::NodeProto& node, SequenceScope* scope) {
    if (!IsDefault(node)) {
      *writer_.out->Add() = node;
      return;
    }
    const std::string& op = node.op_type();
    if (op == "Constant") scope->AddConstant(node, raw_);
    if (op == "Identity" && node.output_size() == 1) {
      if (const Sequence* s = scope->FindSequence(InputOf(node, 0))) {
        Add(node, *s, scope);
        return;
      }
    }
    if (op == "Loop") {
      PlaceLoop(node, scope);
    } else if (!IsOfSequences(op)) {
      PlaceOther(node, *scope);
    } else if (writer_.opset < kFirstOpset) {
      Refuse(node, "ONNX has sequences since opset ", kFirstOpset);
    } else if (node.output_size() != 1) {
      Refuse(node, "has ", node.output_size(), " outputs, must have one");
    } else if (op == "SequenceConstruct" && node.input_size() == 0) {
      Refuse(node, "has no inputs");
    } else if (op == "SequenceConstruct" || op == "SequenceEmpty") {
      Sequence made;
      made.items.assign(node.input().begin(), node.input().end());
      Add(node, std::move(made), scope);
    } else if (op == "SequenceInsert") {
      Insert(node, scope);
    } else if (op == "SequenceErase") {
      Erase(node, scope);
    } else if (op == "SplitToSequence") {
      Split(node, scope);
    } else if (op == "SequenceAt") {
      At(node, *scope);
    } else if (op == "SequenceLength") {
      Length(node, *scope);
    } else if (op == "ConcatFromSequence") {
      Concat(node, *scope);
    } else {
      Refuse(node, "the operator is not supported");
    }
  }

  // Of a node that is not about sequences, graphs that may be.
  void PlaceOther(const onnx::NodeProto& node, const SequenceScope& scope) {
    for (const std::string& input : node.input()) {
      if (scope.FindSequence(input) == nullptr) continue;
      Refuse(node, "reads the sequence ", Quote(input),
             ", which only Loops and operators of sequences may");
      return;
    }
    onnx::NodeProto copy = node;
    for (auto& attribute : *copy.mutable_attribute()) {
      if (!attribute.has_g()) continue;
      SequenceScope inner(&scope);
      PlaceGraph(attribute.mutable_g(), &inner);
      CheckOutputs(node, attribute.g(), inner);
    }
    *writer_.out->Add() = std::move(copy);
  }

  void CheckOutputs(const onnx::NodeProto& node, const onnx::GraphProto& graph,
                    const SequenceScope& scope) {
    for (const auto& output : graph.output()) {
      if (scope.FindSequence(output.name()) == nullptr) continue;
      Refuse(node, "the result ", Quote(output.name()),
             " of a graph inside of it is a sequence, which is not supported");
    }
  }

  // `scope`: may know inputs already.
  void PlaceGraph(onnx::GraphProto* graph, SequenceScope* scope) {
    for (const auto& tensor : graph->initializer()) {
      scope->AddTensor(tensor.name(), tensor, raw_);
    }
    Nodes before;
    before.Swap(graph->mutable_node());
    Nodes* const around = writer_.out;
    writer_.out = graph->mutable_node();
    for (const auto& node : before) {
      if (!why_.empty()) break;
      Place(node, scope);
    }
    writer_.out = around;
  }

  void Insert(const onnx::NodeProto& node, SequenceScope* scope) {
    const Sequence* from = Input(node, 0, *scope);
    if (from == nullptr) return;
    if (!from->IsList()) {
      Refuse(node, "the length of ", Quote(node.input(0)),
             " is known only at run time, so nothing can be inserted");
      return;
    }
    Sequence made = *from;
    const auto count = static_cast<int64_t>(made.items.size());
    int64_t at = count;
    if (!InputOf(node, 2).empty()) {
      const auto position = Position(node, 2, count, count, *scope);
      if (!position.has_value()) return;
      at = *position;
    }
    made.items.insert(made.items.begin() + at, InputOf(node, 1));
    Add(node, std::move(made), scope);
  }

  void Erase(const onnx::NodeProto& node, SequenceScope* scope) {
    const Sequence* from = Input(node, 0, *scope);
    if (from == nullptr) return;
    if (!from->IsList() || from->items.empty()) {
      Refuse(node, from->IsList()
                       ? "the sequence is empty"
                       : "the length of the sequence is known only at "
                         "run time, so nothing can be erased");
      return;
    }
    Sequence made = *from;
    const auto count = static_cast<int64_t>(made.items.size());
    int64_t at = count - 1;
    if (!InputOf(node, 1).empty()) {
      const auto position = Position(node, 1, count, count - 1, *scope);
      if (!position.has_value()) return;
      at = *position;
    }
    made.items.erase(made.items.begin() + at);
    Add(node, std::move(made), scope);
  }

  void Split(const onnx::NodeProto& node, SequenceScope* scope) {
    Sequence made;
    made.axis = IntOf(node, "axis", 0);
    const std::string x = InputOf(node, 0), sizes = InputOf(node, 1);
    if (sizes.empty()) {
      made.whole = x;
      made.keep = IntOf(node, "keepdims", 1) != 0;
      Add(node, std::move(made), scope);
      return;
    }
    const IntegerConstant* split = scope->FindConstant(sizes);
    if (split == nullptr || split->values.empty()) {
      Refuse(node, "the sizes of its pieces ", Quote(sizes),
             " are computed; they must be constants");
      return;
    }
    if (split->rank == 0) {
      if (split->values[0] < 1) {
        Refuse(node, "pieces of ", split->values[0], " rows");
        return;
      }
      made.whole = x;
      made.size = split->values[0];
      Add(node, std::move(made), scope);
      return;
    }
    for (size_t i = 0; i < split->values.size(); ++i) {
      made.items.push_back(writer_.NewName(node));
    }
    const bool as_input = writer_.opset >= 13;
    writer_.Write(node, "Split",
                  as_input ? std::vector<std::string>{x, sizes}
                           : std::vector<std::string>{x},
                  made.items[0], {{"axis", made.axis}});
    for (size_t i = 1; i < made.items.size(); ++i) {
      writer_.last().add_output(made.items[i]);
    }
    if (!as_input) writer_.SetInts("split", split->values);
    Add(node, std::move(made), scope);
  }

  void At(const onnx::NodeProto& node, const SequenceScope& scope) {
    const Sequence* from = Input(node, 0, scope);
    if (from == nullptr) return;
    const std::string to = node.output(0);
    if (from->IsList()) {
      const auto count = static_cast<int64_t>(from->items.size());
      const auto at = Position(node, 1, count, count - 1, scope);
      if (!at.has_value()) return;
      writer_.Write(node, "Identity", {from->items[*at]}, to);
      return;
    }
    if (from->size == 1) {
      // One element, as a scalar.
      const IntegerConstant* at = scope.FindConstant(InputOf(node, 1));
      const std::string place =
          at != nullptr && at->values.size() == 1
              ? writer_.WriteInts(node, at->values, 0)
              : writer_.Write(
                    node, "Reshape",
                    {InputOf(node, 1), writer_.WriteInts(node, {}, 1)});
      const std::string picked =
          writer_.Write(node, "Gather", {from->whole, place},
                        from->keep ? "" : to, {{"axis", from->axis}});
      if (from->keep) writer_.WriteUnsqueeze(node, picked, from->axis, to);
      return;
    }
    const IntegerConstant* at = scope.FindConstant(InputOf(node, 1));
    const int64_t most = kToTheEnd / from->size - 1;
    if (at == nullptr || at->values.size() != 1 || at->values[0] < 0 ||
        at->values[0] > most) {
      Refuse(node, "the position in a sequence of pieces of ", from->size,
             " rows must be a constant that counts from the front");
      return;
    }
    const int64_t first = at->values[0] * from->size;
    writer_.WriteSlice(node, from->whole, first, first + from->size, from->axis,
                       to);
  }

  void Length(const onnx::NodeProto& node, const SequenceScope& scope) {
    const Sequence* from = Input(node, 0, scope);
    if (from == nullptr) return;
    const std::string to = node.output(0);
    if (from->IsList()) {
      writer_.WriteInts(node, {static_cast<int64_t>(from->items.size())}, 0,
                        to);
      return;
    }
    const std::string shape = writer_.Write(node, "Shape", {from->whole});
    const std::string axis = writer_.WriteInts(node, {from->axis}, 0);
    const bool single = from->size == 1;
    const std::string rows =
        writer_.Write(node, "Gather", {shape, axis}, single ? to : "");
    if (single) return;
    const std::string more = writer_.Write(
        node, "Add", {rows, writer_.WriteInts(node, {from->size - 1}, 0)});
    writer_.Write(node, "Div", {more, writer_.WriteInts(node, {from->size}, 0)},
                  to);
  }

  void Concat(const onnx::NodeProto& node, const SequenceScope& scope) {
    const Sequence* from = Input(node, 0, scope);
    if (from == nullptr) return;
    const int64_t axis = IntOf(node, "axis", 0);
    const bool stack = IntOf(node, "new_axis", 0) != 0;
    const std::string to = node.output(0);
    if (from->IsList()) {
      if (from->items.empty()) {
        Refuse(node, "the sequence is empty");
        return;
      }
      items_ += from->items.size();
      if (items_ > kMostItems) {
        Refuse(node, "the model's sequences have more than ", kMostItems,
               " tensors in all");
        return;
      }
      std::vector<std::string> parts = from->items;
      if (stack) {
        for (std::string& part : parts) {
          part = writer_.WriteUnsqueeze(node, part, axis);
        }
      }
      writer_.Write(node, "Concat", parts, to, {{"axis", axis}});
      return;
    }
    // Pieces put together as they lay.
    if (axis == from->axis && stack == !from->keep) {
      writer_.Write(node, "Identity", {from->whole}, to);
      return;
    }
    constexpr int64_t kMostLetters = 20;
    if (from->axis != 0 || from->keep || axis < -kMostLetters ||
        axis > kMostLetters) {
      Refuse(node,
             "the pieces were split on another axis, which is not "
             "supported");
      return;
    }
    // Rows [n, ...] to where they go, and then into the dimension that they
    // are put together in.
    std::string moved = from->whole;
    if (axis != 0) moved = EmitMove(node, moved, axis, stack, stack ? to : "");
    if (!stack) EmitMerge(node, moved, axis, to);
  }

  // Dimension 0 becomes `axis` of the result or, before they are merged, the
  // one in front of it. The rank is not known here, so an Einsum does it.
  std::string EmitMove(const onnx::NodeProto& node, const std::string& x,
                       int64_t axis, bool stack, const std::string& to) {
    std::string around;
    const int64_t letters = axis > 0 ? axis : -axis - (stack ? 1 : 0);
    for (int64_t i = 0; i < letters; ++i) {
      around += static_cast<char>('b' + i);
    }
    const std::string equation =
        axis > 0 ? absl::StrCat("a", around, "...->", around, "a...")
                 : absl::StrCat("a...", around, "->...a", around);
    const std::string name = writer_.Write(node, "Einsum", {x}, to);
    writer_.SetText("equation", equation);
    return name;
  }

  // Dimensions `axis` and the one behind it become one; from the end, it and
  // the one in front of it.
  void EmitMerge(const onnx::NodeProto& node, const std::string& x,
                 int64_t axis, const std::string& to) {
    const std::string shape = writer_.Write(node, "Shape", {x});
    std::vector<std::string> parts;
    if (axis != 0) {
      parts.push_back(
          writer_.WriteSlice(node, shape, 0, axis > 0 ? axis : axis - 1, 0));
    }
    parts.push_back(writer_.WriteInts(node, {-1}, 1));
    if (axis != -1) {
      parts.push_back(writer_.WriteSlice(
          node, shape, axis >= 0 ? axis + 2 : axis + 1, kToTheEnd, 0));
    }
    const std::string sizes =
        writer_.Write(node, "Concat", parts, "", {{"axis", 0}});
    writer_.Write(node, "Reshape", {x, sizes}, to);
  }

  // The node of ONNX's domain that writes a name and nothing else; null: none.
  static const onnx::NodeProto* Producer(const onnx::GraphProto& graph,
                                         const std::string& name) {
    for (const auto& node : graph.node()) {
      if (IsDefault(node) && node.output_size() == 1 &&
          node.output(0) == name) {
        return &node;
      }
    }
    return nullptr;
  }

  // Carried sequences are left as they are by the body, or get one tensor in
  // each iteration.
  void PlaceLoop(const onnx::NodeProto& node, SequenceScope* scope) {
    onnx::NodeProto copy = node;
    onnx::GraphProto* body = nullptr;
    for (auto& attribute : *copy.mutable_attribute()) {
      if (attribute.name() == "body" && attribute.has_g()) {
        body = attribute.mutable_g();
      }
    }
    const int carried = copy.input_size() - 2;
    if (body == nullptr || body->input_size() != carried + 2 ||
        body->output_size() < carried + 1) {
      *writer_.out->Add() = node;  // the importer says what is wrong
      return;
    }
    SequenceScope inner(scope);
    int sequences = 0;
    for (int i = carried; i-- > 0 && why_.empty();) {
      const Sequence* given = scope->FindSequence(copy.input(2 + i));
      if (given == nullptr) continue;
      if (++sequences > kMostCarried) {
        Refuse(node, "carries more than ", kMostCarried, " sequences");
        return;
      }
      if (!PlaceCarried(node, i, *given, &copy, body, &inner, scope)) return;
    }
    PlaceGraph(body, &inner);
    CheckOutputs(node, *body, inner);
    *writer_.out->Add() = std::move(copy);
  }

  bool PlaceCarried(const onnx::NodeProto& node, int i, const Sequence& given,
                    onnx::NodeProto* loop, onnx::GraphProto* body,
                    SequenceScope* inner, SequenceScope* scope) {
    const std::string in = body->input(2 + i).name();
    std::string out = body->output(1 + i).name();
    std::string result = i < loop->output_size() ? loop->output(i) : "";
    Sequence after;
    const onnx::NodeProto* writer = Producer(*body, out);
    for (int n = 0; n < kMostIdentities && writer != nullptr &&
                    writer->op_type() == "Identity" && ReadsOf(*body, out) == 1;
         ++n) {
      out = InputOf(*writer, 0);
      writer = Producer(*body, out);
    }
    std::string appended;
    if (out == in) {
      inner->SetSequence(in, given);
      after = given;
    } else if (writer != nullptr && writer->op_type() == "SequenceInsert" &&
               InputOf(*writer, 0) == in && InputOf(*writer, 2).empty() &&
               given.IsList() && given.items.empty() &&
               ReadsOf(*body, in) == 1 && ReadsOf(*body, out) == 1) {
      appended = InputOf(*writer, 1);
      after.whole = result.empty() ? "" : writer_.NewName(node);
      after.keep = false;
    } else {
      Refuse(node, "the sequence ", Quote(in),
             " is carried from iteration to iteration, and the body does "
             "something other than append one tensor to an empty sequence");
      return false;
    }
    const std::string element = body->output(1 + i).name();
    body->mutable_input()->DeleteSubrange(2 + i, 1);
    body->mutable_output()->DeleteSubrange(1 + i, 1);
    loop->mutable_input()->DeleteSubrange(2 + i, 1);
    // Outputs that nobody wants may be left out at the end.
    if (i < loop->output_size()) loop->mutable_output()->DeleteSubrange(i, 1);
    if (!appended.empty()) {
      // What is appended may be no value of the body, so a copy is.
      RemoveUpTo(body, element, in);
      onnx::NodeProto* const identity = body->add_node();
      identity->set_op_type("Identity");
      identity->set_name(writer_.NewName(node));
      identity->add_input(appended);
      identity->add_output(identity->name());
      body->add_output()->set_name(identity->name());
      if (!result.empty()) {
        // Outputs in front of it may have been left out, too.
        while (loop->output_size() + 1 < body->output_size() - 1) {
          loop->add_output("");
        }
        loop->add_output(after.whole);
      }
    }
    if (!result.empty()) scope->SetSequence(result, std::move(after));
    return true;
  }

  // Removes the nodes that make `name` out of the sequence `in`.
  static void RemoveUpTo(onnx::GraphProto* body, std::string name,
                         const std::string& in) {
    while (name != in) {
      auto* const nodes = body->mutable_node();
      int at = 0;
      while (!IsDefault(nodes->Get(at)) || nodes->Get(at).output_size() != 1 ||
             nodes->Get(at).output(0) != name) {
        ++at;
      }
      name = nodes->Get(at).input(0);
      nodes->DeleteSubrange(at, 1);
    }
  }

  onnx::ModelProto* const model_;
  const TakenBytes& raw_;
  PlacedGraphs* const placed_;
  NodeWriter writer_;
  size_t items_ = 0;
  std::string why_;
};

}  // namespace

bool IsOfSequences(const std::string& op) {
  static const auto* const ops = new std::set<std::string>{
      "ConcatFromSequence", "SequenceAt",    "SequenceConstruct",
      "SequenceEmpty",      "SequenceErase", "SequenceInsert",
      "SequenceLength",     "SequenceMap",   "SplitToSequence"};
  return ops->count(op) != 0;
}

std::string ReplaceSequences(onnx::ModelProto* model, const TakenBytes& raw,
                             PlacedGraphs* placed) {
  if (!model->has_graph() || !HasSequences(model->graph())) return "";
  return Replacer(model, raw, placed).Run();
}

}  // namespace heddle::compiler

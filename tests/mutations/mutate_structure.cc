// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "compiler/import/importer.h"
#include "compiler/ops/define.h"
#include "tests/mutations/mutations_of.h"

namespace heddle::tests {
namespace {

using compiler::Rejection;
using Model = onnx::ModelProto;

// An input list that may be so long is variadic.
constexpr int kFewInputs = 64;

void SetOpset(Model* model, const std::string& domain, int64_t version) {
  for (auto& import : *model->mutable_opset_import()) {
    if (import.domain() == domain) import.set_version(version);
  }
}

}  // namespace

void MutateVersions(const compiler::OperatorInfo& info, MutationList* list) {
  const std::string domain = info.domain;
  const bool onnx = domain.empty();
  const auto opset = [&](const std::string& what, Kinds kinds, int64_t to) {
    list->Add(what, Verdict::kInvalid, std::move(kinds),
              [&](Model* m) { SetOpset(m, domain, to); });
  };
  opset("a newer opset than any", {Rejection::kUnsupportedVersion},
        onnx ? compiler::kMaxOpset + 1 : 2);
  opset("opset 0", InvalidModel(), 0);
  opset("a negative opset", InvalidModel(), -1);
  opset("the largest opset", {Rejection::kUnsupportedVersion},
        std::numeric_limits<int64_t>::max());
  // Before the operator's first version there is none.
  if (onnx && info.since_version > 1 &&
      compiler::FindOperator("", info.op, info.since_version - 1) == nullptr) {
    opset("the opset before the operator's first",
          {Rejection::kUnsupportedVersion}, info.since_version - 1);
  }
  list->Add("no opset", Verdict::kInvalid, InvalidModel(),
            [](Model* m) { m->clear_opset_import(); });
  list->Add("two opsets", Verdict::kInvalid, InvalidModel(), [&](Model* m) {
    auto* import = m->add_opset_import();
    import->set_domain(domain);
    // (Of opset 12 the second one is 13.)
    const bool twelve = list->valid().opset_import(0).version() == 12;
    import->set_version(onnx ? 12 + twelve : 3);
  });
  list->Add("a newer format than any", Verdict::kInvalid,
            {Rejection::kUnsupportedVersion},
            [](Model* m) { m->set_ir_version(compiler::kMaxIrVersion + 1); });
  list->Add("format 0", Verdict::kInvalid, InvalidModel(),
            [](Model* m) { m->set_ir_version(0); });
  list->Add("no format", Verdict::kInvalid, InvalidModel(),
            [](Model* m) { m->clear_ir_version(); });
  list->Add("no graph", Verdict::kInvalid, InvalidModel(),
            [](Model* m) { m->clear_graph(); });
  list->Add("an operator that does not exist", Verdict::kInvalid,
            {Rejection::kUnsupportedOperator},
            [](Model* m) { NodeOf(m)->mutable_op_type()->append("X"); });
  list->Add("no operator", Verdict::kInvalid,
            {Rejection::kInvalidModel, Rejection::kUnsupportedOperator},
            [](Model* m) { NodeOf(m)->clear_op_type(); });
  list->Add("a domain that is not imported", Verdict::kInvalid, InvalidModel(),
            [](Model* m) { NodeOf(m)->set_domain("org.example"); });
  list->Add("a domain that nobody knows", Verdict::kInvalid,
            {Rejection::kUnsupportedOperator}, [](Model* m) {
              NodeOf(m)->set_domain("org.example");
              auto* import = m->add_opset_import();
              import->set_domain("org.example");
              import->set_version(1);
            });
}

void MutateInputs(const compiler::OperatorInfo& info, MutationList* list) {
  const int count = list->node().input_size();
  for (int i = 0; i < count; ++i) {
    if (list->node().input(i).empty()) continue;
    list->Add(absl::StrCat("input ", i, " that nothing defines"),
              Verdict::kInvalid, InvalidModel(),
              [i](Model* m) { NodeOf(m)->set_input(i, "nobody"); });
    list->Add(absl::StrCat("input ", i, " is the node's own result"),
              Verdict::kInvalid, InvalidModel(),
              [i](Model* m) { NodeOf(m)->set_input(i, NodeOf(m)->output(0)); });
    const bool required =
        i < info.min_inputs && (info.optional_inputs >> i & 1) == 0;
    list->Add(
        absl::StrCat("input ", i, " is absent"),
        required ? Verdict::kInvalid : Verdict::kJudged,
        required ? InvalidModel()
                 : Kinds{Rejection::kInvalidModel, Rejection::kMismatchingShape,
                         Rejection::kUnsupportedShape},
        [i](Model* m) { NodeOf(m)->set_input(i, ""); });
  }
  for (int kept = 0; kept < std::min(count, info.min_inputs); ++kept) {
    list->Add(absl::StrCat("only the first ", kept, " inputs"),
              Verdict::kInvalid, InvalidModel(), [=](Model* m) {
                NodeOf(m)->mutable_input()->DeleteSubrange(kept, count - kept);
              });
  }
  if (info.max_inputs < kFewInputs && count > 0) {
    list->Add("an input too many", Verdict::kInvalid, InvalidModel(),
              [&](Model* m) {
                while (NodeOf(m)->input_size() < info.max_inputs) {
                  NodeOf(m)->add_input("");
                }
                NodeOf(m)->add_input(NodeOf(m)->input(0));
              });
  }
  if (info.max_inputs == 0) {
    list->Add(
        "an input too many", Verdict::kInvalid, InvalidModel(), [&](Model* m) {
          NodeOf(m)->add_input(
              m->graph().input_size() > 0 ? m->graph().input(0).name() : "");
        });
  }
}

void MutateOutputs(const compiler::OperatorInfo& info, MutationList* list) {
  const auto invalid = [&](const std::string& what, const Change& change) {
    list->Add(what, Verdict::kInvalid, InvalidModel(), change);
  };
  invalid("no outputs", [](Model* m) { NodeOf(m)->clear_output(); });
  invalid("a graph output that nobody computes", [](Model* m) {
    m->mutable_graph()->mutable_output(0)->set_name("nobody");
  });
  invalid("a graph output without a name", [](Model* m) {
    m->mutable_graph()->mutable_output(0)->clear_name();
  });
  invalid("the node twice", [](Model* m) {
    *m->mutable_graph()->add_node() = m->graph().node(0);
  });
  if (info.max_outputs < kFewInputs) {
    list->Add("an output too many", Verdict::kInvalid,
              {Rejection::kInvalidModel, Rejection::kUnsupportedAttribute},
              [&](Model* m) {
                for (int i = NodeOf(m)->output_size(); i <= info.max_outputs;
                     ++i) {
                  NodeOf(m)->add_output(absl::StrCat("extra", i));
                }
              });
  }
  if (info.max_outputs > 1) {
    invalid("two outputs of one name", [](Model* m) {
      const std::string name = NodeOf(m)->output(0);
      if (NodeOf(m)->output_size() > 1) {
        NodeOf(m)->set_output(1, name);
      } else {
        NodeOf(m)->add_output(name);
      }
    });
  }
  for (const auto& input : list->valid().graph().input()) {
    invalid(
        absl::StrCat("an output with the name of input '", input.name(), "'"),
        [&](Model* m) { NodeOf(m)->set_output(0, input.name()); });
    invalid(absl::StrCat("graph input '", input.name(), "' twice"),
            [&](Model* m) { *m->mutable_graph()->add_input() = input; });
  }
  for (const auto& tensor : list->valid().graph().initializer()) {
    invalid(absl::StrCat("an output with the name of initializer '",
                         tensor.name(), "'"),
            [&](Model* m) { NodeOf(m)->set_output(0, tensor.name()); });
  }
}

}  // namespace heddle::tests

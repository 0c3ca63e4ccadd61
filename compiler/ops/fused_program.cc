// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/fused_program.h"

#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {

Node MakeElementwiseNode(const FusedProgram& fused, DataType type,
                         const std::vector<std::string>& operators) {
  auto words = std::make_shared<TensorData>();
  words->type = DataType::kUint64;
  words->shape = {static_cast<int64_t>(fused.program.body.size())};
  words->bytes = fused.program.Bytes();
  Node node;
  node.op = "Elementwise";
  node.domain = kInternalDomain;
  node.opset = 1;
  node.attributes["program"] = std::shared_ptr<const TensorData>(words);
  node.attributes["arguments"] =
      std::vector<int64_t>(fused.arguments.begin(), fused.arguments.end());
  node.attributes["type"] = static_cast<int64_t>(type);
  node.attributes["operators"] = operators;
  return node;
}

absl::StatusOr<FusedProgram> FusedProgramOf(const Node& node) {
  const auto it = node.attributes.find("program");
  const auto* data =
      it == node.attributes.end()
          ? nullptr
          : std::get_if<std::shared_ptr<const TensorData>>(&it->second);
  const std::vector<int64_t> arguments = node.IntsAttribute("arguments", {});
  FusedProgram fused;
  if (data == nullptr || *data == nullptr || (*data)->count() == 0 ||
      (*data)->type != DataType::kUint64 ||
      arguments.size() != fused.arguments.size()) {
    return absl::InternalError(absl::StrCat(node.Describe(), ": no program"));
  }
  for (int64_t i = 0; i < (*data)->count(); ++i) {
    ASSIGN_OR_RETURN(auto instruction,
                     isa::MicroInstruction::Decode((*data)->as<uint64_t>()[i]));
    fused.program.body.push_back(instruction);
  }
  for (size_t i = 0; i < arguments.size(); ++i) {
    fused.arguments[i] = static_cast<uint32_t>(arguments[i]);
  }
  return fused;
}

}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
#include "compiler/report/support_page.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "compiler/device_ops/lowering.h"
#include "compiler/import/importer.h"
#include "compiler/ops/define.h"
#include "compiler/ops/operator.h"

namespace heddle::compiler {
namespace {

// An older form becomes today's, which is listed, too.
bool IsOnCard(const OperatorInfo& info) {
  return info.convert != nullptr || HasLowering(info.domain, info.op);
}

}  // namespace

std::string SupportPage() {
  std::string page = absl::StrCat(
      "# Supported operators\n\n"
      "Generated from the compiler's operator definitions; do not edit.\n"
      "Refresh with `bazel run //compiler/report:support_page_tool > "
      "SUPPORTED_OPS.md`.\n\n"
      "Models of ONNX IR version ",
      kMinIrVersion, " to ", kMaxIrVersion, " and opset ", kMinOpset, " to ",
      kMaxOpset,
      ". \"Opset\" is the range of opsets with this definition of the "
      "operator; \"Types\" are those of the first input. \"Card\": yes = runs "
      "on the card; no = the compiler evaluates or removes it where it can "
      "(constants, shapes, pass-through), otherwise it runs on the host, if "
      "host nodes are allowed.\n"
      "\n"
      "On the card, weights, scales and zero points of com.microsoft's "
      "operators must be constant; parameters that determine a shape must be "
      "constant or follow from the declared shapes; arithmetic is on float, "
      "float16, integers of 8 to 32 bits (int64 if its values are known to fit "
      "32) and the quantized values of quantized operators. Where the table "
      "has float but not bfloat16, bfloat16 operands are converted to float "
      "and the results rounded, from the opset on in which ONNX allows "
      "bfloat16.\n"
      "\n"
      "If, Loop and Scan are not in the table. Where constants and shapes "
      "determine their control flow, they are replaced by a branch or "
      "unrolled. Otherwise the host drives them, and their bodies run on card "
      "and host like any graph. Carried values keep their shape or grow on one "
      "axis, by the same amount in each iteration; for that, and for stacked "
      "results, "
      "the number of iterations needs a constant or a bound (--bound with the "
      "name of the trip count or of the Loop). Both branches of an If need "
      "results of one rank.\n"
      "\n"
      "Sequences of tensors (SequenceConstruct, SequenceEmpty, SequenceInsert, "
      "SequenceErase, SequenceAt, SequenceLength, SplitToSequence, "
      "ConcatFromSequence) are replaced by tensors before anything else, where "
      "the model says what is in them: positions and sizes of pieces are "
      "constants, except that single rows of a SplitToSequence may be at any "
      "position; a Loop may append one tensor in each iteration to an empty "
      "sequence, or leave a sequence as it is. Inputs and outputs of a model "
      "cannot be sequences.\n"
      "\n"
      "Not supported in any opset: SequenceMap; operators on strings "
      "(StringNormalizer, StringConcat, StringSplit, RegexFullMatch), optional "
      "values (Optional, OptionalHasElement, OptionalGetElement), maps and "
      "images (ImageDecoder); random numbers (RandomNormal, "
      "RandomNormalLike, RandomUniform, RandomUniformLike, Bernoulli, "
      "Multinomial); and the domains of training and of classical machine "
      "learning (ai.onnx.preview.training, ai.onnx.ml).\n"
      "\n"
      "| Operator | Domain | Card | Opset | Types | Attributes | Limits |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain == std::string(kInternalDomain)) continue;
    std::vector<std::string> attributes, limits;
    for (const AttributeRule& rule : info->attributes) {
      attributes.push_back(rule.name);
    }
    for (const Constraint& constraint : info->constraints) {
      limits.push_back(constraint.text);
    }
    const bool onnx = info->domain[0] == '\0';
    const int since =
        onnx ? std::max(info->since_version, kMinOpset) : info->since_version;
    absl::StrAppend(&page, "| ", info->op, " | ",
                    onnx ? "ai.onnx" : info->domain, " | ",
                    IsOnCard(*info) ? "yes" : "no", " | ", since);
    if (info->until_version != since) {
      absl::StrAppend(&page, "-", info->until_version);
    }
    absl::StrAppend(&page, " | ", info->types, " | ",
                    absl::StrJoin(attributes, ", "), " | ",
                    absl::StrJoin(limits, "; "), " |\n");
  }
  return page;
}

std::string SupportJson() {
  using nlohmann::ordered_json;
  ordered_json operators = ordered_json::array();
  for (const OperatorInfo* info : AllOperators()) {
    if (info->domain == std::string(kInternalDomain)) continue;
    ordered_json attributes = ordered_json::array();
    for (const AttributeRule& rule : info->attributes) {
      attributes.push_back(rule.name);
    }
    ordered_json limits = ordered_json::array();
    for (const Constraint& constraint : info->constraints) {
      limits.push_back(constraint.text);
    }
    const int since = info->domain[0] == '\0'
                          ? std::max(info->since_version, kMinOpset)
                          : info->since_version;
    operators.push_back({{"op", info->op},
                         {"domain", info->domain},
                         {"card", IsOnCard(*info)},
                         {"since_opset", since},
                         {"until_opset", info->until_version},
                         {"types", std::vector<std::string>(absl::StrSplit(
                                       info->types, ", ", absl::SkipEmpty()))},
                         {"attributes", std::move(attributes)},
                         {"limits", std::move(limits)}});
  }
  const ordered_json json = {{"schema", "heddle-supported-ops/1"},
                             {"min_ir_version", kMinIrVersion},
                             {"max_ir_version", kMaxIrVersion},
                             {"min_opset", kMinOpset},
                             {"max_opset", kMaxOpset},
                             {"operators", std::move(operators)}};
  return json.dump(2) + "\n";
}

}  // namespace heddle::compiler

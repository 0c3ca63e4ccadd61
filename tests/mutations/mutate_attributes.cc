// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "tests/mutations/mutations_of.h"

namespace heddle::tests {
namespace {

using compiler::AttributeKind;
using compiler::Rejection;
using onnx::AttributeProto;
using Model = onnx::ModelProto;

// What a value may be refused as: shapes follow from it, `to` is a type.
Kinds OfValue() {
  return {Rejection::kInvalidModel, Rejection::kUnsupportedAttribute,
          Rejection::kMismatchingShape, Rejection::kUnsupportedShape,
          Rejection::kUnsupportedDatatype};
}

AttributeProto* AttributeOf(Model* model, const std::string& name) {
  for (auto& attribute : *NodeOf(model)->mutable_attribute()) {
    if (attribute.name() == name) return &attribute;
  }
  auto* attribute = NodeOf(model)->add_attribute();
  attribute->set_name(name);
  return attribute;
}

AttributeProto* Renewed(Model* model, const std::string& name,
                        AttributeProto::AttributeType type) {
  AttributeProto* attribute = AttributeOf(model, name);
  attribute->Clear();
  attribute->set_name(name);
  attribute->set_type(type);
  return attribute;
}

void SetNumber(Model* model, const std::string& name, int64_t value) {
  Renewed(model, name, AttributeProto::INT)->set_i(value);
}

void SetReal(Model* model, const std::string& name, float value) {
  Renewed(model, name, AttributeProto::FLOAT)->set_f(value);
}

void SetText(Model* model, const std::string& name, const std::string& value) {
  Renewed(model, name, AttributeProto::STRING)->set_s(value);
}

void SetNumbers(Model* model, const std::string& name,
                const std::vector<int64_t>& values) {
  auto* attribute = Renewed(model, name, AttributeProto::INTS);
  for (int64_t value : values) attribute->add_ints(value);
}

// An attribute of another kind than the definition's.
void SetOtherKind(Model* model, const std::string& name, AttributeKind kind) {
  if (kind == AttributeKind::kStrings) {
    SetNumber(model, name, 1);
  } else {
    Renewed(model, name, AttributeProto::STRINGS)->add_strings("1");
  }
}

void MutateInt(const std::string& name, int64_t now, MutationList* list) {
  for (int64_t value : {now + 1, now - 1, int64_t{0}, int64_t{2}, int64_t{-1},
                        int64_t{-1000}, int64_t{1000}}) {
    list->Add(absl::StrCat(name, " = ", value), Verdict::kJudged, OfValue(),
              [&](Model* m) { SetNumber(m, name, value); });
  }
  for (int64_t value :
       {std::numeric_limits<int64_t>::min(),
        std::numeric_limits<int64_t>::max(), int64_t{1} << 40}) {
    list->Add(absl::StrCat(name, " = ", value), Verdict::kExtreme, OfValue(),
              [&](Model* m) { SetNumber(m, name, value); });
  }
}

void MutateInts(const std::string& name, const std::vector<int64_t>& now,
                MutationList* list) {
  std::vector<std::pair<const char*, std::vector<int64_t>>> changes;
  std::vector<int64_t> values = now;
  values.push_back(1);
  changes.push_back({"one entry more", values});
  if (!now.empty()) {
    changes.push_back({"one entry less", {now.begin(), now.end() - 1}});
    changes.push_back({"no entry", {}});
    for (const auto& [what, value] :
         std::vector<std::pair<const char*, int64_t>>{
             {"first entry 0", 0},
             {"first entry -1", -1},
             {"first entry -1000", -1000},
             {"first entry 1000", 1000}}) {
      values = now;
      values[0] = value;
      changes.push_back({what, values});
    }
  }
  if (now.size() > 1) {
    values = now;
    values[0] = values[1];
    changes.push_back({"second entry twice", values});
  }
  for (const auto& [what, changed] : changes) {
    list->Add(absl::StrCat(name, ": ", what), Verdict::kJudged, OfValue(),
              [&, to = changed](Model* m) { SetNumbers(m, name, to); });
  }
  if (now.empty()) return;
  for (int64_t value : {std::numeric_limits<int64_t>::min(),
                        std::numeric_limits<int64_t>::max()}) {
    values = now;
    values.back() = value;
    list->Add(absl::StrCat(name, ": last entry ", value), Verdict::kExtreme,
              OfValue(), [&](Model* m) { SetNumbers(m, name, values); });
  }
}

void MutateFloat(const std::string& name, MutationList* list) {
  // What an operator makes of an unusual number is no question of validity.
  for (float value : {-1.0f, 0.0f, std::numeric_limits<float>::quiet_NaN(),
                      std::numeric_limits<float>::infinity(), 1e30f}) {
    list->Add(absl::StrCat(name, " = ", value), Verdict::kExtreme, OfValue(),
              [&](Model* m) { SetReal(m, name, value); });
  }
}

void MutateValue(const std::string& name, AttributeKind kind,
                 MutationList* list) {
  const auto& attributes = list->node().attribute();
  const auto at =
      std::find_if(attributes.begin(), attributes.end(),
                   [&](const AttributeProto& a) { return a.name() == name; });
  const bool present = at != attributes.end();
  switch (kind) {
    case AttributeKind::kInt:
      return MutateInt(name, present ? at->i() : 0, list);
    case AttributeKind::kInts:
      return MutateInts(
          name,
          present ? std::vector<int64_t>(at->ints().begin(), at->ints().end())
                  : std::vector<int64_t>(),
          list);
    case AttributeKind::kFloat:
      return MutateFloat(name, list);
    case AttributeKind::kString:
      for (const char* word : {"no such word", ""}) {
        list->Add(absl::StrCat(name, " = '", word, "'"), Verdict::kJudged,
                  OfValue(), [&](Model* m) { SetText(m, name, word); });
      }
      return;
    case AttributeKind::kFloats:
    case AttributeKind::kStrings:
      if (!present) return;
      list->Add(absl::StrCat(name, ": one entry less"), Verdict::kJudged,
                OfValue(), [&](Model* m) {
                  AttributeProto* a = AttributeOf(m, name);
                  if (a->floats_size() > 0) a->mutable_floats()->RemoveLast();
                  if (a->strings_size() > 0) a->mutable_strings()->RemoveLast();
                });
      if (kind == AttributeKind::kStrings && at->strings_size() > 0) {
        list->Add(absl::StrCat(name, ": another word"), Verdict::kJudged,
                  OfValue(), [&](Model* m) {
                    AttributeOf(m, name)->set_strings(0, "no such word");
                  });
      }
      return;
    case AttributeKind::kTensor:
    case AttributeKind::kGraph:
      return;
  }
}

}  // namespace

void MutateAttributes(const compiler::OperatorInfo& info, MutationList* list) {
  const auto invalid = [&](const std::string& what, const Change& change) {
    list->Add(what, Verdict::kInvalid, InvalidModel(), change);
  };
  list->Add("an attribute that does not exist", Verdict::kInvalid,
            info.domain[0] == '\0' ? InvalidModel()
                                   : Kinds{Rejection::kUnsupportedAttribute},
            [](Model* m) { SetNumber(m, "colour", 1); });
  invalid("an attribute without a name", [](Model* m) { SetNumber(m, "", 1); });
  invalid("an attribute without a value",
          [](Model* m) { NodeOf(m)->add_attribute()->set_name("colour"); });
  invalid("an attribute whose type is not that of its value", [](Model* m) {
    SetReal(m, "colour", 1);
    AttributeOf(m, "colour")->set_type(AttributeProto::INT);
  });
  const auto& attributes = list->node().attribute();
  for (int i = 0; i < attributes.size(); ++i) {
    invalid(absl::StrCat(attributes[i].name(), " twice"), [i](Model* m) {
      const auto copy = NodeOf(m)->attribute(i);
      *NodeOf(m)->add_attribute() = copy;
    });
    invalid(absl::StrCat(attributes[i].name(), " of no type"), [i](Model* m) {
      NodeOf(m)->mutable_attribute(i)->set_type(AttributeProto::UNDEFINED);
      NodeOf(m)->mutable_attribute(i)->set_name("");
    });
    const auto rule = std::find_if(
        info.attributes.begin(), info.attributes.end(),
        [&](const auto& r) { return r.name == attributes[i].name(); });
    const bool required = rule != info.attributes.end() && rule->required;
    list->Add(absl::StrCat("no ", attributes[i].name()),
              required ? Verdict::kInvalid : Verdict::kJudged,
              required ? InvalidModel() : OfValue(), [i](Model* m) {
                NodeOf(m)->mutable_attribute()->DeleteSubrange(i, 1);
              });
  }
  for (const compiler::AttributeRule& rule : info.attributes) {
    const std::string name = rule.name;
    invalid(absl::StrCat(name, " of another kind"),
            [&](Model* m) { SetOtherKind(m, name, rule.kind); });
    MutateValue(name, rule.kind, list);
  }
}

}  // namespace heddle::tests

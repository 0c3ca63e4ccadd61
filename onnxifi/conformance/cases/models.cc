// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/cases/models.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace heddle::conformance {
namespace {

bool Contains(const std::vector<onnxStatus>& list, onnxStatus status) {
  return std::find(list.begin(), list.end(), status) != list.end();
}

std::string Names(const std::vector<onnxStatus>& list) {
  std::string text;
  for (onnxStatus status : list) {
    absl::StrAppend(&text, text.empty() ? "" : " or ", StatusName(status));
  }
  return text;
}

}  // namespace

std::vector<BadModel> BrokenProtobufs(Context& t) {
  const std::vector<onnxStatus> want = {ONNXIFI_STATUS_INVALID_PROTOBUF};
  const std::string good = t.Elementwise({2, 3}).Serialize();
  std::vector<BadModel> models = {
      {"bytes FF", std::string(16, '\xFF'), want},
      {"a model without its last byte", good.substr(0, good.size() - 1), want},
      {"a message longer than its bytes",
       std::string("\x3A\xFF\xFF\xFF\x7F", 5), want},
      {"a field of an impossible wire type", std::string("\x0F\x01", 2), want},
      {"a number that does not end", "\x08" + std::string(11, '\x80'), want},
  };
  return models;
}

std::vector<BadModel> InvalidModels(Context& t) {
  // What the format does not allow; where the violation may as well be read as
  // something that is not supported, that status is right, too.
  const std::vector<onnxStatus> want = {ONNXIFI_STATUS_INVALID_MODEL};
  std::vector<BadModel> models;
  const Model good = t.Elementwise({2, 3});
  const auto add = [&](const std::string& what, const Model& model) {
    models.push_back({what, model.Serialize(), want});
  };
  Model m = good;
  m.has_graph = false;
  add("a model without a graph", m);
  m = good;
  m.opset = 0;
  add("a model without opset_import", m);
  m = good;
  m.nodes[0].inputs[1] = "nobody";
  add("a node that reads a tensor which nothing makes", m);
  m = good;
  m.nodes = {{t.op().name, {"t", "z"}, {"y"}, "", {}},
             {t.op().name, {"x", "z"}, {"t"}, "", {}}};
  add("nodes in the wrong order", m);
  m = good;
  m.nodes = {{t.op().name, {"x", "t"}, {"y"}, "", {}},
             {t.op().name, {"y", "z"}, {"t"}, "", {}}};
  add("nodes in a circle", m);
  m = good;
  m.nodes.push_back(m.nodes[0]);
  add("two nodes that make the same tensor", m);
  m = good;
  m.outputs[0].name = "nobody";
  add("an output that nothing makes", m);
  m = good;
  m.nodes[0].inputs.pop_back();
  add("an operator without one of its inputs", m);
  m = good;
  m.inputs.push_back(m.inputs[0]);
  add("two inputs of one name", m);
  return models;
}

std::vector<BadModel> UnknownOperators(Context& t) {
  std::vector<BadModel> models;
  const Model good = t.Elementwise({2, 3});
  Model m = good;
  m.nodes[0].op = "NoSuchOperatorOfOnnx";
  models.push_back(
      {"an unknown operator",
       m.Serialize(),
       {ONNXIFI_STATUS_UNSUPPORTED_OPERATOR, ONNXIFI_STATUS_INVALID_MODEL}});
  m = good;
  m.nodes[0].op = "Blend";
  m.nodes[0].domain = "com.example.nobody";
  m.other_opsets = {{"com.example.nobody", 1}};
  models.push_back({"an operator of a vendor's domain",
                    m.Serialize(),
                    {ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                     ONNXIFI_STATUS_UNSUPPORTED_VERSION}});
  return models;
}

std::vector<BadModel> MismatchingModels(Context& t) {
  std::vector<BadModel> models;
  const Model good = t.Elementwise({2, 3});
  Model m = good;
  m.outputs[0].shape = {2, 4};
  models.push_back({"an output of another shape than is inferred",
                    m.Serialize(),
                    {ONNXIFI_STATUS_MISMATCHING_SHAPE}});
  m = good;
  m.outputs[0].type = ONNXIFI_DATATYPE_INT32;
  models.push_back({"an output of another type than is inferred",
                    m.Serialize(),
                    {ONNXIFI_STATUS_MISMATCHING_DATATYPE}});
  m = good;
  m.nodes = {{t.op().name, {"x", "z"}, {"t"}, "", {}},
             {t.op().name, {"t", "z"}, {"y"}, "", {}}};
  m.value_infos = {{"t", {3, 2}}};
  models.push_back({"a value_info of another shape than is inferred",
                    m.Serialize(),
                    {ONNXIFI_STATUS_MISMATCHING_SHAPE}});
  m.value_infos = {{"t", {2, 3}, ONNXIFI_DATATYPE_INT32}};
  models.push_back({"a value_info of another type than is inferred",
                    m.Serialize(),
                    {ONNXIFI_STATUS_MISMATCHING_DATATYPE}});
  return models;
}

std::vector<BadModel> UnsupportedTypes(Context& t) {
  // A backend may support them; then both functions have to say so.
  std::vector<BadModel> models;
  for (const int type : {ONNXIFI_DATATYPE_FLOAT64, ONNXIFI_DATATYPE_COMPLEX64,
                         ONNXIFI_DATATYPE_COMPLEX128}) {
    Model m = t.Elementwise({2, 3});
    for (ValueInfo* v : {&m.inputs[0], &m.inputs[1], &m.outputs[0]}) {
      v->type = type;
    }
    models.push_back(
        {absl::StrCat("tensors of data type ", type),
         m.Serialize(),
         {ONNXIFI_STATUS_UNSUPPORTED_DATATYPE, ONNXIFI_STATUS_INVALID_MODEL,
          ONNXIFI_STATUS_SUCCESS, ONNXIFI_STATUS_FALLBACK}});
  }
  return models;
}

std::vector<BadModel> UnsupportedForms(Context& t) {
  // What is right by ONNX, or nearly, and what few backends have.
  std::vector<BadModel> models;
  Model m = t.Elementwise({2, 3});
  const std::vector<Dim> dims(40, 1);
  m.inputs = {{"x", dims}, {"z", dims}};
  m.outputs = {{"y", dims}};
  models.push_back({"tensors of 40 dimensions",
                    m.Serialize(),
                    {ONNXIFI_STATUS_UNSUPPORTED_SHAPE, ONNXIFI_STATUS_SUCCESS,
                     ONNXIFI_STATUS_FALLBACK}});
  m = t.Elementwise({2, 3});
  m.nodes[0].attributes = {{"no_such_attribute", 2, 1, {}}};
  models.push_back(
      {"an attribute that the operator does not have",
       m.Serialize(),
       {ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE, ONNXIFI_STATUS_INVALID_MODEL}});
  return models;
}

void ExpectRejections(Context& t, const std::vector<BadModel>& models) {
  for (const BadModel& model : models) {
    const onnxStatus verdict = t.Compatibility(model.bytes);
    t.Check(Contains(model.allowed, verdict),
            absl::StrCat("onnxGetBackendCompatibility of ", model.what,
                         " returned ", StatusName(verdict), ", not ",
                         Names(model.allowed)));
    onnxGraph graph = nullptr;
    const onnxStatus status = t.TryGraph(model.bytes, &graph);
    t.Check(Contains(model.allowed, status),
            absl::StrCat("onnxInitGraph of ", model.what, " returned ",
                         StatusName(status), ", not ", Names(model.allowed)));
    const auto yes = [](onnxStatus s) {
      return s == ONNXIFI_STATUS_SUCCESS || s == ONNXIFI_STATUS_FALLBACK;
    };
    t.Check(
        yes(verdict) == yes(status),
        absl::StrCat("of ", model.what, " onnxGetBackendCompatibility says ",
                     StatusName(verdict), " and onnxInitGraph ",
                     StatusName(status)));
  }
}

}  // namespace heddle::conformance

// SPDX-License-Identifier: Apache-2.0
#include "compiler/ops/activations.h"

#include <map>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {
namespace {

struct Known {
  const char* name;
  // How many of alpha and beta it has, and whether ONNX has defaults for them.
  int parameters;
  bool defaults;
  float alpha, beta;
};
constexpr Known kKnown[] = {
    {"Affine", 2, true, 1, 0},
    {"Elu", 1, true, 1, 0},
    {"HardSigmoid", 2, true, 0.2f, 0.5f},
    {"LeakyRelu", 1, true, 0.01f, 0},
    {"Relu", 0, true, 0, 0},
    {"ScaledTanh", 2, false, 0, 0},
    {"Sigmoid", 0, true, 0, 0},
    {"Softplus", 0, true, 0, 0},
    {"Softsign", 0, true, 0, 0},
    {"Tanh", 0, true, 0, 0},
    {"ThresholdedRelu", 1, true, 1, 0},
};

template <typename T>
std::vector<T> ListOf(const Node& node, const char* name) {
  const auto it = node.attributes.find(name);
  if (it == node.attributes.end()) return {};
  const auto* list = std::get_if<std::vector<T>>(&it->second);
  return list == nullptr ? std::vector<T>() : *list;
}

const Known* Find(const std::string& name) {
  for (const Known& known : kKnown) {
    if (absl::EqualsIgnoreCase(known.name, name)) return &known;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<std::vector<Activation>> ActivationsOf(
    const Node& node, const std::vector<std::string>& defaults,
    size_t directions) {
  std::vector<std::string> names = ListOf<std::string>(node, "activations");
  const size_t count = defaults.size() * directions;
  if (names.empty()) {
    for (size_t i = 0; i < count; ++i) {
      names.push_back(defaults[i % defaults.size()]);
    }
  }
  if (names.size() != count) {
    return RejectNode(Rejection::kInvalidModel, node, "has ", names.size(),
                      " activations, must have ", count);
  }
  const auto alphas = ListOf<float>(node, "activation_alpha");
  const auto betas = ListOf<float>(node, "activation_beta");
  size_t alpha = 0, beta = 0;
  std::vector<Activation> all;
  for (const std::string& name : names) {
    const Known* known = Find(name);
    if (known == nullptr) {
      return RejectNode(Rejection::kInvalidModel, node, "activation '", name,
                        "' is not an ONNX activation");
    }
    const bool takes_alpha = known->parameters > 0 && alpha < alphas.size();
    const bool takes_beta = known->parameters > 1 && beta < betas.size();
    if (!known->defaults && !(takes_alpha && takes_beta)) {
      return RejectNode(Rejection::kInvalidModel, node, "activation ",
                        known->name,
                        " has no default: activation_alpha and "
                        "activation_beta must have its values");
    }
    all.push_back({known->name, takes_alpha ? alphas[alpha++] : known->alpha,
                   takes_beta ? betas[beta++] : known->beta});
  }
  return all;
}

TensorId Activate(Expansion* e, const Activation& activation, TensorId x) {
  const auto scalar = [&](float value) { return e->Number(value); };
  const auto scaled = [&](TensorId v, float by) {
    return by == 1 ? v : e->Add("Mul", {v, scalar(by)});
  };
  if (activation.name == "Affine") {
    x = scaled(x, activation.alpha);
    return activation.beta == 0 ? x
                                : e->Add("Add", {x, scalar(activation.beta)});
  }
  if (activation.name == "ScaledTanh") {
    return scaled(e->Add("Tanh", {scaled(x, activation.beta)}),
                  activation.alpha);
  }
  std::map<std::string, Attribute> attributes;
  const int parameters = Find(activation.name)->parameters;
  if (parameters > 0) attributes["alpha"] = activation.alpha;
  if (parameters > 1) attributes["beta"] = activation.beta;
  return e->Add(activation.name, {x}, attributes);
}

}  // namespace heddle::compiler

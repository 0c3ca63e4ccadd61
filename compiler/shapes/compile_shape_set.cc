// SPDX-License-Identifier: Apache-2.0
#include "compiler/shapes/compile_shape_set.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/sha256.h"
#include "compiler/base/status_macros.h"
#include "compiler/import/input_declaration.h"
#include "compiler/package/block_pool.h"
#include "compiler/shapes/independence.h"

namespace heddle::compiler {
namespace {

using package::ShapeSet;
using Values = std::vector<int64_t>;

// Of a batch that nobody names.
constexpr int64_t kDefaultBatches[] = {1, 2, 4, 8};

// The inputs whose dimensions are open, and the others with their shapes.
absl::StatusOr<std::vector<InputDeclaration>> Inputs(
    absl::string_view model, const CompileOptions& options) {
  std::vector<InputDeclaration> inputs;
  std::map<std::string, int64_t> fixed;
  for (InputDeclaration& input : DeclaredInputs(model)) {
    if (options.weights.count(input.name) != 0) continue;
    inputs.push_back(std::move(input));
  }
  for (const auto& [name, shape] : options.input_shapes) {
    bool known = false;
    for (const InputDeclaration& input : inputs) {
      known |= input.name == name;
      const auto& symbols = input.symbols;
      if (shape.size() == 1 && !name.empty() &&
          std::count(symbols.begin(), symbols.end(), name) != 0) {
        fixed[name] = shape[0];
        known = true;
      }
    }
    if (known) continue;
    return Reject(Rejection::kMismatchingShape,
                  absl::StrCat("a shape is given for '", name,
                               "', which is neither an input of the model nor "
                               "a dimension of one"));
  }
  for (InputDeclaration& input : inputs) {
    const auto given = options.input_shapes.find(input.name);
    if (given == options.input_shapes.end()) {
      if (input.has_shape) continue;
      return Reject(Rejection::kUnsupportedShape,
                    absl::StrCat("input '", input.name,
                                 "' has no shape in the model: give it with "
                                 "--shape"));
    }
    for (size_t i = 0; i < input.shape.size() && i < given->second.size();
         ++i) {
      if (input.shape[i] < 0) fixed[SymbolOf(input, i)] = given->second[i];
    }
    input.shape = given->second;
    input.symbols.assign(input.shape.size(), "");
    input.has_shape = true;
  }
  for (InputDeclaration& input : inputs) {
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const auto bound = fixed.find(SymbolOf(input, i));
      if (bound != fixed.end()) input.shape[i] = bound->second;
    }
  }
  return inputs;
}

// Open dimensions by name: whether each is the first one everywhere.
std::map<std::string, bool> SymbolsOf(
    const std::vector<InputDeclaration>& inputs) {
  std::map<std::string, bool> symbols;
  for (const InputDeclaration& input : inputs) {
    for (size_t i = 0; i < input.shape.size(); ++i) {
      if (input.shape[i] >= 0) continue;
      const auto entry = symbols.emplace(SymbolOf(input, i), true).first;
      entry->second = entry->second && i == 0;
    }
  }
  return symbols;
}

std::string Names(const std::map<std::string, bool>& symbols) {
  std::string text;
  for (const auto& [name, first] : symbols) {
    absl::StrAppend(&text, text.empty() ? "'" : ", '", name, "'");
  }
  return text;
}

// All combinations, the last symbol fastest.
std::vector<Values> Combinations(const ShapeValues& values) {
  std::vector<Values> all = {{}};
  for (const auto& [name, list] : values) {
    std::vector<Values> longer;
    for (const Values& begun : all) {
      for (int64_t value : list) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  return all;
}

absl::Status InCase(const absl::Status& status, const std::string& values) {
  const std::string message =
      absl::StrCat("with ", values, ": ", status.message());
  const Rejection kind = RejectionOf(status);
  return kind == Rejection::kNone ? absl::Status(status.code(), message)
                                  : Reject(kind, message);
}

class SetCompiler {
 public:
  SetCompiler(absl::string_view model, const CompileOptions& options)
      : model_(model), options_(options) {}

  absl::StatusOr<ShapeSetResult> Compile(const ShapeValues& values);

 private:
  void DeclareInputs(const std::vector<InputDeclaration>& inputs);
  absl::Status Describe(const package::Package& package);
  CompileOptions OptionsFor(const Values& values) const;
  absl::StatusOr<Graph> Analyse(const Values& values) const;
  void AddPadding(const ShapeValues& values);
  std::string Pad(size_t symbol, int64_t below,
                  package::Specialisation* made) const;

  const absl::string_view model_;
  const CompileOptions& options_;
  ShapeSet set_;
  ShapeSetResult result_;
};

void SetCompiler::DeclareInputs(const std::vector<InputDeclaration>& inputs) {
  for (const InputDeclaration& input : inputs) {
    package::SetInput declared;
    declared.name = input.name;
    for (size_t i = 0; i < input.shape.size(); ++i) {
      const bool open = input.shape[i] < 0;
      const auto at = open ? std::find(set_.symbols.begin(), set_.symbols.end(),
                                       SymbolOf(input, i))
                           : set_.symbols.end();
      declared.shape.push_back(open ? 0 : input.shape[i]);
      declared.symbols.push_back(
          open ? static_cast<int32_t>(at - set_.symbols.begin()) : -1);
    }
    set_.inputs.push_back(std::move(declared));
  }
}

// What any of the packages says.
absl::Status SetCompiler::Describe(const package::Package& package) {
  set_.model_name = package.model_name;
  set_.producer = package.producer;
  set_.config = package.config;
  set_.outputs = static_cast<uint32_t>(package.outputs.size());
  set_.model_sha256 = ModelSha256(model_);
  for (size_t i = 0; i < set_.inputs.size(); ++i) {
    if (i >= package.inputs.size() ||
        package.inputs[i].name != set_.inputs[i].name) {
      return absl::InternalError(absl::StrCat("the package has no input '",
                                              set_.inputs[i].name, "' at ", i));
    }
    set_.inputs[i].type = package.inputs[i].type;
  }
  return absl::OkStatus();
}

CompileOptions SetCompiler::OptionsFor(const Values& values) const {
  CompileOptions options = options_;
  options.input_shapes = set_.ShapesOf(values);
  if (options_.progress) {
    options.progress = [this, text = set_.Text(values)](const char* stage,
                                                        double part) {
      options_.progress(absl::StrCat(text, ": ", stage).c_str(), part);
    };
  }
  return options;
}

absl::StatusOr<Graph> SetCompiler::Analyse(const Values& values) const {
  return AnalyseOnnx(model_, OptionsFor(values), KeptByCaller(model_));
}

// From the specialisation's own value downwards; the last value that is proven,
// and why it ends there.
std::string SetCompiler::Pad(size_t symbol, int64_t below,
                             package::Specialisation* made) const {
  const int64_t own = made->values[symbol];
  const int64_t least = std::max(below + 1, own - kMostPadding);
  if (least >= own) return "";
  const auto many = Analyse(made->values);
  if (!many.ok()) return std::string(many.status().message());
  package::Padding padding;
  padding.symbol = static_cast<uint32_t>(symbol);
  padding.least = own;
  std::string why;
  for (int64_t value = own - 1; value >= least; --value) {
    Values fewer = made->values;
    fewer[symbol] = value;
    const auto few = Analyse(fewer);
    const absl::StatusOr<std::vector<CutAxis>> proof =
        few.ok() ? ProveIndependent(*few, *many, value, own) : few.status();
    std::vector<package::Padding::Axis> outputs;
    for (size_t i = 0; proof.ok() && i < proof->size(); ++i) {
      outputs.push_back({(*proof)[i].axis, (*proof)[i].inner});
    }
    const bool same =
        padding.outputs.empty() ||
        std::equal(outputs.begin(), outputs.end(), padding.outputs.begin(),
                   padding.outputs.end(), [](const auto& a, const auto& b) {
                     return a.axis == b.axis && a.inner == b.inner;
                   });
    if (!proof.ok() || !same) {
      why = proof.ok() ? "the outputs hold it in other places"
                       : std::string(proof.status().message());
      break;
    }
    padding.outputs = std::move(outputs);
    padding.least = value;
  }
  if (padding.least < own) made->padding.push_back(std::move(padding));
  return why;
}

void SetCompiler::AddPadding(const ShapeValues& values) {
  size_t symbol = 0;
  for (const auto& [name, list] : values) {
    int64_t below = 0;
    std::string why;
    bool gaps = false;
    for (int64_t value : list) {
      gaps |= value > below + 1;
      for (package::Specialisation& made : set_.specialisations) {
        if (made.values[symbol] != value || !why.empty()) continue;
        why = Pad(symbol, below, &made);
      }
      below = value;
    }
    ++symbol;
    if (!gaps) continue;
    result_.padding.push_back(
        why.empty() ? IsPadded(name)
                    : absl::StrCat("'", name, "' is not padded: ", why));
  }
}

absl::StatusOr<ShapeSetResult> SetCompiler::Compile(const ShapeValues& values) {
  ASSIGN_OR_RETURN(const auto inputs, Inputs(model_, options_));
  for (const auto& entry : values) set_.symbols.push_back(entry.first);
  DeclareInputs(inputs);
  package::BlockPool pool;
  uint64_t all = 0;
  for (const Values& combination : Combinations(values)) {
    auto compiled = CompileOnnx(model_, OptionsFor(combination));
    if (!compiled.ok()) {
      return InCase(compiled.status(), set_.Text(combination));
    }
    all += compiled->package.size();
    if (all > kMostSetBytes) {
      return absl::InvalidArgumentError(absl::StrCat(
          "the packages of all shapes together have more than ", kMostSetBytes,
          " bytes, at ", set_.Text(combination), "; request fewer"));
    }
    package::Specialisation made;
    made.values = combination;
    made.size = compiled->package.size();
    const uint64_t before = pool.bytes().size();
    made.extents = pool.Add(compiled->package);
    result_.specialisations.push_back({combination, made.size,
                                       pool.bytes().size() - before,
                                       compiled->report.estimated_cycles,
                                       compiled->report.host_nodes.size()});
    set_.specialisations.push_back(std::move(made));
    result_.largest = *std::move(compiled);
  }
  ASSIGN_OR_RETURN(const package::Package package,
                   package::Parse(result_.largest.package,
                                  KeptByCaller(result_.largest.package)));
  RETURN_IF_ERROR(Describe(package));
  AddPadding(values);
  set_.blocks =
      TensorBytes::View(pool.bytes().data(), pool.bytes().size(), nullptr);
  result_.package = package::Serialize(set_);
  result_.package_bytes = result_.package.size();
  result_.symbols = set_.symbols;
  return std::move(result_);
}

}  // namespace

std::string IsPadded(const std::string& symbol) {
  return absl::StrCat("'", symbol,
                      "' between the values is padded to the next one");
}

std::string ModelSha256(absl::string_view model) {
  return absl::BytesToHexString(Sha256Of(model));
}

absl::StatusOr<ShapeValues> AllShapeValues(absl::string_view model,
                                           const CompileOptions& options,
                                           const ShapeValues& given) {
  ASSIGN_OR_RETURN(const auto inputs, Inputs(model, options));
  const std::map<std::string, bool> symbols = SymbolsOf(inputs);
  if (symbols.empty()) {
    return absl::InvalidArgumentError(
        "--shape-set: the model has no open dimension; omit the option");
  }
  for (const auto& entry : given) {
    if (symbols.count(entry.first) != 0) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("--shape-set: the model has no open dimension '",
                     entry.first, "'; it has ", Names(symbols)));
  }
  ShapeValues values = given;
  uint64_t combinations = 1;
  for (const auto& [name, first] : symbols) {
    if (values.count(name) == 0) {
      if (!first) {
        return absl::InvalidArgumentError(
            absl::StrCat("--shape-set: dimension '", name,
                         "' has no values, and only a batch has defaults; add ",
                         name, "=A,B,..."));
      }
      values[name].assign(std::begin(kDefaultBatches),
                          std::end(kDefaultBatches));
    }
    combinations *= values[name].size();
    if (combinations > package::kMostSpecialisations) {
      return absl::InvalidArgumentError(
          absl::StrCat("--shape-set: more than ", package::kMostSpecialisations,
                       " combinations of values; request fewer"));
    }
  }
  if (values.size() > package::kMostSymbols) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--shape-set: ", values.size(), " open dimensions; at most ",
        package::kMostSymbols, ": settle some with --shape"));
  }
  return values;
}

absl::StatusOr<std::map<std::string, Shape>> LargestShapes(
    absl::string_view model, const CompileOptions& options,
    const ShapeValues& values) {
  ASSIGN_OR_RETURN(const auto inputs, Inputs(model, options));
  std::map<std::string, Shape> shapes;
  for (const InputDeclaration& input : inputs) {
    Shape shape = input.shape;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] < 0) shape[i] = values.at(SymbolOf(input, i)).back();
    }
    shapes.emplace(input.name, std::move(shape));
  }
  return shapes;
}

absl::StatusOr<ShapeSetResult> CompileShapeSet(absl::string_view model,
                                               const CompileOptions& options,
                                               const ShapeValues& given) {
  if (options.taps) {
    return absl::InvalidArgumentError(
        "a package of several shapes has no taps; compile one shape (--shape)");
  }
  ASSIGN_OR_RETURN(const ShapeValues values,
                   AllShapeValues(model, options, given));
  return SetCompiler(model, options).Compile(values);
}

}  // namespace heddle::compiler

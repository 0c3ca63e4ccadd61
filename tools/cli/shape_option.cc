// SPDX-License-Identifier: Apache-2.0
#include "tools/cli/shape_option.h"

#include <algorithm>
#include <cstdio>
#include <set>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "tools/cli/exit_code.h"
#include "tools/cli/printable.h"

namespace heddle::cli {
namespace {

// Sizes for an example: a batch of one, then those of an image or of a text.
constexpr int64_t kImageSide = 224, kTokens = 128;

// As a shell reads it back; names of tensors may hold anything.
std::string Quoted(const std::string& text) {
  const bool plain =
      !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
               (c >= 'A' && c <= 'Z') || absl::StrContains("_-./=,:", c);
      });
  if (plain) return text;
  return absl::StrCat(
      "'", absl::StrReplaceAll(Printable(text), {{"'", "'\\''"}}), "'");
}

// "; its WHAT are 'a', 'b'", the first ones; "" of none.
std::string SomeOf(const char* what, const std::vector<std::string>& names) {
  constexpr size_t kMost = 5;
  std::string text;
  for (size_t i = 0; i < names.size() && i < kMost; ++i) {
    absl::StrAppend(&text,
                    i == 0 ? absl::StrCat("; its ", what, " are ") : ", ", "'",
                    Printable(names[i]), "'");
  }
  return names.size() > kMost ? text + " and more" : text;
}

}  // namespace

absl::Status ParseShapes(const std::vector<std::string>& texts,
                         std::map<std::string, compiler::Shape>* shapes) {
  for (const std::string& text : texts) {
    const auto bad = [&text](const char* why) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--shape ", text, ": ", why,
          "; give NAME=D,D,... such as image=1,3,224,224, or a dimension's "
          "name, such as batch=1"));
    };
    // Names of tensors may contain '='.
    const size_t equals = text.rfind('=');
    if (equals == std::string::npos) return bad("no '=' and sizes");
    if (equals == 0) return bad("no name");
    compiler::Shape shape;
    const std::string list = text.substr(equals + 1);
    if (!list.empty()) {
      for (absl::string_view item : absl::StrSplit(list, ',')) {
        int64_t dimension = 0;
        if (!absl::SimpleAtoi(item, &dimension) || dimension < 1) {
          return bad("a dimension is not a positive number");
        }
        shape.push_back(dimension);
      }
    }
    if (!shapes->emplace(text.substr(0, equals), shape).second) {
      return bad("the name is given twice");
    }
  }
  return absl::OkStatus();
}

absl::Status CheckShapeNames(
    const std::map<std::string, compiler::Shape>& shapes,
    const std::vector<compiler::InputDeclaration>& inputs) {
  std::set<std::string> names, symbols;
  std::vector<std::string> in_order;
  for (const auto& input : inputs) {
    names.insert(input.name);
    in_order.push_back(input.name);
    symbols.insert(input.symbols.begin(), input.symbols.end());
  }
  symbols.erase("");
  for (const auto& [name, shape] : shapes) {
    if (names.count(name) != 0) continue;
    const std::string option = absl::StrCat("--shape ", Printable(name), "=",
                                            absl::StrJoin(shape, ","));
    if (symbols.count(name) == 0) {
      return UsageError(absl::StrCat(
          option, ": the model has no input or dimension '", Printable(name),
          "'", SomeOf("inputs", in_order),
          SomeOf("named dimensions", {symbols.begin(), symbols.end()})));
    }
    if (shape.size() != 1) {
      return UsageError(
          absl::StrCat(option, ": '", Printable(name),
                       "' is a dimension, which has one size; give NAME=D"));
    }
  }
  return absl::OkStatus();
}

absl::Status ParseBounds(const std::vector<std::string>& texts,
                         std::map<std::string, int64_t>* bounds) {
  for (const std::string& text : texts) {
    const size_t equals = text.rfind('=');
    int64_t most = 0;
    if (equals == std::string::npos || equals == 0 ||
        !absl::SimpleAtoi(text.substr(equals + 1), &most) || most < 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "--bound ", text,
          ": give NAME=N, the most that tensor NAME may be, such as "
          "max_length=2000"));
    }
    if (!bounds->emplace(text.substr(0, equals), most).second) {
      return absl::InvalidArgumentError(
          absl::StrCat("--bound ", text, ": the name is given twice"));
    }
  }
  return absl::OkStatus();
}

std::string ShapeExample(const std::vector<std::string>& command,
                         absl::string_view model,
                         const std::map<std::string, compiler::Shape>& shapes) {
  const std::vector<compiler::InputDeclaration> inputs =
      compiler::DeclaredInputs(model);
  const auto is_input = [&inputs](const std::string& name) {
    return std::any_of(inputs.begin(), inputs.end(),
                       [&name](const auto& i) { return i.name == name; });
  };
  // What the shapes that are given say of names, which other inputs share.
  std::map<std::string, int64_t> values;
  for (const auto& input : inputs) {
    for (const std::string& symbol : input.symbols) {
      const auto given = shapes.find(symbol);
      if (given != shapes.end() && given->second.size() == 1 &&
          !is_input(symbol)) {
        values[symbol] = given->second[0];
      }
    }
    const auto given = shapes.find(input.name);
    if (given == shapes.end()) continue;
    for (size_t i = 0; i < given->second.size() && i < input.symbols.size();
         ++i) {
      if (!input.symbols[i].empty()) {
        values[input.symbols[i]] = given->second[i];
      }
    }
  }
  // Two ways to say what is missing: sizes of names, which are shorter, but not
  // every open dimension has one of its own, and shapes of inputs.
  std::vector<std::string> names, whole;
  bool all_named = true;
  for (const auto& input : inputs) {
    if (shapes.count(input.name) != 0) continue;
    if (!input.has_shape) {
      whole.push_back(input.name + "=D,D,...");
      all_named = false;
      continue;
    }
    compiler::Shape shape = input.shape;
    bool open = false;
    for (size_t i = 0; i < shape.size(); ++i) {
      if (shape[i] >= 0) continue;
      const std::string& symbol = input.symbols[i];
      const auto known = values.find(symbol);
      if (known != values.end()) {
        shape[i] = known->second;
        continue;
      }
      open = true;
      shape[i] = i == 0 ? 1 : shape.size() == 4 ? kImageSide : kTokens;
      if (symbol.empty() || is_input(symbol)) {
        all_named = false;
      } else {
        names.push_back(absl::StrCat(symbol, "=", shape[i]));
      }
      if (!symbol.empty()) values[symbol] = shape[i];
    }
    if (open) {
      whole.push_back(absl::StrCat(input.name, "=", absl::StrJoin(shape, ",")));
    }
  }
  if (whole.empty()) return "";
  std::string text;
  for (const std::string& word : command) {
    absl::StrAppend(&text, text.empty() ? "" : " ", Quoted(word));
  }
  for (const std::string& option : all_named ? names : whole) {
    absl::StrAppend(&text, " --shape ", Quoted(option));
  }
  return text;
}

void PrintExample(const char* tool, const std::string& example) {
  if (example.empty()) return;
  std::fprintf(stderr, "%s: for example: %s\n", tool, example.c_str());
}

}  // namespace heddle::cli

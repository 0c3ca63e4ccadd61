// SPDX-License-Identifier: Apache-2.0
#include "onnxifi/conformance/spec.h"

#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "onnxifi/conformance/data.inc"  // kPairs and the like

namespace heddle::conformance {
namespace {

std::vector<std::vector<std::string>> Rows(const char* data) {
  std::vector<std::vector<std::string>> rows;
  for (absl::string_view line : absl::StrSplit(data, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    rows.push_back(Fields(std::string(line)));
  }
  return rows;
}

std::vector<std::string> Words(const std::string& text) {
  return absl::StrSplit(text, ' ', absl::SkipEmpty());
}

// "CASE CASE" or "none: REASON".
void SetCases(const std::string& field, std::vector<std::string>* cases,
              std::string* reason) {
  constexpr absl::string_view kNone = "none:";
  if (field.compare(0, kNone.size(), kNone.data()) == 0) {
    *reason = std::string(
        absl::StripAsciiWhitespace(absl::string_view(field).substr(5)));
  } else {
    *cases = Words(field);
  }
}

MustPass ReadMustPass(const char* name, const char* data) {
  MustPass list;
  list.name = name;
  for (const auto& row : Rows(data)) {
    const std::vector<std::string> words = Words(row[0]);
    if (words.size() == 2 && words[0] == "version") {
      list.version = words[1];
    } else {
      list.cases.insert(list.cases.end(), words.begin(), words.end());
    }
  }
  return list;
}

// may[function][status index]
struct Table {
  bool may[kFunctions][kStatuses] = {};
};

Table MakeTable() {
  Table table;
  for (const Pair& pair : Pairs()) {
    for (int f = 0; f < kFunctions; ++f) {
      if (pair.function != FunctionName(f)) continue;
      for (int s = 0; s + 1 < kStatuses; ++s) {
        if (pair.status == StatusName(StatusAt(s))) table.may[f][s] = true;
      }
    }
  }
  return table;
}

}  // namespace

std::vector<std::string> Fields(const std::string& line) {
  std::vector<std::string> fields;
  for (absl::string_view field : absl::StrSplit(line, '|')) {
    fields.emplace_back(absl::StripAsciiWhitespace(field));
  }
  return fields;
}

const std::vector<Pair>& Pairs() {
  static const auto* pairs = [] {
    auto* all = new std::vector<Pair>;
    for (auto& row : Rows(kPairs)) {
      row.resize(4);
      Pair pair;
      pair.kind = row[0] == "listed"      ? Pair::kListed
                  : row[0] == "extension" ? Pair::kExtension
                                          : Pair::kRule;
      pair.function = row[1];
      pair.status = row[2];
      SetCases(row[3], &pair.cases, &pair.reason);
      all->push_back(std::move(pair));
    }
    return all;
  }();
  return *pairs;
}

const std::vector<Sentence>& Sentences() {
  static const auto* sentences = [] {
    auto* all = new std::vector<Sentence>;
    for (auto& row : Rows(kSentences)) {
      row.resize(3);
      Sentence sentence;
      sentence.id = absl::StrCat("S", all->size() + 1);
      sentence.context = row[0];
      sentence.text = row[1];
      SetCases(row[2], &sentence.cases, &sentence.reason);
      all->push_back(std::move(sentence));
    }
    return all;
  }();
  return *sentences;
}

const std::vector<MustPass>& MustPassLists() {
  static const auto* lists =
      new std::vector<MustPass>{ReadMustPass("minimal", kMustPassMinimal),
                                ReadMustPass("full", kMustPassFull)};
  return *lists;
}

const std::vector<Mutant>& Mutants() {
  static const auto* mutants = [] {
    auto* all = new std::vector<Mutant>;
    for (auto& row : Rows(kMutants)) {
      row.resize(4);
      all->push_back({row[0], row[1], row[2], row[3]});
    }
    return all;
  }();
  return *mutants;
}

bool MayReturn(int function, onnxStatus status) {
  static const Table* table = new Table(MakeTable());
  const int index = StatusIndex(status);
  return index >= 0 && table->may[function][index];
}

}  // namespace heddle::conformance

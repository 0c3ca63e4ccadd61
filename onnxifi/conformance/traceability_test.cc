// SPDX-License-Identifier: Apache-2.0
// The tables of data/ against the headers of libonnx-dev and against the cases
// that there are.
#include <gtest/gtest.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "absl/strings/str_split.h"
#include "onnxifi/conformance/case.h"
#include "onnxifi/conformance/spec.h"

namespace heddle::conformance {
namespace {

constexpr char kHeader[] = "/usr/include/onnx/onnxifi.h";
constexpr char kExtensionHeader[] = "/usr/include/onnx/onnxifi_ext.h";

std::string Read(const char* path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// The words of a header's comments, one blank between them.
std::string Prose(const std::string& header) {
  std::string text;
  for (absl::string_view line : absl::StrSplit(header, '\n')) {
    line = absl::StripLeadingAsciiWhitespace(line);
    while (!line.empty() && (line[0] == '*' || line[0] == '&')) {
      line.remove_prefix(1);  // '&': a slip of the header
    }
    for (absl::string_view word :
         absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      text.append(word.data(), word.size());
      text += ' ';
    }
  }
  return text;
}

size_t Occurrences(const std::string& text, const std::string& word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string::npos;
       at = text.find(word, at + 1)) {
    ++count;
  }
  return count;
}

using Names = std::set<std::pair<std::string, std::string>>;

// The @retval lists: of each comment those of the function behind it.
Names ListsOf(const std::string& header) {
  Names names;
  static const std::regex kReturn("@retval ONNXIFI_STATUS_(\\w+)");
  static const std::regex kFunction("ONNXIFI_ABI\\s+(onnx[A-Z]\\w+)\\(");
  size_t at = 0;
  while ((at = header.find("/**", at)) != std::string::npos) {
    const size_t end = header.find("*/", at);
    const size_t next = header.find("/**", end);
    const std::string comment = header.substr(at, end - at);
    const std::string code = header.substr(
        end, next == std::string::npos ? std::string::npos : next - end);
    std::smatch function;
    if (std::regex_search(code, function, kFunction)) {
      for (std::sregex_iterator it(comment.begin(), comment.end(), kReturn), no;
           it != no; ++it) {
        names.insert({function[1], (*it)[1]});
      }
    }
    at = end;
  }
  return names;
}

// onnxGetExtensionFunctionAddress' comment is not directly before it, so the
// lists of the extension header are taken as they follow each other.
Names PairsOf(Pair::Kind kind) {
  Names names;
  for (const Pair& pair : Pairs()) {
    if (pair.kind != kind) continue;
    EXPECT_TRUE(names.insert({pair.function, pair.status}).second)
        << pair.function << " " << pair.status << " is there twice";
  }
  return names;
}

TEST(Traceability, PairsAreThoseOfTheHeader) {
  EXPECT_EQ(PairsOf(Pair::kListed), ListsOf(Read(kHeader)));
  EXPECT_EQ(PairsOf(Pair::kListed).size(), 135u);
  EXPECT_EQ(PairsOf(Pair::kExtension), ListsOf(Read(kExtensionHeader)));
}

TEST(Traceability, PairsNameFunctionsAndStatuses) {
  for (const Pair& pair : Pairs()) {
    bool function = false, status = false;
    for (int f = 0; f < kFunctions; ++f) {
      function |= pair.function == FunctionName(f);
    }
    for (int s = 0; s + 1 < kStatuses; ++s) {
      status |= pair.status == StatusName(StatusAt(s));
    }
    EXPECT_TRUE(function && status) << pair.function << " " << pair.status;
  }
}

TEST(Traceability, EveryPairHasACaseOrAReason) {
  for (const Pair& pair : Pairs()) {
    EXPECT_NE(pair.cases.empty(), pair.reason.empty())
        << pair.function << " " << pair.status;
    for (const std::string& id : pair.cases) {
      EXPECT_NE(FindCase(id), nullptr) << id;
    }
  }
}

TEST(Traceability, SentencesAreThoseOfTheHeaders) {
  const std::string prose =
      Prose(Read(kHeader)) + Prose(Read(kExtensionHeader));
  size_t musts = 0;
  for (const Sentence& sentence : Sentences()) {
    EXPECT_NE(prose.find(sentence.text), std::string::npos) << sentence.text;
    musts += Occurrences(sentence.text, "MUST");
  }
  EXPECT_EQ(musts, Occurrences(prose, "MUST")) << "a MUST of the headers is "
                                                  "not in sentences.txt";
}

TEST(Traceability, EverySentenceHasACaseOrAReason) {
  for (const Sentence& sentence : Sentences()) {
    EXPECT_NE(sentence.cases.empty(), sentence.reason.empty()) << sentence.text;
    for (const std::string& id : sentence.cases) {
      EXPECT_NE(FindCase(id), nullptr) << id;
    }
  }
}

TEST(Traceability, MustPassListsNameCases) {
  ASSERT_EQ(MustPassLists().size(), 2u);
  std::set<std::string> full;
  for (const MustPass& list : MustPassLists()) {
    EXPECT_FALSE(list.version.empty());
    std::set<std::string> ids;
    for (const std::string& id : list.cases) {
      const Case* found = FindCase(id);
      EXPECT_TRUE(ids.insert(id).second) << id << " is there twice";
      ASSERT_NE(found, nullptr) << id;
      EXPECT_EQ(found->flags & kRuleOnly, 0u)
          << id << " checks no sentence of the specification";
    }
    full = ids;
  }
  for (const std::string& id : MustPassLists()[0].cases) {
    EXPECT_EQ(full.count(id), 1u) << id << " is not in the full list";
  }
  for (const Case& c : AllCases()) {
    EXPECT_EQ(full.count(c.id), (c.flags & kRuleOnly) != 0 ? 0u : 1u) << c.id;
  }
}

TEST(Traceability, MutantsNameCases) {
  std::set<std::string> names;
  for (const Mutant& mutant : Mutants()) {
    EXPECT_TRUE(names.insert(mutant.name).second) << mutant.name;
    EXPECT_NE(FindCase(mutant.case_id), nullptr) << mutant.case_id;
    EXPECT_TRUE(mutant.verdict == "fail" || mutant.verdict == "quality warning")
        << mutant.name;
    EXPECT_FALSE(mutant.breaks.empty()) << mutant.name;
  }
}

TEST(Traceability, CasesHaveNamesOfTheirOwn) {
  std::set<std::string> ids;
  for (const Case& c : AllCases()) {
    EXPECT_TRUE(ids.insert(c.id).second) << c.id;
    EXPECT_NE(std::string(c.title), "") << c.id;
  }
}

}  // namespace
}  // namespace heddle::conformance

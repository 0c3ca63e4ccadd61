// SPDX-License-Identifier: Apache-2.0
#include "compiler/base/nearest_names.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"

namespace heddle::compiler {
namespace {

constexpr size_t kSuggestions = 5;
constexpr size_t kCompared = 200;  // letters of a name

// Levenshtein's distance.
size_t Distance(absl::string_view a, absl::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t change = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({change, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

struct Score {
  size_t distance = 0;
  bool part = false;  // one contains the other
};

Score ScoreOf(const std::string& name, const std::string& candidate) {
  const std::string wanted = absl::AsciiStrToLower(name.substr(0, kCompared));
  const std::string have =
      absl::AsciiStrToLower(candidate.substr(0, kCompared));
  Score score;
  score.distance = Distance(wanted, have);
  score.part =
      !wanted.empty() && !have.empty() &&
      (absl::StrContains(have, wanted) || absl::StrContains(wanted, have));
  if (score.part) score.distance = std::min<size_t>(score.distance, 2);
  return score;
}

}  // namespace

std::vector<std::string> NearestFirst(
    const std::string& name, const std::vector<std::string>& candidates) {
  std::map<std::string, size_t> distance;
  for (const std::string& candidate : candidates) {
    distance[candidate] = ScoreOf(name, candidate).distance;
  }
  std::vector<std::string> sorted = candidates;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const std::string& a, const std::string& b) {
                     return distance[a] < distance[b];
                   });
  return sorted;
}

std::vector<std::string> NearestNames(
    const std::string& name, const std::vector<std::string>& candidates) {
  const size_t most = std::max<size_t>(std::min(name.size(), kCompared), 3) / 3;
  std::vector<std::string> near;
  for (const std::string& candidate : candidates) {
    const Score score = ScoreOf(name, candidate);
    if (score.part || score.distance <= most) near.push_back(candidate);
  }
  std::sort(near.begin(), near.end());
  near.erase(std::unique(near.begin(), near.end()), near.end());
  near = NearestFirst(name, near);
  if (near.size() > kSuggestions) near.resize(kSuggestions);
  return near;
}

}  // namespace heddle::compiler

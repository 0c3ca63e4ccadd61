// SPDX-License-Identifier: Apache-2.0
// TfIdfVectorizer on integers, made of comparisons: how often each n-gram of a
// pool occurs in each row, with up to max_skip_count tokens left out between
// its own; weighted, if the mode says so. As in ONNX Runtime single tokens know
// no skips, and n-grams of one place are added up.
#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "compiler/base/status_macros.h"
#include "compiler/ops/expanded.h"

namespace heddle::compiler {
namespace {

// Comparisons of a token of all n-grams of a length: nodes of the expansion.
constexpr int64_t kMostComparisons = 4096;

// The n-grams of one length.
struct Grams {
  int64_t length = 0;
  std::vector<std::vector<int64_t>> tokens;
  std::vector<int64_t> places;  // in the result
  std::vector<float> weights;
};

struct Pool {
  std::vector<Grams> grams;  // of the lengths that are counted
  int64_t size = 0;          // of a row of the result
  std::string wrong;         // what the attributes contradict, or empty
};

Pool Wrong(const std::string& why) {
  Pool pool;
  pool.wrong = why;
  return pool;
}

Pool PoolOf(const Node& node) {
  const auto counts = node.IntsAttribute("ngram_counts", {});
  const auto places = node.IntsAttribute("ngram_indexes", {});
  const auto tokens = node.IntsAttribute("pool_int64s", {});
  const int64_t least = node.IntAttribute("min_gram_length", 0);
  const int64_t most = node.IntAttribute("max_gram_length", 0);
  if (least < 1 || most < least) {
    return Wrong(absl::StrCat("n-grams have ", least, " to ", most, " tokens"));
  }
  if (node.IntAttribute("max_skip_count", 0) < 0) {
    return Wrong("max_skip_count is negative");
  }
  if (most > static_cast<int64_t>(counts.size())) {
    return Wrong(absl::StrCat("ngram_counts knows ", counts.size(),
                              " lengths, max_gram_length is ", most));
  }
  const auto end = static_cast<int64_t>(tokens.size());
  const auto found = node.attributes.find("weights");
  const auto weights = found == node.attributes.end()
                           ? std::vector<float>(places.size(), 1)
                           : std::get<std::vector<float>>(found->second);
  if (weights.size() != places.size()) {
    return Wrong(
        absl::StrCat(weights.size(), " weights, ", places.size(), " n-grams"));
  }
  Pool pool;
  size_t next = 0;  // n-gram of the pool
  std::set<std::vector<int64_t>> seen;
  for (size_t i = 0; i < counts.size(); ++i) {
    const int64_t length = static_cast<int64_t>(i) + 1;
    const int64_t from = counts[i],
                  to = i + 1 < counts.size() ? counts[i + 1] : end;
    if (from < 0 || from > to || to > end || (to - from) % length != 0) {
      return Wrong(absl::StrCat("n-grams of ", length, " tokens are [", from,
                                ", ", to, ") of ", end, " in the pool"));
    }
    Grams grams;
    grams.length = length;
    for (int64_t at = from; at < to; at += length, ++next) {
      if (next >= places.size()) {
        return Wrong("the pool has more n-grams than ngram_indexes");
      }
      if (length < least || length > most) continue;
      grams.tokens.emplace_back(tokens.begin() + at,
                                tokens.begin() + at + length);
      if (!seen.insert(grams.tokens.back()).second) {
        return Wrong(absl::StrCat("n-gram ", next, " is repeated in the pool"));
      }
      grams.places.push_back(places[next]);
      grams.weights.push_back(weights[next]);
    }
    if (!grams.tokens.empty()) pool.grams.push_back(std::move(grams));
  }
  if (next != places.size()) {
    return Wrong("the pool has fewer n-grams than ngram_indexes");
  }
  for (int64_t place : places) {
    if (place < 0) return Wrong("ngram_indexes has a negative one");
    if (place >= kMostTableElements) {
      return Wrong(absl::StrCat("ngram_indexes has ", place));
    }
    pool.size = std::max(pool.size, place + 1);
  }
  if (pool.size == 0) return Wrong("the pool is empty");
  return pool;
}

class Counter {
 public:
  explicit Counter(Expansion* e) : e_(e) {
    const Tensor& x = e->T(e->In(0));
    rows_ = x.shape.size() == 2 ? x.shape[0] : 1;
    columns_ = x.shape.back();
    type_ = x.type;
    x_ = e->Reshape(e->In(0), {rows_, 1, columns_});
  }

  // [rows, pool.size]: how often each occurs, as the mode says.
  absl::StatusOr<TensorId> Count(const Pool& pool) {
    std::vector<float> weights;
    std::vector<TensorId> parts;
    std::vector<std::vector<int64_t>> columns(pool.size);
    int64_t count = 0;
    for (const Grams& grams : pool.grams) {
      ASSIGN_OR_RETURN(const TensorId part, Occurrences(grams));
      if (part == kNoTensor) continue;  // longer than a row
      parts.push_back(part);
      for (int64_t place : grams.places) columns[place].push_back(count++);
      weights.insert(weights.end(), grams.weights.begin(), grams.weights.end());
    }
    weights.push_back(0);
    // What is nowhere.
    parts.push_back(
        e_->Constant(TensorData::Zeros(DataType::kFloat, {rows_, 1})));
    const TensorId all =
        Weighted(e_->Add("Concat", parts, {{"axis", int64_t{1}}}), weights);
    size_t most = 1;  // n-grams with the same place
    for (const auto& c : columns) most = std::max(most, c.size());
    RETURN_IF_ERROR(
        CheckTable(e_->node(), static_cast<int64_t>(most), pool.size));
    TensorId sum = kNoTensor;
    for (size_t k = 0; k < most; ++k) {
      std::vector<int64_t> from(pool.size, count);
      for (int64_t i = 0; i < pool.size; ++i) {
        if (k < columns[i].size()) from[i] = columns[i][k];
      }
      const TensorId part =
          e_->Add("Gather", {all, e_->Ints(from)}, {{"axis", int64_t{1}}});
      sum = sum == kNoTensor ? part : e_->Add("Add", {sum, part});
    }
    return sum;
  }

 private:
  // [rows, n-grams], or none where no row is as long.
  absl::StatusOr<TensorId> Occurrences(const Grams& grams) {
    const int64_t skips =
        grams.length == 1 ? 0 : e_->node().IntAttribute("max_skip_count", 0);
    std::vector<TensorId> tokens;
    for (int64_t j = 0; j < grams.length; ++j) {
      tokens.push_back(Tokens(grams, j));
    }
    TensorId sum = kNoTensor;
    for (int64_t skip = 0; skip <= skips; ++skip) {
      // No product: both are a model's.
      if ((columns_ - 1) / (skip + 1) < grams.length - 1) break;
      const int64_t windows = columns_ - (grams.length - 1) * (skip + 1);
      comparisons_ += grams.length;
      if (comparisons_ > kMostComparisons) {
        return RejectNode(
            Rejection::kUnsupportedAttribute, e_->node(),
            "its n-grams and skips take more than ", kMostComparisons,
            " comparisons; lower max_gram_length or max_skip_count");
      }
      TensorId hit = kNoTensor;
      for (int64_t j = 0; j < grams.length; ++j) {
        const int64_t at = j * (skip + 1);
        const TensorId equal = e_->Add(
            "Equal",
            {e_->Add("Slice", {x_, e_->Ints({at}), e_->Ints({at + windows}),
                               e_->Ints({2})}),
             tokens[j]});
        hit = hit == kNoTensor ? equal : e_->Add("And", {hit, equal});
      }
      const TensorId count =
          e_->Add("ReduceSum", {e_->Cast(hit, DataType::kFloat), e_->Ints({2})},
                  {{"keepdims", int64_t{0}}});
      sum = sum == kNoTensor ? count : e_->Add("Add", {sum, count});
    }
    return sum;
  }

  // Counts, or whether there are any, times weights, of the last dimension.
  TensorId Weighted(TensorId counts, const std::vector<float>& weights) {
    const std::string mode = e_->node().StringAttribute("mode", "");
    if (mode == "TF") return counts;
    if (mode == "IDF") {
      counts = e_->Cast(
          e_->Add("Greater", {counts, e_->Scalar(DataType::kFloat, 0)}),
          DataType::kFloat);
    }
    TensorData by = TensorData::Zeros(DataType::kFloat,
                                      {static_cast<int64_t>(weights.size())});
    std::copy(weights.begin(), weights.end(), by.as<float>());
    return e_->Add("Mul", {counts, e_->Constant(std::move(by))});
  }

  // [n-grams, 1]: token j of each.
  TensorId Tokens(const Grams& grams, int64_t j) {
    const auto count = static_cast<int64_t>(grams.tokens.size());
    TensorData data = TensorData::Zeros(type_, {count, 1});
    for (int64_t i = 0; i < count; ++i) {
      const int64_t token = grams.tokens[i][j];
      if (type_ == DataType::kInt64) {
        data.as<int64_t>()[i] = token;
      } else {
        data.as<int32_t>()[i] = static_cast<int32_t>(token);
      }
    }
    return e_->Constant(std::move(data));
  }

  Expansion* e_;
  TensorId x_;
  DataType type_;
  int64_t rows_, columns_, comparisons_ = 0;
};

absl::Status Expand(Expansion* e) {
  Pool pool = PoolOf(e->node());
  if (e->T(e->In(0)).type == DataType::kInt32) {
    // What is no int32 occurs nowhere.
    for (Grams& grams : pool.grams) {
      Grams kept;
      kept.length = grams.length;
      for (size_t i = 0; i < grams.tokens.size(); ++i) {
        const auto& t = grams.tokens[i];
        if (std::any_of(t.begin(), t.end(), [](int64_t v) {
              return v != static_cast<int32_t>(v);
            })) {
          continue;
        }
        kept.tokens.push_back(t);
        kept.places.push_back(grams.places[i]);
        kept.weights.push_back(grams.weights[i]);
      }
      grams = std::move(kept);
    }
  }
  pool.grams.erase(
      std::remove_if(pool.grams.begin(), pool.grams.end(),
                     [](const Grams& g) { return g.tokens.empty(); }),
      pool.grams.end());
  ASSIGN_OR_RETURN(TensorId y, Counter(e).Count(pool));
  Shape shape = e->T(e->In(0)).shape;
  shape.back() = pool.size;
  e->Return(0, e->Reshape(y, shape), DataType::kFloat);
  return absl::OkStatus();
}

bool HasRows(const Graph& graph, const Node& node, std::string* detail) {
  const Shape& shape = InputOf(graph, node, 0).shape;
  *detail = absl::StrCat("its shape is ", ShapeToString(shape));
  return (shape.size() == 1 || shape.size() == 2) && shape.back() > 0;
}
bool IsMode(const Graph&, const Node& node, std::string* detail) {
  const std::string mode = node.StringAttribute("mode", "");
  *detail = absl::StrCat("mode is '", mode, "'");
  return mode == "TF" || mode == "IDF" || mode == "TFIDF";
}
bool CountsIntegers(const Graph&, const Node& node, std::string* detail) {
  *detail = "pool_strings is given";
  return node.attributes.count("pool_strings") == 0;
}
bool PoolIsOne(const Graph&, const Node& node, std::string* detail) {
  *detail = PoolOf(node).wrong;
  return detail->empty();
}
const ExpandedOperator kTfIdf(
    Define("TfIdfVectorizer", 9, kMaxOpset)
        .Inputs(1, 1, kIndices)
        .Attr("max_gram_length", AttributeKind::kInt, true)
        .Attr("max_skip_count", AttributeKind::kInt, true)
        .Attr("min_gram_length", AttributeKind::kInt, true)
        .Attr("mode", AttributeKind::kString, true)
        .Attr("ngram_counts", AttributeKind::kInts, true)
        .Attr("ngram_indexes", AttributeKind::kInts, true)
        .Attr("pool_int64s", AttributeKind::kInts)
        .Attr("pool_strings", AttributeKind::kStrings)
        .Attr("weights", AttributeKind::kFloats)
        .Rule(Rejection::kUnsupportedAttribute, "the pool is of integers",
              CountsIntegers)
        .Rule(Rejection::kInvalidModel,
              "input is a row or a matrix of one token or more", HasRows)
        .Rule(Rejection::kInvalidModel, "mode is TF, IDF or TFIDF", IsMode)
        .Rule(Rejection::kInvalidModel,
              "ngram_counts, ngram_indexes, pool, lengths and weights agree",
              PoolIsOne),
    Expand);

}  // namespace
}  // namespace heddle::compiler

// SPDX-License-Identifier: Apache-2.0
// What is known of names while sequences are replaced (sequences.h): which are
// sequences and of what, and which are constants of integers.
#ifndef HEDDLE_COMPILER_IMPORT_SEQUENCE_SCOPE_H_
#define HEDDLE_COMPILER_IMPORT_SEQUENCE_SCOPE_H_

#include <onnx/onnx_pb.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "compiler/import/wire_check.h"

namespace heddle::compiler {

struct Sequence {
  // Either these tensors,
  std::vector<std::string> items;
  // or, if this is not empty, its pieces of `size` rows along `axis`; `keep`:
  // pieces, which then are of one row, have that dimension.
  std::string whole;
  int64_t axis = 0, size = 1;
  bool keep = true;

  bool IsList() const { return whole.empty(); }
};

// Rank 0 is a scalar, more than 1 there is none.
struct IntegerConstant {
  std::vector<int64_t> values;
  int rank = 0;
};

// Of more values nothing is known.
inline constexpr size_t kMostKnownValues = size_t{1} << 14;

// A graph, and those around it. No inner name hides an outer one.
class SequenceScope {
 public:
  explicit SequenceScope(const SequenceScope* outer = nullptr)
      : outer_(outer) {}

  // Null: it is none.
  const Sequence* FindSequence(const std::string& name) const;
  const IntegerConstant* FindConstant(const std::string& name) const;

  void SetSequence(const std::string& name, Sequence sequence) {
    sequences_[name] = std::move(sequence);
  }
  // Constants: an initializer, or what a Constant makes. `raw`: where the
  // raw_data of the model's tensors is.
  void AddTensor(const std::string& name, const onnx::TensorProto& tensor,
                 const TakenBytes& raw);
  void AddConstant(const onnx::NodeProto& node, const TakenBytes& raw);

 private:
  const SequenceScope* outer_;
  std::map<std::string, Sequence> sequences_;
  std::map<std::string, IntegerConstant> constants_;
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_SEQUENCE_SCOPE_H_

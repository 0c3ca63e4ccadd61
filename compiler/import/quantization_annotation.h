// SPDX-License-Identifier: Apache-2.0
// GraphProto.quantization_annotation: names of tensors that hold scale and zero
// point of another tensor.
//
// Nothing is computed from them: what the card computes in integers is said by
// QuantizeLinear, DequantizeLinear and the QLinear operators. They are checked,
// and what they say goes to the report.
#ifndef HEDDLE_COMPILER_IMPORT_QUANTIZATION_ANNOTATION_H_
#define HEDDLE_COMPILER_IMPORT_QUANTIZATION_ANNOTATION_H_

#include <onnx/onnx_pb.h>

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "compiler/ir/graph.h"

namespace heddle::compiler {

// Adds one line per annotation to graph->notes. `find` gives the tensor of a
// name, or kNoTensor. Rejections: kInvalidModel (a name that nothing defines,
// repeated keys, a zero point without scale, shapes that disagree),
// kMismatchingDatatype.
absl::Status CheckAnnotations(
    const onnx::GraphProto& proto,
    const std::function<TensorId(const std::string&)>& find, Graph* graph);

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IMPORT_QUANTIZATION_ANNOTATION_H_

// SPDX-License-Identifier: Apache-2.0
#include "compiler/import/parse_model.h"

#include <google/protobuf/io/coded_stream.h>

#include <cstdint>
#include <limits>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "compiler/base/diagnostic.h"
#include "compiler/base/status_macros.h"

namespace heddle::compiler {

absl::Status ParseModel(absl::string_view bytes, onnx::ModelProto* model,
                        TakenBytes* raw) {
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return Reject(Rejection::kInvalidProtobuf,
                  absl::StrCat("the model has ", bytes.size(),
                               " bytes, protobuf allows 2147483647"));
  }
  const google::protobuf::FieldDescriptor* raw_data =
      onnx::TensorProto::descriptor()->FindFieldByNumber(
          onnx::TensorProto::kRawDataFieldNumber);
  ASSIGN_OR_RETURN(
      *raw, TakeBytes(bytes, *onnx::ModelProto::descriptor(), *raw_data));
  const std::string rest = std::move(raw->rest);
  google::protobuf::io::CodedInputStream stream(
      reinterpret_cast<const uint8_t*>(rest.data()),
      static_cast<int>(rest.size()));
  stream.SetRecursionLimit(100);
  if (!model->ParseFromCodedStream(&stream) ||
      !stream.ConsumedEntireMessage()) {
    return Reject(Rejection::kInvalidProtobuf,
                  "not an ONNX model: protobuf cannot parse it");
  }
  return absl::OkStatus();
}

}  // namespace heddle::compiler

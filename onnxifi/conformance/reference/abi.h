// SPDX-License-Identifier: Apache-2.0
// Which of the two ABIs this library is compiled for: that of libonnx-dev with
// -DONNXIFI_REFERENCE_ONNX1, else the extended one. Only their headers differ.
#ifndef ONNXIFI_CONFORMANCE_REFERENCE_ABI_H_
#define ONNXIFI_CONFORMANCE_REFERENCE_ABI_H_

#ifdef ONNXIFI_REFERENCE_ONNX1
#include <onnx/onnxifi.h>
#include <onnx/onnxifi_ext.h>
#else
#include <heddle/onnxifi.h>
#include <heddle/onnxifi_ext.h>
#endif

#endif  // ONNXIFI_CONFORMANCE_REFERENCE_ABI_H_

/* SPDX-License-Identifier: Apache-2.0
 *
 * The header as a C99 program sees it: types, values, layout. */
#include <onnxifi.h>
#include <onnxifi_ext.h>
#include <stdio.h>

static int failures = 0;

static void Check(int condition, const char* text) {
  if (condition) return;
  printf("failed: %s\n", text);
  ++failures;
}
#define CHECK(condition) Check(condition, #condition)

int main(void) {
  static const int statuses[] = {
      0x0000, 0x0001, 0x0101, 0x0102, 0x0103, 0x0104, 0x0105, 0x0106,
      0x0107, 0x0108, 0x0109, 0x010A, 0x010B, 0x010C, 0x010D, 0x010E,
      0x010F, 0x0110, 0x0201, 0x0202, 0x0203, 0x0204, 0x0205, 0x0206,
      0x0207, 0x0208, 0x0209, 0x0301, 0x0302, 0x0303, 0x0401, 0x0402,
      0x0403, 0x0404, 0x0405, 0x0406, 0x0407};
  static const int declared[] = {ONNXIFI_STATUS_SUCCESS,
                                 ONNXIFI_STATUS_FALLBACK,
                                 ONNXIFI_STATUS_INVALID_ID,
                                 ONNXIFI_STATUS_INVALID_SIZE,
                                 ONNXIFI_STATUS_INVALID_POINTER,
                                 ONNXIFI_STATUS_INVALID_PROTOBUF,
                                 ONNXIFI_STATUS_INVALID_MODEL,
                                 ONNXIFI_STATUS_INVALID_BACKEND,
                                 ONNXIFI_STATUS_INVALID_GRAPH,
                                 ONNXIFI_STATUS_INVALID_EVENT,
                                 ONNXIFI_STATUS_INVALID_STATE,
                                 ONNXIFI_STATUS_INVALID_NAME,
                                 ONNXIFI_STATUS_INVALID_SHAPE,
                                 ONNXIFI_STATUS_INVALID_DATATYPE,
                                 ONNXIFI_STATUS_INVALID_MEMORY_TYPE,
                                 ONNXIFI_STATUS_INVALID_MEMORY_LOCATION,
                                 ONNXIFI_STATUS_INVALID_FENCE_TYPE,
                                 ONNXIFI_STATUS_INVALID_PROPERTY,
                                 ONNXIFI_STATUS_UNSUPPORTED_TAG,
                                 ONNXIFI_STATUS_UNSUPPORTED_VERSION,
                                 ONNXIFI_STATUS_UNSUPPORTED_OPERATOR,
                                 ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE,
                                 ONNXIFI_STATUS_UNSUPPORTED_SHAPE,
                                 ONNXIFI_STATUS_UNSUPPORTED_DATATYPE,
                                 ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE,
                                 ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE,
                                 ONNXIFI_STATUS_UNSUPPORTED_PROPERTY,
                                 ONNXIFI_STATUS_UNIDENTIFIED_NAME,
                                 ONNXIFI_STATUS_MISMATCHING_SHAPE,
                                 ONNXIFI_STATUS_MISMATCHING_DATATYPE,
                                 ONNXIFI_STATUS_NO_SYSTEM_MEMORY,
                                 ONNXIFI_STATUS_NO_DEVICE_MEMORY,
                                 ONNXIFI_STATUS_NO_SYSTEM_RESOURCES,
                                 ONNXIFI_STATUS_NO_DEVICE_RESOURCES,
                                 ONNXIFI_STATUS_BACKEND_UNAVAILABLE,
                                 ONNXIFI_STATUS_INTERNAL_ERROR,
                                 ONNXIFI_STATUS_FATAL_ERROR};
  size_t i;
  CHECK(sizeof(statuses) == sizeof(declared));
  for (i = 0; i < sizeof(statuses) / sizeof(statuses[0]); ++i) {
    CHECK(statuses[i] == declared[i]);
  }
  CHECK(sizeof(onnxStatus) == 4 && (onnxStatus)-1 < 0);
  CHECK(sizeof(onnxBackendInfo) == 4 && sizeof(onnxEventState) == 4);
  CHECK(sizeof(onnxEnum) == 8 && (onnxEnum)-1 > 0);
  CHECK(sizeof(onnxBitfield) == 8 && sizeof(onnxPointer) == 8);
  CHECK(sizeof(onnxTensorDescriptorV1) == 96);
  CHECK(offsetof(onnxTensorDescriptorV1, quantizationAxis) == 48);
  CHECK(offsetof(onnxTensorDescriptorV1, isOffline) == 80);
  CHECK(offsetof(onnxTensorDescriptorV1, buffer) == 88);
  CHECK(sizeof(onnxMemoryFenceV1) == 24);
  CHECK(offsetof(onnxMemoryFenceV1, event) == 16);
  CHECK(offsetof(onnxTraceEvent, eventType) == 33);
  CHECK(offsetof(onnxTraceEvent, timestamp) == 40);
  CHECK(sizeof(onnxTraceEvent) == 64);
  CHECK(ONNXIFI_EVENT_STATE_NONSIGNALLED == 0x16BD);
  CHECK(ONNXIFI_EVENT_STATE_SIGNALLED == 0x3395);
  CHECK(ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1 == 0x43DFBF69);
  CHECK(ONNXIFI_TAG_MEMORY_FENCE_V1 == 0x23E08AAB);
  CHECK(ONNXIFI_DATATYPE_BFLOAT16 == 16 && ONNXIFI_DATATYPE_FLOAT16 == 10);
  return failures != 0;
}

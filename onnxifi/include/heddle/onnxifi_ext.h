/* SPDX-License-Identifier: Apache-2.0
 *
 * Extension functions of libonnxifi-heddle, looked up by name:
 *
 *   onnxExtensionFunctionPointer f;
 *   onnxGetExtensionFunctionAddress(id, "onnxWaitEventForFunction", &f);
 *   ((onnxWaitEventForFunction)f)(event, 100, ...);
 *
 * - "onnxSetIOAndRunGraph": heddleSetIOAndRunGraphFunction, 6 arguments;
 * - "onnxSetIOAndRunGraphFunction": onnxSetIOAndRunGraphFunction, 7 arguments;
 * - "onnxWaitEventFor", "onnxWaitEventForFunction";
 * - "onnxReleaseTraceEvents", "onnxReleaseTraceEventsFunction";
 * - "heddleGetOutputShape": heddleGetOutputShapeFunction;
 * - "onnxSetOption", "onnxSetOptionFunction";
 * - "onnxGetOption", "onnxGetOptionFunction";
 * - "onnxGetExtensionFunctionAddress", "onnx_extension_function".
 */
#ifndef ONNXIFI_EXT_H
#define ONNXIFI_EXT_H 1

#include "onnxifi.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A property of onnxInitBackend (both ABIs): what to do with a graph that has
 * nodes which the card cannot run. Without it, and always for
 * onnxGetBackendCompatibility, which takes no properties, the environment
 * variable HEDDLE_HOST_NODES=refuse|fallback|success decides (default:
 * fallback). */
#define HEDDLE_BACKEND_PROPERTY_HOST_NODES UINT64_C(0x0000000100000000)
/* onnxInitGraph rejects the graph: UNSUPPORTED_OPERATOR and the like. */
#define HEDDLE_HOST_NODES_REFUSE 0
/* Those nodes run on the host, with the same results: FALLBACK. */
#define HEDDLE_HOST_NODES_FALLBACK 1
/* The same, for clients that treat FALLBACK as a failure: SUCCESS. A graph that
 * the card emulates (grouped convolutions) is then SUCCESS too. */
#define HEDDLE_HOST_NODES_SUCCESS 2

/* Any function; convert it to its own type before calling it. */
typedef onnxStatus(ONNXIFI_ABI* onnxExtensionFunctionPointer)(void);

/* Stores the function `name`, for use with objects of this ID; NULL after a
 * failure.
 * Returns SUCCESS, INVALID_ID, INVALID_POINTER (name or function NULL),
 * UNIDENTIFIED_NAME, BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* onnxGetExtensionFunctionAddressFunction)(
    onnxBackendID backendID, const char* name,
    onnxExtensionFunctionPointer* function);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxGetExtensionFunctionAddress(onnxBackendID backendID, const char* name,
                                onnxExtensionFunctionPointer* function);

#define ONNXIFI_TRACE_EVENT_NAME_SIZE 32

/* A point or span on a run's timeline. */
typedef struct onnxTraceEvent {
  char eventName[ONNXIFI_TRACE_EVENT_NAME_SIZE + 1];
  /* 'B' begin, 'E' end, 'I' instant, 'X' begin with duration. */
  char eventType;
  /* Microseconds since 1970. */
  uint64_t timestamp;
  uint32_t tid;
  /* Of 'X', in microseconds. */
  uint64_t duration;
} onnxTraceEvent;

typedef struct onnxTraceEventList {
  uint64_t numEvents;
  onnxTraceEvent** traceEvents;
} onnxTraceEventList;

/* onnxSetGraphIO and onnxRunGraph in one atomic step, with inputs that are
 * ready. The locations stay set afterwards.
 * Returns what onnxSetGraphIO returns, and for the fence INVALID_POINTER,
 * UNSUPPORTED_TAG, INVALID_FENCE_TYPE, UNSUPPORTED_FENCE_TYPE. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* heddleSetIOAndRunGraphFunction)(
    onnxGraph graph, uint32_t inputsCount,
    const onnxTensorDescriptorV1* inputDescriptors, uint32_t outputsCount,
    const onnxTensorDescriptorV1* outputDescriptors,
    onnxMemoryFenceV1* outputFence);

/* The same with a timeline: `traceEvents` is NULL, or a list that is filled
 * before the output event is signalled and freed by onnxReleaseTraceEvents. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* onnxSetIOAndRunGraphFunction)(
    onnxGraph graph, uint32_t inputsCount,
    const onnxTensorDescriptorV1* inputDescriptors, uint32_t outputsCount,
    const onnxTensorDescriptorV1* outputDescriptors,
    onnxMemoryFenceV1* outputFence, onnxTraceEventList* traceEvents);

/* Frees the events of a list and empties it.
 * Returns SUCCESS, INVALID_POINTER. */
typedef onnxStatus(ONNXIFI_ABI* onnxReleaseTraceEventsFunction)(
    onnxTraceEventList* traceEvents);

/* onnxWaitEvent with a timeout in milliseconds (0: none). SUCCESS with
 * *eventState NONSIGNALLED means that the timeout has expired. When the event
 * is signalled, *eventStatus is the status of the run and `message` explains
 * it, in at most *messageLength bytes including the final NUL; *messageLength
 * becomes the length without the NUL.
 * Returns SUCCESS, INVALID_EVENT, INVALID_POINTER (any of the four NULL),
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxWaitEventForFunction)(
    onnxEvent event, uint32_t timeoutMs, onnxEventState* eventState,
    onnxStatus* eventStatus, char* message, size_t* messageLength);

/* The shape of output `name` in the run whose output event is `event`. For an
 * output of data-dependent size (VARIABLE_SIZE_OUTPUTS) this is the actual
 * shape, of which the descriptor's is the upper limit; its elements fill the
 * start of the buffer, in row-major order of this shape. For other outputs it
 * is the shape of the descriptor. `*dimensions` is the capacity of `shape` and
 * becomes the number of dimensions; `shape` may be NULL with 0.
 * Returns SUCCESS, FALLBACK (no room: `*dimensions` is stored, `shape` is not),
 * INVALID_EVENT, INVALID_STATE (not the output event of a run, or the run has
 * not ended, or failed), INVALID_NAME, INVALID_POINTER, BACKEND_UNAVAILABLE,
 * INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* heddleGetOutputShapeFunction)(onnxEvent event,
                                               const char* name,
                                               uint32_t* dimensions,
                                               uint64_t* shape);

/* Sets an option of the process. The only one is "heddle_log", the log level of
 * what has no property LOG_LEVEL: "debug", "info", "warning", "error", "off".
 * It replaces that of the environment variable HEDDLE_LOG, for backends that
 * are initialised afterwards and for calls that concern no backend.
 * Returns SUCCESS, INVALID_NAME (no such option), INVALID_POINTER,
 * UNSUPPORTED_ATTRIBUTE (not one of its values). */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxSetOptionFunction)(
    const char* optionName, const char* optionValue);

/* Stores the value of an option, with its final NUL. `*optionValueLength` is
 * the room and becomes the length without the NUL.
 * Returns SUCCESS, INVALID_NAME, INVALID_POINTER, UNSUPPORTED_ATTRIBUTE (no
 * room; nothing is stored). */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxGetOptionFunction)(
    const char* optionName, char* optionValue, size_t* optionValueLength);

/* The structure behind deferredWeightReader of onnxInitGraph. onnxInitGraph
 * calls `read` on the calling thread, once for each weight descriptor with
 * isOffline; it fills `size` bytes and returns SUCCESS. Any other status makes
 * onnxInitGraph return INTERNAL_ERROR. */
#define HEDDLE_TAG_DEFERRED_WEIGHT_READER_V1 0x48575231
typedef struct heddleDeferredWeightReader {
  /* HEDDLE_TAG_DEFERRED_WEIGHT_READER_V1. */
  int32_t tag;
  void* context;
  onnxStatus(ONNXIFI_ABI* read)(void* context, const char* name, void* buffer,
                                uint64_t size);
} heddleDeferredWeightReader;

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ONNXIFI_EXT_H */

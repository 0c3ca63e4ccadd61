/* SPDX-License-Identifier: Apache-2.0
 *
 * ONNXIFI, the ONNX Interface for Framework Integration, in its extended form:
 * 96-byte tensor descriptors that carry quantization parameters, and a
 * nine-argument onnxInitGraph. C90 apart from <stdint.h>; C++ friendly.
 *
 *   cc -I PREFIX/include/heddle program.c -lonnxifi-heddle
 *   #include <onnxifi.h>        (and <onnxifi_ext.h> for extension functions)
 *
 * Programs written against ONNX 1.x's own <onnx/onnxifi.h> (56-byte
 * descriptors, seven arguments) link
 * PREFIX/lib/heddle/onnx1/libonnxifi-heddle.so, or go through ONNX's wrapper
 * libonnxifi.so. The two headers share names and tag values, so a translation
 * unit includes one of them, never both.
 *
 * Conventions of every function
 *   - The list after "Returns" is complete: no other status is ever returned.
 *     If several errors are present, any of their statuses may be returned.
 *   - An output handle is NULL after a failure.
 *   - Memory that arguments point to may be freed as soon as the call returns,
 *     except the tensor memory passed to onnxSetGraphIO.
 *   - Every function may be called from any thread at any time.
 * onnxifi/RULINGS.md settles what the published interface leaves open.
 */
#ifndef ONNXIFI_H
#define ONNXIFI_H 1

#include <stddef.h>
#include <stdint.h>

/* Calling convention: the platform's C convention. */
#if defined(_WIN32) && defined(_M_IX86)
#define ONNXIFI_ABI __stdcall
#elif defined(__i386__)
#define ONNXIFI_ABI __attribute__((__cdecl__))
#else
#define ONNXIFI_ABI
#endif

#ifndef ONNXIFI_PUBLIC
#if defined(__GNUC__) && !defined(_WIN32)
#define ONNXIFI_PUBLIC __attribute__((__visibility__("default")))
#else
#define ONNXIFI_PUBLIC
#endif
#endif

/* Marks functions whose status must not be dropped. */
#ifndef ONNXIFI_CHECK_RESULT
#if defined(__GNUC__)
#define ONNXIFI_CHECK_RESULT __attribute__((__warn_unused_result__))
#else
#define ONNXIFI_CHECK_RESULT
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Types ------------------------------------------------------------- */

/* Identifies a device together with this library. A device keeps its ID for the
 * life of the process, even if unplugged and replugged. */
typedef void* onnxBackendID;
/* An open device. */
typedef void* onnxBackend;
/* A compiled and loaded model. */
typedef void* onnxGraph;
/* A single-shot flag that threads and runs can wait for. */
typedef void* onnxEvent;

typedef int32_t onnxStatus;
typedef int32_t onnxBackendInfo;
typedef int32_t onnxEventState;
/* In the next two, the low 32 bits are the standard's, the high 32 bits the
 * vendor's. onnxifi_ext.h has those of this library. */
typedef uint64_t onnxEnum;
typedef uint64_t onnxBitfield;
/* An address, or a handle of device memory. */
typedef uint64_t onnxPointer;

/* ---- Status codes ------------------------------------------------------ */

#define ONNXIFI_STATUS_SUCCESS 0x0000
/* Done, but: nothing was stored because there was no room for it, or the model
 * runs through an emulation. Not an error. */
#define ONNXIFI_STATUS_FALLBACK 0x0001
/* An argument is wrong by itself. */
#define ONNXIFI_STATUS_INVALID_ID 0x0101
#define ONNXIFI_STATUS_INVALID_SIZE 0x0102
#define ONNXIFI_STATUS_INVALID_POINTER 0x0103
#define ONNXIFI_STATUS_INVALID_PROTOBUF 0x0104
#define ONNXIFI_STATUS_INVALID_MODEL 0x0105
#define ONNXIFI_STATUS_INVALID_BACKEND 0x0106
#define ONNXIFI_STATUS_INVALID_GRAPH 0x0107
#define ONNXIFI_STATUS_INVALID_EVENT 0x0108
#define ONNXIFI_STATUS_INVALID_STATE 0x0109
#define ONNXIFI_STATUS_INVALID_NAME 0x010A
#define ONNXIFI_STATUS_INVALID_SHAPE 0x010B
#define ONNXIFI_STATUS_INVALID_DATATYPE 0x010C
#define ONNXIFI_STATUS_INVALID_MEMORY_TYPE 0x010D
#define ONNXIFI_STATUS_INVALID_MEMORY_LOCATION 0x010E
#define ONNXIFI_STATUS_INVALID_FENCE_TYPE 0x010F
#define ONNXIFI_STATUS_INVALID_PROPERTY 0x0110
/* An argument is right, but this backend cannot do it. */
#define ONNXIFI_STATUS_UNSUPPORTED_TAG 0x0201
#define ONNXIFI_STATUS_UNSUPPORTED_VERSION 0x0202
#define ONNXIFI_STATUS_UNSUPPORTED_OPERATOR 0x0203
#define ONNXIFI_STATUS_UNSUPPORTED_ATTRIBUTE 0x0204
#define ONNXIFI_STATUS_UNSUPPORTED_SHAPE 0x0205
#define ONNXIFI_STATUS_UNSUPPORTED_DATATYPE 0x0206
#define ONNXIFI_STATUS_UNSUPPORTED_MEMORY_TYPE 0x0207
#define ONNXIFI_STATUS_UNSUPPORTED_FENCE_TYPE 0x0208
#define ONNXIFI_STATUS_UNSUPPORTED_PROPERTY 0x0209
/* Arguments do not fit together. */
#define ONNXIFI_STATUS_UNIDENTIFIED_NAME 0x0301
#define ONNXIFI_STATUS_MISMATCHING_SHAPE 0x0302
#define ONNXIFI_STATUS_MISMATCHING_DATATYPE 0x0303
/* Something ran out, or broke. */
#define ONNXIFI_STATUS_NO_SYSTEM_MEMORY 0x0401
#define ONNXIFI_STATUS_NO_DEVICE_MEMORY 0x0402
#define ONNXIFI_STATUS_NO_SYSTEM_RESOURCES 0x0403
#define ONNXIFI_STATUS_NO_DEVICE_RESOURCES 0x0404
#define ONNXIFI_STATUS_BACKEND_UNAVAILABLE 0x0405
#define ONNXIFI_STATUS_INTERNAL_ERROR 0x0406
/* Never returned; the status of a run may be this one. */
#define ONNXIFI_STATUS_FATAL_ERROR 0x0407

/* ---- Event states ------------------------------------------------------ */

#define ONNXIFI_EVENT_STATE_INVALID 0
#define ONNXIFI_EVENT_STATE_NONSIGNALLED 0x16BD
#define ONNXIFI_EVENT_STATE_SIGNALLED 0x3395

/* ---- What onnxGetBackendInfo can be asked ------------------------------ */

/* Required of every backend. uint64_t: major version in the high half. */
#define ONNXIFI_BACKEND_ONNXIFI_VERSION 0
/* UTF-8: the product, without its vendor. */
#define ONNXIFI_BACKEND_NAME 1
/* UTF-8. */
#define ONNXIFI_BACKEND_VENDOR 2
/* ASCII: of this software. */
#define ONNXIFI_BACKEND_VERSION 3
/* ASCII: names separated by blanks. */
#define ONNXIFI_BACKEND_EXTENSIONS 4
/* UTF-8: the device. */
#define ONNXIFI_BACKEND_DEVICE 5
/* onnxEnum: one of ONNXIFI_DEVICE_TYPE_*. */
#define ONNXIFI_BACKEND_DEVICE_TYPE 6
/* ASCII: "3 4 5". */
#define ONNXIFI_BACKEND_ONNX_IR_VERSION 7
/* ASCII: "ai.onnx:26 com.microsoft:1", the highest versions. All lower ones
 * are included. */
#define ONNXIFI_BACKEND_OPSET_VERSION 8
/* onnxBitfield: ONNXIFI_CAPABILITY_*. */
#define ONNXIFI_BACKEND_CAPABILITIES 10
/* onnxBitfield: vendor properties of onnxInitBackend. */
#define ONNXIFI_BACKEND_INIT_PROPERTIES 11
/* onnxBitfield: ONNXIFI_MEMORY_TYPE_*. */
#define ONNXIFI_BACKEND_MEMORY_TYPES 12
/* onnxBitfield: vendor properties of onnxInitGraph. */
#define ONNXIFI_BACKEND_GRAPH_INIT_PROPERTIES 13
/* onnxBitfield: ONNXIFI_SYNCHRONIZATION_*. */
#define ONNXIFI_BACKEND_SYNCHRONIZATION_TYPES 14
/* uint64_t, bytes: device memory available for allocation. */
#define ONNXIFI_BACKEND_MEMORY_SIZE 20
/* uint64_t, bytes: upper bound of a model's parameters. */
#define ONNXIFI_BACKEND_MAX_GRAPH_SIZE 21
/* uint64_t: graphs that can exist on the device at the same time. */
#define ONNXIFI_BACKEND_MAX_GRAPH_COUNT 22

/* Optional; uint64_t unless noted. Operations and bytes are per second. */
#define ONNXIFI_BACKEND_MACS_FP32 30
#define ONNXIFI_BACKEND_MACS_FP16 31
#define ONNXIFI_BACKEND_MEMORY_BANDWIDTH 35
#define ONNXIFI_BACKEND_CPU_MEMORY_READ_BANDWIDTH 36
#define ONNXIFI_BACKEND_CPU_MEMORY_WRITE_BANDWIDTH 37
#define ONNXIFI_BACKEND_PCI_BUS_ID 40
#define ONNXIFI_BACKEND_PCI_DEVICE_ID 41
#define ONNXIFI_BACKEND_PCI_DOMAIN_ID 42
#define ONNXIFI_BACKEND_DIRECTX_ID 43 /* LUID, 8 bytes */
#define ONNXIFI_BACKEND_CUDA_INDEX 44
#define ONNXIFI_BACKEND_OPENCL_PLATFORM_ID 45 /* cl_platform_id */
#define ONNXIFI_BACKEND_OPENCL_DEVICE_ID 46   /* cl_device_id */

#define ONNXIFI_DEVICE_TYPE_NPU 0x01
#define ONNXIFI_DEVICE_TYPE_DSP 0x02
#define ONNXIFI_DEVICE_TYPE_GPU 0x04
#define ONNXIFI_DEVICE_TYPE_CPU 0x08
#define ONNXIFI_DEVICE_TYPE_FPGA 0x10
#define ONNXIFI_DEVICE_TYPE_HETEROGENEOUS 0x20

/* Objects may be used on any thread. */
#define ONNXIFI_CAPABILITY_THREAD_SAFE 0x01
/* The outermost dimension of inputs and outputs may be symbolic in the model;
 * onnxSetGraphIO sets its value. */
#define ONNXIFI_CAPABILITY_SYMBOLIC_BATCH_SIZE 0x02
/* Any dimension may be. */
#define ONNXIFI_CAPABILITY_SYMBOLIC_SIZE_TENSORS 0x04
/* The outermost dimension of outputs may depend on the data; the shape given to
 * onnxSetGraphIO is then an upper limit. heddleGetOutputShape (onnxifi_ext.h),
 * or a Shape operator on the tensor, returns the actual shape of a run. */
#define ONNXIFI_CAPABILITY_VARIABLE_BATCH_SIZE 0x08
/* Any dimension of outputs may. */
#define ONNXIFI_CAPABILITY_VARIABLE_SIZE_OUTPUTS 0x10
/* The device can disappear while the program runs. */
#define ONNXIFI_CAPABILITY_HOT_PLUGGABLE 0x20

/* ---- Data and memory types --------------------------------------------- */

/* The values are those of onnx.TensorProto.DataType. */
#define ONNXIFI_DATATYPE_UNDEFINED 0
#define ONNXIFI_DATATYPE_FLOAT32 1
#define ONNXIFI_DATATYPE_UINT8 2
#define ONNXIFI_DATATYPE_INT8 3
#define ONNXIFI_DATATYPE_UINT16 4
#define ONNXIFI_DATATYPE_INT16 5
#define ONNXIFI_DATATYPE_INT32 6
#define ONNXIFI_DATATYPE_INT64 7
#define ONNXIFI_DATATYPE_FLOAT16 10
#define ONNXIFI_DATATYPE_FLOAT64 11
#define ONNXIFI_DATATYPE_UINT32 12
#define ONNXIFI_DATATYPE_UINT64 13
#define ONNXIFI_DATATYPE_COMPLEX64 14
#define ONNXIFI_DATATYPE_COMPLEX128 15
#define ONNXIFI_DATATYPE_BFLOAT16 16

#define ONNXIFI_MEMORY_TYPE_CPU 0
#define ONNXIFI_MEMORY_TYPE_CUDA_BUFFER 1
#define ONNXIFI_MEMORY_TYPE_OPENCL_BUFFER 2
#define ONNXIFI_MEMORY_TYPE_OPENGLES_TEXTURE_2D 4
#define ONNXIFI_MEMORY_TYPE_D3D_RESOURCE 8

/* ---- Properties -------------------------------------------------------- */

/* Of onnxInitBackend: a list of {property, value} pairs, terminated by NONE. */

#define ONNXIFI_BACKEND_PROPERTY_NONE 0
/* One of ONNXIFI_OPTIMIZATION_*. */
#define ONNXIFI_BACKEND_PROPERTY_OPTIMIZATION 1
/* One of ONNXIFI_LOG_LEVEL_*; default: the option heddle_log, else HEDDLE_LOG,
 * else WARNING. */
#define ONNXIFI_BACKEND_PROPERTY_LOG_LEVEL 2
#define ONNXIFI_BACKEND_CUDA_STREAM 4
#define ONNXIFI_BACKEND_OPENCL_CONTEXT 8

/* Of onnxInitGraph: none; the list must be empty or NULL. */
#define ONNXIFI_GRAPH_PROPERTY_NONE 0

/* Scheduling goal for graphs of the backend; results never depend on it.
 * Fewest cycles per run; the default. */
#define ONNXIFI_OPTIMIZATION_HIGH_THROUGHPUT 0
/* The same: a device executes one run at a time. */
#define ONNXIFI_OPTIMIZATION_LOW_LATENCY 1
/* Fewest bytes to and from device memory. */
#define ONNXIFI_OPTIMIZATION_LOW_POWER 2
/* The first schedule that works, without a search: ready soonest. */
#define ONNXIFI_OPTIMIZATION_LOW_DELAY 3
/* Fewest cycles, trying more schedules in a multiple of the time. */
#define ONNXIFI_OPTIMIZATION_AOT 4

#define ONNXIFI_LOG_LEVEL_DEBUG 1
#define ONNXIFI_LOG_LEVEL_INFO 2
#define ONNXIFI_LOG_LEVEL_WARNING 3
#define ONNXIFI_LOG_LEVEL_ERROR 4

/* ---- Structures -------------------------------------------------------- */

#define ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1 0x43DFBF69

/* One tensor: its name in the model, type, shape, quantization and memory.
 * Elements are dense, in row-major order, little-endian; images are NCHW. */
typedef struct onnxTensorDescriptorV1 {
  /* ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1. Looked at before any other member. */
  int32_t tag;
  /* Name of a graph input or output of the model. */
  const char* name;
  /* ONNXIFI_DATATYPE_*. A bool tensor is described as UINT8. */
  onnxEnum dataType;
  /* ONNXIFI_MEMORY_TYPE_*; this library accepts CPU only. */
  onnxEnum memoryType;
  /* Number of dimensions; 0 for a scalar. */
  uint32_t dimensions;
  /* `dimensions` values; may be NULL for a scalar. */
  const uint64_t* shape;
  /* The axis that scales and biases run along, in groups of equal size. */
  uint32_t quantizationAxis;
  /* Number of scales and biases: 0 for a tensor without quantization, 1 for one
   * pair, else a divisor of the axis' size. */
  uint64_t quantizationParams;
  const float* scales;
  const int32_t* biases;
  /* Not 0: a weight without data here; the deferred reader supplies them. */
  uint8_t isOffline;
  /* Address of the data. */
  onnxPointer buffer;
} onnxTensorDescriptorV1;

#define ONNXIFI_SYNCHRONIZATION_EVENT 0
#define ONNXIFI_SYNCHRONIZATION_IMPLICIT 2

#define ONNXIFI_TAG_MEMORY_FENCE_V1 0x23E08AAB

/* Tells a run that its inputs are ready, and the program that outputs are. */
typedef struct onnxMemoryFenceV1 {
  /* ONNXIFI_TAG_MEMORY_FENCE_V1. Looked at before any other member. */
  int32_t tag;
  /* ONNXIFI_SYNCHRONIZATION_*; this library accepts EVENT only. */
  onnxEnum type;
#if defined(__GNUC__)
  __extension__
#endif
      union {
    /* Input fence: set by the caller. Output fence: set by onnxRunGraph. */
    onnxEvent event;
  };
} onnxMemoryFenceV1;

/* ---- Backends ---------------------------------------------------------- */

/* Stores the IDs of all devices present, if `backendIDs` is not NULL and
 * `*numBackends` (its capacity) suffices; otherwise only their number. The
 * caller releases each stored ID once.
 * Returns SUCCESS, FALLBACK (number only), INVALID_POINTER (numBackends NULL),
 * NO_SYSTEM_MEMORY, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxGetBackendIDsFunction)(
    onnxBackendID* backendIDs, size_t* numBackends);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxGetBackendIDs(onnxBackendID* backendIDs, size_t* numBackends);

/* Releases one ID returned by onnxGetBackendIDs.
 * Returns SUCCESS, INVALID_ID, INTERNAL_ERROR. */
typedef onnxStatus(ONNXIFI_ABI* onnxReleaseBackendIDFunction)(
    onnxBackendID backendID);
ONNXIFI_PUBLIC onnxStatus ONNXIFI_ABI
onnxReleaseBackendID(onnxBackendID backendID);

/* Stores the answer to an ONNXIFI_BACKEND_* query, and its size in bytes
 * (strings include the final NUL).
 * Returns SUCCESS, FALLBACK (size only: infoValue is NULL or *infoValueSize too
 * small), INVALID_ID, INVALID_POINTER (infoValueSize NULL),
 * UNSUPPORTED_ATTRIBUTE (unknown query), BACKEND_UNAVAILABLE. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* onnxGetBackendInfoFunction)(onnxBackendID backendID,
                                             onnxBackendInfo infoType,
                                             void* infoValue,
                                             size_t* infoValueSize);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxGetBackendInfo(onnxBackendID backendID, onnxBackendInfo infoType,
                   void* infoValue, size_t* infoValueSize);

/* Whether a model can run on the device. Weights may be absent from it.
 * Returns SUCCESS, FALLBACK (yes, by an emulation or with the host),
 * INVALID_ID, INVALID_POINTER (onnxModel NULL), INVALID_SIZE (onnxModelSize 0),
 * INVALID_PROTOBUF, INVALID_MODEL, UNSUPPORTED_VERSION, UNSUPPORTED_OPERATOR,
 * UNSUPPORTED_ATTRIBUTE, UNSUPPORTED_SHAPE, UNSUPPORTED_DATATYPE,
 * MISMATCHING_SHAPE, MISMATCHING_DATATYPE, NO_SYSTEM_MEMORY,
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(
    ONNXIFI_ABI* onnxGetBackendCompatibilityFunction)(onnxBackendID backendID,
                                                      size_t onnxModelSize,
                                                      const void* onnxModel);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxGetBackendCompatibility(onnxBackendID backendID, size_t onnxModelSize,
                            const void* onnxModel);

/* Opens a device.
 * Returns SUCCESS, INVALID_ID, INVALID_POINTER (backend NULL),
 * INVALID_PROPERTY, UNSUPPORTED_PROPERTY, NO_SYSTEM_MEMORY,
 * NO_SYSTEM_RESOURCES, NO_DEVICE_MEMORY, NO_DEVICE_RESOURCES,
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxInitBackendFunction)(
    onnxBackendID backendID, const uint64_t* auxPropertiesList,
    onnxBackend* backend);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxInitBackend(onnxBackendID backendID, const uint64_t* auxPropertiesList,
                onnxBackend* backend);

/* Closes a device. Release what was created from it first.
 * Returns SUCCESS, INVALID_BACKEND, INTERNAL_ERROR. */
typedef onnxStatus(ONNXIFI_ABI* onnxReleaseBackendFunction)(
    onnxBackend backend);
ONNXIFI_PUBLIC onnxStatus ONNXIFI_ABI onnxReleaseBackend(onnxBackend backend);

/* ---- Events ------------------------------------------------------------ */

/* Creates an unsignalled event.
 * Returns SUCCESS, INVALID_BACKEND, INVALID_POINTER (event NULL),
 * NO_SYSTEM_MEMORY, NO_SYSTEM_RESOURCES, NO_DEVICE_MEMORY,
 * NO_DEVICE_RESOURCES, BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxInitEventFunction)(
    onnxBackend backend, onnxEvent* event);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxInitEvent(onnxBackend backend, onnxEvent* event);

/* Signals an event: runs that wait for it may read their inputs.
 * Returns SUCCESS, INVALID_EVENT, INVALID_STATE (signalled before),
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxSignalEventFunction)(
    onnxEvent event);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxSignalEvent(onnxEvent event);

/* Stores an event's ONNXIFI_EVENT_STATE_*, INVALID after a failure.
 * Returns SUCCESS, INVALID_EVENT, INVALID_POINTER (state NULL),
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxGetEventStateFunction)(
    onnxEvent event, onnxEventState* state);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxGetEventState(onnxEvent event, onnxEventState* state);

/* Waits until an event is signalled. For the event of an output fence this is
 * the end of the run, even if the run failed.
 * Returns SUCCESS, INVALID_EVENT, BACKEND_UNAVAILABLE, INTERNAL_ERROR (the run
 * failed). */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxWaitEventFunction)(
    onnxEvent event);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxWaitEvent(onnxEvent event);

/* Releases an event. Returns SUCCESS, INVALID_EVENT, INTERNAL_ERROR. */
typedef onnxStatus(ONNXIFI_ABI* onnxReleaseEventFunction)(onnxEvent event);
ONNXIFI_PUBLIC onnxStatus ONNXIFI_ABI onnxReleaseEvent(onnxEvent event);

/* ---- Graphs ------------------------------------------------------------ */

/* Compiles and loads a model (a serialized onnx.ModelProto). Weights come from
 * the model's initializers or from `weightDescriptors`, not from both.
 * `maxSeqLength`, if not 0, bounds symbolic dimensions. `deferredWeightReader`
 * is NULL or a heddleDeferredWeightReader of <onnxifi_ext.h>.
 * Returns SUCCESS, FALLBACK (loaded; runs by emulation, or partly on the
 * host), INVALID_BACKEND, INVALID_PROPERTY, INVALID_POINTER (onnxModel or graph
 * NULL; weightDescriptors NULL with a count), INVALID_SIZE (onnxModelSize 0),
 * INVALID_PROTOBUF, INVALID_MODEL, INVALID_SHAPE, INVALID_DATATYPE,
 * INVALID_MEMORY_TYPE, INVALID_MEMORY_LOCATION, UNSUPPORTED_PROPERTY,
 * UNSUPPORTED_VERSION, UNSUPPORTED_OPERATOR, UNSUPPORTED_ATTRIBUTE,
 * UNSUPPORTED_SHAPE, UNSUPPORTED_DATATYPE, UNSUPPORTED_MEMORY_TYPE,
 * MISMATCHING_SHAPE, MISMATCHING_DATATYPE, NO_SYSTEM_MEMORY,
 * NO_SYSTEM_RESOURCES, NO_DEVICE_MEMORY, NO_DEVICE_RESOURCES,
 * BACKEND_UNAVAILABLE, INTERNAL_ERROR; of weight descriptors also
 * UNSUPPORTED_TAG and INVALID_NAME, for which the published list has no other
 * code. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxInitGraphFunction)(
    onnxBackend backend, const uint64_t* auxPropertiesList,
    size_t onnxModelSize, const void* onnxModel, uint32_t weightsCount,
    const onnxTensorDescriptorV1* weightDescriptors, onnxGraph* graph,
    uint32_t maxSeqLength, void* deferredWeightReader);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI onnxInitGraph(
    onnxBackend backend, const uint64_t* auxPropertiesList,
    size_t onnxModelSize, const void* onnxModel, uint32_t weightsCount,
    const onnxTensorDescriptorV1* weightDescriptors, onnxGraph* graph,
    uint32_t maxSeqLength, void* deferredWeightReader);

/* Sets the locations of inputs and outputs. The tensor memory must stay
 * accessible until runs that use it have ended and it was replaced or the graph
 * released. A failure leaves the graph without locations.
 * Returns SUCCESS, INVALID_GRAPH, INVALID_POINTER (outputDescriptors NULL, or
 * inputDescriptors NULL with a count), INVALID_NAME, INVALID_SHAPE,
 * INVALID_DATATYPE, INVALID_MEMORY_TYPE, INVALID_MEMORY_LOCATION,
 * UNSUPPORTED_TAG, UNSUPPORTED_SHAPE, UNSUPPORTED_MEMORY_TYPE,
 * UNIDENTIFIED_NAME, MISMATCHING_SHAPE, MISMATCHING_DATATYPE,
 * NO_SYSTEM_MEMORY, NO_SYSTEM_RESOURCES, NO_DEVICE_MEMORY,
 * NO_DEVICE_RESOURCES, BACKEND_UNAVAILABLE, INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxSetGraphIOFunction)(
    onnxGraph graph, uint32_t inputsCount,
    const onnxTensorDescriptorV1* inputDescriptors, uint32_t outputsCount,
    const onnxTensorDescriptorV1* outputDescriptors);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI onnxSetGraphIO(
    onnxGraph graph, uint32_t inputsCount,
    const onnxTensorDescriptorV1* inputDescriptors, uint32_t outputsCount,
    const onnxTensorDescriptorV1* outputDescriptors);

/* Starts a run, which begins when the event of `inputFence` is signalled.
 * Creates the event of `outputFence`, which is signalled when the outputs are
 * complete; the caller releases it.
 * Returns SUCCESS, INVALID_POINTER (a fence is NULL), INVALID_GRAPH,
 * INVALID_FENCE_TYPE, INVALID_EVENT, UNSUPPORTED_TAG, UNSUPPORTED_FENCE_TYPE,
 * UNIDENTIFIED_NAME (no locations), NO_SYSTEM_MEMORY, NO_SYSTEM_RESOURCES,
 * NO_DEVICE_MEMORY, NO_DEVICE_RESOURCES, BACKEND_UNAVAILABLE,
 * INTERNAL_ERROR. */
typedef ONNXIFI_CHECK_RESULT onnxStatus(ONNXIFI_ABI* onnxRunGraphFunction)(
    onnxGraph graph, const onnxMemoryFenceV1* inputFence,
    onnxMemoryFenceV1* outputFence);
ONNXIFI_PUBLIC ONNXIFI_CHECK_RESULT onnxStatus ONNXIFI_ABI
onnxRunGraph(onnxGraph graph, const onnxMemoryFenceV1* inputFence,
             onnxMemoryFenceV1* outputFence);

/* Waits for the graph's runs, then unloads it.
 * Returns SUCCESS, INVALID_GRAPH, INTERNAL_ERROR. */
typedef onnxStatus(ONNXIFI_ABI* onnxReleaseGraphFunction)(onnxGraph graph);
ONNXIFI_PUBLIC onnxStatus ONNXIFI_ABI onnxReleaseGraph(onnxGraph graph);

#ifdef __cplusplus
} /* extern "C" */
#endif

/* ---- The layout is the contract (LP64) --------------------------------- */

#if defined(__LP64__)
#if defined(__cplusplus) && __cplusplus >= 201103L
#define ONNXIFI_HEDDLE_ASSERT(condition) static_assert(condition, #condition)
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
#define ONNXIFI_HEDDLE_ASSERT(condition) _Static_assert(condition, #condition)
#endif
#endif
#ifdef ONNXIFI_HEDDLE_ASSERT
ONNXIFI_HEDDLE_ASSERT(sizeof(onnxTensorDescriptorV1) == 96);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, tag) == 0);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, name) == 8);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, dataType) == 16);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, memoryType) == 24);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, dimensions) == 32);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, shape) == 40);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, quantizationAxis) == 48);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, quantizationParams) ==
                      56);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, scales) == 64);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, biases) == 72);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, isOffline) == 80);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxTensorDescriptorV1, buffer) == 88);
ONNXIFI_HEDDLE_ASSERT(sizeof(onnxMemoryFenceV1) == 24);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxMemoryFenceV1, type) == 8);
ONNXIFI_HEDDLE_ASSERT(offsetof(onnxMemoryFenceV1, event) == 16);
ONNXIFI_HEDDLE_ASSERT(sizeof(onnxStatus) == 4 && sizeof(onnxEnum) == 8);
#undef ONNXIFI_HEDDLE_ASSERT
#endif

#endif /* ONNXIFI_H */

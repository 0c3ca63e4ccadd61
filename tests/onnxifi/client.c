/* SPDX-License-Identifier: Apache-2.0
 *
 * An ONNXIFI program as a user would write it, in C, against one of the two
 * headers: this project's (extended), or with -DONNX1 that of libonnx-dev.
 *
 *   client LIBRARY fake|real
 *
 * Loads the library (or ONNX's wrapper), runs y = x + z on every backend, does
 * so again after dlclose and dlopen, and asks from a forked child. `fake`: the
 * engine of the tests computes 1 + x + z on bytes. Exit code 0: all as
 * expected.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#ifdef ONNX1
#include <onnx/onnxifi.h>
typedef char descriptor_of_onnx1[sizeof(onnxTensorDescriptorV1) == 56 ? 1 : -1];
#else
#include <onnxifi.h>
typedef char descriptor_extended[sizeof(onnxTensorDescriptorV1) == 96 ? 1 : -1];
#endif

#define ELEMENTS 4

static void Fail(const char* what, long status) {
  fprintf(stderr, "client: %s: 0x%lx\n", what, (unsigned long)status);
  exit(1);
}
#define CHECK_OK(call)                                 \
  do {                                                 \
    const onnxStatus s_ = (call);                      \
    if (s_ != ONNXIFI_STATUS_SUCCESS) Fail(#call, s_); \
  } while (0)

/* ---- A model, encoded by hand ------------------------------------------- */

struct Bytes {
  unsigned char data[512];
  size_t size;
};

static void PutByte(struct Bytes* out, unsigned value) {
  out->data[out->size++] = (unsigned char)value;
}
static void PutNumber(struct Bytes* out, unsigned field, unsigned value) {
  PutByte(out, field << 3);
  PutByte(out, value);
}
static void PutBytes(struct Bytes* out, unsigned field, const void* data,
                     size_t size) {
  PutByte(out, field << 3 | 2);
  if (size >= 128) {
    PutByte(out, (unsigned)(size & 127) | 128);
    PutByte(out, (unsigned)(size >> 7));
  } else {
    PutByte(out, (unsigned)size);
  }
  memcpy(out->data + out->size, data, size);
  out->size += size;
}
static void PutText(struct Bytes* out, unsigned field, const char* text) {
  PutBytes(out, field, text, strlen(text));
}
static void PutMessage(struct Bytes* out, unsigned field,
                       const struct Bytes* message) {
  PutBytes(out, field, message->data, message->size);
}

/* ValueInfoProto of a float tensor with ELEMENTS elements. */
static void PutTensor(struct Bytes* graph, unsigned field, const char* name) {
  struct Bytes dim = {{0}, 0}, shape = {{0}, 0}, tensor = {{0}, 0},
               type = {{0}, 0}, info = {{0}, 0};
  PutNumber(&dim, 1, ELEMENTS);
  PutMessage(&shape, 1, &dim);
  PutNumber(&tensor, 1, ONNXIFI_DATATYPE_FLOAT32);
  PutMessage(&tensor, 2, &shape);
  PutMessage(&type, 1, &tensor);
  PutText(&info, 1, name);
  PutMessage(&info, 2, &type);
  PutMessage(graph, field, &info);
}

static struct Bytes AddModel(void) {
  struct Bytes node = {{0}, 0}, graph = {{0}, 0}, opset = {{0}, 0},
               model = {{0}, 0};
  PutText(&node, 1, "x");
  PutText(&node, 1, "z");
  PutText(&node, 2, "y");
  PutText(&node, 4, "Add");
  PutMessage(&graph, 1, &node);
  PutText(&graph, 2, "sum");
  PutTensor(&graph, 11, "x");
  PutTensor(&graph, 11, "z");
  PutTensor(&graph, 12, "y");
  PutNumber(&opset, 2, 13);
  PutNumber(&model, 1, 7);
  PutMessage(&model, 7, &graph);
  PutMessage(&model, 8, &opset);
  return model;
}

/* ---- The library --------------------------------------------------------- */

#define EACH_FUNCTION(F)         \
  F(onnxGetBackendIDs)           \
  F(onnxReleaseBackendID)        \
  F(onnxGetBackendInfo)          \
  F(onnxGetBackendCompatibility) \
  F(onnxInitBackend)             \
  F(onnxReleaseBackend)          \
  F(onnxInitEvent)               \
  F(onnxSignalEvent)             \
  F(onnxGetEventState)           \
  F(onnxWaitEvent)               \
  F(onnxReleaseEvent)            \
  F(onnxInitGraph)               \
  F(onnxSetGraphIO)              \
  F(onnxRunGraph)                \
  F(onnxReleaseGraph)

static struct {
#define MEMBER(name) name##Function name;
  EACH_FUNCTION(MEMBER)
#undef MEMBER
} api;

static void* Load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    fprintf(stderr, "client: %s\n", dlerror());
    exit(1);
  }
#define FIND(name)                            \
  *(void**)&api.name = dlsym(library, #name); \
  if (api.name == NULL) Fail("no " #name, 0);
  EACH_FUNCTION(FIND)
#undef FIND
  return library;
}

static onnxTensorDescriptorV1 Describe(const char* name, const uint64_t* shape,
                                       float* data) {
  onnxTensorDescriptorV1 d;
  memset(&d, 0, sizeof(d));
  d.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  d.name = name;
  d.dataType = ONNXIFI_DATATYPE_FLOAT32;
  d.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
  d.dimensions = 1;
  d.shape = shape;
  d.buffer = (onnxPointer)(size_t)data;
  return d;
}

static void Compare(const float* x, const float* z, const float* y, int fake) {
  size_t i;
  if (fake) {
    const unsigned char *a = (const unsigned char*)x,
                        *b = (const unsigned char*)z,
                        *c = (const unsigned char*)y;
    for (i = 0; i < ELEMENTS * sizeof(float); ++i) {
      if (c[i] != (unsigned char)(1 + a[i] + b[i])) Fail("wrong byte", (long)i);
    }
    return;
  }
  for (i = 0; i < ELEMENTS; ++i) {
    if (y[i] != x[i] + z[i]) Fail("wrong value", (long)i);
  }
}

static void UseBackend(onnxBackendID id, int fake) {
  static const uint64_t shape[] = {ELEMENTS};
  float x[ELEMENTS] = {1, 2, 3, 4}, z[ELEMENTS] = {0.5f, -2, 1e9f, 8};
  float y[ELEMENTS] = {0, 0, 0, 0};
  const struct Bytes model = AddModel();
  onnxTensorDescriptorV1 inputs[2], output;
  onnxMemoryFenceV1 in, out;
  onnxBackend backend;
  onnxGraph graph;
  onnxEventState state;
  char name[256];
  size_t size = sizeof(name);
  CHECK_OK(api.onnxGetBackendInfo(id, ONNXIFI_BACKEND_DEVICE, name, &size));
  printf("device: %s\n", name);
  CHECK_OK(api.onnxGetBackendCompatibility(id, model.size, model.data));
  CHECK_OK(api.onnxInitBackend(id, NULL, &backend));
#ifdef ONNX1
  CHECK_OK(api.onnxInitGraph(backend, NULL, model.size, model.data, 0, NULL,
                             &graph));
#else
  CHECK_OK(api.onnxInitGraph(backend, NULL, model.size, model.data, 0, NULL,
                             &graph, 0, NULL));
#endif
  inputs[0] = Describe("z", shape, z);
  inputs[1] = Describe("x", shape, x);
  output = Describe("y", shape, y);
  CHECK_OK(api.onnxSetGraphIO(graph, 2, inputs, 1, &output));
  memset(&in, 0, sizeof(in));
  in.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  in.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  out = in;
  CHECK_OK(api.onnxInitEvent(backend, &in.event));
  CHECK_OK(api.onnxRunGraph(graph, &in, &out));
  x[0] = 100; /* the inputs are not valid before they are signalled */
  CHECK_OK(api.onnxSignalEvent(in.event));
  CHECK_OK(api.onnxWaitEvent(out.event));
  CHECK_OK(api.onnxGetEventState(out.event, &state));
  if (state != ONNXIFI_EVENT_STATE_SIGNALLED) Fail("event state", state);
  Compare(x, z, y, fake);
  CHECK_OK(api.onnxReleaseEvent(in.event));
  CHECK_OK(api.onnxReleaseEvent(out.event));
  CHECK_OK(api.onnxReleaseGraph(graph));
  CHECK_OK(api.onnxReleaseBackend(backend));
}

static void UseLibrary(const char* path, int fake) {
  onnxBackendID ids[8];
  size_t count = 0, i;
  void* library = Load(path);
  onnxStatus status = api.onnxGetBackendIDs(NULL, &count);
  if (status != ONNXIFI_STATUS_FALLBACK) Fail("count of backends", status);
  if (count == 0 || count > 8) Fail("number of backends", (long)count);
  CHECK_OK(api.onnxGetBackendIDs(ids, &count));
  for (i = 0; i < count; ++i) UseBackend(ids[i], fake);
  for (i = 0; i < count; ++i) CHECK_OK(api.onnxReleaseBackendID(ids[i]));
  dlclose(library);
}

/* A child gets an error, and soon. */
static void AskFromChild(const char* path) {
  int status = 0;
  pid_t child;
  void* library = Load(path);
  fflush(stdout);
  child = fork();
  if (child == 0) {
    size_t count = 0;
    alarm(20);
    _exit(api.onnxGetBackendIDs(NULL, &count) == ONNXIFI_STATUS_INTERNAL_ERROR
              ? 0
              : 1);
  }
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    Fail("call in a forked child", status);
  }
  dlclose(library);
}

int main(int argc, char** argv) {
  int fake;
  if (argc != 3) {
    fprintf(stderr, "usage: client LIBRARY fake|real\n");
    return 2;
  }
  fake = strcmp(argv[2], "fake") == 0;
  UseLibrary(argv[1], fake);
  UseLibrary(argv[1], fake);
  AskFromChild(argv[1]);
  return 0;
}

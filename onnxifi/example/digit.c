/* SPDX-License-Identifier: Apache-2.0
 *
 * A complete ONNXIFI program that classifies the image of one digit.
 *
 *   cc digit.c $(pkg-config --cflags --libs heddle) -o digit
 *   ./digit digits_fp32.onnx digits_test.u8 INDEX
 *
 * or, where nothing is installed:
 *   cc digit.c -Iout/include -Lout/lib -lonnxifi-heddle -Wl,-rpath,$PWD/out/lib
 *
 * Arguments: the model, a file of images of 28 x 28 bytes, and the index of
 * one of them. The names, types and shapes below belong to this model;
 * `heddle-compile model.onnx --list` prints those of another. */
#include <heddle/onnxifi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kPixels = 28 * 28, kDigits = 10 };

/* FALLBACK also works: by emulation, or partly on the host. */
static void Check(onnxStatus status, const char* what) {
  if (status == ONNXIFI_STATUS_SUCCESS || status == ONNXIFI_STATUS_FALLBACK) {
    return;
  }
  /* The library has logged the reason to stderr. */
  fprintf(stderr, "%s: ONNXIFI status 0x%04X\n", what, (unsigned)status);
  exit(1);
}

/* `size` bytes of a file; with size 0 all of it, storing its size. */
static void* Read(const char* name, long offset, size_t* size) {
  FILE* file = fopen(name, "rb");
  void* bytes;
  if (file == NULL) {
    perror(name);
    exit(1);
  }
  if (*size == 0) {
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
  }
  fseek(file, offset, SEEK_SET);
  bytes = malloc(*size);
  if (bytes == NULL || fread(bytes, 1, *size, file) != *size) {
    fprintf(stderr, "%s: cannot read %zu bytes at %ld\n", name, *size, offset);
    exit(1);
  }
  fclose(file);
  return bytes;
}

static onnxTensorDescriptorV1 Floats(const char* name, const uint64_t* shape,
                                     uint32_t dimensions, float* buffer) {
  onnxTensorDescriptorV1 tensor = {0}; /* not quantized, not offline */
  tensor.tag = ONNXIFI_TAG_TENSOR_DESCRIPTOR_V1;
  tensor.name = name;
  tensor.dataType = ONNXIFI_DATATYPE_FLOAT32;
  tensor.memoryType = ONNXIFI_MEMORY_TYPE_CPU;
  tensor.dimensions = dimensions;
  tensor.shape = shape;
  tensor.buffer = (onnxPointer)buffer;
  return tensor;
}

int main(int argc, char** argv) {
  static const uint64_t image_shape[] = {1, 1, 28, 28},
                        logits_shape[] = {1, 10};
  float image[kPixels], logits[kDigits];
  onnxBackendID ids[16];
  onnxBackend backend;
  onnxGraph graph;
  size_t count = 16, i, model_size = 0, image_size = kPixels;
  int best = 0;

  /* Digits, few enough for the offset of the image to be a long. */
  if (argc != 4 || argv[3][0] == '\0' || strlen(argv[3]) > 6 ||
      argv[3][strspn(argv[3], "0123456789")] != '\0') {
    fprintf(stderr, "Usage: %s MODEL IMAGES INDEX, which is a number from 0\n",
            argv[0]);
    return 2;
  }
  void* model = Read(argv[1], 0, &model_size);
  unsigned char* pixels = Read(argv[2], kPixels * atol(argv[3]), &image_size);
  for (i = 0; i < kPixels; ++i) image[i] = (float)pixels[i] / 255;

  /* The devices. All IDs are given back, also those that nobody wants. */
  Check(onnxGetBackendIDs(ids, &count), "onnxGetBackendIDs");
  if (count == 0) {
    fprintf(stderr, "there is no device\n");
    return 3;
  }
  Check(onnxInitBackend(ids[0], NULL, &backend), "onnxInitBackend");

  /* Compiles the model and loads it; its bytes may go afterwards. */
  Check(
      onnxInitGraph(backend, NULL, model_size, model, 0, NULL, &graph, 0, NULL),
      "onnxInitGraph");
  onnxTensorDescriptorV1 input = Floats("image", image_shape, 4, image);
  onnxTensorDescriptorV1 output = Floats("logits", logits_shape, 2, logits);
  Check(onnxSetGraphIO(graph, 1, &input, 1, &output), "onnxSetGraphIO");

  /* A run starts when its input event is signalled; the library makes the
   * output event, and signals it when the outputs are written. */
  onnxMemoryFenceV1 ready = {0}, done = {0};
  ready.tag = done.tag = ONNXIFI_TAG_MEMORY_FENCE_V1;
  ready.type = done.type = ONNXIFI_SYNCHRONIZATION_EVENT;
  Check(onnxInitEvent(backend, &ready.event), "onnxInitEvent");
  Check(onnxRunGraph(graph, &ready, &done), "onnxRunGraph");
  Check(onnxSignalEvent(ready.event), "onnxSignalEvent");
  Check(onnxWaitEvent(done.event), "onnxWaitEvent");

  for (i = 1; i < kDigits; ++i) {
    if (logits[i] > logits[best]) best = (int)i;
  }
  printf("image %s is a %d (%g)\n", argv[3], best, (double)logits[best]);

  onnxReleaseEvent(done.event);
  onnxReleaseEvent(ready.event);
  onnxReleaseGraph(graph);
  onnxReleaseBackend(backend);
  for (i = 0; i < count; ++i) onnxReleaseBackendID(ids[i]);
  free(pixels);
  free(model);
  return 0;
}

/* SPDX-License-Identifier: Apache-2.0
 *
 * What the loader (libonnxifi.so) has beyond ONNXIFI.
 *
 * 1. Programs of heddle/onnxifi.h (96-byte tensor descriptors) get their IDs of
 *    onnxGetBackendIDsExtended; onnxGetBackendIDs is for programs of ONNX 1.x's
 *    header, which is what Debian's libonnxifi.so has. All that is made from an
 *    ID is of its ABI. (ONNXIFI_LOADER_ABI=extended in the environment makes
 *    onnxGetBackendIDs the same, for programs that look functions up by name.)
 *
 * 2. An extension function of every ID: the vendor's own handle behind one of
 *    the loader's, for extension functions of a vendor that the loader does not
 *    know.
 *
 *      onnxGetExtensionFunctionAddress(id, ONNXIFI_LOADER_VENDOR_HANDLE, &f);
 *      ((onnxifiLoaderVendorHandleFunction)f)(ONNXIFI_LOADER_GRAPH, graph,
 * &own);
 */
#ifndef ONNXIFI_LOADER_EXT_H
#define ONNXIFI_LOADER_EXT_H 1

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Arguments and statuses of onnxGetBackendIDs. */
int32_t onnxGetBackendIDsExtended(void** backendIDs, size_t* numBackends);

#define ONNXIFI_LOADER_VENDOR_HANDLE "onnxifi_loader_vendor_handle"

#define ONNXIFI_LOADER_ID 0
#define ONNXIFI_LOADER_BACKEND 1
#define ONNXIFI_LOADER_GRAPH 2
#define ONNXIFI_LOADER_EVENT 3

/* Returns SUCCESS, INVALID_POINTER (vendor_handle NULL), INVALID_STATE (of no
 * such kind), INVALID_ID, INVALID_BACKEND, INVALID_GRAPH, INVALID_EVENT. */
typedef int32_t (*onnxifiLoaderVendorHandleFunction)(int kind, void* handle,
                                                     void** vendor_handle);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ONNXIFI_LOADER_EXT_H */

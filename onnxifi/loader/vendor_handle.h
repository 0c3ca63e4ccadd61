/* SPDX-License-Identifier: Apache-2.0
 *
 * An extension function of the loader itself, of every ID: the vendor's own
 * handle behind one of the loader's, for extension functions of a vendor that
 * the loader does not know.
 *
 *   onnxGetExtensionFunctionAddress(id, ONNXIFI_LOADER_VENDOR_HANDLE, &f);
 *   ((onnxifiLoaderVendorHandleFunction)f)(ONNXIFI_LOADER_GRAPH, graph, &own);
 */
#ifndef ONNXIFI_LOADER_VENDOR_HANDLE_H
#define ONNXIFI_LOADER_VENDOR_HANDLE_H 1

#include <stdint.h>

#define ONNXIFI_LOADER_VENDOR_HANDLE "onnxifi_loader_vendor_handle"

#define ONNXIFI_LOADER_ID 0
#define ONNXIFI_LOADER_BACKEND 1
#define ONNXIFI_LOADER_GRAPH 2
#define ONNXIFI_LOADER_EVENT 3

/* Returns SUCCESS, INVALID_POINTER (vendor_handle NULL), INVALID_STATE (of no
 * such kind), INVALID_ID, INVALID_BACKEND, INVALID_GRAPH, INVALID_EVENT. */
typedef int32_t (*onnxifiLoaderVendorHandleFunction)(int kind, void* handle,
                                                     void** vendor_handle);

#endif /* ONNXIFI_LOADER_VENDOR_HANDLE_H */

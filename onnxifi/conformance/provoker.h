/* SPDX-License-Identifier: Apache-2.0
 *
 * What a vendor writes to have more of a device tested than a program can bring
 * about: a shared library with one function, given to onnxifi-conformance as
 * --provoker PATH. It is loaded into the process of the case that needs it,
 * which has the library under test in it, too.
 */
#ifndef ONNXIFI_CONFORMANCE_PROVOKER_H_
#define ONNXIFI_CONFORMANCE_PROVOKER_H_ 1

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ONNXIFI_PROVOKED 0
/* This device, or this provoker, has no such thing: not supported. */
#define ONNXIFI_PROVOKER_LACKS 1
#define ONNXIFI_PROVOKER_FAILED 2

/* Does `what`, of which there are:
 *
 *   unplug        the device is gone, by surprise; returns when it is
 *   plug          it is back
 *   memory        it has `amount` bytes of memory when it is plugged again, or
 *                 at once; 0: what it has by itself
 *   hang          the next run does not end by itself
 *   bit_flip      a bit of what the next run computes with is wrong: its
 *                 weights (amount 0) or its program (1)
 *   reset         everything is as it was; called behind each case that has
 *                 used any of these, in a process of its own
 *
 * Words may be added; one that is not known is ONNXIFI_PROVOKER_LACKS. It may
 * be called from any thread, at most once at a time. What went wrong goes to
 * stderr. */
typedef int (*onnxifiProvokeFunction)(const char* what, uint64_t amount);
int onnxifiProvoke(const char* what, uint64_t amount);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ONNXIFI_CONFORMANCE_PROVOKER_H_ */

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
/* To `spare`: nothing has been refused. */
#define ONNXIFI_PROVOKED_NOTHING 3

/* Does `what`, of which there are:
 *
 *   of the device
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
 *   of this process, on all of its threads
 *   allocation    the request for memory that is number `amount` from now on
 *                 (1: the next) is refused, and all others are granted
 *   allocations   that one and all behind it are refused
 *   thread, threads, descriptor, descriptors
 *                 the same of threads and of file descriptors
 *   spare         nothing more is refused. ONNXIFI_PROVOKED: something was,
 *                 ONNXIFI_PROVOKED_NOTHING: there were not so many requests
 *
 * Those of the process the kit can do by itself, by functions that it puts in
 * the place of the C library's (scarcity.h): a provoker needs them only for a
 * library that does without those, because it brings an allocator of its own,
 * say. They must not need memory, threads or descriptors themselves.
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

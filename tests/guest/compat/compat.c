// SPDX-License-Identifier: Apache-2.0
// A 32-bit process on a 64-bit kernel: DRM's own structures, some of which have
// another layout there, and an inference's calls of heddle_drm.h, which have
// not. Without a C library, which a machine need not have for 32 bits. Exit
// code 0: all is well; otherwise the number of the check that failed.
//
//   compat NODE
#include <asm/unistd.h>

#include "kmd/include/uapi/drm/heddle_drm.h"

_Static_assert(sizeof(void*) == 4, "compile it with -m32");

enum { kOpenReadWrite = 2, kProtReadWrite = 3, kMapShared = 1, kBytes = 4096 };

long Call(long number, long a, long b, long c, long d, long e, long f);
__asm__(
    "Call:\n"
    "  push %ebp\n  push %ebx\n  push %esi\n  push %edi\n"
    "  mov 20(%esp), %eax\n"
    "  mov 24(%esp), %ebx\n"
    "  mov 28(%esp), %ecx\n"
    "  mov 32(%esp), %edx\n"
    "  mov 36(%esp), %esi\n"
    "  mov 40(%esp), %edi\n"
    "  mov 44(%esp), %ebp\n"
    "  int $0x80\n"
    "  pop %edi\n  pop %esi\n  pop %ebx\n  pop %ebp\n"
    "  ret\n");

static long Ioctl(int fd, unsigned long request, void* argument) {
  return Call(__NR_ioctl, fd, (long)request, (long)argument, 0, 0, 0);
}

static void Exit(int code) {
  Call(__NR_exit, code, 0, 0, 0, 0, 0);
  __builtin_unreachable();
}

static void Check(int condition, int number) {
  if (!condition) Exit(number);
}

static struct drm_heddle_array One(const void* element, __u32 size) {
  struct drm_heddle_array array = {(__u32)element, 1, size};
  return array;
}

static int Same(const char* a, const char* b) {
  while (*a != 0 && *a == *b) ++a, ++b;
  return *a == *b;
}

static void Use(const char* node) {
  const int fd = (int)Call(__NR_open, (long)node, kOpenReadWrite, 0, 0, 0, 0);
  Check(fd >= 0, 1);

  static char name[16];
  struct drm_version version = {0};
  version.name = name;
  version.name_len = sizeof(name) - 1;
  Check(Ioctl(fd, DRM_IOCTL_VERSION, &version) == 0, 2);
  Check(Same(name, "heddle") && version.version_major == 1, 3);

  static struct drm_heddle_device_info info;
  struct drm_heddle_query query = {0};
  query.type = DRM_HEDDLE_QUERY_DEVICE;
  query.data = One(&info, sizeof(info));
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_QUERY, &query) == 0, 4);
  Check(query.size == sizeof(info) && info.max_steps > 0, 5);

  struct drm_heddle_context_create context = {0};
  context.priority = 2;
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_CONTEXT_CREATE, &context) == 0, 6);
  struct drm_heddle_bo_create host = {0}, device = {0};
  host.size = device.size = kBytes;
  device.placement = DRM_HEDDLE_DEVICE;
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_BO_CREATE, &host) == 0, 7);
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_BO_CREATE, &device) == 0, 8);
  struct drm_heddle_bo_info where = {0};
  where.handle = host.handle;
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_BO_INFO, &where) == 0, 9);
  // mmap2 takes the offset in pages: it can have 44 bits.
  __u32* data = (__u32*)Call(__NR_mmap2, 0, kBytes, kProtReadWrite, kMapShared,
                             fd, (long)(where.mmap_offset >> 12));
  Check((unsigned long)data < -4096ul, 10);

  struct drm_heddle_step steps[2] = {{0}, {0}};
  steps[0].type = DRM_HEDDLE_FILL;
  steps[0].dst = device.handle;
  steps[0].length = kBytes;
  steps[0].fill_value = 0x12345678;
  steps[1].type = DRM_HEDDLE_COPY_OUT;
  steps[1].src = device.handle;
  steps[1].dst = host.handle;
  steps[1].length = kBytes;
  struct drm_heddle_submit submit = {0};
  submit.context = context.context;
  submit.steps = One(steps, sizeof(steps[0]));
  submit.steps.count = 2;
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_SUBMIT, &submit) == 0, 11);
  static struct drm_heddle_result result;
  struct drm_heddle_wait wait = {0};
  wait.context = context.context;
  wait.seqno = submit.seqno;
  wait.deadline_ns = ~0ull;
  wait.result = One(&result, sizeof(result));
  Check(Ioctl(fd, DRM_IOCTL_HEDDLE_WAIT, &wait) == 0, 12);
  Check(result.status == 0, 13);
  Check(data[0] == 0x12345678 && data[kBytes / 4 - 1] == 0x12345678, 14);
}

// The stack holds argc and the arguments.
__attribute__((used)) void Start(long* stack) {
  if (stack[0] == 2) Use((const char*)stack[2]);
  Exit(stack[0] == 2 ? 0 : 100);
}
__asm__(
    ".globl _start\n"
    "_start:\n"
    "  mov %esp, %eax\n"
    "  and $-16, %esp\n"
    "  sub $12, %esp\n"
    "  push %eax\n"
    "  call Start\n");

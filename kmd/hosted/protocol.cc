// SPDX-License-Identifier: GPL-2.0-only OR MIT
#include "kmd/hosted/protocol.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <new>
#include <utility>

#include "drm.h"
#include "kmd/include/uapi/drm/heddle_drm.h"

namespace heddle::hosted {
namespace {

constexpr uint16_t U16(size_t v) { return static_cast<uint16_t>(v); }

// A drm_heddle_array at `at`.
constexpr ArrayField Array(size_t at, uint32_t element, Direction direction) {
  return {U16(at + offsetof(drm_heddle_array, ptr)),
          U16(at + offsetof(drm_heddle_array, count)),
          4,
          U16(at + offsetof(drm_heddle_array, stride)),
          element,
          direction};
}

// DRM core: a pointer and a count somewhere else, elements of fixed size.
constexpr ArrayField Plain(size_t pointer, size_t count, uint16_t count_size,
                           uint32_t element, Direction direction) {
  return {U16(pointer),       U16(count), count_size,
          ArrayField::kFixed, element,    direction};
}

constexpr ArrayField kStepFields[] = {
    Array(offsetof(drm_heddle_step, regions), sizeof(drm_heddle_region),
          Direction::kIn),
};

constexpr ArrayField Steps() {
  ArrayField f = Array(offsetof(drm_heddle_submit, steps),
                       sizeof(drm_heddle_step), Direction::kIn);
  f.nested = kStepFields;
  f.nested_count = 1;
  return f;
}

constexpr ArrayField QueryData() {
  ArrayField f = Array(offsetof(drm_heddle_query, data), 0, Direction::kOut);
  f.element_from = offsetof(drm_heddle_query, size);
  return f;
}

constexpr ArrayField kQuery[] = {QueryData()};
constexpr ArrayField kStreamCreate[] = {
    Array(offsetof(drm_heddle_stream_create, data), 1, Direction::kIn)};
constexpr ArrayField kSubmit[] = {
    Steps(),
    Array(offsetof(drm_heddle_submit, in_syncs), sizeof(drm_heddle_sync),
          Direction::kIn),
    Array(offsetof(drm_heddle_submit, out_syncs), sizeof(drm_heddle_sync),
          Direction::kIn),
};
constexpr ArrayField kWait[] = {
    Array(offsetof(drm_heddle_wait, result), sizeof(drm_heddle_result),
          Direction::kOut),
    Array(offsetof(drm_heddle_wait, trace), sizeof(drm_heddle_trace_entry),
          Direction::kOut),
};
constexpr ArrayField EventList() {
  ArrayField f = Array(offsetof(drm_heddle_events, events),
                       sizeof(drm_heddle_event), Direction::kOut);
  f.filled_from = offsetof(drm_heddle_events, filled);
  return f;
}
constexpr ArrayField kEvents[] = {EventList()};
constexpr ArrayField kVersion[] = {
    Plain(offsetof(drm_version, name), offsetof(drm_version, name_len), 8, 1,
          Direction::kOut),
    Plain(offsetof(drm_version, date), offsetof(drm_version, date_len), 8, 1,
          Direction::kOut),
    Plain(offsetof(drm_version, desc), offsetof(drm_version, desc_len), 8, 1,
          Direction::kOut),
};
constexpr ArrayField kSyncobjWait[] = {
    Plain(offsetof(drm_syncobj_wait, handles),
          offsetof(drm_syncobj_wait, count_handles), 4, 4, Direction::kIn)};
constexpr ArrayField kSyncobjArray[] = {
    Plain(offsetof(drm_syncobj_array, handles),
          offsetof(drm_syncobj_array, count_handles), 4, 4, Direction::kIn)};
constexpr ArrayField kTimelineWait[] = {
    Plain(offsetof(drm_syncobj_timeline_wait, handles),
          offsetof(drm_syncobj_timeline_wait, count_handles), 4, 4,
          Direction::kIn),
    Plain(offsetof(drm_syncobj_timeline_wait, points),
          offsetof(drm_syncobj_timeline_wait, count_handles), 4, 8,
          Direction::kIn),
};
constexpr ArrayField kTimelineSignal[] = {
    Plain(offsetof(drm_syncobj_timeline_array, handles),
          offsetof(drm_syncobj_timeline_array, count_handles), 4, 4,
          Direction::kIn),
    Plain(offsetof(drm_syncobj_timeline_array, points),
          offsetof(drm_syncobj_timeline_array, count_handles), 4, 8,
          Direction::kIn),
};
constexpr ArrayField kTimelineQuery[] = {
    Plain(offsetof(drm_syncobj_timeline_array, handles),
          offsetof(drm_syncobj_timeline_array, count_handles), 4, 4,
          Direction::kIn),
    Plain(offsetof(drm_syncobj_timeline_array, points),
          offsetof(drm_syncobj_timeline_array, count_handles), 4, 8,
          Direction::kOut),
};

template <size_t N>
constexpr Call Make(unsigned long request, const char* name,
                    const ArrayField (&fields)[N]) {
  return {static_cast<uint32_t>(request), name, fields, N};
}

constexpr Call Make(unsigned long request, const char* name) {
  return {static_cast<uint32_t>(request), name, nullptr, 0};
}

constexpr Call MakeFd(unsigned long request, const char* name, int in,
                      int out) {
  return {static_cast<uint32_t>(request), name, nullptr, 0, in, out};
}

// A caller may leave any room between the elements that it gets; what it does
// not know of need not travel.
constexpr uint32_t kOutStrideMax = 4096;

// No structure of a call is larger.
constexpr size_t kStructMax = 256;

size_t Align(size_t n) { return (n + 7) & ~size_t{7}; }

template <typename T>
T Get(const uint8_t* base, size_t at) {
  T v;
  std::memcpy(&v, base + at, sizeof(v));
  return v;
}

template <typename T>
void Put(uint8_t* base, size_t at, T v) {
  std::memcpy(base + at, &v, sizeof(v));
}

uint64_t CountOf(const ArrayField& f, const uint8_t* base) {
  return f.count_size == 8 ? Get<uint64_t>(base, f.count)
                           : Get<uint32_t>(base, f.count);
}

uint32_t StrideOf(const ArrayField& f, const uint8_t* base) {
  return f.stride == ArrayField::kFixed ? f.element
                                        : Get<uint32_t>(base, f.stride);
}

// Bytes of an array; false: more than a message may hold.
bool ArrayBytes(uint64_t count, uint32_t stride, uint64_t* bytes) {
  return !__builtin_mul_overflow(count, uint64_t{stride}, bytes) &&
         *bytes <= kMessageBytesMax;
}

// Whether the pointer lies in an element of `bytes` bytes.
bool Within(const ArrayField& f, size_t bytes) {
  return f.pointer + 8u <= bytes && f.count + size_t{f.count_size} <= bytes &&
         (f.stride == ArrayField::kFixed || f.stride + 4u <= bytes);
}

int PackFields(const ArrayField* fields, size_t n, const uint8_t* base,
               size_t base_bytes, MessageBytes* payload, size_t* reply_bytes) {
  for (size_t i = 0; i < n; ++i) {
    const ArrayField& f = fields[i];
    if (!Within(f, base_bytes)) continue;
    const uint64_t count = CountOf(f, base);
    const uint32_t stride = StrideOf(f, base);
    uint64_t bytes = 0;
    if (!ArrayBytes(count, stride, &bytes)) return -E2BIG;
    if (f.direction == Direction::kOut) {
      *reply_bytes = Align(*reply_bytes) + 8 + bytes;
      if (*reply_bytes > kMessageBytesMax) return -E2BIG;
    }
    if (f.direction != Direction::kIn || bytes == 0) continue;
    const auto* from =
        reinterpret_cast<const uint8_t*>(Get<uint64_t>(base, f.pointer));
    if (from == nullptr) return -EFAULT;
    const size_t at = Align(payload->size());
    if (at + bytes > kMessageBytesMax) return -E2BIG;
    if (!payload->Resize(at + bytes)) return -ENOMEM;
    std::memcpy(payload->data() + at, from, bytes);
    for (uint64_t e = 0; f.nested_count > 0 && e < count; ++e) {
      const int err = PackFields(f.nested, f.nested_count, from + e * stride,
                                 stride, payload, reply_bytes);
      if (err != 0) return err;
    }
  }
  return 0;
}

// Pieces of a vectored transfer that are still to be done.
void Consume(iovec* iov, int* count, size_t n) {
  while (*count > 0 && n >= iov[0].iov_len) {
    n -= iov[0].iov_len;
    --*count;
    std::memmove(iov, iov + 1, *count * sizeof(*iov));
  }
  if (*count > 0) {
    iov[0].iov_base = static_cast<uint8_t*>(iov[0].iov_base) + n;
    iov[0].iov_len -= n;
  }
}

constexpr Call kCalls[] = {
    Make(DRM_IOCTL_HEDDLE_QUERY, "QUERY", kQuery),
    Make(DRM_IOCTL_HEDDLE_CONTEXT_CREATE, "CONTEXT_CREATE"),
    Make(DRM_IOCTL_HEDDLE_CONTEXT_DESTROY, "CONTEXT_DESTROY"),
    Make(DRM_IOCTL_HEDDLE_CONTEXT_CONTROL, "CONTEXT_CONTROL"),
    Make(DRM_IOCTL_HEDDLE_BO_CREATE, "BO_CREATE"),
    Make(DRM_IOCTL_HEDDLE_BO_INFO, "BO_INFO"),
    Make(DRM_IOCTL_HEDDLE_STREAM_CREATE, "STREAM_CREATE", kStreamCreate),
    Make(DRM_IOCTL_HEDDLE_STREAM_DESTROY, "STREAM_DESTROY"),
    Make(DRM_IOCTL_HEDDLE_SUBMIT, "SUBMIT", kSubmit),
    Make(DRM_IOCTL_HEDDLE_WAIT, "WAIT", kWait),
    Make(DRM_IOCTL_HEDDLE_EVENTS, "EVENTS", kEvents),
    Make(DRM_IOCTL_VERSION, "VERSION", kVersion),
    Make(DRM_IOCTL_GEM_CLOSE, "GEM_CLOSE"),
    MakeFd(DRM_IOCTL_PRIME_HANDLE_TO_FD, "PRIME_HANDLE_TO_FD", -1,
           offsetof(drm_prime_handle, fd)),
    MakeFd(DRM_IOCTL_PRIME_FD_TO_HANDLE, "PRIME_FD_TO_HANDLE",
           offsetof(drm_prime_handle, fd), -1),
    Make(DRM_IOCTL_SYNCOBJ_CREATE, "SYNCOBJ_CREATE"),
    Make(DRM_IOCTL_SYNCOBJ_DESTROY, "SYNCOBJ_DESTROY"),
    Make(DRM_IOCTL_SYNCOBJ_WAIT, "SYNCOBJ_WAIT", kSyncobjWait),
    Make(DRM_IOCTL_SYNCOBJ_RESET, "SYNCOBJ_RESET", kSyncobjArray),
    Make(DRM_IOCTL_SYNCOBJ_SIGNAL, "SYNCOBJ_SIGNAL", kSyncobjArray),
    Make(DRM_IOCTL_SYNCOBJ_TIMELINE_WAIT, "SYNCOBJ_TIMELINE_WAIT",
         kTimelineWait),
    Make(DRM_IOCTL_SYNCOBJ_QUERY, "SYNCOBJ_QUERY", kTimelineQuery),
    Make(DRM_IOCTL_SYNCOBJ_TIMELINE_SIGNAL, "SYNCOBJ_TIMELINE_SIGNAL",
         kTimelineSignal),
};

}  // namespace

size_t Call::size() const { return _IOC_SIZE(request); }

const std::vector<Call>& Calls() {
  static const auto* calls =
      new std::vector<Call>(std::begin(kCalls), std::end(kCalls));
  return *calls;
}

const Call* FindCall(uint32_t request) {
  for (const Call& call : kCalls) {
    if (call.request == request) return &call;
  }
  return nullptr;
}

bool MessageBytes::Resize(size_t bytes) noexcept {
  if (bytes > capacity_) {
    const size_t wanted = std::max(bytes, 2 * capacity_);
    std::unique_ptr<uint8_t[]> larger(new (std::nothrow) uint8_t[wanted]);
    if (larger == nullptr) return false;
    std::memcpy(larger.get(), data(), size_);
    heap_ = std::move(larger);
    capacity_ = wanted;
  }
  if (bytes > size_) std::memset(data() + size_, 0, bytes - size_);
  size_ = bytes;
  return true;
}

int PackRequest(const Call& call, const void* arg, MessageBytes* payload,
                size_t* reply_bytes) noexcept {
  uint8_t head[kStructMax];
  if (call.size() > sizeof(head)) return -EINVAL;
  std::memcpy(head, arg, call.size());
  for (size_t i = 0; i < call.field_count; ++i) {
    const ArrayField& f = call.fields[i];
    if (f.direction != Direction::kOut || f.stride == ArrayField::kFixed)
      continue;
    Put(head, f.stride, std::min(StrideOf(f, head), kOutStrideMax));
  }
  if (!payload->Resize(call.size())) return -ENOMEM;
  std::memcpy(payload->data(), head, call.size());
  *reply_bytes = call.size();
  return PackFields(call.fields, call.field_count, head, call.size(), payload,
                    reply_bytes);
}

int UnpackReply(const Call& call, int result, const uint8_t* payload,
                size_t size, void* arg) noexcept {
  uint8_t before[kStructMax];
  if (size < call.size() || call.size() > sizeof(before)) return -EPROTO;
  auto* base = static_cast<uint8_t*>(arg);
  std::memcpy(before, base, call.size());
  std::memcpy(base, payload, call.size());
  if (call.fd_in >= 0) Put<int>(base, call.fd_in, Get<int>(before, call.fd_in));
  size_t at = call.size();
  for (size_t i = 0; i < call.field_count; ++i) {
    const ArrayField& f = call.fields[i];
    const auto pointer = Get<uint64_t>(before, f.pointer);
    Put(base, f.pointer, pointer);
    if (f.stride != ArrayField::kFixed)
      Put(base, f.stride, StrideOf(f, before));
    if (f.direction != Direction::kOut) continue;
    at = Align(at);
    if (size < at || size - at < 8) return -EPROTO;
    const auto elements = Get<uint32_t>(payload, at);
    const auto each = Get<uint32_t>(payload, at + 4);
    at += 8;
    const uint32_t stride = StrideOf(f, before);
    const uint64_t bytes = uint64_t{elements} * each;
    if (elements > CountOf(f, before) || each > stride || size - at < bytes) {
      return -EPROTO;
    }
    at += bytes;
    if (bytes == 0 || result < 0) continue;
    if (pointer == 0) return -EFAULT;
    for (uint32_t e = 0; e < elements; ++e) {
      std::memcpy(reinterpret_cast<uint8_t*>(pointer) + uint64_t{e} * stride,
                  payload + at - bytes + uint64_t{e} * each, each);
    }
  }
  return 0;
}

int CallFrame::Unpack(const Call& call, std::vector<uint8_t> payload,
                      uint64_t room) {
  if (payload.size() < call.size()) return -EPROTO;
  if (payload.capacity() > room) return -ENOBUFS;
  call_ = &call;
  data_ = std::move(payload);
  size_t at = call.size();
  const int err = Walk(call.fields, call.field_count, data_.data(), call.size(),
                       &at, room - data_.capacity());
  if (err != 0) return err;
  return at == data_.size() ? 0 : -EPROTO;
}

int CallFrame::Walk(const ArrayField* fields, size_t n, uint8_t* base,
                    size_t base_bytes, size_t* at, uint64_t room) {
  for (size_t i = 0; i < n; ++i) {
    const ArrayField& f = fields[i];
    if (!Within(f, base_bytes)) continue;
    const uint64_t count = CountOf(f, base);
    const uint32_t stride = StrideOf(f, base);
    uint64_t bytes = 0;
    if (!ArrayBytes(count, stride, &bytes)) return -E2BIG;
    Put<uint64_t>(base, f.pointer, 0);
    if (f.direction == Direction::kOut) {
      if (out_bytes_ + bytes > kMessageBytesMax) return -E2BIG;
      // Once here and once in the reply.
      if (2 * (out_bytes_ + bytes) > room) return -ENOBUFS;
      outs_.push_back({&f, count, stride, std::vector<uint8_t>(bytes)});
      out_bytes_ += bytes;
      Put<uint64_t>(base, f.pointer,
                    reinterpret_cast<uint64_t>(outs_.back().bytes.data()));
      continue;
    }
    if (bytes == 0) continue;
    *at = Align(*at);
    if (*at > data_.size() || data_.size() - *at < bytes) return -EPROTO;
    uint8_t* elements = data_.data() + *at;
    Put<uint64_t>(base, f.pointer, reinterpret_cast<uint64_t>(elements));
    *at += bytes;
    for (uint64_t e = 0; f.nested_count > 0 && e < count; ++e) {
      const int err = Walk(f.nested, f.nested_count, elements + e * stride,
                           stride, at, room);
      if (err != 0) return err;
    }
  }
  return 0;
}

uint64_t CallFrame::reply_bytes_max() const {
  // A count, a size and padding for each array.
  return call_->size() + out_bytes_ + outs_.size() * 16;
}

void CallFrame::PackReply(int result, std::vector<uint8_t>* reply) const {
  reply->assign(data_.begin(), data_.begin() + call_->size());
  for (const Out& out : outs_) {
    const size_t at = Align(reply->size());
    const uint8_t* base = data_.data();
    const uint64_t known = out.field->element_from
                               ? Get<uint64_t>(base, out.field->element_from)
                               : out.field->element;
    const auto each =
        static_cast<uint32_t>(std::min<uint64_t>(known, out.stride));
    auto elements = static_cast<uint32_t>(
        std::min<uint64_t>(out.count, CountOf(*out.field, base)));
    if (out.field->filled_from) {
      elements =
          std::min(elements, Get<uint32_t>(base, out.field->filled_from));
    }
    if (result < 0) elements = 0;
    reply->resize(at + 8 + uint64_t{elements} * each);
    Put(reply->data(), at, elements);
    Put(reply->data(), at + 4, each);
    for (uint32_t e = 0; each > 0 && e < elements; ++e) {
      std::memcpy(reply->data() + at + 8 + uint64_t{e} * each,
                  out.bytes.data() + uint64_t{e} * out.stride, each);
    }
  }
  for (size_t i = 0; i < call_->field_count; ++i) {
    Put<uint64_t>(reply->data(), call_->fields[i].pointer,
                  0);  // our addresses stay ours
  }
}

int SendMessage(int socket, const MessageHeader& header, const void* payload,
                int fd) noexcept {
  MessageHeader copy = header;
  copy.fds = fd >= 0 ? 1 : 0;
  iovec iov[2] = {{&copy, sizeof(copy)},
                  {const_cast<void*>(payload), header.bytes}};
  int pieces = header.bytes > 0 ? 2 : 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  bool send_fd = fd >= 0;
  while (pieces > 0) {
    msghdr m = {};
    m.msg_iov = iov;
    m.msg_iovlen = pieces;
    if (send_fd) {
      m.msg_control = control;
      m.msg_controllen = sizeof(control);
      cmsghdr* c = CMSG_FIRSTHDR(&m);
      c->cmsg_level = SOL_SOCKET;
      c->cmsg_type = SCM_RIGHTS;
      c->cmsg_len = CMSG_LEN(sizeof(int));
      std::memcpy(CMSG_DATA(c), &fd, sizeof(int));
    }
    const ssize_t n = sendmsg(socket, &m, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      return -ENODEV;
    }
    send_fd = false;
    Consume(iov, &pieces, n);
  }
  return 0;
}

namespace {

// Receives exactly so many bytes, and a descriptor if one comes and `fd` is not
// null.
int Receive(int socket, void* to, size_t bytes, int* fd) {
  size_t done = 0;
  while (done < bytes) {
    iovec iov = {static_cast<uint8_t*>(to) + done, bytes - done};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr m = {};
    m.msg_iov = &iov;
    m.msg_iovlen = 1;
    m.msg_control = control;
    m.msg_controllen = sizeof(control);
    const ssize_t n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return -ENODEV;
    cmsghdr* c = CMSG_FIRSTHDR(&m);
    if (c != nullptr && c->cmsg_level == SOL_SOCKET &&
        c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(int))) {
      int got = -1;
      std::memcpy(&got, CMSG_DATA(c), sizeof(int));
      if (fd != nullptr && *fd < 0) {
        *fd = got;
      } else {
        close(got);
      }
    }
    done += static_cast<size_t>(n);
  }
  return 0;
}

}  // namespace

int ReceiveHeader(int socket, MessageHeader* header, int* fd) noexcept {
  *fd = -1;
  const int err = Receive(socket, header, sizeof(*header), fd);
  if (err == 0 && header->magic == kMessageMagic &&
      header->bytes <= kMessageBytesMax) {
    return 0;
  }
  if (*fd >= 0) close(std::exchange(*fd, -1));
  return err != 0 ? err : -EPROTO;
}

int ReceivePayload(int socket, void* payload, size_t bytes) noexcept {
  return Receive(socket, payload, bytes, nullptr);
}

}  // namespace heddle::hosted

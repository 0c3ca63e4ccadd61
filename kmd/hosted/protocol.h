// SPDX-License-Identifier: GPL-2.0-only OR MIT
// The protocol between heddle-hosted and its clients, over a Unix stream
// socket.
//
// Every message is a MessageHeader and `bytes` bytes of payload; a reply
// repeats `type` and `id` and may overtake earlier requests. File descriptors
// travel by SCM_RIGHTS with the first byte of their message. The first message
// of a connection is kList (any number) or kHello; kHello opens a card, what
// follows are ioctls of that open file, and closing the socket closes it.
//
//   kList   ->  CardEntry[cards]
//   kHello  Hello -> HelloReply            result -ENXIO: no such card now
//   kIoctl  struct, arrays -> struct, arrays    request = the ioctl number
//   kMmap   MmapRequest -> (empty, one descriptor)
//   kResults  (empty) -> (empty, one descriptor)   a ResultsPage; once
//
// A server answers what it does not know with -EPROTO and goes on, so a client
// may ask an older one for a page and do without.
//
// An ioctl's structure is followed by the arrays that its pointers name, in the
// order of the one table below (Calls()): to the server the elements of arrays
// it reads, back the elements of arrays it fills. Each array starts at a
// multiple of 8 bytes. A filled array is {uint32 elements, uint32 bytes each,
// elements}: what the caller has beyond those bytes stays untouched.
#ifndef HEDDLE_KMD_HOSTED_PROTOCOL_H_
#define HEDDLE_KMD_HOSTED_PROTOCOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heddle::hosted {

inline constexpr uint32_t kProtocolVersion = 2;
inline constexpr uint32_t kMessageMagic = 0x4d444548;  // "HEDM"
// Largest payload: the largest command stream and room for everything else.
inline constexpr uint32_t kMessageBytesMax = 24u << 20;

enum MessageType : uint32_t {
  kList = 1,
  kHello = 2,
  kIoctl = 3,
  kMmap = 4,
  kResults = 5
};

struct MessageHeader {
  uint32_t magic = kMessageMagic;
  uint32_t type = 0;
  uint64_t id = 0;
  uint32_t bytes = 0;    // of the payload
  uint32_t request = 0;  // kIoctl: ioctl number
  int32_t result = 0;    // replies: 0 or a negative errno
  uint32_t fds = 0;      // descriptors that come along, 0 or 1
};
static_assert(sizeof(MessageHeader) == 32, "wire format");

struct Hello {
  uint32_t version = kProtocolVersion;
  uint32_t card = 0;  // index
};

struct HelloReply {
  uint32_t version = kProtocolVersion;
  uint32_t card = 0;
  uint64_t generation = 0;  // grows with every re-plug
};

struct CardEntry {
  uint32_t present = 0;
  uint32_t config = 0;
  uint32_t core_kind = 0;
  uint32_t pad = 0;
  uint64_t unique = 0;
  uint64_t generation = 0;
};

struct MmapRequest {
  uint64_t offset = 0;  // drm_heddle_bo_info.mmap_offset
};

struct Message {
  MessageHeader header;
  std::vector<uint8_t> payload;
  int fd = -1;  // owned by whoever holds the message
};

// ---- The table of calls
// --------------------------------------------------------

enum class Direction : uint8_t { kIn, kOut };

// A pointer in a structure: where it, its count and its stride are.
struct ArrayField {
  static constexpr uint16_t kFixed = 0xffff;
  uint16_t pointer;     // offset of the 64-bit address
  uint16_t count;       // offset of the count
  uint16_t count_size;  // 4 or 8
  uint16_t stride;      // offset of the 32-bit stride, or kFixed
  uint32_t element;  // bytes of an element as the driver knows it; the stride
                     // if kFixed
  Direction direction;
  uint16_t element_from = 0;  // if not 0: offset of a u64 that gives `element`
  uint16_t filled_from = 0;   // if not 0: offset of a u32: elements filled
  const ArrayField* nested = nullptr;  // arrays inside each element
  size_t nested_count = 0;
};

struct Call {
  uint32_t request;
  const char* name;
  const ArrayField* fields;
  size_t field_count;
  int fd_in = -1;   // offset of a descriptor that goes to the server
  int fd_out = -1;  // offset of a descriptor that comes back

  size_t size() const;  // bytes of the structure
};

const std::vector<Call>& Calls();
// nullptr: this protocol does not carry that ioctl.
const Call* FindCall(uint32_t request);

// ---- Marshalling
// ---------------------------------------------------------------

// Bytes of a message. Few of them need no memory, so that what gives something
// back, or waits, always works.
class MessageBytes {
 public:
  MessageBytes() = default;
  MessageBytes(const MessageBytes&) = delete;
  MessageBytes& operator=(const MessageBytes&) = delete;
  // Keeps the contents; what is new is 0. False, and unchanged: no memory.
  bool Resize(size_t bytes) noexcept;
  uint8_t* data() { return heap_ != nullptr ? heap_.get() : inline_; }
  const uint8_t* data() const {
    return heap_ != nullptr ? heap_.get() : inline_;
  }
  size_t size() const { return size_; }

 private:
  static constexpr size_t kInline = 1024;
  alignas(8) uint8_t inline_[kInline] = {};
  std::unique_ptr<uint8_t[]> heap_;
  size_t size_ = 0, capacity_ = kInline;
};

// Client, before: the payload for `arg`, and the most bytes that its reply has.
// 0 or a negative errno (-E2BIG: too much, -ENOMEM).
int PackRequest(const Call& call, const void* arg, MessageBytes* payload,
                size_t* reply_bytes) noexcept;
// Client, after a call that had this result: fills `arg`, and the caller's
// arrays unless it failed, as heddle.ko does. -EPROTO: malformed.
int UnpackReply(const Call& call, int result, const uint8_t* payload,
                size_t bytes, void* arg) noexcept;

// The server's side of one ioctl: a private copy of the structure whose
// pointers lead to private copies of the arrays.
class CallFrame {
 public:
  // -EPROTO: the payload does not fit the call; -E2BIG: the reply would be too
  // large; -ENOBUFS: frame and reply would take more than `room` bytes.
  int Unpack(const Call& call, std::vector<uint8_t> payload,
             uint64_t room = ~uint64_t{0});
  // Bytes that the frame takes, and the most that its reply can have.
  uint64_t held() const { return data_.capacity() + out_bytes_; }
  uint64_t reply_bytes_max() const;
  // Of a call that failed only the structure goes back, as the kernel's does.
  // Allocates nothing if `reply` has room for reply_bytes_max().
  void PackReply(int result, std::vector<uint8_t>* reply) const;

  const Call& call() const { return *call_; }
  void* arg() { return data_.data(); }
  template <typename T>
  T* As() {
    return reinterpret_cast<T*>(data_.data());
  }

 private:
  struct Out {
    const ArrayField* field;
    uint64_t count;
    uint32_t stride;
    std::vector<uint8_t> bytes;
  };
  int Walk(const ArrayField* fields, size_t count, uint8_t* base,
           size_t base_bytes, size_t* at, uint64_t room);

  const Call* call_ = nullptr;
  std::vector<uint8_t> data_;  // the payload; pointers lead into it
  std::vector<Out> outs_;
  uint64_t out_bytes_ = 0;
};

// ---- Blocking transfer (clients)
// -------------------------------------------------

// 0 or a negative errno; -ENODEV when the other end is gone. `fd` is not
// consumed.
int SendMessage(int socket, const MessageHeader& header, const void* payload,
                int fd) noexcept;
// A message in two parts, the second of header->bytes bytes. *fd: -1, or the
// descriptor that came along, the caller's; -1 with header->fds != 0 if this
// process has no descriptor left for it.
int ReceiveHeader(int socket, MessageHeader* header, int* fd) noexcept;
int ReceivePayload(int socket, void* payload, size_t bytes) noexcept;

}  // namespace heddle::hosted

#endif  // HEDDLE_KMD_HOSTED_PROTOCOL_H_

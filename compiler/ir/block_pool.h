// SPDX-License-Identifier: Apache-2.0
// Large blocks of memory that are used again instead of going back to the
// system, which hands out every page of a fresh one by a page fault: that takes
// longer than most operators take for the page's elements. Who computes the
// same tensors over and over owns a pool, and lends it to its thread:
//
//   auto pool = std::make_shared<BlockPool>(most, most_kept);  // once
//   { const BlockPoolScope scope(pool); ... }             // each time
//
// What a PooledAllocator allocates on that thread meanwhile comes from the pool
// and returns to it, whoever frees it and whenever. Without a scope, below
// kLeastPooledBytes, and where the pool has nothing of that size, the allocator
// is std::allocator. A pool may be used by any number of threads.
#ifndef HEDDLE_COMPILER_IR_BLOCK_POOL_H_
#define HEDDLE_COMPILER_IR_BLOCK_POOL_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

namespace heddle::compiler {

// Smaller ones are the C library's, which keeps them itself.
inline constexpr size_t kLeastPooledBytes = 64 << 10;

// What a graph of a session keeps from run to run, at most: what takes more is
// computed on for so long that fresh memory does not matter.
inline constexpr uint64_t kMostKeptBytes = uint64_t{256} << 20;

class BlockPool {
 public:
  // Keeps at most `most_kept` bytes that nobody uses, and none that would make
  // more than `most` bytes of those and the ones in use.
  BlockPool(uint64_t most, uint64_t most_kept)
      : most_(most), most_kept_(most_kept) {}
  ~BlockPool();
  BlockPool(const BlockPool&) = delete;
  BlockPool& operator=(const BlockPool&) = delete;

  // Of blocks that nobody uses.
  uint64_t kept_bytes() const;

 private:
  friend void* AllocatePooled(size_t bytes);
  friend void FreePooled(void* block, size_t bytes) noexcept;
  struct Header;

  // The smallest block that fits, of the latest; or null, and there is room for
  // a new one. Either is used from now on.
  Header* Take(size_t bytes);
  // The opposite: in place of those that were kept longest, where there is no
  // room. False: there is none.
  bool Keep(Header* block) noexcept;
  // All that is kept goes back to the system.
  void Release() noexcept;
  // Nobody uses these bytes, which could not be allocated.
  void GiveUp(size_t bytes) noexcept;
  // Until no more than that is kept, the longest kept first.
  void Shrink(uint64_t kept);
  uint64_t RoomToKeep() const;
  void Unlink(Header* block);

  const uint64_t most_, most_kept_;
  mutable std::mutex mutex_;
  uint64_t kept_bytes_ = 0, used_bytes_ = 0;
  Header* newest_ = nullptr;
  Header* oldest_ = nullptr;
};

class BlockPoolScope {
 public:
  // Of this thread, until destroyed.
  explicit BlockPoolScope(std::shared_ptr<BlockPool> pool);
  ~BlockPoolScope();
  BlockPoolScope(const BlockPoolScope&) = delete;
  BlockPoolScope& operator=(const BlockPoolScope&) = delete;

 private:
  friend void* AllocatePooled(size_t bytes);
  // (As PaceScope's: nothing to allocate on a thread's first use.)
  static inline thread_local BlockPoolScope* current_
      __attribute__((tls_model("initial-exec"))) = nullptr;

  const std::shared_ptr<BlockPool> pool_;
  BlockPoolScope* const outer_;
};

// Throws std::bad_alloc.
void* AllocatePooled(size_t bytes);
// `bytes`: as it was allocated with.
void FreePooled(void* block, size_t bytes) noexcept;

template <typename T>
struct PooledAllocator {
  using value_type = T;
  PooledAllocator() = default;
  template <typename U>
  PooledAllocator(const PooledAllocator<U>&) {}  // NOLINT: as allocators do

  T* allocate(size_t count) {
    return static_cast<T*>(AllocatePooled(count * sizeof(T)));
  }
  void deallocate(T* block, size_t count) noexcept {
    FreePooled(block, count * sizeof(T));
  }
  friend bool operator==(const PooledAllocator&, const PooledAllocator&) {
    return true;
  }
  friend bool operator!=(const PooledAllocator&, const PooledAllocator&) {
    return false;
  }
};

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IR_BLOCK_POOL_H_

// SPDX-License-Identifier: Apache-2.0
#include "compiler/ir/block_pool.h"

#include <algorithm>
#include <new>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_POISON_BLOCKS
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_POISON_BLOCKS
#endif
#endif
#ifdef HEDDLE_POISON_BLOCKS
#include <sanitizer/asan_interface.h>
#endif

namespace heddle::compiler {
namespace {

// Who uses a block that the pool keeps is found like who uses freed memory.
void Poison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef HEDDLE_POISON_BLOCKS
  __asan_poison_memory_region(block, bytes);
#endif
}

void Unpoison([[maybe_unused]] void* block, [[maybe_unused]] size_t bytes) {
#ifdef HEDDLE_POISON_BLOCKS
  __asan_unpoison_memory_region(block, bytes);
#endif
}

// So that a block after its header is aligned to a line of the cache.
constexpr size_t kAlign = 64;

// A block that is used for less than half of it would take the place of two.
constexpr size_t kMostWaste = 2;

// So many blocks are looked at, the latest first: to look at thousands would
// take longer than the page faults that it saves.
constexpr int kMostLooked = 256;

}  // namespace

// In front of a block of kLeastPooledBytes and more.
struct alignas(kAlign) BlockPool::Header {
  std::shared_ptr<BlockPool> pool;  // to return to, while it is used
  size_t bytes = 0;                 // without the header
  Header* newer = nullptr;          // while it is kept
  Header* older = nullptr;

  // Null: there is no memory.
  static Header* Make(size_t bytes) {
    void* const memory = ::operator new (
        sizeof(Header) + bytes, std::align_val_t{kAlign}, std::nothrow);
    if (memory == nullptr) return nullptr;
    auto* const block = new (memory) Header;
    block->bytes = bytes;
    return block;
  }
  static void Delete(Header* block) noexcept {
    block->~Header();
    ::operator delete (block, std::align_val_t{kAlign});
  }
};

BlockPool::~BlockPool() { Shrink(0); }

uint64_t BlockPool::kept_bytes() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return kept_bytes_;
}

void BlockPool::Shrink(uint64_t kept) {
  while (kept_bytes_ > kept) {
    Header* const oldest = oldest_;
    Unlink(oldest);
    Header::Delete(oldest);
  }
}

uint64_t BlockPool::RoomToKeep() const {
  return std::min(most_kept_, most_ - std::min(most_, used_bytes_));
}

void BlockPool::Unlink(Header* block) {
  (block->newer == nullptr ? newest_ : block->newer->older) = block->older;
  (block->older == nullptr ? oldest_ : block->older->newer) = block->newer;
  block->newer = block->older = nullptr;
  kept_bytes_ -= block->bytes;
  Unpoison(block + 1, block->bytes);
}

BlockPool::Header* BlockPool::Take(size_t bytes) {
  const std::lock_guard<std::mutex> lock(mutex_);
  Header* best = nullptr;
  int looked = 0;
  for (Header* b = newest_; b != nullptr && looked < kMostLooked;
       b = b->older, ++looked) {
    if (b->bytes < bytes || b->bytes / kMostWaste > bytes) continue;
    if (best == nullptr || b->bytes < best->bytes) best = b;
    if (best->bytes == bytes) break;
  }
  if (best != nullptr) Unlink(best);
  used_bytes_ += best != nullptr ? best->bytes : bytes;
  Shrink(RoomToKeep());
  return best;
}

bool BlockPool::Keep(Header* block) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ -= block->bytes;
  const uint64_t room = RoomToKeep();
  if (block->bytes > room) return false;
  Shrink(room - block->bytes);
  block->older = newest_;
  (newest_ == nullptr ? oldest_ : newest_->newer) = block;
  newest_ = block;
  kept_bytes_ += block->bytes;
  Poison(block + 1, block->bytes);
  return true;
}

void BlockPool::Release() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  Shrink(0);
}

void BlockPool::GiveUp(size_t bytes) noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  used_bytes_ -= bytes;
}

BlockPoolScope::BlockPoolScope(std::shared_ptr<BlockPool> pool)
    : pool_(std::move(pool)), outer_(current_) {
  current_ = this;
}

BlockPoolScope::~BlockPoolScope() { current_ = outer_; }

void* AllocatePooled(size_t bytes) {
  if (bytes < kLeastPooledBytes) return ::operator new(bytes);
  const BlockPoolScope* const scope = BlockPoolScope::current_;
  BlockPool* const pool = scope == nullptr ? nullptr : scope->pool_.get();
  BlockPool::Header* block = pool == nullptr ? nullptr : pool->Take(bytes);
  if (block == nullptr) block = BlockPool::Header::Make(bytes);
  if (block == nullptr && pool != nullptr) {
    pool->Release();
    block = BlockPool::Header::Make(bytes);
    if (block == nullptr) pool->GiveUp(bytes);
  }
  if (block == nullptr) throw std::bad_alloc();
  if (scope != nullptr) block->pool = scope->pool_;
  return block + 1;
}

void FreePooled(void* memory, size_t bytes) noexcept {
  if (bytes < kLeastPooledBytes) return ::operator delete(memory);
  auto* const block = static_cast<BlockPool::Header*>(memory) - 1;
  // Its last owner may be this block.
  const std::shared_ptr<BlockPool> pool = std::move(block->pool);
  if (pool == nullptr || !pool->Keep(block)) BlockPool::Header::Delete(block);
}

}  // namespace heddle::compiler

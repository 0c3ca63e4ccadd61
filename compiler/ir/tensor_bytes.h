// SPDX-License-Identifier: Apache-2.0
// The bytes of a tensor: its own, or a view of bytes that somebody else keeps,
// such as a mapped file. Reads like a vector. What changes a view makes it a
// copy first, so that the bytes behind it are never written.
#ifndef HEDDLE_COMPILER_IR_TENSOR_BYTES_H_
#define HEDDLE_COMPILER_IR_TENSOR_BYTES_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "compiler/ir/block_pool.h"

namespace heddle::compiler {

class TensorBytes {
 public:
  using value_type = uint8_t;
  using iterator = uint8_t*;
  using const_iterator = const uint8_t*;

  TensorBytes() = default;
  TensorBytes(const std::vector<uint8_t>& copied)  // NOLINT: a vector is one
      : own_(copied.begin(), copied.end()) {
    Refer();
  }
  static TensorBytes Copy(const void* data, size_t size) {
    TensorBytes bytes;
    const auto* const from = static_cast<const uint8_t*>(data);
    bytes.own_.assign(from, from + size);
    bytes.Refer();
    return bytes;
  }
  // `owner` keeps the bytes.
  static TensorBytes View(const void* data, size_t size,
                          std::shared_ptr<const void> owner) {
    TensorBytes bytes;
    bytes.view_ = true;
    bytes.owner_ = std::move(owner);
    bytes.data_ = static_cast<const uint8_t*>(data);
    bytes.size_ = size;
    return bytes;
  }

  // The same bytes, which copies of the result have in common.
  static TensorBytes Shared(TensorBytes bytes) {
    if (bytes.view_) return bytes;
    auto owner = std::make_shared<const Memory>(std::move(bytes.own_));
    const uint8_t* const data = owner->data();
    const size_t size = owner->size();
    return View(data, size, std::move(owner));
  }

  // A copy of a view is a view of the same.
  TensorBytes(const TensorBytes& other)
      : own_(other.own_),
        view_(other.view_),
        owner_(other.owner_),
        data_(other.data_),
        size_(other.size_) {
    if (!view_) Refer();
  }
  TensorBytes(TensorBytes&& other) noexcept { Swap(&other); }
  TensorBytes& operator=(TensorBytes other) noexcept {
    Swap(&other);
    return *this;
  }

  bool is_view() const { return view_; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const uint8_t* data() const { return data_; }
  const uint8_t* begin() const { return data_; }
  const uint8_t* end() const { return data_ + size_; }
  const uint8_t& operator[](size_t i) const { return data_[i]; }
  std::vector<uint8_t> ToVector() const { return {begin(), end()}; }

  uint8_t* data() {
    if (view_) Own();  // (not in line, for loops over [])
    return own_.data();
  }
  uint8_t* begin() { return data(); }
  uint8_t* end() { return data() + size_; }
  uint8_t& operator[](size_t i) { return data()[i]; }
  // New bytes are zero.
  void resize(size_t size) {
    if (view_) Own();
    own_.resize(size);
    Refer();
  }

  friend bool operator==(const TensorBytes& a, const TensorBytes& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }
  friend bool operator!=(const TensorBytes& a, const TensorBytes& b) {
    return !(a == b);
  }

 private:
  using Memory = std::vector<uint8_t, PooledAllocator<uint8_t>>;

  void Refer() {
    data_ = own_.data();
    size_ = own_.size();
  }
  void Own() {
    own_.assign(data_, data_ + size_);
    view_ = false;
    owner_.reset();
    Refer();
  }
  void Swap(TensorBytes* other) noexcept {
    own_.swap(other->own_);
    std::swap(view_, other->view_);
    owner_.swap(other->owner_);
    std::swap(data_, other->data_);
    std::swap(size_, other->size_);
  }

  Memory own_;
  bool view_ = false;
  std::shared_ptr<const void> owner_;  // of a view; may be null
  const uint8_t* data_ = nullptr;
  size_t size_ = 0;
};

// Constants that operations, and what is made of them, have in common.
using SharedBytes = std::shared_ptr<const TensorBytes>;

}  // namespace heddle::compiler

#endif  // HEDDLE_COMPILER_IR_TENSOR_BYTES_H_

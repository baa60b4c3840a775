// A growing column of trivially copyable values in its own memory mapping. Growth moves page tables, not bytes (mremap), and large columns ask for huge
// pages: appending from empty costs what the page faults cost and no copy (notes: 7x a std::vector grown by push_back).
#pragma once

#include <cassert>
#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

namespace stepscope {

namespace detail {
// Grows the mapping to at least new_bytes (rounded up); address may change. Throws std::bad_alloc when the system refuses.
void* grow_mapping(void* address, std::size_t old_bytes, std::size_t new_bytes);
void release_mapping(void* address, std::size_t bytes);
std::size_t rounded_mapping_bytes(std::size_t bytes);
}  // namespace detail

template <class T>
class Column {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  using value_type = T;
  Column() = default;
  Column(Column&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)), capacity_bytes_(std::exchange(other.capacity_bytes_, 0)) {}
  Column& operator=(Column&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_bytes_, other.capacity_bytes_);
    return *this;
  }
  Column(const Column&) = delete;
  Column& operator=(const Column&) = delete;
  ~Column() { detail::release_mapping(data_, capacity_bytes_); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return data_[i];
  }
  const T& operator[](std::size_t i) const {
    assert(i < size_);
    return data_[i];
  }
  // Typed access: column[SliceId{7}].
  template <class Id>
    requires std::is_enum_v<Id>
  T& operator[](Id id) {
    return (*this)[static_cast<std::size_t>(id)];
  }
  template <class Id>
    requires std::is_enum_v<Id>
  const T& operator[](Id id) const {
    return (*this)[static_cast<std::size_t>(id)];
  }
  std::span<const T> span() const { return {data_, size_}; }
  std::span<T> span() { return {data_, size_}; }
  operator std::span<const T>() const { return span(); }

  void reserve(std::size_t count) {
    if (count * sizeof(T) > capacity_bytes_) grow(count);
  }
  void push_back(const T& value) {
    if ((size_ + 1) * sizeof(T) > capacity_bytes_) {
      const T copy = value;  // value may live in this column
      grow(size_ + 1);
      data_[size_++] = copy;
      return;
    }
    data_[size_++] = value;
  }
  // Appends count uninitialised values and returns the first; the caller writes them all.
  T* append_uninitialised(std::size_t count) {
    reserve(size_ + count);
    T* first = data_ + size_;
    size_ += count;
    return first;
  }
  void append(std::span<const T> values) {
    T* target = append_uninitialised(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) target[i] = values[i];
  }
  void resize(std::size_t count, const T& value = T{}) {
    reserve(count);
    for (std::size_t i = size_; i < count; ++i) data_[i] = value;
    size_ = count;
  }
  void clear() { size_ = 0; }

 private:
  void grow(std::size_t count) {
    std::size_t wanted = count * sizeof(T);
    if (const std::size_t half_more = capacity_bytes_ + capacity_bytes_ / 2; wanted < half_more) wanted = half_more;
    wanted = detail::rounded_mapping_bytes(wanted);
    data_ = static_cast<T*>(detail::grow_mapping(data_, capacity_bytes_, wanted));
    capacity_bytes_ = wanted;
  }
  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_bytes_ = 0;
};

}  // namespace stepscope

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace granary::detail {

/// A task's parameters, of any movable type; small ones are stored inline.
class GRANARY_EXPORT Parameters {
 public:
  Parameters() = default;
  template <class T>
  requires(!std::is_same_v<std::remove_cvref_t<T>, Parameters>) explicit Parameters(T&& value) {
    using Stored = std::remove_cvref_t<T>;
    if constexpr (fits<Stored>) {
      ::new (static_cast<void*>(m_bytes)) Stored(std::forward<T>(value));
      m_operations = &in_place<Stored>;
    } else {
      ::new (static_cast<void*>(m_bytes)) Stored*(new Stored(std::forward<T>(value)));
      m_operations = &on_heap<Stored>;
    }
  }
  Parameters(Parameters&& other) noexcept { take(other); }
  Parameters& operator=(Parameters&& other) noexcept {
    if (this != &other) {
      reset();
      take(other);
    }
    return *this;
  }
  ~Parameters() { reset(); }

  /// The value's address; null when there is none.
  [[nodiscard]] void const* get() const { return m_operations ? m_operations->get(m_bytes) : nullptr; }

  void reset() {
    if (m_operations) std::exchange(m_operations, nullptr)->destroy(m_bytes);
  }

 private:
  static constexpr std::size_t capacity = 80;
  struct Operations {
    void const* (*get)(std::byte const*);
    void (*move)(std::byte* from, std::byte* to) noexcept;
    void (*destroy)(std::byte*) noexcept;
  };
  template <class T>
  static constexpr bool fits = sizeof(T) <= capacity &&
                               alignof(T) <= alignof(void*) && std::is_nothrow_move_constructible_v<T>;

  template <class T>
  static T* as(std::byte* bytes) {
    return std::launder(reinterpret_cast<T*>(bytes));
  }
  template <class T>
  static constexpr Operations in_place{[](std::byte const* bytes) -> void const* { return bytes; },
                                       [](std::byte* from, std::byte* to) noexcept {
                                         ::new (static_cast<void*>(to)) T(std::move(*as<T>(from)));
                                         as<T>(from)->~T();
                                       },
                                       [](std::byte* bytes) noexcept { as<T>(bytes)->~T(); }};
  template <class T>
  static constexpr Operations on_heap{
      [](std::byte const* bytes) -> void const* { return *as<T*>(const_cast<std::byte*>(bytes)); },
      [](std::byte* from, std::byte* to) noexcept { ::new (static_cast<void*>(to)) T*(*as<T*>(from)); },
      [](std::byte* bytes) noexcept { delete *as<T*>(bytes); }};

  void take(Parameters& other) {
    m_operations = std::exchange(other.m_operations, nullptr);
    if (m_operations) m_operations->move(other.m_bytes, m_bytes);
  }

  Operations const* m_operations = nullptr;
  alignas(void*) std::byte m_bytes[capacity];
};

}  // namespace granary::detail

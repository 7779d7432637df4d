// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/distributed/message.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace granary::detail {

/// Messages as bytes, for processes of one architecture.
///
/// ```cpp
/// granary::detail::Packet packet;
/// granary::detail::Message const ask{
///     .kind = granary::detail::Message::Kind::Ask, .value = {granary::detail::DataKey(3), 2}, .tag = 7};
/// assert(packet.add(ask));
/// granary::detail::read_packet(packet.bytes(), [](granary::detail::Message const& read) { assert(read.tag == 7); });
/// ```
class GRANARY_EXPORT Packet {
 public:
  static constexpr std::size_t most_bytes = 4096;
  /// Longer texts of failures are cut.
  static constexpr std::size_t most_text = 1536;

  /// Adds the message; returns false if there is no room for it.
  bool add(Message const& message) {
    auto const before = m_bytes.size();
    put(message.kind);
    put(message.value.key.value());
    put(message.value.version);
    put(message.tag);
    if (message.kind == Message::Kind::Announce) put(message.bytes);
    put(static_cast<std::uint8_t>(message.failure != nullptr));
    if (message.failure) {
      put(message.failure->process.value());
      put(message.failure->position);
      put(static_cast<std::uint8_t>(message.failure->known));
      put_text(message.failure->what);
      put_text(message.failure->error.kind);
      put_text(message.failure->error.argument);
    }
    if (m_bytes.size() <= most_bytes) return true;
    m_bytes.resize(before);
    return false;
  }
  [[nodiscard]] std::span<std::byte const> bytes() const { return m_bytes; }
  void clear() { m_bytes.clear(); }

 private:
  template <class T>
  void put(T const& number) {
    static_assert(std::is_trivially_copyable_v<T>);
    put_bytes(&number, sizeof(T));
  }

  void put_text(std::string_view text) {
    text = text.substr(0, most_text);
    put(static_cast<std::uint32_t>(text.size()));
    put_bytes(text.data(), text.size());
  }
  void put_bytes(void const* first, std::size_t count) {
    auto const before = m_bytes.size();
    m_bytes.resize(before + count);
    if (count > 0) std::memcpy(m_bytes.data() + before, first, count);
  }

  std::vector<std::byte> m_bytes;
};

/// Calls take(Message) for the messages of a packet, in order.
template <class Take>
void read_packet(std::span<std::byte const> bytes, Take&& take) {
  auto const get = [&bytes]<class T>(T& number) {
    std::memcpy(&number, bytes.data(), sizeof(T));
    bytes = bytes.subspan(sizeof(T));
  };
  auto const get_text = [&](std::string& text) {
    std::uint32_t length = 0;
    get(length);
    text.assign(reinterpret_cast<char const*>(bytes.data()), length);
    bytes = bytes.subspan(length);
  };
  while (!bytes.empty()) {
    Message message;
    DataKey::rep key = 0;
    std::uint8_t fails = 0;
    get(message.kind);
    get(key);
    get(message.value.version);
    get(message.tag);
    if (message.kind == Message::Kind::Announce) get(message.bytes);
    get(fails);
    message.value.key = DataKey(key);
    if (fails != 0) {
      FailureOrigin origin;
      ProcessId::rep process = 0;
      std::uint8_t known = 0;
      get(process);
      get(origin.position);
      get(known);
      origin.process = ProcessId(process);
      origin.known = known != 0;
      get_text(origin.what);
      get_text(origin.error.kind);
      get_text(origin.error.argument);
      message.failure = std::make_shared<FailureOrigin const>(std::move(origin));
    }
    take(std::as_const(message));
  }
}

}  // namespace granary::detail

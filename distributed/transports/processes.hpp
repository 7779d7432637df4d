// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/distributed/failure_origin.hpp>
#include <granary/detail/distributed/transports/queued_transport.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace granary::detail {

/// The processes that run one program together: the transport between their engines, and what they settle with each
/// other.
///
/// Collective calls are made by all processes in the same order, each by one thread at a time, after `start`. They
/// return when all processes have made them, and have sent what their engines asked to send before.
class GRANARY_EXPORT Processes : public QueuedTransport {
 public:
  /// Numbers that each process tells all others.
  using Numbers = std::array<std::uint64_t, 8>;
  static constexpr Duration unlimited = Duration::max();

  [[nodiscard]] virtual ProcessId self() const = 0;
  [[nodiscard]] virtual std::uint32_t count() const = 0;
  /// Once, before any collective call; `connect` may come later, before the first call of the transport.
  virtual void start() = 0;
  /// Ends the communication, after a collective call that followed the last value.
  void stop() {
    m_ended = true;
    close();
  }
  /// Ends all processes with this status, without any further word from them.
  [[noreturn]] virtual void abort(int status) = 0;
  /// Bytes of the values that this process has sent.
  [[nodiscard]] virtual Bytes sent() const = 0;

  [[nodiscard]] bool is_first() const { return self().value() == 0; }
  /// True if no further collective call may follow: after `stop`, or `leave`.
  [[nodiscard]] bool ended() const { return m_ended; }

  /// Collective. The failure that comes first in the common order of submission, of those that processes report; null
  /// if none does. Otherwise throws InvalidArgument in all if their `order`, DistributedSubmitter::order(), is not the
  /// same.
  std::shared_ptr<FailureOrigin const> agree(std::uint64_t order, std::shared_ptr<FailureOrigin const> const& failure);
  /// This process makes no further collective call, because of a failure. Other processes hear of it in their next
  /// collective call, which throws it, and leave, too: returns the first failure of all, after which each may end the
  /// tasks that it has submitted. If not all leave within `most`, or have not submitted the same, nothing but the end
  /// of all processes remains: `abort`, after one of them has logged its failure.
  [[nodiscard]] std::shared_ptr<FailureOrigin const> leave(std::uint64_t order,
                                                           std::shared_ptr<FailureOrigin const> const& failure,
                                                           int status, Duration most = std::chrono::seconds(5));
  /// Collective.
  void barrier() { static_cast<void>(gather({})); }
  /// Collective. The numbers of all, by process.
  [[nodiscard]] std::vector<Numbers> gather(Numbers const& ours);
  /// Collective. What `function` returns in that process; the others do not call it. If it throws, all throw that, see
  /// rethrow_origin.
  std::string from(ProcessId root, std::function<std::string()> const& function);
  std::string by_first(std::function<std::string()> const& function) { return from(ProcessId(0), function); }
  /// Collective. Each calls the function; if it throws in one, all throw the same.
  void together(std::function<void()> const& function);

 protected:
  virtual void close() = 0;

  /// A process's part of a collective call. Of the processes with a text, the one with the lowest key sends it.
  struct Header {
    std::uint64_t key = 0;
    std::uint64_t length = 0;  ///< of its text
    Numbers numbers{};
  };
  struct Gathered {
    std::vector<Header> headers;  ///< by process
    std::string text;             ///< of the root; empty if nobody has one
    bool failure = false;         ///< the text describes a failure
  };
  /// Collective: all headers, then the root's text. Nothing if not all take part within `most`.
  virtual std::optional<Gathered> try_allgather(Header const& ours, std::string text, Duration most) = 0;
  /// The process that speaks, if any.
  [[nodiscard]] static std::optional<std::size_t> root_of(std::vector<Header> const& headers);

 private:
  Gathered allgather(Numbers const& numbers, std::shared_ptr<FailureOrigin const> const& failure, std::string text);
  static Gathered rethrowing(Gathered gathered);

  bool m_ended = false;
};

}  // namespace granary::detail

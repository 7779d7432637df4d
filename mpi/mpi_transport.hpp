// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/ids.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/distributed/transports/processes.hpp>

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace granary {

struct GRANARY_EXPORT MpiTransportOptions {
  std::uint32_t sends = 8;  ///< values that are sent at once; the others wait, by priority
  /// The longest pause between two looks at the network while nothing happens: it limits what waiting costs, and delays
  /// the first message after a silence.
  Duration longest_nap = std::chrono::microseconds(200);
};

/// The transport of a process of MPI. One thread makes all calls of MPI and never waits within one: values are received
/// straight into their places and sent from theirs; messages are collected into packets of up to 4 KiB.
class GRANARY_EXPORT MpiTransport final : public detail::Processes {
 public:
  /// Collective: all processes of the communicator, which is duplicated. Throws InvalidArgument unless MPI was
  /// initialised with MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE, which an application needs that calls MPI itself
  /// before the transport is destroyed.
  explicit MpiTransport(MPI_Comm communicator, MpiTransportOptions options = {});
  /// Collective; after a collective call that followed the last value.
  ~MpiTransport() override;
  MpiTransport(MpiTransport const&) = delete;
  MpiTransport& operator=(MpiTransport const&) = delete;

  [[nodiscard]] ProcessId self() const override;
  [[nodiscard]] std::uint32_t count() const override;
  void start() override;
  [[noreturn]] void abort(int status) override;
  [[nodiscard]] Bytes sent() const override;

 protected:
  void close() override;
  std::optional<Gathered> try_allgather(Header const& ours, std::string text, Duration most) override;

 private:
  class Thread;
  std::unique_ptr<Thread> m_thread;
};

}  // namespace granary

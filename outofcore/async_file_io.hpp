// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <vector>

#include <granary/detail/core/base/export.hpp>
#include <granary/detail/core/base/units.hpp>
#include <granary/detail/outofcore/file.hpp>
#include <granary/detail/outofcore/storage.hpp>
#include <granary/detail/outofcore/throttle.hpp>

namespace granary::detail {

enum class GRANARY_EXPORT IoEngine {
  Automatic,   ///< io_uring if the kernel allows it, otherwise the thread pool
  Uring,       ///< io_uring; InvalidArgument if the kernel or the build does not have it
  ThreadPool,  ///< `queue_depth` threads with pread and pwrite
};

enum class GRANARY_EXPORT IoDirection { Read, Write };

struct GRANARY_EXPORT IoOptions {
  IoEngine engine = IoEngine::Automatic;
  unsigned queue_depth = 8;     ///< pieces in flight in the kernel, at least 1; the default is measured: bench/io
  Bytes piece_bytes = 512_KiB;  ///< longest piece, a multiple of io_alignment; the default is measured: bench/io
  Bytes bytes_per_second = 0;   ///< limit for the sum of all traffic; 0: none
};

/// A byte range of a file and the memory that it is read into or written from.
struct GRANARY_EXPORT IoExtent {
  std::uint64_t offset;
  std::byte* memory;
  Bytes bytes;
};

/// Asynchronous file input and output.
///
/// A request is cut into pieces, of which at most `queue_depth` are in flight in the kernel; the others wait here, so
/// submitting never waits for the disk. Short transfers are continued, interrupted ones repeated. The first error of a
/// request is passed to its completion as IoError, after its last piece; an end of file before the end of a read is an
/// error. Requests are not ordered.
class GRANARY_EXPORT AsyncFileIo {
 public:
  AsyncFileIo(AsyncFileIo const&) = delete;
  AsyncFileIo& operator=(AsyncFileIo const&) = delete;
  /// Waits until every completion was called; so no completion may hold the last reference to it.
  virtual ~AsyncFileIo();

  [[nodiscard]] virtual std::string_view engine_name() const = 0;

  void read(std::shared_ptr<File const> file, std::uint64_t offset, std::byte* destination, Bytes bytes,
            IoCompletion done);
  void write(std::shared_ptr<File const> file, std::uint64_t offset, std::byte const* source, Bytes bytes,
             IoCompletion done);
  /// One request for several byte ranges of a file, none of them empty. Throws InvalidArgument if there is none.
  void submit(IoDirection direction, std::shared_ptr<File const> file, std::vector<IoExtent> extents,
              IoCompletion done);

  /// Counts disk traffic of other sources, and calls `done(error)` when the bandwidth allows it: without a throttle at
  /// once, on this thread. Call it on an I/O thread.
  void complete_elsewhere(IoDirection direction, Bytes bytes, std::exception_ptr error, IoCompletion done);

  /// Bytes of the requests that have succeeded.
  [[nodiscard]] Bytes bytes_read() const { return m_bytes_read; }
  [[nodiscard]] Bytes bytes_written() const { return m_bytes_written; }

 protected:
  struct Request;
  /// The arguments of one kernel call of an engine.
  struct Piece {
    Request* request;
    File const* file;
    IoDirection direction;
    bool direct;
    std::uint64_t offset;
    std::byte* memory;
    Bytes bytes;
  };
  using Finished = std::vector<std::shared_ptr<Request>>;

  explicit AsyncFileIo(IoOptions const& options);

  /// The next piece for the kernel, if there is one. Call it with the lock held.
  [[nodiscard]] std::optional<Piece> take_piece();
  /// Reads or writes the piece, or a part of it, on this thread; returns the kernel's result, see `advance`.
  [[nodiscard]] static std::int64_t transfer(Piece const& piece);
  /// Records the kernel's result for a piece: a number of bytes or -errno. Returns the rest of the piece, to be
  /// submitted again; a request that has ended is moved to `finished`. Call it with the lock held.
  [[nodiscard]] std::optional<Piece> advance(Piece piece, std::int64_t result, Finished& finished);
  /// Calls the completions. Call it without the lock.
  void deliver(Finished& finished);
  /// Called with the lock held when pieces may have become available.
  virtual void pieces_arrived() = 0;
  /// Waits until every completion was called; engines call it before they join their threads.
  void drain();

  std::mutex m_mutex;

 private:
  void end_request(Request& request, Finished& finished);
  void finish(Request& request);

  Bytes const m_piece_bytes;
  std::deque<Request*> m_waiting;  // requests with pieces that are not submitted yet
  std::uint64_t m_under_way = 0;
  std::condition_variable m_idle;
  std::atomic<Bytes> m_bytes_read = 0;
  std::atomic<Bytes> m_bytes_written = 0;
  std::optional<Throttle> m_throttle;
  std::unique_ptr<TimedCalls> m_timed_calls;
};

}  // namespace granary::detail

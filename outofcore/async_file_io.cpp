// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/async_file_io.hpp>

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include <granary/detail/core/base/error.hpp>

namespace granary::detail {

struct AsyncFileIo::Request {
  IoDirection direction;
  std::shared_ptr<File const> file;
  std::vector<IoExtent> extents;
  IoCompletion done;
  Bytes bytes = 0;
  Throttle::TimePoint not_before{};
  // Start of the next piece.
  std::size_t extent = 0;
  Bytes position = 0;
  unsigned outstanding = 0;
  bool taken = false;  // true: no further pieces
  bool cached = false;
  std::exception_ptr error;
};

AsyncFileIo::AsyncFileIo(IoOptions const& options) : m_piece_bytes(options.piece_bytes) {
  if (options.bytes_per_second == 0) return;
  m_throttle.emplace(options.bytes_per_second);
  m_timed_calls = std::make_unique<TimedCalls>();
}

AsyncFileIo::~AsyncFileIo() = default;

void AsyncFileIo::read(std::shared_ptr<File const> file, std::uint64_t offset, std::byte* destination, Bytes bytes,
                       IoCompletion done) {
  submit(IoDirection::Read, std::move(file), {{offset, destination, bytes}}, std::move(done));
}

void AsyncFileIo::write(std::shared_ptr<File const> file, std::uint64_t offset, std::byte const* source, Bytes bytes,
                        IoCompletion done) {
  // IoExtent serves both directions; a write does not modify the memory.
  submit(IoDirection::Write, std::move(file), {{offset, const_cast<std::byte*>(source), bytes}}, std::move(done));
}

void AsyncFileIo::submit(IoDirection direction, std::shared_ptr<File const> file, std::vector<IoExtent> extents,
                         IoCompletion done) {
  Bytes bytes = 0;
  for (auto const& extent : extents) {
    if (extent.bytes == 0) throw InvalidArgument("a byte range of a file request must not be empty");
    bytes += extent.bytes;
  }
  if (bytes == 0) throw InvalidArgument("a file request must have at least one byte range");
  auto request = std::make_unique<Request>();
  request->direction = direction;
  request->file = std::move(file);
  request->extents = std::move(extents);
  request->done = std::move(done);
  request->bytes = bytes;

  std::lock_guard lock(m_mutex);
  if (m_throttle) request->not_before = m_throttle->reserve(std::chrono::steady_clock::now(), bytes);
  m_waiting.push_back(request.get());
  ++m_under_way;
  static_cast<void>(request.release());  // owned by the queue until end_request moves it out
  pieces_arrived();
}

std::optional<AsyncFileIo::Piece> AsyncFileIo::take_piece() {
  if (m_waiting.empty()) return std::nullopt;
  auto& request = *m_waiting.front();
  auto const& extent = request.extents[request.extent];
  Piece piece{};
  piece.request = &request;
  piece.file = request.file.get();
  piece.direction = request.direction;
  piece.offset = extent.offset + request.position;
  piece.memory = extent.memory + request.position;
  piece.bytes = std::min(extent.bytes - request.position, m_piece_bytes);
  bool const aligned =
      piece.offset % io_alignment == 0 && reinterpret_cast<std::uintptr_t>(piece.memory) % io_alignment == 0;
  if (aligned && piece.bytes >= io_alignment && piece.file->has_direct()) {
    piece.direct = true;
    piece.bytes -= piece.bytes % io_alignment;  // the tail becomes a separate piece, through the page cache
  }
  request.cached |= !piece.direct;
  ++request.outstanding;
  request.position += piece.bytes;
  if (request.position == extent.bytes) {
    request.position = 0;
    if (++request.extent == request.extents.size()) {
      request.taken = true;
      m_waiting.pop_front();
    }
  }
  return piece;
}

std::int64_t AsyncFileIo::transfer(Piece const& piece) {
  int const descriptor = piece.file->descriptor(piece.direct);
  auto const offset = static_cast<off_t>(piece.offset);
  ssize_t const result = piece.direction == IoDirection::Read ? ::pread(descriptor, piece.memory, piece.bytes, offset)
                                                              : ::pwrite(descriptor, piece.memory, piece.bytes, offset);
  return result >= 0 ? result : -errno;
}

std::optional<AsyncFileIo::Piece> AsyncFileIo::advance(Piece piece, std::int64_t result, Finished& finished) {
  auto& request = *piece.request;
  if (result == -EINTR || result == -EAGAIN) return piece;
  if (result == -EINVAL && piece.direct) {
    // Some file systems accept O_DIRECT at open and refuse it here.
    piece.direct = false;
    request.cached = true;
    return piece;
  }
  if (result > 0 && static_cast<Bytes>(result) < piece.bytes) {
    auto const done = static_cast<Bytes>(result);
    piece.offset += done;
    piece.memory += done;
    piece.bytes -= done;
    if (done % io_alignment != 0) {
      piece.direct = false;
      request.cached = true;
    }
    return piece;
  }
  if (result <= 0 && !request.error) {
    bool const reading = piece.direction == IoDirection::Read;
    auto const error_number = result < 0 ? static_cast<int>(-result) : reading ? ENODATA : EIO;
    auto const* operation =
        result < 0 ? (reading ? "cannot read" : "cannot write")
                   : (reading ? "unexpected end of file reading" : "the system wrote nothing when writing");
    request.error = std::make_exception_ptr(IoError(operation, piece.file->name(), piece.offset, error_number));
  }
  --request.outstanding;
  end_request(request, finished);
  return std::nullopt;
}

void AsyncFileIo::end_request(Request& request, Finished& finished) {
  if (request.error && !request.taken) {
    request.taken = true;
    std::erase(m_waiting, &request);
  }
  if (!request.taken || request.outstanding != 0) return;
  finished.push_back(std::shared_ptr<Request>(&request));
}

void AsyncFileIo::deliver(Finished& finished) {
  for (auto& request : finished) {
    if (request->cached && request->direction == IoDirection::Read) {
      for (auto const& extent : request->extents) request->file->drop_cache(extent.offset, extent.bytes);
    } else if (request->cached) {
      request->file->start_writing_back();
    }
    if (m_throttle) {
      auto const when = request->not_before;
      m_timed_calls->call_at(when, [this, owner = std::move(request)] { finish(*owner); });
    } else {
      finish(*request);
      request.reset();
    }
  }
  finished.clear();
}

void AsyncFileIo::finish(Request& request) {
  if (!request.error) (request.direction == IoDirection::Read ? m_bytes_read : m_bytes_written) += request.bytes;
  request.done(std::move(request.error));
  request.done = nullptr;
  std::lock_guard lock(m_mutex);
  if (--m_under_way == 0) m_idle.notify_all();
}

void AsyncFileIo::complete_elsewhere(IoDirection direction, Bytes bytes, std::exception_ptr error, IoCompletion done) {
  auto request = std::make_shared<Request>();
  request->direction = direction;
  request->bytes = bytes;
  request->error = std::move(error);
  request->done = std::move(done);
  {
    std::lock_guard lock(m_mutex);
    ++m_under_way;
    if (m_throttle) request->not_before = m_throttle->reserve(std::chrono::steady_clock::now(), bytes);
  }
  if (m_throttle) {
    m_timed_calls->call_at(request->not_before, [this, request] { finish(*request); });
  } else {
    finish(*request);
  }
}

void AsyncFileIo::drain() {
  std::unique_lock lock(m_mutex);
  m_idle.wait(lock, [this] { return m_under_way == 0; });
}

}  // namespace granary::detail

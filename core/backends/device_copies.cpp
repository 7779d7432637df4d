// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_copies.hpp>

#include <granary/detail/core/backends/copy_stream.hpp>
#include <granary/detail/core/backends/staged_copies.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/start_thread.hpp>
#include <granary/detail/core/engine/poll_pause.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace granary::detail {

namespace {

using detail::CopyStream;

std::string name_of(int end) { return end == host_end ? "the host" : "device " + std::to_string(end); }

DeviceCopy device_copy(CopyRequest const& request, int from, int to) {
  using enum DeviceCopy::Direction;
  DeviceCopy copy{.destination = request.destination,
                  .source = request.source,
                  .line = request.bytes,
                  .destination_pitch = request.bytes,
                  .source_pitch = request.bytes,
                  .direction = from == host_end ? ToDevice : (to == host_end ? ToHost : Peer),
                  .source_device = from,
                  .destination_device = to};
  if (!request.contiguous()) {
    copy.line = request.lines.line;
    copy.lines = request.lines.count;
    copy.source_pitch = request.source_pitch();
    copy.destination_pitch = request.destination_pitch();
  }
  return copy;
}

}  // namespace

class DeviceCopies::Implementation {
 public:
  Implementation(std::shared_ptr<DeviceApi> api, std::shared_ptr<PinnedMemory> pinned)
      : m_api(std::move(api)),
        m_pinned(std::move(pinned)),
        m_staged(m_api),
        m_thread(start_thread("the copies of a device", [this] { run(); })) {}
  ~Implementation() {
    {
      std::lock_guard const lock(m_mutex);
      m_stop = true;
    }
    m_changed.notify_one();
    m_thread.join();
  }
  Implementation(Implementation const&) = delete;
  Implementation& operator=(Implementation const&) = delete;

  [[nodiscard]] std::shared_ptr<CopyStream> stream(int from, int to);
  void start(std::shared_ptr<CopyStream> const& stream, CopyRequest const& request, CopyCompletion done);

 private:
  void run();
  [[nodiscard]] bool pinned(DeviceCopy const& copy) const;

  std::shared_ptr<DeviceApi> m_api;
  std::shared_ptr<PinnedMemory> m_pinned;
  std::mutex m_mutex;
  std::condition_variable m_changed;
  std::vector<std::shared_ptr<CopyStream>> m_streams;
  std::size_t m_under_way = 0;  // on streams; the staged copies are counted separately
  bool m_stop = false;
  StagedCopies m_staged;
  std::thread m_thread;
};

std::shared_ptr<CopyStream> DeviceCopies::Implementation::stream(int from, int to) {
  for (int const end : {from, to}) {
    if (end < host_end || end >= m_api->devices()) {
      throw InvalidArgument("a link cannot end at device " + std::to_string(end) + ": there are " +
                            std::to_string(m_api->devices()));
    }
  }
  if (from == to) throw InvalidArgument("a link cannot begin and end at " + name_of(from));
  std::lock_guard const lock(m_mutex);
  for (auto const& made : m_streams) {
    if (made->from() == from && made->to() == to) return made;
  }
  m_streams.push_back(std::make_shared<CopyStream>(m_api, from, to, from == host_end ? to : from));
  return m_streams.back();
}

void DeviceCopies::Implementation::start(std::shared_ptr<CopyStream> const& stream, CopyRequest const& request,
                                         CopyCompletion done) {
  if (request.source == nullptr || request.destination == nullptr) {
    throw InternalError("a copy from " + name_of(stream->from()) + " to " + name_of(stream->to()) + " has no " +
                        (request.source == nullptr ? "source" : "destination") + " address");
  }
  auto const copy = device_copy(request, stream->from(), stream->to());
  if (!pinned(copy)) {
    m_staged.start(stream, copy, std::move(done));
    return;
  }
  {
    std::lock_guard const lock(m_mutex);
    ++m_under_way;
  }
  try {
    stream->start(copy, std::move(done));
  } catch (...) {
    std::lock_guard const lock(m_mutex);
    --m_under_way;
    throw;
  }
  m_changed.notify_one();
}

bool DeviceCopies::Implementation::pinned(DeviceCopy const& copy) const {
  if (copy.direction == DeviceCopy::Direction::Peer || copy.line == 0 || copy.lines == 0) return true;
  bool const from_host = copy.direction == DeviceCopy::Direction::ToDevice;
  Bytes const pitch = from_host ? copy.source_pitch : copy.destination_pitch;
  return m_pinned->contains(from_host ? copy.source : copy.destination, (copy.lines - 1) * pitch + copy.line);
}

// Polls the active copies on all streams.
void DeviceCopies::Implementation::run() {
  PollPause pause(std::chrono::microseconds(250));
  std::vector<std::shared_ptr<CopyStream>> streams;
  for (;;) {
    {
      std::unique_lock lock(m_mutex);
      if (m_under_way == 0) {
        m_changed.wait(lock, [this] { return m_stop || m_under_way > 0; });
        if (m_under_way == 0) return;
        pause.progress();
      }
      if (streams.size() < m_streams.size()) streams = m_streams;
    }
    std::size_t completed = 0;
    for (auto const& stream : streams) completed += stream->complete_some();
    if (completed > 0) {
      std::lock_guard const lock(m_mutex);
      m_under_way -= completed;
      pause.progress();
    } else {
      pause.pause();
    }
  }
}

namespace {

template <class Copies>
class DeviceCopyBackend final : public CopyBackend {
 public:
  DeviceCopyBackend(std::shared_ptr<Copies> copies, std::shared_ptr<CopyStream> stream)
      : m_copies(std::move(copies)), m_stream(std::move(stream)) {}
  void copy_async(CopyRequest const& request, CopyCompletion done) override {
    m_copies->start(m_stream, request, std::move(done));
  }

 private:
  std::shared_ptr<Copies> m_copies;
  std::shared_ptr<CopyStream> m_stream;
};

}  // namespace

DeviceCopies::DeviceCopies(std::shared_ptr<DeviceApi> api, std::shared_ptr<PinnedMemory> pinned)
    : m_implementation(std::make_shared<Implementation>(std::move(api), std::move(pinned))) {}

std::shared_ptr<CopyBackend> DeviceCopies::link(int from, int to) {
  auto stream = m_implementation->stream(from, to);
  return std::make_shared<DeviceCopyBackend<Implementation>>(m_implementation, std::move(stream));
}

}  // namespace granary::detail

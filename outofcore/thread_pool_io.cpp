// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <condition_variable>
#include <thread>
#include <vector>

#include <granary/detail/outofcore/io_engines.hpp>
#include <granary/detail/outofcore/io_thread.hpp>

namespace granary::detail {
namespace {

class ThreadPoolIo final : public AsyncFileIo {
 public:
  explicit ThreadPoolIo(IoOptions const& options) : AsyncFileIo(options) {
    try {
      for (unsigned i = 0; i < options.queue_depth; ++i) {
        m_threads.push_back(start_io_thread("granary-io", [this] { run(); }));
      }
    } catch (...) {
      stop();
      throw;
    }
  }

  ~ThreadPoolIo() override {
    drain();
    stop();
  }

  [[nodiscard]] std::string_view engine_name() const override { return "thread pool"; }

 private:
  void pieces_arrived() override { m_arrived.notify_all(); }

  void run() {
    Finished finished;
    std::unique_lock lock(m_mutex);
    for (;;) {
      auto piece = take_piece();
      if (!piece) {
        if (m_stop) return;
        m_arrived.wait(lock);
        continue;
      }
      while (piece) {
        lock.unlock();
        auto const result = transfer(*piece);
        lock.lock();
        piece = advance(*piece, result, finished);
      }
      if (finished.empty()) continue;
      lock.unlock();
      deliver(finished);
      lock.lock();
    }
  }

  void stop() {
    {
      std::lock_guard lock(m_mutex);
      m_stop = true;
    }
    m_arrived.notify_all();
    for (auto& thread : m_threads) thread.join();
  }

  std::condition_variable m_arrived;
  bool m_stop = false;
  std::vector<std::thread> m_threads;
};

}  // namespace

std::shared_ptr<AsyncFileIo> make_thread_pool_io(IoOptions const& options) {
  return std::make_shared<ThreadPoolIo>(options);
}

}  // namespace granary::detail

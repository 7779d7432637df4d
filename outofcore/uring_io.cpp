// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/outofcore/io_engines.hpp>

#ifdef GRANARY_HAVE_URING

#include <liburing.h>

#include <cerrno>
#include <chrono>
#include <optional>
#include <thread>
#include <vector>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/outofcore/io_thread.hpp>

namespace granary::detail {
namespace {

// Owns a ring; `valid()` is false if the kernel refuses one (many containers do) or lacks plain reads and writes
// (before 5.6).
class Ring {
 public:
  explicit Ring(unsigned entries) : m_valid(io_uring_queue_init(entries, &m_ring, 0) == 0) {
    if (!m_valid) return;
    auto* probe = io_uring_get_probe_ring(&m_ring);
    bool const complete = probe != nullptr && io_uring_opcode_supported(probe, IORING_OP_READ) != 0 &&
                          io_uring_opcode_supported(probe, IORING_OP_WRITE) != 0;
    if (probe != nullptr) io_uring_free_probe(probe);
    if (complete) return;
    io_uring_queue_exit(&m_ring);
    m_valid = false;
  }
  Ring(Ring const&) = delete;
  Ring& operator=(Ring const&) = delete;
  ~Ring() {
    if (m_valid) io_uring_queue_exit(&m_ring);
  }

  [[nodiscard]] bool valid() const { return m_valid; }
  [[nodiscard]] io_uring* get() { return &m_ring; }

 private:
  io_uring m_ring{};
  bool m_valid;
};

// Any thread uses the submission side of the ring under the lock; one thread, which sleeps in the kernel, uses the
// completion side. At most queue_depth pieces are in the ring, so neither side can overflow.
class UringIo final : public AsyncFileIo {
 public:
  UringIo(IoOptions const& options, std::unique_ptr<Ring> ring)
      : AsyncFileIo(options), m_ring(std::move(ring)), m_pieces(options.queue_depth) {
    for (unsigned i = options.queue_depth; i > 0; --i) m_free.push_back(i - 1);
    m_thread = start_io_thread("granary-uring", [this] { run(); });
  }

  ~UringIo() override {
    drain();
    {
      std::lock_guard lock(m_mutex);
      auto* entry = io_uring_get_sqe(m_ring->get());
      io_uring_prep_nop(entry);
      entry->user_data = stop_mark;
      give_to_kernel();
    }
    m_thread.join();
  }

  [[nodiscard]] std::string_view engine_name() const override { return "io_uring"; }

 private:
  static constexpr std::uint64_t stop_mark = ~std::uint64_t{0};

  void pieces_arrived() override {
    bool added = false;
    while (!m_free.empty()) {
      auto piece = take_piece();
      if (!piece) break;
      auto const slot = m_free.back();
      m_free.pop_back();
      m_pieces[slot] = *piece;
      enqueue(slot);
      added = true;
    }
    if (added) give_to_kernel();
  }

  void enqueue(unsigned slot) {
    auto const& piece = m_pieces[slot];
    auto* entry = io_uring_get_sqe(m_ring->get());
    int const descriptor = piece.file->descriptor(piece.direct);
    auto const bytes = static_cast<unsigned>(piece.bytes);
    if (piece.direction == IoDirection::Read) {
      io_uring_prep_read(entry, descriptor, piece.memory, bytes, piece.offset);
    } else {
      io_uring_prep_write(entry, descriptor, piece.memory, bytes, piece.offset);
    }
    entry->user_data = slot;
  }

  void give_to_kernel() {
    // The kernel refuses entries only while it is short of memory: they stay in the ring and are submitted again.
    while (io_uring_sq_ready(m_ring->get()) != 0) {
      if (io_uring_submit(m_ring->get()) < 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  void run() {
    Finished finished;
    bool stop = false;
    while (!stop) {
      io_uring_cqe* entry = nullptr;
      if (io_uring_wait_cqe(m_ring->get(), &entry) < 0) continue;
      {
        std::lock_guard lock(m_mutex);
        bool again = false;
        do {
          auto const mark = entry->user_data;
          auto const result = entry->res;
          io_uring_cqe_seen(m_ring->get(), entry);
          if (mark == stop_mark) {
            stop = true;
          } else {
            again |= piece_ended(static_cast<unsigned>(mark), result, finished);
          }
        } while (io_uring_peek_cqe(m_ring->get(), &entry) == 0);
        if (again) give_to_kernel();
        pieces_arrived();
      }
      transfer_refused(finished);
      deliver(finished);
    }
  }

  // The kernel needs a thread of its own for some pieces, and cancels them where the user or the container may have no
  // more threads.
  void transfer_refused(Finished& finished) {
    for (unsigned const slot : m_refused) {
      for (std::optional<Piece> rest = m_pieces[slot]; rest;) {
        auto const result = transfer(*rest);
        std::lock_guard lock(m_mutex);
        rest = advance(*rest, result, finished);
      }
      std::lock_guard lock(m_mutex);
      m_free.push_back(slot);
      pieces_arrived();
    }
    m_refused.clear();
  }

  // Returns true if the rest of the piece was put into the ring again.
  bool piece_ended(unsigned slot, int result, Finished& finished) {
    if (result == -ECANCELED) {
      m_refused.push_back(slot);
      return false;
    }
    auto const rest = advance(m_pieces[slot], result, finished);
    if (!rest) {
      m_free.push_back(slot);
      return false;
    }
    m_pieces[slot] = *rest;
    enqueue(slot);
    return true;
  }

  std::unique_ptr<Ring> m_ring;
  std::vector<Piece> m_pieces;
  std::vector<unsigned> m_free;
  std::vector<unsigned> m_refused;  // of the thread that reads completions
  std::thread m_thread;
};

}  // namespace

std::shared_ptr<AsyncFileIo> make_uring_io(IoOptions const& options) {
  auto ring = std::make_unique<Ring>(options.queue_depth + 1);
  if (!ring->valid()) return nullptr;
  return std::make_shared<UringIo>(options, std::move(ring));
}

}  // namespace granary::detail

bool granary::detail::uring_available() { return granary::detail::Ring(2).valid(); }

#else

std::shared_ptr<granary::detail::AsyncFileIo> granary::detail::make_uring_io(IoOptions const&) { return nullptr; }

bool granary::detail::uring_available() { return false; }

#endif

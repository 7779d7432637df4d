// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/engine/pack_lines.hpp>
#include <granary/detail/core/engine/poll_pause.hpp>
#include <granary/detail/distributed/transports/packet.hpp>
#include <granary/detail/mpi/mpi_transport.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <mutex>
#include <optional>
#include <queue>
#include <string>
#include <thread>
#include <utility>

namespace granary {

using namespace detail;

namespace {

void require_threads() {
  int initialized = 0, provided = 0;
  MPI_Initialized(&initialized);
  if (initialized == 0) throw InvalidArgument("MPI is not initialised: call MPI_Init_thread first");
  MPI_Query_thread(&provided);
  if (provided >= MPI_THREAD_SERIALIZED) return;
  throw InvalidArgument(
      std::string("MPI was initialised with ") +
      (provided == MPI_THREAD_FUNNELED ? "MPI_THREAD_FUNNELED" : "MPI_THREAD_SINGLE") +
      "; granary needs MPI_THREAD_SERIALIZED, or MPI_THREAD_MULTIPLE if the application calls MPI meanwhile");
}

// A piece of a value: MPI counts in int.
constexpr Bytes most_piece = 1_GiB;

}  // namespace

class MpiTransport::Thread {
 public:
  Thread(MpiTransport& transport, MPI_Comm communicator, MpiTransportOptions options)
      : m_transport(transport), m_options(options) {
    require_threads();
    if (options.sends == 0) throw InvalidArgument("a process sends at least one value at once, not 0");
    MPI_Comm_dup(communicator, &m_messages);
    MPI_Comm_dup(communicator, &m_values);
    int rank = 0, size = 0;
    MPI_Comm_rank(m_messages, &rank);
    MPI_Comm_size(m_messages, &size);
    m_self = static_cast<std::uint32_t>(rank);
    m_peers.resize(static_cast<std::size_t>(size));
  }
  ~Thread() {
    stop();
    MPI_Comm_free(&m_values);
    MPI_Comm_free(&m_messages);
  }
  Thread(Thread const&) = delete;
  Thread& operator=(Thread const&) = delete;

  void start() {
    m_thread = std::thread([this] { run(); });
  }
  void stop() {
    m_stop = true;
    m_transport.wake();
    if (m_thread.joinable()) m_thread.join();
  }
  [[noreturn]] void abort(int status) {
    m_abort = status;
    m_transport.wake();
    if (m_thread.joinable()) m_thread.join();
    MPI_Abort(m_messages, status);
    std::abort();
  }
  // Nothing if not all processes come in time: then the next call is `abort`.
  std::optional<Gathered> try_allgather(Header const& ours, std::string text, Duration most) {
    std::unique_lock lock(m_pending_mutex);
    m_pending = {.stage = Stage::Asked, .ours = ours, .text = std::move(text)};
    m_transport.wake();
    auto const ended = [this] { return m_pending.stage == Stage::None; };
    if (most == unlimited) {
      m_pending_changed.wait(lock, ended);
    } else if (!m_pending_changed.wait_for(lock, most, ended)) {
      return std::nullopt;
    }
    return Gathered{.headers = std::move(m_pending.headers), .text = std::move(m_pending.text)};
  }
  [[nodiscard]] std::uint32_t self() const { return m_self; }
  [[nodiscard]] std::uint32_t processes() const { return static_cast<std::uint32_t>(m_peers.size()); }
  [[nodiscard]] Bytes sent() const { return m_sent; }

 private:
  struct ToSend {
    std::int64_t priority;
    std::uint64_t number;
    Ship what;
    bool operator<(ToSend const& other) const {
      return priority != other.priority ? priority < other.priority : number > other.number;
    }
  };
  struct Peer {
    std::deque<Message> waiting;
    Packet packet;
    bool sending = false;
  };
  // A value on its way, in one or several requests.
  struct Transfer {
    bool incoming = false;
    std::uint32_t peer = 0;
    std::uint32_t tag = 0;
    TaskId outgoing_value = {};
    std::size_t requests = 0;
    std::vector<std::byte> packed{};  // the bytes of a source with gaps
  };
  enum class Stage : std::uint8_t { None, Asked, Gather, Broadcast };
  struct PendingGather {
    Stage stage = Stage::None;
    Header ours{};
    std::vector<Header> headers{};
    std::string text{};  // ours, then the root's
  };
  // The owner of a request: the number of a transfer, `the_hearing`, or `control` plus the peer.
  static constexpr std::size_t control = std::size_t{1} << 40;
  static constexpr std::size_t the_hearing = control - 1;

  void run() {
    MPI_Recv_init(m_incoming.data(), static_cast<int>(m_incoming.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, m_messages,
                  &m_receive);
    bool receives = false;
    PollPause pause(m_options.longest_nap);
    PollPause moving(std::chrono::microseconds(50), std::chrono::microseconds(100));
    while (!m_stop && m_abort < 0) {
      bool progress = false;
      if (!receives && m_transport.connected()) {
        MPI_Start(&m_receive);
        receives = true;
      }
      for (auto& operation : m_transport.take()) {
        std::visit([this](auto& what) { perform(what); }, operation);
        progress = true;
      }
      send_values();
      send_messages();
      begin_hearing();
      if (receives) progress |= receive_messages();
      progress |= complete();
      if (progress) {
        if (receives) m_transport.ends().apply();
        pause.progress();
        moving.progress();
      } else if (auto const moves = m_sending > 0 || m_receiving > 0; moves && moving.nap() == Duration{0}) {
        std::this_thread::yield();
      } else if (moves) {
        m_transport.wait(moving.nap());
      } else if (auto const nap = pause.nap(); nap > Duration{0}) {
        m_transport.wait(nap);
      } else {
        spin_pause();
      }
    }
    if (m_abort >= 0) return;
    if (receives) {
      MPI_Cancel(&m_receive);
      MPI_Wait(&m_receive, MPI_STATUS_IGNORE);
    }
    MPI_Request_free(&m_receive);
  }

  void perform(SendMessage& what) { m_peers[what.to.index()].waiting.push_back(std::move(what.message)); }
  void perform(Expect const& what) {
    auto const number = begin({.incoming = true, .peer = what.from.value(), .tag = what.tag});
    ++m_receiving;
    auto* place = what.destination;
    for_pieces(what.bytes, [&](int bytes) {
      MPI_Irecv(place, bytes, MPI_BYTE, static_cast<int>(what.from.value()), static_cast<int>(what.tag), m_values,
                &add(number));
      place += bytes;
    });
  }
  void perform(Cancel const& what) {
    for (std::size_t i = 0; i < m_requests.size();) {
      auto const number = m_of[i];
      if (number >= the_hearing || !m_transfers[number].incoming || m_transfers[number].tag != what.tag ||
          m_transfers[number].peer != what.from.value()) {
        ++i;
        continue;
      }
      MPI_Cancel(&m_requests[i]);
      MPI_Wait(&m_requests[i], MPI_STATUS_IGNORE);
      remove(i);
      if (--m_transfers[number].requests > 0) continue;
      end(number);
      --m_receiving;
    }
  }
  void perform(Ship const& what) { m_to_send.push({what.priority, m_numbers++, what}); }

  template <class Piece>
  static void for_pieces(Bytes bytes, Piece&& piece) {
    do {
      auto const now = std::min(bytes, most_piece);
      piece(static_cast<int>(now));
      bytes -= now;
    } while (bytes > 0);
  }

  // The number of a transfer of which nothing is under way yet.
  std::size_t begin(Transfer transfer) {
    std::size_t number = m_transfers.size();
    if (m_free.empty()) {
      m_transfers.emplace_back();
    } else {
      number = m_free.back();
      m_free.pop_back();
    }
    m_transfers[number] = std::move(transfer);
    return number;
  }
  void end(std::size_t number) {
    m_transfers[number] = {};
    m_free.push_back(number);
  }
  MPI_Request& add(std::size_t of) {
    if (of < the_hearing) ++m_transfers[of].requests;
    m_of.push_back(of);
    return m_requests.emplace_back(MPI_REQUEST_NULL);
  }
  void remove(std::size_t i) {
    m_requests[i] = m_requests.back();
    m_of[i] = m_of.back();
    m_requests.pop_back();
    m_of.pop_back();
  }

  void send_values() {
    while (!m_to_send.empty() && m_sending < m_options.sends) {
      auto const what = m_to_send.top().what;
      m_to_send.pop();
      ++m_sending;
      auto const number = begin({.outgoing_value = what.outgoing_value});
      auto const* place = what.source.address;
      if (auto const& lines = what.source.lines; lines.count > 0) {
        auto& packed = m_transfers[number].packed;
        packed.resize(what.bytes);
        pack_lines(lines, what.bytes, what.source.address, packed.data());
        place = packed.data();
      }
      for_pieces(what.bytes, [&](int bytes) {
        MPI_Isend(place, bytes, MPI_BYTE, static_cast<int>(what.to.value()), static_cast<int>(what.tag), m_values,
                  &add(number));
        place += bytes;
      });
      m_sent += what.bytes;
    }
  }
  void send_messages() {
    for (std::size_t p = 0; p < m_peers.size(); ++p) {
      auto& peer = m_peers[p];
      if (peer.sending || peer.waiting.empty()) continue;
      peer.packet.clear();
      while (!peer.waiting.empty() && peer.packet.add(peer.waiting.front())) peer.waiting.pop_front();
      peer.sending = true;
      MPI_Isend(peer.packet.bytes().data(), static_cast<int>(peer.packet.bytes().size()), MPI_BYTE, static_cast<int>(p),
                0, m_messages, &add(control + p));
    }
  }
  void begin_hearing() {
    std::lock_guard const lock(m_pending_mutex);
    if (m_pending.stage != Stage::Asked) return;
    bool const all_sent = m_to_send.empty() && m_sending == 0 && std::ranges::none_of(m_peers, [](Peer const& peer) {
                            return peer.sending || !peer.waiting.empty();
                          });
    if (!all_sent) return;
    m_pending.stage = Stage::Gather;
    m_pending.headers.resize(m_peers.size());
    MPI_Iallgather(&m_pending.ours, static_cast<int>(sizeof(Header)), MPI_BYTE, m_pending.headers.data(),
                   static_cast<int>(sizeof(Header)), MPI_BYTE, m_messages, &add(the_hearing));
  }
  // All headers are known: the root's text follows.
  void go_on_with_hearing() {
    std::lock_guard const lock(m_pending_mutex);
    auto& pending = m_pending;
    auto const root = root_of(pending.headers);
    if (pending.stage == Stage::Gather && root) {
      pending.stage = Stage::Broadcast;
      pending.text.resize(pending.headers[*root].length);
      MPI_Ibcast(pending.text.data(), static_cast<int>(pending.text.size()), MPI_BYTE, static_cast<int>(*root),
                 m_messages, &add(the_hearing));
      return;
    }
    pending.stage = Stage::None;
    m_pending_changed.notify_all();
  }

  // Packets of one process are taken in the order in which it sent them: one receive at a time.
  bool receive_messages() {
    bool received = false;
    for (int most = 64; most > 0; --most) {
      int arrived = 0;
      MPI_Status status;
      MPI_Test(&m_receive, &arrived, &status);
      if (arrived == 0) return received;
      int bytes = 0;
      MPI_Get_count(&status, MPI_BYTE, &bytes);
      ProcessId const from(static_cast<std::uint32_t>(status.MPI_SOURCE));
      read_packet({m_incoming.data(), static_cast<std::size_t>(bytes)},
                  [&](Message const& message) { m_transport.ends().exchange->got(from, message); });
      MPI_Start(&m_receive);
      received = true;
    }
    return received;
  }
  bool complete() {
    if (m_requests.empty()) return false;
    m_done.resize(m_requests.size());
    int count = 0;
    MPI_Testsome(static_cast<int>(m_requests.size()), m_requests.data(), &count, m_done.data(), MPI_STATUSES_IGNORE);
    if (count == MPI_UNDEFINED || count == 0) return false;
    m_done.resize(static_cast<std::size_t>(count));
    std::ranges::sort(m_done, std::greater<>());  // removing one moves only later ones
    std::vector<std::size_t> ended;
    for (int const i : m_done) {
      ended.push_back(m_of[static_cast<std::size_t>(i)]);
      remove(static_cast<std::size_t>(i));
    }
    for (auto const of : ended) completed(of);
    return true;
  }
  void completed(std::size_t of) {
    if (of >= control) {
      m_peers[of - control].sending = false;
    } else if (of == the_hearing) {
      go_on_with_hearing();
    } else if (--m_transfers[of].requests == 0) {
      auto const transfer = std::move(m_transfers[of]);
      end(of);
      if (transfer.incoming) {
        --m_receiving;
        m_transport.ends().exchange->received(transfer.tag);
      } else {
        --m_sending;
        m_transport.ends().exchange->sent(transfer.outgoing_value);
      }
    }
  }

  MpiTransport& m_transport;
  MpiTransportOptions m_options;
  MPI_Comm m_messages = MPI_COMM_NULL, m_values = MPI_COMM_NULL;
  std::uint32_t m_self = 0;
  std::atomic<bool> m_stop = false;
  std::atomic<Bytes> m_sent = 0;
  std::atomic<int> m_abort = -1;
  std::mutex m_pending_mutex;
  std::condition_variable m_pending_changed;
  PendingGather m_pending;

  // Of the thread alone.
  std::array<std::byte, Packet::most_bytes> m_incoming;
  MPI_Request m_receive = MPI_REQUEST_NULL;
  std::vector<Peer> m_peers;
  std::priority_queue<ToSend> m_to_send;
  std::uint64_t m_numbers = 0;
  std::uint32_t m_sending = 0, m_receiving = 0;  // values
  std::vector<Transfer> m_transfers;
  std::vector<std::size_t> m_free;
  std::vector<MPI_Request> m_requests;
  std::vector<std::size_t> m_of;  // by request
  std::vector<int> m_done;        // scratch
  std::thread m_thread;
};

MpiTransport::MpiTransport(MPI_Comm communicator, MpiTransportOptions options)
    : m_thread(std::make_unique<Thread>(*this, communicator, options)) {}
MpiTransport::~MpiTransport() = default;
ProcessId MpiTransport::self() const { return ProcessId(m_thread->self()); }
std::uint32_t MpiTransport::count() const { return m_thread->processes(); }
void MpiTransport::start() { m_thread->start(); }
void MpiTransport::close() { m_thread->stop(); }
void MpiTransport::abort(int status) { m_thread->abort(status); }
std::optional<Processes::Gathered> MpiTransport::try_allgather(Header const& ours, std::string text, Duration most) {
  return m_thread->try_allgather(ours, std::move(text), most);
}
Bytes MpiTransport::sent() const { return m_thread->sent(); }

}  // namespace granary

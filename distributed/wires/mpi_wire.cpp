// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/core/base/error.hpp>
#include <granary/core/engine/pack_lines.hpp>
#include <granary/core/engine/poll_pause.hpp>
#include <granary/distributed/wires/mpi_wire.hpp>
#include <granary/distributed/wires/packet.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <queue>
#include <string>
#include <thread>
#include <utility>

namespace granary {

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

class MpiWire::Thread {
 public:
  Thread(MpiWire& wire, MPI_Comm communicator, MpiWireOptions options) : m_wire(wire), m_options(options) {
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
    m_stop = true;
    m_wire.wake();
    if (m_thread.joinable()) m_thread.join();
    MPI_Comm_free(&m_values);
    MPI_Comm_free(&m_messages);
  }
  Thread(Thread const&) = delete;
  Thread& operator=(Thread const&) = delete;

  void start() {
    m_thread = std::thread([this] { run(); });
  }
  std::shared_ptr<FailureOrigin const> agree(std::uint64_t order, std::shared_ptr<FailureOrigin const> failure) {
    std::unique_lock lock(m_agreement_mutex);
    m_agreement = {.stage = Stage::Asked, .ours = {order, failure ? failure->position : 0, failure != nullptr}};
    m_agreement.failure = std::move(failure);
    m_wire.wake();
    m_agreed.wait(lock, [this] { return m_agreement.stage == Stage::None; });
    auto const& all = m_agreement.all;
    for (std::size_t p = 1; p < all.size(); ++p) {
      if (all[p].order == all[0].order) continue;
      throw InvalidArgument(
          "process " + std::to_string(p) +
          " has submitted other data or tasks than process 0: all processes submit the same, in the same order");
    }
    return std::move(m_agreement.failure);
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
    TaskId shipment = {};
    std::size_t requests = 0;
    std::vector<std::byte> packed{};  // the bytes of a source with gaps
  };
  // What a process says at the end of a phase.
  struct Outcome {
    std::uint64_t order = 0;
    std::uint64_t position = 0;  // of its first failure
    std::uint64_t failed = 0;    // whether it has one
  };
  enum class Stage : std::uint8_t { None, Asked, Gather, Broadcast };
  struct Agreement {
    Stage stage = Stage::None;
    Outcome ours{};
    std::vector<Outcome> all{};
    std::shared_ptr<FailureOrigin const> failure{};
    std::array<std::byte, Packet::most_bytes> text{};
  };
  // What a request belongs to: the number of a transfer, or one of these plus the peer.
  static constexpr std::size_t control = std::size_t{1} << 40;
  static constexpr std::size_t the_agreement = control - 1;

  void run() {
    MPI_Recv_init(m_incoming.data(), static_cast<int>(m_incoming.size()), MPI_BYTE, MPI_ANY_SOURCE, 0, m_messages,
                  &m_receive);
    MPI_Start(&m_receive);
    PollPause pause(m_options.longest_nap);
    PollPause moving(std::chrono::microseconds(50), std::chrono::microseconds(100));
    while (!m_stop) {
      bool progress = false;
      for (auto& operation : m_wire.take()) {
        std::visit([this](auto& what) { perform(what); }, operation);
        progress = true;
      }
      send_values();
      send_messages();
      begin_agreement();
      progress |= receive_messages();
      progress |= complete();
      if (progress) {
        m_wire.ends().apply();
        pause.progress();
        moving.progress();
      } else if (auto const moves = m_sending > 0 || m_receiving > 0; moves && moving.nap() == Duration{0}) {
        std::this_thread::yield();
      } else if (moves) {
        m_wire.wait(moving.nap());
      } else if (auto const nap = pause.nap(); nap > Duration{0}) {
        m_wire.wait(nap);
      } else {
        spin_pause();
      }
    }
    MPI_Cancel(&m_receive);
    MPI_Wait(&m_receive, MPI_STATUS_IGNORE);
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
      if (number >= the_agreement || !m_transfers[number].incoming || m_transfers[number].tag != what.tag ||
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
    if (of < the_agreement) ++m_transfers[of].requests;
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
      auto const number = begin({.shipment = what.shipment});
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
  void begin_agreement() {
    std::lock_guard const lock(m_agreement_mutex);
    if (m_agreement.stage != Stage::Asked) return;
    bool const all_sent = m_to_send.empty() && m_sending == 0 && std::ranges::none_of(m_peers, [](Peer const& peer) {
                            return peer.sending || !peer.waiting.empty();
                          });
    if (!all_sent) return;
    m_agreement.stage = Stage::Gather;
    m_agreement.all.resize(m_peers.size());
    MPI_Iallgather(&m_agreement.ours, static_cast<int>(sizeof(Outcome)), MPI_BYTE, m_agreement.all.data(),
                   static_cast<int>(sizeof(Outcome)), MPI_BYTE, m_messages, &add(the_agreement));
  }
  // All outcomes are known: whoever has the first failure tells its text.
  void go_on_with_agreement() {
    std::lock_guard const lock(m_agreement_mutex);
    auto& agreement = m_agreement;
    if (agreement.stage == Stage::Broadcast) {
      std::uint16_t length = 0;
      std::memcpy(&length, agreement.text.data(), sizeof(length));
      read_packet(std::span<std::byte const>(agreement.text).subspan(sizeof(length), length),
                  [&](Message const& message) { agreement.failure = message.failure; });
      return end_agreement();
    }
    auto const first = std::ranges::min_element(agreement.all, [](Outcome const& a, Outcome const& b) {
      return a.failed != b.failed ? a.failed > b.failed : a.position < b.position;
    });
    if (first->failed == 0) return end_agreement();
    auto const root = static_cast<std::uint32_t>(first - agreement.all.begin());
    if (root == m_self) {
      Packet packet;
      Message message;
      message.failure = agreement.failure;
      packet.add(message);
      auto const length = static_cast<std::uint16_t>(packet.bytes().size());
      std::memcpy(agreement.text.data(), &length, sizeof(length));
      std::ranges::copy(packet.bytes(), agreement.text.begin() + sizeof(length));
    }
    agreement.stage = Stage::Broadcast;
    MPI_Ibcast(agreement.text.data(), static_cast<int>(agreement.text.size()), MPI_BYTE, static_cast<int>(root),
               m_messages, &add(the_agreement));
  }
  void end_agreement() {
    m_agreement.stage = Stage::None;
    m_agreed.notify_all();
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
                  [&](Message const& message) { m_wire.ends().exchange->got(from, message); });
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
    } else if (of == the_agreement) {
      go_on_with_agreement();
    } else if (--m_transfers[of].requests == 0) {
      auto const transfer = std::move(m_transfers[of]);
      end(of);
      if (transfer.incoming) {
        --m_receiving;
        m_wire.ends().exchange->received(transfer.tag);
      } else {
        --m_sending;
        m_wire.ends().exchange->sent(transfer.shipment);
      }
    }
  }

  MpiWire& m_wire;
  MpiWireOptions m_options;
  MPI_Comm m_messages = MPI_COMM_NULL, m_values = MPI_COMM_NULL;
  std::uint32_t m_self = 0;
  std::atomic<bool> m_stop = false;
  std::atomic<Bytes> m_sent = 0;
  std::mutex m_agreement_mutex;
  std::condition_variable m_agreed;
  Agreement m_agreement;

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

MpiWire::MpiWire(MPI_Comm communicator, MpiWireOptions options)
    : m_thread(std::make_unique<Thread>(*this, communicator, options)) {}
MpiWire::~MpiWire() = default;
ProcessId MpiWire::self() const { return ProcessId(m_thread->self()); }
std::uint32_t MpiWire::processes() const { return m_thread->processes(); }
void MpiWire::start() { m_thread->start(); }
std::shared_ptr<FailureOrigin const> MpiWire::agree(std::uint64_t order, std::shared_ptr<FailureOrigin const> failure) {
  return m_thread->agree(order, std::move(failure));
}
Bytes MpiWire::sent() const { return m_thread->sent(); }

}  // namespace granary

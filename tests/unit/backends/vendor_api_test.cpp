// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// VendorApi on a fake vendor runtime that only keeps records.
#include <granary/detail/core/backends/device_memory.hpp>
#include <granary/detail/core/backends/vendor_api.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace granary::test {

using namespace detail;

namespace {

using testing::HasSubstr;
using Direction = DeviceCopy::Direction;

enum class Code { Success, NotReady, Refused, Again, Lost };

struct Books {
  int devices = 2;
  int current = 0;            // the thread's device
  int streams = 0;            // that exist
  int instances = 0;          // that exist
  Code next = Code::Success;  // of the next call that can fail
  Code left = Code::Success;  // answer to the next query of the last error
  int unused = -1;            // device in use by others
  bool peers = true;
  char pinned[5 * 4096] = {};                      // pinned by somebody else
  char const* hole = nullptr;                      // one page of it that is not pinned
  std::vector<std::pair<std::string, int>> calls;  // the call and the current device

  Code call(std::string what) {
    calls.emplace_back(std::move(what), current);
    return std::exchange(next, Code::Success);
  }
};
Books books;

struct FakeRuntime {
  using Status = Code;
  using Stream = int*;
  using Event = int*;
  struct Instance {
    Instance() { ++books.instances; }
    Instance(Instance const&) = delete;
    Instance& operator=(Instance const&) = delete;
    // The event that is never destroyed is not a leak.
    static void* operator new(std::size_t) {
      static char memory[100];
      static int used = 0;
      return memory + used++;
    }
    static void operator delete(void*) {}
    // Leaves another device current, as Kokkos does.
    ~Instance() {
      --books.instances;
      books.current = 1;
    }
  };

  static constexpr char const* label = "Fake";
  static constexpr Status success = Code::Success, not_ready = Code::NotReady;
  static constexpr Status peer_access_already_enabled = Code::Again;
  static char const* text(Status) { return "it did not work"; }
  static char const* error_name(Status status) { return status == Code::Lost ? "fakeLost" : "fakeRefused"; }
  static Status last_error() { return std::exchange(books.left, Code::Success); }
  static bool is_lost(Status status) { return status == Code::Lost; }
  static Status version(int* number) { return *number = 7, success; }
  static std::string version_text(int number) { return std::to_string(number) + ".1"; }
  static Status device_count(int* count) { return *count = books.devices, std::exchange(books.next, success); }
  static Status current_device(int* device) { return *device = books.current, success; }
  static Status set_device(int device) { return books.current = device, success; }
  static bool in_use(int device) { return device != books.unused; }
  static Status describe(int, DeviceProperties& properties) {
    return properties = {"Card", "fake_1", "0:0", 100, 0}, books.call("describe");
  }
  static Status memory(std::size_t* free, std::size_t* total) { return *free = 60, *total = 100, success; }
  static Status allocate(void** memory, Bytes) { return *memory = &books, books.call("allocate"); }
  static Status free(void*) { return books.call("free"); }
  static Status allocate_pinned(void** memory, Bytes) { return *memory = &books, books.call("allocate_pinned"); }
  static Status free_pinned(void*) { return books.call("free_pinned"); }
  static Status pin(void*, Bytes) { return books.call("pin"); }
  static Status unpin(void*) { return books.call("unpin"); }
  static bool is_pinned(void const* memory) {
    auto const* const at = static_cast<char const*>(memory);
    auto const lies_in = [at](char const* first, std::size_t bytes) { return at >= first && at < first + bytes; };
    return lies_in(books.pinned, sizeof books.pinned) && (books.hole == nullptr || !lies_in(books.hole, 4096));
  }
  static int holder_of(void const* memory) { return memory == &books ? 1 : host_end; }
  static Status can_access_peer(int* can, int, int) { return *can = books.peers ? 1 : 0, success; }
  static Status enable_peer_access(int peer) { return books.call("enable " + std::to_string(peer)); }
  static Status make_stream(Stream* stream) { return ++books.streams, *stream = &books.streams, books.call("stream"); }
  static Status synchronize(Stream) { return books.call("synchronize"); }
  static Status destroy_stream(Stream) {
    EXPECT_EQ(books.instances, 0);
    return --books.streams, books.call("destroy stream");
  }
  static Instance make_instance(Stream) { return books.call("instance"), Instance(); }
  static Stream stream_of(Instance const&) { return &books.streams; }
  static int device_of(Instance const&) { return 1; }
  static Status make_event(Event* event) { return *event = &books.streams, books.call("event"); }
  static Status destroy_event(Event) { return books.call("destroy event"); }
  static Status record(Event, Stream) { return books.call("record"); }
  static Status query(Event) { return books.call("query"); }
  static Status elapsed(float* milliseconds, Event, Event) { return *milliseconds = 1.5F, books.call("elapsed"); }
  static Status copy(void*, void const*, Bytes bytes, Direction, Stream) {
    return books.call("copy " + std::to_string(bytes));
  }
  static Status copy_peer(void*, int to, void const*, int from, Bytes bytes, Stream) {
    return books.call("copy " + std::to_string(bytes) + ": " + std::to_string(from) + " to " + std::to_string(to));
  }
  static Status copy_lines(DeviceCopy const& copy, Stream) {
    return books.call("copy " + std::to_string(copy.lines) + " lines");
  }
  static Status clear(void*, Bytes, Stream) { return books.call("clear"); }
};

class VendorApiTest : public testing::Test {
 protected:
  void TearDown() override { books = {}; }
  // The last call, and that it was made with `device` current and the thread's device was given back.
  static std::string last(int device) {
    EXPECT_EQ(books.calls.back().second, device) << books.calls.back().first;
    EXPECT_EQ(books.current, 0);
    return books.calls.back().first;
  }
  template <class Call>
  static std::string error_of(Call&& call) {
    try {
      call();
    } catch (DeviceLost const& error) {
      return std::string("lost: ") + error.what();
    } catch (DeviceError const& error) {
      return error.what();
    }
    return "nothing";
  }
  VendorApi<FakeRuntime> m_api;
};

TEST_F(VendorApiTest, EveryCallTurnsToItsDeviceAndBack) {
  EXPECT_EQ(m_api.properties(1).name, "Card");
  EXPECT_EQ(last(1), "describe");
  m_api.free(1, m_api.allocate(1, 8));
  EXPECT_EQ(last(1), "free");
  {
    auto const stream = m_api.make_stream(1);
    EXPECT_EQ(last(1), "stream");
    EXPECT_EQ(stream->device(), 1);
    EXPECT_EQ(stream->instance(), stream->instance());
    EXPECT_EQ(last(1), "instance");
    EXPECT_EQ(books.instances, 1);
    auto const event = m_api.make_event(1);
    m_api.record(*event, *stream);
    EXPECT_EQ(last(1), "record");
    auto const recorded = books.calls.size();
    auto const mark = m_api.mark(stream->instance());
    EXPECT_EQ(last(1), "record");
    EXPECT_EQ(books.calls.size(), recorded + 2) << "an event, and its record";
    EXPECT_TRUE(m_api.done(*mark));
    EXPECT_EQ(last(1), "query");
    EXPECT_EQ(m_api.elapsed(*event, *event), Duration(1'500'000));
    m_api.clear(*stream, nullptr, 8);
    EXPECT_EQ(last(1), "clear");
    m_api.launch(*stream, [](KernelCall const&) { static_cast<void>(books.call("kernel")); }, {});
    EXPECT_EQ(last(1), "kernel");
    m_api.on_device(1, [] { static_cast<void>(books.call("library")); });
    EXPECT_EQ(last(1), "library");
  }
  EXPECT_EQ(last(1), "destroy stream");
  EXPECT_EQ(books.streams, 0);
  EXPECT_EQ(books.instances, 0);
}

TEST_F(VendorApiTest, ADeviceThatNobodyUsesIsNotTurnedTo) {
  books.unused = 0;
  auto const stream = m_api.make_stream(1);
  EXPECT_EQ(books.current, 1) << "the thread had device 0 without choosing it";
  books.current = 0;  // another thread
  m_api.free_pinned(m_api.allocate_pinned(8));
  EXPECT_EQ(books.calls.back(), std::pair(std::string("free_pinned"), 1));
  books.unused = -1;
  books.current = 0;
  EXPECT_TRUE(m_api.pin(nullptr, 1));
  EXPECT_EQ(last(1), "pin");
  m_api.unpin(nullptr);
  EXPECT_EQ(last(1), "unpin");
}

TEST_F(VendorApiTest, MemoryIsPinnedWhereAllOfItIs) {
  auto const* const p = reinterpret_cast<std::byte const*>(books.pinned);
  EXPECT_TRUE(m_api.is_pinned(p, sizeof books.pinned));
  EXPECT_TRUE(m_api.is_pinned(p + 5000, 100));
  EXPECT_FALSE(m_api.is_pinned(p + 1, sizeof books.pinned));
  EXPECT_FALSE(m_api.is_pinned(p, 0));
  books.hole = books.pinned + 8192;  // a page in the middle
  EXPECT_FALSE(m_api.is_pinned(p, sizeof books.pinned));
}

TEST_F(VendorApiTest, WhatSomebodyElsePinnedIsNotUnpinned) {
  auto const api = std::make_shared<VendorApi<FakeRuntime>>();
  PinnedMemory pinned(api);
  auto* const theirs = reinterpret_cast<std::byte*>(books.pinned);
  std::byte ours[8];
  books.next = Code::Refused;  // is pinned already
  pinned.add(theirs, 8);
  EXPECT_TRUE(pinned.contains(theirs, 8));
  pinned.remove(theirs);
  EXPECT_EQ(books.calls.back().first, "pin");
  pinned.add(ours, 8);
  EXPECT_TRUE(pinned.contains(ours, 8));
  pinned.remove(ours);
  EXPECT_EQ(books.calls.back().first, "unpin");
  books.next = Code::Refused;
  pinned.add(ours, 8);
  EXPECT_FALSE(pinned.contains(ours, 8));
}

TEST_F(VendorApiTest, CopiesAreOneRunWhereTheyCanBe) {
  auto const stream = m_api.make_stream(1);
  m_api.copy(*stream, {.line = 8, .lines = 4, .destination_pitch = 8, .source_pitch = 8});
  EXPECT_EQ(last(1), "copy 32");
  m_api.copy(*stream, {.line = 8, .lines = 4, .destination_pitch = 8, .source_pitch = 16});
  EXPECT_EQ(last(1), "copy 4 lines");
  m_api.copy(*stream, {.line = 8, .direction = Direction::Peer, .source_device = 0, .destination_device = 1});
  EXPECT_EQ(last(1), "copy 8: 0 to 1");
  m_api.copy(*stream, {.line = 9, .lines = 0});
  m_api.copy(*stream, {.line = 0, .lines = 9});
  EXPECT_EQ(last(1), "copy 8: 0 to 1");
}

TEST_F(VendorApiTest, WhatIsNotReadyIsNotDone) {
  auto const event = m_api.make_event(0);
  books.next = Code::NotReady;
  EXPECT_FALSE(m_api.done(*event));
}

TEST_F(VendorApiTest, ConnectsWherePeersCan) {
  EXPECT_TRUE(m_api.connect(0, 1));
  EXPECT_EQ(last(1), "enable 0");
  books.next = Code::Again;
  EXPECT_TRUE(m_api.connect(0, 1));
  books.next = Code::Refused;
  EXPECT_FALSE(m_api.connect(0, 1));
  books.peers = false;
  EXPECT_FALSE(m_api.connect(1, 0));
}

TEST_F(VendorApiTest, ErrorsHaveTheRuntimesWordsAndTheNumbers) {
  books.next = Code::Refused;
  EXPECT_EQ(error_of([&] { static_cast<void>(m_api.allocate(1, 4096)); }),
            "Fake: allocating 4.0 KiB on device 1, which has 60 B of its 100 B free: it did not work (fakeRefused)");
  auto const stream = m_api.make_stream(1);
  books.next = Code::Refused;
  EXPECT_EQ(error_of([&] {
              m_api.copy(*stream, {.line = 8, .lines = 2, .direction = Direction::ToHost, .source_device = 1});
            }),
            "Fake: copying 2 x 8 bytes from device 1 to the host: it did not work (fakeRefused)");
  EXPECT_THROW(static_cast<void>(m_api.make_stream(2)), InvalidArgument);
  EXPECT_THROW(static_cast<void>(m_api.properties(-1)), InvalidArgument);
  EXPECT_EQ(books.current, 0);
}

TEST_F(VendorApiTest, ADeviceThatIsGoneIsSaidToBeLost) {
  auto const event = m_api.make_event(1);
  books.next = Code::Lost;
  EXPECT_THAT(error_of([&] { static_cast<void>(m_api.done(*event)); }), HasSubstr("lost: Fake: waiting for an event on "
                                                                                  "device 1"));
  books.next = Code::Lost;
  EXPECT_THAT(error_of([&] { static_cast<void>(m_api.pin(nullptr, 1)); }), HasSubstr("lost: "));
  books.next = Code::Refused;
  EXPECT_FALSE(m_api.pin(nullptr, 1));
}

TEST_F(VendorApiTest, OfALostDeviceKokkosIsAskedNothingMore) {
  auto stream = m_api.make_stream(1);
  EXPECT_NE(stream->instance(), nullptr);
  books.left = Code::Lost;
  auto const calls = books.calls.size();
  EXPECT_THAT(
      error_of([&] { m_api.launch(*stream, [](KernelCall const&) { static_cast<void>(books.call("kernel")); }, {}); }),
      HasSubstr("lost: Fake: launching a kernel on device 1"));
  EXPECT_EQ(books.calls.size(), calls);
  books.next = Code::Lost;
  stream.reset();
  EXPECT_EQ(last(1), "synchronize");
  EXPECT_EQ(books.instances, 1) << "its end would call the device";
}

TEST_F(VendorApiTest, ALaunchReportsWhatItLeft) {
  auto const stream = m_api.make_stream(1);
  books.left = Code::Refused;  // not the kernel's
  m_api.launch(*stream, [](KernelCall const&) {}, {});
  EXPECT_THAT(error_of([&] { m_api.launch(*stream, [](KernelCall const&) { books.left = Code::Refused; }, {}); }),
              HasSubstr("launching a kernel on device 1"));
  EXPECT_THROW(m_api.launch(*stream, [](KernelCall const&) { throw InvalidArgument("no"); }, {}), InvalidArgument);
  EXPECT_THAT(error_of([&] {
                m_api.launch(*stream,
                             [](KernelCall const&) {
                               books.left = Code::Lost;
                               throw std::runtime_error("a library's words");
                             },
                             {});
              }),
              testing::AllOf(HasSubstr("lost: "), HasSubstr("a library's words")));
  EXPECT_EQ(books.current, 0);
}

TEST_F(VendorApiTest, ARuntimeThatDoesNotStartHasNoDevices) {
  books.next = Code::Refused;
  std::string problem;
  VendorApi<FakeRuntime> const api(&problem);
  EXPECT_EQ(api.devices(), 0);
  EXPECT_EQ(problem, "Fake: looking for devices: it did not work (fakeRefused)");
  EXPECT_EQ(api.name(), "Fake 7.1");
  EXPECT_FALSE(api.emulated());
}

}  // namespace
}  // namespace granary::test

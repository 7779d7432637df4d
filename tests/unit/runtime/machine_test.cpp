// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/device_copies.hpp>
#include <granary/detail/core/backends/emulated_api.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/runtime/setup/devices.hpp>
#include <granary/detail/runtime/setup/machine.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace granary {

using namespace detail;

namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::shared_ptr<DeviceApi> emulated(int devices, bool peers = true) {
  return make_emulated_api({.devices = devices, .memory = 1_MiB, .peers = peers});
}

RuntimeOptions options(std::string const& devices, Bytes memory = 0) {
  return {.workers = 2,
          .devices = devices,
          .device_memory = memory,
          .device_lanes = 2,
          .host_memory = 1_MiB,
          .scratch = testing::TempDir(),
          .models = models_off};
}

TEST(DeviceNames, AreReadInEachOfTheirForms) {
  EXPECT_EQ(parse_devices("none").kind, DeviceNames::Kind::None);
  EXPECT_EQ(parse_devices("all").kind, DeviceNames::Kind::All);
  EXPECT_THAT(parse_devices("2,0").numbers, ElementsAre(2, 0));
  EXPECT_THAT(parse_devices("7").numbers, ElementsAre(7));
  EXPECT_EQ(parse_devices("host:4").emulated, 4);
  auto const quarters = parse_devices("1/4");
  EXPECT_THAT(quarters.numbers, ElementsAre(1));
  EXPECT_EQ(quarters.parts, 4);
}

TEST(DeviceNames, AreRefusedWhereMalformed) {
  for (auto const* bad : {"",         "host",
                          "host:",    "host:0",
                          "host:x",   "host:-1",
                          "host:1.5", "host:1 ",
                          "1,,2",     ",1",
                          "1,",       "-1",
                          "0x1",      "some",
                          "0/",       "/2",
                          "0/0",      "0/x",
                          "0,1/2",    "0/2,1",
                          "all/2",    "99999999999999999999",
                          "All"}) {
    EXPECT_THAT(test::message_of([&] { static_cast<void>(parse_devices(bad)); }),
                HasSubstr("malformed devices '" + std::string(bad) + "'"));
  }
  EXPECT_THAT(test::message_of([] { static_cast<void>(parse_devices("0,1,0")); }),
              HasSubstr("device 0 is named twice"));
  EXPECT_THAT(test::message_of([] { static_cast<void>(parse_devices("host:63")); }), HasSubstr("63 emulated devices"));
  EXPECT_THAT(test::message_of([] { static_cast<void>(parse_devices("0/63")); }), HasSubstr("63 parts of a device"));
}

TEST(ChooseDevices, TakesThoseThatAreNamed) {
  auto const all = choose_devices(options("all"), emulated(3));
  EXPECT_THAT(all.numbers, ElementsAre(0, 1, 2));
  EXPECT_EQ(all.memory, 1_MiB / 5 * 4);
  EXPECT_EQ(all.capacity() % device_alignment, 0U);
  EXPECT_THAT(choose_devices(options("2,0"), emulated(3)).numbers, ElementsAre(2, 0));
}

TEST(ChooseDevices, DividesOne) {
  auto const halves = choose_devices(options("1/2"), emulated(2, false));
  EXPECT_THAT(halves.numbers, ElementsAre(0, 1));
  EXPECT_EQ(halves.memory, 1_MiB / 2 / 5 * 4);
  EXPECT_EQ(halves.api->properties(1).name, "emulated device, part 2 of 2");
  EXPECT_TRUE(halves.api->connect(0, 1));
  EXPECT_EQ(test::message_of([] { static_cast<void>(choose_devices(options("2/2"), emulated(2))); }),
            "device 2 does not exist: there are 2");
  EXPECT_THAT(test::message_of([] { static_cast<void>(choose_devices(options("1/2", 512_KiB + 1), emulated(2))); }),
              AllOf(HasSubstr("524289 bytes"), HasSubstr("524288 bytes"), HasSubstr("free on device 0")));
}

TEST(ChooseDevices, RefusesWithTheNumbers) {
  auto const choose = [](RuntimeOptions const& chosen, int devices) {
    return test::message_of([&] { static_cast<void>(choose_devices(chosen, emulated(devices))); });
  };
  EXPECT_EQ(choose(options("0,3"), 2), "device 3 does not exist: there are 2");
  EXPECT_EQ(choose(options("1"), 1), "device 1 does not exist: there is 1");
  EXPECT_THAT(choose(options("1", 1_MiB + 1), 2),
              AllOf(HasSubstr("1048577 bytes"), HasSubstr("1048576 bytes"), HasSubstr("free on device 1")));
  EXPECT_THAT(choose(options("0", 255), 1), HasSubstr("255 bytes"));
}

// Four GPUs: two of one model, another one of their architecture, and an older one.
class MixedDevices : public DeviceApi {
 public:
  [[nodiscard]] std::string name() const override { return "fake"; }
  [[nodiscard]] int devices() const override { return 4; }
  [[nodiscard]] bool emulated() const override { return true; }
  [[nodiscard]] DeviceProperties properties(int device) const override {
    auto const* const name = device == 3 ? "Quadro" : device == 2 ? "A100 80GB" : "A100 40GB";
    return {name, device == 3 ? "sm_75" : "sm_80", "", 1_MiB, 1_MiB};
  }

  MOCK_METHOD(std::byte*, allocate, (int, Bytes), (override));
  MOCK_METHOD(void, free, (int, std::byte*), (noexcept, override));
  MOCK_METHOD(std::byte*, allocate_pinned, (Bytes), (override));
  MOCK_METHOD(void, free_pinned, (std::byte*), (noexcept, override));
  MOCK_METHOD(bool, pin, (std::byte*, Bytes), (override));
  MOCK_METHOD(void, unpin, (std::byte*), (noexcept, override));
  MOCK_METHOD(bool, is_pinned, (std::byte const*, Bytes), (override));
  MOCK_METHOD(int, holder_of, (std::byte const*, Bytes), (override));
  MOCK_METHOD(bool, connect, (int, int), (override));
  MOCK_METHOD(std::unique_ptr<Stream>, make_stream, (int), (override));
  MOCK_METHOD(std::unique_ptr<Event>, make_event, (int), (override));
  MOCK_METHOD(void, record, (Event&, Stream&), (override));
  MOCK_METHOD(std::unique_ptr<Event>, mark, (void const*), (override));
  MOCK_METHOD(bool, done, (Event&), (override));
  MOCK_METHOD(Duration, elapsed, (Event&, Event&), (override));
  MOCK_METHOD(void, copy, (Stream&, DeviceCopy const&), (override));
  MOCK_METHOD(void, clear, (Stream&, std::byte*, Bytes), (override));
  MOCK_METHOD(void, launch, (Stream&, Kernel, KernelCall const&), (override));
  MOCK_METHOD(void, on_device, (int, std::function<void()> const&), (noexcept, override));
};

TEST(ChooseDevices, OfSeveralArchitecturesAreRefused) {
  auto const api = std::make_shared<MixedDevices>();
  auto const sentence =
      "device 0 is A100 40GB (sm_80) and device 3 is Quadro (sm_75): a run uses devices of one architecture, so name "
      "those (--devices, GRANARY_DEVICES)";
  EXPECT_EQ(test::message_of([&] { static_cast<void>(choose_devices(options("all"), api)); }), sentence);
  EXPECT_THAT(test::message_of([&] { static_cast<void>(choose_devices(options("3,1"), api)); }),
              HasSubstr("device 3 is Quadro (sm_75) and device 1 is A100 40GB (sm_80)"));
  EXPECT_THAT(choose_devices(options("0,1,2"), api).numbers, ElementsAre(0, 1, 2));
  EXPECT_THAT(choose_devices(options("3"), api).numbers, ElementsAre(3));
  EXPECT_EQ(choose_devices(options("3/2"), api).size(), 2U);
}

TEST(FindDevices, NeedsTheBackendThatTheyNeed) {
  if (std::string(vendor_backend()).empty()) {
    for (auto const* devices : {"all", "0"}) {
      EXPECT_THAT(test::message_of([&] { static_cast<void>(find_devices(options(devices))); }),
                  HasSubstr("built without CUDA and HIP"));
    }
  }
  EXPECT_TRUE(find_devices(options("none")).empty());
  EXPECT_THAT(test::message_of([] { static_cast<void>(find_devices(options("host:4", 1ULL << 50))); }),
              HasSubstr("4 emulated devices of 1125899906842624 bytes"));
}

TEST(BuildMachine, HasNodesLinksAndWorkersInTheAgreedOrder) {
  auto const chosen = choose_devices(options("2,0", 1000), emulated(3));
  auto const links = device_links(chosen);
  auto const machine = build_machine(options("2,0", 1000), chosen, links, MachineCache(options("2,0", 1000)));
  std::vector<std::string> nodes, workers, ends;
  for (auto const& node : machine.nodes) nodes.push_back(node.name);
  for (auto const& worker : machine.workers) workers.push_back(worker.name);
  for (auto const& link : machine.links)
    ends.push_back(std::to_string(link.from.value()) + ">" + std::to_string(link.to.value()));
  EXPECT_THAT(nodes, ElementsAre("host memory", "disk", "device 2", "device 0"));
  EXPECT_THAT(ends, ElementsAre("0>1", "1>0", "0>2", "2>0", "0>3", "3>0", "2>3", "3>2"));
  EXPECT_THAT(workers, ElementsAre("core 0", "core 1", "device 2 lane 0", "device 2 lane 1", "device 0 lane 0",
                                   "device 0 lane 1"));
  EXPECT_EQ(machine.nodes[2].capacity, 768U);
  EXPECT_EQ(machine.nodes[2].alignment, 256U);
  EXPECT_EQ(machine.workers[4].node, NodeId(3));
  EXPECT_EQ(machine.workers[4].kind, WorkerKind::Device);
  EXPECT_EQ(chosen.end_at(NodeId(0)), host_end);
  EXPECT_EQ(chosen.end_at(NodeId(2)), 2);
  EXPECT_EQ(chosen.end_at(NodeId(3)), 0);
}

TEST(BuildMachine, DevicesThatCannotCopyDirectlyHaveNoLink) {
  auto const chosen = choose_devices(options("all"), emulated(2, false));
  EXPECT_EQ(device_links(chosen).size(), 4U);
}

TEST(BuildMachine, LinksThatAreHeldToABandwidthHaveIt) {
  auto held = options("host:2", 1_MiB);
  held.link_bytes_per_second = 3'000'000;
  auto const chosen = find_devices(held);
  auto const links = device_links(chosen);
  auto const machine = build_machine(held, chosen, links, MachineCache(held, chosen, links));
  for (std::size_t l = 2; l < machine.links.size(); ++l) EXPECT_EQ(machine.links[l].bandwidth, 3e6);
}

}  // namespace
}  // namespace granary

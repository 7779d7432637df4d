// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/simulator/cluster/network_model.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <utility>
#include <vector>

namespace granary::network_model_test {
namespace {

using ::testing::ElementsAre;

// A byte takes a nanosecond.
NetworkModel slow(std::uint32_t processes, std::uint32_t sends = 16, Duration latency = Duration{0}) {
  return NetworkModel(processes, {.bandwidth = 1e9, .latency = latency}, sends);
}

ProcessId process(std::uint32_t number) { return ProcessId(number); }

/// The tokens of all that arrives, and when, in ns.
std::vector<std::pair<std::uint64_t, std::int64_t>> arrivals(NetworkModel& network) {
  std::vector<std::pair<std::uint64_t, std::int64_t>> all;
  while (auto const at = network.next_change()) {
    if (auto const token = network.advance()) all.emplace_back(*token, at->time_since_epoch().count());
  }
  return all;
}

TEST(NetworkModel, ATransferTakesItsLatencyAndItsBytes) {
  auto network = slow(2, 16, Duration{50});
  network.send(process(0), process(1), 1000, 0, 7, Instant(Duration{200}));
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(7, 1250)));
  EXPECT_FALSE(network.next_change());
}

TEST(NetworkModel, TransfersShareTheirSender) {
  auto network = slow(3);
  network.send(process(0), process(1), 1000, 0, 1, {});
  network.send(process(0), process(2), 2000, 0, 2, {});
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(1, 2000), std::pair(2, 3000)));
}

TEST(NetworkModel, TransfersShareTheirReceiver) {
  auto network = slow(3);
  network.send(process(0), process(2), 1000, 0, 1, {});
  network.send(process(1), process(2), 1000, 0, 2, {});
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(1, 2000), std::pair(2, 2000)));
}

TEST(NetworkModel, TheTwoDirectionsOfAConnectionDoNotShare) {
  auto network = slow(2);
  network.send(process(0), process(1), 1000, 0, 1, {});
  network.send(process(1), process(0), 1000, 0, 2, {});
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(1, 1000), std::pair(2, 1000)));
}

// 1 shares its sender with 2 and its receiver with 3: half. What 3 leaves of nothing is not given to others.
TEST(NetworkModel, ATransferGetsTheSmallerShare) {
  auto network = slow(4);
  network.send(process(0), process(2), 1000, 0, 1, {});
  network.send(process(0), process(3), 1000, 0, 2, {});
  network.send(process(1), process(2), 1000, 0, 3, {});
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(1, 2000), std::pair(2, 2000), std::pair(3, 2000)));
}

TEST(NetworkModel, TheHighestPriorityGoesFirst) {
  auto network = slow(2, 1);
  network.send(process(0), process(1), 100, 0, 1, {});  // starts at once
  network.send(process(0), process(1), 100, 1, 2, {});
  network.send(process(0), process(1), 100, 5, 3, {});
  network.send(process(0), process(1), 100, 5, 4, {});
  EXPECT_THAT(arrivals(network),
              ElementsAre(std::pair(1, 100), std::pair(3, 200), std::pair(4, 300), std::pair(2, 400)));
}

TEST(NetworkModel, AProcessSendsSoManyValuesAtOnce) {
  auto network = slow(4, 2);
  for (std::uint32_t to = 1; to < 4; ++to) network.send(process(0), process(to), 100, 0, to, {});
  EXPECT_THAT(arrivals(network), ElementsAre(std::pair(1, 200), std::pair(2, 200), std::pair(3, 300)));
}

TEST(NetworkModel, RefusesSpeedsOutOfRange) {
  auto const refusal = [](Network const& network, std::uint32_t sends = 1) {
    return test::message_of([&] { return NetworkModel(2, network, sends); });
  };
  for (double const bandwidth : {0.0, -1.0, 0.5, 1e19, std::numeric_limits<double>::quiet_NaN(),
                                 std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal({.bandwidth = bandwidth}),
                ::testing::StartsWith("the network needs a bandwidth from 1 to 1e18 bytes per second, not "));
  }
  for (Duration const latency : {Duration{-1}, Duration(std::chrono::seconds(1001))})
    EXPECT_THAT(refusal({.latency = latency}), ::testing::EndsWith("it must be from 0 to 1000 s"));
  EXPECT_EQ(refusal({}, 0), "a process must be able to send at least one value at once");
}

}  // namespace
}  // namespace granary::network_model_test

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/simulator/cluster/network_model.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <map>
#include <vector>

namespace granary {
namespace network_model_test {
namespace {

constexpr detail::Network network{.bandwidth = 1e9, .latency = std::chrono::microseconds(2)};
constexpr Bytes megabyte = 1'000'000;  // takes a millisecond

struct Sent {
  std::uint32_t from;
  std::uint32_t to;
  Bytes bytes;
  std::int64_t priority = 0;
};

// When each arrives, if all are sent at the start.
std::vector<Duration> arrivals(std::uint32_t processes, std::vector<Sent> const& all, std::uint32_t sends = 16) {
  detail::NetworkModel model(processes, network, sends);
  for (std::size_t i = 0; i < all.size(); ++i) {
    model.send(ProcessId(all[i].from), ProcessId(all[i].to), all[i].bytes, all[i].priority, i, detail::Instant{});
  }
  std::vector<Duration> ends(all.size());
  while (auto const next = model.next_change()) {
    if (auto const token = model.advance()) ends[*token] = *next - detail::Instant{};
  }
  return ends;
}

Duration milliseconds_and_latencies(double milliseconds, int latencies = 1) {
  return from_seconds(milliseconds * 1e-3) + latencies * network.latency;
}

TEST(NetworkModel, DirectionsOfAConnectionDoNotCompete) {
  auto const ends = arrivals(2, {{0, 1, megabyte}, {1, 0, 2 * megabyte}});
  EXPECT_EQ(ends[0], milliseconds_and_latencies(1));
  EXPECT_EQ(ends[1], milliseconds_and_latencies(2));
}

TEST(NetworkModel, GivesToOthersWhatAReceiverCannotTake) {
  // Three send to process 0: a third each. The other value of process 1 gets the remaining two thirds.
  auto const ends = arrivals(5, {{1, 0, megabyte}, {2, 0, megabyte}, {3, 0, megabyte}, {1, 4, megabyte}});
  for (int i = 0; i < 3; ++i) EXPECT_EQ(ends[static_cast<std::size_t>(i)], milliseconds_and_latencies(3));
  EXPECT_EQ(ends[3], milliseconds_and_latencies(1.5));
}

TEST(NetworkModel, SeveralTransfersBetweenTheSameTwoShareEqually) {
  auto const ends = arrivals(3, {{0, 1, megabyte}, {0, 1, megabyte}, {0, 2, megabyte}, {0, 2, megabyte}});
  for (auto const end : ends) EXPECT_EQ(end, milliseconds_and_latencies(4));
}

TEST(NetworkModel, TheMostUrgentWaitingValueStartsNext) {
  auto const ends = arrivals(2, {{0, 1, megabyte, 0}, {0, 1, megabyte, 1}, {0, 1, megabyte, 2}}, 1);
  EXPECT_EQ(ends[0], milliseconds_and_latencies(1));  // was sent first, and at once
  EXPECT_EQ(ends[2], milliseconds_and_latencies(2, 2));
  EXPECT_EQ(ends[1], milliseconds_and_latencies(3, 3));
}

// No connection carries more than its bandwidth, and a single busy one carries it.
TEST(NetworkModel, RandomTransfersTakeNoLessThanTheBusiestConnection) {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    detail::Random random(seed);
    auto const processes = static_cast<std::uint32_t>(random.between(2, 12));
    auto const any = [&] { return static_cast<std::uint32_t>(random.between(0, std::int64_t{processes} - 1)); };
    std::vector<Sent> all;
    std::map<std::pair<bool, std::uint32_t>, Bytes> carried;
    for (int i = 0; i < 100; ++i) {
      Sent const sent{any(), any(), static_cast<Bytes>(random.between(1, 1'000'000))};
      if (sent.from == sent.to) continue;
      all.push_back(sent);
      carried[{false, sent.from}] += sent.bytes;
      carried[{true, sent.to}] += sent.bytes;
    }
    Bytes most = 0;
    Bytes sum = 0;
    for (auto const& [direction, bytes] : carried) most = std::max(most, bytes);
    for (auto const& sent : all) sum += sent.bytes;
    auto const ends = arrivals(processes, all);
    auto const last = seconds(*std::ranges::max_element(ends));
    EXPECT_GE(last, static_cast<double>(most) / network.bandwidth);
    EXPECT_LE(last, static_cast<double>(sum) / network.bandwidth + 100 * seconds(network.latency));
    EXPECT_GT(*std::ranges::min_element(ends), network.latency);
  }
}

TEST(NetworkModel, AProcessSendsSoManyValuesAtOnce) {
  auto const ends = arrivals(4, {{0, 1, megabyte}, {0, 2, megabyte}, {0, 3, megabyte}}, 2);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(ends[static_cast<std::size_t>(i)], milliseconds_and_latencies(2));
  EXPECT_EQ(ends[2], milliseconds_and_latencies(3, 2));
}

TEST(NetworkModel, RefusesWhatIsOutOfRange) {
  auto const refusal = [](detail::Network const& speed, std::uint32_t sends = 1) {
    return test::message_of([&] { return detail::NetworkModel(2, speed, sends); });
  };
  for (double const bandwidth :
       {0.0, -1.0, 0.5, 1e19, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    EXPECT_THAT(refusal({.bandwidth = bandwidth}),
                ::testing::StartsWith("the network needs a bandwidth from 1 to 1e18 bytes per second, not "));
  }
  for (Duration const latency : {Duration{-1}, Duration(std::chrono::seconds(1001))})
    EXPECT_THAT(refusal({.latency = latency}), ::testing::EndsWith("it must be from 0 to 1000 s"));
  EXPECT_EQ(refusal({}, 0), "a process must be able to send at least one value at once");
}

}  // namespace
}  // namespace network_model_test
}  // namespace granary

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/simulator/platform.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "support/file_size_limit.hpp"

namespace granary {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

char const* const small = R"({
 "name": "small", "source": "invented", "jitter": 0.1, "depth": 3, "device_issue": 2,
 "nodes": [{"name": "host", "kind": "host"}, {"name": "gpu0", "kind": "device", "capacity": 1000},
           {"name": "gpu1", "kind": "device", "capacity": 2000}],
 "buses": [{"name": "socket", "bandwidth": 6e9}, {"name": "peers", "bandwidth": 9e9}],
 "links": [
  {"from": "host", "to": "gpu0", "bandwidth": 4e9, "latency": 1e-5, "buses": ["socket"], "both_ways": true},
  {"from": "host", "to": "gpu1", "bandwidth": 4e9, "width": 2, "buses": ["socket"], "both_ways": true},
  {"from": "gpu0", "to": "gpu1", "bandwidth": 8e9, "buses": ["peers"], "in_order": true, "both_ways": true}],
 "workers": [{"name": "core", "node": "host", "kind": "cpu", "count": 3, "peak": 2e10},
             {"name": "gpu0", "node": "gpu0", "kind": "device", "model": "fast"},
             {"name": "gpu1", "node": "gpu1", "kind": "device", "model": "slow"}],
 "kernels": {"s": {"gemm": {"cpu": 1e10, "fast": [[1e6, 1e-5], [1e8, 5e-4]], "slow": 1e11},
                   "potrf": {"cpu": [[1e6, 2e-4]]}}},
 "speeds": {"cpu": {"s": 1e9, "d": 5e8}, "fast": {"s": 1e12}}
})";

std::string with(std::string const& what, std::string const& instead) {
  std::string text = small;
  auto const at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), instead);
}

std::string refusal(std::string const& text) {
  return test::message_of([&] { return Platform::parse(text, "x.json"); });
}

TEST(Platform, ReadsWhatItsFileSays) {
  auto const platform = Platform::parse(small, "x.json");
  EXPECT_EQ(platform.name, "small");
  EXPECT_EQ(platform.source, "invented");
  EXPECT_EQ(platform.jitter, 0.1);
  EXPECT_EQ(platform.depth, 3U);
  EXPECT_EQ(platform.device_issue, 2U);
  auto const& machine = platform.machine;
  ASSERT_EQ(machine.nodes.size(), 3U);
  EXPECT_EQ(machine.nodes[0].capacity, unbounded);
  EXPECT_EQ(machine.nodes[2].capacity, 2000U);
  EXPECT_EQ(machine.nodes[2].kind, detail::NodeKind::Device);
  ASSERT_EQ(machine.links.size(), 6U);
  EXPECT_EQ(machine.links[1].from, NodeId(1));
  EXPECT_EQ(machine.links[1].latency, Duration(10000));
  EXPECT_EQ(machine.links[2].width, 2U);
  EXPECT_FALSE(machine.links[2].in_order);
  EXPECT_TRUE(machine.links[4].in_order);
  EXPECT_TRUE(machine.links[5].in_order);
  EXPECT_THAT(machine.links[4].buses, ElementsAre(1));
  ASSERT_EQ(machine.workers.size(), 5U);
  EXPECT_EQ(machine.workers[1].name, "core 1");
  EXPECT_EQ(machine.workers[1].peak_flops, 2e10);
  EXPECT_EQ(Platform::model_of(machine.workers[1]), "cpu");
  EXPECT_EQ(Platform::model_of(machine.workers[4]), "slow");
  EXPECT_EQ(platform.home_node(), NodeId(0));
  EXPECT_TRUE(platform.home_in_place());
  EXPECT_EQ(platform.workers(detail::WorkerKind::Cpu), 3U);
  EXPECT_EQ(platform.workers(detail::WorkerKind::Device), 2U);
}

TEST(Platform, InterpolatesSecondsPerFlopInTheLogarithmOfFlops) {
  auto const platform = Platform::parse(small, "x.json");
  auto const gemm = *platform.times("gemm", detail::Precision::Single, "fast");
  EXPECT_DOUBLE_EQ(gemm.seconds(1e6), 1e-5);
  EXPECT_DOUBLE_EQ(gemm.seconds(1e8), 5e-4);
  EXPECT_DOUBLE_EQ(gemm.seconds_per_flop(1e7), 7.5e-12);
  EXPECT_DOUBLE_EQ(gemm.seconds(1e5), 1e-6);
  EXPECT_DOUBLE_EQ(gemm.seconds(1e9), 5e-3);
  EXPECT_DOUBLE_EQ(gemm.seconds(0), 1e-5);
  EXPECT_EQ(platform.kernel_time("gemm", 1e9, detail::Precision::Single, "slow"), std::chrono::milliseconds(10));
}

TEST(Platform, DirectionsThatShareABandwidthHaveABusInCommon) {
  auto platform = Platform::find("v100x4");
  auto const link = [&](char const* from, char const* to) -> detail::Link const& {
    auto const& machine = platform.machine;
    return *std::ranges::find_if(
        machine.links, [&](detail::Link const& l) { return machine[l.from].name == from && machine[l.to].name == to; });
  };
  EXPECT_FALSE(detail::Machine::share_a_bus(link("host", "gpu0"), link("gpu0", "host")));
  EXPECT_FALSE(detail::Machine::share_a_bus(link("host", "gpu0"), link("gpu1", "host")));
  EXPECT_FALSE(detail::Machine::share_a_bus(link("gpu0", "gpu3"), link("gpu3", "gpu0")));
  double const before = platform.machine.bandwidth_alone(link("gpu0", "gpu3"));

  platform.share_directions();
  EXPECT_TRUE(detail::Machine::share_a_bus(link("host", "gpu0"), link("gpu0", "host")));
  EXPECT_TRUE(detail::Machine::share_a_bus(link("host", "gpu0"), link("gpu1", "host"))) << "through the same switch";
  EXPECT_TRUE(detail::Machine::share_a_bus(link("gpu0", "gpu3"), link("gpu3", "gpu0")));
  EXPECT_FALSE(detail::Machine::share_a_bus(link("host", "gpu0"), link("gpu2", "host"))) << "another switch";
  EXPECT_FALSE(detail::Machine::share_a_bus(link("gpu0", "gpu3"), link("gpu0", "gpu2")));
  EXPECT_EQ(platform.machine.bandwidth_alone(link("gpu0", "gpu3")), before);
  detail::Topology const valid(platform.machine);
}

// A link crosses no bus twice, and no transfer becomes faster.
TEST(Platform, BusesInARowAreJoinedWithThoseOfTheOtherDirectionOnly) {
  auto const buses_of = [](Platform const& platform, std::size_t link) {
    auto buses = platform.machine.links[link].buses;
    std::ranges::sort(buses);
    return buses;
  };
  auto gpus = Platform::find("h200x8");
  gpus.select(2, 0);  // each direction between them crosses the way out of one and the way into the other
  gpus.share_directions();
  for (std::size_t l = 0; l < gpus.machine.links.size(); ++l) {
    auto const buses = buses_of(gpus, l);
    EXPECT_EQ(std::ranges::adjacent_find(buses), buses.end()) << "link " << l;
  }

  std::string const two_buses = R"("buses": [{"name": "a", "bandwidth": 12e9}, {"name": "b", "bandwidth": 5e9}])";
  auto const in_a_row = [&](std::string const& buses, std::string const& links) {
    return Platform::parse(R"({"name": "x", "source": "x", "nodes": [{"name": "host", "kind": "host"},
      {"name": "gpu", "kind": "device", "capacity": 1000}], "workers": [{"name": "g", "node": "gpu", "kind": "device"}],
      "kernels": {}, "speeds": {"device": {"s": 1e12}}, )" +
                               buses + R"(, "links": [)" + links + "]}",
                           "x.json");
  };
  auto both = in_a_row(two_buses,
                       R"({"from": "host", "to": "gpu", "bandwidth": 20e9, "buses": ["a", "b"], "both_ways": true})");
  both.share_directions();
  EXPECT_EQ(both.machine.bandwidth_alone(both.machine.links[0]), 5e9);
  auto one_each = in_a_row(R"("buses": [{"name": "a", "bandwidth": 12e9}, {"name": "b", "bandwidth": 5e9},
      {"name": "c", "bandwidth": 5e9}, {"name": "d", "bandwidth": 12e9}])",
                           R"({"from": "host", "to": "gpu", "bandwidth": 20e9, "buses": ["a", "b"]},
                              {"from": "gpu", "to": "host", "bandwidth": 20e9, "buses": ["c", "d"]})");
  one_each.share_directions();
  for (auto const& link : one_each.machine.links) EXPECT_EQ(one_each.machine.bandwidth_alone(link), 5e9);
}

// Machine Bunsen of the Hierarchical paper.
TEST(Platform, BunsenIsThatOfItsPaper) {
  auto const bunsen = Platform::find("bunsen");
  EXPECT_EQ(bunsen.workers(detail::WorkerKind::Cpu), 16U);
  EXPECT_EQ(bunsen.workers(detail::WorkerKind::Device), 3U);
  auto const rate = [&](char const* codelet, double flops, char const* model) {
    return flops / bunsen.times(codelet, detail::Precision::Double, model)->seconds(flops);
  };
  auto const cube = [](double tile) { return tile * tile * tile; };
  // Only gemm runs on GPUs: at most 1.2 TFlop/s, and less below tiles of 1000.
  for (auto const* codelet : {"potrf", "trsm", "syrk", "getrf", "trsm_ll", "trsm_ru"})
    EXPECT_FALSE(bunsen.times(codelet, detail::Precision::Double, "gpu").has_value()) << codelet;
  double before = 0;
  for (double const tile : {192, 384, 576, 768, 960, 1152}) {
    double const now = rate("gemm", 2 * cube(tile), "gpu");
    EXPECT_GT(now, before);
    before = now;
  }
  EXPECT_LT(rate("gemm", 2 * cube(960), "gpu"), 0.95 * 1.2e12);
  EXPECT_GT(rate("gemm", 2 * cube(1536), "gpu"), 0.95 * 1.2e12);
  EXPECT_LT(rate("gemm", 2 * cube(1536), "gpu"), 1.2e12);
  // Cores are at their best from tiles of 192 on.
  for (auto const* codelet : {"gemm", "syrk", "trsm"}) {
    EXPECT_DOUBLE_EQ(rate(codelet, cube(192), "cpu"), rate(codelet, cube(1152), "cpu")) << codelet;
    EXPECT_GT(rate(codelet, cube(192), "cpu"), 0.9 * 20.8e9) << codelet;
  }
  EXPECT_LT(rate("potrf", cube(320) / 3, "cpu"), rate("potrf", cube(960) / 3, "cpu"));
  // No two transfers share a bus, so both directions are independent.
  EXPECT_EQ(bunsen.machine.links.size(), 6U);
  for (auto const& link : bunsen.machine.links) {
    EXPECT_TRUE(link.buses.empty());
    EXPECT_DOUBLE_EQ(link.bandwidth, 10.52e9);
  }
}

TEST(Platform, SpeedsAreForCodeletsThatItDoesNotName) {
  auto const platform = Platform::parse(small, "x.json");
  EXPECT_FALSE(platform.times("potrf", detail::Precision::Single, "fast").has_value());
  EXPECT_DOUBLE_EQ(platform.times("stencil", detail::Precision::Single, "fast")->seconds(1e12), 1);
  EXPECT_DOUBLE_EQ(platform.times("gemm", detail::Precision::Double, "cpu")->seconds(5e8), 1);
  EXPECT_FALSE(platform.times("gemm", detail::Precision::Double, "fast").has_value());
  try {
    static_cast<void>(platform.kernel_time("gemm", 1, detail::Precision::Double, "fast"));
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(),
                 "platform 'small' has no time for codelet 'gemm' in double precision on workers of model 'fast'");
  }
}

TEST(Platform, ComplexScalarsTakeTheTimesOfRealOnesUnlessItHasTheirOwn) {
  auto const c = detail::Precision::ComplexSingle;
  auto const platform = Platform::parse(small, "x.json");
  EXPECT_EQ(platform.kernel_time("gemm", 1e7, c, "fast"),
            platform.kernel_time("gemm", 1e7, detail::Precision::Single, "fast"));
  EXPECT_TRUE(platform.names("gemm", c));
  EXPECT_FALSE(platform.names("gemm", detail::Precision::ComplexDouble));
  EXPECT_DOUBLE_EQ(platform.times("gemm", detail::Precision::ComplexDouble, "cpu")->seconds(5e8), 1);  // a speed
  EXPECT_FALSE(platform.times("potrf", c, "fast").has_value());
  EXPECT_FALSE(platform.times("gemm", detail::Precision::ComplexDouble, "fast").has_value());

  auto const own = Platform::parse(with("\"kernels\": {",
                                        "\"kernels\": {\"c\": {\"gemm\": {\"fast\": 4e11}}, "
                                        "\"z\": {\"potrf\": {\"cpu\": [[1e6, 1e-3]]}}, "),
                                   "x.json");
  EXPECT_DOUBLE_EQ(own.times("gemm", c, "fast")->seconds(4e11), 1);
  EXPECT_FALSE(own.times("gemm", c, "cpu").has_value()) << "runs only on the models that are listed";
  EXPECT_DOUBLE_EQ(own.times("gemm", detail::Precision::Single, "cpu")->seconds(1e10), 1);
  EXPECT_DOUBLE_EQ(own.times("potrf", detail::Precision::ComplexDouble, "cpu")->seconds(1e6), 1e-3);
  EXPECT_EQ(Platform::parse(own.to_json(), "again").to_json(), own.to_json());

  auto const speeds =
      Platform::parse(with("\"fast\": {\"s\": 1e12}", "\"fast\": {\"s\": 1e12, \"c\": 2e12, \"z\": 5e11}"), "x.json");
  EXPECT_DOUBLE_EQ(speeds.times("gemm", c, "fast")->seconds(2e12), 1);
  EXPECT_DOUBLE_EQ(speeds.times("gemm", detail::Precision::ComplexDouble, "fast")->seconds(5e11), 1);
  EXPECT_EQ(Platform::parse(speeds.to_json(), "again").to_json(), speeds.to_json());
  EXPECT_THAT(refusal(with("\"d\": 5e8", "\"h\": 5e8")),
              HasSubstr("'speeds.cpu.h' is 500000000.0; the field is unknown; the known ones are: s, d, c, z"));
}

TEST(Platform, HermitianUpdatesTakeTheTimesOfSymmetricOnes) {
  auto const bunsen = Platform::find("bunsen");
  EXPECT_EQ(bunsen.kernel_time("herk", 1e9, detail::Precision::ComplexDouble, "cpu"),
            bunsen.kernel_time("syrk", 1e9, detail::Precision::Double, "cpu"));
  EXPECT_FALSE(bunsen.times("herk", detail::Precision::ComplexDouble, "gpu").has_value());
  EXPECT_FALSE(bunsen.names("herk", detail::Precision::Double));
}

TEST(Platform, MayHaveANetwork) {
  EXPECT_FALSE(Platform::parse(small, "x.json").network.has_value());
  auto const with_network = [](std::string const& network) {
    return with("\"depth\": 3", "\"depth\": 3, \"network\": " + network);
  };
  auto const platform = Platform::parse(with_network(R"({"bandwidth": 5e9, "latency": 1.5e-6})"), "x.json");
  ASSERT_TRUE(platform.network.has_value());
  EXPECT_EQ(platform.network->bandwidth, 5e9);
  EXPECT_EQ(platform.network->latency, Duration(1500));
  EXPECT_EQ(Platform::parse(platform.to_json(), "again").to_json(), platform.to_json());
  EXPECT_EQ(Platform::parse(with_network(R"({"bandwidth": 1})"), "x.json").network->latency, Duration(0));

  EXPECT_EQ(refusal(with_network("{}")), "platform file 'x.json': field 'network.bandwidth' is missing");
  EXPECT_EQ(refusal(with_network("5e9")),
            "platform file 'x.json': field 'network' is 5000000000.0; an object is expected");
  EXPECT_EQ(refusal(with_network(R"({"bandwidth": 2e18})")),
            "platform file 'x.json': field 'network.bandwidth' is 2e+18; it must be from 1.0 to 1e+18");
  EXPECT_THAT(refusal(with_network(R"({"bandwidth": 0.5})")), HasSubstr("it must be from 1.0 to 1e+18"));
  EXPECT_EQ(refusal(with_network(R"({"bandwidth": 5e9, "latency": 1001})")),
            "platform file 'x.json': field 'network.latency' is 1001; it must be from 0.0 to 1000.0");
  EXPECT_THAT(refusal(with_network(R"({"bandwidth": 5e9, "latency": -1e-6})")), HasSubstr("from 0.0 to 1000.0"));
  EXPECT_THAT(refusal(with_network(R"({"bandwidth": 5e9, "width": 2})")),
              HasSubstr("'network.width' is 2; the field is unknown; the known ones are: bandwidth, latency"));
}

TEST(Platform, NamesFileFieldAndValueOfWhatIsWrong) {
  EXPECT_EQ(refusal(with("\"bandwidth\": 8e9, ", "")), "platform file 'x.json': field 'links[2].bandwidth' is missing");
  EXPECT_EQ(refusal(with("\"bandwidth\": 8e9", "\"bandwidth\": -8")),
            "platform file 'x.json': field 'links[2].bandwidth' is -8; it must be from 1.0 to 1e+18");
  EXPECT_EQ(refusal(with("\"latency\": 1e-5", "\"latency\": -1")),
            "platform file 'x.json': field 'links[0].latency' is -1; it must be from 0.0 to 1000.0");
  EXPECT_EQ(refusal(with("\"capacity\": 1000", "\"capacity\": \"much\"")),
            "platform file 'x.json': field 'nodes[1].capacity' is \"much\"; a number is expected");
  EXPECT_EQ(refusal(with("\"jitter\": 0.1", "\"shared_devices\": 1")),
            "platform file 'x.json': field 'shared_devices' is 1; true or false is expected");
  EXPECT_THAT(refusal(with("\"width\": 2", "\"width\": 1.5")), HasSubstr("'links[1].width' is 1.5; a whole number"));
  EXPECT_EQ(refusal(with("[\"peers\"]", "[\"ring\"]")),
            "platform file 'x.json': field 'links[2].buses[0]' is \"ring\"; there is no such bus");
  EXPECT_THAT(refusal(with("\"to\": \"gpu0\"", "\"to\": \"gpu7\"")), HasSubstr("'links[0].to' is \"gpu7\""));
  EXPECT_THAT(refusal(with("\"to\": \"gpu0\"", "\"to\": \"host\"")), HasSubstr("two different nodes"));
  EXPECT_EQ(refusal(with("\"kind\": \"cpu\"", "\"kind\": \"tpu\"")),
            "platform file 'x.json': field 'workers[0].kind' is \"tpu\"; the known ones are: cpu, device");
  EXPECT_THAT(refusal(with("\"width\"", "\"widht\"")),
              HasSubstr("'links[1].widht' is 2; the field is unknown; the known ones are: from, to,"));
  EXPECT_THAT(refusal(with("\"name\": \"gpu1\", \"kind\"", "\"name\": \"gpu0\", \"kind\"")),
              HasSubstr("'nodes[2].name' is \"gpu0\"; the name is used already"));
  EXPECT_THAT(refusal(with("[1e8, 5e-4]", "[1e5, 5e-4]")), HasSubstr("kernels.s.gemm.fast[1]' is [1"));
  EXPECT_THAT(refusal(with("[1e8, 5e-4]", "[1e8]")), HasSubstr("a pair of flops and seconds is expected"));
  EXPECT_THAT(refusal(with("[[1e6, 2e-4]]", "[]")), HasSubstr("at least one pair"));
  EXPECT_THAT(refusal(with("\"slow\": 1e11", "\"slow\": 0")), HasSubstr("'kernels.s.gemm.slow' is 0"));
  EXPECT_THAT(refusal(with("\"model\": \"slow\"", "\"model\": \"odd\"")), HasSubstr("the model 'odd' has neither"));
  EXPECT_THAT(refusal(with("\"jitter\": 0.1", "\"jitter\": 1")),
              HasSubstr("'jitter' is 1; it must be from 0 to below 1"));
  EXPECT_THAT(refusal(with("\"source\": \"invented\",", "")), HasSubstr("field 'source' is missing"));
  EXPECT_THAT(refusal(with("\"device_issue\": 2", "\"device_issue\": 0")),
              HasSubstr("'device_issue' is 0; a whole number from 1 to 1048576"));
  EXPECT_THAT(refusal("[]"), HasSubstr("an object is expected"));
  EXPECT_THAT(refusal("{"), HasSubstr("platform file 'x.json' is not JSON"));
}

TEST(Platform, RefusesNumbersWhoseTimesCannotBeCounted) {
  EXPECT_EQ(refusal(with("\"latency\": 1e-5", "\"latency\": 1e10")),
            "platform file 'x.json': field 'links[0].latency' is 10000000000.0; it must be from 0.0 to 1000.0");
  EXPECT_EQ(refusal(with("\"bandwidth\": 8e9", "\"bandwidth\": 1e-30")),
            "platform file 'x.json': field 'links[2].bandwidth' is 1e-30; it must be from 1.0 to 1e+18");
  EXPECT_THAT(refusal(with("\"bandwidth\": 6e9", "\"bandwidth\": 1e300")), HasSubstr("it must be from 1.0 to 1e+18"));
  EXPECT_THAT(refusal(with("\"peak\": 2e10", "\"peak\": 1e-3")), HasSubstr("it must be from 1.0 to 1e+24"));
  EXPECT_THAT(refusal(with("\"slow\": 1e11", "\"slow\": 1e25")), HasSubstr("it must be from 1.0 to 1e+24"));
  EXPECT_THAT(refusal(with("[1e8, 5e-4]", "[1e31, 5e-4]")), HasSubstr("it must be from 1.0 to 1e+30"));
  EXPECT_THAT(refusal(with("[1e8, 5e-4]", "[1e8, 1e10]")), HasSubstr("it must be from 1e-12 to 1000000000.0"));
  EXPECT_THAT(refusal(with("\"d\": 5e8", "\"d\": 1e999")), HasSubstr("is not JSON: "));
}

TEST(Platform, RefusesWhatIsNestedTooDeepToBeWalked) {
  auto const message = "platform file 'x.json': its brackets nest deeper than 64 levels";
  EXPECT_EQ(refusal(std::string(300000, '[')), message);
  EXPECT_EQ(refusal(with("\"invented\"", std::string(300000, '[') + std::string(300000, ']'))), message);
  EXPECT_THAT(refusal(with("\"invented\"", std::string(60, '[') + std::string(60, ']'))),
              HasSubstr("a non-empty string is expected"));
}

TEST(Platform, RefusesMoreThanASearchByNameBears) {
  std::string many;
  for (int n = 0; n < 300; ++n) many += ", {\"name\": \"n" + std::to_string(n) + "\", \"kind\": \"host\"}";
  EXPECT_THAT(refusal(with("\"capacity\": 2000}", "\"capacity\": 2000}" + many)), HasSubstr("at most 256 entries"));
  std::string workers;
  for (int n = 0; n < 5; ++n) {
    workers += "{\"name\": \"w" + std::to_string(n) + "\", \"node\": \"host\", \"kind\": \"cpu\", \"count\": 4096},";
  }
  EXPECT_THAT(refusal(with("\"workers\": [", "\"workers\": [" + workers)),
              HasSubstr("a machine has at most 16384 workers"));
}

TEST(Platform, RefusesNamesThatATerminalWouldObey) {
  EXPECT_THAT(refusal(with("\"small\"", "\"\\u001b[31m\"")),
              HasSubstr("a string without control characters is expected"));
}

TEST(Platform, RefusesNodesThatCannotReachEachOther) {
  std::string text = small;
  auto const begin = text.find(" \"links\"");
  auto const end = text.find(" \"workers\"");
  text.erase(begin, end - begin);
  EXPECT_THAT(refusal(text), HasSubstr("platform file 'x.json': there is no route from memory node 'host' to 'gpu0'"));
}

TEST(Platform, RefusesAFileThatIsNotThere) {
  EXPECT_THROW(static_cast<void>(Platform::read("/nowhere/x.json")), IoError);
  EXPECT_THROW(static_cast<void>(Platform::read("/")), IoError);
  try {
    static_cast<void>(Platform::find("nonesuch"));
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_THAT(error.what(), HasSubstr("no platform 'nonesuch'; the known ones are: a100x1, a100x4, attila,"));
  }
}

TEST(Platform, SelectsWorkersAndDropsWhatTheyDoNotNeed) {
  auto platform = Platform::parse(small, "x.json");
  platform.select(1, 0);
  auto const& machine = platform.machine;
  ASSERT_EQ(machine.workers.size(), 1U);
  EXPECT_EQ(machine.workers[0].name, "gpu0");
  ASSERT_EQ(machine.nodes.size(), 2U);
  EXPECT_EQ(machine.links.size(), 2U);
  ASSERT_EQ(machine.buses.size(), 1U);
  EXPECT_EQ(machine.buses[0].name, "socket");
  EXPECT_FALSE(platform.home_in_place());
  EXPECT_NO_THROW(detail::Topology{machine});
}

TEST(Platform, KeepsAllOfAKindThatIsNotSelected) {
  auto platform = Platform::parse(small, "x.json");
  platform.select({}, 2);
  EXPECT_EQ(platform.workers(detail::WorkerKind::Cpu), 2U);
  EXPECT_EQ(platform.workers(detail::WorkerKind::Device), 2U);
  platform.select(0, {});
  EXPECT_EQ(platform.machine.nodes.size(), 1U);
  EXPECT_TRUE(platform.machine.links.empty());
}

TEST(Platform, RefusesToSelectWhatIsNotThere) {
  auto platform = Platform::parse(small, "x.json");
  try {
    platform.select(3, {});
    FAIL();
  } catch (InvalidArgument const& error) {
    EXPECT_STREQ(error.what(), "platform 'small' has 2 device workers; 3 were requested");
  }
  EXPECT_THROW(platform.select(0, 0), InvalidArgument);
  EXPECT_EQ(platform.machine.workers.size(), 5U);
}

TEST(Platform, DividesADeviceAmongWorkers) {
  auto platform = Platform::parse(with("\"model\": \"fast\"", "\"model\": \"fast\", \"peak\": 6e12"), "x.json");
  EXPECT_FALSE(platform.shared_devices);
  platform.share_devices(1);
  EXPECT_FALSE(platform.shared_devices);
  platform.share_devices(3);
  EXPECT_TRUE(platform.shared_devices);
  EXPECT_EQ(platform.workers(detail::WorkerKind::Cpu), 3U);
  ASSERT_EQ(platform.workers(detail::WorkerKind::Device), 6U);
  auto const& workers = platform.machine.workers;
  EXPECT_EQ(workers[3].name, "gpu0 0");
  EXPECT_EQ(workers[5].name, "gpu0 2");
  EXPECT_EQ(workers[5].node, NodeId(1));
  EXPECT_EQ(workers[5].peak_flops, 2e12);
  EXPECT_EQ(workers[8].name, "gpu1 2");
  auto const again = Platform::parse(platform.to_json(), "again");
  EXPECT_TRUE(again.shared_devices);
  EXPECT_EQ(again.to_json(), platform.to_json());
}

TEST(Platform, RefusesToDivideDevicesTwiceOrInNoneOrTooMany) {
  auto platform = Platform::parse(small, "x.json");
  EXPECT_EQ(
      test::message_of([&] { platform.share_devices(0); }),
      "platform 'small' would have 3 workers with 0 per device; a device has at least 1, a machine at most 16384");
  EXPECT_THROW(platform.share_devices(8191), InvalidArgument);
  platform.share_devices(2);
  EXPECT_EQ(test::message_of([&] { platform.share_devices(2); }),
            "the workers of platform 'small' share their devices already");
  platform.share_devices(1);  // as the file says
  EXPECT_EQ(platform.workers(detail::WorkerKind::Device), 4U);
}

TEST(Platform, AKernelUsesThePartOfADeviceThatItsSpeedIsOfTheHighest) {
  auto const platform =
      Platform::parse(with("[[1e6, 1e-5], [1e8, 5e-4]]", "[[1e6, 4e-5], [1e8, 5e-4], [1e9, 1e-2]]"), "x.json");
  auto const gemm = *platform.times("gemm", detail::Precision::Single, "fast");
  EXPECT_DOUBLE_EQ(gemm.share(1e8), 1);
  EXPECT_DOUBLE_EQ(gemm.share(1e6), 0.125);
  EXPECT_DOUBLE_EQ(gemm.share(1e5), 0.125);
  EXPECT_DOUBLE_EQ(gemm.share(1e9), 0.5);
  EXPECT_EQ(gemm.share(0), 0);
  EXPECT_EQ(platform.times("gemm", detail::Precision::Single, "slow")->share(1e6), 1);
}

TEST(Platform, SelectionKeepsTheNodesOnTheWayToTheHome) {
  auto platform = Platform::find("xeon-disk");
  platform.select({}, 1);
  EXPECT_EQ(platform.machine.nodes.size(), 2U);
  EXPECT_EQ(platform.machine[platform.home_node()].kind, detail::NodeKind::Disk);
}

TEST(Platform, LimitsTheMemoriesUnderPressure) {
  auto gpus = Platform::parse(small, "x.json");
  EXPECT_THAT(gpus.limited_nodes(), ElementsAre(NodeId(1), NodeId(2)));
  gpus.limit(77);
  EXPECT_EQ(gpus.machine.nodes[0].capacity, unbounded);
  EXPECT_EQ(gpus.machine.nodes[1].capacity, 77U);
  EXPECT_EQ(gpus.machine.nodes[2].capacity, 77U);
  EXPECT_THROW(gpus.limit(0), InvalidArgument);

  auto disk = Platform::find("xeon-disk");
  disk.limit(88);
  EXPECT_EQ(disk.machine.nodes[0].capacity, unbounded);
  EXPECT_EQ(disk.machine.nodes[1].capacity, 88U);

  gpus.select(0, {});
  EXPECT_THROW(gpus.limit(77), InvalidArgument);
}

TEST(Platform, WritesWhatItReadsAgain) {
  auto const path = std::filesystem::temp_directory_path() / ("granary_platform_" + std::to_string(getpid()) + ".json");
  auto const platform = Platform::parse(small, "x.json");
  platform.write(path);
  EXPECT_EQ(Platform::read(path).to_json(), platform.to_json());
  EXPECT_THROW(platform.write(path), IoError);
  EXPECT_NO_THROW(platform.write(path, true));
  std::filesystem::remove(path);
}

TEST(Platform, AFailedWriteLeavesTheOldFile) {
  auto const path = std::filesystem::temp_directory_path() / ("granary_kept_" + std::to_string(getpid()) + ".json");
  auto const platform = Platform::parse(small, "x.json");
  platform.write(path);
  {
    test::FileSizeLimit const limit(100);
    EXPECT_THROW(platform.write(path, true), IoError);
  }
  EXPECT_EQ(Platform::read(path).to_json(), platform.to_json());
  std::filesystem::remove(path);
}

TEST(Platform, TheExampleOfTheDocumentsIsOne) {
  std::ifstream file(std::string(GRANARY_SOURCE_DIR) + "/docs/platforms.md");
  std::string const page{std::istreambuf_iterator<char>(file), {}};
  auto const begin = page.find("```json\n") + 8;
  auto const platform = Platform::parse(page.substr(begin, page.find("```", begin) - begin), "docs/platforms.md");
  EXPECT_EQ(platform.machine.workers.size(), 9U);
  EXPECT_FALSE(platform.times("potrf", detail::Precision::Single, "device").has_value());
  EXPECT_TRUE(platform.times("gemm", detail::Precision::Single, "device").has_value());
}

TEST(ShippedPlatforms, AreThoseOfTheDocuments) {
  EXPECT_THAT(Platform::known_names(),
              IsSupersetOf({"a100x1",  "a100x4",     "attila",    "bunsen", "gh200",  "h200x1", "h200x8",
                            "idgraf",  "k40x4",      "keeneland", "mi300a", "mirage", "p100",   "p100x2",
                            "sirocco", "static2016", "tera100",   "v100x1", "v100x2", "v100x4", "xeon-disk"}));
}

TEST(ShippedPlatforms, LoadAndReachAndRunEveryLinearAlgebraCodelet) {
  for (auto const& name : Platform::known_names()) {
    SCOPED_TRACE(name);
    auto const platform = Platform::find(name);  // checks that every node reaches every other
    EXPECT_EQ(platform.name, name);
    EXPECT_GT(platform.source.size(), 40U);
    EXPECT_NO_THROW(detail::Topology{platform.machine});
    EXPECT_EQ(Platform::parse(platform.to_json(), "again").to_json(), platform.to_json());
    bool const of_hierarchical_paper =
        name == "bunsen" || name == "keeneland";  // in double precision, on GPUs gemm only
    for (std::string const codelet : {"potrf", "trsm", "syrk", "gemm", "getrf", "trsm_ll", "trsm_ru"}) {
      for (auto const& worker : platform.machine.workers) {
        for (auto const precision : {detail::Precision::Single, detail::Precision::Double}) {
          if ((name == "static2016" &&
               precision == detail::Precision::Double) ||  // the Static paper has single precision only
              (of_hierarchical_paper && (precision == detail::Precision::Single ||
                                         (worker.kind == detail::WorkerKind::Device && codelet != "gemm")))) {
            EXPECT_FALSE(platform.times(codelet, precision, Platform::model_of(worker)).has_value()) << codelet;
            continue;
          }
          EXPECT_GT(platform.kernel_time(codelet, 1e9, precision, Platform::model_of(worker)), Duration{0}) << codelet;
        }
        EXPECT_GT(worker.peak_flops, 0);
      }
    }
  }
}

TEST(ShippedPlatforms, ReproduceTheMeasurementsThatTheyCite) {
  auto const sirocco = Platform::find("sirocco");
  double const b = 960;
  EXPECT_NEAR(seconds(sirocco.kernel_time("gemm", 2 * b * b * b, detail::Precision::Single, "gpu0")), 743.452e-6, 1e-9);
  EXPECT_NEAR(seconds(sirocco.kernel_time("potrf", b * b * b / 3, detail::Precision::Single, "gpu0")), 8456.33e-6,
              1e-9);
  EXPECT_NEAR(seconds(sirocco.kernel_time("trsm", b * b * b, detail::Precision::Single, "cpu")), 17757.7e-6, 1e-9);
  EXPECT_NEAR(seconds(sirocco.kernel_time("syrk", b * b * (b + 1), detail::Precision::Single, "cpu")), 17470.1e-6,
              1e-9);
  EXPECT_NEAR(seconds(sirocco.kernel_time("getrf", 2 * b * b * b / 3, detail::Precision::Double, "gpu0")), 56758.8e-6,
              1e-9);
  EXPECT_NEAR(seconds(sirocco.kernel_time("gemm", 2 * b * b * b, detail::Precision::Double, "cpu")), 66592.4e-6, 1e-9);
  EXPECT_EQ(sirocco.workers(detail::WorkerKind::Cpu), 20U);
  ASSERT_EQ(sirocco.machine.buses.size(), 1U);
  EXPECT_NEAR(sirocco.machine.buses[0].bandwidth, 10.52e9, 1e7);
  for (auto const& link : sirocco.machine.links) EXPECT_THAT(link.buses, ElementsAre(0));

  auto const mirage = Platform::find("mirage");
  EXPECT_EQ(mirage.workers(detail::WorkerKind::Cpu), 9U);
  EXPECT_EQ(mirage.workers(detail::WorkerKind::Device), 3U);
  EXPECT_NEAR(seconds(mirage.kernel_time("potrf", b * b * b / 3, detail::Precision::Single, "gpu1")), 5557.01e-6, 1e-9);
}

// Table I of the Static paper; core times are those of the same machine in StarPU.
TEST(ShippedPlatforms, TheNodeOfTheStaticPaperHasItsAccelerationsAndNoTransfers) {
  auto const platform = Platform::find("static2016");
  auto const mirage = Platform::find("mirage");
  EXPECT_EQ(platform.workers(detail::WorkerKind::Cpu), 9U);
  EXPECT_EQ(platform.workers(detail::WorkerKind::Device), 3U);
  EXPECT_EQ(platform.machine.nodes.size(), 1U);
  EXPECT_EQ(platform.depth, 0U);
  double const b = 960;
  std::map<std::string, std::pair<double, double>> const table{{"potrf", {b * b * b / 3, 2.3}},
                                                               {"trsm", {b * b * b, 11}},
                                                               {"syrk", {b * b * (b + 1), 26}},
                                                               {"gemm", {2 * b * b * b, 29}}};
  for (auto const& [codelet, expected] : table) {
    auto const on = [&](Platform const& p, char const* model) {
      return seconds(p.kernel_time(codelet, expected.first, detail::Precision::Single, model));
    };
    EXPECT_EQ(on(platform, "cpu"), on(mirage, "cpu")) << codelet;
    EXPECT_NEAR(on(platform, "cpu") / on(platform, "gpu"), expected.second, 1e-5) << codelet;
  }
}

TEST(ShippedPlatforms, V100NodesShareTwoSwitches) {
  auto const platform = Platform::find("v100x4");
  EXPECT_EQ(platform.machine.nodes[1].capacity, 32000000000U);
  ASSERT_EQ(platform.machine.buses.size(), 4U);
  std::vector<int> crossed(4, 0);
  for (auto const& link : platform.machine.links) {
    for (auto const bus : link.buses) ++crossed[bus];
  }
  EXPECT_THAT(crossed, ElementsAre(2, 2, 2, 2));
}

// What the two nodes of the LAHeteroprio paper must have in common with their sources.
double rate(Platform const& platform, char const* codelet, double flops, detail::Precision precision,
            char const* model) {
  return flops / seconds(platform.kernel_time(codelet, flops, precision, model));
}

double cube(double n) { return n * n * n; }

TEST(LaheteroprioPlatforms, ReachTheRatesThatTheySay) {
  auto const k40 = Platform::find("k40x4");
  auto const p100 = Platform::find("p100x2");
  auto const gemm = [](Platform const& platform, double n, detail::Precision precision, char const* model) {
    return rate(platform, "gemm", 2 * cube(n), precision, model) / 1e9;
  };
  EXPECT_NEAR(gemm(k40, 1440, detail::Precision::Double, "gpu"), 1053,
              1);  // of 1430: StarPU's measurements, mean of four
  EXPECT_NEAR(gemm(k40, 960, detail::Precision::Single, "gpu"), 2361, 1);
  EXPECT_NEAR(gemm(k40, 384, detail::Precision::Double, "gpu"), 746, 40);  // cuBLAS 7.0, though at boost clock
  EXPECT_NEAR(gemm(k40, 960, detail::Precision::Double, "cpu"), 26.6, 0.1);
  EXPECT_NEAR(gemm(p100, 1024, detail::Precision::Single, "gpu"), 5990, 1);
  EXPECT_NEAR(gemm(p100, 4096, detail::Precision::Double, "gpu"), 0.93 * 4700, 20);
  EXPECT_NEAR(gemm(p100, 960, detail::Precision::Double, "cpu"), 26.6 * 2.1 / 2.5, 0.1);
}

TEST(LaheteroprioPlatforms, SmallKernelsDoNotFillAGpuAndLargerOnesOfFactorizationsComeNearerToGemm) {
  auto const k40 = Platform::find("k40x4");
  auto const p100 = Platform::find("p100x2");
  auto const block = 2 * cube(384);
  EXPECT_NEAR(k40.times("ldlt_update", detail::Precision::Double, "gpu")->share(block), 0.7, 0.05);
  EXPECT_NEAR(p100.times("ldlt_update", detail::Precision::Double, "gpu")->share(block), 0.22, 0.05);
  struct Case {
    char const* codelet;
    double flops;   // of order 1
    double at_960;  // of gemm, by the table of clBLAS and MAGMA
    double at_1920;
  };
  for (auto const& [codelet, flops, at_960, at_1920] :
       {Case{"trsm", 1, 0.33, 0.69}, {"potrf", 1.0 / 3, 0.04, 0.15}, {"getrf", 2.0 / 3, 0.05, 0.14}}) {
    auto const fraction = [&](double n) {
      return rate(k40, codelet, flops * cube(n), detail::Precision::Double, "gpu") /
             rate(k40, "gemm", 2 * cube(n), detail::Precision::Double, "gpu");
    };
    EXPECT_NEAR(fraction(960) / at_960, 1, 0.4) << codelet;
    EXPECT_NEAR(fraction(1920) / at_1920, 1, 0.4) << codelet;
    EXPECT_GT(fraction(1920), 1.5 * fraction(960)) << codelet;
  }
}

TEST(LaheteroprioPlatforms, RunOnGpusWhatThePaperRunsThere) {
  for (auto const* name : {"k40x4", "p100x2"}) {
    auto const platform = Platform::find(name);
    for (auto const* codelet :
         {"ldlt_assemble", "ldlt_factor", "ldlt_solve", "qr_init", "qr_tile_assemble", "qr_geqrt"}) {
      EXPECT_FALSE(platform.times(codelet, detail::Precision::Double, "gpu").has_value()) << codelet;
      EXPECT_TRUE(platform.times(codelet, detail::Precision::Double, "cpu").has_value()) << codelet;
    }
    for (auto const* codelet : {"ldlt_update", "qr_assemble", "qr_panel", "qr_update", "qr_gemqrt", "qr_tpqrt",
                                "qr_tpmqrt", "stencil_update"}) {
      EXPECT_TRUE(platform.times(codelet, detail::Precision::Double, "gpu").has_value()) << codelet;
    }
    // A slice of 1024 x 1024 x 16 cells has as many as StarPU's block of 256^3.
    auto const slice = 10 * cube(256);
    auto const core = rate(platform, "stencil_update", slice, detail::Precision::Double, "cpu");
    auto const gpu = rate(platform, "stencil_update", slice, detail::Precision::Double, "gpu");
    bool const k40 = platform.name == "k40x4";
    EXPECT_NEAR(gpu / core, k40 ? 16.4 : 16.4 * 732 / 288 * 2.5 / 2.1, 0.1);
    EXPECT_EQ(platform.workers(detail::WorkerKind::Cpu), 24U);
    EXPECT_EQ(platform.workers(detail::WorkerKind::Device), k40 ? 4U : 2U);
  }
}

TEST(LaheteroprioPlatforms, TheDirectionsOfALinkAreSeparateOnlyWithoutACommonBus) {
  auto const k40 = Platform::find("k40x4").machine;
  ASSERT_EQ(k40.buses.size(), 1U);
  EXPECT_NEAR(k40.buses[0].bandwidth, 10.52e9, 0.01e9);
  for (auto const& link : k40.links) EXPECT_THAT(link.buses, ElementsAre(0));
  auto const p100 = Platform::find("p100x2").machine;
  ASSERT_EQ(p100.links.size(), 6U);
  for (auto const& link : p100.links) {
    bool const peers = link.from != NodeId(0) && link.to != NodeId(0);
    EXPECT_EQ(link.buses.size(), peers ? 2U : 1U);
    for (auto const& back : p100.links) {
      if (back.from != link.to || back.to != link.from) continue;
      for (auto const bus : link.buses) EXPECT_EQ(std::ranges::count(back.buses, bus), 0);
    }
  }
}

}  // namespace
}  // namespace granary

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The programs on emulated devices.
#include "apps/cli_test.hpp"

namespace granary::testing {
namespace {

using ::testing::HasSubstr;
using Arguments = std::vector<std::string>;

Arguments operator+(Arguments left, Arguments const& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

class DevicesCli : public CliTest {
 protected:
  explicit DevicesCli(std::string name) : CliTest(std::move(name)) {}

  // Runs with --check; every limit was kept, and every device was used.
  nlohmann::json expect_right(Arguments const& arguments, std::string const& workers) const {
    auto const result =
        run(arguments + Arguments{"--workers", workers, "--check", "--tile", "50", "--json", "out.json"});
    EXPECT_EQ(result.status, 0) << arguments[0] << ": " << result.err;
    if (result.status != 0) return {};
    auto json = read_json("out.json");
    EXPECT_LT(json.at("residual"), 1);
    EXPECT_LE(json.at("memory_peak_bytes"), json.at("memory_limit_bytes"));
    std::uint64_t tasks = 0;
    for (auto const& device : json.at("devices")) {
      EXPECT_LE(device.at("memory_peak_bytes"), device.at("memory_limit_bytes"));
      EXPECT_THAT(result.out, HasSubstr(device.at("name").get<std::string>()));
      tasks += device.at("tasks").get<std::uint64_t>();
    }
    if (workers == "0") {
      EXPECT_EQ(tasks, json.at("tasks"));
      EXPECT_GT(json.at("bytes_host_to_devices"), 0);
      EXPECT_GT(json.at("bytes_devices_to_host"), 0);
      EXPECT_GT(json.at("bytes_device_to_device"), 0);
    }
    return json;
  }
};

class CholeskyDevicesCli : public DevicesCli {
 protected:
  CholeskyDevicesCli() : DevicesCli("granary-cholesky") {}
};
class LuDevicesCli : public DevicesCli {
 protected:
  LuDevicesCli() : DevicesCli("granary-lu") {}
};
class SolveDevicesCli : public DevicesCli {
 protected:
  SolveDevicesCli() : DevicesCli("granary-solve") {}
};

TEST_F(CholeskyDevicesCli, FactorsOnDevicesAloneAndWithTheHost) {
  for (auto const* workers : {"0", "2"}) {
    auto const json = expect_right({"random:800", "--devices", "host:2", "--device-memory", "600KiB"}, workers);
    EXPECT_EQ(json.at("devices").size(), 2U);
    EXPECT_EQ(json.at("devices")[0].at("memory_limit_bytes"), 600 * 1024);
    EXPECT_EQ(json.at("workers"), std::stoi(workers));
  }
}

TEST_F(CholeskyDevicesCli, FactorsAFileThroughThreeLevels) {
  ASSERT_EQ(run({"random:800", "L.h5", "--tile", "50", "--devices", "none"}).status, 0);
  for (auto const* workers : {"0", "2"}) {
    auto const json = expect_right({"L.h5", "LL.h5", "--devices", "host:4", "--device-memory", "300KiB", "--memory",
                                    "600KiB", "--device-lanes", "2"},
                                   workers);
    EXPECT_EQ(json.at("device_lanes"), 2);
    EXPECT_GT(json.at("bytes_read"), 0);
  }
}

TEST_F(CholeskyDevicesCli, TheLeastMemoryThatIsNamedIsEnough) {
  Arguments const arguments{"random:300", "--tile", "50", "--check", "--devices", "host:1", "--workers", "0"};
  // 3 tiles of 50 x 50, each rounded up to 256 bytes; 20224 = 79 * 256.
  EXPECT_EQ(run(arguments + Arguments{"--device-memory", "60672"}).status, 0);
  expect_refused(arguments + Arguments{"--device-memory", "60671"}, 2, "(--device-memory 60672)");
  // A tile, rounded up to 4096 bytes, in transfer to the device and one in transfer back.
  EXPECT_EQ(run(arguments + Arguments{"--memory", "40960"}).status, 0);
  expect_refused(arguments + Arguments{"--memory", "40959"}, 2, "(--memory 40960)");
}

TEST_F(CholeskyDevicesCli, LinksAreHeldToTheirBandwidth) {
  auto const json = expect_right(
      {"random:400", "--devices", "host:2", "--device-memory", "400KiB", "--link-bandwidth", "20MB/s"}, "0");
  // At least 0.64 MB must reach each device, which takes this long at the link's bandwidth.
  EXPECT_GE(json.at("seconds"), json.at("bytes_host_to_devices").get<double>() / 2 / 20e6);
}

TEST_F(CholeskyDevicesCli, RefusesBadDevices) {
  auto const refuse = [&](Arguments const& arguments, std::string const& part) {
    expect_refused(Arguments{"random:100"} + arguments, 2, part);
  };
  for (auto const* bad : {"host:0", "host:x", "1,,2", "host:", "x"})
    refuse({"--devices", bad}, "malformed devices '" + std::string(bad) + "'");
  refuse({"--devices", "0,0"}, "device 0 is named twice");
  refuse({"--devices", "host:100"}, "100 emulated devices are more than 62");
  refuse({"--devices", "host:1", "--device-memory", "0"}, "above zero");
  refuse({"--devices", "host:1", "--device-memory", "lots"}, "lots");
  refuse({"--devices", "host:2", "--device-memory", "1000T"}, "more than the");
  refuse({"--devices", "host:1", "--device-lanes", "0"}, "--device-lanes");
  refuse({"--devices", "host:1", "--link-bandwidth", "0"}, "malformed rate");
  refuse({"--devices", "none", "--link-bandwidth", "1GB/s"}, "emulated devices");
  refuse({"--devices", "none", "--device-memory", "1GB"}, "there are no devices");
  refuse({"--devices", "none", "--device-lanes", "2"}, "there are no devices");
  refuse({"--devices", "none", "--workers", "0"}, "0 workers and no devices");
}

TEST_F(CholeskyDevicesCli, ASignalLeavesNothingBehind) {
  expect_signal_leaves_nothing(
      {"random:3000", "L.h5", "--tile", "128", "--memory", "2MiB", "--devices", "host:2", "--device-memory", "1MiB"},
      "L.h5");
}

TEST_F(LuDevicesCli, FactorsWithAndWithoutPivoting) {
  for (auto const* workers : {"0", "2"}) {
    expect_right({"general:500x400", "LU.h5", "--devices", "host:2", "--device-memory", "500KiB"}, workers);
    expect_right({"general:500", "--devices", "host:2", "--device-memory", "500KiB", "--memory", "600KiB"}, workers);
    expect_right({"random:500", "--no-pivoting", "--devices", "host:2", "--device-memory", "300KiB"}, workers);
  }
}

TEST_F(SolveDevicesCli, SolvesByEachMethod) {
  for (auto const* workers : {"0", "2"}) {
    Arguments const devices{"--devices", "host:2", "--device-memory", "500KiB"};
    expect_right(Arguments{"general:400", "general:400x70", "X.h5"} + devices, workers);
    expect_right(Arguments{"random:400", "general:400x70", "--spd", "--memory", "600KiB"} + devices, workers);
    expect_right(Arguments{"general:400", "general:400x70", "--mixed"} + devices, workers);
  }
}

}  // namespace
}  // namespace granary::testing

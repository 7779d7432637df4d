// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/control_groups.hpp>

#include <granary/detail/core/model/machine.hpp>

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace granary {

using namespace detail;

namespace {

namespace fs = std::filesystem;

class ControlGroups : public testing::Test {
 protected:
  void SetUp() override {
    m_root = fs::path(testing::TempDir()) / ("granary-control-groups-" + std::to_string(::getpid()));
    fs::remove_all(m_root);
    fs::create_directories(m_root);
  }
  void TearDown() override { fs::remove_all(m_root); }
  void write(fs::path const& file, std::string const& text) {
    fs::create_directories((m_root / file).parent_path());
    std::ofstream(m_root / file) << text;
  }
  [[nodiscard]] std::optional<double> quota() const { return control_group_cpu_quota(m_root / "membership", m_root); }
  [[nodiscard]] Bytes limit() const { return control_group_memory_limit(m_root / "membership", m_root); }

  fs::path m_root;
};

TEST_F(ControlGroups, WithoutALimitThereIsNone) {
  EXPECT_EQ(limit(), unbounded);
  write("membership", "0::/a/b\n");
  write("a/b/memory.max", "max\n");
  EXPECT_EQ(limit(), unbounded);
}

TEST_F(ControlGroups, TheLeastOfVersionTwoCountsAlongThePath) {
  write("membership", "0::/a/b\n");
  write("a/memory.max", "1000\n");
  write("a/b/memory.max", "4000\n");
  EXPECT_EQ(limit(), 1000U);
}

TEST_F(ControlGroups, VersionOneCountsToo) {
  write("membership", "5:cpu,cpuacct:/x\n4:memory:/slurm/job\n0::/\n");
  write("memory/slurm/job/memory.limit_in_bytes", "123456\n");
  EXPECT_EQ(limit(), 123456U);
}

TEST_F(ControlGroups, AGroupThatIsNotMountedFallsBackToTheRoot) {
  write("membership", "4:memory:/docker/abc\n");
  write("memory/memory.limit_in_bytes", "777\n");
  EXPECT_EQ(limit(), 777U);
}

TEST_F(ControlGroups, MalformedLinesAreIgnored) {
  write("membership", "nonsense\n\n4:memory\n");
  EXPECT_EQ(limit(), unbounded);
}

TEST_F(ControlGroups, WithoutAQuotaThereIsNone) {
  EXPECT_EQ(quota(), std::nullopt);
  write("membership", "3:cpu,cpuacct:/job\n0::/a/b\n");
  write("cpu.max", "max 100000\n");
  write("a/b/cpu.max", "max 100000\n");
  write("cpu,cpuacct/job/cpu.cfs_quota_us", "-1\n");
  write("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  EXPECT_EQ(quota(), std::nullopt);
}

TEST_F(ControlGroups, TheLeastQuotaOfVersionTwoCountsAlongThePath) {
  write("membership", "0::/a/b\n");
  write("a/cpu.max", "150000 100000\n");
  write("a/b/cpu.max", "400000 100000\n");
  EXPECT_EQ(quota(), 1.5);
}

TEST_F(ControlGroups, AContainerSeesItsOwnGroupAsTheRoot) {
  write("membership", "0::/\n");
  write("cpu.max", "20000 10000\n");
  EXPECT_EQ(quota(), 2.0);
}

TEST_F(ControlGroups, QuotasOfVersionOneCountToo) {
  for (auto const* const mount : {"cpu", "cpu,cpuacct"}) {
    SCOPED_TRACE(mount);
    fs::remove_all(m_root);
    write("membership", "5:cpu,cpuacct:/slurm/job\n4:memory:/x\n");
    write(fs::path(mount) / "slurm/job/cpu.cfs_quota_us", "50000\n");
    write(fs::path(mount) / "slurm/job/cpu.cfs_period_us", "100000\n");
    EXPECT_EQ(quota(), 0.5);
  }
}

TEST_F(ControlGroups, AQuotaWithoutAPeriodAndNonsenseAreNone) {
  write("membership", "5:cpuacct:/job\n4:cpu:/job\n0::/a\n");
  write("cpu/job/cpu.cfs_quota_us", "50000\n");
  write("cpuacct/job/cpu.cfs_quota_us", "50000\n");
  write("cpuacct/job/cpu.cfs_period_us", "100000\n");
  write("a/cpu.max", "nonsense\n");
  EXPECT_EQ(quota(), std::nullopt);
}

}  // namespace
}  // namespace granary

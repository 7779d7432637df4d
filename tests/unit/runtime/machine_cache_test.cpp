// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/backends/discover.hpp>
#include <granary/detail/core/engine/engine.hpp>
#include <granary/detail/core/planner/planner.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/runtime/setup/configure.hpp>
#include <granary/detail/runtime/setup/environment.hpp>
#include <granary/detail/runtime/setup/machine_cache.hpp>
#include <granary/granary.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <optional>

namespace granary::machine_cache_test {

using namespace detail;

namespace {

namespace fs = std::filesystem;
using Vector = Kokkos::View<double*, Kokkos::HostSpace>;

struct Add {
  static constexpr bool launches_kokkos_kernels = false;
  template <class Exec, class X>
  void operator()(Exec const&, X x) const {
    x(0) += 1;
  }
};

// Sets an environment variable, and restores it.
class Variable {
 public:
  Variable(char const* name, char const* value) : m_name(name) {
    if (auto const* const before = std::getenv(name)) m_before = before;
    set(value);
  }
  ~Variable() { set(m_before ? m_before->c_str() : nullptr); }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;

 private:
  void set(char const* value) const {
    if (value != nullptr) ::setenv(m_name, value, 1);
    if (value == nullptr) ::unsetenv(m_name);
  }
  char const* m_name;
  std::optional<std::string> m_before;
};

class MachineCacheTest : public ::testing::Test {
 protected:
  void TearDown() override { fs::remove_all(directory); }

  [[nodiscard]] RuntimeOptions options(bool measure_links = false) const {
    RuntimeOptions chosen{.scheduler = "eager", .workers = 1, .host_memory = 1_MiB, .models = directory};
    chosen.measure_links = measure_links;
    return chosen;
  }
  static void run_tasks(Runtime& runtime, int tasks = 5) {
    Vector x("x", 1);
    auto const data = runtime.data(x);
    for (int i = 0; i < tasks; ++i) runtime.submit({.name = "add", .flops = 100}, Add{}, read_write(data));
    runtime.wait();
    EXPECT_EQ(x(0), tasks);
  }
  void run_once(bool measure_links = false) const {
    Runtime runtime(options(measure_links));
    run_tasks(runtime);
  }

  fs::path directory = [] {
    auto name = (fs::temp_directory_path() / "granary-cache-XXXXXX").string();
    return fs::path(::mkdtemp(name.data()));
  }();
  fs::path file = models_file(directory, identify_machine().id());
};

TEST_F(MachineCacheTest, WhatOneRuntimeLearnsTheNextKnows) {
  run_once();
  auto const models = read_models(file);
  ASSERT_TRUE(models.has_value());
  ASSERT_EQ(models->kernels.size(), 1U);
  EXPECT_EQ(models->kernels[0].codelet, "add");
  EXPECT_EQ(models->kernels[0].variant, "8");
  EXPECT_EQ(models->kernels[0].samples, 4U);  // all but the warm-up
  EXPECT_EQ(models->host, identify_machine().host);
  EXPECT_TRUE(models->links.empty());
  run_once();
  EXPECT_EQ(read_models(file)->kernels.at(0).samples, 8U);
}

TEST_F(MachineCacheTest, LinksAreMeasuredOnce) {
  run_once(true);
  auto const first = read_models(file);
  ASSERT_TRUE(first.has_value());
  ASSERT_EQ(first->links.size(), 3U);
  for (auto const& link : first->links) EXPECT_GT(link.bytes_per_second, 0);
  ASSERT_NE(first->link("memory", "memory"), nullptr);
  update_models(file, [](MachineModels& models) {
    for (auto& link : models.links) link.bytes_per_second = 12345;
  });
  Runtime runtime(options(true));
  for (auto const& link : runtime.session().engine().topology().machine().links) {
    EXPECT_EQ(link.bandwidth, 12345);
  }
}

TEST_F(MachineCacheTest, OffKeepsNothing) {
  auto off = options(true);
  off.models = models_off;
  {
    Runtime runtime(off);
    run_tasks(runtime);
  }
  EXPECT_TRUE(fs::is_empty(directory));
}

TEST_F(MachineCacheTest, ADamagedFileIsIgnoredAndReplaced) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << "{\"format\": 1, \"kern";
  run_once();
  EXPECT_EQ(read_models(file)->kernels.size(), 1U);
}

TEST_F(MachineCacheTest, ARunNeedsNoDirectoryThatCanBeWritten) {
  std::ofstream(file.parent_path()) << "a file where a folder should be";
  EXPECT_NO_THROW(run_once(true));
  EXPECT_NO_THROW(run_once(false));
  EXPECT_FALSE(fs::exists(file));
}

TEST_F(MachineCacheTest, AJournalStartsFromTheModelsOfItsRun) {
  run_once();
  auto recorded = options();
  recorded.record_journal = true;
  Runtime runtime(recorded);
  run_tasks(runtime, 40);
  auto const& journal = runtime.session().engine().journal();
  ASSERT_NE(journal.estimator(), nullptr);
  auto const estimator = journal.estimator()->copy();
  PlannerOptions planner_options;
  planner_options.depth = runtime.options().depth;
  Planner planner(Topology(runtime.session().engine().topology().machine()), make_policies("eager", "lru"), *estimator,
                  planner_options);
  std::vector<Command> commands, taken;
  for (auto const& entry : journal.entries()) {
    planner.set_now(entry.when);
    planner.handle(entry.event);
    planner.take_commands(taken);
    commands.insert(commands.end(), taken.begin(), taken.end());
    ASSERT_EQ(commands.size(), entry.commands_end);
  }
  EXPECT_TRUE(commands == journal.commands());
  EXPECT_EQ(estimator->kernel_time(CodeletId(0), 100, WorkerKind::Cpu),
            runtime.session().engine().estimator().kernel_time(CodeletId(0), 100, WorkerKind::Cpu));
}

TEST(Config, TheDirectoryOfModelsComesFromTheEnvironment) {
  Variable const home("HOME", "/home/u");
  {
    Variable const models("GRANARY_MODELS", "/m");
    EXPECT_EQ(models_directory(), "/m");
    EXPECT_EQ(configure({.models = "/other"}).models, "/other");
  }
  Variable const models("GRANARY_MODELS", nullptr);
  {
    Variable const cache("XDG_CACHE_HOME", "/cache");
    EXPECT_EQ(models_directory(), "/cache/granary");
  }
  for (auto const* const ignored : {"", "relative"}) {
    Variable const cache("XDG_CACHE_HOME", ignored);
    EXPECT_EQ(models_directory(), "/home/u/.cache/granary");
    Variable const nowhere("HOME", nullptr);
    EXPECT_EQ(models_directory(), models_off);
  }
}

TEST(Config, MeasuringLinksCanBeTurnedOff) {
  EXPECT_TRUE(configure({}).measure_links);
  Variable const measure("GRANARY_MEASURE_LINKS", "0");
  EXPECT_FALSE(configure({}).measure_links);
}

TEST(MountPoint, IsAFolderAboveOnTheSameFileSystem) {
  auto const here = fs::temp_directory_path();
  auto const mount = mount_point(here);
  EXPECT_TRUE(here.string().starts_with(mount.string()));
  EXPECT_EQ(mount_point(mount), mount);
  EXPECT_EQ(mount_point("/proc/self"), "/proc");
  EXPECT_EQ(mount_point("/nowhere/at/all"), "/nowhere/at/all");
}

}  // namespace
}  // namespace granary::machine_cache_test

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/runtime/setup/host_plan.hpp>

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/synthetic_topology.hpp"

namespace granary {

using namespace detail;

namespace {

using test::synthetic_topology;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Cores = std::vector<unsigned>;

RuntimeOptions options_of(unsigned cores_per_worker, std::optional<unsigned> workers = std::nullopt) {
  return {.workers = workers, .cores_per_worker = cores_per_worker, .devices = "none"};
}

std::vector<Cores> bound(RuntimeOptions const& options, HostTopology const& host) {
  std::vector<Cores> cores;
  for (auto const& worker : plan_host(options, host).workers) cores.push_back(worker.cores);
  return cores;
}

std::string refusal(RuntimeOptions const& options, HostTopology const& host) {
  try {
    static_cast<void>(default_workers(options, host));
  } catch (InvalidArgument const& error) {
    return error.what();
  }
  return "";
}

TEST(HostPlan, ByDefaultWorkersFillTheDomains) {
  auto const host = synthetic_topology("numa:2 core:4 pu:1");
  EXPECT_EQ(default_workers(options_of(1), host), 8U);
  EXPECT_EQ(default_workers(options_of(2), host), 4U);
  EXPECT_EQ(default_workers(options_of(3), host), 2U) << "one core of each domain is left over";
  EXPECT_EQ(default_workers(options_of(4), host), 2U);
  EXPECT_EQ(default_workers(options_of(2), synthetic_topology("numa:2 core:4 pu:2")), 4U) << "cores, not threads";
}

TEST(HostPlan, AWorkerThatDoesNotFitIsRefused) {
  auto const host = synthetic_topology("numa:2 core:4 pu:1");
  EXPECT_THAT(refusal(options_of(5), host),
              HasSubstr("a worker of 5 cores does not fit a NUMA domain, of which the largest has 4 of the 8"));
  EXPECT_THAT(refusal(options_of(9), host), HasSubstr("a worker of 9 cores does not fit the 8"));
  auto straddling = options_of(5);
  straddling.bind_workers = false;
  EXPECT_EQ(default_workers(straddling, host), 1U) << "workers that are not bound may straddle domains";
  auto given = options_of(2);
  given.cores = {3};
  EXPECT_THAT(refusal(given, host), HasSubstr("a worker of 2 cores does not fit the 1 that"));
}

TEST(HostPlan, WorkersAreBoundToTheirCores) {
  auto const host = synthetic_topology("numa:2 core:4 pu:1");
  EXPECT_THAT(bound(options_of(2, 3), host), ElementsAre(Cores{0, 1}, Cores{2, 3}, Cores{4, 5}));
  EXPECT_THAT(bound(options_of(4, 2), host), ElementsAre(Cores{0, 1, 2, 3}, Cores{4, 5, 6, 7}));
  EXPECT_THAT(bound(options_of(1, 8), host), SizeIs(8));
  auto given = options_of(2, 2);
  given.cores = {7, 6, 1, 0};
  EXPECT_THAT(bound(given, host), ElementsAre(Cores{7, 6}, Cores{1, 0}));
}

TEST(HostPlan, MoreWorkersThanFitAreNotBound) {
  auto const host = synthetic_topology("numa:2 core:4 pu:1");
  EXPECT_THAT(bound(options_of(2, 5), host), IsEmpty());
  EXPECT_THAT(bound(options_of(1, 9), host), IsEmpty());
  auto unbound = options_of(2, 2);
  unbound.bind_workers = false;
  EXPECT_THAT(bound(unbound, host), IsEmpty());
}

TEST(HostPlan, PagesAreDealtOverTheDomainsOfTheWorkers) {
  auto const host = synthetic_topology("numa:4 core:2 pu:1");
  auto const domains = [&](RuntimeOptions const& options) { return plan_host(options, host).memory_domains; };
  EXPECT_THAT(domains(options_of(2, 4)), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(domains(options_of(2, 2)), ElementsAre(0, 1));
  EXPECT_THAT(domains(options_of(1, 2)), ElementsAre(0)) << "the workers' own domain is preferred";
  EXPECT_THAT(domains(options_of(1, 9)), ElementsAre(0, 1, 2, 3)) << "unbound workers run anywhere";
  EXPECT_THAT(domains(options_of(1, 0)), ElementsAre(0, 1, 2, 3)) << "so do the copies of a run without workers";
  auto given = options_of(2, 1);
  given.cores = {4, 5};
  EXPECT_THAT(domains(given), ElementsAre(2));
}

TEST(HostPlan, OnOneDomainTheSystemPlacesPages) {
  EXPECT_THAT(plan_host(options_of(2, 2), synthetic_topology("numa:1 core:4 pu:1")).memory_domains, IsEmpty());
  HostTopology unknown;  // of a system that hwloc does not support
  unknown.usable_cores = {0};
  auto const plan = plan_host(options_of(1, 1), unknown);
  EXPECT_THAT(plan.memory_domains, IsEmpty());
  ASSERT_THAT(plan.workers, SizeIs(1));
  EXPECT_FALSE(plan.workers[0].domain);
}

TEST(HostPlan, BlasHasTheCoresOfItsCaller) {
  EXPECT_EQ(blas_threads_of(options_of(4, 2), true), 4);
  EXPECT_EQ(blas_threads_of(options_of(4, 2), false), 1) << "two callers would wait for each other";
  EXPECT_EQ(blas_threads_of(options_of(4, 1), false), 4);
  EXPECT_EQ(blas_threads_of(options_of(1, 8), true), 1);
  auto emulated = options_of(4, 1);
  emulated.devices = "host:2";
  EXPECT_EQ(blas_threads_of(emulated, false), 1) << "emulated devices call BLAS too";
}

TEST(HostPlan, AQuotaOfProcessorTimeLimitsTheDefault) {
  auto host = synthetic_topology("numa:2 core:4 pu:1");
  auto const workers = [&](double quota, unsigned cores_each) {
    host.cpu_quota = quota;
    return default_workers(options_of(cores_each), host);
  };
  EXPECT_EQ(workers(2, 1), 2U);
  EXPECT_EQ(workers(2.5, 1), 3U) << "rounded up: two workers would leave time unused";
  EXPECT_EQ(workers(0.1, 1), 1U);
  EXPECT_EQ(workers(100, 1), 8U) << "there are no more cores";
  EXPECT_EQ(workers(5, 2), 3U);
  host.cpu_quota.reset();
  EXPECT_EQ(default_workers(options_of(1), host), 8U);
}

}  // namespace
}  // namespace granary

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "auto_stage.hpp"

#include <granary/detail/core/base/error.hpp>

#include <gmock/gmock.h>

namespace granary::auto_scheduler_test {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

TEST(Auto, GoesOnWithTheFastestAndSaysSo) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"));
  stage.submit_free(200);
  EXPECT_NEAR(stage.run(200), 0.05, 1e-9);
  EXPECT_EQ(stage.remark(), "auto-test-all: 0.05 s, limited by the workers; auto-test-one 0.2 s");
  EXPECT_EQ(stage.counter("choices"), 1);
  EXPECT_EQ(stage.counter("simulated tasks"), 400);
  EXPECT_EQ(stage.told().times, 1U);
  EXPECT_GT(stage.given_by("auto-test-all"), 180U) << "all but those that had been committed";
}

TEST(Auto, TriesASchedulerWhoseRegistrationSaysSo) {
  register_scheduler("auto-test-registered",
                     [](PolicyOptions&) { return std::make_unique<Fifo>("auto-test-registered", Uses::All); },
                     {.eviction = "auto-test-lru", .in_auto = {.place_if_data_fit = 7, .place_if_larger = 0}});
  for (Bytes const capacity : {unbounded, Bytes{2'000'000}}) {
    Stage stage(cores(4, capacity), own_policies("auto:tasks=1000000"));
    for (int t = 0; t < 200; ++t) stage.submit({{stage.stored(100'000), detail::AccessMode::Read}});
    stage.run(200);
    EXPECT_THAT(stage.remark(), HasSubstr("superblock"));
    bool const tried = stage.remark().find("auto-test-registered") != std::string::npos;
    EXPECT_EQ(tried, capacity == unbounded) << "it has no place where data do not fit";
  }
}

TEST(Auto, ACandidateThatDoesNotRunAllTasksIsNone) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-few+auto-test-one"));
  stage.submit_free(200);
  stage.run(200);
  EXPECT_EQ(stage.remark(), "auto-test-one: 0.2 s, limited by the order");
  EXPECT_EQ(stage.counter("simulated tasks"), 200 + Fifo::few);
}

// C(i, j) += A(i, k) B(k, j), the steps k outermost, on a machine with memory for few of the tiles.
struct Product {
  static constexpr std::size_t order = 8;
  explicit Product(std::string const& scheduler, std::string const& eviction = {})
      : stage(cores(2, 20'000'000), eviction.empty() ? own_policies(scheduler) : make_policies(scheduler, eviction)) {
    std::vector<DataId> data;
    for (std::size_t d = 0; d < 3 * order * order; ++d) data.push_back(stage.stored(1'000'000));
    for (std::size_t k = 0; k < order; ++k) {
      for (std::size_t i = 0; i < order; ++i) {
        for (std::size_t j = 0; j < order; ++j) {
          stage.submit({{data[i * order + k], detail::AccessMode::Read},
                        {data[(order + k) * order + j], detail::AccessMode::Read},
                        {data[(2 * order + i) * order + j], detail::AccessMode::ReadWrite}});
        }
      }
    }
    end = stage.run(order * order * order);
  }
  Stage stage;
  double end = 0;
};

TEST(Auto, AnOrderThatMovesLessIsWorthIt) {
  Product const eager("eager");
  Product const chosen("auto:candidates=eager+planned");
  EXPECT_THAT(chosen.stage.remark(), AllOf(StartsWith("planned: "), HasSubstr("; eager ")));
  EXPECT_LT(chosen.end, 0.8 * eager.end);
}

TEST(Auto, DartsPrefersToEvictWhatIsValidElsewhere) {
  register_toys();
  auto const moved = [](std::string const& eviction) {
    Product const product("auto:candidates=darts", eviction);
    Bytes bytes = 0;
    for (auto const& link : product.stage.simulator.planner().statistics().links) bytes += link.bytes;
    return bytes;
  };
  EXPECT_LT(moved("auto"), 0.9 * static_cast<double>(moved("luf"))) << "the policy of the paper";
  EXPECT_EQ(moved("auto"), moved("luf:written=8"));
}

TEST(Auto, DecidesAlikeEachTime) {
  Product const one("auto");
  Product const other("auto");
  EXPECT_GE(one.stage.counter("choices"), 1);
  EXPECT_EQ(one.end, other.end);
  EXPECT_EQ(one.stage.remark(), other.stage.remark());
  EXPECT_EQ(one.stage.simulator.planner().scheduler().counters(),
            other.stage.simulator.planner().scheduler().counters());
}

TEST(Auto, SimulatesNoMoreThanItMay) {
  for (int const tasks : {0, 40, 300, 900, 1100, 100'000}) {
    Stage stage(cores(4), own_policies("auto:candidates=eager+lws+auto-test-all:tasks=" + std::to_string(tasks)));
    stage.submit_free(400);
    double const end = stage.run(400);
    // The run is believed to take as long as its tasks, after the first one.
    EXPECT_LE(stage.counter("simulated tasks"), std::max<double>(tasks, 0.02 * (end + 0.001) / 10e-6)) << tasks;
    EXPECT_EQ(stage.counter("choices"), 1) << tasks;
  }
}

TEST(Auto, DoesNotChooseIfItMaySimulateTooLittle) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all:tasks=0"));
  stage.submit_free(400, 0.12 * one_millisecond);
  stage.run(400);
  EXPECT_EQ(stage.counter("choices"), 0);
  EXPECT_EQ(stage.counter("simulated tasks"), 0);
  EXPECT_EQ(stage.remark(), "");
  Stage longer(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all:tasks=0"));
  longer.submit_free(400, 1000 * one_millisecond);
  longer.run(400);
  EXPECT_EQ(longer.counter("choices"), 1) << "2 % of 100 s suffice";
}

TEST(Auto, FewTasksAreNotWorthAChoice) {
  Stage stage(cores(4), own_policies("auto:candidates=auto-test-one+auto-test-all"));
  stage.submit_free(20);
  stage.run(20);
  EXPECT_EQ(stage.counter("choices"), 0);
}

TEST(Auto, WaitsUntilTheCodeletsWereMeasured) {
  Stage stage(cores(4), starting_with("auto-test-cpus", {"auto-test-one", "auto-test-all"}));
  stage.beliefs.needed = 40;
  stage.submit_free(400);
  stage.step_until(39);
  EXPECT_EQ(stage.counter("choices"), 0);
  EXPECT_EQ(stage.told().times, 1U) << "it stays with the first one";
  EXPECT_GT(stage.given_by("auto-test-cpus"), 39U);
  stage.run(400);
  EXPECT_EQ(stage.counter("choices"), 1);
  EXPECT_GT(stage.given_by("auto-test-all"), 200U);
}

TEST(Auto, NeverChoosesIfNothingIsMeasured) {
  Stage stage(cores(4), starting_with("auto-test-cpus", {"auto-test-one", "auto-test-all"}));
  stage.beliefs.needed = 1'000'000;
  stage.submit_free(400);
  stage.run(400);
  EXPECT_EQ(stage.counter("choices"), 0);
  EXPECT_EQ(stage.given_by("auto-test-cpus"), 400U);
}

TEST(Auto, OneTaskInTenMayBeOfACodeletThatWasNotMeasured) {
  for (int const others : {30, 60}) {
    Stage stage(cores(4), starting_with("auto-test-cpus", {"auto-test-one", "auto-test-all"}));
    stage.beliefs.needed = 1;
    auto const usual = stage.codelet;
    auto const rare = stage.add_codelet("rare");
    // The rare ones wait for the last of the others.
    DataId const last = stage.stored(8);
    stage.submit_free(400 - others - 1);
    stage.submit({{last, detail::AccessMode::ReadWrite}});
    stage.codelet = rare;
    for (int t = 0; t < others; ++t) stage.submit({{last, detail::AccessMode::Read}});
    stage.codelet = usual;
    stage.step_until(20);
    EXPECT_EQ(stage.counter("choices"), others == 30 ? 1 : 0) << others;
    stage.run(400);
  }
}

TEST(Auto, IfTheFirstCodeletsAreKnownItStartsWithAnother) {
  Stage stage(cores(4), starting_with("auto-test-one", {"auto-test-one", "auto-test-all"}));
  stage.submit_free(10);
  EXPECT_NEAR(stage.run(10), 0.003, 1e-9) << "on all workers";
  EXPECT_EQ(stage.given_by("auto-test-one"), 0U);
}

TEST(Auto, ItsEvictionPolicyIsTheCandidatesOwn) {
  register_toys();
  EXPECT_EQ(default_eviction("auto"), "auto");
  EXPECT_THROW(static_cast<void>(make_eviction("auto")), InvalidArgument);
  EXPECT_THROW(static_cast<void>(make_policies("eager", "auto")), InvalidArgument);
  auto const run = [](PolicySet policies) {
    witness() = {};
    Stage stage(cores(2, 20'000), std::move(policies));
    for (int t = 0; t < 100; ++t) stage.submit({{stage.stored(1000), detail::AccessMode::ReadWrite}});
    stage.run(100);
    EXPECT_EQ(stage.counter("choices"), 1);
    return std::pair(witness().evictable.contains(&stage.simulator.planner().view()), witness().evictable.size());
  };
  auto const* const scheduler = "auto:candidates=auto-test-one+auto-test-all";
  auto const [own_used, own_number] = run(make_policies(scheduler, "auto"));
  EXPECT_TRUE(own_used);
  EXPECT_GE(own_number, 2U) << "it is simulated, too";
  // The toys look their eviction policy up: what they find was told nothing.
  run(make_policies(scheduler, "lru"));
  for (auto const& [view, replicas] : witness().evictable) EXPECT_TRUE(replicas.empty());
}

TEST(Auto, IsNoCandidateOfItself) {
  register_auto();
  EXPECT_THROW((void)make_scheduler("auto:candidates=darts+auto"), InvalidArgument);
}

TEST(Auto, AnotherEvictionPolicyMayTakeThePlaceOfItsOwn) {
  register_toys();
  auto policies = make_policies("auto:candidates=auto-test-one+auto-test-all", "auto");
  policies.eviction = make_eviction("lru");
  Stage stage(cores(2, 20'000), std::move(policies));
  for (int t = 0; t < 100; ++t) stage.submit({{stage.stored(1000), detail::AccessMode::ReadWrite}});
  stage.run(100);
  EXPECT_EQ(stage.counter("choices"), 1);
}

TEST(Auto, RefusesOptionsThatCannotBe) {
  register_toys();
  for (auto const* const wrong :
       {"auto:candidates=nobody", "auto:candidates=eager+nobody", "auto:tasks=-1", "auto:tasks=many", "auto:more=1"})
    EXPECT_THROW(static_cast<void>(make_scheduler(wrong)), InvalidArgument) << wrong;
  EXPECT_THROW(static_cast<void>(make_scheduler("auto:schedule=none.json")), IoError);
}

}  // namespace
}  // namespace granary::auto_scheduler_test

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/distributed/common_order.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace granary::common_order_test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Order : public ::testing::Test {
 protected:
  [[nodiscard]] ProcessId process_of(std::initializer_list<Access> accesses) const {
    return order.process_of({accesses.begin(), accesses.size()});
  }
  /// What follows from a task: "ship 3.1 from 0", "let go 3 in 1", where 3 is the key, 1 the version.
  std::vector<std::string> enter(std::initializer_list<Access> accesses, ProcessId process) {
    std::vector<std::string> log;
    order.enter(
        {accesses.begin(), accesses.size()}, process,
        [&](ValueId value, ProcessId owner) {
          log.push_back("ship " + std::to_string(value.key.value()) + "." + std::to_string(value.version) + " from " +
                        std::to_string(owner.value()));
        },
        [&](DataKey key, ProcessId reader) {
          log.push_back("let go " + std::to_string(key.value()) + " in " + std::to_string(reader.value()));
        });
    return log;
  }
  std::vector<std::uint32_t> release(DataKey key) {
    std::vector<std::uint32_t> readers;
    order.release(key, [&](ProcessId reader) { readers.push_back(reader.value()); });
    return readers;
  }

  static Access read(DataKey key) { return {submitted_id(key), AccessMode::Read}; }
  static Access write(DataKey key) { return {submitted_id(key), AccessMode::Write}; }
  static Access change(DataKey key) { return {submitted_id(key), AccessMode::ReadWrite}; }

  CommonOrder order;
  ProcessId zero{0};
  ProcessId one{1};
  ProcessId two{2};
};

TEST_F(Order, TheOwnerOfWhatATaskWritesRunsIt) {
  DataKey const a = order.add(one);
  DataKey const b = order.add(two);
  EXPECT_EQ(process_of({read(b), write(a)}), one);
  EXPECT_EQ(process_of({read(b), read(a)}), two) << "without writes, the owner of the first";
  EXPECT_FALSE(process_of({}).valid());
}

TEST_F(Order, RefusesSeveralOwnersAndUnknownData) {
  DataKey const a = order.add(one);
  DataKey const b = order.add(two);
  auto const refusal = [&](std::initializer_list<Access> accesses) {
    return test::message_of([&] { return process_of(accesses); });
  };
  EXPECT_EQ(refusal({write(a), {submitted_id(b), AccessMode::Commute}}),
            "a task writes data of processes 1 and 2; all that a task writes must have one owner");
  EXPECT_EQ(refusal({read(DataKey(7))}), "a task accesses data 7, which is not registered");
  release(b);
  EXPECT_EQ(refusal({write(a), read(b)}), "a task accesses data 1, which is not registered");
  EXPECT_FALSE(order.known(b));
}

TEST_F(Order, SendsAValueOnceToEachReader) {
  DataKey const a = order.add(zero);
  DataKey const b = order.add(one);
  EXPECT_THAT(enter({read(a), write(b)}, one), ElementsAre("ship 0.1 from 0"));
  EXPECT_THAT(enter({read(a), change(b)}, one), IsEmpty());
  EXPECT_THAT(enter({read(b), read(a)}, two), ElementsAre("ship 1.3 from 1", "ship 0.1 from 0"));
  EXPECT_THAT(enter({read(a), change(a)}, zero), ElementsAre("let go 0 in 1", "let go 0 in 2"));
  EXPECT_EQ(order.value(a).version, 2U);
  EXPECT_THAT(enter({read(a)}, one), ElementsAre("ship 0.2 from 0"));
  order.let_go_of_all();
  EXPECT_THAT(enter({read(a)}, one), ElementsAre("ship 0.2 from 0")) << "sent again";
}

TEST_F(Order, UsesKeysAgainAndVersionsNever) {
  DataKey const a = order.add(zero);
  enter({write(a)}, zero);
  enter({read(a)}, two);
  auto const last = order.value(a);
  EXPECT_THAT(release(a), ElementsAre(2U));
  DataKey const b = order.add(one);
  EXPECT_EQ(b, a);
  EXPECT_EQ(order.owner(b), one);
  EXPECT_GT(order.value(b).version, last.version);
  EXPECT_THAT(release(b), IsEmpty()) << "nobody read the new one";
}

}  // namespace
}  // namespace granary::common_order_test

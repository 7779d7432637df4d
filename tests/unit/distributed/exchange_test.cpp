// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/exchange.hpp>

#include "support/message_of.hpp"
#include "support/print_events.hpp"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace granary::exchange_test {

using namespace detail;

namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Log = std::vector<std::string>;

std::string text(ValueId value) { return std::to_string(value.key.value()) + "." + std::to_string(value.version); }

/// Writes down what the exchange asks for.
class RecordingTransport final : public Transport {
 public:
  explicit RecordingTransport(Log& log) : m_log(log) {}

  void send(ProcessId to, Message message) override {
    last = message;
    static char const* const kinds[] = {"announce ", "ask for ", "refuse ", "let go of "};
    m_log.push_back("to " + std::to_string(to.value()) + ": " + kinds[static_cast<std::size_t>(message.kind)] +
                    text(message.value) +
                    (message.kind == Message::Kind::Ask || message.kind == Message::Kind::Refuse
                         ? " by " + std::to_string(message.tag)
                         : "") +
                    (message.failure ? ", " + message.failure->what : ""));
  }
  void expect(ProcessId from, std::uint32_t tag, CopyCommand const& copy) override {
    m_log.push_back("expect data " + std::to_string(copy.data.value()) + " from " + std::to_string(from.value()) +
                    " by " + std::to_string(tag));
  }
  void cancel(ProcessId from, std::uint32_t tag) override {
    m_log.push_back("cancel " + std::to_string(tag) + " from " + std::to_string(from.value()));
  }
  void ship(ProcessId to, std::uint32_t tag, ShipCommand const& command, std::int64_t priority) override {
    m_log.push_back("ship data " + std::to_string(command.data.value()) + " to " + std::to_string(to.value()) + " by " +
                    std::to_string(tag) + ", priority " + std::to_string(priority));
  }

  Message last;

 private:
  Log& m_log;
};

class ExchangeOfTwo : public ::testing::Test {
 protected:
  static constexpr ProcessId self{0};
  static constexpr ProcessId other{1};
  static constexpr ValueId value{DataKey(5), 3};
  static constexpr DataId local{8};

  void announced(ValueId of = value, std::shared_ptr<FailureOrigin const> failure = {}) {
    exchange.got(other, {.kind = Message::Kind::Announce, .value = of, .failure = std::move(failure)});
  }
  void asked(std::uint32_t tag) { exchange.got(other, {.kind = Message::Kind::Ask, .value = value, .tag = tag}); }
  void let_go() { exchange.got(other, {.kind = Message::Kind::LetGo, .value = value}); }
  void arrive(TaskId task, DataId data = local, ValueId of = value) {
    exchange.prepare({.value = of, .peer = other, .local = data});
    exchange.submitted(task);
    exchange.begin({task});
  }
  void arrived(TaskId task, DataId data = local, ValueId of = value) {
    arrive(task, data, of);
    announced(of);
    exchange.retire({task}, nullptr);
    taken();
  }
  void receive(TransferId transfer, DataId data = local) {
    exchange.receive({.transfer = transfer, .data = data, .from = {}, .to = {}, .link = {}, .bytes = 1});
  }
  void offer(TaskId task) {
    exchange.prepare({.value = value, .peer = other, .priority = 7});
    exchange.submitted(task);
  }
  void offered(TaskId task) {
    offer(task);
    exchange.begin({task});
    taken();
  }
  void ship(TaskId task) { exchange.ship({.task = task, .data = DataId(2), .from = {}, .bytes = 1}); }
  static Failure failure_of(TaskId task) {
    return {.task = task, .position = 17, .what = "task 'potrf' 17", .error = std::make_exception_ptr(Error("broke"))};
  }
  static std::shared_ptr<FailureOrigin const> elsewhere() {
    return std::make_shared<FailureOrigin const>(FailureOrigin{other, 4, "task 'gemm' 4: it broke"});
  }
  Log taken() { return std::exchange(log, {}); }

  Log log;
  std::vector<Event> posted;
  RecordingTransport transport{log};
  Exchange exchange{self, transport, [this](Event const& event) {
                      posted.push_back(event);
                      log.push_back(test::to_text(event));
                    }};
};

TEST_F(ExchangeOfTwo, AnIncomingValueEndsWhenItHasBegunAndItsValueIsAnnounced) {
  arrive(TaskId(4));
  EXPECT_THAT(taken(), IsEmpty());
  announced();
  EXPECT_THAT(taken(), ElementsAre("task 4 done"));
  exchange.retire({TaskId(4)}, nullptr);
  EXPECT_FALSE(exchange.at_rest());
  exchange.forget({local});
  EXPECT_THAT(taken(), ElementsAre("to 1: let go of 5.3"));
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, AnAnnouncementMayComeBeforeTheIncomingValueIsSubmitted) {
  announced();
  EXPECT_FALSE(exchange.at_rest());
  exchange.prepare({.value = value, .peer = other, .local = local});
  exchange.submitted(TaskId(4));
  EXPECT_THAT(taken(), IsEmpty()) << "it has not begun";
  exchange.begin({TaskId(4)});
  EXPECT_THAT(taken(), ElementsAre("task 4 done"));
}

TEST_F(ExchangeOfTwo, AnAnnouncementTellsTheSizeOfAValueThatVaries) {
  exchange.prepare({.value = value, .peer = other, .local = local, .varies = true});
  exchange.submitted(TaskId(4));
  exchange.begin({TaskId(4)});
  exchange.got(other, {.kind = Message::Kind::Announce, .value = value, .bytes = 17});
  EXPECT_THAT(taken(), ElementsAre("task 4 makes 17 bytes of data 8", "task 4 done"));
  offer(TaskId(5));
  exchange.begin({TaskId(5), 23});
  ASSERT_THAT(taken(), ElementsAre("to 1: announce 5.3"));
  EXPECT_EQ(transport.last.bytes, 23U);
}

TEST_F(ExchangeOfTwo, AnAnnouncedFailureFailsTheIncomingValueAndNeedsNoLetGo) {
  arrive(TaskId(4));
  announced(value, elsewhere());
  EXPECT_THAT(taken(), ElementsAre("task 4 failed"));
  auto const& error = std::get<TaskFailed>(posted.back()).error;
  EXPECT_EQ(test::message_of<RemoteFailure>([&] { std::rethrow_exception(error); }),
            "process 1: task 'gemm' 4: it broke");
  exchange.retire({TaskId(4)}, nullptr);
  exchange.forget({local});
  EXPECT_THAT(taken(), IsEmpty());
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, AsksForAValueEachTimeThatItIsNeeded) {
  arrived(TaskId(4));
  receive(TransferId(1));
  EXPECT_THAT(taken(), ElementsAre("expect data 8 from 1 by 0", "to 1: ask for 5.3 by 0")) << "expected first";
  receive(TransferId(2));
  EXPECT_THAT(taken(), ElementsAre("expect data 8 from 1 by 1", "to 1: ask for 5.3 by 1"));
  exchange.received(0);
  EXPECT_THAT(taken(), ElementsAre("copy 1 done"));
  receive(TransferId(3));
  EXPECT_THAT(taken(), ElementsAre("expect data 8 from 1 by 0", "to 1: ask for 5.3 by 0")) << "tags stay small";
}

TEST_F(ExchangeOfTwo, ARefusalFailsTheCopyAndNothingIsExpectedAnyMore) {
  arrived(TaskId(4));
  receive(TransferId(1));
  taken();
  exchange.got(other, {.kind = Message::Kind::Refuse, .value = value, .tag = 0, .failure = elsewhere()});
  EXPECT_THAT(taken(), ElementsAre("cancel 0 from 1", "copy 1 failed"));
  exchange.forget({local});
  EXPECT_THAT(taken(), ElementsAre("to 1: let go of 5.3")) << "the owner waits for that";
}

TEST_F(ExchangeOfTwo, AOutgoingValueIsAnnouncedSentAsOftenAsAskedForAndLetGo) {
  offer(TaskId(6));
  EXPECT_THAT(taken(), IsEmpty());
  exchange.begin({TaskId(6)});
  EXPECT_THAT(taken(), ElementsAre("to 1: announce 5.3"));
  for (std::uint32_t const tag : {9U, 2U}) {
    asked(tag);
    EXPECT_THAT(taken(), ElementsAre("task 6 asked for"));
    ship(TaskId(6));
    EXPECT_THAT(taken(), ElementsAre("ship data 2 to 1 by " + std::to_string(tag) + ", priority 7"));
    exchange.sent(TaskId(6));
    EXPECT_THAT(taken(), ElementsAre("task 6 shipped"));
  }
  let_go();
  EXPECT_THAT(taken(), ElementsAre("task 6 done"));
  EXPECT_FALSE(exchange.at_rest());
  exchange.retire({TaskId(6)}, nullptr);
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, WhatIsAskedForWhileItIsSentIsSentAgainAfterwards) {
  offered(TaskId(6));
  asked(0);
  asked(1);
  asked(2);
  EXPECT_THAT(taken(), ElementsAre("task 6 asked for"));
  ship(TaskId(6));
  exchange.sent(TaskId(6));
  EXPECT_THAT(taken(), ElementsAre("ship data 2 to 1 by 0, priority 7", "task 6 shipped", "task 6 asked for"));
  ship(TaskId(6));
  exchange.sent(TaskId(6));
  EXPECT_THAT(taken(), ElementsAre("ship data 2 to 1 by 1, priority 7", "task 6 shipped", "task 6 asked for"));
}

TEST_F(ExchangeOfTwo, AOutgoingValueThatIsLetGoWhileItIsSentEndsAfterwards) {
  offered(TaskId(6));
  asked(0);
  ship(TaskId(6));
  taken();
  let_go();
  EXPECT_THAT(taken(), IsEmpty());
  exchange.sent(TaskId(6));
  EXPECT_THAT(taken(), ElementsAre("task 6 shipped", "task 6 done"));
}

TEST_F(ExchangeOfTwo, AOutgoingValueThatFailsBeforeItIsAnnouncedIsAnnouncedAsFailed) {
  offer(TaskId(6));
  auto const failure = failure_of(TaskId(3));
  exchange.retire({TaskId(6)}, &failure);
  EXPECT_THAT(taken(), ElementsAre("to 1: announce 5.3, task 'potrf' 17: broke"));
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, TheOriginOfAFailureIsPassedOn) {
  offer(TaskId(6));
  auto failure = failure_of(TaskId(3));
  failure.error = std::make_exception_ptr(RemoteFailure(elsewhere()));
  exchange.retire({TaskId(6)}, &failure);
  EXPECT_THAT(taken(), ElementsAre("to 1: announce 5.3, task 'gemm' 4: it broke"));
}

TEST_F(ExchangeOfTwo, AOutgoingValueThatFailsAfterItsAnnouncementRefusesUntilItIsLetGo) {
  offered(TaskId(6));
  asked(0);
  asked(1);
  taken();
  auto const failure = failure_of(TaskId(6));
  exchange.retire({TaskId(6)}, &failure);
  EXPECT_THAT(taken(), ElementsAre("to 1: refuse 5.3 by 0, task 'potrf' 17: broke",
                                   "to 1: refuse 5.3 by 1, task 'potrf' 17: broke"));
  asked(2);
  EXPECT_THAT(taken(), ElementsAre("to 1: refuse 5.3 by 2, task 'potrf' 17: broke"));
  let_go();
  EXPECT_THAT(taken(), IsEmpty()) << "its task has ended";
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, WhatCannotBeOfferedIsAnnouncedAsFailed) {
  exchange.prepare({.value = value, .peer = other});
  exchange.cannot_offer(InvalidArgument("it has no value"), 12);
  EXPECT_THAT(taken(), ElementsAre("to 1: announce 5.3, it has no value"));
  EXPECT_TRUE(exchange.at_rest());
  offer(TaskId(6));
  EXPECT_FALSE(exchange.at_rest()) << "the next one is another";
}

// The planner uses the id again as soon as it has forgotten the datum; the command to do so comes later.
TEST_F(ExchangeOfTwo, AnIdMayNameTheNextValueBeforeTheFormerOneIsForgotten) {
  constexpr ValueId next{DataKey(9), 1};
  arrived(TaskId(4));
  arrive(TaskId(5), local, next);
  exchange.forget({local});
  EXPECT_THAT(taken(), ElementsAre("to 1: let go of 5.3"));
  announced(next);
  exchange.retire({TaskId(5)}, nullptr);
  receive(TransferId(1));
  EXPECT_THAT(taken(), ElementsAre("task 5 done", "expect data 8 from 1 by 0", "to 1: ask for 9.1 by 0"));
}

TEST_F(ExchangeOfTwo, AnIdMayHaveBelongedToADatumOfThisProcess) {
  exchange.releasing(local);
  arrive(TaskId(4));
  exchange.forget({local});
  EXPECT_THAT(taken(), IsEmpty()) << "that was the datum of this process";
  announced();
  EXPECT_THAT(taken(), ElementsAre("task 4 done"));
  exchange.retire({TaskId(4)}, nullptr);
  exchange.forget({local});
  EXPECT_THAT(taken(), ElementsAre("to 1: let go of 5.3"));
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, IgnoresWhatConcernsNeitherStubsNorValuesOfOthers) {
  exchange.submitted(TaskId(1));
  exchange.begin({TaskId(1)});
  exchange.retire({TaskId(1)}, nullptr);
  exchange.forget({DataId(1)});
  EXPECT_THAT(taken(), IsEmpty());
  EXPECT_TRUE(exchange.at_rest());
}

TEST_F(ExchangeOfTwo, RefusesMessagesAboutValuesThatWereNotAnnounced) {
  EXPECT_EQ(test::message_of<InternalError>([&] { asked(0); }),
            "process 1 asks for a value that was not announced to it");
  EXPECT_EQ(test::message_of<InternalError>([&] { let_go(); }), "process 1 lets go of a value that it was not told of");
}

}  // namespace
}  // namespace granary::exchange_test

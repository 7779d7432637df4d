// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/signal_watch.hpp>

#include "support/message_of.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

namespace granary::signal_watch_test {
namespace {

struct sigaction action_of(int signal) {
  struct sigaction action {};
  ::sigaction(signal, nullptr, &action);
  return action;
}

void raise_and_await(int signal, std::atomic<int> const& count, int expected) {
  ::raise(signal);
  while (count < expected) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

TEST(SignalWatch, CallsAllThatListenForTheState) {
  std::atomic<int> first = 0, second = 0;
  SignalWatch const signals;
  auto const one = signals.listen({.on_state_request = [&] { ++first; }});
  auto two = signals.listen({.on_state_request = [&] { ++second; }});
  raise_and_await(SIGUSR1, second, 1);
  EXPECT_EQ(first, 1);
  two.reset();
  raise_and_await(SIGUSR1, first, 2);
  EXPECT_EQ(second, 1);
  EXPECT_NO_THROW(signals.check());
}

TEST(SignalWatch, SaysThatNothingRunsIfNobodyListens) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  int const error = ::dup(STDERR_FILENO);
  ::dup2(ends[1], STDERR_FILENO);
  SignalWatch const signals;
  ::raise(SIGUSR1);
  std::array<char, 100> text{};
  auto const count = ::read(ends[0], text.data(), text.size());
  ::dup2(error, STDERR_FILENO);
  for (int const descriptor : {ends[0], ends[1], error}) ::close(descriptor);
  ASSERT_GT(count, 0);
  EXPECT_EQ(std::string(text.data(), static_cast<std::size_t>(count)), "no tasks are running\n");
}

TEST(SignalWatch, AListenerThatThrowsDoesNotKeepTheOthersFromBeingTold) {
  std::atomic<int> told = 0;
  testing::internal::CaptureStderr();
  {
    SignalWatch const signals;
    auto const request = signals.listen({.on_state_request = [] { throw std::runtime_error("no terminal"); }});
    auto const other = signals.listen({.on_state_request = [&] { ++told; }});
    raise_and_await(SIGUSR1, told, 1);
    auto const end = signals.listen({.on_signal = [](Interrupted const&) { throw 7; }});
    auto const second = signals.listen({.on_signal = [&](Interrupted const&) { ++told; }});
    raise_and_await(SIGUSR2, told, 2);
    auto const late = signals.listen({.on_signal = [](Interrupted const&) { throw std::runtime_error("late"); }});
    EXPECT_THROW(signals.check(), Interrupted);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a listener of the signal watch has thrown: no terminal\n"
            "a listener of the signal watch has thrown: an exception of unknown type\n"
            "a listener of the signal watch has thrown: late\n");
}

TEST(SignalWatch, IsOneAtATimeAndLeavesTheProcessAsItWas) {
  auto const before = action_of(SIGTERM);
  for (int round = 0; round < 2; ++round) {
    SignalWatch const signals;
    EXPECT_NE(action_of(SIGTERM).sa_handler, before.sa_handler);
    EXPECT_THAT(test::message_of([] { return std::make_unique<SignalWatch>() != nullptr; }),
                testing::HasSubstr("a SignalWatch already"));
    EXPECT_NO_THROW(signals.check()) << "a signal of an earlier watch is forgotten";
  }
  EXPECT_EQ(action_of(SIGTERM).sa_handler, before.sa_handler);
  EXPECT_EQ(action_of(SIGUSR1).sa_handler, SIG_IGN) << "a late request for the state must not end the process";
}

TEST(SignalWatch, ListenersMayOutliveIt) {
  auto signals = std::make_unique<SignalWatch>();
  auto listening = signals->listen({.on_state_request = [] {}});
  signals.reset();
  listening.reset();
  SUCCEED();
}

}  // namespace
}  // namespace granary::signal_watch_test

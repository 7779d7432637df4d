// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/transports/packet.hpp>
#include <granary/detail/distributed/transports/processes.hpp>

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

namespace granary::detail {
namespace {

// Keys of headers: failures in the order of submission, those that are only known of, then texts by process.
constexpr std::uint64_t known_failure = std::uint64_t{1} << 62, no_failure = std::uint64_t{1} << 63;

std::string packed(std::shared_ptr<FailureOrigin const> const& failure) {
  Packet packet;
  Message message;
  message.failure = failure;
  packet.add(message);
  return {reinterpret_cast<char const*>(packet.bytes().data()), packet.bytes().size()};
}

std::shared_ptr<FailureOrigin const> unpacked(std::string const& text) {
  std::shared_ptr<FailureOrigin const> failure;
  read_packet({reinterpret_cast<std::byte const*>(text.data()), text.size()},
              [&](Message const& message) { failure = message.failure; });
  return failure;
}

template <class Function>
std::shared_ptr<FailureOrigin const> failure_of(Function&& function, ProcessId self) {
  try {
    function();
  } catch (...) {
    return origin_of({.position = 0, .error = std::current_exception()}, self);
  }
  return nullptr;
}

std::uint64_t key_of(FailureOrigin const& failure) {
  return std::min(failure.position, known_failure - 1) | (failure.known ? known_failure : 0);
}

}  // namespace

std::optional<std::size_t> Processes::root_of(std::vector<Header> const& headers) {
  std::optional<std::size_t> root;
  for (std::size_t p = 0; p < headers.size(); ++p) {
    if (headers[p].length > 0 && (!root || headers[p].key < headers[*root].key)) root = p;
  }
  return root;
}

std::shared_ptr<FailureOrigin const> Processes::agree(std::uint64_t order,
                                                      std::shared_ptr<FailureOrigin const> const& failure) {
  auto const gathered = allgather({order}, failure, {});
  if (gathered.failure) return unpacked(gathered.text);
  for (std::size_t p = 1; p < gathered.headers.size(); ++p) {
    if (gathered.headers[p].numbers[0] == gathered.headers[0].numbers[0]) continue;
    throw InvalidArgument(
        "process " + std::to_string(p) +
        " has submitted other data or tasks than process 0: all processes submit the same, in the same order");
  }
  return nullptr;
}

std::shared_ptr<FailureOrigin const> Processes::leave(std::uint64_t order,
                                                      std::shared_ptr<FailureOrigin const> const& failure, int status,
                                                      Duration most) {
  constexpr std::uint64_t leaves = 1;
  m_ended = true;
  auto const text = packed(failure);
  auto const end = std::chrono::steady_clock::now() + most;
  auto const left = [&end] {
    return std::max(std::chrono::duration_cast<Duration>(end - std::chrono::steady_clock::now()), Duration{0});
  };
  while (auto const gathered = try_allgather({key_of(*failure), text.size(), {order, leaves}}, text, left())) {
    auto const& all = gathered->headers;
    if (!std::ranges::all_of(all, [&](Header const& one) { return one.numbers[1] == leaves; })) continue;
    auto first = unpacked(gathered->text);
    if (std::ranges::all_of(all, [&](Header const& one) { return one.numbers[0] == order; })) return first;
    if (first->process != self()) std::this_thread::sleep_for(most);  // it ends all
    break;
  }
  spdlog::error("granary: process {} ends all {} processes: {}", self().value(), count(), failure->what);
  spdlog::default_logger()->flush();
  abort(status);
  std::abort();  // GCC does not believe a virtual function that never returns
}

std::vector<Processes::Numbers> Processes::gather(Numbers const& ours) {
  auto const gathered = rethrowing(allgather(ours, nullptr, {}));
  std::vector<Numbers> all;
  for (auto const& header : gathered.headers) all.push_back(header.numbers);
  return all;
}

std::string Processes::from(ProcessId root, std::function<std::string()> const& function) {
  std::string text;
  std::shared_ptr<FailureOrigin const> failure;
  if (self() == root) failure = failure_of([&] { text = function(); }, self());
  return rethrowing(allgather({}, failure, std::move(text))).text;
}

void Processes::together(std::function<void()> const& function) {
  static_cast<void>(rethrowing(allgather({}, failure_of(function, self()), {})));
}

Processes::Gathered Processes::rethrowing(Gathered gathered) {
  if (gathered.failure) rethrow_origin(unpacked(gathered.text));
  return gathered;
}

Processes::Gathered Processes::allgather(Numbers const& numbers, std::shared_ptr<FailureOrigin const> const& failure,
                                         std::string text) {
  if (failure) text = packed(failure);
  Header const header{failure ? key_of(*failure) : no_failure | self().value(), text.size(), numbers};
  auto gathered = try_allgather(header, std::move(text), unlimited);
  auto const root = root_of(gathered->headers);
  gathered->failure = root && gathered->headers[*root].key < no_failure;
  return std::move(*gathered);
}

}  // namespace granary::detail

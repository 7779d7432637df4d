// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/distributed/exchange.hpp>

#include <string>

namespace granary::detail {

void Exchange::submitted(TaskId task) {
  std::lock_guard const lock(m_mutex);
  if (!m_prepared) return;
  auto const stub = *std::exchange(m_prepared, std::nullopt);
  if (stub.local.valid()) return expect(task, stub);
  m_outgoing_values.emplace(task, OutgoingValue{.value = stub.value, .reader = stub.peer, .priority = stub.priority});
  m_shipped.emplace(Shipped{stub.value, stub.peer}, task);
}

void Exchange::cannot_offer(Error const& why, std::uint64_t position) {
  std::lock_guard const lock(m_mutex);
  auto const stub = *std::exchange(m_prepared, std::nullopt);
  auto failure = std::make_shared<FailureOrigin const>(FailureOrigin{m_self, position, why.what(), true});
  m_transport.send(stub.peer, {.kind = Message::Kind::Announce, .value = stub.value, .failure = std::move(failure)});
}

void Exchange::expect(TaskId task, Stub const& stub) {
  m_incoming_value_tasks.emplace(task, stub.value);
  m_held[stub.local].push_back(stub.value);
  auto& incoming_value = m_incoming_values[stub.value];
  incoming_value.task = task;
  incoming_value.owner = stub.peer;
  if (stub.varies) incoming_value.sized = stub.local;
  auto const early = m_early.extract(stub.value);
  if (early.empty()) return;
  incoming_value.announced = true;
  incoming_value.what = early.mapped();
}

void Exchange::begin(BeginCommand const& command) {
  std::lock_guard const lock(m_mutex);
  if (auto const known = m_incoming_value_tasks.find(command.task); known != m_incoming_value_tasks.end()) {
    auto& incoming_value = m_incoming_values.at(known->second);
    incoming_value.begun = true;
    if (incoming_value.announced) end(incoming_value);
  } else if (auto const outgoing_value = m_outgoing_values.find(command.task);
             outgoing_value != m_outgoing_values.end()) {
    outgoing_value->second.announced = true;
    m_transport.send(outgoing_value->second.reader,
                     {.kind = Message::Kind::Announce, .value = outgoing_value->second.value, .bytes = command.bytes});
  }
}

void Exchange::end(IncomingValue& incoming_value) {
  auto const& [bytes, failure] = incoming_value.what;
  if (failure)
    return m_post(TaskFailed{.task = incoming_value.task, .error = std::make_exception_ptr(RemoteFailure(failure))});
  if (incoming_value.sized.valid()) m_post(Sized{incoming_value.task, incoming_value.sized, bytes});
  m_post(TaskDone{.task = incoming_value.task});
}

void Exchange::receive(CopyCommand const& copy) {
  std::lock_guard const lock(m_mutex);
  ValueId const value = m_held.at(copy.data).back();
  ProcessId const owner = m_incoming_values.at(value).owner;
  auto tag = static_cast<std::uint32_t>(m_receives.size());
  if (m_free_tags.empty()) {
    m_receives.emplace_back();
  } else {
    tag = m_free_tags.back();
    m_free_tags.pop_back();
  }
  m_receives[tag] = {copy.transfer, owner};
  m_transport.expect(owner, tag, copy);
  m_transport.send(owner, {.kind = Message::Kind::Ask, .value = value, .tag = tag});
}

void Exchange::ship(ShipCommand const& command) {
  std::lock_guard const lock(m_mutex);
  auto const& outgoing_value = m_outgoing_values.at(command.task);
  m_transport.ship(outgoing_value.reader, outgoing_value.tag, command, outgoing_value.priority);
}

void Exchange::retire(RetireCommand const& command, Failure const* failure) {
  std::lock_guard const lock(m_mutex);
  if (m_incoming_value_tasks.erase(command.task) > 0) return;
  auto const found = m_outgoing_values.find(command.task);
  if (found == m_outgoing_values.end()) return;
  auto& outgoing_value = found->second;
  if (!failure) {
    m_shipped.erase({outgoing_value.value, outgoing_value.reader});
    m_outgoing_values.erase(found);
    return;
  }
  outgoing_value.failure = origin_of(*failure, m_self);
  if (!outgoing_value.announced) {  // its reader never asks
    m_transport.send(
        outgoing_value.reader,
        {.kind = Message::Kind::Announce, .value = outgoing_value.value, .failure = outgoing_value.failure});
    m_shipped.erase({outgoing_value.value, outgoing_value.reader});
    m_outgoing_values.erase(found);
    return;
  }
  if (std::exchange(outgoing_value.asked, false)) refuse(outgoing_value, outgoing_value.tag);
  for (auto const tag : outgoing_value.more) refuse(outgoing_value, tag);
  outgoing_value.more.clear();
}

void Exchange::forget(ForgetCommand const& command) {
  std::lock_guard const lock(m_mutex);
  auto const held = m_held.find(command.data);
  if (held == m_held.end()) return;
  ValueId const value = held->second.front();
  held->second.erase(held->second.begin());
  if (held->second.empty()) m_held.erase(held);
  if (!value.key.valid()) return;
  auto const incoming_value = m_incoming_values.find(value);
  if (!incoming_value->second.what.failure)
    m_transport.send(incoming_value->second.owner, {.kind = Message::Kind::LetGo, .value = value});
  m_incoming_values.erase(incoming_value);
}

void Exchange::got(ProcessId from, Message const& message) {
  std::lock_guard const lock(m_mutex);
  switch (message.kind) {
    case Message::Kind::Announce:
      return announced(message.value, {message.bytes, message.failure});
    case Message::Kind::Ask:
      return asked(from, message);
    case Message::Kind::Refuse:
      return refused(message.tag, message.failure);
    case Message::Kind::LetGo:
      return let_go(from, message.value);
  }
}

void Exchange::announced(ValueId value, Announced what) {
  auto const found = m_incoming_values.find(value);
  if (found == m_incoming_values.end()) {
    m_early.emplace(value, std::move(what));
    return;
  }
  auto& incoming_value = found->second;
  incoming_value.announced = true;
  incoming_value.what = std::move(what);
  if (incoming_value.begun) end(incoming_value);
}

void Exchange::asked(ProcessId reader, Message const& message) {
  auto const shipped = m_shipped.find({message.value, reader});
  if (shipped == m_shipped.end()) {
    throw InternalError("process " + std::to_string(reader.value()) + " asks for a value that was not announced to it");
  }
  auto& outgoing_value = m_outgoing_values.at(shipped->second);
  if (outgoing_value.failure) {
    refuse(outgoing_value, message.tag);
  } else if (outgoing_value.asked) {
    outgoing_value.more.push_back(message.tag);
  } else {
    ask(shipped->second, outgoing_value, message.tag);
  }
}

void Exchange::ask(TaskId task, OutgoingValue& outgoing_value, std::uint32_t tag) {
  outgoing_value.asked = true;
  outgoing_value.tag = tag;
  m_post(Asked{task});
}

void Exchange::refuse(OutgoingValue const& outgoing_value, std::uint32_t tag) {
  m_transport.send(
      outgoing_value.reader,
      {.kind = Message::Kind::Refuse, .value = outgoing_value.value, .tag = tag, .failure = outgoing_value.failure});
}

void Exchange::refused(std::uint32_t tag, std::shared_ptr<FailureOrigin const> const& failure) {
  m_transport.cancel(m_receives[tag].owner, tag);
  m_post(CopyFailed{.transfer = end_receive(tag), .error = std::make_exception_ptr(RemoteFailure(failure))});
}

void Exchange::sent(TaskId task) {
  std::lock_guard const lock(m_mutex);
  auto& outgoing_value = m_outgoing_values.at(task);
  outgoing_value.asked = false;
  m_post(granary::detail::Shipped{task});
  if (!outgoing_value.more.empty()) {
    auto const tag = outgoing_value.more.front();
    outgoing_value.more.pop_front();
    ask(task, outgoing_value, tag);
  } else if (outgoing_value.let_go) {
    m_post(TaskDone{.task = task});
  }
}

void Exchange::received(std::uint32_t tag) {
  std::lock_guard const lock(m_mutex);
  m_post(CopyDone{.transfer = end_receive(tag)});
}

TransferId Exchange::end_receive(std::uint32_t tag) {
  m_free_tags.push_back(tag);
  return std::exchange(m_receives[tag].transfer, {});
}

void Exchange::let_go(ProcessId reader, ValueId value) {
  auto const shipped = m_shipped.find({value, reader});
  if (shipped == m_shipped.end()) {
    throw InternalError("process " + std::to_string(reader.value()) + " lets go of a value that it was not told of");
  }
  TaskId const task = shipped->second;
  auto& outgoing_value = m_outgoing_values.at(task);
  if (outgoing_value.failure) {
    m_outgoing_values.erase(task);
    m_shipped.erase(shipped);
    return;
  }
  outgoing_value.let_go = true;
  if (!outgoing_value.asked) m_post(TaskDone{.task = task});
}

}  // namespace granary::detail

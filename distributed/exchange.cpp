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
  m_shipments.emplace(task, Shipment{.value = stub.value, .reader = stub.peer, .priority = stub.priority});
  m_shipped.emplace(Shipped{stub.value, stub.peer}, task);
}

void Exchange::cannot_offer(Error const& why, std::uint64_t position) {
  std::lock_guard const lock(m_mutex);
  auto const stub = *std::exchange(m_prepared, std::nullopt);
  auto failure = std::make_shared<FailureOrigin const>(FailureOrigin{m_self, position, why.what(), true});
  m_wire.send(stub.peer, {.kind = Message::Kind::Announce, .value = stub.value, .failure = std::move(failure)});
}

void Exchange::expect(TaskId task, Stub const& stub) {
  m_arrival_tasks.emplace(task, stub.value);
  m_held[stub.local].push_back(stub.value);
  auto& arrival = m_arrivals[stub.value];
  arrival.task = task;
  arrival.owner = stub.peer;
  if (stub.varies) arrival.sized = stub.local;
  auto const early = m_early.extract(stub.value);
  if (early.empty()) return;
  arrival.announced = true;
  arrival.what = early.mapped();
}

void Exchange::begin(BeginCommand const& command) {
  std::lock_guard const lock(m_mutex);
  if (auto const known = m_arrival_tasks.find(command.task); known != m_arrival_tasks.end()) {
    auto& arrival = m_arrivals.at(known->second);
    arrival.begun = true;
    if (arrival.announced) end(arrival);
  } else if (auto const shipment = m_shipments.find(command.task); shipment != m_shipments.end()) {
    shipment->second.announced = true;
    m_wire.send(shipment->second.reader,
                {.kind = Message::Kind::Announce, .value = shipment->second.value, .bytes = command.bytes});
  }
}

void Exchange::end(Arrival& arrival) {
  auto const& [bytes, failure] = arrival.what;
  if (failure)
    return m_post(TaskFailed{.task = arrival.task, .error = std::make_exception_ptr(RemoteFailure(failure))});
  if (arrival.sized.valid()) m_post(Sized{arrival.task, arrival.sized, bytes});
  m_post(TaskDone{.task = arrival.task});
}

void Exchange::receive(CopyCommand const& copy) {
  std::lock_guard const lock(m_mutex);
  ValueId const value = m_held.at(copy.data).back();
  ProcessId const owner = m_arrivals.at(value).owner;
  auto tag = static_cast<std::uint32_t>(m_receives.size());
  if (m_free_tags.empty()) {
    m_receives.emplace_back();
  } else {
    tag = m_free_tags.back();
    m_free_tags.pop_back();
  }
  m_receives[tag] = {copy.transfer, owner};
  m_wire.expect(owner, tag, copy);
  m_wire.send(owner, {.kind = Message::Kind::Ask, .value = value, .tag = tag});
}

void Exchange::ship(ShipCommand const& command) {
  std::lock_guard const lock(m_mutex);
  auto const& shipment = m_shipments.at(command.task);
  m_wire.ship(shipment.reader, shipment.tag, command, shipment.priority);
}

void Exchange::retire(RetireCommand const& command, Failure const* failure) {
  std::lock_guard const lock(m_mutex);
  if (m_arrival_tasks.erase(command.task) > 0) return;
  auto const found = m_shipments.find(command.task);
  if (found == m_shipments.end()) return;
  auto& shipment = found->second;
  if (!failure) {
    m_shipped.erase({shipment.value, shipment.reader});
    m_shipments.erase(found);
    return;
  }
  shipment.failure = origin_of(*failure, m_self);
  if (!shipment.announced) {  // its reader never asks
    m_wire.send(shipment.reader,
                {.kind = Message::Kind::Announce, .value = shipment.value, .failure = shipment.failure});
    m_shipped.erase({shipment.value, shipment.reader});
    m_shipments.erase(found);
    return;
  }
  if (std::exchange(shipment.asked, false)) refuse(shipment, shipment.tag);
  for (auto const tag : shipment.more) refuse(shipment, tag);
  shipment.more.clear();
}

void Exchange::forget(ForgetCommand const& command) {
  std::lock_guard const lock(m_mutex);
  auto const held = m_held.find(command.data);
  if (held == m_held.end()) return;
  ValueId const value = held->second.front();
  held->second.erase(held->second.begin());
  if (held->second.empty()) m_held.erase(held);
  if (!value.key.valid()) return;
  auto const arrival = m_arrivals.find(value);
  if (!arrival->second.what.failure) m_wire.send(arrival->second.owner, {.kind = Message::Kind::LetGo, .value = value});
  m_arrivals.erase(arrival);
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
  auto const found = m_arrivals.find(value);
  if (found == m_arrivals.end()) {
    m_early.emplace(value, std::move(what));
    return;
  }
  auto& arrival = found->second;
  arrival.announced = true;
  arrival.what = std::move(what);
  if (arrival.begun) end(arrival);
}

void Exchange::asked(ProcessId reader, Message const& message) {
  auto const shipped = m_shipped.find({message.value, reader});
  if (shipped == m_shipped.end()) {
    throw InternalError("process " + std::to_string(reader.value()) + " asks for a value that was not announced to it");
  }
  auto& shipment = m_shipments.at(shipped->second);
  if (shipment.failure) {
    refuse(shipment, message.tag);
  } else if (shipment.asked) {
    shipment.more.push_back(message.tag);
  } else {
    ask(shipped->second, shipment, message.tag);
  }
}

void Exchange::ask(TaskId task, Shipment& shipment, std::uint32_t tag) {
  shipment.asked = true;
  shipment.tag = tag;
  m_post(Asked{task});
}

void Exchange::refuse(Shipment const& shipment, std::uint32_t tag) {
  m_wire.send(shipment.reader,
              {.kind = Message::Kind::Refuse, .value = shipment.value, .tag = tag, .failure = shipment.failure});
}

void Exchange::refused(std::uint32_t tag, std::shared_ptr<FailureOrigin const> const& failure) {
  m_wire.cancel(m_receives[tag].owner, tag);
  m_post(CopyFailed{.transfer = end_receive(tag), .error = std::make_exception_ptr(RemoteFailure(failure))});
}

void Exchange::sent(TaskId task) {
  std::lock_guard const lock(m_mutex);
  auto& shipment = m_shipments.at(task);
  shipment.asked = false;
  m_post(granary::detail::Shipped{task});
  if (!shipment.more.empty()) {
    auto const tag = shipment.more.front();
    shipment.more.pop_front();
    ask(task, shipment, tag);
  } else if (shipment.let_go) {
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
  auto& shipment = m_shipments.at(task);
  if (shipment.failure) {
    m_shipments.erase(task);
    m_shipped.erase(shipped);
    return;
  }
  shipment.let_go = true;
  if (!shipment.asked) m_post(TaskDone{.task = task});
}

}  // namespace granary::detail

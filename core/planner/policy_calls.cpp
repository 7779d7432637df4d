// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/planner/policy_calls.hpp>

#include <exception>
#include <utility>

namespace granary::detail {
namespace {

// Of the exception that is being handled.
std::string text_of_exception() {
  try {
    throw;
  } catch (std::exception const& error) {
    return error.what();
  } catch (...) {
    return "an object that is no std::exception";
  }
}

}  // namespace

std::string PolicyCalls::who() const { return std::string(m_kind) + " '" + m_policy.policy_name() + "'"; }

void PolicyCalls::threw(char const* name, std::string const& subject) const {
  auto const what = who() + " has thrown in " + name + "()" + (subject.empty() ? "" : " for " + subject) + ": ";
  try {
    std::throw_with_nested(Error(what + text_of_exception()));
  } catch (...) {
    note(std::current_exception());
  }
}

void PolicyCalls::rethrow(char const* name) const {
  try {
    throw;
  } catch (Error const&) {
    throw;
  } catch (...) {
    std::throw_with_nested(Error(who() + " has thrown in " + name + "(): " + text_of_exception()));
  }
}

void PolicyCalls::blame(std::string const& what) const { note(std::make_exception_ptr(Error(who() + " " + what))); }

// The first one counts: others may follow from it.
void PolicyCalls::note(std::exception_ptr error) const {
  if (ended()) return;
  m_context.policy_fault = std::move(error);
  m_context.agenda.post(Agenda::Cancel{});
}

std::string PolicyCalls::name_of(DataId data) const {
  if (m_data == nullptr || !m_data->known(data)) return "data " + std::to_string(data.value());
  return "'" + (*m_data)[data].description.name + "'";
}

std::string PolicyCalls::name_of(NodeId node) const {
  return "memory node '" + m_context.topology.machine()[node].name + "'";
}

std::string PolicyCalls::name_of(DataId data, NodeId node) const { return name_of(data) + " in " + name_of(node); }

}  // namespace granary::detail

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/workloads/random_dag.hpp>
#include <granary/detail/workloads/registration.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace granary::workloads {
namespace {

constexpr double two_outputs = 0.2;  // fraction of the tasks that update nothing
constexpr double temporary = 0.25;   // fraction of the results

enum class Kind { Input, Result, Temporary };

struct DrawnAccess {
  std::uint64_t data;  // number, in the order of creation
  detail::AccessMode mode;
};

// In whole numbers, so that the sizes are the same everywhere.
Bytes draw_bytes(detail::Random& random, Bytes bytes) {
  auto const octave = (bytes / 4) << random.below(4);
  return octave + random.below(octave);
}

}  // namespace

// Calls new_datum(bytes, kind) for each datum before its first use, and new_task(accesses, flops) per task, in order.
template <class NewDatum, class NewTask>
void RandomDag::draw(NewDatum&& new_datum, NewTask&& new_task) const {
  detail::Random random(m_options.seed);
  std::uint64_t count = 0;
  auto const add = [&](Kind kind) {
    new_datum(draw_bytes(random, m_options.bytes), kind);
    return count++;
  };
  for (std::uint64_t input = 0; input < m_options.inputs; ++input) add(Kind::Input);
  std::vector<DrawnAccess> accesses;
  for (std::uint64_t task = 0; task < m_options.tasks; ++task) {
    accesses.clear();
    auto const existing = count;
    bool const updates = random.chance(m_options.updates);
    auto const reads = 1 + random.below(m_options.most_reads) + (updates ? 1 : 0);
    for (std::uint64_t read = 0; read < reads; ++read) {
      auto const from = random.chance(0.5) ? std::min(m_options.recent, existing) : existing;
      auto const data = existing - 1 - random.below(from);
      bool const known = std::ranges::any_of(accesses, [&](DrawnAccess const& access) { return access.data == data; });
      if (!known) accesses.push_back({data, detail::AccessMode::Read});
    }
    if (updates) {
      accesses.front().mode = detail::AccessMode::ReadWrite;
    } else {
      auto const outputs = random.chance(two_outputs) ? 2 : 1;
      for (int output = 0; output < outputs; ++output) {
        accesses.push_back({add(random.chance(temporary) ? Kind::Temporary : Kind::Result), detail::AccessMode::Write});
      }
    }
    new_task(accesses, m_options.flops * (0.5 + random.uniform()));
  }
}

RandomDag::RandomDag(Options options) : m_options(std::move(options)) {
  if (m_options.tasks == 0 || m_options.inputs == 0 || m_options.most_reads == 0 || m_options.recent == 0 ||
      m_options.bytes < 4 || !(m_options.flops >= 0) || !(m_options.updates >= 0 && m_options.updates <= 1)) {
    throw InvalidArgument(
        "a random graph needs at least one task, input, read and recent datum, data of at least 4 bytes, flops of at "
        "least 0, and a fraction of updates from 0 to 1");
  }
  // A datum has fewer than 4 * bytes, a task creates at most two.
  static_cast<void>(array_bytes({8, m_options.tasks}, m_options.bytes));
  static_cast<void>(array_bytes({4, m_options.inputs}, m_options.bytes));
  draw([this](Bytes bytes, Kind kind) { m_working_set += kind == Kind::Temporary ? 0 : bytes; },
       [this](std::vector<DrawnAccess> const&, double flops) { m_flops += flops; });
}

void RandomDag::submit(Submitter& submitter, DataHome home) const {
  auto const codelet = detail::add_codelet(submitter, "random", m_options.variant);
  std::vector<DataId> data;
  std::vector<detail::Access> accesses;
  auto const new_datum = [&](Bytes bytes, Kind kind) {
    auto name = "D" + std::to_string(data.size());
    switch (kind) {
      case Kind::Input:
        data.push_back(detail::add_home_data(submitter, home, std::move(name), bytes));
        break;
      case Kind::Result:
        data.push_back(detail::add_result_data(submitter, home, std::move(name), bytes));
        break;
      case Kind::Temporary:
        data.push_back(detail::add_temporary_data(submitter, std::move(name), bytes));
        break;
    }
  };
  draw(new_datum, [&](std::vector<DrawnAccess> const& drawn, double flops) {
    accesses.clear();
    for (auto const& access : drawn) accesses.push_back({data[access.data], access.mode});
    submitter.submit({codelet, accesses, 0, flops}, {});
  });
}

}  // namespace granary::workloads

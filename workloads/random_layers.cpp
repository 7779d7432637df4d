// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/base/checked.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/random.hpp>
#include <granary/detail/workloads/random_layers.hpp>
#include <granary/detail/workloads/registration.hpp>

#include <utility>
#include <vector>

namespace granary::workloads {

// Calls visit(bytes, flops, cpu_only, reads) per task, in order; `reads` are numbers of tasks in the previous layer.
template <class Visit>
void RandomLayers::draw(Visit&& visit) const {
  detail::Random random(m_options.seed);
  std::vector<std::uint64_t> reads;
  for (std::uint64_t layer = 0; layer < m_options.layers; ++layer) {
    for (std::uint64_t task = 0; task < m_options.width; ++task) {
      auto const bytes = m_options.bytes / 2 + random.below(m_options.bytes) + 1;
      double const flops = m_options.flops * (0.5 + random.uniform());
      bool const cpu_only = random.chance(m_options.cpu_only);
      reads.clear();
      auto const count = 1 + random.below(m_options.most_reads);
      for (std::uint64_t read = 0; read < count; ++read) reads.push_back(random.below(m_options.width));
      visit(bytes, flops, cpu_only, reads);
    }
  }
}

RandomLayers::RandomLayers(Options options) : m_options(std::move(options)) {
  if (m_options.layers == 0 || m_options.width == 0 || m_options.most_reads == 0 || m_options.bytes == 0 ||
      !(m_options.flops >= 0) || !(m_options.cpu_only >= 0 && m_options.cpu_only <= 1)) {
    throw InvalidArgument(
        "a random graph needs at least one layer, task, read and byte, flops of at least 0, and a fraction of "
        "CPU tasks from 0 to 1");
  }
  static_cast<void>(array_bytes({2, m_options.layers, m_options.width}, m_options.bytes));
  draw([this](Bytes bytes, double flops, bool, std::vector<std::uint64_t> const&) {
    m_working_set += bytes;
    m_flops += flops;
  });
}

void RandomLayers::submit(Submitter& submitter, DataHome home) const {
  auto const any = detail::add_codelet(submitter, "random", m_options.variant);
  auto const cpu = detail::add_codelet(submitter, "random_cpu", m_options.variant, detail::RunsOn::CpuOnly);
  std::vector<DataId> data;  // by task
  std::vector<detail::Access> accesses;
  draw([&](Bytes bytes, double flops, bool cpu_only, std::vector<std::uint64_t> const& reads) {
    auto const layer = data.size() / m_options.width;
    auto const own = detail::add_result_data(submitter, home, "D" + std::to_string(data.size()), bytes);
    accesses.assign(1, {own, detail::AccessMode::Write});
    for (auto const read : reads) {
      if (layer > 0) accesses.push_back({data[(layer - 1) * m_options.width + read], detail::AccessMode::Read});
    }
    data.push_back(own);
    submitter.submit({cpu_only ? cpu : any, accesses, 0, flops}, {});
  });
}

}  // namespace granary::workloads

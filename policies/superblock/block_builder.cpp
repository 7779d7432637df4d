// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/policies/superblock/block_builder.hpp>

#include <algorithm>

namespace granary::detail {
namespace {

// The number of equal candidates that are compared further.
constexpr std::size_t equals = 8;
// Readers that left their chains are removed when there are at least this many, and at least as many as the others.
constexpr std::size_t few_gone = 16;

// Frees the memory of empty lists: there may be very many data.
void free_if_empty(std::vector<TaskId>& tasks) {
  if (tasks.empty()) std::vector<TaskId>().swap(tasks);
}

}  // namespace

bool BlockBuilder::Better::operator()(Candidate const& a, Candidate const& b) const {
  auto const left = a.shared * b.inputs;
  auto const right = b.shared * a.inputs;
  if (left != right) return left > right;
  if (a.priority != b.priority) return a.priority > b.priority;
  return a.data < b.data;
}

DataId BlockBuilder::written(Task const& task) {
  for (auto const& access : task.accesses) {
    if (!access.repeated && writes(access.mode)) return access.data;
  }
  return {};
}

template <class Function>
void BlockBuilder::for_each_input(TaskId task, DataId written, Function&& function) const {
  for (auto const& access : m_view->task(task).accesses) {
    if (!access.repeated && access.data != written && reads(access.mode)) function(access.data);
  }
}

// Removes the readers that left their chains.
template <class Function>
void BlockBuilder::for_each_reader(DataId data, Function&& function) {
  auto& readers = m_data[data.index()].readers;
  for (std::size_t i = 0; i < readers.size();) {
    auto const slot = m_chain_of.find(readers[i]);
    if (slot == TaskSlots::none) {
      readers[i] = readers.back();
      readers.pop_back();
      continue;
    }
    function(readers[i], slot);
    ++i;
  }
}

void BlockBuilder::forget_gone_readers(DataId data) {
  auto& read = m_data[data.index()];
  if (read.reading > 0 && read.readers.size() <= std::size_t{2} * read.reading + few_gone) return;
  for_each_reader(data, [](TaskId, std::uint32_t) {});
  free_if_empty(read.readers);
}

void BlockBuilder::add(Task const& task) {
  for (auto const& access : task.accesses) {
    if (access.data.index() >= m_data.size()) m_data.resize(access.data.index() + 1);
  }
  DataId const own = written(task);
  if (!own.valid()) return;
  auto& datum = m_data[own.index()];
  m_chain_of.insert(task.id, own.value());
  datum.chain.push_back(task.id);
  if (datum.unfinished++ == 0) ++m_open;
  for_each_input(task.id, own, [&](DataId input) {
    auto& read = m_data[input.index()];
    read.readers.push_back(task.id);
    ++read.reading;
    ++datum.inputs;
    if (read.unfinished > 0 && !read.owner.valid()) ++datum.closing;
  });
}

void BlockBuilder::leave(Task const& task) {
  DataId const own = written(task);
  if (!own.valid()) return;
  auto& datum = m_data[own.index()];
  m_chain_of.erase(task.id);
  datum.chain.erase(std::ranges::find(datum.chain, task.id));
  free_if_empty(datum.chain);
  for_each_input(task.id, own, [&](DataId input) {
    --datum.inputs;
    --m_data[input.index()].reading;
    forget_gone_readers(input);
  });
}

void BlockBuilder::ended(Task const& task) {
  DataId const own = written(task);
  if (!own.valid()) return;
  auto& datum = m_data[own.index()];
  if (--datum.unfinished > 0) return;
  if (datum.owner.valid()) {
    datum.owner = {};
  } else {
    open_readers(own, task.id);
  }
  --m_open;
}

void BlockBuilder::own(DataId data, GroupId group, std::uint64_t block) {
  auto& datum = m_data[data.index()];
  if (!datum.owner.valid()) open_readers(data, datum.chain.front());
  datum.owner = group;
  datum.block = block;
  m_candidates.erase(data.index());
}

// The same readers wait again.
void BlockBuilder::disown(DataId data) {
  auto& datum = m_data[data.index()];
  datum.owner = {};
  for_each_reader(data, [&](TaskId reader, std::uint32_t written) {
    if (!(reader < datum.chain.front())) ++m_data[written].closing;
  });
}

// The datum that these readers wait for has an owner now, or no writers left.
void BlockBuilder::open_readers(DataId data, TaskId after) {
  for_each_reader(data, [&](TaskId reader, std::uint32_t written) {
    auto& closed = m_data[written];
    if (reader < after || closed.closing == 0) return;
    if (--closed.closing == 0) touch(written);
  });
}

// Once per growth.
bool BlockBuilder::suits_block(DataId data) {
  auto& datum = m_data[data.index()];
  if (datum.judged != m_growth) {
    datum.judged = m_growth;
    datum.suits = suits(data, m_block.group);
  }
  return datum.suits;
}

// The group's share of the machine's speed on such tasks.
double BlockBuilder::part_of(GroupId group, TaskId seed) const {
  auto const& groups = m_view->topology().groups();
  double all = 0;
  double own = 0;
  for (std::uint32_t g = 0; g < groups.size(); ++g) {
    if (!m_view->task(seed).allowed_on(GroupId(g))) continue;
    double const speed = static_cast<double>(groups[g].workers.size()) / seconds(m_view->kernel_time(seed, GroupId(g)));
    all += speed;
    if (GroupId(g) == group) own = speed;
  }
  return own / all;
}

void BlockBuilder::start(TaskId seed, GroupId group) {
  ++m_growth;
  for (auto const data : m_ranked) m_candidates.erase(data);
  m_ranked.clear();
  auto const& node = m_view->topology().machine()[m_view->topology().group(group).node];
  m_block = {.group = group,
             .room = static_cast<double>(node.capacity) * m_fill,
             .most_data = static_cast<double>(m_open) * part_of(group, seed) / m_share};
}

bool BlockBuilder::admit(DataId data) {
  auto const& datum = m_data[data.index()];
  double inputs = m_block.input_bytes;
  for (TaskId const task : datum.chain) {
    for_each_input(task, data, [&](DataId input) {
      auto const& read = m_data[input.index()];
      bool const there = read.in_block == m_growth || read.owner == m_block.group;
      if (!there) inputs += static_cast<double>(m_view->bytes(input));
    });
  }
  double const bytes = m_block.bytes + static_cast<double>(m_view->bytes(data));
  double const steps = std::max(m_block.steps, static_cast<double>(datum.chain.size()));
  bool const fits =
      bytes + inputs / steps <= m_block.room && static_cast<double>(m_block.data + 1) <= m_block.most_data;
  if (m_block.data > 0 && !fits) return false;
  m_block.bytes = bytes;
  m_block.input_bytes = inputs;
  m_block.steps = steps;
  ++m_block.data;
  return true;
}

void BlockBuilder::join(DataId data) {
  enter(data);
  for (TaskId const task : m_data[data.index()].chain) {
    for_each_input(task, data, [&](DataId input) { enter(input); });
  }
}

void BlockBuilder::enter(DataId input) {
  if (m_data[input.index()].in_block == m_growth) return;
  m_data[input.index()].in_block = m_growth;
  for_each_reader(input, [&](TaskId, std::uint32_t written) {
    auto& datum = m_data[written];
    if (datum.owner.valid()) return;
    if (datum.beside != m_growth) {
      datum.beside = m_growth;
      datum.shared = 0;
    }
    ++datum.shared;
    touch(written);
  });
}

void BlockBuilder::touch(std::uint32_t data) {
  if (std::exchange(m_data[data].touched, true)) return;
  m_touched.push_back(data);
}

void BlockBuilder::rank_touched() {
  for (auto const data : m_touched) {
    auto& datum = m_data[data];
    datum.touched = false;
    if (datum.beside != m_growth || datum.owner.valid() || datum.closing > 0 || datum.chain.empty()) continue;
    if (datum.judged == m_growth && !datum.suits) continue;
    auto const priority = m_view->task(datum.chain.front()).priority;
    m_candidates.set(data, {datum.shared, std::max<std::uint64_t>(datum.inputs, 1), priority, data});
    m_ranked.push_back(data);
  }
  m_touched.clear();
}

// The number of readers, writing data next to the block, of the inputs that the datum would add.
std::uint64_t BlockBuilder::neighbours(DataId data) {
  std::uint64_t count = 0;
  for_each_input(m_data[data.index()].chain.back(), data, [&](DataId input) {
    if (m_data[input.index()].in_block == m_growth) return;
    for_each_reader(input, [&](TaskId, std::uint32_t written) {
      auto const& reader = m_data[written];
      if (reader.beside == m_growth && !reader.owner.valid()) ++count;
    });
  });
  return count;
}

DataId BlockBuilder::best() {
  rank_touched();
  std::vector<Candidate> compared;
  DataId best;
  std::uint64_t most = 0;
  while (!m_candidates.empty() && compared.size() < equals) {
    Candidate const candidate = m_candidates.top_key();
    if (!suits_block(DataId(candidate.data))) {
      m_candidates.erase(candidate.data);
      continue;
    }
    if (!compared.empty() && candidate.shared * compared[0].inputs != compared[0].shared * candidate.inputs) break;
    auto const count = candidate.shared < candidate.inputs ? neighbours(DataId(candidate.data)) : 0;
    if (!best.valid() || count > most) {
      best = DataId(candidate.data);
      most = count;
    }
    compared.push_back(candidate);
    m_candidates.erase(candidate.data);
    if (candidate.shared == candidate.inputs) break;
  }
  for (auto const& candidate : compared) {
    if (DataId(candidate.data) != best) m_candidates.set(candidate.data, candidate);
  }
  return best;
}

}  // namespace granary::detail

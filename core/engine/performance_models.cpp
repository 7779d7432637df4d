// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/performance_models.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

namespace granary::detail {
namespace {

constexpr std::uint64_t most_weight = 16;
constexpr double most_change = 4;
constexpr std::uint32_t unnamed = ~std::uint32_t{0};
constexpr char const* alone_suffix = " alone";

// The class is a double's exponent followed by the first three bits of its fraction; all bits together grow nearly as
// its logarithm.
constexpr int bits_below_class = 49;

double position(double flops) {
  return static_cast<double>(std::bit_cast<std::uint64_t>(flops)) / static_cast<double>(1ULL << bits_below_class);
}

bool states_flops(double flops) { return flops >= 1 && std::isfinite(flops); }

double median(double a, double b, double c) { return std::max(std::min(a, b), std::min(std::max(a, b), c)); }

}  // namespace

SizeClass SizeClass::of(double flops) {
  if (!states_flops(flops)) return SizeClass(0);
  return SizeClass(static_cast<std::uint32_t>(std::bit_cast<std::uint64_t>(flops) >> bits_below_class));
}

double SizeClass::least_flops() const {
  return std::bit_cast<double>(static_cast<std::uint64_t>(m_index) << bits_below_class);
}

PerformanceModels::PerformanceModels(std::vector<KernelModel> const& known, Prior const& prior) : m_prior(prior) {
  for (auto const& model : known) {
    auto& classes = m_models[models_of({model.codelet, model.variant})][static_cast<std::size_t>(model.kind)].classes;
    auto& entry = *find(classes, SizeClass::of(model.flops));
    entry.mean = entry.first_mean = model.mean;
    entry.samples = entry.first_samples = model.samples;
  }
}

std::uint32_t PerformanceModels::models_of(Name const& name) {
  auto const [entry, added] = m_names.try_emplace(name, static_cast<std::uint32_t>(m_models.size()));
  if (added) m_models.emplace_back();
  return entry->second;
}

void PerformanceModels::codelet_added(CodeletId id, Codelet const& codelet) {
  if (id.index() >= m_of.size()) m_of.resize(id.index() + 1, unnamed);
  auto const at = m_of[id.index()] = models_of({codelet.name, codelet.variant});
  auto const alone = m_names.find({codelet.name, codelet.variant + alone_suffix});
  if (alone == m_names.end()) return;
  for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
    auto& classes = m_models[at][kind].classes;
    if (!classes.empty()) continue;
    for (auto const& of : m_models[alone->second][kind].classes) classes.push_back({.size = of.size, .mean = of.mean});
  }
}

// The class's entry; created if there is none.
std::vector<PerformanceModels::Known>::iterator PerformanceModels::find(std::vector<Known>& classes, SizeClass size) {
  auto const place = std::lower_bound(classes.begin(), classes.end(), size,
                                      [](Known const& known, SizeClass wanted) { return known.size < wanted; });
  if (place != classes.end() && place->size == size) return place;
  return classes.insert(place, Known{.size = size});
}

double PerformanceModels::per_flop(std::vector<Known> const& classes, double flops) {
  auto const size = SizeClass::of(flops);
  auto const above = std::lower_bound(classes.begin(), classes.end(), size,
                                      [](Known const& known, SizeClass wanted) { return known.size < wanted; });
  if (above != classes.end() && above->size == size) return above->mean;
  bool const none_below = above == classes.begin() || std::prev(above)->size == SizeClass::of(0);
  if (above == classes.end()) return none_below ? 0 : std::prev(above)->mean;
  if (none_below) return above->mean;
  auto const below = std::prev(above);
  // From the middle of one class to the middle of the other.
  double const from = position(below->size.least_flops()) + 0.5;
  double const to = position(above->size.least_flops()) + 0.5;
  double const share = (position(flops) - from) / (to - from);
  return below->mean + share * (above->mean - below->mean);
}

Duration PerformanceModels::kernel_time(CodeletId codelet, double flops, WorkerKind kind) const {
  auto const k = static_cast<std::size_t>(kind);
  static std::vector<Known> const nothing;
  bool const named = codelet.index() < m_of.size() && m_of[codelet.index()] != unnamed;
  auto const& classes = named ? m_models[m_of[codelet.index()]][k].classes : nothing;
  double estimate = 0;
  if (states_flops(flops)) {
    double const known = per_flop(classes, flops);
    estimate = flops * (known > 0 ? known : 1 / m_prior.flops_per_second[k]);
  } else {
    bool const known = !classes.empty() && classes.front().size == SizeClass::of(0);
    estimate = known ? classes.front().mean : seconds(m_prior.without_flops);
  }
  // A year is longer than any kernel and fits in a Duration.
  return std::max(from_seconds(std::min(estimate, 3e7)), Duration{1});
}

bool PerformanceModels::measured(CodeletId codelet, WorkerKind kind) const {
  bool const named = codelet.index() < m_of.size() && m_of[codelet.index()] != unnamed;
  return named && !m_models[m_of[codelet.index()]][static_cast<std::size_t>(kind)].classes.empty();
}

void PerformanceModels::learn(Known& known, double measured) {
  double const counted = known.recents == 0   ? measured
                         : known.recents == 1 ? std::min(measured, known.recent[0])
                                              : median(measured, known.recent[0], known.recent[1]);
  known.recent = {measured, known.recent[0]};
  known.recents = std::min(known.recents + 1, 2U);
  ++known.samples;
  known.changed = true;
  if (known.samples <= 3 && known.first_samples == 0) {
    known.mean = counted;  // the median of the measurements so far
    return;
  }
  double const limited = std::clamp(counted, known.mean / most_change, known.mean * most_change);
  known.mean += (limited - known.mean) / static_cast<double>(std::min(known.samples, most_weight));
}

void PerformanceModels::observe_kernel(CodeletId codelet, double flops, WorkerKind kind, Duration measured) {
  if (codelet.index() >= m_of.size() || m_of[codelet.index()] == unnamed) return;
  auto& model = m_models[m_of[codelet.index()]][static_cast<std::size_t>(kind)];
  auto const size = SizeClass::of(flops);
  auto& known = *find(model.classes, size);
  double const whole = std::max(seconds(measured), 1e-9);
  double const value = size == SizeClass::of(0) ? whole : whole / flops;
  m_changed = true;
  if (model.warm) {
    learn(known, value);
  } else {
    model.warm = true;
    if (known.samples > 0) return;
    known.mean = value;
    known.changed = true;
  }
}

KernelModel PerformanceModels::describe(Name const& name, std::size_t kind, Known const& known) {
  return {name.first, name.second, static_cast<WorkerKind>(kind), known.size.least_flops(), known.mean, known.samples};
}

std::vector<KernelModel> PerformanceModels::learnt() const {
  std::vector<KernelModel> all;
  for (auto const& [name, at] : m_names) {
    for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
      for (auto const& known : m_models[at][kind].classes) all.push_back(describe(name, kind, known));
    }
  }
  return all;
}

void PerformanceModels::merge_into(std::vector<KernelModel>& stored) const {
  auto const key = [](KernelModel const& m) { return std::tie(m.codelet, m.variant, m.kind, m.flops); };
  std::map<std::tuple<std::string, std::string, WorkerKind, double>, KernelModel> merged;
  for (auto& model : stored) merged.insert_or_assign(key(model), model);
  for (auto const& [name, at] : m_names) {
    for (std::size_t kind = 0; kind < worker_kinds; ++kind) {
      for (auto const& known : m_models[at][kind].classes) {
        if (!known.changed) continue;
        auto ours = describe(name, kind, known);
        auto const [place, absent] = merged.try_emplace(key(ours), ours);
        auto& theirs = place->second;
        auto const news = known.samples - known.first_samples;
        if (absent) {
          theirs.samples = news;
        } else if (theirs.samples == 0 || (theirs.samples == known.first_samples && theirs.mean == known.first_mean)) {
          theirs = ours;
        } else if (news > 0) {
          auto const weight = static_cast<double>(std::min(news, most_weight));
          auto const other = static_cast<double>(std::min(theirs.samples, most_weight));
          theirs.mean = (theirs.mean * other + ours.mean * weight) / (other + weight);
          theirs.samples += news;
        }
      }
    }
  }
  stored.clear();
  for (auto& [name, model] : merged) stored.push_back(std::move(model));
}

}  // namespace granary::detail

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiment.hpp"

#include <granary/detail/bounds/bounds.hpp>
#include <granary/detail/bounds/transfer_bounds.hpp>
#include <granary/detail/core/base/error.hpp>
#include <granary/detail/policies/registry.hpp>
#include <granary/detail/schedules/schedule.hpp>
#include <granary/detail/simulator/platform_truth.hpp>
#include <granary/detail/trace/html_report.hpp>
#include <granary/detail/trace/trace_file.hpp>
#include <granary/detail/workloads/priorities.hpp>
#include <granary/detail/workloads/task_graph_file.hpp>

#include <algorithm>
#include <numeric>

#include "apps/common/print.hpp"
#include "apps/simulation/bounded_machine.hpp"
#include "apps/simulation/make_workload.hpp"
#include "output.hpp"

namespace granary::app {

using namespace detail;

namespace {

template <class Number>
Number median(std::vector<Number> values) {
  auto const middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

RunFigures medians(std::vector<RunFigures> const& runs) {
  auto result = runs.front();
  auto const take = [&](auto member) {
    std::vector<std::remove_cvref_t<decltype(result.*member)>> values;
    for (auto const& run : runs) values.push_back(run.*member);
    result.*member = median(std::move(values));
  };
  take(&RunFigures::seconds);
  take(&RunFigures::host_to_device);
  take(&RunFigures::device_to_device);
  take(&RunFigures::device_to_host);
  take(&RunFigures::total);
  take(&RunFigures::evictions);
  take(&RunFigures::reloads);
  take(&RunFigures::idle_seconds);
  take(&RunFigures::decision_seconds);
  take(&RunFigures::wall_seconds);
  return result;
}

// One problem on one selection of workers.
class ProblemRuns {
 public:
  ProblemRuns(Options const& options, Platform const& platform, ProblemSize const& size,
              std::function<void(Result const&)> const& done)
      : m_options(options),
        m_platform(platform),
        m_precision(options.element()),
        m_size(size),
        m_problem(make_problem(options, size)),
        m_graph(record(*m_problem.workload, platform, m_precision)),
        m_done(done) {
    require_countable_time(m_graph, platform, m_precision);
    if (options.save_graph)
      write_text(*options.save_graph, workloads::TaskGraphFile::record(*m_problem.workload).to_json());
    m_result.platform = platform.name;
    m_result.algorithm = m_problem.workload->name();
    m_result.graph = options.graph.value_or("");
    m_result.loaded = options.load;
    m_result.tiles = options.graph ? 0 : size.tiles;
    m_result.tile = options.graph ? 0 : size.tile;
    m_result.n = options.graph ? 0 : size.n > 0 ? size.n : size.tiles * size.tile;
    m_result.precision = options.element();
    m_result.device_workers = platform.workers(WorkerKind::Device);
    m_result.devices = static_cast<std::uint32_t>(
        std::ranges::count(with_whole_devices(platform).workers, WorkerKind::Device, &Worker::kind));
    m_result.cpus = platform.workers(WorkerKind::Cpu);
    m_result.flops = m_problem.workload->flops();
    m_result.working_set = m_problem.workload->working_set();
    m_result.tasks = m_graph.tasks().size();
    m_result.grid = m_options.grid;
  }

  void run() {
    set_bounds();
    for (auto const& memory : m_options.memory) {
      m_result.memory = set_memory(m_platform, memory, m_result.working_set / processes());
      auto const nodes = static_cast<std::uint32_t>(m_platform.limited_nodes().size());
      bool const bounded = !m_options.graph && !m_platform.home_in_place() && processes() == 1;
      m_result.io_bound = bounded ? io_bound(m_options, m_size, m_result.memory, nodes) : Bytes{0};
      for (auto const& depth : m_options.depth) run_policies(depth);
    }
  }

 private:
  [[nodiscard]] std::uint32_t processes() const { return m_result.grid ? m_result.grid->processes() : 1; }

  void set_bounds() {
    if (!m_platform.home_in_place()) m_result.compulsory = compulsory_traffic(m_graph).read;
    if (!m_options.bounds) return;
    PlatformTruth const exact(m_platform, {.precision = m_precision, .jitter = 0});
    auto whole = with_whole_devices(m_platform);
    auto const workers = whole.workers;
    for (std::uint32_t p = 1; p < processes(); ++p)
      whole.workers.insert(whole.workers.end(), workers.begin(), workers.end());
    auto const bounds = time_bounds(m_graph, whole, times_for_bounds(m_platform, exact, m_precision),
                                    {.most_paths = m_options.bound_paths});
    m_result.upper_bound_flops = bounds.upper_bound_flops();
    m_result.upper_bound_excess = bounds.excess;
    m_result.bus_limit = bus_limit(m_platform.machine, bounds.mixed);
  }

  [[nodiscard]] Network network() const {
    auto const network = m_platform.network.value_or(Network{});
    if (m_options.network) return parse_network(*m_options.network, network);
    if (processes() > 1 && !m_platform.network) {
      throw InvalidArgument("platform '" + m_platform.name +
                            "' has no network: --network gives its bandwidth and latency, such as 5GB/s:2us");
    }
    return network;
  }

  // The scale of the true times that makes their area bound equal to the platform's (Static, section IV).
  double truth_scale(RunSettings const& settings) {
    if (m_options.truth_error == 0) return 1;
    auto const area = [&](PlatformTruth const& truth) {
      return seconds(
          area_bound(m_graph, with_whole_devices(m_platform), times_for_bounds(m_platform, truth, m_precision)));
    };
    if (m_truth_scales.empty()) m_truth_scales.push_back(area(PlatformTruth(m_platform, {.precision = m_precision})));
    while (m_truth_scales.size() < settings.truth_seed + 2) {
      auto drawn = settings;
      drawn.truth_seed = m_truth_scales.size() - 1;
      drawn.truth_scale = 1;
      double const changed = area(truth_of(m_platform, m_precision, drawn));
      m_truth_scales.push_back(changed > 0 ? m_truth_scales.front() / changed : 1);
    }
    return m_truth_scales[settings.truth_seed + 1];
  }

  [[nodiscard]] std::vector<SlowWorkers::From> slow_workers() const {
    std::vector<SlowWorkers::From> slow;
    auto const& workers = m_platform.machine.workers;
    for (auto const& [name, factor, start] : m_options.slow_workers) {
      auto const found = std::ranges::find(workers, name, &Worker::name);
      if (found == workers.end()) {
        throw InvalidArgument("--slow-worker: platform '" + m_platform.name + "' has no worker '" + name +
                              "'; its first one is '" + workers.front().name + "'");
      }
      slow.push_back(
          {WorkerId(static_cast<std::uint32_t>(found - workers.begin())), factor, Instant(from_seconds(start))});
    }
    return slow;
  }

  void run_policies(std::optional<std::uint32_t> depth) {
    RunSettings settings{.scheduler = {},
                         .eviction = {},
                         .planner = {},
                         .booking = m_options.booking,
                         .charge_decisions = m_options.charge_decisions,
                         .jitter = m_options.jitter,
                         .estimator_error = m_options.estimator_error,
                         .truth_error = m_options.truth_error,
                         .slow = slow_workers()};
    settings.planner.depth = m_platform.depth.value_or(settings.planner.depth);
    if (m_platform.device_issue > 0) settings.planner.device_issue = m_platform.device_issue;
    if (depth) settings.planner.depth = *depth;
    if (m_result.grid) settings.cluster = ClusterSettings{*m_result.grid, network()};
    settings.planner.transfers_by_priority = m_options.transfers_by_priority;
    for (auto const& scheduler : m_options.schedulers) {
      settings.scheduler = scheduler;
      auto const evictions =
          m_options.evictions.empty() ? std::vector{default_eviction(scheduler)} : m_options.evictions;
      for (auto const& eviction : evictions) {
        settings.eviction = eviction;
        run_seeds(settings);
      }
    }
  }

  void run_seeds(RunSettings settings) {
    m_result.scheduler = settings.scheduler;
    m_result.eviction = settings.eviction;
    m_result.depth = settings.planner.depth;
    std::vector<RunFigures> runs;
    OrderTrace order;
    Trace trace;
    Schedule schedule;
    for (std::uint32_t run = 0; run < m_options.seeds * m_options.truth_seeds; ++run) {
      settings.seed = run % m_options.seeds;
      settings.truth_seed = run / m_options.seeds;
      settings.truth_scale = truth_scale(settings);
      auto const* const priorities = m_problem.has_priorities ? nullptr : &priorities_for(settings);
      Case const problem{m_platform, *m_problem.workload, m_precision, priorities, m_result.tasks};
      try {
        if (settings.cluster) {
          runs.push_back(simulate_cluster(problem, settings, wanted(trace)));
          continue;
        }
        runs.push_back(simulate(problem, settings, m_options.order ? &order : nullptr, wanted(trace),
                                m_options.save_schedule ? &schedule : nullptr));
      } catch (...) {
        write(trace);
        throw;
      }
    }
    if (m_options.order) write_text(*m_options.order, order.to_csv(m_platform.machine));
    if (m_options.save_schedule) write_text(*m_options.save_schedule, format_schedule(schedule));
    m_result.figures = medians(runs);
    m_result.seeds = static_cast<std::uint32_t>(runs.size());
    m_result.seconds_of_runs.clear();
    for (auto const& run : runs) m_result.seconds_of_runs.push_back(run.seconds);
    auto const [least, most] = std::ranges::minmax(runs, {}, &RunFigures::seconds);
    m_result.seconds_min = least.seconds;
    m_result.seconds_max = most.seconds;
    m_result.seconds_mean =
        std::accumulate(runs.begin(), runs.end(), 0.0, [](double sum, auto const& run) { return sum + run.seconds; }) /
        static_cast<double>(runs.size());
    write(trace);
    m_done(m_result);
  }

  // The trace, if a file is to be written from it.
  [[nodiscard]] Trace* wanted(Trace& trace) const { return m_options.trace || m_options.report ? &trace : nullptr; }
  void write(Trace& trace) const {
    if (wanted(trace) == nullptr) return;
    describe(trace, m_result);
    if (m_options.trace) write_trace(trace, *m_options.trace);
    if (m_options.report) write_html_report(trace, *m_options.report);
  }

  // Schedulers that believe the true times get the same priorities for every seed.
  std::vector<std::int64_t> const& priorities_for(RunSettings const& settings) {
    if (m_options.priorities == "starpu") {
      if (m_priorities.empty()) m_priorities = workloads::starpu_cholesky_priorities(m_result.tiles);
    } else if (m_options.priorities == "library") {
      if (m_priorities.empty()) m_priorities = workloads::library_cholesky_priorities(m_result.tiles);
    } else if (m_options.priorities == "none") {
      m_priorities.resize(m_graph.tasks().size());
    } else if (m_priorities.empty() || m_options.estimator_error > 0) {
      m_priorities = priorities_of(m_graph, m_platform, m_precision, settings);
    }
    return m_priorities;
  }

  Options const& m_options;
  Platform m_platform;
  Precision m_precision;
  ProblemSize m_size;
  Problem m_problem;
  GraphRecorder m_graph;
  std::vector<std::int64_t> m_priorities;
  std::vector<double> m_truth_scales;  // by seed, behind the area bound of the platform's times
  std::function<void(Result const&)> const& m_done;
  Result m_result;
};

}  // namespace

void run_experiment(Options const& options, std::function<void(Result const&)> const& done) {
  auto const whole = find_platform(options.platform);
  if (options.gpu_workers > 1 && whole.workers(WorkerKind::Device) == 0) {
    throw InvalidArgument("--gpu-workers " + std::to_string(options.gpu_workers) + ": platform '" + whole.name +
                          "' has no devices");
  }
  for (auto const& gpus : options.gpus) {
    for (auto const& cpus : options.cpus) {
      auto platform = whole;
      if (gpus || cpus) platform.select(gpus, cpus);
      if (options.half_duplex) platform.share_directions();
      platform.share_devices(options.gpu_workers);
      for (auto const& size : options.sizes()) ProblemRuns(options, platform, size, done).run();
    }
  }
}

}  // namespace granary::app

// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <granary/detail/core/engine/model_file.hpp>

#include <granary/detail/core/base/error.hpp>
#include <granary/detail/core/base/partial_file.hpp>
#include <granary/detail/core/base/printable.hpp>
#include <granary/detail/core/base/text_file.hpp>

#include <nlohmann/json.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>

namespace granary::detail {
namespace {

using nlohmann::json;

constexpr int format_version = 1;
constexpr std::array<std::string_view, worker_kinds> kind_names = {"cpu", "device"};

// A file that a newer granary wrote: rewriting it would lose what this version does not know.
class NewerFormat final : public DataError {
 public:
  using DataError::DataError;
};

[[noreturn]] void fail(char const* what, std::string const& file, int error_number) {
  throw Error(std::string(what) + " " + file + ": " + std::strerror(error_number));
}

[[noreturn]] void refuse(json const& entry, char const* field, std::string const& why) {
  throw DataError("field '" + std::string(field) + "' is " + excerpt(entry.at(field).dump(), 60) + " and " + why);
}

double positive(json const& entry, char const* field) {
  auto const& value = entry.at(field);
  if (!value.is_number() || !(value.get<double>() > 0) || !std::isfinite(value.get<double>()))
    refuse(entry, field, "must be above zero");
  return value.get<double>();
}

// The range that Topology accepts.
double from_to(json const& entry, char const* field, double least, double most) {
  auto const& value = entry.at(field);
  if (!value.is_number() || !(value.get<double>() >= least && value.get<double>() <= most))
    refuse(entry, field, "must be a number from " + json(least).dump() + " to " + json(most).dump());
  return value.get<double>();
}

template <class Number>
Number whole(json const& entry, char const* field) {
  auto const& value = entry.at(field);
  constexpr auto most = std::numeric_limits<Number>::max();
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > static_cast<std::uint64_t>(most))
    refuse(entry, field, "must be a whole number up to " + std::to_string(most));
  return value.get<Number>();
}

std::string text(json const& entry, char const* field) { return entry.at(field).get<std::string>(); }

KernelModel kernel_from(json const& entry) {
  KernelModel model;
  model.codelet = text(entry, "codelet");
  model.variant = text(entry, "variant");
  auto const found = std::ranges::find(kind_names, text(entry, "kind"));
  if (found == kind_names.end()) refuse(entry, "kind", "must be \"cpu\" or \"device\"");
  model.kind = static_cast<WorkerKind>(found - kind_names.begin());
  model.samples = whole<std::uint64_t>(entry, "samples");
  bool const with_flops = entry.contains("flops");
  if (with_flops) model.flops = positive(entry, "flops");
  model.mean = positive(entry, with_flops ? "seconds_per_flop" : "seconds");
  return model;
}

json to_json(KernelModel const& model) {
  json entry = {{"codelet", model.codelet},
                {"variant", model.variant},
                {"kind", name_of(model.kind)},
                {"samples", model.samples}};
  if (model.flops > 0) entry["flops"] = model.flops;
  entry[model.flops > 0 ? "seconds_per_flop" : "seconds"] = model.mean;
  return entry;
}

CopyModel link_from(json const& entry) {
  return {text(entry, "from"), text(entry, "to"), from_to(entry, "bytes_per_second", least_bandwidth, most_bandwidth),
          from_seconds(from_to(entry, "latency_seconds", 0, seconds(most_latency)))};
}

MachineModels parse(std::string const& content) {
  if (json_nests_deeper(content, most_json_depth))
    throw DataError("its brackets nest deeper than " + std::to_string(most_json_depth) + " levels");
  auto const root = json::parse(content);
  auto const version = whole<int>(root, "format");
  if (version > format_version) {
    throw NewerFormat("it has format " + std::to_string(version) + ", and this granary knows " +
                      std::to_string(format_version));
  }
  if (version != format_version) throw DataError("it has the unknown format " + std::to_string(version));
  MachineModels models;
  auto const& machine = root.at("machine");
  models.host = text(machine, "host");
  models.cpu = text(machine, "cpu");
  models.cores = whole<unsigned>(machine, "cores");
  for (auto const& entry : root.at("kernels")) models.kernels.push_back(kernel_from(entry));
  for (auto const& entry : root.at("links")) models.links.push_back(link_from(entry));
  return models;
}

std::string format(MachineModels const& models) {
  json root = {{"format", format_version},
               {"machine", {{"host", models.host}, {"cpu", models.cpu}, {"cores", models.cores}}},
               {"kernels", json::array()},
               {"links", json::array()}};
  for (auto const& model : models.kernels) root["kernels"].push_back(to_json(model));
  for (auto const& link : models.links) {
    root["links"].push_back({{"from", link.from},
                             {"to", link.to},
                             {"bytes_per_second", link.bytes_per_second},
                             {"latency_seconds", seconds(link.latency)}});
  }
  return root.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

// Held while a process reads, changes and writes the file. If the file system has no locks, or another process holds
// this one for longer than an update takes, the update proceeds: it may lose the other's part, but never damages the
// file.
class UpdateLock {
 public:
  explicit UpdateLock(std::filesystem::path const& file)
      : m_descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644)) {
    if (m_descriptor < 0) fail("cannot write", file.string(), errno);
    for (int tries = 0; tries < 200 && ::flock(m_descriptor, LOCK_EX | LOCK_NB) != 0; ++tries) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  ~UpdateLock() { ::close(m_descriptor); }
  UpdateLock(UpdateLock const&) = delete;
  UpdateLock& operator=(UpdateLock const&) = delete;

 private:
  int m_descriptor;
};

}  // namespace

CopyModel const* MachineModels::link(std::string_view from, std::string_view to) const {
  auto const found = std::ranges::find_if(links, [&](CopyModel const& l) { return l.from == from && l.to == to; });
  return found != links.end() ? &*found : nullptr;
}

std::string_view name_of(WorkerKind kind) { return kind_names[static_cast<std::size_t>(kind)]; }

std::optional<MachineModels> read_models(std::filesystem::path const& file) {
  std::error_code error;
  auto const status = std::filesystem::status(file, error);
  if (status.type() == std::filesystem::file_type::not_found) return std::nullopt;
  if (error) fail("cannot read", file.string(), error.value());
  auto const what = "file of performance models " + file.string() + ": ";
  // Nobody may ever write into a FIFO.
  if (status.type() != std::filesystem::file_type::regular) throw DataError(what + "it is not a regular file");
  try {
    return parse(read_text_file(file));
  } catch (json::exception const& e) {
    throw DataError(what + excerpt(e.what(), 300));
  } catch (NewerFormat const& e) {
    throw NewerFormat(what + e.what());
  } catch (DataError const& e) {
    throw DataError(what + e.what());
  }
}

void update_models(std::filesystem::path const& file, std::function<void(MachineModels&)> const& change) {
  std::error_code error;
  std::filesystem::create_directories(file.parent_path(), error);
  if (error) fail("cannot make the folder", file.parent_path().string(), error.value());
  UpdateLock const lock(file.string() + ".lock");
  MachineModels models;
  try {
    models = read_models(file).value_or(MachineModels{});
  } catch (NewerFormat const&) {
    throw;
  } catch (DataError const&) {
    models = {};
  }
  change(models);
  detail::PartialFile whole(file.string());
  whole.append(format(models));
  whole.commit();
}

}  // namespace granary::detail

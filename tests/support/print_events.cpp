// Copyright the granary developers. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support/print_events.hpp"

namespace granary::test {

using namespace detail;

namespace {

template <class Number>
std::string number(Number value) {
  return std::to_string(value);
}
template <class Tag, class Rep>
std::string number(Id<Tag, Rep> id) {
  return id.valid() ? std::to_string(id.value()) : "-";
}

std::string text(Place const& place) {
  switch (place.slot) {
    case Slot::Origin:
      return "origin on node " + number(place.node);
    case Slot::Home:
      return "home on node " + number(place.node);
    case Slot::Mirror:
      return "mirror on node " + number(place.node);
    default:
      return "node " + number(place.node) + " + " + number(place.offset);
  }
}

struct Print {
  std::string operator()(AddCodelet const& e) const { return "codelet " + e.codelet.name; }
  std::string operator()(AddData const& e) const {
    auto const& d = e.description;
    return "data " + d.name + ", " + number(d.bytes) + " bytes, at most " + number(d.bound) + ", origin " +
           number(d.origin) + ", home " + number(d.home) + (d.origin_is_home ? ", the same" : "") +
           (d.in_place ? ", in place" : "");
  }
  std::string operator()(RetainData const& e) const { return "retain data " + number(e.data); }
  std::string operator()(ReleaseData const& e) const { return "release data " + number(e.data); }
  std::string operator()(TaskSubmission const& e) const {
    std::string line = "submit codelet " + number(e.codelet) + ":";
    for (auto const& access : e.accesses) {
      line +=
          std::string(" ") + (reads(access.mode) ? "r" : "") + (writes(access.mode) ? "w" : "") + number(access.data);
    }
    return line;
  }
  std::string operator()(CopyDone const& e) const { return "copy " + number(e.transfer) + " done"; }
  std::string operator()(CopyFailed const& e) const { return "copy " + number(e.transfer) + " failed"; }
  std::string operator()(Sized const& e) const {
    return "task " + number(e.task) + " makes " + number(e.bytes) + " bytes of data " + number(e.data);
  }
  std::string operator()(TaskDone const& e) const { return "task " + number(e.task) + " done"; }
  std::string operator()(TaskFailed const& e) const { return "task " + number(e.task) + " failed"; }
  std::string operator()(TaskSkipped const& e) const { return "task " + number(e.task) + " skipped"; }
  std::string operator()(TaskReturned const& e) const {
    return "task " + number(e.task) + (e.changed ? " returned, its data changed" : " returned");
  }
  std::string operator()(Asked const& e) const { return "task " + number(e.task) + " asked for"; }
  std::string operator()(WorkerBack const& e) const { return "worker " + number(e.worker) + " is back"; }
  std::string operator()(Shipped const& e) const { return "task " + number(e.task) + " shipped"; }
  std::string operator()(FlushHomes const&) const { return "flush homes"; }
  std::string operator()(CancelAll const&) const { return "cancel all"; }
  std::string operator()(TakeFailures const&) const { return "clear failures"; }
  std::string operator()(HomesMayChange const&) const { return "homes may change"; }
  std::string operator()(Prefetch const& e) const {
    return "prefetch data " + number(e.data) + " to node " + number(e.node);
  }
  std::string operator()(WillNotUse const& e) const { return "data " + number(e.data) + " is not used soon"; }
  std::string operator()(KeepNoOldValue const& e) const { return "data " + number(e.data) + " keeps no old value"; }
  std::string operator()(PlaceChanged const& e) const {
    return "data " + number(e.data) + " changed on node " + number(e.node);
  }

  std::string operator()(Allocated const& c) const {
    return "  allocate data " + number(c.data) + " on node " + number(c.node) + " + " + number(c.offset) + ", " +
           number(c.bytes) + " bytes";
  }
  std::string operator()(Freed const& c) const {
    return "  free data " + number(c.data) + " on node " + number(c.node) + " + " + number(c.offset);
  }
  std::string operator()(KeptAside const& c) const {
    return "  keep data " + number(c.data) + " aside on node " + number(c.node) + " + " + number(c.offset) + ", " +
           number(c.bytes) + " bytes";
  }
  std::string operator()(NotKept const& c) const {
    return "  keep data " + number(c.data) + " no longer aside on node " + number(c.node) + " + " + number(c.offset);
  }
  std::string operator()(ResultPlaced const& c) const {
    return "  place for a result of data " + number(c.data) + " on node " + number(c.node) + " + " + number(c.offset) +
           ", " + number(c.bytes) + " bytes";
  }
  std::string operator()(ResultDropped const& c) const {
    return "  no place for a result of data " + number(c.data) + " on node " + number(c.node) + " + " +
           number(c.offset) + " any more";
  }
  std::string operator()(Settled const& c) const {
    return "  data " + number(c.data) + " settle on node " + number(c.node) + " + " + number(c.offset) + ", " +
           number(c.bytes) + " bytes";
  }
  std::string operator()(AbortCommand const& c) const {
    return "  abort task " + number(c.task) + " on worker " + number(c.worker);
  }
  std::string operator()(CopyCommand const& c) const {
    return "  copy " + number(c.transfer) + ": data " + number(c.data) + " from " + text(c.from) + " to " + text(c.to);
  }
  std::string operator()(RunCommand const& c) const {
    return "  run task " + number(c.task) + " on worker " + number(c.worker) +
           (c.follows ? " behind the one before" : "");
  }
  std::string operator()(BeginCommand const& c) const { return "  begin task " + number(c.task); }
  std::string operator()(ShipCommand const& c) const {
    return "  ship data " + number(c.data) + " for task " + number(c.task) + " from " + text(c.from);
  }
  std::string operator()(RetireCommand const& c) const { return "  retire task " + number(c.task); }
  std::string operator()(ForgetCommand const& c) const { return "  forget data " + number(c.data); }
};

}  // namespace

std::string to_text(Event const& event) { return std::visit(Print{}, event); }
std::string to_text(Act const& act) { return std::visit(Print{}, act); }

}  // namespace granary::test

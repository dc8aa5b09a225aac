#include "report/trace_faults.hpp"

#include "execution/straggler_injector.hpp"

#include <algorithm>

namespace photonrail::report {

namespace {

std::string of(const char* what, const std::optional<std::uint32_t>& number) {
  return number ? std::string(what) + " " + std::to_string(*number) : std::string("every ") + what;
}

std::string name_of(const PortFault& fault) {
  using enum PortFault::Kind;
  const std::string state = fault.kind == kFailed ? ": failed" : fault.kind == kStuck ? ": stuck" : ": slow";
  if (fault.site_link) return "link " + std::to_string(*fault.site_link) + " between sites" + state;
  std::string name = fault.rail ? "rail " + std::to_string(fault.rail->value) : "every rail";
  if (fault.of_uplinks()) {
    name += ", " + of("leaf", fault.leaf) + ", " + of("uplink", fault.uplink);
  } else if (fault.server || !fault.plane) {
    name += ", " + of("server", fault.server);
  }
  if (fault.plane) name += ", plane " + std::to_string(*fault.plane);
  if (fault.port) name += ", port " + std::to_string(*fault.port);
  return name + state;
}

std::string name_of(const ScaleUpFault& fault) {
  std::string name = "links inside " + of("server", fault.server) + ", ";
  if (fault.dimension) {
    name += "switch of dimension " + std::to_string(*fault.dimension);
  } else {
    name += of("GPU", fault.gpu) + (fault.to ? " to " + std::to_string(*fault.to) : "");
  }
  return name + (fault.rate > 0.0 ? ": slow" : ": failed");
}

std::string name_of(const StragglerSpec& failure) {
  return execution::gpus_of(failure) + (failure.stops ? ": stopped" : ": slow");
}

}  // namespace

std::vector<FaultSpan> faults_of(const Scenario& scenario) {
  std::vector<FaultSpan> faults;
  const auto add = [&](std::string name, Time at, Duration detection, std::optional<Duration> lasts) {
    FaultSpan span{std::move(name), at, at + detection, {}};
    if (lasts) span.over = at + *lasts;
    if (span.over) span.known = std::min(span.known, *span.over);
    faults.push_back(std::move(span));
  };
  for (const PortFault& fault : scenario.cluster.rail.faults) add(name_of(fault), fault.at, fault.detection, fault.lasts);
  for (const ScaleUpFault& fault : scenario.cluster.scale_up.faults) add(name_of(fault), fault.at, {}, fault.lasts);
  for (const StragglerSpec& failure : scenario.stragglers) {
    if (failure.at) add(name_of(failure), *failure.at, failure.detection, failure.lasts);
  }
  for (const JobSpec& job : scenario.jobs) {
    for (const StragglerSpec& failure : job.stragglers) {
      if (failure.at) add(job.name + ": " + name_of(failure), *failure.at, failure.detection, failure.lasts);
    }
  }
  return faults;
}

void write_faults(const std::vector<FaultSpan>& faults, std::uint32_t process, Time end, TraceText& text) {
  bool any = false;
  for (std::size_t f = 0; f < faults.size(); ++f) {
    const FaultSpan& fault = faults[f];
    if (fault.at >= end) continue;
    const TraceText::Thread thread{process, static_cast<std::uint32_t>(f) + 1};
    const Time known = std::min(fault.known, end);
    const Time over = std::min(fault.over.value_or(end), end);
    if (known > fault.at) text.span(thread, fault.at, known, "fault", "not detected: " + fault.name, {});
    if (over > known)
      text.span(thread, known, over, "fault", (fault.over ? "until the repair: " : "for good: ") + fault.name, {});
    text.name_thread(thread, fault.name, thread.thread);
    any = true;
  }
  if (any) text.name_process(process, "faults");
}

}  // namespace photonrail::report

#include "execution/rail_bytes.hpp"

namespace photonrail::execution {

using fabric::Fabric;

namespace {

Bytes sum(const Operation& op, const Fabric& fabric) {
  Bytes bytes{};
  const SendPlan& plan = op.plan();
  for (SendIndex i = 0; i < plan.send_count(); ++i) {
    const Send send = plan.send(i);
    if (send.from != send.to && fabric.crossing(op.gpus[send.from], op.gpus[send.to])) bytes += send.bytes;
  }
  return bytes;
}

}  // namespace

Bytes RailBytes::of(const Operation& op, const Fabric& fabric) {
  if (!op.crosses) return {};
  if (op.demand != 0) return sum(op, fabric);
  const auto [at, fresh] = known_.try_emplace({op.runnable, op.key.communicator});
  if (fresh) at->second = sum(op, fabric);
  return at->second;
}

}  // namespace photonrail::execution

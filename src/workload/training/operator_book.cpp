#include "workload/training/operator_book.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <tuple>
#include <utility>

namespace photonrail {

namespace workload {

namespace {

double seconds_of(Duration time) { return static_cast<double>(time.count()) * 1e-12; }

std::string dimensions(const Operator& op) {
  const auto join = [](const std::vector<std::int64_t>& sizes) {
    std::string text;
    for (const std::int64_t size : sizes) text += (text.empty() ? " " : " x ") + std::to_string(size);
    return text;
  };
  if (const auto* p = std::get_if<MatrixProduct>(&op)) {
    return join({p->m, p->n, p->k}) + " " + std::string(to_string(p->precision));
  }
  if (const auto* g = std::get_if<GroupedProduct>(&op)) {
    return join({g->pairs, g->hidden, g->ffn}) + " in " + std::to_string(g->experts) + " " +
           std::string(to_string(g->precision));
  }
  if (const auto* a = std::get_if<Attention>(&op)) {
    return join({a->batch, a->queries, a->keys}) + " heads " + std::to_string(a->heads) + " of " +
           std::to_string(a->head_dim);
  }
  if (const auto* l = std::get_if<LatentCore>(&op)) {
    return join({l->batch, l->queries, l->keys}) + " heads " + std::to_string(l->heads) + " of " +
           std::to_string(l->query_dim);
  }
  return " " + std::to_string(std::get<MemoryBound>(op).bytes) + " B";
}

}  // namespace

BookedOperator OperatorBook::keep(OperatorUse use, double seconds, double launches) {
  seconds_.push_back(use.source == OperatorSource::kRoofline ? seconds : seconds * how_.factor);
  used_.push_back(std::move(use));
  launches_.push_back(launches);
  return {static_cast<std::uint32_t>(used_.size() - 1), 1.0};
}

BookedOperator OperatorBook::add(OperatorClass kind, std::string name, const Operator& op, double kernels, From from) {
  const OperatorTime time = how_.times.time(op);
  const Duration launch = from == From::kLoop ? how_.kernel_launch : how_.operator_call;
  return keep({std::move(name) + dimensions(op), kind, time.source}, seconds_of(time.time), kernels * seconds_of(launch));
}

BookedOperator OperatorBook::add_timed(std::string name, const OwnTime& time) {
  const OperatorRoofline& gpu = how_.times.device();
  const double arithmetic = time.flops / (time.flops_share * gpu.bf16_tflops * 1e12);
  const double memory = time.bytes / (time.bytes_share * gpu.memory_gb_per_s * 1e9) + time.kernels * seconds_of(gpu.kernel);
  return keep({std::move(name), time.kind, OperatorSource::kRoofline}, std::max(arithmetic, memory) + time.seconds,
              time.kernels * seconds_of(how_.operator_call));
}

double OperatorBook::gpu_seconds(const std::vector<BookedOperator>& work) const {
  double seconds = 0.0;
  for (const BookedOperator& op : work) seconds += op.times * seconds_[op.number];
  return seconds;
}

double OperatorBook::host_seconds(const std::vector<BookedOperator>& work, bool host_waits) const {
  if (how_.graphs == CudaGraphs::kStep || (how_.graphs == CudaGraphs::kLayers && !host_waits)) return 0.0;
  double seconds = 0.0;
  for (const BookedOperator& op : work) seconds += op.times * launches_[op.number];
  return seconds;
}

Duration OperatorBook::time(const std::vector<BookedOperator>& work, bool host_waits) const {
  const double gpu = gpu_seconds(work);
  const double host = host_seconds(work, host_waits);
  const bool both = host_waits && how_.host_waits_for_routing;
  return Duration{static_cast<std::int64_t>((both ? gpu + host : std::max(gpu, host)) * 1e12 + 0.5)};
}

OperatorBook::ClassTimes OperatorBook::times_of_classes(const std::vector<BookedOperator>& work, bool host_waits) const {
  ClassTimes times{};
  double gpu = 0.0;
  for (const BookedOperator& op : work) {
    const double seconds = op.times * seconds_[op.number];
    times[static_cast<std::size_t>(used_[op.number].kind)] += seconds;
    gpu += seconds;
  }
  const double host = host_seconds(work, host_waits);
  const bool both = host_waits && how_.host_waits_for_routing;
  times[static_cast<std::size_t>(OperatorClass::kHost)] += both ? host : std::max(host - gpu, 0.0);
  return times;
}

void OperatorBook::use(const std::vector<BookedOperator>& work, bool host_waits, double ranks) {
  for (const BookedOperator& op : work) {
    used_[op.number].times += op.times * ranks;
    used_[op.number].seconds += op.times * ranks * seconds_[op.number];
  }
  const double exposed = seconds_of(time(work, host_waits)) - gpu_seconds(work);
  if (exposed <= 1e-12) return;
  host_seconds_ += exposed * ranks;
}

std::vector<OperatorUse> OperatorBook::used() const {
  std::vector<OperatorUse> list = used_;
  if (host_seconds_ > 0.0) {
    list.push_back({"launches of kernels that the GPU waits for", OperatorClass::kHost, OperatorSource::kRoofline, 1.0,
                    host_seconds_});
  }
  return list;
}

OperatorUsage total_usage(const std::vector<std::vector<OperatorUse>>& stages) {
  std::map<std::tuple<OperatorClass, std::string, OperatorSource>, OperatorUse> merged;
  for (const auto& stage : stages) {
    for (const OperatorUse& use : stage) {
      if (use.times <= 0.0) continue;
      OperatorUse& into =
          merged.try_emplace({use.kind, use.name, use.source}, OperatorUse{use.name, use.kind, use.source}).first->second;
      into.times += use.times;
      into.seconds += use.seconds;
    }
  }
  OperatorUsage usage;
  for (auto& [key, use] : merged) usage.operators.push_back(std::move(use));
  std::stable_sort(usage.operators.begin(), usage.operators.end(),
                   [](const OperatorUse& a, const OperatorUse& b) { return a.seconds > b.seconds; });
  return usage;
}

}  // namespace workload

std::string_view name(OperatorClass c) {
  static constexpr std::array<std::string_view, kOperatorClassCount> kNames{"products", "experts", "attention",
                                                                            "scan",     "memory",  "host"};
  return kNames[static_cast<std::size_t>(c)];
}

double OperatorUsage::seconds() const {
  double sum = 0.0;
  for (const OperatorUse& use : operators) sum += use.seconds;
  return sum;
}

double OperatorUsage::seconds(OperatorClass kind, OperatorSource source) const {
  double sum = 0.0;
  for (const OperatorUse& use : operators) sum += use.kind == kind && use.source == source ? use.seconds : 0.0;
  return sum;
}

}  // namespace photonrail

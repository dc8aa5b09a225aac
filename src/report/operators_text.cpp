#include "report/operators_text.hpp"

#include "photonrail/workload/training_operators.hpp"

#include <algorithm>
#include <cstdio>

namespace photonrail {

namespace {

constexpr std::size_t kLines = 12;
constexpr OperatorSource kAllSources[] = {OperatorSource::kTable, OperatorSource::kInterpolated,
                                          OperatorSource::kExtrapolated, OperatorSource::kRoofline};

std::string formatted(const char* format, double value) {
  char text[40];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string widened(std::string_view word, std::size_t width) {
  std::string text(word);
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

}  // namespace

std::string operators_text(const RunResult& result) {
  if (!result.work || !result.work->operators) {
    return result.name +
           ": computations are timed by the GPU's roofline; \"operators\" of a training job times them one by one\n";
  }
  const OperatorUsage& usage = *result.work->operators;
  const double all = std::max(usage.seconds(), 1e-30);
  std::string text = "\n" + result.name + ": GPU time of operators by source, %\n" + widened("", 12);
  for (const OperatorSource source : kAllSources) text += widened(to_string(source), 14);
  text += "\n";
  for (int c = 0; c < kOperatorClassCount; ++c) {
    const auto kind = static_cast<OperatorClass>(c);
    double of_class = 0.0;
    std::string line = widened(name(kind), 12);
    for (const OperatorSource source : kAllSources) {
      of_class += usage.seconds(kind, source);
      line += widened(formatted("%.1f", 100.0 * usage.seconds(kind, source) / all), 14);
    }
    if (of_class > 0.0) text += line + "\n";
  }
  text += "costliest operators, s of all GPUs\n";
  for (std::size_t i = 0; i < std::min(kLines, usage.operators.size()); ++i) {
    const OperatorUse& use = usage.operators[i];
    text += formatted("%10.3f", use.seconds) + formatted(" %5.1f %%  ", 100.0 * use.seconds / all) +
            widened(to_string(use.source), 13) + " " + use.name + "\n";
  }
  return text;
}

}  // namespace photonrail

#include "report/operators_text.hpp"

#include "photonrail/workload/training_operators.hpp"
#include "report/text.hpp"

#include <algorithm>

namespace photonrail {

namespace {

constexpr std::size_t kLines = 12;
using report::number;
using report::pad_right;

}  // namespace

std::string operators_text(const RunResult& result) {
  if (!result.jobs.empty()) {
    std::string text;
    for (const RunResult& job : result.jobs) text += operators_text(job);
    return text;
  }
  if (!result.work) return {};  // no training job: operators are no choice of it
  if (!result.work->operators) {
    return result.name +
           ": computations are timed by the GPU's roofline; \"operators\" of a training job times them one by one\n";
  }
  const OperatorUsage& usage = *result.work->operators;
  const double all = std::max(usage.seconds(), 1e-30);
  std::string text = "\n" + result.name + ": GPU time of operators by source, %\n" + pad_right("", 12);
  for (const OperatorSource source : kOperatorSources) text += pad_right(to_string(source), 14);
  text += "\n";
  for (int c = 0; c < kOperatorClassCount; ++c) {
    const auto kind = static_cast<OperatorClass>(c);
    double of_class = 0.0;
    std::string line = pad_right(name(kind), 12);
    for (const OperatorSource source : kOperatorSources) {
      of_class += usage.seconds(kind, source);
      line += pad_right(number("%.1f", 100.0 * usage.seconds(kind, source) / all), 14);
    }
    if (of_class > 0.0) text += line + "\n";
  }
  text += "costliest operators, s of all GPUs\n";
  for (std::size_t i = 0; i < std::min(kLines, usage.operators.size()); ++i) {
    const OperatorUse& use = usage.operators[i];
    text += number("%10.3f", use.seconds) + number(" %5.1f %%  ", 100.0 * use.seconds / all) +
            pad_right(to_string(use.source), 13) + " " + use.name + "\n";
  }
  return text;
}

}  // namespace photonrail

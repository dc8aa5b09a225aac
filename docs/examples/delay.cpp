// Opus against the delay of its switches: a table like that of a sweep. `delay [SCENARIO.json]`
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"

#include <charconv>
#include <iostream>
#include <string>

namespace pr = photonrail;

namespace {

/// The shortest text that reads back as the same number, as tables of sweeps have it.
std::string digits(double value) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

double step_s(const char* file, const std::string& mode, const std::string& delay_ms) {
  const pr::Override set[] = {{"/controller/mode", mode}, {"/cluster/rail/switch/reconfiguration_ms", delay_ms}};
  const pr::Scenario scenario = pr::read_scenario(file, set);
  const pr::RunResult result = pr::simulate(scenario);
  return pr::to_seconds(result.makespan) / static_cast<double>(scenario.run.iterations);
}

}  // namespace

int main(int argc, char** argv) {
  const char* const file = argc > 1 ? argv[1] : "configs/quickstart.json";
  std::cout << "mode,reconfiguration_ms,step_s\n";
  double before = 0.0;
  for (const std::string mode : {"on_demand", "provisioned"}) {
    for (const std::string delay_ms : {"0.1", "1", "10", "100"}) {
      const double step = step_s(file, mode, delay_ms);
      std::cout << mode << ',' << delay_ms << ',' << digits(step) << '\n';
      if (delay_ms != "0.1" && step < before) return 1;  // a slower switch does not make this job faster
      before = step;
    }
  }
  return 0;
}

#include "worlds/campaign.hpp"

#include "worlds/cover.hpp"
#include "worlds/family.hpp"
#include "worlds/shrink.hpp"
#include "worlds/twins.hpp"
#include "worlds/words.hpp"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <fstream>
#include <set>
#include <sstream>

namespace photonrail::worlds {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kBatch = 200;  // worlds of one child

// The part of a message that says what went wrong: of a job that cannot finish, what its first rank waits for.
std::string gist(const Verdict& verdict) {
  const std::string& text = verdict.detail;
  if (verdict.ending == Ending::kStuck) {
    const std::size_t waits = text.find("waits for");
    return waits == std::string::npos ? text : text.substr(waits, text.find('\n', waits) - waits);
  }
  return text.substr(0, text.find('\n'));
}

// The policies of a scenario, each once.
std::string policies_of(const Json& scenario) {
  if (!scenario.contains("jobs") || !scenario["jobs"].is_array()) return policy_of(scenario);
  std::set<std::string> names{scenario.value("/controller/name"_json_pointer, std::string("electrical"))};
  for (const Json& job : scenario["jobs"]) {
    if (job.contains("/controller/name"_json_pointer)) names.insert(job["/controller/name"_json_pointer]);
  }
  std::string text = "jobs";
  for (const std::string& name : names) text += "+" + name;
  return text;
}

// What is equal for faults of one kind: numbers and names in quotes are left out.
std::string kind_of(const Verdict& verdict) {
  std::string kind = verdict.symptom + ": ";
  bool quoted = false;
  for (const char c : gist(verdict)) {
    if (c == '\'') quoted = !quoted;
    if (quoted || c == '\'' || c == '-') continue;
    if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      if (kind.back() != '#') kind += '#';
    } else if (c != '.' || kind.back() != '#') {
      kind += c;
    }
  }
  return kind.substr(0, 160);
}

class Campaign {
 public:
  explicit Campaign(const CampaignOptions& options)
      : options_(options), family_(family(options.family)), began_(Clock::now()) {}

  CampaignReport run() {
    for (std::uint64_t next = 0; next < options_.cases && !over() && !found();) {
      std::vector<World> batch;
      for (; next < options_.cases && batch.size() < kBatch; ++next) {
        if (!options_.with.empty() && (options_.seed + next) % 2 == 0) continue;
        World world = family_.draw(options_.seed + next);
        if (options_.with.empty() || words_of(world.scenario).contains(options_.with)) batch.push_back(std::move(world));
      }
      judge_apart(batch, judge_with(options_.judge), options_.limits,
                  [this](const World& world, const Verdict& verdict) { count(world, verdict); });
      shrink_new();
    }
    report_.words = cover_.words();
    report_.missing = cover_.missing();
    report_.pairs_possible = cover_.possible();
    report_.pairs = report_.pairs_possible - report_.missing.size();
    report_.wall_s = elapsed();
    return std::move(report_);
  }

 private:
  [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  [[nodiscard]] bool found() const { return options_.until_found && !report_.findings.empty(); }
  [[nodiscard]] bool over() const { return options_.time_s > 0.0 && elapsed() > options_.time_s; }

  [[nodiscard]] Judge judge_with(const JudgeOptions& options) const {
    return [judge = family_.judge, options](const World& world) { return judge(world, options); };
  }
  [[nodiscard]] Verdict judge_alone(const World& world, const JudgeOptions& options, const Limits& limits) const {
    Verdict found;
    judge_apart({world}, judge_with(options), limits, [&](const World&, const Verdict& verdict) { found = verdict; });
    return found;
  }

  void count(const World& world, const Verdict& verdict) {
    const bool of_scenarios = options_.family == "scenario" || options_.family == "agents";
    if (of_scenarios && verdict.ending != Ending::kRefused) cover_.add(world.scenario);
    ++report_.worlds;
    report_.runs += verdict.runs;
    for (const std::string& law : verdict.laws) ++report_.laws[law];
    if (verdict.symptom.empty()) {
      ++(verdict.ending == Ending::kDone    ? report_.done
         : verdict.ending == Ending::kStuck ? report_.stuck
                                            : report_.refused);
      if (verdict.ending == Ending::kRefused) ++report_.refusals[kind_of(verdict)];
      return;
    }
    const std::string kind = policies_of(world.scenario) + " " + kind_of(verdict);
    const auto [at, fresh] = kinds_.try_emplace(kind, report_.findings.size());
    if (fresh) {
      report_.findings.push_back(
          {verdict.symptom, verdict.detail, policies_of(world.scenario), world.seed, report_.worlds, 0, world});
    }
    ++report_.findings[at->second].count;
  }

  void shrink_new() {
    for (; shrunk_ < report_.findings.size(); ++shrunk_) {
      Finding& finding = report_.findings[shrunk_];
      Limits limits = options_.limits;
      limits.cpu_s = std::min(limits.cpu_s, 1.0);
      const std::uint64_t tries = finding.symptom == "hang" ? options_.shrink_tries / 6 : options_.shrink_tries;
      JudgeOptions judge = options_.judge;
      judge.only_law = finding.symptom;  // of a symptom that is no law, none is examined
      const auto still_wrong = [&](const World& world) {
        const Verdict verdict = judge_alone(world, judge, limits);
        if (verdict.symptom != finding.symptom) return false;
        finding.detail = verdict.detail;
        return true;
      };
      if (tries > 0) finding.smallest = shrink(finding.smallest, still_wrong, tries);
      write(finding);
    }
  }

  void write(Finding& finding) const {
    if (options_.out.empty()) return;
    std::filesystem::create_directories(options_.out);
    World kept = finding.smallest;
    kept.scenario["why"] = finding.symptom + ": " + finding.detail;
    std::ofstream(options_.out / (finding.symptom + "-" + std::to_string(finding.seed) + ".json")) << to_text(kept);
  }

  CampaignOptions options_;
  const Family& family_;
  Cover cover_;
  Clock::time_point began_;
  CampaignReport report_;
  std::map<std::string, std::size_t> kinds_;
  std::size_t shrunk_ = 0;
};

}  // namespace

CampaignReport run_campaign(const CampaignOptions& options) { return Campaign(options).run(); }

std::string to_text(const CampaignReport& report) {
  std::ostringstream out;
  out << report.worlds << " worlds, " << report.runs << " runs in " << report.wall_s << " s: " << report.done << " done, "
      << report.refused << " refused, " << report.stuck << " cannot finish\n";
  if (report.pairs_possible > 0) {
    out << report.words << " words, " << report.pairs << " of " << report.pairs_possible
        << " pairs of words that may stand "
        << "together (" << 100.0 * static_cast<double>(report.pairs) / static_cast<double>(report.pairs_possible)
        << " %)\n";
  }
  for (const auto& [law, count] : report.laws) out << "  " << law << ": " << count << " worlds\n";
  out << report.findings.size() << " kinds of fault\n";
  for (const Finding& finding : report.findings) {
    out << finding.symptom << " (" << finding.policies << "), seed " << finding.seed << ", after " << finding.after << ", "
        << finding.count << " worlds: " << finding.detail.substr(0, 300) << '\n';
  }
  return out.str();
}

std::string to_json_text(const CampaignReport& report) {
  Json json{{"worlds", report.worlds},   {"runs", report.runs},   {"wall_s", report.wall_s}, {"done", report.done},
            {"refused", report.refused}, {"stuck", report.stuck}, {"laws", report.laws},     {"refusals", report.refusals}};
  json["words"] = report.words;
  json["pairs"] = report.pairs;
  json["pairs_possible"] = report.pairs_possible;
  json["findings"] = Json::array();
  for (const Finding& finding : report.findings) {
    json["findings"].push_back({{"symptom", finding.symptom},
                                {"policies", finding.policies},
                                {"seed", finding.seed},
                                {"after", finding.after},
                                {"count", finding.count},
                                {"detail", finding.detail},
                                {"scenario", finding.smallest.scenario}});
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace photonrail::worlds

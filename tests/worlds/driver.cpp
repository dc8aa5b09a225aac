// photonrail_worlds: draws worlds, judges them and writes what was counted. For the night, and to repeat a seed by day.
//
//     photonrail_worlds [--seed 1] [--cases 1000000] [--time SECONDS] [--out DIR] [--shrink TRIES] [--until-found]
//                       [--all-laws | --law NAME] [--family NAME] [--with WORD]
//     photonrail_worlds [--family NAME] --print SEED    the file of one world
//     photonrail_worlds [--family NAME] --judge FILE    what is wrong with a file
//     photonrail_worlds --cover N                       pairs of words that miss in N worlds, which are not run
#include "worlds/campaign.hpp"
#include "worlds/cover.hpp"
#include "worlds/family.hpp"

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

namespace {

using namespace photonrail::worlds;

int usage() {
  std::cerr << "photonrail_worlds [--seed N] [--cases N] [--time SECONDS] [--out DIR] [--shrink TRIES] [--until-found] "
               "[--all-laws | --law NAME] [--family NAME] [--with WORD]\n"
               "photonrail_worlds [--family NAME] --print SEED | --judge FILE | --cover N\n"
               "families:";
  for (const Family& one : families()) std::cerr << ' ' << one.name;
  std::cerr << '\n';
  return 2;
}

int judge_file(const std::string& file, const Family& of) {
  JudgeOptions options;
  options.all_laws = true;
  Verdict verdict;
  judge_apart(
      {read_world(file)}, [&](const World& world) { return of.judge(world, options); }, Limits{},
      [&](const World&, const Verdict& found) { verdict = found; });
  std::cout << (verdict.symptom.empty() ? "nothing wrong" : verdict.symptom) << ": " << verdict.detail << '\n';
  return verdict.symptom.empty() ? 0 : 1;
}

int print_cover(std::uint64_t count) {
  Cover cover = cover_of_drawn(count);
  const std::size_t refused = cover.leave_out_refused();
  const auto missing = cover.missing();
  std::cout << refused << " pairs are refused by the readers, who were asked\n"
            << cover.words() << " words, " << missing.size() << " of " << cover.possible()
            << " pairs miss; seen: " << 100.0 * cover.share() << " %\n";
  for (const auto& [one, other] : missing) std::cout << one << ' ' << other << '\n';
  return 0;
}

int search(const CampaignOptions& options) {
  const CampaignReport report = run_campaign(options);
  std::cout << to_text(report);
  if (!options.out.empty()) {
    std::filesystem::create_directories(options.out);
    std::ofstream(options.out / "worlds.json") << to_json_text(report);
    std::ofstream missing(options.out / "missing-pairs.txt");
    for (const auto& [one, other] : report.missing) missing << one << ' ' << other << '\n';
  }
  return report.findings.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  const std::vector<std::string> words(argv + 1, argv + argc);
  CampaignOptions options;
  options.cases = 1'000'000;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--all-laws") {
      options.judge.all_laws = true;
      continue;
    }
    if (words[i] == "--until-found") {
      options.until_found = true;
      options.shrink_tries = 0;
      continue;
    }
    if (i + 1 == words.size()) return usage();
    const std::string& key = words[i];
    const std::string& value = words[++i];
    if (key == "--seed")
      options.seed = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == "--cases")
      options.cases = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == "--time")
      options.time_s = std::strtod(value.c_str(), nullptr);
    else if (key == "--shrink")
      options.shrink_tries = std::strtoull(value.c_str(), nullptr, 10);
    else if (key == "--law")
      options.judge.only_law = value;
    else if (key == "--out")
      options.out = value;
    else if (key == "--family")
      options.family = value;
    else if (key == "--with")
      options.with = value;
    else if (key == "--judge")
      return judge_file(value, family(options.family));
    else if (key == "--cover")
      return print_cover(std::strtoull(value.c_str(), nullptr, 10));
    else if (key == "--print")
      return std::cout << to_text(family(options.family).draw(std::strtoull(value.c_str(), nullptr, 10))), 0;
    else
      return usage();
  }
  return search(options);
} catch (const std::exception& error) {
  std::cerr << error.what() << '\n';
  return 2;
}

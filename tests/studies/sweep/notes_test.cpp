// What is said of all points of a sweep together: settings without effect, and values that take the same time.
#include "studies/sweep/notes.hpp"
#include "report/page.hpp"
#include "studies/sweep/sweep_support.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

/// An all-reduce over 6 servers, one GPU each.
json noted_scenario() {
  return {{"schema", "photonrail.scenario/1"},
          {"cluster",
           {{"servers", 6}, {"gpus_per_server", 1}, {"nic", {{"port_gb_per_s", 50}}}, {"rail", {{"kind", "electrical"}}}}},
          {"workload", {{"collective", {{"op", "all_reduce"}, {"bytes", 1000000}}}}},
          {"run", {{"iterations", 2}}}};
}

class NotesOfSweeps : public InFolder {
 protected:
  std::vector<Note> notes_of(const json& base, const json& axes) {
    const json text{{"schema", "photonrail.sweep/1"}, {"base", base}, {"axes", axes}};
    SweepObserver silent;
    SweepOptions options;
    options.directory = out_;
    std::filesystem::remove_all(out_);
    run_sweep(read_sweep(write("sweep.json", text.dump())), options, silent);
    return sweep_notes(out_);
  }
  static std::vector<std::string> texts(const std::vector<Note>& notes) {
    std::vector<std::string> list;
    for (const Note& note : notes) list.push_back(note.text);
    return list;
  }

  std::filesystem::path out_ = folder_ / "out";
};

// 6 ports fit a switch of 8 and do not fit one of 4: at 8 the oversubscription has no effect, at 4 it has one on an
// all-to-all; a ring crosses each leaf once.
TEST_F(NotesOfSweeps, SayAtWhichPointsASettingHasNoEffect) {
  const json over{{"pointer", "/cluster/rail/oversubscription"}, {"values", {1, 2, 3}}};
  json all_to_all = noted_scenario();
  all_to_all["workload"]["collective"]["op"] = "all_to_all";
  const auto both =
      texts(notes_of(all_to_all, json::array({{{"pointer", "/cluster/rail/radix"}, {"values", {4, 8}}}, over})));
  EXPECT_THAT(both,
              Contains(HasSubstr("At 2 of 6 points (the first: radix 8, oversubscription 2) one switch holds all ports")));
  EXPECT_THAT(both, Not(Contains(HasSubstr("\"oversubscription\"")))) << "leaves of 4 ports differ";
  json one = noted_scenario();
  one["cluster"]["rail"]["radix"] = 8;
  const std::vector<Note> notes = notes_of(one, json::array({over}));
  EXPECT_THAT(
      texts(notes),
      Contains(HasSubstr("\"oversubscription\" has no effect on time: 1, 2 and 3 take the same time, as one switch")));
  EXPECT_EQ(notes.back().id, "coincide");
  EXPECT_EQ(notes.back().key, "/cluster/rail/oversubscription");
  EXPECT_EQ(notes.back().value, 3.0);
  EXPECT_THAT(report::read_page_data(out_).document, HasSubstr("take the same time, as one switch holds all ports"));
  EXPECT_THAT(content(out_ / "results.csv"), HasSubstr(",note.one-tier"));
}

// With opus the rails of one dimension are set once: in later steps no delay is waited for, but the first steps differ.
// Ports of 50 and 100 GB/s differ; so do servers.
TEST_F(NotesOfSweeps, NameOnlyWhatCoincides) {
  json optical = noted_scenario();
  optical["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"reconfiguration_ms", 5}}}};
  optical["controller"] = {{"name", "opus"}};
  const json delays{{"pointer", "/cluster/rail/switch/reconfiguration_ms"}, {"values", {1, 10}}};
  const json ports{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {50, 100}}};
  const auto texts_of_both = texts(notes_of(optical, json::array({delays, ports})));
  EXPECT_THAT(texts_of_both, Contains(HasSubstr("At all 4 points the rails set their circuits once")));
  EXPECT_THAT(texts_of_both, Not(Contains(HasSubstr("take the same time"))));
  const json lanes{{"pointer", "/executor/comm_lanes"}, {"values", {"one", "per_communicator"}}};
  EXPECT_THAT(texts(notes_of(noted_scenario(), json::array({lanes, ports}))),
              Contains(HasSubstr(
                  "\"comm_lanes\" has no effect on time: one and per_communicator take the same time at all 2 points of "
                  "each, as what ends the run is the same.")));
}

TEST_F(NotesOfSweeps, AStatusNamesThePointsThatAreMissing) {
  const json text{{"schema", "photonrail.sweep/1"},
                  {"base", noted_scenario()},
                  {"axes", json::array({{{"pointer", "/cluster/nic/port_gb_per_s"}, {"values", {10, 20, 30, 40, 50}}}})}};
  SweepObserver silent;
  SweepOptions options;
  options.directory = out_;
  options.shard = Shard{2, 3};
  run_sweep(read_sweep(write("sweep.json", text.dump())), options, silent);
  EXPECT_EQ(sweep_status(out_).missing, (std::vector<std::uint32_t>{0, 2, 3}));
  EXPECT_THAT(sweep_notes(out_), IsEmpty()) << "shards are not merged";
}

// Spares do not change the step; months tell them apart.
TEST_F(NotesOfSweeps, ValuesThatDifferInMonthsDoNotCoincide) {
  sweep::Manifest manifest;
  manifest.points = 2;
  manifest.parameters = {"spares"};
  const auto notes_with = [&](double first, double second) {
    sweep::SweepNotes notes(manifest);
    for (std::uint32_t point = 0; point < 2; ++point) {
      sweep::Record record;
      record.point = point;
      record.parameters = {{"spares", point}};
      record.metrics = {{"goodput.share", point == 0 ? first : second}, {"makespan_s", 1.0}, {"steady_iteration_s", 1.0}};
      notes.add(record);
    }
    return notes.all();
  };
  EXPECT_THAT(texts(notes_with(0.9, 0.9)),
              ElementsAre(HasSubstr("\"spares\" has no effect on time: 0 and 1 take the same")));
  EXPECT_THAT(notes_with(0.9, 0.95), IsEmpty());
}

// Points of 4 and 8 s take 12 s together, at 6 s each the missing one takes 6 s; of 9 s in all nothing is said.
TEST_F(NotesOfSweeps, SayWhatALongSweepTakes) {
  sweep::Manifest manifest;
  manifest.points = 3;
  sweep::Record record;
  const auto add = [&](sweep::SweepNotes& notes, std::uint32_t point, double seconds) {
    record.point = point;
    record.name = "dp " + std::to_string(point);
    record.provenance.wall_s = seconds;
    notes.add(record);
  };
  sweep::SweepNotes notes(manifest);
  add(notes, 0, 4.0);
  add(notes, 2, 8.0);
  ASSERT_EQ(notes.all().size(), 1u);
  const Note note = notes.all().front();
  EXPECT_EQ(note.text,
            "2 points took 12 s one after another, the longest 8 s: point 2 (dp 2). 1 point is missing: at most about 6 s "
            "more, as the longest begin. --dry-run forecasts the time of each, --point-limit ends longer ones.");
  EXPECT_EQ(note.id, "time");
  EXPECT_EQ(note.key, "--point-limit");
  EXPECT_EQ(note.value, 12.0);
  sweep::SweepNotes brief(manifest);
  add(brief, 0, 9.0);
  EXPECT_THAT(brief.all(), IsEmpty());
}

// Of two points that take seconds the observer hears while they run, and before them what they take.
TEST_F(NotesOfSweeps, APointThatRunsIsTold) {
  struct Told : SweepObserver {
    void estimated(double seconds, const SweepPoint& longest, double longest_s) override {
      all_s = seconds;
      longest_point = longest.index;
      EXPECT_LE(longest_s, seconds);
    }
    void running(const SweepPoint& point, double seconds) override {
      EXPECT_EQ(point.index, 1u);
      EXPECT_GT(seconds, last_s);
      last_s = seconds;
    }
    double all_s = 0.0;
    double last_s = 0.0;
    std::uint32_t longest_point = 0;
  } told;
  json base = noted_scenario();
  base["run"]["folding"] = false;
  const std::string text = json{{"schema", "photonrail.sweep/1"},
                                {"base", base},
                                {"axes", {{{"pointer", "/run/iterations"}, {"values", {1, 1000000}}}}}}
                               .dump();
  SweepOptions options;
  options.directory = out_;
  options.jobs = 1;
  options.point_limit_s = 1.5;
  run_sweep(read_sweep(write("sweep.json", text)), options, told);
  EXPECT_GT(told.all_s, 1.5);
  EXPECT_EQ(told.longest_point, 1u);
  EXPECT_GE(told.last_s, 1.0);
}

}  // namespace
}  // namespace photonrail::test

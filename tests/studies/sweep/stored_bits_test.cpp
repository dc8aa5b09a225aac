// Bits that flip in stored files: what is shown afterwards is what was stored, or the file is named.
#include "json/seal.hpp"
#include "photonrail/error.hpp"
#include "photonrail/report.hpp"
#include "photonrail/simulate.hpp"
#include "photonrail/study/goodput.hpp"
#include "report/compare.hpp"
#include "report/page.hpp"
#include "studies/record_log.hpp"
#include "studies/sweep/sweep_support.hpp"
#include "support/source_dir.hpp"
#include "support/test_cases.hpp"

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>

#include <random>

namespace photonrail::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::size_t kPoints = 6;

std::string flipped(std::string text, std::size_t bit) {
  text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
  return text;
}

class DamageListener : public SweepObserver {
 public:
  void damaged(const std::string& sentence) override { sentences.push_back(sentence); }
  void recorded(const SweepPoint& point, const std::string&) override { ran.push_back(point.index); }
  std::vector<std::string> sentences;
  std::vector<std::uint32_t> ran;
};

class StoredBits : public InFolder {
 protected:
  void SetUp() override {
    InFolder::SetUp();
    sweep_ = sweep_of(R"("axes": [{"name": "bytes", "pointer": "/workload/collective/bytes",
                        "values": [1000000, 2000000, 3000000, 4000000, 5000000, 6000000]}])");
  }
  // The file of the folder with this beginning and end of its name.
  [[nodiscard]] static fs::path file_in(const fs::path& folder, const std::string& begin) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(begin)) return entry.path();
    }
    ADD_FAILURE() << "no " << begin << " in " << folder;
    return {};
  }
  // Copies `from` with one bit of one of its files flipped.
  void copy_with_flip(const fs::path& from, const fs::path& file, std::size_t bit) const {
    fs::remove_all(out_);
    fs::copy(from, out_, fs::copy_options::recursive);
    const std::string text = flipped(content(file), bit % (8 * fs::file_size(file)));
    std::ofstream(out_ / file.lexically_relative(from), std::ios::binary | std::ios::trunc) << text;
  }
  DamageListener run(std::optional<Shard> shard = {}) const {
    DamageListener listener;
    SweepOptions options;
    options.directory = out_;
    options.jobs = 1;
    options.shard = shard;
    run_sweep(sweep_, options, listener);
    return listener;
  }
  // What `act` throws must name a file.
  template <class Act>
  static bool succeeds(const Act& act) {
    try {
      act();
      return true;
    } catch (const ConfigError& error) {
      EXPECT_NE(error.where(), "") << error.what();
      return false;
    }
  }

  Sweep sweep_;
  fs::path out_ = folder_ / "out";
  std::mt19937_64 random_{20};
};

TEST_F(StoredBits, InTheDatabaseAreNamedAndMadeAgain) {
  run();
  const fs::path whole = folder_ / "whole";
  fs::copy(out_, whole, fs::copy_options::recursive);
  const std::string page = report::read_page_data(whole).document;
  const std::string table = content(whole / "results.csv");
  std::uint64_t named = 0;
  for (std::uint64_t i = 0, cases = test_cases(120); i < cases; ++i) {
    copy_with_flip(whole, whole / "results.db", random_());
    SCOPED_TRACE(i);
    std::string shown;
    const bool is_shown = succeeds([&] { shown = report::read_page_data(out_).document; });
    if (is_shown) {
      EXPECT_EQ(shown, page);
    }
    SweepStatus status;
    const bool has_status = succeeds([&] { status = sweep_status(out_); });
    if (has_status) {
      EXPECT_EQ(status.summary.done, kPoints);
    }
    if (succeeds([&] { merge_sweep(out_); })) {
      EXPECT_TRUE(content(out_ / "results.csv") == table);
    }
    named += is_shown && has_status ? 0 : 1;
    // Going on makes what is damaged again, or says that the file is no database.
    if (succeeds([&] { run(); })) {
      EXPECT_TRUE(content(out_ / "results.csv") == table);
      EXPECT_EQ(report::read_page_data(out_).document, page);
    }
  }
  EXPECT_GT(named, 0u);
}

TEST_F(StoredBits, ARecordThatIsAlteredOrLostIsNamedByItsPoint) {
  run();
  const std::string table = content(out_ / "results.csv");
  const auto change = [&](const char* sql) {
    SQLite::Database((out_ / "results.db").string(), SQLite::OPEN_READWRITE).exec(sql);
  };
  for (const auto& [sql, sentence] :
       {std::pair{"UPDATE metrics SET value = value * 2 WHERE point = 3 AND name = 'makespan_s'",
                  "the record of point 3 was"},
        {"UPDATE runs SET status = CAST(status AS BLOB) WHERE point = 3", "the record of point 3 was"},
        {"DELETE FROM runs WHERE point = 5", "the record of point 5 was"},
        {"DELETE FROM checks WHERE point = 0", "the record of point 0 was"},
        {"UPDATE parameters SET point = 4 WHERE point = 99; UPDATE windows SET point = 2 WHERE point = 1; "
         "DELETE FROM phases WHERE point IN (1, 2)",
         "the records of points 1, 2 were"},
        {"UPDATE meta SET value = 'other' WHERE key = 'why'", "what it says of the sweep was altered"}}) {
    SCOPED_TRACE(sql);
    change(sql);
    for (const auto& act : std::initializer_list<std::function<void()>>{
             [&] { (void)report::read_page_data(out_); }, [&] { (void)sweep_status(out_); }, [&] { merge_sweep(out_); }}) {
      try {
        act();
        ADD_FAILURE() << "it was not noticed";
      } catch (const ConfigError& error) {
        EXPECT_THAT(error.what(),
                    AllOf(HasSubstr("results.db"), HasSubstr(sentence), HasSubstr("run the same photonrail sweep again")));
      }
    }
    const DamageListener again = run();
    EXPECT_THAT(again.sentences, ElementsAre(HasSubstr(sentence)));
    EXPECT_TRUE(content(out_ / "results.csv") == table);
    EXPECT_TRUE(fs::exists(out_ / "results.db.damaged"));
    EXPECT_THAT(run().sentences, SizeIs(0));
  }
  // Without the lines of the table the point runs again, and no other.
  change("UPDATE metrics SET value = 1 WHERE point = 2 AND name = 'makespan_s'");
  fs::remove(out_ / "results.jsonl");
  EXPECT_THAT(run().ran, ElementsAre(2u));
  EXPECT_TRUE(content(out_ / "results.csv") == table);
}

TEST_F(StoredBits, ATableOfAnEarlierVersionIsGivenChecksums) {
  run();
  SQLite::Database((out_ / "results.db").string(), SQLite::OPEN_READWRITE)
      .exec("DROP TABLE checks; PRAGMA user_version = 3");
  EXPECT_NO_THROW((void)report::read_page_data(out_));
  EXPECT_THAT(run().ran, SizeIs(0));
  SQLite::Database((out_ / "results.db").string(), SQLite::OPEN_READWRITE).exec("UPDATE runs SET seed = 9 WHERE point = 1");
  EXPECT_THROW((void)report::read_page_data(out_), ConfigError);
}

TEST_F(StoredBits, InLinesOfShardsAreNamedAndTheirPointsRunAgain) {
  run();
  const std::string table = content(out_ / "results.csv");
  fs::remove_all(out_);
  run(Shard{1, 2});
  const fs::path half = folder_ / "half";
  fs::copy(out_, half, fs::copy_options::recursive);
  const fs::path shard = file_in(half / "shards", "1-of-2");
  std::uint64_t named = 0;
  for (std::uint64_t i = 0, cases = test_cases(100); i < cases; ++i) {
    copy_with_flip(half, shard, random_());
    SCOPED_TRACE(i);
    const SweepStatus status = sweep_status(out_);
    EXPECT_EQ(status.summary.done == kPoints / 2, status.damaged.empty());
    EXPECT_LE(status.summary.done, kPoints / 2);
    named += status.damaged.empty() ? 0 : 1;
    EXPECT_EQ(succeeds([&] { merge_sweep(out_); }), status.damaged.empty());
    if (i % 2 == 0) {
      const DamageListener again = run(Shard{1, 2});
      EXPECT_EQ(again.sentences, status.damaged);
      EXPECT_EQ(again.ran.size(), kPoints / 2 - status.summary.done);
      EXPECT_THAT(sweep_status(out_).damaged, SizeIs(0)) << "what was lost is there again";
      run(Shard{2, 2});
    } else {
      EXPECT_EQ(run().sentences, status.damaged);
    }
    EXPECT_TRUE(content(out_ / "results.csv") == table);
  }
  EXPECT_GT(named, 0u);
}

TEST_F(StoredBits, InTheOtherFilesOfASweepDoNoHarm) {
  run();
  const std::string table = content(out_ / "results.csv");
  const fs::path whole = folder_ / "whole";
  fs::copy(out_, whole, fs::copy_options::recursive);
  for (std::uint64_t i = 0, cases = test_cases(40); i < cases; ++i) {
    const bool manifest = i % 2 == 0;
    copy_with_flip(whole, whole / (manifest ? "manifest.json" : "results.jsonl"), random_());
    SCOPED_TRACE(i);
    if (manifest) {
      EXPECT_FALSE(succeeds([&] { run(); }));
      EXPECT_FALSE(succeeds([&] { (void)sweep_status(out_); }));
      continue;
    }
    fs::remove(out_ / "results.db");
    run(Shard{1, 1});
    EXPECT_TRUE(content(out_ / "results.csv") == table);
  }
}

TEST_F(StoredBits, InResultsOfRunsAreNamed) {
  const fs::path folder = folder_ / "run";
  fs::create_directories(folder);
  const RunResult result = simulate(parse_scenario(small_scenario().dump(), folder_));
  const std::string text = ::photonrail::json::with_seal(to_json(result));
  std::ofstream(folder / "unsealed.json") << to_json(result);
  std::ofstream(folder / "result.json") << text;
  EXPECT_TRUE(report::compare_paths(folder / "result.json", folder / "unsealed.json").differences.empty());
  EXPECT_NO_THROW((void)report::read_page_data(folder));
  for (std::uint64_t i = 0, cases = test_cases(100); i < cases; ++i) {
    std::ofstream(folder / "result.json", std::ios::trunc) << flipped(text, random_() % (8 * text.size()));
    EXPECT_FALSE(succeeds([&] { (void)report::read_page_data(folder); }));
    EXPECT_FALSE(succeeds([&] { (void)report::compare_paths(folder / "result.json", folder / "unsealed.json"); }));
  }
}

TEST_F(StoredBits, InAFolderOfGoodputAreNamedAndTheirHistoriesRunAgain) {
  const auto scenario =
      goodput::read_goodput(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json",
                            std::vector<Override>{{"/reliability/seeds", "6"}, {"/reliability/days", "10"}}, Registries{});
  const GoodputResult first = run_goodput(scenario, {out_, 1});
  const fs::path whole = folder_ / "whole";
  fs::copy(out_, whole, fs::copy_options::recursive);
  for (std::uint64_t i = 0, cases = test_cases(60); i < cases; ++i) {
    const fs::path file = file_in(whole, i % 3 == 0 ? "steps-" : "seeds.jsonl");
    copy_with_flip(whole, file, random_());
    SCOPED_TRACE(i);
    const GoodputResult again = run_goodput(scenario, {out_, 1});
    EXPECT_EQ(again.histories, first.histories);
    EXPECT_EQ(again.configurations, first.configurations);
    EXPECT_THAT(again.damaged, ::testing::Contains(HasSubstr(file.filename().string() + ": line ")));
    const GoodputResult mended = run_goodput(scenario, {out_, 1});
    EXPECT_THAT(mended.damaged, SizeIs(0));
    EXPECT_EQ(mended.resumed, 6u);
  }
}

TEST_F(StoredBits, AFolderOfGoodputOfAnEarlierVersionIsGivenSeals) {
  const auto scenario =
      goodput::read_goodput(fs::path(PHOTONRAIL_SOURCE_DIR) / "configs/goodput/dark-ports.json",
                            std::vector<Override>{{"/reliability/seeds", "3"}, {"/reliability/days", "10"}}, Registries{});
  const GoodputResult first = run_goodput(scenario, {out_, 1});
  const std::string sealed = content(out_ / "seeds.jsonl");
  std::string unsealed;
  std::istringstream lines(sealed);
  for (std::string line; std::getline(lines, line);) unsealed += line.substr(0, line.rfind(",\"seal\"")) + "}\n";
  std::ofstream(out_ / "seeds.jsonl", std::ios::trunc) << unsealed;
  const GoodputResult again = run_goodput(scenario, {out_, 1});
  EXPECT_EQ(again.resumed, 3u);
  EXPECT_THAT(again.damaged, SizeIs(0));
  EXPECT_EQ(content(out_ / "seeds.jsonl"), sealed);
}

TEST_F(StoredBits, ALogNamesLinesThatAreAlteredOrMissing) {
  const fs::path file = folder_ / "log.jsonl";
  const std::string head = R"({"schema":"test/1"})";
  const std::vector<std::string> records{R"({"a":"*J"})", R"({"a":2})", R"({"a":"J*"})"};
  {
    studies::RecordLog log(file, head);
    for (const std::string& record : records) log.add(record);
  }
  const std::string whole = content(file);
  EXPECT_EQ(studies::RecordLog(file, head).records(), records);
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    SCOPED_TRACE(bit);
    std::ofstream(file, std::ios::trunc) << flipped(whole, bit);
    std::vector<std::string> kept;
    {
      const studies::RecordLog log(file, head);
      EXPECT_THAT(log.damage(), ::testing::Not(SizeIs(0)));
      kept = log.records();
    }
    for (const std::string& record : kept) EXPECT_THAT(records, ::testing::Contains(record));
    const studies::RecordLog mended(file, head);
    EXPECT_THAT(mended.damage(), SizeIs(0));
    EXPECT_EQ(mended.records(), kept);
  }
  const std::size_t second = whole.find(records[1].substr(0, records[1].size() - 1));
  std::ofstream(file, std::ios::trunc) << whole.substr(0, second) + whole.substr(whole.find('\n', second) + 1);
  EXPECT_THAT(studies::RecordLog(file, head).damage(), ElementsAre(HasSubstr("lines are missing before line 3")));
}

}  // namespace
}  // namespace photonrail::test

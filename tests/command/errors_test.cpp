// Bad input through the real command: exit status 2, one message with the file and the place, nothing on standard output.
#include "command/command.hpp"

#include "photonrail/config.hpp"

#include <algorithm>
#include <cstdint>
#include <ostream>
#include <vector>

namespace photonrail::test {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::int64_t kGiB = 1 << 30;

/// Four ranks that send to each other in pairs, 0 to 2 and 1 to 3, then reduce; `forgetful`: rank 3 never receives.
TaskGraph pairs(bool forgetful) {
  TaskGraphBuilder builder(4);
  const CommunicatorId all = builder.add_communicator("all", {RankId{0}, RankId{1}, RankId{2}, RankId{3}}, Dimension::kDp);
  for (std::size_t r = 0; r < 4; ++r) {
    const ProgramId p = builder.add_program();
    const bool sender = r < 2;
    const CommunicatorId link = sender ? builder.link(RankId{r}, RankId{r + 2}, Dimension::kPp)
                                       : builder.link(RankId{r - 2}, RankId{r}, Dimension::kPp);
    std::vector<TaskId> after{builder.add_delay(p, Duration{1000000}, "forward")};
    if (sender) after = {builder.add_send(p, 1, Bytes{kGiB}, 5, "pass on", after)};
    if (!sender && !(forgetful && r == 3)) after = {builder.add_receive(p, 1, Bytes{kGiB}, 5, "take over", after)};
    builder.add_collective(p, 0, CollectiveOp::kAllReduce, Bytes{kGiB}, "gradients", after);
    builder.assign(RankId{r}, p, {all, link});
  }
  return std::move(builder).build();
}

/// tiny() with the trace at t.RANK.et as its workload.
json traced(const std::string& name) {
  json scenario = tiny(name);
  scenario["workload"] = {{"chakra", {{"prefix", "t"}, {"comm_groups", "t.json"}, {"compute_time", "trace"}}}};
  return scenario;
}

class Errors : public Command {
 protected:
  void expect_refused(const std::string& arguments, const std::vector<std::string>& parts) const {
    for (const char* verb : {"run ", "validate "}) {
      const Outcome done = run(verb + arguments);
      EXPECT_EQ(done.status, 2) << verb << arguments;
      EXPECT_EQ(done.out, "") << verb << arguments;
      EXPECT_THAT(done.err, StartsWith("photonrail: error: ")) << verb << arguments;
      EXPECT_THAT(done.err, EndsWith("\n"));
      EXPECT_EQ(std::count(done.err.begin(), done.err.end(), '\n'), 1) << "one message: " << done.err;
      for (const std::string& part : parts) EXPECT_THAT(done.err, HasSubstr(part)) << verb << arguments;
    }
  }
  void write_text(const std::string& name, const std::string& text) const { std::ofstream(folder_ / name) << text; }
};

TEST_F(Errors, MissingScenario) { expect_refused("absent.json", {"absent.json", "no such file"}); }

// It never ends.
TEST_F(Errors, ADeviceInPlaceOfAFile) {
  expect_refused("/dev/zero",
                 {"/dev/zero: is a pipe or device of more than 268435456 bytes", "write it into a file first"});
  json scenario = tiny("a");
  scenario["workload"] = {{"graph", "/dev/zero"}};
  write("a.json", scenario);
  expect_refused("a.json", {"a.json: /workload/graph: /dev/zero: is a pipe or device"});
  for (const char* line :
       {"sweep /dev/zero", "compare /dev/zero /dev/zero", "card import /dev/zero -o c.json", "collective info /dev/zero",
        "cost --catalogue /dev/zero", "goodput /dev/zero", "allocate /dev/zero"}) {
    const Outcome done = run(line);
    EXPECT_EQ(done.status, 2) << line;
    EXPECT_THAT(done.err, HasSubstr("is a pipe or device")) << line;
  }
}

TEST_F(Errors, AScenarioFromAPipeIsAsGoodAsAFile) {
  write("a.json", tiny("a"));
  for (const char* line : {"run a.json", "run /dev/stdin < a.json", "run /dev/fd/3 < a.json 3<&0"}) {
    EXPECT_EQ(run(line).status, 0) << line;
  }
  EXPECT_EQ(
      std::system(("cd '" + folder_.string() + "' && cat a.json | '" PHOTONRAIL_COMMAND "' run /dev/stdin >.out").c_str()),
      0);
  EXPECT_EQ(std::system(
                ("cd '" + folder_.string() + "' && bash -c \"'" PHOTONRAIL_COMMAND "' run <(cat a.json)\" >.out").c_str()),
            0);
}

TEST_F(Errors, MissingTrace) {
  write("a.json", traced("a"));
  expect_refused("a.json", {"a.json: /workload/chakra: ", "t.0.et", "no such file"});
}

TEST_F(Errors, TruncatedTrace) {
  write_chakra(pairs(false), folder_ / "t");
  write("a.json", traced("a"));
  ASSERT_EQ(run("run a.json --quiet").status, 0) << "whole, it runs";
  fs::resize_file(folder_ / "t.2.et", fs::file_size(folder_ / "t.2.et") - 3);
  expect_refused("a.json", {"a.json: /workload/chakra: ", "t.2.et: byte ", "bytes are left (is the file complete"});
}

TEST_F(Errors, AGroupThatNamesARankThatDoesNotExist) {
  write_chakra(pairs(false), folder_ / "t");
  write_text("t.json", R"({"all": [0, 1, 2, 7]})");
  write("a.json", traced("a"));
  expect_refused("a.json", {"t.json: /all/3: rank 7 does not exist"});
}

TEST_F(Errors, AWorldThatDoesNotFitTheCluster) {
  write_chakra(pairs(false), folder_ / "t");
  json scenario = traced("a");
  scenario["cluster"]["servers"] = 3;
  write("a.json", scenario);
  expect_refused("a.json", {"/workload/chakra: 4 ranks do not fit the cluster", "3 servers", "set /cluster/servers to 4"});
}

struct Fault {
  std::string name;
  std::string pointer;  ///< of what is wrong
  std::string value;
  std::string says;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) { return out << fault.name; }

class BadValues : public Errors, public ::testing::WithParamInterface<Fault> {};

TEST_P(BadValues, AreRefusedAtTheirPlace) {
  const Fault& fault = GetParam();
  json scenario = tiny("a");
  scenario["cluster"]["rail"] = {{"kind", "optical"}, {"switch", {{"ports", 8}, {"reconfiguration_ms", 1}}}};
  scenario["controller"] = {{"name", "opus"}};
  write("a.json", scenario);
  ASSERT_EQ(run("run a.json --quiet").status, 0);
  scenario[json::json_pointer(fault.pointer)] = json::parse(fault.value);
  write("a.json", scenario);
  expect_refused("a.json", {"a.json: " + fault.pointer + ": ", fault.says});
}

INSTANTIATE_TEST_SUITE_P(
    Of, BadValues,
    ::testing::Values(Fault{"UnknownKey", "/cluster/nic/port", "1", "unknown key"},
                      Fault{"UnknownKeyAtTheTop", "/clutser", "{}", "did you mean cluster?"},
                      Fault{"WrongUnitOfARate", "/cluster/nic/port_gbit_per_s", "400", "GB/s"},
                      Fault{"WrongUnitOfATime", "/cluster/nic/latency_min", "1", "did you mean latency_ns?"},
                      Fault{"SizeThatIsNoNumber", "/workload/collective/bytes", "\"1 MB\"", "must be a"},
                      Fault{"MorePortsThanTheSwitchHas", "/cluster/rail/switch/ports", "7",
                            "needs 8: a NIC port takes two"},
                      Fault{"ZeroBandwidth", "/cluster/nic/port_gb_per_s", "0", "must be positive, but is 0"},
                      Fault{"NegativeBandwidth", "/cluster/nic/port_gb_per_s", "-50", "must be positive, but is -50"},
                      Fault{"ZeroScaleUp", "/cluster/scale_up/gb_per_s", "0", "must be positive"},
                      Fault{"NanAsAString", "/cluster/nic/port_gb_per_s", "\"NaN\"", "must be a number"},
                      Fault{"NegativeDelay", "/cluster/rail/switch/reconfiguration_ms", "-1", "negative"},
                      Fault{"Controller", "/controller/name", "\"opsu\"", "opus"}),
    [](const auto& fault) { return fault.param.name; });

// JSON has no NaN: the place is a line and a column.
TEST_F(Errors, NanAsAValue) {
  std::string text = tiny("a").dump(2);
  const std::string rate = "\"port_gb_per_s\": 50";
  ASSERT_NE(text.find(rate), std::string::npos);
  text.replace(text.find(rate), rate.size(), "\"port_gb_per_s\": NaN");
  write_text("a.json", text);
  const std::string before = text.substr(0, text.find("NaN"));
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const auto column = before.size() - before.rfind('\n');
  expect_refused("a.json", {"a.json:" + std::to_string(line) + ":" + std::to_string(column) + ": NaN is not a JSON value"});
}

// Rank 1 sends 1 GiB, too much to be buffered, and rank 3 goes straight to the all-reduce.
TEST_F(Errors, AReceiveThatIsNeverPostedIsExitThreeAndNamesWhoWaits) {
  write_chakra(pairs(true), folder_ / "t");
  write("a.json", traced("a"));
  const Outcome done = run("run a.json");
  EXPECT_EQ(done.status, 3) << done.err;
  EXPECT_EQ(done.out, "");
  EXPECT_THAT(done.err, HasSubstr("a.json: the simulated job cannot finish"));
  // Rank, task, group and peer of the send; and of the ranks that wait for rank 1 in turn.
  EXPECT_THAT(done.err, ::testing::ContainsRegex("rank 1, task 1 'pass on': send of group '[^']+' waits for rank 3, "
                                                 "which never posts its receive \\(tag 5\\)"));
  for (const char* rank : {"0, task 2", "2, task 2", "3, task 1"}) {
    EXPECT_THAT(done.err, HasSubstr("rank " + std::string(rank) +
                                    " 'gradients': all_reduce of group 'all' waits for rank 1 to reach it"));
  }
}

}  // namespace
}  // namespace photonrail::test

// Small files that ask for much: each is refused with the limit, before the memory is taken.
#include "fuzz/entry.hpp"
#include "fuzz/memory_limit.hpp"
#include "photonrail/error.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <functional>
#include <new>
#include <ostream>
#include <stdexcept>
#include <string>
#include <vector>

namespace photonrail::fuzz {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr rlim_t kAddressSpace = rlim_t{1} << 30;

std::string repeated(const std::string& piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += (i == 0 ? "" : ",") + piece;
  return text;
}

std::string gzip(const std::string& text) {
  z_stream stream{};
  constexpr int kGzip = 15 + 16;
  if (deflateInit2(&stream, Z_BEST_COMPRESSION, Z_DEFLATED, kGzip, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// Gzip members one after another are one file: 300 MB of blanks in 300 kB.
std::string gzip_bomb() {
  const std::string member = gzip(std::string(std::size_t{30} << 20, ' '));
  std::string bomb;
  for (int i = 0; i < 10; ++i) bomb += member;
  return bomb;
}

std::string graph(std::uint32_t ranks, const std::string& communicators, const std::string& tasks) {
  return R"({"schema": "photonrail.graph/1", "ranks": )" + std::to_string(ranks) + ", \"communicators\": {" +
         communicators + "}, \"tasks\": [" + tasks + "]}";
}

std::string collective(const std::string& keys, const std::string& servers) {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": )" + servers +
         R"(, "gpus_per_server": 1024, "rail": {"kind": "electrical"}}, "workload": {"collective": {)" + keys + "}}}";
}

std::string many_communicators() {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += (i == 0 ? "\"" : ",\"") + std::to_string(i) + R"(":{"ranks":"all"})";
  return all;
}

std::string many_arrivals() {
  std::string all;
  for (int i = 0; i < 1000; ++i) all += (i == 0 ? "\"" : ",\"") + std::to_string(i) + "\":" + std::to_string(i);
  return all;
}

// 100,000,000 sequences of 500 copies in 16 stages of 2 layers: 200,000 micro-batches x 32 layers.
std::string training() {
  return R"({"schema": "photonrail.scenario/1", "cluster": {"servers": 1000, "gpus_per_server": 8, "gpu": "h200",
      "rail": {"kind": "electrical"}}, "workload": {"training": {"model": "llama3_8b", "sequence": 1024,
      "global_batch": 100000000, "micro_batch": 1, "parallelism": {"pp": 16, "dp": 500}}}})";
}

// What the verdict on an entry must not let pass.
TEST(Verdict, KnowsProperErrorsFromOthers) {
  const auto none = [](const fs::path&) { return std::vector<std::string>{}; };
  const auto of = [&](void (*read)(std::string_view, const fs::path&)) { return verdict({"x", read, none}, "", "."); };
  EXPECT_EQ(of([](std::string_view, const fs::path&) {}), "");
  EXPECT_EQ(of([](std::string_view, const fs::path&) { throw ConfigError("file", "what"); }), "");
  EXPECT_NE(of([](std::string_view, const fs::path&) { throw ConfigError("", "what"); }), "");
  EXPECT_NE(of([](std::string_view, const fs::path&) { throw ConfigError("file", "[json.exception.x]"); }), "");
  const Entry quoting{"x", [](std::string_view, const fs::path&) { throw ConfigError("file", "[json.exception.x]"); },
                      none};
  EXPECT_EQ(verdict(quoting, "{\"json.exception.x\"", "."), "") << "it quotes the input";
  EXPECT_NE(of([](std::string_view, const fs::path&) { throw std::runtime_error("stoi"); }), "");
  EXPECT_NE(of([](std::string_view, const fs::path&) { throw std::bad_alloc(); }), "");
}

struct Request {
  const char* name;
  const char* entry;
  std::function<std::string()> text;
  const char* message;
};
std::ostream& operator<<(std::ostream& out, const Request& request) { return out << request.name; }

class AskingForMuch : public ::testing::TestWithParam<Request> {
 protected:
  void SetUp() override { fs::create_directories(folder_); }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_ = fs::temp_directory_path() / ("photonrail_limits_" + std::to_string(::getpid()));
};

TEST_P(AskingForMuch, IsRefusedWithTheLimit) {
  const std::string text = GetParam().text();
  for (const Entry& entry : entries()) {
    if (std::strcmp(entry.name, GetParam().entry) != 0) continue;
    const MemoryLimit limit(kAddressSpace);
    EXPECT_EQ(verdict(entry, text, folder_), "");
    try {
      entry.read(text, folder_);
      ADD_FAILURE() << "was read";
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, AskingForMuch,
    ::testing::ValuesIn(std::vector<Request>{
        Request{"demand_of_empty_rows", "scenario",
                [] { return collective(R"("op": "all_to_all", "demand": [)" + repeated("[]", 13'000) + "]", "100"); },
                "/workload/collective/demand/0: has 0 numbers, but there are 13000 rows"},
        Request{"tasks_of_all_ranks", "graph",
                [] { return graph(1 << 20, "", repeated(R"({"rank":"all","compute_us":1})", 400)); },
                "/tasks/16: here the graph has more than 16777216 tasks"},
        Request{"ranks_of_a_graph", "graph", [] { return graph(1 << 24, "", R"({"rank":"all","compute_us":1})"); },
                "/ranks: must be a whole number from 1 to 1048576"},
        Request{"waits_of_all_ranks", "graph",
                [] {
                  return graph(1 << 16, "",
                               R"({"rank":"all","id":"a","compute_us":1},{"rank":"all","compute_us":1,"after":[)" +
                                   repeated("\"a\"", 2000) + "]}");
                },
                "/tasks/1: here the graph has more than 67108864 waits"},
        Request{"communicators_of_all_ranks", "graph", [] { return graph(1 << 17, many_communicators(), ""); },
                "here the graph has more than 16777216 memberships"},
        Request{"ranks_of_a_collective", "scenario",
                [] { return collective(R"("op": "all_reduce", "bytes": 5, "ranks": 1000000000)", "1000000"); },
                "1000000000 ranks; at most 2^24"},
        Request{"calls_of_late_ranks", "scenario",
                [] {
                  return collective(
                      R"("op": "all_reduce", "bytes": 5, "repeat": 1000000, "arrival_delay_us": {)" + many_arrivals() + "}",
                      "1");
                },
                "makes more than 2^24 calls"},
        Request{"layers_of_all_stages", "scenario", [] { return training(); },
                "/workload/training/global_batch: 200000 micro-batches are too many for a task graph"},
        Request{"nesting", "scenario", [] { return std::string(1'000'000, '['); }, "is nested more than 128 levels deep"},
        Request{"nesting_of_a_trace", "kineto", [] { return joined(std::string(1'000'000, '['), "{}"); },
                "128 levels deep"},
        Request{"gzip", "graph", [] { return gzip_bomb(); }, "the gzip data unpacks to more than 268435456 bytes"},
        Request{"levels_of_a_pointer", "pointers",
                [] {
                  std::string pointer;
                  for (int i = 0; i < 100'000; ++i) pointer += "/a";
                  return pointer + "=1";
                },
                "more than 128 keys"}}),
    [](const auto& row) { return std::string(row.param.name); });

}  // namespace
}  // namespace photonrail::fuzz

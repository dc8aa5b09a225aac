// Damaged traces: the reader gives a graph or a ConfigError, and nothing else. Seeded, so that a failure can be repeated.
#include "formats/kineto/kineto_support.hpp"
#include "formats/kineto/trace.hpp"
#include "support/test_cases.hpp"

#include <random>

namespace photonrail::test {
namespace {

using Random = std::mt19937_64;

std::vector<std::string> kineto_files() {
  KinetoJson cut = nccl(30, 5, {"_allgather_base", 10, 20, "Half", "1", "[0, ...]"}, 24);
  cut["args"]["In split size"] = "[1, 1]";
  std::vector<std::string> files;
  for (int rank = 0; rank < 2; ++rank) {
    KinetoJson message = nccl(50, 5, {rank == 0 ? "send" : "recv", 4, 4, "Long"});
    message["args"][rank == 0 ? "Dst Rank" : "Src Rank"] = 1 - rank;
    files.push_back(kineto_trace({step(1, 0, 100), kernel(0, 10.125), nccl(12, 20, {}), kernel(14, 5), cut, message}));
  }
  return files;
}

// Bytes anywhere, and pieces of the text itself put elsewhere, so that keys get the values of others.
void mutate_kineto(std::string& data, Random& random) {
  const std::size_t at = below(random, data.size());
  const std::size_t from = below(random, data.size());
  const std::string piece = data.substr(from, 1 + below(random, 12));
  switch (below(random, 6)) {
    case 0:
      data[at] = static_cast<char>(random());
      break;
    case 1:
      data.resize(at + 1);
      break;
    case 2:
      data.erase(at, 1 + below(random, 8));
      break;
    case 3:
      data[at] = static_cast<char>('0' + below(random, 10));
      break;
    default:
      data.replace(at, below(random, 12), piece);
      break;
  }
}

// Digits of numbers only: these are always JSON.
void mutate_digit(std::string& data, Random& random) {
  for (int tries = 0; tries < 1000; ++tries) {
    char& c = data[below(random, data.size())];
    if (c < '0' || c > '9') continue;
    c = static_cast<char>('1' + below(random, 9));
    return;
  }
}

TEST(KinetoFuzz, AReaderGivesAGraphOrAnError) {
  const auto files = kineto_files();
  const Folder folder;
  EXPECT_EQ(message_of([&] { static_cast<void>(read_kineto(put_kineto(folder, files))); }), "");
  Random random(1);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(500));
  for (int i = 0; i < kCases; ++i) {
    auto damaged = files;
    std::string& data = damaged[below(random, 2)];
    if (below(random, 2) == 0) {
      mutate_kineto(data, random);
    } else {
      for (std::size_t n = 1 + below(random, 3); n > 0; --n) mutate_digit(data, random);
    }
    KinetoOptions options = put_kineto(folder, damaged);
    if (below(random, 4) == 0) options.iteration = 1;
    sound += message_of([&] { EXPECT_EQ(read_kineto(options).ranks(), 2u); }).empty();
  }
  EXPECT_GT(sound, kCases / 20);
  EXPECT_LT(sound, kCases * 9 / 10);
}

TEST(KinetoFuzz, AParserGivesATraceOrAnError) {
  const std::string file = kineto_files()[0];
  Random random(2);
  int sound = 0;
  const int kCases = static_cast<int>(test_cases(2'000));
  for (int i = 0; i < kCases; ++i) {
    std::string data = file;
    mutate_kineto(data, random);
    sound += message_of([&] { EXPECT_LE(formats::kineto::parse_trace(data).kernels.size(), 5u); }).empty();
  }
  EXPECT_GT(sound, kCases / 20);
  EXPECT_LT(sound, kCases * 9 / 10);
}

}  // namespace
}  // namespace photonrail::test

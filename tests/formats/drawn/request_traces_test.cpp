// Drawn traces of requests in the columns of Azure, BurstGPT, Mooncake and in plain ones, read back row by row.
#include "formats/serving/request_traces.hpp"
#include "formats/drawn/drawn.hpp"
#include "photonrail/error.hpp"
#include "support/folder.hpp"

#include <cstdio>

namespace photonrail::test::drawn {
namespace {

enum class TraceStyle : std::uint8_t { kAzure, kBurstGpt, kMooncake, kMilliseconds, kSeconds };
constexpr std::uint64_t kTraceStyles = 5;

struct RequestTruth {
  std::uint64_t ticks = 0;  // of 100 ns since the first
  std::uint64_t prompt = 0;
  std::uint64_t output = 0;
  std::int64_t priority = 0;
  std::vector<std::uint64_t> hashes;
};

struct RequestsTruth {
  TraceStyle style = TraceStyle::kAzure;
  std::vector<RequestTruth> rows;  // the first at 0
};

// Ticks of a row: Mooncake's are whole milliseconds.
std::uint64_t ticks_of(TraceStyle style, std::uint64_t ticks) {
  return style == TraceStyle::kMooncake ? ticks / 10'000 * 10'000 : ticks;
}

RequestsTruth draw_requests(std::uint64_t seed) {
  Draw draw(seed, "requests");
  RequestsTruth truth;
  truth.style = static_cast<TraceStyle>(draw.below(kTraceStyles));
  const bool hashes = truth.style != TraceStyle::kAzure && truth.style != TraceStyle::kBurstGpt;
  std::uint64_t at = 0;
  for (std::uint64_t i = draw.from_to(1, 40); i > 0; --i) {
    RequestTruth row;
    row.ticks = ticks_of(truth.style, at);
    row.prompt = draw.one_in(20) ? 0 : 1 + draw.magnitude(1 << 22);
    row.output = draw.one_in(10) ? 0 : 1 + draw.magnitude(1 << 16);
    if (hashes && !draw.one_in(3)) {
      for (std::uint64_t h = draw.below(5); h > 0; --h) row.hashes.push_back(draw.magnitude(1ULL << 53));
    }
    if (truth.style == TraceStyle::kSeconds) row.priority = static_cast<std::int64_t>(draw.below(7)) - 3;
    truth.rows.push_back(std::move(row));
    at += draw.one_in(4) ? 0 : draw.magnitude(36'000'000'000);  // up to an hour
  }
  return truth;
}

// A date of November 2023 and the hours after it.
std::string date_text(std::uint64_t ticks) {
  const std::uint64_t seconds = ticks / 10'000'000;
  char text[64];
  const std::uint64_t day = seconds / 86'400;
  std::snprintf(text, sizeof text, "2023-%02d-%02d %02d:%02d:%02d.%07d", day < 15 ? 11 : 12,
                static_cast<int>(day < 15 ? 16 + day : day - 14), static_cast<int>(seconds / 3600 % 24),
                static_cast<int>(seconds / 60 % 60), static_cast<int>(seconds % 60), static_cast<int>(ticks % 10'000'000));
  return text;
}

std::string words_text(const std::vector<std::uint64_t>& hashes) {
  std::string text;
  for (const std::uint64_t hash : hashes) text += (text.empty() ? "" : " ") + std::to_string(hash);
  return text;
}

// Cells by column, so that columns come in any order, with others between them.
using Cells = std::vector<std::pair<std::string, std::string>>;

Cells cells_of(Draw& style, const RequestsTruth& truth, const RequestTruth& row, std::uint64_t offset) {
  const std::string prompt = std::to_string(row.prompt);
  const std::string output = std::to_string(row.output);
  const double seconds = static_cast<double>(row.ticks + offset) * 1e-7;
  switch (truth.style) {
    case TraceStyle::kAzure:
      return {{"TIMESTAMP", date_text(row.ticks + offset)}, {"ContextTokens", prompt}, {"GeneratedTokens", output}};
    case TraceStyle::kBurstGpt:
      return {{"Timestamp", shortest(seconds)},
              {"Model", style.pick<std::string>({"ChatGPT", "GPT-4"})},
              {"Request tokens", prompt},
              {"Response tokens", output},
              {"Total tokens", std::to_string(row.prompt + row.output)},
              {"Log Type", "Conversation log"}};
    case TraceStyle::kMilliseconds:
      return {{"arrival_ms", number_text(style, seconds * 1e3)},
              {"input_tokens", prompt},
              {"output_tokens", output},
              {"block_hashes", words_text(row.hashes)}};
    default:
      return {{"arrival_s", number_text(style, seconds)},
              {"input_tokens", prompt},
              {"output_tokens", output},
              {"block_hashes", words_text(row.hashes)},
              {"priority", row.priority == 0 && style.one_in(2) ? "" : std::to_string(row.priority)},
              {"note", "x"}};
  }
}

std::string mooncake_text(Draw& style, const RequestTruth& row, std::uint64_t offset) {
  std::vector<std::string> members{"\"timestamp\": " + std::to_string((row.ticks + offset) / 10'000),
                                   "\"input_length\": " + std::to_string(row.prompt),
                                   "\"output_length\": " + std::to_string(row.output)};
  std::string ids;
  for (const std::uint64_t hash : row.hashes) ids += (ids.empty() ? "" : ", ") + std::to_string(hash);
  if (!row.hashes.empty() || style.one_in(2)) members.push_back("\"hash_ids\": [" + ids + "]");
  style.shuffle(members);
  std::string text;
  for (const std::string& member : members) text += (text.empty() ? "{" : ", ") + member;
  return text + "}\n";
}

std::string requests_text(Draw& style, const RequestsTruth& truth) {
  // Traces begin at any time.
  const std::uint64_t offset = ticks_of(truth.style, style.one_in(2) ? 0 : style.magnitude(864'000'000'000));
  std::string text;
  std::vector<std::size_t> order;
  for (const RequestTruth& row : truth.rows) {
    if (truth.style == TraceStyle::kMooncake) {
      text += mooncake_text(style, row, offset) + (style.one_in(10) ? "\n" : "");
      continue;
    }
    const Cells cells = cells_of(style, truth, row, offset);
    if (order.empty()) {
      for (std::size_t i = 0; i < cells.size(); ++i) order.push_back(i);
      style.shuffle(order);
      for (const std::size_t i : order) text += (i == order.front() ? "" : ",") + cells[i].first;
      text += "\n";
    }
    for (const std::size_t i : order) text += (i == order.front() ? "" : ",") + cells[i].second;
    text += "\n";
  }
  return text;
}

// Requests without a prompt or an answer are left out; times count from the first row.
Differences read_requests(std::uint64_t seed, const RequestsTruth& written, const RequestsTruth& truth) {
  Draw style(seed, "requests/style");
  Differences found;
  const Folder folder;
  const auto file = folder.write("requests.trace", maybe_gzip(style, maybe_crlf(style, requests_text(style, written))));
  std::vector<RequestTruth> kept;
  for (const RequestTruth& row : truth.rows) {
    if (row.prompt > 0 && row.output > 0) kept.push_back(row);
  }
  serving::Trace read;
  try {
    read = formats::read_request_trace(file);
  } catch (const ConfigError& error) {
    if (!kept.empty()) throw;
    if (error.problem() != "has no requests") found.add(error.what());
    return found;
  }
  found.compare("requests", kept.size(), read.rows.size());
  found.compare("tokens of a hash", 512U, read.hash_tokens);
  for (std::size_t i = 0; i < std::min(kept.size(), read.rows.size()); ++i) {
    const std::string row = "row " + std::to_string(i);
    const double seconds = static_cast<double>(kept[i].ticks) * 1e-7;
    if (std::abs(to_seconds(read.rows[i].at) - seconds) > 1e-8)
      found.compare(row + " arrival", seconds, to_seconds(read.rows[i].at));
    found.compare(row + " prompt", kept[i].prompt, std::uint64_t{read.rows[i].prompt});
    found.compare(row + " output", kept[i].output, std::uint64_t{read.rows[i].output});
    found.compare(row + " priority", kept[i].priority, std::int64_t{read.rows[i].priority});
    found.compare(row + " hashes", kept[i].hashes, read.rows[i].hashes);
  }
  return found;
}

TEST(DrawnRequestTraces, AreReadAsTheyWereWritten) {
  expect_read_as_written(400, [](std::uint64_t seed) {
    const RequestsTruth truth = draw_requests(seed);
    return read_requests(seed, truth, truth);
  });
}

TEST(DrawnRequestTraces, AnotherValueIsNoticed) {
  const std::set<std::string> names{"arrival", "prompt", "output", "hash", "row"};
  expect_changes_noticed(200, names, [&](std::uint64_t seed, std::string& name) {
    Draw draw(seed, "requests/planted");
    const RequestsTruth truth = draw_requests(seed);
    RequestsTruth other = truth;
    const std::size_t last = other.rows.size() - 1;
    RequestTruth& row = other.rows[last];
    if (last == 0 || row.prompt == 0 || row.output == 0) return false;
    name = draw.pick<std::string>({"arrival", "prompt", "output", "hash", "row"});
    if (name == "hash" && row.hashes.empty()) name = "row";
    if (name == "arrival") row.ticks += 10'000;
    if (name == "prompt") ++row.prompt;
    if (name == "output") ++row.output;
    if (name == "hash") row.hashes.back() ^= 1;
    if (name == "row") other.rows.pop_back();
    return !read_requests(seed, other, truth).none();
  });
}

TEST(DrawnRequestTraces, TimesOutOfOrderAreRefusedWithTheirLine) {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    RequestsTruth truth = draw_requests(seed);
    const std::size_t rows = truth.rows.size();
    if (rows < 3 || truth.rows[rows - 1].ticks <= truth.rows[rows - 2].ticks) continue;
    std::swap(truth.rows[rows - 1].ticks, truth.rows[rows - 2].ticks);
    Draw style(seed, "requests/style");
    const Folder folder;
    const std::string text = requests_text(style, truth);
    const auto file = folder.write("requests.trace", text);
    const auto line = std::count(text.begin(), text.end(), '\n') - (text.ends_with("\n\n") ? 1 : 0);
    EXPECT_NE(message_of([&] {
                static_cast<void>(formats::read_request_trace(file));
              }).find("requests.trace:" + std::to_string(line) + ": the request comes before the one above it"),
              std::string::npos)
        << "seed " << seed;
    ++refused;
  }
  EXPECT_GT(refused, 40U);
}

}  // namespace
}  // namespace photonrail::test::drawn

// Measured KV transfers between two servers (Mooncake's rows), with two numbers fitted a cluster: a fixed time and a rate.
#include "photonrail/config.hpp"
#include "photonrail/simulate.hpp"
#include "support/shared_data.hpp"

#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

namespace photonrail::test {
namespace {

struct MeasuredTransfer {
  double tokens, ms;
};

struct FixedAndRate {
  double fixed_ms, gb_per_s;
};

// Least squares of the relative errors of fixed + bytes / rate.
FixedAndRate fitted(const std::vector<MeasuredTransfer>& rows, double bytes_per_token) {
  double s00 = 0.0, s01 = 0.0, s11 = 0.0, t0 = 0.0, t1 = 0.0;
  for (const MeasuredTransfer& row : rows) {
    const double x = row.tokens * bytes_per_token / 1e6;  // ms at 1 GB/s
    const double weight = 1.0 / (row.ms * row.ms);
    s00 += weight;
    s01 += weight * x;
    s11 += weight * x * x;
    t0 += weight * row.ms;
    t1 += weight * x * row.ms;
  }
  const double determinant = s00 * s11 - s01 * s01;
  return {(t0 * s11 - t1 * s01) / determinant, determinant / (s00 * t1 - s01 * t0)};
}

// The error of each row by a fit of the others, in percent.
std::vector<double> left_out(const std::vector<MeasuredTransfer>& rows, double bytes_per_token) {
  std::vector<double> errors;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::vector<MeasuredTransfer> others = rows;
    others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
    const FixedAndRate fit = fitted(others, bytes_per_token);
    errors.push_back(100.0 * ((fit.fixed_ms + rows[i].tokens * bytes_per_token / fit.gb_per_s / 1e6) / rows[i].ms - 1.0));
  }
  return errors;
}

// One prompt at a time from a server of eight GPUs to another one.
ServingResult transfers_of(const std::string& model, double tokens, const FixedAndRate& fit) {
  char text[2000];
  std::snprintf(text, sizeof text,
                R"({"schema": "photonrail.scenario/1", "name": "kv",
                    "cluster": {"servers": 2, "gpus_per_server": 8, "gpu": "h200", "scale_up": {"gb_per_s": 450},
                                "nic": {"port_gb_per_s": %.9f, "latency_us": %.9f}, "rail": {"kind": "electrical"}},
                    "workload": {"serving": {"model": %s,
                      "requests": {"concurrency": 1, "input": %.0f, "output": 2, "count": 3},
                      "times": {"law": {"fixed_us": 1000}}, "engine": {"blocks": 100000},
                      "pools": [{"role": "prefill", "servers": [0], "tp": 8}, {"role": "decode", "tp": 8}]}}})",
                fit.gb_per_s / 8.0, fit.fixed_ms * 1e3, model.c_str(), tokens);
  return *simulate(parse_scenario(text, ".")).serving;
}

// 36 layers x 8 heads x 128; of the larger model each of the four heads is on two of the eight GPUs, and leaves both.
constexpr const char* kQwen3Of8B = R"({"layers": 36, "hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128,
                                      "ffn": 12288, "vocabulary": 151936})";
constexpr const char* kQwen3Of235B = R"({"layers": 94, "hidden": 4096, "heads": 64, "kv_heads": 4, "head_dim": 128,
                                        "ffn": 12288, "vocabulary": 151936})";

void expect_transfers(const nlohmann::json& all, const char* setup, const char* model, std::uint64_t bytes_per_token) {
  std::vector<MeasuredTransfer> rows;
  for (const nlohmann::json& row : all.at("rows")) {
    if (row.at("setup") == setup)
      rows.push_back({row.at("input_tokens").get<double>(), row.at("transfer_ms").get<double>()});
  }
  ASSERT_GE(rows.size(), 6U);
  const FixedAndRate fit = fitted(rows, static_cast<double>(bytes_per_token));
  for (const MeasuredTransfer& row : rows) {
    const ServingResult result = transfers_of(model, row.tokens, fit);
    EXPECT_EQ(result.transfer_bytes, 3 * bytes_per_token * static_cast<std::uint64_t>(row.tokens));
    const double ms = to_seconds(result.transfer.mean) * 1e3;
    EXPECT_NEAR(ms / row.ms, 1.0, 0.08) << setup << ", " << row.tokens << " tokens";
    std::printf("%s %.0f tokens: %.2f ms measured, %+.1f %%\n", setup, row.tokens, row.ms, 100.0 * (ms / row.ms - 1.0));
  }
  const std::vector<double> errors = left_out(rows, static_cast<double>(bytes_per_token));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    std::printf("%s %.0f tokens, by a fit of the others: %+.1f %%\n", setup, rows[i].tokens, errors[i]);
    EXPECT_LE(std::abs(errors[i]), rows[i].tokens >= 512 ? 8.0 : 11.0);
  }
}

TEST(ServingKvTransferData, MeasuredTransfersAreAFixedTimeAndARate) {
  PHOTONRAIL_REQUIRE_SHARED_DATA(data);
  const auto all = nlohmann::json::parse(std::ifstream(data / "serving" / "v2" / "kv_transfer.json"));
  expect_transfers(all, "vllm_h800_qwen3_8b", kQwen3Of8B, 147'456);
  expect_transfers(all, "sglang_h20_qwen3_235b", kQwen3Of235B, 385'024);
}

}  // namespace
}  // namespace photonrail::test

#include "report/page_details.hpp"

#include "json/text.hpp"
#include "photonrail/error.hpp"
#include "support/folder.hpp"

#include <gmock/gmock.h>

#include <string>

namespace photonrail::report {
namespace {

using json::Json;

constexpr const char* kHead =
    "number,arrival_ms,prefill_engine,decode_engine,scheduled_ms,prefilled_ms,decoding_ms,first_ms,last_ms,ttft_ms,tpot_ms,"
    "e2e_ms,part_queue_ms,part_prefill_ms,part_block_wait_ms,part_circuit_wait_ms,part_transfer_ms,part_decode_queue_ms,"
    "part_first_decode_ms\n";

const Json& at(const Json& node, const char* key) {
  const Json* const found = node.find(key);
  EXPECT_NE(found, nullptr) << key;
  return *found;
}

// Two engines; the first of four requests is of the warm-up.
Json details_of(const std::string& rows) {
  const test::Folder folder;
  folder.write("requests.csv", kHead + rows);
  const Json root = *json::parse_if_json(
      R"({"serving": {"requests": {"warm_up": 1}, "engines": [{"pool": "prefill"}, {"pool": "decode"}]}})");
  Json details = Json::array();
  add_details(root, "run", folder.path(), details);
  return details;
}

TEST(PageDetails, CurvesAndBandsLeaveTheWarmUpOut) {
  // TTFT 9 s in the warm-up, then 10, 20 and 30 ms, of which the queue has the rest beside 10 ms of prefill.
  const Json details = details_of(
      "0,0,0,1,0,9000,,9000,9000,9000,,9000,0,9000,0,0,0,0,0\n"
      "1,0,0,1,0,10,,10,20,10,1,20,0,10,0,0,0,0,0\n"
      "2,0,0,1,10,20,,20,30,20,2,30,10,10,0,0,0,0,0\n"
      "3,0,0,1,20,30,,30,40,30,,40,20,10,0,0,0,0,0\n");
  ASSERT_EQ(details.size(), 1u);
  const Json& detail = details.elements()[0];
  EXPECT_EQ(at(detail, "kind").string(), "serving");
  const Json& ttft = at(at(detail, "curves"), "ttft_s");
  ASSERT_EQ(ttft.size(), 3u);
  EXPECT_DOUBLE_EQ(ttft.elements()[0].number(), 0.01);
  EXPECT_DOUBLE_EQ(ttft.elements()[2].number(), 0.03);
  EXPECT_EQ(at(at(detail, "curves"), "tpot_s").size(), 2u);  // a request of one token has none
  // ceil(0.5 * 3) = 2 requests in the first band: queues of 0 and 10 ms; the third fills the next.
  const Json& bands = at(detail, "bands");
  ASSERT_EQ(bands.size(), 2u);
  EXPECT_EQ(at(bands.elements()[0], "requests").number(), 2.0);
  EXPECT_DOUBLE_EQ(at(bands.elements()[0], "parts_s").elements()[0].number(), 0.005);
  EXPECT_DOUBLE_EQ(at(bands.elements()[1], "parts_s").elements()[0].number(), 0.02);
}

TEST(PageDetails, RequestsAreInTheirEnginesInTime) {
  // One request for 100 ms in the first engine, then 100 ms in the second: 200 stretches of 1 ms.
  const Json details = details_of("1,0,0,1,0,100,100,110,200,110,1,200,0,100,0,0,0,0,10\n");
  const Json& activity = at(details.elements()[0], "activity");
  EXPECT_DOUBLE_EQ(at(activity, "bin_s").number(), 0.001);
  const auto& engines = at(activity, "engines").elements();
  ASSERT_EQ(engines.size(), 2u);
  double in_first = 0.0;
  double in_second = 0.0;
  for (const Json& value : engines[0].elements()) in_first += value.number() * 0.001;
  for (const Json& value : engines[1].elements()) in_second += value.number() * 0.001;
  EXPECT_NEAR(in_first, 0.1, 1e-6);
  EXPECT_NEAR(in_second, 0.1, 1e-6);
  EXPECT_EQ(engines[1].elements()[50].number(), 0.0);
}

TEST(PageDetails, ADamagedTableIsNamedWithItsLine) {
  EXPECT_THAT([] { static_cast<void>(details_of("1,0,0\n")); },
              testing::ThrowsMessage<ConfigError>(testing::HasSubstr("line 2 has 3 cells of 19")));
}

TEST(PageDetails, StepsOfReinforcementLearningAreThereForEachJob) {
  const Json root = *json::parse_if_json(
      R"({"rl": {"steps": []}, "jobs": [{"name": "beside", "rl": {"steps": []}}, {"name": "other"}]})");
  Json details = Json::array();
  add_details(root, "run", "nowhere", details);
  ASSERT_EQ(details.size(), 2u);
  EXPECT_EQ(at(details.elements()[1], "name").string(), "run, beside");
}

}  // namespace
}  // namespace photonrail::report

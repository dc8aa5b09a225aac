// Seals of stored objects: each altered bit is noticed, and a text without a seal is one.
#include "json/seal.hpp"

#include "json/text.hpp"
#include "photonrail/error.hpp"

#include <gtest/gtest.h>

namespace photonrail::test {
namespace {

using json::check_seal;
using json::SealCheck;
using SealState = SealCheck::State;

constexpr const char* kLine = R"({"point":3,"name":"a=\"x\"","metrics":{"makespan_s":0.25}})";
constexpr const char* kFile = "{\n  \"schema\": \"photonrail.result/1\",\n  \"makespan_s\": 0.25\n}\n";

TEST(Seal, GivesBackTheObjectAndItsNumber) {
  for (const char* object : {kLine, kFile}) {
    const std::string sealed = json::with_seal(object, 300, "key");
    EXPECT_NE(json::parse_json(sealed, "sealed").find("seal"), nullptr) << "it is an object still";
    const SealCheck check = check_seal(sealed, "key");
    EXPECT_EQ(check.state, SealState::kWhole);
    EXPECT_EQ(check.object, object);
    EXPECT_EQ(check.number, 300u);
    EXPECT_EQ(check_seal(sealed, "another").state, SealState::kAltered);
    EXPECT_EQ(check_seal(object, "key").state, SealState::kUnsealed);
    EXPECT_EQ(json::without_seal(json::with_seal(object), "f"), object);
  }
}

TEST(Seal, EachBitCounts) {
  for (const char* object : {kLine, kFile}) {
    const std::string sealed = json::with_seal(object, 7);
    for (std::size_t bit = 0; bit < 8 * sealed.size(); ++bit) {
      std::string text = sealed;
      text[bit / 8] = static_cast<char>(text[bit / 8] ^ (1 << (bit % 8)));
      EXPECT_EQ(check_seal(text).state, SealState::kAltered) << bit << ": " << text;
      EXPECT_THROW(static_cast<void>(json::without_seal(text, "f")), ConfigError);
    }
  }
}

}  // namespace
}  // namespace photonrail::test

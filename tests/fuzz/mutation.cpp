#include "fuzz/mutation.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace photonrail::fuzz {

namespace {

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '-'; }

// The word around a place, or after it.
std::pair<std::size_t, std::size_t> word_near(const std::string& data, std::size_t at) {
  while (at < data.size() && !in_word(data[at])) ++at;
  std::size_t begin = at;
  while (begin > 0 && in_word(data[begin - 1])) --begin;
  while (at < data.size() && in_word(data[at])) ++at;
  return {begin, at - begin};
}

const std::string& edge_value(RandomStream& random) {
  static const std::vector<std::string> kValues{"0",
                                                "1",
                                                "-1",
                                                "2",
                                                "3",
                                                "7",
                                                "64",
                                                "65535",
                                                "1000000",
                                                "1048577",
                                                "16777216",
                                                "99999999",
                                                "2147483648",
                                                "4294967295",
                                                "4294967296",
                                                "9007199254740993",
                                                "9223372036854775807",
                                                "9223372036854775808",
                                                "18446744073709551615",
                                                "1e18",
                                                "1e30",
                                                "1e308",
                                                "1e-9",
                                                "0.5",
                                                "-0.0",
                                                "null",
                                                "true",
                                                "[]",
                                                "{}",
                                                "\"\"",
                                                "\"all\"",
                                                "\"x\"",
                                                "[[]]",
                                                "[0,0]",
                                                "{\"a\":1}"};
  return kValues[random.below(kValues.size())];
}

}  // namespace

void mutate(std::string& data, const std::string& other, RandomStream& random) {
  if (data.empty()) data = "0";
  const std::size_t at = random.below(data.size());
  const auto [word, length] = word_near(data, at);
  switch (random.below(10)) {
    case 0:
      data[at] = static_cast<char>(random.below(256));
      break;
    case 1:
      data[at] = static_cast<char>(data[at] ^ static_cast<char>(1 << random.below(8)));
      break;
    case 2:
      if (random.below(4) == 0) data.resize(at + 1);
      break;
    case 3:
      data.erase(at, 1 + random.below(20));
      break;
    case 4:
      data.insert(at, other, random.below(other.size() + 1), random.below(60));
      break;
    case 5:
      data.replace(at, random.below(30), data.substr(random.below(data.size()), random.below(60)));
      break;
    case 6: {  // another word that is there
      const auto [from, size] = word_near(data, random.below(data.size()));
      data.replace(word, length, data.substr(from, size));
      break;
    }
    default:
      data.replace(word, length, edge_value(random));
      break;
  }
}

}  // namespace photonrail::fuzz

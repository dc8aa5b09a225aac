// Files drawn from a seed: what their tests share. A drawer draws a truth, writes it as the file of another tool, with all
// that the format lets vary, reads it back and compares every value with the truth, which is never asked of the reader.
#pragma once

#include "photonrail/core/random.hpp"
#include "support/source_dir.hpp"
#include "support/test_cases.hpp"

#include <zlib.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace photonrail::test::drawn {

/// Numbers from a seed. Streams of other names are independent: a truth that is changed keeps its style of writing.
class Draw {
 public:
  Draw(std::uint64_t seed, std::string_view name) : random_(seed, name) {}

  std::uint64_t below(std::uint64_t n) { return random_.below(n); }
  std::uint64_t from_to(std::uint64_t least, std::uint64_t most) { return least + random_.below(most - least + 1); }
  bool one_in(std::uint64_t n) { return random_.below(n) == 0; }
  /// All magnitudes alike.
  std::uint64_t magnitude(std::uint64_t most) {
    std::uint64_t end = 1;
    while (end <= most / 10 && !one_in(8)) end *= 10;
    return from_to(0, std::min(most, end * 10 - 1));
  }
  template <class T>
  T pick(const std::vector<T>& list) {
    return list[random_.below(list.size())];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[random_.below(i)]);
  }
  template <class T>
  std::vector<T> some_of(std::vector<T> list, std::size_t count) {
    shuffle(list);
    list.resize(std::min(count, list.size()));
    return list;
  }

 private:
  RandomStream random_;
};

/// Differences between a truth and what was read.
class Differences {
 public:
  template <class A, class B>
  void compare(const std::string& what, const A& truth, const B& read) {
    if (!(truth == read))
      add(what + ": " + ::testing::PrintToString(truth) + " was written, " + ::testing::PrintToString(read) + " was read");
  }
  /// Equal but for rounding.
  void near(const std::string& what, double truth, double read, double share) {
    const double most = share * std::max(std::abs(truth), std::abs(read));
    if (!(std::abs(truth - read) <= most)) compare(what, truth, read);
  }
  void add(std::string difference) { all_.push_back(std::move(difference)); }

  [[nodiscard]] bool none() const { return all_.empty(); }
  [[nodiscard]] std::string text() const {
    std::string lines;
    for (std::size_t i = 0; i < std::min<std::size_t>(all_.size(), 5); ++i) lines += all_[i] + "\n";
    return lines;
  }

 private:
  std::vector<std::string> all_;
};

/// Calls judge(seed), which returns Differences, for every seed; a refusal is a difference too.
template <class Judge>
void expect_read_as_written(std::uint64_t usual, Judge&& judge) {
  constexpr int kShown = 5;
  // Fewer would leave words of a reader out; more take hours.
  const std::uint64_t cases = std::max(usual, std::min<std::uint64_t>(test_cases(usual), 20'000));
  int shown = 0;
  for (std::uint64_t seed = 1; seed <= cases && shown < kShown; ++seed) {
    Differences found;
    try {
      found = judge(seed);
    } catch (const std::exception& e) {
      found.add(std::string("refused: ") + e.what());
    }
    if (found.none()) continue;
    ++shown;
    ADD_FAILURE() << "seed " << seed << "\n" << found.text();
  }
}

/// Calls planted(seed, name), which changes one value of a file, gives the change a name and returns whether the
/// comparison, or the reader, notices it. All changes of `names` must come up.
template <class Planted>
void expect_changes_noticed(std::uint64_t seeds, const std::set<std::string>& names, Planted&& planted) {
  std::set<std::string> seen;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    std::string name;
    const bool noticed = planted(seed, name);
    if (name.empty()) continue;
    seen.insert(name);
    EXPECT_TRUE(noticed) << "seed " << seed << ": another " << name << " was not noticed";
  }
  EXPECT_EQ(seen, names);
}

/// Words that were written, against those that a reader knows.
class Cover {
 public:
  void add(std::string_view word) { ++written_[std::string(word)]; }
  void expect_all(const std::set<std::string>& known, const std::map<std::string, std::string>& excluded) const {
    EXPECT_GT(known.size(), 3u) << "hardly a word was found in the reader";
    for (const std::string& word : known) {
      EXPECT_TRUE(written_.contains(word) || excluded.contains(word)) << "\"" << word << "\" was never written";
    }
    for (const auto& [word, why] : excluded) {
      EXPECT_TRUE(known.contains(word)) << "\"" << word << "\" is excluded, but no reader knows it";
      EXPECT_FALSE(written_.contains(word)) << "\"" << word << "\" is excluded, but was written";
      EXPECT_FALSE(why.empty()) << word;
    }
  }

 private:
  std::map<std::string, std::uint64_t> written_;
};

/// What the first group of `pattern` finds in source files: the words that a reader knows.
inline std::set<std::string> words_in(const std::vector<std::string>& files, const std::vector<std::string>& patterns) {
  std::set<std::string> words;
  for (const std::string& file : files) {
    std::ifstream in(std::filesystem::path(PHOTONRAIL_SOURCE_DIR) / file);
    const std::string text{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
    EXPECT_FALSE(text.empty()) << file;
    for (const std::string& pattern : patterns) {
      const std::regex regex(pattern);
      for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at) words.insert((*at)[1]);
    }
  }
  return words;
}

inline std::string shortest(double value) {
  char digits[64];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// A number as tools write it: plain, with zeros behind the point, with an exponent.
inline std::string number_text(Draw& style, double value) {
  char digits[512];
  const auto text = [&](std::chars_format format) {
    return std::string(digits, std::to_chars(digits, digits + sizeof digits, value, format).ptr);
  };
  std::string plain = text(std::chars_format::fixed);
  switch (style.below(5)) {
    case 0:
      return text(std::chars_format::scientific);
    case 1: {
      std::string upper = text(std::chars_format::scientific);
      std::replace(upper.begin(), upper.end(), 'e', 'E');
      return upper;
    }
    case 2:
      return plain + (plain.find('.') == std::string::npos ? ".0" : "00");
    case 3:
      return plain;
    default:
      return shortest(value);
  }
}

/// A name as people give them: letters, spaces, other scripts.
inline std::string name_text(Draw& draw) {
  static const std::vector<std::string> parts{
      "a", "B7", "layer", "_", "-", ".", " ", "\xC3\xBC", "\xE5\xB1\x82", "\xF0\x9F\x94\xA5", "0", "x y", "/", "#", "'"};
  std::string name = draw.pick<std::string>({"n", "Z", "\xC3\xA9", "op"});
  for (std::uint64_t i = draw.below(4); i > 0; --i) name += draw.pick(parts);
  return name.ends_with(' ') ? name + "e" : name;
}

/// A member of a gzip file.
inline std::string gzip_member(std::string_view data, int level) {
  z_stream stream{};
  deflateInit2(&stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, static_cast<uLong>(data.size())) + 32, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
  stream.avail_in = static_cast<uInt>(data.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

/// The data as it is, or as gzip of one member or of two.
inline std::string maybe_gzip(Draw& style, std::string_view data) {
  if (!style.one_in(4)) return std::string(data);
  const std::size_t cut = style.one_in(3) && !data.empty() ? style.below(data.size()) : 0;
  const int level = static_cast<int>(style.from_to(1, 9));
  return (cut > 0 ? gzip_member(data.substr(0, cut), level) : "") + gzip_member(data.substr(cut), level);
}

/// Other ends of lines; only for texts whose strings have none.
inline std::string maybe_crlf(Draw& style, const std::string& text) {
  if (!style.one_in(4)) return text;
  std::string out;
  for (const char c : text) {
    if (c == '\n') out += '\r';
    out += c;
  }
  return out;
}

}  // namespace photonrail::test::drawn

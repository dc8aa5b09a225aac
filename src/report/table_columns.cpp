#include "report/table_columns.hpp"

#include "photonrail/error.hpp"

#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <set>
#include <span>

namespace photonrail::report {

namespace {

using json::Json;

constexpr double kAbsent = std::numeric_limits<double>::quiet_NaN();
// 8 bytes each in the page, before base64: beyond, numbers are packed as float32.
constexpr std::size_t kMaxExactCells = 3'000'000;

std::string base64(std::string_view bytes) {
  static constexpr char kDigits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : kDigits[three >> (18 - 6 * k) & 63U];
  }
  return text;
}

std::string deflated(const std::string& bytes) {
  uLongf size = compressBound(bytes.size());
  std::string packed(size, '\0');
  const int status = compress2(reinterpret_cast<Bytef*>(packed.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                               bytes.size(), Z_DEFAULT_COMPRESSION);
  PHOTONRAIL_CHECK(status == Z_OK);
  packed.resize(size);
  return packed;
}

// Bytes of one place together: neighbours of a column are alike in their high bytes. Little endian, as in a page.
template <class To, class From>
std::string bytes_by_place(std::span<const From> values) {
  std::string bytes(values.size() * sizeof(To), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto value = static_cast<To>(values[i]);
    unsigned char raw[sizeof(To)];
    std::memcpy(raw, &value, sizeof(To));
    for (std::size_t k = 0; k < sizeof(To); ++k) {
      const std::size_t place = std::endian::native == std::endian::little ? k : sizeof(To) - 1 - k;
      bytes[place * values.size() + i] = static_cast<char>(raw[k]);
    }
  }
  return bytes;
}

template <class To, class From>
Json encoded(const char* encoding, const std::vector<From>& values) {
  return {{"encoding", encoding}, {"data", base64(deflated(bytes_by_place<To>(std::span<const From>(values))))}};
}

Json coded(const std::vector<std::uint32_t>& codes, Json values) {
  if (values.size() == 1) return {{"encoding", "constant"}, {"value", std::move(values.elements()[0])}};
  Json packed = values.size() <= 0x100     ? encoded<std::uint8_t>("codes8", codes)
                : values.size() <= 0x10000 ? encoded<std::uint16_t>("codes16", codes)
                                           : encoded<std::uint32_t>("codes32", codes);
  packed["values"] = std::move(values);
  return packed;
}

// The distinct numbers by code, and the code of each row. Stops with nothing when they are more than `most`.
class NumberCodes {
 public:
  std::uint32_t code(double number) {
    const auto [place, is_new] = codes_.try_emplace(std::bit_cast<std::uint64_t>(number), values_.size());
    if (is_new) values_.push_back(std::isnan(number) ? Json(nullptr) : Json(number));
    return place->second;
  }
  [[nodiscard]] std::size_t count() const { return values_.size(); }
  [[nodiscard]] Json take() { return std::move(values_); }

 private:
  Json values_ = Json::array();
  std::unordered_map<std::uint64_t, std::uint32_t> codes_;
};

Json packed_numbers(const std::vector<double>& numbers, bool exact) {
  constexpr std::size_t kMaxCodes = 0x100;
  NumberCodes distinct;
  std::vector<std::uint32_t> codes;
  for (std::size_t i = 0; i < numbers.size() && distinct.count() <= kMaxCodes; ++i) {
    codes.push_back(distinct.code(numbers[i]));
  }
  if (numbers.empty()) return {{"encoding", "constant"}, {"value", nullptr}};
  if (distinct.count() <= kMaxCodes) return coded(codes, distinct.take());
  return exact ? encoded<double>("float64", numbers) : encoded<float>("float32", numbers);
}

}  // namespace

void Column::set(std::size_t row, double number) {
  if (numbers_.size() <= row) numbers_.resize(row + 1, kAbsent);
  numbers_[row] = number;
}

void Column::set(std::size_t row, std::string_view text) {
  const auto [place, is_new] = codes_.try_emplace(std::string(text), static_cast<std::uint32_t>(values_.size()));
  if (is_new) values_.emplace_back(text);
  if (texts_.size() <= row) texts_.resize(row + 1);
  texts_[row] = place->second + 1;
}

std::optional<json::Json> Column::value(const std::string& value) const {
  if (codes_.count(value) > 0) return Json(value);
  char* end = nullptr;
  const double number = std::strtod(value.c_str(), &end);
  if (value.empty() || *end != '\0') return std::nullopt;
  if (std::find(numbers_.begin(), numbers_.end(), number) == numbers_.end()) return std::nullopt;
  return Json(number);
}

std::string Column::some_values() const {
  constexpr std::size_t kMaxShown = 20;
  std::vector<std::string> seen;
  for (const std::string& value : values_) seen.push_back('"' + value + '"');  // a value may have commas
  std::set<double> numbers;
  for (const double number : numbers_) {
    if (!std::isnan(number) && numbers.size() <= kMaxShown) numbers.insert(number);
  }
  for (const double number : numbers) seen.push_back(Json(number).canonical());
  std::string text = "it has ";
  for (std::size_t i = 0; i < seen.size() && i < kMaxShown; ++i) text += (i == 0 ? "" : ", ") + seen[i];
  return text + (seen.size() > kMaxShown ? ", ..." : "");
}

json::Json Column::packed(std::size_t rows, bool exact) const {
  PHOTONRAIL_CHECK(numbers_.size() <= rows && texts_.size() <= rows);
  std::vector<double> numbers = numbers_;
  numbers.resize(rows, kAbsent);
  if (values_.empty()) return {{"name", name_}, {"role", role_}, {"data", packed_numbers(numbers, exact)}};

  Json values = values_;
  NumberCodes distinct;
  std::vector<std::uint32_t> codes(rows);
  for (std::size_t i = 0; i < rows; ++i) {
    const std::uint32_t text = i < texts_.size() ? texts_[i] : 0;
    codes[i] = text > 0 ? text - 1 : static_cast<std::uint32_t>(values_.size()) + distinct.code(numbers[i]);
  }
  Json numbers_seen = distinct.take();
  for (Json& number : numbers_seen.elements()) values.push_back(std::move(number));
  return {{"name", name_}, {"role", role_}, {"data", coded(codes, std::move(values))}};
}

Column& Table::column(std::string_view name, std::string_view role) {
  const auto place = columns_.find(name);
  if (place != columns_.end()) return place->second;
  Column& made = columns_.try_emplace(std::string(name), std::string(name), std::string(role)).first->second;
  order_.push_back(&made);
  return made;
}

json::Json Table::packed() const {
  Json columns = Json::array();
  const bool exact = rows * order_.size() <= kMaxExactCells;
  for (const Column* column : order_) columns.push_back(column->packed(rows, exact));
  return {{"rows", rows}, {"columns", std::move(columns)}};
}

}  // namespace photonrail::report

// Reads packed columns back, as the page does.
#pragma once

#include "json/json.hpp"

#include <zlib.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace photonrail::test {

inline std::string inflated(const std::string& base64) {
  const auto digit = [](char c) {
    return std::string("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/").find(c);
  };
  std::string bytes;
  for (std::size_t i = 0; i < base64.size(); i += 4) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      bits = bits << 6U | static_cast<std::uint32_t>(base64[i + k] == '=' ? 0 : digit(base64[i + k]));
    }
    for (std::size_t k = 0; k < 3; ++k) bytes += static_cast<char>(bits >> (16 - 8 * k));
    bytes.resize(bytes.size() - static_cast<std::size_t>(base64[i + 2] == '=') -
                 static_cast<std::size_t>(base64[i + 3] == '='));
  }
  std::string plain(1 << 20, '\0');
  uLongf size = plain.size();
  if (uncompress(reinterpret_cast<Bytef*>(plain.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()),
                 bytes.size()) != Z_OK) {
    throw std::runtime_error("no zlib data");
  }
  plain.resize(size);
  return plain;
}

/// A value that was written as text, and read by another reader than the project's.
inline nlohmann::json read_back(const photonrail::json::Json& written) { return nlohmann::json::parse(written.dump()); }

/// The numbers behind "data" of a column: bytes by place, little endian.
template <class Number>
std::vector<double> numbers_of(const nlohmann::json& data) {
  const std::string bytes = inflated(data.at("data"));
  std::vector<double> numbers(bytes.size() / sizeof(Number));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    char raw[sizeof(Number)];
    for (std::size_t k = 0; k < sizeof(Number); ++k) raw[k] = bytes[k * numbers.size() + i];
    Number number{};
    std::memcpy(&number, raw, sizeof number);
    numbers[i] = static_cast<double>(number);
  }
  return numbers;
}

/// The cells of a column of a packed table; null: absent.
inline std::vector<nlohmann::json> cells(const nlohmann::json& table, const std::string& name) {
  for (const auto& column : table.at("columns")) {
    if (column.at("name") != name) continue;
    const auto& data = column.at("data");
    const std::string encoding = data.at("encoding");
    if (encoding == "constant") return std::vector<nlohmann::json>(table.at("rows").get<std::size_t>(), data.at("value"));
    const auto numbers = encoding == "codes8"    ? numbers_of<std::uint8_t>(data)
                         : encoding == "codes16" ? numbers_of<std::uint16_t>(data)
                         : encoding == "codes32" ? numbers_of<std::uint32_t>(data)
                         : encoding == "float32" ? numbers_of<float>(data)
                                                 : numbers_of<double>(data);
    std::vector<nlohmann::json> found;
    for (const double number : numbers) {
      if (data.contains("values"))
        found.push_back(data["values"].at(static_cast<std::size_t>(number)));
      else
        found.push_back(std::isnan(number) ? nlohmann::json(nullptr) : nlohmann::json(number));
    }
    return found;
  }
  throw std::runtime_error("no column " + name);
}

inline std::vector<nlohmann::json> cells(const photonrail::json::Json& table, const std::string& name) {
  return cells(read_back(table), name);
}

}  // namespace photonrail::test

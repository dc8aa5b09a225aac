// A table by columns, and how it is packed for the page of a report: small enough to send 100,000 rows in one file.
#pragma once

#include "json/json.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace photonrail::report {

/// Numbers and texts, by row; a cell that was never set is absent.
class Column {
 public:
  Column(std::string name, std::string role) : name_(std::move(name)), role_(std::move(role)) {}

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& role() const { return role_; }
  /// Whether a cell has this text, or the number that it says.
  [[nodiscard]] bool has(const std::string& value) const { return this->value(value).has_value(); }
  /// The text or number that `value` says, where a cell has it.
  [[nodiscard]] std::optional<json::Json> value(const std::string& value) const;
  /// What cells have, for a message: "it has a, b, 3".
  [[nodiscard]] std::string some_values() const;
  void set(std::size_t row, double number);
  void set(std::size_t row, std::string_view text);

  /// { "name", "role", "data": { "encoding", "value" | "data", "values" } }. Encodings: constant; codes8, codes16, codes32
  /// into "values"; float32, float64 (NaN: absent). "data" is base64 of zlib's format of all first bytes, then all second
  /// ones, and so on. `exact`: numbers as float64, else as float32 where they are many.
  /// REQUIRES: no row set beyond `rows`.
  [[nodiscard]] json::Json packed(std::size_t rows, bool exact) const;

 private:
  std::string name_;
  std::string role_;
  std::vector<double> numbers_;       // NaN: a text, or absent
  std::vector<std::uint32_t> texts_;  // 0: no text; else 1 + index in values_
  std::vector<std::string> values_;
  std::unordered_map<std::string, std::uint32_t> codes_;  // of values_; never iterated over
};

class Table {
 public:
  Table() = default;
  Table(Table&&) = default;
  Table& operator=(Table&&) = default;

  /// The column of this name, made at its first use. The reference stays valid.
  Column& column(std::string_view name, std::string_view role);
  [[nodiscard]] const std::vector<Column*>& columns() const { return order_; }

  std::size_t rows = 0;

  /// { "rows", "columns" }; numbers lose digits (seven stay) where exact ones would make the page too big.
  [[nodiscard]] json::Json packed() const;

 private:
  std::vector<Column*> order_;
  std::map<std::string, Column, std::less<>> columns_;
};

}  // namespace photonrail::report

// Tables that streams of jobs, faults and requests come in: CSV with a head line, also gzip. Errors name the file and the
// line.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace photonrail::formats {

/// Bytes of the mark that some programs put before a text in UTF-8.
[[nodiscard]] std::size_t length_of_mark(std::string_view text);
/// Calls use(line, cells) with the cells of `columns` of each line after the head; "" for a column that the head does not
/// have. A cell in quotation marks may have commas. Throws ConfigError for an empty file and a line that is too short.
void read_csv(const std::filesystem::path& file, const std::vector<std::string>& columns,
              const std::function<void(std::size_t line, const std::vector<std::string>& cells)>& use);
/// A number in [least, greatest]. Throws ConfigError with the file and the line.
[[nodiscard]] double csv_number(const std::filesystem::path& file, std::size_t line, const std::string& cell, double least,
                                double greatest);

}  // namespace photonrail::formats

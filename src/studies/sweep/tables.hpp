// results.csv, results.jsonl and notes.json, made of the database.
#pragma once

#include "studies/sweep/database.hpp"

#include <filesystem>

namespace photonrail::sweep {

/// Replaces the files: each is the old one or complete. Throws ConfigError. REQUIRES: the lock.
void write_tables(const std::filesystem::path& directory, const Manifest& manifest, const Database& database);

}  // namespace photonrail::sweep

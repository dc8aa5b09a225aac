// Traces of requests: Azure's CSV (TIMESTAMP, ContextTokens, GeneratedTokens), BurstGPT's (Timestamp in seconds, Request
// tokens, Response tokens), Mooncake's JSON lines (timestamp in ms, input_length, output_length, hash_ids), and a plain CSV
// (arrival_ms or arrival_s, input_tokens, output_tokens, and where wanted block_hashes and priority). Plain or gzip; which
// one it is follows from the first line.
#pragma once

#include "serving/requests/arrivals.hpp"

#include <filesystem>

namespace photonrail::formats {

/// Times count from the first request. Requests without an answer (0 tokens out, failed ones of BurstGPT) are left out.
/// Throws ConfigError with file and line: not such a trace, or a request that comes before the one above it.
[[nodiscard]] serving::Trace read_request_trace(const std::filesystem::path& file);

}  // namespace photonrail::formats

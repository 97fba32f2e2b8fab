#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace glaive::dataset {

// Nanoseconds since the Unix epoch as "2026-11-29T22:42:08.172496604Z" (RFC 3339), and back from
// any offset from UTC. Nothing for what is no time, or lies outside of what 64 bits hold.
std::string FormatTime(int64_t time_ns);
std::optional<int64_t> ParseTime(std::string_view text);

// Seconds as "14days", "1h 30m" or "0s", and back; months are of 30.44 days, years of 365.25.
std::string FormatDuration(uint64_t seconds);
std::optional<int64_t> ParseDurationNs(std::string_view text);

}  // namespace glaive::dataset

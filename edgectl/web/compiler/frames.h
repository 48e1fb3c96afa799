// Messages between the dashboard's server and its compiler's process: a length of four bytes, little-endian, and as
// many bytes.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::edgectl::web {

/// A longer message is an error: the configuration of a cluster is some ten megabytes.
inline constexpr std::size_t kMostFrame = std::size_t{512} << 20;

using FrameDeadline = std::chrono::steady_clock::time_point;

/// Blocks. kDeadlineExceeded; kUnavailable: the other side has closed; kOutOfRange: longer than `most`.
Status write_frame(int socket, std::string_view text, FrameDeadline until);
Result<std::string> read_frame(int socket, std::size_t most, FrameDeadline until);

}  // namespace edge::edgectl::web

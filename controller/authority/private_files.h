// Files of the authority's directory, which nobody else can read or write: mode 0600, in a directory of mode 0700.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.h"

namespace edge::controller {

inline constexpr std::size_t kMostPrivateBytes = 64 << 10;

/// Creates the directory when it is missing. kFailedPrecondition: others may write there, and could put a root of their
/// own there.
Status open_private_directory(const std::string& path);
/// Empty: the file is missing. kResourceExhausted: it has more bytes than `limit`.
Result<std::string> read_optional(const std::string& path, std::size_t limit = kMostPrivateBytes);
/// Replaces the file in one step.
Status write_private(const std::string& path, std::string_view text);
/// The same where the file has another text, or others may read it: a start writes nothing that is there, so that it
/// needs no space.
Status keep_private(const std::string& path, std::string_view text);
/// Of a missing file, too.
Status remove_private(const std::string& path);

}  // namespace edge::controller

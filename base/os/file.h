// Reads and writes whole files: with a limit, and so that either the old content or the new is there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge {

/// Reads a file of at most `limit` bytes. kNotFound, kPermissionDenied, kResourceExhausted, kInvalidArgument for what
/// is no file; each names the path.
Result<std::string> read_file(const std::string& path, std::size_t limit);
Result<std::vector<std::byte>> read_file_bytes(const std::string& path, std::size_t limit);

/// Who may read a file that is written.
enum class FileAccess { kEveryone, kOwnerOnly };

/// Writes a temporary file, syncs it and renames it to `path`: readers see the old bytes or the new ones, never a part.
Status write_file(const std::string& path, std::string_view bytes, FileAccess access);
Status write_file(const std::string& path, std::span<const std::byte> bytes, FileAccess access);

/// Renames a file that cannot be used to `<path>.broken`, or `.broken.2` and so on where there is one already, so that
/// it can be looked at, and a new one may take its place. \returns the new name.
Result<std::string> set_aside(const std::string& path);

/// Whether there is space on the disk: writes a megabyte into `directory`, with fsync, and removes it. Blocks.
bool has_space(const std::string& directory);

}  // namespace edge

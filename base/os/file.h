// Reads and writes complete files: with a size limit, and atomically.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace edge {

/// Reads a file of at most `limit` bytes. kNotFound, kPermissionDenied, kResourceExhausted, kInvalidArgument for
/// anything but a file; each names the path.
Result<std::string> read_file(const std::string& path, std::size_t limit);
Result<std::vector<std::byte>> read_file_bytes(const std::string& path, std::size_t limit);

/// Who may read a written file.
enum class FileAccess { kEveryone, kOwnerOnly };

/// Writes a temporary file, syncs it and renames it to `path`: readers see the old or the new content, never a part.
Status write_file(const std::string& path, std::string_view bytes, FileAccess access);
Status write_file(const std::string& path, std::span<const std::byte> bytes, FileAccess access);

/// Renames an unusable file to `<path>.broken`, or `.broken.2` and so on, so that it can be inspected, and a new one
/// can replace it. \returns the new name.
Result<std::string> set_aside(const std::string& path);

/// Returns whether there is space on the disk: writes a megabyte into `directory`, with fsync, and removes it. Blocks.
bool has_space(const std::string& directory);

}  // namespace edge

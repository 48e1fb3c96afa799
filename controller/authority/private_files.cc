#include "controller/authority/private_files.h"

#include <filesystem>
#include <system_error>

#include "base/os/file.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;

}  // namespace

Status open_private_directory(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    if (!fs::create_directories(path, error)) {
      return Error{ErrorCode::kUnavailable, path + ": " + (error ? error.message() : std::string("is no directory"))};
    }
    fs::permissions(path, fs::perms::owner_all, error);
  }
  const fs::perms perms = fs::status(path, error).permissions();
  if (error) return Error{ErrorCode::kUnavailable, path + ": " + error.message()};
  if ((perms & (fs::perms::group_write | fs::perms::others_write)) != fs::perms::none) {
    return Error{ErrorCode::kFailedPrecondition, path + ": others may write there; chmod 700"};
  }
  return {};
}

Result<std::string> read_optional(const std::string& path, std::size_t limit) {
  auto text = read_file(path, limit);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Status write_private(const std::string& path, std::string_view text) {
  return write_file(path, text, FileAccess::kOwnerOnly);
}

Status keep_private(const std::string& path, std::string_view text) {
  const auto there = read_optional(path);
  std::error_code error;
  const fs::perms open = fs::status(path, error).permissions() & (fs::perms::group_all | fs::perms::others_all);
  if (there && *there == text && !error && open == fs::perms::none) return {};
  return write_private(path, text);
}

Status remove_private(const std::string& path) {
  std::error_code error;
  fs::remove(path, error);
  if (error) return Error{ErrorCode::kUnavailable, path + ": " + error.message()};
  return {};
}

}  // namespace edge::controller

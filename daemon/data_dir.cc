#include "daemon/data_dir.h"

#include <cerrno>
#include <filesystem>

#include <unistd.h>

namespace edge::daemon {
namespace {

namespace fs = std::filesystem;

Error fault(ErrorCode code, const std::string& path, const std::string& why) {
  return {code, "--data-dir " + path + ": " + why};
}

std::string user() { return ::geteuid() == 0 ? "root" : "the user with the id " + std::to_string(::geteuid()); }

}  // namespace

Status prepare_data_dir(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status)) {
    if (::access(path.c_str(), W_OK | X_OK) == 0) return {};
    const std::string why = errno == EROFS ? "the file system is read-only" : user() + " may not write there";
    return fault(ErrorCode::kPermissionDenied, path, why + "; change its owner, or name another directory");
  }
  if (fs::exists(status)) return fault(ErrorCode::kFailedPrecondition, path, "it is no directory");
  fs::create_directories(path, error);
  if (error) return fault(ErrorCode::kPermissionDenied, path, user() + " cannot create it: " + error.message());
  fs::permissions(path, fs::perms::owner_all, error);
  return {};
}

}  // namespace edge::daemon

#include "daemon/certificate_directories.h"

#include <filesystem>

namespace edge::daemon {

cli::Flag certificate_files_flag() {
  return {.name = "tls-files",
          .value = "DIR",
          .help =
              "Directory for listeners' certificates and keys in files (tls.certFile, tls.keyFile); without it no such "
              "file is read",
          .repeatable = true};
}

cli::Flag dns_hook_flag() {
  return {.name = "acme-dns-hook",
          .value = "PROGRAM",
          .help =
              "Program that writes TXT records for CertificateIssuers with `dns.provider: Hook`; called with "
              "`present` or `cleanup`, the record's name and its value"};
}

Result<std::vector<std::string>> certificate_directories(const cli::Arguments& arguments) {
  std::vector<std::string> directories;
  for (const std::string& path : arguments.all("tls-files")) {
    std::error_code error;
    if (!std::filesystem::is_directory(path, error)) {
      return Error{ErrorCode::kInvalidArgument, "--tls-files: `" + path + "` is no directory"};
    }
    std::string directory = std::filesystem::absolute(path, error).lexically_normal().string();
    if (error) return Error{ErrorCode::kInvalidArgument, "--tls-files: `" + path + "`: " + error.message()};
    while (directory.size() > 1 && directory.ends_with('/')) directory.pop_back();
    directories.push_back(std::move(directory));
  }
  return directories;
}

}  // namespace edge::daemon

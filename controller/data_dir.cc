#include "controller/data_dir.h"

#include <sys/stat.h>

#include <filesystem>
#include <utility>

#include <unistd.h>

#include "base/os/file.h"
#include "program/format/format.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxKeyBytes = 64 << 10;
constexpr std::size_t kMaxEndpointBytes = 64 << 20;
constexpr std::size_t kMaxSecretBytes = std::size_t{256} << 20;

/// Who may write there could put his own key in the place of ours, and so have agents run his programs.
Status check_owner(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) return Error{ErrorCode::kUnavailable, path + ": cannot be looked at"};
  const bool shared = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!shared && (info.st_uid == ::geteuid() || info.st_uid == 0)) return {};
  return Error{ErrorCode::kPermissionDenied,
               path + (shared ? ": others may write there; `chmod go-w` it" : ": belongs to another user")};
}

}  // namespace

Result<DataDir> DataDir::open(std::string path, std::string_view flag) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    // Of a directory that several controllers share, another one may have been faster.
    std::error_code other;
    if (!fs::create_directories(path, error) && !fs::is_directory(path, other)) {
      return Error{ErrorCode::kUnavailable,
                   std::string(flag) + " " + path + ": " + (error ? error.message() : "is no directory")};
    }
    fs::permissions(path, fs::perms::owner_all, error);
  }
  if (Status status = check_owner(path); !status) return status.error();
  return DataDir(std::move(path));
}

Result<program::SigningKey> DataDir::signing_key() const {
  const std::string path = path_ + "/signing.key";
  const auto pem = read_file(path, kMaxKeyBytes);
  if (pem) {
    auto key = program::SigningKey::from_pem(*pem);
    if (!key) return Error{key.error().code, path + ": " + key.error().text};
    return key;
  }
  if (pem.error().code != ErrorCode::kNotFound) return pem.error();
  auto key = program::SigningKey::generate();
  if (!key) return key;
  Status status = write_file(path, std::string_view(key->private_pem()), FileAccess::kOwnerOnly);
  if (status) {
    status = write_file(path_ + "/signing.key.pub", std::string_view(key->public_pem()), FileAccess::kEveryone);
  }
  if (!status) return status.error();
  return key;
}

Status DataDir::store_values(const program::ValueSet& values) const {
  const std::string endpoints = program::write_endpoints(program::endpoints_of(values));
  if (Status status = write_file(path_ + "/endpoints.json", std::string_view(endpoints), FileAccess::kOwnerOnly);
      !status) {
    return status;
  }
  const std::string secrets = program::write_secrets(program::secrets_of(values));
  return write_file(path_ + "/secrets.json", std::string_view(secrets), FileAccess::kOwnerOnly);
}

Status DataDir::store_program(const std::vector<std::byte>& program) const {
  return write_file(path_ + "/program.edgeprog", std::span(program), FileAccess::kOwnerOnly);
}

Result<StoredProgram> DataDir::last() const {
  auto bytes = read_file_bytes(path_ + "/program.edgeprog", program::kMaxProgramBytes);
  if (!bytes) return bytes.error();
  const auto text = read_file(path_ + "/endpoints.json", kMaxEndpointBytes);
  if (!text) return text.error();
  auto endpoints = program::read_endpoints(*text);
  if (!endpoints) return endpoints.error();
  // A run of a version that knew none left no file.
  program::SecretSet secrets;
  if (const auto values = read_file(path_ + "/secrets.json", kMaxSecretBytes)) {
    auto read = program::read_secrets(*values);
    if (!read) return read.error();
    secrets = std::move(*read);
  } else if (values.error().code != ErrorCode::kNotFound) {
    return values.error();
  }
  return StoredProgram{std::make_shared<const std::vector<std::byte>>(std::move(*bytes)),
                       program::value_set(std::move(*endpoints), std::move(secrets))};
}

Status take_identity(const std::string& data_dir, const std::string& from) {
  if (auto opened = DataDir::open(data_dir); !opened) return opened.error();
  const std::string agents = data_dir + "/agents";
  std::error_code error;
  if (fs::create_directory(agents, error)) fs::permissions(agents, fs::perms::owner_all, error);
  if (error) return Error{ErrorCode::kUnavailable, agents + ": " + error.message()};
  const std::pair<std::string, std::string> files[] = {
      {"signing.key", data_dir + "/signing.key"}, {"ca.pem", agents + "/ca.pem"}, {"join", agents + "/join"}};
  for (const auto& [name, path] : files) {
    if (fs::exists(path, error)) continue;
    const auto text = read_file(from + "/" + name, kMaxKeyBytes);
    if (!text) return text.error();
    if (Status status = write_file(path, std::string_view(*text), FileAccess::kOwnerOnly); !status) return status;
  }
  return {};
}

}  // namespace edge::controller

#include "daemon/admin_token.h"

#include <array>
#include <cstdlib>
#include <filesystem>
#include <utility>

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>

#include "base/os/file.h"
#include "base/os/operator_files.h"
#include "base/text/ascii.h"
#include "base/text/base64.h"

namespace edge::daemon {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kRandomBytes = 32;
constexpr std::size_t kTokenSize = kAdminTokenPrefix.size() + 43;

/// Where systemd keeps a directory for the unit, else one that is made.
Result<std::string> private_directory(std::string& own) {
  if (const char* const given = std::getenv("RUNTIME_DIRECTORY"); given != nullptr && *given == '/') {
    const std::string_view all = given;
    return std::string(all.substr(0, all.find(':')));
  }
  std::error_code error;
  std::string pattern = (fs::temp_directory_path(error) / "edge-admin.XXXXXX").string();
  if (error || ::mkdtemp(pattern.data()) == nullptr) {
    return Error{ErrorCode::kUnavailable, pattern + ": cannot be made"};
  }
  own = pattern;
  return pattern;
}

/// As a quoted string (RFC 9110 §5.6.4).
std::string as_quoted_string(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

bool only_reads(std::string_view method) { return method == "GET" || method == "HEAD" || method == "OPTIONS"; }

}  // namespace

Result<AdminToken> AdminToken::open(std::string path) {
  AdminToken made;
  if (path.empty()) {
    auto directory = private_directory(made.own_directory_);
    if (!directory) return directory.error();
    path = *directory + "/admin-token";
  }
  std::error_code error;
  const fs::path parent = fs::path(path).parent_path();
  if (!parent.empty() && !fs::is_directory(parent, error) && fs::create_directories(parent, error)) {
    fs::permissions(parent, fs::perms::owner_all, error);
  }
  made.path_ = std::move(path);
  auto text = read_file(made.path_, kMaxAdminTokenBytes);
  const bool whole = text && text->size() == kTokenSize + 1 && text->starts_with(kAdminTokenPrefix);
  // One that others could read or have put there is none.
  const fs::perms perms = fs::status(made.path_, error).permissions();
  const bool ours = whole && (perms & (fs::perms::group_all | fs::perms::others_all)) == fs::perms::none;
  if (ours) {
    made.token_ = text->substr(0, kTokenSize);
    return made;
  }
  std::array<unsigned char, kRandomBytes> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) {
    return Error{ErrorCode::kInternal, "the system gives no random bytes"};
  }
  made.token_ = std::string(kAdminTokenPrefix) +
                to_base64url(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  const std::string line = made.token_ + "\n";
  if (Status status = write_file(made.path_, std::string_view(line), FileAccess::kOwnerOnly); !status) {
    return status.error();
  }
  return made;
}

AdminToken::AdminToken(AdminToken&& other) noexcept
    : path_(std::move(other.path_)),
      token_(std::move(other.token_)),
      own_directory_(std::exchange(other.own_directory_, {})) {}

AdminToken& AdminToken::operator=(AdminToken&& other) noexcept {
  std::swap(path_, other.path_);
  std::swap(token_, other.token_);
  std::swap(own_directory_, other.own_directory_);
  return *this;
}

AdminToken::~AdminToken() {
  std::error_code none_left;
  if (!own_directory_.empty()) fs::remove_all(own_directory_, none_left);
}

std::optional<AdminReply> AdminToken::refuse(const AdminRequest& request) const {
  if (only_reads(request.method)) return std::nullopt;
  constexpr std::string_view kScheme = "bearer ";
  const std::string_view shown = request.field("authorization");
  if (!token_.empty() && shown.size() == kScheme.size() + token_.size() && starts_with_ignoring_case(shown, kScheme) &&
      CRYPTO_memcmp(shown.data() + kScheme.size(), token_.data(), token_.size()) == 0) {
    return std::nullopt;
  }
  if (token_.empty()) return text_reply(401, "changes are refused: there is no token for them\n");
  AdminReply reply = text_reply(401, "a change must show the token in " + path_ + " (Authorization: Bearer ...)\n");
  reply.fields.emplace_back("WWW-Authenticate", "Bearer realm=\"edge\", " + std::string(kAdminTokenParameter) +
                                                    as_quoted_string(path_) + "\"");
  return reply;
}

}  // namespace edge::daemon

#include "controller/authority/authority.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <optional>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/base64.h"
#include "base/file.h"

namespace edge::controller {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFileBytes = 64 << 10;
constexpr std::size_t kMaxRevokedBytes = 16 << 20;
constexpr std::size_t kTokenBytes = 32;
constexpr std::string_view kTokenLine = "token: ";
constexpr std::string_view kControllerLine = "controller: ";
constexpr std::string_view kAdministrator = "edgectl";

Validity lasting(WallTime now, std::chrono::seconds lifetime) { return {now - kClockSkew, now + lifetime}; }

/// Two thirds are over.
bool is_due(const Validity& validity, WallTime now) {
  return now >= validity.from + (validity.until - validity.from) / 3 * 2;
}

Result<std::string> fresh_token() {
  std::string bytes(kTokenBytes, '\0');
  if (RAND_bytes(reinterpret_cast<unsigned char*>(bytes.data()), kTokenBytes) != 1) {
    return Error{ErrorCode::kInternal, "the system gives no random bytes"};
  }
  return to_base64url(bytes);
}

/// The rest of the line that begins with `key`.
std::string line_of(std::string_view text, std::string_view key) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.starts_with(key)) return std::string(text.substr(key.size(), end - key.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

/// What is not there is empty; everything else that fails is told.
Result<std::string> read_optional(const std::string& path, std::size_t limit = kMaxFileBytes) {
  auto text = read_file(path, limit);
  if (!text && text.error().code == ErrorCode::kNotFound) return std::string();
  return text;
}

Status write_private(const std::string& path, std::string_view text) {
  return write_file(path, text, FileAccess::kOwnerOnly);
}

/// Others could put a root of their own there.
Status check_private(const std::string& path) {
  std::error_code error;
  const fs::perms perms = fs::status(path, error).permissions();
  if (error) return Error{ErrorCode::kUnavailable, path + ": " + error.message()};
  if ((perms & (fs::perms::group_write | fs::perms::others_write)) != fs::perms::none) {
    return Error{ErrorCode::kFailedPrecondition, path + ": others may write there; chmod 700"};
  }
  return {};
}

}  // namespace

struct Authority::Impl {
  explicit Impl(AuthorityOptions given) : options(std::move(given)) {}

  AuthorityOptions options;
  mutable std::mutex mutex;  ///< guards everything below
  std::optional<Issuer> current;
  std::optional<Issuer> next;
  std::string previous;  ///< certificate
  std::string roots;
  std::string token;
  Validity server;
  Validity administrator;
  std::map<std::string, WallTime, std::less<>> revoked;

  bool is_revoked(const CertificateFacts& facts) const {
    const auto found = revoked.find(facts.subject.name);
    return facts.subject.role == Role::kAgent && found != revoked.end() && facts.issued <= found->second;
  }
  WallTime now() const { return options.clock ? options.clock() : std::chrono::system_clock::now(); }
  std::string path(std::string_view file) const { return options.directory + "/" + std::string(file); }

  Status open_directory() const;
  Status load();
  Status load_own(std::string_view file, Validity& validity) const;
  Status load_revoked();
  Status make_current();
  Status write_roots();
  Status write_join() const;
  Status write_server();
  Status write_administrator();
  Status write_revoked() const;
  Result<bool> follow();
  Status begin_next();
};

Status Authority::Impl::open_directory() const {
  std::error_code error;
  if (!fs::is_directory(options.directory, error)) {
    if (!fs::create_directories(options.directory, error)) {
      return Error{ErrorCode::kUnavailable,
                   options.directory + ": " + (error ? error.message() : std::string("is no directory"))};
    }
    fs::permissions(options.directory, fs::perms::owner_all, error);
  }
  return check_private(options.directory);
}

Status Authority::Impl::load_revoked() {
  const auto text = read_optional(path("revoked"), kMaxRevokedBytes);
  if (!text) return text.error();
  std::string_view rest = *text;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const std::size_t space = line.find(' ');
    if (space == std::string_view::npos) continue;
    const auto milliseconds = std::strtoll(std::string(line.substr(space + 1)).c_str(), nullptr, 10);
    revoked[std::string(line.substr(0, space))] = WallTime(std::chrono::milliseconds(milliseconds));
  }
  return {};
}

Status Authority::Impl::make_current() {
  auto made = Issuer::create(lasting(now(), kAuthorityLifetime));
  if (!made) return made.error();
  current = std::move(*made);
  return write_private(path("ca.pem"), current->pem());
}

/// One that an authority before this one issued, of which nobody knows any more, is due at once.
Status Authority::Impl::load_own(std::string_view file, Validity& validity) const {
  const auto text = read_optional(path(file));
  if (!text) return text.error();
  const auto facts = read_certificate(*text);
  if (facts && current->has_issued(*text)) validity = facts->validity;
  return {};
}

Status Authority::Impl::load() {
  const auto ca = read_optional(path("ca.pem"));
  if (!ca) return ca.error();
  if (ca->empty()) {
    if (Status status = make_current(); !status) return status;
  } else {
    auto read = Issuer::from_pem(*ca);
    if (!read) return Error{read.error().code, path("ca.pem") + ": " + read.error().text};
    current = std::move(*read);
  }
  const auto following = read_optional(path("ca-next.pem"));
  if (!following) return following.error();
  if (!following->empty()) {
    auto read = Issuer::from_pem(*following);
    if (!read) return Error{read.error().code, path("ca-next.pem") + ": " + read.error().text};
    next = std::move(*read);
  }
  const auto before = read_optional(path("ca-previous.pem"));
  if (!before) return before.error();
  previous = *before;

  const auto join = read_optional(path("join"));
  if (!join) return join.error();
  token = line_of(*join, kTokenLine);
  if (token.empty()) {
    auto made = fresh_token();
    if (!made) return made.error();
    token = std::move(*made);
  }
  if (Status status = load_own("server.pem", server); !status) return status;
  if (Status status = load_own("admin.pem", administrator); !status) return status;
  return load_revoked();
}

Status Authority::Impl::write_roots() {
  roots = current->certificate();
  if (next) roots += next->certificate();
  if (previous != current->certificate()) roots += previous;
  if (Status status = write_private(path("roots.pem"), roots); !status) return status;
  return write_join();
}

Status Authority::Impl::write_join() const {
  return write_private(path("join"),
                       "# Who has this file may join agents to this controller: edge-agent --token-file.\n" +
                           std::string(kTokenLine) + token + "\n" + roots);
}

Status Authority::Impl::write_server() {
  const Validity validity = lasting(now(), kServerLifetime);
  const auto pair = current->issue({Role::kController, "edge-controller"}, validity, now());
  if (!pair) return pair.error();
  server = validity;
  // One file, so that nobody reads the key of one and the certificate of another.
  return write_private(path("server.pem"), pair->certificate + pair->key);
}

Status Authority::Impl::write_administrator() {
  const Validity validity = lasting(now(), kAdministratorLifetime);
  const auto pair = current->issue({Role::kAdministrator, std::string(kAdministrator)}, validity, now());
  if (!pair) return pair.error();
  administrator = validity;
  std::string text = "# Who has this file may ask this controller about its agents: edgectl --agents-credentials.\n";
  if (!options.controller.empty()) text += std::string(kControllerLine) + options.controller + "\n";
  // The first certificate is the administrator's; the authorities stand behind the key.
  return write_private(path("admin.pem"), text + pair->certificate + pair->key + roots);
}

Status Authority::Impl::write_revoked() const {
  std::string text;
  for (const auto& [name, since] : revoked) {
    const auto count = std::chrono::duration_cast<std::chrono::milliseconds>(since.time_since_epoch()).count();
    text += name + " " + std::to_string(count) + "\n";
  }
  return write_private(path("revoked"), text);
}

Status Authority::Impl::begin_next() {
  if (next) return {};
  auto made = Issuer::create(lasting(now(), kAuthorityLifetime));
  if (!made) return made.error();
  if (Status status = write_private(path("ca-next.pem"), made->pem()); !status) return status;
  next = std::move(*made);
  return write_roots();
}

/// The steps of a succession, each by how old the younger authority is. They are taken from files and clock alone, so a
/// controller that ends between two goes on where it was.
Result<bool> Authority::Impl::follow() {
  const WallTime time = now();
  const Validity own = current->validity();
  Status status;
  if (!next && time >= own.from + (own.until - own.from) / 5 * 4) {
    status = begin_next();
  } else if (next && time >= next->validity().from + kAgentLifetime) {
    previous = current->certificate();
    status = write_private(path("ca-previous.pem"), previous);
    std::error_code error;
    if (status) fs::rename(path("ca-next.pem"), path("ca.pem"), error);
    if (error) status = Error{ErrorCode::kUnavailable, path("ca.pem") + ": " + error.message()};
    if (status) current = std::exchange(next, std::nullopt);
    if (status) status = write_roots();
    if (status) status = write_server();
    if (status) status = write_administrator();
  } else if (!previous.empty() && time >= own.from + 2 * kAgentLifetime) {
    std::error_code error;
    fs::remove(path("ca-previous.pem"), error);
    previous.clear();
    status = write_roots();
  } else {
    return false;
  }
  if (!status) return status.error();
  return true;
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::~Authority() = default;

Result<std::unique_ptr<Authority>> Authority::open(AuthorityOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  Status status = impl->open_directory();
  if (status) status = impl->load();
  if (status) status = impl->write_roots();
  if (!status) return status.error();
  std::unique_ptr<Authority> authority(new Authority(std::move(impl)));
  if (auto tended = authority->tend(); !tended) return tended.error();
  return authority;
}

bool Authority::is_token(std::string_view presented) const {
  const std::lock_guard lock(impl_->mutex);
  // Of one size by construction; the size is no secret.
  return presented.size() == impl_->token.size() &&
         CRYPTO_memcmp(presented.data(), impl_->token.data(), presented.size()) == 0;
}

Result<std::string> Authority::sign(std::string_view name, std::string_view request) const {
  if (!is_subject_name(name)) {
    return Error{ErrorCode::kInvalidArgument,
                 "an agent's name is made of lower-case letters, digits, `-` and `.`, at most 253"};
  }
  const std::lock_guard lock(impl_->mutex);
  const WallTime now = impl_->now();
  return impl_->current->issue({Role::kAgent, std::string(name)}, lasting(now, kAgentLifetime), now, request);
}

Result<CertificateFacts> Authority::identify(std::string_view certificate) const {
  auto facts = read_certificate(certificate);
  if (!facts) return facts;
  const std::lock_guard lock(impl_->mutex);
  const WallTime now = impl_->now();
  const auto refused = [&](std::string_view why) {
    return Error{ErrorCode::kUnauthenticated, "the certificate of " + facts->subject.name + " " + std::string(why)};
  };
  if (now < facts->validity.from) return refused("is not valid yet");
  if (now >= facts->validity.until) return refused("is over");
  if (impl_->is_revoked(*facts)) return refused("is revoked");
  return facts;
}

bool Authority::is_revoked(const CertificateFacts& facts) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->is_revoked(facts);
}

Status Authority::revoke(std::string_view name) {
  if (!is_subject_name(name)) return Error{ErrorCode::kInvalidArgument, "no agent has such a name"};
  const std::lock_guard lock(impl_->mutex);
  const WallTime now = impl_->now();
  // What was issued before that is over by itself.
  std::erase_if(impl_->revoked, [&](const auto& entry) { return entry.second + kAgentLifetime < now; });
  impl_->revoked[std::string(name)] = now;
  return impl_->write_revoked();
}

std::string Authority::roots() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->roots;
}

Result<bool> Authority::tend() {
  const std::lock_guard lock(impl_->mutex);
  auto changed = impl_->follow();
  if (!changed) return changed;
  Status status;
  if (is_due(impl_->server, impl_->now())) status = impl_->write_server();
  if (status && is_due(impl_->administrator, impl_->now())) status = impl_->write_administrator();
  if (!status) return status.error();
  return changed;
}

Status Authority::roll_over() {
  const std::lock_guard lock(impl_->mutex);
  return impl_->begin_next();
}

Status Authority::set_controller(const std::string& controller) {
  const std::lock_guard lock(impl_->mutex);
  // Also where it is there already: the file is written anew when its certificate is.
  impl_->options.controller = controller;
  const auto text = read_optional(impl_->path("admin.pem"));
  if (text && line_of(*text, kControllerLine) == controller) return {};
  return impl_->write_administrator();
}

std::string Authority::path(std::string_view file) const { return impl_->path(file); }

}  // namespace edge::controller

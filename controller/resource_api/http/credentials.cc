#include "controller/resource_api/http/credentials.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>

#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <unistd.h>

#include "base/ip.h"
#include "base/os/file.h"
#include "base/os/operator_files.h"
#include "base/text/base64.h"

namespace edge::resource_api::http {
namespace {

namespace fs = std::filesystem;
using controller::Issuer;
using controller::KeyPair;
using controller::PlainSubject;
using controller::Validity;
using controller::WallTime;
using std::chrono::hours;

constexpr auto kAuthorityTime = hours(24 * 3650);
constexpr auto kAdministratorTime = hours(24 * 365);
constexpr auto kServerTime = hours(24 * 90);
/// Clocks differ: what is issued holds a little before it was.
constexpr auto kSkew = hours(1);
constexpr std::size_t kMaxFile = std::size_t{256} << 10;
constexpr std::size_t kMaxTokens = 1024;
constexpr std::size_t kTokenBytes = 32;
constexpr std::string_view kAdministrator = "edge-admin";
constexpr std::string_view kRevokedBefore = "revoked-before";
constexpr std::string_view kIssuedUntil = "issued-until";

using Digest = std::array<unsigned char, SHA256_DIGEST_LENGTH>;

struct KnownToken {
  Digest digest;
  User user;
};

/// Tokens are compared by digest: of one size, whatever was presented.
Digest digest_of(std::string_view text) {
  Digest digest;
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

/// Random bytes that go into a field's value.
Result<std::string> random_token() {
  std::array<unsigned char, kTokenBytes> bytes{};
  if (RAND_bytes(bytes.data(), bytes.size()) != 1) return Error{ErrorCode::kInternal, "no random bytes"};
  return to_base64url({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

User user_named(std::string name, std::vector<std::string> groups) {
  groups.emplace_back(kAuthenticatedGroup);
  return {std::move(name), std::move(groups)};
}

std::vector<std::string> split(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (end != 0) parts.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

Validity lasting(WallTime now, std::chrono::hours time) { return {now - kSkew, now + time}; }

bool due(const Validity& validity, WallTime now) {
  return now < validity.from || now >= validity.from + (validity.until - validity.from) / 3 * 2;
}

std::string own_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

Status make_directory(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  struct stat facts{};
  if (error || ::stat(path.c_str(), &facts) != 0) {
    return Error{ErrorCode::kUnavailable, path + ": cannot be made: " + error.message()};
  }
  if (facts.st_uid != ::geteuid()) return Error{ErrorCode::kPermissionDenied, path + ": belongs to another user"};
  fs::permissions(path, fs::perms::owner_all, error);
  if (error) return Error{ErrorCode::kPermissionDenied, path + ": " + error.message()};
  return {};
}

/// Certificate and key of one file, and their validity.
struct Pair {
  KeyPair keys;
  Validity validity{};
};

std::string_view section(std::string_view pem, std::string_view kind) {
  const std::string begin = "-----BEGIN " + std::string(kind) + "-----";
  const std::string end = "-----END " + std::string(kind) + "-----\n";
  const std::size_t from = pem.find(begin);
  const std::size_t until = pem.find(end, from);
  if (from == std::string_view::npos || until == std::string_view::npos) return {};
  return pem.substr(from, until + end.size() - from);
}

}  // namespace

struct Credentials::Impl {
  explicit Impl(CredentialsOptions given) : options(std::move(given)) {}

  WallTime now() const { return options.clock ? options.clock() : std::chrono::system_clock::now(); }
  std::string path(std::string_view name) const { return options.directory + "/" + std::string(name); }

  Status load_issuer();
  /// The time in a file; the epoch: there is none. kDataLoss.
  Result<WallTime> read_time(std::string_view name) const;
  Status write_time(std::string_view name, WallTime time) const;
  Status load_times();
  Result<bool> replace_if_asked();
  Status load_token();
  void read_tokens();
  /// What the file holds, when it is of our authority and for whom it should be; else made anew.
  Status settle(const std::string& file, PlainSubject subject, std::chrono::hours time, Pair& pair, bool& changed);
  Result<bool> settle_all();
  Status make_sites();
  PlainSubject server_subject() const;

  CredentialsOptions options;
  std::optional<Issuer> issuer;
  WallTime revoked_before{};  ///< of client certificates; the epoch: none
  WallTime issued_until{};    ///< likewise: when the last one was issued, whatever a clock that was set back says
  std::uint64_t replacements = 0;
  std::string own;
  KnownToken own_token{};
  KnownToken administrators_token{};
  std::string token;
  std::vector<KnownToken> tokens;
  fs::file_time_type tokens_read_at{};
  Pair server;
  Pair administrator;
  std::shared_ptr<const net::tls::Sites> sites;
};

Status Credentials::Impl::load_issuer() {
  const Result<std::string> text = read_file(path("ca.pem"), kMaxFile);
  if (text) {
    Result<Issuer> read = Issuer::from_pem(*text);
    if (!read) return Error{read.error().code, path("ca.pem") + ": " + read.error().text};
    issuer = std::move(*read);
  } else if (text.error().code != ErrorCode::kNotFound) {
    return text.error();
  }
  // Nobody can believe one that a clock made which ran ahead.
  if (!text || now() < issuer->validity().from) {
    Result<Issuer> made = Issuer::create(lasting(now(), kAuthorityTime));
    if (!made) return made.error();
    issuer = std::move(*made);
    if (Status status = write_file(path("ca.pem"), issuer->pem(), FileAccess::kOwnerOnly); !status) return status;
  }
  if (now() >= issuer->validity().until) {
    return Error{ErrorCode::kFailedPrecondition, path("ca.pem") + ": is over; remove it to have another made"};
  }
  return write_file(path("ca.crt"), issuer->certificate(), FileAccess::kOwnerOnly);
}

Result<WallTime> Credentials::Impl::read_time(std::string_view name) const {
  const Result<std::string> text = read_file(path(name), kMaxFile);
  if (!text && text.error().code == ErrorCode::kNotFound) return WallTime();
  if (!text) return text.error();
  std::int64_t count = 0;
  const auto [end, fault] = std::from_chars(text->data(), text->data() + text->size(), count);
  // Closed rather than open: what was revoked must not hold again because a file is broken.
  if (fault != std::errc() || count <= 0) {
    return Error{ErrorCode::kDataLoss,
                 path(name) + ": holds no time; remove it to have certificates that were revoked hold again"};
  }
  return WallTime(std::chrono::milliseconds(count));
}

Status Credentials::Impl::write_time(std::string_view name, WallTime time) const {
  const auto milliseconds = std::chrono::ceil<std::chrono::milliseconds>(time.time_since_epoch());
  const std::string text = std::to_string(milliseconds.count()) + "\n";
  return write_file(path(name), text, FileAccess::kOwnerOnly);
}

Status Credentials::Impl::load_times() {
  const auto revoked = read_time(kRevokedBefore);
  if (!revoked) return revoked.error();
  const auto issued = read_time(kIssuedUntil);
  if (!issued) return issued.error();
  revoked_before = *revoked;
  // Versions that did not write it have left the last certificate.
  const Result<std::string> last = read_file(path("admin.pem"), kMaxFile);
  const WallTime of_last = last ? controller::issue_of(section(*last, "CERTIFICATE")) : WallTime();
  issued_until = std::max(*issued, of_last);
  return {};
}

/// In an order in which an end in between is done again: what asks for it goes last.
Result<bool> Credentials::Impl::replace_if_asked() {
  std::error_code error;
  const std::string asked = path(kReplaceAdministratorFile);
  if (!fs::exists(fs::symlink_status(asked, error))) return false;
  // What a clock that was ahead has issued holds no more either, and what was revoked stays so.
  const WallTime time = std::chrono::ceil<std::chrono::milliseconds>(std::max({now(), issued_until, revoked_before}));
  if (Status status = write_time(kRevokedBefore, time); !status) return status.error();
  revoked_before = time;
  for (const char* file : {"token", "admin.pem"}) {
    fs::remove(path(file), error);
    if (error) return Error{ErrorCode::kUnavailable, path(file) + ": " + error.message()};
  }
  if (Status status = load_token(); !status) return status.error();
  if (Result<bool> settled = settle_all(); !settled) return settled;
  ++replacements;
  fs::remove(asked, error);
  if (error) return Error{ErrorCode::kUnavailable, asked + ": " + error.message()};
  return true;
}

Status Credentials::Impl::load_token() {
  Result<std::string> text = read_file(path("token"), kMaxFile);
  if (!text && text.error().code != ErrorCode::kNotFound) return text.error();
  if (text) {
    token = text->substr(0, text->find_last_not_of(" \r\n") + 1);
  } else {
    Result<std::string> made = random_token();
    if (!made) return made.error();
    token = std::move(*made);
    if (Status status = write_file(path("token"), token + "\n", FileAccess::kOwnerOnly); !status) return status;
  }
  if (token.size() < 16) return Error{ErrorCode::kFailedPrecondition, path("token") + ": shorter than 16 characters"};
  administrators_token = {digest_of(token), user_named(std::string(kAdministrator), {std::string(kMastersGroup)})};
  return {};
}

/// A file that cannot be read knows nobody: closed rather than open.
void Credentials::Impl::read_tokens() {
  std::error_code error;
  const auto written = fs::last_write_time(path("tokens"), error);
  if (error) {
    // One that comes back as it was, by a rename, is read again.
    tokens_read_at = {};
    return tokens.clear();
  }
  if (written == tokens_read_at) return;
  tokens_read_at = written;
  tokens.clear();
  const Result<std::string> text = read_file(path("tokens"), kMaxFile);
  if (!text) return;
  for (const std::string& line : split(*text, "\n")) {
    if (line.starts_with('#') || tokens.size() == kMaxTokens) continue;
    std::vector<std::string> words = split(line, " \t\r");
    if (words.size() < 2 || words[0].size() < 16) continue;
    tokens.push_back({digest_of(words[0]),
                      user_named(words[1], words.size() > 2 ? split(words[2], ",") : std::vector<std::string>())});
  }
}

PlainSubject Credentials::Impl::server_subject() const {
  PlainSubject subject{.use = PlainSubject::Use::kServer, .common_name = "edge-proxy resource API"};
  std::vector<std::string> all = {"localhost", "127.0.0.1", "::1", "kubernetes.default.svc", own_name()};
  all.insert(all.end(), options.hosts.begin(), options.hosts.end());
  for (const std::string& host : all) {
    auto& list = parse_ip(host) ? subject.addresses : subject.hosts;
    if (!host.empty() && std::ranges::find(list, host) == list.end()) list.push_back(host);
  }
  return subject;
}

Status Credentials::Impl::settle(const std::string& file, PlainSubject subject, std::chrono::hours time, Pair& pair,
                                 bool& changed) {
  // What it is for stands in the file too: with other hosts, or another authority, it is another certificate.
  std::string purpose = "# " + subject.common_name;
  for (const auto* list : {&subject.organizations, &subject.hosts, &subject.addresses}) {
    for (const std::string& one : *list) purpose += " " + one;
  }
  const Digest of_authority = digest_of(issuer->certificate());
  purpose += " of " + to_base64url({reinterpret_cast<const char*>(of_authority.data()), 12}) + "\n";
  const Result<std::string> text = read_file(path(file), kMaxFile);
  if (text && text->starts_with(purpose)) {
    Pair read{{std::string(section(*text, "PRIVATE KEY")), std::string(section(*text, "CERTIFICATE"))}};
    const auto validity = controller::validity_of(read.keys.certificate);
    // Of the server's own none was ever revoked.
    const bool holds =
        subject.use == PlainSubject::Use::kServer || controller::issue_of(read.keys.certificate) > revoked_before;
    if (validity && holds && !due(*validity, now()) &&
        net::tls::Certificate::read(read.keys.certificate, read.keys.key)) {
      changed = read.keys.certificate != pair.keys.certificate;
      pair = std::move(read);
      return {};
    }
  }
  const Validity validity = lasting(now(), time);
  const WallTime issued = std::max(now(), revoked_before + std::chrono::milliseconds(1));
  if (subject.use == PlainSubject::Use::kClient && issued > issued_until) {
    if (Status status = write_time(kIssuedUntil, issued); !status) return status;
    issued_until = issued;
  }
  Result<KeyPair> made = issuer->issue(subject, validity, issued);
  if (!made) return made.error();
  pair = {std::move(*made), validity};
  changed = true;
  return write_file(path(file), purpose + pair.keys.certificate + pair.keys.key, FileAccess::kOwnerOnly);
}

Result<bool> Credentials::Impl::settle_all() {
  bool changed = false;
  bool new_administrator = false;
  const PlainSubject masters{.common_name = std::string(kAdministrator), .organizations = {std::string(kMastersGroup)}};
  Status status = settle("server.pem", server_subject(), kServerTime, server, changed);
  if (status) status = settle("admin.pem", masters, kAdministratorTime, administrator, new_administrator);
  if (status && changed) status = make_sites();
  if (!status) return status.error();
  return changed;
}

Status Credentials::Impl::make_sites() {
  auto certificate = net::tls::Certificate::read(server.keys.certificate + issuer->certificate(), server.keys.key);
  if (!certificate) return certificate.error();
  auto authorities = std::make_shared<net::tls::Authorities>();
  if (Status status = authorities->add(issuer->certificate()); !status) return status;
  auto context = net::tls::ServerContext::make({.min_version = net::tls::Version::k12,
                                                .client_certificate = net::tls::ClientCertificate::kOptional,
                                                .client_authorities = std::move(authorities),
                                                .offers_http2 = true});
  if (!context) return context.error();
  // Sessions are resumed within one authority alone: whoever it vouched for.
  const Digest digest = digest_of(issuer->certificate());
  std::array<std::uint8_t, 16> identity{};
  std::copy_n(digest.begin(), identity.size(), identity.begin());
  auto made = std::make_shared<net::tls::Sites>(std::make_shared<net::tls::TicketKeys>());
  made->add("", std::make_shared<const net::tls::Site>(
                    std::move(*context), std::vector<net::tls::ServerCertificate>{{std::move(*certificate), nullptr}},
                    identity));
  sites = std::move(made);
  return {};
}

// ---- Credentials --------------------------------------------------------------------------------------------------

Credentials::Credentials(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Credentials::~Credentials() = default;

Result<std::unique_ptr<Credentials>> Credentials::open(CredentialsOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  Status status = make_directory(impl->options.directory);
  if (status) status = impl->load_issuer();
  if (status) status = impl->load_times();
  if (status) status = impl->load_token();
  if (!status) return status.error();
  Result<std::string> own = random_token();
  if (!own) return own.error();
  impl->own = std::move(*own);
  impl->own_token = {digest_of(impl->own), impl->administrators_token.user};
  impl->read_tokens();
  if (Result<bool> replaced = impl->replace_if_asked(); !replaced) return replaced.error();
  if (Result<bool> settled = impl->settle_all(); !settled) return settled.error();
  return std::unique_ptr<Credentials>(new Credentials(std::move(impl)));
}

std::optional<User> Credentials::user_of_token(std::string_view token) {
  impl_->read_tokens();
  const Digest presented = digest_of(token);
  const KnownToken* found = nullptr;
  const auto compare = [&](const KnownToken& known) {
    // All are looked at, and each in whole.
    if (CRYPTO_memcmp(known.digest.data(), presented.data(), presented.size()) == 0 && found == nullptr) found = &known;
  };
  compare(impl_->administrators_token);
  compare(impl_->own_token);
  for (const KnownToken& known : impl_->tokens) compare(known);
  if (found == nullptr) return std::nullopt;
  return found->user;
}

std::optional<User> Credentials::user_of(const net::server::ClientName& name) const {
  if (name.common_name.empty()) return std::nullopt;
  const bool revokes = impl_->revoked_before != WallTime();
  if (revokes && controller::issued_by(name.serial) <= impl_->revoked_before) return std::nullopt;
  return user_named(name.common_name, name.organizations);
}

std::shared_ptr<const net::tls::Sites> Credentials::tls() const { return impl_->sites; }

const std::string& Credentials::own_token() const { return impl_->own; }
Result<bool> Credentials::replace_if_asked() { return impl_->replace_if_asked(); }
std::uint64_t Credentials::replacements() const { return impl_->replacements; }

Result<bool> Credentials::tend() { return impl_->settle_all(); }

Status Credentials::write_kubeconfig(const std::string& path, const std::string& server) const {
  const KeyPair& keys = impl_->administrator.keys;
  const std::string text =
      "# Who has this file may do everything with this resource API. Written by it, and written anew.\n"
      "apiVersion: v1\nkind: Config\ncurrent-context: edge\npreferences: {}\n"
      "clusters:\n- name: edge\n  cluster:\n    server: " +
      server + "\n    certificate-authority-data: " + to_base64(impl_->issuer->certificate()) +
      "\ncontexts:\n- name: edge\n  context:\n    cluster: edge\n    user: edge-admin\n    namespace: default\n"
      "users:\n- name: edge-admin\n  user:\n    client-certificate-data: " +
      to_base64(keys.certificate) + "\n    client-key-data: " + to_base64(keys.key) + "\n";
  const Result<std::string> there = read_file(path, kMaxFile);
  if (there && *there == text) return {};
  return write_file(path, text, FileAccess::kOwnerOnly);
}

const std::string& Credentials::authority() const { return impl_->issuer->certificate(); }

}  // namespace edge::resource_api::http

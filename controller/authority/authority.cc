#include "controller/authority/authority.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include "base/os/operator_files.h"
#include "base/resource_id.h"
#include "base/text/base64.h"
#include "controller/authority/members.h"
#include "controller/authority/private_files.h"
#include "controller/authority/succession.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxRevokedBytes = 16 << 20;
constexpr std::size_t kMaxMembersBytes = 16 << 20;
constexpr std::size_t kTokenBytes = 32;
constexpr std::string_view kTokenLine = "token: ";
constexpr std::string_view kControllerLine = "controller: ";
/// base/text/base64.h of the PEM; agent/sync reads it.
constexpr std::string_view kJoinKeyLine = "program-key: ";
constexpr std::string_view kAdministrator = "edgectl";
/// Of a record that says a time only.
constexpr std::string_view kNoKey = "-";
/// Two thirds are over, or it was made by a clock that ran ahead.
bool is_due(const Validity& validity, WallTime now) {
  return now < validity.from || now >= validity.from + (validity.until - validity.from) / 3 * 2;
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

std::string remote_name(std::string_view name) { return std::string(kRemotePrefix) + std::string(name); }

/// \returns under what until when the certificates last that were issued to a cluster. `kept`: with kRemotePrefix.
std::string renewals_of(std::string_view kept) {
  return std::string(kRenewalsPrefix) + std::string(kept.substr(kRemotePrefix.size()));
}

/// Whoever joins is of this cluster: nobody chooses a name in another.
bool is_own_name(std::string_view name) { return is_subject_name(name) && split_cluster(name).cluster.empty(); }

Error no_name() {
  return {ErrorCode::kInvalidArgument,
          "an agent's name is made of lower-case letters, digits, `-` and `.`, at most 253"};
}

Error no_cluster() {
  return {ErrorCode::kInvalidArgument, "a cluster's name is made of lower-case letters, digits and `-`, at most 63"};
}

Error name_reserved(std::string_view name) {
  return {ErrorCode::kAlreadyExists, "the agent in the controller's process has the name " + std::string(name)};
}

}  // namespace

struct Authority::Impl {
  explicit Impl(AuthorityOptions given) : options(std::move(given)), succession(options.directory) {}

  AuthorityOptions options;
  mutable std::mutex mutex;  ///< guards everything below
  Succession succession;
  std::string token;
  Validity server;
  Validity administrator;
  Revocations revoked;
  Names names;
  bool names_changed = false;  ///< not on disk yet
  std::vector<NamedToken> named_tokens;
  std::set<std::string, std::less<>> reserved;  ///< names of agents in this process
  /// A dashboard calls several times a second with the same certificate, and reading one takes longer than most calls.
  /// Only what it says is kept: whether it holds is found each time.
  std::string last_read;
  CertificateFacts last_facts;

  /// By what name its certificates are revoked; empty: they are not.
  static std::string revocation_of(const Subject& subject) {
    if (subject.role == Role::kController) return {};
    if (subject.role == Role::kAdministrator) return std::string(kAdministrators);
    const bool cluster = subject.role == Role::kRemote || subject.role == Role::kCluster;
    return cluster ? remote_name(subject.name) : subject.name;
  }
  bool is_revoked(const CertificateFacts& facts) const {
    const auto since = revoked.since(revocation_of(facts.subject));
    return since && facts.issued <= *since;
  }
  Status take_remote_name(const CertificateFacts& facts);
  /// When a certificate is issued now that is to hold, whatever was revoked in this moment.
  WallTime after_revocation(std::string_view name) const {
    const auto since = revoked.since(name);
    return since ? std::max(now(), *since + std::chrono::milliseconds(1)) : now();
  }
  bool server_holds() const { return server.from <= now() && now() < server.until; }
  WallTime now() const { return options.clock ? options.clock() : std::chrono::system_clock::now(); }
  const Issuer& current() const { return succession.current(); }
  std::string path(std::string_view file) const { return options.directory + "/" + std::string(file); }

  Status load();
  Status load_own(std::string_view file, Validity& validity) const;
  Status write_roots();
  Status write_join() const;
  Status write_server();
  Status write_administrator();
  Status write_revoked() const;
  Status load_members();
  Status write_names();
  Status write_named_tokens() const;
  Status replace_administrator_if_asked();
  std::string join_text(std::string_view about, std::string_view with) const;
  enum class Found { kNone, kForAll, kForName };
  struct Token {
    Found kind = Found::kNone;
    std::string_view name{};     ///< that it is for
    NamedToken* made = nullptr;  ///< what is kept of it
  };
  Token find(std::string_view digest);
  /// A certificate that is younger than the revocation of those before it.
  Result<std::string> issue(std::string_view name, std::string_view key, std::string_view request);
  Status revoke(std::string_view name);
  Status revoke_until(std::string_view name, WallTime until);
  /// Up to when certificates of a name are refused so that none issued so far counts: neither one issued after a
  /// revocation in the same moment, nor one issued while the clock was ahead, once that time comes.
  WallTime issued_so_far(std::string_view name, std::string_view recorded, std::chrono::seconds lifetime) const;
  /// `name`: with kRemotePrefix. To a full second, as it is said in the API.
  Status revoke_cluster(std::string_view name);
  Result<std::string> issue_for_cluster(Role role, std::string_view name, std::string_view request);
  Result<bool> follow();
};

/// One that an authority before this one issued, of which nobody knows any more, is due at once.
Status Authority::Impl::load_own(std::string_view file, Validity& validity) const {
  const auto text = read_optional(path(file));
  if (!text) return text.error();
  const auto facts = read_certificate(*text);
  if (facts && current().has_issued(*text)) validity = facts->validity;
  return {};
}

Status Authority::Impl::load() {
  if (Status status = succession.load(now(), options.replace_early); !status) return status;
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
  const auto revocations = read_optional(path("revoked"), kMaxRevokedBytes);
  if (!revocations) return revocations.error();
  revoked = Revocations::read(*revocations);
  return load_members();
}

Status Authority::Impl::load_members() {
  const auto known = read_optional(path("names"), kMaxMembersBytes);
  if (!known) return known.error();
  names = Names::read(*known);
  const auto tokens = read_optional(path("tokens"), kMaxMembersBytes);
  if (!tokens) return tokens.error();
  named_tokens = read_named_tokens(*tokens);
  // A file of before, put back.
  const auto admin = read_optional(path("admin.pem"));
  const auto shown = admin ? read_certificate(*admin) : Result<CertificateFacts>(admin.error());
  if (shown && is_revoked(*shown)) administrator = {};
  return {};
}

/// In an order in which an end in between is done again: what asks for it goes last.
Status Authority::Impl::replace_administrator_if_asked() {
  std::error_code error;
  const std::string asked = path(kReplaceAdministratorFile);
  if (!std::filesystem::exists(std::filesystem::symlink_status(asked, error))) return {};
  Status status = revoked.add(kAdministrators, now(), now());
  if (status) status = write_revoked();
  if (status) status = write_administrator();
  if (!status) return status;
  return remove_private(asked);
}

/// All are looked at, and each in whole.
Authority::Impl::Token Authority::Impl::find(std::string_view digest) {
  Token found;
  const auto is_it = [&](const std::string& known) {
    return known.size() == digest.size() && CRYPTO_memcmp(known.data(), digest.data(), digest.size()) == 0;
  };
  for (NamedToken& known : named_tokens) {
    if (is_it(known.digest) && known.until > now()) found = {Found::kForName, known.name, &known};
  }
  if (is_it(digest_of_token(token))) found = {Found::kForAll};
  return found;
}

/// At leisure: what a crash loses of it is known again once the agent shows its certificate.
Status Authority::Impl::write_names() {
  if (!names_changed) return {};
  if (Status status = write_private(path("names"), names.text()); !status) return status;
  names_changed = false;
  return {};
}

Status Authority::Impl::write_named_tokens() const { return write_private(path("tokens"), text_of(named_tokens)); }

std::string Authority::Impl::join_text(std::string_view about, std::string_view with) const {
  std::string key;
  if (!options.program_key.empty()) key = std::string(kJoinKeyLine) + to_base64(options.program_key) + "\n";
  return "# " + std::string(about) + "\n" + std::string(kTokenLine) + std::string(with) + "\n" + key +
         succession.roots();
}

Result<std::string> Authority::Impl::issue(std::string_view name, std::string_view key, std::string_view request) {
  const WallTime time = now();
  const Validity validity = lasting(time, kAgentLifetime);
  auto certificate = current().issue({Role::kAgent, std::string(name)}, validity, after_revocation(name), request);
  if (!certificate) return certificate;
  if (Status status = names.take(name, key, validity.until, time); !status) return status.error();
  names_changed = true;
  return certificate;
}

WallTime Authority::Impl::issued_so_far(std::string_view name, std::string_view recorded,
                                        std::chrono::seconds lifetime) const {
  const WallTime since = after_revocation(name);
  const auto until = names.until(recorded);
  // A certificate says its end in seconds.
  return until ? std::max(since, *until - lifetime + std::chrono::seconds(1)) : since;
}

Status Authority::Impl::revoke(std::string_view name) {
  return revoke_until(name, issued_so_far(name, name, kAgentLifetime));
}

/// A first certificate is issued right after a revocation of its own; later ones are recorded when they are issued, and
/// by versions that did not do that, when they were shown.
Status Authority::Impl::revoke_cluster(std::string_view name) {
  const WallTime since =
      std::max(issued_so_far(name, name, kRemoteLifetime), issued_so_far(name, renewals_of(name), kRemoteLifetime));
  return revoke_until(name, std::chrono::ceil<std::chrono::seconds>(since));
}

/// That it was issued is recorded, for a revocation by a clock that was set back; on disk with the names, at leisure.
/// The name becomes its key's when it is shown (take_remote_name).
Result<std::string> Authority::Impl::issue_for_cluster(Role role, std::string_view name, std::string_view request) {
  const std::string kept = remote_name(name);
  const WallTime time = now();
  const Validity validity = lasting(time, kRemoteLifetime);
  auto certificate = current().issue({role, std::string(name)}, validity, after_revocation(kept), request);
  if (!certificate) return certificate;
  const std::string renewals = renewals_of(kept);
  const auto before = names.until(renewals);
  if (before && *before >= validity.until) return certificate;
  if (Status status = names.take(renewals, kNoKey, validity.until, time); !status) return status.error();
  names_changed = true;
  return certificate;
}

Status Authority::Impl::revoke_until(std::string_view name, WallTime until) {
  if (Status status = revoked.add(name, until, now()); !status) return status;
  names.free(name);
  names_changed = true;
  return write_revoked();
}

Status Authority::Impl::write_roots() {
  if (Status status = succession.write_roots(); !status) return status;
  return write_join();
}

Status Authority::Impl::write_join() const {
  return keep_private(
      path("join"),
      join_text(
          "Who has this file may join agents to this controller, by names that are free: edge-agent --token-file.",
          token));
}

Status Authority::Impl::write_server() {
  const Validity validity = lasting(now(), kServerLifetime);
  const auto pair = current().issue({Role::kController, "edge-controller"}, validity, now());
  if (!pair) return pair.error();
  // One file, so that nobody reads the key of one and the certificate of another.
  if (Status status = write_private(path("server.pem"), pair->certificate + pair->key); !status) return status;
  server = validity;
  return {};
}

Status Authority::Impl::write_administrator() {
  const Validity validity = lasting(now(), kAdministratorLifetime);
  const auto pair =
      current().issue({Role::kAdministrator, std::string(kAdministrator)}, validity, after_revocation(kAdministrators));
  if (!pair) return pair.error();
  std::string text = "# Who has this file may ask this controller about its agents: edgectl --agents-credentials.\n";
  if (!options.controller.empty()) text += std::string(kControllerLine) + options.controller + "\n";
  // The first certificate is the administrator's; the authorities stand behind the key.
  Status status = write_private(path("admin.pem"), text + pair->certificate + pair->key + succession.roots());
  if (status) administrator = validity;
  return status;
}

Status Authority::Impl::write_revoked() const { return write_private(path("revoked"), revoked.text()); }

Result<bool> Authority::Impl::follow() {
  const auto step = succession.follow(now());
  if (!step) return step.error();
  if (*step == Succession::Step::kNone) return false;
  Status status = write_join();
  if (status && *step == Succession::Step::kIssuer) status = write_server();
  if (status && *step == Succession::Step::kIssuer) status = write_administrator();
  if (!status) return status.error();
  return true;
}

Authority::Authority(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Authority::~Authority() {
  const std::lock_guard lock(impl_->mutex);
  // As far as it goes: there is nobody left to be told.
  static_cast<void>(impl_->write_names().ok());
}

Result<std::unique_ptr<Authority>> Authority::open(AuthorityOptions options) {
  auto impl = std::make_unique<Impl>(std::move(options));
  Status status = open_private_directory(impl->options.directory);
  if (status) status = impl->load();
  if (status) status = impl->write_roots();
  if (!status) return status.error();
  std::unique_ptr<Authority> authority(new Authority(std::move(impl)));
  // What cannot be renewed, as on a full disk, is tried again while it holds.
  if (auto tended = authority->tend(); !tended && !authority->impl_->server_holds()) return tended.error();
  return authority;
}

bool Authority::is_token(std::string_view presented) const {
  const std::string digest = digest_of_token(presented);
  const std::lock_guard lock(impl_->mutex);
  return impl_->find(digest).kind != Impl::Found::kNone;
}

Result<std::string> Authority::sign(std::string_view name, std::string_view request) {
  if (!is_subject_name(name)) return no_name();
  const auto key = key_of_request(request);
  if (!key) return key;
  const std::lock_guard lock(impl_->mutex);
  if (impl_->reserved.contains(name)) return name_reserved(name);
  return impl_->issue(name, *key, request);
}

Result<std::string> Authority::join(std::string_view token, std::string_view name, std::string_view request) {
  const std::string digest = digest_of_token(token);
  const std::lock_guard lock(impl_->mutex);
  const Impl::Token known = impl_->find(digest);
  if (known.kind == Impl::Found::kNone) return Error{ErrorCode::kUnauthenticated, "the token is wrong"};
  if (!is_own_name(name)) return no_name();
  if (known.kind != Impl::Found::kForAll && known.name != name) {
    return Error{ErrorCode::kPermissionDenied, "the token is for another name than " + std::string(name)};
  }
  if (impl_->reserved.contains(name)) return name_reserved(name);
  const auto key = key_of_request(request);
  if (!key) return key;
  if (known.made != nullptr && !known.made->key.empty() && known.made->key != *key) {
    return Error{ErrorCode::kPermissionDenied, "the token for " + std::string(name) + " was used before"};
  }
  const WallTime now = impl_->now();
  const bool taken = impl_->names.taken(name, *key, now).has_value();
  const bool is_its = impl_->names.has(name, now) && !taken;
  if (taken || (known.kind == Impl::Found::kForName && !is_its)) {
    if (known.kind == Impl::Found::kForAll) {
      return Error{ErrorCode::kAlreadyExists,
                   "an agent with another key has the name " + std::string(name) +
                       ", and its certificate is not over; if it is this one, which has lost its key, give it a join "
                       "file of its own (edgectl agents token " +
                       std::string(name) + "), or revoke the name (edgectl agents revoke)"};
    }
    if (Status status = impl_->revoke(name); !status) return status.error();
  }
  if (known.made != nullptr && known.made->key.empty()) {
    known.made->key = *key;
    if (Status status = impl_->write_named_tokens(); !status) return status.error();
  }
  return impl_->issue(name, *key, request);
}

Result<std::string> Authority::join_file_for(std::string_view name) {
  if (!is_own_name(name)) return no_name();
  auto token = fresh_token();
  if (!token) return token;
  const std::lock_guard lock(impl_->mutex);
  if (impl_->reserved.contains(name)) return name_reserved(name);
  const WallTime now = impl_->now();
  auto& tokens = impl_->named_tokens;
  // One that was made for the name before is void: whoever asks for another has no use for it, or has lost it.
  std::erase_if(tokens, [&](const NamedToken& known) { return known.until <= now || known.name == name; });
  if (tokens.size() >= kMostNamedTokens) tokens.erase(tokens.begin());
  tokens.push_back({digest_of_token(*token), std::string(name), now + kNamedTokenLifetime});
  if (Status status = impl_->write_named_tokens(); !status) return status.error();
  return impl_->join_text(
      "For a day, who has this file may join one agent as " + std::string(name) + ": edge-agent --token-file.", *token);
}

/// A certificate gives the name to its key when it is shown, not when it is issued: one that was lost on its way leaves
/// the one before it in force.
Status Authority::Impl::take_remote_name(const CertificateFacts& facts) {
  const std::string name = remote_name(facts.subject.name);
  const WallTime time = now();
  const auto taken = names.taken(name, facts.key, time);
  if (taken && facts.validity.until <= *taken) {
    return Error{ErrorCode::kUnauthenticated,
                 "the certificate of " + facts.subject.name + " was replaced by a later one"};
  }
  if (!taken && names.has(name, time)) return {};
  if (Status status = names.take(name, facts.key, facts.validity.until, time); !status) return status;
  names_changed = true;
  return write_names();
}

Result<KeyPair> Authority::invite_remote(std::string_view name, std::chrono::seconds lifetime) {
  if (!is_cluster_name(name)) return no_cluster();
  if (lifetime <= std::chrono::seconds(0) || lifetime > kMostInvitation) {
    return Error{ErrorCode::kInvalidArgument, "a first certificate lasts at least a second and at most 168h"};
  }
  const std::lock_guard lock(impl_->mutex);
  const std::string kept = remote_name(name);
  if (Status status = impl_->revoke_cluster(kept); !status) return status.error();
  return impl_->current().issue({Role::kRemote, std::string(name)}, lasting(impl_->now(), lifetime),
                                impl_->after_revocation(kept));
}

Result<std::string> Authority::sign_remote(std::string_view name, std::string_view request) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->issue_for_cluster(Role::kRemote, name, request);
}

Result<std::string> Authority::sign_cluster(std::string_view name, std::string_view request) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->issue_for_cluster(Role::kCluster, name, request);
}

Result<KeyPair> Authority::own_cluster(std::string_view name) {
  const std::lock_guard lock(impl_->mutex);
  return impl_->current().issue({Role::kCluster, std::string(name)}, lasting(impl_->now(), kRemoteLifetime),
                                impl_->now());
}

WallTime Authority::remote_revoked_until(std::string_view name) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoked.since(remote_name(name)).value_or(WallTime());
}

bool Authority::has_issued(std::string_view certificate) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->succession.has_issued(certificate);
}

Status Authority::revoke_remote(std::string_view name) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoke_cluster(remote_name(name));
}

Status Authority::revoke_remote_until(std::string_view name, WallTime until) {
  if (!is_cluster_name(name)) return no_cluster();
  const std::lock_guard lock(impl_->mutex);
  const std::string kept = remote_name(name);
  const auto since = impl_->revoked.since(kept);
  if (since && *since >= until) return {};
  return impl_->revoke_until(kept, until);
}

void Authority::reserve(std::string_view name) {
  const std::lock_guard lock(impl_->mutex);
  impl_->reserved.emplace(name);
}

Result<CertificateFacts> Authority::identify(std::string_view certificate) {
  std::optional<CertificateFacts> known;
  {
    const std::lock_guard lock(impl_->mutex);
    if (impl_->last_read == certificate) known = impl_->last_facts;
  }
  Result<CertificateFacts> facts = known ? Result<CertificateFacts>(*std::move(known)) : read_certificate(certificate);
  if (!facts) return facts;
  const std::lock_guard lock(impl_->mutex);
  impl_->last_read = certificate;
  impl_->last_facts = *facts;
  const WallTime now = impl_->now();
  const auto refused = [&](std::string_view why) {
    return Error{ErrorCode::kUnauthenticated, "the certificate of " + facts->subject.name + " " + std::string(why)};
  };
  if (now < facts->validity.from) return refused("is not valid yet");
  if (now >= facts->validity.until) return refused("is over");
  if (impl_->is_revoked(*facts)) return refused("is revoked");
  if (facts->subject.role == Role::kAgent && impl_->reserved.contains(facts->subject.name)) {
    return refused("has the name of the controller's own agent");
  }
  if (facts->subject.role == Role::kRemote) {
    if (Status status = impl_->take_remote_name(*facts); !status) return status.error();
  }
  // It joined before names were kept, or a crash came between.
  const std::string& name = facts->subject.name;
  if (facts->subject.role == Role::kAgent && !impl_->names.has(name, now)) {
    if (impl_->names.take(name, facts->key, facts->validity.until, now)) impl_->names_changed = true;
  }
  return facts;
}

bool Authority::is_revoked(const CertificateFacts& facts) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->is_revoked(facts);
}

Status Authority::revoke(std::string_view name) {
  if (!is_subject_name(name)) return Error{ErrorCode::kInvalidArgument, "no agent has such a name"};
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoke(name);
}

std::string Authority::roots() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->succession.roots();
}

Result<bool> Authority::tend() {
  const std::lock_guard lock(impl_->mutex);
  auto changed = impl_->follow();
  if (!changed) return changed;
  Status status = impl_->write_names();
  if (status) status = impl_->replace_administrator_if_asked();
  if (status && is_due(impl_->server, impl_->now())) status = impl_->write_server();
  if (status && is_due(impl_->administrator, impl_->now())) status = impl_->write_administrator();
  if (!status) return status.error();
  return changed;
}

Status Authority::roll_over() {
  const std::lock_guard lock(impl_->mutex);
  if (Status status = impl_->succession.begin_next(impl_->now()); !status) return status;
  return impl_->write_join();
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

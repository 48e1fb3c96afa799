#include "controller/authority/authority.h"

#include <algorithm>
#include <filesystem>

#include <openssl/crypto.h>

#include "base/os/operator_files.h"
#include "base/resource_id.h"
#include "controller/authority/authority_state.h"
#include "controller/authority/join_file.h"
#include "controller/authority/private_files.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxRevokedBytes = 16 << 20;
constexpr std::size_t kMaxMembersBytes = 16 << 20;
constexpr std::string_view kControllerLine = "controller: ";
constexpr std::string_view kAdministrator = "edgectl";
/// Of a record that says a time only.
constexpr std::string_view kNoKey = "-";
/// Two thirds are over, or it was made by a clock that ran ahead.
bool is_due(const Validity& validity, WallTime now) {
  return now < validity.from || now >= validity.from + (validity.until - validity.from) / 3 * 2;
}

/// Whoever joins is of this cluster: nobody chooses a name in another.
bool is_own_name(std::string_view name) { return is_subject_name(name) && split_cluster(name).cluster.empty(); }

Error no_name() {
  return {ErrorCode::kInvalidArgument,
          "an agent's name is made of lower-case letters, digits, `-` and `.`, at most 253"};
}

Error name_reserved(std::string_view name) {
  return {ErrorCode::kAlreadyExists, "the agent in the controller's process has the name " + std::string(name)};
}

}  // namespace

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
  token = token_in(*join);
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
  if (shown) static_cast<void>(note_until(kAdministrators, shown->validity.until).ok());
  return {};
}

/// In an order in which an end in between is done again: what asks for it goes last.
Status Authority::Impl::replace_administrator_if_asked() {
  std::error_code error;
  const std::string asked = path(kReplaceAdministratorFile);
  if (!std::filesystem::exists(std::filesystem::symlink_status(asked, error))) return {};
  const WallTime until = issued_so_far(kAdministrators, kAdministrators, kAdministratorLifetime);
  Status status = revoked.add(kAdministrators, until, now());
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
  return text_of(JoinFile{about, with, options.program_key, succession.roots()});
}

Result<std::string> Authority::Impl::issue(std::string_view name, std::string_view key, std::string_view request,
                                           WallTime joined) {
  const WallTime time = now();
  const Validity validity = lasting(time, kAgentLifetime);
  auto certificate = current().issue({Role::kAgent, std::string(name)}, validity, after_revocation(name), request);
  if (!certificate) return certificate;
  if (Status status = names.take(name, {std::string(key), validity.until, {}, joined}, time); !status) {
    return status.error();
  }
  names_changed = true;
  return certificate;
}

WallTime Authority::Impl::issued_so_far(std::string_view name, std::string_view recorded,
                                        std::chrono::seconds lifetime) const {
  const WallTime since = after_revocation(name);
  const Names::Owner* const owner = names.find(recorded);
  // A certificate says its end in seconds.
  return owner != nullptr ? std::max(since, owner->until - lifetime + std::chrono::seconds(1)) : since;
}

Status Authority::Impl::revoke(std::string_view name) {
  return revoke_until(name, issued_so_far(name, name, kAgentLifetime));
}

Status Authority::Impl::note_until(std::string_view name, WallTime until) {
  const Names::Owner* const before = names.find(name);
  if (before != nullptr && before->until >= until) return {};
  Status status = names.take(name, {std::string(kNoKey), until}, now());
  if (status) names_changed = true;
  return status;
}

Status Authority::Impl::revoke_until(std::string_view name, WallTime until) {
  if (Status status = revoked.add(name, until, now()); !status) return status;
  names.free(name);
  names_changed = true;
  return write_revoked();
}

/// An agent that was revoked elsewhere may have renewed here before that was known. Its renewals are revoked too, which
/// the others learn in turn: the later time of a name counts.
Result<bool> Authority::Impl::learn_revoked_agent(std::string_view name, WallTime until) {
  const auto since = revoked.since(name);
  if (since && *since >= until) return false;
  if (name == kForgotten) {
    revoked.forget(until);
    return true;
  }
  const Names::Owner* const owner = names.find(name);
  const bool has_joined_since = owner != nullptr && owner->joined > until;
  const bool has_renewed_since = owner != nullptr && !has_joined_since && owner->until - kAgentLifetime > until;
  const WallTime all = has_renewed_since ? std::max(until, issued_so_far(name, name, kAgentLifetime)) : until;
  if (Status status = revoked.add(name, all, now()); !status) return status.error();
  if (!has_joined_since) names.free(name);
  return true;
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
  if (!status) return status;
  administrator = validity;
  // Where there is no room: the file says it, too.
  static_cast<void>(note_until(kAdministrators, validity.until).ok());
  return {};
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
  const Names::Owner* const owner = impl_->names.find(name);
  return impl_->issue(name, *key, request, owner != nullptr ? owner->joined : impl_->after_revocation(name));
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
  return impl_->issue(name, *key, request, impl_->after_revocation(name));
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

bool Authority::has_issued(std::string_view certificate) const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->succession.has_issued(certificate);
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
  // Another controller, or the operator, may have issued it.
  if (facts->subject.role == Role::kAdministrator) {
    static_cast<void>(impl_->note_until(kAdministrators, facts->validity.until).ok());
  }
  if (facts->subject.role == Role::kRemote) {
    if (Status status = impl_->take_remote_name(*facts); !status) return status.error();
  }
  // It joined before names were kept, or a crash came between.
  const std::string& name = facts->subject.name;
  if (facts->subject.role == Role::kAgent && !impl_->names.has(name, now)) {
    const Names::Owner owner{facts->key, facts->validity.until, {}, facts->issued};
    if (impl_->names.take(name, owner, now)) impl_->names_changed = true;
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

std::string Authority::revoked_agents() const {
  const std::lock_guard lock(impl_->mutex);
  return impl_->revoked.of_agents(impl_->now()).text();
}

Status Authority::learn_revoked_agents(std::string_view text) {
  const std::lock_guard lock(impl_->mutex);
  const Revocations elsewhere = Revocations::read(text).of_agents(impl_->now());
  Status status;
  bool changed = false;
  for (const auto& [name, until] : elsewhere.all()) {
    const auto learned = impl_->learn_revoked_agent(name, until);
    if (!learned) status = learned.error();
    changed = changed || (learned && *learned);
  }
  if (!changed) return status;
  impl_->names_changed = true;
  Status written = impl_->write_revoked();
  return written ? status : written;
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

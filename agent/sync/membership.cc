#include "agent/sync/membership.h"

#include <algorithm>

#include "agent/sync/sync.h"
#include "base/os/file.h"
#include "base/text/base64.h"
#include "net/tls/identity.h"

namespace edge::agent {
namespace {

using std::chrono::seconds;
using Steady = std::chrono::steady_clock;

/// After a renewal that failed, and after one that was of no use; of those each next one waits twice as long.
constexpr auto kRenewAgain = seconds(60);
constexpr auto kLongestRenewal = seconds(3600);
constexpr std::size_t kMaxJoinFile = 64 << 10;
constexpr std::string_view kTokenLine = "token: ";
constexpr std::string_view kProgramKeyLine = "program-key: ";

struct JoinFile {
  std::string token;
  std::string authorities;
  std::string program_key;  ///< PEM; empty: the controller says it
};

/// The rest of the line that begins with `key`, before the certificates.
std::string line_of(std::string_view text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string_view::npos) return {};
  const std::size_t begin = at + key.size();
  return std::string(text.substr(begin, text.find_first_of("\r\n", begin) - begin));
}

Result<JoinFile> read_join_file(const std::string& path) {
  auto text = read_file(path, kMaxJoinFile);
  if (!text) return text.error();
  const std::size_t at = text->find(kTokenLine);
  const std::size_t pem = text->find("-----BEGIN CERTIFICATE");
  if (at == std::string::npos || pem == std::string::npos || pem < at ||
      !net::tls::are_certificates(std::string_view(*text).substr(pem))) {
    return Error{ErrorCode::kInvalidArgument, path + ": is no join file (a line `token: ...`, then certificates)"};
  }
  const std::string_view head = std::string_view(*text).substr(0, pem);
  return JoinFile{line_of(head, kTokenLine), text->substr(pem),
                  from_base64(line_of(head, kProgramKeyLine)).value_or(std::string())};
}

}  // namespace

Membership::Membership(const SyncOptions& options, AgentStore& store, Service& service,
                       std::function<void(const std::string&)> tell)
    : options_(options), store_(store), service_(service), tell_(std::move(tell)), vain_pause_(kRenewAgain) {}

std::chrono::system_clock::time_point Membership::now() const {
  return options_.clock ? options_.clock() : std::chrono::system_clock::now();
}

void Membership::begin() {
  if (identity_) trust_pem(identity_->program_key);
  if (options_.key) trust(*options_.key);
}

void Membership::trust(program::VerifyKey key) {
  service_.trust(std::move(key));
  verifies_ = true;
}

void Membership::trust_pem(const std::string& pem) {
  if (options_.key) return;
  auto key = program::VerifyKey::from_pem(pem);
  if (!key) return tell_("the controller's key that verifies programs: " + key.error().text);
  trust(std::move(*key));
}

Status Membership::first_identity() {
  if (options_.token_file.empty()) {
    return Error{ErrorCode::kFailedPrecondition,
                 "there is no certificate that holds, and no --token-file to join with"};
  }
  const auto file = read_join_file(options_.token_file);
  if (!file) return Error{file.error().code, "--token-file " + file.error().text};
  // The name is this key's at the controller, as long as the last certificate lasts by its clock.
  auto key = identity_ ? Result<std::string>(identity_->key) : store_.joining_key();
  if (!key) return key.error();
  const auto request = net::tls::certificate_request(*key);
  if (!request) return request.error();
  auto joined = join(options_.controller, file->authorities, file->token, options_.name, *request);
  if (!joined) return Error{joined.error().code, "cannot join: " + joined.error().text};
  if (!file->program_key.empty() && joined->program_key != file->program_key) {
    return Error{ErrorCode::kPermissionDenied,
                 "the controller names another key of programs than " + options_.token_file};
  }
  joined->key_is_fixed = !file->program_key.empty();
  joined->key = std::move(*key);
  auto times = net::tls::certificate_times(joined->certificate, joined->key);
  if (!times) return times.error();
  joined->times = std::move(*times);
  identity_ = std::move(*joined);
  service_.message("has joined " + options_.controller + " as " + options_.name);
  return store_.keep(*identity_);
}

Status Membership::join_again() {
  const Error nothing{ErrorCode::kNotFound, "no join file that is of use"};
  if (options_.token_file.empty() || !identity_) return nothing;
  const auto file = read_join_file(options_.token_file);
  if (!file) return nothing;
  const bool other = identity_->authorities.find(file->authorities) == std::string::npos;
  // By a clock that is behind the controller's, what comes is not valid yet either: that is not asked for all the time.
  const bool early = now() < identity_->times.from && Steady::now() >= next_renewal_;
  if (!other && !early) return nothing;
  if (early) next_renewal_ = Steady::now() + kRenewAgain;
  if (Status joined = first_identity(); !joined) return joined;
  trust_pem(identity_->program_key);
  service_.message("the certificate in " + options_.data_dir +
                   (other ? " was of another authority" : " was not valid yet") + ", and is replaced");
  return {};
}

Status Membership::have_identity() {
  if (identity_ && now() < identity_->times.until) return {};
  if (Status status = first_identity(); !status) return status;
  trust_pem(identity_->program_key);
  return {};
}

/// At two thirds of its time.
bool Membership::is_old() const {
  const net::tls::CertificateTimes& times = identity_->times;
  return now() >= times.from + (times.until - times.from) / 3 * 2;
}

bool Membership::is_renewal_due() const { return Steady::now() >= next_renewal_ && is_old(); }

Status Membership::renew(SyncSession& session) {
  if (Status status = ask_renewal(session); !status) {
    next_renewal_ = Steady::now() + kRenewAgain;
    tell_("the certificate could not be renewed: " + status.error().text);
    return status;
  }
  put_off_vain_renewal();
  return {};
}

/// A new certificate that is old by this machine's clock will not get younger by asking again.
void Membership::put_off_vain_renewal() {
  if (!is_old()) {
    vain_pause_ = kRenewAgain;
    return;
  }
  next_renewal_ = Steady::now() + vain_pause_;
  vain_pause_ = std::min(vain_pause_ * 2, kLongestRenewal);
  tell_("the new certificate is due to be renewed already: this machine's clock is ahead of the controller's");
}

Status Membership::ask_renewal(SyncSession& session) {
  auto key = net::tls::make_private_key();
  if (!key) return key.error();
  const auto request = net::tls::certificate_request(*key);
  if (!request) return request.error();
  auto renewed = session.renew(*request);
  if (!renewed) return renewed.error();
  auto times = net::tls::certificate_times(renewed->certificate, *key);
  if (!times) return times.error();
  renewed->key = std::move(*key);
  renewed->times = std::move(*times);
  renewed->key_is_fixed = identity_->key_is_fixed;
  if (identity_->key_is_fixed) renewed->program_key = identity_->program_key;
  identity_ = std::move(*renewed);
  trust_pem(identity_->program_key);
  service_.message("has a new certificate");
  return store_.keep(*identity_);
}

void Membership::take_trust() {
  std::optional<std::pair<std::string, std::string>> taken;
  {
    const std::lock_guard lock(trust_mutex_);
    taken.swap(trusted_);
  }
  if (!taken || taken->first.empty() || taken->second.empty()) return;
  if (identity_->key_is_fixed && taken->second != identity_->program_key) {
    // A join file that was put there since then says it, too: that came by other hands than the controller's.
    const auto file = options_.token_file.empty() ? Result<JoinFile>(JoinFile()) : read_join_file(options_.token_file);
    if (file && file->program_key == taken->second) {
      service_.message("takes programs by the key in " + options_.token_file + " from now on");
    } else {
      tell_("the controller names another key of programs than the join file did: it is not believed");
      taken->second = identity_->program_key;
    }
  }
  if (taken->first == identity_->authorities && taken->second == identity_->program_key) return;
  identity_->authorities = std::move(taken->first);
  identity_->program_key = std::move(taken->second);
  trust_pem(identity_->program_key);
  if (Status status = store_.keep(*identity_); !status) tell_(status.error().text);
}

void Membership::hear_trust(std::string authorities, std::string key) {
  const std::lock_guard lock(trust_mutex_);
  trusted_.emplace(std::move(authorities), std::move(key));
}

}  // namespace edge::agent

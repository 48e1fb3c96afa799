#include "runtime/policy/auth/basic/basic_auth.h"

#include <optional>
#include <utility>

#include "base/hash.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

using net::http1::KnownField;

constexpr std::string_view kUserField = "X-Auth-User";
/// Microseconds: what costs less is checked where it is asked.
constexpr std::uint64_t kCheap = 10;
constexpr std::size_t kIpv6Network = 8;

/// RFC 9110 §5.6.4. The compiler lets no control bytes through.
std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// A client has a /64 of IPv6 to choose addresses from, mostly (RFC 6177): all of it is one client.
std::uint64_t client_of(const IpAddress& source) {
  const std::size_t size = source.is_v4() ? source.bytes.size() : kIpv6Network;
  return hash_bytes(0, {reinterpret_cast<const char*>(source.bytes.data()), size});
}

}  // namespace

Result<std::shared_ptr<const BasicAuth>> BasicAuth::make(const PolicyContext& making,
                                                         const program::PolicyRecord& /*policy*/,
                                                         const program::BasicAuthRecord& record) {
  const std::string* const file = making.secrets.find(making.section, record.users, "htpasswd");
  if (file == nullptr) return Error{ErrorCode::kNotFound, "the secret with the key `htpasswd` is missing"};
  std::shared_ptr<BasicAuth> policy(new BasicAuth);
  policy->users_ = std::make_shared<const Htpasswd>(Htpasswd::read(*file));
  if (policy->users_->size() == 0) {
    const auto& faults = policy->users_->faults();
    return Error{ErrorCode::kInvalidArgument,
                 "no user in `htpasswd`" + (faults.empty() ? std::string{} : ": " + faults.front())};
  }
  policy->challenge_ = "WWW-Authenticate: Basic realm=" + quoted(making.section.string(record.realm)) + "\r\n";
  policy->strip_ = record.strip_auth != 0;
  return std::shared_ptr<const BasicAuth>(std::move(policy));
}

net::Task<AuthResult> BasicAuth::ask(const PolicyRequest& policy_request, AuthContext context) const {
  const net::http1::HeadFields& fields = policy_request.head.fields;
  if (!fields.has(KnownField::kAuthorization)) return deny("credentials-missing", "A name and a password are needed.");
  BasicCredentials credentials;
  const CredentialsFault fault = read_basic_credentials(fields.value(KnownField::kAuthorization), credentials);
  if (fault == CredentialsFault::kOtherScheme) return deny("credentials-missing", "A name and a password are needed.");
  // Of two fields the backend might believe the other.
  if (fault != CredentialsFault::kNone || fields.repeated(KnownField::kAuthorization)) {
    return deny("credentials-malformed", "The credentials are malformed.");
  }
  const PasswordHash* const hash = users_->find(credentials.user);
  CredentialCache& cache = context.stores.credentials;
  const std::string_view known_by = hash == nullptr ? std::string_view{} : hash->text();
  const Digest digest = cache.key.of({known_by, credentials.user, credentials.password});
  if (const auto until = cache.right.find(digest); until && policy_request.now < *until) {
    return conclude(Answer::kRight, credentials.user);
  }
  if (const auto until = cache.wrong.find(digest); until && policy_request.now < *until) {
    return conclude(Answer::kWrong, credentials.user);
  }
  if (users_->decoy()->cost() <= kCheap) {
    const bool right = check_password(hash, *users_->decoy(), credentials.password);
    return conclude(right ? Answer::kRight : Answer::kWrong, credentials.user);
  }
  PasswordPool::Question question{digest, client_of(policy_request.source), users_, hash,
                                  std::move(credentials.password)};
  return ask_pool(std::move(question), std::move(credentials.user), context);
}

net::Task<AuthResult> BasicAuth::ask_pool(PasswordPool::Question question, std::string user,
                                          AuthContext context) const {
  const Digest digest = question.digest;
  const Answer answer =
      co_await context.stores.passwords.check(context.loop, context.waiter, std::move(question), context.asker);
  remember(digest, answer, context);
  co_return conclude(answer, user);
}

void BasicAuth::remember(const Digest& digest, Answer answer, AuthContext context) const {
  CredentialCache& cache = context.stores.credentials;
  const net::Time now = context.loop.now();
  if (answer == Answer::kRight) cache.right.put(digest, now + CredentialCache::kRight);
  if (answer == Answer::kWrong) cache.wrong.put(digest, now + CredentialCache::kWrong);
}

AuthResult BasicAuth::conclude(Answer answer, std::string_view user) const {
  if (answer == Answer::kWrong) return deny("credentials-wrong", "The name or the password is wrong.");
  if (answer == Answer::kBusy) {
    AuthResult auth_result = AuthResult::fail("passwords-busy", "Too many passwords are being checked. Try again.");
    auth_result.answer.fields = "Retry-After: 1\r\n";
    return auth_result;
  }
  AuthResult auth_result = AuthResult::pass();
  auth_result.request.set(kUserField, user);
  auth_result.subject = user;
  if (strip_) auth_result.request.remove("Authorization");
  return auth_result;
}

AuthResult BasicAuth::deny(std::string_view reason, std::string_view text) const {
  return AuthResult::deny({401, reason, text, challenge_});
}

}  // namespace edge::runtime::auth

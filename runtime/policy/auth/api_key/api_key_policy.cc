#include "runtime/policy/auth/api_key/api_key_policy.h"

#include <utility>

#include "base/text/ascii.h"
#include "net/http1/cookies.h"

namespace edge::runtime::auth {

Result<std::shared_ptr<const ApiKeyPolicy>> ApiKeyPolicy::make(const PolicyContext& making,
                                                               const program::PolicyRecord& /*policy*/,
                                                               const program::ApiKeyRecord& record) {
  const program::SectionView& section = making.section;
  std::shared_ptr<ApiKeyPolicy> policy(new ApiKeyPolicy);
  policy->header_ = section.string(record.header);
  policy->cookie_ = section.string(record.cookie);
  policy->identity_header_ = section.string(record.identity_header);
  policy->strip_ = record.strip_key != 0;
  // No scheme is registered for keys, and an answer 401 needs a challenge (RFC 9110 §11.6.1).
  policy->challenge_ = "WWW-Authenticate: ApiKey\r\n";
  for (const program::SecretRecord& secret : section.array(record.keys)) {
    const std::string* const file = making.secrets.find(section, secret);
    if (file == nullptr) return Error{ErrorCode::kNotFound, "the secret with the key `api-keys` is missing"};
    policy->keys_.add(*file);
  }
  if (policy->keys_.size() == 0) {
    const auto& faults = policy->keys_.faults();
    return Error{ErrorCode::kInvalidArgument,
                 "no key in `api-keys`" + (faults.empty() ? std::string{} : ": " + faults.front())};
  }
  return std::shared_ptr<const ApiKeyPolicy>(std::move(policy));
}

ApiKeyPolicy::Search ApiKeyPolicy::find_key(const net::http1::HeadFields& fields, std::string_view& key) const {
  std::size_t count = 0;
  if (!header_.empty()) {
    for (const Field& field : fields.all()) {
      if (!equals_ignoring_case(field.name, header_)) continue;
      key = field.value;
      ++count;
    }
  }
  if (count == 0 && !cookie_.empty()) {
    net::http1::for_each_cookie(fields, [&](std::string_view pair, std::string_view name) {
      if (name != cookie_) return;
      const std::size_t equals = pair.find('=');
      key = equals == std::string_view::npos ? std::string_view() : trim_blanks(pair.substr(equals + 1));
      ++count;
    });
  }
  if (count == 0 || key.empty()) return Search::kMissing;
  // Of two the backend might believe the other.
  return count == 1 ? Search::kFound : Search::kRepeated;
}

net::Task<AuthResult> ApiKeyPolicy::ask(const PolicyRequest& policy_request, AuthContext /*context*/) const {
  return decide(policy_request);
}

AuthResult ApiKeyPolicy::decide(const PolicyRequest& policy_request) const {
  const auto deny = [this](std::string_view reason, std::string_view text) {
    return AuthResult::deny({401, reason, text, challenge_});
  };
  std::string_view key;
  switch (find_key(policy_request.head.fields, key)) {
    case Search::kFound:
      break;
    case Search::kMissing:
      return deny("credentials-missing", "A key is needed.");
    case Search::kRepeated:
      return deny("credentials-malformed", "The credentials are malformed.");
  }
  const std::string* const name = keys_.find(key);
  if (name == nullptr) return deny("credentials-wrong", "The key is wrong.");
  AuthResult auth_result = AuthResult::pass();
  auth_result.subject = *name;
  auth_result.request.set(identity_header_, *name);
  if (strip_) strip(policy_request.head.fields, auth_result.request);
  return auth_result;
}

void ApiKeyPolicy::strip(const net::http1::HeadFields& fields, RequestEdits& edits) const {
  if (!header_.empty()) edits.remove(header_);
  if (cookie_.empty()) return;
  bool sent = false;
  std::string others;
  net::http1::for_each_cookie(fields, [&](std::string_view pair, std::string_view name) {
    if (name == cookie_) {
      sent = true;
    } else {
      others.append(others.empty() ? "" : "; ").append(pair);
    }
  });
  if (sent) edits.set("Cookie", others);
}

}  // namespace edge::runtime::auth

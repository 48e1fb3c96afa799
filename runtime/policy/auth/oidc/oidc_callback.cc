// Exchanges a code, or a refresh token, for a session at the provider's token endpoint.
#include <algorithm>
#include <utility>

#include "base/text/base64.h"
#include "runtime/policy/auth/call.h"
#include "runtime/policy/auth/oidc/oidc.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

/// Of one call to the provider; a login has three at most.
constexpr net::Duration kProviderTime = std::chrono::seconds(10);
constexpr std::size_t kMaxUserInfo = std::size_t{64} << 10;
constexpr std::size_t kMaxCode = 4096;
constexpr std::size_t kMaxAccessToken = 4096;
constexpr std::size_t kHostKeyBytes = 16;
constexpr std::size_t kSessionIdBytes = 12;
/// Before its expiry a session is refreshed while it still is good, for a quarter of its time, this long at most. Of
/// agents that do so at once one may be refused, where the provider takes a refresh token once alone: nobody notices.
constexpr std::int64_t kMaxEarly = 30;
/// Of a refresh that says nothing of time.
constexpr std::int64_t kUnknownLifetime = 300;

/// The address of the answer has a code in it, which no other site is to see.
constexpr std::string_view kPrivate = "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n";

AuthResult refuse(int status, std::string_view reason, std::string_view text, std::string_view fields = {}) {
  return AuthResult::deny({status, reason, text, std::string(fields).append(kPrivate)});
}

AuthResult unreachable() {
  return AuthResult::fail("provider-unreachable", "The identity provider cannot be reached.");
}

AuthResult not_confirmed() {
  return refuse(403, "login-refused", "The identity provider has not confirmed the login.");
}

AlgorithmSet algorithms_of(const OidcProvider& provider) {
  AlgorithmSet algorithms;
  for (const std::string& name : provider.algorithms) {
    if (const auto algorithm = algorithm_named(name)) algorithms.add(*algorithm);
  }
  return algorithms;
}

std::int64_t expiry(const TokenAnswer& answer, const std::optional<Token>& id, std::int64_t unix_now) {
  std::int64_t expires = unix_now + answer.expires_in.value_or(id ? INT32_MAX : kUnknownLifetime);
  if (!id) return expires;
  if (const Json* const claim = id->claims.find("exp")) {
    const double at = claim->number().value_or(0);
    if (at < static_cast<double>(expires)) expires = static_cast<std::int64_t>(at);
  }
  return expires;
}

}  // namespace

net::Task<AuthResult> Oidc::come_back(const PolicyRequest& policy_request, Visit visit, const OwnCookies& cookies,
                                      AuthContext context) const {
  const net::http1::RequestHead& head = policy_request.head;
  const AnswerParameters parameters(head.has_query ? head.query : std::string_view{});
  if (head.method != net::http1::Method::kGet || !parameters.sound()) {
    return refuse(400, "login-malformed", "This is no answer of an identity provider.");
  }
  visit.login = find_login(keys_, binding_, parameters.value("state"), cookies, visit.secure, context.unix_now);
  if (!visit.login) {
    // Begun in another browser, by somebody else, long ago, or finished already.
    return refuse(400, "login-unknown",
                  "This login was not begun here, or too long ago. Go to the site and try again.");
  }
  visit.login_lines = end_login_line(visit.login->state, visit.secure);
  if (!parameters.value("error").empty()) {
    note(LoginFault::kRefused, {}, context);
    return refuse(403, "login-refused", "The identity provider has refused the login.", visit.login_lines);
  }
  const std::string_view code = parameters.value("code");
  if (code.empty() || code.size() > kMaxCode) {
    return refuse(400, "login-malformed", "This is no answer of an identity provider.", visit.login_lines);
  }
  return finish_login(std::move(visit), {std::string(code), std::string(parameters.value("iss"))}, context);
}

net::Task<AuthResult> Oidc::finish_login(Visit visit, Answer answer, AuthContext context) const {
  const ProviderNow now = co_await provider_->find(context);
  if (!now) {
    note(LoginFault::kDiscovery, {}, context);
    co_return unreachable();
  }
  // A code of another provider would be handed to this one (mix-up, RFC 9207 §2.4).
  const bool says = !answer.issuer.empty();
  if (says ? answer.issuer != issuer_ : now.provider->issuer_in_answers) {
    co_return refuse(400, "login-mixed-up", "The answer is of another identity provider.", visit.login_lines);
  }
  const std::string uri = redirect_uri(visit);
  Proof proof =
      co_await redeem(now, code_request(client_, now.provider->authentication, answer.code, visit.login->verifier, uri),
                      {.nonce = visit.login->nonce, .subject = {}}, context);
  if (!proof.identity) {
    proof.refusal.answer.fields += visit.login_lines;
    co_return std::move(proof.refusal);
  }
  proof.identity->ends = context.unix_now + kSessionTime;
  const std::optional<std::string> id = random_bytes(kSessionIdBytes);
  if (!id) co_return AuthResult::fail("no-random-bytes", "No login can be finished.");
  proof.identity->claims.push_back({std::string(kSessionClaim), to_base64url(*id)});
  co_return welcome(visit, proof);
}

// The session in its cookies, and the way to where the user was going. A session that was there before is replaced, and
// so is the key that bound it to this host.
AuthResult Oidc::welcome(const Visit& visit, const Proof& proof) const {
  const std::optional<std::string> random = random_bytes(kHostKeyBytes);
  if (!random) return AuthResult::fail("no-random-bytes", "No login can be finished.");
  const std::string host_key = visit.secure ? to_base64url(*random) : std::string();
  const std::optional<std::string> text = seal_session(keys_, binding(host_key), *proof.identity, proof.tokens);
  if (!text) {
    return AuthResult::fail("session-too-large", "The identity provider says more of the user than cookies can hold.");
  }
  std::string fields = "Location: " + visit.origin + visit.login->target + "\r\n";
  fields += session_cookie_lines(*text, visit.cookies_seen, visit.secure);
  if (visit.secure) fields += set_cookie_line(kHostKeyCookie, host_key, {.secure = true});
  fields.append(visit.login_lines).append(kPrivate);
  return AuthResult::deny({302, "logged-in", "You are logged in.", std::move(fields)}, AuthStatus::kRedirected);
}

net::Task<AuthResult> Oidc::refresh(Visit visit, OidcIdentity before, OidcTokens tokens, AuthContext context) const {
  OidcStore& store = context.stores.oidc;
  const Digest id = store.digests.of({binding_, tokens.refresh});
  const OidcRefreshes::Joined joined = store.refreshes.join(id, context.unix_now);
  const bool good = context.unix_now < before.expires;
  if (joined.leads) {
    RefreshedSession session = co_await ask_anew(visit.bound_to, before, std::move(tokens), context);
    OidcRefreshes::end(joined, std::move(session), context.unix_now);
  } else if (!good) {
    co_await OidcRefreshes::wait(joined.flight, context, context.loop.now() + 2 * kProviderTime);
  }
  const std::shared_ptr<const RefreshedSession> session = joined.flight->result();
  if (session == nullptr || session->text.empty() || context.unix_now >= session->identity.expires) {
    if (good) co_return pass(before, visit.other_cookies);
    // As if there had never been one (specification, "OIDC", 5).
    AuthResult auth_result = co_await begin(std::move(visit), context);
    co_return auth_result;
  }
  AuthResult auth_result = pass(session->identity, visit.other_cookies);
  // Who may not pass needs the new tokens too: the old ones are used up.
  std::string& fields = auth_result.passed() ? auth_result.response_fields : auth_result.answer.fields;
  fields += session_cookie_lines(session->text, visit.cookies_seen, visit.secure);
  co_return auth_result;
}

net::Task<RefreshedSession> Oidc::ask_anew(std::string bound_to, OidcIdentity before, OidcTokens tokens,
                                           AuthContext context) const {
  const ProviderNow now = co_await provider_->find(context);
  if (!now) {
    note(LoginFault::kDiscovery, {}, context);
    co_return RefreshedSession{};
  }
  Proof proof = co_await redeem(now, refresh_request(client_, now.provider->authentication, tokens.refresh),
                                {.nonce = {}, .subject = std::string(before.claim("sub"))}, context);
  if (!proof.identity) co_return RefreshedSession{};
  OidcIdentity& identity = *proof.identity;
  const std::string session(before.claim(kSessionClaim));
  if (identity.claim("sub").empty()) {
    // Neither an id token nor anybody to ask: what was said at the login goes on, but for the access token.
    for (ClaimText& claim : before.claims) {
      if (identity.claim(claim.name).empty()) identity.claims.push_back(std::move(claim));
    }
    if (identity.roles.empty()) identity.roles = std::move(before.roles);
    if (identity.groups.empty()) identity.groups = std::move(before.groups);
  }
  identity.ends = before.ends;
  if (identity.claim(kSessionClaim).empty() && !session.empty()) {
    identity.claims.push_back({std::string(kSessionClaim), session});
  }
  identity.expires = std::min(identity.expires, identity.ends);
  if (proof.tokens.refresh.empty()) proof.tokens.refresh = std::move(tokens.refresh);
  if (proof.tokens.id.empty()) proof.tokens.id = std::move(tokens.id);
  std::optional<std::string> text = seal_session(keys_, bound_to, identity, proof.tokens);
  co_return RefreshedSession{text ? *std::move(text) : std::string(), std::move(identity)};
}

net::Task<Oidc::Proof> Oidc::redeem(ProviderNow provider, TokenRequest request, Expected expected,
                                    AuthContext context) const {
  const net::client::Answer answer = co_await call(context, "call token", Callee::kIdentityProvider,
                                                   {.url = provider.provider->token_endpoint,
                                                    .method = "POST",
                                                    .fields = request.fields,
                                                    .body = request.body,
                                                    .until = context.loop.now() + kProviderTime,
                                                    .max_body = kMaxTokenAnswer,
                                                    .authorities = trusted_});
  Proof proof;
  if (!answer.ok() || answer.status >= 500) {
    note(LoginFault::kUnreachable, answer.ok() ? "HTTP " + std::to_string(answer.status) : std::string(), context);
    proof.refusal = unreachable();
    co_return proof;
  }
  proof.refusal = not_confirmed();
  if (answer.status != 200) {
    const std::string error = token_error(answer.body);
    note(LoginFault::kTokenRefused, "HTTP " + std::to_string(answer.status) + (error.empty() ? "" : ", " + error),
         context);
    co_return proof;
  }
  Result<TokenAnswer> tokens = read_token_answer(answer.body);
  if (!tokens.ok()) {
    note(LoginFault::kTokenAnswer, tokens.error().text, context);
    co_return proof;
  }
  // A login without an id token is none; a refresh may do without (Core §12.2).
  if (tokens->id.empty() && expected.subject.empty()) {
    note(LoginFault::kNoIdToken, {}, context);
    co_return proof;
  }
  proof = co_await examine(std::move(provider), std::move(*tokens), std::move(expected), context);
  co_return proof;
}

net::Task<Oidc::Proof> Oidc::examine(ProviderNow provider, TokenAnswer answer, Expected expected,
                                     AuthContext context) const {
  IdTokenRules rules{.issuer = issuer_,
                     .client_id = client_.id,
                     .nonce = expected.nonce,
                     .subject = expected.subject,
                     .access_token = answer.access,
                     .algorithms = algorithms_of(*provider.provider)};
  Proof proof;
  proof.refusal = not_confirmed();
  KeysNow keys = provider.keys->keys(context.loop.now());
  if (keys.keys == nullptr) {
    keys = co_await provider.keys->renewed(context.loop, context.waiter, context.calls);
  }
  if (keys.keys == nullptr) {
    note(LoginFault::kNoKeys, {}, context);
    proof.refusal = unreachable();
    co_return proof;
  }
  OidcIdentity identity;
  std::optional<Token> id;
  if (!answer.id.empty()) {
    std::variant<Token, LoginFault> verified = verify_id_token(answer.id, *keys.keys, rules, context.unix_now);
    const LoginFault* fault = std::get_if<LoginFault>(&verified);
    if (fault != nullptr && *fault == LoginFault::kKey) {
      keys = co_await provider.keys->renewed(context.loop, context.waiter, context.calls);
      if (keys.keys != nullptr) verified = verify_id_token(answer.id, *keys.keys, rules, context.unix_now);
      fault = std::get_if<LoginFault>(&verified);
    }
    if (fault != nullptr) {
      note(*fault, {}, context);
      co_return proof;
    }
    id = std::get<Token>(std::move(verified));
    add_claims(id->claims, client_.id, identity);
    expected.subject = id->claims.text_of("sub").value_or("");
  }
  co_await complete(*provider.provider, answer, expected.subject, identity, context);
  rules.subject = expected.subject;
  if (const auto claims = readable_access_token(answer.access, *keys.keys, rules, context.unix_now)) {
    add_memberships(*claims, client_.id, identity);
  }
  if (keeps_access_token_ && answer.access.size() <= kMaxAccessToken) {
    identity.claims.push_back({std::string(kAccessTokenClaim), answer.access});
  }
  identity.expires = expiry(answer, id, context.unix_now);
  identity.refresh_from =
      identity.expires - std::clamp<std::int64_t>((identity.expires - context.unix_now) / 4, 0, kMaxEarly);
  proof.identity = std::move(identity);
  proof.tokens = {.refresh = std::move(answer.refresh), .id = std::move(answer.id)};
  co_return proof;
}

// Asks for what the id token does not say (Core §5.3): providers that follow Core §5.4 say in it only that it is
// somebody. What cannot be had is missing, and that lets nobody in.
net::Task<void> Oidc::complete(const OidcProvider& provider, const TokenAnswer& answer, std::string_view subject,
                               OidcIdentity& identity, AuthContext context) const {
  if (!provider.userinfo_endpoint || !lacks_something(identity)) co_return;
  const std::string fields = "Accept: application/json\r\nAuthorization: Bearer " + answer.access + "\r\n";
  const net::client::Answer info = co_await call(context, "call userinfo", Callee::kIdentityProvider,
                                                 {.url = *provider.userinfo_endpoint,
                                                  .fields = fields,
                                                  .until = context.loop.now() + kProviderTime,
                                                  .max_body = kMaxUserInfo,
                                                  .authorities = trusted_});
  if (!info.ok() || info.status != 200) co_return;
  const Result<Json> claims = read_json(info.body, {.bytes = kMaxUserInfo, .depth = 8});
  // Of another subject: tokens were swapped (§5.3.2).
  if (claims.ok() && claims->text_of("sub") == subject) add_claims(*claims, client_.id, identity);
}

void Oidc::note(LoginFault fault, std::string_view detail, const AuthContext& context) const {
  context.stores.login_faults.note(fault, name_, detail, context.unix_now);
}

bool Oidc::lacks_something(const OidcIdentity& identity) const {
  using Source = ForwardedClaim::Source;
  const bool lacks_membership = (!requirements_.roles.empty() && identity.roles.empty()) ||
                                (!requirements_.groups.empty() && identity.groups.empty());
  return lacks_membership || std::ranges::any_of(forwarded_, [&](const ForwardedClaim& one) {
           return (one.source == Source::kClaim && identity.claim(one.claim).empty()) ||
                  (one.source == Source::kRoles && identity.roles.empty()) ||
                  (one.source == Source::kGroups && identity.groups.empty());
         });
}

}  // namespace edge::runtime::auth

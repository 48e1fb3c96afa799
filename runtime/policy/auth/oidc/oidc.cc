#include "runtime/policy/auth/oidc/oidc.h"

#include <algorithm>

#include "base/path.h"
#include "net/client/url.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

using net::http1::RequestHead;

constexpr std::string_view kNotStored = "Cache-Control: no-store\r\n";

std::vector<std::string> strings(const program::SectionView& section, program::ArrayRef<program::StringRef> refs) {
  std::vector<std::string> all;
  for (const program::StringRef ref : section.array(refs)) all.emplace_back(section.string(ref));
  return all;
}

/// Files end in a line end; secrets do not.
std::string_view without_line_end(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view without_brackets(std::string_view host) {
  return host.starts_with('[') && host.ends_with(']') ? host.substr(1, host.size() - 2) : host;
}

std::string location(std::string_view where, std::string_view more = {}) {
  return std::string("Location: ").append(where).append("\r\n").append(more).append(kNotStored);
}

}  // namespace

Result<std::shared_ptr<const Oidc>> Oidc::make(const PolicyContext& making, const program::PolicyRecord& policy,
                                               const program::OidcRecord& settings) {
  const program::SectionView& section = making.section;
  const std::string* const client_secret = making.secrets.find(section, settings.client_secret);
  const std::string* const session_secret = making.secrets.find(section, settings.session_secret);
  const auto fault = [](std::string text) { return Error{ErrorCode::kFailedPrecondition, std::move(text)}; };
  if (client_secret == nullptr) return fault("its client secret is missing");
  if (session_secret == nullptr) return fault("its session secret is missing");
  const std::string* const previous =
      making.secrets.find(section.string(settings.session_secret.name_space),
                          section.string(settings.session_secret.name), kPreviousSessionSecretKey);
  OidcSettings made{
      .name = {},
      .issuer = std::string(section.string(settings.issuer)),
      .client = {std::string(section.string(settings.client_id)), std::string(without_line_end(*client_secret))},
      .session_secret = *session_secret,
      .previous_session_secret = previous == nullptr ? std::string() : *previous,
      .redirect_url = std::string(section.string(settings.redirect_url)),
      .scopes = strings(section, settings.scopes),
      .forward_headers = strings(section, settings.forward_headers),
      .requirements = {strings(section, settings.required_roles), strings(section, settings.required_groups),
                       settings.require_all != 0}};
  made.name.append(section.string(policy.name_space)).append("/").append(section.string(policy.name));
  return make(std::move(made), making.stores);
}

Result<std::shared_ptr<const Oidc>> Oidc::make(OidcSettings settings, Stores& stores) {
  Result<SessionKeys> keys = SessionKeys::derive(settings.session_secret, settings.previous_session_secret);
  if (!keys.ok()) return keys.error();
  const std::shared_ptr<Oidc> made(new Oidc(std::move(*keys)));
  made->name_ = std::move(settings.name);
  made->issuer_ = std::move(settings.issuer);
  const Result<net::client::Url> url = discovery_url(made->issuer_);
  if (!url.ok()) return url.error();
  if (Status status = stores.may_call(*url); !status) return status.error();
  if (url->secure) made->trusted_ = stores.trust.authorities();
  made->provider_ = stores.oidc.providers.source(made->issuer_, made->trusted_);
  if (const Status read = made->read_redirect_url(settings.redirect_url); !read.ok()) return read.error();
  made->client_ = std::move(settings.client);
  made->scopes_ = std::move(settings.scopes);
  made->forwarded_ = forwarded_claims(settings.forward_headers);
  made->tells_identity_ = settings.tells_identity;
  using Source = ForwardedClaim::Source;
  made->keeps_access_token_ = std::ranges::any_of(made->forwarded_, [](const ForwardedClaim& one) {
    return one.source == Source::kBearer || one.source == Source::kAccessToken;
  });
  made->requirements_ = std::move(settings.requirements);
  // Policies of one client share its sessions, and no others'.
  made->binding_ = made->issuer_ + "\n" + made->client_.id;
  return std::shared_ptr<const Oidc>(made);
}

// A path alone means the host that the request is for: then one policy serves many hosts, each of which the provider
// must know.
Status Oidc::read_redirect_url(std::string_view text) {
  callback_target_ = text;
  if (!text.starts_with('/')) {
    const Result<net::client::Url> url = net::client::parse_url(text);
    if (!url.ok()) return Error{ErrorCode::kFailedPrecondition, "its redirectURL is no URL"};
    callback_target_ = url->target;
    origin_ = url->origin();
    host_ = url->host;
    secure_ = url->secure;
  }
  const std::string_view path = std::string_view(callback_target_).substr(0, callback_target_.find('?'));
  std::string room(path.size() + 1, '\0');
  const std::optional<std::string_view> normal = normalise_path(path, room.data());
  if (!normal || *normal == kLogoutPath) return Error{ErrorCode::kFailedPrecondition, "its redirectURL has no path"};
  callback_path_ = *normal;
  return {};
}

net::Task<AuthResult> Oidc::ask(const PolicyRequest& policy_request, AuthContext context) const {
  const OwnCookies cookies(policy_request.head.fields);
  Visit visit = visit_of(policy_request, cookies);
  if (!host_.empty() && without_brackets(policy_request.host) != host_ && visit.navigation) {
    // Cookies are of one host, and the provider sends everybody back to this one.
    return AuthResult::deny({302, "login-host", "Log in at the site's main name.", location(origin_ + visit.target)},
                            AuthStatus::kRedirected);
  }
  if (policy_request.path == callback_path_) return come_back(policy_request, std::move(visit), cookies, context);
  if (policy_request.path == kLogoutPath) return log_out(policy_request, std::move(visit), context);
  if (visit.cookies_seen.doubled) {
    // A login would set one of the two anew, and the next request come here again.
    return AuthResult::deny({400, "session-doubled", "Two cookies claim to be the session. Remove this site's cookies.",
                             std::string(kNotStored)});
  }
  if (!visit.session.empty()) {
    std::optional<OidcIdentity> identity = open_identity(keys_, visit.bound_to, visit.session);
    const OidcStore& store = context.stores.oidc;
    if (identity && !store.ended.none() && store.ended.contains(session_id(*identity, visit.bound_to, store))) {
      identity.reset();
    }
    const bool good = identity && context.unix_now < identity->expires;
    const bool fresh = good && (identity->refresh_from == 0 || context.unix_now < identity->refresh_from);
    if (fresh) return pass(*identity, visit.other_cookies);
    if (identity && context.unix_now < identity->ends) {
      std::optional<OidcTokens> tokens = open_tokens(keys_, visit.bound_to, visit.session);
      if (!good) prepare_login(visit, cookies, context.unix_now);
      if (tokens && !tokens->refresh.empty()) {
        return refresh(std::move(visit), *std::move(identity), *std::move(tokens), context);
      }
    }
    if (good) return pass(*identity, visit.other_cookies);
  }
  if (!visit.login) prepare_login(visit, cookies, context.unix_now);
  return begin(std::move(visit), context);
}

Oidc::Visit Oidc::visit_of(const PolicyRequest& policy_request, const OwnCookies& cookies) const {
  const RequestHead& head = policy_request.head;
  Visit visit;
  visit.navigation = is_navigation(head);
  visit.secure = origin_.empty() ? policy_request.secure : secure_;
  visit.origin = origin_;
  if (visit.origin.empty()) visit.origin.append(visit.secure ? "https://" : "http://").append(head.host);
  visit.target = local_target(policy_request.path, head.has_query, head.query);
  const std::string_view host_key = visit.secure ? cookies.find(kHostKeyCookie).value_or("") : std::string_view{};
  visit.bound_to = binding(host_key);
  visit.cookies_seen = session_cookies_seen(cookies);
  if (!visit.secure || !host_key.empty()) visit.session = session_text(cookies).value_or("");
  // A policy before may have removed a cookie, as APIKey does its key.
  const bool edited = policy_request.edits != nullptr && policy_request.edits->drops("Cookie");
  visit.other_cookies =
      edited ? cookies_of_others(policy_request.edits->value("Cookie")) : cookies_of_others(head.fields);
  return visit;
}

std::string Oidc::binding(std::string_view host_key) const {
  return std::string(binding_).append("\n").append(host_key);
}

// Before the first wait, as it needs the request's cookies.
void Oidc::prepare_login(Visit& visit, const OwnCookies& cookies, std::int64_t unix_now) const {
  if (!visit.navigation) return;
  visit.login = begin_login(visit.target, unix_now);
  if (!visit.login) return;
  std::optional<std::string> lines = login_cookie_lines(keys_, binding_, *visit.login, cookies, visit.secure);
  if (lines) {
    visit.login_lines = *std::move(lines);
  } else {
    visit.login.reset();
  }
}

AuthResult Oidc::pass(const OidcIdentity& identity, std::string_view other_cookies) const {
  if (!satisfies(identity, requirements_)) {
    return AuthResult::deny(
        {403, "insufficient-roles", "Forbidden: insufficient roles or groups", std::string(kNotStored)});
  }
  AuthResult auth_result = AuthResult::pass();
  forward_claims(identity, forwarded_, auth_result.request);
  auth_result.request.set("Cookie", other_cookies);
  auth_result.subject = identity.claim("sub");
  if (tells_identity_) auth_result.identity = std::make_shared<const OidcIdentity>(identity);
  return auth_result;
}

net::Task<AuthResult> Oidc::begin(Visit visit, AuthContext context) const {
  if (!visit.navigation) {
    // Somebody who can do nothing with a login page. A challenge is due (RFC 9110 §15.5.2); no registered scheme says
    // "a cookie".
    return AuthResult::deny({401, "login-needed", "There is no session, or it has ended.",
                             std::string("WWW-Authenticate: Cookie cookie-name=edge_session\r\n").append(kNotStored)});
  }
  if (!visit.login) return AuthResult::fail("no-random-bytes", "No login can be begun.");
  return ask_to_log_in(std::move(visit), context);
}

net::Task<AuthResult> Oidc::ask_to_log_in(Visit visit, AuthContext context) const {
  const ProviderNow now = co_await provider_->find(context);
  if (!now) {
    note(LoginFault::kDiscovery, {}, context);
    co_return AuthResult::fail("provider-unreachable", "The identity provider cannot be reached.");
  }
  const std::string uri = redirect_uri(visit);
  const std::string url =
      authorization_url({now.provider->authorization_endpoint, client_.id, uri, scopes_}, *visit.login);
  co_return AuthResult::deny({302, "login", "Log in first.", location(url, visit.login_lines)},
                             AuthStatus::kRedirected);
}

net::Task<AuthResult> Oidc::log_out(const PolicyRequest& policy_request, Visit visit, AuthContext context) const {
  const AnswerParameters parameters(policy_request.head.has_query ? policy_request.head.query : std::string_view{});
  const std::string_view wanted = parameters.sound() ? parameters.value("rd") : std::string_view{};
  // Local, as the way back of a login is. What is more than that is as good as nothing.
  std::string return_to;
  const bool local = !wanted.empty() && local_target(wanted, false, {}) == wanted;
  // Another site can send a browser here, and would log its user out.
  if (!visit.session.empty() && !is_of_own_page(policy_request.head, visit.origin)) {
    return confirm_logout(local ? wanted : std::string_view{});
  }
  if (local) return_to.append(visit.origin).append(wanted);
  return end_session(std::move(visit), std::move(return_to), context);
}

Digest Oidc::session_id(const OidcIdentity& identity, std::string_view bound_to, const OidcStore& store) {
  // A session of before there was a claim for it is told by the second that it ends in.
  return store.digests.of(
      {bound_to, identity.claim("sub"), std::to_string(identity.ends), identity.claim(kSessionClaim)});
}

// The form is posted by a page of this site, which the browser tells. Nobody else's page may show it in a frame and
// have the button clicked; `form-action` would forbid the way on to the provider.
net::Task<AuthResult> Oidc::confirm_logout(std::string_view return_to) {
  std::string target(kLogoutPath);
  if (!return_to.empty()) {
    target += "?";
    add_parameter(target, "rd", return_to);
  }
  PolicyAnswer answer{403, "logout-unconfirmed", "Log out by a page of this site.",
                      "Content-Type: text/html; charset=utf-8\r\nX-Frame-Options: DENY\r\n"
                      "Content-Security-Policy: default-src 'none'; frame-ancestors 'none'\r\n"};
  answer.fields += kNotStored;
  answer.body =
      "<!doctype html><title>Log out</title><p>Another site has sent you here to log out.</p>"
      "<form method=\"post\" action=\"" +
      target + "\"><button>Log out</button></form>\n";
  return AuthResult::deny(std::move(answer));
}

// RP-initiated logout (OpenID Connect RP-Initiated Logout 1.0 §2): the provider's own session ends too, else the next
// request would be logged in again without a question.
net::Task<AuthResult> Oidc::end_session(Visit visit, std::string return_to, AuthContext context) const {
  std::string lines = clear_session_lines(visit.cookies_seen, visit.secure);
  if (visit.secure) lines += clear_cookie_line(kHostKeyCookie, true);
  // Whoever else has the cookies has nothing of them any more, where this process is asked.
  std::shared_ptr<const OidcIdentity> ended;
  if (const auto identity = open_identity(keys_, visit.bound_to, visit.session)) {
    if (tells_identity_) ended = std::make_shared<const OidcIdentity>(*identity);
    OidcStore& store = context.stores.oidc;
    store.ended.end(session_id(*identity, visit.bound_to, store), identity->ends, context.unix_now);
  }
  const std::optional<OidcTokens> tokens = open_tokens(keys_, visit.bound_to, visit.session);
  std::string to;
  if (tokens) {
    const ProviderNow now = co_await provider_->find(context);
    if (now && !now.provider->end_session_endpoint.empty()) {
      std::string parameters;
      if (!tokens->id.empty()) add_parameter(parameters, "id_token_hint", tokens->id);
      add_parameter(parameters, "client_id", client_.id);
      if (!return_to.empty()) add_parameter(parameters, "post_logout_redirect_uri", return_to);
      to = now.provider->end_session_endpoint;
      to.append(to.find('?') == std::string::npos ? "?" : "&").append(parameters);
    }
  }
  if (to.empty()) to = std::move(return_to);
  // 303: whatever the request was, what follows is a GET (RFC 9110 §15.4.4).
  AuthResult auth_result = AuthResult::deny({to.empty() ? 200 : 303, "logged-out", "You are logged out.",
                                             to.empty() ? lines.append(kNotStored) : location(to, lines)},
                                            AuthStatus::kRedirected);
  auth_result.identity = std::move(ended);
  co_return auth_result;
}

}  // namespace edge::runtime::auth

#include "runtime/policy/auth/oidc/oidc_login.h"

#include <algorithm>
#include <array>
#include <utility>

#include <openssl/evp.h>

#include "base/text/ascii.h"
#include "base/text/base64.h"

namespace edge::runtime::auth {
namespace {

using net::http1::KnownField;
using net::http1::RequestHead;

constexpr std::size_t kMaxTarget = 1500;
constexpr std::size_t kMaxParameters = 32;
/// 256 bits each; the verifier's text then has the 43 characters that RFC 7636 §4.1 wants.
constexpr std::size_t kRandomBytes = 32;
/// Of a state, that names its cookie.
constexpr std::size_t kIdSize = 10;
constexpr std::string_view kLoginCookie = "edge_login_";
constexpr std::string_view kSecureLoginCookie = "__Host-edge_login_";
constexpr char kLoginForm = '1';
constexpr char kBetween = '\n';

std::string_view field_of(const RequestHead& head, std::string_view name) {
  for (const Field& field : head.fields.all()) {
    if (equals_ignoring_case(field.name, name)) return field.value;
  }
  return {};
}

/// Browsers name pages first; curl and most tools take anything.
bool takes_pages(std::string_view accept) {
  if (accept.empty()) return true;
  for (const std::string_view type : {"text/html", "application/xhtml+xml", "text/*", "*/*"}) {
    if (accept.find(type) != std::string_view::npos) return true;
  }
  return false;
}

std::string login_cookie_name(std::string_view state, bool secure) {
  return std::string(secure ? kSecureLoginCookie : kLoginCookie).append(state.substr(0, kIdSize));
}

bool is_token_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
}

/// nullopt for an escape that is none, and for what decodes to a control byte.
std::optional<std::string> form_decoded(std::string_view text) {
  std::string decoded;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i] == '+' ? ' ' : text[i];
    if (text[i] == '%') {
      if (i + 2 >= text.size()) return std::nullopt;
      const int high = hex_digit(text[i + 1]);
      const int low = hex_digit(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high << 4 | low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return std::nullopt;
    decoded.push_back(c);
  }
  return decoded;
}

}  // namespace

bool is_navigation(const RequestHead& head) {
  if (head.method != net::http1::Method::kGet || head.upgrade) return false;
  if (!field_of(head, "X-Requested-With").empty()) return false;
  // What a browser itself says of the request (Fetch Metadata); a script cannot say otherwise.
  const std::string_view mode = field_of(head, "Sec-Fetch-Mode");
  if (!mode.empty() && mode != "navigate") return false;
  return takes_pages(head.fields.value(KnownField::kAccept));
}

bool is_of_own_page(const RequestHead& head, std::string_view origin) {
  if (const std::string_view site = field_of(head, "Sec-Fetch-Site"); !site.empty()) {
    // A sibling host (`same-site`) may be another's.
    return site == "same-origin" || site == "none";
  }
  if (const std::string_view sender = field_of(head, "Origin"); !sender.empty()) {
    return equals_ignoring_case(sender, origin);
  }
  const std::string_view page = field_of(head, "Referer");
  return page.size() > origin.size() && page[origin.size()] == '/' &&
         equals_ignoring_case(page.substr(0, origin.size()), origin);
}

std::string local_target(std::string_view path, bool has_query, std::string_view query) {
  constexpr const char* kNowhere = "/";
  if (path.empty() || path.front() != '/' || path.size() + query.size() > kMaxTarget) return kNowhere;
  // `//evil.example` is a host to a browser, and `\` is `/` to some.
  if (path.starts_with("//") || path.find('\\') != std::string_view::npos) return kNowhere;
  std::string target(path);
  if (has_query) target.append("?").append(query);
  const bool plain = std::ranges::all_of(target, [](unsigned char c) { return c > 0x20 && c < 0x7f && c != '#'; });
  return plain ? target : kNowhere;
}

std::optional<OidcLogin> begin_login(std::string target, std::int64_t unix_now) {
  const std::optional<std::string> random = random_bytes(3 * kRandomBytes);
  if (!random) return std::nullopt;
  const auto part = [&](std::size_t index) {
    return to_base64url(std::string_view(*random).substr(index * kRandomBytes, kRandomBytes));
  };
  return OidcLogin{
      .state = part(0), .nonce = part(1), .verifier = part(2), .target = std::move(target), .began = unix_now};
}

std::string write_login(const OidcLogin& login) {
  std::string bytes(1, kLoginForm);
  for (const std::string_view text : {std::string_view(login.state), std::string_view(login.nonce),
                                      std::string_view(login.verifier), std::string_view(login.target)}) {
    bytes.append(text).push_back(kBetween);
  }
  return bytes + std::to_string(login.began);
}

std::optional<OidcLogin> read_login(std::string_view bytes) {
  if (bytes.empty() || bytes.front() != kLoginForm) return std::nullopt;
  bytes.remove_prefix(1);
  std::array<std::string_view, 5> texts;
  for (std::size_t i = 0; i + 1 < texts.size(); ++i) {
    const std::size_t end = bytes.find(kBetween);
    if (end == std::string_view::npos) return std::nullopt;
    texts[i] = bytes.substr(0, end);
    bytes.remove_prefix(end + 1);
  }
  texts[4] = bytes;
  if (!std::ranges::all_of(texts, is_token_text) || bytes.size() > 12) return std::nullopt;
  std::int64_t began = 0;
  for (const char c : bytes) {
    if (c < '0' || c > '9') return std::nullopt;
    began = began * 10 + (c - '0');
  }
  return OidcLogin{.state = std::string(texts[0]),
                   .nonce = std::string(texts[1]),
                   .verifier = std::string(texts[2]),
                   .target = std::string(texts[3]),
                   .began = began};
}

std::string s256(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash;
  unsigned size = 0;
  EVP_Digest(text.data(), text.size(), hash.data(), &size, EVP_sha256(), nullptr);
  return to_base64url({reinterpret_cast<const char*>(hash.data()), size});
}

std::optional<std::string> login_cookie_lines(const SessionKeys& keys, std::string_view bound_to,
                                              const OidcLogin& login, const OwnCookies& before, bool secure) {
  const std::optional<std::string> sealed = keys.seal(SealPurpose::kLogin, bound_to, write_login(login));
  if (!sealed) return std::nullopt;
  std::string lines = set_cookie_line(login_cookie_name(login.state, secure), *sealed,
                                      {.secure = secure, .max_age = static_cast<int>(OidcLogin::kLifetime)});
  const std::string_view prefix = secure ? kSecureLoginCookie : kLoginCookie;
  std::size_t others = 0;
  for (const Cookie& cookie : before.all()) {
    // Browsers send older ones first, but need not: which go is no matter of safety.
    if (cookie.name.starts_with(prefix) && ++others >= OidcLogin::kMaxAtOnce) {
      lines += clear_cookie_line(cookie.name, secure);
    }
  }
  return lines;
}

std::optional<OidcLogin> find_login(const SessionKeys& keys, std::string_view bound_to, std::string_view state,
                                    const OwnCookies& cookies, bool secure, std::int64_t unix_now) {
  if (state.size() < kIdSize) return std::nullopt;
  const std::optional<std::string_view> sealed = cookies.find(login_cookie_name(state, secure));
  if (!sealed) return std::nullopt;
  const std::optional<std::string> bytes = keys.open(SealPurpose::kLogin, bound_to, *sealed);
  if (!bytes) return std::nullopt;
  std::optional<OidcLogin> login = read_login(*bytes);
  if (!login || !same_secret(login->state, state)) return std::nullopt;
  const std::int64_t age = unix_now - login->began;
  // Agents' clocks differ a little.
  if (age < -60 || age > OidcLogin::kLifetime) return std::nullopt;
  return login;
}

std::string end_login_line(std::string_view state, bool secure) {
  return clear_cookie_line(login_cookie_name(state, secure), secure);
}

std::string form_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z') ||
                       c == '-' || c == '.' || c == '_' || c == '*';
    if (plain) {
      encoded.push_back(c);
    } else if (c == ' ') {
      encoded.push_back('+');
    } else {
      encoded.append({'%', kHex[byte >> 4], kHex[byte & 15]});
    }
  }
  return encoded;
}

void add_parameter(std::string& to, std::string_view name, std::string_view value) {
  if (!to.empty() && to.back() != '?') to.push_back('&');
  to.append(name).append("=").append(form_encoded(value));
}

std::string authorization_url(const AuthorizationRequest& request, const OidcLogin& login) {
  std::string scope;
  for (const std::string& one : request.scopes) scope.append(scope.empty() ? "" : " ").append(one);
  std::string parameters;
  add_parameter(parameters, "response_type", "code");
  add_parameter(parameters, "client_id", request.client_id);
  add_parameter(parameters, "redirect_uri", request.redirect_uri);
  add_parameter(parameters, "scope", scope);
  add_parameter(parameters, "state", login.state);
  add_parameter(parameters, "nonce", login.nonce);
  add_parameter(parameters, "code_challenge", s256(login.verifier));
  add_parameter(parameters, "code_challenge_method", "S256");
  // A provider must pass over the scope without it (Core §11), and then gives no refresh token.
  if (std::ranges::find(request.scopes, "offline_access") != request.scopes.end()) {
    add_parameter(parameters, "prompt", "consent");
  }
  std::string url(request.endpoint);
  // It may have parameters of its own, which are kept (RFC 6749 §3.1).
  url.append(url.find('?') == std::string::npos ? "?" : "&").append(parameters);
  return url;
}

AnswerParameters::AnswerParameters(std::string_view query) : sound_(query.size() <= kMaxBytes) {
  while (sound_ && !query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (pair.empty()) continue;
    const std::size_t equals = std::min(pair.find('='), pair.size());
    std::optional<std::string> name = form_decoded(pair.substr(0, equals));
    std::optional<std::string> value = form_decoded(pair.substr(std::min(equals + 1, pair.size())));
    sound_ = name && value && all_.size() < kMaxParameters &&
             std::ranges::none_of(all_, [&](const Parameter& known) { return known.name == *name; });
    if (sound_) all_.push_back({*std::move(name), *std::move(value)});
  }
}

std::string_view AnswerParameters::value(std::string_view name) const {
  const auto found = std::ranges::find(all_, name, &Parameter::name);
  return found == all_.end() ? std::string_view{} : found->value;
}

}  // namespace edge::runtime::auth

#include "runtime/policy/auth/forward/forward_auth.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/ip.h"
#include "base/text/ascii.h"
#include "net/client/query_text.h"
#include "program/filter_table.h"
#include "program/forward_auth.h"
#include "runtime/observe/trace/trace_context.h"
#include "runtime/policy/auth/call.h"
#include "runtime/policy/auth/forward/ext_authz.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

using net::client::Answer;
using net::client::CallFault;
using net::http1::HeadFields;

/// However long a policy asks for: who loses a right keeps it no longer.
constexpr net::Duration kMostKept = std::chrono::hours(1);
/// Of an answer that a client gets in place of the backend's; one with more is answered in our words.
constexpr std::size_t kMostBody = std::size_t{32} << 10;
constexpr std::size_t kMostFields = std::size_t{16} << 10;
/// Of a request's body that a service is sent.
constexpr std::uint64_t kMostSent = 65535;
/// Read of an answer of any kind.
constexpr std::size_t kMostRead = std::size_t{1} << 20;

/// What is told of a request in our own words, so that nobody else's stand there.
constexpr std::array<std::string_view, 9> kTold = {
    "forwarded",        "x-forwarded-client-cert", "x-forwarded-for", "x-forwarded-host",   "x-forwarded-method",
    "x-forwarded-port", "x-forwarded-proto",       "x-forwarded-uri", "x-ssl-client-verify"};
/// Of an answer of which the backend is sent all fields: what is said of the answer's own body and time, and what is
/// for browsers.
constexpr std::array<std::string_view, 2> kOfAnswer = {"date", "set-cookie"};
/// The client's of the subrequest writes these itself.
constexpr std::array<std::string_view, 4> kFraming = {"content-length", "expect", "host", "x-request-id"};
/// Of a body that is not sent along, and of a state that is not about the service's answer; unless they are asked for.
constexpr std::array<std::string_view, 8> kNotSent = {"content-encoding",    "content-type",  "if-match",
                                                      "if-modified-since",   "if-none-match", "if-range",
                                                      "if-unmodified-since", "range"};
/// Of an answer that goes to the client: what the proxy writes itself.
constexpr std::array<std::string_view, 6> kWritten = {"connection", "content-length", "date",
                                                      "via",        "x-edge-reason",  "x-request-id"};

template <std::size_t N>
bool among(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](std::string_view one) { return same_field(one, name); });
}

bool among(const std::vector<std::string>& names, std::string_view name) {
  return std::ranges::any_of(names, [&](const std::string& one) { return same_field(one, name); });
}

void add_line(std::string& lines, std::string_view name, std::string_view value) {
  lines.append(name).append(": ").append(value).append("\r\n");
}

std::vector<std::string> texts(const program::SectionView& section, program::ArrayRef<program::StringRef> refs) {
  std::vector<std::string> out;
  for (const program::StringRef& ref : section.array(refs)) out.emplace_back(section.string(ref));
  return out;
}

/// The path as rules and backends see it: another spelling of it may not be decided about in its place.
std::string uri_of(const PolicyRequest& policy_request) {
  std::string uri(policy_request.path);
  if (policy_request.head.has_query) uri.append("?").append(policy_request.head.query);
  return uri;
}

/// What a peer that is not trusted says of where a request comes from; the known fields are among kTold.
bool told_by_stranger(const PolicyRequest& policy_request, std::string_view name) {
  return !policy_request.peer_trusted && (is_forwarded_field(name) || same_field(name, "x-real-ip"));
}

/// Several values of one answer are one list; what the client sent is not among them.
void set_or_add(RequestEdits& edits, std::string_view name, std::string_view value) {
  const std::string before(edits.value(name));
  edits.set(name, before.empty() ? std::string(value) : before + ", " + std::string(value));
}

bool is_redirect(int status) { return status >= 300 && status < 400 && status != 304; }

/// As it came, in place of the backend's (specification, "ForwardAuth").
AuthResult as_it_is(const Answer& answer, AuthStatus outcome) {
  PolicyAnswer out{answer.status,
                   outcome == AuthStatus::kRedirected ? "auth-redirect" : "auth-denied",
                   "The authorization service refused the request.",
                   {}};
  for (const Answer::Field& field : answer.fields) {
    const bool of_body = answer.body.empty() && field.name.starts_with("content-");
    if (!among(kWritten, field.name) && !of_body) add_line(out.fields, field.name, field.value);
  }
  if (out.fields.size() > kMostFields) {
    return AuthResult::fail("auth-answer-too-large", "The authorization service answered with too large a head.");
  }
  if (answer.body.size() > kMostBody) {
    return AuthResult::fail("auth-answer-too-large", "The authorization service answered with too large a body.");
  }
  out.body = answer.body;
  return AuthResult::deny(std::move(out), outcome);
}

/// A client that is not signed in is sent to where it can be. Cookies that the service set go with it.
AuthResult to_sign_in(AuthResult refused, const std::string& location) {
  if (location.empty() || refused.outcome != AuthStatus::kDenied || refused.answer.status != 401) return refused;
  std::string fields = "Location: " + location + "\r\nCache-Control: no-store\r\n";
  const std::string& forwarded = refused.answer.fields;
  for (std::size_t begin = 0; begin < forwarded.size();) {
    const std::size_t end = forwarded.find("\r\n", begin) + 2;
    const std::string_view line = std::string_view(forwarded).substr(begin, end - begin);
    if (same_field(line.substr(0, line.find(':')), "set-cookie")) fields += line;
    begin = end;
  }
  return AuthResult::deny({302, "auth-redirect", "Sign in first.", std::move(fields)}, AuthStatus::kRedirected);
}

bool forbids_keeping(const Answer& answer) {
  if (!answer.value("set-cookie").empty()) return true;
  return answer.value("cache-control").find("no-store") != std::string_view::npos;
}

}  // namespace

Result<std::shared_ptr<const ForwardAuth>> ForwardAuth::make(const PolicyContext& making,
                                                             const program::PolicyRecord& policy,
                                                             const program::ForwardAuthRecord& settings) {
  const program::SectionView& section = making.section;
  const std::string_view address = section.string(settings.address);
  std::shared_ptr<ForwardAuth> made(new ForwardAuth);
  if (const auto backend = program::parse_backend_address(address)) {
    made->name_space_ = backend->name_space;
    made->name_ = backend->name;
    made->url_.host = backend->name;
    made->url_.target = backend->path;
  } else {
    Result<net::client::Url> url = net::client::parse_url(address);
    if (!url.ok()) return Error{url.error().code, "its address cannot be used: " + url.error().text};
    if (Status status = making.stores.may_call(*url); !status) return status.error();
    made->url_ = std::move(*url);
  }
  made->timeout_ = net::Duration(settings.timeout_ns);
  made->cache_ttl_ = std::min(net::Duration(settings.cache_ttl_ns), kMostKept);
  made->auth_headers_ = texts(section, settings.auth_headers);
  made->response_headers_ = texts(section, settings.response_headers);
  made->set_sign_in(section.string(settings.sign_in_url), section.string(settings.sign_in_parameter));
  made->own_request_ = std::erase(made->auth_headers_, program::kOwnRequest) != 0;
  made->grpc_ = std::erase(made->auth_headers_, program::kGrpcRequest) != 0;
  std::erase_if(made->auth_headers_, [&](std::string_view name) {
    if (!name.starts_with(program::kBodyLimit)) return false;
    name.remove_prefix(program::kBodyLimit.size());
    std::from_chars(name.data(), name.data() + name.size(), made->body_limit_);
    return true;
  });
  made->body_limit_ = std::min(made->body_limit_, kMostSent);
  // A shorter cacheTTL is one for what is known, too.
  made->identity_ =
      std::to_string(policy.id) + " " + std::to_string(made->cache_ttl_.count()) + " " + std::string(address);
  for (const std::string& name : made->response_headers_) made->identity_ += "\n" + name;
  return std::shared_ptr<const ForwardAuth>(std::move(made));
}

/// As ingress-nginx: a URL that has the parameter already stays as it is.
void ForwardAuth::set_sign_in(std::string_view url, std::string_view parameter) {
  if (url.empty()) return;
  sign_in_ = url.substr(0, url.find('#'));
  const std::size_t query = sign_in_.find('?');
  const std::string named = std::string(parameter) + "=";
  if (query != std::string::npos) {
    const std::string_view parts = std::string_view(sign_in_).substr(query + 1);
    if (parts.starts_with(named) || parts.find("&" + named) != std::string_view::npos) return;
  }
  sign_in_ += (query == std::string::npos ? "?" : "&") + named;
  sign_in_takes_url_ = true;
}

std::string ForwardAuth::sign_in_location(const PolicyRequest& policy_request) const {
  if (!sign_in_takes_url_) return sign_in_;
  std::string url(policy_request.secure ? "https://" : "http://");
  url.append(policy_request.head.host).append(policy_request.path);
  if (policy_request.head.has_query) url.append("?").append(policy_request.head.query);
  return sign_in_ + net::client::url_encoded(url);
}

/// Whether the service is told a field of the request's.
bool ForwardAuth::sends(std::string_view name) const {
  if (among(kTold, name)) return false;
  if (among(kFraming, name)) return false;
  if (!auth_headers_.empty()) return among(auth_headers_, name);
  if (among(kNotSent, name)) return false;
  // What it is to say itself it is not told by the client, unless that is how clients show who they are.
  const bool credential = same_field(name, "authorization") || same_field(name, "cookie");
  return credential || !among(response_headers_, name);
}

ForwardAuth::Subrequest ForwardAuth::subrequest(const PolicyRequest& policy_request) const {
  Subrequest made{.host = url_.host, .target = url_.target};
  std::string& lines = made.fields;
  const HeadFields& fields = policy_request.head.fields;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (fields.hop_by_hop(i) || !sends(fields[i].name)) continue;
    if (told_by_stranger(policy_request, fields[i].name)) continue;
    if (policy_request.edits != nullptr && policy_request.edits->drops(fields[i].name)) continue;
    add_line(trace::tells_of_trace(fields[i].name) ? made.traced : lines, fields[i].name, fields[i].value);
  }
  if (policy_request.edits != nullptr) {
    for (const RequestEdits::Line& line : policy_request.edits->lines()) {
      if (sends(line.name)) add_line(lines, line.name, line.value);
    }
  }
  add_own_words(policy_request, lines);
  if (!own_request_) return made;
  made.method = policy_request.head.method_text;
  made.target += uri_of(policy_request);
  if (body_limit_ != 0) made.body = policy_request.body;
  if (!policy_request.head.host.empty()) made.host = policy_request.head.host;
  return made;
}

/// Of a service that is sent the request itself it is told no more of it than is asked for.
void ForwardAuth::add_own_words(const PolicyRequest& policy_request, std::string& lines) const {
  const auto add = [&](std::string_view name, std::string_view value) {
    if (!own_request_ || among(auth_headers_, name)) add_line(lines, name, value);
  };
  add("X-Forwarded-Method", policy_request.head.method_text);
  add("X-Forwarded-Proto", policy_request.secure ? "https" : "http");
  add("X-Forwarded-Host", policy_request.head.host);
  add("X-Forwarded-Uri", uri_of(policy_request));
  add("X-Forwarded-For", to_string(policy_request.source));
  if (policy_request.edits == nullptr) return;
  const std::string_view verification = policy_request.edits->value("x-ssl-client-verify");
  if (!verification.empty()) add("X-SSL-Client-Verify", verification);
}

net::Task<AuthResult> ForwardAuth::ask(const PolicyRequest& policy_request, AuthContext context) const {
  if (grpc_) return call(check_call(policy_request, context.unix_now), std::nullopt, {}, context);
  Subrequest made = subrequest(policy_request);
  std::optional<ForwardAuthCache::Key> key;
  if (cache_ttl_ != net::Duration{}) {
    std::string forwarded = made.fields;
    if (own_request_) forwarded.insert(0, made.method + " " + made.host + made.target + "\n");
    key = context.stores.forward_auth.key(identity_, forwarded);
    if (const auto known = context.stores.forward_auth.find(*key, policy_request.now)) {
      return to_sign_in(AuthResult(*known), sign_in_location(policy_request));
    }
  }
  const bool names_id = !own_request_ || among(auth_headers_, "x-request-id");
  if (names_id && !policy_request.request_id.empty()) {
    add_line(made.fields, "X-Request-ID", policy_request.request_id);
  }
  // Where the gateway traces, the service is told of the call's span instead.
  if (!context.calls) made.fields += made.traced;
  return call(std::move(made), key, sign_in_location(policy_request), context);
}

net::Task<Answer> ForwardAuth::send(const Subrequest& subrequest, AuthContext context) const {
  constexpr std::string_view kSpan = "call ForwardAuth";
  const net::Time until = context.loop.now() + timeout_;
  if (name_.empty()) {
    net::client::Call call{.url = url_, .fields = subrequest.fields, .until = until, .max_body = kMostRead};
    call.asker = context.asker;
    return auth::call(context, kSpan, Callee::kOwnService, std::move(call));
  }
  return auth::call_service(context, kSpan,
                            {.name_space = name_space_,
                             .name = name_,
                             .method = subrequest.method,
                             .host = subrequest.host,
                             .target = subrequest.target,
                             .fields = subrequest.fields,
                             .body = subrequest.body,
                             .until = until,
                             .max_body = kMostRead,
                             .trailers = grpc_});
}

net::Task<AuthResult> ForwardAuth::call(Subrequest subrequest, std::optional<ForwardAuthCache::Key> key,
                                        std::string sign_in, AuthContext context) const {
  const Answer answer = co_await send(subrequest, context);
  AuthResult auth_result = read_answer(answer);
  // A login that is under way, or a cookie, is one client's; a service that fails (500), or does not know its own
  // address (404), has decided about nobody.
  const bool decision = answer.ok() && (auth_result.passed() || answer.status == 401 || answer.status == 403);
  if (key && decision && !forbids_keeping(answer)) {
    context.stores.forward_auth.put(*key, auth_result, context.loop.now() + cache_ttl_);
  }
  co_return to_sign_in(std::move(auth_result), sign_in);
}

AuthResult ForwardAuth::read_answer(const Answer& answer) const {
  if (answer.fault == CallFault::kTimeout) {
    return AuthResult::fail("auth-timeout", "The authorization service did not answer in time.");
  }
  if (!answer.ok()) return AuthResult::fail("auth-unavailable", "The authorization service could not be asked.");
  if (grpc_) return read_check(answer);
  if (own_request_) return read_own(answer);
  if (answer.status >= 200 && answer.status < 300) return pass(answer);
  if (answer.status == 401 || answer.status == 403) return as_it_is(answer, AuthStatus::kDenied);
  if (is_redirect(answer.status)) return as_it_is(answer, AuthStatus::kRedirected);
  return AuthResult::deny({403, "auth-denied", "The authorization service did not let the request through.", {}});
}

ForwardAuth::Subrequest ForwardAuth::check_call(const PolicyRequest& policy_request, std::int64_t unix_now) const {
  const std::string source = to_string(policy_request.source);
  const std::string uri = uri_of(policy_request);
  CheckedRequest checked{.source = source,
                         .unix_now = unix_now,
                         .id = policy_request.request_id,
                         .method = policy_request.head.method_text,
                         .path = uri,
                         .host = policy_request.head.host,
                         .scheme = policy_request.secure ? "https" : "http",
                         .protocol = policy_request.head.minor == 0 ? "HTTP/1.0" : "HTTP/1.1",
                         .headers = {},
                         .body = body_limit_ != 0 ? policy_request.body : std::string_view()};
  const auto tell = [&](std::string_view name, std::string_view value) {
    std::string lower = ascii_lower(name);
    const auto known = std::ranges::find(checked.headers, lower, [](const auto& header) { return header.first; });
    if (known == checked.headers.end()) {
      checked.headers.emplace_back(std::move(lower), value);
    } else {
      known->second.append(lower == "cookie" ? "; " : ", ").append(value);
    }
  };
  const auto names = [&](std::string_view name) { return auth_headers_.empty() || among(auth_headers_, name); };
  const HeadFields& fields = policy_request.head.fields;
  const RequestEdits* const edits = policy_request.edits;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const std::string_view name = fields[i].name;
    if (fields.hop_by_hop(i) || among(kTold, name) || same_field(name, "x-request-id") || !names(name)) continue;
    if (told_by_stranger(policy_request, name)) continue;
    if (edits == nullptr || !edits->drops(name)) tell(name, fields[i].value);
  }
  if (edits != nullptr) {
    for (const RequestEdits::Line& line : edits->lines()) {
      if (names(line.name)) tell(line.name, line.value);
    }
  }
  if (names("x-request-id")) tell("x-request-id", policy_request.request_id);
  if (names("x-forwarded-for")) tell("x-forwarded-for", source);
  if (names("x-forwarded-proto")) tell("x-forwarded-proto", checked.scheme);
  return {.method = "POST",
          .host = url_.host,
          .target = std::string(kExtAuthzPath),
          .fields = "Content-Type: application/grpc\r\nTE: trailers\r\n",
          .body = check_request(checked)};
}

AuthResult ForwardAuth::read_check(const Answer& answer) {
  std::optional<CheckResult> result;
  if (answer.status == 200) result = read_check_response(answer.body, answer.value("grpc-status"));
  if (!result) return AuthResult::fail("auth-unavailable", "The authorization service did not decide.");
  if (!result->passes) {
    Answer denial;
    denial.status = result->status;
    denial.body = std::move(result->body);
    for (const CheckedHeader& header : result->headers) {
      if (!program::is_reserved_field(header.name)) denial.fields.push_back({header.name, header.value});
    }
    return as_it_is(denial, is_redirect(denial.status) ? AuthStatus::kRedirected : AuthStatus::kDenied);
  }
  AuthResult auth_result = AuthResult::pass();
  for (const std::string& name : result->removed) auth_result.request.remove(name);
  for (const CheckedHeader& header : result->headers) set_or_add(auth_result.request, header.name, header.value);
  for (const CheckedHeader& header : result->response_headers) {
    if (!among(kWritten, header.name) && !program::is_reserved_field(header.name)) {
      add_line(auth_result.response_fields, header.name, header.value);
    }
  }
  return auth_result;
}

/// GEP-1494: 200 alone lets the request pass. What a client would take for success, or for an answer to a condition of
/// its own, is none (*safe*).
AuthResult ForwardAuth::read_own(const Answer& answer) const {
  if (answer.status == 200) return pass(answer);
  if (is_redirect(answer.status)) return as_it_is(answer, AuthStatus::kRedirected);
  if (answer.status >= 400) return as_it_is(answer, AuthStatus::kDenied);
  return AuthResult::deny({403, "auth-denied", "The authorization service did not let the request through.", {}});
}

AuthResult ForwardAuth::pass(const Answer& answer) const {
  AuthResult auth_result = AuthResult::pass();
  for (const std::string& name : response_headers_) {
    if (name == program::kAllFields) {
      for (const Answer::Field& field : answer.fields) {
        if (among(kOfAnswer, field.name) || field.name.starts_with("content-")) continue;
        set_or_add(auth_result.request, field.name, field.value);
      }
      continue;
    }
    // Cookies are the client's: a session that the service has renewed.
    if (name == "set-cookie") {
      for (const Answer::Field& field : answer.fields) {
        if (field.name == name) add_line(auth_result.response_fields, "Set-Cookie", field.value);
      }
      continue;
    }
    std::string value;
    for (const Answer::Field& field : answer.fields) {
      if (field.name == name) value.append(value.empty() ? "" : ", ").append(field.value);
    }
    auth_result.request.set(name, value);
  }
  return auth_result;
}

}  // namespace edge::runtime::auth

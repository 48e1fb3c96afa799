#include "edgectl/web/login/login.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>
#include <utility>

#include "base/path.h"
#include "base/text/ascii.h"
#include "net/client/http_client.h"
#include "net/http1/parse.h"
#include "net/tls/record_layer.h"
#include "runtime/policy/auth/oidc/oidc.h"
#include "runtime/policy/auth/stores.h"

namespace edge::edgectl::web {
namespace {

namespace auth = runtime::auth;
using net::server::FieldList;
using net::server::Reply;
using net::server::Request;

constexpr std::string_view kReserved = "system:";
constexpr std::size_t kSecretBytes = 32;

/// `Name: value` lines, each with its CRLF.
void add_lines(std::string_view lines, FieldList& fields) {
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find("\r\n"), lines.size());
    const std::string_view line = lines.substr(0, end);
    lines.remove_prefix(std::min(end + 2, lines.size()));
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) fields.emplace_back(line.substr(0, colon), line.substr(colon + 2));
  }
}

Reply reply_of(auth::AuthResult result) {
  runtime::PolicyAnswer& answer = result.answer;
  Reply reply{.status = answer.status};
  add_lines(answer.fields, reply.fields);
  const auto type = std::ranges::find(reply.fields, "Content-Type", &FieldList::value_type::first);
  reply.content_type = type == reply.fields.end() ? "text/plain; charset=utf-8" : type->second;
  if (type != reply.fields.end()) reply.fields.erase(type);
  reply.body = answer.body.empty() ? std::string(answer.text) + "\n" : std::move(answer.body);
  return reply;
}

Reply refusal(int status, std::string text) {
  return {.status = status,
          .content_type = "text/plain; charset=utf-8",
          .body = std::move(text) + "\n",
          .fields = {{"Cache-Control", "no-store"}}};
}

/// What frames the message was the connection's, and the body is not looked at.
bool is_left_out(std::string_view name) {
  constexpr std::array<std::string_view, 7> kLeftOut = {
      "host", "content-length", "transfer-encoding", "connection", "keep-alive", "expect", "upgrade"};
  return std::ranges::find(kLeftOut, ascii_lower(name)) != kLeftOut.end();
}

std::string head_text(const Request& request) {
  std::string text = request.method + " " + request.path;
  if (!request.query.empty()) text += "?" + request.query;
  text += " HTTP/1.1\r\nHost: " + request.host + "\r\n";
  for (const auto& [name, value] : request.fields) {
    if (!is_left_out(name)) text += name + ": " + value + "\r\n";
  }
  return text + "\r\n";
}

/// The request as policies read it: views into its text.
struct ParsedRequest {
  std::string text;
  std::string host;
  std::string room;
  std::string_view path;
  net::http1::RequestHead head;
};

std::unique_ptr<ParsedRequest> parsed(const Request& request) {
  auto made = std::make_unique<ParsedRequest>();
  made->text = head_text(request);
  net::http1::ParseHint hint;
  if (net::http1::parse_request(made->text, {}, hint, made->head).state != net::http1::ParseState::kComplete) {
    return nullptr;
  }
  made->room.resize(request.path.size() + 1);
  const auto path = normalise_path(request.path, made->room.data());
  if (!path) return nullptr;
  made->path = *path;
  made->host = ascii_lower(request.host);
  const std::size_t end = made->host.starts_with('[') ? made->host.find(']') + 1 : made->host.find(':');
  made->host.resize(std::min(end, made->host.size()));
  return made;
}

/// The header by which the policy forwards a claim, so that it is asked for where the id token lacks it.
std::string header_of(std::string_view claim) {
  std::string header = "X-Auth-";
  for (const char c : claim) header += c == '_' ? '-' : c;
  return header;
}

std::int64_t unix_now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace

struct Login::State {
  State(net::Loop& on, LoginSettings with)
      : settings(std::move(with)),
        loop(on),
        stores(settings.authorities, settings.log),
        client(on, stores.resolver, records) {}

  LoginSettings settings;
  net::Loop& loop;
  auth::Stores stores;
  net::tls::RecordRoom records;
  net::client::HttpClient client;
  std::shared_ptr<const auth::Oidc> policy;
};

Login::Login(std::unique_ptr<State> state) : state_(std::move(state)) {}
Login::~Login() { state_->client.close_idle(); }

Result<std::unique_ptr<Login>> Login::make(net::Loop& loop, LoginSettings settings) {
  if (settings.groups_claim != "groups" && settings.groups_claim != "roles") {
    return Error{ErrorCode::kInvalidArgument, "--oidc-groups-claim takes `groups` or `roles`"};
  }
  auto state = std::make_unique<State>(loop, std::move(settings));
  const LoginSettings& with = state->settings;
  std::optional<std::string> secret =
      with.session_secret.empty() ? auth::random_bytes(kSecretBytes) : std::optional<std::string>(with.session_secret);
  if (!secret) return Error{ErrorCode::kInternal, "the system has no random bytes"};
  auth::OidcSettings policy{.name = "edgectl web",
                            .issuer = with.issuer,
                            .client = {with.client_id, with.client_secret},
                            .session_secret = std::move(*secret),
                            .previous_session_secret = {},
                            .redirect_url = with.redirect_url,
                            .scopes = {"openid"},
                            .forward_headers = {header_of(with.username_claim), header_of(with.groups_claim)},
                            .requirements = {},
                            .tells_identity = true};
  for (const std::string& scope : with.scopes) {
    if (scope != "openid") policy.scopes.push_back(scope);
  }
  auto made = auth::Oidc::make(std::move(policy), state->stores);
  if (!made) return Error{ErrorCode::kInvalidArgument, "the login cannot be made: " + made.error().text};
  state->policy = std::move(*made);
  return std::unique_ptr<Login>(new Login(std::move(state)));
}

net::Task<Login::Outcome> Login::ask(const Request& request, net::Waiter& waiter) {
  State& state = *state_;
  const auto as_read = parsed(request);
  if (as_read == nullptr) co_return Outcome{.reply = refusal(400, "The request cannot be read.")};
  const runtime::PolicyRequest asked{.head = as_read->head,
                                     .host = as_read->host,
                                     .path = as_read->path,
                                     .source = request.peer->address.address,
                                     .secure = request.peer->tls,
                                     .now = state.loop.now()};
  auth::AuthResult result =
      co_await state.policy->ask(asked, auth::AuthContext{state.loop, waiter, state.client, state.stores, unix_now()});
  Outcome outcome;
  if (!result.passed()) {
    if (result.identity != nullptr) outcome.ended_session = result.identity->claim(auth::kSessionClaim);
    outcome.reply = reply_of(std::move(result));
    co_return outcome;
  }
  add_lines(result.response_fields, outcome.fields);
  const auth::OidcIdentity& identity = *result.identity;
  const std::vector<std::string>& groups = state.settings.groups_claim == "roles" ? identity.roles : identity.groups;
  auto named = identity_of(state.settings, std::string(identity.claim(state.settings.username_claim)), groups);
  if (!named) {
    outcome.reply = refusal(403, named.error().text);
    outcome.reply->fields.insert(outcome.reply->fields.end(), outcome.fields.begin(), outcome.fields.end());
    co_return outcome;
  }
  outcome.login = {.identity = std::move(*named),
                   .session = std::string(identity.claim(auth::kSessionClaim)),
                   .until = identity.expires};
  co_return outcome;
}

Result<Identity> identity_of(const LoginSettings& settings, const std::string& username,
                             const std::vector<std::string>& groups) {
  if (username.empty()) {
    return Error{ErrorCode::kPermissionDenied, "Your login has no claim " + settings.username_claim + "."};
  }
  std::string prefix;
  if (settings.username_prefix) {
    if (*settings.username_prefix != "-") prefix = *settings.username_prefix;
  } else if (settings.username_claim != "email") {
    prefix = settings.issuer + "#";
  }
  Identity identity{.user = prefix + username, .groups = {}};
  if (identity.user.starts_with(kReserved)) {
    return Error{ErrorCode::kPermissionDenied,
                 "A user whose name begins with " + std::string(kReserved) + " cannot log in."};
  }
  for (const std::string& group : groups) {
    std::string name = settings.groups_prefix + group;
    if (!name.empty() && !name.starts_with(kReserved)) identity.groups.push_back(std::move(name));
  }
  std::ranges::sort(identity.groups);
  const auto twice = std::ranges::unique(identity.groups);
  identity.groups.erase(twice.begin(), twice.end());
  return identity;
}

}  // namespace edge::edgectl::web

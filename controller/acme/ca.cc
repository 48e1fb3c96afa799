#include "controller/acme/ca.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/units.h"
#include "net/client/url.h"

namespace edge::controller::acme {
namespace {

using namespace std::chrono_literals;
using net::client::Answer;
using nlohmann::json;

constexpr auto kCallTime = 30s;
/// Another is registering: looked at again.
constexpr auto kAgain = 20ms;
/// CAs move their directories' URLs seldom, and announce it.
constexpr auto kPreparedTime = 24h;
constexpr std::size_t kMostBody = std::size_t{256} << 10;
constexpr std::size_t kMostNonces = 16;
constexpr int kMostNonceTries = 4;
constexpr std::string_view kFields = "User-Agent: edge-proxy/" EDGE_VERSION "\r\nAccept-Language: en\r\n";
constexpr std::string_view kJose = "Content-Type: application/jose+json\r\n";

/// Seconds, or a date (RFC 9110 §10.2.3), of which CAs send the former.
std::int64_t retry_after_of(std::string_view text) {
  constexpr std::int64_t kMost = 7 * 24 * 3600;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size()) return 0;
  return std::clamp<std::int64_t>(seconds, 0, kMost);
}

/// Of the form `<URL>;rel="alternate"` (RFC 8288), several in one field or in several.
void add_alternates(std::string_view field, std::vector<std::string>& into) {
  for (std::size_t open = field.find('<'); open != std::string_view::npos; open = field.find('<', open + 1)) {
    const std::size_t close = field.find('>', open);
    if (close == std::string_view::npos) return;
    const std::string_view parameters = field.substr(close, field.find('<', close) - close);
    const bool alternate = parameters.find("rel=\"alternate\"") != std::string_view::npos ||
                           parameters.find("rel=alternate") != std::string_view::npos;
    if (alternate) into.emplace_back(field.substr(open + 1, close - open - 1));
  }
}

CaReply reply_of(Answer answer) {
  CaReply reply;
  if (!answer.ok()) {
    reply.fault = std::string(net::client::fault_word(answer.fault)) +
                  (answer.detail.empty() ? "" : " (" + printable(answer.detail) + ")");
    return reply;
  }
  reply.status = answer.status;
  reply.location = answer.value("location");
  reply.retry_after = retry_after_of(answer.value("retry-after"));
  for (const Answer::Field& field : answer.fields) {
    if (field.name == "link") add_alternates(field.value, reply.alternates);
  }
  reply.body = std::move(answer.body);
  return reply;
}

std::string fault_of(const CaReply& reply, std::string_view doing) {
  const Problem problem = problem_of(reply);
  std::string text(doing);
  text += ": ";
  if (!reply.fault.empty()) return text + reply.fault;
  if (problem.type.empty()) return text + "status " + std::to_string(reply.status);
  return text + problem.type + (problem.detail.empty() ? "" : ": " + problem.detail);
}

}  // namespace

std::int64_t time_of(std::string_view text) { return parse_timestamp(text).value_or(0); }

Ca::Ca(net::Loop& loop, net::client::HttpClient& http, CaOptions options, AccountKey key)
    : loop_(loop), http_(http), options_(std::move(options)), key_(std::move(key)) {}

net::Task<CaReply> Ca::call(net::Waiter& waiter, std::string method, std::string url, std::string body) {
  CaReply reply;
  const auto parsed = net::client::parse_url(url);
  const bool safe = parsed && (parsed->secure || !options_.directory.starts_with("https:"));
  if (!safe) {
    reply.fault = "the CA names a URL that is not used";
    co_return reply;
  }
  const std::string fields = std::string(kFields) + (body.empty() ? "" : std::string(kJose));
  const net::client::Call call{.url = *parsed,
                               .method = method,
                               .fields = fields,
                               .body = body,
                               .until = loop_.now() + kCallTime,
                               .max_body = kMostBody,
                               .authorities = options_.authorities};
  Answer answer = co_await http_.call(waiter, call);
  if (answer.ok()) {
    const std::string nonce(answer.value("replay-nonce"));
    if (!nonce.empty() && nonces_.size() < kMostNonces) nonces_.push_back(nonce);
  }
  co_return reply_of(std::move(answer));
}

net::Task<std::string> Ca::read_directory(net::Waiter& waiter, CaReply& reply) {
  reply = co_await call(waiter, "GET", options_.directory, {});
  if (reply.status != 200) co_return fault_of(reply, "reading the directory");
  const json directory = parse_json(reply.body);
  const std::string &nonce = text_in(directory, "newNonce"), &account = text_in(directory, "newAccount"),
                    &order = text_in(directory, "newOrder");
  if (nonce.empty() || account.empty() || order.empty()) co_return "the directory is none of RFC 8555";
  if (options_.key_id.empty() && member_in(member_in(directory, "meta"), "externalAccountRequired") == json(true)) {
    co_return "the CA wants an external account (externalAccount)";
  }
  // Nonces are of the server that has given them out.
  if (nonce != new_nonce_) nonces_.clear();
  new_nonce_ = nonce;
  new_account_ = account;
  new_order_ = order;
  renewal_info_ = text_in(directory, "renewalInfo");
  co_return std::string();
}

Result<std::string> Ca::registration() const {
  std::string payload = R"({"termsOfServiceAgreed":true)";
  if (!options_.email.empty()) payload += ",\"contact\":[" + json_text("mailto:" + options_.email) + "]";
  if (!options_.key_id.empty()) {
    auto binding = bind_account(key_.jwk(), new_account_, options_.key_id, options_.mac_key);
    if (!binding) return binding.error();
    payload += ",\"externalAccountBinding\":" + *binding;
  }
  return payload + "}";
}

/// The CA answers with the account that the key has, if there is one.
net::Task<std::string> Ca::enter(net::Waiter& waiter, CaReply& reply) {
  const auto payload = registration();
  if (!payload) co_return payload.error().text;
  reply = co_await signed_post(waiter, new_account_, "\"jwk\":" + key_.jwk(), *payload);
  if (reply.status != 200 && reply.status != 201) co_return fault_of(reply, "registering the account");
  if (reply.location.empty()) co_return "the CA names no URL of the account";
  const std::string account = reply.location;
  const std::string contact = options_.email.empty() ? "" : "mailto:" + options_.email;
  const json answer = parse_json(reply.body);
  const json& contacts = list_in(answer, "contact");
  const bool same = contacts.empty() ? contact.empty() : text_value(contacts.front()) == contact;
  if (reply.status == 200 && !same) {
    const std::string list = contact.empty() ? "[]" : "[" + json_text(contact) + "]";
    const CaReply changed =
        co_await signed_post(waiter, account, "\"kid\":" + json_text(account), "{\"contact\":" + list + "}");
    if (changed.status == 0) co_return fault_of(changed, "changing the account's address");
  }
  account_ = account;
  co_return std::string();
}

bool Ca::is_prepared() const { return prepared_at_ != net::Time{} && loop_.now() - prepared_at_ < kPreparedTime; }

void Ca::set_secrets(std::shared_ptr<const net::tls::Authorities> authorities, std::string mac_key) {
  options_.authorities = std::move(authorities);
  options_.mac_key = std::move(mac_key);
}

net::Task<std::string> Ca::prepare(net::Waiter& waiter, CaReply& reply) {
  while (preparing_) {
    const net::Wake wake = co_await waiter.wait(loop_.now() + kAgain);
    if (wake == net::Wake::kCancelled) co_return "cancelled";
  }
  if (is_prepared()) co_return std::string();
  preparing_ = true;
  std::string fault;
  fault = co_await read_directory(waiter, reply);
  if (fault.empty()) fault = co_await enter(waiter, reply);
  if (fault.empty()) prepared_at_ = loop_.now();
  preparing_ = false;
  co_return fault;
}

net::Task<std::string> Ca::nonce(net::Waiter& waiter, CaReply& reply) {
  if (nonces_.empty()) {
    reply = co_await call(waiter, "HEAD", new_nonce_, {});
    if (reply.status == 0 || nonces_.empty()) co_return std::string();
  }
  std::string taken = std::move(nonces_.front());
  nonces_.pop_front();
  co_return taken;
}

net::Task<CaReply> Ca::signed_post(net::Waiter& waiter, std::string url, std::string identity, std::string payload) {
  CaReply reply;
  for (int i = 0; i < kMostNonceTries; ++i) {
    const std::string fresh = co_await nonce(waiter, reply);
    if (fresh.empty()) {
      if (reply.fault.empty()) reply.fault = "the CA gives out no nonce";
      co_return reply;
    }
    const auto body = key_.sign(url, fresh, identity, payload);
    if (!body) {
      reply.fault = body.error().text;
      co_return reply;
    }
    reply = co_await call(waiter, "POST", url, *body);
    // The answer has a fresh one (RFC 8555 §6.5); the others are as old as the one that was refused.
    if (problem_of(reply).type != "badNonce") break;
    if (nonces_.size() > 1) nonces_.erase(nonces_.begin(), nonces_.end() - 1);
  }
  co_return reply;
}

net::Task<CaReply> Ca::post(net::Waiter& waiter, std::string url, std::string payload) {
  std::string identity = "\"kid\":" + json_text(account_);
  CaReply reply = co_await signed_post(waiter, std::move(url), std::move(identity), std::move(payload));
  co_return reply;
}

net::Task<std::optional<RenewalAdvice>> Ca::advice(net::Waiter& waiter, std::string renewal_id) {
  if (renewal_info_.empty() || renewal_id.empty()) co_return std::nullopt;
  const CaReply reply = co_await call(waiter, "GET", renewal_info_ + "/" + renewal_id, {});
  if (reply.status != 200) co_return std::nullopt;
  const json parsed = parse_json(reply.body);
  const json& window = member_in(parsed, "suggestedWindow");
  RenewalAdvice advice{time_of(text_in(window, "start")), time_of(text_in(window, "end")), reply.retry_after};
  // A window that ends before it begins counts for nothing (RFC 9773 §4.2).
  if (advice.from <= 0 || advice.until <= advice.from) co_return std::nullopt;
  co_return advice;
}

}  // namespace edge::controller::acme

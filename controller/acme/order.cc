#include "controller/acme/order.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/acme/certificate_crypto.h"
#include "controller/acme/jose.h"

namespace edge::controller::acme {
namespace {

using compiler::ChallengeKind;
using nlohmann::json;

/// With waits of a second or more between them, half an hour.
constexpr std::uint32_t kMostRequests = 120;
constexpr std::int64_t kLeastWait = 1;
constexpr std::int64_t kMostWait = 60;
constexpr std::size_t kMostToken = 256;
constexpr std::string_view kProblems = "urn:ietf:params:acme:error:";

std::int64_t wait_of(const CaReply& reply) { return std::clamp(reply.retry_after, kLeastWait, kMostWait); }

/// It becomes a path, and a part of a key: the alphabet of base64url (RFC 8555 §8.3).
bool is_token(std::string_view token) {
  return !token.empty() && token.size() <= kMostToken && std::ranges::all_of(token, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::string_view type_of(ChallengeKind kind) {
  return kind == ChallengeKind::kHttp01 ? "http-01" : kind == ChallengeKind::kDns01 ? "dns-01" : "tls-alpn-01";
}

Problem problem_in(const json& object) {
  std::string type = text_in(object, "type");
  if (type.starts_with(kProblems)) type.erase(0, kProblems.size());
  return {printable(type), printable(text_in(object, "detail"))};
}

std::string text_of(const Problem& problem) {
  return problem.detail.empty() ? problem.type : problem.type + ": " + problem.detail;
}

}  // namespace

std::string printable(std::string_view text) {
  constexpr std::size_t kMost = 300;
  std::string out;
  for (const char c : text.substr(0, kMost)) out += c >= ' ' && c <= '~' ? c : '?';
  return out;
}

std::string_view to_string(FailureKind kind) {
  switch (kind) {
    case FailureKind::kValidation:
      return "validation";
    case FailureKind::kLimited:
      return "rate-limited";
    case FailureKind::kUnreachable:
      return "unreachable";
    case FailureKind::kRefused:
      return "refused";
    case FailureKind::kProtocol:
      return "protocol";
    case FailureKind::kConfiguration:
      break;
  }
  return "configuration";
}

FailureKind failure_kind_of(const CaReply& reply) {
  if (reply.status == 0) return FailureKind::kUnreachable;
  const Problem problem = problem_of(reply);
  if (problem.type == "rateLimited" || reply.status == 429 || reply.status == 503) return FailureKind::kLimited;
  return reply.status >= 400 ? FailureKind::kRefused : FailureKind::kProtocol;
}

Problem problem_of(const CaReply& reply) {
  if (reply.status < 400) return {};
  Problem problem = problem_in(parse_json(reply.body));
  if (problem.type.empty()) problem.type = "status " + std::to_string(reply.status);
  return problem;
}

Order::Order(OrderState state, Settings settings) : state_(std::move(state)), settings_(std::move(settings)) {
  if (!state_.url.empty()) step_ = Step::kLook;
}

bool Order::is_presenting() const { return step_ == Step::kPresent || step_ == Step::kAnswer || step_ == Step::kPoll; }

Action Order::next() const {
  using Kind = Action::Kind;
  if (wait_ > 0) return {.kind = Kind::kWait, .seconds = wait_};
  switch (step_) {
    case Step::kCreate: {
      std::string payload = R"({"identifiers":[{"type":"dns","value":)" + json_text(state_.host) + "}]";
      if (!settings_.replaces.empty()) payload += ",\"replaces\":" + json_text(settings_.replaces);
      return {.kind = Kind::kPost, .url = settings_.new_order, .payload = payload + "}"};
    }
    case Step::kLook:
    case Step::kProcess:
      return {.kind = Kind::kPost, .url = state_.url};
    case Step::kAuthorization:
    case Step::kPoll:
      return {.kind = Kind::kPost, .url = authorization_};
    case Step::kPresent:
      return {.kind = Kind::kPresent};
    case Step::kAnswer:
      return {.kind = Kind::kPost, .url = challenge_.url, .payload = "{}"};
    case Step::kFinalize: {
      const auto request = make_request(state_.key, state_.host);
      if (!request) return {};
      return {.kind = Kind::kPost, .url = finalize_, .payload = R"({"csr":")" + to_base64url(*request) + "\"}"};
    }
    case Step::kDownload:
      return {.kind = Kind::kPost, .url = certificate_};
    case Step::kAlternate:
      return {.kind = Kind::kPost, .url = alternates_.back()};
    case Step::kDone:
      return {.kind = Kind::kDone};
    case Step::kFailed:
      break;
  }
  return {};
}

void Order::presented() {
  if (step_ == Step::kPresent) step_ = Step::kAnswer;
}

void Order::waited() { wait_ = 0; }

/// A CA that is asked by https must not lead to plain text.
bool Order::usable(const std::string& url) const {
  constexpr std::size_t kMostUrl = 2048;
  const std::string_view scheme = state_.directory.starts_with("https:") ? "https://" : "http://";
  return url.size() <= kMostUrl && url.starts_with(scheme);
}

void Order::take(const CaReply& reply, std::int64_t now) {
  if (++requests_ > kMostRequests) return fail_text("the CA does not come to an end with the order");
  switch (step_) {
    case Step::kCreate:
      return created(reply, now);
    case Step::kLook:
    case Step::kProcess:
    case Step::kFinalize:
      return looked(reply);
    case Step::kAuthorization:
    case Step::kPoll:
      return authorization(reply);
    case Step::kAnswer:
      // One that whoever began it has asked for already is not asked for twice: the authorization says what became of
      // it.
      if (reply.status != 200 && problem_of(reply).type != "malformed") return fail(reply, "answering the challenge");
      step_ = Step::kPoll;
      wait_ = wait_of(reply);
      return;
    case Step::kDownload:
    case Step::kAlternate:
      return downloaded(reply, now);
    case Step::kPresent:
    case Step::kDone:
    case Step::kFailed:
      return;
  }
}

void Order::created(const CaReply& reply, std::int64_t now) {
  if (reply.status != 201) {
    // The certificate that it would replace is not the CA's, or was replaced already (RFC 9773 §5).
    if (!settings_.replaces.empty() && (reply.status == 400 || reply.status == 404 || reply.status == 409) &&
        problem_of(reply).type != "badNonce") {
      settings_.replaces.clear();
      return;
    }
    return fail(reply, "ordering");
  }
  if (!usable(reply.location)) return fail_text("the CA's answer to an order names no URL of it");
  state_.url = reply.location;
  state_.created = now;
  looked({.status = 200, .retry_after = reply.retry_after, .body = reply.body});
}

void Order::looked(const CaReply& reply) {
  if (reply.status != 200) {
    const Problem problem = problem_of(reply);
    if (step_ == Step::kFinalize && problem.type == "orderNotReady") {
      step_ = Step::kLook;
      wait_ = wait_of(reply);
      return;
    }
    // Forgotten by the CA, or of an account that was there before: once there is another.
    if (step_ == Step::kLook &&
        (reply.status == 404 || reply.status == 403 || problem.type == "unauthorized" || problem.type == "malformed") &&
        !std::exchange(created_anew_, true)) {
      state_.url.clear();
      step_ = Step::kCreate;
      return;
    }
    return fail(reply, step_ == Step::kFinalize ? "finalizing the order" : "looking at the order");
  }
  const json order = parse_json(reply.body);
  const std::string& status = text_in(order, "status");
  if (status == "pending") {
    const json& authorizations = list_in(order, "authorizations");
    const std::string url = authorizations.size() == 1 ? text_value(authorizations.front()) : std::string();
    if (!usable(url)) return fail_text("the CA's order has another number of authorizations than one");
    authorization_ = url;
    step_ = Step::kAuthorization;
  } else if (status == "ready") {
    if (step_ == Step::kFinalize) return fail_text("the CA has taken the request, and asks for it again");
    finalize_ = text_in(order, "finalize");
    if (!usable(finalize_)) return fail_text("the CA's order has no URL to finalize it");
    step_ = Step::kFinalize;
  } else if (status == "processing") {
    step_ = Step::kProcess;
    wait_ = wait_of(reply);
  } else if (status == "valid") {
    certificate_ = text_in(order, "certificate");
    if (!usable(certificate_)) return fail_text("the CA's order has no URL of the certificate");
    step_ = Step::kDownload;
  } else if (status == "invalid") {
    const Problem problem = problem_in(member_in(order, "error"));
    const bool old = step_ == Step::kLook && !created_anew_ && problem.type.empty();
    state_.url.clear();
    if (!old) return fail_text("the order is invalid: " + text_of(problem));
    created_anew_ = true;
    step_ = Step::kCreate;
  } else {
    fail_text("the CA's order has no status that is known");
  }
}

void Order::authorization(const CaReply& reply) {
  if (reply.status != 200) return fail(reply, "looking at the authorization");
  const json object = parse_json(reply.body);
  const std::string& status = text_in(object, "status");
  const std::string& name = text_in(member_in(object, "identifier"), "value");
  const std::string_view host = state_.host;
  const bool wildcard = host.starts_with("*.");
  if (name != (wildcard ? host.substr(2) : host)) return fail_text("the CA's authorization is for another name");
  if (status == "valid") {
    challenge_ = {};
    step_ = Step::kLook;
  } else if (status == "pending" || status == "processing") {
    if (step_ == Step::kPoll) {
      wait_ = wait_of(reply);
      return;
    }
    choose(reply.body);
  } else {
    std::string why = status;
    for (const json& challenge : list_in(object, "challenges")) {
      const Problem problem = problem_in(member_in(challenge, "error"));
      if (!problem.type.empty()) why = text_in(challenge, "type") + ", " + text_of(problem);
    }
    invalid("the name was not validated: " + printable(why));
  }
}

void Order::choose(std::string_view authorization) {
  const json object = parse_json(authorization);
  for (const ChallengeKind kind : settings_.challenges) {
    if (state_.failed.contains(kind)) continue;
    for (const json& offered : list_in(object, "challenges")) {
      if (text_in(offered, "type") != type_of(kind)) continue;
      Challenge challenge{kind, text_in(offered, "url"), text_in(offered, "token")};
      if (!usable(challenge.url) || !is_token(challenge.token)) continue;
      challenge_ = std::move(challenge);
      // One that was asked for by who began it goes on.
      step_ = Step::kPresent;
      return;
    }
  }
  fail_text("the CA offers no challenge that can be answered");
}

/// The next way to validate takes another order: the CA ends one with the first failure (RFC 8555 §7.1.6).
void Order::invalid(std::string text) {
  if (challenge_.url.empty()) {
    // Of an order of before that has come to its end meanwhile.
    state_.url.clear();
    if (!std::exchange(created_anew_, true)) {
      step_ = Step::kCreate;
      return;
    }
    return fail_text(std::move(text));
  }
  state_.failed.insert(challenge_.kind);
  state_.url.clear();
  challenge_ = {};
  const bool other =
      std::ranges::any_of(settings_.challenges, [this](ChallengeKind kind) { return !state_.failed.contains(kind); });
  if (!other) {
    fail_text(std::move(text));
    fault_.kind = FailureKind::kValidation;
    return;
  }
  step_ = Step::kCreate;
}

void Order::downloaded(const CaReply& reply, std::int64_t now) {
  constexpr std::int64_t kLeastLifetime = 60;
  if (reply.status != 200) {
    // Another chain is a wish; one that is there is there.
    if (step_ == Step::kAlternate) {
      alternates_.pop_back();
      if (alternates_.empty()) step_ = Step::kDone;
      return;
    }
    return fail(reply, "fetching the certificate");
  }
  const auto view = view_certificate(reply.body, state_.key);
  if (!view || !view->is_for(state_.host)) {
    if (step_ == Step::kDownload) {
      return fail_text(view ? "the CA's certificate is for other names" : "the CA's answer: " + view.error().text);
    }
    alternates_.pop_back();
  } else if (step_ == Step::kDownload) {
    // It would be replaced at once, and the next one likewise: of a CA that is amiss, or by a clock that is ahead.
    if (view->until < now + kLeastLifetime) return fail_text("the CA's certificate is over by this machine's clock");
    chain_ = reply.body;
    if (settings_.preferred_chain.empty() || view->top_issuer == settings_.preferred_chain) {
      step_ = Step::kDone;
      return;
    }
    constexpr std::size_t kMostAlternates = 8;
    for (const std::string& url : reply.alternates) {
      if (usable(url) && alternates_.size() < kMostAlternates) alternates_.push_back(url);
    }
  } else {
    alternates_.pop_back();
    if (view->top_issuer == settings_.preferred_chain) {
      chain_ = reply.body;
      alternates_.clear();
    }
  }
  step_ = alternates_.empty() ? Step::kDone : Step::kAlternate;
}

void Order::fail(const CaReply& reply, std::string_view doing) {
  const Problem problem = problem_of(reply);
  std::string text(doing);
  text += ": " + (!reply.fault.empty()   ? reply.fault
                  : problem.type.empty() ? "status " + std::to_string(reply.status)
                                         : text_of(problem));
  fail_text(std::move(text));
  fault_.kind = failure_kind_of(reply);
  fault_.retry_after = std::max<std::int64_t>(reply.retry_after, 0);
  fault_.account_gone = problem.type == "accountDoesNotExist";
}

void Order::fail_text(std::string text) {
  step_ = Step::kFailed;
  wait_ = 0;
  fault_ = {.text = std::move(text)};
}

}  // namespace edge::controller::acme

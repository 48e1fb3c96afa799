// A CA of RFC 8555 without a network, for tests of orders: with waits as a seed says, and with lies.
#pragma once

#include <cstdint>
#include <map>
#include <random>
#include <set>
#include <string>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/acme/order.h"
#include "controller/acme/test_issuer.h"

namespace edge::controller::acme {

class TestCa {
 public:
  enum class Lie : std::uint8_t {
    kNone,
    kOtherName,
    kOtherCertificate,
    kOtherKey,
    kPlainUrl,
    kNoUrl,
    kTwoAuthorizations,
    kNoStatus,
    kNoJson,
    kStrangeToken,
    kForEver
  };

  /// 0: everything is done at once.
  explicit TestCa(std::uint32_t seed = 0) : random_(seed), slow_(seed != 0) {}

  void lies(Lie lie) { lie_ = lie; }
  void fails_by(compiler::ChallengeKind kind) { failing_.insert(kind); }
  int orders() const { return orders_; }
  int requests() const { return requests_; }
  void present(const Challenge& challenge) { presented_.insert(challenge.token); }
  void pass_time(std::int64_t seconds) { now_ += seconds; }

  CaReply answer(const std::string& url, const std::string& payload) {
    ++requests_;
    CaReply reply{.status = 200};
    if (slow_ && random_() % 3 == 0) reply.retry_after = 1 + random_() % 3;
    if (lie_ == Lie::kNoJson && requests_ > 1) return {.status = 200, .body = "<html>"};
    if (url.ends_with("/new-order")) return make_order(payload);
    if (url.find("/order/") != std::string::npos) reply.body = order_text();
    if (url.find("/authz/") != std::string::npos) reply.body = authorization_text();
    if (url.find("/chall/") != std::string::npos) {
      asked_ = url.substr(url.rfind('/') + 1);
      valid_at_ = now_ + wait();
      reply.body = "{}";
    }
    if (url.find("/finalize/") != std::string::npos) {
      if (!validated()) return {.status = 403, .body = R"({"type":"urn:ietf:params:acme:error:orderNotReady"})"};
      request_ = from_base64url(text_in(parse_json(payload), "csr")).value_or("");
      issued_at_ = now_ + wait();
      reply.body = order_text();
    }
    if (url.find("/cert/") != std::string::npos) {
      const std::string name = lie_ == Lie::kOtherCertificate ? "other.test" : host_;
      reply.body = lie_ == Lie::kOtherKey ? issue_for_other_key(name) : issue(request_, name);
    }
    return reply;
  }

 private:
  using Json = nlohmann::json;
  std::int64_t wait() { return slow_ ? static_cast<std::int64_t>(random_() % 4) : 0; }
  std::string url(const std::string& path) const {
    return (lie_ == Lie::kPlainUrl ? "http://ca.test" : "https://ca.test") + path;
  }
  bool failed() const {
    return (asked_ == "http-01" && failing_.contains(compiler::ChallengeKind::kHttp01)) ||
           (asked_ == "tls-alpn-01" && failing_.contains(compiler::ChallengeKind::kTlsAlpn01)) ||
           (!asked_.empty() && !presented_.contains(token(asked_)));
  }
  bool validated() const { return !asked_.empty() && now_ >= valid_at_ && !failed() && lie_ != Lie::kForEver; }
  std::string token(const std::string& type) const { return "token-" + std::to_string(orders_) + "-" + type; }

  CaReply make_order(const std::string& payload) {
    host_ = text_in(list_in(parse_json(payload), "identifiers").front(), "value");
    ++orders_;
    asked_.clear();
    request_.clear();
    const std::string location = lie_ == Lie::kNoUrl ? "" : url("/order/" + std::to_string(orders_));
    return {.status = 201, .location = location, .body = order_text()};
  }

  std::string order_text() const {
    Json order = {{"finalize", url("/finalize/1")}, {"authorizations", {url("/authz/1")}}};
    if (lie_ == Lie::kTwoAuthorizations) order["authorizations"].push_back(url("/authz/2"));
    order["status"] = "pending";
    if (failed() && now_ >= valid_at_) order["status"] = "invalid";
    if (validated()) order["status"] = "ready";
    if (!request_.empty()) order["status"] = now_ >= issued_at_ ? "valid" : "processing";
    if (order["status"] == "valid") order["certificate"] = url("/cert/1");
    if (lie_ == Lie::kNoStatus) order.erase("status");
    return order.dump();
  }

  std::string authorization_text() const {
    Json authorization = {{"status", validated() ? "valid" : "pending"}, {"challenges", Json::array()}};
    if (failed() && now_ >= valid_at_) authorization["status"] = "invalid";
    const std::string name = host_.starts_with("*.") ? host_.substr(2) : host_;
    authorization["identifier"] = {{"type", "dns"}, {"value", lie_ == Lie::kOtherName ? "other.test" : name}};
    for (const char* const type : {"http-01", "tls-alpn-01", "dns-01"}) {
      Json challenge = {{"type", type}, {"url", url(std::string("/chall/") + type)}, {"token", token(type)}};
      if (lie_ == Lie::kStrangeToken) challenge["token"] = "../../admin";
      if (asked_ == type && failed()) {
        challenge["error"] = {{"type", "urn:ietf:params:acme:error:unauthorized"}, {"detail", "no such answer"}};
      }
      authorization["challenges"].push_back(challenge);
    }
    return authorization.dump();
  }

  std::mt19937 random_;
  bool slow_;
  Lie lie_ = Lie::kNone;
  std::set<compiler::ChallengeKind> failing_;
  std::set<std::string> presented_;
  std::string host_, asked_, request_;
  std::int64_t now_ = 0, valid_at_ = 0, issued_at_ = 0;
  int orders_ = 0;
  int requests_ = 0;
};

}  // namespace edge::controller::acme

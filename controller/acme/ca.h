// One account at one CA: directory, nonces, registration, signed requests (RFC 8555 §6, §7.1 to 7.3), and the CA's
// advice on renewal (RFC 9773). Everything is bounded: the time and size of an answer, the tries after a bad nonce.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "controller/acme/jose.h"
#include "controller/acme/order.h"
#include "net/client/http_client.h"

namespace edge::controller::acme {

struct CaOptions {
  std::string directory;
  std::string email{};
  std::string key_id{};   ///< of an external account; empty: none
  std::string mac_key{};  ///< bytes
  /// Who signs the certificate of the CA's server; null: the client's.
  std::shared_ptr<const net::tls::Authorities> authorities{};
};

/// When a CA advises to renew; seconds since 1970.
struct RenewalAdvice {
  std::int64_t from = 0;
  std::int64_t until = 0;
  std::int64_t ask_again = 0;  ///< seconds
};

/// For the thread of the client's loop. Several coroutines may use it at once, each with its waiter.
class Ca {
 public:
  Ca(net::Loop& loop, net::client::HttpClient& http, CaOptions options, AccountKey key);

  /// Reads the directory and registers the account, where that is not done already, or a day old. \returns an empty
  /// text, or why it could not be done; `reply` then has the CA's answer.
  net::Task<std::string> prepare(net::Waiter& waiter, CaReply& reply);
  bool is_prepared() const;
  /// After prepare().
  const std::string& new_order() const { return new_order_; }
  bool renews() const { return !renewal_info_.empty(); }
  const AccountKey& key() const { return key_; }
  /// Makes a signed request; after prepare().
  net::Task<CaReply> post(net::Waiter& waiter, std::string url, std::string payload);
  /// nullopt: it gives none now.
  net::Task<std::optional<RenewalAdvice>> advice(net::Waiter& waiter, std::string renewal_id);
  /// The CA may have moved, or not know the account any more: the next prepare() begins anew. Requests that are under
  /// way go on with what they have.
  void invalidate() { prepared_at_ = {}; }
  /// For the next prepare().
  void set_secrets(std::shared_ptr<const net::tls::Authorities> authorities, std::string mac_key);

 private:
  net::Task<CaReply> call(net::Waiter& waiter, std::string method, std::string url, std::string body);
  net::Task<CaReply> signed_post(net::Waiter& waiter, std::string url, std::string identity, std::string payload);
  net::Task<std::string> read_directory(net::Waiter& waiter, CaReply& reply);
  net::Task<std::string> enter(net::Waiter& waiter, CaReply& reply);
  net::Task<std::string> nonce(net::Waiter& waiter, CaReply& reply);
  Result<std::string> registration() const;

  net::Loop& loop_;
  net::client::HttpClient& http_;
  CaOptions options_;
  AccountKey key_;
  std::string new_nonce_, new_account_, new_order_, renewal_info_;
  std::string account_;  ///< URL; empty: not registered in this run
  std::deque<std::string> nonces_;
  net::Time prepared_at_{};
  bool preparing_ = false;
};

/// Parses an RFC 3339 time; 0 where it is none.
std::int64_t time_of(std::string_view text);

}  // namespace edge::controller::acme

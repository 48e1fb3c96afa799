// State of authentication that outlives programs: decisions of authorization services, keys of issuers, verified
// credentials. One per process; all are thread-safe, and keyed by identity and settings, so that they outlive other
// configuration changes.
#pragma once

#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "base/ip.h"
#include "base/result.h"
#include "net/client/resolver.h"
#include "net/client/url.h"
#include "net/tls/certificate.h"
#include "runtime/policy/auth/basic/basic_auth.h"
#include "runtime/policy/auth/basic/password_pool.h"
#include "runtime/policy/auth/forward/forward_auth_cache.h"
#include "runtime/policy/auth/jwt/jwks_store.h"
#include "runtime/policy/auth/jwt/token_cache.h"
#include "runtime/policy/auth/oidc/login_faults.h"
#include "runtime/policy/auth/oidc/oidc_store.h"

namespace edge::runtime::auth {

/// The CAs trusted for calls over https: the system's, and those of a file where one is given. Loaded when the first
/// policy needs it: it takes some milliseconds, and megabytes.
class Trust {
 public:
  /// `pem`: further CAs; empty: none.
  explicit Trust(std::string pem) : pem_(std::move(pem)) {}
  /// Null where none can be loaded. Not for an event loop's thread.
  std::shared_ptr<const net::tls::Authorities> authorities();

 private:
  const std::string pem_;
  std::mutex mutex_;
  bool read_ = false;
  std::shared_ptr<const net::tls::Authorities> authorities_;
};

struct Stores {
  /// `log`: for messages to the operator. `denied_calls`: addresses that policies may not call.
  explicit Stores(const std::string& trusted_pem = {}, Logger log = {}, std::vector<Cidr> denied_calls = {},
                  net::client::NameQueryOptions queries = {})
      : denied(denied_calls.empty() ? nullptr : std::make_shared<const std::vector<Cidr>>(std::move(denied_calls))),
        resolver({.queries = std::move(queries)}),
        trust(trusted_pem),
        login_faults(std::move(log)) {}

  /// Fails where the host of a URL is a denied address. Names are checked when they are called.
  Status may_call(const net::client::Url& url) const;

  /// Null: none.
  const std::shared_ptr<const std::vector<Cidr>> denied;
  net::client::Resolver resolver;
  Trust trust;
  ForwardAuthCache forward_auth;
  OidcStore oidc;
  LoginFaults login_faults;
  JwksStore jwks{resolver, {}, denied};
  TokenCache tokens;
  CredentialCache credentials;
  PasswordPool passwords;
};

}  // namespace edge::runtime::auth

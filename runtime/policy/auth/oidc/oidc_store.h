// State of OIDC policies in the memory of a process. Logins and sessions that another agent began work without it: it
// saves requests to the provider.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "net/task.h"
#include "runtime/policy/auth/auth_context.h"
#include "runtime/policy/auth/jwt/jwks_store.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/auth/oidc/oidc_discovery.h"
#include "runtime/policy/auth/oidc/oidc_session.h"
#include "runtime/policy/auth/wait_list.h"

namespace edge::runtime::auth {

/// A provider and its signing keys.
struct ProviderNow {
  /// Null: not known, and cannot be fetched now.
  std::shared_ptr<const OidcProvider> provider;
  std::shared_ptr<const JwksSource> keys;
  explicit operator bool() const { return provider != nullptr; }
};

/// One provider. Its metadata is fetched when first needed, once at a time for all waiting requests; it is valid for an
/// hour, and stays in use while the provider cannot be reached. Threads: any.
class ProviderSource {
 public:
  static constexpr std::int64_t kFreshFor = 3600;
  /// Seconds between two requests to a provider that does not respond.
  static constexpr std::int64_t kRestAfterFault = 5;

  /// `trusted`: the CAs trusted for https.
  ProviderSource(std::string issuer, std::shared_ptr<const net::tls::Authorities> trusted)
      : issuer_(std::move(issuer)), trusted_(std::move(trusted)) {}

  /// Returns the provider, at once where it is known. This object must outlive the task.
  net::Task<ProviderNow> find(AuthContext context);
  const std::shared_ptr<const net::tls::Authorities>& trusted() const { return trusted_; }

 private:
  net::Task<ProviderNow> ask(AuthContext context);
  net::Task<ProviderNow> wait(AuthContext context);

  const std::string issuer_;
  const std::shared_ptr<const net::tls::Authorities> trusted_;
  std::mutex mutex_;
  ProviderNow now_;
  std::int64_t ask_again_ = 0;
  bool asking_ = false;
  WaitList waiting_{4096};
};

/// Providers by issuer, while a policy owns them: they outlive other configuration changes. Threads: any.
class OidcProviders {
 public:
  /// Returns the provider of an issuer; a new one when the trusted CAs have changed.
  std::shared_ptr<ProviderSource> source(const std::string& issuer,
                                         std::shared_ptr<const net::tls::Authorities> trusted);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<ProviderSource>> all_;
};

/// A refreshed session.
struct RefreshedSession {
  std::string text;  ///< of its cookies; empty: the provider has refused
  OidcIdentity identity;
};

/// Refreshes in progress, and for a short time their results: a page makes many requests at once, each with the same
/// cookie, and a refresh token can be used only once (RFC 9700 §4.14.2). Threads: any.
class OidcRefreshes {
 public:
  /// Seconds for requests that were sent before the new cookie arrived.
  static constexpr std::int64_t kKeepFor = 30;
  /// Seconds between two attempts with a token that was refused.
  static constexpr std::int64_t kRestAfterRefusal = 5;
  static constexpr std::size_t kMax = 10'000;

  class Flight {
   public:
    /// Null while in progress.
    std::shared_ptr<const RefreshedSession> result() const;

   private:
    friend class OidcRefreshes;
    mutable std::mutex mutex_;
    std::shared_ptr<const RefreshedSession> result_;
    std::int64_t ends_ = 0;
    WaitList waiting_{4096};
  };
  struct Joined {
    std::shared_ptr<Flight> flight;
    /// This request must refresh the session, and end the flight in all cases.
    bool leads = false;
  };

  OidcRefreshes() = default;
  OidcRefreshes(const OidcRefreshes&) = delete;
  OidcRefreshes& operator=(const OidcRefreshes&) = delete;

  Joined join(const Digest& id, std::int64_t unix_now);
  static void end(const Joined& joined, RefreshedSession result, std::int64_t unix_now);
  /// Waits until the flight has ended, or `until`.
  static net::Task<void> wait(std::shared_ptr<Flight> flight, AuthContext context, net::Time until);

 private:
  void forget_old(std::int64_t unix_now);

  std::mutex mutex_;
  std::map<Digest, std::shared_ptr<Flight>> flights_;
  std::int64_t forget_at_ = 0;
};

/// Sessions that were logged out before their expiry: copies of their cookies could still be decrypted. For this
/// process only. Threads: any; without logouts a check costs one load.
class EndedSessions {
 public:
  static constexpr std::size_t kMax = 100'000;

  bool none() const { return count_.load(std::memory_order_acquire) == 0; }
  /// Adds a session. `until`: when it would have expired. When full, those with the least time left are removed.
  void end(const Digest& session, std::int64_t until, std::int64_t unix_now);
  bool contains(const Digest& session) const;

 private:
  void forget_first();

  mutable std::shared_mutex mutex_;
  std::unordered_map<Digest, std::int64_t, DigestHash> until_;
  std::set<std::pair<std::int64_t, Digest>> by_end_;
  std::atomic<std::size_t> count_{0};
};

/// OIDC's part of Stores.
struct OidcStore {
  OidcProviders providers;
  OidcRefreshes refreshes;
  EndedSessions ended;
  DigestKey digests;
};

}  // namespace edge::runtime::auth

// What OIDC policies keep in the memory of a process. None of it is needed to go on with a login or a session that
// another agent began: it saves questions to the provider.
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

/// A provider and the keys that it signs with.
struct ProviderNow {
  /// Null: it is not known and cannot be asked now.
  std::shared_ptr<const OidcProvider> provider;
  std::shared_ptr<const JwksSource> keys;
  explicit operator bool() const { return provider != nullptr; }
};

/// One provider. Its document is asked for when it is first needed, by one request at a time whoever waits; it is good
/// for an hour, and goes on being used while the provider cannot be asked. From any thread.
class ProviderSource {
 public:
  static constexpr std::int64_t kFreshFor = 3600;
  /// Between two questions to a provider that does not answer.
  static constexpr std::int64_t kRestAfterFault = 5;

  /// `trusted`: whom to believe over https.
  ProviderSource(std::string issuer, std::shared_ptr<const net::tls::Authorities> trusted)
      : issuer_(std::move(issuer)), trusted_(std::move(trusted)) {}

  /// At once where it is known. Must outlive the task.
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

/// Providers by issuer, for as long as a policy holds them: they outlive a change of anything else. From any thread.
class OidcProviders {
 public:
  /// Another one than before, that knows nothing yet, when others are believed than before.
  std::shared_ptr<ProviderSource> source(const std::string& issuer,
                                         std::shared_ptr<const net::tls::Authorities> trusted);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<ProviderSource>> all_;
};

/// A session as a refresh left it.
struct RefreshedSession {
  std::string text;  ///< of its cookies; empty: the provider has refused
  OidcIdentity identity;
};

/// Refreshes under way, and for a short time their results: a page asks for many things at once, each with the same
/// cookie, and a refresh token is good for one use only (RFC 9700 §4.14.2). From any thread.
class OidcRefreshes {
 public:
  /// For requests that were sent before the new cookie came.
  static constexpr std::int64_t kKeepFor = 30;
  /// Between two questions about a token that was refused.
  static constexpr std::int64_t kRestAfterRefusal = 5;
  static constexpr std::size_t kMax = 10'000;

  class Flight {
   public:
    /// Null as long as it is under way.
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
    /// Has to refresh, and to end the flight whatever comes of it.
    bool leads = false;
  };

  OidcRefreshes() = default;
  OidcRefreshes(const OidcRefreshes&) = delete;
  OidcRefreshes& operator=(const OidcRefreshes&) = delete;

  Joined join(const Digest& id, std::int64_t unix_now);
  static void end(const Joined& joined, RefreshedSession result, std::int64_t unix_now);
  /// Until it has ended, or `until`.
  static net::Task<void> wait(std::shared_ptr<Flight> flight, AuthContext context, net::Time until);

 private:
  void forget_old(std::int64_t unix_now);

  std::mutex mutex_;
  std::map<Digest, std::shared_ptr<Flight>> flights_;
  std::int64_t forget_at_ = 0;
};

/// Sessions that were ended before their time, until it comes: their cookies open as before wherever they went. Of this
/// process alone. From any thread; while nobody logs out, asking costs one load.
class EndedSessions {
 public:
  static constexpr std::size_t kMax = 100'000;

  bool none() const { return count_.load(std::memory_order_acquire) == 0; }
  /// `until`: when the session would have ended. Without room those go first that have least time left.
  void end(const Digest& session, std::int64_t until, std::int64_t unix_now);
  bool contains(const Digest& session) const;

 private:
  void forget_first();

  mutable std::shared_mutex mutex_;
  std::unordered_map<Digest, std::int64_t, DigestHash> until_;
  std::set<std::pair<std::int64_t, Digest>> by_end_;
  std::atomic<std::size_t> count_{0};
};

/// The part of Stores that is OIDC's.
struct OidcStore {
  OidcProviders providers;
  OidcRefreshes refreshes;
  EndedSessions ended;
  DigestKey digests;
};

}  // namespace edge::runtime::auth

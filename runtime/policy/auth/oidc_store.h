// What OIDC policies keep in the memory of a process. None of it is needed to go on with a login or a session that
// another agent began: it saves questions to the provider.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>

#include "net/task.h"
#include "runtime/policy/auth/jwks_store.h"
#include "runtime/policy/auth/keyed_digest.h"
#include "runtime/policy/auth/oidc_discovery.h"
#include "runtime/policy/auth/oidc_session.h"
#include "runtime/policy/auth/place.h"
#include "runtime/policy/auth/wait_list.h"

namespace edge::runtime::auth {

/// A provider and the keys that it signs with.
struct ProviderNow {
  /// Null: it is not known and cannot be asked now.
  std::shared_ptr<const OidcProvider> provider;
  std::shared_ptr<const JwksSource> keys;
  explicit operator bool() const { return provider != nullptr; }
};

/// Providers by issuer. A document is asked for when it is first needed, by one request at a time whoever waits; it is
/// good for an hour, and goes on being used while its provider cannot be asked. From any thread.
class OidcProviders {
 public:
  static constexpr std::int64_t kFreshFor = 3600;
  /// Between two questions to a provider that does not answer.
  static constexpr std::int64_t kRestAfterFault = 5;
  static constexpr std::size_t kMax = 1024;

  OidcProviders() = default;
  OidcProviders(const OidcProviders&) = delete;
  OidcProviders& operator=(const OidcProviders&) = delete;

  using Trusted = std::shared_ptr<const net::tls::Authorities>;

  /// At once where it is known. `trusted`: whom to believe over https.
  net::Task<ProviderNow> find(const std::string& issuer, const Trusted& trusted, Place place);

 private:
  struct Known {
    std::mutex mutex;
    ProviderNow now;
    std::int64_t ask_again = 0;
    bool asking = false;
    WaitList waiting{4096};
  };
  std::shared_ptr<Known> known(const std::string& issuer);
  static net::Task<ProviderNow> ask(std::shared_ptr<Known> known, std::string issuer, Trusted trusted, Place place);
  static net::Task<ProviderNow> wait(std::shared_ptr<Known> known, Place place);

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Known>> all_;
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
  void end(const Digest& id, const Joined& joined, RefreshedSession result, std::int64_t unix_now);
  /// Until it has ended, or `until`.
  static net::Task<void> wait(std::shared_ptr<Flight> flight, Place place, net::Time until);

 private:
  void forget_old(std::int64_t unix_now);

  std::mutex mutex_;
  std::map<Digest, std::shared_ptr<Flight>> flights_;
  std::int64_t forget_at_ = 0;
};

/// The part of Stores that is OIDC's.
struct OidcStore {
  OidcProviders providers;
  OidcRefreshes refreshes;
  DigestKey digests;
};

}  // namespace edge::runtime::auth

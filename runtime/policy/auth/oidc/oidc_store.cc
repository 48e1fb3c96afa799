#include "runtime/policy/auth/oidc/oidc_store.h"

#include <utility>

#include "runtime/policy/auth/call.h"
#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

constexpr net::Duration kFetchTime = std::chrono::seconds(5);
constexpr std::size_t kMaxDocument = std::size_t{64} << 10;

}  // namespace

net::Task<ProviderNow> ProviderSource::find(AuthContext context) {
  bool leads = false;
  {
    const std::lock_guard lock(mutex_);
    // While it is asked for anew, one that has grown old is better than a wait.
    if (context.unix_now < ask_again_ || (asking_ && now_)) return now_;
    leads = !std::exchange(asking_, true);
  }
  return leads ? ask(context) : wait(context);
}

net::Task<ProviderNow> ProviderSource::ask(AuthContext context) {
  const Result<net::client::Url> url = discovery_url(issuer_);
  ProviderNow now;
  if (url.ok()) {
    const net::client::Answer answer = co_await call(context, "call discovery", Callee::kIdentityProvider,
                                                     {.url = *url,
                                                      .fields = "Accept: application/json\r\n",
                                                      .until = context.loop.now() + kFetchTime,
                                                      .max_body = kMaxDocument,
                                                      .authorities = trusted_});
    if (answer.ok() && answer.status == 200) {
      Result<OidcProvider> read = read_discovery(answer.body, issuer_);
      if (read.ok()) {
        now.keys = context.stores.jwks.source(read->jwks_uri, trusted_);
        now.provider = std::make_shared<const OidcProvider>(std::move(*read));
      }
    }
  }
  {
    const std::lock_guard lock(mutex_);
    asking_ = false;
    ask_again_ = context.unix_now + (now ? kFreshFor : kRestAfterFault);
    if (now) now_ = now;
    now = now_;
  }
  waiting_.wake_all();
  co_return now;
}

net::Task<ProviderNow> ProviderSource::wait(AuthContext context) {
  const auto entry = waiting_.enter(context.loop, context.waiter);
  bool asking = false;
  {
    const std::lock_guard lock(mutex_);
    asking = asking_;
  }
  if (entry != nullptr && asking) {
    co_await context.waiter.wait(context.loop.now() + kFetchTime);
  }
  if (entry != nullptr) waiting_.leave(entry);
  const std::lock_guard lock(mutex_);
  co_return now_;
}

std::shared_ptr<ProviderSource> OidcProviders::source(const std::string& issuer,
                                                      std::shared_ptr<const net::tls::Authorities> trusted) {
  const std::lock_guard lock(mutex_);
  std::erase_if(all_, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<ProviderSource>& known = all_[issuer];
  std::shared_ptr<ProviderSource> source = known.lock();
  // Others are believed now: what the old ones vouched for is asked for anew, and so are the keys.
  if (source != nullptr && source->trusted() == trusted) return source;
  known = source = std::make_shared<ProviderSource>(issuer, std::move(trusted));
  return source;
}

std::shared_ptr<const RefreshedSession> OidcRefreshes::Flight::result() const {
  const std::lock_guard lock(mutex_);
  return result_;
}

OidcRefreshes::Joined OidcRefreshes::join(const Digest& id, std::int64_t unix_now) {
  const std::lock_guard lock(mutex_);
  forget_old(unix_now);
  const auto known = flights_.find(id);
  if (known != flights_.end()) {
    const std::lock_guard flight_lock(known->second->mutex_);
    if (known->second->result_ == nullptr || unix_now < known->second->ends_) return {known->second, false};
  }
  Joined joined{std::make_shared<Flight>(), true};
  // Without room it is refreshed all the same, and nobody hears of it.
  if (flights_.size() < kMax || known != flights_.end()) flights_[id] = joined.flight;
  return joined;
}

void OidcRefreshes::end(const Joined& joined, RefreshedSession result, std::int64_t unix_now) {
  {
    const std::lock_guard lock(joined.flight->mutex_);
    joined.flight->ends_ = unix_now + (result.text.empty() ? kRestAfterRefusal : kKeepFor);
    joined.flight->result_ = std::make_shared<const RefreshedSession>(std::move(result));
  }
  joined.flight->waiting_.wake_all();
}

net::Task<void> OidcRefreshes::wait(std::shared_ptr<Flight> flight, AuthContext context, net::Time until) {
  const auto entry = flight->waiting_.enter(context.loop, context.waiter);
  if (entry == nullptr) co_return;
  if (flight->result() == nullptr) {
    co_await context.waiter.wait(until);
  }
  flight->waiting_.leave(entry);
}

void OidcRefreshes::forget_old(std::int64_t unix_now) {
  if (unix_now < forget_at_ && flights_.size() < kMax) return;
  forget_at_ = unix_now + kKeepFor;
  std::erase_if(flights_, [&](const auto& entry) {
    const std::lock_guard lock(entry.second->mutex_);
    return entry.second->result_ != nullptr && unix_now >= entry.second->ends_;
  });
}

void EndedSessions::end(const Digest& session, std::int64_t until, std::int64_t unix_now) {
  if (until <= unix_now) return;
  const std::lock_guard lock(mutex_);
  while (!by_end_.empty() && by_end_.begin()->first <= unix_now) forget_first();
  if (!until_.emplace(session, until).second) return;
  by_end_.emplace(until, session);
  if (until_.size() > kMax) forget_first();
  count_.store(until_.size(), std::memory_order_release);
}

bool EndedSessions::contains(const Digest& session) const {
  const std::shared_lock lock(mutex_);
  return until_.contains(session);
}

void EndedSessions::forget_first() {
  const auto first = by_end_.begin();
  until_.erase(first->second);
  by_end_.erase(first);
  count_.store(until_.size(), std::memory_order_release);
}

}  // namespace edge::runtime::auth

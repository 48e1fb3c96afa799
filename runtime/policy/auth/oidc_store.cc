#include "runtime/policy/auth/oidc_store.h"

#include <utility>

#include "runtime/policy/auth/stores.h"

namespace edge::runtime::auth {
namespace {

constexpr net::Duration kCallTime = std::chrono::seconds(5);
constexpr std::size_t kMaxDocument = std::size_t{64} << 10;

}  // namespace

std::shared_ptr<OidcProviders::Known> OidcProviders::known(const std::string& issuer) {
  const std::lock_guard lock(mutex_);
  // Issuers come from configurations, a few at a time; those of past ones go when there are too many.
  if (all_.size() >= kMax && !all_.contains(issuer)) all_.erase(all_.begin());
  std::shared_ptr<Known>& place = all_[issuer];
  if (place == nullptr) place = std::make_shared<Known>();
  return place;
}

net::Task<ProviderNow> OidcProviders::find(const std::string& issuer, const Trusted& trusted, Place place) {
  std::shared_ptr<Known> found = known(issuer);
  bool leads = false;
  {
    const std::lock_guard lock(found->mutex);
    // While it is asked for anew, one that has grown old is better than a wait.
    if (place.unix_now < found->ask_again || (found->asking && found->now)) return found->now;
    leads = !std::exchange(found->asking, true);
  }
  return leads ? ask(std::move(found), issuer, trusted, place) : wait(std::move(found), place);
}

net::Task<ProviderNow> OidcProviders::ask(std::shared_ptr<Known> known, std::string issuer, Trusted trusted,
                                          Place place) {
  const Result<net::client::Url> url = discovery_url(issuer);
  ProviderNow now;
  if (url.ok()) {
    const net::client::Answer answer =
        co_await place.client.call(place.waiter, {.url = *url,
                                                  .fields = "Accept: application/json\r\n",
                                                  .until = place.loop.now() + kCallTime,
                                                  .max_body = kMaxDocument,
                                                  .authorities = trusted});
    if (answer.ok() && answer.status == 200) {
      Result<OidcProvider> read = read_discovery(answer.body, issuer);
      if (read.ok()) {
        now.keys = place.stores.jwks.source(read->jwks_uri, trusted);
        now.provider = std::make_shared<const OidcProvider>(std::move(*read));
      }
    }
  }
  {
    const std::lock_guard lock(known->mutex);
    known->asking = false;
    known->ask_again = place.unix_now + (now ? kFreshFor : kRestAfterFault);
    if (now) known->now = now;
    now = known->now;
  }
  known->waiting.wake_all();
  co_return now;
}

net::Task<ProviderNow> OidcProviders::wait(std::shared_ptr<Known> known, Place place) {
  const auto entry = known->waiting.enter(place.loop, place.waiter);
  bool asking = false;
  {
    const std::lock_guard lock(known->mutex);
    asking = known->asking;
  }
  if (entry != nullptr && asking) {
    co_await place.waiter.wait(place.loop.now() + kCallTime);
  }
  if (entry != nullptr) known->waiting.leave(entry);
  const std::lock_guard lock(known->mutex);
  co_return known->now;
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

void OidcRefreshes::end(const Digest& id, const Joined& joined, RefreshedSession result, std::int64_t unix_now) {
  const bool refused = result.text.empty();
  {
    const std::lock_guard lock(joined.flight->mutex_);
    joined.flight->result_ = std::make_shared<const RefreshedSession>(std::move(result));
    joined.flight->ends_ = unix_now + kKeepFor;
  }
  if (refused) {
    // Those who wait hear it; the next one may try again.
    const std::lock_guard lock(mutex_);
    const auto known = flights_.find(id);
    if (known != flights_.end() && known->second == joined.flight) flights_.erase(known);
  }
  joined.flight->waiting_.wake_all();
}

net::Task<void> OidcRefreshes::wait(std::shared_ptr<Flight> flight, Place place, net::Time until) {
  const auto entry = flight->waiting_.enter(place.loop, place.waiter);
  if (entry == nullptr) co_return;
  if (flight->result() == nullptr) {
    co_await place.waiter.wait(until);
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

}  // namespace edge::runtime::auth

// The key sets of issuers, one store per process: fetched ahead of time on a thread of its own, kept across programs,
// read by all workers.
//
// One task per URL fetches, waits until the keys nearly expire, and fetches again. So a URL is fetched once at a time,
// and requests wait only before the first response, or for a new key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/client/resolver.h"
#include "net/client/url.h"
#include "net/loop.h"
#include "net/task.h"
#include "net/tls/client.h"
#include "runtime/observe/trace/tracer.h"
#include "runtime/policy/auth/jwt/jwk.h"
#include "runtime/policy/auth/jwt/jwks_schedule.h"
#include "runtime/policy/auth/wait_list.h"

namespace edge::runtime::auth {

struct KeysNow {
  /// Null: none could be fetched so far, or the last valid ones are too old.
  std::shared_ptr<const KeySet> keys;
  /// A hash of the document: it changes whenever the keys change, including when one is removed.
  std::uint64_t generation = 0;
};

/// The keys of one URL. Refreshed while anybody owns the object. Threads: any.
class JwksSource {
 public:
  ~JwksSource();
  JwksSource(const JwksSource&) = delete;
  JwksSource& operator=(const JwksSource&) = delete;

  KeysNow keys(net::Time now) const;
  /// Waits for the fetch in progress, or starts one, because there are no keys or a token names an unknown one. Returns
  /// at once, without a fetch, where the last one was recent. Waits five seconds at most. The wait is a span of the
  /// request's trace, whose context is propagated by a fetch that is started for it.
  net::Task<KeysNow> renewed(net::Loop& loop, net::Waiter& waiter, trace::StepCalls calls = {}) const;
  /// Returns why there are no keys, or no newer ones; empty: no error.
  std::string fault() const;
  /// The number of fetches so far.
  std::uint64_t fetches() const;

 private:
  friend class JwksStore;
  struct State;
  class Fetcher;
  JwksSource(std::shared_ptr<Fetcher> fetcher, std::shared_ptr<State> state);
  net::Task<KeysNow> wait(std::shared_ptr<WaitList::Entry> entry, net::Loop& loop, net::Waiter& waiter,
                          trace::StepCalls calls, trace::Step step) const;

  std::shared_ptr<Fetcher> fetcher_;
  std::shared_ptr<State> state_;
};

class JwksStore {
 public:
  /// The thread starts with the first source. `denied`: addresses that fetches may not go to.
  explicit JwksStore(net::client::Resolver& resolver, const JwksPace& pace = {},
                     std::shared_ptr<const std::vector<Cidr>> denied = nullptr);
  /// Cancels all fetches. Sources that are still owned keep their keys.
  ~JwksStore();
  JwksStore(const JwksStore&) = delete;
  JwksStore& operator=(const JwksStore&) = delete;

  /// Returns the existing source, or a new one, which is fetched at once. `authorities`: the CAs trusted for https.
  std::shared_ptr<const JwksSource> source(const net::client::Url& url,
                                           std::shared_ptr<const net::tls::Authorities> authorities);

 private:
  struct Shelf;
  net::client::Resolver& resolver_;
  const JwksPace pace_;
  const std::shared_ptr<const std::vector<Cidr>> denied_;
  std::unique_ptr<Shelf> shelf_;
};

}  // namespace edge::runtime::auth

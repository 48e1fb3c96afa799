// The keys of issuers, of the process: fetched ahead on a thread of their own, kept through swaps of programs, read by
// every worker.
//
// One task tends each address: it fetches, waits until the keys are nearly over, fetches again. So there is one fetch
// of an address at a time, whoever asks, and requests wait only before the first answer, or for a key that is new.
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
  /// Null: none could be had so far, or the last good ones are too old.
  std::shared_ptr<const KeySet> keys;
  /// A hash of the document: another one whenever the keys are others, so also when one is gone.
  std::uint64_t generation = 0;
};

/// The keys of one address. Fetched for as long as somebody holds it. From any thread.
class JwksSource {
 public:
  ~JwksSource();
  JwksSource(const JwksSource&) = delete;
  JwksSource& operator=(const JwksSource&) = delete;

  KeysNow keys(net::Time now) const;
  /// Waits for the fetch that is under way, or has one made: for want of any keys, or of one that a token names. At
  /// once, and without a fetch, where the last one was a short while ago. At most five seconds. The wait is a span of
  /// the request's, and a fetch that is made for it is told so; one that was under way is not.
  net::Task<KeysNow> renewed(net::Loop& loop, net::Waiter& waiter, trace::StepCalls calls = {}) const;
  /// Why there are no keys, or no newer ones; empty: all is well.
  std::string fault() const;
  /// Fetches so far.
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
  /// The thread starts with the first source.
  /// `denied`: where no fetch goes.
  explicit JwksStore(net::client::Resolver& resolver, const JwksPace& pace = {},
                     std::shared_ptr<const std::vector<Cidr>> denied = nullptr);
  /// Ends every fetch. Sources that somebody still holds say what they know.
  ~JwksStore();
  JwksStore(const JwksStore&) = delete;
  JwksStore& operator=(const JwksStore&) = delete;

  /// The one that others hold, or a new one, which is fetched at once. `authorities`: whom to believe over https.
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

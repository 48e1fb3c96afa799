// The cache's part of one exchange: the stored response for its request, what to request from the upstream, and what to
// do with the response. The session calls `look_up` and acts on its result:
//
//   look_up -> kReuse:   send `entry`, and start `refresh` if there is one
//           -> kFetch:   `fetch` -> kWait: another request fetches the same; wait a bounded time, look up again
//                                -> kForward, or kReuse after all: from the store, or from the response that
//                                   another request is fetching
//           -> kForward: send `upstream_head`, pass the response to `head`, `body` and `end`, then call `forwarded`
//           -> kRefuse:  `only-if-cached`, and nothing is stored: 504
//
// Lookups use the request as the upstream gets it, after filters: it has everything that may change the response.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "net/http1/parse.h"
#include "runtime/shape/body_source.h"
#include "runtime/shape/cache/answer.h"
#include "runtime/shape/cache/cache.h"
#include "runtime/shape/cache/counts.h"

namespace edge::runtime::cache {

/// Objects of the thread that its transactions use.
struct CacheContext {
  net::http1::RequestHead& request;  ///< scratch; overwritten
  Counts& counts;
  const net::http1::HeadLimits& limits;
};

/// Wall-clock time.
struct Now {
  Seconds seconds = 0;
  std::string_view date;  ///< the same as IMF-fixdate
};

class Transaction {
 public:
  enum class Plan : std::uint8_t { kReuse, kFetch, kWait, kForward, kRefuse };

  /// `identified`: a policy has authenticated the user (RFC 9111 §3.5 then applies as with Authorization). `clock` is
  /// called whenever a message arrives.
  Transaction(std::shared_ptr<Cache> cache, const TtlLimits& limits, const CacheContext& context,
              std::function<Now()> clock, Key key, bool identified);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// Looks up the request. `head`: the request as it would be forwarded; its bytes must stay valid until `keep`.
  Plan look_up(std::string_view head);
  /// Looks up again, after a wait.
  Plan look_up() { return look_up(head_); }
  /// Called after kFetch. `wake` is called from any thread when the wait has ended; without it the request does not
  /// wait.
  Plan fetch(const std::function<void()>& wake);
  /// Copies the head. To be called before every wait.
  void keep();
  /// Returns a transaction without a client that revalidates what `look_up` found stale. Null if another request
  /// already does.
  std::unique_ptr<Transaction> refresh();

  /// Returns the head to send: as it was given, or with conditions that revalidate the stored response. Valid until the
  /// next lookup.
  std::string_view upstream_head() const { return conditional_.empty() ? std::string_view(head_) : conditional_; }

  /// Forbids other requests to read the response as it arrives, because it may yet be discarded.
  void keep_to_itself() { may_share_ = false; }
  /// Drops the conditions, for which there is no room: the full response is requested.
  void forget_conditions();

  // Called for the upstream's response on its way to the client.

  enum class Take : std::uint8_t {
    kPass,     ///< the cache does not need it
    kCopy,     ///< `body` and `end` are to be called while the response goes to the client
    kSwallow,  ///< not for the client: a stored response answers it when this one has ended
  };
  /// Takes a validated final response head; `text` is the head as received. Nothing of it has been sent.
  Take head(const net::http1::ResponseHead& response, std::string_view text);
  /// Takes a piece of the body, without framing.
  void body(std::string_view data);
  /// Returns whether the body is still taken. False once it has become too large, which only `body` finds out.
  bool stores() const { return incoming_ != nullptr; }
  /// Marks the body complete. Not called for a response that ended early.
  void end();
  /// Returns Cache-Status (RFC 9211) as a line for the head that goes to the client. Valid until the next call.
  std::string_view fields();
  /// Sets the callback for the first other request that reads the response as it is stored; called from any thread,
  /// perhaps late.
  void tell_of_readers(std::function<void()> wake) {
    if (fill_ != nullptr) fill_->tell_of_readers(std::move(wake));
  }
  /// Returns whether other requests read the response as it arrives: it is then received at full speed, not at this
  /// client's pace. `kept`: bytes buffered for this client; false where there is no memory for them.
  bool shared(std::size_t kept);
  /// Called when the client has gone. True: other requests read the response, and the rest is to be received for them;
  /// else none can begin to.
  bool outlives_client() { return incoming_ != nullptr && fill_ != nullptr && fill_->withdraw(); }
  /// Called when the exchange with the upstream is over. kForward: forward once more, because a 304 referred to another
  /// response than the stored one. `failed`: no response came, and none was sent to the client.
  enum class Next : std::uint8_t { kDone, kReuse, kForward };
  Next forwarded(bool failed);

  /// Returns the stored response to answer with.
  std::shared_ptr<const Entry> entry() const { return found_; }
  AnswerBody write_head(net::http1::HeadWriter& out);
  /// Returns whether the missing byte at `at` of the entry's body has arrived or will: see BodySource.
  BodySource::More await(std::uint64_t at, const std::function<void()>& wake);
  /// Returns the value of Cache-Status, final once the answer begins.
  std::string status() const;

 private:
  /// Why the request was forwarded (RFC 9211 §2.2).
  enum class Forwarded : std::uint8_t { kNot, kBypass, kMethod, kUriMiss, kVaryMiss, kRequest, kStale };

  Transaction(const Transaction& stale, std::shared_ptr<Fill> fill);

  Request request();
  bool parse();
  CacheRequest cache_request(const Request& request) const { return {key_, request, limits_, times_}; }
  std::string fill_id(const Request& request, const Entry* sibling) const;
  void make_conditional();
  void renew(const net::http1::ResponseHead& response, const Request& request);
  void outdated(const Request& request);
  bool deliverable(const Entry& entry) const;
  Take validated(const net::http1::ResponseHead& response, const Request& request);
  Take fill(const net::http1::ResponseHead& response, const Request& request);
  void invalidate(const net::http1::ResponseHead& response);
  void collapse();
  bool reads(const Fills::Joined& fill, const Request& request);
  bool begin_filling(const net::http1::ResponseHead& response);
  void abandon();
  void release_fill();

  std::shared_ptr<Cache> cache_;
  TtlLimits limits_;
  CacheContext context_;
  std::function<Now()> clock_;
  Key key_;
  std::string_view head_;
  std::string kept_;
  std::string conditional_;
  std::string fields_;
  bool identified_;
  bool parsed_ = false;       ///< the scratch holds this request: since `look_up`, until others may use it
  bool client_gone_ = false;  ///< true for a refresh in the background

  std::shared_ptr<const Entry> found_;
  std::shared_ptr<const Entry> sibling_;  ///< another variant's entry, when no entry matched
  Forwarded forwarded_ = Forwarded::kNot;
  Forwarded missed_ = Forwarded::kNot;  ///< why the request would have been forwarded, had it not waited for another
  bool stale_ = false;
  bool refreshable_ = false;
  bool validating_ = false;
  bool mismatched_ = false;
  bool reuse_ = false;
  std::uint8_t waits_ = 0;
  std::uint16_t upstream_status_ = 0;

  Times times_;
  std::shared_ptr<Fill> fill_;     ///< that this request leads
  std::shared_ptr<Fill> reading_;  ///< another request's, whose entry is being read
  std::shared_ptr<Entry> incoming_;
  std::shared_ptr<Body> incoming_body_;
  std::size_t reserved_ = 0;
  std::size_t lent_ = 0;  ///< also reserved, for bytes that this client has not taken yet
  bool is_storing_ = false;
  bool may_share_ = true;
};

}  // namespace edge::runtime::cache

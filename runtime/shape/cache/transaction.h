// One exchange and the cache: what is stored for its request, what is asked of the upstream, and what becomes of the
// answer. The session asks `look_up` what to do, and does it:
//
//   look_up -> kReuse:   deliver `entry`, and start `refresh` when there is one
//           -> kFetch:   `fetch` -> kWait: another request fetches the same; wait a bounded time, look up again
//                                -> kForward, or kReuse after all: of what is stored, or of what another request
//                                   fetches while it comes
//           -> kForward: send `upstream_head`, with this shown the response; then `forwarded` says what is next
//           -> kRefuse:  `only-if-cached`, and nothing is there: 504
//
// The request it judges by is the one that the upstream gets, filters applied: what may change the answer is in it.
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

/// A thread's own, lent to its transactions.
struct CacheContext {
  net::http1::RequestHead& request;  ///< scratch; overwritten
  Counts& counts;
  const net::http1::HeadLimits& limits;
};

/// The time by the clock on the wall.
struct Now {
  Seconds seconds = 0;
  std::string_view date;  ///< the same as an IMF-fixdate
};

class Transaction {
 public:
  enum class Plan : std::uint8_t { kReuse, kFetch, kWait, kForward, kRefuse };

  /// `identified`: a policy knows who asks (RFC 9111 §3.5 then holds as if there were Authorization). `clock` is asked
  /// whenever something comes.
  Transaction(std::shared_ptr<Cache> cache, const TtlLimits& limits, const CacheContext& context,
              std::function<Now()> clock, Key key, bool identified);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  /// `head`: the request as it would be forwarded; its bytes must stay until `keep`.
  Plan look_up(std::string_view head);
  /// The same once more, after a wait.
  Plan look_up() { return look_up(head_); }
  /// After kFetch. `wake` is called from any thread when what is waited for has ended; with none, nothing is waited
  /// for.
  Plan fetch(const std::function<void()>& wake);
  /// Before every wait: the head becomes our own.
  void keep();
  /// For the same request without a client: fetches what `look_up` found stale. Null unless nobody else does.
  std::unique_ptr<Transaction> refresh();

  /// What is to be sent: the head as it was given, or with conditions that validate what is stored.
  /// Good until the next look-up.
  std::string_view upstream_head() const { return conditional_.empty() ? std::string_view(head_) : conditional_; }

  /// What comes may yet be taken back: nobody is to read it while it does.
  void keep_to_itself() { may_share_ = false; }
  /// There is no room for conditions: the whole answer is asked for.
  void forget_conditions();

  // The response, as it came from its upstream: shown on its way to the client.

  enum class Take : std::uint8_t {
    kPass,     ///< nothing of it is of interest
    kCopy,     ///< `body` and `end` are wanted while it goes to the client
    kSwallow,  ///< it goes to nobody: a stored one answers the client when it has ended
  };
  /// A final response's head, checked; `text` is the head as it came. Nothing of it was sent on.
  Take head(const net::http1::ResponseHead& response, std::string_view text);
  /// A piece of the body, without its framing.
  void body(std::string_view data);
  /// The body is complete. Not called for a response that broke off.
  void end();
  /// Cache-Status (RFC 9211) of the answer: a line for the head when it goes on to the client. Good until the next
  /// call.
  std::string_view fields();
  /// `wake` is called when somebody begins to read along what is copied, from any thread, and perhaps late.
  void tell_of_readers(std::function<void()> wake) {
    if (fill_ != nullptr) fill_->tell_of_readers(std::move(wake));
  }
  /// Others read along: what comes is taken at once, not at the pace of this client. Asked when so many bytes are kept
  /// for it; false where there is no memory for them.
  bool shared(std::size_t kept);
  /// The client has gone. True: others read along, and the rest is to come for them; else nobody will.
  bool outlives_client() { return incoming_ != nullptr && fill_ != nullptr && fill_->withdraw(); }
  /// The exchange with the upstream is over. kForward: forward once more, since the upstream spoke of something else
  /// than we asked for. `failed`: there was no answer, and none was given to the client.
  enum class Next : std::uint8_t { kDone, kReuse, kForward };
  Next forwarded(bool failed);

  /// The stored response to answer with, and its head for this request.
  std::shared_ptr<const Entry> entry() const { return found_; }
  AnswerBody write_head(net::http1::HeadWriter& out);
  /// What becomes of the byte at `at` of the entry's body, where it is not there: see BodySource.
  BodySource::More await(std::uint64_t at, const std::function<void()>& wake);
  /// The value of Cache-Status, known once the answer begins.
  std::string status() const;

 private:
  /// How the request came to be forwarded (RFC 9211 §2.2).
  enum class Forwarded : std::uint8_t { kNot, kBypass, kMethod, kUriMiss, kVaryMiss, kRequest, kStale };

  Transaction(const Transaction& stale, std::shared_ptr<Fill> fill);

  Request request();
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
  bool client_gone_ = false;  ///< a refresh

  std::shared_ptr<const Entry> found_;
  std::shared_ptr<const Entry> sibling_;  ///< the same for another variant, when nothing was found
  Forwarded forwarded_ = Forwarded::kNot;
  Forwarded missed_ = Forwarded::kNot;  ///< why we would have gone, when we waited for another
  bool stale_ = false;
  bool refreshable_ = false;
  bool validating_ = false;
  bool mismatched_ = false;
  bool reuse_ = false;
  std::uint8_t waits_ = 0;
  std::uint16_t upstream_status_ = 0;

  Times times_;
  std::shared_ptr<Fill> fill_;     ///< that we lead
  std::shared_ptr<Fill> reading_;  ///< of another, whose entry we found
  std::shared_ptr<Entry> incoming_;
  std::shared_ptr<Body> incoming_body_;
  std::size_t reserved_ = 0;
  std::size_t lent_ = 0;  ///< reserved as well, for what our client does not take
  bool is_storing_ = false;
  bool may_share_ = true;
};

}  // namespace edge::runtime::cache

// Sends a response that lies here: one that was buffered until its upstream had ended (rule D7), or one of the cache,
// which may still be growing.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "net/task.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/deadlines.h"
#include "runtime/phase/exchange_result.h"
#include "runtime/shape/body_source.h"
#include "runtime/shape/body_writer.h"
#include "runtime/shape/response_rules.h"
#include "runtime/shape/worker_parts.h"

namespace edge::runtime {

/// All of it must live until it is delivered.
struct StoredResponse {
  /// Status line, fields and the empty line, as an upstream sends them. What it says of the body's framing is passed
  /// over: the source knows.
  std::string_view head;
  BodySource& body;
  /// Further fields, as lines.
  std::string_view extra;
  /// Trailer fields, as lines.
  std::string_view trailers;
  /// The source holds the beginning alone.
  bool cut = false;
};

/// The client that a response goes to, and what is done to it on the way.
struct ResponseTarget {
  const ResponseRules& rules;
  const Deadlines& deadlines;
  const ClientEnd& client;
  const WorkerParts& worker;
};

class Delivery {
 public:
  Delivery(const ResponseTarget& target, const StoredResponse& stored);

  /// `keep_client`: the client's connection stands at the end of its request.
  void begin(bool keep_client);
  void advance();
  /// It is with the client, whole; or it failed.
  bool ended() const { return failed() || (done_ && !client_.outlet.blocked()); }
  bool failed() const { return static_cast<bool>(failure_); }
  const Failure& failure() const { return failure_; }
  /// It goes on once the client takes more.
  bool waits_for_client() const { return client_.outlet.blocked() || full_; }
  /// The client takes more, and the source has none yet: asked for what becomes of it, see BodySource.
  bool starved() const { return starved_ && !client_.outlet.blocked() && !ended(); }
  BodySource::More await(const std::function<void()>& wake) { return stored_.body.await(at_, wake); }
  net::Time wait_until() const;
  void timed_out();
  /// What is missing does not come.
  void broke_off() { fail(Origin::kUpstream, FailureKind::kTruncated); }
  void cancel() { fail(Origin::kProxy, FailureKind::kCancelled); }

  int status() const { return status_; }
  bool answered() const { return answered_; }
  std::uint64_t body_sent() const { return writer_ ? writer_->body_sent() : 0; }
  bool client_reusable() const { return !failed() && !close_client_; }

 private:
  void pump(BodyWriter::Turn& turn);
  void check(BodyWriter::Result result);
  void fail(Origin origin, FailureKind kind) {
    if (!failed()) failure_ = {origin, kind, false};
  }

  const ResponseRules& rules_;
  const Deadlines& deadlines_;
  const ClientEnd& client_;
  const WorkerParts& worker_;
  const StoredResponse& stored_;
  std::optional<BodyWriter> writer_;
  std::uint64_t at_ = 0;
  Failure failure_;
  int status_ = 0;
  bool bodiless_ = false;
  bool answered_ = false;
  bool done_ = false;
  bool starved_ = false;
  bool full_ = false;
  bool close_client_ = false;
};

/// Sends a response that lies here. `before`: how the request of the exchange was left.
net::Task<ExchangeResult> deliver(const ResponseTarget& target, const StoredResponse& stored,
                                  const ExchangeResult& before);
/// The response that was buffered, at the client's pace; its upstream serves others already. `extra`: further fields,
/// as lines.
net::Task<ExchangeResult> deliver_buffered(const ResponseTarget& target, std::string_view extra,
                                           const ExchangeResult& before);

}  // namespace edge::runtime

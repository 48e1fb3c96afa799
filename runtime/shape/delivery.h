// Sends a response that the proxy has: one that was buffered until its upstream had ended (rule D7), or one from the
// cache, which may still be growing.
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

/// The response to send. Must live until the delivery has ended.
struct StoredResponse {
  /// Status line, fields and the empty line, as an upstream sends them. Its framing fields are ignored: the source
  /// knows the size.
  std::string_view head;
  BodySource& body;
  /// Further fields, as lines.
  std::string_view extra;
  /// Trailer fields, as lines.
  std::string_view trailers;
  /// The source has only the beginning of the body.
  bool cut = false;
};

/// The client that a response goes to, and what is changed on the way.
struct ResponseTarget {
  const ResponseRules& rules;
  const Deadlines& deadlines;
  const ClientEnd& client;
  const WorkerParts& worker;
};

class Delivery {
 public:
  Delivery(const ResponseTarget& target, const StoredResponse& stored);

  /// Starts. `keep_client`: the request has been read to its end, so that the client's connection can be reused.
  void begin(bool keep_client);
  void advance();
  /// Whether everything has been sent, or the delivery failed.
  bool ended() const { return failed() || (done_ && !client_.outlet.blocked()); }
  bool failed() const { return static_cast<bool>(failure_); }
  const Failure& failure() const { return failure_; }
  /// Whether the delivery waits until the client reads more.
  bool waits_for_client() const { return client_.outlet.blocked() || full_; }
  /// Whether the client could read more and the source has nothing yet: call `await`, see BodySource.
  bool starved() const { return starved_ && !client_.outlet.blocked() && !ended(); }
  BodySource::More await(const std::function<void()>& wake) { return stored_.body.await(at_, wake); }
  net::Time wait_until() const;
  void timed_out();
  /// Ends the delivery with a failure: the missing bytes will not arrive.
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

/// Sends a stored response. `before`: the state of the exchange's request.
net::Task<ExchangeResult> deliver(const ResponseTarget& target, const StoredResponse& stored,
                                  const ExchangeResult& before);
/// Sends the buffered response at the client's pace; its upstream connection is free already. `extra`: further fields,
/// as lines.
net::Task<ExchangeResult> deliver_buffered(const ResponseTarget& target, std::string_view extra,
                                           const ExchangeResult& before);

}  // namespace edge::runtime

// Forwards one exchange, both directions at once: request body to the upstream, response to the client.
//
// A state machine that never waits: `advance` forwards what it can, then the caller waits for the stated events.
// Back-pressure: nothing is read for a side that does not accept data. Framing is validated on the way; invalid framing
// ends the exchange with a Failure.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "net/byte_stream.h"
#include "net/http1/chunked.h"
#include "net/http1/parse.h"
#include "runtime/phase/client_connection.h"
#include "runtime/phase/failure.h"
#include "runtime/shape/body_pace.h"
#include "runtime/shape/body_writer.h"
#include "runtime/shape/cache/transaction.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/worker_parts.h"
#include "runtime/upstream/forward.h"
#include "runtime/upstream/pool/connection.h"
#include "runtime/upstream/relay/byte_pump.h"
#include "runtime/upstream/retry.h"

namespace edge::runtime {

class Relay {
 public:
  Relay(const ForwardRequest& request, const ForwardFor& on_behalf, UpstreamConnection& upstream);

  /// Sets the retry logic: consulted before a response is forwarded; `until` is the try's own timeout, after which it
  /// ends without an answer.
  void retry_by(Retries& retries, net::Time until) {
    retries_ = &retries;
    try_until_ = until;
  }
  /// Sets the callback, called from any thread and perhaps late, for progress that does not come from the two peers:
  /// readers of the response from the cache, or a disk.
  void wake_by(std::function<void()> news);
  /// Sends the head, and the part of the body that has arrived.
  void begin(std::string_view head);
  /// How much of a request was sent that the endpoint did not process.
  struct Progress {
    net::Buffer text;  ///< everything that was written, including the head
    net::http1::ChunkedDecoder decoder;
    std::uint64_t left = 0;
    bool done = false;
  };
  /// Returns the progress, for a retry after a failure that allows one. nullopt: no body was read, the head suffices.
  std::optional<Progress> progress();
  /// Replaces `begin`: continues where another try ended.
  void resume(Progress from);
  void advance();
  /// Returns whether the response was sent completely, or the exchange failed.
  bool ended() const { return failed() || (response_ == Response::kDone && !client_.outlet.blocked()); }
  bool failed() const { return static_cast<bool>(failure_); }
  const Failure& failure() const { return failure_; }

  /// Returns the events to wait for when `advance` did not end it; below, until when.
  std::uint8_t client_interest() const { return client_interest_; }
  std::uint8_t upstream_interest() const { return upstream_interest_; }
  net::Time wait_until() const;
  /// Called when the wait timed out; below, when the server ends.
  void timed_out();
  void cancel() { fail(Origin::kProxy, FailureKind::kCancelled); }
  /// Called before every wait: copies data out of the thread's scratch.
  void keep();

  /// Returns whether part of the final response was sent to the client: no other answer is possible.
  bool answered() const { return response_ != Response::kHead && !withheld(); }
  /// Returns whether the response was not sent to the client: buffered, or read for the cache, which answers.
  bool withheld() const { return way_ == Way::kBuffered || way_ == Way::kSwallowed; }
  int status() const { return status_; }
  /// Returns the bytes of the bodies, without framing: received from the client, and below, sent to it.
  std::uint64_t body_received() const;
  std::uint64_t body_sent() const { return writer_ != nullptr ? writer_->body_sent() : sent_straight_; }
  /// Returns whether the client has gone, and the response is still read for others (cache::Transaction).
  bool client_lost() const { return lost_ != FailureKind::kNone; }
  /// Returns whether the upgrade to WebSocket succeeded: HTTP has ended on both connections.
  bool switched() const { return status_ == 101 && !failed(); }
  PumpEnd upstream_end() { return {upstream_, from_upstream_, to_upstream_}; }
  /// Each side was read to the exact end of its message and may carry another.
  bool request_read() const { return request_done_ || request_.body.buffered != nullptr; }
  bool client_reusable() const { return request_read() && !close_client_; }
  AfterUse after_use() const;
  /// Returns whether the endpoint ended the exchange after waiting in vain for the client's body: not the endpoint's
  /// fault.
  bool client_given_up() const;
  /// Returns whether the client must see a reset: a truncated response without another sign of it, or a client that was
  /// too slow.
  bool must_reset_client() const {
    return failed() && answered() &&
           (body_out_ == BodyOut::kUntilClose || failure_.kind == FailureKind::kClientStalled);
  }

 private:
  enum class Response : std::uint8_t { kHead, kBody, kDone };
  /// Where the response's body goes. All but the first use it without its framing.
  enum class Way : std::uint8_t {
    kStraight,
    kWritten,    ///< through a BodyWriter: encoded, or copied to the cache
    kBuffered,   ///< to ResponseRules::buffered
    kSwallowed,  ///< discarded, after the cache has seen it
  };
  /// The data that one call forwards.
  struct Pieces {
    std::array<iovec, 8> at{};
    std::size_t count = 0;
    std::size_t consumed = 0;
    bool last = false;
    char chunk_head[net::http1::kMaxChunkHead];
    void add(std::string_view text) {
      if (!text.empty()) at[count++] = net::piece(text);
    }
    std::span<iovec> all() { return {at.data(), count}; }
  };

  void pump_request();
  void time_request();
  void take_client_body(Pieces& pieces);
  void take_spooled_body(Pieces& pieces);
  std::string_view next_spooled();
  void pump_response();
  std::span<char> room(std::size_t wanted) const;
  void take_request_body(Pieces& pieces);
  void took_request_body(const Pieces& pieces);
  void took_response_body(const Pieces& pieces);
  void take_response_head();
  void forward_interim();
  void switch_protocols(std::size_t head_size);
  bool gives_way(std::size_t head_size);
  void answer(std::size_t head_size);
  void take_response_body(Pieces& pieces);
  void send_to_client(Pieces& pieces);
  void upstream_ended(net::Transfer::Kind how);

  // relay_shape.cc: responses that are changed on the way
  /// A piece of the body without its framing.
  struct Piece {
    std::string_view data;
    std::size_t consumed = 0;
    bool last = false;
  };
  bool await_size(std::size_t head_size);
  void choose_way(std::size_t head_size);
  void choose_buffer(std::string_view text);
  bool replaced() const;
  void leave_body();
  void pump_shaped(BodyWriter::Turn& turn);
  Piece next_piece();
  void take_piece(const Piece& piece, BodyWriter::Turn& turn);
  void end_shaped(BodyWriter::Turn& turn);
  void written(BodyWriter::Result result);
  bool read_along() const;
  bool waits_for_client() const;
  bool disk_is_behind() const;
  bool awaits_endpoint() const;
  void lose_client(FailureKind kind);
  void flush_writer();
  BodyWriter::Turn turn() const;

  void past_deadline();
  void fail(Origin origin, FailureKind kind);

  const ForwardRequest& request_;
  const ClientEnd& client_;
  const WorkerParts& worker_;
  ForwardCounts& counts_;
  UpstreamConnection& upstream_;

  net::http1::ChunkedDecoder request_decoder_;
  net::http1::ChunkedDecoder response_decoder_;
  net::Outlet to_upstream_;
  net::Inlet from_upstream_;
  net::http1::ParseHint hint_;
  std::uint64_t request_left_ = 0;
  std::uint64_t response_left_ = 0;
  std::uint64_t spool_at_ = 0;
  std::uint64_t mirrored_ = 0;
  std::uint64_t swallowed_ = 0;
  std::uint64_t sent_straight_ = 0;
  std::unique_ptr<BodyWriter> writer_;
  std::optional<std::uint64_t> known_length_;
  BodyChange change_;
  BodyPace pace_;
  net::Time continue_at_ = net::kNever;
  /// When the encoder must be flushed; below, when a response of unknown size is begun in any case.
  net::Time flush_at_ = net::kNever;
  net::Time decide_at_ = net::kNever;
  net::Time try_until_ = net::kNever;
  /// When the endpoint was called; below, when the client last sent body data after that.
  net::Time began_;
  net::Time body_at_ = net::Time::min();
  /// Null: no retries.
  Retries* retries_ = nullptr;
  std::function<void()> news_;
  Failure failure_;
  /// How the client was lost while the response is read for others.
  FailureKind lost_ = FailureKind::kNone;
  std::uint16_t status_ = 0;
  std::uint8_t interims_ = 0;
  std::uint8_t client_interest_ = 0;
  std::uint8_t upstream_interest_ = 0;
  Response response_ = Response::kHead;
  net::http1::BodyKind body_in_ = net::http1::BodyKind::kNone;
  BodyOut body_out_ = BodyOut::kAsIs;
  Way way_ = Way::kStraight;
  bool watched_ = false;
  bool all_here_ = false;
  bool spool_is_late_ = false;
  bool request_done_ = false;
  bool request_abandoned_ = false;
  bool body_taken_ = false;
  bool head_incomplete_ = false;
  bool response_bytes_ = false;
  bool upstream_keeps_alive_ = false;
  bool upstream_at_end_ = false;
  bool close_client_ = false;
  bool own_continue_ = false;
  /// The deadline passed, and the endpoint had had its time.
  bool was_late_ = false;
};

}  // namespace edge::runtime

#include "runtime/session/delivery.h"

#include <algorithm>

#include "net/http1/parse.h"
#include "runtime/session/response_plan.h"
#include "runtime/shape/compressible.h"

namespace edge::runtime {
namespace {

using net::http1::BodyKind;
using net::http1::HeadWriter;
using net::http1::Method;
using net::http1::ParseState;

/// Taken of a source at once: what the client does not take of it is copied.
constexpr std::size_t kPiece = std::size_t{128} * 1024;
/// An encoder's input in one turn; then other sessions have theirs.
constexpr std::size_t kCodedATurn = std::size_t{128} * 1024;

bool without_body(const Exchange& exchange, int status) {
  return exchange.method == Method::kHead || status == 204 || status == 304;
}

}  // namespace

Delivery::Delivery(const Exchange& exchange, ClientEnd client, const RelayPlace& place, const StoredResponse& stored)
    : exchange_(exchange), client_(client), place_(place), stored_(stored) {}

void Delivery::begin(bool keep_client) {
  net::http1::ResponseHead& head = place_.scratch.response;
  net::http1::ParseHint hint;
  const auto parsed = net::http1::parse_response(stored_.head, exchange_.method, place_.scratch.limits, hint, head);
  if (parsed.state != ParseState::kComplete) return fail(Origin::kProxy, FailureKind::kBadResponse);
  status_ = head.status;
  bodiless_ = without_body(exchange_, status_);
  // A HEAD's own fields tell the length that a GET would have.
  std::optional<std::uint64_t> length;
  if (!bodiless_) length = stored_.body.size();

  ResponsePlan plan;
  if (exchange_.shaping.compression != nullptr) {
    plan = plan_response(exchange_, head, bodiless_ ? told_length(head) : length, place_.encoders);
  }
  plan.change.cut = stored_.cut;
  plan.change.extra = stored_.extra;
  const bool chunked = plan.encoder != nullptr || (!bodiless_ && !stored_.trailers.empty());
  if (!chunked) plan.change.length = length;
  plan.change.reframed = !bodiless_;
  const BodyOut out = !chunked ? BodyOut::kAsIs : exchange_.minor == 0 ? BodyOut::kUntilClose : BodyOut::kChunked;
  close_client_ = !keep_client || !exchange_.keep_alive || place_.closing || out == BodyOut::kUntilClose;

  const program::FieldEdits edits(exchange_.host->view, exchange_.filters(), program::Side::kResponse,
                                  exchange_.id.text());
  const std::span<char> area = place_.scratch.head();
  HeadWriter writer(area.data(), area.size() - BodyWriter::kRoomBehindHead);
  write_response_head({head, out, connection_field(exchange_, close_client_), place_.date, exchange_.backend_http(),
                       edits, exchange_.added, &plan.change},
                      writer);
  if (writer.overflowed()) return fail(Origin::kProxy, FailureKind::kBadResponse);
  writer_.emplace(out, std::move(plan.encoder), false);
  answered_ = true;
  BodyWriter::Turn turn{client_.channel, client_.outlet, area.subspan(writer.size()), writer.text()};
  pump(turn);
}

void Delivery::advance() {
  if (client_.channel.hung_up()) return fail(Origin::kClient, FailureKind::kClientGone);
  if (!client_.outlet.flush(client_.channel)) return fail(Origin::kClient, FailureKind::kClientGone);
  BodyWriter::Turn turn{client_.channel, client_.outlet, place_.scratch.head(), {}};
  pump(turn);
}

void Delivery::pump(BodyWriter::Turn& turn) {
  std::size_t coded = 0;
  starved_ = full_ = false;
  while (!failed() && !done_ && !client_.outlet.blocked()) {
    if (bodiless_ || at_ == stored_.body.size()) {
      // Where there is no body not even its end is told.
      if (!bodiless_) check(writer_->end(turn, stored_.trailers));
      done_ = true;
      break;
    }
    if (writer_->codes() && coded >= kCodedATurn) break;
    // More than the client's side takes would only fill memory.
    const std::size_t wanted = client_.channel.appetite();
    full_ = wanted == 0;
    if (full_) break;
    const std::string_view piece =
        stored_.body.read(at_, place_.scratch.upstream()).substr(0, std::min(kPiece, wanted));
    if (piece.empty()) {
      starved_ = true;
      break;
    }
    at_ += piece.size();
    coded += piece.size();
    check(writer_->write(turn, piece));
  }
  if (!failed()) check(writer_->settle(turn));
}

void Delivery::check(BodyWriter::Result result) {
  if (result == BodyWriter::Result::kClientGone) fail(Origin::kClient, FailureKind::kClientGone);
  if (result == BodyWriter::Result::kEncoderFailed) fail(Origin::kProxy, FailureKind::kTruncated);
}

net::Time Delivery::wait_until() const {
  const net::Time idle = idle_until(exchange_, place_.loop.now(), !starved());
  return starved() ? std::min(exchange_.deadline, idle) : idle;
}

void Delivery::timed_out() {
  if (!starved()) return fail(Origin::kClient, FailureKind::kClientStalled);
  if (exchange_.deadline <= place_.loop.now()) return fail(Origin::kProxy, FailureKind::kRequestTimeout);
  fail(Origin::kUpstream, FailureKind::kUpstreamStalled);
}

}  // namespace edge::runtime

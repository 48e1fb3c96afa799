#include "runtime/shape/delivery.h"

#include <algorithm>

#include "net/http1/parse.h"
#include "runtime/phase/cross_thread_wake.h"
#include "runtime/shape/compressible.h"
#include "runtime/shape/heads.h"
#include "runtime/shape/response_plan.h"

namespace edge::runtime {
namespace {

using net::Wake;
using net::http1::HeadWriter;
using net::http1::Method;
using net::http1::ParseState;

/// Taken of a source at once: what the client does not take of it is copied.
constexpr std::size_t kPiece = std::size_t{128} * 1024;
/// An encoder's input in one turn; then other sessions have theirs.
constexpr std::size_t kCodedATurn = std::size_t{128} * 1024;

/// A page of the program that is pinned.
class PageBody final : public BodySource {
 public:
  explicit PageBody(std::string_view text) : text_(text) {}
  std::uint64_t size() const override { return text_.size(); }
  std::string_view read(std::uint64_t at, std::span<char>) override {
    return text_.substr(static_cast<std::size_t>(at));
  }

 private:
  std::string_view text_;
};

bool without_body(const ResponseRules& rules, int status) {
  return rules.method == Method::kHead || status == 204 || status == 304;
}

}  // namespace

Delivery::Delivery(const ResponseTarget& target, const StoredResponse& stored)
    : rules_(target.rules),
      deadlines_(target.deadlines),
      client_(target.client),
      worker_(target.worker),
      stored_(stored) {}

void Delivery::begin(bool keep_client) {
  net::http1::ResponseHead& head = worker_.scratch.response;
  net::http1::ParseHint hint;
  const auto parsed = net::http1::parse_response(stored_.head, rules_.method, worker_.scratch.limits, hint, head);
  if (parsed.state != ParseState::kComplete) return fail(Origin::kProxy, FailureKind::kBadResponse);
  status_ = head.status;
  bodiless_ = without_body(rules_, status_);
  // A HEAD's own fields tell the length that a GET would have.
  std::optional<std::uint64_t> length;
  if (!bodiless_) length = stored_.body.size();

  ResponsePlan plan;
  if (rules_.compression != nullptr) {
    plan = plan_response(rules_, head, bodiless_ ? declared_length(head) : length, worker_.encoders);
  }
  plan.change.cut = stored_.cut;
  plan.change.extra = stored_.extra;
  const bool chunked = plan.encoder != nullptr || (!bodiless_ && !stored_.trailers.empty());
  if (!chunked) plan.change.length = length;
  plan.change.reframed = !bodiless_;
  const BodyOut out = !chunked ? BodyOut::kAsIs : rules_.minor == 0 ? BodyOut::kUntilClose : BodyOut::kChunked;
  close_client_ = !keep_client || !rules_.keep_alive || worker_.closing || out == BodyOut::kUntilClose;

  const program::FieldEdits edits = rules_.edits();
  const std::span<char> area = worker_.scratch.head();
  HeadWriter writer(area.data(), area.size() - BodyWriter::kRoomBehindHead);
  write_response_head({head, out, rules_.connection_field(close_client_), worker_.date, rules_.backend_http, edits,
                       rules_.added, &plan.change, rules_.varies_by_accept(status_)},
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
  BodyWriter::Turn turn{client_.channel, client_.outlet, worker_.scratch.head(), {}};
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
        stored_.body.read(at_, worker_.scratch.upstream()).substr(0, std::min(kPiece, wanted));
    if (piece.empty()) {
      starved_ = true;
      break;
    }
    at_ += piece.size();
    coded += piece.size();
    check(writer_->write(turn, piece));
  }
  if (!failed()) check(writer_->end_turn(turn));
}

void Delivery::check(BodyWriter::Result result) {
  if (result == BodyWriter::Result::kClientGone) fail(Origin::kClient, FailureKind::kClientGone);
  if (result == BodyWriter::Result::kEncoderFailed) fail(Origin::kProxy, FailureKind::kTruncated);
}

net::Time Delivery::wait_until() const {
  const net::Time idle = deadlines_.idle_until(worker_.loop.now(), !starved());
  return starved() ? std::min(deadlines_.until, idle) : idle;
}

void Delivery::timed_out() {
  if (!starved()) return fail(Origin::kClient, FailureKind::kClientStalled);
  if (deadlines_.until <= worker_.loop.now()) return fail(Origin::kProxy, FailureKind::kRequestTimeout);
  fail(Origin::kUpstream, FailureKind::kUpstreamStalled);
}

net::Task<ExchangeResult> deliver_buffered(const ResponseTarget& target, std::string_view extra,
                                           const ExchangeResult& before) {
  const BufferedResponse& buffered = *target.rules.buffered;
  PageBody page(buffered.page == nullptr ? std::string_view() : buffered.page->body);
  BodySource& body = buffered.page == nullptr ? static_cast<BodySource&>(*buffered.body) : page;
  const StoredResponse stored{buffered.head.view(), body, extra, buffered.trailers, buffered.cut};
  ExchangeResult result = co_await deliver(target, stored, before);
  if (buffered.page != nullptr && result.reason.empty()) result.reason = kErrorPage;
  co_return result;
}

net::Task<ExchangeResult> deliver(const ResponseTarget& target, const StoredResponse& stored,
                                  const ExchangeResult& before) {
  const ClientEnd& client = target.client;
  net::Loop& loop = target.worker.loop;
  client.inlet.keep();
  Delivery delivery(target, stored);
  delivery.begin(before.body == BodyState::kRead);
  while (!delivery.ended()) {
    Wake wake;
    if (delivery.waits_for_client()) {
      wake = co_await client.waiter.wait(delivery.wait_until(), client.channel, net::kWrite);
    } else if (delivery.starved()) {
      const CrossThreadWake news(client.waiter, loop);
      const BodySource::More more = delivery.await(news.callback());
      wake = Wake::kReady;
      if (more == BodySource::More::kNever) delivery.broke_off();
      if (more == BodySource::More::kComes) {
        wake = co_await client.waiter.wait(delivery.wait_until(), client.channel, net::kHangUp);
      }
    } else {
      // Others have their turn.
      wake = co_await client.waiter.wait(loop.now());
      if (wake == Wake::kTimeout) wake = Wake::kReady;
    }
    if (wake == Wake::kCancelled) delivery.cancel();
    if (wake == Wake::kTimeout) delivery.timed_out();
    if (!delivery.ended()) delivery.advance();
  }
  ExchangeResult result;
  result.failure = delivery.failure();
  result.status = delivery.status();
  result.answered = delivery.answered();
  result.body = before.body;
  result.reusable = delivery.client_reusable();
  result.reset = delivery.failed() && delivery.answered();
  result.attempts = before.attempts;
  result.received = before.received;
  result.sent = delivery.body_sent();
  if (stored.cut) result.reason = kResponseCut;
  co_return result;
}

}  // namespace edge::runtime

#include "runtime/upstream/backend_call.h"

#include <algorithm>
#include <utility>

#include "base/text/ascii.h"
#include "net/buffer.h"
#include "net/byte_stream.h"
#include "net/client/answer_reader.h"

namespace edge::runtime {
namespace {

using net::Transfer;
using net::Wake;
using net::client::Answer;
using net::client::AnswerReader;
using net::client::CallFault;

/// Further endpoints, as a client's request has them.
constexpr int kMostOthers = 2;
constexpr std::size_t kReceived = std::size_t{16} << 10;  ///< at a time

Answer failed(CallFault fault) {
  Answer answer;
  answer.fault = fault;
  return answer;
}

/// Validated lines (ChunkedDecoder::trailer_lines).
void add_trailers(std::string_view lines, Answer& answer) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find("\r\n"));
    lines.remove_prefix(std::min(lines.size(), line.size() + 2));
    const std::size_t colon = std::min(line.find(':'), line.size());
    std::string_view value = line.substr(std::min(colon + 1, line.size()));
    while (value.starts_with(' ') || value.starts_with('\t')) value.remove_prefix(1);
    while (value.ends_with(' ') || value.ends_with('\t')) value.remove_suffix(1);
    answer.fields.push_back({ascii_lower(line.substr(0, colon)), std::string(value)});
  }
}

CallFault fault_of(AcquireFault fault) {
  switch (fault) {
    case AcquireFault::kOverloaded:
      return CallFault::kTooMany;
    case AcquireFault::kTls:
      return CallFault::kTls;
    case AcquireFault::kTimeout:
      return CallFault::kTimeout;
    case AcquireFault::kCancelled:
      return CallFault::kCancelled;
    case AcquireFault::kNone:
    case AcquireFault::kNoEndpoint:
    case AcquireFault::kNoHealthyEndpoint:
    case AcquireFault::kCircuitOpen:
    case AcquireFault::kConnect:
      break;
  }
  return CallFault::kConnect;
}

net::Waiter::Awaiter next_event(net::Waiter& waiter, const BackendCall& call, UpstreamConnection& upstream,
                                std::uint8_t interest) {
  if (call.asker == nullptr) return waiter.wait(call.until, upstream, interest);
  return waiter.wait(call.until, upstream, interest, *call.asker, net::kHangUp);
}

/// \returns whether the connection may carry another request, as far as the bytes tell.
net::Task<bool> exchange(net::Waiter& waiter, const BackendCall& call, UpstreamConnection& upstream,
                         AnswerReader& reader) {
  net::Outlet out;
  iovec pieces[] = {net::piece(call.head), net::piece(call.body)};
  bool alive = out.send(upstream, {pieces, call.body.empty() ? 1U : 2U});
  net::Buffer received;
  while (alive) {
    const Transfer got = upstream.receive(received.room(kReceived));
    if (got.kind == Transfer::Kind::kDone) {
      received.grow(got.bytes);
      std::size_t consumed = 0;
      const AnswerReader::State state = reader.take(received.view(), consumed);
      received.consume(consumed);
      if (state == AnswerReader::State::kDone) co_return received.empty() && !out.blocked();
      continue;
    }
    if (got.kind != Transfer::Kind::kWouldBlock || upstream.hung_up()) break;
    const std::uint8_t interest = out.blocked() ? net::kRead | net::kWrite : net::kRead;
    const Wake wake = co_await next_event(waiter, call, upstream, interest);
    const bool left = call.asker != nullptr && call.asker->hung_up();
    if (wake != Wake::kReady || left) {
      reader.interrupt(failed(wake == Wake::kTimeout ? CallFault::kTimeout : CallFault::kCancelled));
      co_return false;
    }
    alive = out.flush(upstream);
  }
  reader.end();
  co_return false;
}

/// What is known of the endpoint by the answer, or by its lack.
AfterUse outcome_of(UpstreamConnection& upstream, const Answer& answer, bool clean, bool died, net::Time now) {
  if (answer.ok()) upstream.answered(now, answer.status);
  if (clean) return AfterUse::kKeep;
  const bool nobodys = answer.ok() || died || answer.fault == CallFault::kCancelled;
  return nobodys ? AfterUse::kClose : AfterUse::kFailed;
}

}  // namespace

net::Task<Answer> call_backend(net::Loop& loop, net::Waiter& waiter, BackendCall call) {
  const net::Time now = loop.now();
  Wanted wanted{.deadline = call.until,
                .fault_before = now + (call.until - now) / 2,
                .key = call.balance_key,
                .fresh = !call.proxy_header.empty(),
                .header = call.proxy_header,
                .way = call.way};
  for (int others = 0;;) {
    Acquired acquired = co_await call.pool.acquire(waiter, wanted);
    if (acquired.connection == nullptr) {
      if (acquired.tried) wanted.avoid.push_back(*acquired.tried);
      const bool again =
          acquired.tried && others++ < kMostOthers && loop.now() < call.until && call.pool.has_other(wanted.avoid);
      if (again) continue;
      co_return failed(fault_of(acquired.fault));
    }
    UpstreamConnection& upstream = *acquired.connection;
    const bool pooled = upstream.requests() > 1;
    AnswerReader reader(call.method, {call.max_head, call.max_body}, call.scratch);
    const bool clean = co_await exchange(waiter, call, upstream, reader);
    const bool died = !reader.begun() && reader.fault() == CallFault::kClosed && (pooled || upstream.refused());
    const bool keeps = clean && reader.keeps_alive() && call.proxy_header.empty();
    Answer answer = reader.take_answer();
    if (call.trailers) add_trailers(reader.trailer_lines(), answer);
    const AfterUse after = outcome_of(upstream, answer, keeps, died, loop.now());
    call.pool.release(std::move(acquired.connection), after);
    if (died && !wanted.fresh) {
      wanted.fresh = true;
      continue;
    }
    co_return answer;
  }
}

}  // namespace edge::runtime

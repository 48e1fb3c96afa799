#include "runtime/upstream/mirror.h"

#include <string>

#include "base/text/ascii.h"
#include "runtime/upstream/relay/relay.h"

namespace edge::runtime {
namespace {

/// Where neither route nor backend sets a time: nobody waits for the answer.
constexpr net::Duration kMirrorTime = std::chrono::seconds(30);

/// Appends a head with another Host. It is one that we wrote: lines end with CRLF, and one of them is the Host.
void append_for(std::string_view host, std::string_view head, net::Buffer& to) {
  constexpr std::string_view kField = "host:";
  for (std::size_t line = head.find("\r\n"); line != std::string_view::npos; line = head.find("\r\n", line)) {
    line += 2;
    if (!equals_ignoring_case(head.substr(line, kField.size()), kField)) continue;
    to.append(head.substr(0, line + kField.size()));
    to.append(" ");
    to.append(host);
    to.append(head.substr(head.find("\r\n", line)));
    return;
  }
  to.append(head);
}

}  // namespace

void make_copy(const ForwardRequest& original, std::string_view host, net::Time now, ForwardRequest& copy) {
  copy.take_rule_of(original);
  copy.body.framing = original.body.framing;
  // It comes as quickly as the original's backend takes it.
  copy.body.measured = false;
  const std::uint64_t timeout = original.treatment->request_timeout_ns;
  copy.deadlines.bound(now, now + (timeout != 0 ? net::Duration(timeout) : kMirrorTime));
  host.empty() ? copy.body.head.append(original.head) : append_for(host, original.head, copy.body.head);
  TracedTries::renew_try(copy.spans, copy.body.head);
  copy.head = copy.body.head.view();
}

net::Task<Failure> send_copy(const ForwardRequest& copy, const ForwardFor& on_behalf) {
  const ClientEnd& source = on_behalf.client;
  TracedTries traced(copy.spans, copy.response.method, copy.backend);
  traced.begin();
  const std::string header = own_header_for(copy.pool->settings());
  const Wanted wanted{.deadline = copy.deadlines.until,
                      .fault_before = copy.deadlines.fault_before,
                      .key = copy.balance_key,
                      .fresh = !header.empty(),
                      .header = header,
                      .way = copy.terms == nullptr ? 0 : copy.terms->way};
  Acquired acquired = co_await copy.pool->acquire(source.waiter, wanted);
  if (acquired.connection == nullptr) {
    const FailureKind kind = acquired.tried ? FailureKind::kConnectFailed : FailureKind::kNoHealthyEndpoint;
    const Failure failure{Origin::kProxy, kind, false};
    if (acquired.tried) {
      traced.end({&*acquired.tried, copy.pool->cluster_of(*acquired.tried).get()}, 0, failure);
    } else {
      traced.end({}, 0, failure);
    }
    co_return failure;
  }
  UpstreamConnection& upstream = *acquired.connection;
  Relay relay(copy, on_behalf, upstream);
  relay.begin(copy.head);
  while (!relay.ended()) {
    relay.advance();
    if (relay.ended()) break;
    relay.keep();
    const net::Wake wake = co_await source.waiter.wait(relay.wait_until(), upstream, relay.upstream_interest(),
                                                       source.channel, relay.client_interest());
    if (wake == net::Wake::kCancelled) relay.cancel();
    if (wake == net::Wake::kTimeout) relay.timed_out();
  }
  traced.end({&upstream.endpoint().address, upstream.endpoint().cluster.get()}, relay.status(), relay.failure());
  const AfterUse after = relay.after_use();
  const bool closes = after == AfterUse::kKeep && !header.empty();
  copy.pool->release(std::move(acquired.connection), closes ? AfterUse::kClose : after);
  co_return relay.failure();
}

}  // namespace edge::runtime

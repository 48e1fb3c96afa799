#include "runtime/upstream/fetch.h"

#include <algorithm>
#include <utility>

namespace edge::runtime {
namespace {

using cache::Transaction;

/// Whether a failure says something of the backend, so that a stale answer may stand in for it.
bool is_backends(const Failure& failure) {
  return failure && failure.origin != Origin::kClient && failure.kind != FailureKind::kCancelled;
}

/// For a fetch that no client waits for.
constexpr net::Duration kRefreshTime = std::chrono::minutes(5);

}  // namespace

void make_refresh(const ForwardRequest& original, net::Time now, ForwardRequest& refresh) {
  refresh.take_rule_of(original);
  refresh.send_to(*original.pool, *original.backend);
  std::string header = own_header_for(original.pool->settings());
  if (!header.empty()) refresh.make_terms().proxy_header = std::move(header);
  // Nobody waits for it who could give it up.
  refresh.deadlines.bound(now, std::min(original.deadlines.until, now + kRefreshTime));
}

net::Task<Fetched> fetch(Transaction& cache, ForwardRequest& request, const ForwardFor& on_behalf) {
  request.response.cache = &cache;
  if (request.response.buffered != nullptr && request.response.buffered->buffers) cache.keep_to_itself();
  ExchangeResult result;
  Transaction::Next next = Transaction::Next::kForward;
  while (next == Transaction::Next::kForward) {
    const std::span<char> area = on_behalf.worker.scratch.head();
    if (cache.upstream_head().size() > area.size()) cache.forget_conditions();
    const std::string_view head = cache.upstream_head();
    if (request.body.buffered == nullptr && head.data() != area.data()) {
      std::copy(head.begin(), head.end(), area.begin());
      request.head = {area.data(), head.size()};
    }
    // What it may be asked for again must not lie in the scratch when others use it.
    cache.keep();
    result = co_await forward(request, on_behalf);
    next = cache.forwarded(is_backends(result.failure) && !result.answered);
  }
  const bool client_left = result.failure && !is_backends(result.failure);
  co_return Fetched{result, next == Transaction::Next::kReuse && !client_left};
}

}  // namespace edge::runtime

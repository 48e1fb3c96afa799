// What a Server counts and knows of what it serves.
#include <iterator>
#include <memory>
#include <mutex>
#include <utility>

#include "runtime/session/server/impl.h"

namespace edge::runtime {

ServerStats Server::stats() const {
  ServerStats sum;
  for (const auto& worker : impl_->workers) {
    const Counters& counters = std::as_const(*worker).counters();
    sum.connections_accepted += counters.accepted.value();
    sum.connections_active += counters.active.value();
    sum.connections_refused += counters.refused.value();
    sum.requests += counters.requests.value();
    for (std::size_t i = 1; i < std::size(sum.responses); ++i) sum.responses[i] += counters.responses[i].value();
    sum.upstream_connects += worker->upstream_counts().connects.value();
    sum.upstream_reused += worker->upstream_counts().reused.value();
    sum.upstream_retries += counters.upstream_retries.value();
    sum.tls_handshakes += counters.tls_handshakes.value();
    sum.tls13_resumed += counters.tls13_resumed.value();
    sum.tls13_handshakes += counters.tls13_handshakes.value();
    sum.tls_resumed += counters.tls_resumed.value();
    sum.tls_failures += counters.tls_failures.value();
    sum.upstream_tls_failures += worker->upstream_counts().tls_failures.value();
    sum.mirrors += counters.mirrors.value();
    sum.mirrors_dropped += counters.mirrors_dropped.value();
    sum.tunnels += counters.tunnels.value();
    sum.tunnels_refused += counters.tunnels_refused.value();
    sum.tunnel_bytes_up += counters.tunnel_bytes_up.value();
    sum.tunnel_bytes_down += counters.tunnel_bytes_down.value();
    sum.udp_sessions += counters.udp_sessions.value();
    sum.udp_sessions_active += counters.udp_sessions_active.value();
    sum.udp_sessions_evicted += counters.udp_sessions_evicted.value();
    sum.udp_datagrams_up += counters.udp_datagrams_up.value();
    sum.udp_datagrams_down += counters.udp_datagrams_down.value();
    sum.udp_bytes_up += counters.udp_bytes_up.value();
    sum.udp_bytes_down += counters.udp_bytes_down.value();
    for (std::size_t i = 0; i < kUdpDrops; ++i) sum.udp_drops[i] += counters.udp_drops[i].value();
    sum.cache.add(counters.cache);
    std::as_const(*worker).probe().add_to(sum.loop_lag);
    for (std::size_t type = 0; type < kAuthTypes; ++type) {
      for (std::size_t outcome = 0; outcome < auth::kOutcomes; ++outcome) {
        sum.authentication[type][outcome] += counters.authentication[type][outcome].value();
      }
    }
  }
  sum.login_faults = impl_->shared.authentication->login_faults.counts();
  if (impl_->shared.options.access_log != nullptr) sum.access_log = impl_->shared.options.access_log->counts();
  sum.buffer_memory_used = impl_->shared.spools->memory_used();
  sum.buffer_files_used = impl_->shared.spools->files_used();
  const cache::StoreStats stored = impl_->shared.caches.stats();
  sum.cache.evictions = stored.evictions;
  sum.cache.entries = stored.entries;
  sum.cache.bytes = stored.bytes;
  return sum;
}

RequestSums Server::requests() const {
  RequestSums sums;
  for (const auto& worker : impl_->workers) sums.add(std::as_const(*worker).tally());
  return sums;
}

void Server::forget_requests(std::span<const TallyNames> names) {
  std::vector<std::unique_ptr<RequestTally::Cell>> removed;
  std::mutex mutex;
  impl_->on_every_worker([&](std::size_t, Worker& worker) {
    auto cells = worker.tally().remove(names);
    const std::lock_guard lock(mutex);
    std::ranges::move(cells, std::back_inserter(removed));
  });
}

std::vector<CertificateExpiry> Server::certificates() const {
  std::shared_ptr<const TlsStore> tls;
  {
    const std::lock_guard lock(impl_->mutex);
    tls = impl_->running.tls;
  }
  return tls == nullptr ? std::vector<CertificateExpiry>() : tls->expiries();
}

std::vector<RateLimitCount> Server::rate_limits() const { return impl_->shared.limit_counts.rates.counts(); }

bool Server::shares_limits() const { return impl_->shared.shared_limits.any(); }

std::uint64_t Server::shared_limit_seed() const { return impl_->shared.shared_limits.seed(); }

std::vector<SharedUse> Server::take_shared_uses(std::size_t most) { return impl_->shared.shared_limits.take(most); }

std::vector<WantedName> Server::take_wanted_names(std::size_t most) {
  return impl_->shared.wanted_names.take(most, impl_->now());
}

void Server::apply_shared_news(const SharedNews& news) {
  impl_->shared.shared_limits.apply(news, impl_->now(), impl_->shared.rate_limits);
}

SharedLimitFacts Server::shared_limits() const {
  const SharedLimits& shared = impl_->shared.shared_limits;
  // What was heard of other agents when there were such limits says nothing now.
  return {shared.any() ? shared.share(impl_->now()) : 1, shared.untold()};
}

std::vector<RateLimitCount> Server::concurrency_limits() const {
  return impl_->shared.limit_counts.concurrency.counts();
}

std::vector<RateLimitCount> Server::request_filters() const { return impl_->shared.limit_counts.filters.counts(); }

std::vector<BackendStatus> Server::backends() const {
  std::vector<BackendStatus> all = impl_->shared.backends.status();
  impl_->names->add_to(all);
  return all;
}

std::size_t Server::purge_cache(const cache::Purge& what) { return impl_->shared.caches.purge(what); }

}  // namespace edge::runtime

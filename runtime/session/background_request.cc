#include "runtime/session/background_request.h"

#include "program/filters.h"
#include "program/mirror_share.h"
#include "runtime/session/worker.h"
#include "runtime/upstream/fetch.h"
#include "runtime/upstream/mirror.h"

namespace edge::runtime {
namespace {

/// Copies of one thread; further ones are not begun.
constexpr std::uint64_t kMostMirrors = 1024;

/// Replaces the client of a background fetch: sends nothing, discards everything.
class NoClient final : public net::Layer {
 public:
  net::Transfer receive(net::Channel&, std::span<char>) override { return {net::Transfer::Kind::kWouldBlock, 0}; }
  net::Transfer send(net::Channel&, std::span<const iovec> pieces) override {
    std::size_t bytes = 0;
    for (const iovec& piece : pieces) bytes += piece.iov_len;
    return {net::Transfer::Kind::kDone, bytes};
  }
  bool finish(net::Channel&) override { return true; }
  void reset(net::Channel&) override {}
};

}  // namespace

BackgroundRequest::BackgroundRequest(Worker& worker, ProgramPin program, std::unique_ptr<net::Layer> client,
                                     Drain drain)
    : worker_(worker), program_(std::move(program)), waiter_(worker.loop()), drain_(drain) {
  client_.open(worker.loop(), {net::Fd(), std::move(client)});
}

ForwardFor BackgroundRequest::lend(ForwardCounts& counts) {
  return {{client_, inlet_, outlet_, waiter_}, worker_.parts(), counts, worker_.random()};
}

net::Detached BackgroundRequest::copy(std::shared_ptr<MirrorFeed> feed) {
  // The original goes first; it also still uses the thread's scratch.
  co_await waiter_.wait(worker_.loop().now());
  // Its interim responses are nobody's.
  ForwardCounts uncounted;
  const ForwardFor on_behalf = lend(uncounted);
  const Failure failure = co_await send_copy(request_, on_behalf);
  trace_branch(request_.spans, "mirror", failure);
  feed->tell(nullptr);
  feed->end();
  client_.close();
  worker_.counters().mirrors_active.subtract();
  if (feed->fell_behind()) worker_.counters().mirrors_dropped.add();
  worker_.forget(*this);
}

net::Detached BackgroundRequest::refresh(std::unique_ptr<cache::Transaction> cache) {
  const ForwardFor on_behalf = lend(worker_.counters());
  const Fetched fetched = co_await fetch(*cache, request_, on_behalf);
  trace_branch(request_.spans, "refresh", fetched.result.failure);
  client_.close();
  worker_.forget(*this);
}

void mirror_in_background(Worker& worker, const ProgramPin& program, const LoadedHost& host, ForwardRequest& request) {
  for (const program::MirrorRecord& record : host.view.array(request.treatment->mirrors)) {
    if (!program::copies(program::share_of(host.view, record), worker.random().next())) continue;
    const std::uint32_t backend = program->program->backend_index(record.backend_id);
    if (backend == program::kNone) continue;
    Counters& counters = worker.counters();
    if (worker.draining() || counters.mirrors_active.value() >= kMostMirrors) {
      counters.mirrors_dropped.add();
      continue;
    }
    counters.mirrors.add();
    counters.mirrors_active.add();
    auto feed = std::make_shared<MirrorFeed>();
    request.body.mirrors.add(feed);
    // Freed by the worker when it has ended.
    auto* copy = new BackgroundRequest(worker, program, client_of_copy(feed), BackgroundRequest::Drain::kCancel);
    make_copy(request, program::host_of_copies(host.view, record), worker.loop().now(), copy->request());
    copy->request().send_to(*program->pools[backend], program->program->backends()[backend]);
    feed->tell(&copy->client());
    worker.keep(*copy);
    copy->copy(std::move(feed));
  }
}

void refresh_in_background(Worker& worker, const ProgramPin& program, const ForwardRequest& request,
                           std::unique_ptr<cache::Transaction> refresh) {
  auto* fetching =
      new BackgroundRequest(worker, program, std::make_unique<NoClient>(), BackgroundRequest::Drain::kGoOn);
  make_refresh(request, worker.loop().now(), fetching->request());
  worker.keep(*fetching);
  fetching->refresh(std::move(refresh));
}

}  // namespace edge::runtime

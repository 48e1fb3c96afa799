#include "runtime/shape/cache/cached_response.h"

#include <algorithm>
#include <string>

#include "runtime/phase/cross_thread_wake.h"

namespace edge::runtime::cache {
namespace {

using net::Wake;
using Plan = Transaction::Plan;
using std::chrono::seconds;

/// How long another's answer is waited for, whatever the request's own deadline allows.
constexpr net::Duration kMostWaited = seconds(5);
/// Room for what an answer's head has beside the stored one.
constexpr std::size_t kAddedToHead = 512;

/// The range of a stored body that a response sends.
class StoredBody final : public BodySource {
 public:
  StoredBody(Transaction& cache, const Body& body, AnswerBody answer)
      : cache_(cache), body_(body), answer_(std::move(answer)) {}
  std::uint64_t size() const override { return answer_.size(); }
  std::string_view read(std::uint64_t at, std::span<char>) override { return answer_.read(body_, at); }
  More await(std::uint64_t at, const std::function<void()>& wake) override {
    return cache_.await(answer_.stored_at(at), wake);
  }

 private:
  Transaction& cache_;
  const Body& body_;
  AnswerBody answer_;
};

/// Whether a page replaces the body: what is stored is what the backend said.
bool is_replaced(const ResponseTarget& target, std::string_view head) {
  BufferedResponse* const buffered = target.rules.buffered.get();
  if (buffered == nullptr || buffered->pages == nullptr) return false;
  Scratch& scratch = target.worker.scratch;
  net::http1::ParseHint hint;
  const auto parsed = net::http1::parse_response(head, target.rules.method, scratch.limits, hint, scratch.response);
  return parsed.state == net::http1::ParseState::kComplete && buffered->replace(scratch.response, head);
}

}  // namespace

net::Task<Failure> join_fetch(Transaction& cache, Plan& plan, const ClientEnd& client, net::Loop& loop,
                              net::Time deadline) {
  const net::Time until = std::min(deadline, loop.now() + kMostWaited);
  bool patient = true;
  while (plan == Plan::kFetch) {
    const CrossThreadWake news(client.waiter, loop);
    plan = cache.fetch(patient ? news.callback() : std::function<void()>());
    if (plan != Plan::kWait) break;
    cache.keep();
    client.inlet.keep();
    const Wake why = co_await client.waiter.wait(until, client.channel, net::kHangUp);
    if (why == Wake::kCancelled) co_return Failure{Origin::kProxy, FailureKind::kCancelled, false};
    if (client.channel.hung_up()) co_return Failure{Origin::kClient, FailureKind::kClientGone, false};
    if (why == Wake::kTimeout && deadline <= loop.now()) {
      co_return Failure{Origin::kProxy, FailureKind::kRequestTimeout, false};
    }
    patient = why != Wake::kTimeout;
    plan = cache.look_up();
  }
  co_return Failure{};
}

net::Task<ExchangeResult> deliver_stored(Transaction& cache, const ResponseTarget& target,
                                         const ExchangeResult& before) {
  // Shared: the store may let go of it before it is with the client.
  const std::shared_ptr<const Entry> entry = cache.entry();
  net::Buffer text;
  const std::span<char> room = text.room(entry->head.size() + kAddedToHead);
  net::http1::HeadWriter out(room.data(), room.size());
  AnswerBody answer = cache.write_head(out);
  text.grow(out.size());
  const std::string fields(cache.fields());

  if (is_replaced(target, text.view())) {
    ExchangeResult result = co_await deliver_buffered(target, fields, before);
    co_return result;
  }
  StoredBody body(cache, *entry->body, std::move(answer));
  const StoredResponse stored{text.view(), body, fields, {}, false};
  ExchangeResult result = co_await deliver(target, stored, before);
  co_return result;
}

}  // namespace edge::runtime::cache

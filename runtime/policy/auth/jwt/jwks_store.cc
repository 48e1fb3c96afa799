#include "runtime/policy/auth/jwt/jwks_store.h"

#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "net/client/http_client.h"
#include "net/tls/record_layer.h"
#include "runtime/policy/auth/call.h"

namespace edge::runtime::auth {
namespace {

using net::Wake;
using net::client::Answer;
using net::client::Url;

constexpr net::Duration kFetchTime = std::chrono::seconds(10);
/// How long a request waits for keys.
constexpr net::Duration kPatience = std::chrono::seconds(5);
/// Requests that wait for one fetch; further ones are told what is known.
constexpr std::size_t kMostWaiting = 1024;
constexpr std::string_view kFields = "Accept: application/jwk-set+json, application/json\r\n";

}  // namespace

struct JwksSource::State {
  State(Url address, std::shared_ptr<const net::tls::Authorities> believed, const JwksPace& pace)
      : url(std::move(address)), authorities(std::move(believed)), schedule(pace) {}

  const Url url;
  const std::shared_ptr<const net::tls::Authorities> authorities;
  WaitList waiting{kMostWaiting};

  std::mutex mutex;
  // Under the mutex:
  JwksSchedule schedule;
  std::shared_ptr<const KeySet> keys;
  std::uint64_t generation = 0;
  std::string document;  ///< that the keys were read from
  std::string fault;
  std::uint64_t fetches = 0;
  bool fetching = true;
  bool wanted = true;
  /// Of the request that the next fetch is made for: what it tells of its trace.
  std::string trace_fields;

  /// Of the task that tends it, while it pauses. Of the fetcher's thread.
  net::Waiter* pause = nullptr;

  KeysNow now(net::Time now) { return schedule.usable(now) ? KeysNow{keys, generation} : KeysNow{}; }
};

/// The fetching thread, its event loop and its HTTP client.
class JwksSource::Fetcher : public std::enable_shared_from_this<JwksSource::Fetcher> {
 public:
  Fetcher(net::client::Resolver& resolver, std::shared_ptr<const std::vector<Cidr>> denied)
      : client_(loop_, resolver, records_,
                {.max_connections = 4, .max_idle = 1, .max_head = std::size_t{16} << 10, .denied = std::move(denied)}) {
    thread_ = std::thread([this] { loop_.run(); });
  }
  ~Fetcher() { stop(); }
  Fetcher(const Fetcher&) = delete;
  Fetcher& operator=(const Fetcher&) = delete;

  void stop() {
    if (!thread_.joinable()) return;
    loop_.post([this] {
      stopping_ = true;
      for (net::Waiter* waiter : std::vector(waiters_)) waiter->cancel();
      if (waiters_.empty()) loop_.stop();
    });
    thread_.join();
  }
  void begin(std::shared_ptr<State> state) {
    loop_.post([this, state = std::move(state)] { tend(state); });
  }
  /// Has the task that tends it look what is wanted.
  void rouse(std::shared_ptr<State> state) {
    loop_.post([state = std::move(state)] {
      if (state->pause != nullptr) state->pause->wake(Wake::kReady);
    });
  }

 private:
  net::Detached tend(std::shared_ptr<State> state);
  bool begin_fetch(State& state, std::string& fields);
  void finish_fetch(State& state, const Answer& answer);

  net::Loop loop_;
  net::tls::RecordRoom records_;
  net::client::HttpClient client_;
  /// What its tasks wait with.
  std::vector<net::Waiter*> waiters_;
  bool stopping_ = false;
  std::thread thread_;
};

net::Detached JwksSource::Fetcher::tend(std::shared_ptr<State> state) {
  // Two, so that nobody who rouses the task from its pause wakes it in a call.
  net::Waiter calling(loop_);
  net::Waiter pause(loop_);
  waiters_.push_back(&calling);
  waiters_.push_back(&pause);
  state->pause = &pause;
  Wake why = Wake::kReady;
  std::string fields;
  while (!stopping_ && why != Wake::kCancelled && begin_fetch(*state, fields)) {
    const Answer answer = co_await client_.call(calling, {.url = state->url,
                                                          .fields = fields,
                                                          .until = loop_.now() + kFetchTime,
                                                          .max_body = kMaxKeySetBytes,
                                                          .authorities = state->authorities});
    finish_fetch(*state, answer);
    net::Time due;
    {
      const std::scoped_lock lock(state->mutex);
      due = state->schedule.next();
    }
    why = co_await pause.wait(due);
  }
  state->pause = nullptr;
  std::erase(waiters_, &calling);
  std::erase(waiters_, &pause);
  if (stopping_ && waiters_.empty()) loop_.stop();
}

/// False when nobody wants the keys any more.
bool JwksSource::Fetcher::begin_fetch(State& state, std::string& fields) {
  const std::scoped_lock lock(state.mutex);
  if (!state.wanted) return false;
  fields = kFields;
  fields += std::exchange(state.trace_fields, {});
  state.fetching = true;
  ++state.fetches;
  state.schedule.begin(loop_.now());
  return true;
}

void JwksSource::Fetcher::finish_fetch(State& state, const Answer& answer) {
  std::string fault;
  if (!answer.ok()) {
    fault = std::string(net::client::fault_word(answer.fault));
  } else if (answer.status != 200) {
    fault = "status " + std::to_string(answer.status);
  }
  Result<KeySet> read = fault.empty() ? read_key_set(answer.body) : Error{ErrorCode::kUnavailable, fault};
  if (!read) fault = read.error().text;
  // An issuer that has no keys has a fault: nothing that it signed could be checked.
  if (read && read->keys.empty()) fault = "none of the keys can be used";
  const std::scoped_lock lock(state.mutex);
  state.fetching = false;
  state.fault = fault;
  if (!fault.empty()) {
    state.schedule.fail(loop_.now());
  } else {
    state.schedule.succeed(loop_.now(), freshness(answer.value("cache-control"), answer.value("expires"),
                                                  answer.value("date"), answer.value("age")));
    if (state.keys == nullptr || state.document != answer.body) {
      state.keys = std::make_shared<const KeySet>(*std::move(read));
      state.document = answer.body;
      state.generation = hash_bytes(0, answer.body);
    }
  }
  // Under the mutex: who finds that no fetch is under way, and asks for one, is not woken by the end of this one.
  state.waiting.wake_all();
}

JwksSource::JwksSource(std::shared_ptr<Fetcher> fetcher, std::shared_ptr<State> state)
    : fetcher_(std::move(fetcher)), state_(std::move(state)) {}

JwksSource::~JwksSource() {
  {
    const std::scoped_lock lock(state_->mutex);
    state_->wanted = false;
  }
  fetcher_->rouse(state_);
}

KeysNow JwksSource::keys(net::Time now) const {
  const std::scoped_lock lock(state_->mutex);
  return state_->now(now);
}

net::Task<KeysNow> JwksSource::renewed(net::Loop& loop, net::Waiter& waiter, trace::StepCalls calls) const {
  const net::Time now = loop.now();
  std::shared_ptr<WaitList::Entry> entry;
  trace::Step step;
  {
    const std::scoped_lock lock(state_->mutex);
    if (!state_->fetching && !state_->schedule.may_ask(now)) return state_->now(now);
    // Under the mutex: whoever ends the fetch comes after this.
    entry = state_->waiting.enter(loop, waiter);
    if (!std::exchange(state_->fetching, true)) {
      if (entry != nullptr) {
        step = calls.begin();
        state_->trace_fields = trace_fields(calls, step, Callee::kIdentityProvider);
      }
      fetcher_->rouse(state_);
    }
    if (entry == nullptr) return state_->now(now);
  }
  if (!step) step = calls.begin();
  return wait(std::move(entry), loop, waiter, calls, step);
}

net::Task<KeysNow> JwksSource::wait(std::shared_ptr<WaitList::Entry> entry, net::Loop& loop, net::Waiter& waiter,
                                    trace::StepCalls calls, trace::Step step) const {
  co_await waiter.wait(loop.now() + kPatience);
  state_->waiting.leave(entry);
  const KeysNow now = keys(loop.now());
  if (step) {
    const std::string_view fault = now.keys == nullptr ? "keys-unavailable" : "";
    end_call(calls, step, "call keys",
             {.host = state_->url.host, .port = state_->url.port, .method = "GET", .fault = fault});
  }
  co_return now;
}

std::string JwksSource::fault() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->fault;
}

std::uint64_t JwksSource::fetches() const {
  const std::scoped_lock lock(state_->mutex);
  return state_->fetches;
}

struct JwksStore::Shelf {
  std::mutex mutex;
  std::shared_ptr<JwksSource::Fetcher> fetcher;
  std::map<std::string, std::weak_ptr<const JwksSource>> sources;
};

JwksStore::JwksStore(net::client::Resolver& resolver, const JwksPace& pace,
                     std::shared_ptr<const std::vector<Cidr>> denied)
    : resolver_(resolver), pace_(pace), denied_(std::move(denied)), shelf_(std::make_unique<Shelf>()) {}

JwksStore::~JwksStore() {
  if (shelf_->fetcher != nullptr) shelf_->fetcher->stop();
}

std::shared_ptr<const JwksSource> JwksStore::source(const Url& url,
                                                    std::shared_ptr<const net::tls::Authorities> authorities) {
  const std::scoped_lock lock(shelf_->mutex);
  std::erase_if(shelf_->sources, [](const auto& entry) { return entry.second.expired(); });
  std::weak_ptr<const JwksSource>& known = shelf_->sources[url.origin() + url.target];
  std::shared_ptr<const JwksSource> source = known.lock();
  // Others are believed now: what the old ones vouched for is fetched anew.
  if (source != nullptr && source->state_->authorities == authorities) return source;
  if (shelf_->fetcher == nullptr) shelf_->fetcher = std::make_shared<JwksSource::Fetcher>(resolver_, denied_);
  auto state = std::make_shared<JwksSource::State>(url, std::move(authorities), pace_);
  source = std::shared_ptr<const JwksSource>(new JwksSource(shelf_->fetcher, state));
  known = source;
  shelf_->fetcher->begin(std::move(state));
  return source;
}

}  // namespace edge::runtime::auth

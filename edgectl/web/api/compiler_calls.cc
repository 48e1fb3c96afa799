#include "edgectl/web/api/compiler_calls.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <utility>

#include "base/text/json.h"

namespace edge::edgectl::web {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds kTime = std::chrono::minutes(2);
/// The process's own deadline ends it; this one only gives up.
constexpr net::Duration kJobTime = kTime + std::chrono::seconds(5);
constexpr std::chrono::milliseconds kIdle = std::chrono::minutes(3);
/// What is not kept may change without notice.
constexpr net::Duration kUnkeptFor = std::chrono::seconds(30);
constexpr std::array<std::string_view, 2> kUnkept = {"Secret", "ConfigMap"};

}  // namespace

/// A place in the queue; the destructor lets the next one go on.
class CompilerCalls::Turn {
 public:
  explicit Turn(CompilerCalls& calls) : calls_(calls), waiter_(calls.waiters_) { calls_.turns_.push_back(this); }
  ~Turn() {
    std::erase(calls_.turns_, this);
    if (!calls_.turns_.empty()) (*calls_.turns_.front()->waiter_).wake_later();
  }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  net::Waiter& waiter() { return *waiter_; }

 private:
  CompilerCalls& calls_;
  CallWaiter waiter_;
};

CompilerCalls::CompilerCalls(kube::Client& client, ObjectStore& store, CallWaiters& waiters,
                             std::string controller_class)
    : client_(client),
      store_(store),
      waiters_(waiters),
      controller_class_(std::move(controller_class)),
      jobs_(waiters.loop(), /*most=*/2) {}

void CompilerCalls::stop() {
  process_.stop();
  jobs_.close();
}

net::Task<bool> CompilerCalls::wait_for_turn(Turn& turn) {
  while (turns_.front() != &turn) {
    const net::Wake wake = co_await turn.waiter().wait(net::kNever);
    if (wake == net::Wake::kCancelled) co_return false;
  }
  co_return !waiters_.stopped();
}

net::Task<CompilerCalls::Outcome> CompilerCalls::ask(std::string call, json parameters) {
  if (turns_.size() >= kMost) {
    co_return Outcome{.json = Error{ErrorCode::kResourceExhausted, "too many calls wait: try again later"}};
  }
  Turn turn(*this);
  const bool mine = co_await wait_for_turn(turn);
  if (!mine) co_return Outcome{};
  if (!store_.synced()) {
    const std::string why = store_.fault().empty() ? "it is still being read" : store_.fault();
    co_return Outcome{.json = Error{ErrorCode::kUnavailable, "the configuration is not known: " + why}};
  }
  const unsigned known = known_;
  Outcome outcome = co_await ask_in_turn(call, parameters);
  // A process that was there already may have ended between two calls.
  if (known != 0 && !outcome.json.ok() && outcome.json.error().code == ErrorCode::kUnavailable) {
    outcome = co_await ask_in_turn(std::move(call), std::move(parameters));
  }
  co_return outcome;
}

net::Task<CompilerCalls::Outcome> CompilerCalls::ask_in_turn(std::string call, json parameters) {
  used_ = true;
  if (Status started = process_.start(); !started) co_return Outcome{.json = started.error()};
  const bool forget = known_ != process_.generation();
  json changes = {{"put", json::array()}, {"remove", json::array()}, {"replace", json::array()}};
  std::string texts;
  if (forget || store_.has_changes() || waiters_.loop().now() >= unkept_until_) {
    co_await read_unkept(changes, texts);
  }
  const bool all =
      store_.take_changes(forget, [&](std::string_view plural, std::string_view key, const std::string* text) {
        if (text == nullptr) {
          changes["remove"].push_back({plural, key});
        } else {
          changes["put"].push_back({plural, key, text->size()});
          texts += *text;
        }
      });
  changes["forget"] = all;
  known_ = process_.generation();
  const auto message = std::make_shared<std::string>(json_line(json{{"call", call},
                                                                    {"controllerClass", controller_class_},
                                                                    {"parameters", std::move(parameters)},
                                                                    {"changes", std::move(changes)}}) +
                                                     "\n" + texts);
  texts = {};
  const Jobs::Work work = [this, message] { return process_.ask(*message, kTime); };
  Jobs::Outcome done = co_await jobs_.run(work, kJobTime);
  const auto lost = [](ErrorCode code) {
    return code == ErrorCode::kUnavailable || code == ErrorCode::kDeadlineExceeded || code == ErrorCode::kInternal ||
           code == ErrorCode::kResourceExhausted;
  };
  if (!done.result && lost(done.result.error().code)) known_ = 0;
  co_return Outcome{.json = std::move(done.result), .notes = notes_};
}

net::Task<bool> CompilerCalls::read_unkept(json& changes, std::string& texts) {
  std::vector<std::string> notes;
  for (const std::string_view name : kUnkept) {
    const schemas::Kind* kind = schemas::find_kind(name);
    const std::string plural(kind->plural);
    CallWaiter waiter(waiters_);
    kube::ListOptions options;
    options.reading = {.api_version = std::string(kind->api_version), .kind = std::string(kind->kind)};
    kube::Resource resource{.group = {}, .version = "v1", .plural = plural, .kind = std::string(kind->kind)};
    const kube::ListReply list = co_await client_.list_all(*waiter, std::move(resource), std::move(options));
    changes["replace"].push_back(plural);
    if (!list.ok()) {
      notes.push_back(plural + " cannot be read, so what names them takes no part: " + list.failure.text());
      continue;
    }
    for (const kube::Object& object : list.list.items) {
      changes["put"].push_back({plural, object.key(), object.text.size()});
      texts += object.text;
    }
  }
  notes_ = std::move(notes);
  unkept_until_ = waiters_.loop().now() + kUnkeptFor;
  co_return true;
}

void CompilerCalls::rest() {
  if (used_ && turns_.empty()) end_if_idle();
}

net::Detached CompilerCalls::end_if_idle() {
  Turn turn(*this);
  const Jobs::Work work = [this]() -> Result<std::string> {
    return process_.end_if_idle(kIdle) ? std::string("ended") : std::string();
  };
  const Jobs::Outcome done = co_await jobs_.run(work, kJobTime);
  if (done.result && !done.result->empty()) {
    used_ = false;
    known_ = 0;
  }
}

}  // namespace edge::edgectl::web

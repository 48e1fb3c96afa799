#include "controller/revoked_agents.h"

#include <chrono>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/rights/access.h"

namespace edge::controller {
namespace {

using namespace std::chrono_literals;

constexpr const char* kKey = "revoked";
/// After somebody else has written at the same time.
constexpr net::Duration kSoon = 50ms;
constexpr net::Duration kLater = 10s;

kube::Resource map_resource() { return {.group = {}, .version = "v1", .plural = "configmaps", .kind = "ConfigMap"}; }

}  // namespace

RevokedAgents::RevokedAgents(kube::Client& client, RevokedAgentsOptions options)
    : client_(client), options_(std::move(options)), waiter_(client.loop()), calling_(client.loop()) {
  pump();
}

bool RevokedAgents::is_it(std::string_view name_space, std::string_view name) const {
  return name == kRevokedAgentsMap && name_space == options_.name_space;
}

void RevokedAgents::observe(std::string_view text) {
  const nlohmann::json object = parse_json(text);
  const std::string& revoked = text_in(member_in(object, "data"), kKey);
  version_ = text_in(member_in(object, "metadata"), "resourceVersion");
  observed_ = Revocations::read(revoked).of_agents(std::chrono::system_clock::now());
  options_.learned(observed_.text());
  wake();
}

void RevokedAgents::synced() {
  known_ = true;
  wake();
}

void RevokedAgents::share(std::function<void(Status)> done) {
  if (done) waiting_.push_back(std::move(done));
  wake();
}

void RevokedAgents::wake() {
  if (waiter_.waiting()) waiter_.wake_later();
}

void RevokedAgents::answer(const Status& status) {
  for (const auto& done : std::exchange(waiting_, {})) done(status);
}

net::Detached RevokedAgents::pump() {
  net::Time again{};
  while (!stopping_) {
    if (!known_) {
      co_await waiter_.wait(net::kNever);
      continue;
    }
    Revocations all = observed_;
    all.merge(Revocations::read(options_.own()));
    const bool fits = all.fit(kMostBytes, std::chrono::system_clock::now());
    const std::string text = all.text();
    if (text == observed_.text()) {
      answer({});
      co_await waiter_.wait(net::kNever);
      continue;
    }
    if (waiting_.empty() && client_.loop().now() < again) {
      co_await waiter_.wait(again);
      continue;
    }
    kube::Failure failure{.kind = kube::Failure::Kind::kMalformed,
                          .message = "more agents are revoked than an object takes"};
    if (fits) failure = co_await write(text);
    if (stopping_) break;
    if (failure.none()) {
      told_.clear();
      continue;
    }
    again = client_.loop().now() + kLater;
    if (std::exchange(told_, failure.text()) != failure.text()) {
      options_.log.error("other controllers do not learn which agents are revoked here: " + failure.text(),
                         {{"object", options_.name_space + "/" + std::string(kRevokedAgentsMap)}});
    }
    answer(failure.as_error());
  }
  answer(Error{ErrorCode::kUnavailable, "the controller ends"});
  pumping_ = false;
  finish_when_idle();
}

/// By the object's version: of two who write at once one gets a conflict, and reads what the other has written. No
/// failure: the object has been observed, with the text or without.
net::Task<kube::Failure> RevokedAgents::write(const std::string& text) {
  const kube::Resource resource = map_resource();
  const std::string name(kRevokedAgentsMap);
  nlohmann::json object = {{"data", {{kKey, text}}}};
  const bool is_new = version_.empty();
  kube::ObjectReply reply;
  if (is_new) {
    object["apiVersion"] = "v1";
    object["kind"] = "ConfigMap";
    object["metadata"] = {{"name", name}, {"namespace", options_.name_space}};
    reply = co_await client_.create(calling_, resource, options_.name_space, json_line(object));
  } else {
    object["metadata"] = {{"resourceVersion", version_}};
    reply = co_await client_.patch(calling_, resource, options_.name_space, name, kube::PatchType::kMerge,
                                   json_line(object));
  }
  const bool raced =
      reply.failure.conflict() || reply.failure.already_exists() || (!is_new && reply.failure.not_found());
  if (!stopping_ && raced) {
    co_await calling_.wait(client_.loop().now() + kSoon);
    reply = co_await client_.get(calling_, resource, options_.name_space, name);
    if (reply.failure.not_found()) reply.failure = {};
  }
  if (!stopping_ && reply.failure.none()) observe(reply.object.text);
  co_return reply.failure;
}

void RevokedAgents::stop(std::function<void()> done) {
  done_ = std::move(done);
  stopping_ = true;
  waiter_.cancel();
  calling_.cancel();
  finish_when_idle();
}

void RevokedAgents::finish_when_idle() {
  if (stopping_ && !pumping_ && done_) std::exchange(done_, nullptr)();
}

}  // namespace edge::controller

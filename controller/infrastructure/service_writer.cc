#include "controller/infrastructure/service_writer.h"

#include <utility>

namespace edge::controller {
namespace {

constexpr std::string_view kGateway = "Gateway";

bool is_made(std::string_view kind) { return kind == "Service" || kind == "EndpointSlice"; }

}  // namespace

ServiceWriter::ServiceWriter(kube::Client& client, std::string controller_class, Logger log)
    : client_(client),
      log_(std::move(log)),
      queue_(std::move(controller_class)),
      recorder_(client),
      waiter_(client.loop()),
      calling_(client.loop()) {
  pump();
}

void ServiceWriter::set_desired(const ResourceId& gateway, const std::shared_ptr<const GatewayService>& service) {
  queue_.set_desired(gateway, service);
  wake();
}

void ServiceWriter::observe(const ResourceId& key, std::string_view text) {
  if (key.kind == kGateway) return queue_.observe_gateway(key);
  if (!is_made(key.kind)) return;
  queue_.observe(key, text);
  wake();
}

void ServiceWriter::forget(const ResourceId& key) {
  if (key.kind == kGateway) {
    queue_.forget_gateway(key);
  } else if (is_made(key.kind)) {
    queue_.forget(key);
  } else {
    return;
  }
  wake();
}

void ServiceWriter::synced() {
  queue_.synced();
  wake();
}

void ServiceWriter::lead(bool leads) {
  leads_ = leads;
  wake();
}

void ServiceWriter::wake() {
  if (waiter_.waiting()) waiter_.wake_later();
}

net::Detached ServiceWriter::pump() {
  while (!stopping_) {
    const net::Time now = client_.loop().now();
    auto due = leads_ ? queue_.next(now) : std::nullopt;
    if (!due) {
      const net::Time until = leads_ ? queue_.due() : net::kNever;
      co_await waiter_.wait(until);
      continue;
    }
    std::string text;
    const kube::Failure failure = co_await call(*due, text);
    if (stopping_) break;
    using enum ServiceQueue::Result;
    const bool gone = due->verb != ServiceQueue::Call::Verb::kCreate && failure.not_found();
    const auto result = failure.none() || gone ? kDone : failure.already_exists() ? kTaken : kFailed;
    if (result != kDone) tell(*due, failure);
    if (result == kDone) told_.clear();
    queue_.done(*due, result, text, failure.retry_after, client_.loop().now());
  }
  pumping_ = false;
  finish_when_idle();
}

net::Task<kube::Failure> ServiceWriter::call(const ServiceQueue::Call& call, std::string& text) {
  const kube::Resource resource = resources_[call.key.kind];
  const std::string& space = call.key.name_space;
  if (call.verb == ServiceQueue::Call::Verb::kDelete) {
    kube::DeleteOptions options;
    options.uid = call.uid;
    const kube::Reply reply = co_await client_.remove(calling_, resource, space, call.key.name, options);
    co_return reply.failure;
  }
  kube::ObjectReply reply;
  if (call.verb == ServiceQueue::Call::Verb::kCreate) {
    reply = co_await client_.create(calling_, resource, space, call.body);
  } else {
    reply = co_await client_.patch(calling_, resource, space, call.key.name, kube::PatchType::kMerge, call.body);
  }
  text = std::move(reply.object.text);
  co_return reply.failure;
}

void ServiceWriter::tell(const ServiceQueue::Call& call, const kube::Failure& failure) {
  if (failure.kind != kube::Failure::Kind::kRefused || failure.conflict()) return;
  std::string text = call.key.text() + " of the Gateway cannot be written: " + failure.text();
  if (failure.already_exists()) text = call.key.text() + " is somebody else's, so that the Gateway gets none";
  if (!call.gateway.name.empty()) {
    recorder_.record({"gateway.networking.k8s.io/v1", call.gateway.kind, call.gateway.name_space, call.gateway.name,
                      call.gateway_uid},
                     kube::EventLevel::kWarning, "ServiceNotWritten", text);
  }
  if (told_ == text) return;
  log_.warn(text);
  told_ = std::move(text);
}

void ServiceWriter::stop(std::function<void()> done) {
  stopping_ = true;
  done_ = std::move(done);
  calling_.cancel();
  waiter_.cancel();
  finish_when_idle();
}

void ServiceWriter::finish_when_idle() {
  if (!stopping_ || pumping_ || !done_) return;
  std::exchange(done_, nullptr)();
}

}  // namespace edge::controller

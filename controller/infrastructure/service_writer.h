// Makes the objects of Gateways that ask for them (ServiceQueue): one call at a time, as the leader alone. A name that
// somebody else's object has is told by an event of the Gateway.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "base/log.h"
#include "controller/infrastructure/service_queue.h"
#include "controller/kube/client.h"
#include "controller/kube/recorder.h"

namespace edge::controller {

/// Runs on the client's loop.
class ServiceWriter {
 public:
  ServiceWriter(kube::Client& client, std::string controller_class, Logger log);
  ServiceWriter(const ServiceWriter&) = delete;
  ServiceWriter& operator=(const ServiceWriter&) = delete;

  /// Sets the API resource that a kind is written through.
  void serve(const std::string& kind, const kube::Resource& resource) { resources_[kind] = resource; }
  void set_desired(const ResourceId& gateway, const std::shared_ptr<const GatewayService>& service);
  /// An object of the cluster, of any kind; `text`: the whole.
  void observe(const ResourceId& key, std::string_view text);
  void forget(const ResourceId& key);
  void synced();
  void lead(bool leads);
  /// Cancels the call; calls `done` when none is left.
  void stop(std::function<void()> done);

 private:
  net::Detached pump();
  net::Task<kube::Failure> call(const ServiceQueue::Call& call, std::string& text);
  void tell(const ServiceQueue::Call& call, const kube::Failure& failure);
  void wake();
  void finish_when_idle();

  kube::Client& client_;
  Logger log_;
  ServiceQueue queue_;
  kube::Recorder recorder_;
  std::map<std::string, kube::Resource> resources_;
  std::string told_;  ///< the last failure that was logged
  net::Waiter waiter_;
  net::Waiter calling_;
  bool leads_ = false;
  bool stopping_ = false;
  bool pumping_ = true;
  std::function<void()> done_;
};

}  // namespace edge::controller

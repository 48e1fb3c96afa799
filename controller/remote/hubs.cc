#include "controller/remote/hubs.h"

#include <chrono>

#include <nlohmann/json.hpp>

#include "base/text/base64.h"
#include "base/text/json.h"
#include "controller/authority/remote_identity.h"

namespace edge::controller::remote {
namespace {

constexpr std::size_t kMaxPem = 32 << 10;

std::string value_in(const nlohmann::json& data, const char* key) {
  const std::string& text = text_in(data, key);
  if (text.empty() || text.size() > 2 * kMaxPem) return {};
  return from_base64(text).value_or(std::string());
}

std::pair<std::string, std::string> secret_in(const nlohmann::json& tls, const char* field, const std::string& own) {
  const nlohmann::json& reference = member_in(tls, field);
  const std::string& space = text_in(reference, "namespace");
  return {space.empty() ? own : space, text_in(reference, "name")};
}

std::string with_newline(std::string pem) {
  if (!pem.empty() && !pem.ends_with('\n')) pem += '\n';
  return pem;
}

}  // namespace

void Hubs::put(const std::string& name_space, const std::string& name, std::string_view document) {
  const nlohmann::json object = parse_json(document);
  const nlohmann::json& spec = member_in(object, "spec");
  const nlohmann::json& tls = member_in(spec, "tls");
  const nlohmann::json& suspended = member_in(spec, "suspended");
  const std::lock_guard lock(mutex_);
  const Name full(name_space, name);
  if (!objects_.contains(full) && objects_.size() >= RemoteClusters::kMostClusters) return;
  Object& known = objects_[full];
  known.hub = text_in(spec, "controllerAddress");
  known.client_secret = secret_in(tls, "clientSecretRef", name_space);
  known.ca_secret = secret_in(tls, "caSecretRef", name_space);
  known.suspended = suspended.is_boolean() && suspended.get<bool>();
  look(full, known);
}

void Hubs::remove(const std::string& name_space, const std::string& name) {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({name_space, name});
  if (found == objects_.end()) return;
  retire(std::move(found->second.spoke));
  objects_.erase(found);
}

/// Of most Secrets nothing is kept.
bool Hubs::put_secret(const std::string& name_space, const std::string& name, std::string_view document) {
  const nlohmann::json object = parse_json(document);
  const nlohmann::json& data = member_in(object, "data");
  Secret secret{.certificate = with_newline(value_in(data, "tls.crt")),
                .key = {},
                .authorities = with_newline(value_in(data, "ca.crt"))};
  const auto facts = read_certificate(secret.certificate);
  if (facts && facts->subject.role == Role::kRemote) {
    secret.key = with_newline(value_in(data, "tls.key"));
  } else {
    secret.certificate.clear();
  }
  const std::lock_guard lock(mutex_);
  const Name full(name_space, name);
  if (secret.certificate.empty() && secret.authorities.empty()) {
    if (secrets_.erase(full) == 0) return false;
  } else {
    secrets_.insert_or_assign(full, std::move(secret));
  }
  for (auto& [of, known] : objects_) {
    if (known.client_secret == full || known.ca_secret == full) look(of, known);
  }
  return true;
}

/// Starts the connection, or ends it, where something else is there than before.
void Hubs::look(const Name& name, Object& object) {
  std::string text;
  const auto client = secrets_.find(object.client_secret);
  const auto ca = object.ca_secret.second.empty() ? client : secrets_.find(object.ca_secret);
  const bool known = client != secrets_.end() && ca != secrets_.end() && !client->second.certificate.empty() &&
                     !ca->second.authorities.empty();
  if (known && !options_.issued_here(client->second.certificate)) {
    text = text_of(RemoteIdentity{.hub = {},
                                  .cluster = name.second,
                                  .certificate = client->second.certificate,
                                  .key = client->second.key,
                                  .authorities = ca->second.authorities});
  }
  const bool wanted = !text.empty() && !object.suspended;
  const bool same = text == object.joins_with && object.hub == object.called;
  if (same && wanted == (object.spoke != nullptr)) return;
  object.joins_with = std::move(text);
  object.called = object.hub;
  object.fault.clear();
  retire(std::move(object.spoke));
  if (!wanted) return;
  std::size_t open = 0;
  for (const auto& [of, other] : objects_) open += other.spoke != nullptr ? 1 : 0;
  if (open >= kMostHubs) {
    object.fault = "there are more than " + std::to_string(kMostHubs) + " hubs";
    return;
  }
  SpokeOptions options = options_.spoke;
  options.hub = object.hub;
  options.join_text = object.joins_with;
  options.file = "hub-" + name.first + "-" + name.second + ".pem";
  auto spoke = Spoke::start(std::move(options));
  if (spoke) {
    object.spoke = std::move(*spoke);
  } else {
    object.fault = spoke.error().text;
  }
}

/// A call may be under way: whoever watches objects does not wait for it.
void Hubs::retire(std::unique_ptr<Spoke> spoke) {
  if (spoke == nullptr) return;
  std::erase_if(retired_, [](const std::future<void>& one) {
    return one.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  });
  retired_.push_back(std::async(std::launch::async, [ends = std::move(spoke)]() mutable { ends.reset(); }));
}

bool Hubs::has(const std::string& name_space, const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find({name_space, name});
  return found != objects_.end() && !found->second.joins_with.empty();
}

RemoteViews Hubs::views() const {
  const std::lock_guard lock(mutex_);
  RemoteViews views;
  for (const auto& [name, object] : objects_) {
    if (object.joins_with.empty()) continue;
    RemoteView& view = views[name.first + "/" + name.second];
    if (object.spoke == nullptr) {
      view.phase = object.suspended ? PhaseView{Phase::kDisconnected, "Suspended", "spec.suspended keeps it out"}
                                    : PhaseView{Phase::kFailed, "CannotConnect", object.fault};
      continue;
    }
    SpokeView spoke = object.spoke->view();
    view.phase = std::move(spoke.phase);
    view.version = std::move(spoke.version);
    view.cluster_uid = std::move(spoke.cluster_uid);
    view.report = spoke.report;
    view.heard = spoke.heard;
    view.certificate_until = spoke.certificate_until;
    view.address = std::move(spoke.hub);
    view.round_trip = spoke.round_trip;
    view.connections = spoke.connections;
  }
  return views;
}

void Hubs::stop() {
  std::map<Name, Object> ended;
  std::vector<std::future<void>> waited;
  {
    const std::lock_guard lock(mutex_);
    ended.swap(objects_);
    waited.swap(retired_);
  }
}

}  // namespace edge::controller::remote

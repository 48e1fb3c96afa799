#include "controller/operator/definitions.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/operator/installation.h"
#include "controller/operator/version.h"
#include "controller/operator/writer.h"
#include "schemas/crd.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// Names in one message.
constexpr std::size_t kMostNamed = 4;

const std::string& version_of(const json& definition) {
  return text_in(member_in(member_in(definition, "metadata"), "annotations"), schemas::kDefinitionVersion);
}

bool is_newer(const json& live, const json& wanted) {
  const auto there = parse_version(version_of(live));
  const auto own = parse_version(version_of(wanted));
  return there && own && *there > *own;
}

const json* find_version(const json& definition, const std::string& name) {
  const json& versions = list_in(member_in(definition, "spec"), "versions");
  const auto found = std::ranges::find_if(versions, [&](const json& one) { return text_in(one, "name") == name; });
  return found == versions.end() ? nullptr : &*found;
}

/// One whose objects have not all been written anew may neither be left out nor be stored in any more.
void keep_stored_versions(const json& live, json& next) {
  for (const json& stored : list_in(member_in(live, "status"), "storedVersions")) {
    const std::string& name = text_value(stored);
    const json* const there = find_version(live, name);
    if (there == nullptr || find_version(next, name) != nullptr) continue;
    json kept = *there;
    kept["storage"] = false;
    next["spec"]["versions"].push_back(std::move(kept));
  }
}

struct Amiss {
  std::string reason;
  std::string why;
  std::size_t count = 0;
  std::string names{};

  void add(const std::string& name, const kube::Failure& failure) {
    if (count == 0) {
      reason = failure.refused(403) ? "Forbidden" : "Refused";
      why = failure.text();
    }
    if (count < kMostNamed) names += (count == 0 ? "" : ", ") + name;
    ++count;
  }
  std::string text() const {
    const std::string more = count > kMostNamed ? " and " + std::to_string(count - kMostNamed) + " more" : "";
    return "definitions that are not known to be of version " EDGE_VERSION ": " + names + more + " (" + why +
           "); apply those of deploy/crds";
  }
};

}  // namespace

std::optional<json> next_definition(const json& live, const json& wanted) {
  if (!live.is_object()) return wanted;
  if (is_newer(live, wanted)) return std::nullopt;
  json next = wanted;
  keep_stored_versions(live, next);
  if (projection(live, next) == next) return std::nullopt;
  return next;
}

net::Task<DefinitionsResult> Definitions::upgrade(net::Waiter& waiter, kube::Resource kind) {
  DefinitionsResult result;
  Amiss amiss;
  std::string newer;
  std::size_t written = 0;
  for (const schemas::Kind& own : schemas::kinds()) {
    if (own.manifest == nullptr) continue;
    const json wanted = parse_json(schemas::crd_json(own));
    const std::string name = text_in(member_in(wanted, "metadata"), "name");
    if (done_.contains(name)) continue;
    const kube::ObjectReply there = co_await client_.get(waiter, kind, {}, name);
    kube::Failure failure = there.failure.not_found() ? kube::Failure{} : there.failure;
    const json live = there.ok() ? parse_json(there.object.text) : json();
    if (failure.none() && is_newer(live, wanted)) newer = version_of(live);
    const std::optional<json> next = failure.none() ? next_definition(live, wanted) : std::nullopt;
    if (next) {
      kube::WriteOptions options;
      options.field_manager = kFieldManager;
      options.force = true;
      ++writes_;
      const std::string text = json_line(*next);
      const kube::ObjectReply reply =
          co_await client_.patch(waiter, kind, {}, name, kube::PatchType::kApply, text, options);
      failure = reply.failure;
      if (failure.none()) ++written;
    }
    if (failure.none()) {
      done_.insert(name);
      continue;
    }
    if (failure.temporary() || failure.kind != kube::Failure::Kind::kRefused) result.again = true;
    amiss.add(name, failure);
  }
  if (written > 0) log_.info(std::to_string(written) + " definitions are of version " EDGE_VERSION " now");
  if (!newer.empty()) log_.info("the definitions are of version " + newer + ", newer than this operator, and stay");
  if (amiss.count == 0) co_return result;
  result.reason = std::move(amiss.reason);
  result.message = amiss.text();
  co_return result;
}

}  // namespace edge::cluster_operator

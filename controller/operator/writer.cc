#include "controller/operator/writer.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"

namespace edge::cluster_operator {
namespace {

using nlohmann::json;

/// An informer that has not told of a write for so long is not waited for.
constexpr net::Duration kInformerDelay = std::chrono::seconds(10);
/// Of installations at once, with a dozen objects each; what is over it is written once more, not wrongly.
constexpr std::size_t kMostApplied = 4096;

std::string known_version(const json* object) {
  return object == nullptr ? std::string() : text_in(member_in(*object, "metadata"), "resourceVersion");
}

std::string place_of(const Rendered& rendered) { return rendered.kind + " " + rendered.key(); }

}  // namespace

json projection(const json& live, const json& wanted) {
  if (wanted.is_object() && live.is_object()) {
    json made = json::object();
    for (const auto& [key, value] : wanted.items()) {
      if (const auto found = live.find(key); found != live.end()) made[key] = projection(*found, value);
    }
    return made;
  }
  if (wanted.is_array() && live.is_array() && wanted.size() == live.size()) {
    json made = json::array();
    for (std::size_t i = 0; i < wanted.size(); ++i) made.push_back(projection(live[i], wanted[i]));
    return made;
  }
  return live;
}

bool Writer::is_current(const Rendered& rendered, const json* live) {
  const auto found = applied_.find(place_of(rendered));
  Applied* const applied = found == applied_.end() || found->second.hash != rendered.hash ? nullptr : &found->second;
  // The informer has shown the write, or something after it: from then on what it shows counts, absence too.
  if (applied != nullptr && known_version(live) != applied->before) applied->until = {};
  if (applied != nullptr && client_.loop().now() < applied->until) {
    unseen_until_ = std::min(unseen_until_, applied->until);
    return true;
  }
  if (live == nullptr) return false;
  if (text_in(member_in(member_in(*live, "metadata"), "annotations"), kRenderedHash) != rendered.hash) return false;
  const json wanted = parse_json(rendered.text);
  const json there = projection(*live, wanted);
  return there == wanted || (applied != nullptr && json_line(there) == applied->form);
}

net::Task<kube::Failure> Writer::apply(net::Waiter& waiter, const Rendered& rendered) {
  const kube::Resource* const served = followed_.resource(rendered.kind);
  if (served == nullptr) co_return kube::Failure{};
  const ObjectPtr live = followed_.find(rendered.kind, rendered.key());
  if (is_current(rendered, live.get())) co_return kube::Failure{};
  const kube::Resource resource = *served;
  kube::WriteOptions options;
  options.field_manager = kFieldManager;
  options.force = true;
  ++writes_;
  kube::ObjectReply reply = co_await client_.patch(waiter, resource, rendered.name_space, rendered.name,
                                                   kube::PatchType::kApply, rendered.text, options);
  if (!reply.ok()) co_return std::move(reply.failure);
  if (applied_.size() >= kMostApplied) applied_.clear();
  const json answered = parse_json(reply.object.text);
  applied_[place_of(rendered)] = {.hash = rendered.hash,
                                  .before = known_version(live.get()),
                                  .until = client_.loop().now() + kInformerDelay,
                                  .form = json_line(projection(answered, parse_json(rendered.text)))};
  co_return kube::Failure{};
}

net::Task<kube::Failure> Writer::remove(net::Waiter& waiter, std::string kind, std::string name_space,
                                        std::string name) {
  const kube::Resource* const served = followed_.resource(kind);
  if (served == nullptr) co_return kube::Failure{};
  const kube::Resource resource = *served;
  ++writes_;
  kube::Reply reply = co_await client_.remove(waiter, resource, name_space, name);
  if (reply.failure.not_found()) co_return kube::Failure{};
  co_return std::move(reply.failure);
}

}  // namespace edge::cluster_operator

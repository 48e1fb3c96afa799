#include "edgectl/resources/complete.h"

#include <algorithm>

#include "edgectl/resources/agents.h"
#include "edgectl/resources/cluster.h"

namespace edge::edgectl {
namespace {

/// A shell waits for the answer with every key.
constexpr std::chrono::milliseconds kPatience(1500);
constexpr std::size_t kMostNames = 500;

std::unique_ptr<Cluster> ask(const cli::Arguments& given) {
  auto cluster = Cluster::open(given, kPatience);
  return cluster ? std::move(*cluster) : nullptr;
}

std::vector<std::string> names_of(const cli::Arguments& given, const std::string& word, bool all_namespaces) {
  const auto cluster = ask(given);
  if (cluster == nullptr) return {};
  const auto found = cluster->find(word);
  if (!found.type) return {};
  kube::ListOptions options;
  if (found.type->resource.namespaced && !all_namespaces) options.name_space = cluster->name_space();
  options.limit = kMostNames;
  const auto list = cluster->api().list(found.type->resource, options);
  std::vector<std::string> names;
  for (const kube::Object& object : list.list.items) names.push_back(object.name);
  return names;
}

std::vector<std::string> beginning(std::vector<std::string> names, std::string_view typed) {
  std::erase_if(names, [typed](const std::string& name) { return !name.starts_with(typed); });
  std::ranges::sort(names);
  return names;
}

}  // namespace

std::vector<std::string> complete_context(const cli::Arguments&, std::string_view typed) {
  const auto config = ClientConfig::read(client_config_path());
  std::vector<std::string> names;
  if (config) {
    for (const ClientContext& context : config->contexts()) names.push_back(context.name);
  }
  return beginning(std::move(names), typed);
}

std::vector<std::string> complete_namespace(const cli::Arguments& given, std::string_view typed) {
  return beginning(names_of(given, "namespaces", /*all_namespaces=*/true), typed);
}

std::vector<std::string> complete_type(const cli::Arguments&, std::string_view typed) {
  // Behind a comma the words before it stay.
  const std::size_t comma = typed.rfind(',');
  const std::string before(comma == std::string_view::npos ? std::string_view() : typed.substr(0, comma + 1));
  std::vector<std::string> words;
  for (const schemas::Kind& kind : schemas::kinds()) {
    if (kind.manifest == nullptr) continue;
    words.push_back(before + std::string(kind.manifest->aliases.front()));
    if (typed.empty()) continue;
    words.push_back(before + std::string(kind.plural));
    for (const std::string_view alias : kind.manifest->aliases.subspan(1)) words.push_back(before + std::string(alias));
  }
  return beginning(std::move(words), typed);
}

std::vector<std::string> complete_name(const cli::Arguments& given, std::string_view typed) {
  std::vector<std::string> names = names_of(given, given.one("TYPE"), given.has("all-namespaces"));
  // Names that stand on the line already.
  const auto& taken = given.all("NAME");
  std::erase_if(names, [&](const std::string& name) { return std::ranges::find(taken, name) != taken.end(); });
  return beginning(std::move(names), typed);
}

std::vector<std::string> complete_remote_cluster(const cli::Arguments& given, std::string_view typed) {
  return beginning(names_of(given, "remoteclusters", /*all_namespaces=*/true), typed);
}

std::vector<std::string> complete_agent(const cli::Arguments& given, std::string_view typed) {
  const auto client = quiet_controller(given, kPatience);
  if (client == nullptr) return {};
  const auto agents = client->agents();
  std::vector<std::string> names;
  if (agents) {
    for (const auto& agent : agents->agents) names.push_back(agent.name);
  }
  return beginning(std::move(names), typed);
}

}  // namespace edge::edgectl

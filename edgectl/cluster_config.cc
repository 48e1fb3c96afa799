#include "edgectl/cluster_config.h"

#include <memory>
#include <utility>

#include "compiler/yaml/read.h"
#include "edgectl/agents/agent_source.h"
#include "edgectl/resources/agents.h"
#include "edgectl/resources/spoke.h"
#include "program/read.h"

namespace edge::edgectl {
namespace {

using compiler::yaml::Node;

std::string text_of(Node node) { return node && node.is_scalar() ? std::string(node.text()) : std::string(); }

std::string key_of(const std::string& kind, const std::string& name_space, const std::string& name) {
  return kind + " " + (name_space.empty() ? "default" : name_space) + "/" + name;
}

void add_keys(Node root, std::set<std::string>& keys) {
  if (!root.is_map()) return;
  const Node items = root.find("items");
  if (text_of(root.find("kind")).ends_with("List") && items && items.is_list()) {
    for (const Node item : items) add_keys(item, keys);
    return;
  }
  const Node metadata = root.find("metadata");
  keys.insert(key_of(text_of(root.find("kind")), text_of(metadata.find("namespace")), text_of(metadata.find("name"))));
}

}  // namespace

std::set<std::string> resources_in(const SourceMap& sources) {
  std::set<std::string> keys;
  Diagnostics unheard(0);  // whoever compiles the texts hears it
  for (std::uint32_t source = 0; source < sources.size(); ++source) {
    compiler::yaml::read_documents(sources, source, unheard, {},
                                   [&](const compiler::yaml::Document& document) { add_keys(document.root(), keys); });
  }
  return keys;
}

kube::Failure add_cluster(Cluster& cluster, const std::set<std::string>& resources, SourceMap& sources) {
  for (const schemas::Kind& kind : schemas::kinds()) {
    const auto found = cluster.find_kind(std::string(kind.api_version), std::string(kind.kind));
    if (!found.failure.none()) return found.failure;
    if (!found.type) continue;
    kube::ListOptions options;
    options.reading = {.api_version = std::string(kind.api_version), .kind = std::string(kind.kind)};
    const auto list = cluster.api().list_all(found.type->resource, options);
    // Own kinds are not asked for by discovery, so they may not be there.
    if (list.failure.not_found()) continue;
    if (!list.ok()) return list.failure;
    std::string text;
    for (const kube::Object& object : list.list.items) {
      if (resources.contains(key_of(std::string(kind.kind), object.name_space, object.name))) continue;
      text += (text.empty() ? "" : ",\n") + object.text;
    }
    if (text.empty()) continue;
    sources.add("cluster: " + found.type->resource.plural,
                R"({"apiVersion":"v1","kind":"List","items":[)" + text + "]}\n");
  }
  return {};
}

Diagnostics findings_of_files(const Diagnostics& all, std::uint32_t files, const std::set<std::string>& resources) {
  Diagnostics kept;
  for (const Diagnostic& diagnostic : all.all()) {
    const bool here =
        diagnostic.span.somewhere() ? diagnostic.span.source < files : resources.contains(diagnostic.resource);
    if (here) kept.add(diagnostic);
  }
  return kept;
}

namespace {

/// With the cluster's objects but those of `compiled`, and but `gone`.
std::optional<ReadProgram> program_beside(std::string_view command, Cluster& cluster, Compiled& compiled,
                                          const std::set<std::string>& gone, const Compiling& how, int& exit) {
  const std::uint32_t count = compiled.sources.size();
  const std::set<std::string> resources = resources_in(compiled.sources);
  std::set<std::string> left_out = resources;
  left_out.insert(gone.begin(), gone.end());
  if (const auto failure = add_cluster(cluster, left_out, compiled.sources); !failure.none()) {
    exit = tell(command, failure);
    return std::nullopt;
  }
  compiler::CompileOptions options;
  options.target = how.target;
  compile_sources(compiled, std::move(options), how.controller_class);
  // What is at fault in the cluster is not served there either, and is nobody's question here.
  compiled.diagnostics = findings_of_files(compiled.diagnostics, count, resources);
  auto program = program_of(compiled);
  if (program) return std::move(*program);
  cli::print_error(command, program.error().text);
  exit = cli::kExitFindings;
  return std::nullopt;
}

}  // namespace

std::string resource_key(const std::string& kind, const std::string& name_space, const std::string& name) {
  return key_of(kind, name_space, name);
}

std::optional<ReadProgram> program_of_cluster(std::string_view command, const cli::Arguments& arguments,
                                              const std::vector<std::string>& files, const Compiling& how, int& exit) {
  const auto cluster = open_cluster(command, arguments, exit);
  if (cluster == nullptr) return std::nullopt;
  auto read = read_paths(files);
  if (read) return program_beside(command, *cluster, **read, {}, how, exit);
  cli::print_error(command, read.error().text);
  exit = cli::kExitFindings;
  return std::nullopt;
}

std::optional<ReadProgram> program_of_upcoming(std::string_view command, Cluster& cluster, const Upcoming& upcoming,
                                               const Compiling& how, int& exit) {
  Compiled compiled;
  for (const std::string& object : upcoming.objects) compiled.sources.add("federation", object + "\n");
  return program_beside(command, cluster, compiled, upcoming.gone, how, exit);
}

std::optional<ReadProgram> program_of_spoke(std::string_view command, const cli::Arguments& arguments, int& exit) {
  auto bytes = spoke_program(arguments, spoke_of(arguments));
  if (!bytes) {
    exit = tell(command, bytes.error());
    return std::nullopt;
  }
  auto view = program::read(std::make_shared<const std::vector<std::byte>>(std::move(*bytes)));
  if (view) return ReadProgram{.view = std::move(*view)};
  exit = tell(command, {ErrorCode::kDataLoss, "the program of the spoke cannot be read: " + view.error().text});
  return std::nullopt;
}

std::optional<ReadProgram> program_of_paths_or_edge(std::string_view command, const cli::Arguments& arguments,
                                                    const std::vector<std::string>& paths, const Compiling& how,
                                                    int& exit) {
  std::vector<std::string> named = paths;
  if (named.empty() && !spoke_of(arguments).empty()) return program_of_spoke(command, arguments, exit);
  if (named.empty()) {
    const auto cluster = Cluster::open(arguments);
    const bool none = !cluster && cluster.error().code == ErrorCode::kNotFound;
    if (!none) return program_of_cluster(command, arguments, {}, how, exit);
    named = {"http://" + std::string(kThisMachine)};
  }
  auto program = program_of(named, how);
  if (program) return std::move(*program);
  const bool silent = program.error().code == ErrorCode::kUnavailable;
  const bool asked = silent && paths.empty();
  cli::print_error(command,
                   program.error().text +
                       (asked ? "; no cluster is configured either: name files, or a cluster by --kubeconfig" : ""));
  exit = silent ? cli::kExitUnreachable : cli::kExitFindings;
  return std::nullopt;
}

}  // namespace edge::edgectl

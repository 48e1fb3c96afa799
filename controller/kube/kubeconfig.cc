#include "controller/kube/kubeconfig.h"

#include <algorithm>

#include "compiler/yaml/read.h"

namespace edge::kube {
namespace {

using compiler::yaml::Node;
using compiler::yaml::Style;

/// Reads a document of one file; errors name the position.
class FileReader {
 public:
  FileReader(const std::string& file, const SourceMap& sources)
      : file_(file), directory_(file.substr(0, file.rfind('/') + 1)), sources_(sources) {}

  Kubeconfig read(Node root) {
    Kubeconfig config;
    if (!root.is_map()) {
      fault(root, "is no kubeconfig");
      return config;
    }
    config.current_context = text(root, "current-context");
    each(root, "clusters", "cluster",
         [&](std::string name, Node node) { config.clusters.push_back(cluster(std::move(name), node)); });
    each(root, "users", "user",
         [&](std::string name, Node node) { config.users.push_back(user(std::move(name), node)); });
    each(root, "contexts", "context", [&](std::string name, Node node) {
      config.contexts.push_back({.name = std::move(name),
                                 .file = file_,
                                 .cluster = text(node, "cluster"),
                                 .user = text(node, "user"),
                                 .name_space = text(node, "namespace")});
    });
    return config;
  }
  const std::string& error() const { return error_; }

 private:
  /// The first one counts.
  void fault(Node node, const std::string& what) {
    if (!error_.empty()) return;
    const SourceText& source = sources_[node.span().source];
    error_ = file_ + ":" + std::to_string(source.position(node.span().begin).line) + ": " + what;
  }
  /// Of a scalar, as written; empty when there is none.
  std::string text(Node map, std::string_view key) {
    const Node node = map.find(key);
    if (!node || node.is_null()) return {};
    if (node.is_scalar()) return std::string(node.text());
    fault(node, "`" + std::string(key) + "` must be text");
    return {};
  }
  bool truth(Node map, std::string_view key) {
    const Node node = map.find(key);
    if (!node || node.is_null()) return false;
    const bool plain = node.is_scalar() && node.data().style == Style::kPlain;
    if (!plain || (node.text() != "true" && node.text() != "false")) {
      fault(node, "`" + std::string(key) + "` must be true or false");
      return false;
    }
    return node.text() == "true";
  }
  std::string path(Node map, std::string_view key) {
    std::string value = text(map, key);
    return value.empty() || value.starts_with('/') ? value : directory_ + value;
  }
  std::vector<std::string> texts(Node map, std::string_view key) {
    std::vector<std::string> values;
    const Node list = map.find(key);
    if (!list || list.is_null()) return values;
    if (!list.is_list()) fault(list, "`" + std::string(key) + "` must be a list");
    for (const Node item : list) {
      if (!item.is_scalar()) {
        fault(item, "`" + std::string(key) + "` must be a list of texts");
      } else {
        values.emplace_back(item.text());
      }
    }
    return values;
  }
  /// Named entries: a list of `name` and `inner`.
  template <typename Each>
  void each(Node root, std::string_view key, std::string_view inner, const Each& take) {
    const Node list = root.find(key);
    if (!list || list.is_null()) return;
    if (!list.is_list()) fault(list, "`" + std::string(key) + "` must be a list");
    for (const Node entry : list) {
      const Node body = entry.find(inner);
      std::string name = text(entry, "name");
      if (name.empty()) {
        fault(entry, "an entry of `" + std::string(key) + "` has no name");
      } else if (body && !body.is_null() && !body.is_map()) {
        fault(body, "`" + std::string(inner) + "` must be a map");
      } else {
        take(std::move(name), body);
      }
    }
  }

  KubeconfigCluster cluster(std::string name, Node node) {
    KubeconfigCluster cluster;
    cluster.name = std::move(name);
    cluster.file = file_;
    cluster.server = text(node, "server");
    cluster.authority_file = path(node, "certificate-authority");
    cluster.authority_data = text(node, "certificate-authority-data");
    cluster.server_name = text(node, "tls-server-name");
    cluster.proxy_url = text(node, "proxy-url");
    cluster.unverified = truth(node, "insecure-skip-tls-verify");
    return cluster;
  }
  KubeconfigUser user(std::string name, Node node) {
    KubeconfigUser user;
    user.name = std::move(name);
    user.file = file_;
    user.certificate_data = text(node, "client-certificate-data");
    user.key_data = text(node, "client-key-data");
    Identity& identity = user.identity;
    identity.certificate_file = path(node, "client-certificate");
    identity.key_file = path(node, "client-key");
    identity.token = text(node, "token");
    identity.token_file = path(node, "tokenFile");
    identity.username = text(node, "username");
    identity.password = text(node, "password");
    identity.impersonate = text(node, "as");
    identity.impersonate_groups = texts(node, "as-groups");
    if (const Node provider = node.find("auth-provider"); provider && provider.is_map()) {
      user.auth_provider = text(provider, "name");
      if (user.auth_provider.empty()) user.auth_provider = "unnamed";
    }
    if (const Node exec = node.find("exec"); exec && !exec.is_null()) identity.exec = plugin(exec);
    return user;
  }
  ExecPlugin plugin(Node node) {
    ExecPlugin plugin;
    if (!node.is_map()) fault(node, "`exec` must be a map");
    plugin.api_version = text(node, "apiVersion");
    plugin.command = text(node, "command");
    // Beside the file where it is a path, else wherever PATH leads.
    if (plugin.command.find('/') != std::string::npos && !plugin.command.starts_with('/')) {
      plugin.command.insert(0, directory_);
    }
    plugin.arguments = texts(node, "args");
    plugin.install_hint = text(node, "installHint");
    plugin.provide_cluster_info = truth(node, "provideClusterInfo");
    plugin.needs_terminal = text(node, "interactiveMode") == "Always";
    if (const Node list = node.find("env"); list && list.is_list()) {
      for (const Node one : list) plugin.environment.emplace_back(text(one, "name"), text(one, "value"));
    }
    return plugin;
  }

  const std::string& file_;
  const std::string directory_;
  const SourceMap& sources_;
  std::string error_;
};

template <typename Entry>
void merge_entries(std::vector<Entry>& into, std::vector<Entry> from) {
  for (Entry& entry : from) {
    if (std::ranges::find(into, entry.name, &Entry::name) == into.end()) into.push_back(std::move(entry));
  }
}

}  // namespace

void Kubeconfig::merge(Kubeconfig other) {
  if (current_context.empty()) current_context = std::move(other.current_context);
  merge_entries(clusters, std::move(other.clusters));
  merge_entries(users, std::move(other.users));
  merge_entries(contexts, std::move(other.contexts));
}

Result<Kubeconfig> read_kubeconfig(const std::string& file, std::string_view text) {
  SourceMap sources;
  Diagnostics diagnostics(16);
  const std::uint32_t source = sources.add(file, std::string(text));
  const compiler::yaml::ReadLimits limits{.bytes = kMaxKubeconfigBytes, .depth = 32, .nodes = 200'000, .documents = 16};
  const std::vector<compiler::yaml::Document> documents =
      compiler::yaml::read_documents(sources, source, diagnostics, limits);
  if (!diagnostics.ok()) {
    diagnostics.finish(sources);
    const Diagnostic& first = diagnostics.all().front();
    // Not its message: that may quote the text.
    std::string where = file;
    if (first.span.somewhere()) where += ":" + std::to_string(sources[source].position(first.span.begin).line);
    return Error{ErrorCode::kInvalidArgument, where + ": " + std::string(code_title(first.code))};
  }
  if (documents.empty()) return Kubeconfig{};
  if (documents.size() > 1) return Error{ErrorCode::kInvalidArgument, file + ": more than one document"};
  FileReader reader(file, sources);
  Kubeconfig config = reader.read(documents.front().root());
  if (!reader.error().empty()) return Error{ErrorCode::kInvalidArgument, reader.error()};
  return config;
}

}  // namespace edge::kube

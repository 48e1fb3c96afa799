#include "controller/kube/config.h"

#include <algorithm>
#include <cstdlib>

#include "base/os/file.h"
#include "base/text/base64.h"
#include "controller/kube/kubeconfig.h"
#include "net/tls/certificate.h"

namespace edge::kube {
namespace {

Error invalid(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

std::string value_of(const ConfigSources& sources, const char* name) {
  return sources.environment ? sources.environment(name).value_or("") : std::string();
}

/// The names, for an error that a reader can act on.
template <typename Entry>
std::string names(const std::vector<Entry>& entries) {
  std::string text;
  for (const Entry& entry : entries) {
    if (text.size() > 200) return text + ", ...";
    text += (text.empty() ? "" : ", ") + entry.name;
  }
  return text.empty() ? "there is none" : "there are: " + text;
}

template <typename Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto position = std::ranges::find(entries, name, &Entry::name);
  return position == entries.end() ? nullptr : &*position;
}

/// `data` as it stands in a file, else what `file` holds.
Result<std::string> data_or_file(const std::string& where, const std::string& data, const std::string& file) {
  if (!data.empty()) {
    std::optional<std::string> bytes = from_base64(data);
    if (!bytes) return invalid(where + "-data is not base64");
    return std::move(*bytes);
  }
  if (file.empty()) return std::string();
  return read_file(file, net::tls::kMaxPemBytes);
}

Result<net::client::Url> server_url(const std::string& where, const std::string& text) {
  if (text.empty()) return invalid(where + " names no server");
  Result<net::client::Url> url = net::client::parse_url(text);
  if (!url.ok()) return invalid(where + ".server: " + url.error().text);
  if (url->target.find('?') != std::string::npos) return invalid(where + ".server: the URL has a query");
  while (url->target.ends_with('/')) url->target.pop_back();
  return url;
}

Status take_cluster(const KubeconfigCluster& from, Config& config) {
  const std::string where = from.file + ": cluster " + from.name;
  if (!from.proxy_url.empty()) {
    return invalid(where + ".proxy-url: calls through a proxy are not supported; name the server itself");
  }
  Result<net::client::Url> url = server_url(where, from.server);
  if (!url.ok()) return url.error();
  Result<std::string> authorities =
      data_or_file(where + ".certificate-authority", from.authority_data, from.authority_file);
  if (!authorities.ok()) return authorities.error();
  if (from.unverified && !authorities->empty()) {
    return invalid(where + ": certificate-authority and insecure-skip-tls-verify exclude each other");
  }
  config.cluster = {.name = from.name,
                    .server = std::move(*url),
                    .authorities = std::move(*authorities),
                    .unverified = from.unverified,
                    .server_name = from.server_name};
  if (from.unverified) {
    config.warnings.push_back(where + ": insecure-skip-tls-verify is set: nobody checks who answers");
  }
  return {};
}

Status take_user(const KubeconfigUser& from, Config& config) {
  const std::string where = from.file + ": user " + from.name;
  if (!from.auth_provider.empty()) {
    return invalid(where + ".auth-provider: providers of this kind are gone from Kubernetes 1.26 on; use exec");
  }
  config.identity = from.identity;
  Identity& identity = config.identity;
  if (!from.certificate_data.empty()) {
    Result<std::string> certificate = data_or_file(where + ".client-certificate", from.certificate_data, {});
    if (!certificate.ok()) return certificate.error();
    identity.certificate = std::move(*certificate);
    identity.certificate_file.clear();
  }
  if (!from.key_data.empty()) {
    Result<std::string> key = data_or_file(where + ".client-key", from.key_data, {});
    if (!key.ok()) return key.error();
    identity.key = std::move(*key);
    identity.key_file.clear();
  }
  const bool has_certificate = !identity.certificate.empty() || !identity.certificate_file.empty();
  const bool has_key = !identity.key.empty() || !identity.key_file.empty();
  if (has_certificate != has_key) {
    return invalid(where + ": a client certificate and its key are given together or not at all");
  }
  const std::string& token = identity.token;
  const bool plain = std::ranges::all_of(token, [](char c) { return c > ' ' && c < 0x7f; });
  if (!plain) return invalid(where + ".token has a character that no token has");
  if (!identity.exec) return {};
  const std::string& version = identity.exec->api_version;
  if (version != "client.authentication.k8s.io/v1" && version != "client.authentication.k8s.io/v1beta1") {
    return invalid(where + ".exec.apiVersion must be client.authentication.k8s.io/v1 or v1beta1");
  }
  if (identity.exec->command.empty()) return invalid(where + ".exec names no command");
  return {};
}

/// The files that count, in order; `named`: the user said which one.
std::vector<std::string> files_of(const ConfigSources& sources, bool& named) {
  const std::string list = value_of(sources, "KUBECONFIG");
  // A flag whose default is the environment hands the list on as it is.
  named = !sources.kubeconfig.empty() && sources.kubeconfig != list;
  if (named) return {sources.kubeconfig};
  std::vector<std::string> files;
  for (std::size_t begin = 0; begin < list.size();) {
    const std::size_t end = std::min(list.find(':', begin), list.size());
    const std::string file = list.substr(begin, end - begin);
    if (!file.empty() && std::ranges::find(files, file) == files.end()) files.push_back(file);
    begin = end + 1;
  }
  const std::string home = value_of(sources, "HOME");
  if (list.empty() && !home.empty()) files.push_back(home + "/.kube/config");
  return files;
}

Result<Kubeconfig> read_files(const ConfigSources& sources, std::vector<std::string>& used) {
  bool named = false;
  Kubeconfig merged;
  for (const std::string& file : files_of(sources, named)) {
    Result<std::string> text = read_file(file, kMaxKubeconfigBytes);
    if (!text.ok() && text.error().code == ErrorCode::kNotFound && !named) continue;
    if (!text.ok()) return text.error();
    Result<Kubeconfig> one = read_kubeconfig(file, *text);
    if (!one.ok()) return one.error();
    merged.merge(std::move(*one));
    used.push_back(file);
  }
  return merged;
}

Result<Config> in_pod(const ConfigSources& sources) {
  const std::string host = value_of(sources, "KUBERNETES_SERVICE_HOST");
  const std::string port = value_of(sources, "KUBERNETES_SERVICE_PORT");
  if (host.empty() || port.empty()) {
    const std::string named = value_of(sources, "KUBECONFIG");
    if (!named.empty()) {
      return Error{ErrorCode::kNotFound, "no kubeconfig: KUBECONFIG names " + named + ", which is not there"};
    }
    return Error{
        ErrorCode::kNotFound,
        "no kubeconfig: give --kubeconfig, set KUBECONFIG, or write ~/.kube/config; and this is no pod either"};
  }
  Config config;
  const bool v6 = host.find(':') != std::string::npos;
  Result<net::client::Url> url =
      server_url("KUBERNETES_SERVICE_HOST", "https://" + (v6 ? "[" + host + "]" : host) + ":" + port);
  if (!url.ok()) return url.error();
  Result<std::string> authorities = read_file(sources.service_account + "/ca.crt", net::tls::kMaxPemBytes);
  if (!authorities.ok()) return authorities.error();
  config.cluster.name = "in-cluster";
  config.cluster.server = std::move(*url);
  config.cluster.authorities = std::move(*authorities);
  config.identity.token_file = sources.service_account + "/token";
  if (Result<std::string> name_space = read_file(sources.service_account + "/namespace", 1024); name_space.ok()) {
    while (name_space->ends_with('\n')) name_space->pop_back();
    if (!name_space->empty()) config.name_space = *name_space;
  }
  config.files = {sources.service_account + "/token", sources.service_account + "/ca.crt"};
  if (!sources.name_space.empty()) config.name_space = sources.name_space;
  return config;
}

}  // namespace

ConfigSources ConfigSources::of_process() {
  ConfigSources sources;
  sources.environment = [](const char* name) -> std::optional<std::string> {
    const char* const value = std::getenv(name);
    return value == nullptr ? std::nullopt : std::optional<std::string>(value);
  };
  return sources;
}

Result<Config> Config::resolve(const ConfigSources& sources) {
  Config config;
  Result<Kubeconfig> files = read_files(sources, config.files);
  if (!files.ok()) return files.error();
  const std::string chosen = sources.context.empty() ? files->current_context : sources.context;
  if (config.files.empty() && sources.context.empty()) return in_pod(sources);

  KubeconfigContext context;
  if (!chosen.empty()) {
    const KubeconfigContext* const found = find(files->contexts, chosen);
    if (found == nullptr) return invalid("the context " + chosen + " is not known; " + names(files->contexts));
    context = *found;
  } else if (sources.cluster.empty()) {
    return invalid(config.files.front() + ": no current-context, and no --context; " + names(files->contexts));
  }
  config.context = chosen;
  if (!sources.cluster.empty()) context.cluster = sources.cluster;
  if (!sources.user.empty()) context.user = sources.user;
  const KubeconfigCluster* const cluster = find(files->clusters, context.cluster);
  if (cluster == nullptr) {
    return invalid("the cluster " + context.cluster + " of context " + chosen + " is not known; " +
                   names(files->clusters));
  }
  if (const Status taken = take_cluster(*cluster, config); !taken.ok()) return taken.error();
  if (!context.user.empty()) {
    const KubeconfigUser* const user = find(files->users, context.user);
    if (user == nullptr) {
      return invalid("the user " + context.user + " of context " + chosen + " is not known; " + names(files->users));
    }
    if (const Status taken = take_user(*user, config); !taken.ok()) return taken.error();
  }
  if (!context.name_space.empty()) config.name_space = context.name_space;
  if (!sources.name_space.empty()) config.name_space = sources.name_space;
  return config;
}

}  // namespace edge::kube

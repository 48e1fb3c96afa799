#include "edgectl/resources/client_config.h"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <set>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/os/file.h"
#include "base/text/json.h"
#include "compiler/model/node_json.h"
#include "compiler/yaml/read.h"
#include "schemas/yaml_text.h"

namespace edge::edgectl {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxEntries = 10'000;

Error fault(const std::string& path, const std::string& what) {
  return {ErrorCode::kInvalidArgument, path + ": " + what};
}

/// The text as one document.
Result<OrderedJson> read_yaml(const std::string& path, std::string text) {
  SourceMap sources;
  Diagnostics diagnostics;
  const std::uint32_t source = sources.add(path, std::move(text));
  const auto documents = compiler::yaml::read_documents(sources, source, diagnostics);
  if (!diagnostics.ok()) {
    diagnostics.finish(sources);
    const Diagnostic& first = diagnostics.all().front();
    const std::uint32_t line = first.span.somewhere() ? sources[source].position(first.span.begin).line : 1;
    return fault(path + ":" + std::to_string(line), first.message);
  }
  if (documents.size() > 1) return fault(path, "holds more than one document");
  if (documents.empty()) return OrderedJson::object();
  OrderedJson json = compiler::model::json_of(documents.front().root());
  if (!json.is_object()) return fault(path, "is no map");
  return json;
}

/// The string at `name`, empty where there is none. `wrong` keeps the first field that is no string.
std::string text_at(const OrderedJson& entry, const char* name, const std::string& where, std::string& wrong) {
  const auto found = entry.find(name);
  if (found == entry.end() || found->is_null()) return {};
  if (found->is_string()) return found->get<std::string>();
  if (wrong.empty()) wrong = where + "." + name + " is no string";
  return {};
}

/// Calls `each` with every entry of the list at `name`, its name and its place.
template <typename Each>
std::string each_entry(const OrderedJson& json, const char* name, const Each& each) {
  const auto list = json.find(name);
  if (list == json.end() || list->is_null()) return {};
  if (!list->is_array()) return std::string(name) + " is no list";
  if (list->size() > kMaxEntries) return std::string(name) + " has too many entries";
  std::string wrong;
  std::set<std::string> names;
  for (std::size_t i = 0; i < list->size() && wrong.empty(); ++i) {
    const std::string where = std::string(name) + "[" + std::to_string(i) + "]";
    const OrderedJson& entry = (*list)[i];
    if (!entry.is_object()) return where + " is no map";
    const std::string entry_name = text_at(entry, "name", where, wrong);
    if (!wrong.empty()) return wrong;
    if (entry_name.empty()) return where + " has no name";
    if (!names.insert(entry_name).second) return where + ": `" + entry_name + "` is there twice";
    each(entry, entry_name, where, wrong);
  }
  return wrong;
}

/// Puts `value` at `name`, or takes the field away where it is empty.
void set_text(OrderedJson& entry, const char* name, const std::string& value) {
  if (value.empty()) {
    entry.erase(name);
  } else {
    entry[name] = value;
  }
}

/// The entry of this name in the list, made when it is not there.
OrderedJson& entry_of(OrderedJson& json, const char* list, const std::string& name) {
  OrderedJson& entries = json[list];
  if (!entries.is_array()) entries = OrderedJson::array();
  for (OrderedJson& entry : entries) {
    if (entry.is_object() && entry.value("name", OrderedJson()) == name) return entry;
  }
  entries.push_back({{"name", name}});
  return entries.back();
}

template <typename Entry>
const Entry* find(const std::vector<Entry>& all, std::string_view name) {
  const auto found = std::ranges::find(all, name, &Entry::name);
  return found == all.end() ? nullptr : &*found;
}

template <typename Entry>
Entry& find_or_add(std::vector<Entry>& all, const std::string& name) {
  const auto found = std::ranges::find(all, name, &Entry::name);
  if (found != all.end()) return *found;
  all.push_back({.name = name});
  return all.back();
}

void replace(std::string& value, const std::string& by) {
  if (!by.empty()) value = by;
}

/// Locks the file while it is changed; the kernel releases the lock however the process ends.
class FileLock {
 public:
  explicit FileLock(const std::string& path) : fd_(::open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600)) {
    while (fd_ >= 0 && ::flock(fd_, LOCK_EX) != 0) {
      if (errno != EINTR) {
        ::close(fd_);
        fd_ = -1;
      }
    }
  }
  ~FileLock() {
    if (fd_ >= 0) ::close(fd_);
  }
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  bool held() const { return fd_ >= 0; }

 private:
  int fd_;
};

}  // namespace

ClientConfig::ClientConfig() : text_("{}") {}

Result<ClientConfig> ClientConfig::read(const std::string& path) {
  ClientConfig config;
  if (path.empty()) return config;
  auto text = read_file(path, kMaxBytes);
  if (!text && text.error().code == ErrorCode::kNotFound) return config;
  if (!text) return text.error();
  auto json = read_yaml(path, std::move(*text));
  if (!json) return json.error();
  std::string wrong;
  config.current_ = text_at(*json, "currentContext", "the file", wrong);
  if (wrong.empty()) {
    wrong =
        each_entry(*json, "contexts",
                   [&](const OrderedJson& entry, const std::string& name, const std::string& where, std::string& bad) {
                     config.contexts_.push_back({.name = name,
                                                 .cluster = text_at(entry, "cluster", where, bad),
                                                 .name_space = text_at(entry, "namespace", where, bad)});
                   });
  }
  if (wrong.empty()) {
    wrong =
        each_entry(*json, "clusters",
                   [&](const OrderedJson& entry, const std::string& name, const std::string& where, std::string& bad) {
                     config.clusters_.push_back({.name = name,
                                                 .kubeconfig = text_at(entry, "kubeconfig", where, bad),
                                                 .context = text_at(entry, "context", where, bad),
                                                 .controller = text_at(entry, "controller", where, bad),
                                                 .credentials = text_at(entry, "credentials", where, bad),
                                                 .traces = text_at(entry, "traces", where, bad)});
                   });
  }
  if (!wrong.empty()) return fault(path, wrong);
  config.text_ = json_line(*json);
  return config;
}

const ClientContext* ClientConfig::find_context(std::string_view name) const { return find(contexts_, name); }
const ClientCluster* ClientConfig::find_cluster(std::string_view name) const { return find(clusters_, name); }

void ClientConfig::put(const ClientContext& context) {
  ClientContext& entry = find_or_add(contexts_, context.name);
  replace(entry.cluster, context.cluster);
  replace(entry.name_space, context.name_space);
}

void ClientConfig::put(const ClientCluster& cluster) {
  ClientCluster& entry = find_or_add(clusters_, cluster.name);
  replace(entry.kubeconfig, cluster.kubeconfig);
  replace(entry.context, cluster.context);
  replace(entry.controller, cluster.controller);
  replace(entry.credentials, cluster.credentials);
  replace(entry.traces, cluster.traces);
}

std::string ClientConfig::merged_json() const {
  OrderedJson json = OrderedJson::parse(text_, nullptr, /*allow_exceptions=*/false);
  json["currentContext"] = current_;
  if (!json["contexts"].is_array()) json["contexts"] = OrderedJson::array();
  if (!json["clusters"].is_array()) json["clusters"] = OrderedJson::array();
  for (const ClientContext& context : contexts_) {
    OrderedJson& entry = entry_of(json, "contexts", context.name);
    set_text(entry, "cluster", context.cluster);
    set_text(entry, "namespace", context.name_space);
  }
  for (const ClientCluster& cluster : clusters_) {
    OrderedJson& entry = entry_of(json, "clusters", cluster.name);
    set_text(entry, "kubeconfig", cluster.kubeconfig);
    set_text(entry, "context", cluster.context);
    set_text(entry, "controller", cluster.controller);
    set_text(entry, "credentials", cluster.credentials);
    set_text(entry, "traces", cluster.traces);
  }
  return indented_json(json);
}

std::string ClientConfig::json() const { return merged_json(); }
std::string ClientConfig::yaml() const { return schemas::yaml_text(OrderedJson::parse(merged_json(), nullptr, false)); }

std::string client_config_path() {
  const char* home = std::getenv("HOME");
  return home == nullptr || *home == '\0' ? std::string() : std::string(home) + "/.edgectl/config";
}

Status change_client_config(const std::string& path, const std::function<Status(ClientConfig&)>& change) {
  if (path.empty()) return Error{ErrorCode::kFailedPrecondition, "HOME is not set, so there is no ~/.edgectl/config"};
  const std::string directory = std::filesystem::path(path).parent_path();
  if (::mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return Error{ErrorCode::kPermissionDenied, directory + ": " + std::strerror(errno)};
  }
  const FileLock lock(path + ".lock");
  if (!lock.held()) return Error{ErrorCode::kPermissionDenied, path + ".lock: " + std::strerror(errno)};
  auto config = ClientConfig::read(path);
  if (!config) return config.error();
  if (Status status = change(*config); !status) return status;
  return write_file(path, config->yaml(), FileAccess::kOwnerOnly);
}

}  // namespace edge::edgectl

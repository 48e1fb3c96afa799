// Parser of kubectl's configuration files; merges several.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/config.h"

namespace edge::kube {

/// Entries as in the files, with paths made absolute relative to their file. Only the selected ones are validated.
struct KubeconfigCluster {
  std::string name, server, authority_file, authority_data, server_name, proxy_url;
  bool unverified = false;
  /// The file, for messages.
  std::string file;
};

struct KubeconfigUser {
  std::string name, file;
  Identity identity;
  std::string certificate_data, key_data;
  /// A plugin of a form before 2022, which clients do not support any more.
  std::string auth_provider;
};

struct KubeconfigContext {
  std::string name, file;
  std::string cluster, user, name_space;
};

struct Kubeconfig {
  std::string current_context;
  std::vector<KubeconfigCluster> clusters;
  std::vector<KubeconfigUser> users;
  std::vector<KubeconfigContext> contexts;

  /// Adds the entries of `other` with new names: of two with one name the first is used, as in kubectl.
  void merge(Kubeconfig other);
};

inline constexpr std::size_t kMaxKubeconfigBytes = std::size_t{4} << 20;

/// Parses the text of `file`. The error names file and line, and quotes nothing.
Result<Kubeconfig> read_kubeconfig(const std::string& file, std::string_view text);

}  // namespace edge::kube

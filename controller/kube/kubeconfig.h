// The file format of kubectl's configuration: read as it is written, several files as one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "controller/kube/config.h"

namespace edge::kube {

/// Entries as files have them, with paths made absolute by the place of their file. Only what is chosen is checked.
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
  /// A plugin of before 2022, that no client carries any more.
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

  /// What `other` has and this has not, entry by entry: of two with one name the first counts whole, as with kubectl.
  void merge(Kubeconfig other);
};

inline constexpr std::size_t kMaxKubeconfigBytes = std::size_t{4} << 20;

/// The text of `file`. The error names file and line, and quotes nothing.
Result<Kubeconfig> read_kubeconfig(const std::string& file, std::string_view text);

}  // namespace edge::kube

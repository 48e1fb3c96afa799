// Any bytes as a kubeconfig file, and as two of them.
#include <cstdint>
#include <string>
#include <string_view>

#include "controller/kube/kubeconfig.h"
#include "tests/fuzz/require.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace edge::kube;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  auto one = read_kubeconfig("/home/a/config", bytes.substr(0, size / 2));
  auto whole = read_kubeconfig("/home/b/config", bytes);
  if (!whole.ok()) {
    require(whole.error().text.starts_with("/home/b/config:"));
    return 0;
  }
  for (const KubeconfigUser& user : whole->users) {
    require(!user.name.empty());
    const std::string& file = user.identity.token_file;
    require(file.empty() || file.starts_with('/'));
  }
  if (!one.ok()) return 0;
  const std::size_t before = one->clusters.size();
  one->merge(std::move(*whole));
  require(one->clusters.size() >= before);
  return 0;
}

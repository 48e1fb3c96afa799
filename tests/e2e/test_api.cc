#include "tests/e2e/test_api.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace edge::test {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no thread sets any
  return value == nullptr ? std::string() : std::string(value);
}

}  // namespace

TestApi::TestApi(std::string directory)
    : directory_(std::move(directory)), cluster_(variable("EDGE_TEST_KUBECONFIG")) {}

std::string TestApi::start() {
  if (!is_cluster()) {
    auto started = resource_api::http::ResourceApiServer::start({.data_dir = directory_ + "/api", .port = port_});
    if (!started) return started.error().text;
    embedded_ = std::move(*started);
    kubeconfig_ = embedded_->kubeconfig();
    return {};
  }
  return write_kubeconfig();
}

void TestApi::stop() {
  embedded_.reset();
  relay_.reset();
}

std::string TestApi::node_address() const { return is_cluster() ? variable("EDGE_TEST_ADDRESS") : "127.0.0.1"; }

/// The cluster's own, by way of a relay that the test can take away. Its server is at a port of every address of this
/// machine.
std::string TestApi::write_kubeconfig() {
  std::ifstream in(cluster_);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string before = "server: https://";
  const std::size_t begin = text.find(before);
  const std::size_t end = text.find('\n', begin);
  const std::size_t colon = text.rfind(':', end);
  if (begin == std::string::npos || end == std::string::npos || colon < begin + before.size()) {
    return cluster_ + " names no server with a port";
  }
  const int to = std::atoi(text.substr(colon + 1, end - colon - 1).c_str());
  relay_ = std::make_unique<Relay>(static_cast<std::uint16_t>(to), port_);
  text.replace(begin, end - begin, before + relay_->address());
  kubeconfig_ = directory_ + "/kubeconfig";
  std::ofstream(kubeconfig_) << text;
  std::filesystem::permissions(kubeconfig_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  return {};
}

}  // namespace edge::test

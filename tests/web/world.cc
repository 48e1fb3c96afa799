#include "tests/web/world.h"

#include <cstdlib>
#include <fstream>
#include <utility>

namespace edge::test {
namespace {

/// A route that is served, one with a further condition, one that is hidden, and one whose backend does not exist.
std::string configuration(int backend) {
  return base_config(backend) + "---\n" + route_config("cart", "/cart", "  hostnames: [shop.example]\n") + "---\n" +
         route_config("late", "/cart", "  hostnames: [shop.example]\n") +
         "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: preview}\nspec:\n"
         "  parentRefs: [{name: gw}]\n  hostnames: [shop.example]\n  rules:\n  - backendRef: {name: be}\n"
         "    matches: [{path: {type: Exact, value: /cart}, headers: [{name: x-env, value: preview}]}]\n"
         "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: broken}\nspec:\n"
         "  parentRefs: [{name: gw}]\n  hostnames: [broken.example]\n  rules:\n  - backendRef: {name: nowhere}\n"
         "    filters:\n    - type: RequestHeaderModifier\n      requestHeaderModifier:\n"
         "        set: [{name: Authorization, value: Bearer " +
         std::string(kPlanted) +
         "}]\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: users}\nstringData: {htpasswd: \"" + kPlanted +
         "\"}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings}\ndata: {password: \"" + kPlanted +
         "\"}\n";
}

}  // namespace

WebWorld::WebWorld(std::vector<std::string> flags, const std::string& more)
    : backend_(std::make_unique<Backend>("one")) {
  dir_.put("config/all.yaml", configuration(backend_->port) + more);
  flags.insert(flags.begin(),
               {"edge-standalone", "--config", dir_ / "config", "--data-dir", dir_ / "data", "--access-log", "off"});
  proxy_ = std::make_unique<ProxyProcess>(std::move(flags));
  proxy_->wait_ready();
}

std::string WebWorld::serve(const std::vector<std::string>& flags) {
  std::string command = "export KUBECONFIG='" + dir_ / "data/kubeconfig" + "' HOME='" + dir_.path().string() +
                        "'; exec '" + (bin_dir() / "edgectl").string() + "' web";
  bool listens = false;
  for (const std::string& flag : flags) {
    command += " '" + flag + "'";
    listens |= flag == "--listen";
  }
  if (!listens) command += " --listen 127.0.0.1:0";
  web_ = std::make_unique<Process>(std::vector<std::string>{"/bin/sh", "-c", command});
  const auto line = web_->wait_out("Serving on ");
  if (!line) return web_->err_text();
  url_ = line->substr(line->find("http"));
  url_.pop_back();
  return {};
}

Finished WebWorld::edgectl(const std::string& words) const {
  return run_command({"/bin/sh", "-c",
                      "export KUBECONFIG='" + dir_ / "data/kubeconfig" + "' HOME='" + dir_.path().string() +
                          "'; exec edgectl " + words},
                     {}, dir_.path());
}

HttpReply WebWorld::ask(const std::string& path, const std::vector<std::string>& options) const {
  std::vector<std::string> command = {"curl", "-s", "-i", "--max-time", "60", "--http1.1"};
  if (url_.starts_with("https")) command.insert(command.end(), {"--cacert", dir_ / "site.crt"});
  command.insert(command.end(), options.begin(), options.end());
  command.push_back(url_ + path);
  const Finished got = run_command(command);
  HttpReply reply;
  const std::size_t end = got.out.find("\r\n\r\n");
  if (got.out.size() < 12 || end == std::string::npos) return reply;
  reply.status = std::atoi(got.out.c_str() + 9);
  reply.head = got.out.substr(0, end + 2);
  reply.body = got.out.substr(end + 4);
  return reply;
}

HttpReply WebWorld::post(const std::string& path, const std::string& body,
                         const std::vector<std::string>& options) const {
  // It may be longer than an argument.
  const std::string file = dir_ / "posted.json";
  std::ofstream(file, std::ios::binary) << body;
  std::vector<std::string> all = {"-H", "Content-Type: application/json", "--data-binary", "@" + file};
  all.insert(all.end(), options.begin(), options.end());
  return ask(path, all);
}

}  // namespace edge::test

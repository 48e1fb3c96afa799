#include "tests/net/wan_programs.h"

#include <algorithm>
#include <fstream>

#include <unistd.h>

namespace edge::test {

std::string WanPrograms::resource_name(const std::string& site) { return site + "-" + std::to_string(::getpid()); }

std::size_t WanPrograms::number_of(const std::string& site) const {
  const std::vector<std::string> all = sites();
  return static_cast<std::size_t>(std::ranges::find(all, site) - all.begin());
}

int WanPrograms::number_of(const std::string& site, const std::string& link) const {
  return 2 * static_cast<int>(number_of(site)) + (link == kLinks[0] ? 1 : 2);
}

std::string WanPrograms::lan(const std::string& site) const {
  return "10." + std::to_string(20 + 10 * number_of(site)) + ".0.1";
}

std::string WanPrograms::link_fields(const std::string& site, const std::string& link) const {
  const int number = number_of(site, link);
  return "address: " + address(number) + ", gateway: " + router(number) +
         ", probe: {interval: 100ms, timeout: 300ms, window: 100}";
}

std::string WanPrograms::web() {
  return version() +
         "kind: ProxyGateway\nmetadata: {name: web}\nspec: {listeners: [{name: http, port: 8080, protocol: "
         "HTTP}]}\n---\n" +
         version() +
         "kind: ProxyBackend\nmetadata: {name: other}\nspec: {endpoints: [{address: \"10.30.0.1:8000\"}]}\n---\n" +
         version() +
         "kind: ProxyRoute\nmetadata: {name: all}\nspec: {parentRefs: [{name: web}], rules: [{backendRef: {name: "
         "other}}]}\n";
}

void WanPrograms::connect(const std::string& site) {
  for (const char* const link : kLinks) uplink(site, link, number_of(site, link));
}

void WanPrograms::SetUp() {
  WanNet::SetUp();
  if (IsSkipped() || HasFatalFailure()) return;
  if (!run("test -x /usr/bin/wireguard-go")) GTEST_SKIP() << "needs wireguard-go";
  for (const std::string& site : sites()) {
    ASSERT_NO_FATAL_FAILURE(connect(site));
    ASSERT_TRUE(run("ip -n " + space(site) + " addr add " + lan(site) + "/32 dev lo"));
    ASSERT_TRUE(run(inside(site) + "sysctl -w net.ipv4.ip_forward=1"));
  }
  start_relay();
  write_resources();
  control_ = start(kInternet, {"edge-standalone",
                               "--config",
                               files_.path().string(),
                               "--data-dir",
                               directory_ + "/control",
                               "--metrics-listen",
                               "127.0.0.1:9090",
                               "--health-listen",
                               "127.0.0.1:9091",
                               "--api-listen",
                               "127.0.0.1:6443",
                               "--otlp-listen",
                               "off",
                               "--traces-listen",
                               "127.0.0.1:9092",
                               "--threads",
                               "1",
                               "--drain-timeout",
                               "5s",
                               "--agents-listen",
                               "0.0.0.0:9443"});
  ASSERT_TRUE(control_->wait_out("ready program=")) << control_->err_text();
  for (const std::string& site : sites()) {
    serve_web(site, site);
    agents_[site] = agent(site);
  }
  for (const std::string& site : sites()) {
    ASSERT_TRUE(agents_[site]->wait_out("ready program=")) << agents_[site]->err_text();
  }
}

void WanPrograms::TearDown() {
  agents_.clear();
  web_.clear();
  control_.reset();
  WanNet::TearDown();
}

std::unique_ptr<Process> WanPrograms::start(const std::string& node, std::vector<std::string> command) {
  std::vector<std::string> words = {"ip", "netns", "exec", space(node)};
  words.insert(words.end(), command.begin(), command.end());
  return std::make_unique<Process>(words);
}

std::unique_ptr<Process> WanPrograms::agent(const std::string& site, const std::string& at,
                                            const std::string& controller) const {
  return start(at, {"edge-agent",
                    "--controller",
                    controller + ":9443",
                    "--name",
                    at,
                    "--node",
                    "node-" + at,
                    "--token-file",
                    directory_ + "/control/agents/join",
                    "--data-dir",
                    directory_ + "/" + at,
                    "--label",
                    "site=" + site,
                    "--upgrade-socket",
                    directory_ + "/" + at + ".sock",
                    "--drain-timeout",
                    "5s",
                    "--metrics-listen",
                    "127.0.0.1:9090",
                    "--health-listen",
                    "127.0.0.1:9091",
                    "--threads",
                    "1"});
}

void WanPrograms::serve_web(const std::string& site, const std::string& at) {
  run("mkdir -p " + directory_ + "/web-" + site);
  std::ofstream(directory_ + "/web-" + site + "/index.html") << site;
  // Its log is read by nobody.
  web_.push_back(start(at, {"sh", "-c",
                            "exec python3 -m http.server --bind " + lan(site) + " --directory " + directory_ + "/web-" +
                                site + " 8000 2>/dev/null"}));
}

void WanPrograms::write_resources() const {
  std::string text;
  for (const std::string& site : sites()) {
    text += version() + "kind: Site\nmetadata: {name: " + resource_name(site) + "}\nspec: {role: " + role(site) +
            ", prefixes: [" + lan(site) + "/16], nodeSelector: {site: " + site + "}, overlay: {address: 100.64.0." +
            std::to_string(number_of(site) + 1) + "/24}}\n---\n";
    for (const char* const link : kLinks) {
      text += version() + "kind: WANLink\nmetadata: {name: " + site + "-" + link +
              "}\nspec: {siteRef: " + resource_name(site) + ", interface: " + link + ", " + link_fields(site, link) +
              "}\n---\n";
    }
  }
  files_.put("sites.yaml", text + resources());
}

std::string WanPrograms::fetch(const std::string& from, const std::string& to, int seconds) const {
  return output(inside(from) + "curl -s --max-time " + std::to_string(seconds) + " http://" + lan(to) + ":8000/");
}

std::string WanPrograms::proxied(int seconds) const {
  return output(inside("a") + "curl -s --max-time " + std::to_string(seconds) + " http://127.0.0.1:8080/");
}

unsigned long WanPrograms::sample(const std::string& site, const std::string& begins_with) const {
  return std::stoul("0" + output(inside(site) + "curl -s http://127.0.0.1:9090/metrics | grep -F '" + begins_with +
                                 "' | head -1 | sed 's/.* //'"));
}

std::string WanPrograms::edgectl(const std::string& words) const {
  return output("{ " + inside(kInternet) + bin_dir().string() + "/edgectl " + words + " --kubeconfig " + directory_ +
                "/control/kubeconfig 2>&1; }");
}

std::string WanPrograms::trouble() const {
  std::string text;
  for (const auto& [site, process] : agents_) {
    text += site + ":\n" + process->err_text();
    text += output(inside(site) + "curl -s http://127.0.0.1:9090/metrics | grep '^edge_wan'");
  }
  return text + control_->err_text() + edgectl("sdwan status");
}

}  // namespace edge::test

#include "tests/cli/proxy_process.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <stdexcept>

#include <unistd.h>

#include "base/os/file.h"

namespace edge::test {
namespace {

bool is_standalone(const std::vector<std::string>& command) { return command.front().ends_with("edge-standalone"); }

std::vector<std::string> with_flags(std::vector<std::string> command) {
  for (const char* flag : {"--metrics-listen", "--health-listen"}) {
    if (std::find(command.begin(), command.end(), flag) != command.end()) continue;
    command.emplace_back(flag);
    command.emplace_back("127.0.0.1:0");
  }
  for (const char* flag : {"--api-listen", "--otlp-listen", "--traces-listen"}) {
    if (!is_standalone(command) || std::find(command.begin(), command.end(), flag) != command.end()) continue;
    command.insert(command.end(), {flag, "127.0.0.1:0"});
  }
  for (const char* flag : {"--ephemeral-ports", "--threads", "1"}) command.emplace_back(flag);
  return command;
}

int port_at_end(const std::optional<std::string>& line) {
  if (!line || line->rfind(':') == std::string::npos) return 0;
  return std::atoi(line->c_str() + line->rfind(':') + 1);
}

std::string hash_of(const std::optional<std::string>& line) {
  constexpr std::string_view kKey = "program=";
  if (!line || line->find(kKey) == std::string::npos) return {};
  return line->substr(line->find(kKey) + kKey.size());
}

}  // namespace

ProxyProcess::ProxyProcess(std::vector<std::string> command)
    : process(with_flags(command)),
      keeps_traces_(is_standalone(command) && std::ranges::find(command, "off") == command.end()) {}

std::string ProxyProcess::wait_ready() {
  if (keeps_traces_) {
    otlp_port = port_at_end(process.wait_err("receives traces on "));
    traces_port = port_at_end(process.wait_err("serves queries of traces on "));
  }
  metrics_port = port_at_end(process.wait_err("metrics on "));
  health_port = port_at_end(process.wait_err("health on "));
  const std::string hash = hash_of(process.wait_out("ready program="));
  if (!hash.empty()) port = port_at_end(process.wait_err("listener http on "));
  return hash;
}

std::string ProxyProcess::wait_programmed() { return hash_of(process.wait_out("programmed program=")); }

Backend::Backend(const std::string& name)
    : process_({"python3", std::string(EDGE_SOURCE_DIR) + "/examples/quick-start/backend.py", name, "0"}) {
  port = port_at_end(process_.wait_out("backend "));
}

ListeningSocket::ListeningSocket() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof(address);
  if (::bind(fd_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(fd_, 8) != 0 ||
      ::getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    throw std::runtime_error("listen");
  }
  port = ntohs(address.sin_port);
}

ListeningSocket::~ListeningSocket() { ::close(fd_); }
int ListeningSocket::accept_one() const { return ::accept4(fd_, nullptr, nullptr, SOCK_CLOEXEC); }

std::string admin_authorization(int port) {
  const std::string url = "http://127.0.0.1:" + std::to_string(port) + "/debug/log-level";
  const std::string head = run_command({"curl", "-s", "-m", "30", "-o", "/dev/null", "-D", "-", "-X", "PUT", url}).out;
  constexpr std::string_view kParameter = "token_file=\"";
  const std::size_t at = head.find(kParameter);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + kParameter.size();
  const auto token = read_file(head.substr(begin, head.find('"', begin) - begin), 1 << 10);
  return token ? "Authorization: Bearer " + token->substr(0, token->find('\n')) : std::string();
}

std::string curl(int port, const std::string& path, const std::vector<std::string>& more) {
  std::vector<std::string> command = {"curl", "-s", "-m", "20", "-w", "\n%{http_code}"};
  // Pages for operators are refused by a name.
  if (!path.starts_with("/debug")) command.insert(command.end(), {"-H", "Host: shop.example"});
  command.insert(command.end(), more.begin(), more.end());
  command.push_back("http://127.0.0.1:" + std::to_string(port) + path);
  const std::string out = run_command(command).out;
  const std::size_t end = out.rfind('\n');
  if (end == std::string::npos) return out;
  std::string body = out.substr(0, end);
  while (!body.empty() && body.back() == '\n') body.pop_back();
  return out.substr(end + 1) + " " + body;
}

std::string base_config(int backend_port, int listener_port) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: gw}\n"
         "spec: {listeners: [{name: http, port: " +
         std::to_string(listener_port) +
         ", protocol: HTTP}]}\n"
         "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: be}\n"
         "spec: {serviceRef: {name: be, port: 80}}\n"
         "---\napiVersion: v1\nkind: Service\nmetadata: {name: be}\nspec: {ports: [{name: http, port: 80}]}\n"
         "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\n"
         "metadata: {name: be-1, labels: {kubernetes.io/service-name: be}}\naddressType: IPv4\n"
         "ports: [{name: http, port: " +
         std::to_string(backend_port) + "}]\nendpoints: [{addresses: [127.0.0.1]}]\n";
}

std::string route_config(const std::string& name, const std::string& path, const std::string& spec) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: gw}]\n" + spec +
         "  rules:\n  - matches: [{path: {type: Exact, value: " + path + "}}]\n    backendRef: {name: be}\n";
}

}  // namespace edge::test

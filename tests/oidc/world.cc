#include "tests/oidc/world.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include "base/text/base64.h"
#include "tests/support/connection.h"

namespace edge::test {
namespace {

constexpr const char* kNode = "/usr/bin/node";
constexpr const char* kFolder = "tests/oidc/";

std::vector<std::string> with_node(std::vector<std::string> command) {
  command.front() = kFolder + command.front();
  command.insert(command.begin(), kNode);
  return command;
}

std::string policy(const AgentSettings& settings, const std::string& redirect_url) {
  std::string data = "  client-secret: " + to_base64("a secret: with + and %") +
                     "\n  session-secret: " + to_base64(settings.session_secret) + "\n";
  if (!settings.previous_secret.empty()) {
    data += "  session-secret-previous: " + to_base64(settings.previous_secret) + "\n";
  }
  return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: login, namespace: default}\ndata:\n" + data +
         "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyPolicy\nmetadata: {name: login, namespace: "
         "default}\nspec:\n"
         "  type: OIDC\n  targetRef: {kind: ProxyRoute, name: route-1}\n  oidc:\n    issuerURL: " +
         settings.issuer +
         "\n    clientID: shop\n    clientSecretRef: {name: login}\n    sessionSecretRef: {name: login}\n" +
         "    redirectURL: " + redirect_url + "\n" + settings.oidc;
}

}  // namespace

bool provider_installed() {
  return std::filesystem::exists(kNode) &&
         std::filesystem::exists(std::string(kFolder) + "node_modules/oidc-provider/package.json");
}

Provider::Provider(const std::vector<std::string>& script_and_arguments) : process_(with_node(script_and_arguments)) {
  const std::optional<std::string> ready = process_.wait_out("ready ");
  if (ready) port_ = static_cast<std::uint16_t>(std::atoi(ready->c_str() + 6));
}

EchoBackend::EchoBackend() : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ::bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof address);
  ::listen(listener_, 100);
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  acceptor_ = std::thread([this] {
    for (;;) {
      const int fd = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (fd < 0) return;
      threads_.emplace_back([this, fd] { serve(fd); });
    }
  });
}

EchoBackend::~EchoBackend() {
  over_ = true;
  ::shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listener_);
}

void EchoBackend::serve(int fd) {
  Connection connection(fd, {std::chrono::steady_clock::now() + std::chrono::minutes(5), &over_});
  for (;;) {
    const Result<Message> head = connection.receive_head();
    if (!head.ok()) return;
    std::string text = head->start_line + "\n";
    for (const auto& [name, value] : head->fields) text += name + ": " + value + "\n";
    if (!connection.receive_body(*head).ok()) return;
    const Status sent = connection.send(
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: " + std::to_string(text.size()) +
        "\r\n\r\n" + text);
    if (!sent.ok()) return;
  }
}

bool listens_on(std::uint16_t port) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < end) {
    if (const auto fd = Connection::dial(port); fd.ok()) {
      ::close(*fd);
      return true;
    }
    std::this_thread::yield();
  }
  return false;
}

Agent::Agent(AgentSettings settings) : over_(settings.over) {
  start(settings.threads);
  if (server_ == nullptr) return;
  // Its port is known only once it listens.
  install(settings, "/oauth2/callback");
  if (fault_.empty()) configure(std::move(settings));
}

Agent::Agent(const std::string& configuration, const std::map<std::string, std::uint16_t>& ports)
    : over_(Over::kPlain) {
  start(2);
  if (server_ != nullptr) install(expand_config(configuration, ports));
}

void Agent::start(unsigned threads) {
  runtime::ServerOptions options;
  options.threads = threads;
  options.ephemeral_ports = true;
  options.log = Logger([lines = lines_](LogLevel, const std::string& line, const LogFields&) {
    const std::lock_guard lock(lines->mutex);
    lines->text += line + "\n";
  });
  auto server = runtime::Server::start(options);
  if (!server.ok()) {
    fault_ = server.error().text;
    return;
  }
  server_ = std::move(*server);
}

std::string Agent::log() const {
  const std::lock_guard lock(lines_->mutex);
  return lines_->text;
}

void Agent::configure(AgentSettings settings) {
  install(settings, settings.redirect_url.empty() ? origin() + "/oauth2/callback" : settings.redirect_url);
}

std::string Agent::origin() const {
  return (over_ == Over::kPlain ? "http://127.0.0.1:" : "https://" + std::string(kTestHost) + ":") +
         std::to_string(port_);
}

void Agent::install(const AgentSettings& settings, const std::string& redirect_url) {
  const std::string yaml = expand_config("@gateway\n@backend site\n@route site " + settings.rule + "\n",
                                         {{"site", settings.backend}}, settings.over) +
                           policy(settings, redirect_url);
  install(yaml);
}

void Agent::install(const std::string& yaml) {
  const Result<Compiled> compiled = compile_text("oidc", yaml);
  if (!compiled.ok()) {
    fault_ = compiled.error().text;
    return;
  }
  server_->set_secrets(compiled->secrets);
  server_->set_endpoints(compiled->endpoints);
  if (const Status installed = server_->install(compiled->program); !installed.ok()) fault_ = installed.error().text;
  for (const std::string& fault : server_->secret_faults()) fault_ += fault;
  if (const auto addresses = server_->addresses(); !addresses.empty()) port_ = addresses[0].port;
}

}  // namespace edge::test

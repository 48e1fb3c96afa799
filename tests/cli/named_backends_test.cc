// Backends by name, with a name server of the test's own: edge-standalone follows what it says, through edits and
// restarts, and keeps what it knows while there is no answer.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include "tests/cli/proxy_process.h"
#include "tests/support/name_server.h"

namespace edge::test {
namespace {

using test::NameServer;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using Kind = NameServer::Kind;

/// Answers every request with its own name and the Host that it was asked for. Several stand on one port, at different
/// addresses of the loopback network.
class Site {
 public:
  Site(const char* address, int at_port, std::string name) : name_(std::move(name)) {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in here{};
    here.sin_family = AF_INET;
    here.sin_port = htons(static_cast<std::uint16_t>(at_port));
    ::inet_pton(AF_INET, address, &here.sin_addr);
    socklen_t size = sizeof here;
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&here), size), 0) << address << ":" << at_port;
    ::getsockname(socket_, reinterpret_cast<sockaddr*>(&here), &size);
    port = ntohs(here.sin_port);
    ::listen(socket_, 64);
    EXPECT_EQ(::pipe2(ended_, O_CLOEXEC), 0);
    thread_ = std::thread([this] { run(); });
  }
  ~Site() {
    ::close(ended_[1]);
    thread_.join();
    ::close(ended_[0]);
    ::close(socket_);
  }
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  int port = 0;

 private:
  void run() {
    for (;;) {
      pollfd ready[2] = {{ended_[0], POLLIN, 0}, {socket_, POLLIN, 0}};
      ::poll(ready, 2, -1);
      if (ready[0].revents != 0) return;
      const int peer = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
      if (peer < 0) continue;
      std::string head;
      char bytes[4096];
      for (ssize_t got = 1; got > 0 && head.find("\r\n\r\n") == std::string::npos;) {
        pollfd either[2] = {{ended_[0], POLLIN, 0}, {peer, POLLIN, 0}};
        ::poll(either, 2, -1);
        got = either[0].revents != 0 ? 0 : ::read(peer, bytes, sizeof bytes);
        if (got > 0) head.append(bytes, static_cast<std::size_t>(got));
      }
      const std::size_t host = head.find("Host: ");
      const std::string body =
          name_ + " " + (host == std::string::npos ? "" : head.substr(host + 6, head.find('\r', host) - host - 6));
      const std::string answer =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
      if (!head.empty()) (void)!::write(peer, answer.data(), answer.size());
      ::close(peer);
    }
  }

  std::string name_;
  int socket_ = -1;
  int ended_[2] = {-1, -1};
  std::thread thread_;
};

constexpr const char* kGateway =
    "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: gw}\n"
    "spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}\n";

std::string route(const std::string& name, const std::string& rule = {}) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: " + name +
         "}\nspec:\n  parentRefs: [{name: gw}]\n  rules:\n  - matches: [{path: {type: Exact, value: /" + name +
         "}}]\n    backendRef: {name: " + name + "}\n" + rule;
}

std::string backend(const std::string& name, const std::string& spec) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: ProxyBackend\nmetadata: {name: " + name + "}\nspec: {" + spec +
         "}\n";
}

/// `name` of a route and a backend whose one endpoint is `address`.
std::string named(const std::string& name, const std::string& address) {
  return route(name) + backend(name, "endpoints: [{address: \"" + address + "\"}]");
}

class NamedBackends : public testing::Test {
 protected:
  void start(const std::string& config, const std::vector<std::string>& more = {}) {
    std::filesystem::create_directory(dir_.path() / "config");
    dir_.put("config/all.yaml", kGateway + config);
    restart(more);
  }
  void restart(const std::vector<std::string>& more = {}) {
    proxy_.reset();
    std::vector<std::string> command = {"edge-standalone", "--config",       dir_ / "config", "--data-dir",
                                        dir_ / "data",     "--name-servers", names_.address()};
    command.insert(command.end(), more.begin(), more.end());
    proxy_ = std::make_unique<ProxyProcess>(command);
    ASSERT_NE(proxy_->wait_ready(), "") << proxy_->process.err_text();
  }
  void edit(const std::string& config) { dir_.put("config/all.yaml", kGateway + config); }
  std::string get(const std::string& path) const { return curl(proxy_->port, path); }
  /// Asks again until the answer begins so; a fault shows as what was said last.
  template <typename Ask>
  static std::string until(const std::string& wanted, Ask ask) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    std::string said = ask();
    while (!said.starts_with(wanted) && std::chrono::steady_clock::now() < end) said = ask();
    return said;
  }
  std::string until_answer(const std::string& wanted, const std::string& path) const {
    return until(wanted, [&] { return get(path); });
  }
  /// What /debug/endpoints says of one backend.
  std::string document(const std::string& name) const {
    const std::string text = curl(proxy_->health_port, "/debug/endpoints");
    const std::size_t at = text.find("\"name\": \"" + name + "\"");
    return at == std::string::npos ? text : text.substr(at, text.find("\"namespace\"", at) - at);
  }
  std::string metric(const std::string& name, const std::string& backend) const {
    const std::string text = curl(proxy_->metrics_port, "/metrics");
    const std::string sample = "\n" + name + "{backend=\"default/" + backend + "\"} ";
    const std::size_t at = text.find(sample);
    if (at == std::string::npos) return "none";
    return text.substr(at + sample.size(), text.find('\n', at + 1) - at - sample.size());
  }

  TempDir dir_;
  NameServer names_;
  Site two_{"127.0.0.2", 0, "two"};
  Site three_{"127.0.0.3", two_.port, "three"};
  std::string port_ = std::to_string(two_.port);
  std::unique_ptr<ProxyProcess> proxy_;
};

TEST_F(NamedBackends, RequestsFollowTheRecordsOfAName) {
  names_.set("api.test", {.addresses = {"127.0.0.2"}});
  start(named("api", "api.test:" + port_));
  // The very first request finds it.
  EXPECT_EQ(get("/api"), "200 two shop.example");
  EXPECT_THAT(document("api"), HasSubstr("\"name\": \"api.test:" + port_ + "\""));
  names_.set("api.test", {.addresses = {"127.0.0.3"}});
  EXPECT_EQ(until_answer("200 three", "/api"), "200 three shop.example");
  EXPECT_EQ(metric("edge_backend_names_unresolved", "api"), "0");
  EXPECT_THAT(document("api"), Not(HasSubstr("127.0.0.2")));
}

TEST_F(NamedBackends, TheLastAddressesServeWhileThereIsNoAnswer) {
  names_.set("api.test", {.addresses = {"127.0.0.2"}});
  start(named("api", "api.test:" + port_));
  EXPECT_EQ(get("/api"), "200 two shop.example");
  names_.set("api.test", {.kind = Kind::kFails});
  EXPECT_TRUE(proxy_->process.wait_err("name api.test:" + port_ + " of backend default/api is not resolved"));
  EXPECT_EQ(get("/api"), "200 two shop.example");
  EXPECT_EQ(until("1", [&] { return metric("edge_backend_names_unresolved", "api"); }), "1");
  EXPECT_NE(metric("edge_backend_name_lookup_failures_total", "api"), "0");
  EXPECT_GE(std::stoi(metric("edge_backend_name_lookups_total", "api")), 2);
  EXPECT_THAT(document("api"), Not(HasSubstr("\"error\": \"\"")));
  names_.set("api.test", {.addresses = {"127.0.0.3"}});
  EXPECT_TRUE(proxy_->process.wait_err("name api.test:" + port_ + " of backend default/api is resolved again"));
  EXPECT_EQ(until_answer("200 three", "/api"), "200 three shop.example");
}

TEST_F(NamedBackends, ThatANameIsGoneIsBelievedWhenItIsSaidAgain) {
  names_.set("api.test", {.addresses = {"127.0.0.2"}});
  start(named("api", "api.test:" + port_));
  EXPECT_EQ(get("/api"), "200 two shop.example");
  names_.set("api.test", {.kind = Kind::kNoSuchName});
  EXPECT_THAT(until_answer("503", "/api"), StartsWith("503"));
  EXPECT_GE(std::stoi(metric("edge_backend_name_lookup_failures_total", "api")), 3);
  names_.set("api.test", {.addresses = {"127.0.0.3"}});
  EXPECT_EQ(until_answer("200", "/api"), "200 three shop.example");
}

TEST_F(NamedBackends, ANameMayComeLater) {
  names_.set("mute.test", {.kind = Kind::kSilent});
  start(named("api", "later.test:" + port_) + named("mute", "mute.test:" + port_));
  EXPECT_THAT(get("/api"), StartsWith("503"));
  names_.set("later.test", {.addresses = {"127.0.0.2"}});
  EXPECT_EQ(until_answer("200", "/api"), "200 two shop.example");
}

TEST_F(NamedBackends, ServicesSayTheirPortsAndWeights) {
  Site other("127.0.0.2", 0, "other");
  names_.set("_http._tcp.shop.test", {.services = {{.weight = 3, .port = two_.port, .host = "a.shop.test"},
                                                   {.weight = 1, .port = other.port, .host = "a.shop.test"},
                                                   {.priority = 9, .port = two_.port, .host = "b.shop.test"}}});
  names_.set("a.shop.test", {.addresses = {"127.0.0.2"}});
  names_.set("b.shop.test", {.addresses = {"127.0.0.3"}});
  start(named("api", "_http._tcp.shop.test"));
  std::map<std::string, int> answers;
  EXPECT_EQ(until_answer("200 other", "/api"), "200 other shop.example");
  for (int n = 0; n < 16; ++n) ++answers[get("/api")];
  EXPECT_EQ(answers["200 two shop.example"], 12);
  EXPECT_EQ(answers["200 other shop.example"], 4);
  names_.set("_http._tcp.shop.test", {.services = {{.port = two_.port, .host = "b.shop.test"}}});
  EXPECT_EQ(until_answer("200 three", "/api"), "200 three shop.example");
}

TEST_F(NamedBackends, LongAnswersComeOverTcpAndAreBounded) {
  std::vector<std::string> addresses;
  for (int n = 2; n < 200; ++n) addresses.push_back("127.0.0." + std::to_string(n));
  names_.set("many.test", {.addresses = addresses, .lifetime = 300, .truncated = true});
  start(named("api", "many.test:" + port_));
  EXPECT_THAT(document("api"), HasSubstr("\"addresses\": 64"));
  EXPECT_GT(names_.asked_over_tcp(), 0);
  // What lives for minutes is not asked for again in a second.
  const int asked = names_.asked("many.test");
  names_.set("other.test", {.addresses = {"127.0.0.2"}});
  edit(named("api", "many.test:" + port_) + named("b", "other.test:" + port_));
  EXPECT_EQ(until_answer("200", "/b"), "200 two shop.example");
  EXPECT_EQ(names_.asked("many.test"), asked);
}

TEST_F(NamedBackends, EditsAndRestartsFindNamesAgain) {
  names_.set("a.test", {.addresses = {"127.0.0.2"}});
  names_.set("b.test", {.addresses = {"127.0.0.3"}});
  start(named("api", "127.0.0.2:" + port_));
  EXPECT_EQ(get("/api"), "200 two shop.example");
  edit(named("api", "b.test:" + port_));
  EXPECT_EQ(until_answer("200 three", "/api"), "200 three shop.example");
  restart();
  // What was stored with the program serves until the files are read.
  EXPECT_EQ(until_answer("200 three", "/api"), "200 three shop.example");
  edit(named("api", "a.test:" + port_));
  EXPECT_EQ(until_answer("200 two", "/api"), "200 two shop.example");
  // What the API is given serves as files do.
  dir_.put("more.yaml", named("more", "b.test:" + port_));
  const Finished applied = run_command(
      {(bin_dir() / "edgectl").string(), "--kubeconfig", dir_ / "data/kubeconfig", "apply", "-f", dir_ / "more.yaml"});
  ASSERT_EQ(applied.code, 0) << applied.err;
  EXPECT_EQ(until_answer("200", "/more"), "200 three shop.example");
  const auto status = [&] {
    return run_command({(bin_dir() / "edgectl").string(), "--kubeconfig", dir_ / "data/kubeconfig", "get", "backend",
                        "more", "-o", "yaml"})
        .out;
  };
  const std::string resolved = "127.0.0.3:" + port_;
  const auto found = [&] { return status().find(resolved) == std::string::npos ? "no" : "yes"; };
  EXPECT_EQ(until("yes", found), "yes") << status();
}

TEST_F(NamedBackends, ThoseOfTheZoneArePreferredThroughEditsAndRestarts) {
  names_.set("near.test", {.addresses = {"127.0.0.2"}});
  const auto in_zones = [&](const std::string& two, const std::string& three) {
    return route("api") + backend("api", "endpoints: [{address: \"near.test:" + port_ + "\", zone: " + two +
                                             "}, {address: \"127.0.0.3:" + port_ + "\", zone: " + three + "}]");
  };
  /// Twenty answers in a row.
  const auto answer = [&] {
    const std::string first = get("/api");
    for (int n = 1; n < 20; ++n) {
      if (get("/api") != first) return std::string("both");
    }
    return first;
  };
  start(in_zones("east", "west"), {"--zone", "east"});
  EXPECT_EQ(answer(), "200 two shop.example");
  EXPECT_THAT(document("api"), HasSubstr("\"reserve\": true"));
  // Both edits take place beside another one.
  edit(in_zones("west", "east") + named("other", "near.test:" + port_));
  EXPECT_EQ(until("200 three", answer), "200 three shop.example");
  edit(in_zones("west", "north"));
  EXPECT_EQ(until("both", answer), "both");
  restart({"--zone", "west"});
  EXPECT_EQ(until("200 two", answer), "200 two shop.example");
  restart();
  EXPECT_EQ(until("both", answer), "both");
  const Finished wrong = run_command({(bin_dir() / "edge-standalone").string(), "--config", dir_ / "config",
                                      "--data-dir", dir_ / "other", "--zone", "a b"});
  EXPECT_NE(wrong.code, 0);
  EXPECT_THAT(wrong.err, HasSubstr("--zone"));
}

TEST_F(NamedBackends, AUrlNamesItsHost) {
  names_.set("site.test", {.addresses = {"127.0.0.2"}});
  start(route("api") + backend("api", "url: \"http://site.test:" + port_ + "\"") +
        route("own", "    filters: [{type: URLRewrite, urlRewrite: {hostname: own.test}}]\n") +
        backend("own", "url: \"http://site.test:" + port_ + "\""));
  EXPECT_EQ(get("/api"), "200 two site.test:" + port_);
  EXPECT_EQ(get("/own"), "200 two own.test");
  names_.set("b.test", {.addresses = {"127.0.0.3"}});
  edit(route("api") + backend("api", "url: \"http://b.test:" + port_ + "\""));
  EXPECT_EQ(until_answer("200 three b.test", "/api"), "200 three b.test:" + port_);
  edit(named("api", "b.test:" + port_));
  EXPECT_EQ(until_answer("200 three shop", "/api"), "200 three shop.example");
}

/// Answers over TLS with its own name and the Host that it was asked for.
constexpr const char* kTlsSite = R"(
import http.server, ssl, sys
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = ('secure ' + self.headers['Host']).encode()
        self.send_response(200)
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)
    def log_message(self, *arguments):
        pass
server = http.server.ThreadingHTTPServer(('127.0.0.4', int(sys.argv[2])), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(sys.argv[1] + '.crt', sys.argv[1] + '.key')
server.socket = context.wrap_socket(server.socket, server_side=True)
print('listens on', server.server_port, flush=True)
server.serve_forever()
)";

class TlsSites : public NamedBackends {
 protected:
  /// Signed by itself, for `host`.
  void make(const std::string& name, const std::string& host) {
    const Finished made =
        run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                     "-days", "30", "-keyout", dir_ / (name + ".key"), "-out", dir_ / (name + ".crt"), "-subj",
                     "/CN=" + host, "-addext", "subjectAltName=DNS:" + host});
    ASSERT_EQ(made.code, 0) << made.err;
  }
  void serve(const std::string& name, const std::string& at_port) {
    site_.reset();
    site_ = std::make_unique<Process>(std::vector<std::string>{"python3", "-c", kTlsSite, dir_ / name, at_port});
    const auto line = site_->wait_out("listens on ");
    ASSERT_TRUE(line) << site_->err_text();
    site_port_ = line->substr(line->rfind(' ') + 1);
  }
  /// The certificate `name` as a Secret of an authority.
  std::string authority(const std::string& name) {
    const Finished encoded = run_command({"base64", "-w0", dir_ / (name + ".crt")});
    return "---\napiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\ndata: {ca.crt: " + encoded.out + "}\n";
  }
  std::string site(const std::string& name, const std::string& host, const std::string& tls = {}) const {
    return route(name) + backend(name, "url: \"https://" + host + ":" + site_port_ + "\"" + tls);
  }

  std::unique_ptr<Process> site_;
  std::string site_port_;
};

TEST_F(TlsSites, AreVerifiedByTheNameOfTheirUrl) {
  make("site", "site.test");
  make("imposter", "site.test");
  serve("site", "0");
  for (const char* name : {"site.test", "other.test"}) names_.set(name, {.addresses = {"127.0.0.4"}});
  const auto believing = [](const std::string& host) {
    return ", tls: {hostname: " + host + ", caCertificateRefs: [{name: site}]}";
  };
  start(authority("site") + site("api", "site.test", believing("site.test")) +
        site("other", "other.test", believing("other.test")) + site("stranger", "site.test"));
  EXPECT_EQ(get("/api"), "200 secure site.test:" + site_port_);
  EXPECT_THAT(get("/other"), StartsWith("502")) << "the certificate has another name";
  EXPECT_THAT(get("/stranger"), StartsWith("502")) << "no authority of the system has signed it";
  // Another key by the same name, in the same place.
  serve("imposter", site_port_);
  EXPECT_THAT(until("502", [&] { return get("/api"); }), StartsWith("502"));
  serve("site", site_port_);
  EXPECT_EQ(until_answer("200", "/api"), "200 secure site.test:" + site_port_);
}

TEST_F(NamedBackends, DeniedAddressesAreLeftOut) {
  names_.set("inner.test", {.addresses = {"127.0.0.2", "127.0.0.3"}});
  start(named("api", "inner.test:" + port_), {"--deny-calls-to", "127.0.0.2/32"});
  EXPECT_EQ(get("/api"), "200 three shop.example");
  restart({"--deny-calls-to", "local"});
  EXPECT_THAT(get("/api"), StartsWith("503"));
  EXPECT_THAT(document("api"), HasSubstr("denied"));
}

}  // namespace
}  // namespace edge::test

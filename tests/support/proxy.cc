#include "tests/support/proxy.h"

#include <sstream>
#include <vector>

#include "tests/support/case_file.h"

namespace edge::test {

namespace {

std::string resource(const std::string& kind, const std::string& name) {
  return "---\napiVersion: edgeproxy.io/v1alpha1\nkind: " + kind + "\nmetadata:\n  name: " + name +
         "\n  namespace: default\nspec:\n";
}

const TestAuthority& authority() {
  static const TestAuthority made;
  return made;
}

const IssuedCertificate& certificate() {
  static const IssuedCertificate made =
      authority().issue({.names = {std::string(kTestHost), "*." + std::string(kTestHost), "localhost"}});
  return made;
}

/// A value of a Secret, as a block of YAML.
std::string value(const std::string& key, const std::string& text) {
  std::string out = "  " + key + ": |\n";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) out += "    " + line + "\n";
  return out;
}

std::string secret(const std::string& name, const std::string& type, const std::string& values) {
  return "---\napiVersion: v1\nkind: Secret\nmetadata:\n  name: " + name + "\n  namespace: default\ntype: " + type +
         "\nstringData:\n" + values;
}

std::string certificate_secret(const std::string& name) {
  return secret(name, "kubernetes.io/tls", value("tls.crt", certificate().chain) + value("tls.key", certificate().key));
}

std::string authority_secret(const std::string& name) {
  return secret(name, "Opaque", value("ca.crt", authority().pem()));
}

std::string gateway(const std::string& extra, bool tls) {
  std::string out = resource("ProxyGateway", "edge") + "  listeners:\n    - name: http\n      port: 8080\n" +
                    (tls ? "      protocol: HTTPS\n      tls: {secretRef: {name: site}}\n" : "      protocol: HTTP\n");
  if (!extra.empty()) out += "      " + extra + "\n";
  return out;
}

/// Ports differ, so that each endpoint has a slice of its own.
std::string service(const std::string& name, const std::vector<std::uint16_t>& ports) {
  std::string out = "---\napiVersion: v1\nkind: Service\nmetadata:\n  name: " + name +
                    "\n  namespace: default\nspec:\n" + "  ports:\n    - name: http\n      port: 80\n";
  for (std::size_t i = 0; i < ports.size(); ++i) {
    out += "---\napiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata:\n  name: " + name + "-" +
           std::to_string(i + 1) + "\n  namespace: default\n  labels:\n    kubernetes.io/service-name: " + name +
           "\naddressType: IPv4\nports:\n  - name: http\n    port: " + std::to_string(ports[i]) +
           "\nendpoints:\n  - addresses: [\"127.0.0.1\"]\n";
  }
  return out;
}

std::string backend(const std::string& name, const std::string& extra, const std::vector<std::uint16_t>& ports,
                    bool tls) {
  std::string out = resource("ProxyBackend", name) + "  serviceRef:\n    name: " + name + "\n    port: 80\n";
  if (!extra.empty()) out += "  " + extra + "\n";
  if (tls) out += "  tls: {hostname: " + std::string(kTestHost) + ", caCertificateRefs: [{name: authority}]}\n";
  return out + service(name, ports);
}

std::string route(const std::string& name, const std::string& backend_name, const std::string& extra) {
  std::string out = resource("ProxyRoute", name) + "  parentRefs:\n    - name: edge\n  rules:\n    - matches:\n" +
                    "        - path: {type: PathPrefix, value: /}\n      backendRef: {name: " + backend_name + "}\n";
  if (!extra.empty()) out += "      " + extra + "\n";
  return out;
}

/// Of `A,B,C`; 0 for what is no upstream.
std::vector<std::uint16_t> ports_of(const std::string& names, const std::map<std::string, std::uint16_t>& ports) {
  std::vector<std::uint16_t> result;
  std::istringstream list(names);
  for (std::string name; std::getline(list, name, ',');) result.push_back(ports.contains(name) ? ports.at(name) : 0);
  return result;
}

std::string with_ports(std::string line, const std::map<std::string, std::uint16_t>& ports, bool tls) {
  constexpr std::string_view kUrl = "url:";
  for (std::size_t at; (at = line.find("${")) != std::string::npos;) {
    const std::size_t end = line.find('}', at);
    std::string name = line.substr(at + 2, end - at - 2);
    const bool url = name.starts_with(kUrl);
    if (url) name.erase(0, kUrl.size());
    const auto port = ports.find(name);
    const std::string number = port == ports.end() ? "0" : std::to_string(port->second);
    const std::string origin = tls ? "https://localhost:" : "http://127.0.0.1:";
    line.replace(at, end - at + 1, url ? origin + number : number);
  }
  return line;
}

}  // namespace

std::shared_ptr<const TlsSide> test_client(const std::string& host, const std::string& protocol) {
  return TlsSide::client(authority().pem(), host, protocol);
}

const std::string& test_authority_pem() { return authority().pem(); }

std::shared_ptr<const TlsSide> test_upstream() {
  static const std::shared_ptr<const TlsSide> side = TlsSide::server(certificate());
  return side;
}

std::string expand_config(const std::string& text, const std::map<std::string, std::uint16_t>& ports, Over over) {
  std::istringstream lines(text);
  std::string out;
  std::string line;
  int routes = 0;
  while (std::getline(lines, line)) {
    if (!line.starts_with('@')) {
      out += with_ports(line, ports, over == Over::kTlsBothWays) + "\n";
      continue;
    }
    const auto [macro, rest] = split_word(line);
    const auto [name, extra] = split_word(rest);
    if (macro == "@gateway") out += gateway(rest, over != Over::kPlain);
    const std::size_t equals = name.find('=');
    const std::string own = name.substr(0, equals);
    if (macro == "@certificate") out += certificate_secret(own);
    if (macro == "@authority") out += authority_secret(own);
    if (macro == "@service") out += service(own, ports_of(name.substr(equals + 1), ports));
    if (macro == "@backend") {
      out += backend(own, extra, ports_of(name.substr(equals + 1), ports), over == Over::kTlsBothWays);
    }
    if (macro == "@route") out += route("route-" + std::to_string(++routes), name, extra);
  }
  return over == Over::kPlain ? out : out + certificate_secret("site") + authority_secret("authority");
}

}  // namespace edge::test

#include "compiler/test_documents.h"

#include <string>
#include <utility>

namespace edge::compiler::world {
namespace {

class Maker {
 public:
  explicit Maker(std::mt19937& random) : random_(random) {}

  std::vector<DocumentEdit> edits() {
    std::vector<DocumentEdit> all{edit()};
    while (below(6) == 0) all.push_back(edit());
    return all;
  }

 private:
  DocumentEdit edit() {
    const std::string n = number(4);
    switch (below(36)) {
      case 0:
        return maybe("backend b" + n, some_backend("b" + n));
      case 1:
        return maybe("service b" + n, below(3) == 0 ? some_service("b" + n) : service("b" + n));
      case 2:
      case 3:
        return maybe("slice b" + n, below(3) == 0 ? some_slice() : slice("b" + n, "10.0.0." + number(200)));
      case 4:
        return maybe("vip", resource("ProxyVIP", "vip", "{address: 10.1.1." + number(3) + "}"));
      case 5:
        return maybe("gateway", some_gateway());
      case 6:
      case 7:
      case 8:
        return maybe("policy p" + n, some_policy("p" + n));
      case 9:
      case 10:
      case 11:
        return some_secret();
      case 12:
      case 13:
        return maybe("foreign " + n, some_foreign("f" + n));
      case 14:
        return maybe("double " + n, some_route("r" + n));
      case 15:
        return maybe("noise", one_of({"{", "a: b: c", "kind: ProxyRoute", "[1, 2]", "apiVersion: v1\nkind: Nothing\n",
                                      "# nothing"}));
      case 16:
      case 17:
      case 18:
        return maybe("api " + number(5), some_api_route("f" + number(5)));
      case 20:
      case 21:
        return maybe("ingress " + number(4), some_ingress("i" + number(4)));
      case 22:
        return maybe("class", some_class());
      case 23:
        return maybe("grant", some_grant());
      case 24:
        return {"labelled", labelled_route(n)};
      default: {
        const std::string name = "r" + number(12);
        return maybe("route " + name, some_route(name));
      }
    }
  }

  std::uint32_t below(std::uint32_t limit) { return static_cast<std::uint32_t>(random_()) % limit; }
  std::string number(std::uint32_t limit) { return std::to_string(below(limit)); }
  std::string one_of(const std::vector<std::string>& items) {
    return items[below(static_cast<std::uint32_t>(items.size()))];
  }
  DocumentEdit maybe(std::string document, std::string text) {
    if (below(5) == 0) return {std::move(document), std::nullopt};
    return {std::move(document), std::move(text)};
  }

  std::string some_backend(const std::string& name) {
    if (below(4) == 0) return resource("ProxyBackend", name, some_endpoints());
    return backend(name, one_of({"", ", timeout: {connect: 2s}", ", lbPolicy: Maglev", ", retryPolicy: {numRetries: 2}",
                                 ", passiveHealthCheck: {maxEjectionPercent: 40}", ", nonsense: 1", backend_tls("ca"),
                                 backend_tls("cert"), backend_tls("nowhere")}));
  }

  std::string some_grant() {
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: ReferenceGrant\nmetadata: {name: g, "
           "namespace: other}\nspec: {from: [{group: edgeproxy.io, kind: " +
           one_of({"ProxyPolicy", "ProxyGateway", "ProxyRoute"}) +
           ", namespace: default}], to: [{group: '', kind: Secret}]}\n";
  }

  /// The same object each time, but for a label.
  static std::string labelled_route(const std::string& team) {
    return "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyRoute\nmetadata: {name: labelled, labels: {team: t" + team +
           "}}\nspec: {parentRefs: [{name: edge}], rules: [{backendRef: {name: b1}}]}\n";
  }

  std::string some_class() {
    return "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: ours, annotations: "
           "{ingressclass.kubernetes.io/is-default-class: 'true'}}\nspec: {controller: " +
           one_of({"edgeproxy.io/proxy", "edgeproxy.io/proxy", "edgeproxy.io/proxy", "another.io/one"}) + "}\n";
  }

  /// Of a backend without a Service.
  std::string some_endpoints() {
    return "{" +
           one_of({"url: 'https://a.example'", "url: 'http://a.example:8080'", "url: 'http://10.0.0.1/'",
                   "url: 'http://a.example/x'", "endpoints: [{address: 'a.example:80'}]",
                   "endpoints: [{address: 'a.example:80', weight: 3}, {address: '10.0.0.1:80', weight: 2}]",
                   "endpoints: [{address: _http._tcp.a.example}]", "endpoints: [{address: nowhere}]"}) +
           "}";
  }

  std::string some_service(const std::string& name) {
    return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {ports: [" +
           one_of({"{name: web, port: 80}", "{name: web, port: 80}, {name: alt, port: 81}",
                   "{port: 80, appProtocol: h2c}", "{name: web, port: 80, targetPort: 8080}, {name: alt, port: 81}",
                   "{name: alt, port: 81}"}) +
           "]}\n";
  }

  /// Of any Service, whatever its document is called.
  std::string some_slice() {
    return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: s, labels: "
           "{kubernetes.io/service-name: b" +
           number(4) + "}}\naddressType: IPv4\nports: [" +
           one_of({"{name: web, port: 8080}", "{port: 8080}", "{name: web, port: 8080}, {name: alt, port: 8081}"}) +
           "]\nendpoints: [{addresses: [" + one_of({"10.0.1." + number(3), "10.0.1.1, 10.0.1.2", "nowhere"}) +
           "], conditions: {ready: " + one_of({"true", "false"}) + "}}]\n";
  }

  static std::string secret(const std::string& name, const std::string& data, const std::string& type = "Opaque") {
    return "apiVersion: v1\nkind: Secret\nmetadata: {name: " + name + "}\ntype: " + type + "\nstringData: {" + data +
           "}\n";
  }
  static std::string pem(const std::string& label, const std::string& content) {
    return "\"-----BEGIN " + label + "-----\\n" + content + "\\n-----END " + label + "-----\"";
  }

  DocumentEdit some_secret() {
    const std::string n = number(3);
    switch (below(9)) {
      case 8:
        return maybe("map nets",
                     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nets}\ndata: {" +
                         one_of({"networks: '10.0." + n + ".0/24'", "networks: ''", "networks: 'no" + n + "'",
                                 "other: x", "page: p" + n, "networks: 10.0.0.0/8, page: q" + n}) +
                         "}\n" + one_of({"", "", "binaryData: {page: AAEC}\n", "binaryData: {page: '?'}\n"}));
      case 7:
        return maybe("secret keys", secret("keys", one_of({"secret: s" + n + ", jwks: '{}', api-keys: 'a:k" + n + "'",
                                                           "secret: s" + n, "api-keys: ''"})));
      case 6:
        return maybe("secret theirs",
                     "apiVersion: v1\nkind: Secret\nmetadata: {name: users, namespace: other}\n"
                     "stringData: {htpasswd: 'e:" +
                         n + "'}\n");
      case 0:
        return maybe("secret cert",
                     secret("cert",
                            "tls.crt: " + pem("CERTIFICATE", "c" + n) + ", tls.key: " + pem("PRIVATE KEY", "k" + n) +
                                one_of({"", ", ca.crt: " + pem("CERTIFICATE", "own")}),
                            "kubernetes.io/tls"));
      case 1:
        return maybe("secret ca", secret("ca", "ca.crt: " + one_of({pem("CERTIFICATE", "a" + n), "none"})));
      case 2:
        return maybe("map ca", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ca}\ndata: {ca.crt: " +
                                   pem("CERTIFICATE", "m" + n) + "}\n");
      case 3:
        return maybe("secret login", secret("login", "client-secret: s" + n + ", session-secret: " +
                                                         std::string(below(4) == 0 ? 31 : 32, 'x') +
                                                         one_of({"", ", session-secret-previous: old"})));
      default:
        // Two documents may claim one name.
        return maybe("secret users " + number(2),
                     secret("users", one_of({"htpasswd: 'a:b'", "htpasswd: 'c:" + n + "'", "other: x"})));
    }
  }

  static std::string backend_tls(const std::string& name) {
    return ", protocol: HTTP, tls: {hostname: b.org, caCertificateRefs: [{name: " + name +
           "}], clientCertificateRef: {name: cert}}";
  }

  std::string some_gateway() {
    return resource("ProxyGateway", "edge",
                    "{" +
                        one_of({"", "vipRef: vip, ", "compression: {enabled: true}, ", "cache: {enabled: true}, ",
                                "trustedProxies: [10.0.0.0/8], "}) +
                        "listeners: [" +
                        one_of({"{name: http, port: 8080, protocol: HTTP}",
                                "{name: http, port: 8080, protocol: HTTP}, {name: alt, port: 81, protocol: HTTP}",
                                "{name: http, port: 8080, protocol: HTTP, hostnames: ['*.com']}",
                                "{name: alt, port: 8080, protocol: HTTP}, {name: http, port: 8080, protocol: TCP}",
                                "{name: http, port: 8080, protocol: HTTP}, {name: alt, port: 443, protocol: HTTPS, "
                                "tls: {certificateRefs: [{name: cert}]}}",
                                "{name: http, port: 443, protocol: HTTPS, tls: {secretRef: {name: cert}, "
                                "clientValidation: {caCertificateRefs: [{name: ca}]}}}"}) +
                        "]}");
  }

  std::string some_match() {
    return one_of({prefix("/p" + number(4)), prefix("/"), "{path: {type: Exact, value: /e" + number(4) + "}}",
                   "{path: {type: RegularExpression, value: '^/x" + number(4) + "[0-9]+$'}}",
                   "{path: {type: RegularExpression, value: 'y" + number(4) + "'}}",
                   "{path: {type: RegularExpression, value: 'x^y'}}", "{path: {type: RegularExpression, value: '('}}",
                   "{method: POST}", "{headers: [{name: x-a, value: '" + number(3) + "'}]}",
                   "{headers: [{name: x-b, type: RegularExpression, value: '^" + number(3) + "$'}]}",
                   "{claims: [{name: plan, value: g" + number(3) + "}]}", "{path: {type: PathPrefx, value: /}}",
                   "{path: {type: PathPrefix, value: none}}"});
  }

  std::string some_route(const std::string& name) {
    std::string matches = some_match();
    for (std::uint32_t i = below(3); i > 0; --i) matches += ", " + some_match();
    const std::string hosts = one_of({"a.com", "b.com", "'*.com'", "a.com, b.org", "c.com"});
    const std::string rest = one_of({"", "", "", ", expression: 'header:x-c == \"1\" OR method == \"PUT\"'",
                                     ", expression: 'nonsense'", ", expression: 'claim:roles contains \"admin\"'"});
    return resource("ProxyRoute", name,
                    "{parentRefs: [{name: " + one_of({"edge", "edge", "edge", "edgy", "edge, sectionName: alt"}) +
                        "}], hostnames: [" + hosts + "]" + rest + ", rules: [{" + one_of({"", "name: main, "}) +
                        "matches: [" + matches + "], backendRef: {name: " + one_of({"b0", "b1", "b2", "b3", "b9"}) +
                        "}}]}");
  }

  std::string some_policy(const std::string& name) {
    const auto target = [&] {
      return one_of({"ProxyRoute, name: r" + number(12), "ProxyRoute, name: r" + number(30),
                     "ProxyRoute, name: r" + number(4), "ProxyRoute, name: r" + number(12),
                     "ProxyRoute, name: r" + number(12), "ProxyRoute, name: r" + number(12),
                     "ProxyRoute, name: r" + number(12) + ", sectionName: main", "ProxyGateway, name: edge",
                     "ProxyGateway, name: edge, sectionName: " + one_of({"http", "alt", "none"}), "Gateway, name: own",
                     "HTTPRoute, name: f" + number(5), "HTTPRoute, name: f" + number(5) + ", sectionName: main",
                     "Ingress, name: i" + number(4), "Ingress, name: i1, sectionName: x", "ProxyNothing, name: r1"});
    };
    const std::string first = target();
    const std::string settings = some_settings();
    // Filters may name it.
    if (below(5) == 0) return resource("ProxyPolicy", name, "{" + settings + "}");
    return policy(
        name, below(3) == 0 ? first + "}, {kind: " + target() + (below(2) == 0 ? "}, {kind: " + target() : "") : first,
        settings);
  }

  std::string some_settings() {
    return one_of(
        {"type: RateLimit, rateLimit: {requestsPerSecond: " + number(3) + ", burst: 9}",
         "type: ConcurrencyLimit, concurrencyLimit: {limits: [{requests: " + number(3) + "1}]}",
         "type: BasicAuth, basicAuth: {secretRef: {name: users}}",
         "type: BasicAuth, basicAuth: {secretRef: {name: users, namespace: other}}",
         "type: ForwardAuth, forwardAuth: {address: 'http://10.9.9." + number(3) + ":80/'}",
         "type: ForwardAuth, forwardAuth: {backendRef: {name: b" + number(4) + "}}",
         "type: SecurityHeaders, securityHeaders: {}",
         "type: JWT, jwt: {issuer: 'https://id', jwksUri: 'https://id/k', allowedAlgorithms: [ES256]}",
         "type: JWT, jwt: {issuer: 'https://id', jwksUri: 'https://id/k', allowedAlgorithms: [ES256], "
         "claimToHeaders: [{claim: plan, header: x-a, beforeRouting: " +
             one_of({"true", "false"}) + "}]}",
         "type: JWT, jwt: {issuer: 'https://id', secretRef: {name: users}, allowedAlgorithms: [HS256]}",
         "type: JWT, jwt: {issuer: 'https://id'}",
         "type: BasicAuth, basicAuth: {secretRef: {name: users}}",
         "type: IPAccess, ipAccess: {allow: [10.0.0.0/8]}",
         "type: IPAccess, ipAccess: {denyLists: [{configMapRef: {name: nets}}]}",
         "type: ClientCertificate, clientCertificate: {allow: {dnsNames: [a.com]}}",
         "type: RequestFilter, requestFilter: {maxBodySize: " + number(3) + "1, denyPaths: [a]}",
         "type: APIKey, apiKey: {header: x-key, secretRefs: [{name: keys}]}",
         "type: JWT, jwt: {issuers: [{issuer: a, secretRef: {name: keys}, allowedAlgorithms: [HS256]}, "
         "{issuer: b, jwksSecretRef: {name: keys}, allowedAlgorithms: [RS256]}]}",
         oidc("a.com"),
         oidc("b.com"),
         "type: JWT, jwt: {issuer: 'https://id.com', jwksURI: 'https://id.com/keys', "
         "allowedAlgorithms: [RS256]}",
         "type: CORS, cors: {allowOrigins: ['https://a.com']}",
         "type: FixedResponse, fixedResponse: {statusCode: 410}",
         "type: FixedResponse, fixedResponse: {statusCode: 410, configMapRef: {name: nets, key: page}}",
         "type: ErrorPages, errorPages: {pages: [{statuses: [5xx], body: x, backendErrors: " +
             one_of({"true", "false"}) + "}]}",
         "type: ErrorPages, errorPages: {pages: [{statuses: ['404'], configMapRef: {name: nets, key: page}}]}",
         "type: Maintenance, maintenance: {}",
         "type: ErrorPages, errorPages: {pages: [{statuses: [4xx], body: x}]}",
         "type: Nothing"});
  }

  static std::string oidc(const std::string& host) {
    return "type: OIDC, oidc: {issuerURL: 'https://id.com', clientID: shop, clientSecretRef: {name: login}, "
           "sessionSecretRef: {name: login}, redirectURL: 'https://" +
           host + "/login'}";
  }

  std::string some_api_route(const std::string& name) {
    const bool grpc = below(4) == 0;
    const std::string filters =
        one_of({"", "", ", filters: [{type: CORS, cors: {allowOrigins: ['https://a.com']}}]",
                ", filters: [{type: RequestMirror, requestMirror: {backendRef: {name: b" + number(4) + ", port: 80}}}]",
                ", filters: [{type: ExtensionRef, extensionRef: {group: x, kind: Y, name: z}}]",
                ", filters: [{type: ExtensionRef, extensionRef: {group: edgeproxy.io, kind: ProxyPolicy, name: p" +
                    number(12) + "}}]",
                ", filters: [{type: ExternalAuth, externalAuth: {protocol: " + one_of({"HTTP", "GRPC"}) +
                    ", backendRef: {name: b" + number(4) + ", port: 80}}}]",
                ", filters: [{type: ExternalAuth, externalAuth: {protocol: HTTP, backendRef: {name: b" + number(4) +
                    ", kind: ProxyBackend, group: edgeproxy.io}}}]"});
    return "apiVersion: gateway.networking.k8s.io/v1\nkind: " + std::string(grpc ? "GRPCRoute" : "HTTPRoute") +
           "\nmetadata: {name: " + name + "}\nspec: {parentRefs: [" +
           one_of({"{name: own}", "{name: own}", "{name: edge, group: edgeproxy.io, kind: ProxyGateway}"}) +
           "], hostnames: [" + one_of({"a.com", "f.com", "'*.com'"}) + "], rules: [{" + one_of({"", "name: main, "}) +
           "backendRefs: [" +
           one_of({"{name: b" + number(4) + ", port: 80}", "{name: b0, port: 81}", "{name: b8, port: 80}",
                   "{name: b1, kind: ProxyBackend, group: edgeproxy.io}",
                   "{name: b0, port: 80}, {name: b1, port: 80}"}) +
           "]" + (grpc ? "" : filters) + "}]" + one_of({"", "", "", ", nonsense: 1"}) + "}\n";
  }

  std::string some_ingress(const std::string& name) {
    const auto path = [&] {
      return "{path: /" + one_of({"", "x", "y"}) + ", pathType: Prefix, backend: {service: {name: b" + number(4) +
             ", port: {number: " + one_of({"80", "80", "81"}) + "}}}}";
    };
    return "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: " + name + ", annotations: {" +
           one_of({"", "", "", "edgeproxy.io/rewrite-target: /z", "edgeproxy.io/ssl-redirect: 'true'",
                   "edgeproxy.io/canary: 'true', edgeproxy.io/canary-weight: '20'", "edgeproxy.io/nonsense: x"}) +
           "}}\nspec: {" + one_of({"", "", "ingressClassName: nobodys, "}) +
           one_of({"", "", "tls: [{hosts: [i.com], secretName: cert}], ",
                   "defaultBackend: {service: {name: b1, port: {number: 80}}}, "}) +
           "rules: [{host: " + one_of({"i.com", "j.com"}) + ", http: {paths: [" + path() + ", " + path() +
           "]}}, {host: k.com, http: {paths: [" + path() + "]}}]}\n";
  }

  std::string some_foreign(const std::string& name) {
    const std::string route = "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: " + name +
                              "}\nspec: {parentRefs: [{name: own}], hostnames: [" + one_of({"a.com", "f.com"}) +
                              "], rules: [{backendRefs: [{name: " + one_of({"b0", "b1", "b9"}) + ", port: 80}]}]}\n";
    return one_of({route, route,
                   "apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: edge}\nspec: "
                   "{controllerName: edgeproxy.io/proxy}\n---\napiVersion: gateway.networking.k8s.io/v1\nkind: "
                   "Gateway\nmetadata: {name: own}\nspec: {gatewayClassName: edge, listeners: [{name: http, port: 90, "
                   "protocol: HTTP}]}\n",
                   "apiVersion: gateway.networking.k8s.io/v1\nkind: BackendTLSPolicy\nmetadata: {name: " + name +
                       "}\nspec: {targetRefs: [{group: '', kind: Service, name: b" + number(2) +
                       "}], validation: {hostname: b.org, caCertificateRefs: [{group: '', kind: " +
                       one_of({"ConfigMap", "Secret"}) + ", name: ca}]}}\n",
                   "apiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: " + name +
                       "}\nspec: {rules: [{host: i.com, http: {paths: [{path: /, pathType: Prefix, backend: {service: "
                       "{name: b0, port: {number: 80}}}}]}}]}\n",
                   "apiVersion: gateway.networking.k8s.io/v1\nkind: GRPCRoute\nmetadata: {name: " + name +
                       "}\nspec: {parentRefs: [{name: own}], rules: [{matches: [{method: {service: s" + number(3) +
                       "}}], backendRefs: [{name: b0, port: 80}]}]}\n",
                   "apiVersion: gateway.networking.k8s.io/v1\nkind: TCPRoute\nmetadata: {name: " + name +
                       "}\nspec: {parentRefs: [{name: own}], rules: [{backendRefs: [{name: b1, port: 80}]}]}\n",
                   "apiVersion: gateway.networking.k8s.io/v1alpha2\nkind: UDPRoute\nmetadata: {name: " + name +
                       "}\nspec: {parentRefs: [{name: own}], rules: [{backendRefs: [{name: b1, port: 80}]}]}\n"});
  }

  std::mt19937& random_;
};

}  // namespace

std::vector<DocumentEdit> RandomDocuments::edits() { return Maker(random_).edits(); }

}  // namespace edge::compiler::world

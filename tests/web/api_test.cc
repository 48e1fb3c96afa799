// The server of `edgectl web` over real sockets, in front of a running edge-standalone.
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/web/api/call_table.h"
#include "tests/web/sample_calls.h"
#include "tests/web/world.h"

namespace edge::test {
namespace {

using edgectl::web::Call;
using edgectl::web::calls;
using Json = nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

/// Validates the part of JSON Schema that the document uses. \returns the first fault.
std::string fault_of(const Json& value, const Json& schema, const Json& schemas, const std::string& at = "$") {
  if (const auto ref = schema.find("$ref"); ref != schema.end()) {
    const std::string name = ref->get<std::string>();
    const std::string key = name.substr(name.rfind('/') + 1);
    if (!schemas.contains(key)) return at + ": no schema " + key;
    return fault_of(value, schemas[key], schemas, at);
  }
  const Json type = schema.value("type", Json());
  const std::string own = value.is_null()             ? "null"
                          : value.is_boolean()        ? "boolean"
                          : value.is_number_integer() ? "integer"
                                                      : value.type_name();
  const auto fits = [&](const Json& one) { return one == own || (one == "number" && value.is_number()); };
  const bool typed = type.is_null() || (type.is_array() ? std::any_of(type.begin(), type.end(), fits) : fits(type));
  if (!typed) return at + " is " + own + ", not " + type.dump();
  if (const Json choices = schema.value("enum", Json()); choices.is_array()) {
    if (std::find(choices.begin(), choices.end(), value) == choices.end()) return at + ": " + value.dump();
  }
  for (const Json& name : schema.value("required", Json::array())) {
    if (value.is_object() && !value.contains(name.get<std::string>())) return at + " lacks " + name.dump();
  }
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [name, inner] : properties.items()) {
    if (!value.is_object() || !value.contains(name)) continue;
    if (const std::string fault = fault_of(value[name], inner, schemas, at + "." + name); !fault.empty()) return fault;
  }
  if (schema.contains("items") && value.is_array()) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string fault = fault_of(value[i], schema["items"], schemas, at + "[" + std::to_string(i) + "]");
      if (!fault.empty()) return fault;
    }
  }
  return {};
}

/// Objects, and what agents say of them, come in behind the start.
HttpReply until(const std::function<HttpReply()>& ask, const std::function<bool(const HttpReply&)>& good) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  HttpReply reply = ask();
  while (!good(reply) && std::chrono::steady_clock::now() < end) reply = ask();
  return reply;
}

class WebApi : public testing::Test {
 protected:
  void serve(const std::vector<std::string>& flags = {}) {
    ASSERT_EQ(world_.serve(flags), "");
    const HttpReply known =
        until([&] { return world_.ask("/api/problems"); },
              [](const HttpReply& reply) { return reply.body.find("broken") != std::string::npos; });
    ASSERT_THAT(known.body, HasSubstr("nowhere"));
  }
  Json json(const std::string& path) { return parse_json(world_.ask(path).body); }
  /// Of one request, which is logged too.
  void leave_a_trace() {
    const Finished done = world_.edgectl(
        "patch gateways gw --type merge -p '{\"spec\":{\"tracing\":{\"enabled\":true,\"trustIncoming\":\"Always\"},"
        "\"accessLog\":{\"enabled\":true}}}' --wait programmed");
    ASSERT_EQ(done.code, 0) << done.err;
    const std::string url = "http://127.0.0.1:" + std::to_string(world_.proxy().port) + "/cart";
    const HttpReply trace = until(
        [&] {
          run_command({"curl", "-s", "-H", "Host: shop.example", "-H",
                       "traceparent: 00-" + std::string(kTraceId) + "-00f067aa0ba902b7-01", url});
          return world_.ask("/api/traces/" + std::string(kTraceId));
        },
        [](const HttpReply& reply) { return reply.status == 200; });
    ASSERT_EQ(trace.status, 200) << trace.body;
  }

  WebWorld world_;
};

TEST_F(WebApi, DocumentNamesEveryCallAndRepliesAreAsItSays) {
  serve();
  leave_a_trace();
  const Json document = json("/api/openapi.json");
  ASSERT_EQ(document["openapi"], "3.1.0");
  const Json& schemas = document["components"]["schemas"];
  std::size_t operations = 0;
  std::set<std::string> names;
  for (const auto& [path, methods] : document["paths"].items()) {
    for (const auto& [method, operation] : methods.items()) {
      ++operations;
      names.insert(operation["operationId"]);
      const Json parameters = operation.value("parameters", Json::array());
      EXPECT_EQ(std::ranges::count(path, '{'),
                std::ranges::count_if(parameters, [](const Json& one) { return one["in"] == "path"; }))
          << path;
    }
  }
  EXPECT_EQ(operations, calls().size());
  EXPECT_EQ(names.size(), calls().size());
  for (const Call& call : calls()) {
    ASSERT_TRUE(schemas.contains(std::string(call.reply))) << call.path;
    if (call.id == edgectl::web::CallId::kEvents || call.id == edgectl::web::CallId::kRange) continue;
    // Without a federation there is no conflict: federation_test.cc.
    if (call.id == edgectl::web::CallId::kFederationConflict || call.id == edgectl::web::CallId::kResolveConflict)
      continue;
    const std::string path = path_for(call);
    const HttpReply reply = call.method == "GET" ? world_.ask(path) : world_.post(path, body_for(world_, call));
    ASSERT_EQ(reply.status, 200) << path << reply.body;
    EXPECT_THAT(reply.head,
                AllOf(HasSubstr("Content-Type: application/json\r\n"), HasSubstr("Cache-Control: no-store\r\n")));
    EXPECT_EQ(fault_of(parse_json(reply.body), schemas[std::string(call.reply)], schemas), "") << path;
  }
  for (const char* none :
       {"/api/nothing", "/api/objects/secrets", "/api/objects/proxyroutes/default/none", "/api/agents/nobody"}) {
    const HttpReply reply = world_.ask(none);
    EXPECT_EQ(reply.status, 404) << none;
    EXPECT_EQ(fault_of(parse_json(reply.body), schemas["Error"], schemas), "") << none << reply.body;
  }
  const HttpReply wrong = world_.post("/api/session", "{}");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_THAT(wrong.head, HasSubstr("Allow: GET\r\n"));
}

TEST_F(WebApi, ReadOnlyRefusesEveryCallThatChangesSomething) {
  serve({"--read-only"});
  EXPECT_EQ(json("/api/session")["readOnly"], true);
  std::size_t changes = 0;
  for (const Call& call : calls()) {
    if (call.method != "GET") EXPECT_NE(call.changes, only_reads(call)) << call.path;
    if (!call.changes) continue;
    ++changes;
    const HttpReply reply = world_.post(path_for(call), "{}");
    EXPECT_EQ(reply.status, 403) << call.path;
    EXPECT_THAT(reply.body, HasSubstr("read-only")) << call.path;
  }
  EXPECT_GE(changes, 2U);
  EXPECT_EQ(world_.ask("/api/agents").status, 200);
}

TEST_F(WebApi, PagesOfOtherSitesAndOtherNamesAreRefused) {
  serve({"--host-name", "Edge.Example"});
  EXPECT_EQ(world_.ask("/", {"-H", "Host: evil.example"}).status, 421);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Host: evil.example"}).status, 421);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Host: localhost.evil.example"}).status, 421);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Host: edge.example:9080"}).status, 200);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Host: localhost"}).status, 200);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Host: [::1]:9080"}).status, 200);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Sec-Fetch-Site: cross-site"}).status, 403);
  EXPECT_EQ(world_.ask("/api/session", {"-H", "Sec-Fetch-Site: same-site"}).status, 403);
  const std::string drain = "/api/agents/standalone/drain";
  EXPECT_EQ(world_.post(drain, "{}", {"-H", "Origin: http://evil.example"}).status, 403);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", "Origin: null"}).status, 403);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", "Origin: " + world_.url()}).status, 200);
  // What a form can send without being asked first.
  EXPECT_EQ(world_.ask(drain, {"-H", "Content-Type: text/plain", "-d", "{}"}).status, 415);
  EXPECT_EQ(world_.ask(drain, {"-d", "{}"}).status, 415);
}

TEST_F(WebApi, AProxyThatEndsTlsIsNamed) {
  for (const char* faulty : {"http://dash.example", "https://dash.example/below", "dash.example", "https://"}) {
    EXPECT_EQ(world_.edgectl("web --listen 127.0.0.1:0 --public-url " + std::string(faulty)).code, 2) << faulty;
  }
  serve({"--public-url", "https://Dash.Example"});
  const std::string drain = "/api/agents/standalone/drain";
  const std::string host = "Host: dash.example";
  const std::string origin = "Origin: https://dash.example";
  EXPECT_EQ(world_.ask("/api/session", {"-H", host}).status, 200);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", host, "-H", origin}).status, 200);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", host, "-H", origin, "-H", "Sec-Fetch-Site: same-origin"}).status, 200);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", host, "-H", origin, "-H", "Sec-Fetch-Site: cross-site"}).status, 403);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", host, "-H", "Origin: https://other.dash.example"}).status, 403);
  EXPECT_EQ(world_.post(drain, "{}", {"-H", "Host: evil.example", "-H", origin}).status, 421);
  serve();
  EXPECT_EQ(world_.post(drain, "{}", {"-H", "Host: localhost", "-H", "Origin: https://localhost"}).status, 403);
}

TEST_F(WebApi, RepliesConfineThePage) {
  serve();
  for (const char* path : {"/", "/objects/proxyroutes", "/assets/none.js", "/api/session", "/api/nothing"}) {
    EXPECT_THAT(world_.ask(path).head,
                AllOf(HasSubstr("Content-Security-Policy: default-src 'self'; "), HasSubstr("frame-ancestors 'none'"),
                      HasSubstr("require-trusted-types-for 'script'; trusted-types 'none'\r\n"),
                      HasSubstr("X-Content-Type-Options: nosniff\r\n"), Not(HasSubstr("Access-Control"))))
        << path;
  }
  const HttpReply page = world_.ask("/traffic");
  EXPECT_EQ(page.status, 200);
  EXPECT_THAT(page.body, AllOf(StartsWith("<!doctype html>"), Not(HasSubstr("<style")), Not(HasSubstr("onclick"))));
  EXPECT_THAT(page.head, HasSubstr("Cache-Control: no-cache\r\n"));
  const std::size_t at = page.head.find("ETag: ") + 6;
  const std::string etag = page.head.substr(at, page.head.find('\r', at) - at);
  EXPECT_EQ(world_.ask("/", {"-H", "If-None-Match: " + etag}).status, 304);
  EXPECT_EQ(world_.ask("/assets/none.js").status, 404);
  EXPECT_EQ(world_.post("/", "{}").status, 405);
  const HttpReply packed = world_.ask("/", {"-H", "Accept-Encoding: gzip"});
  EXPECT_THAT(packed.head, HasSubstr("Content-Encoding: gzip\r\n"));
  EXPECT_EQ(packed.body.substr(0, 2), "\x1f\x8b");
}

TEST_F(WebApi, NoReplyHasWhatIsSecret) {
  serve();
  std::string all;
  for (const Json& kind : json("/api/kinds")) {
    const std::string plural = kind["plural"];
    EXPECT_NE(plural, "secrets");
    const std::string list = "/api/objects/" + plural;
    const HttpReply rows = world_.ask(list);
    all += rows.body;
    const Json listed = parse_json(rows.body);
    for (const Json& row : listed["rows"]) {
      const std::string space = row["namespace"];
      all += world_.ask(list + (space.empty() ? "" : "/" + space) + "/" + row["name"].get<std::string>()).body;
    }
  }
  for (const Call& call : calls()) {
    if (call.method == "GET" && call.id != edgectl::web::CallId::kEvents) all += world_.ask(path_for(call)).body;
  }
  EXPECT_THAT(all, AllOf(HasSubstr("broken.example"), HasSubstr("<redacted>")));
  EXPECT_THAT(all, Not(HasSubstr(kPlanted)));
}

TEST_F(WebApi, ObjectsComeWithConditionsEventsAndRelations) {
  serve();
  const Json route = json("/api/objects/proxyroutes/default/broken");
  EXPECT_EQ(route["health"], "bad");
  EXPECT_THAT(route["problem"].get<std::string>(), StartsWith("ResolvedRefs: BackendNotFound"));
  EXPECT_THAT(route["yaml"].get<std::string>(), HasSubstr("kind: ProxyRoute"));
  std::map<std::string, Json> uses;
  for (const Json& one : route["uses"]) uses[one["kind"]] = one;
  EXPECT_EQ(uses["ProxyBackend"]["known"], false);
  EXPECT_EQ(uses["ProxyGateway"]["known"], true);
  EXPECT_EQ(uses["ProxyGateway"]["plural"], "proxygateways");
  const Json gateway = json("/api/objects/proxygateways/default/gw");
  EXPECT_EQ(gateway["usedBy"].size(), 4U) << gateway["usedBy"].dump();
  const HttpReply hidden =
      until([&] { return world_.ask("/api/objects/proxyroutes/default/late"); },
            [](const HttpReply& reply) { return reply.body.find("Shadowed") != std::string::npos; });
  EXPECT_EQ(parse_json(hidden.body)["health"], "warning") << hidden.body;
}

TEST_F(WebApi, ExplainsByWhatIsAppliedNow) {
  serve();
  const auto explain = [&](const std::string& body) { return world_.post("/api/explain", body); };
  const Json reply = parse_json(explain(R"({"request":"GET http://shop.example:8080/cart"})").body);
  const Json& explanation = reply["explanation"];
  EXPECT_EQ(explanation["winner"]["route"], "default/cart");
  ASSERT_GE(explanation["hosts"][0]["rules"].size(), 2U);
  const Json& lost = explanation["hosts"][0]["rules"][0];
  EXPECT_EQ(lost["verdict"], "failed");
  EXPECT_EQ(lost["route"], "default/preview");
  EXPECT_EQ(lost["actual"], "absent");
  EXPECT_EQ(explanation["agree"], true);
  EXPECT_EQ(reply["notes"], Json::array());
  EXPECT_EQ(explain(R"({"request":"nonsense"})").status, 400);
  EXPECT_EQ(explain(R"({"request":"GET http://shop.example:81/cart"})").status, 400);
  EXPECT_EQ(explain(R"({"request":"GET http://shop.example:8080/","headers":[7]})").status, 400);
  EXPECT_EQ(explain("[]").status, 400);
  EXPECT_EQ(explain("{\"request\":\"" + std::string(300'000, 'x') + "\"}").status, 413);

  world_.dir().put("more.yaml", route_config("added", "/added", "  hostnames: [shop.example]\n"));
  ASSERT_EQ(world_.edgectl("apply -f more.yaml").code, 0);
  const HttpReply now = until([&] { return explain(R"({"request":"GET http://shop.example:8080/added"})"); },
                              [](const HttpReply& got) { return got.body.find("default/added") != std::string::npos; });
  EXPECT_EQ(parse_json(now.body)["explanation"]["winner"]["route"], "default/added");
}

TEST_F(WebApi, EventsTellChangesTrafficAndAgents) {
  serve();
  Process events({"curl", "-sN", world_.url() + "/api/events"});
  ASSERT_TRUE(events.wait_out("event: traffic"));
  ASSERT_TRUE(events.wait_out("event: agents"));
  ASSERT_TRUE(events.wait_out("\"standalone\""));
  world_.dir().put("more.yaml", route_config("added", "/added"));
  ASSERT_EQ(world_.edgectl("apply -f more.yaml").code, 0);
  EXPECT_TRUE(events.wait_out("\"proxyroutes\""));
  // Many who look on, and never read, are in nobody's way.
  std::vector<std::unique_ptr<Process>> viewers;
  for (int i = 0; i < 20; ++i) {
    viewers.push_back(std::make_unique<Process>(
        std::vector<std::string>{"curl", "-sN", "-o", "/dev/null", world_.url() + "/api/events"}));
  }
  ASSERT_THAT(curl(world_.proxy().port, "/cart"), HasSubstr("200"));
  const HttpReply traffic =
      until([&] { return world_.ask("/api/traffic"); },
            [](const HttpReply& got) { return got.body.find("default/cart") != std::string::npos; });
  EXPECT_EQ(parse_json(traffic.body)["routes"][0]["route"], "default/cart") << traffic.body;
  world_.process().send_signal(SIGTERM);
  EXPECT_EQ(world_.process().wait_exit(), 0) << world_.process().err_text();
}

TEST_F(WebApi, ServesOverTls) {
  const std::string certificate = world_.dir() / "site.crt";
  const std::string key = world_.dir() / "site.key";
  ASSERT_EQ(run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                         "-days", "2", "-subj", "/CN=edge.example", "-addext",
                         "subjectAltName=DNS:edge.example,IP:127.0.0.1", "-keyout", key, "-out", certificate})
                .code,
            0);
  serve({"--tls-cert", certificate, "--tls-key", key});
  const auto serial = [&] {
    const std::string address = world_.url().substr(std::string("https://").size());
    const Finished shown =
        run_command({"/bin/sh", "-c",
                     "openssl s_client -connect " + address + " </dev/null 2>/dev/null | openssl x509 -noout -serial"});
    return HttpReply{.status = shown.code, .head = {}, .body = shown.out};
  };
  const std::string before = serial().body;
  ASSERT_THAT(before, StartsWith("serial="));
  ASSERT_EQ(run_command({"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                         "-days", "2", "-subj", "/CN=edge.example", "-addext", "subjectAltName=DNS:new.example",
                         "-keyout", key, "-out", certificate})
                .code,
            0);
  const HttpReply after = until(serial, [&](const HttpReply& got) { return got.body != before && !got.body.empty(); });
  EXPECT_THAT(after.body, testing::AllOf(StartsWith("serial="), testing::Ne(before)));
}

TEST_F(WebApi, AnAwayApiIsToldOf) {
  world_.proxy().process.send_signal(SIGTERM);
  world_.proxy().process.wait_exit();
  ASSERT_EQ(world_.serve(), "");
  const HttpReply session = until([&] { return world_.ask("/api/session"); },
                                  [](const HttpReply& got) { return parse_json(got.body)["fault"] != ""; });
  EXPECT_THAT(session.body, HasSubstr("\"synced\":false"));
  EXPECT_EQ(world_.ask("/").status, 200);
  EXPECT_EQ(world_.post("/api/explain", R"({"request":"GET http://shop.example/"})").status, 503);
  EXPECT_EQ(world_.ask("/api/agents").status, 503);
}

TEST(WebOfStandalone, IsAProcessOfItsOwnThatIsKept) {
  const TempDir dir;
  const Backend backend("one");
  dir.put("config/all.yaml", base_config(backend.port) + "---\n" + route_config("cart", "/cart"));
  ProxyProcess proxy({"edge-standalone", "--config", dir / "config", "--data-dir", dir / "data", "--access-log", "off",
                      "--web-listen", "127.0.0.1:0", "--web-read-only"});
  const auto url_of = [&] {
    const auto line = proxy.process.wait_out("Serving on ");
    return line ? line->substr(line->find("http")) : std::string();
  };
  const auto ask = [](const std::string& url) {
    const Finished got = run_command({"curl", "-s", "--max-time", "20", url});
    return HttpReply{.status = got.code, .head = {}, .body = got.out};
  };
  std::string url = url_of();
  ASSERT_NE(url, "") << proxy.process.err_text();
  const HttpReply routes = until([&] { return ask(url + "api/objects/proxyroutes"); },
                                 [](const HttpReply& got) { return got.body.find("cart") != std::string::npos; });
  EXPECT_THAT(routes.body, HasSubstr("cart"));
  EXPECT_EQ(parse_json(ask(url + "api/session").body)["readOnly"], true);
  EXPECT_EQ(ask(url + "healthz").body, "ok\n");
  EXPECT_THAT(ask(url + "api/agents").body, HasSubstr("\"standalone\""));

  const auto child = [&] {
    return run_command({"pgrep", "-P", std::to_string(proxy.process.pid()), "-f", "edge-standalone web"}).out;
  };
  const int first = std::atoi(child().c_str());
  ASSERT_GT(first, 1);
  const std::string status = run_command({"cat", "/proc/" + std::to_string(first) + "/status"}).out;
  for (const char* set : {"CapInh", "CapPrm", "CapEff", "CapAmb"}) {
    EXPECT_THAT(status, HasSubstr(std::string(set) + ":\t0000000000000000\n"))
        << "what the proxy may is not the page's";
  }
  EXPECT_THAT(status, HasSubstr("NoNewPrivs:\t1\n"));
  ASSERT_EQ(run_command({"curl", "-s", "-f", "-H", "Content-Type: application/json", "-d",
                         R"({"request":"GET http://shop.example:8080/cart"})", url + "api/explain"})
                .code,
            0);
  const std::string compiler = run_command({"pgrep", "-P", std::to_string(first)}).out;
  EXPECT_THAT(run_command({"cat", "/proc/" + std::to_string(std::atoi(compiler.c_str())) + "/status"}).out,
              HasSubstr("CapPrm:\t0000000000000000\n"));
  ASSERT_EQ(::kill(first, SIGKILL), 0);
  url = url_of();
  EXPECT_EQ(ask(url + "healthz").body, "ok\n") << "it is started again";
  proxy.process.send_signal(SIGTERM);
  EXPECT_EQ(proxy.process.wait_exit(), 0) << proxy.process.err_text();
  EXPECT_NE(ask(url + "healthz").status, 0) << "it ends with the proxy";
}

TEST_F(WebApi, MemoryOfACompilationIsNotTheServers) {
  serve();
  const auto explain = [&] {
    return world_.post("/api/explain", R"({"request":"GET http://shop.example:8080/cart"})");
  };
  ASSERT_EQ(explain().status, 200);
  const auto child = [&] { return run_command({"pgrep", "-P", std::to_string(world_.process().pid())}).out; };
  const int compiler = std::atoi(child().c_str());
  ASSERT_GT(compiler, 1);
  ASSERT_EQ(::kill(compiler, SIGKILL), 0);
  const HttpReply again = explain();
  EXPECT_EQ(again.status, 200) << again.body;
  EXPECT_EQ(parse_json(again.body)["explanation"]["winner"]["route"], "default/cart");
  EXPECT_NE(std::atoi(child().c_str()), compiler);
  world_.process().send_signal(SIGTERM);
  EXPECT_EQ(world_.process().wait_exit(), 0);
  EXPECT_EQ(child(), "");
}

TEST_F(WebApi, RangesAreThoseOfTheServerAlone) {
  serve();
  EXPECT_EQ(json("/api/session")["ranges"], false);
  EXPECT_EQ(world_.ask("/api/ranges/24h").status, 404);
  // A server that answers every query with two points, and tells what it was asked.
  world_.dir().put("prometheus.py",
                   "import http.server, json, time\n"
                   "class Handler(http.server.BaseHTTPRequestHandler):\n"
                   "  def do_GET(self):\n"
                   "    print(self.path, flush=True)\n"
                   "    now = time.time()\n"
                   "    values = [[now - 600, '3'], [now, '4.5']]\n"
                   "    result = [{'metric': {}, 'values': values}]\n"
                   "    body = json.dumps({'status': 'success', 'data': {'resultType': 'matrix', 'result': result}})\n"
                   "    self.send_response(200); self.end_headers(); self.wfile.write(body.encode())\n"
                   "  def log_message(self, *all): pass\n"
                   "server = http.server.HTTPServer(('127.0.0.1', 0), Handler)\n"
                   "print('port', server.server_address[1], flush=True)\n"
                   "server.serve_forever()\n");
  Process prometheus({"python3", world_.dir() / "prometheus.py"});
  const auto line = prometheus.wait_out("port ");
  ASSERT_TRUE(line);
  serve({"--metrics-url", "http://127.0.0.1:" + line->substr(5)});
  EXPECT_EQ(json("/api/session")["ranges"], true);
  const Json range = json("/api/ranges/6h");
  ASSERT_GE(range["points"].size(), 2U) << range.dump();
  EXPECT_EQ(range["points"][0]["requests"], 3);
  EXPECT_EQ(range["points"].back()["p99"], 4.5);
  EXPECT_TRUE(prometheus.wait_out("query_range?query=sum"));
  EXPECT_EQ(world_.ask("/api/ranges/1000d").status, 404);
  EXPECT_EQ(world_.ask("/api/ranges/6h?query=up").body, world_.ask("/api/ranges/6h").body) << "nothing is passed on";
}

TEST(WebFlags, OtherThanLoopbackOnlyInSoManyWords) {
  WebWorld world;
  for (const char* elsewhere : {"0.0.0.0:0", "[::]:0", "192.0.2.1:0"}) {
    const Finished refused = world.edgectl("web --listen " + std::string(elsewhere));
    EXPECT_EQ(refused.code, 2) << elsewhere;
    EXPECT_THAT(refused.err, HasSubstr("--serve-without-login")) << elsewhere;
  }
  for (const char* faulty : {"9080", "localhost:x", ":70000", "name.example:1"}) {
    EXPECT_EQ(world.edgectl("web --listen " + std::string(faulty)).code, 2) << faulty;
  }
  EXPECT_EQ(world.edgectl("web --tls-cert x").code, 2);
  EXPECT_EQ(world.edgectl("web --kubeconfig /nowhere").code, 3);
  ASSERT_EQ(world.serve({"--listen", ":0", "--serve-without-login"}), "");
  EXPECT_THAT(world.url(), Not(HasSubstr("127.0.0.1")));
}

}  // namespace
}  // namespace edge::test

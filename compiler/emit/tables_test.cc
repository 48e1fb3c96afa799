#include <algorithm>
#include <random>

#include <gmock/gmock.h>

#include "base/hash.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/sample_config.h"
#include "program/dump/dump.h"
#include "program/evaluate/evaluate.h"
#include "program/format/records.h"

namespace edge::compiler {
namespace {

using namespace sample;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

program::ProgramView read(std::vector<std::byte> bytes) {
  auto view = program::read(std::make_shared<const std::vector<std::byte>>(std::move(bytes)));
  if (!view) ADD_FAILURE() << view.error().text;
  return view ? *view : program::ProgramView();
}

struct Ask {
  std::string host = "a.com";
  std::string path = "/";
  std::vector<Field> headers = {};
  std::string method = "GET";
  std::string query = "";
  std::string source = "192.0.2.1";
  std::uint32_t bind = 0;
};

/// Who answers: `route` or `route[rule][match]` of another rule than the first; `-` for no rule, `!` for no listener.
std::string winner(const program::ProgramView& program, const Ask& ask) {
  const program::RequestView request{ask.method, ask.host, ask.path, ask.query, ask.headers, *parse_ip(ask.source)};
  const program::Evaluation outcome = program::evaluate(program, ask.bind, request, expr::regex_matcher());
  if (outcome.listener == program::kNone) return "!";
  if (outcome.host == nullptr) return "-";
  const program::SectionView& view = outcome.host->view;
  const auto& header = view.header<program::HostHeader>();
  const program::ActionRecord& action = view.array(header.actions)[outcome.action];
  return std::string(view.string(view.array(header.routes)[action.route].name));
}

TEST(Tables, WildcardCoversSubdomainsAloneAndOnALabelBoundary) {
  Config config;
  config.route("wild", {"*.example.com"}, {any()});
  const auto program = read(tables_only(config));
  EXPECT_EQ(winner(program, {.host = "a.example.com"}), "wild");
  EXPECT_EQ(winner(program, {.host = "a.b.example.com"}), "wild");
  EXPECT_EQ(winner(program, {.host = "example.com"}), "-");
  EXPECT_EQ(winner(program, {.host = "evilexample.com"}), "-");
  EXPECT_EQ(winner(program, {.host = ""}), "-");
}

TEST(Tables, TheMostSpecificHostIsAskedFirstAndTheOthersAfterIt) {
  Config config;
  config.route("exact", {"a.b.example.com"}, {prefix("/exact")});
  config.route("long", {"*.b.example.com"}, {prefix("/long"), prefix("/exact")});
  config.route("short", {"*.example.com"}, {prefix("/short"), prefix("/long")});
  config.route("all", {}, {any()});
  const auto program = read(tables_only(config));
  EXPECT_EQ(winner(program, {.host = "a.b.example.com", .path = "/exact"}), "exact");
  EXPECT_EQ(winner(program, {.host = "a.b.example.com", .path = "/long"}), "long");
  EXPECT_EQ(winner(program, {.host = "a.b.example.com", .path = "/short"}), "short");
  EXPECT_EQ(winner(program, {.host = "a.b.example.com", .path = "/"}), "all");
  EXPECT_EQ(winner(program, {.host = "c.example.com", .path = "/exact"}), "all");
  EXPECT_EQ(winner(program, {.host = "other.org", .path = "/exact"}), "all");
}

TEST(Tables, PrefixesAreWholeSegments) {
  Config config;
  config.route("api", {"a.com"}, {prefix("/api")});
  const auto program = read(tables_only(config));
  for (const char* path : {"/api", "/api/", "/api/x", "/api//x"}) EXPECT_EQ(winner(program, {.path = path}), "api");
  for (const char* path : {"/apiv2", "/ap", "/", "//api", "*"}) EXPECT_EQ(winner(program, {.path = path}), "-");
}

TEST(Tables, ExactThenLongestPrefixThenRegexThenAny) {
  Config config;
  config.route("exact", {"a.com"}, {exact("/x/y")});
  config.route("long", {"a.com"}, {with_header(prefix("/x/y"), "h", "1")});
  config.route("short", {"a.com"}, {with_header(prefix("/x"), "h", "2")});
  config.route("regex", {"a.com"}, {with_header(pattern("^/x/y/z$"), "r", "1")});
  config.route("any", {"a.com"}, {any()});
  const auto program = read(tables_only(config));
  const Field one{"H", "1"};
  const Field two{"h", "2"};
  const Field regex{"r", "1"};
  EXPECT_EQ(winner(program, {.path = "/x/y", .headers = {one}}), "exact");
  EXPECT_EQ(winner(program, {.path = "/x/y/z", .headers = {one, regex}}), "long");
  EXPECT_EQ(winner(program, {.path = "/x/y/z", .headers = {two, regex}}), "short");
  EXPECT_EQ(winner(program, {.path = "/x/y/z", .headers = {regex}}), "regex");
  EXPECT_EQ(winner(program, {.path = "/x/y/z"}), "any");
  EXPECT_EQ(winner(program, {.path = "/x/y/z", .headers = {one, two}}), "any") << "repeated fields are joined";
}

TEST(Tables, RootPrefixCoversEveryPathButNotTheServer) {
  Config config;
  config.route("root", {"a.com"}, {prefix("/")});
  const auto program = read(tables_only(config));
  for (const char* path : {"/", "/a", "//", "/a/b/"}) EXPECT_EQ(winner(program, {.path = path}), "root");
  EXPECT_EQ(winner(program, {.path = "*", .method = "OPTIONS"}), "-");
}

TEST(Tables, PathsDeeperThanTheTablesTellApart) {
  Config config;
  std::string deep;
  for (int i = 0; i < 70; ++i) deep += "/s";
  config.route("exact", {"a.com"}, {exact(deep)});
  config.route("prefix", {"a.com"}, {prefix(deep.substr(0, 2 * program::kMaxPathDepth))});
  const auto program = read(tables_only(config));
  EXPECT_EQ(winner(program, {.path = deep}), "exact");
  EXPECT_EQ(winner(program, {.path = deep + "/s"}), "prefix");
  EXPECT_EQ(winner(program, {.path = deep.substr(0, 2 * program::kMaxPathDepth - 2)}), "-");
}

TEST(Tables, QueryValuesAreDecodedAndTheFirstCounts) {
  Config config;
  config.route("q", {"a.com"}, {with_query(any(), "k", "a b")});
  const auto program = read(tables_only(config));
  for (const char* query : {"k=a+b", "k=a%20b", "x=1&%6b=a%20b", "k=a+b&k=2"})
    EXPECT_EQ(winner(program, {.query = query}), "q") << query;
  for (const char* query : {"", "k", "k=2&k=a+b", "kk=a+b", "k=a%2", "k=a%20b%"})
    EXPECT_EQ(winner(program, {.query = query}), "-") << query;
}

TEST(Tables, ListenersAreIsolated) {
  Config config({"*.example.com"});
  config.listener(0, "api", 80, {"api.example.com"});
  config.route("general", {}, {any()});
  LinkedRoute& api = config.route("api", {}, {exact("/api")});
  api.listeners = {1};
  const auto program = read(tables_only(config));
  EXPECT_EQ(winner(program, {.host = "api.example.com", .path = "/api"}), "api");
  EXPECT_EQ(winner(program, {.host = "api.example.com", .path = "/"}), "-")
      << "the other listener's routes are not seen";
  EXPECT_EQ(winner(program, {.host = "www.example.com", .path = "/"}), "general");
  EXPECT_EQ(winner(program, {.host = "other.org"}), "!");
}

TEST(Tables, ListenersShareTheirBinds) {
  Config config({"a.com"});
  config.gateway("second");
  config.listener(1, "http", 80, {"b.com", "a.com"});
  config.gateway("third").addresses = {*parse_ip("127.0.0.1")};
  config.listener(2, "http", 80, {"c.com"});
  LinkedRoute& route = config.route("r", {}, {any()});
  route.listeners = {0, 1, 2};
  const auto program = read(tables_only(config));
  EXPECT_THAT(program::dump_routes(program), HasSubstr("bind 127.0.0.1 port 80 HTTP\n"
                                                       "  a.com -> listener http of default/edge\n"
                                                       "  b.com -> listener http of default/second\n"
                                                       "  c.com -> listener http of default/third\n"
                                                       "bind * port 80 HTTP\n"
                                                       "  a.com -> listener http of default/edge\n"
                                                       "  b.com -> listener http of default/second\n"));
}

const program::SectionView& only_host(const program::ProgramView& program) {
  for (const program::Section& section : program.sections())
    if (section.kind == program::SectionKind::kHost) return section.view;
  std::abort();
}

program::Split first_split(const program::ProgramView& program) {
  const program::SectionView& host = only_host(program);
  return program::split_of(host, host.array(host.header<program::HostHeader>().actions)[0]);
}

TEST(Tables, CanaryIsTheFirstOfTheLowestWeights) {
  Config config;
  const auto a = config.backend("a");
  LinkedRoute& route = config.route("r", {"a.com"}, {exact("/1"), exact("/2")});
  route.rules[0].backends = {{a, 5}, {a, 0}, {a, 0}, {a, 7}};
  const auto program = read(tables_only(config));
  EXPECT_EQ(first_split(program).canary, 1u);
  EXPECT_EQ(first_split(program).total_weight, 12u);
}

TEST(Tables, ASingleBackendIsItsOwnCanary) {
  Config config;
  const auto a = config.backend("a");
  LinkedRoute& route = config.route("r", {"a.com"}, {any()});
  route.rules[0].backends = {{a, 5}};
  auto program = read(tables_only(config));
  EXPECT_EQ(first_split(program).canary, 0u);
  EXPECT_EQ(first_split(program).total_weight, 5u);
  EXPECT_EQ(first_split(program).backends[0].backend_id(), stable_id("ProxyBackend", "shop", "a"));
  route.rules[0].backends = {};
  program = read(tables_only(config));
  EXPECT_TRUE(first_split(program).backends.empty());
}

TEST(Tables, HugeWeightsKeepTheirProportion) {
  Config config;
  const auto a = config.backend("a");
  LinkedRoute& route = config.route("r", {"a.com"}, {any()});
  route.rules[0].backends = {{a, 0xffffffff}, {a, 0xffffffff}, {a, 1}};
  const auto program = read(tables_only(config));
  EXPECT_EQ(first_split(program).total_weight, 0x7fffffffu * 2 + 1);
  EXPECT_EQ(first_split(program).canary, 2u);
}

TEST(Tables, EqualTreatmentsAndSplitsAreOneRecord) {
  Config config;
  const auto a = config.backend("a");
  const auto b = config.backend("b");
  for (int i = 0; i < 20; ++i) {
    LinkedRoute& route = config.route("r" + std::to_string(i), {"a.com"}, {exact("/" + std::to_string(i))});
    route.rules[0].backends = {{a, 1}};
    if (i % 2 == 0) route.rules[0].backends.push_back({b, 2});
  }
  const auto program = read(tables_only(config));
  const auto& header = only_host(program).header<program::HostHeader>();
  EXPECT_EQ(header.treatments.count, 1u);
  EXPECT_EQ(header.splits.count, 1u);
  EXPECT_EQ(header.backend_refs.count, 3u);
  EXPECT_EQ(header.namespaces.count, 1u);
}

TEST(Tables, RewritesKnowTheLengthOfWhatTheyReplace) {
  Config config;
  LinkedRoute& route = config.route("r", {"a.com"}, {prefix("/api"), prefix("/"), exact("/exact"), any()});
  route.rules[0].filters = {{program::FilterOp::kRewritePrefix, "", "/v2/", 0, 0}};
  const auto program = read(tables_only(config));
  const std::string text = program::dump_routes(program);
  EXPECT_THAT(text, HasSubstr("rewrite prefix 4 bytes: /v2/\n"));
  EXPECT_THAT(text, HasSubstr("rewrite prefix 6 bytes: /v2/\n"));
  EXPECT_THAT(text, HasSubstr("rewrite prefix 0 bytes: /v2/\n"));
}

TEST(Tables, BytesDoNotDependOnOrder) {
  Config config = one_of_everything();
  const std::vector<std::byte> expected = tables_only(config);
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    std::shuffle(config.routes.begin(), config.routes.end(), random);
    EXPECT_EQ(tables_only(config), expected);
  }
}

TEST(Tables, EverySectionOfOneOfEverythingIsRead) {
  const auto program = read(tables_only(one_of_everything()));
  const std::string text = program::dump_routes(program);
  EXPECT_THAT(text, HasSubstr("canary"));
  EXPECT_THAT(text, HasSubstr("trusted proxies 10.0.0.0/8, fd00::/8"));
  EXPECT_THAT(text, HasSubstr("header:x-env == \"prod\""));
  EXPECT_THAT(text, HasSubstr("denied: policy unavailable"));
  EXPECT_THAT(text, HasSubstr("redirect 301 port 8443"));
  EXPECT_THAT(program::dump_routes_json(program), HasSubstr("\"when\""));
  EXPECT_EQ(winner(program, {.host = "api.example.com", .path = "/api/health"}), "split");
  EXPECT_EQ(winner(program, {.host = "x.example.com", .path = "/a", .headers = {{"X-Env", "prod"}}}), "conditions");
  EXPECT_EQ(
      winner(program, {.host = "x.example.com", .path = "/a", .headers = {{"X-Env", "prod"}}, .source = "10.1.2.3"}),
      "redirect");
}

TEST(Tables, NothingConfiguredIsAProgramToo) {
  const auto program = read(tables_only(LinkedConfig()));
  EXPECT_EQ(program.sections().size(), 3u);
  EXPECT_EQ(program::dump_routes(program), "");
}

TEST(Tables, ManyPathsStayFoundAndSmall) {
  Config config;
  const auto a = config.backend("a");
  constexpr int kRoutes = 20'000;
  for (int i = 0; i < kRoutes; ++i) {
    const std::string n = std::to_string(i);
    LinkedRoute& route = config.route("route-" + n, {"host" + std::to_string(i % 400) + ".example.com"},
                                      {i % 3 == 0 ? prefix("/service/" + n) : exact("/service/item/" + n)});
    route.rules[0].backends = {{a, 1}};
  }
  std::vector<std::byte> bytes = tables_only(config);
  EXPECT_LT(bytes.size() / kRoutes, 100u) << "bytes a route";
  const auto program = read(std::move(bytes));
  for (int i = 0; i < kRoutes; i += 97) {
    const std::string n = std::to_string(i);
    EXPECT_EQ(winner(program, {.host = "host" + std::to_string(i % 400) + ".example.com",
                               .path = i % 3 == 0 ? "/service/" + n + "/more" : "/service/item/" + n}),
              "route-" + n);
  }
}

// ---- Policies and settings ------------------------------------------------------------------------------------------

TEST(Tables, CarriesEverySettingAndTheNamesOfSecrets) {
  const std::string text = program::dump_routes(read(tables_only(one_of_everything())));
  for (const char* line :
       {"  redirectScheme\n    scheme https\n    port 8443\n    statusCode 301\n    exclusions /.well-known/\n",
        "  tls\n    mode Terminate\n    minVersion TLS1.3\n    certificates shop/cert\n",
        "    clientAuthorities shop/ca ca.crt\n",
        "  compression\n    minSize 1024\n    level 6\n    algorithms gzip, br\n",
        "  cache\n    maxSize 1048576\n",
        "  tracing\n    samplingRate 25\n",
        "  accessLog\n    format json\n    excludePaths /healthz\n",
        "  healthCheck\n    protocol HTTP\n    interval 10s\n",
        "    expectedStatuses 200, 204\n",
        "  passiveHealthCheck\n    consecutiveErrors 5\n",
        "  circuitBreaker\n",
        "    openTime 30s\n",
        "    serverName api.internal\n",
        "mirror 10% to shop/api, host api.example.com\n",
        "policy shop/limit RateLimit\n  limits 100 per 1s burst 200 by header:x-user\n",
        "policy shop/concurrency ConcurrencyLimit\n  limits 10 by source-ip\n  statusCode 503\n",
        "policy shop/filter RequestFilter\n  action Shadow\n  statusCode 403\n  maxHeaders 1\n",
        "policy shop/certificate ClientCertificate\n  allowDnsNames a.example\n",
        "policy shop/basic BasicAuth\n  realm Shop\n  users shop/keys value\n  stripAuth true\n",
        "policy shop/jwt JWT\n",
        "  algorithms RS256\n",
        "policy shop/oidc OIDC\n",
        "  requireAll true\n",
        "policy shop/forward ForwardAuth\n",
        "policy shop/cors CORS\n",
        "  hstsMaxAge 3600\n"}) {
    EXPECT_THAT(text, HasSubstr(line));
  }
  EXPECT_THAT(program::dump_routes_json(read(tables_only(one_of_everything()))),
              HasSubstr(R"("clientSecret": "shop/keys value")"));
}

TEST(Tables, ARouteNamesItsPoliciesAndTheGatewaysInTheOrderOfD4) {
  const std::string text = program::dump_routes(read(tables_only(one_of_everything())));
  EXPECT_THAT(text, HasSubstr("policy shop/access IPAccess\n        policy shop/maintenance Maintenance\n"
                              "        policy shop/limit RateLimit\n        policy shop/concurrency ConcurrencyLimit\n"
                              "        policy shop/filter RequestFilter\n"
                              "        policy shop/certificate ClientCertificate\n"
                              "        policy shop/basic BasicAuth\n        policy shop/key APIKey\n"
                              "        policy shop/jwt JWT\n        policy shop/oidc OIDC\n"
                              "        policy shop/forward ForwardAuth\n        policy shop/fixed FixedResponse\n"
                              "        policy shop/cors CORS\n        policy shop/security SecurityHeaders\n"
                              "        policy shop/pages ErrorPages\n"));
}

TEST(Tables, ASettingTouchesItsOwnSectionAlone) {
  const auto sections_changed = [](const program::ProgramView& a, const program::ProgramView& b) {
    std::vector<program::SectionKind> changed;
    for (std::size_t i = 0; i < a.sections().size(); ++i)
      if (a.sections()[i].hash != b.sections()[i].hash) changed.push_back(a.sections()[i].kind);
    return changed;
  };
  const auto before = read(tables_only(one_of_everything()));
  Config policy = one_of_everything();
  std::get<RateLimitSettings>(policy.policies[1].settings).limits[0].burst = 300;
  EXPECT_THAT(sections_changed(before, read(tables_only(policy))), ElementsAre(program::SectionKind::kPolicies));
  Config backend = one_of_everything();
  backend.backends[0].health_check->interval *= 2;
  EXPECT_THAT(sections_changed(before, read(tables_only(backend))), ElementsAre(program::SectionKind::kBackends));
  Config gateway = one_of_everything();
  gateway.gateways[0].compression->level = 9;
  EXPECT_THAT(sections_changed(before, read(tables_only(gateway))), ElementsAre(program::SectionKind::kListeners));
}

TEST(Tables, APolicyThatIsNotEnforcedDeniesWhatItProtects) {
  Config config;
  LinkedPolicy& policy = config.policies.emplace_back();
  policy.identity = {"ProxyPolicy", "shop", "broken", 0, {}};
  policy.type = PolicyType::kUnknown;
  config.route("open", {"a.com"}, {any()});
  config.route("closed", {"b.com"}, {any()}).policies = {0};
  const std::string text = program::dump_routes(read(tables_only(config)));
  EXPECT_THAT(text, HasSubstr("policy shop/broken ?\n"));
  EXPECT_EQ(text.find("denied: policy unavailable"), text.rfind("denied: policy unavailable"));
  EXPECT_GT(text.find("denied: policy unavailable"), text.find("host b.com"));
}

}  // namespace
}  // namespace edge::compiler

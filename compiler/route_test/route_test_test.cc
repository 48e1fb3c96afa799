#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "compiler/compile.h"
#include "compiler/expr/regex_matcher.h"
#include "compiler/route_test/generate.h"
#include "compiler/route_test/run.h"

namespace edge::compiler::route_test {
namespace {

constexpr const char* kConfig = R"(
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: gw}
spec: {listeners: [{name: http, port: 8080, protocol: HTTP}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: a}
spec: {serviceRef: {name: a, port: 80}}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyBackend
metadata: {name: b}
spec: {serviceRef: {name: b, port: 80}}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: {ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: b}
spec: {ports: [{port: 80}]}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: r}
spec:
  parentRefs: [{name: gw}]
  hostnames: [a.example]
  rules:
    - matches: [{path: {type: PathPrefix, value: /v1}, headers: [{name: X-Env, value: x}]}]
      filters:
        - type: URLRewrite
          urlRewrite: {hostname: b.internal, path: {type: ReplacePrefixMatch, replacePrefixMatch: /}}
        - type: RequestHeaderModifier
          requestHeaderModifier: {set: [{name: X-Env, value: y}], add: [{name: X-Id, value: '%REQ_ID%'}], remove: [cookie]}
        - type: ResponseHeaderModifier
          responseHeaderModifier: {add: [{name: X-By, value: edge}], remove: [server]}
      backendRefs: [{name: a, weight: 3}, {name: b, weight: 1}]
    - matches: [{path: {type: Exact, value: /old}}]
      filters: [{type: RequestRedirect, requestRedirect: {scheme: https, statusCode: 301}}]
    - matches: [{path: {type: Exact, value: /zero}}]
      backendRefs: [{name: a, weight: 0}]
    - matches: [{path: {type: Exact, value: /limit}}]
      limits: {maxRequestBodySize: "10"}
      backendRef: {name: a}
)";

class RouteTests : public testing::Test {
 protected:
  /// The cases in `text`, whose first lines every document shares.
  std::vector<Case> read(const std::string& tests) {
    sources_ = SourceMap();
    sources_.add("tests.yaml",
                 "apiVersion: edgeproxy.io/v1alpha1\nkind: RouteTest\nmetadata: {name: t}\ntests:\n" + tests);
    return read_cases(sources_, diagnostics_);
  }

  program::ProgramView compiled() {
    SourceMap sources;
    sources.add("config.yaml", kConfig);
    Diagnostics diagnostics;
    const LinkedConfig config = read_config(sources, diagnostics);
    CompileOptions options;
    options.target = program::Target::kTablesOnly;
    auto artifact = Compiler(options).compile(config, diagnostics);
    EXPECT_TRUE(artifact && diagnostics.ok());
    return *program::read(artifact->bytes);
  }

  CaseResult run(const std::string& test) {
    const std::vector<Case> cases = read("  - " + test + "\n");
    EXPECT_EQ(cases.size(), 1U) << test;
    if (cases.size() != 1) return {};
    return run_case(compiled(), cases.front(), expr::regex_matcher());
  }

  /// `what: expected x, got y` of each difference.
  std::string differs(const std::string& test) {
    std::string text;
    for (const Difference& difference : run(test).differences) {
      text += difference.what + ": expected " + difference.expected + ", got " + difference.actual + "\n";
    }
    return text;
  }

  std::string faults() {
    std::string text;
    for (const Diagnostic& diagnostic : diagnostics_.all()) {
      text += code_text(diagnostic.code) + " " + diagnostic.field + ": " + diagnostic.message + "\n";
    }
    return text;
  }

  SourceMap sources_;
  Diagnostics diagnostics_;
};

TEST_F(RouteTests, SeeWhatTheBackendSees) {
  EXPECT_EQ(
      differs("{request: {url: 'http://a.example:8080/v1/x?q=1', headers: [{name: x-env, value: x}, {name: Cookie, "
              "value: c}, {name: connection, value: close}]}, expect: {status: 0, route: r, rule: 0, match: 0, "
              "backends: [b, a], path: /x, host: b.internal, headers: [{name: X-Env, value: y}, {name: X-Id, value: "
              "'%REQ_ID%'}], absentHeaders: [cookie, connection], responseHeaders: [{name: X-By, value: edge}], "
              "removedResponseHeaders: [Server]}}"),
      "");
}

TEST_F(RouteTests, SayWhatDiffersFieldByField) {
  EXPECT_EQ(
      differs("{request: {url: 'http://a.example:8080/v1', headers: [{name: x-env, value: x}]}, expect: {listener: "
              "https, route: n/other, backend: a, path: /y, headers: [{name: x-env, value: x}], absentHeaders: "
              "[x-id], responseHeaders: [{name: x-by, value: z}], removedResponseHeaders: [date]}}"),
      "listener: expected \"https\", got \"http\"\n"
      "route: expected n/other, got default/r rules[0].matches[0]\n"
      "backends: expected default/a, got default/a, default/b\n"
      "path: expected \"/y\", got \"/\"\n"
      "header x-env: expected \"x\", got \"y\"\n"
      "header x-id: expected absent, got \"%REQ_ID%\"\n"
      "response header x-by: expected \"z\", got \"edge\"\n"
      "response header date: expected removed, got not touched\n");
}

TEST_F(RouteTests, KnowTheProxysOwnAnswers) {
  EXPECT_EQ(
      differs("{request: {url: 'http://a.example:8080/old?x=1'}, expect: {status: 301, reason: redirect, location: "
              "'https://a.example/old?x=1'}}"),
      "");
  EXPECT_EQ(differs("{request: {url: 'http://a.example:8080/other'}, expect: {status: 404, reason: no-route}}"), "");
  EXPECT_EQ(differs("{request: {url: 'http://a.example:8080/zero'}, expect: {status: 500, reason: no-backend}}"), "");
  EXPECT_EQ(
      differs("{request: {url: 'http://a.example:8080/zero', headers: [{name: X-Canary, value: 'true'}]}, expect: "
              "{backend: a}}"),
      "");
  EXPECT_EQ(
      differs("{request: {method: POST, url: 'http://a.example:8080/limit', headers: [{name: Content-Length, value: "
              "'11'}]}, expect: {status: 413}}"),
      "");
  EXPECT_EQ(differs("{request: {url: 'http://a.example:8080/old'}, expect: {status: 0, backend: a}}"),
            "answer: expected forwarded, got 301 redirect to https://a.example/old\n"
            "backends: expected default/a, got 301 redirect to https://a.example/old\n");
}

TEST_F(RouteTests, ComeInOnAPort) {
  EXPECT_EQ(differs("{request: {url: 'http://a.example/old'}, expect: {status: 301}}"), "");  // the only one there is
  EXPECT_EQ(differs("{request: {url: 'http://a.example/old', port: 81}, expect: {status: 301}}"),
            "listener: expected one on port 81, got nothing listens on port 81; there is 8080\n");
}

TEST_F(RouteTests, AreRefusedWithTheirPlace) {
  const std::vector<Case> cases = read(
      "  - request: {url: shop.example/cart}\n    expect: {status: 404}\n"
      "  - request: {url: 'http://a.example/'}\n    expect: {rule: 1}\n"
      "  - request: {url: 'http://a.example/'}\n    expect: {backend: a, backends: [a]}\n"
      "  - request: {url: 'http://a.example/', headers: [{name: host, value: 'a b'}]}\n    expect: {}\n"
      "  - request: {url: 'http://a.example/'}\n    expect: {status: 404, path: /y}\n"
      "  - request: {url: 'http://a.example/'}\n    expect: {status: 404}\n");
  EXPECT_EQ(cases.size(), 1U);
  EXPECT_EQ(faults(),
            "EDGE1101 tests[0].request.url: `shop.example/cart` is no URL; write it as http://host/path\n"
            "EDGE1101 tests[1].expect: `rule` and `match` count within a route; name it with `route`\n"
            "EDGE1101 tests[2].expect.backends: `backend` and `backends` say the same; give one\n"
            "EDGE1101 tests[3].request.headers: `a b` is no host\n"
            "EDGE1101 tests[4].expect: no backend sees a request that the proxy answers itself with 404\n");
}

TEST_F(RouteTests, HaveASchema) {
  read("  - request: {urll: 'http://a.example/'}\n    expect: {}\n");
  EXPECT_EQ(faults().substr(0, 8), "EDGE0101");
}

TEST_F(RouteTests, CoverRules) {
  const program::ProgramView program = compiled();
  const CaseResult result = run("{request: {url: 'http://a.example:8080/old'}, expect: {}}");
  const Coverage covered = coverage(program, {result});
  EXPECT_EQ(covered.rules, 4U);
  EXPECT_EQ(covered.percent(), 25U);
  EXPECT_EQ(covered.missed, (std::vector<RuleName>{{"default/r", 0}, {"default/r", 2}, {"default/r", 3}}));
}

TEST_F(RouteTests, AreWrittenAsTheyAreRead) {
  const std::string text =
      "{name: 'a \"name\"', request: {method: PUT, url: 'http://a.example:8080/v1?x=1', source: '10.0.0.1', headers: "
      "[{name: x-env, value: x}], claims: [{name: plan, value: gold}, {name: Roles, value: a}, {name: Roles, value: "
      "'b c'}]}, expect: {status: 0, route: default/r, rule: 0, match: 0, backends: [default/a, "
      "default/b], path: /, host: b.internal, headers: [{name: x-env, value: y}], removedResponseHeaders: [server]}}";
  const std::vector<Case> cases = read("  - " + text + "\n");
  ASSERT_EQ(cases.size(), 1U) << faults();
  const std::string written = write_cases(cases, "again");
  SourceMap again;
  again.add("again.yaml", written);
  const std::vector<Case> reread = read_cases(again, diagnostics_);
  ASSERT_EQ(reread.size(), 1U) << written << faults();
  EXPECT_EQ(write_cases(reread, "again"), written);
  EXPECT_NE(written.find("{name: \"Roles\", value: \"b c\"}"), std::string::npos) << written;
}

/// Every golden configuration: what is generated is read back, passes, and reaches each rule that can be reached.
TEST(GeneratedTests, HoldOnEveryGoldenConfiguration) {
  std::size_t configurations = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("tests/golden")) {
    if (entry.path().filename() != "input.yaml") continue;
    SCOPED_TRACE(entry.path());
    std::ifstream file(entry.path(), std::ios::binary);
    SourceMap sources;
    sources.add("input.yaml", {std::istreambuf_iterator<char>(file), {}});
    Diagnostics ignored;
    const LinkedConfig config = read_config(sources, ignored);
    CompileOptions options;
    options.target = program::Target::kTablesOnly;
    const auto artifact = Compiler(options).compile(config, ignored);
    if (!artifact) continue;
    const auto program = program::read(artifact->bytes);
    ASSERT_TRUE(program);
    const Generated generated = generate_cases(*program, 1'000);
    EXPECT_LT(generated.cases.size(), 1'000U);
    if (generated.cases.empty()) continue;
    ++configurations;

    SourceMap written;
    written.add("tests.yaml", write_cases(generated.cases, "boundaries"));
    Diagnostics faults;
    const std::vector<Case> cases = read_cases(written, faults);
    EXPECT_TRUE(faults.ok());
    ASSERT_EQ(cases.size(), generated.cases.size());
    std::vector<CaseResult> results;
    for (const Case& one : cases) {
      results.push_back(run_case(*program, one, expr::regex_matcher()));
      for (const Difference& difference : results.back().differences) {
        ADD_FAILURE() << one.name << ": " << difference.what << " " << difference.expected << " " << difference.actual;
      }
    }
    EXPECT_LE(coverage(*program, results).missed.size(), generated.unreached);
  }
  EXPECT_GT(configurations, 10U);
}

}  // namespace
}  // namespace edge::compiler::route_test

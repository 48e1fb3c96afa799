// kCompilerFault cannot be written as a configuration: it takes a machine that fails the compiler.
#include <gtest/gtest.h>

#include "compiler/compile.h"

namespace edge::compiler {
namespace {

constexpr const char* kOnePattern = R"(apiVersion: edgeproxy.io/v1alpha1
kind: ProxyGateway
metadata: {name: edge}
spec:
  listeners:
    - {name: http, port: 80, protocol: HTTP}
---
apiVersion: edgeproxy.io/v1alpha1
kind: ProxyRoute
metadata: {name: shop}
spec:
  parentRefs: [{name: edge}]
  rules:
    - matches: [{path: {type: RegularExpression, value: "^/item/[0-9]+$"}}]
      filters: [{type: RequestRedirect, requestRedirect: {hostname: there.test}}]
)";

TEST(CompilerFault, AMissingRegexWorkerIsToldAndNothingIsMade) {
  SourceMap sources;
  sources.add("example.yaml", kOnePattern);
  Diagnostics diagnostics;
  const LinkedConfig config = read_config(sources, diagnostics);
  Compiler compiler({.regex_worker = "/nowhere/edge-regexc"});
  EXPECT_FALSE(compiler.compile(config, diagnostics).has_value());
  diagnostics.finish(sources);
  ASSERT_EQ(diagnostics.errors(), 1U);
  EXPECT_EQ(diagnostics.all().back().code, DiagnosticCode::kCompilerFault);
  EXPECT_FALSE(diagnostics.all().back().span.somewhere());
}

}  // namespace
}  // namespace edge::compiler

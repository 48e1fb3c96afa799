// Explains requests by the program that the configuration compiles to, which is kept until the configuration changes.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "compiler/link/ordered_certificates.h"

namespace edge::edgectl::web {

struct ExplainRequest {
  std::string request;                 ///< `[METHOD] scheme://host[:port]/path?query`
  std::vector<std::string> headers{};  ///< `name: value`
  std::vector<std::string> claims{};   ///< `name=value`, of a token that is taken to have been verified
  std::string source = "127.0.0.1";
  std::uint16_t port = 0;  ///< of the listener; 0: the URL's
};

/// Blocks for as long as compiling takes. For one thread at a time.
class Explainer {
 public:
  explicit Explainer(std::string controller_class);
  ~Explainer();

  /// Compiles; hosts that did not change are reused. kFailedPrecondition: no program can be made.
  Status compile(const SourceMap& sources);
  /// Returns the explanation as one line of JSON. kInvalidArgument: the request is not one, or no listener has its
  /// port. Precondition: compiled.
  Result<std::string> explain(const ExplainRequest& request) const;
  bool compiled() const { return program_.has_value(); }

 private:
  std::string controller_class_;
  compiler::Compiler compiler_;
  std::optional<program::ProgramView> program_;
  compiler::OrderedCertificates ordered_;  ///< of the same configuration
};

}  // namespace edge::edgectl::web

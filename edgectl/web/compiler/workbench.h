// What only the compiler can tell: of the live configuration, of a draft beside it, and of programs that the controller
// keeps. Strings in, one line of JSON out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/source.h"
#include "compiler/compile.h"
#include "edgectl/web/compiler/explainer.h"

namespace edge::edgectl::web {

/// A configuration, or a program.
struct WorkSide {
  /// Equal for equal contents: what was compiled is kept by it. Empty: not kept.
  std::string key{};
  /// Called where it is to be compiled. Of a draft, the first text is it.
  std::function<std::shared_ptr<const SourceMap>()> sources{};
  std::string resource{};  ///< of a draft: `ProxyRoute shop/cart`
  std::string group{};     ///< compiled is what agents of this group are given; empty: everything
  /// In place of sources.
  std::shared_ptr<const std::vector<std::byte>> program{};
};

/// Limits of one reply.
inline constexpr std::size_t kMostDraftFindings = 200;
inline constexpr std::size_t kMostDiffClasses = 200;
inline constexpr std::size_t kMostCostHosts = 100;

/// Blocks for as long as compiling takes. For one thread at a time.
class Workbench {
 public:
  explicit Workbench(std::string controller_class);
  ~Workbench();

  /// Returns the diagnostics of a draft, and those that it brings to or takes from other objects.
  Result<std::string> check(const WorkSide& live, const WorkSide& draft);
  /// Returns the requests and settings that change, each claim before and after; of a draft its diagnostics too.
  /// kFailedPrecondition: a side gives no program.
  Result<std::string> compare(const WorkSide& before, const WorkSide& after, const std::vector<std::string>& claims);
  /// Proves claims.
  Result<std::string> prove(const WorkSide& side, const std::vector<std::string>& claims);
  /// Returns the diagnostics of an object, and the cost of the hosts of its route or gateway.
  Result<std::string> analyse(const WorkSide& live, const std::string& kind, const std::string& name);
  Result<std::string> explain(const WorkSide& side, const ExplainRequest& request);
  /// Whether what has this key need not be given again.
  bool has(const std::string& key) const;

 private:
  struct Made;
  static constexpr std::size_t kKept = 4;

  Result<std::shared_ptr<const Made>> make(const WorkSide& side);
  Result<std::shared_ptr<const Made>> compile(const SourceMap& sources, const std::string& group);

  std::string controller_class_;
  compiler::Compiler compiler_;
  std::list<std::pair<std::string, std::shared_ptr<const Made>>> kept_;  ///< the latest first
};

}  // namespace edge::edgectl::web

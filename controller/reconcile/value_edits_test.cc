// Random edits of all kinds, faults among them, to a Workspace that is given no values and a ValueIndex that has them:
// after each the program, the values and the conditions are those of a compile of all documents from nothing.
// EDGE_EDIT_COUNT (300) is how many; EDGE_EDIT_SEED repeats a run.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <gmock/gmock.h>

#include "compiler/test_documents.h"
#include "compiler/test_world.h"
#include "compiler/workspace.h"
#include "controller/endpoints/value_index.h"

namespace edge::controller {
namespace {

using namespace compiler::world;
using compiler::DocumentEdit;
using compiler::ResourceStatus;

std::string kind_of(const std::string& document) {
  const std::string word = document.substr(0, document.find(' '));
  return word == "slice" ? "EndpointSlice" : word == "secret" ? "Secret" : word == "map" ? "ConfigMap" : word;
}

class Apart {
 public:
  explicit Apart(compiler::CompileOptions options)
      : workspace_(std::move(options), compiler::ValuesSource::kElsewhere) {}

  /// \returns whether a program was made.
  bool apply(const std::vector<DocumentEdit>& edits) {
    std::vector<DocumentEdit> for_compiler;
    for (const DocumentEdit& edit : edits) {
      const std::string kind = kind_of(edit.document);
      std::optional<std::string> left = edit.text;
      if (ValueIndex::holds(kind)) {
        if (edit.text) {
          left = values_.put(kind, edit.document, *edit.text);
        } else {
          values_.remove(edit.document);
        }
      }
      if (std::exchange(given_[edit.document], left) != left) for_compiler.push_back({edit.document, left});
    }
    if (for_compiler.empty()) return false;
    const auto made = workspace_.apply(for_compiler);
    EXPECT_TRUE(made.has_value());
    if (made) hash_ = made->hash;
    values_.follow(workspace_.config());
    return workspace_.stats().compiled;
  }

  std::vector<ResourceStatus> statuses() {
    std::vector<ResourceStatus> all = workspace_.statuses();
    for (const compiler::LinkedBackend& backend : workspace_.config().backends) {
      const compiler::Identity& identity = backend.identity;
      ResourceStatus status{.kind = identity.kind, .name_space = identity.name_space, .name = identity.name};
      status.conditions = values_.conditions_of({identity.name_space, identity.name});
      if (!status.conditions.empty()) all.push_back(std::move(status));
    }
    sort_and_merge(all);
    return all;
  }

  program::Hash hash() const { return hash_; }
  const program::ValueSet& values() const { return values_.values(); }

 private:
  compiler::Workspace workspace_;
  ValueIndex values_;
  std::map<std::string, std::optional<std::string>> given_;
  program::Hash hash_{};
};

TEST(ValueEdits, GiveWhatACompileFromNothingGives) {
  const unsigned count = from_environment("EDGE_EDIT_COUNT", 300);
  const unsigned seed = from_environment("EDGE_EDIT_SEED", 1);
  std::string directory = ::testing::TempDir() + "edge-values-XXXXXX";
  ASSERT_NE(mkdtemp(directory.data()), nullptr);
  compiler::CompileOptions options;
  options.cache_dir = directory;
  Documents documents = small_world();
  Apart apart(options);
  apart.apply(all_of(documents));
  RandomDocuments random(seed);
  unsigned passed_by = 0;
  for (unsigned i = 0; i < count && !HasFailure(); ++i) {
    std::string after = "seed " + std::to_string(seed) + ", edit " + std::to_string(i);
    std::vector<DocumentEdit> edits = random.edits();
    // No API has two objects of one name.
    std::erase_if(edits, [](const DocumentEdit& edit) { return edit.document == "secret users 1"; });
    for (const DocumentEdit& edit : edits) {
      after += "\nof " + edit.document + "\n" + edit.text.value_or("(removed)");
      if (edit.text) {
        documents[edit.document] = *edit.text;
      } else {
        documents.erase(edit.document);
      }
    }
    passed_by += apart.apply(edits) ? 0 : 1;
    compiler::Workspace fresh(options);
    const auto whole = fresh.apply(all_of(documents));
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(apart.hash(), whole->hash) << after;
    EXPECT_EQ(program::write_endpoints(program::endpoints_of(apart.values())),
              program::write_endpoints(fresh.endpoints()))
        << after;
    EXPECT_EQ(program::write_secrets(program::secrets_of(apart.values())), program::write_secrets(fresh.secrets()))
        << after;
    std::vector<ResourceStatus> statuses = fresh.statuses();
    // Nobody is told of a slice at fault: its kind has no status.
    std::erase_if(statuses, [](const ResourceStatus& status) { return status.kind == "EndpointSlice"; });
    EXPECT_EQ(text_of(apart.statuses()), text_of(statuses)) << after;
  }
  if (!HasFailure()) EXPECT_GT(passed_by, count / 20) << "values that no program depends on make none";
  std::filesystem::remove_all(directory);
}

TEST(ValueEdits, OfTwoObjectsOfOneNameTheOlderHoldsAsInTheLinker) {
  const auto list = [](const char* created, const char* networks) {
    return std::string("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: nets, creationTimestamp: '") + created +
           "'}\ndata: {networks: '" + networks + "'}\n";
  };
  const Documents documents = {
      {"gateway", gateway()},
      {"backend", resource("ProxyBackend", "app", "{endpoints: [{address: '192.0.2.9:80'}]}")},
      {"route", route("shop", "a.com", prefix("/"), "app")},
      {"policy", policy("out", "ProxyRoute, name: shop",
                        "type: IPAccess, ipAccess: {denyLists: [{configMapRef: {name: nets}}]}")},
      {"map a", list("2026-02-01T00:00:00Z", "198.51.100.0/24")},
      {"map b", list("2026-01-01T00:00:00Z", "192.0.2.0/24")}};
  Apart apart({});
  compiler::Workspace fresh(compiler::CompileOptions{});
  const auto values = [&](const std::vector<DocumentEdit>& edits) {
    apart.apply(edits);
    EXPECT_TRUE(fresh.apply(edits).has_value());
    EXPECT_EQ(program::write_secrets(program::secrets_of(apart.values())), program::write_secrets(fresh.secrets()));
    std::string text;
    for (const auto& secret : apart.values().secrets) text += *secret->values.front().value;
    return text;
  };
  EXPECT_EQ(values(all_of(documents)), "192.0.2.0/24");
  EXPECT_EQ(values({{"map b", list("2026-03-01T00:00:00Z", "192.0.2.0/24")}}), "198.51.100.0/24");
  EXPECT_EQ(values({{"map a", std::nullopt}}), "192.0.2.0/24");
}

}  // namespace
}  // namespace edge::controller

// Holds together what is made from the tables of the kinds: the decoder, the manifests, the reference pages,
// completion; and holds the tables against the specification. EDGE_UPDATE_SCHEMAS=1 (target update-schemas) rewrites
// the files.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>

#include "base/diagnostics.h"
#include "base/source.h"
#include "compiler/link/defaults.h"
#include "compiler/link/retry_on.h"
#include "compiler/model/decode.h"
#include "schemas/crd.h"
#include "schemas/describe.h"
#include "schemas/json_schema.h"
#include "schemas/openapi.h"
#include "schemas/reference.h"
#include "tests/schemas/fingerprint.h"
#include "tests/schemas/samples.h"

namespace edge::test {
namespace {

namespace fs = std::filesystem;
using schemas::Field;
using schemas::Kind;
using schemas::Object;

std::vector<const Kind*> own_kinds() {
  std::vector<const Kind*> own;
  for (const Kind& kind : schemas::kinds()) {
    if (kind.manifest != nullptr) own.push_back(&kind);
  }
  return own;
}

struct Decoded {
  explicit Decoded(std::string text) {
    sources.add("sample.yaml", std::move(text));
    resources = compiler::model::decode_all(sources, diagnostics);
    diagnostics.finish(sources);
  }
  std::string faults() const {
    std::string all;
    for (const Diagnostic& d : diagnostics.all()) {
      if (d.severity == Severity::kError) all += d.field + ": " + d.message + "\n";
    }
    return all;
  }
  SourceMap sources;
  Diagnostics diagnostics;
  compiler::model::ResourceSet resources;
};

std::string read_file(const fs::path& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

/// Every field of a kind with its path, status and what is below lists included.
using Each = std::function<void(const Field&, const std::string& path)>;
void each_field(const Kind& kind, const Object& object, const std::string& path, const Each& each) {
  for (const Field& field : object.fields) {
    const std::string here = (path.empty() ? "" : path + ".") + std::string(field.name);
    each(field, here);
    if (const Object* below = schemas::object_of(kind, field)) each_field(kind, *below, here, each);
  }
}
void each_field(const Kind& kind, const Each& each) { each_field(kind, *kind.body, "", each); }

TEST(Samples, OurDecoderAgrees) {
  const std::vector<Sample> samples = all_samples();
  EXPECT_GT(samples.size(), 2000U);
  for (const Sample& sample : samples) {
    const Decoded decoded(sample.resource.dump());
    EXPECT_EQ(decoded.diagnostics.ok(), sample.valid) << sample.what << "\n" << decoded.faults() << sample.resource;
  }
}

// script/check-crds: the right samples with the defaults that a cluster's server fills in.
TEST(Samples, WhatAServerFillsInContradictsNothing) {
  const char* path = std::getenv("EDGE_DEFAULTED");  // NOLINT(concurrency-mt-unsafe)
  if (path == nullptr) GTEST_SKIP() << "EDGE_DEFAULTED names no file; script/check-crds makes one";
  std::ifstream lines(path);
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) EXPECT_EQ(Decoded(line).faults(), "") << line;
  EXPECT_GT(count, 100U);
}

// Nor is a key without a value as good as left out where that lets more pass. A cluster keeps the null for us to see:
// tests/crds asks the server's code.
TEST(Samples, WhatNarrowsIsNotLeftEmpty) {
  std::set<std::string> refused;
  for (const Kind* kind : own_kinds()) {
    for (int variant = 0; variant < variants_of(*kind); ++variant) {
      for (const Sample& sample : left_empty(*kind, variant)) {
        const Decoded decoded(sample.resource.dump());
        EXPECT_FALSE(decoded.diagnostics.ok()) << sample.what;
        refused.insert(sample.what);
      }
    }
    each_field(*kind, [&](const Field& field, const std::string& path) {
      if (!field.narrows || is_left_out(*kind, path)) return;
      EXPECT_TRUE(field.default_value.empty()) << path;
      const std::string position = std::string(kind->kind) + " " + path;
      EXPECT_TRUE(refused.contains(position + ": null")) << position;
      EXPECT_EQ(refused.contains(position + ": an empty list"), field.type == schemas::Type::kList) << position;
    });
  }
  EXPECT_GT(refused.size(), 60U);
}

// A change of any field is refused or changes the model: nothing that is accepted is ignored.
TEST(Samples, EveryFieldReachesTheModel) {
  for (const Kind* kind : own_kinds()) {
    std::set<std::string> reached;
    for (int variant = 0; variant < variants_of(*kind); ++variant) {
      const Decoded whole(full_resource(*kind, variant).dump());
      ASSERT_EQ(whole.faults(), "") << kind->kind << " variant " << variant;
      const std::string before = fingerprint(whole.resources);
      // The measure itself: what is no field of the kind does not show.
      Json labelled = full_resource(*kind, variant);
      labelled["metadata"]["labels"]["a"] = "b";
      ASSERT_EQ(fingerprint(Decoded(labelled.dump()).resources), before) << kind->kind;
      for (const Sample& sample : changed(*kind, variant)) {
        const Decoded decoded(sample.resource.dump());
        if (!decoded.diagnostics.ok() || fingerprint(decoded.resources) != before) reached.insert(sample.what);
        EXPECT_TRUE(reached.contains(sample.what)) << sample.what << " is accepted and ignored";
      }
    }
    // Every scalar was changed in some variant, unless one value alone is taken.
    each_field(*kind, [&](const Field& field, const std::string& path) {
      if (path.starts_with("status") || field.object != nullptr || field.values.size() == 1) return;
      // Not validated, and in no sample: the model has none of it.
      if (field.type == schemas::Type::kAny || is_left_out(*kind, path)) return;
      EXPECT_TRUE(reached.contains(std::string(kind->kind) + " " + path)) << kind->kind << " " << path;
    });
  }
}

TEST(Tables, EveryDefaultIsAValueOfItsField) {
  for (const Kind* kind : own_kinds()) {
    each_field(*kind, [&](const Field& field, const std::string& path) {
      if (field.default_value.empty()) return;
      EXPECT_FALSE(field.required) << path;
      // A full resource with the default in the field's place is still right.
      for (int variant = 0; variant < variants_of(*kind); ++variant) {
        Json resource = full_resource(*kind, variant);
        Json* at = &resource;
        std::string_view rest = path;
        while (at != nullptr && !rest.empty()) {
          const std::string step(rest.substr(0, rest.find('.')));
          rest.remove_prefix(std::min(step.size() + 1, rest.size()));
          if (at->is_array()) at = &(*at)[0];
          at = at->contains(step) ? &(*at)[step] : nullptr;
        }
        if (at == nullptr) continue;
        *at = schemas::default_value(field);
        // Rules between fields are not what is asked here.
        const Decoded decoded(resource.dump());
        for (const Diagnostic& d : decoded.diagnostics.all()) {
          const bool own_fault = d.code == DiagnosticCode::kWrongType || d.code == DiagnosticCode::kOutOfRange;
          EXPECT_FALSE(own_fault && d.severity == Severity::kError) << path << ": " << d.message;
        }
        return;
      }
    });
  }
}

// link_test compares the single values; these are the lists, and what has no place of its own there.
TEST(Tables, StateTheDefaultsOfTheLinker) {
  const auto& d = compiler::link::kDefaults;
  const auto stated = [](std::string_view kind, std::string_view path) {
    return schemas::default_value(*schemas::find_field(*schemas::find_kind(kind), path));
  };
  const auto sorted = [](auto names) {
    std::set<std::string> out;
    for (const auto& name : names) out.insert(std::string(name));
    return out;
  };
  const auto list = [&](std::string_view kind, std::string_view path) {
    return sorted(stated(kind, path).get<std::vector<std::string>>());
  };
  EXPECT_EQ(list("ProxyGateway", "spec.compression.excludeTypes"), sorted(d.uncompressed_types));
  EXPECT_EQ(list("ProxyPolicy", "spec.oidc.scopes"), sorted(d.oidc_scopes));
  EXPECT_EQ(list("ProxyPolicy", "spec.cors.allowMethods"), sorted(d.cors_methods));
  EXPECT_EQ(stated("ProxyPolicy", "spec.securityHeaders.hsts.maxAge"), d.hsts_max_age);
  EXPECT_EQ(stated("ProxyBackend", "spec.healthCheck.httpHealthCheck.expectedStatuses"), Json::array({d.probe_status}));
  EXPECT_EQ(stated("ProxyRoute", "spec.rules.filters.requestMirror.percent"), d.mirror_percent);
  for (const auto& [kind, retry, count] : {std::tuple("ProxyRoute", "spec.rules.retry.", "maxRetries"),
                                           std::tuple("ProxyBackend", "spec.retryPolicy.", "numRetries")}) {
    EXPECT_EQ(stated(kind, std::string(retry) + count), d.max_retries);
    std::vector<Located<std::string>> causes;
    for (const std::string& cause : list(kind, std::string(retry) + "retryOn")) causes.push_back({cause, {}});
    EXPECT_EQ(compiler::link::retry_on_bits(causes), d.retry_on);
  }
}

TEST(Tables, TwoFormsNameEachOther) {
  for (const Kind* kind : own_kinds()) {
    each_field(*kind, [&](const Field& field, const std::string& path) {
      if (field.other_form.empty()) return;
      const Field* other = schemas::find_field(*kind, field.other_form);
      ASSERT_NE(other, nullptr) << path;
      EXPECT_EQ(other->other_form, path);
      EXPECT_EQ(other->default_value, field.default_value) << path;
      // What a cluster filled in would contradict the other form.
      EXPECT_FALSE(schemas::field_schema(field, schemas::Dialect::kCluster).contains("default")) << path;
    });
  }
}

TEST(Tables, HaveEveryFieldOfTheSpecification) {
  std::ifstream list(fs::path(EDGE_SOURCE_DIR) / "tests/schemas/specification_fields.txt");
  std::size_t count = 0;
  for (std::string line; std::getline(list, line);) {
    if (line.empty() || line[0] == '#') continue;
    const std::size_t space = line.find(' ');
    const std::size_t equals = line.find(" = ");
    const Kind* kind = schemas::find_kind(line.substr(0, space));
    ASSERT_NE(kind, nullptr) << line;
    const Field* field = schemas::find_field(*kind, line.substr(space + 1, equals - space - 1));
    ASSERT_NE(field, nullptr) << line;
    if (equals != std::string::npos) EXPECT_EQ(field->default_value, line.substr(equals + 3)) << line;
    ++count;
  }
  EXPECT_GT(count, 150U);
}

TEST(Tables, HaveTheColumnsAndNamesOfTheSpecification) {
  struct Row {
    std::string_view kind, columns, names;
  };
  constexpr Row kRows[] = {
      {"EdgeCluster", "VERSION PHASE CONTROLLER AGENTS AGE", "clusters cluster cl"},
      {"ProxyGateway", "VIP LISTENERS READY AGE", "gateways gateway gw"},
      {"ProxyRoute", "HOSTNAMES RULES READY AGE", "routes route rt"},
      {"ProxyBackend", "SERVICE LB POLICY ENDPOINTS READY AGE", "backends backend be"},
      {"ProxyVIP", "VIP MODE READY AGE", "vips vip"},
      {"ProxyPolicy", "TYPE TARGET AGE", "policies policy pol"},
      {"WANLink", "SITE ROLE PROVIDER LATENCY LOSS HEALTHY AGE", "links link wl"},
  };
  for (const Row& row : kRows) {
    const Kind* kind = schemas::find_kind(row.kind);
    ASSERT_NE(kind, nullptr) << row.kind;
    std::string columns;
    for (const schemas::Column& column : kind->manifest->columns) {
      if (!column.wide) columns += (columns.empty() ? "" : " ") + std::string(column.name);
    }
    EXPECT_EQ(columns, row.columns);
    std::istringstream names{std::string(row.names)};
    for (std::string name; names >> name;) EXPECT_EQ(schemas::find_own_kind(name), kind) << name;
  }
  // Every name means one kind.
  std::set<std::string_view> seen;
  for (const Kind* kind : own_kinds()) {
    EXPECT_TRUE(seen.insert(kind->plural).second);
    for (const std::string_view alias : kind->manifest->aliases) EXPECT_TRUE(seen.insert(alias).second) << alias;
  }
}

TEST(Tables, EveryColumnReadsAFieldOfTheKind) {
  for (const Kind* kind : own_kinds()) {
    for (const schemas::Column& column : kind->manifest->columns) {
      std::string path(column.json_path.substr(1, column.json_path.find('[') - 1));
      if (path == "metadata.creationTimestamp") continue;
      EXPECT_NE(schemas::find_field(*kind, path), nullptr) << kind->kind << " " << column.name << " " << path;
    }
  }
}

TEST(Tables, EveryFieldIsInManifestPageAnswerAndCompletion) {
  for (const Kind* kind : own_kinds()) {
    const Json schema = schemas::object_schema(*kind->body, schemas::Dialect::kCluster, kind->manifest->status);
    const Json editor = Json::parse(schemas::json_schema(*kind));
    const std::string page = schemas::reference_page(*kind);
    each_field(*kind, [&](const Field& field, const std::string& path) {
      const auto in_schema = [&](const Json& root) {
        const Json* at = &root;
        std::string_view rest = path;
        while (!rest.empty()) {
          const std::string step(rest.substr(0, rest.find('.')));
          rest.remove_prefix(std::min(step.size() + 1, rest.size()));
          if (at->contains("items")) at = &(*at)["items"];
          if (!at->contains("properties") || !(*at)["properties"].contains(step)) return false;
          at = &(*at)["properties"][step];
        }
        return (*at)["description"] == std::string(field.text);
      };
      EXPECT_TRUE(in_schema(schema)) << kind->kind << " " << path;
      EXPECT_TRUE(in_schema(editor)) << kind->kind << " " << path;
      const bool top = path.find('.') == std::string::npos;
      const std::string shown = (top ? "### `" : "| `") + std::string(field.name) + "`";
      EXPECT_NE(page.find(shown), std::string::npos) << kind->kind << " " << path;
      const auto answer = schemas::describe(*kind, path);
      ASSERT_TRUE(answer) << path;
      EXPECT_NE(answer->find(schemas::type_text(field)), std::string::npos) << *answer;
      const auto offered = schemas::next_paths(*kind, path);
      EXPECT_NE(std::ranges::find(offered, path), offered.end()) << kind->kind << " " << path;
    });
  }
}

TEST(Tables, EveryExampleIsRead) {
  for (const Kind* kind : own_kinds()) {
    const Decoded decoded{std::string(kind->manifest->example)};
    EXPECT_TRUE(decoded.diagnostics.all().empty()) << kind->kind << "\n" << decoded.faults();
  }
}

/// Files made from the tables: path below the checkout, text.
std::vector<std::pair<std::string, std::string>> made_files() {
  std::vector<std::pair<std::string, std::string>> files = {{"docs/reference/README.md", schemas::reference_index()}};
  for (const Kind* kind : own_kinds()) {
    files.emplace_back("docs/reference/" + std::string(kind->kind) + ".md", schemas::reference_page(*kind));
    files.emplace_back("deploy/crds/" + std::string(kind->plural) + ".yaml", schemas::crd_manifest(*kind));
  }
  return files;
}

TEST(Files, AreWhatTheTablesMake) {
  const fs::path root = EDGE_SOURCE_DIR;
  const bool update = std::getenv("EDGE_UPDATE_SCHEMAS") != nullptr;  // NOLINT(concurrency-mt-unsafe)
  std::set<fs::path> made;
  for (const auto& [name, text] : made_files()) {
    const fs::path path = root / name;
    made.insert(path);
    if (update) {
      fs::create_directories(path.parent_path());
      std::ofstream(path) << text;
    }
    EXPECT_EQ(read_file(path), text) << name << " is not what the tables make; run the target update-schemas";
  }
  for (const char* folder : {"docs/reference", "deploy/crds"}) {
    for (const auto& entry : fs::directory_iterator(root / folder)) {
      EXPECT_TRUE(made.contains(entry.path())) << entry.path() << " is made from no table";
    }
  }
}

}  // namespace
}  // namespace edge::test

// Documents of a small world, and a Workspace that is held against a compile from nothing after every edit. For tests.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>

#include "compiler/workspace.h"
#include "program/dump/dump.h"

namespace edge::compiler::world {

/// Documents by name.
using Documents = std::map<std::string, std::string>;

inline std::string resource(const std::string& kind, const std::string& name, const std::string& spec) {
  return "apiVersion: edgeproxy.io/v1alpha1\nkind: " + kind + "\nmetadata: {name: " + name + "}\nspec: " + spec + "\n";
}

inline std::string service(const std::string& name) {
  return "apiVersion: v1\nkind: Service\nmetadata: {name: " + name + "}\nspec: {ports: [{port: 80}]}\n";
}

inline std::string slice(const std::string& name, const std::string& address) {
  return "apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {name: " + name +
         ", labels: {kubernetes.io/service-name: " + name +
         "}}\naddressType: IPv4\nports: [{port: 8080}]\nendpoints: [{addresses: [" + address + "]}]\n";
}

inline std::string backend(const std::string& name, const std::string& settings = "") {
  return resource("ProxyBackend", name, "{serviceRef: {name: " + name + ", port: 80}" + settings + "}");
}

inline std::string gateway(const std::string& listeners = "{name: http, port: 8080, protocol: HTTP}") {
  return resource("ProxyGateway", "edge", "{listeners: [" + listeners + "]}");
}

inline std::string route(const std::string& name, const std::string& host, const std::string& match,
                         const std::string& to = "b0") {
  return resource("ProxyRoute", name,
                  "{parentRefs: [{name: edge}], hostnames: [" + host + "], rules: [{matches: [" + match +
                      "], backendRef: {name: " + to + "}}]}");
}

inline std::string prefix(const std::string& path) { return "{path: {type: PathPrefix, value: " + path + "}}"; }

inline std::string policy(const std::string& name, const std::string& target, const std::string& more) {
  const bool several = target.find("}, {") != std::string::npos;
  return resource("ProxyPolicy", name,
                  several ? "{targetRefs: [{kind: " + target + "}], " + more + "}"
                          : "{targetRef: {kind: " + target + "}, " + more + "}");
}

inline Documents small_world() {
  Documents documents;
  documents["gateway"] = gateway();
  for (int i = 0; i < 3; ++i) {
    const std::string name = "b" + std::to_string(i);
    documents["backend " + name] = backend(name);
    documents["service " + name] = service(name);
    documents["slice " + name] = slice(name, "10.0.0." + std::to_string(i + 1));
  }
  for (int i = 0; i < 10; ++i) {
    const std::string n = std::to_string(i);
    documents["route r" + n] = route("r" + n, "h" + n + ".com", prefix("/p" + n), "b" + std::to_string(i % 2));
  }
  return documents;
}

inline std::vector<DocumentEdit> all_of(const Documents& documents) {
  std::vector<DocumentEdit> edits;
  for (const auto& [name, text] : documents) edits.push_back({name, text});
  return edits;
}

/// What is said, one line each, in the order of the documents' names.
inline std::string said_by(Workspace& workspace, const Documents& documents) {
  SourceMap sources;
  std::map<std::string, std::uint32_t> numbers;
  for (const auto& [name, text] : documents) numbers[name] = sources.add(name, text);
  Diagnostics diagnostics = workspace.diagnostics();
  diagnostics.relocate([&](Span span) {
    if (span.somewhere()) span.source = numbers.at(workspace.document(span.source));
    return span;
  });
  diagnostics.finish(sources);
  const auto position = [&](const Span& span) {
    if (!span.somewhere()) return std::string("nowhere");
    return sources[span.source].name() + ":" + std::to_string(span.begin) + "-" + std::to_string(span.end);
  };
  std::string text;
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    text += code_text(diagnostic.code) + " " + diagnostic.resource + " " + diagnostic.field + " " +
            position(diagnostic.span) + ": " + diagnostic.message;
    for (const Label& label : diagnostic.labels) text += " [" + position(label.span) + " " + label.text + "]";
    for (const std::string& note : diagnostic.notes) text += " (" + note + ")";
    text += " -> " + diagnostic.fix + "\n";
  }
  return text;
}

inline std::string text_of(const std::vector<ResourceStatus>& statuses) {
  std::string text;
  const auto add = [&text](const std::vector<Condition>& conditions) {
    for (const Condition& condition : conditions) {
      text += " " + condition.type + "=" + std::to_string(static_cast<int>(condition.status)) + " " + condition.reason +
              " '" + condition.message + "'";
    }
  };
  for (const ResourceStatus& status : statuses) {
    text +=
        status.kind + " " + status.name_space + "/" + status.name + " of " + std::to_string(status.observed_generation);
    add(status.conditions);
    for (const ParentStatus& parent : status.parents) {
      text += "; parent " + std::to_string(parent.parent_ref);
      add(parent.conditions);
    }
    for (const ListenerStatus& listener : status.listeners) {
      text += "; listener " + listener.name + " " + std::to_string(listener.attached_routes);
      add(listener.conditions);
    }
    for (const std::string& address : status.addresses) text += "; at " + address;
    text += "\n";
  }
  return text;
}

class World {
 public:
  explicit World(Documents documents, CompileOptions options = {})
      : documents_(std::move(documents)), options_(options), workspace_(options) {
    artifact_ = *apply(all_of(documents_));
  }

  std::optional<Artifact> apply(const std::vector<DocumentEdit>& edits) {
    for (const DocumentEdit& edit : edits) {
      if (edit.text) {
        documents_[edit.document] = *edit.text;
      } else {
        documents_.erase(edit.document);
      }
    }
    auto artifact = workspace_.apply(edits);
    EXPECT_TRUE(artifact.has_value()) << said_now();
    if (artifact) artifact_ = *artifact;
    return artifact;
  }
  CompileStats edit(const std::string& document, std::optional<std::string> text) {
    return apply({{document, std::move(text)}})->stats;
  }

  std::string said_now() { return said_by(workspace_, documents_); }
  std::string routes() const { return program::dump_routes(*program::read(artifact_.bytes)); }

  /// The same documents, compiled from nothing, give the same program, values (endpoints, secrets), diagnostics and
  /// statuses.
  void expect_as_from_nothing(const std::string& after) {
    Workspace fresh(options_);
    const auto whole = fresh.apply(all_of(documents_));
    ASSERT_TRUE(whole.has_value());
    EXPECT_EQ(artifact_.hash, whole->hash) << after << "\n"
                                           << routes() << "\nfrom nothing\n"
                                           << program::dump_routes(*program::read(whole->bytes));
    EXPECT_EQ(said_now(), said_by(fresh, documents_)) << after;
    EXPECT_EQ(text_of(workspace_.statuses()), text_of(fresh.statuses())) << after;
    EXPECT_TRUE(workspace_.statuses() == fresh.statuses()) << "in what the text does not have\n" << after;
    EXPECT_EQ(program::write_endpoints(workspace_.endpoints()), program::write_endpoints(fresh.endpoints())) << after;
    EXPECT_EQ(program::write_secrets(workspace_.secrets()), program::write_secrets(fresh.secrets())) << after;
  }

  Workspace& workspace() { return workspace_; }
  const Artifact& artifact() const { return artifact_; }

 private:
  Documents documents_;
  CompileOptions options_;
  Workspace workspace_;
  Artifact artifact_;
};

}  // namespace edge::compiler::world

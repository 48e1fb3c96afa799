#include "edgectl/resources/server_table.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "edgectl/resources/columns.h"
#include "edgectl/resources/output.h"

namespace edge::edgectl {
namespace {

using Json = nlohmann::json;

constexpr const char* kAccept = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json";
constexpr std::size_t kMostPages = 10'000;

std::string upper(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

kube::Failure ServerTable::page(const std::string& target, std::string& next) {
  kube::Reply reply = cluster_.api().send({.target = target, .accept = kAccept});
  if (!reply.ok()) return std::move(reply.failure);
  const Json table = parse_json(reply.body);
  const Json& columns = member_in(table, "columnDefinitions");
  if (text_in(table, "kind") != "Table" || !columns.is_array()) {
    return {.kind = kube::Failure::Kind::kMalformed, .message = "the server's answer is no table"};
  }
  if (heads_.empty()) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      if (integer_in(columns[i], "priority") > 0 && !wide_) continue;
      heads_.push_back(upper(text_in(columns[i], "name")));
      shown_.push_back(i);
    }
  }
  for (const Json& row : list_in(table, "rows")) {
    const Json& cells = list_in(row, "cells");
    const Json& object = member_in(row, "object");
    std::vector<std::string> line{text_in(member_in(object, "metadata"), "namespace")};
    for (const std::size_t i : shown_) line.push_back(i < cells.size() ? cell_text(cells[i]) : "");
    rows_.push_back({std::move(line), order_ != nullptr ? object : Json()});
  }
  next = text_in(member_in(table, "metadata"), "continue");
  return {};
}

std::vector<ServerTable::Failed> ServerTable::fetch(const std::vector<std::string>& names,
                                                    const kube::ListOptions& options) {
  std::vector<Failed> failures;
  std::string next;
  for (const std::string& name : names) {
    kube::Query query;
    query.add_some("includeObject", order_ != nullptr ? "Object" : "");
    auto failure = page(kube::path_of(type_.resource, options.name_space, name) + query.text(), next);
    if (!failure.none()) failures.push_back({std::move(failure), type_.singular() + "/" + name});
  }
  for (std::size_t pages = 0; names.empty() && pages < kMostPages; ++pages) {
    kube::Query query;
    query.add("limit", std::to_string(options.limit)).add_some("continue", next);
    query.add_some("includeObject", order_ != nullptr ? "Object" : "");
    query.add_some("labelSelector", options.label_selector).add_some("fieldSelector", options.field_selector);
    auto failure = page(kube::path_of(type_.resource, options.name_space) + query.text(), next);
    if (!failure.none()) failures.push_back({std::move(failure), type_.resource.plural});
    if (next.empty() || !failures.empty()) break;
  }
  if (order_ != nullptr) order_->sort(rows_, [](const Row& row) -> const Json& { return row.object; });
  return failures;
}

std::string ServerTable::text(const std::string& prefix, bool with_heads) const {
  if (rows_.empty()) return {};
  // As with own kinds, the namespace comes first, where there is one.
  const bool namespaced = type_.resource.namespaced;
  std::vector<std::string> heads = heads_;
  if (namespaced) heads.insert(heads.begin(), "NAMESPACE");
  TextTable text(std::move(heads));
  for (const Row& each : rows_) {
    std::vector<std::string> row = each.cells;
    if (row.size() > 1) row[1].insert(0, prefix);
    if (!namespaced) row.erase(row.begin());
    text.add(std::move(row));
  }
  return text.take(with_heads);
}

}  // namespace edge::edgectl

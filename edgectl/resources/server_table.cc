#include "edgectl/resources/server_table.h"

#include <algorithm>
#include <cctype>

#include <nlohmann/json.hpp>

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

std::string text_in(const Json& object, const char* outer, const char* inner) {
  if (!object.is_object()) return {};
  const auto found = object.find(outer);
  if (found == object.end() || !found->is_object()) return {};
  const auto text = found->find(inner);
  return text != found->end() && text->is_string() ? text->get<std::string>() : std::string();
}

}  // namespace

kube::Failure ServerTable::page(const std::string& target, std::string& next) {
  kube::Reply reply = cluster_.api().send({.target = target, .accept = kAccept});
  if (!reply.ok()) return std::move(reply.failure);
  const Json table = parsed_json(reply.body);
  const auto columns = table.find("columnDefinitions");
  if (!table.is_object() || text_in({{"t", table}}, "t", "kind") != "Table" || columns == table.end()) {
    return {.kind = kube::Failure::Kind::kMalformed, .message = "the server's answer is no table"};
  }
  if (heads_.empty()) {
    for (std::size_t i = 0; i < columns->size(); ++i) {
      const Json& column = (*columns)[i];
      const bool extra = column.is_object() && column.value("priority", Json()).is_number_integer() &&
                         column["priority"].get<std::int64_t>() > 0;
      if (extra && !wide_) continue;
      const Json& name = column.is_object() ? column.value("name", Json("")) : Json("");
      heads_.push_back(upper(cell_text(name)));
      shown_.push_back(i);
    }
  }
  const Json no_rows = Json::array();
  const auto rows = table.find("rows");
  for (const Json& row : rows == table.end() ? no_rows : *rows) {
    const Json cells = row.is_object() ? row.value("cells", no_rows) : no_rows;
    std::vector<std::string> line{
        text_in(row.is_object() ? row.value("object", Json()) : Json(), "metadata", "namespace")};
    for (const std::size_t i : shown_) line.push_back(i < cells.size() ? cell_text(cells[i]) : "");
    rows_.push_back(std::move(line));
  }
  next = text_in(table, "metadata", "continue");
  return {};
}

std::vector<ServerTable::Failed> ServerTable::fetch(const std::vector<std::string>& names,
                                                    const kube::ListOptions& options) {
  std::vector<Failed> failures;
  std::string next;
  for (const std::string& name : names) {
    auto failure = page(kube::path_of(type_.resource, options.name_space, name), next);
    if (!failure.none()) failures.push_back({std::move(failure), type_.singular() + "/" + name});
  }
  for (std::size_t pages = 0; names.empty() && pages < kMostPages; ++pages) {
    kube::Query query;
    query.add("limit", std::to_string(options.limit)).add_some("continue", next);
    query.add_some("labelSelector", options.label_selector).add_some("fieldSelector", options.field_selector);
    auto failure = page(kube::path_of(type_.resource, options.name_space) + query.text(), next);
    if (!failure.none()) failures.push_back({std::move(failure), type_.resource.plural});
    if (next.empty() || !failures.empty()) break;
  }
  return failures;
}

std::string ServerTable::text(const std::string& prefix, bool with_heads) const {
  if (rows_.empty()) return {};
  // As with own kinds, the namespace comes first, where there is one.
  const bool namespaced = type_.resource.namespaced;
  std::vector<std::string> heads = heads_;
  if (namespaced) heads.insert(heads.begin(), "NAMESPACE");
  TextTable text(std::move(heads));
  for (std::vector<std::string> row : rows_) {
    if (row.size() > 1) row[1].insert(0, prefix);
    if (!namespaced) row.erase(row.begin());
    text.add(std::move(row));
  }
  return text.take(with_heads);
}

}  // namespace edge::edgectl

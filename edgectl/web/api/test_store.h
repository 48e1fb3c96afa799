// A store with objects that no server has, for tests.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "controller/kube/client.h"
#include "edgectl/web/access/store_view.h"
#include "edgectl/web/api/object_store.h"
#include "net/loop.h"

namespace edge::edgectl::web {

class TestStore {
 public:
  TestStore() : client_(client(loop_)), store_(*client_, [](std::string_view) {}) {
    for (const auto& kind : store_.kinds()) kind->synced = true;
  }

  /// `text`: a JSON object with kind and metadata.
  void add(const std::string& text) {
    const nlohmann::json json = parse_json(text);
    const nlohmann::json& metadata = member_in(json, "metadata");
    StoredObject object{.name_space = text_in(metadata, "namespace"),
                        .name = text_in(metadata, "name"),
                        .uid = {},
                        .text = text,
                        .created = text_in(metadata, "creationTimestamp"),
                        .cells = {},
                        .verdict = verdict_of(conditions_of(json)),
                        .references = references_of(json)};
    for (const auto& kind : store_.kinds()) {
      if (kind->kind.kind != text_in(json, "kind")) continue;
      kind->objects.insert_or_assign(object.name_space + "/" + object.name, object);
    }
  }

  /// Everything.
  StoreView view() const { return {store_, *all_}; }
  /// What may be listed by `visible`, which outlives the view.
  StoreView view(const Visible& visible) const { return {store_, visible}; }

 private:
  static std::unique_ptr<kube::Client> client(net::Loop& loop) {
    kube::Config config;
    config.cluster.server = *net::client::parse_url("http://127.0.0.1:1");
    auto made = kube::Client::make(loop, std::move(config));
    return std::move(*made);
  }

  net::Loop loop_;
  std::unique_ptr<kube::Client> client_;
  ObjectStore store_;
  std::shared_ptr<const Visible> all_ = Visible::all();
};

}  // namespace edge::edgectl::web

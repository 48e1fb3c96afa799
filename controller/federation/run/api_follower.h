// The shared kinds of the cluster's API, as it has them now, and writes to it. For the thread of the client's loop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/log.h"
#include "controller/federation/run/api_object.h"
#include "controller/federation/version.h"
#include "controller/kube/client.h"
#include "controller/kube/discovery.h"
#include "controller/kube/informer.h"

namespace edge::federation {

struct ApiWrite {
  enum class Outcome : std::uint8_t {
    kDone,
    kChanged,  ///< somebody else has written meanwhile: what there is now has been read
    kFailed,
  } outcome = Outcome::kDone;
  std::string fault{};  ///< a sentence without a full stop
};

struct ApiEvents {
  std::function<void(const ObjectKey& key)> changed;
  std::function<void(const ObjectKey& key, const ApiWrite& write)> wrote;
  /// A kind has been listed.
  std::function<void(const std::string& kind)> listed;
};

class ApiFollower {
 public:
  /// Under way at once.
  static constexpr std::size_t kMostWrites = 128;

  ApiFollower(kube::Client& client, Logger log, ApiEvents events);
  ~ApiFollower();
  ApiFollower(const ApiFollower&) = delete;
  ApiFollower& operator=(const ApiFollower&) = delete;

  /// Kinds that are followed from now on. One that the API does not serve is looked for again and again.
  void set_kinds(const std::set<std::string>& kinds);
  /// Whether everything of the kind that there is has been seen.
  bool is_listed(const std::string& kind) const;
  /// How often the kind has been listed, and the API's version up to which it has been seen; 0: no number.
  std::uint64_t lists(const std::string& kind) const;
  std::uint64_t version(const std::string& kind) const;
  /// Null: the API has none.
  const ApiObject* find(const ObjectKey& key) const;
  const std::map<ObjectKey, ApiObject>& objects() const { return objects_; }
  /// Kinds that the API does not serve, or does not let this cluster read.
  const std::map<std::string, std::string>& faults() const { return faults_; }

  bool may_write() const { return writing_.size() < kMostWrites; }
  bool is_writing(const ObjectKey& key) const { return writing_.contains(key); }
  std::size_t writing() const { return writing_.size(); }
  /// Creates or replaces the object. One write of an object at a time.
  void put(const ObjectKey& key, const std::string& content, const std::string& origin);
  void remove(const ObjectKey& key);

  /// Once a second: objects that are gone though nobody told.
  void look();
  /// Breaks off what is under way; `done` is called when nothing is any more.
  void stop(std::function<void()> done);

 private:
  struct Kind {
    std::unique_ptr<kube::Informer> informer;
    kube::Resource resource;
  };

  net::Detached discover();
  void follow(const std::string& kind, const kube::Resource& resource);
  void take(const std::string& kind, const kube::Object& object);
  void gone(const ObjectKey& key);
  net::Detached write(ObjectKey key, std::string object, bool exists);
  net::Detached erase(ObjectKey key, std::string uid, std::string resource_version);
  net::Task<ApiWrite> after_conflict(net::Waiter& waiter, ObjectKey key);
  void finish(const ObjectKey& key, const ApiWrite& write);
  void keep(const ObjectKey& key, const kube::Object& object);
  void finish_when_idle();

  kube::Client& client_;
  Logger log_;
  ApiEvents events_;
  kube::Discovery discovery_;
  std::set<std::string> wanted_;
  std::map<std::string, Kind> kinds_;
  std::map<std::string, std::string> faults_;  ///< by kind
  std::map<ObjectKey, ApiObject> objects_;
  std::map<ObjectKey, std::uint64_t> written_;  ///< versions that writes of ours have made, and no watch has told yet
  std::map<ObjectKey, std::string> deleted_;    ///< UIDs of what we have deleted, until a watch has told
  std::map<ObjectKey, net::Waiter*> writing_;
  net::Waiter waiter_;
  bool discovering_ = false;
  bool stopping_ = false;
  std::function<void()> done_;
};

}  // namespace edge::federation

// Reads the files that IPAccess policies use on an agent, and follows them: lists of addresses in a directory, and
// databases of countries and autonomous systems. docs/ip-access.md.
//
// What a policy answers depends on the files as they are now, never on what they were: one that is missing or at fault
// cannot be used, and policies that name it answer 503.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/os/file_watch.h"
#include "base/result.h"
#include "cli/flags.h"
#include "metrics/exposition.h"
#include "runtime/policy/access_files.h"

namespace edge::agent {

struct AccessFileOptions {
  std::string lists;      ///< directory of lists; empty: none
  std::string countries;  ///< file; empty: none
  std::string systems;    ///< file; empty: none
  bool any() const { return !lists.empty() || !countries.empty() || !systems.empty(); }
};

std::vector<cli::Flag> access_file_flags();
AccessFileOptions access_file_options(const cli::Arguments& arguments);

class AccessWatch {
 public:
  using Give = std::function<void(std::shared_ptr<const runtime::AccessFiles>)>;

  /// Reads the files, calls `give`, and does so again on a thread of its own whenever they change. What is not there
  /// yet is waited for. An Error where nothing can be watched.
  static Result<std::unique_ptr<AccessWatch>> start(AccessFileOptions options, Logger log, Give give);
  ~AccessWatch();
  AccessWatch(const AccessWatch&) = delete;
  AccessWatch& operator=(const AccessWatch&) = delete;

  /// Any thread.
  void write_metrics(metrics::Exposition& out) const;

 private:
  /// What tells versions of a file apart, and one that may be read from one that might not.
  struct Stamp {
    std::uint64_t inode = 0;
    std::int64_t size = -1;
    std::int64_t changed_ns = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct List {
    Stamp stamp;
    std::shared_ptr<const runtime::AddressSet> set;  ///< null: it cannot be used
  };
  struct Database {
    Stamp stamp;
    std::shared_ptr<const runtime::GeoDatabase> read;
    std::string fault;
  };

  AccessWatch(AccessFileOptions options, Logger log, Give give);
  static Stamp stamp_of(const std::string& path);
  std::vector<std::string> paths() const;
  void follow();
  void read();
  void read_lists(std::map<std::string, List>& lists) const;
  void read_list(const std::string& path, const std::string& name, List& list) const;
  void read_database(const std::string& path, runtime::GeoDatabase::Kind kind, Database& database) const;

  const AccessFileOptions options_;
  const Logger log_;
  const Give give_;
  std::unique_ptr<FileWatch> watch_;
  mutable std::mutex mutex_;  ///< guards what follows, for `write_metrics`
  std::map<std::string, List> lists_;
  Database countries_;
  Database systems_;
  std::thread thread_;
};

}  // namespace edge::agent

// A controller of before programs of the history were given away: it lists agents and the history, and rolls back.
#pragma once

#include <memory>
#include <string>

#include "tests/cli/process.h"

namespace edge::test {

class OldController {
 public:
  OldController();
  ~OldController();
  OldController(const OldController&) = delete;
  OldController& operator=(const OldController&) = delete;

  /// `HOST:PORT`.
  const std::string& address() const { return address_; }
  /// The administrator's file.
  std::string credentials() const { return dir_ / "admin.pem"; }

 private:
  struct Service;
  struct Running;
  TempDir dir_;
  std::string address_;
  std::unique_ptr<Service> service_;
  std::unique_ptr<Running> running_;
};

}  // namespace edge::test

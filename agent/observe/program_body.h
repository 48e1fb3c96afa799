// Sends a loaded program as a response body, piece by piece from its memory.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "net/server/message.h"
#include "runtime/match/load.h"

namespace edge::agent {

class ProgramBody final : public net::server::BodySource {
 public:
  explicit ProgramBody(std::shared_ptr<const runtime::LoadedProgram> program) : program_(std::move(program)) {}

  std::size_t size() const { return program_->view().bytes().size(); }
  Next next(std::string& out) override;
  /// Never called: data is always available.
  void on_ready(std::function<void()>) override {}

 private:
  /// Pinned until its last byte is sent, even after it was replaced.
  const std::shared_ptr<const runtime::LoadedProgram> program_;
  std::size_t at_ = 0;
};

}  // namespace edge::agent

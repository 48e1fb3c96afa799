#include <string>

#include <llvm-c/Core.h>
#include <llvm/ExecutionEngine/Orc/LLJIT.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include "compiler/emit/native.h"

namespace edge::compiler::emit {
namespace {

/// Whether this machine's CPU has what the target's code may use.
bool runs_here(program::Target target) {
  const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  const auto all = [&](std::initializer_list<const char*> names) {
    for (const char* name : names) {
      if (!features.lookup(name)) return false;
    }
    return true;
  };
#if defined(__x86_64__)
  switch (target) {
    case program::Target::kX8664:
      return true;
    case program::Target::kX8664V2:
      return all({"sse3", "ssse3", "sse4.1", "sse4.2", "popcnt", "cx16"});
    case program::Target::kX8664V3:
      return all({"sse4.2", "popcnt", "cx16", "avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe"});
    default:
      return false;
  }
#elif defined(__aarch64__)
  return target == program::Target::kAarch64 && all({});
#else
  return false;
#endif
}

Error orc_error(llvm::Error error) { return {ErrorCode::kInternal, "ORC: " + llvm::toString(std::move(error))}; }

}  // namespace

std::string native_engine_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned patch = 0;
  LLVMGetVersion(&major, &minor, &patch);  // of the library that was loaded
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

struct NativeCode::Impl {
  std::unique_ptr<llvm::orc::LLJIT> jit;
  const program::NativeIndex* index = nullptr;
};

Result<NativeCode> NativeCode::load(program::Target target, std::span<const std::byte> object) {
  if (!runs_here(target)) return Error{ErrorCode::kFailedPrecondition, "the program's target is another CPU"};
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  // The object is complete: no platform support, which would be compiled first, is needed to run it.
  auto jit = llvm::orc::LLJITBuilder().setPlatformSetUp(llvm::orc::setUpInactivePlatform).create();
  if (!jit) return orc_error(jit.takeError());
  auto copy = llvm::MemoryBuffer::getMemBufferCopy(
      llvm::StringRef(reinterpret_cast<const char*>(object.data()), object.size()), "edge-native");
  if (auto error = (*jit)->addObjectFile(std::move(copy))) return orc_error(std::move(error));
  auto symbol = (*jit)->lookup(program::kNativeIndexSymbol);
  if (!symbol) return orc_error(symbol.takeError());
  auto impl = std::make_unique<Impl>();
  impl->index = symbol->toPtr<const program::NativeIndex*>();
  impl->jit = std::move(*jit);
  return NativeCode(std::move(impl));
}

NativeCode::NativeCode(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
NativeCode::NativeCode(NativeCode&&) noexcept = default;
NativeCode& NativeCode::operator=(NativeCode&&) noexcept = default;
NativeCode::~NativeCode() = default;

const program::NativeIndex& NativeCode::index() const { return *impl_->index; }

}  // namespace edge::compiler::emit

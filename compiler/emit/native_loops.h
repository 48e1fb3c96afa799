// Generates loops for comparing and searching long texts in the module that needs them: the shared object calls no
// external functions, not even libc.
#pragma once

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace edge::compiler::emit {

/// `u32 equal(const char* a, const char* b, u64 n)`, n >= 8.
llvm::Function* equal_function(llvm::Module& module);
/// `u32 contains(const char* text, u64 n, const char* needle, u64 m)`, m >= 1.
llvm::Function* contains_function(llvm::Module& module);

}  // namespace edge::compiler::emit

#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a source that opens a library when one of its functions is first called.

  late_library.py libcurl.so.4 "what to install" curl_easy_init curl_easy_setopt … > late.c

Where the library is missing the program says so and ends with 7 (`cudal1 help exit-codes`).
"""
import sys

HEAD = """#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>
__attribute__((visibility("hidden"))) void* late_function(int index) {
  static const char* const names[] = {%s};
  void* library = dlopen("%s", RTLD_NOW | RTLD_LOCAL);
  void* function = library ? dlsym(library, names[index]) : 0;
  if (!function) {
    fprintf(stderr, "cudal1: %s is not there: %s\\n");
    _exit(7);
  }
  return function;
}
__attribute__((visibility("hidden"))) void* late_functions[%d];
"""
# As the loader binds a symbol late: arguments are kept, and the stack stays aligned.
ENTRY = """__asm__(".text\\n.globl {name}\\n.type {name}, @function\\n{name}:\\n"
  "  mov late_functions+{place}(%rip), %r11\\n  test %r11, %r11\\n  jz 1f\\n  jmp *%r11\\n"
  "1: push %rdi\\n  push %rsi\\n  push %rdx\\n  push %rcx\\n  push %r8\\n  push %r9\\n  push %rax\\n  mov ${index}, %edi\\n  call late_function\\n"
  "  mov %rax, late_functions+{place}(%rip)\\n  mov %rax, %r11\\n  pop %rax\\n  pop %r9\\n  pop %r8\\n  pop %rcx\\n  pop %rdx\\n  pop %rsi\\n  pop %rdi\\n  jmp *%r11\\n"
  ".size {name}, . - {name}\\n");
"""

library, advice, names = sys.argv[1], sys.argv[2], sys.argv[3:]
print(HEAD % (", ".join(f'"{name}"' for name in names), library, library, advice, len(names)))
print("".join(ENTRY.format(name=name, index=index, place=8 * index) for index, name in enumerate(names)))

# SPDX-License-Identifier: Apache-2.0
# `--target portable`: portable/cudal1 in the build folder, from the same objects as the other one, for every Linux on x86-64 with glibc
# 2.28 or newer: Debian 10, Ubuntu 18.10, Rocky 8. It needs no other library; libcurl, where a model is asked over HTTP, is opened then.
set(CUDAL1_OLDEST_GLIBC 2.28 CACHE STRING "glibc that the target portable is linked for")
find_program(CUDAL1_READELF readelf)
find_library(CUDAL1_STATIC_CRYPTO libcrypto.a)
find_library(CUDAL1_STATIC_SECCOMP libseccomp.a)
find_package(Python3 COMPONENTS Interpreter)
if(NOT CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64 OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR NOT CUDAL1_READELF OR NOT CUDAL1_STATIC_CRYPTO OR NOT CUDAL1_STATIC_SECCOMP OR
   NOT Python3_Interpreter_FOUND OR CUDAL1_SANITIZE)
  return()
endif()

set(source "${PROJECT_SOURCE_DIR}/cmake/portable")
set(folder "${PROJECT_BINARY_DIR}/portable")
file(MAKE_DIRECTORY "${folder}")
add_custom_command(OUTPUT "${folder}/stubs/libc.so"
  COMMAND "${Python3_EXECUTABLE}" "${source}/stub_libraries.py" "${CUDAL1_OLDEST_GLIBC}" "${folder}/stubs" "${CMAKE_C_COMPILER}"
  DEPENDS "${source}/stub_libraries.py" VERBATIM)

# What lib/model calls; a function that is missing here is one that the link names.
set(curl curl_easy_cleanup curl_easy_getinfo curl_easy_init curl_easy_setopt curl_easy_strerror curl_free curl_getdate curl_global_init curl_multi_add_handle
  curl_multi_cleanup curl_multi_info_read curl_multi_init curl_multi_perform curl_multi_poll curl_multi_remove_handle curl_multi_wakeup curl_slist_append
  curl_slist_free_all curl_url curl_url_cleanup curl_url_get curl_url_set)
add_custom_command(OUTPUT "${folder}/curl.c"
  COMMAND sh -c "\"$@\" >\"$0\"" "${folder}/curl.c" "${Python3_EXECUTABLE}" "${source}/late_library.py" libcurl.so.4
          "models over HTTP need it: install libcurl4 (Debian, Ubuntu) or libcurl (Fedora, Rocky)" ${curl}
  DEPENDS "${source}/late_library.py" VERBATIM)

add_library(cudal1_bundled OBJECT EXCLUDE_FROM_ALL "${source}/bundled.cpp" "${source}/no_server.cpp" "${source}/start.c" "${folder}/curl.c")
target_compile_definitions(cudal1_bundled PRIVATE TOML_HEADER_ONLY=0)
target_compile_options(cudal1_bundled PRIVATE -fPIE)
set_target_properties(cudal1_bundled PROPERTIES UNITY_BUILD OFF)
target_link_libraries(cudal1_bundled PRIVATE cudal1_serve)

get_property(parts DIRECTORY "${PROJECT_SOURCE_DIR}/lib" PROPERTY BUILDSYSTEM_TARGETS)
set(archives "")
foreach(part IN LISTS parts)
  get_target_property(type ${part} TYPE)
  if(type STREQUAL STATIC_LIBRARY AND NOT part STREQUAL cudal1_serve)
    list(APPEND archives "$<TARGET_FILE:${part}>")
  endif()
endforeach()
foreach(object crti.o crtbeginS.o crtendS.o crtn.o)
  execute_process(COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=${object} OUTPUT_VARIABLE ${object} OUTPUT_STRIP_TRAILING_WHITESPACE)
endforeach()
add_custom_command(OUTPUT "${folder}/cudal1"
  COMMAND "${CMAKE_CXX_COMPILER}" -O2 -s -pie -nostartfiles -static-libstdc++ -static-libgcc "-L${folder}/stubs" "${crti.o}" "${crtbeginS.o}"
          "$<TARGET_OBJECTS:cudal1>" "$<TARGET_OBJECTS:cudal1_bundled>" -Wl,--start-group ${archives} -Wl,--end-group "${CUDAL1_STATIC_SECCOMP}" "${CUDAL1_STATIC_CRYPTO}"
          -Wl,--no-as-needed -lpthread -ldl -lm -Wl,--as-needed "${crtendS.o}" "${crtn.o}" -o "${folder}/cudal1"
  DEPENDS cudal1 cudal1_bundled "$<TARGET_OBJECTS:cudal1>" "$<TARGET_OBJECTS:cudal1_bundled>" "${folder}/stubs/libc.so" COMMAND_EXPAND_LISTS VERBATIM)
add_custom_target(portable DEPENDS "${folder}/cudal1")

# SPDX-License-Identifier: Apache-2.0
# add_part(<name> [FOLDER <folder under lib>] [LINKS <part>...] [LIBRARIES <target>...])
#
# Declares the part lib/<folder> as target cudal1_<name>. It sees the headers of the parts it links and of no other,
# because each part has an include root of its own (a link build/include/<name>/<name> -> lib/<folder>). A part may only
# link parts declared above it, so a cycle cannot be written. LIBRARIES stay private to the part.
#
# A test compiles each header alone that another part includes (rules.headers_alone). The others stand first in the source of their
# name (rules.includes), so a build of single sources sees whether they do.
execute_process(COMMAND grep -roE --include=*.hpp --include=*.cpp --include=*.ipp "^#include \"[a-z_0-9]+/[a-z_0-9]+\\.hpp\"" lib cli runtime tests
                WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE includes)
string(REGEX MATCHALL "[^\n]+" includes "${includes}")
foreach(include IN LISTS includes)
  if(include MATCHES "([a-z_0-9]+)/[^/]+:#include \"(([a-z_0-9]+)/.*)\"" AND NOT CMAKE_MATCH_1 STREQUAL CMAKE_MATCH_3)
    list(APPEND CUDAL1_SHARED_HEADERS "${CMAKE_MATCH_2}")
  endif()
endforeach()
list(REMOVE_DUPLICATES CUDAL1_SHARED_HEADERS)

function(add_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "FOLDER" "LINKS;LIBRARIES")
  if(NOT arg_FOLDER)
    set(arg_FOLDER ${name})
  endif()
  set(folder "${CMAKE_CURRENT_SOURCE_DIR}/${arg_FOLDER}")
  set(root "${PROJECT_BINARY_DIR}/include/${name}")
  file(MAKE_DIRECTORY "${root}")
  file(CREATE_LINK "${folder}" "${root}/${name}" SYMBOLIC)

  file(GLOB sources CONFIGURE_DEPENDS "${folder}/*.cpp")
  file(GLOB headers CONFIGURE_DEPENDS "${folder}/*.hpp")
  set(public_headers "")
  foreach(header IN LISTS headers)
    get_filename_component(file "${header}" NAME)
    if("${name}/${file}" IN_LIST CUDAL1_SHARED_HEADERS)
      list(APPEND public_headers "${root}/${name}/${file}")
    endif()
  endforeach()

  if(sources)
    add_library(cudal1_${name} STATIC ${sources})
    set(access PUBLIC)
    target_link_libraries(cudal1_${name} PRIVATE ${arg_LIBRARIES})
    in_units(cudal1_${name} FOLDER "${folder}")
  else()
    add_library(cudal1_${name} INTERFACE)
    set(access INTERFACE)
  endif()
  target_sources(cudal1_${name} ${access} FILE_SET HEADERS BASE_DIRS "${root}" FILES ${public_headers})
  set_target_properties(cudal1_${name} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
  target_link_libraries(cudal1_${name} ${access} cudal1_flags tl::expected fmt::fmt)
  foreach(part IN LISTS arg_LINKS)
    if(NOT TARGET cudal1_${part})
      message(FATAL_ERROR "part ${name} links ${part}, which is not declared above it in lib/CMakeLists.txt")
    endif()
    target_link_libraries(cudal1_${name} ${access} cudal1_${part})
  endforeach()
endfunction()

# SPDX-License-Identifier: Apache-2.0
# embed_texts(<target> <namespace> <file>...) compiles text files into <target> and declares, in a generated source,
#   std::optional<std::string_view> cudal1::<namespace>::embedded_text(std::string_view name);
# whose name is the file's name with extension. The part declares that function in a header of its own.
function(embed_texts target namespace)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DNAMESPACE=${namespace}" "-DFILES=${ARGN}"
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

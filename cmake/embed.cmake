# SPDX-License-Identifier: Apache-2.0
# embed_texts(<target> <namespace> <file>...) compiles text files into <target> and declares, in a generated source,
#   std::optional<std::string_view> cudal1::<namespace>::embedded_text(std::string_view name);
#   std::vector<std::string_view> cudal1::<namespace>::embedded_names();
# whose name is the file's name with extension. The part declares what it uses in a header of its own. EMBED_DROP, a regular expression, leaves out
# the lines that begin as it says.
function(embed_texts target namespace)
  set(output "${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${output}" "-DNAMESPACE=${namespace}" "-DFILES=${ARGN}" "-DDROP=${EMBED_DROP}"
            -P "${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake"
    DEPENDS ${ARGN} "${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()

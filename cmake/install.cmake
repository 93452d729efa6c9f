# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` and the Debian package hold: the binary, manual pages, completions, examples.
install(TARGETS cudal1 RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")
install(FILES README.md CHANGELOG.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" RENAME copyright)

# Manual pages: man/<name>.<section>.scd becomes <name>.<section>. Left out where scdoc is not installed.
find_program(CUDAL1_SCDOC scdoc)
if(CUDAL1_SCDOC)
  file(GLOB man_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/man/*.scd")
  set(man_pages "")
  foreach(source IN LISTS man_sources)
    get_filename_component(page "${source}" NAME_WLE)
    string(REGEX REPLACE ".*\\.([0-9])$" "\\1" section "${page}")
    set(output "${PROJECT_BINARY_DIR}/man/${page}")
    add_custom_command(OUTPUT "${output}" COMMAND sh -c "\"$1\" <\"$2\" >\"$3\"" sh "${CUDAL1_SCDOC}" "${source}" "${output}"
                       DEPENDS "${source}" VERBATIM)
    list(APPEND man_pages "${output}")
    install(FILES "${output}" DESTINATION "${CMAKE_INSTALL_MANDIR}/man${section}")
  endforeach()
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/man")
  add_custom_target(man ALL DEPENDS ${man_pages})
else()
  message(STATUS "scdoc is not installed: no manual pages")
endif()

# Completions come from the binary itself, so that they cannot differ from its options.
set(completion_folder "${PROJECT_BINARY_DIR}/completions")
file(MAKE_DIRECTORY "${completion_folder}")
set(completions "")
foreach(shell IN ITEMS bash zsh fish)
  set(output "${completion_folder}/cudal1.${shell}")
  add_custom_command(OUTPUT "${output}" COMMAND sh -c "\"$1\" completion ${shell} >\"$2\"" sh "$<TARGET_FILE:cudal1>" "${output}"
                     DEPENDS cudal1 WORKING_DIRECTORY "${completion_folder}" VERBATIM)
  list(APPEND completions "${output}")
endforeach()
add_custom_target(completions ALL DEPENDS ${completions})

# All that is installed, and no test.
add_custom_target(program DEPENDS cudal1 completions)
foreach(target man cudal1_inject)
  if(TARGET ${target})
    add_dependencies(program ${target})
  endif()
endforeach()
install(FILES "${completion_folder}/cudal1.bash" RENAME cudal1
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
install(FILES "${completion_folder}/cudal1.zsh" RENAME _cudal1 DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions")
install(FILES "${completion_folder}/cudal1.fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")

# `cmake --build build/release --target wheel` makes build/release/wheel/cudal1-<version>-….whl: this program and the Python package.
# In the preset portable it holds the portable program and the launcher of operators, without the libraries of `record`, which need this system's glibc.
find_package(Python3 COMPONENTS Interpreter)
option(CUDAL1_PORTABLE "The wheel holds the portable program (preset portable)" OFF)
if(Python3_Interpreter_FOUND AND CUDAL1_PORTABLE AND TARGET portable)
  set(wheel_launcher "${PROJECT_BINARY_DIR}/wheel/prefix/lib/cudal1/libcudal1_launcher.so")
  set(place_launcher "${CMAKE_STRIP}" -o "${wheel_launcher}" "$<TARGET_FILE:cudal1_launcher>")
  if(NOT CMAKE_STRIP)
    set(place_launcher "${CMAKE_COMMAND}" -E copy "$<TARGET_FILE:cudal1_launcher>" "${wheel_launcher}")
  endif()
  add_custom_target(wheel
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${PROJECT_BINARY_DIR}/wheel/prefix/bin" "${PROJECT_BINARY_DIR}/wheel/prefix/lib/cudal1"
    COMMAND "${CMAKE_COMMAND}" -E copy "${PROJECT_BINARY_DIR}/portable/cudal1" "${PROJECT_BINARY_DIR}/wheel/prefix/bin/cudal1"
    COMMAND ${place_launcher}
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/python/wheel.py" "${PROJECT_BINARY_DIR}/wheel/prefix" "${PROJECT_VERSION}" "${PROJECT_BINARY_DIR}/wheel"
    VERBATIM)
  add_dependencies(wheel portable cudal1_launcher)
elseif(Python3_Interpreter_FOUND)
  add_custom_target(wheel
    COMMAND "${CMAKE_COMMAND}" --install "${PROJECT_BINARY_DIR}" --prefix "${PROJECT_BINARY_DIR}/wheel/prefix" --strip
    COMMAND "${Python3_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/python/wheel.py" "${PROJECT_BINARY_DIR}/wheel/prefix" "${PROJECT_VERSION}" "${PROJECT_BINARY_DIR}/wheel"
    DEPENDS cudal1 VERBATIM)
endif()

# `cpack` in the build folder makes cudal1_<version>_<architecture>.deb. NVRTC and the driver are opened at run time, so
# the package demands nothing of NVIDIA's.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME cudal1)
set(CPACK_PACKAGE_VENDOR "cudal1")
set(CPACK_PACKAGE_CONTACT "The authors of cudal1 <cudal1@cudal1.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "makes CUDA kernels faster, and proves it")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
include(CPack)

# SPDX-License-Identifier: Apache-2.0
install(TARGETS cudal1 RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY examples/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/examples")

# SPDX-License-Identifier: Apache-2.0
# find_package(Heddle) defines
#   Heddle::onnxifi        the extended interface, <heddle/onnxifi.h>
#   Heddle::onnxifi_onnx1  that of ONNX 1.x, <onnx/onnxifi.h> of ONNX's own headers

# REALPATH: where /lib is a link to /usr/lib, this file may have been found below /lib.
get_filename_component(_heddle_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(_heddle_prefix "${_heddle_here}/../../.." ABSOLUTE)

function(_heddle_library name folder)
  if(NOT TARGET ${name})
    add_library(${name} SHARED IMPORTED)
    set_target_properties(${name} PROPERTIES
      IMPORTED_LOCATION "${folder}/libonnxifi-heddle.so"
      IMPORTED_SONAME "libonnxifi-heddle.so")
  endif()
  if(NOT EXISTS "${folder}/libonnxifi-heddle.so")
    set(Heddle_FOUND FALSE PARENT_SCOPE)
    set(Heddle_NOT_FOUND_MESSAGE "${folder}/libonnxifi-heddle.so is missing" PARENT_SCOPE)
  endif()
endfunction()

_heddle_library(Heddle::onnxifi "${_heddle_prefix}/lib")
_heddle_library(Heddle::onnxifi_onnx1 "${_heddle_prefix}/lib/heddle/onnx1")
set_property(TARGET Heddle::onnxifi PROPERTY INTERFACE_INCLUDE_DIRECTORIES "${_heddle_prefix}/include")

unset(_heddle_here)
unset(_heddle_prefix)

# Stand-ins for CUDA's libraries, beside libcuda.so.1, by their SONAME and with their version node. What torch's wheels want
# of one (symbols/torch-*.txt) it has, all of it: what nobody wrote by hand is generated (absent/absent.h).
#
# gpusim_standin(NAME SONAME STATUS EXPORTS... [NODE node|none] [SOURCES file...]): NAME is the folder whose *.c are the
# definitions by hand (none: a library that can only be loaded), STATUS its code for "not supported" as its header
# has it, EXPORTS patterns of what is exported; NODE where it is not the SONAME. The target is gpusim_NAME.
file(GLOB GPUSIM_SYMBOLS CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/symbols/torch-*.txt)
set(GPUSIM_RETURNS ${CMAKE_CURRENT_SOURCE_DIR}/symbols/returns.txt)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${GPUSIM_SYMBOLS} ${GPUSIM_RETURNS})

# Writes the lines ABSENT_kind(function) of a library. file(CONFIGURE) leaves a file alone that stays the same.
function(gpusim_absent soname file)
    string(REPLACE "." "\\." pattern ${soname})
    set(symbols)
    foreach(list ${GPUSIM_SYMBOLS})
        file(STRINGS ${list} some REGEX "^${pattern} ")
        list(APPEND symbols ${some})
    endforeach()
    list(REMOVE_DUPLICATES symbols)
    list(SORT symbols)
    file(STRINGS ${GPUSIM_RETURNS} returns REGEX "^${pattern} ")
    set(text "#include \"absent/absent.h\"\n\n")
    foreach(symbol ${symbols})
        set(kind ${returns})
        list(FILTER kind INCLUDE REGEX "^${symbol} (status|pointer|text|void|zero|minus)$")
        if(NOT kind)
            message(FATAL_ERROR "${symbol}: look up in the library's header what it returns, and "
                "add a line to ${GPUSIM_RETURNS}")
        endif()
        string(REGEX REPLACE "^[^ ]+ ([^ ]+) ([^ ]+)$" "ABSENT_\\2(\\1)\n" line ${kind})
        string(APPEND text ${line})
    endforeach()
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
endfunction()

function(gpusim_standin name soname status)
    cmake_parse_arguments(LIB "" NODE SOURCES ${ARGN})
    set(target gpusim_${name})
    set(absent ${CMAKE_CURRENT_BINARY_DIR}/absent/${name}.c)
    gpusim_absent(${soname} ${absent})
    file(GLOB by_hand CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/${name}/*.c)
    add_library(${target} SHARED ${absent} ${by_hand} ${LIB_SOURCES})
    set_source_files_properties(${absent} PROPERTIES
        COMPILE_DEFINITIONS "ABSENT_LIBRARY=\"${soname}\";ABSENT_STATUS=${status}")
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
    target_link_libraries(${target} PRIVATE gpusim_cuda)
    gpusim_place(${target} ${soname} ${GPUSIM_DIR})
    set(node "${soname} ")
    if(LIB_NODE STREQUAL "none")
        set(node "")
    elseif(LIB_NODE)
        set(node "${LIB_NODE} ")
    endif()
    string(REPLACE ";" "; " exports "${LIB_UNPARSED_ARGUMENTS}")
    set(map ${CMAKE_CURRENT_BINARY_DIR}/absent/${name}.map)
    file(CONFIGURE OUTPUT ${map} @ONLY
        CONTENT "${node}{\n\tglobal: ${exports};\n\tlocal: *;\n};\n")
    target_link_options(${target} PRIVATE LINKER:--version-script,${map})
    set_property(TARGET ${target} APPEND PROPERTY LINK_DEPENDS ${map})
endfunction()

gpusim_standin(cudart libcudart.so.13 801 "cuda[A-Z]*" "__cuda[A-Z]*")
gpusim_standin(cublas libcublas.so.13 15 "cublas[A-Z]*")
gpusim_standin(cublasLt libcublasLt.so.13 15 "cublasLt*" SOURCES cublas/work.c)
gpusim_standin(cudnn libcudnn.so.9 3000 "cudnn[A-Z]*")
# NCCL has no code of its own for that: invalid usage, which the caller shows.
gpusim_standin(nccl libnccl.so.2 5 "nccl[A-Z]*" "pnccl[A-Z]*" NODE none)
target_link_libraries(gpusim_nccl PRIVATE m)

# To be loaded, no more.
gpusim_standin(cusparse libcusparse.so.12 10 "cusparse[A-Z]*")
gpusim_standin(cusparseLt libcusparseLt.so.0 10 "cusparseLt*" NODE none)
gpusim_standin(cusolver libcusolver.so.12 9 "cusolver[A-Z]*")
gpusim_standin(cufft libcufft.so.12 16 "cufft[A-Z]*")
gpusim_standin(curand libcurand.so.10 204 "curand[A-Z]*")
# CU_FILE_PLATFORM_NOT_SUPPORTED
gpusim_standin(cufile libcufile.so.0 5007 "cuFile*" NODE none)
gpusim_standin(nvshmem libnvshmem_host.so.3 3 "nvshmem*" NODE NVSHMEM)

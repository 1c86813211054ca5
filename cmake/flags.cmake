# gs_flags(target): the warnings and defines every C target of ours is built with.
function(gs_flags target)
    target_compile_definitions(${target} PRIVATE _GNU_SOURCE GPUSTARVE_VERSION="${PROJECT_VERSION}")
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wmissing-prototypes
        -Wstrict-prototypes -Wformat=2 -Wpointer-arith -Wwrite-strings -Wundef -fno-common)
    if(GPUSTARVE_WERROR)
        target_compile_options(${target} PRIVATE -Werror)
    endif()
endfunction()

# gs_sanitize(target): adds the sanitizers asked for. Never for what is loaded into a foreign
# process (libprof.so, the simulator): a sanitizer's runtime has to come first in the program.
function(gs_sanitize target)
    if(GPUSTARVE_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=${GPUSTARVE_SANITIZE}
            -fno-sanitize-recover=all -fno-omit-frame-pointer)
        target_link_options(${target} PRIVATE -fsanitize=${GPUSTARVE_SANITIZE})
        # libFuzzer goes by what of the libraries it reaches, not of its target alone.
        if(GPUSTARVE_FUZZ AND CMAKE_C_COMPILER_ID STREQUAL Clang)
            target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
            target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
        endif()
    endif()
endfunction()

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

# What reads a trace and walks through it is optimised as one piece in the programs that are to be fast:
# objects that say so carry both kinds of code, and who does not ask for it links them as any others.
# An event costs 3 to 5 % less so (docs/MEASUREMENTS.md 2). GCC's alone, and not where it would hide what
# a sanitizer or a debugger is to see.
set(GS_WHOLE "")
if(CMAKE_C_COMPILER_ID STREQUAL GNU AND NOT GPUSTARVE_SANITIZE AND NOT CMAKE_BUILD_TYPE STREQUAL Debug)
    set(GS_WHOLE -flto=auto -ffat-lto-objects)
endif()

# gs_link_whole(target): a program that links such objects as one piece.
function(gs_link_whole target)
    if(GS_WHOLE)
        target_link_options(${target} PRIVATE -flto=auto)
    endif()
endfunction()

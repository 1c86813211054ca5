# For Grace and its like, from any machine: Debian's cross compiler, and the libraries from the root file system that
# scripts/arm64 makes. What is run while building or testing goes through qemu-user.
#   cmake -S . -B build-arm64 --toolchain cmake/aarch64.cmake -DGPUSTARVE_ARM64_ROOT=FOLDER
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(GPUSTARVE_ARM64_ROOT "" CACHE PATH "root file system of Debian's arm64 with the libraries to link")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES GPUSTARVE_ARM64_ROOT)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_SYSROOT ${GPUSTARVE_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L ${GPUSTARVE_ARM64_ROOT})

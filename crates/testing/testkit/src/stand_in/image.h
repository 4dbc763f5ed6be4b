// image.h: what the stand-in for NVRTC makes and the one for the driver loads.
#pragma once

#include <cstddef>
#include <cstdint>

static const char IMAGE_MAGIC[] = "host gpu image";
static const size_t GRID_BYTES = 40; // gbx::Grid

// A shared object of the host, `size` bytes, follows.
struct Image {
    char magic[sizeof IMAGE_MAGIC];
    uint32_t arch;
    uint32_t cuda; // Version of the compiler: 13000 is 13.0, 13050 is 13.5.
    uint64_t size;
};

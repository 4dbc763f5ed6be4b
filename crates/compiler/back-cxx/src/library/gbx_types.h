#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef GBX_TYPES
#define GBX_TYPES

// An array: elements where shape and strides say. `grad` points at the first element's gradient,
// laid out like the elements; a null pointer says that the array has none, and is a constant.
typedef struct {
    void* data;
    void* grad;
    int32_t shape[4];   // Elements in each dimension.
    int32_t strides[4]; // Bytes from one index to the next in each dimension.
    uint16_t ndim;
    uint16_t flags; // 0
} gbx_array;

// The part begin..end of a launch, counted row-major. Parts may run on several threads at once.
typedef struct {
    int64_t begin, end;
    int32_t extents[4]; // 1 in unused dimensions.
    int32_t dims;
    int32_t lanes; // 0
} gbx_grid;

// Cause of a launch's end. A kernel's function returns its kind, 0 if all went well.
typedef struct {
    int32_t kind;
    int32_t line;   // Of the text that was compiled; `.._describe` gives the source's.
    int64_t index;  // What was asked for,
    int64_t extent; // and how much there is.
} gbx_fault;

enum {
    GBX_TRAP = 1,
    GBX_ASSERTION,
    GBX_DIVISION,
    GBX_INDEX,
    GBX_ABSENT,
    GBX_VIEW,
    GBX_ARGUMENT = 64, // The grid (index 0) or an argument (from 1) does not fit.
    GBX_SHARED,        // Arguments `index` and `extent` share memory.
};

typedef struct { uint16_t bits; } gbx_half;
typedef struct { uint16_t bits; } gbx_bfloat16;

// A whole launch over up to four extents: `gbx_grid_of(2, 480, 640, 1, 1)`.
static inline gbx_grid gbx_grid_of(int32_t dims, int32_t a, int32_t b, int32_t c, int32_t d)
{
    gbx_grid grid = {0, (int64_t)a * b * c * d, {a, b, c, d}, dims, 0};
    return grid;
}

// A packed array of up to four dimensions: `gbx_array_of(x, NULL, sizeof *x, 1, n, 1, 1, 1)`. No
// kernel takes one whose strides are beyond 31 bits.
static inline gbx_array gbx_array_of(void* data, void* grad, size_t element, uint16_t ndim,
                                     int32_t a, int32_t b, int32_t c, int32_t d)
{
    gbx_array array = {data, grad, {a, b, c, d}, {0, 0, 0, 0}, ndim, 0};
    int64_t stride = (int64_t)element;
    for (int dim = 3; dim >= 0; --dim) {
        if (dim >= ndim) {
            array.shape[dim] = 0;
            continue;
        }
        if (stride > INT32_MAX)
            array.ndim = 0;
        array.strides[dim] = (int32_t)stride;
        stride *= array.shape[dim];
    }
    return array;
}

#endif // GBX_TYPES

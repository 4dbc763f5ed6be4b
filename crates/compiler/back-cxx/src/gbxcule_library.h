// Helpers of a library's functions: they check arguments, and say faults in words.
#if defined(_WIN32)
#define GBX_PUBLIC
#else
#define GBX_PUBLIC __attribute__((visibility("default")))
#endif

namespace gbx {

// Beside gbx::FaultKind: an argument does not fit; two arrays share memory.
enum { ARGUMENT = 64, SHARED };

inline int refuse(Fault* fault, int kind, int64_t index, int64_t extent)
{
    *fault = Fault{kind, 0, index, extent};
    return kind;
}

inline bool is_whole(const Grid& grid, int dims)
{
    if (grid.dims < dims || grid.dims < 1 || grid.dims > 4)
        return false;
    // The product of the extents, up to one that no grid has.
    int64_t threads = 1;
    for (int dim = 0; dim < 4; ++dim) {
        int32_t extent = grid.extents[dim];
        if (extent < 0 || (dim >= grid.dims && extent != 1))
            return false;
        if (extent > 0 && threads > INT64_MAX / extent)
            return false;
        threads *= extent;
    }
    return 0 <= grid.begin && grid.begin <= grid.end && grid.end <= threads;
}

template <class T> bool fits(const T&) { return true; }
template <class T, int N> bool fits(const Array<T, N>& array)
{
    for (int dim = 0; dim < N; ++dim)
        if (array.shape[dim] < 0)
            return false;
    return array.ndim == N && uintptr_t(array.data) % alignof(T) == 0 && uintptr_t(array.grad) % alignof(T) == 0;
}

// The bytes from the first element to the last, where the first lies at `data`.
template <class T, int N> void reach(const Array<T, N>& array, const T* data, __int128* first, __int128* end)
{
    *first = *end = uintptr_t(data);
    for (int dim = 0; dim < N; ++dim) {
        if (array.shape[dim] == 0 || data == nullptr) {
            *end = *first;
            return;
        }
        __int128 step = __int128(array.shape[dim] - 1) * array.strides[dim];
        *(step < 0 ? first : end) += step;
    }
    *end += sizeof(T);
}

template <class A, class B> bool share(const A&, const B&) { return false; }
template <class T, int N, class U, int M> bool share(const Array<T, N>& one, const Array<U, M>& other)
{
    const T* ours[] = {one.data, one.grad};
    const U* theirs[] = {other.data, other.grad};
    for (const T* left : ours)
        for (const U* right : theirs) {
            __int128 low, high, first, last;
            reach(one, left, &low, &high);
            reach(other, right, &first, &last);
            if (low < high && first < last && low < last && first < high)
                return true;
        }
    return false;
}

template <class... P> int launch(void (*range)(const Grid&, P...), int dims, const Grid* grid, Fault* fault, Same<P>... args)
{
    if (grid == nullptr || !is_whole(*grid, dims))
        return refuse(fault, ARGUMENT, 0, dims);
    const bool fit[] = {true, fits(args)...};
    for (size_t at = 1; at < sizeof fit / sizeof *fit; ++at)
        if (!fit[at])
            return refuse(fault, ARGUMENT, int64_t(at), 0);
    try {
        range(*grid, args...);
        return 0;
    } catch (const Fault& found) {
        *fault = found;
        return found.kind;
    }
}

// Source of a line of this text at which something may fault.
struct Site {
    int line;
    const char* place;
    const char* message;
};

inline int describe(const Fault& fault, const Site* sites, size_t count, char* text, size_t size)
{
    const Site* site = sites;
    while (site < sites + count && site->line != fault.line)
        ++site;
    const bool found = site < sites + count;
    const char* place = found ? site->place : "";
    const char* message = found && site->message != nullptr ? site->message : "";
    const long long index = fault.index, extent = fault.extent;
    switch (fault.kind) {
    case 0:
        return snprintf(text, size, "no fault");
    case TRAP:
        return snprintf(text, size, "%strap: %s", place, message);
    case ASSERTION:
        return snprintf(text, size, "%sassertion failed: %s", place, message);
    case DIVISION:
        return snprintf(text, size, "%san integer divided by zero", place);
    case INDEX:
        return snprintf(text, size, "%sindex %lld where there are %lld elements", place, index, extent);
    case ABSENT:
        return snprintf(text, size, "%san element of an array without memory", place);
    case VIEW:
        return snprintf(text, size, "%sa view reaches index %lld where there are %lld elements", place, index, extent);
    case ARGUMENT:
        if (index == 0)
            return snprintf(text, size,
                "the grid does not fit: it needs at least %lld dimensions and at most 4, extents from 0 on (1 in unused "
                "dimensions), and 0 <= begin <= end <= threads", extent > 1 ? extent : 1);
        return snprintf(text, size,
            "argument %lld does not fit: its number of dimensions, an extent below 0, or memory that is not aligned", index);
    case SHARED:
        return snprintf(text, size, "arguments %lld and %lld share memory, and the kernel needs them apart", index, extent);
    default:
        return snprintf(text, size, "unknown fault %d", fault.kind);
    }
}

} // namespace gbx


// driver.cpp: the functions of libcuda that the runtime calls, on the host's memory.
#include "device.h"

#include <vector>

using namespace host_gpu;

// ---- the driver and its devices ----

API int cuInit(unsigned) { return setting("HOST_GPU_COUNT", 1) == 0 ? NO_DEVICE : SUCCESS; }
API int cuDriverGetVersion(int* version) { return *version = int(setting("HOST_GPU_DRIVER", 13000)), SUCCESS; }
API int cuDeviceGetCount(int* count) { return *count = int(setting("HOST_GPU_COUNT", 1)), SUCCESS; }
API int cuDeviceGet(int* device, int ordinal) { return *device = ordinal, SUCCESS; }

API int cuDeviceGetName(char* name, int room, int)
{
    if (getenv("HOST_GPU_SASS"))
        snprintf(name, size_t(room), "simulated sm_%d", int(setting("HOST_GPU_ARCH", 90)));
    else
        snprintf(name, size_t(room), "stand-in on the host");
    return SUCCESS;
}

API int cuDeviceTotalMem_v2(size_t* bytes, int)
{
    return *bytes = setting("HOST_GPU_MEMORY", uint64_t(8) << 30), SUCCESS;
}

API int cuDeviceGetAttribute(int* value, int which, int)
{
    int arch = int(setting("HOST_GPU_ARCH", 90));
    switch (which) {
    case 16: *value = int(setting("HOST_GPU_PROCESSORS", 4)); break; // MULTIPROCESSOR_COUNT
    case 75: *value = arch / 10; break;                              // COMPUTE_CAPABILITY_MAJOR
    case 76: *value = arch % 10; break;                              // COMPUTE_CAPABILITY_MINOR
    case 115: *value = int(setting("HOST_GPU_POOLS", 1)); break;     // MEMORY_POOLS_SUPPORTED
    default: misuse("attribute %d of a device is not known here", which);
    }
    return SUCCESS;
}

API int cuGetErrorName(int error, const char** text) { return *text = error == 0 ? "CUDA_SUCCESS" : "CUDA_ERROR", SUCCESS; }

API int cuGetErrorString(int error, const char** text)
{
    switch (error) {
    case OUT_OF_MEMORY: *text = "out of memory"; break;
    case NO_DEVICE: *text = "no CUDA-capable device is detected"; break;
    case INVALID_IMAGE: *text = "device kernel image is invalid"; break;
    case INVALID_CONTEXT: *text = "invalid device context"; break;
    case NO_BINARY_FOR_GPU: *text = "no kernel image is available for execution on the device"; break;
    case NOT_FOUND: *text = "named symbol not found"; break;
    case ILLEGAL_ADDRESS: *text = "an illegal memory access was encountered"; break;
    case LAUNCH_OUT_OF_RESOURCES: *text = "too many resources requested for launch"; break;
    default: *text = "unknown error";
    }
    return SUCCESS;
}

// NVIDIA's NVRTC asks the driver that it finds for tables of functions, and does without.
API int cuGetExportTable(const void** table, const void*) { return *table = nullptr, NOT_FOUND; }

// A context is the number of its device plus one.
API int cuDevicePrimaryCtxRetain(Handle* context, int device) { return *context = Handle(intptr_t(device) + 1), SUCCESS; }

// The contexts that the thread left for the one that is current.
static thread_local std::vector<int> left;

API int cuCtxSetCurrent(Handle context) { return current = int(intptr_t(context)) - 1, world().lost; }
API int cuCtxGetCurrent(Handle* context) { return *context = Handle(intptr_t(current) + 1), SUCCESS; }

API int cuCtxPushCurrent_v2(Handle context)
{
    if (world().lost != SUCCESS)
        return world().lost;
    left.push_back(current);
    return current = int(intptr_t(context)) - 1, SUCCESS;
}

API int cuCtxPopCurrent_v2(Handle* context)
{
    if (left.empty())
        misuse("cuCtxPopCurrent: no context was pushed in this thread");
    *context = Handle(intptr_t(current) + 1);
    return current = left.back(), left.pop_back(), SUCCESS;
}

// ---- memory ----

API int cuMemGetInfo_v2(size_t* free, size_t* total)
{
    LOCK;
    *total = setting("HOST_GPU_MEMORY", uint64_t(8) << 30);
    *free = *total - world().used;
    return SUCCESS;
}

struct PoolProperties {
    int allocation, handle, location, device;
};

// A pool is the number of its device plus one. It lives as long as the process.
API int cuMemPoolCreate(Handle* pool, const PoolProperties* it)
{
    if (!setting("HOST_GPU_POOLS", 1))
        misuse("cuMemPoolCreate on a device without pools");
    if (it->allocation != 1 || it->handle != 0 || it->location != 1)
        misuse("cuMemPoolCreate: a pool of a kind that is not known here");
    return *pool = Handle(intptr_t(it->device) + 1), SUCCESS;
}
API int cuMemPoolSetAttribute(Handle, int, void*) { return SUCCESS; }

API int cuMemAlloc_v2(uint64_t* address, size_t size)
{
    LOCK;
    return take(current, size, address);
}

// From the default pool, as other libraries take it.
API int cuMemAllocAsync(uint64_t* address, size_t size, Handle stream)
{
    LOCK;
    return take(stream_of(stream)->device, size, address);
}

API int cuMemAllocFromPoolAsync(uint64_t* address, size_t size, Handle pool, Handle stream)
{
    LOCK;
    int device = int(intptr_t(pool)) - 1;
    if (stream_of(stream)->device != device)
        misuse("cuMemAllocFromPoolAsync: pool and stream are of two devices");
    return take(device, size, address);
}

API int cuMemFree_v2(uint64_t address)
{
    LOCK;
    check(address, 1, current, "cuMemFree");
    if (setting("HOST_GPU_POOLS", 1))
        misuse("cuMemFree of memory that was taken in the order of a stream: it would wait");
    // Waits for the device, as the driver does.
    for (Stream* stream : world().streams)
        run(stream, stream->asked);
    auto& it = world().allocations[address];
    world().used -= it.size;
    return give_back(address), SUCCESS;
}

API int cuMemFreeAsync(uint64_t address, Handle handle)
{
    LOCK;
    Stream* stream = stream_of(handle);
    check(address, 1, stream->device, "cuMemFreeAsync");
    Allocation& it = world().allocations[address];
    if (it.address != address)
        misuse("cuMemFreeAsync: %llx is inside of memory", (unsigned long long)address);
    it.given_back = true;
    world().used -= it.size;
    ask(stream, [=] { give_back(address); });
    return SUCCESS;
}

API int cuMemAllocHost_v2(void** address, size_t size)
{
    LOCK;
    *address = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    memset(*address, 0xA5, size);
    world().pinned[uint64_t(*address)] = {size, 0};
    return SUCCESS;
}

API int cuMemFreeHost(void* address)
{
    LOCK;
    auto found = world().pinned.find(uint64_t(address));
    if (found == world().pinned.end())
        misuse("cuMemFreeHost: no pinned memory begins there");
    if (found->second.pending)
        misuse("cuMemFreeHost: a copy that was not waited for uses it");
    world().pinned.erase(found);
    return free(address), SUCCESS;
}

// ---- copies ----

// Rows of the host and of the device. Copies to the device must come from pinned memory: from other
// memory the driver would wait for the stream first.
static void copy(Stream* stream, bool up, char* host, size_t host_pitch, uint64_t device, size_t pitch, size_t width, size_t rows)
{
    size_t reach = (rows - 1) * host_pitch + width;
    check(device, (rows - 1) * pitch + width, stream->device, up ? "copy to the device" : "copy to the host");
    Pinned* pinned = pinned_at(host, reach);
    if (up && !pinned)
        misuse("copy to the device: from memory that is not pinned");
    if (pinned)
        ++pinned->pending;
    ask(stream, [=] {
        for (size_t row = 0; row < rows; ++row) {
            char *there = host + row * host_pitch, *here = (char*)device + row * pitch;
            memcpy(up ? here : there, up ? there : here, width);
        }
        if (Pinned* pinned = pinned_at(host, reach))
            --pinned->pending;
    });
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void* from, size_t size, Handle stream)
{
    LOCK;
    return copy(stream_of(stream), true, (char*)from, size, to, size, size, 1), SUCCESS;
}

API int cuMemcpyDtoHAsync_v2(void* to, uint64_t from, size_t size, Handle stream)
{
    LOCK;
    return copy(stream_of(stream), false, (char*)to, size, from, size, size, 1), SUCCESS;
}

struct Memcpy2D {
    size_t from_x, from_y;
    int from_kind;
    void* from_host;
    uint64_t from_device;
    Handle from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void* to_host;
    uint64_t to_device;
    Handle to_array;
    size_t to_pitch, width, height;
};

API int cuMemcpy2DAsync_v2(const Memcpy2D* it, Handle stream)
{
    LOCK;
    if (it->from_x || it->from_y || it->to_x || it->to_y || it->from_kind + it->to_kind != 3)
        misuse("cuMemcpy2DAsync: a copy of a kind that is not known here");
    if (it->width > it->from_pitch || it->width > it->to_pitch)
        return INVALID_VALUE;
    bool up = it->from_kind == 1; // 1 is the host, 2 the device.
    copy(stream_of(stream), up, (char*)(up ? it->from_host : it->to_host), up ? it->from_pitch : it->to_pitch,
         up ? it->to_device : it->from_device, up ? it->to_pitch : it->from_pitch, it->width, it->height);
    return SUCCESS;
}

template <class T> int fill(uint64_t address, size_t pitch, T value, size_t count, size_t rows, Handle handle)
{
    Stream* stream = stream_of(handle);
    check(address, (rows - 1) * pitch + count * sizeof(T), stream->device, "cuMemset");
    if (address % sizeof(T) || (rows > 1 && pitch % sizeof(T)))
        return INVALID_VALUE;
    ask(stream, [=] {
        for (size_t row = 0; row < rows; ++row)
            for (size_t at = 0; at < count; ++at)
                ((T*)(address + row * pitch))[at] = value;
    });
    return SUCCESS;
}

#define FILL(BITS, T)                                                                                            \
    API int cuMemsetD##BITS##Async(uint64_t to, T value, size_t count, Handle stream)                            \
    {                                                                                                            \
        LOCK;                                                                                                    \
        return fill<T>(to, count * sizeof(T), value, count, 1, stream);                                          \
    }                                                                                                            \
    API int cuMemsetD2D##BITS##Async(uint64_t to, size_t pitch, T value, size_t count, size_t rows, Handle stream) \
    {                                                                                                            \
        LOCK;                                                                                                    \
        return fill<T>(to, pitch, value, count, rows, stream);                                                   \
    }
FILL(8, unsigned char)
FILL(16, unsigned short)
FILL(32, unsigned int)

// ---- streams and events ----

API int cuStreamCreate(Handle* stream, unsigned)
{
    LOCK;
    Stream* made = new Stream{current, 0, 0, {}};
    world().streams.insert(made);
    return *stream = made, SUCCESS;
}

API int cuStreamSynchronize(Handle handle)
{
    LOCK;
    Stream* stream = stream_of(handle);
    note("wait");
    run(stream, stream->asked);
    fflush(stdout);
    return world().lost;
}

API int cuStreamDestroy_v2(Handle handle)
{
    LOCK;
    Stream* stream = stream_of(handle);
    run(stream, stream->asked);
    world().streams.erase(stream);
    delete stream;
    return SUCCESS;
}

// Graphs are not known here.
API int cuStreamIsCapturing(Handle stream, int* status)
{
    LOCK;
    stream_of(stream);
    return *status = 0, SUCCESS;
}

API int cuEventCreate(Handle* event, unsigned)
{
    LOCK;
    return *event = new Event{nullptr, 0}, SUCCESS;
}

API int cuEventRecord(Handle event, Handle handle)
{
    LOCK;
    Stream* stream = stream_of(handle);
    ask(stream, [] {});
    *(Event*)event = {stream, stream->asked};
    return SUCCESS;
}

API int cuStreamWaitEvent(Handle handle, Handle waited, unsigned)
{
    LOCK;
    Event event = *(Event*)waited;
    if (event.stream)
        ask(stream_of(handle), [=] { run(stream_of(event.stream), event.ticket); });
    return SUCCESS;
}

// A stream comes on only when somebody waits: until then nothing is ever ready.
API int cuEventQuery(Handle handle)
{
    LOCK;
    Event* event = (Event*)handle;
    return !event->stream || event->stream->done >= event->ticket ? SUCCESS : NOT_READY;
}

API int cuEventSynchronize(Handle handle)
{
    LOCK;
    Event* event = (Event*)handle;
    if (event->stream)
        run(stream_of(event->stream), event->ticket);
    return world().lost;
}

API int cuEventDestroy_v2(Handle event)
{
    LOCK;
    return delete (Event*)event, SUCCESS;
}

// device.h: what the stand-in for NVIDIA's driver has for devices: memory, streams, events.
//
// The stand-in is not CUDA: kernels run on the host, one thread after the other. It is strict where
// a driver is not: work is done as late as it may be, when somebody waits; device memory can't be
// touched by the host; each range that is copied, filled or given back must be alive and whole. A
// misuse ends the process with a sentence.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

namespace host_gpu {

enum Status {
    SUCCESS = 0,
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    NO_DEVICE = 100,
    INVALID_DEVICE = 101,
    INVALID_IMAGE = 200,
    INVALID_CONTEXT = 201,
    NO_BINARY_FOR_GPU = 209,
    NOT_FOUND = 500,
    NOT_READY = 600,
    ILLEGAL_ADDRESS = 700,
    LAUNCH_OUT_OF_RESOURCES = 701,
};

[[noreturn]] inline void misuse(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fputs("host_gpu: ", stderr);
    vfprintf(stderr, format, arguments);
    fputs("\n", stderr);
    va_end(arguments);
    abort();
}

// A number from the environment.
inline uint64_t setting(const char* name, uint64_t otherwise)
{
    const char* text = getenv(name);
    return text && *text ? strtoull(text, nullptr, 10) : otherwise;
}

// A line for tests to read, in the file HOST_GPU_LOG.
inline void note(const std::string& line)
{
    if (const char* path = getenv("HOST_GPU_LOG")) {
        if (FILE* file = fopen(path, "a")) {
            fprintf(file, "%s\n", line.c_str());
            fclose(file);
        }
    }
}

// Bytes of a device, page-aligned at their end so that what follows them can't be touched.
struct Allocation {
    uint64_t address, size;
    uint64_t page, pages; // What is mapped, in bytes.
    int device;
    bool given_back; // Asked to be: nothing asked for later may use it.
};

// Pinned memory of the host, with the number of copies that still use it.
struct Pinned {
    uint64_t size;
    int pending;
};

struct Stream {
    int device;
    uint64_t asked, done;
    std::deque<std::function<void()>> work;
};

struct Event {
    Stream* stream;
    uint64_t ticket;
};

// Everything, under one lock.
struct World {
    std::recursive_mutex lock;
    std::map<uint64_t, Allocation> allocations; // By address.
    std::map<uint64_t, uint64_t> globals;       // Of loaded code: address and size.
    std::map<uint64_t, Pinned> pinned;
    std::set<Stream*> streams;
    uint64_t used = 0, next = 0, end = 0;
    Status lost = SUCCESS; // What a context that is lost says ever after.

    ~World()
    {
        const char* leaks = getenv("HOST_GPU_LEAKS");
        if (lost == SUCCESS && !(leaks && !strcmp(leaks, "allow"))) {
            for (auto& [address, it] : allocations) {
                if (!it.given_back) {
                    fprintf(stderr, "host_gpu: %llu bytes were never given back\n", (unsigned long long)it.size);
                    _Exit(86);
                }
            }
        }
    }
};

World& world();
extern thread_local int current; // The device of the thread's context, or -1.

// Memory.
Status take(int device, uint64_t size, uint64_t* address);
void give_back(uint64_t address);           // At once.
void check(uint64_t address, uint64_t size, int device, const char* what);
Pinned* pinned_at(const void* host, uint64_t size);

// Streams.
Stream* stream_of(void* handle);
void ask(Stream* stream, std::function<void()> work);
void run(Stream* stream, uint64_t until); // Until that ticket is done.

} // namespace host_gpu

// Parts that all of the driver's functions begin with.
#define API extern "C" __attribute__((visibility("default")))
#define LOCK                                                       \
    std::lock_guard<std::recursive_mutex> lock(world().lock);      \
    if (world().lost != SUCCESS)                                   \
        return world().lost;                                       \
    if (current < 0)                                               \
        return INVALID_CONTEXT

typedef void* Handle;

// device.cpp: memory and streams of the stand-in.
#include "device.h"

#include <sys/mman.h>
#include <unistd.h>

namespace host_gpu {

World& world()
{
    static World world;
    return world;
}
thread_local int current = -1;

// ---- memory ----

static const uint64_t PAGE = 4096, ARENA = uint64_t(64) << 30;
static const uint64_t DEEPEST_QUEUE = 1024; // As drivers do, asking for more runs the oldest.

static void protect(const Allocation& it, bool open)
{
    if (mprotect((void*)it.page, it.pages, open ? PROT_READ | PROT_WRITE : PROT_NONE) != 0)
        misuse("mprotect failed");
}

Status take(int device, uint64_t size, uint64_t* address)
{
    World& all = world();
    if (all.used + size > setting("HOST_GPU_MEMORY", uint64_t(8) << 30))
        return OUT_OF_MEMORY;
    if (all.next == 0) {
        void* arena = mmap(nullptr, ARENA, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (arena == MAP_FAILED)
            misuse("no address space");
        all.next = uint64_t(arena), all.end = all.next + ARENA;
    }
    uint64_t room = (size + 255) / 256 * 256, pages = (room + PAGE - 1) / PAGE * PAGE;
    // Addresses are never used twice, and a page between two stays closed.
    if (all.next + pages + PAGE > all.end)
        misuse("no addresses left");
    Allocation it = {all.next + pages - room, size, all.next, pages, device, false};
    all.next += pages + PAGE;
    all.used += size;
    protect(it, true);
    memset((void*)it.page, 0xA5, pages);
    protect(it, false);
    all.allocations[it.address] = it;
    *address = it.address;
    return SUCCESS;
}

void give_back(uint64_t address)
{
    Allocation it = world().allocations[address];
    madvise((void*)it.page, it.pages, MADV_DONTNEED);
    protect(it, false);
    world().allocations.erase(address);
}

void check(uint64_t address, uint64_t size, int device, const char* what)
{
    World& all = world();
    auto global = all.globals.upper_bound(address);
    if (global != all.globals.begin() && (--global, address + size <= global->first + global->second))
        return;
    auto found = all.allocations.upper_bound(address);
    if (found == all.allocations.begin())
        misuse("%s: no device memory at %llx", what, (unsigned long long)address);
    const Allocation& it = (--found)->second;
    if (address + size > it.address + it.size)
        misuse("%s: %llu bytes at %llx reach beyond the %llu that begin at %llx", what, (unsigned long long)size,
               (unsigned long long)address, (unsigned long long)it.size, (unsigned long long)it.address);
    if (it.given_back)
        misuse("%s: memory that was given back", what);
    if (it.device != device)
        misuse("%s: memory of device %d in a stream of device %d", what, it.device, device);
}

Pinned* pinned_at(const void* host, uint64_t size)
{
    World& all = world();
    auto found = all.pinned.upper_bound(uint64_t(host));
    if (found == all.pinned.begin())
        return nullptr;
    --found;
    return uint64_t(host) + size <= found->first + found->second.size ? &found->second : nullptr;
}

// ---- streams ----

// Device memory can be touched while one of these lives; streams that wait for each other make
// several.
struct Open {
    static inline int depth = 0;
    Open() { each(depth++ == 0, true); }
    ~Open() { each(--depth == 0, false); }
    void each(bool outermost, bool open)
    {
        for (auto& [address, it] : world().allocations)
            if (outermost)
                protect(it, open);
    }
};

// The handle of a device's default stream, which is always there.
Stream* default_stream()
{
    static std::map<int, Stream*> known;
    Stream*& stream = known[current];
    if (!stream)
        world().streams.insert(stream = new Stream{current, 0, 0, {}});
    return stream;
}

Stream* stream_of(void* handle)
{
    if (handle == (void*)1)
        return default_stream();
    if (!world().streams.count((Stream*)handle))
        misuse("a stream that is not, or no longer, there");
    return (Stream*)handle;
}

void ask(Stream* stream, std::function<void()> work)
{
    stream->work.push_back(std::move(work));
    ++stream->asked;
    if (stream->work.size() > DEEPEST_QUEUE)
        run(stream, stream->done + 1);
}

void run(Stream* stream, uint64_t until)
{
    if (stream->done >= until)
        return;
    Open open;
    while (stream->done < until && world().lost == SUCCESS) {
        std::function<void()> work = std::move(stream->work.front());
        stream->work.pop_front();
        ++stream->done;
        work();
    }
}

} // namespace host_gpu

// module.cpp: code and launches of the stand-in. Code is a shared object of the host behind a few
// words, as compiler.cpp makes it, or PTX, of which the program `gpu-sim` at the path HOST_GPU_SIM
// makes a shared object; each time it is loaded it gets a copy of its own, with globals of its own.
#include "device.h"

#include <algorithm>
#include <csetjmp>
#include <csignal>
#include <dlfcn.h>
#include <unistd.h>
#include <vector>

#include "image.h"

using namespace host_gpu;

namespace {

typedef void (*Entry)(unsigned, unsigned, const void*, void* const*);

struct Function {
    std::string name;
    Entry entry;
    const uint32_t* sizes; // Bytes of each parameter behind the grid, then 0.
    int device;
    uint64_t threads; // That a block has at most.
};

struct Module {
    void* library;
    int device;
    uint64_t global;
    std::map<std::string, Function> functions;
};

// ---- a kernel that touches what it may not ----

thread_local sigjmp_buf* escape = nullptr;
struct sigaction before;

void caught(int number, siginfo_t*, void*)
{
    if (escape)
        siglongjmp(*escape, 1);
    sigaction(number, &before, nullptr); // Not ours: again, with the one there was.
}

// Runs a kernel; a fault of the memory is the end of the context, as on a GPU.
void guarded(const std::function<void()>& kernel)
{
    struct sigaction action = {};
    action.sa_sigaction = caught;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &before);
    sigjmp_buf place;
    escape = &place;
    if (sigsetjmp(place, 1) == 0)
        kernel();
    else
        world().lost = ILLEGAL_ADDRESS;
    escape = nullptr;
    sigaction(SIGSEGV, &before, nullptr);
}

// ---- code ----

// A file of its own for as long as it is looked at.
struct Scratch {
    char path[32] = "/tmp/host_gpu_XXXXXX";

    Scratch(const void* content, size_t size)
    {
        int file = mkstemp(path);
        if (file < 0 || write(file, content, size) != ssize_t(size))
            misuse("can't write %s", path);
        close(file);
    }
    ~Scratch() { unlink(path); }
};

// A shared object of our NVRTC's stand-in: it runs on its generation, from its own architecture on.
Status load_image(const Image* image, uint64_t arch, void** library)
{
    if (image->arch / 10 != arch / 10 || image->arch > arch)
        return NO_BINARY_FOR_GPU;
    Scratch object(image + 1, image->size);
    *library = dlopen(object.path, RTLD_NOW | RTLD_LOCAL);
    return *library ? SUCCESS : INVALID_IMAGE;
}

// PTX runs on its own architecture and on newer ones.
Status load_ptx(const char* text, uint64_t arch, void** library)
{
    const char *target = strstr(text, ".target sm_"), *program = getenv("HOST_GPU_SIM"), *kept = getenv("HOST_GPU_OBJECTS");
    if (!program || !kept)
        misuse("PTX runs where HOST_GPU_SIM names the program gpu-sim, and HOST_GPU_OBJECTS a folder for it");
    if (!target)
        return INVALID_PTX;
    if (strtoull(target + strlen(".target sm_"), nullptr, 10) > arch)
        return NO_BINARY_FOR_GPU;
    Scratch ptx(text, strlen(text)), object("", 0);
    std::string command = std::string("'") + program + "' '" + kept + "' " + ptx.path + " " + object.path;
    if (system(command.c_str()) != 0)
        return INVALID_PTX;
    *library = dlopen(object.path, RTLD_NOW | RTLD_LOCAL);
    return *library ? SUCCESS : INVALID_PTX;
}

} // namespace

API int cuModuleLoadData(Handle* module, const void* data)
{
    LOCK;
    uint64_t arch = setting("HOST_GPU_ARCH", 90);
    void* library = nullptr;
    bool is_image = memcmp(data, IMAGE_MAGIC, sizeof IMAGE_MAGIC) == 0, is_text = memcmp(data, "//", 2) == 0;
    Status status = is_image  ? load_image((const Image*)data, arch, &library)
                    : is_text ? load_ptx((const char*)data, arch, &library)
                              : INVALID_IMAGE;
    if (status != SUCCESS)
        return status;
    return *module = new Module{library, current, 0, {}}, SUCCESS;
}

API int cuModuleUnload(Handle handle)
{
    LOCK;
    Module* module = (Module*)handle;
    for (Stream* stream : world().streams)
        run(stream, stream->asked);
    world().globals.erase(module->global);
    dlclose(module->library);
    delete module;
    return SUCCESS;
}

API int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, Handle handle, const char* name)
{
    LOCK;
    Module* module = (Module*)handle;
    void* found = dlsym(module->library, name);
    auto bytes = (const uint32_t*)dlsym(module->library, (std::string(name) + "_size").c_str());
    if (!found || !bytes)
        return NOT_FOUND;
    *address = module->global = uint64_t(found), *size = *bytes;
    world().globals[*address] = *size;
    return SUCCESS;
}

API int cuModuleGetFunction(Handle* function, Handle handle, const char* name)
{
    LOCK;
    Module* module = (Module*)handle;
    std::string symbol = std::string("on_device_") + name;
    auto entry = Entry(dlsym(module->library, symbol.c_str()));
    auto sizes = (const uint32_t* (*)())dlsym(module->library, (symbol + "_sizes").c_str());
    auto threads = (const uint32_t*)dlsym(module->library, (symbol + "_threads").c_str());
    if (!entry || !sizes || !threads)
        return NOT_FOUND;
    auto most = std::min(setting("HOST_GPU_THREADS", 1024), uint64_t(*threads));
    module->functions[name] = {name, entry, sizes(), module->device, most};
    return *function = &module->functions[name], SUCCESS;
}

API int cuFuncGetAttribute(int* value, int which, Handle function)
{
    if (which != 0) // MAX_THREADS_PER_BLOCK
        misuse("attribute %d of a function is not known here", which);
    return *value = int(((const Function*)function)->threads), SUCCESS;
}

API int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Handle function, int threads, size_t shared)
{
    if (!function || threads <= 0 || threads % 32 || shared)
        misuse("a block of %d threads is none that is launched", threads);
    return *blocks = int(setting("HOST_GPU_WARPS", 2)), SUCCESS;
}

API int cuLaunchKernel(Handle handle, unsigned blocks, unsigned blocks_y, unsigned blocks_z, unsigned threads,
                       unsigned threads_y, unsigned threads_z, unsigned, Handle stream_handle, void** parameters, void**)
{
    LOCK;
    auto function = (const Function*)handle;
    Stream* stream = stream_of(stream_handle);
    if (function->device != stream->device)
        misuse("a kernel of device %d in a stream of device %d", function->device, stream->device);
    if (blocks == 0 || threads == 0 || blocks_y * blocks_z * threads_y * threads_z != 1)
        return INVALID_VALUE;
    if (threads > function->threads)
        return LAUNCH_OUT_OF_RESOURCES;
    // The call copies what it is given; the caller may reuse it at once.
    typedef std::vector<std::vector<char>> Values;
    auto values = std::make_shared<Values>();
    values->emplace_back((char*)parameters[0], (char*)parameters[0] + GRID_BYTES);
    for (int at = 0; function->sizes[at]; ++at) {
        char* value = (char*)parameters[at + 1];
        values->emplace_back(value, value + function->sizes[at]);
    }
    note("launch " + function->name + " " + std::to_string(blocks) + " " + std::to_string(threads));
    ask(stream, [=] {
        std::vector<void*> places;
        for (auto& value : *values)
            places.push_back(value.data());
        guarded([&] { function->entry(blocks, threads, places[0], places.data() + 1); });
    });
    return SUCCESS;
}

// module.cpp: code and launches of the stand-in. Code is a shared object of the host behind a few
// words, as compiler.cpp makes it; or NVIDIA's machine code, which the library `gpu-sim` at the
// path HOST_GPU_SASS runs. With HOST_GPU_LAUNCHES=none machine code is loaded and its launches do
// nothing, so that NVRTC's code of what a program launches is kept in seconds. Each time code is
// loaded it has globals of its own.
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

// Runs a kernel: blocks, threads, the grid, and the parameters that follow it.
typedef std::function<void(unsigned, unsigned, const void*, void* const*)> Entry;

struct Function {
    std::string name;
    Entry entry;
    std::vector<uint32_t> sizes; // Bytes of each parameter behind the grid.
    int device;
    uint64_t threads; // That a block has at most.
};

// Machine code that is not run: the bytes of its file, and memory for each of its globals.
struct Unrun {
    std::string bytes;
    std::map<std::string, std::vector<char>> globals;

    // A name is known if the file's tables of names have it.
    bool has(const std::string& name) const { return bytes.find('\0' + name + '\0') != std::string::npos; }
};

// Loaded code: a shared object of the host, or machine code.
struct Code {
    void* library = nullptr;
    void* machine = nullptr;
    std::shared_ptr<Unrun> unrun;
};

struct Module {
    Code code;
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

// The library that runs machine code.
struct Machine {
    void* (*load)(const void*);
    void (*unload)(void*);
    bool (*variable)(void*, const char*, uint64_t*, uint64_t*);
    bool (*kernel)(void*, const char*, uint32_t*, uint32_t*);
    void (*launch)(void*, const char*, unsigned, unsigned, const void* const*);
};

template <class F> void find(void* library, F& function, const char* name)
{
    function = F(dlsym(library, name));
    if (!function)
        misuse("the library at HOST_GPU_SASS has no %s", name);
}

const Machine& machine()
{
    static const Machine all = [] {
        const char* path = getenv("HOST_GPU_SASS");
        void* library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : nullptr;
        if (!library)
            misuse("machine code runs where HOST_GPU_SASS names the library gpu-sim: %s", path ? dlerror() : "it is not set");
        Machine all = {};
        find(library, all.load, "gpu_sim_load");
        find(library, all.unload, "gpu_sim_unload");
        find(library, all.variable, "gpu_sim_variable");
        find(library, all.kernel, "gpu_sim_kernel");
        find(library, all.launch, "gpu_sim_launch");
        return all;
    }();
    return all;
}

bool launches_do_nothing()
{
    const char* launches = getenv("HOST_GPU_LAUNCHES");
    return launches && !strcmp(launches, "none");
}

// The bytes of an ELF file, whose table of sections or of segments is its end.
uint64_t elf_bytes(const char* file)
{
    auto word = [=](int at) { uint64_t value; return memcpy(&value, file + at, 8), value; };
    auto half = [=](int at) { uint16_t value; return memcpy(&value, file + at, 2), uint64_t(value); };
    return std::max(word(32) + half(54) * half(56), word(40) + half(58) * half(60));
}

// Machine code of NVIDIA's assembler. The flags of the file say the generation that it runs on.
Status load_machine(const char* file, uint64_t arch, Code* code)
{
    uint64_t own = (unsigned char)file[49];
    if (own / 10 != arch / 10 || own > arch)
        return NO_BINARY_FOR_GPU;
    if (launches_do_nothing())
        return code->unrun = std::make_shared<Unrun>(Unrun{{file, file + elf_bytes(file)}, {}}), SUCCESS;
    code->machine = machine().load(file);
    return code->machine ? SUCCESS : INVALID_IMAGE;
}

// A shared object of our NVRTC's stand-in: it runs on its generation, from its own architecture on.
Status load_image(const Image* image, uint64_t arch, void** library)
{
    if (image->arch / 10 != arch / 10 || image->arch > arch)
        return NO_BINARY_FOR_GPU;
    if (image->cuda > setting("HOST_GPU_NEWEST_CODE", UINT32_MAX))
        return INVALID_IMAGE;
    Scratch object(image + 1, image->size);
    *library = dlopen(object.path, RTLD_NOW | RTLD_LOCAL);
    return *library ? SUCCESS : INVALID_IMAGE;
}

} // namespace

API int cuModuleLoadData(Handle* module, const void* data)
{
    LOCK;
    uint64_t arch = setting("HOST_GPU_ARCH", 90);
    Code code;
    bool is_image = memcmp(data, IMAGE_MAGIC, sizeof IMAGE_MAGIC) == 0;
    bool is_machine = memcmp(data, "\177ELF", 4) == 0;
    Status status = is_image     ? load_image((const Image*)data, arch, &code.library)
                    : is_machine ? load_machine((const char*)data, arch, &code)
                                 : INVALID_IMAGE;
    if (status != SUCCESS)
        return status;
    return *module = new Module{code, current, 0, {}}, SUCCESS;
}

API int cuModuleUnload(Handle handle)
{
    LOCK;
    Module* module = (Module*)handle;
    for (Stream* stream : world().streams)
        run(stream, stream->asked);
    world().globals.erase(module->global);
    if (module->code.machine)
        machine().unload(module->code.machine);
    else if (module->code.library)
        dlclose(module->code.library);
    delete module;
    return SUCCESS;
}

API int cuModuleGetGlobal_v2(uint64_t* address, size_t* size, Handle handle, const char* name)
{
    LOCK;
    Module* module = (Module*)handle;
    uint64_t bytes = 0;
    if (module->code.unrun) {
        if (!module->code.unrun->has(name))
            return NOT_FOUND;
        std::vector<char>& global = module->code.unrun->globals[name];
        global.resize(4096);
        *address = uint64_t(global.data()), bytes = global.size();
    } else if (module->code.machine) {
        if (!machine().variable(module->code.machine, name, address, &bytes))
            return NOT_FOUND;
    } else {
        void* found = dlsym(module->code.library, name);
        auto known = (const uint32_t*)dlsym(module->code.library, (std::string(name) + "_size").c_str());
        if (!found || !known)
            return NOT_FOUND;
        *address = uint64_t(found), bytes = *known;
    }
    module->global = *address, *size = bytes;
    world().globals[*address] = *size;
    return SUCCESS;
}

// A kernel of a shared object.
static bool find_function(void* library, const char* name, Function& function)
{
    std::string symbol = std::string("on_device_") + name;
    auto entry = (void (*)(unsigned, unsigned, const void*, void* const*))dlsym(library, symbol.c_str());
    auto sizes = (const uint32_t* (*)())dlsym(library, (symbol + "_sizes").c_str());
    auto threads = (const uint32_t*)dlsym(library, (symbol + "_threads").c_str());
    if (!entry || !sizes || !threads)
        return false;
    function.entry = entry, function.threads = *threads;
    for (const uint32_t* size = sizes(); *size; ++size)
        function.sizes.push_back(*size);
    return true;
}

// A kernel of machine code. It says the size of its grid, too.
static bool find_machine_function(void* code, const char* name, Function& function)
{
    uint32_t sizes[256] = {}, threads = 0;
    if (!machine().kernel(code, name, sizes, &threads))
        return false;
    if (sizes[0] != GRID_BYTES)
        misuse("the kernel %s takes no grid first", name);
    function.threads = threads;
    for (int at = 1; sizes[at]; ++at)
        function.sizes.push_back(sizes[at]);
    function.entry = [=, name = std::string(name)](unsigned blocks, unsigned threads, const void* grid, void* const* rest) {
        std::vector<const void*> all = {grid};
        for (int at = 1; sizes[at]; ++at)
            all.push_back(rest[at - 1]);
        machine().launch(code, name.c_str(), blocks, threads, all.data());
    };
    return true;
}

// A kernel of machine code whose launches do nothing.
static bool find_unrun_function(const Unrun& code, const char* name, Function& function)
{
    function.threads = 1024;
    function.entry = [](unsigned, unsigned, const void*, void* const*) {};
    return code.has(std::string(".text.") + name);
}

API int cuModuleGetFunction(Handle* function, Handle handle, const char* name)
{
    LOCK;
    Module* module = (Module*)handle;
    Function found = {name, {}, {}, module->device, 0};
    bool is_there = module->code.unrun     ? find_unrun_function(*module->code.unrun, name, found)
                    : module->code.machine ? find_machine_function(module->code.machine, name, found)
                                           : find_function(module->code.library, name, found);
    if (!is_there)
        return NOT_FOUND;
    found.threads = std::min(setting("HOST_GPU_THREADS", 1024), found.threads);
    module->functions[name] = found;
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
    for (size_t at = 0; at < function->sizes.size(); ++at) {
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

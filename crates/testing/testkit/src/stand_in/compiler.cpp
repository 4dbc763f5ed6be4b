// compiler.cpp: the functions of NVRTC that the runtime calls. CUDA text becomes a shared object of
// the host, by the C++ compiler `CXX` or `c++` and the header that gives it CUDA's words,
// host_cuda.h, which lies beside this library.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include "image.h"

#define API extern "C" __attribute__((visibility("default")))

namespace {

enum Status { SUCCESS = 0, INVALID_PROGRAM = 4, COMPILATION = 6 };

struct Program {
    std::string text, log;
    std::vector<std::pair<std::string, std::string>> headers;
    std::string image;
};

std::vector<int> archs()
{
    const char* text = getenv("HOST_NVRTC_ARCHS");
    std::stringstream list(text ? text : "75 80 86 89 90 100 120");
    return {std::istream_iterator<int>(list), {}};
}

void write(const std::string& path, const std::string& text) { std::ofstream(path, std::ios::binary) << text; }

std::string read(const std::string& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

struct Kernel {
    std::string name;
    int threads; // That a block of it has at most.
};

// The kernels of a text, by their heads.
std::vector<Kernel> kernels(const std::string& text)
{
    const std::string head = "extern \"C\" __global__ void ", bounds = "__launch_bounds__(", registers = "__maxnreg__(";
    std::vector<Kernel> all;
    for (size_t at = text.find(head); at != std::string::npos; at = text.find(head, at)) {
        at += head.size();
        bool bound = text.compare(at, bounds.size(), bounds) == 0;
        int threads = bound ? atoi(&text[at + bounds.size()]) : 1024;
        if (bound || text.compare(at, registers.size(), registers) == 0)
            at = text.find(' ', text.find(')', at)) + 1;
        all.push_back({text.substr(at, text.find('(', at) - at), threads});
    }
    return all;
}

// Behind the text: each kernel as a function over blocks and threads, how many bytes its parameters
// have, and how many threads its blocks.
std::string entries(const std::string& text)
{
    std::string all = "#define EXPORT extern \"C\" __attribute__((visibility(\"default\")))\n"
                      "EXPORT const uint32_t gbx_fault_size = sizeof(gbx::Fault);\n"
                      "static_assert(sizeof(gbx::Grid) == 40, \"image.h says so\");\n"
                      "template <class... P> struct Sizes { static const uint32_t all[]; };\n"
                      "template <class... P> const uint32_t Sizes<P...>::all[] = {sizeof(P)..., 0};\n"
                      "template <class... P> constexpr const uint32_t* sizes(void (*)(gbx::Grid, P...)) { return Sizes<P...>::all; }\n";
    for (auto& [name, threads] : kernels(text)) {
        std::string symbol = "on_device_" + name;
        all += "EXPORT void " + symbol +
               "(unsigned blocks, unsigned threads, const gbx::Grid* grid, void* const* args)\n"
               "{ gbx_run(program::" + name + ", blocks, threads, grid, args); }\n";
        all += "EXPORT const uint32_t* " + symbol + "_sizes() { return sizes(program::" + name + "); }\n";
        all += "EXPORT const uint32_t " + symbol + "_threads = " + std::to_string(threads) + ";\n";
    }
    return all;
}

} // namespace

API int nvrtcVersion(int* major, int* minor)
{
    const char* text = getenv("HOST_NVRTC_VERSION");
    return *major = 13, *minor = 0, sscanf(text ? text : "", "%d.%d", major, minor), SUCCESS;
}

API const char* nvrtcGetErrorString(int status)
{
    return status == SUCCESS ? "NVRTC_SUCCESS" : status == COMPILATION ? "NVRTC_ERROR_COMPILATION" : "NVRTC_ERROR";
}

API int nvrtcGetNumSupportedArchs(int* count) { return *count = int(archs().size()), SUCCESS; }

API int nvrtcGetSupportedArchs(int* list)
{
    for (int arch : archs())
        *list++ = arch;
    return SUCCESS;
}

API int nvrtcCreateProgram(Program** program, const char* text, const char*, int count, const char* const* headers,
                           const char* const* names)
{
    *program = new Program{text, "", {}, ""};
    for (int at = 0; at < count; ++at)
        (*program)->headers.emplace_back(names[at], headers[at]);
    return SUCCESS;
}

API int nvrtcDestroyProgram(Program** program) { return delete *program, *program = nullptr, SUCCESS; }

API int nvrtcCompileProgram(Program* program, int count, const char* const* options)
{
    int arch = 0;
    for (int at = 0; at < count; ++at)
        sscanf(options[at], "--gpu-architecture=sm_%d", &arch);
    char folder[] = "/tmp/host_nvrtc_XXXXXX";
    if (!mkdtemp(folder))
        return program->log = "no temporary folder", COMPILATION;
    std::string in = std::string(folder) + "/";
    for (auto& [name, text] : program->headers)
        write(in + name, text);
    Dl_info here = {};
    dladdr((void*)&nvrtcVersion, &here);
    std::string own = here.dli_fname;
    write(in + "host_cuda.h", read(own.substr(0, own.rfind('/') + 1) + "host_cuda.h"));
    write(in + "text.cu", program->text);
    // Our header comes first, so what the text says before it includes it must come before that.
    const std::string unchecked = "#define GBX_UNCHECKED\n";
    bool is_unchecked = program->text.find(unchecked) != std::string::npos;
    write(in + "program.cpp", (is_unchecked ? unchecked : "") + "#include \"host_cuda.h\"\n#include \"text.cu\"\n" + entries(program->text));
    const char* compiler = getenv("CXX");
    // A kernel may be called like a function of the C library, such as `step`: its own is meant.
    std::string command = std::string("cd ") + folder + " && " + (compiler ? compiler : "c++") +
                          " -std=c++17 -O1 -ffp-contract=off -w -shared -fPIC -fno-gnu-unique -Wl,-Bsymbolic"
                          " program.cpp -o program.so > log 2>&1";
    bool compiled = system(command.c_str()) == 0;
    program->log = read(in + "log");
    if (compiled) {
        std::string object = read(in + "program.so");
        Image image = {};
        memcpy(image.magic, IMAGE_MAGIC, sizeof image.magic);
        int major = 0, minor = 0;
        nvrtcVersion(&major, &minor);
        image.arch = uint32_t(arch), image.cuda = uint32_t(major * 1000 + minor * 10), image.size = object.size();
        program->image = std::string((const char*)&image, sizeof image) + object;
    }
    command = std::string("rm -rf ") + folder;
    bool removed = system(command.c_str()) == 0;
    if (const char* path = getenv("HOST_GPU_LOG"))
        std::ofstream(path, std::ios::app) << "compile sm_" << arch << "\n";
    return compiled && removed ? SUCCESS : COMPILATION;
}

API int nvrtcGetProgramLogSize(Program* program, size_t* size) { return *size = program->log.size() + 1, SUCCESS; }
API int nvrtcGetProgramLog(Program* program, char* log) { return strcpy(log, program->log.c_str()), SUCCESS; }
API int nvrtcGetCUBINSize(Program* program, size_t* size) { return *size = program->image.size(), SUCCESS; }

API int nvrtcGetCUBIN(Program* program, char* image)
{
    return memcpy(image, program->image.data(), program->image.size()), SUCCESS;
}

// There is no PTX of a host's code.
API int nvrtcGetPTXSize(Program*, size_t*) { return INVALID_PROGRAM; }
API int nvrtcGetPTX(Program*, char*) { return INVALID_PROGRAM; }

// ptx_compiler.cpp: NVIDIA's own NVRTC, at the path HOST_NVRTC. Where HOST_GPU_SASS is set, the
// stand-in for the driver runs machine code (module.cpp), and NVRTC is asked for what a caller asks
// for. Elsewhere NVRTC is asked for PTX, which the stand-in runs, also where a caller asks for
// machine code. With HOST_NVRTC_FROM and HOST_NVRTC_TO each first text in a program becomes the
// second, so that other machine code is kept by the same names.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <vector>

#define API extern "C" __attribute__((visibility("default")))

namespace {

typedef void* Program;
typedef const char* const* Texts;

void* library()
{
    static void* const opened = [] {
        const char* path = getenv("HOST_NVRTC");
        void* found = dlopen(path ? path : "", RTLD_NOW | RTLD_LOCAL);
        if (!path || !found) {
            fprintf(stderr, "host_gpu: HOST_NVRTC names no NVRTC: %s\n", path ? dlerror() : "it is not set");
            abort();
        }
        return found;
    }();
    return opened;
}

// Calls the function of that name in NVIDIA's library.
template <class... P> int call(const char* name, P... arguments)
{
    auto function = (int (*)(P...))dlsym(library(), name);
    if (!function) {
        fprintf(stderr, "host_gpu: NVRTC has no %s\n", name);
        abort();
    }
    return function(arguments...);
}

bool runs_machine_code() { return getenv("HOST_GPU_SASS") || getenv("HOST_GPU_LAUNCHES"); }

// The text with the replacement that the environment names.
std::string edited(std::string text)
{
    const char *from = getenv("HOST_NVRTC_FROM"), *to = getenv("HOST_NVRTC_TO");
    if (!from || !*from || !to)
        return text;
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += strlen(to))
        text.replace(at, strlen(from), to);
    return text;
}

} // namespace

API int nvrtcVersion(int* major, int* minor) { return call("nvrtcVersion", major, minor); }
API int nvrtcGetNumSupportedArchs(int* count) { return call("nvrtcGetNumSupportedArchs", count); }
API int nvrtcGetSupportedArchs(int* list) { return call("nvrtcGetSupportedArchs", list); }
API int nvrtcDestroyProgram(Program* program) { return call("nvrtcDestroyProgram", program); }
API int nvrtcGetProgramLogSize(Program program, size_t* size) { return call("nvrtcGetProgramLogSize", program, size); }
API int nvrtcGetProgramLog(Program program, char* log) { return call("nvrtcGetProgramLog", program, log); }
API int nvrtcGetPTXSize(Program program, size_t* size) { return call("nvrtcGetPTXSize", program, size); }
API int nvrtcGetPTX(Program program, char* text) { return call("nvrtcGetPTX", program, text); }
API int nvrtcGetCUBINSize(Program program, size_t* size)
{
    return call(runs_machine_code() ? "nvrtcGetCUBINSize" : "nvrtcGetPTXSize", program, size);
}
API int nvrtcGetCUBIN(Program program, char* text)
{
    return call(runs_machine_code() ? "nvrtcGetCUBIN" : "nvrtcGetPTX", program, text);
}

API const char* nvrtcGetErrorString(int status)
{
    return ((const char* (*)(int))dlsym(library(), "nvrtcGetErrorString"))(status);
}

API int nvrtcCreateProgram(Program* program, const char* text, const char* name, int count, Texts headers, Texts names)
{
    std::string ours = edited(text);
    return call("nvrtcCreateProgram", program, ours.c_str(), name, count, headers, names);
}

API int nvrtcCompileProgram(Program program, int count, Texts options)
{
    // PTX is made for a virtual architecture: sm_90 becomes compute_90.
    const std::string real = "--gpu-architecture=sm_";
    std::vector<std::string> ours(options, options + count);
    for (std::string& option : ours) {
        if (option.compare(0, real.size(), real) == 0) {
            if (const char* path = getenv("HOST_GPU_LOG")) {
                if (FILE* file = fopen(path, "a")) {
                    fprintf(file, "compile sm_%s\n", &option[real.size()]);
                    fclose(file);
                }
            }
            if (!runs_machine_code())
                option = "--gpu-architecture=compute_" + option.substr(real.size());
        }
    }
    std::vector<const char*> words;
    for (const std::string& option : ours)
        words.push_back(option.c_str());
    return call("nvrtcCompileProgram", program, count, words.data());
}

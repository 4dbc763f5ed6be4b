// edited_compiler.cpp: NVIDIA's own NVRTC, at the path HOST_NVRTC, for edited programs. Each text
// HOST_NVRTC_FROM_1 in a program becomes HOST_NVRTC_TO_1, and so on with 2, 3; a program that has
// the first text must have all. So the machine code of a variant of the step is kept under the name
// of the unedited program (`make gpu-folder`).
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>

#define API extern "C" __attribute__((visibility("default")))

typedef void* Program;
typedef const char* const* Texts;

static void* library()
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
template <class... P> static int call(const char* name, P... arguments)
{
    auto function = (int (*)(P...))dlsym(library(), name);
    if (!function) {
        fprintf(stderr, "host_gpu: NVRTC has no %s\n", name);
        abort();
    }
    return function(arguments...);
}

static std::string edited(std::string text)
{
    for (int edit = 1;; edit++) {
        std::string number = std::to_string(edit);
        const char *from = getenv(("HOST_NVRTC_FROM_" + number).c_str()), *to = getenv(("HOST_NVRTC_TO_" + number).c_str());
        if (!from || !*from || !to)
            return text;
        size_t at = text.find(from);
        if (at == std::string::npos && edit == 1)
            return text;
        if (at == std::string::npos) {
            fprintf(stderr, "host_gpu: the program has the first text to be edited, and lacks this: %s\n", from);
            abort();
        }
        for (; at != std::string::npos; at = text.find(from, at + strlen(to)))
            text.replace(at, strlen(from), to);
    }
}

API int nvrtcVersion(int* major, int* minor) { return call("nvrtcVersion", major, minor); }
API int nvrtcGetNumSupportedArchs(int* count) { return call("nvrtcGetNumSupportedArchs", count); }
API int nvrtcGetSupportedArchs(int* list) { return call("nvrtcGetSupportedArchs", list); }
API int nvrtcDestroyProgram(Program* program) { return call("nvrtcDestroyProgram", program); }
API int nvrtcGetProgramLogSize(Program program, size_t* size) { return call("nvrtcGetProgramLogSize", program, size); }
API int nvrtcGetProgramLog(Program program, char* log) { return call("nvrtcGetProgramLog", program, log); }
API int nvrtcGetPTXSize(Program program, size_t* size) { return call("nvrtcGetPTXSize", program, size); }
API int nvrtcGetPTX(Program program, char* text) { return call("nvrtcGetPTX", program, text); }
API int nvrtcGetCUBINSize(Program program, size_t* size) { return call("nvrtcGetCUBINSize", program, size); }
API int nvrtcGetCUBIN(Program program, char* code) { return call("nvrtcGetCUBIN", program, code); }

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
    return call("nvrtcCompileProgram", program, count, options);
}

// Compiles `answer.cu` in its folder by NVRTC to machine code. Writes the code to standard output,
// or, given a disassembler, into `answer.cubin` and becomes the disassembler.
//
// driver LIBNVRTC BUILTINS NVDISASM OPTION..: BUILTINS and NVDISASM may be "-". The log of a text
// that is refused goes to standard error, with status 3. It runs in the sandbox.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <unistd.h>
#include <vector>

typedef void* Program;

static int failed(const char* what)
{
    fprintf(stderr, "%s\n", what);
    return 4;
}

template <class F> static F function(void* library, const char* name) { return (F)dlsym(library, name); }

static std::string contents(const char* path)
{
    std::string text;
    FILE* file = fopen(path, "rb");
    char bytes[1 << 14];
    while (size_t count = file ? fread(bytes, 1, sizeof bytes, file) : 0)
        text.append(bytes, count);
    if (file)
        fclose(file);
    return text;
}

int main(int count, char** words)
{
    if (count < 4)
        return failed("driver LIBNVRTC BUILTINS NVDISASM OPTION..");
    // NVRTC asks for them by a bare name; older wheels don't say that they lie beside it.
    if (strcmp(words[2], "-") != 0)
        dlopen(words[2], RTLD_NOW | RTLD_GLOBAL);
    void* library = dlopen(words[1], RTLD_NOW);
    if (!library)
        return failed(dlerror());
    auto create = function<int (*)(Program*, const char*, const char*, int, const char* const*, const char* const*)>(
        library, "nvrtcCreateProgram");
    auto compile = function<int (*)(Program, int, const char* const*)>(library, "nvrtcCompileProgram");
    auto log_size = function<int (*)(Program, size_t*)>(library, "nvrtcGetProgramLogSize");
    auto get_log = function<int (*)(Program, char*)>(library, "nvrtcGetProgramLog");
    auto code_size = function<int (*)(Program, size_t*)>(library, "nvrtcGetCUBINSize");
    auto get_code = function<int (*)(Program, char*)>(library, "nvrtcGetCUBIN");
    if (!create || !compile || !log_size || !get_log || !code_size || !get_code)
        return failed("the library lacks a function of NVRTC");
    std::string text = contents("answer.cu");
    Program program = nullptr;
    // Headers of CUDA ask for it, NVRTC knows what it holds, and no wheel of CUDA 13 has it.
    const char *name = "nv/target", *header = "";
    if (create(&program, text.c_str(), "answer.cu", 1, &header, &name) != 0)
        return failed("nvrtcCreateProgram failed");
    int status = compile(program, count - 4, words + 4);
    size_t size = 0;
    log_size(program, &size);
    std::vector<char> log(size + 1);
    get_log(program, log.data());
    if (status != 0) {
        fputs(log.data(), stderr);
        return status == 6 ? 3 : 4;
    }
    code_size(program, &size);
    std::vector<char> code(size + 1);
    if (size == 0 || get_code(program, code.data()) != 0)
        return failed("NVRTC made no machine code");
    bool is_alone = strcmp(words[3], "-") == 0;
    FILE* file = is_alone ? stdout : fopen("answer.cubin", "wb");
    if (!file || fwrite(code.data(), 1, size, file) != size || fclose(file) != 0)
        return failed("the machine code can't be written");
    // NVRTC takes long to end in order.
    if (is_alone)
        _exit(0);
    // Without its analysis of jumps, which takes a fifth of its time; nobody reads its output.
    execl(words[3], words[3], "-c", "-g", "-ndf", "answer.cubin", (char*)nullptr);
    return failed("the disassembler can't be started");
}
